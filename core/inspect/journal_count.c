/* journal_count.c - see journal_count.h. */
#include "inspect/journal_count.h"

#include <errno.h>
#include <string.h>

#include "sys/fs.h"

static void count_outcome(struct tm_journal_count *c, const struct tm_record *r)
{
  enum tm_mini_batch_state before = tm_mini_batch_states_get(&c->states, r->index);

  c->session_ended++;
  if (c->each.len > 0)
    c->each.at[c->each.len - 1].ended++;
  if (before == TM_MINI_BATCH_COMMITTED)
    return; /* committed twice: damage, which verify.h reports */
  if (before == TM_MINI_BATCH_FAILED && r->kind == TM_RECORD_FAILED && r->items == 0)
    return; /* an earlier count stays, if there is one */
  if (before == TM_MINI_BATCH_FAILED) {
    bool was_uncounted = tm_mini_batch_states_is_uncounted(&c->states, r->index);
    c->failed--;
    c->uncounted -= was_uncounted;
    c->items_failed -= was_uncounted ? 1 : tm_record_items(r);
  }
  if (r->kind == TM_RECORD_FAILED) {
    c->failed++;
    c->uncounted += r->items == 0;
    c->items_failed += tm_record_items(r);
    tm_mini_batch_states_put_failed(&c->states, r);
    return;
  }
  c->succeeded++;
  c->items_succeeded += r->succeeded;
  c->items_failed += (int64_t)r->items - r->succeeded;
  tm_mini_batch_states_put(&c->states, r->index, TM_MINI_BATCH_COMMITTED);
}

static void count_session(struct tm_journal_count *c, const struct tm_record *r)
{
  if (c->begin_wall_ns == 0)
    c->begin_wall_ns = r->wall_ns;
  c->session_wall_ns = r->wall_ns;
  c->sessions = (int64_t)r->number;
  c->session_ended = 0;
  *TM_ARRAY_ADD(&c->each) =
      (struct tm_journal_session) { .number = c->sessions, .begin_wall_ns = r->wall_ns };
}

static void count_record(struct tm_journal_count *c, const struct tm_record *r)
{
  if (r->kind == TM_RECORD_SESSION)
    count_session(c, r);
  else if (r->kind == TM_RECORD_COMMITTED || r->kind == TM_RECORD_FAILED)
    count_outcome(c, r);
}

/* The record before `at`; zeros if there is none. */
static void read_last(const struct tm_journal_count *c, const struct tm_journal *j,
                      char out[TM_RECORD_SIZE])
{
  memset(out, 0, TM_RECORD_SIZE);
  if (c->at > 0)
    (void)tm_fs_read_at(j->fs, j->fd, j->path, out, TM_RECORD_SIZE, c->at - TM_RECORD_SIZE, NULL);
}

/* A session that resumes the step may cut the end of the file, and write something else there. */
static bool is_same(const struct tm_journal_count *c, const struct tm_journal *j,
                    const struct tm_stat *st)
{
  char last[TM_RECORD_SIZE];

  read_last(c, j, last);
  return st->ino == c->ino && j->len >= c->at && memcmp(last, c->last, sizeof last) == 0;
}

static int count_records(struct tm_journal_count *c, const struct tm_journal *j, bool first_only,
                         struct tm_err *err)
{
  struct tm_journal_walk walk;
  struct tm_record r;
  int rc;

  c->damage_at = -1;
  tm_journal_walk_init(&walk, j, c->at);
  while ((rc = tm_journal_walk_next(&walk, &r, err)) > 0) {
    count_record(c, &r);
    c->at = walk.next;
    if (first_only)
      break;
  }
  if (rc == TM_EDAMAGE) {
    c->damage_at = walk.at;
    rc = 0;
  }
  tm_journal_walk_release(&walk);
  read_last(c, j, c->last);
  return rc < 0 ? rc : 0;
}

static int read_file(struct tm_journal_count *c, const char *path, bool first_only,
                     struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_journal j = { .fd = -1 };
  struct tm_stat st;
  int rc;

  if (fs->stat(fs->self, path, true, &st) < 0) {
    tm_journal_count_release(c);
    return 0;
  }
  rc = tm_journal_open_read(&j, fs, path, err);
  if (rc >= 0 && c->at > 0 && !is_same(c, &j, &st))
    tm_journal_count_release(c);
  c->ino = st.ino;
  c->mtime_ns = st.mtime_ns;
  if (rc >= 0)
    rc = count_records(c, &j, first_only, err);
  tm_journal_close(&j);
  return rc < 0 ? rc : 0;
}

int tm_journal_count_read(struct tm_journal_count *c, const char *path, struct tm_err *err)
{
  return read_file(c, path, false, err);
}

int tm_journal_count_read_begin(struct tm_journal_count *c, const char *path, struct tm_err *err)
{
  return c->sessions > 0 ? 0 : read_file(c, path, true, err);
}

void tm_journal_count_release(struct tm_journal_count *c)
{
  tm_mini_batch_states_release(&c->states);
  TM_ARRAY_RELEASE(&c->each);
  *c = (struct tm_journal_count)TM_JOURNAL_COUNT_NONE;
}
