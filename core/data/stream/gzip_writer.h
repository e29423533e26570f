/* gzip_writer.h - compresses bytes as a gzip file, in a constant amount of memory. Pure: it passes
 * the file on in pieces.
 *
 *   tm_gzip_writer_new() -> tm_gzip_writer_add() ... -> tm_gzip_writer_end() -> _free()
 *
 * ISA-L compresses, several times as fast as zlib at its fastest level.
 */
#ifndef TM_DATA_STREAM_GZIP_WRITER_H
#define TM_DATA_STREAM_GZIP_WRITER_H

#include <stddef.h>

struct tm_gzip_writer;

/* `on_bytes` returns 0; another number ends the writing. */
struct tm_gzip_writer *tm_gzip_writer_new(int (*on_bytes)(void *data, const char *p, size_t n),
                                          void *data);
/* Both return 0, or what on_bytes() returned; nothing is passed on after that. */
int tm_gzip_writer_add(struct tm_gzip_writer *w, const char *p, size_t n);
int tm_gzip_writer_end(struct tm_gzip_writer *w);
void tm_gzip_writer_free(struct tm_gzip_writer *w); /* NULL: a no-op */

#endif
