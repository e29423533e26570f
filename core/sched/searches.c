/* searches.c - see searches.h. */
#include "sched/searches.h"

#include "base/check.h"

void tm_searches_release(struct tm_searches *s)
{
  TM_ARRAY_RELEASE(&s->list);
  TM_ARRAY_RELEASE(&s->free);
}

uint32_t tm_searches_add(struct tm_searches *s, uint64_t index, uint32_t try)
{
  uint32_t number = (uint32_t)s->list.len;

  if (s->free.len > 0)
    number = s->free.at[--s->free.len];
  else
    *TM_ARRAY_ADD(&s->list) = (struct tm_search) { .is_open = false };
  tm_require(!s->list.at[number].is_open);
  s->list.at[number] = (struct tm_search) { .is_open = true, .index = index, .try = try };
  s->len++;
  return number;
}

struct tm_search *tm_searches_at(struct tm_searches *s, uint32_t number)
{
  return number < s->list.len && s->list.at[number].is_open ? &s->list.at[number] : NULL;
}

void tm_searches_remove(struct tm_searches *s, uint32_t number)
{
  tm_require(tm_searches_at(s, number) && s->list.at[number].isolation.open == 0);
  s->list.at[number].is_open = false;
  *TM_ARRAY_ADD(&s->free) = number;
  s->len--;
}
