/* now.h - how far a job that runs has come, and how fast it is just now; of all steps together.
 * Pure. */
#ifndef TM_PAGE_NOW_H
#define TM_PAGE_NOW_H

#include <stdint.h>

#include "page/job_page.h"

struct tm_now {
  double share;            /* of the mini-batches that have ended; negative: not all are listed */
  int64_t left_ns;         /* -1: not known */
  double items_per_second; /* in the last seconds; negative: not known */
  int64_t workers;         /* that are alive */
  int64_t wanted;          /* workers of the steps that run; 0: not known */
  int64_t deaths;
  int64_t workers_rss, memory; /* bytes: of all workers; of their machines. -1: not known */
  double cpu_percent;          /* the mean of the machines; negative: not known */
};

/* `page`: of a job that runs. */
void tm_now_of(struct tm_now *now, const struct tm_job_page *page);

#endif
