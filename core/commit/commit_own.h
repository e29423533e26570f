/* commit_own.h - the inside of a commit, shared only by its two files:
 *
 *   commit_open.c  the beginning of a session: reads the state of an earlier one, then puts it on
 *                  the disk; and the close
 *   commit.c       its work: add, write, sync and finish
 *
 * The invariants are at the head of commit.c; commit_open.c keeps (5), too.
 */
#ifndef TM_COMMIT_COMMIT_OWN_H
#define TM_COMMIT_COMMIT_OWN_H

#include "base/buf.h"
#include "commit/mini_batch_states.h"
#include "commit/files.h"
#include "commit/journal.h"
#include "commit/output.h"

struct tm_commit {
  const struct tm_fs *fs;
  uint64_t epoch;
  char *step_dir, *state_dir, *spill_dir, *staging_dir, *output_dir;
  char *owner_file; /* or NULL */
  /* names of the output while it grows, and when complete; NULL: summary_only */
  char *partial, *final;
  struct tm_output output; /* its fd is -1 with summary_only */
  struct tm_output failures;
  struct tm_files files;
  struct tm_journal journal;
  struct tm_manifest *manifest;
  struct tm_mini_batch_states mini_batch_states;
  struct tm_recovery *recovery; /* for begin */
  bool is_renamed;              /* likewise: the rows have their final name */
  struct tm_buf noted;          /* failure lines for the next add */
  struct tm_buf header;         /* header line for the next add */
  /* where the bytes end that the last written record covers */
  int64_t recorded_output, recorded_failures, recorded_files;
  /* Numbers of records: written, included in the current sync, covered by a sync record. */
  uint64_t flushed, begun, synced;
  int64_t synced_manifest; /* bytes */
  int64_t owned_ns;        /* monotonic; when the owner was last read */
  int code;                /* 0, or the error that broke it */
  struct tm_err err;
};

/* 0 if this session still owns the job, or there is no owner file; TM_EINUSE. */
int tm_commit_check_owner(struct tm_commit *c, struct tm_err *err);
/* Fsyncs all files in the order for a sync record; any thread. */
int tm_commit_sync_files(const struct tm_commit *c, struct tm_err *err);

#endif
