/* errand.h - work on a thread of its own, which wakes the loop when it has ended.
 *
 * The loop and the thread own the errand together, and with it the struct of the caller in which it
 * lies: the last one to leave calls free_data. So a thread in a system call that does not return (a
 * file system hangs) can be left behind. It reads nothing but `data`, and ends with its call.
 *
 * Caller: fill the first fields; tm_errand_start(); tm_errand_end() once. Everything is called on
 * the loop's thread, except what says that the thread calls it.
 */
#ifndef TM_SYS_ERRAND_H
#define TM_SYS_ERRAND_H

#include "sys/loop.h"
#include "sys/threads.h"

#define TM_ERRAND_JOIN (-1) /* waits without a limit */

struct tm_errand {
  struct tm_loop *loop;          /* NULL: nobody is woken, and the caller uses tm_errand_wait() */
  void (*run)(void *data);       /* the thread calls it */
  void (*on_wake)(void *data);   /* run() has returned, or the thread has called tm_errand_wake() */
  void (*free_data)(void *data); /* frees `data`, and with it the errand; on either thread */
  void *data;
  /* the errand's own */
  struct tm_thread thread;
  struct tm_wake wake;
  struct tm_mutex gate; /* protects the following fields, and what tm_errand_enter() guards */
  struct tm_cond ended;
  int owners;
  bool has_ended, is_left;
};

/* If no thread can be started, `data` will be freed: the caller does not touch it again. */
int tm_errand_start(struct tm_errand *e, struct tm_err *err);
/* True: run() has returned, or does so in time; what it wrote to `data` can be read. */
bool tm_errand_wait(struct tm_errand *e, int64_t patience_ns);
/* Waits like tm_errand_wait(); then joins the thread, or leaves it behind and returns false. The
 * loop's share in `data` ends when the loop turns; at once without a loop. */
bool tm_errand_end(struct tm_errand *e, int64_t patience_ns);

/* The thread calls these. False: it was left behind, and touches nothing that is not in `data`.
 * After true, nobody leaves it behind until tm_errand_leave(). */
bool tm_errand_enter(struct tm_errand *e);
void tm_errand_leave(struct tm_errand *e);
void tm_errand_wake(struct tm_errand *e); /* not between enter and leave; there, send `wake` */

#endif
