/* result.c - see result.h.
 *
 * The order is that of a reader's questions: did it work, how much of it, where is the output, what
 * went wrong, where can I read more. Zeros are left out, except for failed items.
 */
#include "report/result.h"

#include <string.h>

#include "base/text.h"
#include "base/time.h"

#define CAUSE_MAX 400 /* bytes */

static void add_label(struct tm_buf *out, int indent, const char *label)
{
  tm_buf_printf(out, "%*s%-13s", indent, "", label);
}

static void add_number(struct tm_buf *out, int64_t n, const char *words)
{
  tm_text_grouped(out, n);
  tm_buf_add_str(out, words);
}

static void add_mini_batches(struct tm_buf *out, const struct tm_counts *c, int indent)
{
  int64_t open = c->created - c->succeeded - c->failed;
  add_label(out, indent, "mini-batches:");
  tm_buf_add_char(out, ' ');
  add_number(out, c->created, c->all_created ? ", " : " or more, ");
  add_number(out, c->succeeded, " succeeded, ");
  add_number(out, c->failed, " failed");
  if (open > 0) {
    tm_buf_add_str(out, ", ");
    add_number(out, open, " not done");
  }
  tm_buf_add_char(out, '\n');
}

/* Nobody has counted the rows of those mini-batches of a table that have not ended. */
static void add_items(struct tm_buf *out, const struct tm_counts *c, int indent)
{
  int64_t open = c->items_created > c->items ? c->items_created - c->items : 0;
  add_label(out, indent, "items:");
  tm_buf_add_char(out, ' ');
  add_number(out, c->items + open, ", ");
  add_number(out, c->items_succeeded, " succeeded, ");
  add_number(out, c->items_failed, " failed");
  if (open > 0) {
    tm_buf_add_str(out, ", ");
    add_number(out, open, " not done");
  }
  tm_result_add_uncounted(out, c->uncounted);
  tm_buf_add_char(out, '\n');
}

void tm_result_add_uncounted(struct tm_buf *out, int64_t uncounted)
{
  if (uncounted == 0)
    return;
  tm_buf_add_str(out, ", or more: the rows of ");
  add_number(out, uncounted,
             tm_text_counted(uncounted, " failed mini-batch", " failed mini-batches"));
  tm_buf_add_str(out, " could not be counted");
}

void tm_result_add_tries(struct tm_buf *out, const struct tm_counts *c)
{
  add_number(out, c->errors, " by an error, ");
  add_number(out, c->timeouts, " by a timeout, ");
  add_number(out, c->lost, " with their worker");
}

static void add_tries(struct tm_buf *out, const struct tm_counts *c, int indent)
{
  if (c->errors + c->timeouts + c->lost == 0)
    return;
  add_label(out, indent, "failed tries:");
  tm_buf_add_char(out, ' ');
  tm_result_add_tries(out, c);
  tm_buf_add_char(out, '\n');
}

static void add_outputs(struct tm_buf *out, const struct tm_step_view *s, int indent)
{
  bool is_partial = s->output_file && s->verdict != TM_COMPLETED;
  struct tm_output_view o;
  add_label(out, indent, "output:");
  tm_buf_printf(out, " %s%s\n", s->output_file ? s->output_file : s->output_dir,
                is_partial ? ".partial" : "");
  for (size_t i = 0; tm_step_view_output(&o, s, i); i++) {
    if (i > 0) { /* the first is already shown above */
      add_label(out, indent, "output:");
      tm_buf_add_char(out, ' ');
      tm_step_view_add_folder(out, s, &o);
      tm_buf_add_char(out, '\n');
    }
    if (o.destination) {
      add_label(out, indent, "destination:");
      tm_buf_printf(out, " %s\n", o.destination);
    }
  }
}

/* Errors that finally failed items come before those that a later try has fixed. */
static size_t add_some(struct tm_buf *out, const struct tm_errors *errors, bool failed, size_t room,
                       int indent)
{
  size_t shown = 0;
  for (size_t i = 0; i < errors->list.len && shown < room; i++) {
    const struct tm_error *e = &errors->list.at[i];
    if ((e->failed > 0) != failed)
      continue;
    tm_error_add_text(out, e, indent + 2, 5);
    shown++;
  }
  return shown;
}

static void add_errors(struct tm_buf *out, const struct tm_step_view *s,
                       const struct tm_errors *errors, int indent)
{
  size_t shown, more;
  if (errors->list.len == 0)
    return;
  add_label(out, indent, "errors:");
  tm_buf_printf(out, " %s/user/error.txt\n", s->logs_dir);
  shown = add_some(out, errors, true, TM_RESULT_ERRORS, indent);
  shown += add_some(out, errors, false, TM_RESULT_ERRORS - shown, indent);
  more = errors->list.len - shown;
  if (more > 0) {
    tm_buf_printf(out, "%*sand ", indent + 2, "");
    add_number(out, (int64_t)more, errors->others > 0 ? " or more" : "");
    tm_buf_add_str(out, more == 1 ? " other error\n" : " other distinct errors\n");
  }
}

void tm_result_add_step(struct tm_buf *out, const struct tm_step_view *step,
                        const struct tm_errors *errors, int indent)
{
  tm_buf_printf(out, "%*s%s: %s%s\n", indent, "", step->name, tm_verdict_name(step->verdict),
                step->reused_from ? ", reused"
                : step->is_kept   ? ", as it was"
                                  : "");
  indent += 2;
  if (*step->cause) {
    add_label(out, indent, "cause:");
    tm_buf_add_char(out, ' ');
    /* complete among the errors */
    tm_text_one_line(out, step->cause, strlen(step->cause), CAUSE_MAX);
    tm_buf_add_char(out, '\n');
  }
  if (step->is_idle && step->verdict != TM_COMPLETED) /* there is nothing to show */
    return;
  add_mini_batches(out, &step->counts, indent);
  add_items(out, &step->counts, indent);
  add_tries(out, &step->counts, indent);
  add_outputs(out, step, indent);
  if (step->counts.items_failed > 0) {
    add_label(out, indent, "failed items:");
    tm_buf_printf(out, " %s/failed_items.jsonl\n", step->dir);
  }
  if (step->reused_from && step->counts.items_failed > 0) {
    add_label(out, indent, "errors:");
    tm_buf_printf(out, " %s/%s/logs/user/error.txt\n", step->reused_from, step->name);
  } else if (errors) {
    add_errors(out, step, errors, indent);
  }
  add_label(out, indent, "logs:");
  if (step->reused_from)
    tm_buf_printf(out, " %s/%s/logs\n", step->reused_from, step->name);
  else
    tm_buf_printf(out, " %s\n", step->logs_dir);
  if (step->verdict == TM_FAILED) {
    add_label(out, indent, "help:");
    tm_buf_add_str(out, " tidemill help troubleshooting\n");
  }
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
    [TM_START_WORKERS] = { "sys/node/0/_main.txt", "what each worker was doing when it was killed",
                           false },
    [TM_START_SYSTEM] = { "sys/error/supervisor.txt", "the error of the system", false },
    [TM_START_MASTER] = { "sys/master_role.txt", "the cause, and what led to it", false },
    [TM_START_README] = { "readme.txt", NULL, false },
  };
  enum tm_start start = tm_result_start(step, errors ? errors->list.len : 0);
  tm_buf_printf(out, "%s %s/%s", starts[start].words ? "start with" : "what is where:",
                starts[start].is_of_step ? step->dir : step->logs_dir, starts[start].name);
  if (starts[start].words)
    tm_buf_printf(out, ": %s", starts[start].words);
  if (start != TM_START_ERRORS && errors && errors->list.len > 0)
    tm_buf_printf(out, "; errors of the script: %s/user/error.txt", step->logs_dir);
  if (step->counts.lost > 0 && start != TM_START_WORKERS)
    tm_buf_printf(out, "; how workers ended: %s/sys/node/0/_main.txt", step->logs_dir);
  tm_buf_add_char(out, '\n');
}

void tm_result_add_job(struct tm_buf *out, const struct tm_job_view *job, int64_t elapsed_ns)
{
  tm_buf_printf(out, "%s: %s", tm_verdict_name(job->verdict), job->name);
  if (elapsed_ns >= 0) {
    tm_buf_add_str(out, ", ");
    tm_time_duration(out, elapsed_ns);
  }
  tm_buf_add_char(out, '\n');
}
