/* manifest.c - the list of mini-batches: one thread adds to it, another one reads it.
 *
 *  (11) A mini-batch may be handed out when its entry has been written: the reader sees what
 *       tm_manifest_flush() has published, never the writer's buffer. A resumed list without its
 *       end record is listed again in the same order, compared with the existing entries byte by
 *       byte, and continued.
 *
 *   lister: add, add, flush ----> file ----> count (release)
 *   job:                          file <---- count (acquire), read
 *
 * The writer owns `pending` and the fields beside it, the reader its two cursors. Shared fields are
 * atomic, and the offsets of blocks are stored before the count that covers them. The reader gets
 * the bytes of an entry unchanged: data/item.h defines them; they are parsed here only for messages
 * about changes.
 */
#include "commit/manifest.h"

#include <string.h>

#include "base/check.h"
#include "commit/manifest_file.h"
#include "data/item.h"
#include "data/key.h"

#define LONG_READ  (256u << 10)
#define SHORT_READ (16u << 10) /* bytes, for one entry out of order */

/* Whether the partition keys differ, if either has some. */
static bool has_other_keys(const char *old, size_t old_len, const char *new, size_t new_len)
{
  struct tm_reader was = { 0 }, is = { 0 };
  bool had = tm_keys_find(old, old_len, &was), has = tm_keys_find(new, new_len, &is);
  size_t n = (size_t)(was.end - was.at), m = (size_t)(is.end - is.at);
  return had != has || (had && (n != m || memcmp(was.at, is.at, n) != 0));
}

static void describe_keys(struct tm_buf *out, const char *bytes, size_t len)
{
  struct tm_reader r;
  if (tm_keys_find(bytes, len, &r))
    tm_keys_describe(out, r);
  else
    tm_buf_add_str(out, "without keys");
}

static int report_keys(uint64_t index, const char *old, size_t old_len, const char *new,
                       size_t new_len, struct tm_err *err)
{
  struct tm_buf was = TM_BUF_NONE, is = TM_BUF_NONE;
  describe_keys(&was, old, old_len);
  describe_keys(&is, new, new_len);
  tm_err_set(err, TM_ECHANGED,
             "the input has changed: mini-batch %llu was that of %s and is now "
             "that of %s",
             (unsigned long long)index, tm_buf_str(&was), tm_buf_str(&is));
  tm_buf_release(&was);
  tm_buf_release(&is);
  return TM_ECHANGED;
}

/* Whether both hold the same whole files in the same order; ranges of rows and entries of archives
 * do not count. */
static bool has_same_files(const char *old, size_t old_len, const char *new, size_t new_len)
{
  struct tm_reader was, is;
  struct tm_item a = { 0 }, b = { 0 };
  bool has_a, has_b, is_same = !has_other_keys(old, old_len, new, new_len);
  tm_reader_init(&was, old, old_len);
  tm_reader_init(&is, new, new_len);
  do {
    has_a = tm_item_next(&was, &a);
    has_b = tm_item_next(&is, &b);
    if (has_a && has_b)
      is_same = is_same && !a.is_rows && !b.is_rows && !a.is_entry && !b.is_entry &&
                a.path_len == b.path_len && memcmp(a.path, b.path, a.path_len) == 0;
  } while (is_same && has_a && has_b);
  return is_same && has_a == has_b && !was.bad && !is.bad;
}

/* Reports the first item that differs between the two lists. */
static int report_items(uint64_t index, const char *old, size_t old_len, const char *new,
                        size_t new_len, struct tm_err *err)
{
  struct tm_reader was, is;
  struct tm_item a = { 0 }, b = { 0 };
  if (has_other_keys(old, old_len, new, new_len))
    return report_keys(index, old, old_len, new, new_len, err);
  tm_reader_init(&was, old, old_len);
  tm_reader_init(&is, new, new_len);
  for (;;) {
    bool has_a = tm_item_next(&was, &a), has_b = tm_item_next(&is, &b);
    if (was.bad || is.bad || (!has_a && !has_b))
      return tm_err_set(err, TM_ECHANGED, "the input has changed: mini-batch %llu is another one",
                        (unsigned long long)index);
    bool is_path =
        has_a && has_b && a.path_len == b.path_len && memcmp(a.path, b.path, a.path_len) == 0;
    if (is_path && a.size == b.size && a.mtime_ns == b.mtime_ns)
      continue;
    if (is_path)
      return tm_err_set(
          err, TM_ECHANGED,
          "the input has changed: in mini-batch %llu the file '%.*s' has another size or time",
          (unsigned long long)index, (int)a.path_len, a.path);
    return tm_err_set(
        err, TM_ECHANGED, "the input has changed: in mini-batch %llu was '%.*s' and is now '%.*s'",
        (unsigned long long)index, has_a ? (int)a.path_len : 7, has_a ? a.path : "nothing",
        has_b ? (int)b.path_len : 7, has_b ? b.path : "nothing");
  }
}

static int compare_entry(struct tm_manifest *m, uint32_t dataset, uint32_t items, const void *bytes,
                         size_t len, struct tm_err *err)
{
  struct tm_manifest_head h;
  const char *old;
  tm_require(m->compared <= m->compare_count && m->pending.len == 0);
  if (m->compared == m->compare_count) /* only a list that had ended gets here */
    return tm_err_set(err, TM_ECHANGED,
                      "the input has changed: there are more than the %llu mini-batches of before",
                      (unsigned long long)m->compare_count);
  int rc = tm_manifest_entry_at(m, &m->compare, m->compare_at, m->size_found, &h, &old, err);
  if (rc < 0)
    return rc;
  if (rc == 0)
    return tm_err_set(err, TM_EDAMAGE, "'%s' is damaged at byte %lld", m->path,
                      (long long)m->compare_at);
  bool is_same = h.length == len && memcmp(old, bytes, len) == 0;
  if (!is_same && !(m->accepts && has_same_files(old, h.length, bytes, len))) {
    rc = report_items(h.index, old, h.length, bytes, len, err);
    tm_err_append(err, "; a new job reads the input as it is now");
    return rc;
  }
  if (h.dataset != dataset || h.items != items)
    return tm_err_set(err, TM_ECHANGED,
                      "the input has changed: mini-batch %llu belongs to another dataset",
                      (unsigned long long)h.index);
  m->compare_at += TM_MANIFEST_HEAD + (int64_t)h.length;
  if (++m->compared == m->compare_count && !m->had_end)
    m->is_compared = false;
  return 0;
}

/* Appends a record to the buffer. */
static void add_record(struct tm_manifest *m, struct tm_manifest_head *h, const void *bytes)
{
  char *at = tm_buf_extend(&m->pending, TM_MANIFEST_HEAD + (size_t)h->length);
  if (h->length > 0)
    memcpy(at + TM_MANIFEST_HEAD, bytes, h->length);
  tm_manifest_head_encode(h, at);
  h->check = tm_manifest_check(at, at + TM_MANIFEST_HEAD, h->length);
  h->chain = m->link = tm_manifest_link(m->link, h->check);
  tm_manifest_head_encode(h, at);
  m->end += TM_MANIFEST_HEAD + (int64_t)h->length;
}

int tm_manifest_add(struct tm_manifest *m, uint32_t dataset, uint32_t items, const void *bytes,
                    size_t len, struct tm_err *err)
{
  if (m->is_compared)
    return compare_entry(m, dataset, items, bytes, len, err);
  tm_require(!atomic_load(&m->has_end) && m->has_head); /* tm_manifest_cut() wrote it */
  if (len > UINT32_MAX)
    return tm_err_set(
        err, TM_ELIMIT,
        "mini-batch %llu: its list of items is longer than 4 GB; make mini_batch_size smaller",
        (unsigned long long)m->added);
  if (m->added % TM_MANIFEST_BLOCK == 0)
    tm_manifest_put_place(m, m->added, m->end);
  struct tm_manifest_head h = { TM_MANIFEST_ENTRY, dataset, items, (uint32_t)len, m->added, 0, 0 };
  add_record(m, &h, bytes);
  m->added++;
  m->items_added += items;
  return 0;
}

int tm_manifest_flush(struct tm_manifest *m, struct tm_err *err)
{
  tm_require((int64_t)m->pending.len <= m->end);
  if (m->pending.len == 0)
    return 0;
  int64_t at = m->end - (int64_t)m->pending.len;
  int rc = tm_fs_write_at(m->fs, m->fd, m->path, m->pending.data, m->pending.len, at, err);
  if (rc < 0)
    return rc;
  tm_buf_clear(&m->pending);
  tm_require(m->added >= atomic_load_explicit(&m->count, memory_order_relaxed));
  atomic_store_explicit(&m->items, m->items_added, memory_order_relaxed);
  atomic_store_explicit(&m->length, m->end, memory_order_release);
  atomic_store_explicit(&m->count, m->added, memory_order_release); /* keeps (11): last */
  return 0;
}

int tm_manifest_end(struct tm_manifest *m, struct tm_err *err)
{
  if (m->is_compared && m->compared < m->compare_count)
    return tm_err_set(err, TM_ECHANGED,
                      "the input has changed: mini-batch %llu of %llu is no longer there",
                      (unsigned long long)m->compared, (unsigned long long)m->compare_count);
  if (m->had_end)
    return 0;
  tm_require(!tm_manifest_has_end(m));
  char total[8];
  tm_put_u64(total, m->items_added);
  struct tm_manifest_head h = { TM_MANIFEST_END, 0, 0, sizeof(total), m->added, 0, 0 };
  add_record(m, &h, total);
  int rc = tm_manifest_flush(m, err);
  if (rc < 0)
    return rc;
  m->had_end = true;
  atomic_store_explicit(&m->chain, m->link, memory_order_relaxed);
  atomic_store_explicit(&m->has_end, true, memory_order_release);
  return 0;
}

size_t tm_manifest_pending(const struct tm_manifest *m)
{
  return m->pending.len;
}

void tm_manifest_accept(struct tm_manifest *m)
{
  tm_require(m->compared == 0 && m->pending.len == 0);
  m->accepts = true;
}

void tm_manifest_relist(struct tm_manifest *m)
{
  tm_require(m->compared == 0 && m->pending.len == 0);
  m->is_compared = m->had_end || m->added > 0;
}

uint64_t tm_manifest_count(const struct tm_manifest *m)
{
  return atomic_load_explicit(&m->count, memory_order_acquire);
}

uint64_t tm_manifest_items(const struct tm_manifest *m)
{
  return atomic_load_explicit(&m->items, memory_order_acquire);
}

bool tm_manifest_has_end(const struct tm_manifest *m)
{
  return atomic_load_explicit(&m->has_end, memory_order_acquire);
}

uint64_t tm_manifest_chain(const struct tm_manifest *m)
{
  tm_require(tm_manifest_has_end(m));
  return atomic_load_explicit(&m->chain, memory_order_acquire);
}

static int report_damage(const struct tm_manifest *m, int rc, int64_t at, struct tm_err *err)
{
  if (rc < 0)
    return rc;
  return tm_err_set(err, TM_EDAMAGE, "'%s' is damaged at byte %lld", m->path, (long long)at);
}

/* Moves *at from a head to the next one. */
static int step_over(struct tm_manifest *m, struct tm_manifest_cursor *c, uint64_t index,
                     int64_t *at, int64_t length, struct tm_err *err)
{
  struct tm_manifest_head h;
  int rc = tm_manifest_head_at(m, c, *at, length, &h, err);
  if (rc <= 0 || h.index != index || h.kind != TM_MANIFEST_ENTRY)
    return report_damage(m, rc < 0 ? rc : 0, *at, err);
  *at += TM_MANIFEST_HEAD + (int64_t)h.length;
  return 0;
}

/* Finds an entry before the walk; the offsets of one block are stored. */
static int find_back(struct tm_manifest *m, uint64_t index, int64_t length, int64_t *at,
                     struct tm_err *err)
{
  uint64_t block = index / TM_MANIFEST_BLOCK;
  size_t place = (size_t)(index % TM_MANIFEST_BLOCK);
  if (m->back_len == 0 || m->back_block != block) {
    m->back_block = block;
    m->back_places[0] = tm_manifest_place(m, index);
    m->back_len = 1;
  }
  m->back.piece = LONG_READ;
  for (; m->back_len <= place; m->back_len++) {
    int64_t next = m->back_places[m->back_len - 1];
    int rc =
        step_over(m, &m->back, block * TM_MANIFEST_BLOCK + m->back_len - 1, &next, length, err);
    if (rc < 0)
      return rc;
    m->back_places[m->back_len] = next;
  }
  m->back.piece = SHORT_READ;
  *at = m->back_places[place];
  return 0;
}

/* Moves the walk forward to an entry. */
static int walk_to(struct tm_manifest *m, uint64_t index, int64_t length, struct tm_err *err)
{
  if (index - m->forward_next >= TM_MANIFEST_BLOCK) {
    m->forward_next = index - index % TM_MANIFEST_BLOCK;
    m->forward_at = tm_manifest_place(m, index);
  }
  for (; m->forward_next < index; m->forward_next++) {
    int rc = step_over(m, &m->forward, m->forward_next, &m->forward_at, length, err);
    if (rc < 0)
      return rc;
  }
  return 0;
}

int tm_manifest_read(struct tm_manifest *m, uint64_t index, struct tm_manifest_entry *out,
                     struct tm_err *err)
{
  struct tm_manifest_head h;
  tm_require(index < tm_manifest_count(m));
  int64_t length = tm_manifest_length(m), at;
  bool is_back = index < m->forward_next;
  int rc = is_back ? find_back(m, index, length, &at, err) : walk_to(m, index, length, err);
  if (rc < 0)
    return rc;
  if (!is_back)
    at = m->forward_at;
  rc = tm_manifest_entry_at(m, is_back ? &m->back : &m->forward, at, length, &h, &out->bytes, err);
  if (rc <= 0 || h.index != index || h.kind != TM_MANIFEST_ENTRY)
    return report_damage(m, rc < 0 ? rc : 0, at, err);
  out->index = index;
  out->dataset = h.dataset;
  out->items = h.items;
  out->at = at;
  out->len = h.length;
  if (!is_back) {
    m->forward_next = index + 1;
    m->forward_at = at + TM_MANIFEST_HEAD + (int64_t)h.length;
  }
  return 0;
}
