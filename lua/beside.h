/* beside.h - a runtime that is turned on a thread of its own: jobs go on, whatever Lua does.
 *
 *   the jobs' thread: wait for the loop's descriptor -> lock -> turn the loop; what happens is kept -> unlock -> ...
 *   Lua's thread:     lock -> submit, ask, cancel, close -> unlock;  _take() what was kept, and tell Lua
 *
 * A runtime belongs to one thread at a time: to who has the lock. On Lua's thread, the one that made it: every call of
 * tidemill.h on the runtime and its jobs stands between tm_beside_lock() and _unlock(), which may be nested; none of them
 * waits or turns. Callbacks of jobs come on the jobs' thread, and do nothing but tm_beside_keep().
 */
#ifndef TM_LUA_BESIDE_H
#define TM_LUA_BESIDE_H

#include <stdbool.h>

#include <tidemill.h>

struct tm_beside;

/* Who hears of a job; zeroed, the caller's, until tm_beside_forget(). */
struct tm_ear {
  struct tm_kept *progress; /* kept already: the next takes its place */
  /* Mini-batches that went well, and tries that are repeated, too. Then the jobs wait where Lua does not take what is kept;
   * else what is beyond the limit is dropped, but for states. */
  bool hears_all;
  void *owner;
};

struct tm_kept {
  struct tm_kept *next;
  struct tm_ear *ear;
  struct tidemill_event event; /* its texts are behind the struct */
};

/* NULL and words. The runtime outlives it, and is the caller's alone when it has been freed. */
struct tm_beside *tm_beside_new(struct tidemill_runtime *rt, struct tm_err *err);
void tm_beside_free(struct tm_beside *b); /* NULL: a no-op */

void tm_beside_lock(struct tm_beside *b); /* NULL: a no-op, as is the next */
/* `has_changed`: there is something to do for the loop. */
void tm_beside_unlock(struct tm_beside *b, bool has_changed);

void tm_beside_keep(struct tm_beside *b, struct tm_ear *ear, const struct tidemill_event *e);
/* The oldest, to free(); NULL: none. Lua's thread. */
struct tm_kept *tm_beside_take(struct tm_beside *b);
/* Lua is told of what was taken: what was set before. */
bool tm_beside_set_telling(struct tm_beside *b, bool is_telling);
/* Nothing that was kept for it is left. Lua's thread, with the lock. */
void tm_beside_forget(struct tm_beside *b, struct tm_ear *ear);

/* Can be read when something was kept: who reads events polls it, and then takes all. */
int tm_beside_fd(const struct tm_beside *b);
/* Lua's thread: waits until something is kept, or for so long (negative: without limit), or until it is woken. False:
 * it was woken. */
bool tm_beside_wait(struct tm_beside *b, int timeout_ms);
/* Async-signal-safe. The wait that goes on, or the next one, ends. */
void tm_beside_wake(struct tm_beside *b);
void tm_beside_forget_wake(struct tm_beside *b);
/* Async-signal-safe: all jobs are canceled by the jobs' thread. */
void tm_beside_cancel(struct tm_beside *b, bool now);
/* Async-signal-safe: how many jobs ran after the last turn. */
int tm_beside_running(const struct tm_beside *b);

#endif
