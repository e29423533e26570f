/* commit.c - the order in which a step's files are written, from the first add to the last rename;
 * see commit_open.c for the beginning.
 *
 *  (1) The rows of a mini-batch are together in the output, in the order in which run() returned
 *      them: one add, one piece.
 *  (2) A journal record is written only after the last row that it covers, and after its files have
 *      their names: flush writes output, failures log and files log, renames, and writes the
 *      journal, in this order.
 *  (3) Records have one size, a version and a check sum: journal.h.
 *  (4) A sync record is appended only after manifest, failures log, files log, output, the folders
 *      of files, and journal have been fsynced, in this order. It states their lengths at the
 *      beginning of the fsyncs; recover.c reads it.
 *  (5) Every file and its folder are fsynced when made and when renamed. A failed fsync is never
 *      tried again: it breaks the commit. What recovery kept is fsynced before anything new is
 *      written, so that what it cut cannot come back. The first record of a session is on the disk
 *      before its first row is written.
 *  (6) The owner's epoch is read before each sync record and before the last renames; if another
 *      session owns the job, nothing is written. It is also read before rows, and before each piece
 *      of a large result, if the last reading is older than OWNED_NS, and before their records if
 *      writing the rows took longer than SLOW_NS: a process that was stopped, or hung in a write,
 *      notices the loss before it continues. The second reading is rare, because a write seldom
 *      takes that long; but a hang during which another session takes over always takes longer.
 *  (8) A failed write breaks the commit: every later call returns the first error and writes
 *      nothing.
 *  (9) A mini-batch is committed at most once: the add checks its state.
 *
 * `c->code` is the state: 0, or broken. Threads: everything belongs to the job's thread, except
 * tm_sync_run(), which reads descriptors that do not change between begin and end. recover.c
 * decides what counts; this file carries it out.
 */
#include "commit/commit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/agent_msg.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/time.h"
#include "commit/commit_own.h"
#include "commit/failures.h"
#include "commit/manifest_file.h"
#include "record/job_dir.h"
#include "sys/clock.h"

#define OWNED_NS TM_S
#define SLOW_NS  TM_MS

/* Keeps (8). Returns the code. */
static int break_commit(struct tm_commit *c, int code, struct tm_err *err)
{
  c->code = code;
  if (err)
    c->err = *err;
  return code;
}

int tm_commit_check_owner(struct tm_commit *c, struct tm_err *err)
{
  if (!c->owner_file)
    return 0; /* otherwise keeps (6) */
  c->owned_ns = tm_clock_mono_ns();
  return tm_job_dir_check_owner(c->fs, c->owner_file, c->epoch, err);
}

/* Before rows are written: keeps (6). */
static int look_at_owner(struct tm_commit *c, struct tm_err *err)
{
  return tm_clock_mono_ns() - c->owned_ns > OWNED_NS ? tm_commit_check_owner(c, err) : 0;
}

static int refuse_broken(const struct tm_commit *c, struct tm_err *err)
{
  if (err)
    *err = c->err;
  return c->code;
}

int tm_commit_sync_files(const struct tm_commit *c, struct tm_err *err)
{ /* keeps the order of (4) */
  int rc = tm_fs_sync(c->fs, c->manifest->fd, c->manifest->path, err);
  if (rc == 0)
    rc = tm_fs_sync(c->fs, c->failures.fd, c->failures.path, err);
  if (rc == 0)
    rc = tm_fs_sync(c->fs, c->files.log.fd, c->files.log.path, err);
  if (rc == 0 && c->output.fd >= 0)
    rc = tm_fs_sync(c->fs, c->output.fd, c->output.path, err);
  if (rc == 0)
    rc = tm_files_sync_dirs(&c->files, err);
  return rc < 0 ? rc : tm_fs_sync(c->fs, c->journal.fd, c->journal.path, err);
}

struct tm_manifest *tm_commit_manifest(struct tm_commit *c)
{
  return c->manifest;
}

enum tm_mini_batch_state tm_commit_state(const struct tm_commit *c, uint64_t index)
{
  return tm_mini_batch_states_get(&c->mini_batch_states, index);
}

int64_t tm_commit_output_len(const struct tm_commit *c)
{
  return c->output.end;
}

int64_t tm_commit_flushed_len(const struct tm_commit *c)
{
  return c->recorded_output;
}

const char *tm_commit_spill_dir(const struct tm_commit *c)
{
  return c->spill_dir;
}

/* Keeps (9). */
static bool may_add(const struct tm_commit *c, const struct tm_outcome *o)
{
  return tm_check(o->index < tm_manifest_count(c->manifest)) &&
         tm_check(tm_mini_batch_states_get(&c->mini_batch_states, o->index) == TM_MINI_BATCH_OPEN);
}

void tm_commit_drop_notes(struct tm_commit *c)
{
  tm_buf_clear(&c->noted);
  tm_buf_clear(&c->header);
  tm_files_drop(&c->files);
}

/* Adds the files, the failure lines and the record of an outcome whose rows have been added. */
static void add_record(struct tm_commit *c, enum tm_record_kind kind, const struct tm_outcome *o,
                       uint64_t output_hash)
{
  tm_require(o->succeeded <= o->items); /* recover.c takes another record for damage */
  struct tm_record r = { .kind = kind };
  if (kind == TM_RECORD_COMMITTED && tm_files_add(&c->files, o->index, &r))
    tm_journal_add(&c->journal, &r);
  r = (struct tm_record) { .kind = kind };
  tm_output_add(&c->failures, c->noted.data, c->noted.len);
  r.index = o->index;
  r.try = o->try;
  r.items = o->items;
  r.succeeded = o->succeeded;
  r.returned = o->returned;
  r.output_end = c->output.end;
  r.failures_end = c->failures.end;
  r.output_hash = output_hash;
  r.failures_hash = tm_hash64(tm_buf_str(&c->noted), c->noted.len);
  tm_buf_clear(&c->noted);
  tm_journal_add(&c->journal, &r);
  tm_mini_batch_states_put(&c->mini_batch_states, o->index,
                           kind == TM_RECORD_FAILED ? TM_MINI_BATCH_FAILED
                                                    : TM_MINI_BATCH_COMMITTED);
}

void tm_commit_add_done(struct tm_commit *c, const struct tm_outcome *o, const void *rows,
                        size_t rows_len)
{
  if (c->code < 0)
    return;
  if (!may_add(c, o)) {
    tm_commit_drop_notes(c);
    return;
  }
  if (c->output.fd < 0)
    rows_len = 0;
  if (c->header.len > 0) { /* once per job */
    tm_buf_add(&c->header, rows_len > 0 ? rows : "", rows_len);
    rows = c->header.data;
    rows_len = c->header.len;
  }
  if (rows_len > 0)
    tm_output_add(&c->output, rows, rows_len); /* keeps (1) */
  add_record(c, TM_RECORD_COMMITTED, o, tm_hash64(rows_len > 0 ? rows : "", rows_len));
  tm_buf_clear(&c->header);
}

/* The header, followed by the bytes of the file; `hash` becomes that of both. */
static int copy_with_header(struct tm_commit *c, const char *path, int64_t length, uint64_t *hash,
                            struct tm_err *err)
{
  int64_t begin = c->output.end;
  if (c->header.len == 0)
    return tm_output_copy(&c->output, path, length, *hash, err);
  tm_output_add(&c->output, c->header.data, c->header.len);
  int rc = tm_output_copy(&c->output, path, length, *hash, err);
  if (rc == TM_EDAMAGE)
    tm_output_take_back(&c->output, begin);
  if (rc == 0)
    rc = tm_output_hash(&c->output, begin, c->output.end, hash, err);
  tm_buf_clear(&c->header);
  return rc;
}

int tm_commit_add_spilled(struct tm_commit *c, const struct tm_outcome *o, const char *path,
                          uint64_t length, uint64_t hash, struct tm_err *err)
{
  tm_require(path && path[0] == '/');
  struct tm_err words = TM_ERR_NONE;
  if (c->code < 0)
    return refuse_broken(c, err);
  int rc = may_add(c, o) ? 0 : 1;
  if (rc == 0)
    rc = look_at_owner(c, &words);
  if (rc == 0 && c->output.fd >= 0)
    rc = length > INT64_MAX
             ? tm_err_set(&words, TM_EDAMAGE, "the result in '%s' has no length", path)
             : copy_with_header(c, path, (int64_t)length, &hash, &words);
  if (rc == 0)
    add_record(c, TM_RECORD_COMMITTED, o, c->output.fd >= 0 ? hash : tm_hash64("", 0));
  else
    tm_commit_drop_notes(c);
  /* its rows are in the output, or useless; open removes leftovers */
  c->fs->unlink(c->fs->self, path);
  if (rc >= 0)
    return 0;
  if (err)
    *err = words;
  return rc == TM_EDAMAGE ? rc : break_commit(c, rc, &words);
}

static bool may_copy(struct tm_commit *c)
{
  struct tm_err err = TM_ERR_NONE;
  int rc = c->code == 0 ? look_at_owner(c, &err) : 0;
  if (rc < 0)
    break_commit(c, rc, &err);
  return c->code == 0;
}

bool tm_commit_copy_ahead(struct tm_commit *c, const char *path, uint64_t length, uint64_t hash,
                          const struct tm_buf *header)
{
  if (c->output.fd < 0 || length <= TM_COMMIT_PIECE || length > INT64_MAX || !may_copy(c))
    return false;
  return tm_output_copy_ahead(&c->output, path, (int64_t)length, hash, header->data, header->len);
}

bool tm_commit_copy_more(struct tm_commit *c)
{
  return may_copy(c) && tm_output_copy_more(&c->output, TM_COMMIT_PIECE);
}

void tm_commit_add_failed(struct tm_commit *c, const struct tm_outcome *o, const void *lines,
                          size_t lines_len)
{
  if (c->code < 0)
    return;
  if (!may_add(c, o)) {
    tm_commit_drop_notes(c);
    return;
  }
  tm_buf_add(&c->noted, lines, lines_len);
  tm_files_drop(&c->files);
  add_record(c, TM_RECORD_FAILED, o, tm_hash64("", 0));
}

void tm_commit_note_failures(struct tm_commit *c, const void *lines, size_t lines_len)
{
  tm_buf_add(&c->noted, lines, lines_len);
}

void tm_commit_note_header(struct tm_commit *c, const void *line, size_t len)
{
  tm_require(line && len > 0);
  tm_buf_clear(&c->header);
  if (c->output.fd >= 0)
    tm_buf_add(&c->header, line, len);
}

int tm_commit_note_files(struct tm_commit *c, const char *staging, const char *names, size_t len,
                         struct tm_err *err)
{
  if (c->code < 0)
    return refuse_broken(c, err);
  return tm_files_note(&c->files, staging, names, len, err);
}

size_t tm_commit_pending(const struct tm_commit *c)
{
  return tm_files_pending(&c->files) + c->output.pending.len + c->failures.pending.len +
         c->journal.pending.len;
}

/* Whether nothing that the records cover is still to be written. */
static bool has_written_all(const struct tm_commit *c)
{
  return c->output.pending.len == 0 && c->failures.pending.len == 0 &&
         c->files.log.pending.len == 0 && c->files.added == 0;
}

/* Writes everything that the records cover. */
static int write_rows(struct tm_commit *c, struct tm_err *err)
{
  int rc = c->output.fd >= 0 ? tm_output_flush(&c->output, err) : 0;
  if (rc == 0)
    rc = tm_output_flush(&c->failures, err);
  if (rc == 0)
    rc = tm_output_flush(&c->files.log, err);
  return rc < 0 ? rc : tm_files_carry_out(&c->files, err);
}

int tm_commit_flush(struct tm_commit *c, struct tm_err *err)
{
  struct tm_err words = TM_ERR_NONE;
  if (c->code < 0)
    return refuse_broken(c, err);
  uint64_t records = c->journal.pending.len / TM_RECORD_SIZE;
  if (records == 0)
    return 0;
  int64_t begin = tm_clock_mono_ns();
  int rc = look_at_owner(c, &words);
  if (rc == 0)
    rc = write_rows(c, &words);
  if (rc == 0 && tm_clock_mono_ns() - begin > SLOW_NS)
    rc = tm_commit_check_owner(c, &words);
  if (rc == 0) {
    tm_require(has_written_all(c));
    rc = tm_journal_flush(&c->journal, &words); /* keeps (2): last */
  }
  if (rc < 0) {
    if (err)
      *err = words;
    return break_commit(c, rc, &words);
  }
  c->flushed += records;
  c->recorded_output = c->output.end;
  c->recorded_failures = c->failures.end;
  c->recorded_files = c->files.log.end;
  return 0;
}

bool tm_commit_sync_begin(struct tm_commit *c, struct tm_sync *s)
{
  int64_t manifest_len = tm_manifest_length(c->manifest);
  if (c->code < 0 || (c->flushed == c->synced && manifest_len == c->synced_manifest))
    return false;
  s->commit = c;
  s->manifest_len = manifest_len;
  s->failures_len = c->recorded_failures;
  s->files_len = c->recorded_files;
  tm_files_begin_sync(&c->files);
  s->output_len = c->recorded_output;
  s->journal_len = c->journal.len;
  s->code = 0;
  c->begun = c->flushed;
  tm_require(s->output_len <= c->output.end && s->journal_len % TM_RECORD_SIZE == 0);
  return true;
}

void tm_sync_run(struct tm_sync *s)
{
  s->code = tm_commit_sync_files(s->commit, &s->err);
}

int tm_commit_sync_end(struct tm_commit *c, struct tm_sync *s, struct tm_err *err)
{
  struct tm_err words = TM_ERR_NONE;
  tm_require(s->commit == c && c->synced <= c->begun && c->begun <= c->flushed);
  if (c->code < 0)
    return refuse_broken(c, err);
  int rc = s->code;
  if (rc < 0)
    words = s->err;
  else if ((rc = tm_commit_check_owner(c, &words)) == 0) {
    struct tm_record r = { .kind = TM_RECORD_SYNC };
    r.journal_len = s->journal_len;
    r.manifest_len = s->manifest_len;
    r.output_len = s->output_len;
    r.failures_len = s->failures_len;
    r.files_len = s->files_len;
    rc = tm_journal_write(&c->journal, &r, &words);
  }
  if (rc < 0) {
    if (err)
      *err = words;
    return break_commit(c, rc, &words);
  }
  tm_files_end_sync(&c->files);
  c->synced = c->begun;
  c->synced_manifest = s->manifest_len;
  return 0;
}

/* Removes a refused result, and bytes of other programs, from the end; syncs everything. */
static int settle(struct tm_commit *c, struct tm_err *err)
{
  struct tm_sync s = { .commit = c };
  int rc = tm_commit_flush(c, err);
  if (rc < 0)
    return rc;
  if (c->output.fd >= 0 && ((rc = tm_output_check_name(&c->output, err)) < 0 ||
                            (rc = tm_output_cut(&c->output, c->output.end, err)) < 0))
    return rc;
  bool is_new = tm_commit_sync_begin(c, &s);
  tm_sync_run(&s);
  if (is_new)
    return tm_commit_sync_end(c, &s, err);
  if (s.code < 0 && err)
    *err = s.err;
  return s.code < 0 ? s.code : tm_commit_check_owner(c, err);
}

static int finish_files(struct tm_commit *c, bool completed, struct tm_err *err)
{
  tm_require(tm_commit_pending(c) == 0); /* the list is made from the files */
  char *list = tm_path_join(c->step_dir, "failed_items.jsonl");
  int rc = tm_failures_write(&c->journal, &c->failures, tm_manifest_count(c->manifest), list, err);
  free(list);
  if (rc < 0 || !completed || !c->partial)
    return rc;
  if ((rc = c->fs->rename(c->fs->self, c->partial, c->final)) < 0)
    return tm_err_system(err, rc, "cannot rename '%s' to '%s'", c->partial, c->final);
  return tm_fs_sync_dir(c->fs, c->output_dir, err);
}

int tm_commit_finish(struct tm_commit *c, bool completed, struct tm_err *err)
{
  struct tm_err words = TM_ERR_NONE;
  if (c->code < 0)
    return refuse_broken(c, err);
  int rc = settle(c, &words);
  tm_staging_remove_all(c->fs, c->output_dir, c->staging_dir); /* of tries whose workers died */
  if (rc == 0)
    rc = finish_files(c, completed, &words);
  if (rc == 0)
    return 0;
  if (err)
    *err = words;
  return break_commit(c, rc, &words);
}
