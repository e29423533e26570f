/* destinations.h - the folders that a step writes, and the destinations where they appear
 * (plan/pipeline.h, struct tm_step_output).
 *
 *   no destination   <step>/output is a folder.
 *   mount            <step>/output is a link to the destination: files appear there at once.
 *   archive          <step>/output is a folder. When the step is Completed, all of it is packed
 *                    into one file, which appears at the destination as an upload does.
 *   upload           <step>/output is a folder. When the step is Completed, a copy of it appears
 *                    at the destination. The copy is on the disk before; one rename or one
 *                    exchange of names puts it there. The mark in <step>/state/upload.<n> says
 *                    whether the destination is this job's and up to date: upload.h.
 *
 * Without `overwrite`, a step neither adds to nor replaces what somebody else has put at a
 * destination. While a job lives, it holds a lock on each destination folder that its steps write
 * to, so that no step of another job writes there at the same time.
 */
#ifndef TM_OUTPUTS_DESTINATIONS_H
#define TM_OUTPUTS_DESTINATIONS_H

#include "base/mem.h"
#include "plan/pipeline.h"
#include "sys/fs.h"

/* Only looks. `job_dir` NULL: there is no job yet. TM_EUSAGE: a destination is not empty and not
 * this job's, or it is not a folder, or something above it is not a folder. */
int tm_destinations_check(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                          struct tm_err *err);
/* By output: the descriptor of a locked destination, or -1. Zero-initialised: none. */
struct tm_destinations_held TM_ARRAY(int);
/* Locks the destinations that exist, and changes nothing. TM_EUSAGE: another job writes there.
 * Leave `held` in every case. */
int tm_destinations_hold(const struct tm_fs *fs, const struct tm_step *step,
                         struct tm_destinations_held *held, struct tm_err *err);
/* Locks the other destinations, too. Makes the missing folders, and puts back what a killed session
 * set aside at the destination of an upload. Checks the written destinations once more, because
 * another job may have begun since. Leave `held` in every case. */
int tm_destinations_open(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                         struct tm_destinations_held *held, struct tm_err *err);
void tm_destinations_leave(const struct tm_fs *fs, struct tm_destinations_held *held);

bool tm_destinations_has_upload(const struct tm_step *step);

#endif
