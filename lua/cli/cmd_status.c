/* cmd_status.c - `tidemill status JOB` and `tidemill jobs`: show what a job's files record. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/name_table.h"
#include "cli/parameter_options.h"
#include "records/rerun.h"
#include "records/resume_line.h"

struct status_options {
  bool json, metrics, all;
};

/* clang-format off */
static const struct tm_option status_options[] = {
  { "json", TM_OPTION_FLAG, offsetof(struct status_options, json), NULL, NULL, "prints one JSON object on one line, for programs" },
  { "metrics", TM_OPTION_FLAG, offsetof(struct status_options, metrics), NULL, NULL, "prints the numbers of the job as OpenMetrics text, for a node exporter: tidemill help report --manual" },
};
static const struct tm_option jobs_options[] = {
  { "json", TM_OPTION_FLAG, offsetof(struct status_options, json), NULL, NULL, "prints one JSON object per line, as status --json does" },
  { "all", TM_OPTION_FLAG, offsetof(struct status_options, all), NULL, NULL, "also lists removed jobs, from the workspace's database" },
};
/* clang-format on */

static int status(const struct tm_cli *cli, int argc, char **argv);
static int jobs(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_status = {
  .name = "status",
  .run = status,
  .usage = "[JOB] [--json|--metrics]",
  .summary = "shows the progress or the result of a job",
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

static void add_job(struct tm_buf *out, struct tidemill_record *r)
{
  const struct tidemill_record_info *job = tidemill_record_info(r);
  bool is_running = job->state == TIDEMILL_STATE_RUNNING;
  tm_buf_printf(out, "%s: %s\n", tidemill_state_name(job->state), job->pipeline);
  tm_buf_printf(out, "job:     %s\n", job->dir);
  tm_command_line_add(out, r);
  if (job->begin_ns) {
    tm_buf_add_str(out, "started: ");
    tm_time_second(out, job->begin_ns);
    tm_buf_add_str(out, " UTC");
    if (job->elapsed_ns >= 0) {
      tm_buf_add_str(out, is_running ? ", for " : ", ended after ");
      tm_time_duration(out, job->elapsed_ns);
    }
    tm_buf_add_char(out, '\n');
  }
  if (job->pid)
    tm_buf_printf(out, "%s pid %" PRId64 " on host %s\n",
                  is_running ? "running:" : "was run:", job->pid, job->host);
  if (job->is_stopped)
    tm_buf_printf(out,
                  "stopped: by Ctrl-Z or SIGSTOP; to continue it: fg in its terminal, or "
                  "kill -CONT %" PRId64 "\n",
                  job->pid);
  if (*job->nodes)
    tm_buf_printf(out, "nodes:   %s\n", job->nodes);
  if (*job->cancel_asked_by)
    tm_buf_printf(out, "cancel:  requested by %s%s\n", job->cancel_asked_by,
                  is_running && job->cancel_is_taken ? "; the job is ending" : "");
  if (*job->cause) {
    tm_buf_add_str(out, "cause:   ");
    tm_text_one_line(out, job->cause, strlen(job->cause), 0); /* may hold control characters */
    tm_buf_add_str(out, "\nhelp:    tidemill help troubleshooting\n");
  }
}

static void add_status(struct tm_buf *out, struct tidemill_record *r)
{
  const struct tidemill_record_info *job = tidemill_record_info(r);
  add_job(out, r);
  for (size_t i = 0; i < job->steps_len; i++)
    tm_buf_add_str(out, tidemill_record_step(r, i)->text);
  if (job->state == TIDEMILL_STATE_COMPLETED && tm_rerun_add(out, r, NULL, NULL))
    tm_buf_add_char(out, '\n');
  if (job->state == TIDEMILL_STATE_RUNNING || job->state == TIDEMILL_STATE_COMPLETED)
    return;
  struct tm_buf after = TM_BUF_NONE;
  tm_resume_line_add(out, job->state == TIDEMILL_STATE_FAILED ? &after : NULL, job->dir, NULL);
  tm_buf_printf(out, "\n%s%s", tm_buf_str(&after), after.len > 0 ? "\n" : "");
  tm_buf_release(&after);
}

/* status */

static int show(struct tidemill_record *r, const struct status_options *o)
{
  struct tm_buf text = TM_BUF_NONE, shown = TM_BUF_NONE;
  int rc;
  if (o->json)
    tm_buf_printf(&text, "%s\n", tidemill_record_json(r));
  else if (o->metrics)
    tm_buf_add_str(&text, tidemill_record_metrics(r));
  else
    add_status(&text, r);
  if (!o->json && !o->metrics && tm_command_line_defines(r))
    tm_parameter_words_add_message(&shown, tm_buf_str(&text), text.len);
  rc = tm_cli_write(shown.len > 0 ? &shown : &text);
  tm_buf_release(&shown);
  tm_buf_release(&text);
  return rc;
}

static int status(const struct tm_cli *cli, int argc, char **argv)
{
  struct status_options o = { 0 };
  struct tidemill_record *record = NULL;
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc =
      tm_options_read(status_options, TM_COUNT_OF(status_options), argc, argv, &o, &rest, &err);
  if (rc >= 0)
    rc = tm_cli_one_job(&rest, &err);
  if (rc >= 0 && o.json && o.metrics)
    rc = tm_err_set(&err, TM_EUSAGE, "'--json' does not go with '--metrics'");
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_status, &err);
  }
  rc = tm_cli_open_record(cli, &record, rest.at[0], &err);
  if (rc >= 0)
    rc = show(record, &o);
  TM_ARRAY_RELEASE(&rest);
  tidemill_record_close(record);
  return tm_cli_end(rc, &err);
}

/* jobs */

struct jobs_list {
  bool json;
  const char *workspace;
  char *jobs_dir;
  struct tm_name_table table;
  int status;
  int64_t interrupted;
  char *newest_interrupted;
  struct tm_buf damaged; /* names of jobs that cannot be resumed */
  struct tm_buf text;
};

/* A job in the workspace goes by the name of its folder; a job elsewhere by its path. */
static const char *name_of(const struct jobs_list *l, const char *dir)
{
  size_t n = strlen(l->jobs_dir);
  bool is_within = strncmp(dir, l->jobs_dir, n) == 0 && dir[n] == '/' && !strchr(dir + n + 1, '/');
  return is_within ? tm_path_base(dir) : dir;
}

/* The rest of the line, after the name. */
static char *rest_of(const struct tidemill_record_info *job)
{
  struct tm_buf text = TM_BUF_NONE, started = TM_BUF_NONE, duration = TM_BUF_NONE;
  const struct tidemill_counts *c = job->counts;
  int64_t steps = (int64_t)job->steps_len;
  if (job->begin_ns)
    tm_time_second(&started, job->begin_ns);
  if (job->elapsed_ns >= 0)
    tm_time_duration(&duration, job->elapsed_ns);
  tm_buf_printf(&text, "%-11s  %-19s  %12s  ", tidemill_state_name(job->state),
                tm_buf_str(&started), tm_buf_str(&duration));
  tm_text_count(&text, c->succeeded + c->failed, " of ");
  tm_text_count(&text, c->created, tm_text_counted(c->created, " mini-batch", " mini-batches"));
  if (c->failed > 0) {
    tm_buf_add_str(&text, ", ");
    tm_text_count(&text, c->failed, " failed");
  }
  if (job->steps_reused > 0) {
    tm_buf_add_str(&text, ", ");
    tm_text_count(&text, (int64_t)job->steps_reused, " of ");
    tm_text_count(&text, steps, tm_text_counted(steps, " step reused", " steps reused"));
  }
  tm_buf_add_str(&text, job->is_removed ? ", removed\n" : job->is_stopped ? ", stopped\n" : "\n");
  tm_buf_release(&started);
  tm_buf_release(&duration);
  return tm_buf_take(&text);
}

/* Counts the interrupted jobs and keeps the newest that can be resumed: when such a job was killed,
 * nothing could report it. The newest comes first, so the files of later ones are not read. */
static void note_interrupted(struct jobs_list *l, const struct tidemill_record_info *job)
{
  const char *name = name_of(l, job->dir);
  if (job->state != TIDEMILL_STATE_INTERRUPTED || job->is_removed)
    return;
  if (l->interrupted == 0 && tidemill_resume_way(job->dir, NULL) == TIDEMILL_RESUME_NEVER) {
    tm_buf_printf(&l->damaged, "%s%s", l->damaged.len > 0 ? ", " : "", name);
    return;
  }
  if (l->interrupted++ == 0)
    l->newest_interrupted = tm_xstrdup(name);
}

static void say_interrupted(const struct jobs_list *l)
{
  char *newest = tm_text_shell_word(l->interrupted > 0 ? l->newest_interrupted : "");
  if (l->interrupted > 0)
    tm_cli_say("%" PRId64 " %s interrupted; to resume %s: tidemill resume %s", l->interrupted,
               tm_text_counted(l->interrupted, "job was", "jobs were"),
               l->interrupted == 1 ? "it" : "the newest", newest);
  free(newest);
  if (l->damaged.len > 0)
    tm_cli_say("interrupted, and cannot be resumed: %s; 'tidemill status JOB' says why",
               l->damaged.data);
}

/* Reports a job that cannot be read, and continues with the others; then the status is 3. */
static int on_job(struct tidemill_record *r, void *data)
{
  struct jobs_list *l = data;
  const struct tidemill_record_info *job = tidemill_record_info(r);
  if (*job->fault) {
    tm_cli_say("%s", job->fault);
    l->status = 3;
  } else if (l->json) {
    tm_buf_printf(&l->text, "%s\n", tidemill_record_json(r));
  } else {
    tm_name_table_add(&l->table, name_of(l, job->dir), rest_of(job));
    note_interrupted(l, job);
  }
  return 0;
}

static char *heading(void)
{
  return tm_xprintf("%-11s  %-19s  %12s  %s", "status", "started (UTC)", "duration", "done");
}

static int list_jobs(const struct tm_cli *cli, const struct status_options *o, struct tm_err *err)
{
  struct jobs_list l = { .json = o->json };
  struct tidemill_workspace *ws = NULL;
  int rc = tm_cli_open_workspace(cli, &ws, TM_CLI_READS, err);
  if (rc < 0)
    return rc;
  l.workspace = tidemill_workspace_path(ws);
  l.jobs_dir = tm_path_join(l.workspace, "jobs");
  rc = tidemill_workspace_jobs(ws, o->all, on_job, &l, err);
  char *columns = heading();
  tm_name_table_write(&l.table, columns, &l.text);
  free(columns);
  if (rc == 0) {
    if (l.text.len == 0 && l.status == 0)
      tm_cli_say("there is no job yet in the workspace '%s'", l.workspace);
    rc = tm_cli_write(&l.text);
    say_interrupted(&l);
  }
  tm_buf_release(&l.text);
  tm_buf_release(&l.damaged);
  free(l.newest_interrupted);
  free(l.jobs_dir);
  tidemill_workspace_close(ws);
  return rc ? rc : l.status;
}

static int jobs(const struct tm_cli *cli, int argc, char **argv)
{
  struct status_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_options_read(jobs_options, TM_COUNT_OF(jobs_options), argc, argv, &o, &rest, &err);
  if (rc >= 0 && rest.len > 0)
    rc = tm_err_set(&err, TM_EUSAGE,
                    "'%s' is one word too many; 'tidemill status JOB' shows one job", rest.at[0]);
  TM_ARRAY_RELEASE(&rest);
  if (rc < 0)
    return tm_cli_fail_usage(&tm_command_jobs, &err);
  return tm_cli_end(list_jobs(cli, &o, &err), &err);
}
