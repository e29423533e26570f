/* row_items.c - see row_items.h. */
#include "step/row_items.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "data/frame/fault_list.h"

#define WORDS_MAX 1000 /* bytes */

static void learn(const struct tm_supervisor *s, struct tm_in_flight *held, uint32_t rows)
{
  if (!tm_dataset_is_table(s->o.step->inputs[held->dataset]))
    return;
  held->items = rows;
  if (held->what.part == 0)
    held->what.rows = rows;
}

void tm_rows_learn(const struct tm_supervisor *s, struct tm_in_flight *held,
                   const struct tm_result_head *head)
{
  if (head->items != TM_ITEMS_UNKNOWN)
    learn(s, held, head->items);
}

void tm_rows_learn_lost(const struct tm_supervisor *s, struct tm_in_flight *held,
                        const struct tm_page_view *view)
{
  if (view->seq == held->seq && view->rows > 0 && held->what.part == 0)
    learn(s, held, view->rows);
}

void tm_rows_settle(struct tm_supervisor *s, struct tm_in_flight *held)
{
  if (held->items > 0)
    return;
  held->items = 1;
  held->is_uncounted = true;
  tm_tally_add_uncounted(&s->tally, 1);
  if (!s->has_count_warning)
    tm_supervisor_say(s, TM_WARNING,
                      "mini-batch %" PRIu64
                      " failed before its rows were counted: it counts as one "
                      "failed item, and may have more (said once)",
                      held->what.index);
  s->has_count_warning = true;
}

static void warn(struct tm_supervisor *s, const struct tm_in_flight *held,
                 const struct tm_fault_entry *e, bool is_said)
{
  struct tm_buf words = TM_BUF_NONE;
  if (is_said && s->o.step->config.logging_level != TM_DEBUG)
    return;
  tm_text_one_line(&words, e->words, e->words_len, WORDS_MAX);
  tm_supervisor_say(s, is_said ? TM_INFO : TM_WARNING, "mini-batch %" PRIu64 ": %s%s",
                    held->what.index, tm_buf_str(&words),
                    is_said ? "" : " (said once; with logging_level DEBUG for each)");
  tm_buf_release(&words);
}

static void add_up(struct tm_row_faults *sum, const struct tm_fault_entry *e)
{
  struct tm_buf what = TM_BUF_NONE;
  tm_text_one_line(&what, e->what, e->what_len, sizeof sum->what - 1);
  snprintf(sum->what, sizeof sum->what, "%s", tm_buf_str(&what));
  tm_buf_release(&what);
  sum->mini_batches++;
  if (__builtin_add_overflow(sum->count, e->count, &sum->count))
    sum->count = INT64_MAX;
}

void tm_rows_warn(struct tm_supervisor *s, const struct tm_in_flight *held,
                  const struct tm_reader *faults)
{
  struct tm_reader r = *faults;
  struct tm_fault_entry e;
  while (tm_fault_list_next(&r, &e)) {
    struct tm_row_faults *sum = &s->row_faults[e.kind];
    warn(s, held, &e, sum->mini_batches > 0);
    add_up(sum, &e);
  }
}

void tm_rows_sum_up(struct tm_supervisor *s)
{
  for (int kind = 0; kind < TM_FAULT_LIST_KINDS; kind++) {
    const struct tm_row_faults *sum = &s->row_faults[kind];
    if (sum->mini_batches > 1)
      tm_supervisor_say(s, TM_WARNING, "step '%s': %s: %" PRId64 " in %" PRId64 " mini-batches%s",
                        s->o.step->name, sum->what, sum->count, sum->mini_batches,
                        s->o.is_resumed ? ", since the job was resumed" : "");
  }
}
