/* joblog_file.h - the joblog of a job that runs: a listener of record/events.h that appends a row
 * (joblog.h) when a mini-batch has ended.
 *
 * The file is the user's. Rows are collected, and written at ticks; nothing is synced. A failure to
 * write is reported once; then the file gets no more rows, and the job continues.
 *
 * Caller: new before tm_job_open(), with the job's events; free after tm_job_close().
 */
#ifndef TM_EXPORT_JOBLOG_FILE_H
#define TM_EXPORT_JOBLOG_FILE_H

#include "base/err.h"
#include "record/events.h"
#include "sys/fs.h"

struct tm_joblog_file;

struct tm_joblog_file_options {
  const struct tm_fs *fs;
  const char *path;
  struct tm_events *events; /* the listener is added to these; must outlive it */
  void (*on_failure)(void *data, const struct tm_err *err);
  void *data;
};

/* Opens the file, or makes it; an empty one gets the header. NULL and an error: it cannot be
 * opened. TM_EUSAGE: it is not a joblog, or cannot be appended to. */
struct tm_joblog_file *tm_joblog_file_new(const struct tm_joblog_file_options *o,
                                          struct tm_err *err);
/* Writes what was collected. No event may follow. NULL: a no-op. */
void tm_joblog_file_free(struct tm_joblog_file *f);

#endif
