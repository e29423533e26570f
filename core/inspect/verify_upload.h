/* verify_upload.h - checks whether the destinations of a Completed step have what the step
 * uploaded. For verify.c.
 *
 * A folder is compared with the step's own output folder, byte for byte; files added to it since
 * are ignored. An archive is compared by the hash in its mark (upload_mark.h).
 *
 * The file of `map --output` is a copy of the rows, and is compared with them. If it differs, or is
 * gone, its mark tells whether somebody has changed it since: users may do so.
 *
 * A destination that is not as this job left it may be the upload of another job by now. If a mark
 * of a job in the workspace's history says so, that is reported and is not a fault of this job.
 */
#ifndef TM_INSPECT_VERIFY_UPLOAD_H
#define TM_INSPECT_VERIFY_UPLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* Counts faults and reports them, as verify.h says. */
struct tm_faults {
  void (*on_fault)(void *data, const char *path, int64_t at, const char *what);
  void *data;
  int64_t found;
};

void tm_fault(struct tm_faults *f, const char *path, int64_t at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

struct tm_verify_uploads {
  const char *job_dir;   /* absolute */
  const char *workspace; /* its jobs may have replaced an upload; NULL: they are not searched */
  const struct tm_json *step; /* of job.json */
  bool is_output_good;        /* the step's own files are what its journal says */
  const char *rows;        /* the step's own, to compare a copy with; NULL: no copy is looked at */
  const char *wanted_copy; /* where it is, if no mark says so (upload_mark.h); or NULL */
  /* In and out: without those of the copy. A message ends with a command that mends the fault if
   * there is one. */
  struct tm_faults faults;
  /* Out: a line for each destination that is as it was uploaded, or was replaced; to release. */
  struct tm_buf said;
  struct tm_buf copy_said; /* out: the same for the copy of the rows; to release */
  int64_t copy_faults;     /* out */
};

/* 0, or a system error: a file could not be read. */
int tm_verify_uploads(struct tm_verify_uploads *v, struct tm_err *err);

#endif
