/* failures.c - makes the list for users from the failures log, which is journalled and only grows.
 *
 * A mini-batch that failed in one session may be committed in the next, or fail again: then its
 * earlier lines are obsolete. The journal is read backwards to find the latest record of each
 * mini-batch, with one bit per record; then the log is copied forwards, adjacent ranges as one.
 * Both work in pieces: memory does not grow with the lines.
 */
#include "commit/failures.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/path.h"

#define PIECE        (256u << 10) /* bytes */
#define WALK_RECORDS 1024

struct bits {
  uint64_t *words;
};

static void bits_init(struct bits *b, uint64_t count)
{
  b->words = tm_xcalloc((size_t)(count / 64 + 1), sizeof(*b->words));
}

static bool bits_has(const struct bits *b, uint64_t at)
{
  return b->words[at / 64] >> at % 64 & 1;
}

static void bits_add(struct bits *b, uint64_t at)
{
  b->words[at / 64] |= UINT64_C(1) << at % 64;
}

static bool is_outcome(const struct tm_record *r)
{
  return r->kind == TM_RECORD_COMMITTED || r->kind == TM_RECORD_FAILED;
}

/* Reads up to WALK_RECORDS records from `at` on. Returns how many; recovery has verified all of
 * them. */
static int read_records(const struct tm_journal *j, int64_t at, struct tm_record *out,
                        struct tm_err *err)
{
  struct tm_journal_walk walk;
  int n = 0, rc = 1;
  tm_journal_walk_init(&walk, j, at);
  while (n < WALK_RECORDS && (rc = tm_journal_walk_next(&walk, &out[n], err)) > 0)
    n++;
  tm_journal_walk_release(&walk);
  if (rc == TM_EDAMAGE)
    tm_err_set(err, rc, "'%s' is damaged at byte %lld", j->path, (long long)walk.at);
  return rc < 0 ? rc : n;
}

/* latest: a bit for each record that is the last of its mini-batch. */
static int find_latest(const struct tm_journal *j, uint64_t mini_batches, struct bits *latest,
                       struct tm_err *err)
{
  struct tm_record *records = tm_xcalloc(WALK_RECORDS, sizeof(*records));
  struct bits seen;
  int64_t count = j->len / TM_RECORD_SIZE;
  int n = 0;
  bits_init(&seen, mini_batches);
  for (int64_t at = (count - 1) / WALK_RECORDS * WALK_RECORDS; at >= 0 && n >= 0;
       at -= WALK_RECORDS) {
    n = read_records(j, at * TM_RECORD_SIZE, records, err);
    for (int i = n - 1; i >= 0; i--) {
      if (!is_outcome(&records[i]) || records[i].index >= mini_batches ||
          bits_has(&seen, records[i].index))
        continue;
      bits_add(&seen, records[i].index);
      bits_add(latest, (uint64_t)(at + i));
    }
  }
  free(seen.words);
  free(records);
  return n < 0 ? n : 0;
}

struct copy {
  const struct tm_output *log;
  const char *path; /* of the new file */
  int fd;
  int64_t written;
  int64_t from, to; /* range of the log to copy next */
  char *piece;
};

static int copy_range(struct copy *c, struct tm_err *err)
{
  const struct tm_fs *fs = c->log->fs;
  while (c->from < c->to) {
    size_t want = c->to - c->from < (int64_t)PIECE ? (size_t)(c->to - c->from) : PIECE;
    int64_t got = tm_fs_read_at(fs, c->log->fd, c->log->path, c->piece, want, c->from, err);
    if (got < 0)
      return (int)got;
    if ((size_t)got < want)
      return tm_err_set(err, TM_EDAMAGE, "'%s' is damaged at byte %lld: it has become shorter",
                        c->log->path, (long long)c->from + got);
    int rc = tm_fs_write_at(fs, c->fd, c->path, c->piece, want, c->written, err);
    if (rc < 0)
      return rc;
    c->from += (int64_t)want;
    c->written += (int64_t)want;
  }
  return 0;
}

static int copy_latest(struct copy *c, const struct tm_journal *j, const struct bits *latest,
                       struct tm_err *err)
{
  struct tm_journal_walk walk;
  struct tm_record r;
  int64_t end = 0;
  int rc;
  tm_journal_walk_init(&walk, j, 0);
  while ((rc = tm_journal_walk_next(&walk, &r, err)) > 0) {
    if (!is_outcome(&r))
      continue;
    if (r.failures_end > end && bits_has(latest, (uint64_t)(walk.at / TM_RECORD_SIZE))) {
      if (c->to != end) {
        if ((rc = copy_range(c, err)) < 0)
          break;
        c->from = end;
      }
      c->to = r.failures_end;
    }
    end = r.failures_end;
  }
  tm_journal_walk_release(&walk);
  if (rc == TM_EDAMAGE)
    tm_err_set(err, rc, "'%s' is damaged at byte %lld", j->path, (long long)walk.at);
  return rc < 0 ? rc : copy_range(c, err);
}

/* Writes the whole list, fsynced, to `tmp`. */
static int write_list(const struct tm_journal *j, const struct tm_output *log,
                      const struct bits *latest, const char *tmp, int64_t *len, struct tm_err *err)
{
  struct copy c = { .log = log, .path = tmp };
  c.fd = tm_fs_open(log->fs, tmp, O_WRONLY | O_CREAT | O_TRUNC, 0600, err);
  if (c.fd < 0)
    return c.fd;
  c.piece = tm_xmalloc(PIECE);
  int rc = copy_latest(&c, j, latest, err);
  if (rc == 0)
    rc = tm_fs_sync(log->fs, c.fd, tmp, err);
  tm_fs_close(log->fs, c.fd);
  free(c.piece);
  *len = c.written;
  return rc;
}

/* Moves the list to its place, or removes the old list if the new one is empty. */
static int replace(const struct tm_fs *fs, const char *tmp, const char *path, bool is_empty,
                   struct tm_err *err)
{
  int rc = is_empty ? fs->unlink(fs->self, path) : fs->rename(fs->self, tmp, path);
  if (is_empty && rc == -ENOENT)
    return 0;
  if (rc < 0)
    return tm_err_system(err, rc, "cannot replace '%s'", path);
  char *dir = tm_path_dir(path);
  rc = tm_fs_sync_dir(fs, dir, err);
  free(dir);
  return rc;
}

int tm_failures_write(const struct tm_journal *j, const struct tm_output *log,
                      uint64_t mini_batches, const char *path, struct tm_err *err)
{
  if (log->end == 0)
    return replace(log->fs, NULL, path, true, err);
  struct bits latest;
  char *tmp = tm_xprintf("%s.tmp", path);
  int64_t len = 0;
  bits_init(&latest, (uint64_t)(j->len / TM_RECORD_SIZE));
  int rc = find_latest(j, mini_batches, &latest, err);
  if (rc == 0)
    rc = write_list(j, log, &latest, tmp, &len, err);
  if (rc == 0)
    rc = replace(log->fs, tmp, path, len == 0, err);
  if (rc < 0 || len == 0)
    log->fs->unlink(log->fs->self, tmp); /* nobody reads it */
  free(latest.words);
  free(tmp);
  return rc;
}
