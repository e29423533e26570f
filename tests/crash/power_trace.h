/* power_trace.h - a trace of file calls (programs/trace.h), and what a disk makes of it
 * (support/disk.h).
 *
 * Paths are relative to a root: "/job/job.json" is that file beneath it; calls elsewhere are left
 * out. Folders that were made without the table of calls (for logs, by the keeper) are made when a
 * call needs them.
 *
 * The mark of an upload (outputs/upload.h) holds the look of a folder on the machine's disk. A
 * replay replaces it by the look of that folder on the simulated disk.
 *
 * Every successful fsync has a class: its file or folder, with STEP for the name of a step. The
 * class of a folder also has the change before it: "job after job.json", or "job again" if nothing
 * had changed there since the last fsync.
 */
#ifndef TM_TESTS_POWER_TRACE_H
#define TM_TESTS_POWER_TRACE_H

#include "base/json.h"
#include "base/mem.h"
#include "disk.h"

#define POWER_STEPS  2
#define POWER_UPLOAD "there" /* that of the first step, in the root */
extern const char *const power_steps[POWER_STEPS];

enum power_kind {
  POWER_SESSION,
  POWER_OPEN,
  POWER_CLOSE,
  POWER_WRITE,
  POWER_CUT,
  POWER_SYNCING,
  POWER_SYNCED,
  POWER_MKDIR,
  POWER_UNLINK,
  POWER_REMOVE,
  POWER_RENAME,
  POWER_EXCHANGE,
  POWER_SYMLINK,
};

struct power_op {
  enum power_kind kind;
  int fd, flags, mode;
  int64_t at; /* of a write; the length of a cut */
  /* `other`: the target of a rename, an exchange or a link; NULL `path`: elsewhere. */
  const char *path, *other;
  const char *bytes;
  size_t len;
  char *sync_class; /* of SYNCED, or NULL: elsewhere */
};

struct power_trace {
  struct tm_buf text;
  struct TM_ARRAY(struct power_op) ops;
};

/* False: it cannot be read. Release it in every case. */
bool power_trace_read(struct power_trace *t, const char *file, const char *root);
void power_trace_release(struct power_trace *t);

/* The lengths, in bytes, that a sync record has stated. */
struct power_promise {
  int64_t journal, manifest, output, failures;
  /* Of the session that runs, after it has removed the result of an earlier one. Before that, it
   * opens its steps, which may refuse the resume: the result is still right. */
  bool is_of_session;
};

struct power_replay {
  struct tm_disk *disk;
  int fds[256];                /* by descriptor of the trace: the disk's, or -1 */
  uint64_t marks[256];         /* of fsyncs under way */
  const char *const *left_out; /* patterns of classes that do nothing, ended by NULL; or NULL */
  struct power_promise promised[POWER_STEPS];
};

void power_replay_init(struct power_replay *r, uint64_t seed);
void power_replay_release(struct power_replay *r);
void power_replay_run(struct power_replay *r, const struct power_trace *t, size_t from, size_t to);
/* The path below the root of an uploaded folder, at its destination or on the way there; to free().
 * NULL: there is none. `number`: its st_ino; 0: any. */
char *power_upload_find(struct tm_disk *disk, uint64_t number);
bool power_is_left_out(const char *const *patterns, const char *sync_class);

#endif
