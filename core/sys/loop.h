/* loop.h - our event loop: libuv's, with one struct per thing that can happen.
 *
 * Wrapper structs embed their uv handle and belong to the caller; their memory may go in
 * `on_closed`, not before. Opening fills every field and sets `on_closed` to NULL: who wants it
 * sets it after opening, before closing. A callback of ours may do anything but run the loop again
 * (which aborts). All calls from the loop's thread, but for tm_wake_send().
 */
#ifndef TM_SYS_LOOP_H
#define TM_SYS_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"

struct tm_late;

struct tm_loop {
  uv_loop_t *uv; /* its own, or that of a host */
  uv_loop_t own;
  bool is_running;
  bool is_leaving; /* a host's */
  bool
      has_happened; /* since it was last looked at: what was wanted then is not watched before the next round */
  int open;              /* handles of callers that are not closed yet */
  uv_prepare_t turn_end; /* the loop's own: runs `late` */
  struct tm_late *late;
  void (*on_left)(void *data);
  void *data; /* of on_left */
};

/* The version of libuv that is loaded. Static memory. */
const char *tm_loop_library(void);

int tm_loop_init(struct tm_loop *loop, struct tm_err *err);
void tm_loop_run(struct tm_loop *loop); /* until tm_loop_stop(), or until nothing is open */
void tm_loop_stop(struct tm_loop *loop);
void tm_loop_turn(struct tm_loop *loop); /* what is due, without waiting */
/* For who polls: a descriptor that can be read when there is something to do, and after how many milliseconds there is without it:
 * 0 at once, -1 never. */
int tm_loop_fd(const struct tm_loop *loop);
int tm_loop_timeout_ms(struct tm_loop *loop);
/* Runs until every handle is closed, then frees. A handle that nobody closed is a fault (check.h)
 * that names its type. */
void tm_loop_release(struct tm_loop *loop);

/* On a loop of a host's, which runs it: it is neither run, stopped nor released here, and what else is on it is not touched. */
void tm_loop_join(struct tm_loop *loop, uv_loop_t *uv);
bool tm_loop_is_joined(const struct tm_loop *loop);
/* In place of the release: on_left when every handle of callers, who close them, and the loop's own are closed; the memory may go. */
void tm_loop_leave(struct tm_loop *loop, void (*on_left)(void *data), void *data);
void tm_loop_closed_one(struct tm_loop *loop); /* within sys: a handle has been closed */

/* Once, or every `repeat_ns`. Starting again replaces. Resolution: a millisecond, rounded up. */
struct tm_timer {
  uv_timer_t uv;
  struct tm_loop *loop;
  void (*on_time)(struct tm_timer *t);
  void (*on_closed)(struct tm_timer *t); /* or NULL */
  void *data;
  bool is_open;
};
void tm_timer_open(struct tm_timer *t, struct tm_loop *loop, void (*on_time)(struct tm_timer *),
                   void *data);
void tm_timer_start(struct tm_timer *t, int64_t after_ns, int64_t repeat_ns);
void tm_timer_stop(struct tm_timer *t);
void tm_timer_close(struct tm_timer *t); /* not open: a no-op */

/* A descriptor that can be read or written. The descriptor stays the caller's; close it after
 * tm_poll_close(). */
enum { TM_READABLE = 1, TM_WRITABLE = 2 };
struct tm_poll {
  uv_poll_t uv;
  struct tm_loop *loop;
  /* TM_READABLE | TM_WRITABLE; errors come as TM_READABLE. */
  void (*on_ready)(struct tm_poll *p, int events);
  void (*on_closed)(struct tm_poll *p);
  void *data;
  bool is_open;
  int wanted; /* events; asking for the same again costs nothing */
};
int tm_poll_open(struct tm_poll *p, struct tm_loop *loop, int fd,
                 void (*on_ready)(struct tm_poll *, int), void *data, struct tm_err *err);
void tm_poll_want(struct tm_poll *p, int events); /* 0 stops */
void tm_poll_close(struct tm_poll *p);

/* Wakes the loop from another thread; several sends may come as one call. */
struct tm_wake {
  uv_async_t uv;
  struct tm_loop *loop;
  void (*on_wake)(struct tm_wake *w);
  void (*on_closed)(struct tm_wake *w);
  void *data;
  bool is_open;
};
void tm_wake_open(struct tm_wake *w, struct tm_loop *loop, void (*on_wake)(struct tm_wake *),
                  void *data);
void tm_wake_send(struct tm_wake *w); /* from any thread */
void tm_wake_close(struct tm_wake *w);

/* A signal of the process. For programs (keeper, command line), never for the library in a host. */
struct tm_signal {
  uv_signal_t uv;
  struct tm_loop *loop;
  void (*on_signal)(struct tm_signal *s, int number);
  void (*on_closed)(struct tm_signal *s);
  void *data;
  bool is_open;
};
int tm_signal_open(struct tm_signal *s, struct tm_loop *loop, int number,
                   void (*on_signal)(struct tm_signal *, int), void *data, struct tm_err *err);
void tm_signal_close(struct tm_signal *s);

/* Called in every turn of the loop after its events have been handled, before it waits again. */
struct tm_turn {
  uv_prepare_t uv;
  struct tm_loop *loop;
  void (*on_turn)(struct tm_turn *t);
  void (*on_closed)(struct tm_turn *t);
  void *data;
  bool is_open;
};
void tm_turn_open(struct tm_turn *t, struct tm_loop *loop, void (*on_turn)(struct tm_turn *),
                  void *data);
void tm_turn_close(struct tm_turn *t);

/* Called once, at the end of the turn in which it was asked for, behind the tm_turns, or when
 * tm_loop_run() returns. No handle: zeroed is ready, nothing is closed; its memory may go once it
 * has been called or taken back. */
struct tm_late {
  struct tm_late *next, **at;         /* `at` is NULL while it is not asked for */
  void (*on_late)(struct tm_late *l); /* does not ask for itself again */
  void *data;
};
void tm_late_add(struct tm_loop *loop, struct tm_late *l); /* asked for already: a no-op */
void tm_late_remove(struct tm_late *l);                    /* not asked for: a no-op */

#endif
