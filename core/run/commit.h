/* commit.h - the one act by which the work of a mini-batch becomes part of the result. Owns the manifest, the output
 * file, the failures log and the journal of a step, and the order in which they are written (core/README.md: invariants 1-8).
 *
 * Caller, on the job's thread: open (which recovers what an earlier session left); then add_done / add_failed in any order,
 * flush often; sync_begin / tm_sync_run (on the syncer's thread) / sync_end every sync_interval; finish; close.
 * The lister's thread calls tm_manifest_add(), _flush(), _end() and _relist() of tm_commit_manifest(), nothing else.
 * Any error ends the job, but for TM_EDAMAGE of tm_commit_add_spilled() and tm_commit_note_files(): after it only close may be called, everything else
 * answers with the same error and writes nothing.
 */
#ifndef TM_RUN_COMMIT_H
#define TM_RUN_COMMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "run/manifest.h"
#include "sys/fs.h"

struct tm_commit;

struct tm_commit_options {
  const struct tm_fs *fs;
  const char *step_dir;    /* holds state/ and failed_items.jsonl; made when missing */
  const char *output_dir;  /* made when missing */
  const char *output_name; /* NULL: summary_only */
  /* <job>/owner: a JSON object, "epoch" in it in 16 hexadecimal digits; read again before each
   * sync record and before the renames at the end; NULL: not checked. */
  const char *owner_file;
  uint64_t epoch;   /* of this session */
  bool keep_failed; /* failed mini-batches stay failed; else they get fresh tries */
  bool overwrite;   /* an output file that is not this job's is replaced; else TM_EUSAGE */
};

/* What was found at open. */
struct tm_commit_found {
  bool is_new;               /* nothing had been there */
  int64_t sessions;          /* before this one */
  int64_t committed, failed; /* mini-batches that are over now; failed is 0 unless keep_failed */
  int64_t uncounted;         /* of `failed`: those whose rows nobody could count */
  int64_t retried;           /* failed ones that get fresh tries */
  int64_t items, items_succeeded, returned; /* of those that are over */
  int64_t cut_records, cut_output_bytes;    /* a torn tail that was taken away */
};

enum tm_fate { TM_FATE_OPEN, TM_FATE_COMMITTED, TM_FATE_FAILED };

/* TM_EDAMAGE, TM_EVERSION, TM_EUSAGE, or a system error, with the file and the place; *out is NULL then. */
int tm_commit_open(struct tm_commit **out, const struct tm_commit_options *options,
                   struct tm_commit_found *found, struct tm_err *err);
void tm_commit_close(
    struct tm_commit *c); /* NULL is a no-op; what was added and not flushed is dropped */

struct tm_manifest *tm_commit_manifest(struct tm_commit *c);
enum tm_fate tm_commit_fate(const struct tm_commit *c, uint64_t index);
/* Bytes of the output that count, those that wait for a flush too. 0: a header line is still to come. */
int64_t tm_commit_output_len(const struct tm_commit *c);
/* Those of them that are in the file, with their records written. */
int64_t tm_commit_flushed_len(const struct tm_commit *c);
/* The folder for results that workers spill: <step>/state/spill. It is emptied at open. */
const char *tm_commit_spill_dir(const struct tm_commit *c);
/* The folder for files on their way to output_dir: <step>/state/staging. It is removed at open and by finish,
 * with the staging folders in destinations. */
const char *tm_commit_staging_dir(const struct tm_commit *c);

struct tm_outcome {
  uint64_t index;
  uint32_t try;
  uint32_t items, succeeded; /* items 0, of a failed one: rows that nobody could count */
  uint32_t returned;
};
/* The rows are copied; they end with a line break. The mini-batch is committed when the next flush has returned 0; its fate
 * says so from now on. One that is over already is a fault of the caller's, and dropped. */
void tm_commit_add_done(struct tm_commit *c, const struct tm_outcome *o, const void *rows,
                        size_t rows_len);
/* The same with rows that a worker spilled to a file: `length` bytes whose hash (base/hash.h) must be `hash`; else, or when
 * the file cannot be read, TM_EDAMAGE: nothing is added, the try has failed and the job goes on. The file is removed. */
int tm_commit_add_spilled(struct tm_commit *c, const struct tm_outcome *o, const char *path,
                          uint64_t length, uint64_t hash, struct tm_err *err);
/* `lines`: one JSON object a line for each failed item, or what is known; goes to the failures log. For a mini-batch that
 * has failed; for short returns see tm_commit_note_failures(). */
void tm_commit_add_failed(struct tm_commit *c, const struct tm_outcome *o, const void *lines,
                          size_t lines_len);
/* Lines that belong to the next add (items without a returned element). A refused spilled result takes them with it. */
void tm_commit_note_failures(struct tm_commit *c, const void *lines, size_t lines_len);
/* A line that belongs in front of the rows of the next add_done or add_spilled, in their record. A refused result takes it with
 * it. Not with summary_only. */
void tm_commit_note_header(struct tm_commit *c, const void *line, size_t len);
/* Files that belong to the next add_done or add_spilled, beside those of earlier calls, and go the same way: `names` (bytes32 each) below the folder
 * `staging`, which is removed when they have got their places in output_dir. TM_EDAMAGE: a file that is not there, or a name
 * that something else has; nothing of this call was noted, the try has failed and the job goes on. */
int tm_commit_note_files(struct tm_commit *c, const char *staging, const char *names, size_t len,
                         struct tm_err *err);
/* Forgets what has been noted, failures and files, for the next add. */
void tm_commit_drop_notes(struct tm_commit *c);

size_t tm_commit_pending(const struct tm_commit *c); /* bytes that wait for a flush */
/* Writes output, failures and files log, renames files, then writes journal records. */
int tm_commit_flush(struct tm_commit *c, struct tm_err *err);

/* One group commit. begin: notes what has been flushed (false: nothing new, or the commit has failed). run: fsyncs, any
 * thread. end: writes the sync record; TM_EINUSE when the job has another owner. At most one at a time. */
struct tm_sync {
  struct tm_commit *commit;
  int64_t manifest_len, failures_len, files_len, output_len, journal_len; /* bytes */
  int code;                                                               /* of run */
  struct tm_err err;
};
bool tm_commit_sync_begin(struct tm_commit *c, struct tm_sync *s);
void tm_sync_run(struct tm_sync *s);
int tm_commit_sync_end(struct tm_commit *c, struct tm_sync *s, struct tm_err *err);

/* The end of the session: flush, sync; writes failed_items.jsonl (those still failed; atomically; none: removed); with
 * `completed` renames the output from its .partial name. Everything is on the disk when it returns 0. No sync may be under
 * way, and the lister has ended. */
int tm_commit_finish(struct tm_commit *c, bool completed, struct tm_err *err);

#endif
