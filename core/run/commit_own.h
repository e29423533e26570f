/* commit_own.h - the inside of a commit, shared by its two files and nobody else:
 *
 *   commit_open.c  the beginning of a session: what an earlier one left is recovered, and put on the disk; and the close
 *   commit.c       its work: what is added, written, synced and finished
 *
 * The invariants stand at the head of commit.c; (5) is kept by commit_open.c, too.
 */
#ifndef TM_RUN_COMMIT_OWN_H
#define TM_RUN_COMMIT_OWN_H

#include "base/buf.h"
#include "run/commit.h"
#include "run/fates.h"
#include "run/files.h"
#include "run/journal.h"
#include "run/output.h"

struct tm_commit {
  const struct tm_fs *fs;
  uint64_t epoch;
  char *step_dir, *state_dir, *spill_dir, *staging_dir, *output_dir;
  char *owner_file;        /* or NULL */
  char *partial, *final;   /* names of the output, growing and complete; NULL: summary_only */
  struct tm_output output; /* its fd is -1 with summary_only */
  struct tm_output failures;
  struct tm_files files;
  struct tm_journal journal;
  struct tm_manifest *manifest;
  struct tm_fates fates;
  struct tm_buf noted;  /* failure lines of the next add */
  struct tm_buf header; /* its header line */
  int64_t recorded_output, recorded_failures,
      recorded_files; /* ends that the last written record covers, bytes */
  /* Records: written, known to the sync under way, covered by a sync record. */
  uint64_t flushed, begun, synced;
  int64_t synced_manifest; /* bytes */
  int64_t owned_ns;        /* monotonic; when the owner was read last */
  int code;                /* 0, or why it is broken */
  struct tm_err err;
};

/* 0 when this session still owns the job, or there is no owner to ask; TM_EINUSE. */
int tm_commit_check_owner(struct tm_commit *c, struct tm_err *err);
/* Fsyncs what is there, in the order that a sync record needs; any thread. */
int tm_commit_sync_files(const struct tm_commit *c, struct tm_err *err);

#endif
