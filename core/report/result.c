/* result.c - see result.h.
 *
 * The order is that of a reader's questions: did it work, how much of it, where is the output, what
 * went wrong, where can I read more. Zeros are left out, except for failed items.
 */
#include "report/result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "base/time.h"
#include "record/activity.h"

#define CAUSE_MAX   400 /* bytes */
#define RUNNING_MAX 10  /* shown workers */

static bool has(const char *text)
{
  return text && *text;
}

static void add_label(struct tm_buf *out, int indent, const char *label)
{
  tm_buf_printf(out, "%*s%-13s ", indent, "", label);
}

static void add_text(struct tm_buf *out, int indent, const char *label, const char *text)
{
  if (!has(text))
    return;
  add_label(out, indent, label);
  tm_buf_printf(out, "%s\n", text);
}

static void add_open(struct tm_buf *out, const struct tm_result *r, int64_t open)
{
  if (open <= 0)
    return;
  tm_buf_add_str(out, ", ");
  tm_text_count(out, open, r->is_running ? " to do" : " not done");
}

static void add_mini_batches(struct tm_buf *out, const struct tm_result *r, int indent)
{
  const struct tm_counts *c = r->counts;
  add_label(out, indent, "mini-batches:");
  tm_text_count(out, c->created,
                c->all_created  ? ", "
                : r->is_running ? " so far, "
                                : " or more, ");
  tm_text_count(out, c->succeeded, " succeeded, ");
  tm_text_count(out, c->failed, " failed");
  add_open(out, r, c->created - c->succeeded - c->failed);
  tm_buf_add_char(out, '\n');
}

static void add_items(struct tm_buf *out, const struct tm_result *r, int indent)
{
  const struct tm_counts *c = r->counts;
  add_label(out, indent, "items:");
  if (r->items_total >= 0)
    tm_text_count(out, r->items_total, ", ");
  tm_text_count(out, c->items_succeeded, " succeeded, ");
  tm_text_count(out, c->items_failed, " failed");
  add_open(out, r, r->items_total - c->items);
  tm_result_add_uncounted(out, c->uncounted);
  tm_buf_add_char(out, '\n');
}

void tm_result_add_uncounted(struct tm_buf *out, int64_t uncounted)
{
  tm_require(uncounted >= 0);
  if (uncounted == 0)
    return;
  tm_buf_add_str(out, ", or more: the rows of ");
  tm_text_count(out, uncounted,
                tm_text_counted(uncounted, " failed mini-batch", " failed mini-batches"));
  tm_buf_add_str(out, " could not be counted");
}

void tm_result_add_tries(struct tm_buf *out, const struct tm_counts *c)
{
  tm_text_count(out, c->errors, " by an error, ");
  tm_text_count(out, c->timeouts, " by a timeout, ");
  tm_text_count(out, c->lost, " with their worker");
}

static void add_tries(struct tm_buf *out, const struct tm_counts *c, int indent)
{
  if (c->errors + c->timeouts + c->lost <= 0)
    return;
  add_label(out, indent, "failed tries:");
  tm_result_add_tries(out, c);
  tm_buf_add_char(out, '\n');
}

static void add_rate(struct tm_buf *out, const struct tm_result *r, int indent)
{
  const struct tm_counts *c = r->counts;
  int64_t open = c->created - c->succeeded - c->failed;
  if (r->rate <= 0)
    return;
  add_label(out, indent, "rate:");
  tm_buf_printf(out, "%.*f mini-batches/s", r->rate < 10 ? 2 : 0, r->rate);
  if (c->all_created && open > 0) {
    tm_buf_add_str(out, ", about ");
    tm_time_duration(out, (int64_t)((double)open / r->rate * (double)TM_S));
    tm_buf_add_str(out, " left");
  }
  tm_buf_add_char(out, '\n');
}

/* What the workers are doing now. */
static void add_running(struct tm_buf *out, const struct tm_result *r, int indent)
{
  size_t n = r->running ? r->running->list.len : 0;
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < n && i < RUNNING_MAX; i++) {
    tm_buf_clear(&text);
    tm_activity_add(&text, &r->running->list.at[i]);
    add_label(out, indent, i == 0 ? "running:" : "");
    tm_text_one_line(out, text.data, text.len, 0);
    tm_buf_add_char(out, '\n');
  }
  if (n > RUNNING_MAX) {
    add_label(out, indent, "");
    tm_buf_printf(out, "and %zu more; status --json lists all of them\n", n - RUNNING_MAX);
  }
  tm_buf_release(&text);
}

static void add_nodes(struct tm_buf *out, const struct tm_result *r, int indent)
{
  if (!r->nodes || r->nodes->all <= 0)
    return;
  add_label(out, indent, "nodes:");
  tm_nodes_now_add(out, r->nodes);
  tm_buf_add_char(out, '\n');
}

static void add_outputs(struct tm_buf *out, const struct tm_result *r, int indent)
{
  for (size_t i = 0; i < r->outputs_len; i++) {
    add_text(out, indent, "output:", r->outputs[i].path);
    add_text(out, indent, "destination:", r->outputs[i].destination);
  }
}

static void add_errors(struct tm_buf *out, const struct tm_result *r, const char *logs, int indent)
{
  if (has(r->reused_from) && r->counts->items_failed > 0) {
    add_label(out, indent, "errors:");
    tm_buf_printf(out, "%s/user/error.txt\n", logs);
  } else {
    add_text(out, indent, "errors:", r->error_file);
  }
  tm_buf_add_str(out, r->errors ? r->errors : "");
  if (r->errors_more > 0) {
    tm_buf_printf(out, "%*sand ", indent + 2, "");
    tm_text_count(out, r->errors_more, r->errors_cut ? " or more" : "");
    tm_buf_add_str(out, r->errors_more == 1 ? " other error\n" : " other distinct errors\n");
  }
}

/* The logs of a reused step are those of the job that ran it. */
static void add_logs(struct tm_buf *out, const struct tm_result *r, int indent)
{
  char *logs = has(r->reused_from) ? tm_xprintf("%s/%s/logs", r->reused_from, r->name)
                                   : tm_xstrdup(r->logs_dir);
  add_errors(out, r, logs, indent);
  add_text(out, indent, "logs:", logs);
  free(logs);
}

static void add_head(struct tm_buf *out, const struct tm_result *r, int indent)
{
  tm_buf_printf(out, "%*s%s: %s%s\n", indent, "", r->name, r->state,
                has(r->reused_from) ? ", reused"
                : r->is_kept        ? ", as it was"
                                    : "");
  indent += 2;
  add_text(out, indent, "reused from:", r->reused_from);
  add_text(out, indent, "waits for:", r->waits_for);
  if (has(r->cause)) {
    add_label(out, indent, "cause:");
    /* complete among the errors */
    tm_text_one_line(out, r->cause, strlen(r->cause), CAUSE_MAX);
    tm_buf_add_char(out, '\n');
  }
}

void tm_result_add(struct tm_buf *out, const struct tm_result *r, int indent)
{
  tm_require(indent >= 0);
  add_head(out, r, indent);
  indent += 2;
  if (r->has_no_numbers)
    return;
  add_mini_batches(out, r, indent);
  add_items(out, r, indent);
  add_tries(out, r->counts, indent);
  add_rate(out, r, indent);
  add_nodes(out, r, indent);
  add_running(out, r, indent);
  add_outputs(out, r, indent);
  if (r->counts->items_failed > 0) {
    add_label(out, indent, "failed items:");
    tm_buf_printf(out, "%s/failed_items.jsonl\n", r->dir);
  }
  add_logs(out, r, indent);
  if (r->needs_help)
    add_text(out, indent, "help:", "tidemill help troubleshooting");
  if (r->damage_at >= 0) {
    add_label(out, indent, "journal:");
    tm_buf_printf(out,
                  "a bad record at byte %" PRId64
                  "; nothing after it is counted; 'tidemill verify' has details\n",
                  r->damage_at);
  }
}

/* ---- of a step of this process ---- */

/* Errors that finally failed items come before those that a later try has fixed. */
static size_t add_some(struct tm_buf *out, const struct tm_errors *errors, bool failed, size_t room,
                       int indent)
{
  size_t shown = 0;
  for (size_t i = 0; i < errors->list.len && shown < room; i++) {
    const struct tm_error *e = &errors->list.at[i];
    if ((e->failed > 0) != failed)
      continue;
    tm_error_add_text(out, e, indent, 5);
    shown++;
  }
  return shown;
}

/* Adds their text to `lines`, and the others to `r`. */
static void take_errors(struct tm_result *r, struct tm_buf *lines, const struct tm_errors *errors,
                        int indent)
{
  size_t shown = add_some(lines, errors, true, TM_RESULT_ERRORS, indent);
  shown += add_some(lines, errors, false, TM_RESULT_ERRORS - shown, indent);
  r->errors = tm_buf_str(lines);
  r->errors_more = (int64_t)(errors->list.len - shown);
  r->errors_cut = errors->others > 0;
}

struct outputs {
  struct TM_ARRAY(struct tm_result_output) list;
  struct TM_ARRAY(char *) paths;
};

static void take_outputs(struct outputs *to, const struct tm_step_view *s)
{
  bool is_partial = s->output_file && s->verdict != TM_COMPLETED;
  struct tm_output_view o;
  struct tm_buf path = TM_BUF_NONE;
  tm_buf_printf(&path, "%s%s", s->output_file ? s->output_file : s->output_dir,
                is_partial ? ".partial" : "");
  *TM_ARRAY_ADD(&to->list) = (struct tm_result_output) { 0 };
  *TM_ARRAY_ADD(&to->paths) = tm_buf_take(&path);
  for (size_t i = 0; tm_step_view_output(&o, s, i); i++) {
    if (i > 0) {
      *TM_ARRAY_ADD(&to->list) = (struct tm_result_output) { 0 };
      tm_step_view_add_folder(&path, s, &o);
      *TM_ARRAY_ADD(&to->paths) = tm_buf_take(&path);
    }
    to->list.at[i].destination = o.destination;
  }
  for (size_t i = 0; i < to->list.len; i++)
    to->list.at[i].path = to->paths.at[i];
}

static void release_outputs(struct outputs *o)
{
  TM_ARRAY_RELEASE_EACH(&o->paths);
  TM_ARRAY_RELEASE(&o->list);
}

/* Nobody has counted the rows of those mini-batches of a table that have not ended. */
static int64_t items_total(const struct tm_counts *c)
{
  return c->items_created > c->items ? c->items_created : c->items;
}

void tm_result_add_step(struct tm_buf *out, const struct tm_step_view *step,
                        const struct tm_errors *errors, int indent)
{
  tm_require(step->name && indent >= 0);
  bool has_errors = errors && errors->list.len > 0 && !step->reused_from;
  struct outputs outputs = { 0 };
  struct tm_buf lines = TM_BUF_NONE;
  char *file = has_errors ? tm_xprintf("%s/user/error.txt", step->logs_dir) : NULL;
  struct tm_result r = {
    .name = step->name,
    .state = tm_verdict_name(step->verdict),
    .dir = step->dir,
    .logs_dir = step->logs_dir,
    .cause = step->cause,
    .reused_from = step->reused_from,
    .is_kept = step->is_kept,
    .has_no_numbers = step->is_idle && step->verdict != TM_COMPLETED,
    .needs_help = step->verdict == TM_FAILED,
    .counts = &step->counts,
    .items_total = items_total(&step->counts),
    .error_file = file,
    .damage_at = -1,
  };
  take_outputs(&outputs, step);
  r.outputs = outputs.list.at;
  r.outputs_len = outputs.list.len;
  if (has_errors)
    take_errors(&r, &lines, errors, indent + 4);
  tm_result_add(out, &r, indent);
  release_outputs(&outputs);
  tm_buf_release(&lines);
  free(file);
}

enum tm_start tm_result_start(const struct tm_step_view *step, size_t errors)
{
  bool has_failed = step->verdict == TM_FAILED;
  if (has_failed && step->failing == TM_FAILING_SYSTEM)
    return TM_START_SYSTEM;
  if (has_failed && step->failing == TM_FAILING_STUCK && step->counts.created > 0 &&
      step->logging_level <=
          TM_INFO) /* else _main.txt leaves out workers that were killed on purpose */
    return TM_START_WORKERS;
  if (has_failed && step->failing != TM_FAILING_SCRIPT)
    return TM_START_MASTER;
  if (errors > 0)
    return TM_START_ERRORS;
  if (step->counts.items_failed > 0)
    return TM_START_ITEMS;
  return has_failed ? TM_START_MASTER : TM_START_README;
}

/* The log of the keeper, or of all keepers. */
static const char *main_of(const struct tm_step_view *step)
{
  return step->launches_nodes ? "/*/_main.txt" : "/" TM_LOCAL_NODE_NAME "/_main.txt";
}

void tm_result_add_start(struct tm_buf *out, const struct tm_step_view *step,
                         const struct tm_errors *errors)
{
  static const struct {
    const char *name, *words;
    bool is_of_step; /* the file is beside the logs */
  } starts[] = {
    [TM_START_ERRORS] = { "user/error.txt", "what went wrong, how often, and where it is in full",
                          false },
    [TM_START_ITEMS] = { "failed_items.jsonl", "the items that failed, and why", true },
    [TM_START_WORKERS] = { "sys/node", /* with the file of the node */
                           "what each worker was doing when it was killed", false },
    [TM_START_SYSTEM] = { "sys/error/supervisor.txt", "the error of the system", false },
    [TM_START_MASTER] = { "sys/master_role.txt", "the cause, and what led to it", false },
    [TM_START_README] = { "readme.txt", NULL, false },
  };
  enum tm_start start = tm_result_start(step, errors ? errors->list.len : 0);
  tm_buf_printf(out, "%s %s/%s%s", starts[start].words ? "start with" : "what is where:",
                starts[start].is_of_step ? step->dir : step->logs_dir, starts[start].name,
                start == TM_START_WORKERS ? main_of(step) : "");
  if (starts[start].words)
    tm_buf_printf(out, ": %s", starts[start].words);
  if (start != TM_START_ERRORS && errors && errors->list.len > 0)
    tm_buf_printf(out, "; errors of the script: %s/user/error.txt", step->logs_dir);
  if (step->counts.lost > 0 && start != TM_START_WORKERS)
    tm_buf_printf(out, "; how workers ended: %s/sys/node%s", step->logs_dir, main_of(step));
  tm_buf_add_char(out, '\n');
}

void tm_result_add_nodes(struct tm_buf *out, const struct tm_job_view *job, int indent,
                         char *(*log_of)(void *data, uint32_t id), void *data)
{
  const struct tm_nodes_view *n = job->nodes;

  if (!n || n->sum.asked == 0)
    return;
  add_label(out, indent, "nodes:");
  tm_nodes_sum_add(out, &n->sum);
  tm_buf_add_char(out, '\n');
  for (size_t i = 0; i < n->lost.len; i++) {
    const struct tm_lost_node *lost = &n->lost.at[i];
    char *log = log_of(data, lost->id);
    tm_buf_printf(out, "%*s", indent + 2, "");
    tm_text_one_line(out, lost->why, strlen(lost->why), CAUSE_MAX);
    tm_buf_printf(out, "\n%*s%s\n", indent + 4, "", log);
    free(log);
  }
  if (n->sum.lost > (int64_t)n->lost.len)
    tm_buf_printf(out, "%*sand %" PRId64 " more\n", indent + 2, "",
                  n->sum.lost - (int64_t)n->lost.len);
}

void tm_result_add_job(struct tm_buf *out, const struct tm_job_view *job, int64_t elapsed_ns)
{
  tm_require(job->name);
  tm_buf_printf(out, "%s: %s", tm_verdict_name(job->verdict), job->name);
  if (elapsed_ns >= 0) {
    tm_buf_add_str(out, ", ");
    tm_time_duration(out, elapsed_ns);
  }
  tm_buf_add_char(out, '\n');
}
