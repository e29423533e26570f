/* recover.h - what an earlier session left: which records of the journal count, and how long the
 * other files are then.
 *
 * Caller: open the journal, output, failures and files log; tm_recover_line(); open the manifest
 * with what the line states; tm_recover_log(); make the missing files; tm_recover_cut(). Only the
 * last two write.
 */
#ifndef TM_COMMIT_RECOVER_H
#define TM_COMMIT_RECOVER_H

#include "commit/commit.h"
#include "commit/mini_batch_states.h"
#include "commit/files.h"
#include "commit/journal.h"
#include "commit/output.h"

struct tm_recovery {
  struct tm_journal *journal;
  struct tm_output *output; /* its path is NULL if there is no output */
  struct tm_output *failures;
  struct tm_files *files;
  struct tm_manifest *manifest;
  struct tm_mini_batch_states *mini_batch_states;
  bool keep_failed;

  /* Results. */
  struct tm_record line; /* the last sync record; all lengths 0 without one */
  int64_t journal_len, output_len, failures_len, files_len; /* how much of each file counts */
  /* the last record read if its kind is TM_RECORD_FILES: it counts together with the next record */
  struct tm_record next_files;
  uint64_t sessions;
  int64_t failed_items, uncounted; /* of failed mini-batches */
};

/* Finds the last readable sync record. TM_EVERSION, or a system error. */
int tm_recover_line(struct tm_recovery *r, struct tm_err *err);
/* Reads the journal: the states, and the counts of `found`. Reads the output and the failures too:
 * as far as no sync record covers them and, if they are small, all of them. TM_EDAMAGE names the
 * file and the place. */
int tm_recover_log(struct tm_recovery *r, struct tm_commit_found *found, struct tm_err *err);
/* Removes files of mini-batches that do not count, cuts the five files to what counts, and writes
 * again what no sync record covers. Fsyncs only folders. */
int tm_recover_cut(struct tm_recovery *r, struct tm_err *err);

#endif
