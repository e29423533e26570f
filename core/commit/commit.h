/* commit.h - makes the work of a mini-batch part of the result. Owns the manifest, the output file,
 * the failures log and the journal of a step, and the order in which they are written
 * (core/README.md: invariants 1-8).
 *
 * Caller, on the job's thread: open, which reads the state of an earlier session, and writes
 * nothing; begin; then add_done / add_failed in any order, flush often; sync_begin / tm_sync_run
 * (on the syncer's thread) / sync_end every sync_interval; finish; close. A commit that has not
 * begun may only be read and closed. The lister's thread calls only tm_manifest_add(), _flush(),
 * _end() and _relist() of tm_commit_manifest(). Any error ends the job, except TM_EDAMAGE of
 * tm_commit_add_spilled() and tm_commit_note_files(): after it only close may be called; everything
 * else returns the same error and writes nothing.
 */
#ifndef TM_COMMIT_COMMIT_H
#define TM_COMMIT_COMMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "commit/mini_batch_states.h"
#include "commit/manifest.h"
#include "sys/fs.h"

struct tm_commit;

struct tm_commit_options {
  const struct tm_fs *fs;
  const char *step_dir;    /* holds state/ and failed_items.jsonl; made if missing */
  const char *output_dir;  /* made if missing */
  const char *output_name; /* NULL: summary_only */
  /* <job>/owner: a JSON object with "epoch" in 16 hexadecimal digits; read again before each sync
   * record and before the renames at the end; NULL: not checked. */
  const char *owner_file;
  uint64_t epoch;   /* of this session */
  bool keep_failed; /* failed mini-batches stay failed; otherwise they get fresh tries */
  bool overwrite;   /* replaces an output file of another job; otherwise TM_EUSAGE */
};

/* The state at open. */
struct tm_commit_found {
  bool is_new;               /* no earlier session */
  int64_t sessions;          /* before this one */
  int64_t committed, failed; /* mini-batches that are over; failed is 0 unless keep_failed */
  int64_t uncounted;         /* of `failed`: those whose rows could not be counted */
  int64_t retried;           /* failed ones that get fresh tries */
  int64_t items, items_succeeded, returned; /* of mini-batches that are over */
  int64_t cut_records, cut_output_bytes;    /* a torn tail, which begin removes */
};

/* TM_EDAMAGE, TM_EVERSION, TM_EUSAGE, or a system error, with the file and the place; then *out is
 * NULL. */
int tm_commit_open(struct tm_commit **out, const struct tm_commit_options *options,
                   struct tm_commit_found *found, struct tm_err *err);
/* Puts on the disk what open has found, and writes the first record of the session. After an error
 * only close may be called. */
int tm_commit_begin(struct tm_commit *c, struct tm_err *err);
void tm_commit_close(struct tm_commit *c); /* NULL is a no-op; drops what was not flushed */

struct tm_manifest *tm_commit_manifest(struct tm_commit *c);
enum tm_mini_batch_state tm_commit_state(const struct tm_commit *c, uint64_t index);
/* Valid bytes of the output, including those to be flushed. 0: the header line is still to be
 * written. */
int64_t tm_commit_output_len(const struct tm_commit *c);
/* Of these, the bytes in the file whose records are written. */
int64_t tm_commit_flushed_len(const struct tm_commit *c);
/* The folder for results that workers spill: <step>/state/spill. Begin empties it. */
const char *tm_commit_spill_dir(const struct tm_commit *c);
/* Removes the files there whose names begin so, such as those of a worker that has died before it
 * could report them. */
void tm_commit_remove_spilled(const struct tm_commit *c, const char *begin);

struct tm_outcome {
  uint64_t index;
  uint32_t try;
  uint32_t items, succeeded; /* items 0, for a failed one: rows that could not be counted */
  uint32_t returned;
};
/* Copies the rows, which end with a line break. The mini-batch is committed when the next flush has
 * returned 0, but its state already says so. A call for a mini-batch that is over is a fault of the
 * caller, and has no effect. */
void tm_commit_add_done(struct tm_commit *c, const struct tm_outcome *o, const void *rows,
                        size_t rows_len);
/* The same with rows that a worker spilled to a file of `length` bytes with `hash` (base/hash.h).
 * If they differ, or the file cannot be read: TM_EDAMAGE, nothing is added, the try has failed and
 * the job continues. Removes the file. */
int tm_commit_add_spilled(struct tm_commit *c, const struct tm_outcome *o, const char *path,
                          uint64_t length, uint64_t hash, struct tm_err *err);
/* Begins to copy the rows of a later tm_commit_add_spilled() in pieces, behind the output's end;
 * `header`: what tm_commit_note_header() will say before it. If nothing is added in between, that
 * call only has to record them. False: the file has at most TM_COMMIT_PIECE bytes, or the copy
 * cannot begin. */
bool tm_commit_copy_ahead(struct tm_commit *c, const char *path, uint64_t length, uint64_t hash,
                          const struct tm_buf *header);
/* Copies up to TM_COMMIT_PIECE bytes more. False: there is nothing more to copy. */
bool tm_commit_copy_more(struct tm_commit *c);
#define TM_COMMIT_PIECE (4 << 20)
/* `lines`: one JSON object per line for each failed item, or what is known; for the failures log.
 * For a failed mini-batch; for short returns see tm_commit_note_failures(). */
void tm_commit_add_failed(struct tm_commit *c, const struct tm_outcome *o, const void *lines,
                          size_t lines_len);
/* Lines for the next add (items without a returned element). If a spilled result is refused, they
 * are dropped with it. */
void tm_commit_note_failures(struct tm_commit *c, const void *lines, size_t lines_len);
/* A line that precedes the rows of the next add_done or add_spilled, in their record. A refused
 * result drops it. Not with summary_only. */
void tm_commit_note_header(struct tm_commit *c, const void *line, size_t len);
/* Files for the next add_done or add_spilled, besides those of earlier calls: `names` (bytes32
 * each) in the folder `staging`, which is removed when they are in output_dir. If the result is
 * refused, they are dropped with it. TM_EDAMAGE: a file does not exist, or its name is taken; then
 * nothing of this call was noted, the try has failed and the job continues. */
int tm_commit_note_files(struct tm_commit *c, const char *staging, const char *names, size_t len,
                         struct tm_err *err);
/* Drops the failures and files noted for the next add. */
void tm_commit_drop_notes(struct tm_commit *c);

size_t tm_commit_pending(const struct tm_commit *c); /* bytes to be flushed */
/* Writes output, failures and files log, renames files, then writes journal records. */
int tm_commit_flush(struct tm_commit *c, struct tm_err *err);

/* One group commit. begin: notes what has been flushed (false: nothing new, or the commit is
 * broken). run: fsyncs, on any thread. end: writes the sync record; TM_EINUSE if the job has
 * another owner. One at a time. */
struct tm_sync {
  struct tm_commit *commit;
  int64_t manifest_len, failures_len, files_len, output_len, journal_len; /* bytes */
  int code;                                                               /* result of run */
  struct tm_err err;
};
bool tm_commit_sync_begin(struct tm_commit *c, struct tm_sync *s);
void tm_sync_run(struct tm_sync *s);
int tm_commit_sync_end(struct tm_commit *c, struct tm_sync *s, struct tm_err *err);

/* The end of the session: flush, sync; writes failed_items.jsonl (those that are still failed;
 * atomically; none: removed); with `completed` renames the output from its .partial name.
 * Everything is on the disk when it returns 0. No sync may be running, and the lister must have
 * ended. */
int tm_commit_finish(struct tm_commit *c, bool completed, struct tm_err *err);

#endif
