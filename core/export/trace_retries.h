/* trace_retries.h - remembers failed tries until the next try of their mini-batch comes, for arrows
 * between them. Pure, and of a fixed size: of those that hash to one place, TM_RETRIES_EACH are
 * remembered, and the oldest is forgotten and counted. */
#ifndef TM_EXPORT_TRACE_RETRIES_H
#define TM_EXPORT_TRACE_RETRIES_H

#include <stdbool.h>
#include <stdint.h>

#define TM_RETRIES_EACH   8
#define TM_RETRIES_PLACES 8192

struct tm_retry { /* a failed try */
  bool is_used;   /* of a place */
  int64_t mini_batch;
  int64_t begin_us, end_us;
  int64_t pid, tid;
};

struct tm_trace_retries {                     /* zeroed: ready */
  struct tm_retry (*places)[TM_RETRIES_EACH]; /* each: the newest first; NULL: not needed yet */
  int64_t forgotten;
};

void tm_trace_retries_release(struct tm_trace_retries *r);
void tm_trace_retries_clear(struct tm_trace_retries *r); /* of the step before; keeps `forgotten` */
void tm_trace_retries_add(struct tm_trace_retries *r, const struct tm_retry *failed);
/* Removes and returns the last failed try of the mini-batch; false: none is known. */
bool tm_trace_retries_take(struct tm_trace_retries *r, int64_t mini_batch, struct tm_retry *out);

#endif
