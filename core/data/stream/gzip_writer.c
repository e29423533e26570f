/* gzip_writer.c - see gzip_writer.h. */
#include "data/stream/gzip_writer.h"

#include <isa-l/igzip_lib.h>

#include "base/check.h"
#include "base/mem.h"

#define PIECE ((size_t)256 << 10) /* bytes that are passed on at once */
#define LEVEL 1                   /* as fast as level 0 for text, and the files are smaller */

struct tm_gzip_writer {
  int (*on_bytes)(void *data, const char *p, size_t n);
  void *data;
  int rc;
  struct isal_zstream z;
  uint8_t *level_memory;
  char *out;
};

static void begin_piece(struct tm_gzip_writer *w)
{
  w->z.next_out = (uint8_t *)w->out;
  w->z.avail_out = PIECE;
}

static void pass_on(struct tm_gzip_writer *w)
{
  size_t n = PIECE - w->z.avail_out;
  if (w->rc == 0 && n > 0)
    w->rc = w->on_bytes(w->data, w->out, n);
  begin_piece(w);
}

struct tm_gzip_writer *tm_gzip_writer_new(int (*on_bytes)(void *data, const char *p, size_t n),
                                          void *data)
{
  struct tm_gzip_writer *w = TM_NEW(struct tm_gzip_writer);
  w->on_bytes = on_bytes;
  w->data = data;
  w->level_memory = tm_xmalloc(ISAL_DEF_LVL1_DEFAULT);
  w->out = tm_xmalloc(PIECE);
  isal_deflate_init(&w->z);
  w->z.level = LEVEL;
  w->z.level_buf = w->level_memory;
  w->z.level_buf_size = ISAL_DEF_LVL1_DEFAULT;
  w->z.gzip_flag = IGZIP_GZIP;
  begin_piece(w);
  return w;
}

static int compress(struct tm_gzip_writer *w)
{
  do {
    tm_require(isal_deflate(&w->z) == COMP_OK);
    if (w->z.avail_out == 0)
      pass_on(w);
  } while (w->rc == 0 &&
           (w->z.avail_in > 0 || (w->z.end_of_stream && w->z.internal_state.state != ZSTATE_END)));
  return w->rc;
}

int tm_gzip_writer_add(struct tm_gzip_writer *w, const char *p, size_t n)
{
  while (w->rc == 0 && n > 0) {
    size_t piece = n < PIECE ? n : PIECE;
    w->z.next_in = (uint8_t *)p;
    w->z.avail_in = (uint32_t)piece;
    compress(w);
    p += piece;
    n -= piece;
  }
  return w->rc;
}

int tm_gzip_writer_end(struct tm_gzip_writer *w)
{
  w->z.end_of_stream = 1;
  w->z.avail_in = 0;
  if (w->rc == 0)
    compress(w);
  pass_on(w);
  return w->rc;
}

void tm_gzip_writer_free(struct tm_gzip_writer *w)
{
  if (!w)
    return;
  free(w->level_memory);
  free(w->out);
  free(w);
}
