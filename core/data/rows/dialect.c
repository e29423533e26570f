/* dialect.c - see dialect.h. */
#include "data/rows/dialect.h"

#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "params/params.h"

struct name {
  const char *name;
  int value;
};

static const struct name encodings[] = {
  { "utf8", TM_ENCODING_UTF8 },
  { "utf8bom", TM_ENCODING_UTF8 },
  { "latin1", TM_ENCODING_LATIN1 },
  { "iso88591", TM_ENCODING_LATIN1 },
  { "windows1252", TM_ENCODING_WINDOWS1252 },
  { "ascii", TM_ENCODING_ASCII },
  { "utf16", TM_ENCODING_UTF16 },
};

static const struct name headers[] = {
  { "all_files_same", TM_HEADER_ALL_SAME },
  { "true", TM_HEADER_ALL_SAME },
  { "from_first_file", TM_HEADER_FIRST_FILE },
  { "none", TM_HEADER_NONE },
  { "false", TM_HEADER_NONE },
  { "all_files_different", TM_HEADER_DIFFERENT },
};

static const struct name raggeds[] = {
  { "null", TM_RAGGED_NULL },
  { "drop", TM_RAGGED_DROP },
  { "error", TM_RAGGED_ERROR },
};

static const struct name misfits[] = {
  { "null", TM_MISFIT_NULL },
  { "error", TM_MISFIT_ERROR },
};

void tm_dialect_init(struct tm_dialect *d)
{
  *d = (struct tm_dialect) { .separator = ',' };
}

size_t tm_max_columns(const struct tm_row_limits *limits)
{
  return limits->columns > 0 ? limits->columns : TM_MAX_COLUMNS;
}

size_t tm_max_record_size(const struct tm_row_limits *limits)
{
  return limits->record > 0 ? limits->record : TM_MAX_RECORD_SIZE;
}

int tm_refuse_columns(const struct tm_row_limits *limits, struct tm_err *err)
{
  size_t most = tm_max_columns(limits);
  return tm_err_set(
      err, TM_EINPUT,
      "column %zu is beyond the limit; accepted: up to %zu columns, which max_columns "
      "raises to %d at most",
      most + 1, most, TM_MAX_COLUMNS_MOST);
}

static void add_size(struct tm_buf *out, size_t n)
{
  static const char *const units[] = { " bytes", "KB", "MB", "GB" };
  size_t unit = 0;
  for (; n % 1024 == 0 && unit + 1 < TM_COUNT_OF(units); unit++)
    n /= 1024;
  tm_buf_printf(out, "%zu%s", n, units[unit]);
}

void tm_record_words(struct tm_buf *out, const struct tm_row_limits *limits, const char *what)
{
  tm_buf_printf(out, "%s of more than ", what);
  add_size(out, tm_max_record_size(limits));
  tm_buf_add_str(out, "; max_record_size raises the limit, to 2GB at most");
}

int tm_refuse_record(const struct tm_row_limits *limits, const char *what, struct tm_err *err)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_record_words(&words, limits, what);
  tm_err_set(err, TM_EINPUT, "%s", tm_buf_str(&words));
  tm_buf_release(&words);
  return TM_EINPUT;
}

/* The value of the settled word, which is in the table of words as it is in that of params.h. */
static int value_of(const struct name *names, size_t n, const struct tm_json *options,
                    const char *key, int otherwise)
{
  const char *word = tm_json_str(options, key, NULL);
  size_t i = 0;
  if (!word)
    return otherwise;
  while (i < n && strcmp(names[i].name, word) != 0)
    i++;
  tm_require(i < n);
  return names[i].value;
}

#define VALUE_OF(names, options, key, otherwise)                                                   \
  value_of(names, TM_COUNT_OF(names), options, key, (int)(otherwise))

void tm_dialect_read(struct tm_dialect *d, const struct tm_json *o)
{
  const char *separator = tm_json_str(o, "separator", NULL);
  if (separator)
    d->separator = strcmp(separator, "\\t") == 0 ? '\t' : separator[0];
  d->multi_line = tm_json_bool(o, "support_multi_line", d->multi_line);
  d->empty_as_string = tm_json_bool(o, "empty_as_string", d->empty_as_string);
  d->limits.columns = (size_t)tm_json_int(o, "max_columns", (int64_t)d->limits.columns);
  d->limits.record = (size_t)tm_json_int(o, "max_record_size", (int64_t)d->limits.record);
  d->header = (enum tm_header_mode)VALUE_OF(headers, o, "header", d->header);
  d->encoding = (enum tm_encoding)VALUE_OF(encodings, o, "encoding", d->encoding);
  d->ragged = (enum tm_ragged)VALUE_OF(raggeds, o, "on_ragged", d->ragged);
  d->misfit = (enum tm_misfit)VALUE_OF(misfits, o, "on_misfit", d->misfit);
}
