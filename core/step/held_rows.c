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

bool tm_held_rows_copy_ahead(struct tm_held_rows *s, const char *from, int64_t length,
                             uint64_t hash)
{
  return length > TM_HELD_ROWS_PIECE && settle(s, NULL) == 0 &&
         tm_output_copy_ahead(&s->rows, from, length, hash, "", 0);
}

bool tm_held_rows_copy_more(struct tm_held_rows *s)
{
  return tm_output_copy_more(&s->rows, TM_HELD_ROWS_PIECE);
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

/* ---- joining in a file ---- */

struct tm_join {
  struct tm_held_range *ranges;
  size_t n, at;        /* at: the range that is being copied */
  int64_t done;        /* bytes of it */
  struct tm_output to; /* the file of the joined rows */
  struct tm_hash *sum;
  uint64_t hash; /* when complete */
  bool is_complete;
  int code;
  struct tm_err err;
};

static void join_free(struct tm_join *j)
{
  if (!j)
    return;
  tm_output_close(&j->to);
  tm_hash_free(j->sum);
  free(j->ranges);
  free(j);
}

static struct tm_join *join_new(struct tm_held_rows *s, const struct tm_held_range *ranges,
                                size_t n)
{
  struct tm_join *j = TM_NEW(struct tm_join);

  j->to.fd = -1;
  j->sum = tm_hash_new();
  j->n = n;
  j->ranges = tm_xcalloc(n + 1, sizeof(*ranges));
  memcpy(j->ranges, ranges, n * sizeof(*ranges));
  j->code = settle(s, &j->err);
  if (j->code == 0)
    j->code = open_new(&j->to, s->fs, s->joined, &j->err);
  return j;
}

/* Copies `want` bytes of the current range. */
static int join_piece(struct tm_held_rows *s, struct tm_join *j, char *piece, size_t want)
{
  int64_t from = j->ranges[j->at].at + j->done;
  int64_t got = tm_fs_read_at(s->fs, s->rows.fd, s->path, piece, want, from, &j->err);

  if (got < 0)
    return (int)got;
  if ((size_t)got < want)
    return tm_err_set(&j->err, -EIO, "'%s' has become shorter, by another program", s->path);
  tm_hash_add(j->sum, piece, want);
  tm_output_add(&j->to, piece, want);
  j->done += (int64_t)want;
  return tm_output_flush(&j->to, &j->err);
}

static bool join_more(struct tm_held_rows *s, struct tm_join *j, int64_t most)
{
  char *piece = tm_xmalloc(PIECE);

  while (j->at < j->n && most > 0 && j->code == 0) {
    int64_t left = j->ranges[j->at].len - j->done;
    size_t want = left < PIECE ? (size_t)left : PIECE;
    if (want > 0)
      j->code = join_piece(s, j, piece, want);
    most -= (int64_t)want;
    if (left == (int64_t)want) {
      j->at++;
      j->done = 0;
    }
  }
  free(piece);
  if (j->code == 0 && j->at == j->n && !j->is_complete) {
    j->hash = tm_hash_end(j->sum);
    j->is_complete = true;
  }
  return j->code == 0 && !j->is_complete;
}

bool tm_held_rows_join_ahead(struct tm_held_rows *s, const struct tm_held_range *ranges, size_t n)
{
  int64_t len = 0;

  join_free(s->join);
  s->join = NULL;
  for (size_t i = 0; i < n; i++)
    len += ranges[i].len;
  if (!has_file(s) || len <= TM_HELD_ROWS_PIECE)
    return false;
  s->join = join_new(s, ranges, n);
  return s->join->code == 0;
}

bool tm_held_rows_join_more(struct tm_held_rows *s)
{
  return s->join && join_more(s, s->join, TM_HELD_ROWS_PIECE);
}

static void set_joined(const struct tm_held_rows *s, const struct tm_join *j, struct tm_joined *out)
{
  *out = (struct tm_joined) { .path = s->joined, .len = j->to.end, .hash = j->hash };
}

bool tm_held_rows_joined(const struct tm_held_rows *s, struct tm_joined *out)
{
  if (!s->join || !s->join->is_complete)
    return false;
  set_joined(s, s->join, out);
  return true;
}

static struct tm_join *take_join(struct tm_held_rows *s, const struct tm_held_range *ranges,
                                 size_t n)
{
  struct tm_join *j = s->join;

  s->join = NULL;
  if (j && j->n == n && memcmp(j->ranges, ranges, n * sizeof(*ranges)) == 0)
    return j;
  join_free(j);
  return NULL;
}

static int join_file(struct tm_held_rows *s, const struct tm_held_range *ranges, size_t n,
                     struct tm_joined *out, struct tm_err *err)
{
  struct tm_join *j = take_join(s, ranges, n);
  int rc;

  if (!j)
    j = join_new(s, ranges, n);
  while (join_more(s, j, INT64_MAX))
    ;
  rc = j->code;
  if (rc == 0)
    set_joined(s, j, out);
  else if (err)
    *err = j->err;
  join_free(j);
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
  join_free(s->join);
  if (has_file(s)) {
    s->fs->unlink(s->fs->self, s->path);
    s->fs->unlink(s->fs->self, s->joined);
  }
  tm_output_close(&s->rows);
  tm_buf_release(&s->rows.pending);
  free(s->path);
  free(s->joined);
}
