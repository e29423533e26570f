/* same_nodes.h - whether two steps can use the same nodes: those of a launcher, where everything
 * that says how their nodes are started and watched is equal. How many of them each step uses does
 * not count. Pure. */
#ifndef TM_JOB_SAME_NODES_H
#define TM_JOB_SAME_NODES_H

#include <stdbool.h>

struct tm_config;

/* Both have launches_nodes. */
bool tm_same_nodes(const struct tm_config *a, const struct tm_config *b);

#endif
