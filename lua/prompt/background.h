/* background.h - runs a runtime on a thread of its own, so that jobs make progress whatever Lua
 * does.
 *
 *   the jobs' thread: wait for the loop's descriptor -> lock -> turn the loop, keep events ->
 *   unlock -> ...
 *   Lua's thread:     lock -> submit, ask, cancel, close -> unlock;  _take() the events, tell Lua
 *
 * The thread that has the lock owns the runtime. Lua's thread is the one that made it. It makes
 * every call of tidemill.h on the runtime and its jobs between tm_background_lock() and _unlock(),
 * which may be nested; none of these calls waits or turns the loop. Callbacks of jobs run on the
 * jobs' thread, and only call tm_background_keep().
 */
#ifndef TM_PROMPT_BACKGROUND_H
#define TM_PROMPT_BACKGROUND_H

#include <stdbool.h>

#include <tidemill.h>

#include "base/err.h"

struct tm_background;

/* A listener to a job. Zeroed, in the caller's memory, until tm_background_forget(). */
struct tm_ear {
  struct tm_kept *progress; /* an event that is kept; the next one replaces it */
  /* Also gets mini-batches that succeeded and tries that are repeated. Then the jobs wait if Lua
   * does not take the events; otherwise events beyond the limit are dropped, except states. */
  bool hears_all;
  void *owner;
};

struct tm_kept {
  struct tm_kept *next;
  struct tm_ear *ear;
  struct tidemill_event event; /* its texts follow the struct */
  struct tidemill_counts counts;
};

/* NULL and an error. The runtime must outlive it; after _free(), only the caller uses the runtime.
 * */
struct tm_background *tm_background_new(struct tidemill_runtime *rt, struct tm_err *err);
void tm_background_free(struct tm_background *b); /* NULL: a no-op */

void tm_background_lock(struct tm_background *b); /* NULL: a no-op, as is the next */
/* `has_changed`: there is work for the loop. */
void tm_background_unlock(struct tm_background *b, bool has_changed);

void tm_background_keep(struct tm_background *b, struct tm_ear *ear,
                        const struct tidemill_event *e);
/* The oldest event; the caller frees it. NULL: there is none. Lua's thread. */
struct tm_kept *tm_background_take(struct tm_background *b);
/* The jobs wait until events are taken. */
bool tm_background_is_full(const struct tm_background *b);
/* Notes whether events are being passed to Lua; returns the previous value. */
bool tm_background_set_telling(struct tm_background *b, bool is_telling);
/* Drops all events that are kept for it. Lua's thread, with the lock. */
void tm_background_forget(struct tm_background *b, struct tm_ear *ear);

/* Readable when an event is kept. Poll it, then take all events. */
int tm_background_fd(const struct tm_background *b);
/* Lua's thread: waits until an event is kept, for at most `timeout_ms` (negative: no limit), or
 * until it is woken. False: it was woken. */
bool tm_background_wait(struct tm_background *b, int timeout_ms);
/* Async-signal-safe. Ends the current wait, or the next one. */
void tm_background_wake(struct tm_background *b);
void tm_background_forget_wake(struct tm_background *b);
/* Async-signal-safe: makes the jobs' thread cancel all jobs. */
void tm_background_cancel(struct tm_background *b, bool now);
/* Async-signal-safe: how many jobs were running after the last turn. */
int tm_background_running(const struct tm_background *b);

#endif
