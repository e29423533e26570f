/* gzip_index.c - check points as records, and the table of the known ones.
 *
 *  (1) A record is valid only if its own check sum is right, and it follows the one before it in
 *      the contents and in the gzip file: a reader stops at the first invalid one.
 *  (2) A record is written with one call, its head together with what follows: a reader of the head
 *      finds the rest, or the check sum shows that it is not there yet.
 */
#include "data/stream/gzip_index.h"

#include <fcntl.h>
#include <inttypes.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/path.h"

#define MAGIC      "TMGZIX1\n"
#define VERSION    2
#define PACKED_MAX (TM_GZIP_WINDOW + 1024) /* maximum size of a deflated window */
#define BLOCKS_MAX 4096                    /* hashes in one record: 256 MB of the gzip file */

void tm_gzip_head_encode(char *out, const struct tm_gzip_key *key)
{
  memset(out, 0, TM_GZIP_HEAD);
  memcpy(out, MAGIC, 8);
  tm_put_u32(out + 8, VERSION);
  tm_put_u64(out + 16, (uint64_t)key->size);
  tm_put_u64(out + 24, (uint64_t)key->mtime_ns);
  tm_put_u64(out + 32, tm_hash64(key->path, strlen(key->path)));
  tm_put_u64(out + 40, (uint64_t)key->spacing);
  tm_put_u64(out + 56, tm_hash64(out, 56));
}

int tm_gzip_head_decode(const char *p, const struct tm_gzip_key *key, bool *is_same,
                        int64_t *spacing)
{
  if (memcmp(p, MAGIC, 8) != 0 || tm_get_u64(p + 56) != tm_hash64(p, 56) ||
      tm_get_u32(p + 8) != VERSION)
    return TM_EDAMAGE;
  *spacing = (int64_t)tm_get_u64(p + 40);
  *is_same = (int64_t)tm_get_u64(p + 16) == key->size &&
             (int64_t)tm_get_u64(p + 24) == key->mtime_ns &&
             tm_get_u64(p + 32) == tm_hash64(key->path, strlen(key->path)) &&
             (key->spacing == 0 || key->spacing == *spacing);
  return 0;
}

void tm_gzip_record_encode(char *out, const struct tm_gzip_record *r)
{
  tm_put_u32(out, (uint32_t)r->kind);
  tm_put_u32(out + 4, r->packed);
  tm_put_u64(out + 8, (uint64_t)r->out);
  tm_put_u64(out + 16, (uint64_t)r->in);
  tm_put_u32(out + 24, r->bits);
  tm_put_u32(out + 28, r->window);
  tm_put_u64(out + 32, r->check);
  tm_put_u64(out + 40, r->blocks_check);
  tm_put_u32(out + 48, r->blocks);
  tm_put_u32(out + 52, 0);
  tm_put_u64(out + 56, tm_hash64_seed(out, 56, (uint64_t)r->at));
}

int tm_gzip_record_decode(struct tm_gzip_record *r, const char *p, int64_t at)
{
  uint32_t kind = tm_get_u32(p);
  *r = (struct tm_gzip_record) {
    .kind = kind == TM_GZIP_POINT ? TM_GZIP_POINT
            : kind == TM_GZIP_END ? TM_GZIP_END
                                  : TM_GZIP_BLOCKS,
    .packed = tm_get_u32(p + 4),
    .out = (int64_t)tm_get_u64(p + 8),
    .in = (int64_t)tm_get_u64(p + 16),
    .bits = tm_get_u32(p + 24),
    .window = tm_get_u32(p + 28),
    .check = tm_get_u64(p + 32),
    .blocks_check = tm_get_u64(p + 40),
    .blocks = tm_get_u32(p + 48),
    .at = at,
  };
  bool is_good =
      tm_get_u64(p + 56) == tm_hash64_seed(p, 56, (uint64_t)at) && kind >= TM_GZIP_POINT &&
      kind <= TM_GZIP_BLOCKS && (kind == TM_GZIP_POINT || r->packed == 0) && r->out >= 0 &&
      r->out <= INT64_MAX / 2 && r->in >= 0 && r->bits <= 7 && (r->bits == 0 || r->in > 0) &&
      r->window <= TM_GZIP_WINDOW && r->packed <= PACKED_MAX && r->blocks <= BLOCKS_MAX;
  return is_good ? 0 : TM_EDAMAGE;
}

/* Files ---------------------------------------------------------------------------------------- */

struct tm_gzip_index {
  const struct tm_fs *fs;
  char *path;
  int fd;
  int64_t source_size;
  int64_t end;  /* of the last whole record */
  int64_t size; /* of the contents, or -1 */
  struct TM_ARRAY(struct tm_gzip_record) points;
  struct TM_ARRAY(uint64_t) blocks; /* hashes */
  size_t blocks_done;               /* number of those in the file */
  struct tm_buf bytes;
};

char *tm_gzip_index_path(const char *dir, const char *path)
{
  char *name = tm_xprintf("%016" PRIx64 ".gzi", tm_hash64(path, strlen(path)));
  char *whole = tm_path_join(dir, name);
  free(name);
  return whole;
}

void tm_gzip_index_close(struct tm_gzip_index *x)
{
  if (x == NULL)
    return;
  tm_fs_close(x->fs, x->fd);
  TM_ARRAY_RELEASE(&x->points);
  TM_ARRAY_RELEASE(&x->blocks);
  tm_buf_release(&x->bytes);
  free(x->path);
  free(x);
}

static struct tm_gzip_index *new_index(const struct tm_fs *fs, const char *dir,
                                       const struct tm_gzip_key *key)
{
  struct tm_gzip_index *x = TM_NEW(struct tm_gzip_index);
  x->fs = fs;
  x->fd = -1;
  x->path = tm_gzip_index_path(dir, key->path);
  x->source_size = key->size;
  x->end = TM_GZIP_HEAD;
  x->size = -1;
  return x;
}

struct tm_gzip_index *tm_gzip_index_open(const struct tm_fs *fs, const char *dir,
                                         const struct tm_gzip_key *key)
{
  struct tm_gzip_index *x = new_index(fs, dir, key);
  char head[TM_GZIP_HEAD];
  bool is_same = false;
  int64_t spacing;
  x->fd = tm_fs_open(fs, x->path, O_RDONLY, 0, NULL);
  if (x->fd >= 0 && tm_fs_read_at(fs, x->fd, x->path, head, sizeof head, 0, NULL) == sizeof head &&
      tm_gzip_head_decode(head, key, &is_same, &spacing) == 0 && is_same)
    return x;
  tm_gzip_index_close(x);
  return NULL;
}

struct tm_gzip_index *tm_gzip_index_make(const struct tm_fs *fs, const char *dir,
                                         const struct tm_gzip_key *key, struct tm_err *err)
{
  struct tm_gzip_index *x = new_index(fs, dir, key);
  char head[TM_GZIP_HEAD];
  char *beside = tm_xprintf("%s.%d.tmp", x->path, (int)getpid());
  int rc = tm_fs_make_dirs(fs, dir, 0700, err);
  tm_gzip_head_encode(head, key);
  if (rc == 0) {
    rc = x->fd = tm_fs_open(fs, beside, O_RDWR | O_CREAT | O_TRUNC, 0600, err);
    rc = rc < 0 ? rc : tm_fs_write_at(fs, x->fd, beside, head, sizeof head, 0, err);
  }
  if (rc >= 0) {
    rc = fs->rename(fs->self, beside, x->path);
    if (rc < 0) {
      tm_err_system(err, rc, "cannot rename '%s'", beside);
      fs->unlink(fs->self, beside);
    }
  }
  free(beside);
  if (rc >= 0)
    return x;
  tm_gzip_index_close(x);
  return NULL;
}

/* Raw deflate, at the level that needs no memory of ours. */
static uint32_t pack(struct tm_gzip_index *x, const char *window, size_t n)
{
  struct isal_zstream *z = TM_NEW(struct isal_zstream);
  isal_deflate_stateless_init(z);
  z->end_of_stream = 1;
  z->next_in = (uint8_t *)(uintptr_t)window;
  z->avail_in = (uint32_t)n;
  z->next_out = (uint8_t *)tm_buf_extend(&x->bytes, PACKED_MAX);
  z->avail_out = PACKED_MAX;
  tm_require(isal_deflate_stateless(z) == COMP_OK);
  uint32_t packed = PACKED_MAX - z->avail_out;
  x->bytes.len -= z->avail_out;
  free(z);
  return packed;
}

/* Appends the hashes that no record has yet, after the window. */
static void add_hashes(struct tm_gzip_index *x, struct tm_gzip_record *r)
{
  size_t at = x->bytes.len;
  r->blocks = (uint32_t)(x->blocks.len - x->blocks_done);
  for (size_t i = x->blocks_done; i < x->blocks.len; i++)
    tm_buf_add_u64(&x->bytes, x->blocks.at[i]);
  r->blocks_check = tm_hash64(x->bytes.data + at, x->bytes.len - at);
}

int tm_gzip_index_add(struct tm_gzip_index *x, struct tm_gzip_record *r, const char *window,
                      struct tm_err *err)
{
  tm_buf_clear(&x->bytes);
  tm_buf_extend(&x->bytes, TM_GZIP_RECORD);
  r->at = x->end;
  r->packed = r->window > 0 ? pack(x, window, r->window) : 0;
  r->check = tm_hash64(x->bytes.data + TM_GZIP_RECORD, r->packed);
  add_hashes(x, r);
  tm_gzip_record_encode(x->bytes.data, r);
  /* (2) */
  int rc = tm_fs_write_at(x->fs, x->fd, x->path, x->bytes.data, x->bytes.len, x->end, err);
  if (rc < 0)
    return rc;
  x->end += (int64_t)x->bytes.len;
  x->blocks_done = x->blocks.len;
  if (r->kind == TM_GZIP_POINT)
    *TM_ARRAY_ADD(&x->points) = *r;
  else if (r->kind == TM_GZIP_END)
    x->size = r->out;
  return 0;
}

int tm_gzip_index_add_block(struct tm_gzip_index *x, uint64_t hash, struct tm_err *err)
{
  struct tm_gzip_record alone = { .kind = TM_GZIP_BLOCKS };
  *TM_ARRAY_ADD(&x->blocks) = hash;
  return x->blocks.len - x->blocks_done < BLOCKS_MAX ? 0 : tm_gzip_index_add(x, &alone, NULL, err);
}

uint64_t tm_gzip_block_hash(const void *p, size_t n)
{
  return tm_hash64(p, n);
}

/* Reads the hashes of a record, if they are complete. */
static bool read_hashes(struct tm_gzip_index *x, const struct tm_gzip_record *r)
{
  size_t n = (size_t)r->blocks * 8;
  int64_t at = x->end + TM_GZIP_RECORD + (int64_t)r->packed;
  tm_buf_clear(&x->bytes);
  char *p = tm_buf_extend(&x->bytes, n);
  if (n == 0)
    return true;
  if (tm_fs_read_at(x->fs, x->fd, x->path, p, n, at, NULL) != (int64_t)n ||
      tm_hash64(p, n) != r->blocks_check)
    return false;
  for (size_t i = 0; i < r->blocks; i++)
    *TM_ARRAY_ADD(&x->blocks) = tm_get_u64(p + 8 * i);
  return true;
}

/* Whether a record fits: it follows the one before it, is within the file, and an end misses
 * nothing. */
static bool fits(const struct tm_gzip_index *x, const struct tm_gzip_record *r)
{
  const struct tm_gzip_record *before = x->points.len > 0 ? &x->points.at[x->points.len - 1] : NULL;
  int64_t blocks = ((int64_t)x->blocks.len + r->blocks) * TM_GZIP_BLOCK;
  if (r->kind != TM_GZIP_BLOCKS && before != NULL && (r->out < before->out || r->in < before->in))
    return false;
  return r->in <= x->source_size && blocks - TM_GZIP_BLOCK < x->source_size &&
         (r->kind != TM_GZIP_END || blocks >= x->source_size);
}

/* Reads the next record, if it is complete. Keeps (1). */
static bool read_record(struct tm_gzip_index *x, struct tm_gzip_record *r)
{
  char bytes[TM_GZIP_RECORD], last;
  if (x->size >= 0 || tm_fs_read_at(x->fs, x->fd, x->path, bytes, sizeof bytes, x->end, NULL) !=
                          (int64_t)sizeof bytes)
    return false;
  if (tm_gzip_record_decode(r, bytes, x->end) < 0 || !fits(x, r))
    return false;
  int64_t end = x->end + TM_GZIP_RECORD + (int64_t)r->packed;
  if (r->packed > 0 && r->blocks == 0 &&
      tm_fs_read_at(x->fs, x->fd, x->path, &last, 1, end - 1, NULL) != 1)
    return false;
  if (!read_hashes(x, r))
    return false;
  x->end = end + 8 * (int64_t)r->blocks;
  if (r->kind == TM_GZIP_END)
    x->size = r->out;
  else if (r->kind == TM_GZIP_POINT)
    *TM_ARRAY_ADD(&x->points) = *r;
  return true;
}

/* Reads all available records, or up to a point after `out`. */
static void read_up_to(struct tm_gzip_index *x, int64_t out)
{
  struct tm_gzip_record r;
  while ((x->points.len == 0 || x->points.at[x->points.len - 1].out <= out) && read_record(x, &r))
    ;
}

bool tm_gzip_index_block(struct tm_gzip_index *x, uint64_t n, uint64_t *hash)
{
  struct tm_gzip_record r;
  while (x->blocks.len <= n && read_record(x, &r))
    ;
  if (x->blocks.len > n)
    *hash = x->blocks.at[n];
  return x->blocks.len > n;
}

bool tm_gzip_index_find(struct tm_gzip_index *x, int64_t out, struct tm_gzip_record *r)
{
  size_t low = 0, high;
  read_up_to(x, out);
  for (high = x->points.len; low < high;) {
    size_t mid = low + (high - low) / 2;
    if (x->points.at[mid].out <= out)
      low = mid + 1;
    else
      high = mid;
  }
  if (low == 0)
    return false;
  *r = x->points.at[low - 1];
  return true;
}

bool tm_gzip_index_window(struct tm_gzip_index *x, const struct tm_gzip_record *r, char *window)
{
  tm_buf_clear(&x->bytes);
  char *packed = tm_buf_extend(&x->bytes, r->packed);
  if (r->window == 0)
    return true;
  if (tm_fs_read_at(x->fs, x->fd, x->path, packed, r->packed, r->at + TM_GZIP_RECORD, NULL) !=
          (int64_t)r->packed ||
      tm_hash64(packed, r->packed) != r->check)
    return false;
  struct inflate_state *z = TM_NEW(struct inflate_state);
  isal_inflate_init(z);
  z->next_in = (uint8_t *)packed;
  z->avail_in = r->packed;
  z->next_out = (uint8_t *)window;
  z->avail_out = r->window;
  bool is_whole = isal_inflate_stateless(z) == ISAL_DECOMP_OK && z->avail_out == 0;
  free(z);
  return is_whole;
}

int64_t tm_gzip_index_size(struct tm_gzip_index *x)
{
  read_up_to(x, INT64_MAX);
  return x->size;
}
