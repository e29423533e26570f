/* sample.h - the beginning of a file of rows: its header, and the schema of its first rows.
 *
 * A header, a first row or a line that exceeds the limits of the dialect is refused while it is
 * read: TM_EINPUT, with a message that names file, line and byte. So the memory for a file is that
 * of its header or its longest line, and SAMPLE_MOST (sample.c) bytes of rows.
 */
#ifndef TM_DATA_ROWS_SAMPLE_H
#define TM_DATA_ROWS_SAMPLE_H

#include "data/rows/encoding.h"
#include "data/rows/infer.h"
#include "data/rows/rows_file.h"

/* Zero-initialised is empty and ready. */
struct tm_sample {
  struct tm_buf text;          /* UTF-8, after the byte order mark */
  bool is_whole;               /* `text` extends to the end of the file */
  bool big_endian;             /* UTF-16 */
  int64_t mark;                /* bytes of the byte order mark */
  struct tm_buf raw, narrowed; /* the last bytes read; each unit of UTF-16 as a byte */
  struct tm_utf16 utf16;
  int64_t at; /* offset in the file after them */
};
void tm_sample_release(struct tm_sample *s);

/* The first n bytes of the file. */
int tm_sample_read(struct tm_sample *s, const struct tm_rows_options *o,
                   const struct tm_rows_file *file, size_t n, struct tm_err *err);
/* Reads the header and some of the rows. Returns the bytes of the header in the text; adds the
 * columns to `names`, which must be empty. */
int64_t tm_sample_read_header(struct tm_sample *s, const struct tm_rows_options *o,
                              const struct tm_rows_file *file, struct tm_schema *names,
                              struct tm_err *err);

/* The schema of a dataset from its first file: names and, with `infer`, types from its first rows.
 * `settings` (NULL: none) override them; see infer.h. A file without rows gives no columns: try the
 * next one. On failure `out` may have some columns. */
int tm_rows_find_schema(const struct tm_rows_options *options, const struct tm_rows_file *file,
                        bool infer, const struct tm_column_setting *settings, size_t settings_len,
                        struct tm_schema *out, struct tm_err *err);

#endif
