/* dialect.h - the format of a delimited file, and how irregular rows and values are handled.
 *
 * The table in README.md of this folder lists the irregularities. Everything here is plain data
 * without pointers, so that a dialect may be copied.
 */
#ifndef TM_DATA_ROWS_DIALECT_H
#define TM_DATA_ROWS_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum tm_encoding {
  TM_ENCODING_UTF8, /* with or without a byte order mark */
  TM_ENCODING_LATIN1,
  TM_ENCODING_WINDOWS1252,
  TM_ENCODING_ASCII,
  TM_ENCODING_UTF16, /* in the order of its byte order mark; little-endian without one */
};

enum tm_header_mode {
  TM_HEADER_ALL_SAME,   /* every file begins with the header of the first */
  TM_HEADER_FIRST_FILE, /* only the first file has one */
  TM_HEADER_NONE,       /* Column1, Column2, ... */
  TM_HEADER_DIFFERENT,  /* every file has its own; columns are matched by their names */
};

/* How a row with fewer or more fields than columns is handled. */
enum tm_ragged {
  TM_RAGGED_NULL,  /* missing fields are null, surplus ones are ignored; counted */
  TM_RAGGED_DROP,  /* the row is dropped; counted */
  TM_RAGGED_ERROR, /* the reading ends, with a message */
};

/* How a value that does not fit the type of its column is handled. */
enum tm_misfit {
  TM_MISFIT_NULL, /* it becomes null, and is counted */
  TM_MISFIT_ERROR,
};

/* 0 means the default. */
struct tm_row_limits {
  size_t columns;
  size_t record; /* bytes of a record or a header as UTF-8, without its line break */
};

struct tm_dialect {
  char separator;  /* one byte of ASCII, not '"', CR, LF or NUL */
  bool no_quotes;  /* '"' is an ordinary character */
  bool multi_line; /* line breaks inside quotes belong to the field; else every one ends a row */
  bool empty_as_string; /* an empty field of a string column is "", not null */
  enum tm_encoding encoding;
  enum tm_header_mode header;
  enum tm_ragged ragged;
  enum tm_misfit misfit;
  struct tm_row_limits limits;
};

size_t tm_max_columns(const struct tm_row_limits *limits);
size_t tm_max_record_size(const struct tm_row_limits *limits);
/* TM_EINPUT: a header or an object has more columns than the limit. The message has no place. */
int tm_refuse_columns(const struct tm_row_limits *limits, struct tm_err *err);
/* TM_EINPUT: `what` ("the header", "a record") is longer than the limit. */
int tm_refuse_record(const struct tm_row_limits *limits, const char *what, struct tm_err *err);
/* "a record of more than 64MB; max_record_size raises the limit, to 2GB at most" */
void tm_record_words(struct tm_buf *out, const struct tm_row_limits *limits, const char *what);

/* ',', quotes, UTF-8, all files with the same header, null for values that do not fit. */
void tm_dialect_init(struct tm_dialect *d);

/* Sets what the options have, which tm_params_settle() has settled for a constructor of tables. */
void tm_dialect_read(struct tm_dialect *d, const struct tm_json *options);

#endif
