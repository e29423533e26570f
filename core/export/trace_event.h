/* trace_event.h - one event of the Trace Event Format as text.
 *
 *   tm_trace_event_begin() -> tm_trace_event_int(), _text(), _raw() for its members
 *     -> tm_trace_event_args() -> the same for its arguments -> tm_trace_event_end()
 *
 * Texts are cut at TM_TRACE_TEXT_MAX bytes, between characters, and then end in "...".
 */
#ifndef TM_EXPORT_TRACE_EVENT_H
#define TM_EXPORT_TRACE_EVENT_H

#include <stdint.h>

#include "base/buf.h"

#define TM_TRACE_TEXT_MAX 4096

struct tm_trace_thread {
  int64_t pid, tid;
};

/* `phase`: "X": a slice; "i": an instant; "C": a counter; "s", "f": the ends of an arrow; "M":
 * metadata. `name`: any text. */
void tm_trace_event_begin(struct tm_buf *out, const char *phase, const char *name,
                          struct tm_trace_thread thread, int64_t ts_us);
/* `key` and `raw` are literals of ours. */
void tm_trace_event_int(struct tm_buf *out, const char *key, int64_t value);
void tm_trace_event_number(struct tm_buf *out, const char *key, double value);
void tm_trace_event_text(struct tm_buf *out, const char *key, const char *text);
void tm_trace_event_raw(struct tm_buf *out, const char *key, const char *raw);
void tm_trace_event_args(struct tm_buf *out);
void tm_trace_event_end(struct tm_buf *out); /* of an event with arguments */

/* A name for a process or a thread, and its place among the others. */
void tm_trace_event_name(struct tm_buf *out, const char *what, const char *name, int64_t place,
                         struct tm_trace_thread thread);

#endif
