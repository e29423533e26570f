/* counts.h - the numbers of a step, and how it stands. */
#ifndef TM_RECORD_COUNTS_H
#define TM_RECORD_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

/* Only steps are TM_SKIPPED: another step did not write all that they read. */
enum tm_verdict { TM_RUNNING, TM_COMPLETED, TM_FAILED, TM_CANCELED_JOB, TM_SKIPPED };

/* The numbers of a step, over all sessions of the job. */
struct tm_counts {
  int64_t created; /* mini-batches; final when all_created */
  bool all_created;
  int64_t succeeded, failed, running;           /* mini-batches */
  int64_t items, items_succeeded, items_failed; /* of mini-batches that have ended */
  int64_t items_created;                        /* of all mini-batches created */
  int64_t uncounted; /* of `failed`: those whose rows nobody could count; each counts as one item */
  int64_t returned;  /* elements */
  int64_t parts;     /* parts that were tried, to isolate bad items; in this session */
  /* tries that failed: by error, by timeout, with their worker; this session */
  int64_t errors, timeouts, lost;
};

#endif
