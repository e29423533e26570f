/* nodes.h - the nodes that commands start for a job, as listeners see them: how many there are now,
 * and their sum in this session. Pure.
 */
#ifndef TM_RECORD_NODES_H
#define TM_RECORD_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

#define TM_NODES_REASON_MAX 128 /* bytes, with the NUL */
#define TM_NODES_LOST_MAX   5   /* of the lost ones: the first, which are named at the end */

/* Those of one step, or of all steps. Steps may share nodes. */
struct tm_nodes_now {
  int64_t ready;                    /* they can be used */
  int64_t all;                      /* requested, and not ended */
  int64_t waiting;                  /* of these: in the queue of a scheduler */
  char reason[TM_NODES_REASON_MAX]; /* why the first of these waits; "": not known */
};

/* "2 of 8 nodes, 6 waiting: Resources". If all are ready: "8 nodes". Sanitized. Adds nothing if
 * there is none. */
void tm_nodes_now_add(struct tm_buf *out, const struct tm_nodes_now *n);
/* {"ready", "requested", "waiting", "reason"}: as in the file of a running job and in `status
 * --json`. */
struct tm_json *tm_nodes_now_to_json(const struct tm_nodes_now *n);
/* Reads a file that may hold anything. False: these are not nodes, and *out is zeroed. */
bool tm_nodes_now_from_json(struct tm_nodes_now *out, const struct tm_json *v);

struct tm_lost_node {
  uint32_t id;
  char *why; /* one line: "lost node 3 (cn09) after ...; see 'nodes/3.txt'" */
};

/* The nodes of a session. */
struct tm_nodes_sum {
  int64_t asked, started, lost; /* `lost`: of the started ones */
  int64_t ns;                   /* from ready to the end, summed over all nodes */
  double busy_percent;          /* tm_busy_percent() over all nodes */
};

/* The share of their lives that workers spent in run(), in per cent; 0 if worker_ns is 0. */
double tm_busy_percent(int64_t run_ns, int64_t worker_ns);
/* {"asked", "started", "lost", "seconds", "busy_percent"}, as in job_result.json. */
struct tm_json *tm_nodes_sum_to_json(const struct tm_nodes_sum *n);
/* Reads a file that may hold anything. False: this is not such a sum; *out is left alone. */
bool tm_nodes_sum_from_json(struct tm_nodes_sum *out, const struct tm_json *v);
/* "4 requested, 4 started, 1 lost; ready for 1 min 01 s in all, workers 78 % busy" */
void tm_nodes_sum_add(struct tm_buf *out, const struct tm_nodes_sum *n);

/* What a job shows to its listeners. */
struct tm_nodes_view {
  struct tm_nodes_now now;                   /* of all steps together */
  const struct tm_nodes_now *now_of_steps;   /* by number */
  struct tm_nodes_sum sum;                   /* `ns` and busy_percent: at the end of the job */
  struct TM_ARRAY(struct tm_lost_node) lost; /* the first TM_NODES_LOST_MAX */
};

#endif
