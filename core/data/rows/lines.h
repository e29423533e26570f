/* lines.h - the number of the line that a byte of a file is in, for words about it.
 *
 * What was counted once is kept: for a file whose mini-batches come in order all of it is read once more at most, however many
 * of them have something to say.
 */
#ifndef TM_DATA_ROWS_LINES_H
#define TM_DATA_ROWS_LINES_H

#include "base/mem.h"
#include "data/rows/dialect.h"
#include "data/rows/stream.h"

struct tm_line_mark {
  int64_t at, breaks; /* line breaks before this byte */
};

struct tm_lines {
  char *path;
  int64_t size;
  struct TM_ARRAY(struct tm_line_mark) marks; /* in their order */
};

/* Zero-initialised is empty and ready. */
void tm_lines_release(struct tm_lines *l);
/* The file that all else is about; another one than before is not known yet. */
void tm_lines_begin(struct tm_lines *l, const char *path, int64_t size);
/* So many line breaks are before this byte. */
void tm_lines_note(struct tm_lines *l, int64_t at, int64_t breaks);
/* The number of the line, from 1; 0: it would take too long to count, or the file cannot be read. */
int64_t tm_lines_find(struct tm_lines *l, struct tm_stream *s, enum tm_encoding encoding,
                      bool big_endian, int64_t at);

#endif
