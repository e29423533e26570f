/* node_need.h - how many nodes a group needs now (launch_plan.h). Pure.
 *
 * One, as long as a step can use workers: it is requested before anything is listed. More as
 * mini-batches appear: so many that each of those that are not over could have a worker.
 *
 *  (1) A step uses at most its node_count nodes, and the group has at most the largest node_count.
 *  (2) No node is needed for workers that the job may not have.
 */
#ifndef TM_FLEET_NODE_NEED_H
#define TM_FLEET_NODE_NEED_H

#include <stddef.h>
#include <stdint.h>

/* A running step that can use workers. */
struct tm_node_need {
  int64_t node_count;
  int64_t open; /* mini-batches that exist and are not over */
};

/* `per_node`: the workers of one node, > 0. `max_workers`: of the job; 0: any number. 0 nodes if
 * `len` is 0. */
size_t tm_node_need(const struct tm_node_need *of, size_t len, int64_t per_node,
                    int64_t max_workers);

#endif
