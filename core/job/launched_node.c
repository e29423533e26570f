/* launched_node.c - see launched_node.h. */
#include "job/launched_node.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/time.h"
#include "slurm/exclusions.h"

bool tm_launched_node_has_waited(struct tm_launched_node *n, enum tm_slurm_line said)
{
  bool waits = said == TM_SLURM_LINE_QUEUED || (n->is_queued && !n->reported_host);
  bool runs = !waits && (said == TM_SLURM_LINE_GRANTED || n->is_known_to_wait);
  bool is_new = !n->is_known_to_run;

  n->is_known_to_run = runs;
  return waits || (runs && is_new);
}

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

/* Neither our own SIGTERM nor that we read no more explains anything. */
static bool explains(const struct tm_launched_node *n)
{
  bool is_ours = n->ended.signal == SIGTERM || n->ended.signal == SIGPIPE;

  return n->has_ended && !n->ended.is_unknown && !n->is_late && !n->is_refused &&
         !(n->why && is_ours);
}

static bool has_succeeded(const struct tm_launched_node *n)
{
  return n->ended.signal == 0 && n->ended.exit_status == 0;
}

/* A command that succeeds explains less than what was wrong with its node. */
static bool explains_all(const struct tm_launched_node *n)
{
  return !n->was_ready && explains(n) && !(n->why && has_succeeded(n));
}

/* What does not explain why a node could not be started is left out. */
static void add_slurm(struct tm_buf *out, const struct tm_launched_node *n)
{
  bool is_known = n->slurm_end != TM_SLURM_END_NOT_KNOWN;

  if (n->slurm_name && !n->is_step && (is_known || n->was_ready))
    tm_buf_printf(out, " (Slurm: %s)", is_known ? n->slurm_state : "not known");
}

static void add_what(struct tm_buf *out, const struct tm_launched_node *n)
{
  tm_buf_add_str(out, n->was_ready ? "lost " : n->is_refused ? "cannot use " : "cannot start ");
  tm_launched_node_name(out, n);
  if (n->was_ready) {
    tm_buf_add_str(out, " after ");
    tm_time_clock(out, n->lived_ns);
  }
  tm_buf_add_str(out, ": ");
}

/* "; 24 mini-batches go back to the queue, 8 of which may have been running" */
static void add_work(struct tm_buf *out, const struct tm_launched_node *n)
{
  if (n->went_back == 0)
    return;
  tm_buf_printf(out, "; %" PRId64 " %s back to the queue", n->went_back,
                tm_text_counted(n->went_back, "mini-batch goes", "mini-batches go"));
  if (n->may_have_run == n->went_back)
    tm_buf_add_str(out, ", and may have been running");
  else if (n->may_have_run > 0)
    tm_buf_printf(out, ", %" PRId64 " of which may have been running", n->may_have_run);
}

static void add_consequences(struct tm_buf *out, const struct tm_launched_node *n)
{
  add_work(out, n);
  if (n->slurm_end == TM_SLURM_END_CANCELED)
    tm_buf_add_str(out, "; it was canceled, so it is not replaced");
  if (n->is_excluded)
    tm_buf_printf(out, "; '%s' is excluded for %d minutes", n->reported_host,
                  (int)(TM_EXCLUDE_NS / (60 * TM_S)));
}

static void add_cause(struct tm_buf *out, const struct tm_launched_node *n)
{
  if (explains_all(n)) {
    add_end(out, &n->ended);
    tm_buf_add_str(out, " before the node was ready");
    return;
  }
  tm_buf_add_str(out, n->why ? n->why : "its command has ended");
  if (explains(n)) {
    tm_buf_add_str(out, "; ");
    add_end(out, &n->ended);
  }
}

/* The words of the stream's preface: its first bytes come back. */
static bool is_echo(const char *printed)
{
  static const char preface[] = "tidemill-stream ";

  return strncmp(printed, preface, sizeof preface - 1) == 0;
}

static bool is_not_found(const struct tm_launched_node *n)
{
  return n->ended.exit_status == 126 || n->ended.exit_status == 127 ||
         strstr(n->ended.last_line, "execve():") != NULL;
}

/* Whether the message has already shown what the command printed. */
static bool is_quoted(const struct tm_launched_node *n)
{
  return n->why && !explains_all(n) && strstr(n->why, n->printed);
}

/* What to do about a node that could not be started. */
static void add_advice(struct tm_buf *out, const struct tm_launched_node *n)
{
  if (n->is_other_build)
    tm_buf_printf(out, "; install the same build on both machines%s",
                  n->slurm_name ? ", or send this one along: --bcast=PATH in slurm_options" : "");
  else if (n->is_late && n->printed && is_echo(n->printed))
    tm_buf_add_str(out, ", which the job had sent: it does not run 'tidemill node'");
  else if (n->is_late && n->printed)
    tm_buf_add_str(out, "; the command must not ask for anything, because nobody can answer: with "
                        "ssh, use a key and -o BatchMode=yes");
  else if (n->is_late && !n->reported_host && !n->slurm_name)
    tm_buf_add_str(out, "; nothing came from its command, which must run 'tidemill node'");
  else if (n->has_ended && n->printed && has_succeeded(n))
    tm_buf_add_str(out, "; it must run 'tidemill node'");
  else if (n->has_ended && is_not_found(n))
    tm_buf_printf(out, "; install tidemill on the node under that path%s",
                  n->slurm_name ? ", or send it along: --bcast=PATH in slurm_options"
                                : ", or write another path into node_command");
}

void tm_launched_node_describe(struct tm_buf *out, const struct tm_launched_node *n)
{
  add_what(out, n);
  add_cause(out, n);
  add_slurm(out, n);
  if (n->has_ended && !n->is_refused && n->ended.last_line[0])
    tm_buf_printf(out, "; its last line was '%s'", n->ended.last_line);
  if (!n->was_ready && n->printed && (n->is_late || explains(n)) && !is_quoted(n))
    tm_buf_printf(out, "; it printed '%s'", n->printed);
  if (!n->was_ready)
    add_advice(out, n);
  add_consequences(out, n);
  tm_buf_printf(out, "; see 'nodes/%" PRIu32 ".txt'", n->id);
}

void tm_launched_node_describe_drained(struct tm_buf *out, const struct tm_launched_node *n)
{
  tm_launched_node_name(out, n);
  tm_buf_printf(out, " has ended%s%s", n->why ? " before all of its work was over: " : "",
                n->why ? n->why : ": all of its work is over");
  add_slurm(out, n);
  add_consequences(out, n);
}

void tm_launched_node_add_requested(struct tm_buf *out, const struct tm_launched_node *n)
{
  tm_launched_node_name(out, n);
  tm_buf_add_str(out, " is requested");
  if (n->slurm_name)
    tm_buf_printf(out, " from Slurm as '%s'", n->slurm_name);
}

void tm_launched_node_add_waits(struct tm_buf *out, const struct tm_launched_node *n)
{
  tm_launched_node_name(out, n);
  tm_buf_printf(out, " waits in the queue of Slurm: %s",
                n->waits_for[0] ? n->waits_for : "Slurm gives no reason");
}

void tm_launched_node_add_ended(struct tm_buf *out, const struct tm_launched_node *n, int64_t ns)
{
  tm_launched_node_name(out, n);
  tm_buf_add_str(out, " has ended");
  if (!n->was_ready) {
    tm_buf_add_str(out, " before it was ready");
    return;
  }
  tm_buf_add_str(out, ": it was ready for ");
  tm_time_duration(out, ns);
}

void tm_launched_node_add_clock(struct tm_buf *out, const struct tm_launched_node *n,
                                int64_t offset_ns)
{
  bool is_ahead = offset_ns > 0;
  double seconds = (double)(is_ahead ? offset_ns : -offset_ns) / (double)TM_S;

  tm_buf_add_str(out, "the clock of ");
  tm_launched_node_name(out, n);
  tm_buf_printf(out,
                " is %.1f s %s that of this machine: start times in tables are corrected, those in "
                "the logs of its workers are not",
                seconds, is_ahead ? "ahead of" : "behind");
}

void tm_launched_node_refusal(struct tm_buf *out, const char *problem, const char *job_dir,
                              uint32_t uid, uint32_t ours)
{
  tm_buf_add_str(out, problem);
  if (strstr(problem, job_dir))
    tm_buf_add_str(out, "; the job directory must be on a file system that all nodes share and "
                        "may write to: choose another one with --job-dir or TIDEMILL_WORKSPACE");
  else
    tm_buf_add_str(out, "; nodes must be able to use the files of their steps under the same "
                        "paths");
  if (uid != ours)
    tm_buf_printf(out,
                  "; the node runs as another user: uid %" PRIu32 ", here it is %" PRIu32
                  "; start it as this user",
                  uid, ours);
}
