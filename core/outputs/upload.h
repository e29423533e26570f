/* upload.h - puts one output at its destination. uploads.c calls it, on a thread.
 *
 *  (1) The copy or archive is made beside the destination, as <destination>.tidemill-<job>. All of
 *      it is on the disk before it gets its name.
 *  (2) Before that the mark is written: which folder or file it is, and from which outcomes of the
 *      step it was made (upload_mark.h). After a kill the mark tells what the destination is.
 *  (3) An upload is done if the destination is this job's, and the step has the same outcomes as
 *      when the upload was made. A resumed step that has more outcomes is uploaded again and
 *      replaces the old upload.
 *  (4) Something that is not this job's is replaced only with `overwrite`. If the file system can
 *      exchange two names, the destination is never missing meanwhile. Otherwise the old folder is
 *      set aside first, as <destination>.tidemill-<job>.before. It is put back when the new one
 *      cannot get the name, or when the job is resumed.
 */
#ifndef TM_OUTPUTS_UPLOAD_H
#define TM_OUTPUTS_UPLOAD_H

#include <stdatomic.h>

#include "plan/pipeline.h"
#include "sys/fs.h"

/* 1: this job put there what is at the destination of outputs[i], and nobody has changed it since.
 * 0: not. Or a system error. */
int tm_upload_is_own(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                     const char *job_dir, struct tm_err *err);
/* 1: that, and it is up to date (3). 0: not. Or a system error, or TM_EVERSION of the journal. */
int tm_upload_is_done(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                      const char *job_dir, struct tm_err *err);
/* Makes it so, unless it is. The journal must be on the disk. -ECANCELED if `stop` was set before
 * the copy got its name. */
int tm_upload_output(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                     const char *job_dir, const atomic_bool *stop, struct tm_err *err);
/* Puts back what a killed session had set aside, if nothing is at the destination (4). */
int tm_upload_mend(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                   const char *job_dir, struct tm_err *err);

#endif
