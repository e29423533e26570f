/* fault.h - faults in rows: counted by kind; the first of each kind is stored with its place, for a
 * warning or an error.
 */
#ifndef TM_DATA_ROWS_FAULT_H
#define TM_DATA_ROWS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "data/rows/schema.h"

enum tm_fault_kind {
  TM_FAULT_NONE,
  TM_FAULT_VALUE,    /* a value that does not fit its column's type */
  TM_FAULT_TEXT,     /* bytes that are not valid in the encoding; they become U+FFFD */
  TM_FAULT_SHORT,    /* a row with too few fields, */
  TM_FAULT_LONG,     /* or too many */
  TM_FAULT_UNCLOSED, /* a quote that is still open at the end of its row or file */
  TM_FAULT_TOO_LONG, /* a record longer than the limit, which is `expected` */
  TM_FAULT_LINE,     /* a line that is not a JSON object */
  TM_FAULT_KEY,      /* a value of a JSON object whose key is not a column */
  TM_FAULT_NUMBER,   /* nan or inf that run() returned in a table: JSON has none, it becomes null */
  TM_FAULT_TABLE,    /* a table that run() returned for a file of fields: it becomes JSON */
  TM_FAULT_KINDS
};

struct tm_fault {
  enum tm_fault_kind kind;
  int64_t at;       /* offset in the file (decompressed) where the field or row begins */
  long column;      /* of the schema, or -1 */
  int64_t fields;   /* that the row has, */
  int64_t expected; /* and should have */
  bool is_to_end;   /* UNCLOSED: the field extends to the end of the file */
  char text[64];    /* of the value, one line, cut */
};

struct tm_row_counts {
  int64_t rows;                             /* in the frame */
  int64_t dropped;                          /* dropped rows: ragged ones, lines that are not JSON */
  int64_t empty_lines;                      /* not rows */
  int64_t faults[TM_FAULT_KINDS];           /* by kind: values, texts, rows */
  struct tm_fault first;                    /* of all kinds; kind NONE: there was none */
  struct tm_fault first_of[TM_FAULT_KINDS]; /* of each kind that was counted */
};

/* Counts it; stores the first of its kind. */
void tm_fault_note(struct tm_row_counts *counts, const struct tm_fault *fault);
/* Whether the next fault of this kind will be stored, and so needs its text and place. */
bool tm_fault_is_first(const struct tm_row_counts *counts, enum tm_fault_kind kind);
/* Puts one line, cut to 63 bytes, into the fault's text. */
void tm_fault_set_text(struct tm_fault *fault, const char *p, size_t n);

/* Adds text such as "column 'price': 'abc' is not a valid double", which follows the place in a
 * message. `schema` NULL: the fault does not belong to a column. */
void tm_fault_words(struct tm_buf *out, const struct tm_fault *fault,
                    const struct tm_schema *schema);
/* The number of faults of this kind, what became of them, and the option to change that: "values
 * that do not fit the type of their column, and are null: 12; set_column_types gives ...". Adds
 * nothing if there were none. */
void tm_row_counts_words(struct tm_buf *out, const struct tm_row_counts *counts,
                         enum tm_fault_kind kind);
/* What is wrong with them and what became of them: "values that do not fit the type of their
 * column, and are null". */
const char *tm_row_counts_what(const struct tm_row_counts *counts, enum tm_fault_kind kind);

#endif
