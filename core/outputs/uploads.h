/* uploads.h - all uploads of a step (upload.h), on a thread of their own. */
#ifndef TM_OUTPUTS_UPLOADS_H
#define TM_OUTPUTS_UPLOADS_H

#include "plan/pipeline.h"
#include "sys/fs.h"
#include "sys/loop.h"

struct tm_uploads;
struct tm_uploads_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const struct tm_step *step;
  const char *job_dir; /* must live as long as the upload */
  /* On the loop: 0, -ECANCELED, or an error. Afterwards only stop may be called. */
  void (*on_ended)(void *data, int code, const struct tm_err *err);
  void *data;
};
/* Uploads all outputs of the step on a thread of its own. */
struct tm_uploads *tm_uploads_start(const struct tm_uploads_options *o, struct tm_err *err);
void tm_uploads_cancel(struct tm_uploads *u); /* on_ended comes soon, unless it has come already */
/* Cancels, and waits for the thread. The memory is freed when the loop has closed its handle. NULL
 * is a no-op. */
void tm_uploads_stop(struct tm_uploads *u);

#endif
