/* journal.c - records of 64 bytes, and their file.
 *
 *  (3) A record has one fixed size and is written field by field, little-endian, with a version and
 *      a check sum. Anything else is not a record.
 *
 * The file is written at known offsets: bytes after `len` (a torn tail, a failed write) are
 * overwritten, not appended to. recover.c decides what a bad record means; this file only finds it.
 */
#include "commit/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"

#define MAGIC      "tidemill"
#define MAGIC_AT   32
#define CHECK_AT   56
#define WALK_PIECE (64u << 10) /* bytes; a multiple of a record */

static void encode_fields(const struct tm_record *r, unsigned char *b)
{
  switch (r->kind) {
  case TM_RECORD_COMMITTED:
  case TM_RECORD_FAILED: {
    uint32_t try = r->try < UINT16_MAX ? r->
    try : UINT16_MAX
      ;
    b[2] = (unsigned char)try;
    b[3] = (unsigned char)(try >> 8);
    tm_put_u32(b + 4, r->returned);
    tm_put_u64(b + 8, r->index);
    tm_put_u32(b + 16, r->items);
    tm_put_u32(b + 20, r->succeeded);
    tm_put_u64(b + 24, (uint64_t)r->output_end);
    tm_put_u64(b + 32, (uint64_t)r->failures_end);
    tm_put_u64(b + 40, r->output_hash);
    tm_put_u64(b + 48, r->failures_hash);
    break;
  }
  case TM_RECORD_SESSION:
    tm_put_u64(b + 8, r->number);
    tm_put_u64(b + 16, r->epoch);
    tm_put_u64(b + 24, (uint64_t)r->wall_ns);
    memcpy(b + MAGIC_AT, MAGIC, 8);
    break;
  case TM_RECORD_SYNC:
    tm_put_u64(b + 8, (uint64_t)r->journal_len);
    tm_put_u64(b + 16, (uint64_t)r->manifest_len);
    tm_put_u64(b + 24, (uint64_t)r->output_len);
    tm_put_u64(b + 32, (uint64_t)r->failures_len);
    tm_put_u64(b + 40, (uint64_t)r->files_len);
    break;
  case TM_RECORD_FILES:
    tm_put_u64(b + 8, r->files_index);
    tm_put_u64(b + 16, (uint64_t)r->files_end);
    tm_put_u64(b + 24, r->files_hash);
    break;
  default: tm_require(!"a kind of record");
  }
}

void tm_record_encode(const struct tm_record *r, void *out64)
{
  unsigned char *b = out64;
  memset(b, 0, TM_RECORD_SIZE);
  b[0] = (unsigned char)r->kind;
  b[1] = TM_RECORD_VERSION;
  encode_fields(r, b);
  tm_put_u64(b + CHECK_AT, tm_hash64(b, CHECK_AT));
}

static void decode_outcome(struct tm_record *r, const unsigned char *b)
{
  r->try = (uint32_t)b[2] | (uint32_t)b[3] << 8;
  r->returned = tm_get_u32(b + 4);
  r->index = tm_get_u64(b + 8);
  r->items = tm_get_u32(b + 16);
  r->succeeded = tm_get_u32(b + 20);
  r->output_end = (int64_t)tm_get_u64(b + 24);
  r->failures_end = (int64_t)tm_get_u64(b + 32);
  r->output_hash = tm_get_u64(b + 40);
  r->failures_hash = tm_get_u64(b + 48);
}

int tm_record_decode(struct tm_record *r, const void *in64)
{
  const unsigned char *b = in64;
  if (tm_get_u64(b + CHECK_AT) != tm_hash64(b, CHECK_AT))
    return TM_EDAMAGE;
  if (b[1] != TM_RECORD_VERSION)
    return TM_EVERSION;
  memset(r, 0, sizeof(*r));
  switch (b[0]) {
  case TM_RECORD_COMMITTED:
  case TM_RECORD_FAILED: decode_outcome(r, b); break;
  case TM_RECORD_SESSION:
    if (memcmp(b + MAGIC_AT, MAGIC, 8) != 0)
      return TM_EDAMAGE;
    r->number = tm_get_u64(b + 8);
    r->epoch = tm_get_u64(b + 16);
    r->wall_ns = (int64_t)tm_get_u64(b + 24);
    break;
  case TM_RECORD_SYNC:
    r->journal_len = (int64_t)tm_get_u64(b + 8);
    r->manifest_len = (int64_t)tm_get_u64(b + 16);
    r->output_len = (int64_t)tm_get_u64(b + 24);
    r->failures_len = (int64_t)tm_get_u64(b + 32);
    r->files_len = (int64_t)tm_get_u64(b + 40);
    break;
  case TM_RECORD_FILES:
    r->files_index = tm_get_u64(b + 8);
    r->files_end = (int64_t)tm_get_u64(b + 16);
    r->files_hash = tm_get_u64(b + 24);
    break;
  default: return TM_EDAMAGE;
  }
  r->kind = (enum tm_record_kind)b[0];
  return 0;
}

static int take_length(struct tm_journal *j, struct tm_err *err)
{
  struct tm_stat st;
  int rc = j->fs->fstat(j->fs->self, j->fd, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", j->path);
  j->len = st.size;
  return 0;
}

int tm_journal_open(struct tm_journal *j, const struct tm_fs *fs, const char *path,
                    struct tm_err *err)
{
  j->fs = fs;
  j->path = tm_xstrdup(path);
  int rc = tm_fs_open_found(&j->fd, fs, path, O_RDWR, err);
  return rc < 0 || j->fd < 0 ? rc : take_length(j, err);
}

int tm_journal_make(struct tm_journal *j, struct tm_err *err)
{
  if (j->fd < 0)
    j->fd = tm_fs_open(j->fs, j->path, O_RDWR | O_CREAT, 0600, err);
  return j->fd < 0 ? j->fd : 0;
}

int tm_journal_open_read(struct tm_journal *j, const struct tm_fs *fs, const char *path,
                         struct tm_err *err)
{
  j->fs = fs;
  j->path = tm_xstrdup(path);
  j->fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  return j->fd < 0 ? j->fd : take_length(j, err);
}

void tm_journal_close(struct tm_journal *j)
{
  if (!j->path)
    return;
  tm_fs_close(j->fs, j->fd);
  tm_buf_release(&j->pending);
  free(j->path);
  j->path = NULL;
  j->fd = -1;
}

void tm_journal_add(struct tm_journal *j, const struct tm_record *r)
{
  tm_record_encode(r, tm_buf_extend(&j->pending, TM_RECORD_SIZE));
}

int tm_journal_flush(struct tm_journal *j, struct tm_err *err)
{
  tm_require(j->fd >= 0 && j->len % TM_RECORD_SIZE == 0); /* a torn tail was cut */
  int rc = tm_fs_write_at(j->fs, j->fd, j->path, j->pending.data, j->pending.len, j->len, err);
  if (rc < 0)
    return rc;
  j->len += (int64_t)j->pending.len;
  tm_buf_clear(&j->pending);
  return 0;
}

int tm_journal_write(struct tm_journal *j, const struct tm_record *r, struct tm_err *err)
{
  tm_require(j->fd >= 0 && j->len % TM_RECORD_SIZE == 0);
  char bytes[TM_RECORD_SIZE];
  tm_record_encode(r, bytes);
  int rc = tm_fs_write_at(j->fs, j->fd, j->path, bytes, sizeof(bytes), j->len, err);
  if (rc == 0)
    j->len += TM_RECORD_SIZE;
  return rc;
}

int tm_journal_cut(struct tm_journal *j, int64_t len, struct tm_err *err)
{
  tm_require(len >= 0 && len <= j->len);
  tm_require(len % TM_RECORD_SIZE == 0 && j->pending.len == 0);
  if (len == j->len)
    return 0;
  int rc = j->fs->ftruncate(j->fs->self, j->fd, len);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot cut '%s'", j->path);
  j->len = len;
  return 0;
}

void tm_journal_walk_init(struct tm_journal_walk *w, const struct tm_journal *j, int64_t at)
{
  tm_require(at >= 0 && at % TM_RECORD_SIZE == 0);
  memset(w, 0, sizeof(*w));
  w->journal = j;
  w->next = at;
  w->bytes = tm_xmalloc(WALK_PIECE);
}

static int walk_fill(struct tm_journal_walk *w, struct tm_err *err)
{
  const struct tm_journal *j = w->journal;
  int64_t left = j->len - w->next;
  size_t want = left < (int64_t)WALK_PIECE ? (size_t)left : WALK_PIECE;
  int64_t got = tm_fs_read_at(j->fs, j->fd, j->path, w->bytes, want, w->next, err);
  if (got < 0)
    return (int)got;
  if ((size_t)got < want)
    return tm_err_set(err, -EIO, "cannot read '%s': it has become shorter", j->path);
  w->have = want;
  w->used = 0;
  return 0;
}

int tm_journal_walk_next(struct tm_journal_walk *w, struct tm_record *out, struct tm_err *err)
{
  int rc;
  if (w->next >= w->journal->len)
    return 0;
  if (w->used == w->have && (rc = walk_fill(w, err)) < 0)
    return rc;
  w->at = w->next;
  if (w->have - w->used < TM_RECORD_SIZE) { /* pieces hold whole records: the file ends here */
    w->next = w->journal->len;
    return TM_EDAMAGE;
  }
  rc = tm_record_decode(out, w->bytes + w->used);
  w->used += TM_RECORD_SIZE;
  w->next += TM_RECORD_SIZE;
  if (rc == TM_EVERSION)
    return tm_err_set(err, rc, "'%s' was written by another version of tidemill; resume with that",
                      w->journal->path);
  return rc < 0 ? rc : 1;
}

void tm_journal_walk_release(struct tm_journal_walk *w)
{
  free(w->bytes);
  w->bytes = NULL;
}

static bool is_outcome(const struct tm_record *r)
{
  return r->kind == TM_RECORD_COMMITTED || r->kind == TM_RECORD_FAILED ||
         r->kind == TM_RECORD_FILES;
}

static int sum_records(struct tm_journal_sum *out, const struct tm_journal *j, struct tm_err *err)
{
  struct tm_hash *hash = tm_hash_new();
  struct tm_journal_walk w;
  struct tm_record r;
  char bytes[TM_RECORD_SIZE];
  int rc;
  tm_journal_walk_init(&w, j, 0);
  while ((rc = tm_journal_walk_next(&w, &r, err)) > 0) {
    if (!is_outcome(&r))
      continue;
    tm_record_encode(&r, bytes);
    tm_hash_add(hash, bytes, sizeof(bytes));
    out->outcomes++;
  }
  out->hash = tm_hash_end(hash);
  tm_journal_walk_release(&w);
  tm_hash_free(hash);
  return rc == TM_EDAMAGE ? 0 : rc;
}

int tm_journal_sum_read(struct tm_journal_sum *out, const struct tm_fs *fs, const char *path,
                        struct tm_err *err)
{
  struct tm_journal j = { .fd = -1 };
  *out = (struct tm_journal_sum) { .outcomes = 0 };
  if (!tm_fs_exists(fs, path))
    return 0;
  int rc = tm_journal_open_read(&j, fs, path, err);
  if (rc >= 0)
    rc = sum_records(out, &j, err);
  tm_journal_close(&j);
  return rc;
}
