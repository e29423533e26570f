/* sorter.c - see sorter.h.
 *
 *   add  -> memory, until it is full -> sorted -> a run appended to the file
 *   next -> the smallest of the first records of all runs, through a heap of runs
 *
 * A record in memory and in the file is {key length u32, length u32, key, bytes}. Runs are read in
 * pieces, each through a window of its own; all windows together are about as large as the memory
 * was.
 */
#include "data/stream/sorter.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"

#define RECORD_HEAD  8          /* bytes */
#define WINDOW_LEAST (16 << 10) /* bytes */

struct run {
  int64_t at, end; /* its unread part in the file */
  struct tm_buf window;
  size_t used; /* bytes of the window that have been returned */
  struct tm_sorted first;
};

struct tm_sorter {
  const struct tm_fs *fs;
  char *path; /* for messages; the file is unlinked */
  int fd;     /* -1: not needed yet */
  size_t memory, window;
  struct tm_buf records;
  struct TM_ARRAY(size_t) places; /* of records */
  int64_t file_len;
  struct TM_ARRAY(struct run) runs;
  struct TM_ARRAY(size_t) heap; /* numbers of runs, the smallest first */
  size_t next;                  /* index into places, if there are no runs */
  bool is_reading, has_out;     /* the returned record is the first of the first run */
};

struct tm_sorter *tm_sorter_new(const struct tm_fs *fs, const char *dir, size_t memory)
{
  tm_require(memory > 0 && memory <= SIZE_MAX / 4);
  struct tm_sorter *s = TM_NEW(struct tm_sorter);
  s->fs = fs;
  s->memory = memory;
  s->path = tm_xprintf("%s/sort.tmp", dir);
  s->fd = -1;
  return s;
}

void tm_sorter_free(struct tm_sorter *s)
{
  if (!s)
    return;
  tm_fs_close(s->fs, s->fd);
  for (size_t i = 0; i < s->runs.len; i++)
    tm_buf_release(&s->runs.at[i].window);
  TM_ARRAY_RELEASE(&s->runs);
  TM_ARRAY_RELEASE(&s->heap);
  TM_ARRAY_RELEASE(&s->places);
  tm_buf_release(&s->records);
  free(s->path);
  free(s);
}

static struct tm_sorted record_at(const char *at)
{
  struct tm_sorted r = { .key_len = tm_get_u32(at), .len = tm_get_u32(at + 4) };
  r.key = at + RECORD_HEAD;
  r.at = r.key + r.key_len;
  return r;
}

static int compare_records(const struct tm_sorted *a, const struct tm_sorted *b)
{
  size_t n = a->key_len < b->key_len ? a->key_len : b->key_len;
  int order = memcmp(a->key, b->key, n);
  return order ? order : (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

static int compare_places(const void *a, const void *b, void *records)
{
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  struct tm_sorted left = record_at((const char *)records + x),
                   right = record_at((const char *)records + y);
  int order = compare_records(&left, &right);
  return order ? order : (x > y) - (x < y);
}

static void sort_records(struct tm_sorter *s)
{
  if (s->places.len > 1)
    qsort_r(s->places.at, s->places.len, sizeof(*s->places.at), compare_places, s->records.data);
}

static int open_file(struct tm_sorter *s, struct tm_err *err)
{
  s->fd = tm_fs_open(s->fs, s->path, O_RDWR | O_CREAT | O_TRUNC, 0600, err);
  if (s->fd < 0)
    return err ? err->code : s->fd;
  int rc = s->fs->unlink(s->fs->self, s->path);
  return rc < 0 ? tm_err_system(err, rc, "cannot remove '%s'", s->path) : 0;
}

/* Sorts the records in memory and appends them as a run. */
static int write_run(struct tm_sorter *s, struct tm_err *err)
{
  struct tm_buf piece = TM_BUF_NONE;
  struct run run = { .at = s->file_len };
  int rc = s->fd < 0 ? open_file(s, err) : 0;
  sort_records(s);
  for (size_t i = 0; i <= s->places.len && rc >= 0; i++) {
    bool is_end = i == s->places.len;
    if (piece.len > 0 && (is_end || piece.len >= (256 << 10))) {
      rc = tm_fs_write_at(s->fs, s->fd, s->path, piece.data, piece.len, s->file_len, err);
      s->file_len += (int64_t)piece.len;
      tm_buf_clear(&piece);
    }
    if (!is_end) {
      struct tm_sorted r = record_at(s->records.data + s->places.at[i]);
      tm_buf_add(&piece, s->records.data + s->places.at[i], RECORD_HEAD + r.key_len + r.len);
    }
  }
  run.end = s->file_len;
  *TM_ARRAY_ADD(&s->runs) = run;
  tm_buf_release(&piece);
  tm_buf_clear(&s->records);
  s->places.len = 0;
  return rc < 0 ? rc : 0;
}

int tm_sorter_add(struct tm_sorter *s, const void *key, size_t key_len, const void *p, size_t len,
                  struct tm_err *err)
{
  size_t more = RECORD_HEAD + key_len + len;
  tm_require(!s->is_reading && key_len <= UINT32_MAX && len <= UINT32_MAX);
  size_t held = s->records.len + s->places.len * sizeof(*s->places.at);
  if (s->places.len > 0 && held + more > s->memory) {
    int rc = write_run(s, err);
    if (rc < 0)
      return rc;
  }
  *TM_ARRAY_ADD(&s->places) = s->records.len;
  char *at = tm_buf_extend(&s->records, more);
  tm_put_u32(at, (uint32_t)key_len);
  tm_put_u32(at + 4, (uint32_t)len);
  memcpy(at + RECORD_HEAD, key, key_len);
  if (len > 0)
    memcpy(at + RECORD_HEAD + key_len, p, len);
  return 0;
}

/* Reading -------------------------------------------------------------------------------------- */

/* Ensures `want` bytes in the window, from `used` on. */
static int fill(struct tm_sorter *s, struct run *r, size_t want, struct tm_err *err)
{
  tm_require(r->used <= r->window.len && r->at <= r->end);
  size_t have = r->window.len - r->used;
  if (have >= want)
    return 0;
  tm_buf_remove_front(&r->window, r->used);
  r->used = 0;
  size_t n = want > s->window ? want : s->window;
  n -= have;
  if ((int64_t)n > r->end - r->at)
    n = (size_t)(r->end - r->at);
  int64_t got = tm_fs_read_at(s->fs, s->fd, s->path, tm_buf_extend(&r->window, n), n, r->at, err);
  if (got < 0)
    return (int)got;
  if ((size_t)got < n || have + n < want)
    return tm_err_set(err, TM_EDAMAGE, "'%s' has become shorter while it was read", s->path);
  r->at += got;
  return 0;
}

/* The next record of a run: 1, or 0 at its end. */
static int advance(struct tm_sorter *s, struct run *r, struct tm_err *err)
{
  if (r->at == r->end && r->used == r->window.len)
    return 0;
  int rc = fill(s, r, RECORD_HEAD, err);
  if (rc < 0)
    return rc;
  struct tm_sorted head = record_at(r->window.data + r->used);
  size_t whole = RECORD_HEAD + head.key_len + head.len;
  if ((rc = fill(s, r, whole, err)) < 0)
    return rc;
  r->first = record_at(r->window.data + r->used);
  r->used += whole;
  return 1;
}

static bool is_before(const struct tm_sorter *s, size_t a, size_t b)
{
  int order = compare_records(&s->runs.at[a].first, &s->runs.at[b].first);
  return order < 0 || (order == 0 && a < b);
}

static void sink(struct tm_sorter *s, size_t at)
{
  size_t *heap = s->heap.at;
  for (;;) {
    size_t least = at, left = 2 * at + 1;
    for (size_t child = left; child < left + 2 && child < s->heap.len; child++)
      if (is_before(s, heap[child], heap[least]))
        least = child;
    if (least == at)
      return;
    size_t moved = heap[at];
    heap[at] = heap[least];
    heap[least] = moved;
    at = least;
  }
}

static int begin_reading(struct tm_sorter *s, struct tm_err *err)
{
  int rc = 0;
  tm_require(!s->is_reading && s->heap.len == 0);
  s->is_reading = true;
  if (s->runs.len == 0) {
    sort_records(s);
    return 0;
  }
  if (s->places.len > 0 && (rc = write_run(s, err)) < 0)
    return rc;
  tm_buf_release(&s->records);
  TM_ARRAY_RELEASE(&s->places);
  s->window = s->memory / s->runs.len;
  if (s->window < WINDOW_LEAST)
    s->window = WINDOW_LEAST;
  for (size_t i = 0; i < s->runs.len; i++) {
    if ((rc = advance(s, &s->runs.at[i], err)) < 0)
      return rc;
    *TM_ARRAY_ADD(&s->heap) = i;
  }
  for (size_t i = s->heap.len; i-- > 0;)
    sink(s, i);
  return 0;
}

static int next_of_runs(struct tm_sorter *s, struct tm_sorted *out, struct tm_err *err)
{
  if (s->has_out) {
    tm_require(s->heap.len > 0);
    int rc = advance(s, &s->runs.at[s->heap.at[0]], err);
    if (rc < 0)
      return rc;
    if (rc == 0)
      s->heap.at[0] = s->heap.at[--s->heap.len];
    s->has_out = false;
    sink(s, 0);
  }
  if (s->heap.len == 0)
    return 0;
  *out = s->runs.at[s->heap.at[0]].first;
  s->has_out = true;
  return 1;
}

int tm_sorter_next(struct tm_sorter *s, struct tm_sorted *out, struct tm_err *err)
{
  int rc = s->is_reading ? 0 : begin_reading(s, err);
  if (rc < 0)
    return rc;
  if (s->runs.len > 0)
    return next_of_runs(s, out, err);
  if (s->next == s->places.len)
    return 0;
  *out = record_at(s->records.data + s->places.at[s->next++]);
  return 1;
}
