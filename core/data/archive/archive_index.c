/* archive_index.c - see archive_index.h.
 *
 *  (1) All of an index is hashed before its first entry is returned: a damaged one counts as
 *      missing.
 *  (2) Each writer uses a temporary name of its own, then renames; readers of the old index keep
 *      it.
 */
#include "data/archive/archive_index.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"

#define MAGIC    "TMARIX1\n"
#define VERSION  2u
#define PIECE    ((size_t)256 << 10)
#define NAME_TOP ((uint32_t)8192) /* bytes of a name, or of a fault */

struct tm_archive_index {
  struct tm_archive_options o;
  int fd;
  char *path, *beside; /* beside: its temporary name */
  struct tm_hash *hash;
  struct tm_buf bytes;           /* read ahead, or to be written */
  size_t at;                     /* position in `bytes` */
  int64_t records, length, done; /* done: bytes read, or written except `bytes` */
  struct tm_buf name, fault;
};

static void encode_head(char *p, const struct tm_archive_options *o, int64_t records,
                        int64_t length, uint64_t hash)
{
  memset(p, 0, TM_ARCHIVE_HEAD);
  memcpy(p, MAGIC, 8);
  tm_put_u32(p + 8, VERSION);
  tm_put_u64(p + 16, (uint64_t)o->size);
  tm_put_u64(p + 24, (uint64_t)o->mtime_ns);
  tm_put_u64(p + 32, tm_hash64(o->path, strlen(o->path)));
  tm_put_u64(p + 40, (uint64_t)o->limits.entries);
  tm_put_u64(p + 48, (uint64_t)o->limits.size);
  tm_put_u64(p + 56, (uint64_t)o->limits.ratio);
  tm_put_u64(p + 64, (uint64_t)records);
  tm_put_u64(p + 72, (uint64_t)length);
  tm_put_u64(p + 80, hash);
  tm_put_u64(p + 88, tm_hash64(p, 88));
}

static struct tm_archive_index *new_index(const struct tm_archive_options *o)
{
  struct tm_archive_index *x = TM_NEW(struct tm_archive_index);
  x->o = *o;
  x->fd = -1;
  x->hash = tm_hash_new();
  x->path =
      tm_xprintf("%s/%016" PRIx64 ".entries", o->index_dir, tm_hash64(o->path, strlen(o->path)));
  return x;
}

void tm_archive_index_close(struct tm_archive_index *x)
{
  if (x == NULL)
    return;
  tm_fs_close(x->o.fs, x->fd);
  if (x->beside != NULL)
    x->o.fs->unlink(x->o.fs->self, x->beside);
  tm_hash_free(x->hash);
  tm_buf_release(&x->bytes);
  tm_buf_release(&x->name);
  tm_buf_release(&x->fault);
  free(x->path);
  free(x->beside);
  free(x);
}

/* Reading -------------------------------------------------------------------------------------- */

static bool read_head(struct tm_archive_index *x, uint64_t *hash)
{
  char head[TM_ARCHIVE_HEAD], same[TM_ARCHIVE_HEAD];
  if (tm_fs_read_at(x->o.fs, x->fd, x->path, head, sizeof head, 0, NULL) != sizeof head)
    return false;
  x->records = (int64_t)tm_get_u64(head + 64);
  x->length = (int64_t)tm_get_u64(head + 72);
  *hash = tm_get_u64(head + 80);
  encode_head(same, &x->o, x->records, x->length, *hash);
  return memcmp(head, same, sizeof head) == 0 && x->records >= 0 && x->length >= 0 &&
         x->length / TM_ARCHIVE_RECORD >= x->records;
}

/* Appends the next piece to the unused bytes. 0: there is none. */
static int64_t read_piece(struct tm_archive_index *x, struct tm_err *err)
{
  int64_t left = x->length - x->done;
  size_t n = left < (int64_t)PIECE ? (size_t)left : PIECE, before;
  tm_buf_remove_front(&x->bytes, x->at);
  x->at = 0;
  before = x->bytes.len;
  int64_t got = n == 0 ? 0
                       : tm_fs_read_at(x->o.fs, x->fd, x->path, tm_buf_extend(&x->bytes, n), n,
                                       TM_ARCHIVE_HEAD + x->done, err);
  x->bytes.len = before + (got > 0 ? (size_t)got : 0);
  x->done += got > 0 ? got : 0;
  return got;
}

static bool has_good_bytes(struct tm_archive_index *x, uint64_t hash) /* keeps (1) */
{
  while (read_piece(x, NULL) > 0) {
    tm_hash_add(x->hash, x->bytes.data, x->bytes.len);
    x->at = x->bytes.len;
  }
  bool is_good = x->done == x->length && tm_hash_end(x->hash) == hash;
  x->done = 0;
  x->at = 0;
  tm_buf_clear(&x->bytes);
  return is_good;
}

struct tm_archive_index *tm_archive_index_open(const struct tm_archive_options *o)
{
  struct tm_archive_index *x = new_index(o);
  uint64_t hash;
  x->fd = tm_fs_open(o->fs, x->path, O_RDONLY, 0, NULL);
  if (x->fd >= 0 && read_head(x, &hash) && has_good_bytes(x, hash))
    return x;
  tm_archive_index_close(x);
  return NULL;
}

/* 1: n contiguous bytes are available; 0: they are not. */
static int64_t want(struct tm_archive_index *x, size_t n, struct tm_err *err)
{
  tm_require(x->at <= x->bytes.len && x->done <= x->length);
  int64_t got = 1;
  while (x->bytes.len - x->at < n && (got = read_piece(x, err)) > 0)
    ;
  return got < 0 ? got : x->bytes.len - x->at >= n;
}

static int damaged(const struct tm_archive_index *x, struct tm_err *err)
{
  return tm_err_set(err, TM_EDAMAGE, "the index '%s' is damaged; remove it", x->path);
}

int tm_archive_index_next(struct tm_archive_index *x, struct tm_archive_entry *out,
                          struct tm_err *err)
{
  if (x->records == 0)
    return 0;
  int64_t rc = want(x, TM_ARCHIVE_RECORD, err);
  if (rc <= 0)
    return rc < 0 ? (int)rc : damaged(x, err);
  const char *p = x->bytes.data + x->at;
  uint32_t name = tm_get_u32(p), how = tm_get_u32(p + 4), fault = tm_get_u32(p + 12);
  *out = (struct tm_archive_entry) { .name_len = name,
                                     .place = { .how = (enum tm_entry_how)(how & 0xff),
                                                .method = how >> 16,
                                                .crc = tm_get_u32(p + 8),
                                                .place = (int64_t)tm_get_u64(p + 16),
                                                .packed = (int64_t)tm_get_u64(p + 24),
                                                .size = (int64_t)tm_get_u64(p + 32) } };
  if (name == 0 || name > NAME_TOP || fault > NAME_TOP || out->place.how > TM_ENTRY_WALKED ||
      out->place.place < 0 || out->place.packed < 0 || out->place.size < 0)
    return damaged(x, err);
  rc = want(x, TM_ARCHIVE_RECORD + name + fault, err);
  if (rc <= 0)
    return rc < 0 ? (int)rc : damaged(x, err);
  p = x->bytes.data + x->at + TM_ARCHIVE_RECORD;
  tm_buf_clear(&x->name);
  tm_buf_clear(&x->fault);
  tm_buf_add(&x->name, p, name);
  tm_buf_add(&x->fault, p + name, fault);
  out->name = tm_buf_str(&x->name);
  out->fault = fault > 0 ? tm_buf_str(&x->fault) : NULL;
  x->at += TM_ARCHIVE_RECORD + name + fault;
  x->records--;
  return memchr(out->name, '\0', name) ? damaged(x, err) : 1;
}

/* Writing -------------------------------------------------------------------------------------- */

struct tm_archive_index *tm_archive_index_make(const struct tm_archive_options *o,
                                               struct tm_err *err)
{
  struct tm_archive_index *x = new_index(o);
  if (tm_fs_make_dirs(o->fs, o->index_dir, 0700, err) == 0) {
    x->beside = tm_xprintf("%s.%d.tmp", x->path, (int)getpid());
    x->fd = tm_fs_open(o->fs, x->beside, O_RDWR | O_CREAT | O_TRUNC, 0600, err);
  }
  if (x->fd >= 0)
    return x;
  tm_archive_index_close(x);
  return NULL;
}

static int flush(struct tm_archive_index *x, struct tm_err *err)
{
  int rc = tm_fs_write_at(x->o.fs, x->fd, x->beside, tm_buf_str(&x->bytes), x->bytes.len,
                          TM_ARCHIVE_HEAD + x->length, err);
  if (x->bytes.len > 0)
    tm_hash_add(x->hash, x->bytes.data, x->bytes.len);
  x->length += (int64_t)x->bytes.len;
  tm_buf_clear(&x->bytes);
  return rc < 0 ? rc : 0;
}

int tm_archive_index_add(struct tm_archive_index *x, const struct tm_archive_entry *entry,
                         struct tm_err *err)
{
  size_t fault = entry->fault ? strlen(entry->fault) : 0;
  char *p = tm_buf_extend(&x->bytes, TM_ARCHIVE_RECORD);
  tm_put_u32(p, (uint32_t)entry->name_len);
  tm_put_u32(p + 4, (uint32_t)entry->place.how | entry->place.method << 16);
  tm_put_u32(p + 8, entry->place.crc);
  tm_put_u32(p + 12, (uint32_t)fault);
  tm_put_u64(p + 16, (uint64_t)entry->place.place);
  tm_put_u64(p + 24, (uint64_t)entry->place.packed);
  tm_put_u64(p + 32, (uint64_t)entry->place.size);
  tm_buf_add(&x->bytes, entry->name, entry->name_len);
  tm_buf_add(&x->bytes, entry->fault, fault);
  x->records++;
  return x->bytes.len >= PIECE ? flush(x, err) : 0;
}

int tm_archive_index_finish(struct tm_archive_index *x, struct tm_err *err)
{
  char head[TM_ARCHIVE_HEAD];
  const struct tm_fs *fs = x->o.fs;
  int rc = flush(x, err);
  encode_head(head, &x->o, x->records, x->length, tm_hash_end(x->hash));
  if (rc == 0)
    rc = tm_fs_write_at(fs, x->fd, x->beside, head, sizeof head, 0, err);
  if (rc >= 0 && (rc = fs->rename(fs->self, x->beside, x->path)) < 0) /* keeps (2) */
    tm_err_system(err, rc, "cannot rename '%s'", x->beside);
  if (rc < 0)
    return rc;
  free(x->beside);
  x->beside = NULL;
  return 0;
}
