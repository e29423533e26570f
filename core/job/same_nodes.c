/* same_nodes.c - see same_nodes.h. */
#include "job/same_nodes.h"

#include <stddef.h>
#include <string.h>

#include "plan/config.h"

static bool are_equal(char *const *a, char *const *b)
{
  size_t i = 0;

  if (!a || !b)
    return a == b;
  while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
    i++;
  return a[i] == b[i];
}

static bool asks_the_same(const struct tm_config *a, const struct tm_config *b)
{
  const char *x = a->slurm_exclude ? a->slurm_exclude : "",
             *y = b->slurm_exclude ? b->slurm_exclude : "";

  return a->uses_slurm == b->uses_slurm && a->wants_slurm_jobs == b->wants_slurm_jobs &&
         are_equal(a->slurm_options, b->slurm_options) && strcmp(x, y) == 0;
}

bool tm_same_nodes(const struct tm_config *a, const struct tm_config *b)
{
  return are_equal(a->node_command, b->node_command) && are_equal(a->node_hosts, b->node_hosts) &&
         asks_the_same(a, b) && a->node_timeout_ns == b->node_timeout_ns &&
         a->node_start_timeout_ns == b->node_start_timeout_ns &&
         a->node_wait_ns == b->node_wait_ns &&
         a->process_count_per_node == b->process_count_per_node;
}
