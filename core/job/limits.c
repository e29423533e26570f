/* limits.c - see limits.h. Without this check the job would fail later, with an error that names a
 * different cause. */
#include "job/limits.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "job/same_nodes.h"
#include "sys/process.h"

#define FDS_OF_JOB  24 /* the loop, the node, locks, files that are open for a moment */
#define FDS_OF_STEP 16
/* a socket and a log here, and a socket, a page and files in the keeper */
#define FDS_OF_WORKER 3
/* Logs of the workers of nodes, at most, for each step (report/worker_logs.h); their messages are
 * in the streams of the nodes. */
#define FDS_OF_FAR_LOGS 64
/* The most files of scripts that are open for a step (job_source.h): one per node that starts. */
#define FDS_OF_SOURCES 64
#define FDS_OF_NODE    1 /* its stream; the keeper that runs its command keeps none */
#define WORKERS_MAX    (INT64_C(1) << 40) /* of a step; more cannot be meant */
/* bytes: the history of the workspace, the journal, logs */
#define FILE_LEAST ((int64_t)256 << 10)

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* How many of its nodes are those of earlier steps. */
static int64_t shared_nodes(const struct tm_pipeline *p, size_t step)
{
  const struct tm_config *c = &p->steps[step]->config;
  int64_t most = 0;

  for (size_t i = 0; i < step; i++)
    if (p->steps[i]->config.launches_nodes && tm_same_nodes(&p->steps[i]->config, c) &&
        p->steps[i]->config.node_count > most)
      most = p->steps[i]->config.node_count;
  return least(most, c->node_count);
}

/* `logs`: of workers of nodes. */
static void add_step(struct tm_limits_needs *n, int64_t *logs, const struct tm_pipeline *p,
                     size_t step)
{
  const struct tm_config *c = &p->steps[step]->config;
  int64_t processes = c->process_count_per_node > 0 ? c->process_count_per_node : 1, nodes;

  if (!c->launches_nodes) {
    n->here += processes;
    return;
  }
  n->far += least(processes * c->node_count, WORKERS_MAX);
  *logs += FDS_OF_FAR_LOGS;
  n->fds += c->ships_source ? least(c->node_count, FDS_OF_SOURCES) : 0;
  nodes = c->node_count - shared_nodes(p, step);
  n->nodes += nodes;
  n->slurm_nodes += c->uses_slurm ? nodes : 0;
}

struct tm_limits_needs tm_limits_needs(const struct tm_pipeline *p, int64_t given, int64_t here)
{
  struct tm_limits_needs n = { .nodes = 0 };
  int64_t logs = 0;

  for (size_t i = 0; i < p->steps_len; i++)
    add_step(&n, &logs, p, i);
  n.here = least(n.here, given > 0 ? given : here);
  n.far = given > 0 ? least(n.far, given) : n.far;
  n.fds += FDS_OF_JOB + FDS_OF_STEP * (int64_t)p->steps_len + FDS_OF_WORKER * n.here +
           least(n.far, logs) + FDS_OF_NODE * n.nodes;
  return n;
}

bool tm_limits_advise(struct tm_buf *out, const struct tm_pipeline *p, bool is_in_allocation)
{
  int64_t nodes = tm_limits_needs(p, 0, 1).slurm_nodes;

  if (is_in_allocation || nodes <= TM_LIMITS_SLURM_NODES)
    return false;
  tm_buf_printf(out,
                "%" PRId64 " nodes of Slurm need %" PRId64 " processes (srun) on this machine: do "
                "not start such a job on a login node, but in an allocation, with sbatch or "
                "salloc; see tidemill help nodes",
                nodes, 2 * nodes);
  return true;
}

static int check_descriptors(const struct tm_pipeline *p, int64_t given, int64_t here,
                             struct tm_err *err)
{
  struct tm_limits_needs n = tm_limits_needs(p, given, here);
  int64_t workers = n.here + n.far, allowed = tm_process_fd_limit();

  if (n.fds <= allowed)
    return 0;
  return tm_err_set(err, -EMFILE,
                    "this process may open %" PRId64 " files (ulimit -n), and %" PRId64
                    " %s need about %" PRId64
                    ": raise the limit, or lower process_count_per_node%s",
                    allowed, workers, tm_text_counted(workers, "worker", "workers"), n.fds,
                    n.nodes > 0 ? " or node_count" : "");
}

static int check_file_size(struct tm_err *err)
{
  int64_t allowed = tm_process_file_limit();

  if (allowed >= FILE_LEAST)
    return 0;
  return tm_err_set(err, -EFBIG,
                    "a file may have %" PRId64 " bytes at most here (ulimit -f), and files of a "
                    "job need %" PRId64 " at least: raise the limit",
                    allowed, FILE_LEAST);
}

int tm_limits_check(const struct tm_pipeline *p, int64_t given, int64_t here, struct tm_err *err)
{
  int rc = check_descriptors(p, given, here, err);

  return rc < 0 ? rc : check_file_size(err);
}
