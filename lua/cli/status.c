/* status.c - `tidemill status JOB` and `tidemill jobs`: what the files of a job say of it (run/survey.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"
#include "run/job.h"
#include "run/survey.h"
#include "store/jobs.h"
#include "store/workspace.h"
#include "sys/clock.h"

#define MESSAGE_MAX 300 /* bytes of an error that are shown */

struct status_options {
  bool json;
};

/* clang-format off */
static const struct tm_option status_options[] = {
  { "json", TM_OPTION_FLAG, offsetof(struct status_options, json), NULL, NULL, "one JSON object on one line, for programs" },
};
static const struct tm_option jobs_options[] = {
  { "json", TM_OPTION_FLAG, offsetof(struct status_options, json), NULL, NULL, "one JSON object a line, as of status --json" },
};
/* clang-format on */

static int status(const struct tm_cli *cli, int argc, char **argv);
static int jobs(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_status = {
  .name = "status",
  .run = status,
  .usage = "JOB [--json]",
  .summary = "says how far a job is, or what came of it",
  .options = status_options,
  .options_len = TM_COUNT_OF(status_options),
};

const struct tm_command tm_command_jobs = {
  .name = "jobs",
  .run = jobs,
  .usage = "[--json]",
  .summary = "lists the jobs of the workspace, the newest first",
  .options = jobs_options,
  .options_len = TM_COUNT_OF(jobs_options),
};

/* Parts of the text. */

static void add_number(struct tm_buf *out, int64_t n, const char *words)
{
  tm_text_grouped(out, n);
  tm_buf_add_str(out, words);
}

static void add_moment(struct tm_buf *out, int64_t wall_ns)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_time_log(&text, wall_ns);
  tm_buf_add(out, text.data, strcspn(text.data, ",")); /* without milliseconds */
  tm_buf_release(&text);
}

/* Of the whole job; -1: not known. */
static int64_t elapsed(const struct tm_survey *s)
{
  int64_t end = s->end_wall_ns ? s->end_wall_ns : s->now_wall_ns;
  return s->begin_wall_ns == 0 || end < s->begin_wall_ns ? -1 : end - s->begin_wall_ns;
}

static void add_job(struct tm_buf *out, const struct tm_survey *s)
{
  int64_t ns = elapsed(s);
  tm_buf_printf(out, "%s: %s\n", tm_job_status_name(s->status), s->name);
  tm_buf_printf(out, "job:     %s\n", s->dir);
  if (s->begin_wall_ns) {
    tm_buf_add_str(out, "started: ");
    add_moment(out, s->begin_wall_ns);
    tm_buf_add_str(out, " UTC");
    if (ns >= 0) {
      tm_buf_add_str(out, s->status == TM_JOB_RUNNING ? ", for " : ", ended after ");
      tm_time_duration(out, ns);
    }
    tm_buf_add_char(out, '\n');
  }
  if (s->pid)
    tm_buf_printf(out, "%s pid %" PRId64 " on host %s\n",
                  s->status == TM_JOB_RUNNING ? "running:" : "was run:", s->pid, s->host);
  if (s->cause)
    tm_buf_printf(out, "cause:   %s\n", s->cause);
}

static void add_mini_batches(struct tm_buf *out, const struct tm_survey *s,
                             const struct tm_step_survey *step)
{
  int64_t open = step->total - step->succeeded - step->failed;
  bool is_final = step->is_listed || step->status;
  tm_buf_add_str(out, "  mini-batches: ");
  add_number(out, step->total, is_final ? ", " : " so far, ");
  add_number(out, step->succeeded, " succeeded, ");
  add_number(out, step->failed, " failed");
  if (open > 0) {
    tm_buf_add_str(out, ", ");
    add_number(out, open, s->status == TM_JOB_RUNNING ? " to do" : " not done");
  }
  tm_buf_add_str(out, "\n  items:        ");
  if (step->items_total >= 0)
    add_number(out, step->items_total, ", ");
  add_number(out, step->items_succeeded, " succeeded, ");
  add_number(out, step->items_failed, " failed\n");
}

static void add_tries(struct tm_buf *out, const struct tm_step_survey *step)
{
  if (step->try_errors + step->try_timeouts + step->try_lost <= 0)
    return;
  tm_buf_add_str(out, "  failed tries: ");
  add_number(out, step->try_errors, " by an error, ");
  add_number(out, step->try_timeouts, " by a timeout, ");
  add_number(out, step->try_lost, " with their worker\n");
}

static void add_rate(struct tm_buf *out, const struct tm_survey *s,
                     const struct tm_step_survey *step)
{
  int64_t open = step->total - step->succeeded - step->failed;
  double rate = tm_survey_rate(s, step);
  if (rate <= 0)
    return;
  tm_buf_printf(out, "  rate:         %.*f mini-batches/s", rate < 10 ? 2 : 0, rate);
  if (step->is_listed && open > 0) {
    tm_buf_add_str(out, ", about ");
    tm_time_duration(out, (int64_t)((double)open / rate * (double)TM_S));
    tm_buf_add_str(out, " left");
  }
  tm_buf_add_char(out, '\n');
}

static void add_errors(struct tm_buf *out, const struct tm_step_survey *s)
{
  for (size_t i = 0; i < s->errors_len; i++) {
    const struct tm_survey_error *e = &s->errors[i];
    tm_buf_printf(out, "%s mini-batch %" PRId64, i == 0 ? "  last errors: " : "               ",
                  e->mini_batch);
    if (e->item) {
      tm_buf_add_str(out, ", ");
      tm_text_one_line(out, e->item, strlen(e->item), 0);
    }
    tm_buf_add_str(out, ":\n                  ");
    tm_text_one_line(out, e->message, strlen(e->message), MESSAGE_MAX);
    tm_buf_add_char(out, '\n');
  }
  if (s->error_file)
    tm_buf_printf(out, "  all errors:   %s\n", s->error_file);
}

static void add_step(struct tm_buf *out, const struct tm_survey *s,
                     const struct tm_step_survey *step)
{
  bool is_unbegun = step->sessions == 0 && (step->waits_for || step->status);
  tm_buf_printf(out, "step '%s'%s%s\n", step->name, step->status ? ": " : "",
                step->status ? step->status : "");
  if (step->waits_for)
    tm_buf_printf(out, "  waits for:    %s\n", step->waits_for);
  if (step->cause && (!s->cause || strcmp(s->cause, step->cause) != 0))
    tm_buf_printf(out, "  cause:        %s\n", step->cause);
  if (is_unbegun) /* there is nothing of it */
    return;
  add_mini_batches(out, s, step);
  add_tries(out, step);
  add_rate(out, s, step);
  if (step->output)
    tm_buf_printf(out, "  output:       %s\n", step->output);
  add_errors(out, step);
  if (step->damage_at >= 0 && s->status != TM_JOB_RUNNING)
    tm_buf_printf(out,
                  "  journal:      a bad record at byte %" PRId64
                  "; what is behind it is not counted; tidemill verify says more\n",
                  step->damage_at);
}

static void add_way_on(struct tm_buf *out, const struct tm_survey *s)
{
  if (s->status == TM_JOB_RUNNING || s->status == TM_JOB_COMPLETED)
    return;
  tm_buf_add_str(out, "to go on: tidemill resume ");
  tm_text_shell(out, s->dir);
  tm_buf_add_char(out, '\n');
}

static void add_status(struct tm_buf *out, const struct tm_survey *s)
{
  add_job(out, s);
  for (size_t i = 0; i < s->steps_len; i++)
    add_step(out, s, &s->steps[i]);
  add_way_on(out, s);
}

static void add_json(struct tm_buf *out, const struct tm_survey *s)
{
  struct tm_json *v = tm_survey_to_json(s);
  tm_json_write(out, v, (struct tm_json_style) { 0 });
  tm_buf_add_char(out, '\n');
  tm_json_free(v);
}

/* status */

static int status_of(const char *dir, bool json, struct tm_err *err)
{
  struct tm_survey s;
  struct tm_buf text = TM_BUF_NONE;
  int rc = tm_survey_read(&s, dir, tm_clock_wall_ns(), err);
  if (rc >= 0) {
    if (json)
      add_json(&text, &s);
    else
      add_status(&text, &s);
    rc = tm_cli_write(&text);
  }
  tm_buf_release(&text);
  tm_survey_release(&s);
  return rc;
}

static int status(const struct tm_cli *cli, int argc, char **argv)
{
  struct status_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  char *dir = NULL;
  int rc =
      tm_options_read(status_options, TM_COUNT_OF(status_options), argc, argv, &o, &rest, &err);
  if (rc >= 0)
    rc = tm_cli_one_job(&rest, &err);
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_status, &err);
  }
  dir = tm_cli_find_job(cli, rest.at[0], &err);
  rc = dir ? status_of(dir, o.json, &err) : err.code;
  TM_ARRAY_RELEASE(&rest);
  free(dir);
  return tm_cli_end(rc, &err);
}

/* jobs */

static void fill_counts(struct tm_buf *out, const struct tm_survey *s)
{
  int64_t total = 0, ended = 0, failed = 0;
  for (size_t i = 0; i < s->steps_len; i++) {
    total += s->steps[i].total;
    ended += s->steps[i].succeeded + s->steps[i].failed;
    failed += s->steps[i].failed;
  }
  add_number(out, ended, " of ");
  add_number(out, total, tm_text_counted(total, " mini-batch", " mini-batches"));
  if (failed > 0) {
    tm_buf_add_str(out, ", ");
    add_number(out, failed, " failed");
  }
}

static void add_row(struct tm_buf *out, const struct tm_survey *s, int width)
{
  struct tm_buf started = TM_BUF_NONE, duration = TM_BUF_NONE;
  int64_t ns = elapsed(s);
  if (s->begin_wall_ns)
    add_moment(&started, s->begin_wall_ns);
  if (ns >= 0)
    tm_time_duration(&duration, ns);
  tm_buf_printf(out, "%-*s  %-11s  %-19s  %12s  ", width, tm_path_base(s->dir),
                tm_job_status_name(s->status), tm_buf_str(&started), tm_buf_str(&duration));
  fill_counts(out, s);
  tm_buf_add_char(out, '\n');
  tm_buf_release(&started);
  tm_buf_release(&duration);
}

static int width_of(const struct tm_jobs *list)
{
  size_t width = strlen("name");
  for (size_t i = 0; i < list->len; i++)
    if (strlen(tm_path_base(list->at[i])) > width)
      width = strlen(tm_path_base(list->at[i]));
  return (int)width;
}

/* A job that cannot be read is said, and the others are listed all the same. */
static int write_jobs(const struct tm_jobs *list, bool json)
{
  struct tm_buf text = TM_BUF_NONE;
  int width = width_of(list), rc = 0, written;
  if (!json && list->len > 0)
    tm_buf_printf(&text, "%-*s  %-11s  %-19s  %12s  %s\n", width, "name", "status", "started (UTC)",
                  "duration", "done");
  for (size_t i = 0; i < list->len; i++) {
    struct tm_err err = TM_ERR_NONE;
    struct tm_survey s;
    if (tm_survey_read(&s, list->at[i], tm_clock_wall_ns(), &err) < 0) {
      tm_cli_say("%s", err.text);
      rc = 3;
    } else if (json) {
      add_json(&text, &s);
    } else {
      add_row(&text, &s, width);
    }
    tm_survey_release(&s);
  }
  written = tm_cli_write(&text);
  tm_buf_release(&text);
  return written ? written : rc;
}

static int list_jobs(const struct tm_cli *cli, bool json, struct tm_err *err)
{
  struct tm_jobs list = { 0 };
  char *workspace = tm_cli_workspace(cli, err);
  int rc;
  if (!workspace)
    return err->code;
  if ((rc = tm_jobs_list(&list, cli->fs, workspace, err)) >= 0) {
    if (list.len == 0)
      tm_cli_say("there is no job yet in the workspace '%s'", workspace);
    rc = write_jobs(&list, json);
  }
  tm_jobs_release(&list);
  free(workspace);
  return rc;
}

static int jobs(const struct tm_cli *cli, int argc, char **argv)
{
  struct status_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_options_read(jobs_options, TM_COUNT_OF(jobs_options), argc, argv, &o, &rest, &err);
  if (rc >= 0 && rest.len > 0)
    rc =
        tm_err_set(&err, TM_EUSAGE,
                   "'%s' is one word too many; tidemill status JOB says more of a job", rest.at[0]);
  TM_ARRAY_RELEASE(&rest);
  if (rc < 0)
    return tm_cli_fail_usage(&tm_command_jobs, &err);
  return tm_cli_end(list_jobs(cli, o.json, &err), &err);
}
