/* fuzz_gzip.c - a gzip file, read once in order to make check points, then from any position. Files
 * that zlib accepts give the same bytes here, and files that it refuses are refused.
 *
 * The first byte says what the others are: a file, or contents to pack with zlib. In the packed
 * file one byte may be changed. */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>
#include <errno.h>
#include <zlib.h>

#include "base/buf.h"
#include "data/stream/gzip.h"

#define MOST ((size_t)128 << 10) /* of contents */

struct files {
  int file, index;
};

static int open_memory(void *self, const char *path, int flags, int mode)
{
  return dup(((struct files *)self)->index);
}

static int rename_memory(void *self, const char *from, const char *to)
{
  return 0;
}

static int make_no_dir(void *self, const char *path, int mode)
{
  return -EEXIST;
}

/* The file as zlib unpacks it. False: it is damaged, or too large. */
static bool unpack(const char *p, size_t n, struct tm_buf *out)
{
  z_stream z = { .next_in = (Bytef *)(uintptr_t)p, .avail_in = (uInt)n };
  int rc = inflateInit2(&z, 31);
  size_t room = MOST + 1;
  tm_buf_extend(out, room);
  z.next_out = (Bytef *)out->data;
  z.avail_out = (uInt)room;
  for (;;) {
    rc = inflate(&z, Z_NO_FLUSH);
    if (rc != Z_STREAM_END)
      break;
    while (z.avail_in > 0 && *z.next_in == 0) {
      z.next_in++;
      z.avail_in--;
    }
    if (z.avail_in == 0)
      break;
    inflateReset(&z);
  }
  out->len = room - z.avail_out;
  inflateEnd(&z);
  return rc == Z_STREAM_END && out->len <= MOST;
}

static void pack(const uint8_t *data, size_t n, struct tm_buf *out)
{
  if (!(data[0] & 1)) {
    tm_buf_add(out, data + 1, n - 1);
    return;
  }
  z_stream z = { .next_in = (Bytef *)(uintptr_t)data + 1, .avail_in = (uInt)n - 1 };
  fuzz_require(deflateInit2(&z, data[0] >> 4 & 7, Z_DEFLATED, 31, 1 + (data[0] >> 7) * 8,
                            (data[0] >> 2 & 3) + 1) == Z_OK);
  size_t room = deflateBound(&z, n);
  z.next_out = (Bytef *)tm_buf_extend(out, room);
  z.avail_out = (uInt)room;
  fuzz_require(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out->len -= z.avail_out;
  deflateEnd(&z);
  if (data[0] & 2)
    out->data[10 + data[n - 1] % (out->len - 10)] ^= (char)(1 << (data[n / 2] & 7));
}

static struct tm_stream *open_stream(const struct tm_fs *fs, struct files *f, int64_t size,
                                     bool is_writer)
{
  struct tm_gzip_key key = {
    .path = "/t.gz", .size = size, .mtime_ns = 7, .spacing = is_writer ? 1000 : 0
  };
  struct tm_err err = TM_ERR_NONE;
  struct tm_gzip_options o = { .is_writer = is_writer, .spacing = 1000 };
  o.index = is_writer ? tm_gzip_index_make(fs, "/", &key, &err) : tm_gzip_index_open(fs, "/", &key);
  fuzz_require(o.index != NULL);
  return tm_gzip_open(fs, dup(f->file), "/t.gz", size, &o);
}

static void check(const struct tm_fs *fs, struct files *f, int64_t size, const struct tm_buf *want,
                  bool is_good)
{
  static char got[MOST];
  struct tm_err err = TM_ERR_NONE;
  struct tm_stream *s = open_stream(fs, f, size, true);
  int64_t at = 0, n;
  s->expect(s, size);
  while ((n = s->read(s, got, 3000, at, &err)) > 0 && at + n <= (int64_t)MOST) {
    if (is_good)
      fuzz_require(at + n <= (int64_t)want->len && memcmp(got, want->data + at, (size_t)n) == 0);
    at += n;
  }
  if (is_good)
    fuzz_require(n == 0 && at == (int64_t)want->len);
  tm_stream_close(s);
  s = open_stream(fs, f, size, false);
  for (int64_t back = at; back > 0; back -= 1 + back / 2) {
    n = s->read(s, got, 300, back, &err);
    if (is_good)
      fuzz_require(n >= 0 && back + n <= at && memcmp(got, want->data + back, (size_t)n) == 0);
  }
  tm_stream_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_buf file = TM_BUF_NONE, want = TM_BUF_NONE;
  struct files f = { memfd_create("file", MFD_CLOEXEC), memfd_create("index", MFD_CLOEXEC) };
  struct tm_fs fs = *tm_fs_real();
  if (size > 0)
    pack(data, size, &file);
  fuzz_require(f.file >= 0 && f.index >= 0 &&
               write(f.file, file.data, file.len) == (ssize_t)file.len);
  fs.self = &f;
  fs.open = open_memory;
  fs.rename = rename_memory;
  fs.mkdir = make_no_dir;
  bool is_good = file.len > 0 && unpack(file.data, file.len, &want);
  if (want.len <= MOST)
    check(&fs, &f, (int64_t)file.len, &want, is_good);
  close(f.file);
  close(f.index);
  tm_buf_release(&file);
  tm_buf_release(&want);
  return 0;
}
