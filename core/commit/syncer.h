/* syncer.h - the thread that waits for the disk instead of the loop: it runs one tm_sync at a time.
 *
 * Caller, on the loop's thread: start; submit (never while one is running); on_done comes on the
 * loop's thread; stop.
 */
#ifndef TM_COMMIT_SYNCER_H
#define TM_COMMIT_SYNCER_H

#include <stdbool.h>

#include "commit/commit.h"
#include "sys/loop.h"
#include "sys/threads.h"

struct tm_syncer {
  struct tm_thread thread;
  struct tm_mutex mutex;
  struct tm_cond cond;
  struct tm_wake wake; /* set wake.on_closed after start, to learn when the memory may be freed */
  void (*on_done)(void *data, struct tm_sync *sync);
  void *data;
  bool is_busy;                /* the loop's: submitted, on_done not called yet */
  struct tm_sync *work, *done; /* shared, under the mutex */
  bool is_stopping;            /* shared */
};

/* On failure nothing is open. The struct must live until wake.on_closed. */
int tm_syncer_start(struct tm_syncer *s, struct tm_loop *loop,
                    void (*on_done)(void *data, struct tm_sync *sync), void *data,
                    struct tm_err *err);
void tm_syncer_submit(struct tm_syncer *s, struct tm_sync *sync);
bool tm_syncer_is_busy(const struct tm_syncer *s);
/* Waits for a running sync, joins the thread and closes the wake. Returns the sync that was under
 * way, or NULL; it has run, and on_done will not be called for it. Not started: a no-op. */
struct tm_sync *tm_syncer_stop(struct tm_syncer *s);

#endif
