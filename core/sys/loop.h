/* loop.h - our event loop: libuv's, with one struct per thing that can happen.
 *
 * The structs embed their uv handle and belong to the caller, who may free them in `on_closed`, not
 * before. Opening fills every field and sets `on_closed` to NULL: callers that want it set it after
 * opening and before closing. A callback may do anything except run the loop again (which aborts).
 * Call everything from the loop's thread, except tm_wake_send().
 */
#ifndef TM_SYS_LOOP_H
#define TM_SYS_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"

struct tm_late;

struct tm_loop {
  uv_loop_t *uv; /* its own, or a host's */
  uv_loop_t own;
  bool is_running;
  bool is_leaving; /* tm_loop_leave() was called */
  /* since the last round: descriptors requested then are watched from the next round on */
  bool has_happened;
  int open;              /* handles of callers that are not closed yet */
  uv_prepare_t turn_end; /* the loop's own: runs `late` */
  struct tm_late *late;
  void (*on_left)(void *data);
  void *data; /* for on_left */
};

/* The version of the loaded libuv. Static memory. */
const char *tm_loop_library(void);

int tm_loop_init(struct tm_loop *loop, struct tm_err *err);
void tm_loop_run(struct tm_loop *loop); /* until tm_loop_stop(), or until no handle is open */
void tm_loop_stop(struct tm_loop *loop);
void tm_loop_turn(struct tm_loop *loop); /* runs what is due, without waiting */
/* For callers that poll: a descriptor that is readable when there is something to do, and the
 * milliseconds after which there is something to do anyway (0: now, -1: never). */
int tm_loop_fd(const struct tm_loop *loop);
int tm_loop_timeout_ms(struct tm_loop *loop);
/* Runs until every handle is closed, then frees. A handle that nobody closed is a fault (check.h)
 * that names its type. */
void tm_loop_release(struct tm_loop *loop);

/* Uses a host's loop, which the host runs: it is not run, stopped or released here, and the host's
 * handles are not touched. */
void tm_loop_join(struct tm_loop *loop, uv_loop_t *uv);
bool tm_loop_is_joined(const struct tm_loop *loop);
/* Instead of tm_loop_release(): calls on_left when the callers have closed their handles and the
 * loop's own are closed. Then the memory may be freed. */
void tm_loop_leave(struct tm_loop *loop, void (*on_left)(void *data), void *data);
void tm_loop_closed_one(struct tm_loop *loop); /* for sys only: a handle has been closed */

/* Fires once, or every `repeat_ns`. Starting again replaces. Resolution: a millisecond, rounded
 * up. */
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

/* A descriptor that can be read or written. It stays the caller's; close it after
 * tm_poll_close(). */
enum { TM_READABLE = 1, TM_WRITABLE = 2 };
struct tm_poll {
  uv_poll_t uv;
  struct tm_loop *loop;
  /* TM_READABLE | TM_WRITABLE; errors are reported as TM_READABLE. */
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

/* Wakes the loop from another thread; several sends may become one call. */
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

/* Called once, at the end of the turn in which it was added, after the tm_turns, or when
 * tm_loop_run() returns. It is not a handle: a zeroed struct is ready, nothing needs closing, and
 * its memory may be freed once it was called or removed. */
struct tm_late {
  struct tm_late *next, **at;         /* `at` is NULL while it is not added */
  void (*on_late)(struct tm_late *l); /* must not add itself again */
  void *data;
};
void tm_late_add(struct tm_loop *loop, struct tm_late *l); /* already added: a no-op */
void tm_late_remove(struct tm_late *l);                    /* not added: a no-op */

#endif
