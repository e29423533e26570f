/* lines.h - the line number of a byte in a file, for messages.
 *
 * Counts are kept: if the mini-batches of a file come in order, it is read at most once more,
 * however many of them have warnings.
 */
#ifndef TM_DATA_ROWS_LINES_H
#define TM_DATA_ROWS_LINES_H

#include "base/mem.h"
#include "data/rows/dialect.h"
#include "data/stream/stream.h"

struct tm_line_mark {
  int64_t at, breaks; /* line breaks before offset `at` */
};

struct tm_lines {
  char *path;
  int64_t size;
  struct TM_ARRAY(struct tm_line_mark) marks; /* sorted */
};

/* Zero-initialised is empty and ready. */
void tm_lines_release(struct tm_lines *l);
/* Selects the file; forgets the marks of another one. */
void tm_lines_begin(struct tm_lines *l, const char *path, int64_t size);
/* Notes the number of line breaks before offset `at`. */
void tm_lines_note(struct tm_lines *l, int64_t at, int64_t breaks);
/* The line number, from 1; 0: counting would take too long, or the file cannot be read. */
int64_t tm_lines_find(struct tm_lines *l, struct tm_stream *s, enum tm_encoding encoding,
                      bool big_endian, int64_t at);

#endif
