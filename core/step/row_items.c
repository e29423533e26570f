/* row_items.c - see row_items.h. */
#include "step/row_items.h"

#include <inttypes.h>

#include "base/text.h"
#include "record/part.h"

#define WORDS_MAX 1000 /* bytes */

static bool learn(const struct tm_supervisor *s, struct tm_in_flight *held, uint32_t rows)
{
  const struct tm_step *step = s->o.step;

  if (held->dataset >= step->inputs_len || !tm_dataset_is_table(step->inputs[held->dataset]))
    return true;
  if (held->part != 0 && rows > tm_part_count(held->part))
    return false;
  held->items = rows;
  if (held->part == 0)
    held->rows = rows;
  return true;
}

bool tm_rows_learn(const struct tm_supervisor *s, struct tm_in_flight *held,
                   const struct tm_result_head *head)
{
  return head->items == TM_ITEMS_UNKNOWN || learn(s, held, head->items);
}

void tm_rows_learn_lost(const struct tm_supervisor *s, struct tm_in_flight *held,
                        const struct tm_page_view *view)
{
  if (view->seq == held->seq && view->rows > 0 && held->part == 0)
    (void)learn(s, held, view->rows);
}

void tm_rows_settle(struct tm_supervisor *s, struct tm_in_flight *held)
{
  if (held->items > 0)
    return;
  held->items = 1;
  held->is_uncounted = true;
  tm_tally_add_uncounted(&s->tally, 1);
  if (tm_warnings_is_first(&s->warnings, TM_WARNS_UNCOUNTED))
    tm_supervisor_say(s, TM_WARNING,
                      "mini-batch %" PRIu64
                      " failed before its rows were counted: it counts as one "
                      "failed item, and may have more (said once)",
                      held->index);
}

static void warn(struct tm_supervisor *s, const struct tm_in_flight *held,
                 const struct tm_fault_entry *e, bool is_said)
{
  struct tm_buf words = TM_BUF_NONE;
  if (is_said && s->o.step->config.logging_level != TM_DEBUG)
    return;
  tm_text_one_line(&words, e->words, e->words_len, WORDS_MAX);
  tm_supervisor_say(s, is_said ? TM_INFO : TM_WARNING, "mini-batch %" PRIu64 ": %s%s", held->index,
                    tm_buf_str(&words),
                    is_said ? "" : " (said once; with logging_level DEBUG for each)");
  tm_buf_release(&words);
}

void tm_rows_warn(struct tm_supervisor *s, const struct tm_in_flight *held,
                  const struct tm_reader *faults)
{
  struct tm_reader r = *faults;
  struct tm_fault_entry e;
  while (tm_fault_list_next(&r, &e)) {
    bool is_first = tm_warnings_add_faults(&s->warnings, &e);
    warn(s, held, &e, !is_first);
  }
}

void tm_rows_sum_up(struct tm_supervisor *s)
{
  struct tm_buf words = TM_BUF_NONE;

  for (int kind = 0; kind < TM_FAULT_LIST_KINDS; kind++) {
    tm_buf_clear(&words);
    if (tm_warnings_describe(&s->warnings, kind, &words))
      tm_supervisor_say(s, TM_WARNING, "step '%s': %s%s", s->o.step->name, tm_buf_str(&words),
                        s->o.is_resumed ? ", since the job was resumed" : "");
  }
  tm_buf_release(&words);
}
