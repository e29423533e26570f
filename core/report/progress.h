/* progress.h - how far a job is, as text: a bar for a terminal, a line for a log or a pipe. Nothing is written here.
 *
 * Honest while the total is unknown: without percentage, bar and time left until all mini-batches have been created.
 *
 * Caller: init; sample with counts and the time, as often as wanted; add a bar or a line.
 */
#ifndef TM_REPORT_PROGRESS_H
#define TM_REPORT_PROGRESS_H

#include "base/buf.h"
#include "run/events.h"

#define TM_PROGRESS_SAMPLES                                                                        \
  16 /* a second or more apart: the speed is that of the last quarter of a minute */

struct tm_progress {
  const char *name; /* what the line begins with; the caller's memory */
  struct tm_counts counts;
  int64_t begin_ns, now_ns; /* monotonic */
  struct {
    int64_t at_ns, done, items;
  } samples
      [TM_PROGRESS_SAMPLES]; /* a ring; the newest is at (samples_len - 1) % TM_PROGRESS_SAMPLES */
  int64_t samples_len;       /* ever taken */
  size_t steps, steps_over, steps_running; /* of a job of several; steps is 0 else */
  int64_t begin_done, begin_items;         /* of the first sample */
  char slow[600], slow_short[80]; /* what is slow (run/activity.h), sanitized; "": nothing */
};

void tm_progress_init(struct tm_progress *p, const char *name);
/* The counts now, of a step or of a job. The first call is the beginning: what had been done before it is no speed. */
void tm_progress_sample(struct tm_progress *p, const struct tm_counts *counts, int64_t mono_ns);
/* How many steps there are, and how many of them run and are over, for a job of several. */
void tm_progress_set_steps(struct tm_progress *p, const struct tm_job_view *job);
/* What is slow now in one of these steps (some may be NULL): of several, in the step where something takes longest. */
void tm_progress_set_slow(struct tm_progress *p, const struct tm_step_view *const *steps, size_t n);
/* The counts of all steps of a job, and what to call it: its only step's name, or its own. */
const char *tm_progress_sum(struct tm_counts *out, const struct tm_job_view *job);
/* Mini-batches and items a second: of the last quarter of a minute, or, where too few mini-batches end in it to tell, of all
 * the time since the beginning. 0 while unknown. */
double tm_progress_speed(const struct tm_progress *p);
double tm_progress_item_speed(const struct tm_progress *p);
/* Nanoseconds; -1 while unknown, and when nothing is left. */
int64_t tm_progress_left(const struct tm_progress *p);

/* One line without its end, of at most `width` columns: what matters least is left out first. What is slow matters more than
 * the gauge. */
void tm_progress_add_bar(struct tm_buf *out, const struct tm_progress *p, int width);
/* One line without its end, whole. */
void tm_progress_add_line(struct tm_buf *out, const struct tm_progress *p);
/* The same in words, with what has come of it, for job_progress_overview.txt (overview.h). */
void tm_progress_add_overview(struct tm_buf *out, const struct tm_progress *p);

#endif
