/* threads.c - threads and locks, over libuv's.
 *
 *  (1) A thread starts with its signals blocked: the parent blocks them during the start. If the
 *      thread blocked them itself, a host's handler could run on it before that.
 *
 * If a lock or condition cannot be made, memory is exhausted, and the program ends.
 */
#include "sys/threads.h"

#include <signal.h>
#include <stddef.h>

#include "base/check.h"
#include "base/mem.h"
#include "sys/process.h"

static const int own_faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };

static void run_thread(void *p)
{
  struct tm_thread *t = p;
  t->run(t->data);
}

int tm_thread_start(struct tm_thread *t, void (*run)(void *data), void *data, struct tm_err *err)
{
  sigset_t blocked, before;
  t->run = run;
  t->data = data;
  t->is_started = false;
  sigfillset(&blocked);
  for (size_t i = 0; i < TM_COUNT_OF(own_faults); i++)
    sigdelset(&blocked, own_faults[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, &before); /* keeps (1) */
  int rc = uv_thread_create(&t->uv, run_thread, t);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (rc < 0)
    return tm_process_blame_limits(tm_err_system(err, rc, "cannot start a thread"), err);
  t->is_started = true;
  return 0;
}

void tm_thread_join(struct tm_thread *t)
{
  if (!t->is_started)
    return;
  tm_require(uv_thread_join(&t->uv) == 0);
  t->is_started = false;
}

void tm_thread_leave(struct tm_thread *t)
{
  if (t->is_started)
    tm_require(pthread_detach(t->uv) == 0);
  t->is_started = false;
}

void tm_mutex_init(struct tm_mutex *m)
{
  tm_require(uv_mutex_init(&m->uv) == 0);
}

void tm_mutex_release(struct tm_mutex *m)
{
  uv_mutex_destroy(&m->uv);
}

void tm_mutex_lock(struct tm_mutex *m)
{
  uv_mutex_lock(&m->uv);
}

void tm_mutex_unlock(struct tm_mutex *m)
{
  uv_mutex_unlock(&m->uv);
}

void tm_cond_init(struct tm_cond *c)
{
  tm_require(uv_cond_init(&c->uv) == 0);
}

void tm_cond_release(struct tm_cond *c)
{
  uv_cond_destroy(&c->uv);
}

void tm_cond_wait(struct tm_cond *c, struct tm_mutex *m)
{
  uv_cond_wait(&c->uv, &m->uv);
}

bool tm_cond_wait_for(struct tm_cond *c, struct tm_mutex *m, int64_t ns)
{
  int rc = uv_cond_timedwait(&c->uv, &m->uv, ns > 0 ? (uint64_t)ns : 0);
  tm_require(rc == 0 || rc == UV_ETIMEDOUT);
  return rc == 0;
}

void tm_cond_signal(struct tm_cond *c)
{
  uv_cond_signal(&c->uv);
}
