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
#include "store/history.h"
#include "store/jobs.h"
#include "store/workspace.h"
#include "sys/clock.h"

#define MESSAGE_MAX 300 /* bytes of an error that are shown */

struct status_options {
  bool json, all;
};

/* clang-format off */
static const struct tm_option status_options[] = {
  { "json", TM_OPTION_FLAG, offsetof(struct status_options, json), NULL, NULL, "one JSON object on one line, for programs" },
};
static const struct tm_option jobs_options[] = {
  { "json", TM_OPTION_FLAG, offsetof(struct status_options, json), NULL, NULL, "one JSON object a line, as of status --json" },
  { "all", TM_OPTION_FLAG, offsetof(struct status_options, all), NULL, NULL, "jobs that have been removed, too, as the workspace's database knows them" },
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
  .usage = "[--all] [--json]",
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

static void add_outputs(struct tm_buf *out, const struct tm_step_survey *step)
{
  const struct tm_json *list = step->outputs;
  if (step->output)
    tm_buf_printf(out, "  output:       %s\n", step->output);
  for (size_t i = 0; list && list->type == TM_JSON_ARRAY && i < list->list.len; i++) {
    const char *destination = tm_json_str(list->list.at[i], "destination", NULL);
    if (i > 0) /* the first is the one above */
      tm_buf_printf(out, "  output:       %s\n", tm_json_str(list->list.at[i], "path", ""));
    if (destination)
      tm_buf_printf(out, "  destination:  %s\n", destination);
  }
}

static void add_step(struct tm_buf *out, const struct tm_survey *s,
                     const struct tm_step_survey *step)
{
  bool is_unbegun = step->sessions == 0 && !step->reused_from && (step->waits_for || step->status);
  tm_buf_printf(out, "step '%s'%s%s\n", step->name, step->status ? ": " : "",
                step->status ? step->status : "");
  if (step->reused_from)
    tm_buf_printf(out, "  reused from:  %s\n", step->reused_from);
  if (step->waits_for)
    tm_buf_printf(out, "  waits for:    %s\n", step->waits_for);
  if (step->cause && (!s->cause || strcmp(s->cause, step->cause) != 0))
    tm_buf_printf(out, "  cause:        %s\n", step->cause);
  if (is_unbegun) /* there is nothing of it */
    return;
  add_mini_batches(out, s, step);
  add_tries(out, step);
  add_rate(out, s, step);
  add_outputs(out, step);
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

/* Those in the workspace's folder, and among them by their age those that only its database knows. */
struct jobs_list {
  const struct tm_cli *cli;
  bool json, all;
  char *workspace;
  struct tm_jobs dirs;
  struct tm_history history;
  size_t next; /* in the history */
  int width;
  struct tm_buf text;
};

static void add_row(struct jobs_list *l, const struct tm_history_job *j, bool is_removed)
{
  struct tm_buf started = TM_BUF_NONE, duration = TM_BUF_NONE;
  char *jobs_dir = tm_path_dir(j->dir);
  bool is_elsewhere = strcmp(tm_path_base(jobs_dir), "jobs") != 0;
  if (j->begin_ns)
    add_moment(&started, j->begin_ns);
  if (j->begin_ns && j->end_ns)
    tm_time_duration(&duration, j->end_ns - j->begin_ns);
  tm_buf_printf(&l->text, "%-*s  %-11s  %-19s  %12s  ", l->width,
                is_elsewhere ? j->dir : tm_path_base(j->dir), j->status, tm_buf_str(&started),
                tm_buf_str(&duration));
  add_number(&l->text, j->succeeded + j->failed, " of ");
  add_number(&l->text, j->total, tm_text_counted(j->total, " mini-batch", " mini-batches"));
  if (j->failed > 0) {
    tm_buf_add_str(&l->text, ", ");
    add_number(&l->text, j->failed, " failed");
  }
  if (j->reused > 0) {
    tm_buf_add_str(&l->text, ", ");
    add_number(&l->text, j->reused, " of ");
    add_number(&l->text, j->steps, tm_text_counted(j->steps, " step reused", " steps reused"));
  }
  tm_buf_add_str(&l->text, is_removed ? ", removed\n" : "\n");
  free(jobs_dir);
  tm_buf_release(&started);
  tm_buf_release(&duration);
}

/* As its files say. */
static void add_surveyed(struct jobs_list *l, const struct tm_survey *s)
{
  int64_t ns = elapsed(s);
  struct tm_history_job j = { .dir = s->dir,
                              .status = (char *)tm_job_status_name(s->status),
                              .begin_ns = s->begin_wall_ns,
                              .end_ns = ns >= 0 ? s->begin_wall_ns + ns : 0,
                              .steps = (int64_t)s->steps_len };
  if (l->json) {
    add_json(&l->text, s);
    return;
  }
  for (size_t i = 0; i < s->steps_len; i++) {
    j.total += s->steps[i].total;
    j.succeeded += s->steps[i].succeeded;
    j.failed += s->steps[i].failed;
    j.reused += s->steps[i].reused_from != NULL;
  }
  add_row(l, &j, false);
}

/* As the database has it: its directory is gone. */
static void add_removed(struct jobs_list *l, const struct tm_history_job *j)
{
  struct tm_json *v;
  if (!l->json) {
    add_row(l, j, true);
    return;
  }
  v = tm_history_to_json(j);
  tm_json_write(&l->text, v, (struct tm_json_style) { 0 });
  tm_buf_add_char(&l->text, '\n');
  tm_json_free(v);
}

static bool is_listed(const struct jobs_list *l, const char *dir)
{
  char *parent = tm_path_dir(dir), *jobs_dir = tm_path_join(l->workspace, "jobs");
  bool is_within = strcmp(parent, jobs_dir) == 0;
  free(parent);
  free(jobs_dir);
  return is_within;
}

static bool is_there(const struct jobs_list *l, const char *dir)
{
  char *path = tm_path_join(dir, "job.json");
  bool yes = tm_fs_exists(l->cli->fs, path);
  free(path);
  return yes;
}

/* A job that cannot be read is said, and the others are listed all the same: 3. */
static int add_job_at(struct jobs_list *l, const char *dir)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_survey s;
  int rc = tm_survey_read(&s, dir, tm_clock_wall_ns(), &err) < 0 ? 3 : 0;
  if (rc == 0)
    add_surveyed(l, &s);
  else
    tm_cli_say("%s", err.text);
  tm_survey_release(&s);
  return rc;
}

/* Those of the database alone that began at `begin_ns` or later. */
static int add_others(struct jobs_list *l, int64_t begin_ns)
{
  int rc = 0;
  for (; l->next < l->history.len && l->history.at[l->next].begin_ns >= begin_ns; l->next++) {
    const struct tm_history_job *j = &l->history.at[l->next];
    bool is_here = is_there(l, j->dir);
    if (is_here && !is_listed(l, j->dir))
      rc |= add_job_at(l, j->dir);
    else if (!is_here && l->all)
      add_removed(l, j);
  }
  return rc;
}

/* When it began, by the database; 0: that does not know it. */
static int64_t begin_of(const struct jobs_list *l, const char *dir)
{
  for (size_t i = l->next; i < l->history.len; i++)
    if (strcmp(l->history.at[i].dir, dir) == 0)
      return l->history.at[i].begin_ns;
  return 0;
}

static void widen(struct jobs_list *l, const char *name)
{
  if ((int)strlen(name) > l->width)
    l->width = (int)strlen(name);
}

static void set_width(struct jobs_list *l)
{
  l->width = (int)strlen("name");
  for (size_t i = 0; i < l->dirs.len; i++)
    widen(l, tm_path_base(l->dirs.at[i]));
  for (size_t i = 0; i < l->history.len; i++) {
    const char *dir = l->history.at[i].dir;
    if (is_there(l, dir) ? !is_listed(l, dir) : l->all)
      widen(l, is_listed(l, dir) ? tm_path_base(dir) : dir);
  }
}

static int write_jobs(struct jobs_list *l)
{
  int rc = 0, written;
  set_width(l);
  if (!l->json && (l->dirs.len > 0 || l->history.len > 0))
    tm_buf_printf(&l->text, "%-*s  %-11s  %-19s  %12s  %s\n", l->width, "name", "status",
                  "started (UTC)", "duration", "done");
  for (size_t i = 0; i < l->dirs.len; i++) {
    int64_t begin_ns = begin_of(l, l->dirs.at[i]);
    if (begin_ns > 0)
      rc |= add_others(l, begin_ns);
    rc |= add_job_at(l, l->dirs.at[i]);
  }
  rc |= add_others(l, INT64_MIN);
  written = tm_cli_write(&l->text);
  return written ? written : rc;
}

static int list_jobs(const struct tm_cli *cli, const struct status_options *o, struct tm_err *err)
{
  struct jobs_list l = { .cli = cli, .json = o->json, .all = o->all };
  struct tm_err unread = TM_ERR_NONE;
  int rc;
  if (!(l.workspace = tm_cli_workspace(cli, err)))
    return err->code;
  if (tm_history_list(&l.history, l.workspace, &unread) < 0)
    tm_cli_say("jobs elsewhere and those removed are not listed: %s", unread.text);
  if ((rc = tm_jobs_list(&l.dirs, cli->fs, l.workspace, err)) >= 0) {
    if (l.dirs.len == 0 && l.history.len == 0)
      tm_cli_say("there is no job yet in the workspace '%s'", l.workspace);
    rc = write_jobs(&l);
  }
  tm_buf_release(&l.text);
  tm_history_release(&l.history);
  tm_jobs_release(&l.dirs);
  free(l.workspace);
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
  return tm_cli_end(list_jobs(cli, &o, &err), &err);
}
