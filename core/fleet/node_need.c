/* node_need.c - see node_need.h. */
#include "fleet/node_need.h"

#include "base/check.h"

static int64_t divided_up(int64_t n, int64_t by)
{
  return n / by + (n % by > 0);
}

/* Keeps (1). */
static int64_t useful_workers(const struct tm_node_need *step, int64_t per_node)
{
  if (divided_up(step->open, per_node) <= step->node_count)
    return step->open;
  return step->node_count * per_node;
}

size_t tm_node_need(const struct tm_node_need *of, size_t len, int64_t per_node,
                    int64_t max_workers)
{
  int64_t workers = 0, most = 0, nodes;

  tm_require(per_node > 0);
  for (size_t i = 0; i < len; i++) {
    workers += useful_workers(&of[i], per_node);
    most = of[i].node_count > most ? of[i].node_count : most;
  }
  if (max_workers > 0 && workers > max_workers)
    workers = max_workers; /* keeps (2) */
  nodes = divided_up(workers, per_node);
  if (nodes > most)
    nodes = most; /* keeps (1) */
  return (size_t)(nodes == 0 && len > 0 ? 1 : nodes);
}
