/* export_trace.h - writes a job as Trace Event JSON (core/export/trace.h), from its tables. */
#ifndef TM_RECORDS_EXPORT_TRACE_H
#define TM_RECORDS_EXPORT_TRACE_H

#include "records/disk.h"
#include "export/joblog.h"

/* `step` NULL: all steps. Returns 0, a system error, or what the sink returned. */
int tm_record_write_trace(struct tidemill_record *r, const char *step,
                          const struct tm_text_sink *sink, struct tm_err *err);

#endif
