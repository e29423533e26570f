/* fault.c - counting, and messages. */
#include "data/rows/fault.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "data/frame/frame.h"
#include "data/rows/dialect.h"

#define TEXT_MAX   64
#define NAME_SHOWN 200 /* bytes of a column's name in a message */

bool tm_fault_is_first(const struct tm_row_counts *counts, enum tm_fault_kind kind)
{
  return counts->faults[kind] == 0;
}

void tm_fault_note(struct tm_row_counts *counts, const struct tm_fault *fault)
{
  if (tm_fault_is_first(counts, fault->kind))
    counts->first_of[fault->kind] = *fault;
  counts->faults[fault->kind]++;
  if (counts->first.kind == TM_FAULT_NONE)
    counts->first = *fault;
}

void tm_fault_set_text(struct tm_fault *fault, const char *p, size_t n)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_text_one_line(&b, p, n < 256 ? n : 256, TEXT_MAX - 1);
  memcpy(fault->text, tm_buf_str(&b), b.len);
  fault->text[b.len] = '\0';
  tm_buf_release(&b);
}

void tm_fault_words(struct tm_buf *out, const struct tm_fault *f, const struct tm_schema *schema)
{
  const struct tm_schema_column *c =
      schema != NULL && f->column >= 0 && (size_t)f->column < schema->len
          ? &schema->columns[f->column]
          : NULL;
  if (c != NULL) {
    tm_buf_add_str(out, "column '");
    tm_text_one_line(out, c->name, strlen(c->name), NAME_SHOWN);
    tm_buf_add_str(out, "': ");
  }
  switch (f->kind) {
  case TM_FAULT_VALUE:
    tm_buf_printf(out, "'%s' is not a valid %s", f->text,
                  c != NULL ? tm_column_type_name(c->type) : "value");
    break;
  case TM_FAULT_TEXT: tm_buf_printf(out, "'%s' is not text in the given encoding", f->text); break;
  case TM_FAULT_SHORT:
  case TM_FAULT_LONG:
    tm_buf_printf(out, "a row of %" PRId64 " %s in a table of %" PRId64 " %s", f->fields,
                  tm_text_counted(f->fields, "field", "fields"), f->expected,
                  tm_text_counted(f->expected, "column", "columns"));
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
  case TM_FAULT_LINE: tm_buf_printf(out, "'%s' is not a JSON object", f->text); break;
  case TM_FAULT_KEY: tm_buf_printf(out, "the key '%s' is not a column", f->text); break;
  case TM_FAULT_NUMBER: tm_buf_printf(out, "'%s' is nan or inf", f->text); break;
  default: tm_buf_add_str(out, "nothing is wrong"); break;
  }
}

/* The problem, and the user's remedy. */
struct advice {
  const char *what, *todo;
};

static struct advice advice_on_ragged(const struct tm_row_counts *counts, enum tm_fault_kind kind)
{
  bool is_short = kind == TM_FAULT_SHORT;
  if (counts->dropped > 0)
    return (struct advice) { is_short ? "rows with fewer fields than columns, left out"
                                      : "rows with more fields than columns, left out",
                             "on_ragged = \"null\" keeps them" };
  return (struct advice) {
    is_short ? "rows with fewer fields than columns; the missing fields are null"
             : "rows with more fields than columns; the surplus fields are left out",
    "on_ragged = \"drop\" leaves such rows out, on_ragged = \"error\" refuses them"
  };
}

static struct advice advice_on_quotes(bool is_to_end)
{
  if (is_to_end)
    return (struct advice) { "quotes that are not closed before the file ends",
                             "without support_multi_line a row ends at its line break" };
  return (struct advice) { "quotes that are not closed where their row ends",
                           "a row with a line break within quotes is torn there" };
}

static struct advice advice_on(const struct tm_row_counts *counts, enum tm_fault_kind kind)
{
  static const struct advice all[TM_FAULT_KINDS] = {
    [TM_FAULT_VALUE] = { "values that do not fit the type of their column, and are null",
                         "set_column_types gives the column another type, on_misfit = \"error\" "
                         "refuses such values" },
    [TM_FAULT_TEXT] = { "texts with bytes that are not of the encoding, replaced by U+FFFD",
                        "set the encoding of the files, such as encoding = \"latin1\"; on_misfit = "
                        "\"error\" refuses such texts" },
    [TM_FAULT_TOO_LONG] = { "records longer than max_record_size, left out",
                            "a larger max_record_size reads them" },
    [TM_FAULT_LINE] = { "lines that are not JSON objects, left out",
                        "invalid_lines = \"error\" refuses them" },
    [TM_FAULT_KEY] = { "values left out because the first objects do not have their keys", NULL },
    [TM_FAULT_NUMBER] = { "numbers that are nan or inf, written to JSON as null",
                          "JSON has neither: return them as strings, or return a data frame" },
    [TM_FAULT_TABLE] = { "tables among the rows of a delimited file, written as JSON",
                         "for fields and a header return a data frame: require "
                         "\"tidemill.frame\".from_rows(rows)" },
  };
  if (kind == TM_FAULT_SHORT || kind == TM_FAULT_LONG)
    return advice_on_ragged(counts, kind);
  if (kind == TM_FAULT_UNCLOSED)
    return advice_on_quotes(counts->first_of[kind].is_to_end);
  return all[kind];
}

void tm_row_counts_words(struct tm_buf *out, const struct tm_row_counts *counts,
                         enum tm_fault_kind kind)
{
  struct advice a = advice_on(counts, kind);
  if (counts->faults[kind] == 0)
    return;
  if (kind == TM_FAULT_KEY)
    tm_buf_printf(out,
                  "values left out because the first %d objects do not have their keys: %" PRId64
                  " (the first key is '%s'; columns = { ... } names keys that are columns all "
                  "the same)",
                  TM_INFER_ROWS, counts->faults[kind], counts->first_of[kind].text);
  else
    tm_buf_printf(out, "%s: %" PRId64 "; %s", a.what, counts->faults[kind], a.todo);
}

const char *tm_row_counts_what(const struct tm_row_counts *counts, enum tm_fault_kind kind)
{
  const char *what = advice_on(counts, kind).what;
  return what ? what : "faults";
}
