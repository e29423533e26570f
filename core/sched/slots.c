/* slots.c - see slots.h. The free slots are in a heap, by the time from which each may be
 * filled. */
#include "sched/slots.h"

#include "base/check.h"
#include "sched/backoff.h"

struct free_slot {
  int64_t due_ns;
  int64_t slot;
};

static bool is_before(const void *left, const void *right)
{
  const struct free_slot *a = left, *b = right;

  return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->slot < b->slot;
}

void tm_slots_init(struct tm_slots *s, int64_t count)
{
  tm_require(count >= 1);
  *s = (struct tm_slots) { .count = count };
  tm_heap_init(&s->free, sizeof(struct free_slot), is_before);
}

void tm_slots_release(struct tm_slots *s)
{
  TM_ARRAY_RELEASE(&s->list);
  tm_heap_release(&s->free);
}

int64_t tm_slots_take(struct tm_slots *s, int64_t now_ns)
{
  struct free_slot first;

  if (s->free.len > 0 && ((struct free_slot *)tm_heap_at(&s->free, 0))->due_ns <= now_ns) {
    tm_heap_remove(&s->free, 0, &first);
    tm_require(!s->list.at[first.slot].is_taken);
    s->list.at[first.slot].is_taken = true;
    return first.slot;
  }
  if ((int64_t)s->list.len == s->count)
    return -1;
  *TM_ARRAY_ADD(&s->list) = (struct tm_slot) { .is_taken = true };
  return (int64_t)s->list.len - 1;
}

void tm_slots_give_back(struct tm_slots *s, int64_t slot, bool has_worked, int64_t now_ns,
                        uint64_t seed)
{
  static const struct tm_backoff backoff = { .first_ns = TM_SLOT_FIRST_NS,
                                             .max_ns = TM_SLOT_MAX_NS };
  struct tm_slot *at;

  tm_require(slot >= 0 && slot < (int64_t)s->list.len && s->list.at[slot].is_taken);
  at = &s->list.at[slot];
  at->is_taken = false;
  if (has_worked)
    at->idle_ends = 0;
  else if (at->idle_ends < UINT32_MAX)
    at->idle_ends++;
  tm_heap_add(&s->free, &(struct free_slot) {
                            .slot = slot,
                            .due_ns = now_ns + tm_backoff_delay(
                                                   &backoff, (int64_t)at->idle_ends - 1, seed) });
}

int64_t tm_slots_due(const struct tm_slots *s)
{
  if ((int64_t)s->list.len < s->count)
    return 0;
  return s->free.len > 0 ? ((struct free_slot *)tm_heap_at(&s->free, 0))->due_ns : INT64_MAX;
}
