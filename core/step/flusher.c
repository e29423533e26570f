/* flusher.c - see flusher.h. */
#include "step/flusher.h"

#include "base/check.h"
#include "base/time.h"
#include "sys/clock.h"

#define FLUSH_BYTES (256 << 10)
#define FLUSH_NS    (2 * TM_MS)

static bool may(const struct tm_flusher *f, enum tm_step_life_may what)
{
  return tm_step_life_may(f->o.life, what);
}

static void flush(struct tm_flusher *f)
{
  struct tm_err err = TM_ERR_NONE;

  f->flushed_ns = tm_clock_mono_ns();
  if (!may(f, TM_STEP_MAY_WRITE))
    return;
  if (tm_commit_flush(f->o.commit, &err) < 0)
    f->o.on_failed(f->o.data, &err);
  else
    f->o.on_flushed(f->o.data);
}

static void on_flush(struct tm_timer *t)
{
  flush(t->data);
}

static void on_turn(struct tm_turn *t)
{
  struct tm_flusher *f = t->data;
  size_t pending;

  if (!may(f, TM_STEP_MAY_SYNC))
    return;
  pending = tm_commit_pending(f->o.commit);
  if (pending >= FLUSH_BYTES || (pending > 0 && tm_clock_mono_ns() - f->flushed_ns >= FLUSH_NS))
    flush(f);
  else if (pending > 0)
    tm_timer_start(&f->flush_timer, FLUSH_NS, 0);
}

static void on_sync_time(struct tm_timer *t)
{
  struct tm_flusher *f = t->data;

  if (tm_syncer_is_busy(&f->syncer) || !may(f, TM_STEP_MAY_SYNC))
    return;
  if (tm_commit_sync_begin(f->o.commit, &f->sync))
    tm_syncer_submit(&f->syncer, &f->sync);
}

static void on_synced(void *data, struct tm_sync *sync)
{
  struct tm_flusher *f = data;
  struct tm_err err = TM_ERR_NONE;

  if (may(f, TM_STEP_MAY_SYNC) && tm_commit_sync_end(f->o.commit, sync, &err) < 0)
    f->o.on_failed(f->o.data, &err);
  f->o.on_synced(f->o.data);
}

/* Starting and closing. */

static void closed_one(struct tm_flusher *f)
{
  tm_require(f->open > 0);
  if (--f->open == 0)
    f->o.on_closed(f->o.data);
}

static void on_timer_closed(struct tm_timer *t)
{
  closed_one(t->data);
}

static void on_turn_closed(struct tm_turn *t)
{
  closed_one(t->data);
}

static void on_wake_closed(struct tm_wake *w)
{
  struct tm_syncer *syncer = w->data;

  closed_one(syncer->data);
}

static void open_timer(struct tm_flusher *f, struct tm_timer *t, void (*on_time)(struct tm_timer *))
{
  tm_timer_open(t, f->o.loop, on_time, f);
  t->on_closed = on_timer_closed;
  f->open++;
}

int tm_flusher_start(struct tm_flusher *f, const struct tm_flusher_options *o, struct tm_err *err)
{
  int rc;

  tm_require(o->commit && o->life && f->open == 0);
  f->o = *o;
  tm_turn_open(&f->turn, o->loop, on_turn, f);
  f->turn.on_closed = on_turn_closed;
  f->open++;
  open_timer(f, &f->flush_timer, on_flush);
  open_timer(f, &f->sync_timer, on_sync_time);
  tm_timer_start(&f->sync_timer, o->sync_interval_ns, o->sync_interval_ns);
  if ((rc = tm_syncer_start(&f->syncer, o->loop, on_synced, f, err)) < 0)
    return rc;
  f->syncer.wake.on_closed = on_wake_closed;
  f->open++;
  return 0;
}

bool tm_flusher_is_busy(const struct tm_flusher *f)
{
  return tm_syncer_is_busy(&f->syncer);
}

void tm_flusher_close(struct tm_flusher *f)
{
  (void)tm_syncer_stop(&f->syncer);
  tm_turn_close(&f->turn);
  tm_timer_close(&f->flush_timer);
  tm_timer_close(&f->sync_timer);
}
