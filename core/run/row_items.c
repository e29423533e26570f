/* row_items.c - see row_items.h. */
#include "run/row_items.h"

#include <inttypes.h>

#include "base/text.h"
#include "data/table_load.h"

#define WORDS_MAX 1000 /* bytes */

void tm_rows_count(struct tm_supervisor *s, struct tm_held *held)
{
  struct tm_manifest_entry entry;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf tables = TM_BUF_NONE;
  int64_t rows = -1;

  if (held->items > 0 || tm_manifest_read(s->manifest, held->entry.index, &entry, &err) < 0)
    return;
  if (!s->tables) {
    tm_table_loader_tables(&tables, (const struct tm_dataset *const *)s->o.step->inputs,
                           s->o.step->inputs_len);
    s->tables = tm_table_loader_new(s->o.fs, tm_buf_str(&tables), s->schema_file, s->index_dir);
    tm_buf_release(&tables);
  }
  rows = tm_table_count(s->tables, entry.dataset, entry.bytes, entry.len, &err);
  held->items = rows < 1 ? 1 : rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
}

void tm_rows_learn(const struct tm_supervisor *s, struct tm_held *held,
                   const struct tm_result_head *head)
{
  if (tm_dataset_is_table(s->o.step->inputs[held->dataset]) && head->items != TM_ITEMS_UNKNOWN)
    held->items = head->items;
}

void tm_rows_warn(struct tm_supervisor *s, const struct tm_held *held,
                  const struct tm_reader *faults)
{
  struct tm_buf words = TM_BUF_NONE;
  enum tm_level level = s->has_fault_warning ? TM_INFO : TM_WARNING;

  if (faults->at == faults->end ||
      (s->has_fault_warning && s->o.step->config.logging_level != TM_DEBUG))
    return;
  tm_text_one_line(&words, faults->at, (size_t)(faults->end - faults->at), WORDS_MAX);
  tm_supervisor_say(s, level, "mini-batch %" PRIu64 ": %s%s", held->entry.index, tm_buf_str(&words),
                    s->has_fault_warning ? "" : " (said once; with logging_level DEBUG for each)");
  s->has_fault_warning = true;
  tm_buf_release(&words);
}
