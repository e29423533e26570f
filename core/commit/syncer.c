/* syncer.c - one slot for work, one for finished work, and a thread between them.
 *
 *  loop: submit -> work -> [thread: tm_sync_run] -> done -> wake -> on_done
 *
 * A tm_sync belongs to the thread between submit and on_done; the caller must not touch it
 * meanwhile. Wakes may come together or late: on_wake takes what is in `done`, and finds nothing
 * there if stop has taken it.
 */
#include "commit/syncer.h"

#include "base/check.h"

static void run_thread(void *data)
{
  struct tm_syncer *s = data;
  tm_mutex_lock(&s->mutex);
  for (;;) {
    while (!s->work && !s->is_stopping)
      tm_cond_wait(&s->cond, &s->mutex);
    if (!s->work)
      break;
    struct tm_sync *sync = s->work;
    s->work = NULL;
    tm_mutex_unlock(&s->mutex);
    tm_sync_run(sync);
    tm_mutex_lock(&s->mutex);
    tm_require(!s->done && !s->work);
    s->done = sync;
    tm_wake_send(&s->wake);
  }
  tm_mutex_unlock(&s->mutex);
}

static struct tm_sync *take_done(struct tm_syncer *s)
{
  tm_mutex_lock(&s->mutex);
  struct tm_sync *sync = s->done;
  s->done = NULL;
  tm_mutex_unlock(&s->mutex);
  tm_require(!sync || s->is_busy);
  if (sync)
    s->is_busy = false;
  return sync;
}

static void on_wake(struct tm_wake *w)
{
  struct tm_syncer *s = w->data;
  struct tm_sync *sync = take_done(s);
  if (sync)
    s->on_done(s->data, sync);
}

int tm_syncer_start(struct tm_syncer *s, struct tm_loop *loop,
                    void (*on_done)(void *data, struct tm_sync *sync), void *data,
                    struct tm_err *err)
{
  tm_require(loop && on_done);
  *s = (struct tm_syncer) { .on_done = on_done, .data = data };
  tm_mutex_init(&s->mutex);
  tm_cond_init(&s->cond);
  tm_wake_open(&s->wake, loop, on_wake, s);
  int rc = tm_thread_start(&s->thread, run_thread, s, err);
  if (rc < 0) {
    tm_wake_close(&s->wake);
    tm_cond_release(&s->cond);
    tm_mutex_release(&s->mutex);
  }
  return rc;
}

void tm_syncer_submit(struct tm_syncer *s, struct tm_sync *sync)
{
  tm_require(s->thread.is_started && !s->is_busy);
  s->is_busy = true;
  tm_mutex_lock(&s->mutex);
  s->work = sync;
  tm_cond_signal(&s->cond);
  tm_mutex_unlock(&s->mutex);
}

bool tm_syncer_is_busy(const struct tm_syncer *s)
{
  return s->is_busy;
}

struct tm_sync *tm_syncer_stop(struct tm_syncer *s)
{
  if (!s->thread.is_started)
    return NULL;
  tm_mutex_lock(&s->mutex);
  s->is_stopping = true;
  tm_cond_signal(&s->cond);
  tm_mutex_unlock(&s->mutex);
  tm_thread_join(&s->thread);
  struct tm_sync *sync = take_done(s);
  tm_wake_close(&s->wake);
  tm_cond_release(&s->cond);
  tm_mutex_release(&s->mutex);
  return sync;
}
