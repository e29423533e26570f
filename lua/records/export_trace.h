/* export_trace.h - writes a job as Trace Event JSON (core/export/trace.h), from its tables. */
#ifndef TM_RECORDS_EXPORT_TRACE_H
#define TM_RECORDS_EXPORT_TRACE_H

#include "records/disk.h"
#include "export/joblog.h"

/* Gets each table (a path below logs/), when it has been read. */
struct tm_trace_faults {
  void (*on_fault)(void *data, const struct tidemill_record_step *step, const char *file,
                   const struct tm_table_faults *faults);
  void *data;
};
/* `step` NULL: all steps. Returns 0, a system error, or what the sink returned. */
int tm_record_write_trace(struct tidemill_record *r, const char *step,
                          const struct tm_text_sink *sink, const struct tm_trace_faults *faults,
                          struct tm_err *err);

#endif
