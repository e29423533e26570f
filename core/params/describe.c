/* describe.c - fields and values of a definition as text, for messages: what a field accepts, and
 * what was given.
 *
 * values.c decides what is accepted; a type added there needs its text here.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "params/params.h"

static void add_range(struct tm_buf *out, const struct tm_field *f, const char *what,
                      const char *unit)
{
  if (f->min == f->max) {
    tm_json_write_number(out, f->min);
    return;
  }
  tm_buf_printf(out, "%s from ", what);
  tm_json_write_number(out, f->min);
  if (f->max == 0 || (f->max >= 2147483647.0 && f->min >= 0)) {
    tm_buf_printf(out, "%s on", unit);
    return;
  }
  tm_buf_add_str(out, " to ");
  tm_json_write_number(out, f->max);
  tm_buf_add_str(out, unit);
}

static bool is_truth(const char *word, size_t n)
{
  return (n == 4 && strncmp(word, "true", n) == 0) || (n == 5 && strncmp(word, "false", n) == 0);
}

static void add_choices(struct tm_buf *out, const char *words)
{
  for (const char *at = words; at;) {
    size_t n = strcspn(at, "|");
    const char *next = at[n] ? at + n + 1 : NULL;
    tm_buf_add_str(out, at == words ? "" : next ? ", " : " or ");
    const char *mark = is_truth(at, n) ? "" : "\"";
    tm_buf_printf(out, "%s%.*s%s", mark, (int)n, at, mark);
    at = next;
  }
}

static void add_seconds(struct tm_buf *out, const struct tm_field *f)
{
  if (f->accepts)
    tm_buf_printf(out, "\"%s\", ", f->accepts);
  add_range(out, f, "a number", " seconds");
  tm_buf_printf(out, ", a duration such as \"5m\", or \"none\" for %s",
                f->min == 0 ? "0" : "the most");
}

static void add_size(struct tm_buf *out, const struct tm_field *f)
{
  if (f->min > 1)
    tm_buf_printf(out, "a size from %gMB on, as a number of bytes or a text such as \"100MB\"",
                  f->min / (1 << 20));
  else
    tm_buf_add_str(out, "a number of bytes from 1 on, or a size such as \"10MB\"");
}

static void add_objects(struct tm_buf *out, const struct tm_field *f)
{
  bool may_be_one = f->flags & TM_FIELD_OR_ONE;
  if (may_be_one)
    tm_buf_printf(out, "%s ", tm_text_article(f->accepts));
  else
    tm_buf_add_str(out, "a list of one or more ");
  for (const char *at = f->accepts; *at; at++)
    tm_buf_add_str(out, *at == '|' ? " or " : (char[]) { *at, 0 });
  tm_buf_add_str(out, may_be_one ? ", or a list of one or more" : "");
}

/* For types that accept the same in every field. */
static const char *const same_for_all[] = {
  [TM_FIELD_PATH] = "a path",
  [TM_FIELD_FILE_NAME] = "a file name, without a folder",
  [TM_FIELD_SEPARATOR] = "one character, none of '\"' and line breaks",
  [TM_FIELD_BOOL] = "true or false",
  [TM_FIELD_NAME] = "1 to 32 characters of a-z, 0-9, '-' and '_', a letter first, no '-' last",
  [TM_FIELD_WORD] = "a name of letters, digits, '_', '-' and '.'",
  [TM_FIELD_VARIABLES] = "a table of names (without '=') and strings, numbers or booleans",
  [TM_FIELD_ENVIRONMENT] = ("a table { variables, module_paths }: names (without '=') with "
                            "strings, numbers or booleans, "
                            "and folders (without ';' and '?'); or a name, which is not used"),
  [TM_FIELD_NAMES] = "a list of one or more different names, not empty",
  [TM_FIELD_STRINGS] = "a string, or a list of one or more strings, none empty",
  [TM_FIELD_TYPES] = ("a table of names and types: \"bool\", \"long\", \"double\", \"string\", "
                      "\"datetime\", or { type = \"datetime\", formats = { \"%d.%m.%Y\" } }"),
  [TM_FIELD_LIST] = "a list",
  [TM_FIELD_ANY] = "a value",
};

void tm_params_accepted(struct tm_buf *out, const struct tm_field *f)
{
  switch (f->type) {
  case TM_FIELD_INT: add_range(out, f, "an integer", ""); break;
  case TM_FIELD_SECONDS: add_seconds(out, f); break;
  case TM_FIELD_PERCENT: add_range(out, f, "a number", ""); break;
  case TM_FIELD_SIZE: add_size(out, f); break;
  case TM_FIELD_AMOUNT:
    add_range(out, f, "an integer", "");
    tm_buf_add_str(out, "; for tables a size such as \"10MB\" or \"500rows\"");
    break;
  case TM_FIELD_CHOICE:
    add_choices(out, f->accepts);
    tm_buf_add_str(out, f->flags & TM_FIELD_ANY_CASE ? ", in any case" : "");
    break;
  case TM_FIELD_SCALAR:
    tm_buf_add_str(out, f->accepts ? "a string, a number, a boolean or a dataset"
                                   : "a string, a number or a boolean");
    break;
  case TM_FIELD_TEXT: tm_buf_add_str(out, f->min > 0 ? "a string, not empty" : "a string"); break;
  case TM_FIELD_OBJECT: tm_buf_printf(out, "%s { ... }", f->accepts); break;
  case TM_FIELD_OBJECTS: add_objects(out, f); break;
  default: tm_buf_add_str(out, same_for_all[f->type]); break;
  }
}

void tm_params_describe(struct tm_buf *out, const struct tm_json *given)
{
  if (given->tag) {
    tm_buf_printf(out, "%s %s", tm_text_article(given->tag), given->tag);
    return;
  }
  switch (given->type) {
  case TM_JSON_NULL: tm_buf_add_str(out, "nothing"); break;
  case TM_JSON_BOOL: tm_buf_add_str(out, given->boolean ? "true" : "false"); break;
  case TM_JSON_INT: tm_buf_add_int(out, given->integer); break;
  case TM_JSON_NUMBER:
    if (isfinite(given->number))
      tm_json_write_number(out, given->number);
    else
      tm_buf_add_str(out, isnan(given->number) ? "nan" : given->number > 0 ? "inf" : "-inf");
    break;
  case TM_JSON_STRING:
    tm_buf_add_char(out, '"');
    tm_text_one_line(out, given->string.at, given->string.len, 80);
    tm_buf_add_char(out, '"');
    break;
  case TM_JSON_ARRAY: tm_buf_add_str(out, given->list.len ? "a list" : "an empty table"); break;
  case TM_JSON_OBJECT: tm_buf_add_str(out, "a table"); break;
  }
}
