/* trace_retries.c - see trace_retries.h. */
#include "export/trace_retries.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct tm_retry *place_of(const struct tm_trace_retries *r, int64_t key)
{
  return r->places[(uint64_t)key % TM_RETRIES_PLACES];
}

/* Takes out the i-th of a place; the later ones move up. */
static void remove_at(struct tm_retry *at, size_t i)
{
  memmove(at + i, at + i + 1, (TM_RETRIES_EACH - 1 - i) * sizeof(*at));
  at[TM_RETRIES_EACH - 1] = (struct tm_retry) { 0 };
}

bool tm_trace_retries_take(struct tm_trace_retries *r, int64_t mini_batch, struct tm_retry *out)
{
  if (!r->places)
    return false;
  struct tm_retry *at = place_of(r, mini_batch);
  for (size_t i = 0; i < TM_RETRIES_EACH && at[i].is_used; i++)
    if (at[i].mini_batch == mini_batch) {
      *out = at[i];
      remove_at(at, i);
      return true;
    }
  return false;
}

void tm_trace_retries_add(struct tm_trace_retries *r, const struct tm_retry *failed)
{
  struct tm_retry before;
  if (!r->places)
    r->places = tm_xcalloc(TM_RETRIES_PLACES, sizeof(*r->places));
  (void)tm_trace_retries_take(r, failed->mini_batch, &before);
  struct tm_retry *at = place_of(r, failed->mini_batch);
  r->forgotten += at[TM_RETRIES_EACH - 1].is_used;
  memmove(at + 1, at, (TM_RETRIES_EACH - 1) * sizeof(*at));
  at[0] = *failed;
  at[0].is_used = true;
}

void tm_trace_retries_clear(struct tm_trace_retries *r)
{
  if (r->places)
    memset(r->places, 0, TM_RETRIES_PLACES * sizeof(*r->places));
}

void tm_trace_retries_release(struct tm_trace_retries *r)
{
  free(r->places);
  *r = (struct tm_trace_retries) { 0 };
}
