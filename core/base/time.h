/* time.h - moments and durations as text, and the days of the calendar. It reads no clock: moments
 * are nanoseconds since the epoch, UTC. */
#ifndef TM_BASE_TIME_H
#define TM_BASE_TIME_H

#include <stdint.h>

struct tm_buf;

#define TM_US INT64_C(1000)       /* nanoseconds */
#define TM_MS INT64_C(1000000)    /* nanoseconds */
#define TM_S  INT64_C(1000000000) /* nanoseconds */

void tm_time_log(struct tm_buf *out, int64_t wall_ns);     /* 2026-01-31 23:59:58,123 */
void tm_time_second(struct tm_buf *out, int64_t wall_ns);  /* 2026-01-31 23:59:58 */
void tm_time_iso(struct tm_buf *out, int64_t wall_ns);     /* 2026-01-31T23:59:58.123456Z */
void tm_time_compact(struct tm_buf *out, int64_t wall_ns); /* 20260131-235958 */
void tm_time_duration(struct tm_buf *out, int64_t ns); /* 0.42 s, 12.3 s, 3 min 05 s, 2 h 03 min */
/* The same, but what is shorter than 0.1 s in other units: 52 ms, 5.2 ms, 420 µs. */
void tm_time_precise(struct tm_buf *out, int64_t ns);
/* 00:12:40, also 123:00:00; rounded down to seconds, at least 0. */
void tm_time_clock(struct tm_buf *out, int64_t ns);

/* Days from 1970-01-01 to that day, negative before it; year >= 0, month 1 to 12. A day past the
 * end of its month counts on into the next. */
int64_t tm_time_days(int year, int month, int day);

#endif
