/* dialect.c - the names of the parts of a dialect. */
#include "data/rows/dialect.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

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

static int refuse(const char *what, const char *given, const struct name *names, size_t n,
                  struct tm_err *err)
{
  struct tm_buf list = TM_BUF_NONE;
  const char *known[TM_COUNT_OF(encodings)];
  for (size_t i = 0; i < n; i++) {
    known[i] = names[i].name;
    tm_buf_printf(&list, "%s'%s'", i == 0 ? "" : ", ", names[i].name);
  }
  const char *near = tm_text_nearest(given, known, n);
  int rc = tm_err_set(err, TM_EUSAGE, "%s '%s' is not known%s%s%s; it is one of %s", what, given,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
                      tm_buf_str(&list));
  tm_buf_release(&list);
  return rc;
}

static int parse(const char *what, const char *given, const struct name *names, size_t n, int *out,
                 struct tm_err *err)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i].name, given) == 0) {
      *out = names[i].value;
      return 0;
    }
  return refuse(what, given, names, n, err);
}

int tm_encoding_parse(const char *name, enum tm_encoding *out, struct tm_err *err)
{
  int value = 0;
  int rc = parse("encoding", name, encodings, TM_COUNT_OF(encodings), &value, err);
  if (rc == 0)
    *out = (enum tm_encoding)value;
  return rc;
}

int tm_header_mode_parse(const char *name, enum tm_header_mode *out, struct tm_err *err)
{
  int value = 0;
  int rc = parse("header", name, headers, TM_COUNT_OF(headers), &value, err);
  if (rc == 0)
    *out = (enum tm_header_mode)value;
  return rc;
}

int tm_ragged_parse(const char *name, enum tm_ragged *out, struct tm_err *err)
{
  int value = 0;
  int rc = parse("what to do with ragged rows:", name, raggeds, TM_COUNT_OF(raggeds), &value, err);
  if (rc == 0)
    *out = (enum tm_ragged)value;
  return rc;
}

int tm_misfit_parse(const char *name, enum tm_misfit *out, struct tm_err *err)
{
  int value = 0;
  int rc = parse("what to do with values that do not fit:", name, misfits, TM_COUNT_OF(misfits),
                 &value, err);
  if (rc == 0)
    *out = (enum tm_misfit)value;
  return rc;
}

int tm_separator_parse(const char *text, char *out, struct tm_err *err)
{
  char c = strcmp(text, "\\t") == 0 ? '\t' : text[0];
  if (strlen(text) != (c == '\t' && text[0] == '\\' ? 2u : 1u) || (unsigned char)c >= 0x80 ||
      strchr("\"\r\n", c) != NULL)
    return tm_err_set(
        err, TM_EUSAGE,
        "separator '%s': it is one character of ASCII, and neither '\"' nor a line break", text);
  *out = c;
  return 0;
}
