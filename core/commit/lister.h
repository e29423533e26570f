/* lister.h - the thread that splits the inputs of a step into mini-batches and writes them to the
 * manifest.
 *
 * It wakes the loop when entries have become readable and when it has ended. All functions are
 * called on the loop's thread.
 *
 * It is the only thread of the supervisor that reads users' data, and a file system may block it
 * forever: no signal ends a system call on a hung network file system. So nobody waits for it
 * without a limit. A thread that does not end in time is left behind: it owns everything that it
 * reads, may no longer use the manifest, and frees everything when its call returns. The end of the
 * process ends it, too.
 */
#ifndef TM_COMMIT_LISTER_H
#define TM_COMMIT_LISTER_H

#include "base/level.h"
#include "commit/manifest.h"
#include "data/splitter.h"
#include "sys/loop.h"

struct tm_lister;

struct tm_lister_options {
  struct tm_loop *loop;
  struct tm_manifest *manifest;
  /* copied completely, except `fs`; the lister sets `stop` and the warnings */
  struct tm_splitter_options splitter;
  const char *inputs_file; /* where the files are recorded (input_record.h); or NULL; copied */
  bool by_content;         /* and also their contents */
  void (*on_progress)(void *data); /* entries can be read, warnings can be taken, or it has ended */
  void *data;
};

/* NULL with a message if there is no thread left. */
struct tm_lister *tm_lister_start(const struct tm_lister_options *options, struct tm_err *err);
/* Whether workers are waiting for work: then new entries become readable at once (otherwise in
 * larger pieces). */
void tm_lister_set_hungry(struct tm_lister *l, bool is_hungry);
/* 0: still running; 1: the list is complete; negative: the error. */
int tm_lister_state(struct tm_lister *l, struct tm_err *err);
/* The next warning, to free(), or NULL. Only the first of each kind (base/repeats.h) has the level
 * TM_WARNING; the others have TM_INFO, for the log, and the end of the list adds a warning with
 * their number. So a million damaged files do not flood a terminal. */
char *tm_lister_take_warning(struct tm_lister *l, enum tm_level *level);
/* Tells the thread to end, also while it waits for input (a FIFO), waits for that, frees. False: it
 * is in a call that has not returned for three seconds, and is left behind. NULL: a no-op, true. */
bool tm_lister_stop(struct tm_lister *l);

#endif
