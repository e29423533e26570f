/* metrics.h - a job as OpenMetrics text: a file for the textfile collector of a node exporter, or
 * an answer to a scraper. A public format.
 *
 * Each name begins with tidemill_; the table in metrics.c has all of them. Labels: pipeline, job,
 * and step for the names about steps. A number that is not known has no line. Only what never
 * decreases is a counter: a mini-batch that failed may succeed when the job is resumed.
 *
 * Caller: for each step, tm_metrics_read_step() as often as there may be more, then fill in the
 * counts; tm_metrics_add().
 */
#ifndef TM_EXPORT_METRICS_H
#define TM_EXPORT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"

#define TM_METRICS_NODES 256 /* of a step, whose workers are measured */

struct tm_metrics_node {
  char *id;
  int64_t workers;              /* that are alive */
  int64_t samples_at;           /* a place in the table of its processes */
  int64_t moment_ns, rss_bytes; /* the last one, and the sum of its workers then */
};

/* -1: not known. */
struct tm_metrics_step {
  const char *name;
  int64_t created, remaining, running, succeeded, failed; /* mini-batches */
  int64_t items_remaining, items_succeeded, items_failed;
  /* The sums below are from the step's tables. */
  int64_t tries, try_errors, try_timeouts, try_lost;
  int64_t run_ns, overhead_ns, init_ns; /* of workers: in run(); in the rest of tries; in init() */
  int64_t result_bytes;
  int64_t workers, deaths;    /* in this session; of all sessions */
  int64_t max_rss_bytes;      /* of the workers that have ended, the largest one */
  int64_t rss_bytes;          /* of those that are alive, when they were measured last */
  int64_t last_ns;            /* wall clock: the last event */
  int64_t tries_at, lives_at; /* places in the tables */
  int64_t session_ns;         /* wall clock: when the session began that `workers` is of */
  struct TM_ARRAY(struct tm_metrics_node) nodes;
};

struct tm_metrics_job {
  const char *pipeline, *name;
  int64_t is_running, is_completed; /* 0 or 1 */
  int64_t begin_ns, end_ns;         /* wall clock; 0: not known, or running */
  int64_t elapsed_ns;               /* -1: not known */
  const struct tm_metrics_step *steps;
  size_t steps_len;
};

/* Adds to the sums what is new in the tables below `logs_dir`; zeroed: all. `session_ns`: when the
 * step's last session began. Leaves out what cannot be read. */
void tm_metrics_read_step(struct tm_metrics_step *s, const char *logs_dir, int64_t session_ns);
void tm_metrics_release_step(struct tm_metrics_step *s); /* zeroed: a no-op */
void tm_metrics_add(struct tm_buf *out, const struct tm_metrics_job *job);

#endif
