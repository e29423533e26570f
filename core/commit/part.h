/* part.h - a part of a mini-batch: a run of its items, in the form used by frames and entries:
 * (first << 32 | count), first from 0; 0 is the whole. */
#ifndef TM_COMMIT_PART_H
#define TM_COMMIT_PART_H

#include <stdint.h>

#include "commit/manifest.h"

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

/* Reads the items of a mini-batch, or of a part of it, like tm_manifest_read(). TM_EDAMAGE: the
 * entry does not have these items. */
int tm_part_read(struct tm_manifest *m, uint64_t index, uint64_t part,
                 struct tm_manifest_entry *out, struct tm_err *err);

#endif
