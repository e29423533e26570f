/* step_report.h - the log files of one step that are written from events: report.h lists them.
 *
 * Caller: new when the step becomes known; pass the step's events, the messages about the job, and
 * ticks; free. A failure to write goes to `note` with a message, once per file.
 */
#ifndef TM_REPORT_STEP_REPORT_H
#define TM_REPORT_STEP_REPORT_H

#include "record/events.h"
#include "report/errors.h"
#include "sys/fs.h"

struct tm_step_report;

typedef void (*tm_on_note)(void *data, const struct tm_err *err);

/* Opens the files, and logs what starts. `e` is any event. */
struct tm_step_report *tm_step_report_new(const struct tm_fs *fs, const struct tm_event *e,
                                          const struct tm_step_view *step, tm_on_note note,
                                          void *data);
void tm_step_report_free(struct tm_step_report *s); /* NULL: a no-op */
/* Any event of the step, or a message about its job. Returns true for a new distinct error. */
bool tm_step_report_add(struct tm_step_report *s, const struct tm_event *e);
void tm_step_report_tick(struct tm_step_report *s, const struct tm_event *e,
                         const struct tm_step_view *step);
const struct tm_errors *tm_step_report_errors(const struct tm_step_report *s);

#endif
