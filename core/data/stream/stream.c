/* stream.c - plain files, and bytes in memory. */
#include "data/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* "BZh", a digit, and the mark of a block or of the end: the first four alone could be text. */
static bool is_bzip2(const char *p, size_t n)
{
  return n >= 10 && memcmp(p, "BZh", 3) == 0 && p[3] >= '1' && p[3] <= '9' &&
         (memcmp(p + 4, "1AY&SY", 6) == 0 || memcmp(p + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

static bool begins_with(const char *p, size_t n, const char *bytes, size_t bytes_len)
{
  return n >= bytes_len && memcmp(p, bytes, bytes_len) == 0;
}

enum tm_packing tm_stream_packing(const char *p, size_t n)
{
  if (begins_with(p, n, "\x1f\x8b\x08", 3))
    return TM_PACKED_GZIP;
  if (begins_with(p, n, "\x28\xb5\x2f\xfd", 4) ||
      begins_with(p, n,
                  "\xfd"
                  "7zXZ\0",
                  6) ||
      begins_with(p, n, "\x04\x22\x4d\x18", 4) || is_bzip2(p, n))
    return TM_PACKED_OTHER;
  return TM_PACKED_NOT;
}

struct file_stream {
  struct tm_stream stream;
  const struct tm_fs *fs;
  int fd;
  char *path;
};

static int64_t file_read(struct tm_stream *s, void *p, size_t n, int64_t at, struct tm_err *err)
{
  struct file_stream *f = (struct file_stream *)s;
  return tm_fs_read_at(f->fs, f->fd, f->path, p, n, at, err);
}

static void file_close(struct tm_stream *s)
{
  struct file_stream *f = (struct file_stream *)s;
  tm_fs_close(f->fs, f->fd);
  free(f->path);
  free(f);
}

struct tm_stream *tm_stream_of_file(const struct tm_fs *fs, int fd, const char *path, int64_t size)
{
  tm_require(fd >= 0 && size >= 0);
  struct file_stream *f = TM_NEW(struct file_stream);
  f->stream = (struct tm_stream) { .read = file_read, .close = file_close, .size = size };
  f->fs = fs;
  f->fd = fd;
  f->path = tm_xstrdup(path);
  return &f->stream;
}

struct bytes_stream {
  struct tm_stream stream;
  const char *p;
};

static int64_t bytes_read(struct tm_stream *s, void *p, size_t n, int64_t at, struct tm_err *err)
{
  struct bytes_stream *b = (struct bytes_stream *)s;
  if (at >= s->size)
    return 0;
  n = n < (size_t)(s->size - at) ? n : (size_t)(s->size - at);
  memcpy(p, b->p + at, n);
  return (int64_t)n;
}

static void bytes_close(struct tm_stream *s)
{
  free(s);
}

struct tm_stream *tm_stream_of_bytes(const char *p, size_t n)
{
  struct bytes_stream *b = TM_NEW(struct bytes_stream);
  b->stream = (struct tm_stream) { .read = bytes_read, .close = bytes_close, .size = (int64_t)n };
  b->p = p;
  return &b->stream;
}

void tm_stream_close(struct tm_stream *s)
{
  if (s != NULL)
    s->close(s);
}

int64_t tm_stream_read(void *data, void *p, size_t n, int64_t at, struct tm_err *err)
{
  struct tm_stream *s = data;
  return s->read(s, p, n, at, err);
}

void tm_stream_expect(void *data, int64_t at)
{
  struct tm_stream *s = data;
  if (s->expect != NULL)
    s->expect(s, at);
}
