/* log.h - the supervisor's view of a step as log lines: logs/sys/master_role.txt, and logs/sys/error/supervisor.txt, which
 * is there only when the system itself had an error. Both are appended to, session after session.
 */
#ifndef TM_REPORT_LOG_H
#define TM_REPORT_LOG_H

#include "report/log_file.h"
#include "run/events.h"

struct tm_log {
  const struct tm_fs *fs;
  char *system_path;
  struct tm_log_file master, system; /* `system` is opened by the first error */
  int64_t pid;                       /* of this process: the first columns say who writes */
  enum tm_level level;               /* what is below it is left out */
};

/* Fails as a log file does; the log can be used all the same. */
int tm_log_open(struct tm_log *l, const struct tm_fs *fs, const char *logs_dir, enum tm_level level,
                struct tm_err *err);
int tm_log_close(struct tm_log *l, struct tm_err *err); /* zeroed: a no-op */
/* A line of the supervisor's. */
void tm_log_add(struct tm_log *l, int64_t wall_ns, enum tm_level level, const char *message);
/* What an event says, if this log has a line for it: workers, messages, the beginning and the end of the step; at DEBUG also
 * each mini-batch that is handed out, and each try that ends. Fails when the file for errors of the system cannot be opened. */
int tm_log_add_event(struct tm_log *l, const struct tm_event *e, struct tm_err *err);
int tm_log_flush(struct tm_log *l, struct tm_err *err);

#endif
