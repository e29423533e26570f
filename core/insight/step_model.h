/* step_model.h - what happened in a step, in a size that does not depend on the number of its
 * mini-batches. Pure.
 *
 *   tm_step_model_init() -> set_sessions() -> events of workers, tries, samples, in pieces of any
 *   size; a try comes behind the event "started" of its worker -> tm_step_model_settle() -> read
 *   the members; then more pieces, or tm_step_model_release()
 *
 *  (1) A model that is fed piece by piece ends with the same contents as one that is fed at once,
 *      if within each kind the rows come in the order of their file. The next settle() replaces
 *      what the last one has set; tm_step_model_is_exact() says whether it has left a trace.
 *  (2) No duration is negative; what would be is counted in `clock_jumps`.
 *  (3) All that is added up is an integer, and no sum overflows.
 */
#ifndef TM_INSIGHT_STEP_MODEL_H
#define TM_INSIGHT_STEP_MODEL_H

#include "insight/gauges.h"
#include "insight/lanes.h"
#include "insight/notable.h"
#include "insight/quantiles.h"
#include "insight/worker_slots.h"
#include "report/sample_rows.h"

#define TM_SERIES_BINS   2048
#define TM_GAUGE_BINS    1024 /* of a node; fewer if there are more than 16 nodes */
#define TM_FAILED_BEFORE 65536
#define TM_NODES_NAMED   256 /* later ones are counted together, without gauges */

enum tm_category { /* of a try, as in the column Error Category */
                   TM_CATEGORY_OK,
                   TM_CATEGORY_ERROR, /* also an unknown one */
                   TM_CATEGORY_TIMEOUT,
                   TM_CATEGORY_LOST,
                   TM_CATEGORY_CANCELED,
                   TM_CATEGORIES
};
const char *tm_category_name(enum tm_category c); /* "ok", "error", ... */
enum tm_category tm_category_of(const char *text);

enum tm_series_channel {
  TM_SERIES_ITEMS, /* of tries that succeeded, when they ended */
  TM_SERIES_OK,    /* tries that succeeded, when they ended */
  TM_SERIES_FAILED,
  TM_SERIES_BUSY,  /* ns in which workers had a try */
  TM_SERIES_RUNS,  /* likewise, a try that runs; by tm_step_model_settle() */
  TM_SERIES_ALIVE, /* ns in which there were workers; by tm_step_model_settle() */
  TM_SERIES_CHANNELS
};

/* Of a node; rates are per second. */
enum tm_gauge_kind {
  TM_GAUGE_CPU,     /* hundredths of a percent of all cores */
  TM_GAUGE_MEMORY,  /* bytes in use on the machine */
  TM_GAUGE_WORKERS, /* bytes resident in all workers and their descendants */
  TM_GAUGE_DISK_READ,
  TM_GAUGE_DISK_WRITE,
  TM_GAUGE_NET_SENT,
  TM_GAUGE_NET_RECV,
  TM_GAUGES
};

struct tm_node_model {
  char *id, *address;
  int64_t memory_total;              /* bytes; 0: not known */
  struct tm_gauge gauges[TM_GAUGES]; /* `bins.max` 0: never measured, which is a gap everywhere */
  double disk_used_percent;          /* the fullest file system, last sample; negative: not known */
  char *disk_fullest;                /* its mount point; NULL: not known */
  int64_t tries, failed_tries, items, run_ok_ns, run_ns;
  struct tm_node_sample last;         /* rates are differences to it */
  int64_t workers_at_ns, workers_rss; /* the sum of the last moment */
  int64_t disks_at_ns;                /* the last moment */
};

/* A session of the step: where the axis has a gap. */
struct tm_step_session {
  int64_t begin_ns, end_ns; /* the last moment that the tables have of it */
  int64_t mini_batches;
};

struct tm_step_model {
  int64_t origin_ns, last_ns; /* where the axis begins, and the last moment of any row */
  int64_t last_new_ns;        /* when the last first try of a mini-batch began; 0: none has */
  int64_t known_ns;           /* of a running step: later, not all is known; by settle() */
  bool lacks_tries;           /* set before settle(): the table of tries has no rows, or faults */
  int64_t tries[TM_CATEGORIES];
  int64_t tries_failed;           /* all that did not succeed and were not canceled */
  int64_t items, items_failed;    /* of tries that succeeded: returned, and not */
  int64_t retried, retried_items; /* of tries that succeeded after one of their mini-batch failed */
  struct tm_map failed_before;    /* mini-batches with a failed try, the first TM_FAILED_BEFORE */
  int64_t result_bytes, clock_jumps;
  int64_t tries_ns, cpu_ns;   /* of tries that succeeded: from their begin, and processor time */
  struct tm_quantiles run;    /* ns in run() of all tries that began it */
  struct tm_quantiles around; /* outside of run(), of tries that succeeded */
  struct tm_bins series;
  struct tm_lanes lanes;
  struct tm_workers workers;
  struct tm_notable notable;
  struct TM_ARRAY(struct tm_node_model) nodes;      /* in the order of their first workers */
  struct TM_ARRAY(struct tm_step_session) sessions; /* set by tm_step_model_set_sessions() */
};

/* `origin_ns`: when the first session began. */
void tm_step_model_init(struct tm_step_model *m, int64_t origin_ns);
void tm_step_model_release(struct tm_step_model *m);
/* Before rows of these sessions are added; later only to set `mini_batches`, for with one more
 * session the slots of earlier rows could be others. `end_ns` is ignored. */
void tm_step_model_set_sessions(struct tm_step_model *m, const struct tm_step_session *sessions,
                                size_t len);
void tm_step_model_add_event(struct tm_step_model *m, const struct tm_life_row *e);
void tm_step_model_add_try(struct tm_step_model *m, const struct tm_try_row *t);
/* The node of that id; NULL: it is not known. */
struct tm_node_model *tm_step_model_node(const struct tm_step_model *m, const char *id);
/* Bins of a gauge at most. */
size_t tm_step_model_gauge_bins(const struct tm_step_model *m);
/* Of a node whose id is known from a worker; of others, nothing is added. */
void tm_step_model_add_sample(struct tm_step_model *m, const char *node,
                              const struct tm_node_sample *s);
void tm_step_model_add_process(struct tm_step_model *m, const char *node,
                               const struct tm_process_sample *s);
void tm_step_model_add_disk(struct tm_step_model *m, const char *node,
                            const struct tm_disk_sample *s);
/* Sets what depends on the time: `known_ns`, TM_SERIES_RUNS and _ALIVE, TM_LANE_OPEN, _ALIVE and
 * _INIT. `now_ns`: of a running step, or 0. Before that, tm_workers_set_running() says which tries
 * run. Without all tries, nobody knows when workers had nothing to do, and lanes have no
 * TM_LANE_ALIVE. */
void tm_step_model_settle(struct tm_step_model *m, int64_t now_ns);
/* False: settle() got a time so far behind the last row that the bins are wider than those of a
 * model that is fed at once and settled with 0. */
bool tm_step_model_is_exact(const struct tm_step_model *m);
/* The whole of the time of all workers. `now_ns`: of a running step, or 0. */
void tm_step_model_time(const struct tm_step_model *m, int64_t now_ns, struct tm_worker_time *sum);

#endif
