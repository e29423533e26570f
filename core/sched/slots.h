/* slots.h - the slots of a node: how many workers it can have, and when each may be replaced.
 *
 * Pure; time is an argument. A node has process_count slots. A worker takes one, and gives it back
 * when it has ended. It matters whether the worker had worked, that is, answered for a mini-batch.
 * The slot of one that had worked is free at once. When workers end one after the other without
 * having worked, the first is replaced at once, the next after TM_SLOT_FIRST_NS, and so on, doubled
 * up to TM_SLOT_MAX_NS: a slot whose workers die at once costs a few starts per second, not
 * hundreds. The starts never cease: a mini-batch that keeps killing its workers must use up its
 * tries.
 */
#ifndef TM_SCHED_SLOTS_H
#define TM_SCHED_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/mem.h"

#define TM_SLOT_FIRST_NS (10 * INT64_C(1000000))
#define TM_SLOT_MAX_NS   (160 * INT64_C(1000000))

struct tm_slot {
  bool is_taken;
  uint32_t idle_ends; /* workers in a row that had not worked; stays at UINT32_MAX */
};

struct tm_slots {
  int64_t count;
  struct TM_ARRAY(struct tm_slot) list; /* slots that were ever taken */
  struct tm_heap free;                  /* of these, the free ones */
};

void tm_slots_init(struct tm_slots *s, int64_t count);
void tm_slots_release(struct tm_slots *s);
/* A free slot whose time has come, or -1. */
int64_t tm_slots_take(struct tm_slots *s, int64_t now_ns);
void tm_slots_give_back(struct tm_slots *s, int64_t slot, bool has_worked, int64_t now_ns,
                        uint64_t seed);
/* When a free slot may be filled; INT64_MAX: all are taken. */
int64_t tm_slots_due(const struct tm_slots *s);

#endif
