/* output.c - the file that rows are appended to.
 *
 *  (1) The bytes of one add are contiguous, in the order of the calls: one buffer, one writer,
 *      known offsets. The file is not opened in append mode, so that a short write or a refused
 *      result leaves nothing in the middle.
 *  (2) `end` moves only by what a caller added. Bytes after it were never promised.
 *  (3) The file is visible to the user, and another program may cut it or write to it. If it has
 *      become shorter, it is no longer written to: there would be a hole instead of rows.
 */
#include "commit/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"

#define PIECE (1u << 20) /* bytes */

/* A copy of `length` bytes of a file to `at`, of which `done` are written. */
struct tm_ahead {
  char *from;
  int fd;
  int64_t at, length, done;
  uint64_t hash;
  struct tm_hash *sum; /* of the bytes */
  struct tm_hash *all; /* with what precedes them, from `begin` on */
  int64_t begin;
  int code; /* 0, or why it cannot be used */
  struct tm_err err;
};

static void ahead_free(const struct tm_output *o, struct tm_ahead *a)
{
  if (!a)
    return;
  tm_fs_close(o->fs, a->fd);
  tm_hash_free(a->sum);
  tm_hash_free(a->all);
  free(a->from);
  free(a);
}

static void drop_ahead(struct tm_output *o)
{
  ahead_free(o, o->ahead);
  o->ahead = NULL;
}

static int take_length(struct tm_output *o, struct tm_err *err)
{
  struct tm_stat st;
  int rc = o->fs->fstat(o->fs->self, o->fd, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", o->path);
  o->end = o->written = o->size = st.size;
  return 0;
}

int tm_output_open(struct tm_output *o, const struct tm_fs *fs, const char *path,
                   struct tm_err *err)
{
  o->fs = fs;
  o->path = tm_xstrdup(path);
  int rc = tm_fs_open_found(&o->fd, fs, path, O_RDWR, err);
  o->end = o->written = o->size = 0;
  return rc < 0 || o->fd < 0 ? rc : take_length(o, err);
}

int tm_output_make(struct tm_output *o, int mode, struct tm_err *err)
{
  if (o->fd < 0)
    o->fd = tm_fs_open(o->fs, o->path, O_RDWR | O_CREAT, mode, err);
  return o->fd < 0 ? o->fd : 0;
}

int tm_output_reopen(struct tm_output *o, const char *path, struct tm_err *err)
{
  tm_require(o->pending.len == 0 && !o->ahead);
  tm_fs_close(o->fs, o->fd);
  free(o->path);
  o->path = tm_xstrdup(path);
  o->fd = tm_fs_open(o->fs, path, O_RDWR, 0, err);
  return o->fd < 0 ? o->fd : 0;
}

int tm_output_open_read(struct tm_output *o, const struct tm_fs *fs, const char *path,
                        struct tm_err *err)
{
  o->fs = fs;
  o->path = tm_xstrdup(path);
  o->fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  return o->fd < 0 ? o->fd : take_length(o, err);
}

void tm_output_close(struct tm_output *o)
{
  if (!o->path)
    return;
  drop_ahead(o);
  tm_fs_close(o->fs, o->fd);
  tm_buf_release(&o->pending);
  free(o->path);
  o->path = NULL;
  o->fd = -1;
}

void tm_output_add(struct tm_output *o, const void *p, size_t n)
{
  tm_buf_add(&o->pending, p, n);
  o->end += (int64_t)n;
}

/* Keeps `size` correct even if the write fails half way. */
static int write_piece(struct tm_output *o, const void *p, size_t n, int64_t at, struct tm_err *err)
{
  if (at + (int64_t)n > o->size)
    o->size = at + (int64_t)n;
  return tm_fs_write_at(o->fs, o->fd, o->path, p, n, at, err);
}

/* Keeps (3): it has `least` bytes still. Updates `size`, also if another program has extended the
 * file. */
static int look(struct tm_output *o, int64_t least, struct tm_err *err)
{
  struct tm_stat st;
  int rc = o->fs->fstat(o->fs->self, o->fd, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", o->path);
  if (st.size < least)
    return tm_err_set(err, -EIO,
                      "'%s' has become shorter while it was written, by another program: %lld "
                      "bytes where %lld had been",
                      o->path, (long long)st.size, (long long)least);
  o->size = st.size;
  return 0;
}

int tm_output_check_name(struct tm_output *o, struct tm_err *err)
{
  struct tm_stat ours, named;
  int rc = o->fs->fstat(o->fs->self, o->fd, &ours);
  if (rc == 0)
    rc = o->fs->stat(o->fs->self, o->path, true, &named);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", o->path);
  if (ours.dev != named.dev || ours.ino != named.ino)
    return tm_err_set(err, -EIO,
                      "'%s' is not the file that was written: another program has replaced it",
                      o->path);
  return look(o, o->written, err);
}

int tm_output_flush(struct tm_output *o, struct tm_err *err)
{
  tm_require(o->end == o->written + (int64_t)o->pending.len);
  int rc = o->pending.len > 0 ? look(o, o->written, err) : 0;
  if (rc < 0)
    return rc;
  if (o->ahead && o->written + (int64_t)o->pending.len > o->ahead->at)
    drop_ahead(o); /* it would be overwritten */
  rc = write_piece(o, o->pending.data, o->pending.len, o->written, err);
  if (rc < 0)
    return rc;
  o->written += (int64_t)o->pending.len;
  tm_buf_clear(&o->pending);
  return 0;
}

/* ---- copies ---- */

static int copy_piece(struct tm_output *o, struct tm_ahead *a, char *piece)
{
  int64_t left = a->length - a->done;
  size_t want = left < (int64_t)PIECE ? (size_t)left : PIECE;
  int64_t got = tm_fs_read_at(o->fs, a->fd, a->from, piece, want, a->done, &a->err);

  if (got < 0)
    return a->err.code = TM_EDAMAGE;
  if ((size_t)got < want)
    return tm_err_set(&a->err, TM_EDAMAGE, "the result in '%s' is shorter than its worker said",
                      a->from);
  a->code = a->done > 0 ? look(o, a->at + a->done, &a->err) : 0;
  if (a->code == 0)
    a->code = write_piece(o, piece, want, a->at + a->done, &a->err);
  if (a->code < 0)
    return a->code;
  tm_hash_add(a->sum, piece, want);
  tm_hash_add(a->all, piece, want);
  a->done += (int64_t)want;
  return 0;
}

static bool copy_more(struct tm_output *o, struct tm_ahead *a, int64_t most)
{
  char *piece = tm_xmalloc(PIECE);

  for (int64_t until = most < a->length - a->done ? a->done + most : a->length;
       a->done < until && a->code == 0;)
    a->code = copy_piece(o, a, piece);
  free(piece);
  if (a->code < 0 || a->done < a->length)
    return a->code == 0;
  if (tm_hash_end(a->sum) != a->hash)
    a->code =
        tm_err_set(&a->err, TM_EDAMAGE, "the result in '%s' is not what its worker wrote", a->from);
  return false;
}

/* Begins a copy to where the file's valid part ends, when all rows are in the file. */
static int ahead_new(struct tm_ahead **out, struct tm_output *o, const char *from, int64_t length,
                     uint64_t hash, struct tm_err *err)
{
  tm_require(length >= 0);
  int rc = tm_output_flush(o, err);
  if (rc < 0 || (rc = look(o, o->written, err)) < 0)
    return rc;
  int fd = tm_fs_open(o->fs, from, O_RDONLY, 0, err);
  if (fd < 0)
    return err->code = TM_EDAMAGE;
  struct tm_ahead *a = TM_NEW(struct tm_ahead);
  *a = (struct tm_ahead) {
    .from = tm_xstrdup(from), .fd = fd, .at = o->written, .length = length, .hash = hash
  };
  a->begin = o->written;
  a->sum = tm_hash_new();
  a->all = tm_hash_new();
  *out = a;
  return 0;
}

bool tm_output_copy_ahead(struct tm_output *o, const char *from, int64_t length, uint64_t hash,
                          const void *before, size_t before_len)
{
  struct tm_err err = TM_ERR_NONE;
  drop_ahead(o);
  if (ahead_new(&o->ahead, o, from, length, hash, &err) < 0)
    return false;
  o->ahead->at += (int64_t)before_len;
  tm_hash_add(o->ahead->all, before_len > 0 ? before : "", before_len);
  return true;
}

bool tm_output_copy_more(struct tm_output *o, int64_t most)
{
  return o->ahead && copy_more(o, o->ahead, most);
}

/* Takes the copy that was made ahead, if it is this one and nothing has been written over it. */
static struct tm_ahead *take_ahead(struct tm_output *o, const char *from, int64_t length,
                                   uint64_t hash)
{
  struct tm_ahead *a = o->ahead;

  o->ahead = NULL;
  if (a && a->at == o->end && a->length == length && a->hash == hash && strcmp(a->from, from) == 0)
    return a;
  ahead_free(o, a);
  return NULL;
}

int tm_output_copy(struct tm_output *o, const char *from, int64_t length, uint64_t hash,
                   struct tm_err *err)
{
  struct tm_err words = TM_ERR_NONE;
  struct tm_ahead *a = take_ahead(o, from, length, hash);
  int rc = a ? tm_output_flush(o, &words) : ahead_new(&a, o, from, length, hash, &words);
  if (rc == 0) {
    while (copy_more(o, a, INT64_MAX))
      ;
    rc = a->code;
    words = a->err;
  }
  if (rc == 0)
    rc = look(o, a->at + a->length, &words);
  if (rc == 0) { /* otherwise keeps (2): what was written is after the end */
    o->written += length;
    o->end += length;
    o->hashed.from = a->begin;
    o->hashed.to = o->end;
    o->hashed.hash = tm_hash_end(a->all);
  } else if (err) {
    *err = words;
  }
  ahead_free(o, a);
  return rc;
}

int tm_output_cut(struct tm_output *o, int64_t end, struct tm_err *err)
{
  tm_require(end >= 0 && end <= o->end && o->pending.len == 0);
  o->end = o->written = end;
  o->hashed.to = 0;
  if (o->size == end)
    return 0;
  int rc = o->fs->ftruncate(o->fs->self, o->fd, end);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot cut '%s'", o->path);
  o->size = end;
  return 0;
}

void tm_output_take_back(struct tm_output *o, int64_t end)
{
  tm_require(end >= 0 && end <= o->end && o->pending.len == 0);
  o->end = o->written = end;
  o->hashed.to = 0;
}

/* 1; 0 if the file is shorter; or a negative code. */
static int hash_bytes(const struct tm_output *o, int64_t from, int64_t to, uint64_t *hash,
                      struct tm_err *err)
{
  size_t most = to - from < (int64_t)PIECE ? (size_t)(to - from) : PIECE;
  struct tm_hash *sum = tm_hash_new();
  char *piece = tm_xmalloc(most + 1);
  int rc = 1;
  while (from < to && rc > 0) {
    size_t want = to - from < (int64_t)most ? (size_t)(to - from) : most;
    int64_t got = tm_fs_read_at(o->fs, o->fd, o->path, piece, want, from, err);
    if (got < 0)
      rc = (int)got;
    else if ((size_t)got < want)
      rc = 0;
    else
      tm_hash_add(sum, piece, want);
    from += (int64_t)want;
  }
  *hash = tm_hash_end(sum);
  free(piece);
  tm_hash_free(sum);
  return rc;
}

int tm_output_hash(const struct tm_output *o, int64_t from, int64_t to, uint64_t *hash,
                   struct tm_err *err)
{
  tm_require(from >= 0 && from <= to && to <= o->written);
  if (from < to && o->hashed.from == from && o->hashed.to == to) {
    *hash = o->hashed.hash;
    return 0;
  }
  int rc = hash_bytes(o, from, to, hash, err);
  if (rc == 0)
    return tm_err_set(err, -EIO, "'%s' has become shorter while it was written", o->path);
  return rc < 0 ? rc : 0;
}

int tm_output_has(const struct tm_output *o, int64_t from, int64_t to, uint64_t hash,
                  struct tm_err *err)
{
  uint64_t found = 0;
  if (from < 0 || to < from || to > o->written)
    return 0;
  int rc = hash_bytes(o, from, to, &found, err);
  return rc > 0 ? found == hash : rc;
}
