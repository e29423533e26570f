/* actions.c - see actions.h. The capacity is a power of two. */
#include "sched/actions.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

#define FIRST_CAP 16
#define KEPT      1024 /* a ring that grew beyond this is freed when it is empty */

void tm_actions_release(struct tm_actions *a)
{
  free(a->at);
  *a = (struct tm_actions) { .at = NULL };
}

static void grow(struct tm_actions *a)
{
  size_t cap = a->cap == 0 ? FIRST_CAP : 2 * a->cap;
  struct tm_sched_action *at = tm_xcalloc(cap, sizeof(*at));

  tm_require(a->len == a->cap && (a->cap & (a->cap - 1)) == 0);
  for (size_t i = 0; i < a->len; i++)
    at[i] = a->at[(a->first + i) & (a->cap - 1)];
  free(a->at);
  *a = (struct tm_actions) { .at = at, .len = a->len, .cap = cap };
}

struct tm_sched_action *tm_actions_add(struct tm_actions *a, enum tm_sched_action_kind kind)
{
  struct tm_sched_action *new;

  if (a->len == a->cap)
    grow(a);
  new = &a->at[(a->first + a->len++) & (a->cap - 1)];
  *new = (struct tm_sched_action) { .kind = kind };
  return new;
}

bool tm_actions_take(struct tm_actions *a, struct tm_sched_action *out)
{
  if (a->len == 0)
    return false;
  *out = a->at[a->first];
  a->first = (a->first + 1) & (a->cap - 1);
  if (--a->len == 0 && a->cap > KEPT) /* 100,000 workers have started in one turn */
    tm_actions_release(a);
  return true;
}
