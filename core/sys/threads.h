/* threads.h - a thread with signals blocked, and the lock for what it shares.
 *
 * Every signal is blocked except those of the thread's own faults (SEGV, BUS, FPE, ILL, TRAP, SYS,
 * ABRT): no handler of the host runs on our thread, and a crash in it is still reported in the
 * host's way. */
#ifndef TM_SYS_THREADS_H
#define TM_SYS_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"

struct tm_thread {
  uv_thread_t uv;
  void (*run)(void *data);
  void *data;
  bool is_started;
};
int tm_thread_start(struct tm_thread *t, void (*run)(void *data), void *data, struct tm_err *err);
void tm_thread_join(struct tm_thread *t); /* not started: a no-op */
/* Nobody joins the thread: it frees itself when it ends. Its struct may be freed once `run` was
 * called. */
void tm_thread_leave(struct tm_thread *t);

struct tm_mutex {
  uv_mutex_t uv;
};
#define TM_MUTEX_STATIC                                                                            \
  {                                                                                                \
    .uv = PTHREAD_MUTEX_INITIALIZER                                                                \
  } /* instead of tm_mutex_init() */
struct tm_cond {
  uv_cond_t uv;
};
void tm_mutex_init(struct tm_mutex *m);
void tm_mutex_release(struct tm_mutex *m);
void tm_mutex_lock(struct tm_mutex *m);
void tm_mutex_unlock(struct tm_mutex *m);
void tm_cond_init(struct tm_cond *c);
void tm_cond_release(struct tm_cond *c);
void tm_cond_wait(struct tm_cond *c, struct tm_mutex *m);
bool tm_cond_wait_for(struct tm_cond *c, struct tm_mutex *m, int64_t ns); /* false: timed out */
void tm_cond_signal(struct tm_cond *c);

#endif
