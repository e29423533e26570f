/* tidemill/insight.h - what happened in a job, summed up: the model behind `tidemill report`. */
#ifndef TIDEMILL_INSIGHT_H
#define TIDEMILL_INSIGHT_H

#include <stddef.h>
#include <stdint.h>
#include <tidemill/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Insights ----
 *
 *   tidemill_insight_open() -> tidemill_insight_json()
 *   -> for a job that runs: tidemill_insight_refresh(), and ask again -> tidemill_insight_close()
 *
 * Reads a job whichever process runs it, as a record does (tidemill/record.h), and sums up its
 * tables. An insight takes at most about 50 MB, for a job of any size. It neither writes a file nor
 * needs a runtime. Any thread may use one, one thread at a time. A file that is missing or damaged
 * costs what it holds, and the rest is shown.
 */

struct tidemill_insight;

struct tidemill_insight_options {
  size_t size;
  int64_t now_ns; /* taken for the time now, in place of the clock; 0: the clock */
};
#define TIDEMILL_INSIGHT_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_insight_options)

/* Opens a job. `ws` and `job` are as for tidemill_record_open(), and `options` may be NULL. A job
 * that was removed is found by its directory or name, as long as the workspace remembers it.
 * TIDEMILL_EUSAGE: there is no such job. TIDEMILL_EVERSION, TIDEMILL_EDAMAGE, or a system error. */
TIDEMILL_API int tidemill_insight_open(struct tidemill_insight **out, struct tidemill_workspace *ws,
                                       const char *job,
                                       const struct tidemill_insight_options *options,
                                       struct tidemill_error *err);
/* Reads what is new, in time proportional to that. Returns 1: there may be something new, and what
 * the insight has returned is gone. 0: nothing has changed. If the job cannot be read any more, the
 * insight keeps what it has read, and says so in its "fault". */
TIDEMILL_API int tidemill_insight_refresh(struct tidemill_insight *in, struct tidemill_error *err);
/* A descriptor to poll, as tidemill_record_fd(). Negative: none could be had. */
TIDEMILL_API int tidemill_insight_fd(struct tidemill_insight *in, struct tidemill_error *err);
/* All of it as one JSON object, on one line, with "version": 1. Valid until the next call for this
 * insight. */
TIDEMILL_API const char *tidemill_insight_json(struct tidemill_insight *in);
TIDEMILL_API void tidemill_insight_close(struct tidemill_insight *in);

#ifdef __cplusplus
}
#endif
#endif
