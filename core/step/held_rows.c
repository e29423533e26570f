/* held_rows.c - see held_rows.h. A range is a place among all rows, in the order in which they
 * came: first in the buffer, later in the file to which the buffer was written. */
#include "step/held_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"

#define PIECE TM_HELD_ROWS_MEMORY

void tm_held_rows_init(struct tm_held_rows *s, const struct tm_fs *fs, const char *path)
{
  memset(s, 0, sizeof(*s));
  s->fs = fs;
  s->path = tm_xstrdup(path);
  s->joined = tm_xprintf("%s.joined", path);
  s->rows.fd = -1;
}

static bool has_file(const struct tm_held_rows *s)
{
  return s->rows.path != NULL;
}

static int open_new(struct tm_output *o, const struct tm_fs *fs, const char *path,
                    struct tm_err *err)
{
  fs->unlink(fs->self, path); /* nobody uses it */
  int rc = tm_output_open(o, fs, path, err);
  return rc < 0 ? rc : tm_output_make(o, 0600, err);
}

/* Moves the rows from memory to a file. */
static int settle(struct tm_held_rows *s, struct tm_err *err)
{
  struct tm_buf memory = s->rows.pending;
  int rc;

  tm_require(s->rows.end == s->rows.written + (int64_t)memory.len);
  if (!has_file(s)) {
    s->rows.pending = (struct tm_buf)TM_BUF_NONE;
    rc = open_new(&s->rows, s->fs, s->path, err);
    if (rc == 0)
      tm_output_add(&s->rows, tm_buf_str(&memory), memory.len);
    tm_buf_release(&memory);
    if (rc < 0)
      return rc;
  }
  return tm_output_flush(&s->rows, err);
}

int tm_held_rows_add(struct tm_held_rows *s, const void *rows, size_t len,
                     struct tm_held_range *out, struct tm_err *err)
{
  *out = (struct tm_held_range) { .at = s->rows.end, .len = (int64_t)len };
  if (len > 0)
    tm_output_add(&s->rows, rows, len);
  return s->rows.pending.len > TM_HELD_ROWS_MEMORY ? settle(s, err) : 0;
}

int tm_held_rows_add_file(struct tm_held_rows *s, const char *from, int64_t length, uint64_t hash,
                          struct tm_held_range *out, struct tm_err *err)
{
  int rc = settle(s, err);

  if (rc < 0)
    return rc;
  *out = (struct tm_held_range) { .at = s->rows.end, .len = length };
  rc = tm_output_copy(&s->rows, from, length, hash, err);
  s->fs->unlink(s->fs->self, from); /* what cannot be removed, the next session removes */
  return rc;
}

static void join_memory(const struct tm_held_rows *s, const struct tm_held_range *ranges, size_t n,
                        struct tm_joined *out)
{
  for (size_t i = 0; i < n; i++) {
    tm_require(ranges[i].at + ranges[i].len <= (int64_t)s->rows.pending.len);
    if (ranges[i].len > 0)
      tm_buf_add(&out->rows, s->rows.pending.data + ranges[i].at, (size_t)ranges[i].len);
  }
  out->len = (int64_t)out->rows.len;
}

static int copy_range(struct tm_held_rows *s, struct tm_held_range range, char *piece,
                      struct tm_output *to, struct tm_hash *sum, struct tm_err *err)
{
  for (int64_t end = range.at + range.len; range.at < end;) {
    size_t want = end - range.at < PIECE ? (size_t)(end - range.at) : PIECE;
    int64_t got = tm_fs_read_at(s->fs, s->rows.fd, s->path, piece, want, range.at, err);
    int rc = 0;
    if (got < 0)
      return (int)got;
    if ((size_t)got < want)
      return tm_err_set(err, -EIO, "'%s' has become shorter, by another program", s->path);
    tm_hash_add(sum, piece, want);
    tm_output_add(to, piece, want);
    if ((rc = tm_output_flush(to, err)) < 0)
      return rc;
    range.at += (int64_t)want;
  }
  return 0;
}

static int join_file(struct tm_held_rows *s, const struct tm_held_range *ranges, size_t n,
                     struct tm_joined *out, struct tm_err *err)
{
  struct tm_output to = { .fd = -1 };
  int rc = settle(s, err);

  if (rc == 0)
    rc = open_new(&to, s->fs, s->joined, err);
  if (rc == 0) {
    struct tm_hash *sum = tm_hash_new();
    char *piece = tm_xmalloc(PIECE);
    for (size_t i = 0; i < n && rc == 0; i++)
      rc = copy_range(s, ranges[i], piece, &to, sum, err);
    out->path = s->joined;
    out->len = to.end;
    out->hash = tm_hash_end(sum);
    free(piece);
    tm_hash_free(sum);
  }
  tm_output_close(&to);
  return rc;
}

int tm_held_rows_join(struct tm_held_rows *s, const struct tm_held_range *ranges, size_t n,
                      struct tm_joined *out, struct tm_err *err)
{
  *out = (struct tm_joined) { .path = NULL };
  if (has_file(s))
    return join_file(s, ranges, n, out, err);
  join_memory(s, ranges, n, out);
  return 0;
}

void tm_held_rows_release(struct tm_held_rows *s)
{
  if (has_file(s)) {
    s->fs->unlink(s->fs->self, s->path);
    s->fs->unlink(s->fs->self, s->joined);
  }
  tm_output_close(&s->rows);
  tm_buf_release(&s->rows.pending);
  free(s->path);
  free(s->joined);
}
