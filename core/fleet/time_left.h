/* time_left.h - whether a node whose Slurm job has a time limit may get another mini-batch. Pure.
 * Times are ns of one clock.
 *
 *  (1) A node drains when it has less time left than the longest run() so far plus
 *      TM_TIME_LEFT_MARGIN_NS. It gets no mini-batch then.
 *  (2) Until a mini-batch of a step has ended, run_invocation_timeout replaces its longest run(),
 *      but at most half of the time that the node had when it started.
 *  (3) Slurm announces the end with a signal, at most TM_TIME_LEFT_SIGNAL_NS before it
 *      (slurm_command.c). So a node that drains in that time lacks time, whoever asked it to.
 */
#ifndef TM_FLEET_TIME_LEFT_H
#define TM_FLEET_TIME_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TM_TIME_LEFT_MARGIN_NS (30 * INT64_C(1000000000))
#define TM_TIME_LEFT_SIGNAL_NS (150 * INT64_C(1000000000)) /* 90 s; Slurm may be 60 s early */

/* What is known of a node. Zeroed: nothing, or it has no limit. */
struct tm_time_left {
  int64_t had_ns; /* the time that it had */
  int64_t at_ns;  /* at this moment */
};

/* A step that runs on the node. */
struct tm_run_times {
  int64_t longest_ns; /* run() so far; 0: no mini-batch has ended */
  int64_t timeout_ns; /* of one run() */
};

/* Slurm's answer: seconds, negative without a limit. The first one counts. `at_ns`: when it was
 * asked. */
void tm_time_left_set(struct tm_time_left *t, int64_t seconds, int64_t at_ns);
bool tm_time_left_is_known(const struct tm_time_left *t);
/* INT64_MAX: not known, or without a limit. */
int64_t tm_time_left_ns(const struct tm_time_left *t, int64_t now_ns);
/* How long the next run() may take, by (1) and (2): without the margin. *was_measured: that is the
 * time of a run(). */
int64_t tm_time_left_run_ns(const struct tm_time_left *t, const struct tm_run_times *steps,
                            size_t len, bool *was_measured);
/* Whether there is time for a run() of that length. */
bool tm_time_left_is_enough(const struct tm_time_left *t, int64_t run_ns, int64_t now_ns);
bool tm_time_left_is_announced(const struct tm_time_left *t, int64_t now_ns); /* (3) */

#endif
