/* log.h - the supervisor's view of a step as log lines: logs/sys/master_role.txt, and
 * logs/sys/error/supervisor.txt, which exists only if the system itself had an error. Sessions
 * append to both.
 */
#ifndef TM_REPORT_LOG_H
#define TM_REPORT_LOG_H

#include "record/events.h"
#include "report/log_file.h"

struct tm_log {
  const struct tm_fs *fs;
  char *system_path;
  struct tm_log_file master, system; /* the first error opens `system` */
  int64_t pid;                       /* of this process, for the first columns */
  enum tm_level level;               /* lines below it are left out */
};

/* Fails like a log file, but the log can still be used. */
int tm_log_open(struct tm_log *l, const struct tm_fs *fs, const char *logs_dir, enum tm_level level,
                struct tm_err *err);
int tm_log_close(struct tm_log *l, struct tm_err *err); /* zeroed: a no-op */
/* Adds a line of the supervisor. */
void tm_log_add(struct tm_log *l, int64_t wall_ns, enum tm_level level, const char *message);
/* Logs an event, if it belongs here: workers, messages, the beginning and the end of the step; at
 * DEBUG also each mini-batch that is handed out, and each try that ends. Fails if the file for
 * errors of the system cannot be opened. */
int tm_log_add_event(struct tm_log *l, const struct tm_event *e, struct tm_err *err);
int tm_log_flush(struct tm_log *l, struct tm_err *err);

#endif
