/* row_items.c - see row_items.h. */
#include "run/row_items.h"

#include <inttypes.h>

#include "base/text.h"
#include "data/fault_list.h"

#define WORDS_MAX 1000 /* bytes */

static void learn(const struct tm_supervisor *s, struct tm_held *held, uint32_t rows)
{
  if (!tm_dataset_is_table(s->o.step->inputs[held->dataset]))
    return;
  held->items = rows;
  if (held->entry.part == 0)
    held->entry.rows = rows;
}

void tm_rows_learn(const struct tm_supervisor *s, struct tm_held *held,
                   const struct tm_result_head *head)
{
  if (head->items != TM_ITEMS_UNKNOWN)
    learn(s, held, head->items);
}

void tm_rows_learn_lost(const struct tm_supervisor *s, struct tm_held *held,
                        const struct tm_page_view *view)
{
  if (view->seq == held->seq && view->rows > 0 && held->entry.part == 0)
    learn(s, held, view->rows);
}

void tm_rows_settle(struct tm_supervisor *s, struct tm_held *held)
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
                      held->entry.index);
  s->has_count_warning = true;
}

static void warn(struct tm_supervisor *s, const struct tm_held *held, int kind, const char *p,
                 size_t n)
{
  struct tm_buf words = TM_BUF_NONE;
  bool is_said = (s->said_faults >> kind & 1) != 0;
  if (is_said && s->o.step->config.logging_level != TM_DEBUG)
    return;
  tm_text_one_line(&words, p, n, WORDS_MAX);
  tm_supervisor_say(s, is_said ? TM_INFO : TM_WARNING, "mini-batch %" PRIu64 ": %s%s",
                    held->entry.index, tm_buf_str(&words),
                    is_said ? "" : " (said once; with logging_level DEBUG for each)");
  s->said_faults |= 1u << kind;
  tm_buf_release(&words);
}

void tm_rows_warn(struct tm_supervisor *s, const struct tm_held *held,
                  const struct tm_reader *faults)
{
  struct tm_reader r = *faults;
  int kind;
  const char *words;
  size_t len;
  while (tm_fault_list_next(&r, &kind, &words, &len))
    warn(s, held, kind, words, len);
}
