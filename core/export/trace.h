/* trace.h - a job as Trace Event JSON, which Perfetto and chrome://tracing show. Pure: it is fed
 * with rows, and passes text on.
 *
 *   tm_trace_init() -> for each step: tm_trace_begin_step()
 *                        -> all events of its workers -> its tries -> samples of its nodes
 *                        -> tm_trace_end_step()
 *   -> tm_trace_end() -> tm_trace_release()
 *
 * A process is a node, a thread is a worker slot (insight/worker_slots.h). The process "steps" is
 * above them: a thread is a step, a slice is a session of it, and a counter shows items per
 * second.
 *
 *  (1) Everything is written once, in the order in which it is fed: there is one pass. The memory
 *      depends on the number of workers, not on that of tries.
 *  (2) The slices of a thread do not overlap, and no duration is negative: a row that contradicts
 *      the clock is moved or cut, and counted in the metadata.
 *  (3) With at most `slices_max` tries each of them is a slice. With more, neighbouring short tries
 *      of a worker with the same status are one slice, and the metadata says how short.
 *  (4) Rows may hold anything: the text is valid JSON and valid UTF-8.
 *
 * All times are in microseconds since `origin_ns`; nothing is earlier. A try that never began has
 * no place, and is only counted.
 */
#ifndef TM_EXPORT_TRACE_H
#define TM_EXPORT_TRACE_H

#include "export/trace_state.h"
#include "report/sample_rows.h"

/* The first bytes of a trace, to recognise one. */
#define TM_TRACE_MARK "{\"about\":\"tidemill trace\""

void tm_trace_init(struct tm_trace *t, const struct tm_trace_options *o);
/* `step` and what it points to live until tm_trace_end_step(). */
void tm_trace_begin_step(struct tm_trace *t, const struct tm_trace_step *step);
void tm_trace_add_event(struct tm_trace *t, const struct tm_life_row *e);
void tm_trace_add_try(struct tm_trace *t, const struct tm_try_row *row);
void tm_trace_add_sample(struct tm_trace *t, const char *node, const struct tm_node_sample *s);
void tm_trace_end_step(struct tm_trace *t);
/* Writes what is left. Returns 0, or what on_text() returned. */
int tm_trace_end(struct tm_trace *t);
void tm_trace_release(struct tm_trace *t); /* also without an end */

#endif
