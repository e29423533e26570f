/* recover.c - reads a journal that may end anywhere, in any state that a kill or a power cut
 * leaves.
 *
 *  (4) The last readable sync record draws a line through each file: everything before the line had
 *      been fsynced when the record was written. A bad record before the line is damage: the job
 *      stops and reports the place. After the line, records count as long as they are good, their
 *      manifest entry exists, and the output and the failures log hold the bytes that they hash.
 *      Files that a script made must also be under their names. The first record that does not hold
 *      ends the log, and all five files are cut there. A file is never lengthened.
 *
 *      journal   [session][..][..][..]|[..][sync][..][..]x[..]
 *                <----- the line ---->                   ^ ends the log
 *
 * The sync record itself lies after the line that it states. It may be cut off with everything
 * after the first bad record. This does no harm: the files are on the disk up to the line anyway.
 * The cuts may be interrupted: whichever of them have reached the disk, the next recovery finds the
 * same end.
 */
#include "commit/recover.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "commit/gone.h"
#include "commit/manifest_file.h"

#define PIECE (1u << 20) /* bytes */

/* Rows and failure lines before the line are read again if that takes a fraction of a second. */
#define READ_MAX    (64 << 20) /* bytes of both files */
#define RECORDS_MAX (256 << 10)

int tm_recover_line(struct tm_recovery *r, struct tm_err *err)
{
  struct tm_journal_walk walk;
  struct tm_record record;
  int rc;
  tm_require(r->sessions == 0 && r->journal->pending.len == 0);
  r->line = (struct tm_record) { .kind = TM_RECORD_SYNC };
  tm_journal_walk_init(&walk, r->journal, 0);
  while ((rc = tm_journal_walk_next(&walk, &record, err)) > 0 || rc == TM_EDAMAGE)
    if (rc > 0 && record.kind == TM_RECORD_SYNC && record.journal_len <= walk.at)
      r->line = record;
  tm_journal_walk_release(&walk);
  return rc;
}

/* Without `append_row` there is none. */
static bool has_output(const struct tm_recovery *r)
{
  return r->output->path != NULL;
}

static int report_damage(const char *path, int64_t at, const char *what, struct tm_err *err)
{
  return tm_err_set(err, TM_EDAMAGE,
                    "'%s' is damaged at byte %lld: %s; the data there had been written to the "
                    "disk: restore the file, "
                    "or start a new job",
                    path, (long long)at, what);
}

/* `len` bytes had been written to the disk, and `end` are left. */
static int check_length(const char *path, int64_t end, int64_t len, struct tm_err *err)
{
  if (end >= len)
    return 0;
  if (end > 0)
    return report_damage(path, end, "it has become shorter", err);
  return tm_gone_report(path, err);
}

static int check_lengths(const struct tm_recovery *r, struct tm_err *err)
{
  int rc =
      !has_output(r) ? 0 : check_length(r->output->path, r->output->end, r->line.output_len, err);
  if (rc == 0)
    rc = check_length(r->failures->path, r->failures->end, r->line.failures_len, err);
  return rc < 0 ? rc : check_length(r->files->log.path, r->files->log.end, r->line.files_len, err);
}

/* Why a record cannot be valid at this place, judged by itself; NULL: it can. */
static const char *find_fault(const struct tm_recovery *r, const struct tm_record *record,
                              int64_t at)
{
  bool has_files = r->next_files.kind == TM_RECORD_FILES;
  if (has_files &&
      (record->kind != TM_RECORD_COMMITTED || record->index != r->next_files.files_index))
    return "files without their mini-batch";
  switch (record->kind) {
  case TM_RECORD_SESSION: return record->number == r->sessions + 1 ? NULL : "a session is missing";
  case TM_RECORD_SYNC:
    return record->journal_len <= at ? NULL : "a sync record that is ahead of itself";
  case TM_RECORD_FILES:
    return r->sessions > 0 && record->files_end >= r->files_len
               ? NULL
               : "files that end before they begin";
  case TM_RECORD_COMMITTED:
  case TM_RECORD_FAILED: break;
  }
  if (r->sessions == 0)
    return "it does not begin with a session";
  if (record->index >= tm_manifest_count(r->manifest))
    return "a mini-batch that is not in the manifest";
  if (tm_mini_batch_states_get(r->mini_batch_states, record->index) == TM_MINI_BATCH_COMMITTED)
    return "a mini-batch that is committed twice";
  if (record->output_end < r->output_len || record->failures_end < r->failures_len)
    return "rows that end before they begin";
  if (record->succeeded > record->items)
    return "more items than there are";
  return NULL;
}

/* 1: the files hold what the record says; 0: they do not. */
static int has_bytes(const struct tm_recovery *r, const struct tm_record *record,
                     struct tm_err *err)
{
  int rc = 1;
  if (has_output(r))
    rc = tm_output_has(r->output, r->output_len, record->output_end, record->output_hash, err);
  if (rc > 0)
    rc = tm_output_has(r->failures, r->failures_len, record->failures_end, record->failures_hash,
                       err);
  return rc;
}

static int has_files(const struct tm_recovery *r, const struct tm_record *record,
                     struct tm_err *err)
{
  int rc = tm_output_has(&r->files->log, r->files_len, record->files_end, record->files_hash, err);
  return rc <= 0 ? rc : tm_files_are_there(r->files, r->files_len, record->files_end, err);
}

static bool is_small(const struct tm_recovery *r)
{
  int64_t rows = has_output(r) ? r->output->end : 0;
  return rows + r->failures->end <= READ_MAX && r->journal->len <= RECORDS_MAX * TM_RECORD_SIZE;
}

/* Before the line, other bytes than those that were committed are damage: somebody has changed
 * them. */
static int check_bytes(const struct tm_recovery *r, const struct tm_record *record,
                       struct tm_err *err)
{
  char what[80];
  int rc = is_small(r) ? has_bytes(r, record, err) : 1;
  if (rc != 0)
    return rc < 0 ? rc : 0;
  bool is_output = has_output(r) && tm_output_has(r->output, r->output_len, record->output_end,
                                                  record->output_hash, NULL) == 0;
  snprintf(what, sizeof(what), "the %s of mini-batch %llu have been changed",
           is_output ? "rows" : "failure lines", (unsigned long long)record->index);
  return report_damage(is_output ? r->output->path : r->failures->path,
                       is_output ? r->output_len : r->failures_len, what, err);
}

static void apply(struct tm_recovery *r, const struct tm_record *record,
                  struct tm_commit_found *found)
{
  if (r->next_files.kind == TM_RECORD_FILES)
    r->files_len = r->next_files.files_end;
  r->next_files = (struct tm_record) { .kind = record->kind };
  if (record->kind == TM_RECORD_FILES)
    r->next_files = *record;
  if (record->kind == TM_RECORD_SESSION)
    r->sessions = record->number;
  if (record->kind != TM_RECORD_COMMITTED && record->kind != TM_RECORD_FAILED)
    return;
  bool was_failed =
      tm_mini_batch_states_get(r->mini_batch_states, record->index) == TM_MINI_BATCH_FAILED;
  r->output_len = record->output_end;
  r->failures_len = record->failures_end;
  if (was_failed && record->kind == TM_RECORD_FAILED && record->items == 0)
    return; /* an earlier count, if there is one, stays */
  if (was_failed) {
    tm_require(found->failed > 0);
    bool was_uncounted = tm_mini_batch_states_is_uncounted(r->mini_batch_states, record->index);
    found->failed--;
    r->uncounted -= was_uncounted;
    r->failed_items -= was_uncounted ? 1 : tm_record_items(record);
  }
  if (record->kind == TM_RECORD_FAILED) {
    found->failed++;
    r->uncounted += record->items == 0;
    r->failed_items += tm_record_items(record);
    tm_mini_batch_states_put_failed(r->mini_batch_states, record);
    return;
  }
  found->committed++;
  found->items += record->items;
  found->items_succeeded += record->succeeded;
  found->returned += record->returned;
  tm_mini_batch_states_put(r->mini_batch_states, record->index, TM_MINI_BATCH_COMMITTED);
}

/* At the line, the records before it must end where the line says that the files ended. */
static int check_line(const struct tm_recovery *r, struct tm_err *err)
{
  if (r->journal_len < r->line.journal_len)
    return report_damage(r->journal->path, r->journal_len, "it has become shorter", err);
  if (r->output_len != r->line.output_len || r->failures_len != r->line.failures_len ||
      r->files_len != r->line.files_len)
    return report_damage(r->journal->path, r->line.journal_len, "a sync record that does not fit",
                         err);
  return 0;
}

/* One record. 1: it counts; 0: it ends the log; or a negative code. */
static int take_record(struct tm_recovery *r, struct tm_journal_walk *walk,
                       struct tm_record *record, struct tm_commit_found *found, struct tm_err *err)
{
  int rc = tm_journal_walk_next(walk, record, err);
  if (rc == 0 || (rc < 0 && rc != TM_EDAMAGE))
    return rc;
  bool is_behind = walk->at >= r->line.journal_len;
  const char *fault = rc < 0 ? "a bad record" : find_fault(r, record, walk->at);
  if (fault)
    return is_behind ? 0 : report_damage(r->journal->path, walk->at, fault, err);
  bool is_outcome = record->kind == TM_RECORD_COMMITTED || record->kind == TM_RECORD_FAILED;
  if (is_behind && is_outcome && (rc = has_bytes(r, record, err)) <= 0)
    return rc;
  if (!is_behind && is_outcome && (rc = check_bytes(r, record, err)) < 0)
    return rc;
  if (is_behind && record->kind == TM_RECORD_FILES && (rc = has_files(r, record, err)) <= 0)
    return rc;
  apply(r, record, found);
  if (record->kind != TM_RECORD_FILES) /* file records count only together with their mini-batch */
    r->journal_len = walk->next;
  return 1;
}

/* The first record of a journal is on the disk before anything is listed or fails. */
static int check_journal_is_there(const struct tm_recovery *r, struct tm_err *err)
{
  bool has_begun = tm_manifest_count(r->manifest) > 0 || tm_manifest_has_end(r->manifest) ||
                   r->failures->end > 0 || r->files->log.end > 0;
  if (r->sessions > 0 || !has_begun)
    return 0;
  return r->journal->len == 0 ? tm_gone_report(r->journal->path, err)
                              : report_damage(r->journal->path, 0, "a bad record", err);
}

/* What the cut will take away. */
static void count_tail(struct tm_recovery *r, struct tm_commit_found *found)
{
  found->cut_records = (r->journal->len - r->journal_len + TM_RECORD_SIZE - 1) / TM_RECORD_SIZE;
  found->cut_output_bytes = has_output(r) ? r->output->end - r->output_len : 0;
}

int tm_recover_log(struct tm_recovery *r, struct tm_commit_found *found, struct tm_err *err)
{
  struct tm_journal_walk walk;
  struct tm_record record;
  bool is_checked = false;
  tm_require(r->manifest && r->line.kind == TM_RECORD_SYNC); /* the line comes first */
  int rc = check_lengths(r, err);
  if (rc < 0)
    return rc;
  tm_journal_walk_init(&walk, r->journal, 0);
  do {
    if (!is_checked && r->journal_len >= r->line.journal_len) {
      is_checked = true;
      if ((rc = check_line(r, err)) < 0)
        break;
    }
    rc = take_record(r, &walk, &record, found, err);
  } while (rc > 0);
  tm_journal_walk_release(&walk);
  if (rc == 0 && !is_checked)
    rc = check_line(r, err);
  if (rc == 0)
    rc = check_journal_is_there(r, err);
  if (rc < 0)
    return rc;
  count_tail(r, found);
  found->sessions = (int64_t)r->sessions;
  found->is_new = r->sessions == 0;
  if (r->keep_failed) {
    found->items += r->failed_items;
    found->uncounted = r->uncounted;
  } else {
    found->retried = found->failed;
    found->failed = 0;
    tm_mini_batch_states_reopen(r->mini_batch_states);
  }
  return 0;
}

/* Writes again what no sync record covers. After a failed fsync the kernel shows bytes that it will
 * never write; a later fsync that succeeds covers only bytes that were written since. */
static int write_again(const struct tm_fs *fs, int fd, const char *path, int64_t from, int64_t to,
                       struct tm_err *err)
{
  char *piece = from < to ? tm_xmalloc(PIECE) : NULL;
  int rc = 0;
  while (from < to && rc == 0) {
    size_t want = to - from < (int64_t)PIECE ? (size_t)(to - from) : PIECE;
    int64_t got = tm_fs_read_at(fs, fd, path, piece, want, from, err);
    if (got < (int64_t)want)
      rc = got < 0 ? (int)got
                   : tm_err_set(err, TM_EDAMAGE, "'%s' has become shorter while it was read", path);
    else
      rc = tm_fs_write_at(fs, fd, path, piece, want, from, err);
    from += (int64_t)want;
  }
  free(piece);
  return rc;
}

static int write_tails_again(const struct tm_recovery *r, struct tm_err *err)
{
  const struct tm_record *line = &r->line;
  const struct tm_manifest *m = r->manifest;
  const struct tm_fs *fs = r->journal->fs;
  int rc = write_again(fs, m->fd, m->path, line->manifest_len, tm_manifest_length(m), err);
  if (rc == 0)
    rc = write_again(fs, r->failures->fd, r->failures->path, line->failures_len, r->failures_len,
                     err);
  if (rc == 0)
    rc = write_again(fs, r->files->log.fd, r->files->log.path, line->files_len, r->files_len, err);
  if (rc == 0 && has_output(r))
    rc = write_again(fs, r->output->fd, r->output->path, line->output_len, r->output_len, err);
  return rc < 0 ? rc
                : write_again(fs, r->journal->fd, r->journal->path, line->journal_len,
                              r->journal_len, err);
}

int tm_recover_cut(struct tm_recovery *r, struct tm_err *err)
{
  tm_require(r->journal_len <= r->journal->len);
  int rc = tm_journal_cut(r->journal, r->journal_len, err);
  if (rc < 0)
    return rc;
  if (has_output(r) && (rc = tm_output_cut(r->output, r->output_len, err)) < 0)
    return rc;
  if ((rc = tm_output_cut(r->failures, r->failures_len, err)) < 0)
    return rc;
  if ((rc = tm_files_cut(r->files, r->files_len, err)) < 0)
    return rc;
  if ((rc = tm_manifest_cut(r->manifest, err)) < 0)
    return rc;
  return write_tails_again(r, err);
}
