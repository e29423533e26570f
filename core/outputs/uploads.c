/* uploads.c - see uploads.h. */
#include "outputs/uploads.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "outputs/upload.h"
#include "sys/errand.h"

struct tm_uploads {
  struct tm_uploads_options o;
  struct tm_errand errand;
  atomic_bool stop;
  int code; /* of the thread until it has ended */
  struct tm_err err;
};

static void run(void *data)
{
  struct tm_uploads *u = data;

  for (size_t i = 0; i < u->o.step->outputs_len && u->code == 0; i++)
    if (u->o.step->outputs[i].is_upload)
      u->code = tm_upload_output(u->o.fs, u->o.step, i, u->o.job_dir, &u->stop, &u->err);
}

static void on_wake(void *data)
{
  struct tm_uploads *u = data;

  u->o.on_ended(u->o.data, u->code, &u->err);
}

struct tm_uploads *tm_uploads_start(const struct tm_uploads_options *o, struct tm_err *err)
{
  tm_require(o->loop && o->fs && o->step && o->job_dir && o->on_ended);
  struct tm_uploads *u = TM_NEW(struct tm_uploads);

  u->o = *o;
  u->errand = (struct tm_errand) {
    .loop = o->loop, .run = run, .on_wake = on_wake, .free_data = free, .data = u
  };
  return tm_errand_start(&u->errand, err) == 0 ? u : NULL;
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
  (void)tm_errand_end(&u->errand, TM_ERRAND_JOIN);
}
