/* errand.c - see errand.h.
 *
 *  (1) The thread sends the wake only inside the gate, and only while it is not left behind: the
 *      loop leaves it behind while holding the gate, and closes the wake after that.
 */
#include "sys/errand.h"

#include "base/check.h"
#include "sys/clock.h"

static void drop(struct tm_errand *e)
{
  bool is_last;

  tm_mutex_lock(&e->gate);
  tm_require(e->owners > 0);
  is_last = --e->owners == 0;
  tm_mutex_unlock(&e->gate);
  if (!is_last)
    return;
  tm_cond_release(&e->ended);
  tm_mutex_release(&e->gate);
  e->free_data(e->data);
}

static void on_wake(struct tm_wake *w)
{
  struct tm_errand *e = w->data;

  e->on_wake(e->data);
}

static void on_closed(struct tm_wake *w)
{
  drop(w->data);
}

static void run(void *data)
{
  struct tm_errand *e = data;

  e->run(e->data);
  tm_mutex_lock(&e->gate);
  e->has_ended = true;
  tm_cond_signal(&e->ended);
  if (e->loop && !e->is_left) /* keeps (1) */
    tm_wake_send(&e->wake);
  tm_mutex_unlock(&e->gate);
  drop(e);
}

/* The loop's share. */
static void end_share(struct tm_errand *e)
{
  if (e->loop)
    tm_wake_close(&e->wake);
  else
    drop(e);
}

int tm_errand_start(struct tm_errand *e, struct tm_err *err)
{
  int rc;

  tm_require(e->run && e->free_data && e->owners == 0 && (!e->loop || e->on_wake));
  tm_mutex_init(&e->gate);
  tm_cond_init(&e->ended);
  e->owners = 2;
  if (e->loop) {
    tm_wake_open(&e->wake, e->loop, on_wake, e);
    e->wake.on_closed = on_closed;
  }
  rc = tm_thread_start(&e->thread, run, e, err);
  if (rc < 0) {
    e->owners = 1;
    end_share(e);
  }
  return rc;
}

bool tm_errand_wait(struct tm_errand *e, int64_t patience_ns)
{
  int64_t until_ns = tm_clock_mono_ns() + patience_ns, left_ns = patience_ns;
  bool has_ended;

  tm_mutex_lock(&e->gate);
  while (!e->has_ended && left_ns > 0) {
    (void)tm_cond_wait_for(&e->ended, &e->gate, left_ns);
    left_ns = until_ns - tm_clock_mono_ns();
  }
  has_ended = e->has_ended;
  tm_mutex_unlock(&e->gate);
  return has_ended;
}

bool tm_errand_end(struct tm_errand *e, int64_t patience_ns)
{
  bool joins = patience_ns == TM_ERRAND_JOIN || tm_errand_wait(e, patience_ns);

  tm_require(!e->is_left && e->thread.is_started); /* once */
  if (joins) {
    tm_thread_join(&e->thread);
  } else {
    tm_mutex_lock(&e->gate);
    e->is_left = true;
    tm_mutex_unlock(&e->gate);
    tm_thread_leave(&e->thread);
  }
  end_share(e);
  return joins;
}

bool tm_errand_enter(struct tm_errand *e)
{
  tm_mutex_lock(&e->gate);
  if (!e->is_left)
    return true;
  tm_mutex_unlock(&e->gate);
  return false;
}

void tm_errand_leave(struct tm_errand *e)
{
  tm_mutex_unlock(&e->gate);
}

void tm_errand_wake(struct tm_errand *e)
{
  if (!tm_errand_enter(e))
    return;
  tm_wake_send(&e->wake);
  tm_errand_leave(e);
}
