/* part.h - a part of a mini-batch: a run of its items, in the form used by messages and queues:
 * (first << 32 | count), first from 0; 0 is the whole. */
#ifndef TM_RECORD_PART_H
#define TM_RECORD_PART_H

#include <stdint.h>

static inline uint64_t tm_part(uint32_t first, uint32_t count)
{
  return (uint64_t)first << 32 | count;
}

static inline uint32_t tm_part_first(uint64_t part)
{
  return (uint32_t)(part >> 32);
}

static inline uint32_t tm_part_count(uint64_t part)
{
  return (uint32_t)part;
}

#endif
