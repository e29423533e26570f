/* fault.c - counting, and words. */
#include "data/rows/fault.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "data/frame.h"
#include "data/rows/dialect.h"
#include "data/rows/infer.h"

#define TEXT_MAX   64
#define NAME_SHOWN 200 /* bytes of a column's name in a message */

void tm_fault_note(struct tm_row_counts *counts, const struct tm_fault *fault)
{
  counts->faults[fault->kind]++;
  if (counts->first.kind == TM_FAULT_NONE)
    counts->first = *fault;
}

void tm_fault_text(char *out, const char *p, size_t n)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_text_one_line(&b, p, n < 256 ? n : 256, TEXT_MAX - 1);
  memcpy(out, tm_buf_str(&b), b.len);
  out[b.len] = '\0';
  tm_buf_release(&b);
}

void tm_fault_set_text(struct tm_fault *fault, const char *p, size_t n)
{
  tm_fault_text(fault->text, p, n);
}

void tm_row_counts_add(struct tm_row_counts *to, const struct tm_row_counts *more)
{
  to->rows += more->rows;
  to->dropped += more->dropped;
  to->empty_lines += more->empty_lines;
  if (to->faults[TM_FAULT_KEY] == 0)
    memcpy(to->first_key, more->first_key, sizeof to->first_key);
  for (int i = 0; i < TM_FAULT_KINDS; i++)
    to->faults[i] += more->faults[i];
  if (to->first.kind == TM_FAULT_NONE)
    to->first = more->first;
}

void tm_fault_words(struct tm_buf *out, const struct tm_fault *f, const struct tm_schema *schema)
{
  const struct tm_schema_column *c =
      f->column >= 0 && (size_t)f->column < schema->len ? &schema->columns[f->column] : NULL;
  if (c != NULL) {
    tm_buf_add_str(out, "column '");
    tm_text_one_line(out, c->name, strlen(c->name), NAME_SHOWN);
    tm_buf_add_str(out, "': ");
  }
  switch (f->kind) {
  case TM_FAULT_VALUE:
    tm_buf_printf(out, "'%s' is no %s", f->text,
                  c != NULL ? tm_column_type_name(c->type) : "value");
    break;
  case TM_FAULT_TEXT:
    tm_buf_printf(out, "'%s' is not text of the encoding that was given", f->text);
    break;
  case TM_FAULT_SHORT:
  case TM_FAULT_LONG:
    tm_buf_printf(out, "a row of %" PRId64 " fields where there are %" PRId64 " columns", f->fields,
                  f->expected);
    break;
  case TM_FAULT_UNCLOSED:
    tm_buf_add_str(out, f->is_to_end
                            ? "a quote is not closed: all up to the end of the file is in its field"
                            : "a quote is not closed where its row ends; for line breaks within "
                              "quotes set support_multi_line = true");
    break;
  case TM_FAULT_TOO_LONG:
    tm_record_words(out, &(struct tm_row_limits) { .record = (size_t)f->expected }, "a record");
    break;
  case TM_FAULT_LINE: tm_buf_printf(out, "no JSON object: %s", f->text); break;
  case TM_FAULT_KEY: tm_buf_printf(out, "the key '%s' is not a column", f->text); break;
  default: tm_buf_add_str(out, "nothing is wrong"); break;
  }
}

void tm_row_counts_words(struct tm_buf *out, const struct tm_row_counts *counts)
{
  static const char *const words[TM_FAULT_KINDS] = {
    [TM_FAULT_VALUE] = "values that do not fit the type of their column, and are null",
    [TM_FAULT_TEXT] = "texts with bytes that are not of the encoding",
    [TM_FAULT_SHORT] = "rows with fewer fields than there are columns",
    [TM_FAULT_LONG] = "rows with more fields than there are columns",
    [TM_FAULT_UNCLOSED] = "quotes that are not closed",
    [TM_FAULT_TOO_LONG] = "records longer than max_record_size",
    [TM_FAULT_LINE] = "lines that are no JSON objects",
  };
  size_t before = out->len;
  for (int i = 0; i < TM_FAULT_KINDS; i++)
    if (words[i] != NULL && counts->faults[i] > 0)
      tm_buf_printf(out, "%s%s: %" PRId64, out->len > before ? "; " : "", words[i],
                    counts->faults[i]);
  if (counts->faults[TM_FAULT_KEY] > 0)
    tm_buf_printf(out,
                  "%svalues left out because the first %d objects do not have their keys: %" PRId64
                  " (the first key is '%s'; columns = { ... } names keys that are columns all "
                  "the same)",
                  out->len > before ? "; " : "", TM_INFER_ROWS, counts->faults[TM_FAULT_KEY],
                  counts->first_key);
  if (counts->dropped > 0)
    tm_buf_printf(out, "%srows that are left out: %" PRId64, out->len > before ? "; " : "",
                  counts->dropped);
}
