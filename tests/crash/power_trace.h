/* power_trace.h - a trace of file calls (programs/trace.h), and what a disk makes of it
 * (support/disk.h).
 *
 * Paths are relative to a root: "/job/job.json" is that file beneath it; calls elsewhere are left
 * out. What was made without the table of calls (folders of logs, by the keeper) is made where a
 * call needs it.
 *
 * What an upload's mark says of a folder (run/upload.h) is what the machine's files said: replayed,
 * it is what the disk says of the folder in its place.
 *
 * Every fsync that ended well has a class: for which file or folder it was, with STEP for the name
 * of a step; for a folder also after what: "job after job.json", or "job again" when nothing had
 * changed there since the last one.
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
  /* `other`: where a rename or exchange goes, what a link leads to; NULL `path`: elsewhere. */
  const char *path, *other;
  const char *bytes;
  size_t len;
  char *sync_class; /* of SYNCED, or NULL: elsewhere */
};

struct power_trace {
  struct tm_buf text;
  struct TM_ARRAY(struct power_op) ops;
};

/* False: it cannot be read. Release it also then. */
bool power_trace_read(struct power_trace *t, const char *file, const char *root);
void power_trace_release(struct power_trace *t);

/* What a sync record has said to be on the disk, bytes. */
struct power_promise {
  int64_t journal, manifest, output, failures;
  bool is_of_session; /* of the one that runs */
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
/* The folder that is uploaded, beneath the root: there, or on its way there; to free(), NULL: none
 * is. `number`: as st_ino; 0: any. */
char *power_upload_find(struct tm_disk *disk, uint64_t number);
bool power_is_left_out(const char *const *patterns, const char *sync_class);

#endif
