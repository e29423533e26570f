/* launched_node.c - see launched_node.h. */
#include "job/launched_node.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/buf.h"

void tm_launched_node_name(struct tm_buf *out, const struct tm_launched_node *n)
{
  const char *host = n->host ? n->host : n->reported_host;

  tm_buf_printf(out, "node %" PRIu32, n->id);
  if (host && *host)
    tm_buf_printf(out, " (%s)", host);
}

static void add_end(struct tm_buf *out, const struct tm_launch_ended *e)
{
  if (e->signal)
    tm_buf_printf(out, "its command was killed by signal %d (%s)", e->signal, strsignal(e->signal));
  else
    tm_buf_printf(out, "its command exited with status %d", e->exit_status);
}

/* Our own SIGTERM explains nothing. */
static bool explains(const struct tm_launched_node *n)
{
  return n->has_ended && !n->is_late && !n->is_refused && !(n->why && n->ended.signal == SIGTERM);
}

/* A command that succeeds explains less than what was wrong with its node. */
static bool explains_all(const struct tm_launched_node *n)
{
  bool has_succeeded = n->ended.signal == 0 && n->ended.exit_status == 0;

  return !n->was_ready && explains(n) && !(n->why && has_succeeded);
}

static const char *slurm_text(enum tm_slurm_end end)
{
  static const char *const texts[] = { [TM_SLURM_END_NODE_FAIL] = "NODE_FAIL",
                                       [TM_SLURM_END_PREEMPTED] = "PREEMPTED",
                                       [TM_SLURM_END_TIMEOUT] = "TIMEOUT",
                                       [TM_SLURM_END_CANCELED] = "CANCELLED",
                                       [TM_SLURM_END_OUT_OF_MEMORY] = "OUT_OF_MEMORY" };

  return (size_t)end < TM_COUNT_OF(texts) ? texts[end] : NULL;
}

void tm_launched_node_describe(struct tm_buf *out, const struct tm_launched_node *n)
{
  tm_buf_add_str(out, n->was_ready ? "" : n->is_refused ? "cannot use " : "cannot start ");
  tm_launched_node_name(out, n);
  tm_buf_add_str(out, n->was_ready ? " is lost: " : ": ");
  if (explains_all(n)) {
    add_end(out, &n->ended);
    tm_buf_add_str(out, " before the node was ready");
  } else {
    tm_buf_add_str(out, n->why ? n->why : "its command has ended");
    if (explains(n)) {
      tm_buf_add_str(out, "; ");
      add_end(out, &n->ended);
    }
  }
  if (slurm_text(n->slurm_end))
    tm_buf_printf(out, " (Slurm: %s)", slurm_text(n->slurm_end));
  if (n->has_ended && !n->is_refused && n->ended.last_line[0])
    tm_buf_printf(out, "; its last line was '%s'", n->ended.last_line);
  if (!n->was_ready && n->printed && (n->is_late || explains(n)))
    tm_buf_printf(out, "; it printed '%s'", n->printed);
  tm_buf_printf(out, "; see 'nodes/%" PRIu32 ".txt'", n->id);
}

void tm_launched_node_refusal(struct tm_buf *out, const char *problem, const char *job_dir,
                              uint32_t uid, uint32_t ours)
{
  tm_buf_add_str(out, problem);
  if (strstr(problem, job_dir))
    tm_buf_add_str(out, "; the job directory must be on a file system that all nodes share: choose "
                        "another one with --job-dir or TIDEMILL_WORKSPACE");
  else
    tm_buf_add_str(out, "; nodes must be able to use the files of their steps under the same "
                        "paths");
  if (uid != ours)
    tm_buf_printf(out, "; the node runs as another user: uid %" PRIu32 ", here it is %" PRIu32, uid,
                  ours);
}
