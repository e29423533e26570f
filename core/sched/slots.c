/* slots.c - see slots.h. */
#include "sched/slots.h"

#include "base/check.h"
#include "sched/backoff.h"

void tm_slots_init(struct tm_slots *s, int64_t count)
{
  *s = (struct tm_slots) { .count = count };
}

void tm_slots_release(struct tm_slots *s)
{
  TM_ARRAY_RELEASE(&s->list);
}

int64_t tm_slots_take(struct tm_slots *s, int64_t now_ns)
{
  for (size_t i = 0; i < s->list.len; i++) {
    struct tm_slot *slot = &s->list.at[i];
    if (slot->is_taken || slot->due_ns > now_ns)
      continue;
    slot->is_taken = true;
    return (int64_t)i;
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
  at->idle_ends = has_worked ? 0 : at->idle_ends + 1;
  at->due_ns = now_ns + tm_backoff_delay(&backoff, at->idle_ends - 1, seed);
}

int64_t tm_slots_due(const struct tm_slots *s)
{
  int64_t due_ns = INT64_MAX;

  if ((int64_t)s->list.len < s->count)
    return 0;
  for (size_t i = 0; i < s->list.len; i++)
    if (!s->list.at[i].is_taken && s->list.at[i].due_ns < due_ns)
      due_ns = s->list.at[i].due_ns;
  return due_ns;
}
