/* trace_tries.h - tries in a trace: slices, arrows from failed ones to the next, and the joining of
 * short ones where there are too many. For trace.h. */
#ifndef TM_EXPORT_TRACE_TRIES_H
#define TM_EXPORT_TRACE_TRIES_H

#include "export/trace_state.h"
#include "report/try_rows.h"

void tm_trace_write_try(struct tm_trace *t, const struct tm_try_row *row);
/* Those that were joined, and the init()s that failed without a row. */
void tm_trace_write_rest(struct tm_trace *t);
void tm_trace_release_life(struct tm_trace_life *life);

#endif
