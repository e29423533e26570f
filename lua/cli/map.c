/* map.c - `tidemill map`: an entry script over files that the command line names, or standard input.
 *
 *   words -> one_step.c -> pipeline -> job directory -> execute.c, with outlet.c beside it -> deliver.c -> exit status
 *
 * It is a job as any other, in the workspace, with all its files; what map adds is where its rows go. Without a terminal on
 * standard output they are sent there as they are committed. Whoever reads them may go: the job is canceled then, and the
 * exit status is what a shell shows for a program that SIGPIPE ended.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/plan.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/deliver.h"
#include "cli/execute.h"
#include "cli/launch.h"
#include "cli/one_step.h"
#include "cli/outlet.h"
#include "store/workspace.h"
#include "sys/clock.h"

#define KILL_NS (500 * TM_MS + 10 * TM_MS) /* as of tm_job_cancel() */

struct map_options {
  struct tm_one_step_options step;
  const char *job_dir, *progress;
  bool overwrite, resume, keep_failed, accept_changes, verify_input, dry_run, json;
};

struct map {
  const struct tm_cli *cli;
  struct map_options o;
  struct tm_config_options options;
  struct tm_one_step step;
  char *dir;       /* of the job */
  char *workspace; /* whose history the job is in; or NULL */
  char *output;    /* of the step, when Completed; NULL: it has none */
  char *deliver;   /* --output FILE, absolute; or NULL */
  char *again;
  bool has_rows; /* they are sent to standard output */
  struct tm_execution *x;
  struct tm_outlet outlet;
  struct tm_listener listener;
  struct tm_timer kill;
  struct tm_err lost; /* why rows cannot be sent */
};

#define PLACE(field) offsetof(struct map_options, field)
/* clang-format off */
static const struct tm_option own[] = {
  { "rows", TM_OPTION_FLAG, PLACE(step.has_rows), NULL, NULL, "the inputs are tables, .csv, .tsv or .jsonl (also .gz), and run() gets their rows" },
  { "entries", TM_OPTION_VALUE, PLACE(step.entries), "PATTERN", NULL, "the inputs are archives, and the items their entries that match, extracted for their mini-batch" },
  { "partition-format", TM_OPTION_VALUE, PLACE(step.partition_format), "FORMAT", NULL, "columns in the end of each path, as {store}/{date:yyyy/MM/dd}/*.csv" },
  { "0", TM_OPTION_FLAG, PLACE(step.is_null_separated), NULL, NULL, "with '-': NUL stands between the paths, as find -print0 writes them" },
  { "limit", TM_OPTION_VALUE, PLACE(step.limit), "N", NULL, "only the first N items" },
  { "output", TM_OPTION_VALUE, PLACE(step.output), "FILE|-", NULL, "puts the output at FILE when the job is Completed; -: rows to standard output, also to a terminal" },
  { "overwrite", TM_OPTION_FLAG, PLACE(overwrite), NULL, NULL, "with --output: a FILE that is there is replaced" },
  { "job-dir", TM_OPTION_VALUE, PLACE(job_dir), "DIR", NULL, "where the job lives; else in the workspace, .tidemill/jobs/" },
  { "resume", TM_OPTION_FLAG, PLACE(resume), NULL, NULL, "goes on with the job in DIR, else with the newest of this script that is not Completed" },
  { "keep-failed", TM_OPTION_FLAG, PLACE(keep_failed), NULL, NULL, "with --resume or --resume_from: failed mini-batches stay failed" },
  { "accept-changes", TM_OPTION_FLAG, PLACE(accept_changes), NULL, NULL, "with --resume or --resume_from: goes on although script or inputs have changed" },
  { "verify-input", TM_OPTION_FLAG, PLACE(verify_input), NULL, NULL, "with --resume or --resume_from: lists the input again and compares all of it" },
  { "dry-run", TM_OPTION_FLAG, PLACE(dry_run), NULL, NULL, "says what would be run: settings with their origins, mini-batches; makes nothing" },
  { "progress", TM_OPTION_VALUE, PLACE(progress), "MODE", tm_progress_modes, "auto, bar, plain or none; auto: a bar on a terminal" },
  { "json", TM_OPTION_FLAG, PLACE(json), NULL, NULL, "the result as one JSON object, the last line of standard output" },
};
/* clang-format on */

static int run(const struct tm_cli *cli, int argc, char **argv);
static void add_help(struct tm_buf *out);

const struct tm_command tm_command_map = {
  .name = "map",
  .run = run,
  .usage = "ENTRY.lua INPUT... [-N SIZE] [-j WORKERS] [--output FILE|-] [--limit N] [options] "
           "[-- ARGS]",
  .summary = "runs an entry script over files, folders, patterns, or paths from standard input",
  .options = own,
  .options_len = TM_COUNT_OF(own),
  .takes_config = true,
  .add_help = add_help,
};

static void add_help(struct tm_buf *out)
{
  struct tm_config_options options;
  tm_buf_add_str(
      out,
      "INPUT: files, folders (all files in them), patterns (quoted, so that the shell leaves "
      "them), or '-':\n"
      "paths from standard input, one a line; work begins while they come. ARGS are the script's.\n"
      "Without a terminal on standard output, or with --output -, the rows are written there as "
      "they are\n"
      "committed; all of it is in the job's folder besides. Workers run where the command was "
      "typed.\n"
      "Exit status 141: nobody read the rows any more, and the job was canceled.\n\n"
      "  find /data -name '*.txt' -print0 | tidemill map score.lua -0 - >out.txt\n\n");
  tm_config_options_init(&options, own, TM_COUNT_OF(own), PLACE(step.config));
  tm_config_options_add_help(out, &options);
  tm_config_options_release(&options);
}

/* What was asked for. */

static int check_resume(const struct map *m, struct tm_err *err)
{
  if (m->o.resume && m->o.dry_run)
    return tm_launch_refuse_dry_resume(err);
  return tm_launch_check_resume(m->step.pipeline, m->o.resume, m->o.keep_failed,
                                m->o.accept_changes, m->o.verify_input, err);
}

/* Where the rows go. */
static int choose_output(struct map *m, struct tm_err *err)
{
  const struct tm_config *config = &m->step.pipeline->steps[0]->config;
  bool is_file = m->o.step.output && strcmp(m->o.step.output, "-") != 0;
  if (m->o.overwrite && !is_file)
    return tm_err_set(err, TM_EUSAGE, "'--overwrite' goes with --output FILE");
  if (m->o.step.output && config->output_action == TM_SUMMARY_ONLY)
    return tm_err_set(err, TM_EUSAGE,
                      "'--output' goes with --output-action append_row: summary_only has no rows");
  if (m->o.step.output && !*m->o.step.output)
    return tm_err_set(err, TM_EUSAGE, "'--output' is \"\"; accepted: a file, or '-'");
  if (is_file) {
    m->deliver = tm_path_absolute(m->step.cwd, m->o.step.output);
    return tm_deliver_check(m->cli->fs, m->deliver, m->o.overwrite, err);
  }
  m->has_rows =
      config->output_action == TM_APPEND_ROW && (m->o.step.output || !isatty(STDOUT_FILENO));
  return 0;
}

static int choose_dir(struct map *m, struct tm_err *err)
{
  const struct tm_fs *fs = m->cli->fs;
  const struct tm_step *step = m->step.pipeline->steps[0];
  if (m->o.job_dir) {
    m->dir = tm_path_absolute(m->step.cwd, m->o.job_dir);
  } else {
    char *here = tm_path_join(m->step.cwd, TM_WORKSPACE_NAME), *workspace;
    workspace = tm_workspace_find(fs, here, getenv(TM_WORKSPACE_VARIABLE), m->step.cwd, err);
    free(here);
    if (!workspace)
      return err->code;
    if (m->o.resume)
      m->dir = tm_workspace_find_open_job(fs, workspace, step->name);
    if (!m->dir)
      m->dir = tm_workspace_new_job(fs, workspace, step->name, tm_clock_wall_ns(), err);
    free(workspace);
  }
  if (m->dir && step->config.output_action == TM_APPEND_ROW)
    m->output =
        tm_xprintf("%s/%s/output/%s", m->dir, step->name, step->config.append_row_file_name);
  return m->dir ? 0 : err->code;
}

static void add_words(struct tm_buf *out, char **words, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    tm_buf_add_char(out, ' ');
    tm_text_shell(out, words[i]);
  }
}

/* The same command, with what makes it go on. */
static char *again_of(const struct map *m, int argc, char **argv)
{
  struct tm_buf text = TM_BUF_NONE;
  size_t ours = m->step.arguments ? (size_t)(m->step.arguments - argv) - 1 : (size_t)argc;
  tm_buf_add_str(&text, "tidemill");
  add_words(&text, argv, ours);
  if (!m->o.resume)
    tm_buf_add_str(&text, " --resume");
  if (!m->o.job_dir) {
    tm_buf_add_str(&text, " --job-dir ");
    tm_text_shell(&text, m->dir);
  }
  add_words(&text, argv + ours, (size_t)argc - ours);
  if (m->step.has_stdin)
    tm_buf_add_str(&text, ", with the same list on standard input");
  return tm_buf_take(&text);
}

/* Rows to standard output. */

static void on_event(void *data, const struct tm_event *e)
{
  struct map *m = data;
  if (e->step)
    tm_outlet_advance(&m->outlet, e->step->output_bytes);
}

static void on_idle(void *data)
{
  struct map *m = data;
  if (m->x->has_ended)
    tm_execution_stop(m->x);
}

static void on_kill(struct tm_timer *t)
{
  struct map *m = t->data;
  tm_execution_cancel(m->x);
}

/* What runs is of no use to anybody; half a second is for what is nearly done. */
static void on_gone(void *data, const struct tm_err *err)
{
  struct map *m = data;
  m->lost = *err;
  m->x->status = err->code == -EPIPE ? TM_CLI_NO_READER : 3;
  if (m->x->has_ended) {
    tm_execution_stop(m->x);
    return;
  }
  tm_report_say(m->x->job->report, TM_WARNING,
                err->code == -EPIPE ? "nobody reads the rows any more: the job is canceled"
                                    : err->text);
  tm_execution_cancel(m->x);
  tm_timer_start(&m->kill, KILL_NS, 0);
}

static int open_rows(struct map *m, const char *path, struct tm_err *err)
{
  struct tm_outlet_options o = { .loop = &m->x->rt->loop,
                                 .fs = m->cli->fs,
                                 .path = path,
                                 .fd = STDOUT_FILENO,
                                 .on_idle = on_idle,
                                 .on_gone = on_gone,
                                 .data = m };
  tm_timer_open(&m->kill, &m->x->rt->loop, on_kill, m);
  return tm_outlet_open(&m->outlet, &o, err);
}

/* Rows of earlier sessions go first: what comes out is the whole output. */
static int on_open(void *data, struct tm_execution *x, struct tm_err *err)
{
  struct map *m = data;
  const struct tm_fs *fs = m->cli->fs;
  struct tm_stat st;
  m->x = x;
  if (!m->has_rows)
    return 0;
  char *partial = tm_xprintf("%s.partial", m->output);
  bool is_partial = tm_fs_exists(fs, partial); /* else the job had been Completed */
  int rc = open_rows(m, is_partial ? partial : m->output, err);
  free(partial);
  if (rc < 0)
    return rc;
  m->listener = (struct tm_listener) { .on_event = on_event, .data = m };
  tm_events_add(&x->job->events, &m->listener);
  if (is_partial)
    tm_outlet_advance(&m->outlet, tm_job_view(x->job->job)->steps[0]->output_bytes);
  else if (fs->stat(fs->self, m->output, true, &st) == 0)
    tm_outlet_advance(&m->outlet, st.size);
  return 0;
}

static bool on_ended(void *data, struct tm_execution *x)
{
  struct map *m = data;
  return !m->has_rows || tm_outlet_is_idle(&m->outlet);
}

/* The rest of the rows is not waited for. */
static void on_hurry(void *data, struct tm_execution *x)
{
  struct map *m = data;
  tm_cli_say("%lld bytes of rows have not been read; they are in '%s'",
             (long long)(m->outlet.end - m->outlet.sent), m->output);
  x->status = 130;
  tm_execution_stop(x);
}

static void on_close(void *data, struct tm_execution *x)
{
  struct map *m = data;
  tm_outlet_close(&m->outlet);
  if (m->kill.is_open)
    tm_timer_close(&m->kill);
}

static const struct tm_execute_hooks hooks = { on_open, on_ended, on_hurry, on_close };

static int execute(struct map *m, struct tm_err *err)
{
  struct tm_execute e = { .cli = m->cli,
                          .pipeline = m->step.pipeline,
                          .dir = m->dir,
                          .workspace = m->workspace,
                          .resume = m->o.resume,
                          .keep_failed = m->o.keep_failed,
                          .accept_changes = m->o.accept_changes,
                          .verify_input = m->o.verify_input,
                          .has_stdin = true,
                          .progress = m->o.progress,
                          .json = m->o.json,
                          .again = m->again,
                          .hooks = &hooks,
                          .data = m };
  int rc = tm_execute(&e, err);
  if (rc == 0 && m->deliver) {
    rc = tm_deliver(m->cli->fs, m->output, m->deliver, m->o.overwrite, err);
    if (rc < 0)
      return tm_err_wrap(err, "the output is in '%s'", m->output);
    tm_cli_say("output: %s", m->deliver);
  }
  if (rc == 3 && m->lost.code)
    tm_cli_say("%s; they are in '%s'", m->lost.text, m->output);
  return rc;
}

static int run_job(struct map *m, int argc, char **argv, struct tm_err *err)
{
  int rc = choose_dir(m, err);
  if (rc < 0)
    return rc;
  m->workspace = tm_workspace_look(m->cli->fs, getenv(TM_WORKSPACE_VARIABLE), m->step.cwd);
  m->again = again_of(m, argc, argv);
  return execute(m, err);
}

static void release(struct map *m)
{
  tm_one_step_release(&m->step);
  tm_config_words_release(&m->o.step.config);
  tm_config_options_release(&m->options);
  free(m->dir);
  free(m->workspace);
  free(m->output);
  free(m->deliver);
  free(m->again);
}

static int dry_run(const struct map *m, struct tm_err *err)
{
  struct tm_plan plan = { .fs = m->cli->fs,
                          .pipeline = m->step.pipeline,
                          .source = "of the command line",
                          .json = m->o.json };
  return tm_launch_say_plan(&plan, err);
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  struct map m = { .cli = cli };
  struct tm_err err = TM_ERR_NONE;
  bool is_read = false; /* what was asked for, all of it */
  int rc, status;
  tm_config_options_init(&m.options, own, TM_COUNT_OF(own), PLACE(step.config));
  if ((rc = tm_one_step_read(&m.step, &m.options, argc, argv, &m.o, &m.o.step, &err)) >= 0 &&
      (rc = check_resume(&m, &err)) >= 0 && (rc = choose_output(&m, &err)) >= 0) {
    is_read = true;
    rc = m.o.dry_run ? dry_run(&m, &err) : run_job(&m, argc, argv, &err);
  }
  if (rc == TM_EUSAGE && !is_read) {
    status = tm_cli_fail_usage(&tm_command_map, &err);
  } else if (rc < 0) {
    tm_cli_say("%s", err.text);
    status = tm_execute_status_of(rc);
  } else {
    status = rc;
  }
  release(&m);
  return status;
}
