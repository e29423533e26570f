/* place.h - the folders that a step writes, and the destinations where they appear (plan/pipeline.h, struct tm_step_output).
 *
 *   no destination   <step>/output is a folder
 *   mount            it is a link to the destination: what is written is there at once
 *   archive          it is a folder; when the step is Completed all of it is packed into the file that is the destination, as an
 *                    upload is copied
 *   upload           it is a folder; when the step is Completed a copy of it appears at the
 *                    destination, by one rename or exchange of names, all of it on the disk before.
 *                    The mark in <step>/state/upload.<n> says whether the destination is this job's
 *                    and up to date: upload.h
 *
 * What somebody else has put at a destination is neither added to nor replaced, unless `overwrite` is set. Where a step writes
 * to a destination no step of another job does at the same time: a lock on the folder, as long as the job.
 */
#ifndef TM_RUN_PLACE_H
#define TM_RUN_PLACE_H

#include "base/mem.h"
#include "plan/pipeline.h"
#include "sys/fs.h"
#include "sys/loop.h"

/* Looks alone. `job_dir` NULL: there is no job yet. TM_EUSAGE: a destination that is not empty and not this job's, or no folder, or
 * below something that is none. */
int tm_place_check(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                   struct tm_err *err);
struct tm_place_held TM_ARRAY(int); /* locked folders; zero-initialised there are none */
/* Makes what is missing of the folders, puts back what a killed session set aside at the
 * destination of an upload, and looks again at a destination that is written to: another job may
 * have begun since. Leave it in every case. */
int tm_place_open(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                  struct tm_place_held *held, struct tm_err *err);
void tm_place_leave(const struct tm_fs *fs, struct tm_place_held *held);

bool tm_place_has_upload(const struct tm_step *step);

struct tm_upload;
struct tm_upload_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const struct tm_step *step;
  const char *job_dir; /* as long as the upload */
  /* On the loop: 0, -ECANCELED, or what went wrong. Then only stop may be called. */
  void (*on_ended)(void *data, int code, const struct tm_err *err);
  void *data;
};
/* All of the step's, on a thread of its own. */
struct tm_upload *tm_upload_start(const struct tm_upload_options *o, struct tm_err *err);
void tm_upload_cancel(struct tm_upload *u); /* on_ended comes soon, unless it is done already */
/* Cancels, waits for the thread; memory goes when the loop has closed its handle. NULL is a no-op. */
void tm_upload_stop(struct tm_upload *u);

#endif
