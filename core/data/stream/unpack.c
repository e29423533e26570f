/* unpack.c - libarchive's filters over our own reads. Its format is "raw": one entry with the
 * contents. */
#include "data/stream/unpack.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "data/stream/libarchive.h"

#define INPUT ((size_t)256 << 10)
#define SKIP  ((size_t)64 << 10)

struct unpack {
  struct tm_stream stream;
  const struct tm_fs *fs;
  int fd;
  char *path;
  const struct tm_libarchive *la;
  struct archive *archive; /* NULL: not open yet */
  int64_t in, out;         /* positions in the file, and in the contents */
  bool is_empty;           /* it holds nothing at all */
  /* what ended it: an error of a read, or libarchive's message for damage, which it would lose */
  struct tm_err err;
  char *input, *skipped;
};

static la_ssize_t on_read(struct archive *a, void *data, const void **p)
{
  struct unpack *u = data;
  int64_t got = tm_fs_read_at(u->fs, u->fd, u->path, u->input, INPUT, u->in, &u->err);
  if (got < 0) {
    u->la->set_error(a, EIO, "cannot be read");
    return ARCHIVE_FATAL;
  }
  u->in += got;
  *p = u->input;
  return (la_ssize_t)got;
}

static int refuse(struct unpack *u, struct tm_err *err)
{
  const char *words = u->la->error_string(u->archive);
  if (u->err.code == 0)
    tm_err_set(&u->err, TM_EDAMAGE, "'%s' cannot be unpacked: %s", u->path,
               words != NULL ? words : "it is damaged");
  return tm_err_set(err, u->err.code, "%s", u->err.text);
}

static void end(struct unpack *u)
{
  if (u->archive != NULL)
    u->la->read_free(u->archive);
  u->archive = NULL;
}

static int begin(struct unpack *u, struct tm_err *err)
{
  struct archive_entry *entry;
  end(u);
  u->in = u->out = 0;
  u->err = (struct tm_err)TM_ERR_NONE;
  u->la = tm_libarchive(err);
  if (u->la == NULL)
    return err->code;
  u->archive = u->la->read_new();
  if (u->archive == NULL)
    return tm_err_system(err, -ENOMEM, "cannot unpack '%s'", u->path);
  u->la->read_support_filter_zstd(u->archive);
  u->la->read_support_filter_xz(u->archive);
  u->la->read_support_filter_bzip2(u->archive);
  u->la->read_support_filter_lz4(u->archive);
  u->la->read_support_format_raw(u->archive);
  u->la->read_support_format_empty(u->archive);
  if (u->la->read_open(u->archive, u, NULL, on_read, NULL) != ARCHIVE_OK)
    return refuse(u, err);
  int rc = u->la->read_next_header(u->archive, &entry);
  u->is_empty = rc == ARCHIVE_EOF;
  return rc == ARCHIVE_OK || u->is_empty ? 0 : refuse(u, err);
}

static int64_t read_on(struct unpack *u, char *p, size_t n, struct tm_err *err)
{
  size_t done = 0;
  while (done < n && !u->is_empty) {
    la_ssize_t got = u->err.code < 0 ? -1 : u->la->read_data(u->archive, p + done, n - done);
    int rc = got < 0 ? refuse(u, err) : 0;
    if (rc < 0 && (done == 0 || !u->stream.gives_before_damage))
      return rc;
    if (got <= 0)
      break;
    done += (size_t)got;
  }
  u->out += (int64_t)done;
  return (int64_t)done;
}

static int64_t unpack_read(struct tm_stream *s, void *p, size_t n, int64_t at, struct tm_err *err)
{
  struct unpack *u = (struct unpack *)s;
  int rc = u->archive == NULL || at < u->out ? begin(u, err) : 0;
  if (rc < 0)
    return rc;
  while (u->out < at) {
    size_t skip = at - u->out < (int64_t)SKIP ? (size_t)(at - u->out) : SKIP;
    int64_t got = read_on(u, u->skipped, skip, err);
    if (got < (int64_t)skip)
      return got < 0 ? got : u->err.code < 0 ? refuse(u, err) : 0;
  }
  return read_on(u, p, n, err);
}

static void unpack_close(struct tm_stream *s)
{
  struct unpack *u = (struct unpack *)s;
  end(u);
  tm_fs_close(u->fs, u->fd);
  free(u->input);
  free(u->skipped);
  free(u->path);
  free(u);
}

struct tm_stream *tm_unpack_open(const struct tm_fs *fs, int fd, const char *path)
{
  struct unpack *u = TM_NEW(struct unpack);
  u->stream = (struct tm_stream) {
    .read = unpack_read, .close = unpack_close, .size = -1, .is_in_order = true
  };
  u->fs = fs;
  u->fd = fd;
  u->path = tm_xstrdup(path);
  u->input = tm_xmalloc(INPUT);
  u->skipped = tm_xmalloc(SKIP);
  return &u->stream;
}
