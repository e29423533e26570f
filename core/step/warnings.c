/* warnings.c - see warnings.h. */
#include "step/warnings.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

bool tm_warnings_is_first(struct tm_warnings *w, enum tm_warning kind)
{
  bool is_first = !w->has[kind];

  w->has[kind] = true;
  return is_first;
}

bool tm_warnings_add_faults(struct tm_warnings *w, const struct tm_fault_entry *e)
{
  struct tm_row_faults *sum = &w->faults[e->kind];
  struct tm_buf what = TM_BUF_NONE;

  tm_text_one_line(&what, e->what, e->what_len, sizeof sum->what - 1);
  snprintf(sum->what, sizeof sum->what, "%s", tm_buf_str(&what));
  tm_buf_release(&what);
  if (__builtin_add_overflow(sum->count, e->count, &sum->count))
    sum->count = INT64_MAX;
  return sum->mini_batches++ == 0;
}

bool tm_warnings_describe(const struct tm_warnings *w, int kind, struct tm_buf *out)
{
  const struct tm_row_faults *sum = &w->faults[kind];

  if (sum->mini_batches <= 1)
    return false;
  tm_buf_printf(out, "%s: %" PRId64 " in %" PRId64 " mini-batches", sum->what, sum->count,
                sum->mini_batches);
  return true;
}
