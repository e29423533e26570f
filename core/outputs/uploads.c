/* uploads.c - see uploads.h. */
#include "outputs/uploads.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "outputs/upload.h"
#include "sys/threads.h"

struct tm_uploads {
  struct tm_uploads_options o;
  struct tm_thread thread;
  struct tm_wake wake;
  atomic_bool stop;
  int code; /* written before the wake is sent */
  struct tm_err err;
};

static void run(void *data)
{
  struct tm_uploads *u = data;

  for (size_t i = 0; i < u->o.step->outputs_len && u->code == 0; i++)
    if (u->o.step->outputs[i].is_upload)
      u->code = tm_upload_output(u->o.fs, u->o.step, i, u->o.job_dir, &u->stop, &u->err);
  tm_wake_send(&u->wake);
}

static void on_wake(struct tm_wake *w)
{
  struct tm_uploads *u = w->data;

  tm_thread_join(&u->thread);
  u->o.on_ended(u->o.data, u->code, &u->err);
}

static void on_closed(struct tm_wake *w)
{
  free(w->data);
}

struct tm_uploads *tm_uploads_start(const struct tm_uploads_options *o, struct tm_err *err)
{
  struct tm_uploads *u = TM_NEW(struct tm_uploads);

  u->o = *o;
  tm_wake_open(&u->wake, o->loop, on_wake, u);
  u->wake.on_closed = on_closed;
  if (tm_thread_start(&u->thread, run, u, err) == 0)
    return u;
  tm_wake_close(&u->wake);
  return NULL;
}

void tm_uploads_cancel(struct tm_uploads *u)
{
  atomic_store(&u->stop, true);
}

void tm_uploads_stop(struct tm_uploads *u)
{
  if (!u)
    return;
  tm_uploads_cancel(u);
  tm_thread_join(&u->thread);
  tm_wake_close(&u->wake);
}
