/* fault.h - what was not as it should be in rows: counted, and the first of it kept with its place, so that a warning or
 * an error can say where. */
#ifndef TM_DATA_ROWS_FAULT_H
#define TM_DATA_ROWS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "data/rows/schema.h"

enum tm_fault_kind {
  TM_FAULT_NONE,
  TM_FAULT_VALUE,    /* a value that does not fit its column's type */
  TM_FAULT_TEXT,     /* bytes that are no text of the encoding; they become U+FFFD */
  TM_FAULT_SHORT,    /* a row with too few fields, */
  TM_FAULT_LONG,     /* or too many */
  TM_FAULT_UNCLOSED, /* a quote that is not closed where its row or its file ends */
  TM_FAULT_TOO_LONG, /* a record that is longer than the limit, which is `expected` */
  TM_FAULT_LINE,     /* a line that is no JSON object */
  TM_FAULT_KEY,      /* a value of a JSON object whose key is not a column */
  TM_FAULT_KINDS
};

struct tm_fault {
  enum tm_fault_kind kind;
  int64_t
      at; /* byte of the file (of what it holds, where it is compressed) where the field or row begins */
  long column;      /* of the schema, or -1 */
  int64_t fields;   /* that the row has, */
  int64_t expected; /* and should have */
  bool is_to_end;   /* UNCLOSED: the field goes up to the end of the file */
  char text[64];    /* of the value, one line, cut */
};

struct tm_row_counts {
  int64_t rows;                   /* in the frame */
  int64_t dropped;                /* rows left out: ragged ones, lines that are no JSON */
  int64_t empty_lines;            /* which are no rows */
  int64_t faults[TM_FAULT_KINDS]; /* by kind: values, texts, rows */
  char first_key[64];             /* of a KEY; shortened like a fault's text */
  struct tm_fault first;          /* kind NONE: there was none */
};

/* Counts it; keeps it when it is the first. */
void tm_fault_note(struct tm_row_counts *counts, const struct tm_fault *fault);
/* Into 64 bytes: one line, cut. */
void tm_fault_text(char *out, const char *p, size_t n);
/* For one that is already counted. */
void tm_fault_set_text(struct tm_fault *fault, const char *p, size_t n);
void tm_row_counts_add(struct tm_row_counts *to, const struct tm_row_counts *more);

/* "column 'price': 'abc' is no double" and the like: to put behind the place. */
void tm_fault_words(struct tm_buf *out, const struct tm_fault *fault,
                    const struct tm_schema *schema);
/* "values that do not fit the type of their column, and are null: 12; rows that are left out: 3"; nothing when there is
 * none. */
void tm_row_counts_words(struct tm_buf *out, const struct tm_row_counts *counts);

#endif
