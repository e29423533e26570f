/* progress.h - the progress of a job, as text: a bar for a terminal, a line for a log or a pipe. It
 * writes nothing itself.
 *
 * There is no percentage, bar or time left before all mini-batches have been created.
 *
 * Caller: init; sample with counts and the time, as often as wanted; add a bar or a line.
 */
#ifndef TM_REPORT_PROGRESS_H
#define TM_REPORT_PROGRESS_H

#include "base/buf.h"
#include "record/events.h"

#define TM_PROGRESS_SAMPLES                                                                        \
  16 /* at least a second apart: the speed is that of the last 15 seconds */

struct tm_progress {
  const char *name; /* the beginning of the line; the caller's memory */
  struct tm_counts counts;
  int64_t begin_ns, now_ns; /* monotonic */
  struct {
    int64_t at_ns, done, items;
    /* a ring; the newest is at (samples_len - 1) % TM_PROGRESS_SAMPLES */
  } samples[TM_PROGRESS_SAMPLES];
  int64_t samples_len;                     /* ever taken */
  size_t steps, steps_over, steps_running; /* of a job with several; otherwise steps is 0 */
  int64_t begin_done, begin_items;         /* of the first sample */
  char nodes[200];                         /* "2 of 8 nodes, 6 waiting: Resources"; "": none */
  char slow[600], slow_short[80]; /* what is slow (record/activity.h), sanitized; "": nothing */
};

void tm_progress_init(struct tm_progress *p, const char *name);
/* The current counts, of a step or of a job. The first call marks the beginning: earlier work does
 * not count for the speed. */
void tm_progress_sample(struct tm_progress *p, const struct tm_counts *counts, int64_t mono_ns);
/* Sets the numbers of all steps, and of those running and ended, for a job with several. */
void tm_progress_set_steps(struct tm_progress *p, const struct tm_job_view *job);
/* Takes over what is slow now in these steps (some may be NULL): in the step where something takes
 * longest. */
void tm_progress_set_slow(struct tm_progress *p, const struct tm_step_view *const *steps, size_t n);
/* Takes over how many nodes there are now; NULL: no command starts nodes. */
void tm_progress_set_nodes(struct tm_progress *p, const struct tm_nodes_now *nodes);
/* Sums the counts of all steps of a job, and returns its label: its only step's name, or its
 * own. */
const char *tm_progress_sum(struct tm_counts *out, const struct tm_job_view *job);
/* Mini-batches and items per second: in the last 15 seconds or, if too few mini-batches end in that
 * time, since the beginning. 0 while unknown. */
double tm_progress_speed(const struct tm_progress *p);
double tm_progress_item_speed(const struct tm_progress *p);
/* Nanoseconds; -1 while unknown, and if nothing is left. */
int64_t tm_progress_left(const struct tm_progress *p);

/* One line without its end, at most `width` columns: the least important parts are left out
 * first. What is slow stays longer than the gauge. */
void tm_progress_add_bar(struct tm_buf *out, const struct tm_progress *p, int width);
/* One line without its end, complete. */
void tm_progress_add_line(struct tm_buf *out, const struct tm_progress *p);
/* The same as a sentence, with the results so far, for job_progress_overview.txt (overview.h). */
void tm_progress_add_overview(struct tm_buf *out, const struct tm_progress *p);

#endif
