/* manifest_file.c - the manifest as bytes: opens it, finds its valid part, and finds entries.
 *
 *  (11) Entries have check sums and numbers, and are chained: an entry is valid if its own check
 *       sum, its number and the chain up to it are right. The valid part ends at the first invalid
 *       entry.
 *
 * Everything stated by the last sync record must be valid, else the file is damaged. What follows
 * may be torn, and is cut.
 */
#include "commit/manifest_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "commit/gone.h"

#define MAGIC     "tm-list" /* including its NUL */
#define CHECKED   24        /* bytes of a head that its check sum covers */
#define LONG_READ (256u << 10)

void tm_manifest_head_encode(const struct tm_manifest_head *h, void *out40)
{
  unsigned char *b = out40;
  tm_put_u32(b, h->kind);
  tm_put_u32(b + 4, h->dataset);
  tm_put_u32(b + 8, h->items);
  tm_put_u32(b + 12, h->length);
  tm_put_u64(b + 16, h->index);
  tm_put_u64(b + 24, h->check);
  tm_put_u64(b + 32, h->chain);
}

void tm_manifest_head_decode(struct tm_manifest_head *h, const void *in40)
{
  const unsigned char *b = in40;
  h->kind = tm_get_u32(b);
  h->dataset = tm_get_u32(b + 4);
  h->items = tm_get_u32(b + 8);
  h->length = tm_get_u32(b + 12);
  h->index = tm_get_u64(b + 16);
  h->check = tm_get_u64(b + 24);
  h->chain = tm_get_u64(b + 32);
}

uint64_t tm_manifest_check(const void *head40, const void *bytes, size_t len)
{
  return tm_hash64_seed(bytes, len, tm_hash64(head40, CHECKED));
}

uint64_t tm_manifest_link(uint64_t before, uint64_t check)
{
  unsigned char both[16];
  tm_put_u64(both, before);
  tm_put_u64(both + 8, check);
  return tm_hash64(both, sizeof(both));
}

/* n bytes at `at`, before `limit`. NULL: the file has become shorter (*rc is 0), or it cannot be
 * read. */
static const char *cursor_get(const struct tm_manifest *m, struct tm_manifest_cursor *c, int64_t at,
                              size_t n, int64_t limit, int *rc, struct tm_err *err)
{
  tm_require(at <= limit && n <= (uint64_t)(limit - at));
  *rc = 0;
  if (at >= c->base && at + (int64_t)n <= c->base + (int64_t)c->have)
    return c->bytes + (at - c->base);
  size_t want = c->piece > n ? c->piece : n;
  if (limit - at < (int64_t)want)
    want = (size_t)(limit - at);
  if (want > c->cap) {
    c->bytes = tm_xrealloc(c->bytes, want);
    c->cap = want;
  }
  c->have = 0;
  int64_t got = tm_fs_read_at(m->fs, m->fd, m->path, c->bytes, want, at, err);
  if (got < 0) {
    *rc = (int)got;
    return NULL;
  }
  c->base = at;
  c->have = (size_t)got;
  return (size_t)got < n ? NULL : c->bytes;
}

int tm_manifest_head_at(const struct tm_manifest *m, struct tm_manifest_cursor *c, int64_t at,
                        int64_t limit, struct tm_manifest_head *h, struct tm_err *err)
{
  tm_require(at >= 0);
  int rc;
  if (at + TM_MANIFEST_HEAD > limit)
    return 0;
  const char *b = cursor_get(m, c, at, TM_MANIFEST_HEAD, limit, &rc, err);
  if (!b)
    return rc;
  tm_manifest_head_decode(h, b);
  return (h->kind == TM_MANIFEST_ENTRY || h->kind == TM_MANIFEST_END) &&
         at + TM_MANIFEST_HEAD + (int64_t)h->length <= limit;
}

int tm_manifest_entry_at(const struct tm_manifest *m, struct tm_manifest_cursor *c, int64_t at,
                         int64_t limit, struct tm_manifest_head *h, const char **bytes,
                         struct tm_err *err)
{
  int rc = tm_manifest_head_at(m, c, at, limit, h, err);
  if (rc <= 0)
    return rc;
  const char *b = cursor_get(m, c, at, TM_MANIFEST_HEAD + (size_t)h->length, limit, &rc, err);
  if (!b)
    return rc;
  *bytes = b + TM_MANIFEST_HEAD;
  return tm_manifest_check(b, *bytes, h->length) == h->check;
}

void tm_manifest_put_place(struct tm_manifest *m, uint64_t index, int64_t at)
{
  uint64_t block = index / TM_MANIFEST_BLOCK;
  tm_require(index % TM_MANIFEST_BLOCK == 0 && block / TM_MANIFEST_LEAF < TM_MANIFEST_LEAVES);
  int64_t **leaf = &m->leaves[block / TM_MANIFEST_LEAF];
  if (!*leaf)
    *leaf = tm_xcalloc(TM_MANIFEST_LEAF, sizeof(**leaf));
  (*leaf)[block % TM_MANIFEST_LEAF] = at;
}

int64_t tm_manifest_place(const struct tm_manifest *m, uint64_t index)
{
  uint64_t block = index / TM_MANIFEST_BLOCK;
  const int64_t *leaf = m->leaves[block / TM_MANIFEST_LEAF];
  tm_require(leaf); /* the writer stores it before the count that covers it */
  return leaf[block % TM_MANIFEST_LEAF];
}

/* 1: the head is valid. 0: it is missing or torn. */
static int head_read(struct tm_manifest *m, struct tm_err *err)
{
  char b[TM_MANIFEST_FILE_HEAD];
  int64_t got = tm_fs_read_at(m->fs, m->fd, m->path, b, sizeof(b), 0, err);
  if (got < 0)
    return (int)got;
  if (got < (int64_t)sizeof(b) || memcmp(b, MAGIC, 8) != 0 ||
      tm_get_u32(b + 12) != (uint32_t)tm_hash64(b, 12))
    return 0;
  if (tm_get_u32(b + 8) != TM_MANIFEST_VERSION)
    return tm_err_set(err, TM_EVERSION,
                      "'%s' was written by another version of tidemill; resume with that", m->path);
  return 1;
}

/* Reads entries up to the first invalid one, or the end record. */
static int scan(struct tm_manifest *m, struct tm_err *err)
{
  struct tm_manifest_head h;
  const char *bytes;
  int rc = 0;
  while (!m->had_end &&
         (rc = tm_manifest_entry_at(m, &m->forward, m->end, m->size_found, &h, &bytes, err)) > 0) {
    uint64_t link = tm_manifest_link(m->link, h.check);
    if (h.index != m->added || h.chain != link)
      break;
    if (h.kind == TM_MANIFEST_END) {
      if (h.length != 8 || tm_get_u64(bytes) != m->items_added)
        break;
      m->had_end = true;
    } else {
      if (h.index % TM_MANIFEST_BLOCK == 0)
        tm_manifest_put_place(m, h.index, m->end);
      m->added++;
      m->items_added += h.items;
    }
    m->link = link;
    m->end += TM_MANIFEST_HEAD + (int64_t)h.length;
  }
  return rc < 0 ? rc : 0;
}

static int take_good(struct tm_manifest *m, int64_t stated, struct tm_err *err)
{
  int rc = head_read(m, err);
  if (rc < 0)
    return rc;
  m->has_head = rc > 0;
  if (m->has_head) {
    m->end = TM_MANIFEST_FILE_HEAD;
    if ((rc = scan(m, err)) < 0)
      return rc;
  }
  if (m->size_found == 0 && stated > 0)
    return tm_gone_report(m->path, err);
  if (m->end < stated)
    return tm_err_set(err, TM_EDAMAGE,
                      "'%s' is damaged at byte %lld: %lld bytes of it had been written to the "
                      "disk; restore it, or start "
                      "a new job",
                      m->path, (long long)m->end, (long long)stated);
  m->forward_at = m->compare_at = TM_MANIFEST_FILE_HEAD;
  m->compare_count = m->added;
  m->is_compared = !m->had_end && m->added > 0;
  return 0;
}

/* Makes all entries so far readable. */
static void publish_found(struct tm_manifest *m)
{
  atomic_store(&m->items, m->items_added);
  atomic_store(&m->length, m->end);
  atomic_store(&m->chain, m->link);
  atomic_store(&m->has_end, m->had_end);
  atomic_store(&m->count, m->added);
}

static struct tm_manifest *manifest_new(const struct tm_fs *fs, const char *path)
{
  struct tm_manifest *m = TM_NEW(struct tm_manifest);
  m->fs = fs;
  m->fd = -1;
  m->path = tm_xstrdup(path);
  m->forward.piece = m->compare.piece = m->back.piece = LONG_READ;
  return m;
}

static int take_file(struct tm_manifest *m, int64_t stated, struct tm_err *err)
{
  struct tm_stat st;
  int rc = m->fs->fstat(m->fs->self, m->fd, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", m->path);
  m->size_found = st.size;
  if ((rc = take_good(m, stated, err)) == 0)
    publish_found(m);
  return rc;
}

static int take_missing(struct tm_manifest *m, int64_t stated, struct tm_err *err)
{
  if (stated > 0)
    return tm_gone_report(m->path, err);
  m->forward_at = m->compare_at = TM_MANIFEST_FILE_HEAD;
  return 0;
}

int tm_manifest_open(struct tm_manifest **out, const struct tm_fs *fs, const char *path,
                     int64_t stated, struct tm_err *err)
{
  struct tm_manifest *m = *out = manifest_new(fs, path);
  int rc = tm_fs_open_found(&m->fd, fs, path, O_RDWR, err);
  if (rc < 0)
    return rc;
  return m->fd < 0 ? take_missing(m, stated, err) : take_file(m, stated, err);
}

int tm_manifest_open_read(struct tm_manifest **out, const struct tm_fs *fs, const char *path,
                          int64_t stated, struct tm_err *err)
{
  struct tm_manifest *m = *out = manifest_new(fs, path);
  int rc = tm_fs_open_found(&m->fd, fs, path, O_RDONLY, err);
  if (rc == 0 && m->fd < 0)
    rc = tm_gone_report(path, err);
  return rc < 0 ? rc : take_file(m, stated, err);
}

static int head_write(struct tm_manifest *m, struct tm_err *err)
{
  char b[TM_MANIFEST_FILE_HEAD] = MAGIC;
  tm_put_u32(b + 8, TM_MANIFEST_VERSION);
  tm_put_u32(b + 12, (uint32_t)tm_hash64(b, 12));
  int rc = tm_fs_write_at(m->fs, m->fd, m->path, b, sizeof(b), 0, err);
  if (rc < 0)
    return rc;
  m->has_head = true;
  m->end = TM_MANIFEST_FILE_HEAD;
  atomic_store(&m->length, m->end);
  return 0;
}

int tm_manifest_cut(struct tm_manifest *m, struct tm_err *err)
{
  tm_require(m->pending.len == 0 && m->compared == 0); /* before the first add */
  int rc = 0;
  if (m->fd < 0)
    rc = m->fd = tm_fs_open(m->fs, m->path, O_RDWR | O_CREAT, 0600, err);
  if (rc < 0)
    return rc;
  m->forward.have = m->back.have = 0; /* the tail that they have read will be rewritten */
  if (m->size_found > m->end) {
    rc = m->fs->ftruncate(m->fs->self, m->fd, m->end);
    if (rc < 0)
      return tm_err_system(err, rc, "cannot cut '%s'", m->path);
    m->size_found = m->end;
  }
  return m->has_head ? 0 : head_write(m, err);
}

int64_t tm_manifest_length(const struct tm_manifest *m)
{
  return atomic_load_explicit(&m->length, memory_order_acquire);
}

void tm_manifest_close(struct tm_manifest *m)
{
  if (!m)
    return;
  tm_fs_close(m->fs, m->fd);
  for (size_t i = 0; i < TM_MANIFEST_LEAVES && m->leaves[i]; i++)
    free(m->leaves[i]);
  tm_buf_release(&m->pending);
  free(m->compare.bytes);
  free(m->forward.bytes);
  free(m->back.bytes);
  free(m->path);
  free(m);
}
