/* cmd_map.c - `tidemill map`: runs an entry script, or a model, over files that the command line or
 * standard input names.
 *
 *   words -> one_step.c -> pipeline -> execute.c, with outlet.c beside it -> exit status
 *
 * The job is an ordinary job in the workspace, with all its files. Without --output FILE, map sends
 * rows to standard output as the job commits them. When their reader goes, map cancels the job and
 * exits with the status that a shell shows for a program that SIGPIPE ended.
 *
 * Rows and progress may share a terminal. If map writes both, it hides the bar while it writes rows
 * (terminal.h). If the rows pass through another program (`| cat`), map cannot know when they
 * appear, so it shows no bar (neighbours.h).
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/launch.h"
#include "cli/one_step.h"
#include "records/rerun.h"
#include "cli/terminal/neighbours.h"
#include "cli/terminal/outlet.h"

struct map_options {
  struct tm_one_step_options step;
  struct tm_launch_options launch;
  const char *only_failed;
  bool overwrite, dry_run;
};

struct map {
  struct map_options o;
  struct tm_parameter_options options;
  struct tm_one_step words;
  struct tm_launch launch;
  int argc;
  char **argv;
  bool has_file;                /* --output FILE */
  bool has_rows;                /* rows go to standard output */
  bool is_shared;               /* rows go to the job's terminal */
  struct tm_terminal *terminal; /* the job's */
  bool has_looked;              /* it has looked for other programs that write to the terminal */
  char *output;                 /* the file with the job's rows; or NULL */
  struct tm_outlet outlet;
  struct tm_err lost; /* why it cannot send rows */
};

#define FULL_MS       50 /* before it retries a terminal that accepts nothing */
#define PLACE(field)  offsetof(struct map_options, field)
#define LAUNCH(field) PLACE(launch.field)
/* clang-format off */
static const struct tm_option own[] = {
  { "rows", TM_OPTION_FLAG, PLACE(step.has_rows), NULL, NULL, "the inputs are tables, and run() gets their rows. The name of the first input says how all are read: .tsv, .jsonl, .ndjson, .json, else CSV (also with .gz and the like appended)" },
  { "input-format", TM_OPTION_VALUE, PLACE(step.input_format), "csv|tsv|jsonl", tm_input_formats, "with --rows: " TM_INPUT_FORMAT_HELP },
  { "entries", TM_OPTION_VALUE, PLACE(step.entries), "PATTERN", NULL, "the inputs are archives, and the items are their entries that match, extracted for their mini-batch" },
  { "0", TM_OPTION_FLAG, PLACE(step.is_null_separated), NULL, NULL, "with '-': the paths are separated by NUL, as find -print0 writes them" },
  { "limit", TM_OPTION_VALUE, PLACE(step.limit), "N", NULL, "only the first N items" },
  { "output", TM_OPTION_VALUE, PLACE(step.output), "FILE|-", NULL, "writes the rows to FILE when the job is Completed, and none to standard output; -: writes them to standard output, which is the default" },
  { "output-format", TM_OPTION_VALUE, PLACE(step.format), "text|csv|tsv", tm_output_formats, "how data frames are written. csv and tsv: with a header line; text: without one, separated by blanks; --append-row-separator and --append-row-header override this. By default the name in --output or --append-row-file-name decides" },
  { "overwrite", TM_OPTION_FLAG, PLACE(overwrite), NULL, NULL, "with --output: replaces an existing FILE" },
  { "job-dir", TM_OPTION_VALUE, LAUNCH(job_dir), "DIR", NULL, "the job's directory; by default a new one in the workspace, in .tidemill/jobs/" },
  { "resume", TM_OPTION_FLAG, LAUNCH(resume), NULL, NULL, "resumes the job in --job-dir, or else the newest job of this script that is not Completed" },
  { "keep-failed", TM_OPTION_FLAG, LAUNCH(keep_failed), NULL, NULL, "with --resume or --resume_from: failed mini-batches stay failed; by default they get new tries" },
  { "only-failed", TM_OPTION_VALUE, PLACE(only_failed), "JOB", NULL, "runs a new job over the items that failed in JOB, a job of the same script; INPUT is not read" },
  { "accept-changes", TM_OPTION_FLAG, LAUNCH(accept_changes), NULL, NULL, "with --resume or --resume_from: continues even if the script, settings or input files have changed; the list of inputs stays as it was" },
  { "verify-input", TM_OPTION_FLAG, LAUNCH(verify_input), NULL, NULL, "with --resume or --resume_from: lists the inputs again and compares the whole list" },
  { "verify-output", TM_OPTION_FLAG, LAUNCH(verify_output), NULL, NULL, "with --resume: reads all committed rows and failures and compares them with the journal before anything runs" },
  { "dry-run", TM_OPTION_FLAG, PLACE(dry_run), NULL, NULL, "shows what would run (settings with their origins, mini-batches), and creates nothing" },
  { "progress", TM_OPTION_VALUE, LAUNCH(progress), "MODE", tm_progress_modes, "auto, bar, plain or none; auto shows a bar on a terminal, else plain lines" },
  { "joblog", TM_OPTION_VALUE, LAUNCH(joblog), "FILE", NULL, "appends a row to FILE for each mini-batch that has ended, as GNU parallel does: tidemill help report --manual" },
  { "report", TM_OPTION_MAYBE, LAUNCH(report), "FILE", NULL, "writes the report when the job has ended: into the job's directory, or to FILE; a FILE that is not a report is refused" },
  { "json", TM_OPTION_FLAG, LAUNCH(json), NULL, NULL, "prints the result as one JSON object on standard output instead of the rows; the object names the file that has the rows" },
};
/* clang-format on */

static int run(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_map = {
  .name = "map",
  .run = run,
  .usage = "(ENTRY.lua|--model FILE) INPUT... [-N SIZE] [-j WORKERS] [--output FILE|-] [--limit N] "
           "[options] [-- ARGS]",
  .summary = "runs an entry script over files, folders, patterns or a list of paths",
  .options = own,
  .options_len = TM_COUNT_OF(own),
  .parameters = TM_TAKES_ALL_GROUPS,
  .help = "INPUT is a file, a folder (all files in it), a pattern (quote it, so that the\n"
          "shell leaves it alone), or '-': a list of paths on standard input, one per line.\n"
          "Work begins while the list is still coming. ARGS are arguments of the script.\n"
          "Workers run in the current directory.\n"
          "\n"
          "--model FILE takes the place of ENTRY.lua: the ONNX model scores rows of tables (with\n"
          "--rows), and its outputs become columns; or images, each of which becomes a line of\n"
          "JSON. Options for that, such as --labels FILE, come after '--';\n"
          "'tidemill try --model m.onnx INPUT -- --help' lists them.\n"
          "\n"
          "The rows are written to standard output as they are committed; the job's folder\n"
          "has them too. --output FILE writes them to a file instead. A terminal shows\n"
          "control characters in them as escapes. A resumed job writes all rows again,\n"
          "those of earlier runs first. So resume into a new file ('>'): with '>>', or a\n"
          "pipe into a database, these rows would be there twice.\n"
          "\n"
          "Exit status 141: the reader of the rows has gone, and the job was canceled.\n"
          "\n"
          "  find /data -name '*.txt' -print0 | tidemill map score.lua -0 - >out.txt\n"
          "  tidemill map clean.lua 'in/*.csv' --rows --separator ';' \\\n"
          "    --output-format csv >out.csv\n"
          "  tidemill map --model m.onnx 'in/*.jpg' -- --labels labels.txt\n",
};

/* Chooses where the rows go. */
static int choose_output(struct map *m, const struct tm_cli *cli, struct tm_err *err)
{
  const char *output = m->o.step.output;
  const char *action =
      tm_parameter_words_last(&m->o.step.parameters, TM_PARAMETERS_CONFIG, "output_action");
  bool is_summary = action && strcmp(action, "summary_only") == 0;
  m->has_file = output && strcmp(output, "-") != 0;
  if (m->o.overwrite && !m->has_file)
    return tm_err_set(err, TM_EUSAGE, "'--overwrite' goes with --output FILE");
  if (output && is_summary)
    return tm_err_set(err, TM_EUSAGE,
                      "'--output' goes with --output-action append_row: summary_only has no rows");
  if (output && !*output)
    return tm_err_set(err, TM_EUSAGE, "'--output' is \"\"; accepted: a file, or '-'");
  if (m->o.launch.json && output && !m->has_file)
    return tm_err_set(err, TM_EUSAGE,
                      "'--json' prints the result on standard output, where '--output -' sends the "
                      "rows; name a file for them: --output FILE");
  m->has_rows = !is_summary && !m->has_file && !m->o.launch.json;
  if (m->has_rows && cli->has_no_stdout && !m->o.dry_run)
    return tm_err_set(err, TM_EUSAGE,
                      "standard output is closed, and the rows go there; name a file: --output "
                      "FILE, or discard them: >/dev/null");
  if (m->has_rows && !m->launch.o.progress && tm_neighbours_write_to(STDERR_FILENO))
    m->launch.o.progress = "plain";
  if (!m->has_file)
    return 0;
  int rc = tidemill_output_check(m->launch.rt, output, m->o.overwrite, err);
  return rc < 0
             ? rc
             : tidemill_pipeline_set_output_file(m->launch.pipeline, output, m->o.overwrite, err);
}

static void add_words(struct tm_buf *out, char **words, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    tm_buf_add_char(out, ' ');
    tm_text_shell(out, words[i]);
  }
}

/* How many words the option `name` takes up at `word`: 1 with '=', 2 if its value is the next
 * word. 0: another word. */
static size_t words_of(const char *word, const char *name)
{
  size_t n = strlen(name);
  for (size_t i = 0; i < n; i++)
    if ((word[i] == '_' ? '-' : word[i]) != name[i])
      return 0;
  return word[n] == '=' ? 1 : word[n] ? 0 : 2;
}

/* How many words to leave out of the command for a new job over failed items: 1 for an option that
 * resumes a job or replaces a file, 2 if it has a value, 0 for other words. */
static size_t left_out(const char *word)
{
  static const char *const flags[] = { "--resume",       "--keep-failed",   "--accept-changes",
                                       "--verify-input", "--verify-output", "--overwrite" };
  static const char *const values[] = { "--job-dir", "--output", "--only-failed" };
  size_t words = 0;
  for (size_t i = 0; i < TM_COUNT_OF(flags); i++)
    if (words_of(word, flags[i]) == 2)
      words = 1;
  for (size_t i = 0; i < TM_COUNT_OF(values) && words == 0; i++)
    words = words_of(word, values[i]);
  return words;
}

/* Adds the first `n` words without --only-failed JOB, and without --verify-input if changes are
 * accepted: it would refuse another list. */
static void add_own_words(struct tm_buf *out, char **words, size_t n, bool accepts)
{
  for (size_t i = 0; i < n; i++) {
    size_t k = words_of(words[i], "--only-failed");
    if (accepts && words_of(words[i], "--verify-input") > 0)
      continue;
    if (k == 0)
      add_words(out, words + i, 1);
    else
      i += k - 1;
  }
}

/* Appends the same command with the options that resume the job. The record of a job over failed
 * items names these items, so --only-failed is left out. `tidemill resume` is shorter, if the
 * record also has the definition. */
static void add_again(void *data, struct tm_buf *out, const char *dir, bool accepts)
{
  const struct map *m = data;
  const struct tm_one_step *w = &m->words;
  size_t argc = (size_t)m->argc, ours = w->arguments ? (size_t)(w->arguments - m->argv) - 1 : argc;
  if (m->o.only_failed && tidemill_resume_way(dir, NULL) != TIDEMILL_RESUME_BY_COMMAND) {
    tm_buf_add_str(out, "tidemill resume ");
    tm_text_shell(out, dir);
    tm_buf_add_str(out, accepts ? " --accept-changes" : "");
    return;
  }
  tm_buf_add_str(out, "tidemill");
  add_own_words(out, m->argv, ours, accepts);
  if (!m->o.launch.resume)
    tm_buf_add_str(out, " --resume");
  if (accepts && !m->o.launch.accept_changes)
    tm_buf_add_str(out, " --accept-changes");
  if (!m->o.launch.job_dir) {
    tm_buf_add_str(out, " --job-dir ");
    tm_text_shell(out, dir);
  }
  add_words(out, m->argv + ours, argc - ours);
}

/* "out.csv" becomes "out-again.csv": the ending decides the format. */
static char *name_again(const char *output)
{
  const char *base = tm_path_base(output);
  const char *dot = strchr(base + (*base == '.'), '.');
  size_t before = dot ? (size_t)(dot - output) : strlen(output);
  return tm_xprintf("%.*s-again%s", (int)before, output, dot ? dot : "");
}

/* A run over all items replaces the file. The rows of failed items go to a file beside it. */
static void add_output(struct tm_rerun *out, const char *output, const char *only_failed)
{
  char *path = only_failed ? name_again(output) : tm_xstrdup(output);
  tm_rerun_add_word(out, "--output");
  tm_rerun_add_word(out, path);
  if (!only_failed)
    tm_rerun_add_word(out, "--overwrite");
  free(path);
}

static void add_rerun(void *data, struct tm_rerun *out, const char *only_failed)
{
  const struct map *m = data;
  const struct tm_one_step *w = &m->words;
  size_t argc = (size_t)m->argc, ours = w->arguments ? (size_t)(w->arguments - m->argv) - 1 : argc;
  tm_rerun_add_word(out, "tidemill");
  for (size_t i = 0; i < ours;) {
    size_t n = left_out(m->argv[i]);
    if (n == 0)
      tm_rerun_add_word(out, m->argv[i]);
    i += n > 0 ? n : 1;
  }
  if (m->has_file)
    add_output(out, m->o.step.output, only_failed);
  if (only_failed) {
    tm_rerun_add_word(out, "--only-failed");
    tm_rerun_add_word(out, only_failed);
  }
  for (size_t i = ours; i < argc; i++)
    tm_rerun_add_word(out, m->argv[i]);
}

/* Says of a job that cannot be resumed how to start a new one. */
static void append_rerun(struct map *m, struct tm_err *err)
{
  struct tm_buf anew = TM_BUF_NONE;
  tm_rerun_add_own(&anew, add_rerun, m);
  tm_rerun_append_command(err, tm_buf_str(&anew));
  tm_buf_release(&anew);
}

/* ---- rows to standard output ---- */

/* Prints the rows of earlier sessions first, so that the output is complete. */
static int on_open(void *data, struct tm_execution *x, struct tm_err *err)
{
  struct map *m = data;
  struct tidemill_step step = TIDEMILL_STEP_INIT;
  struct stat st;
  m->terminal = &x->terminal;
  m->terminal->is_read = m->words.has_stdin && isatty(STDIN_FILENO);
  int rc = tidemill_job_step(x->job, 0, &step, err);
  if (rc < 0 || !step.output_file)
    return rc;
  m->output = tm_xstrdup(step.output_file);
  if (!m->has_rows)
    return 0;
  m->is_shared = tm_terminal_is_at(m->terminal, STDOUT_FILENO);
  char *partial = tm_xprintf("%s.partial", m->output);
  bool is_partial = stat(partial, &st) == 0; /* otherwise the job was Completed before */
  rc = tm_outlet_open(&m->outlet, is_partial ? partial : m->output, STDOUT_FILENO, err);
  free(partial);
  if (rc < 0 || (!is_partial && stat(m->output, &st) < 0))
    return rc;
  tm_outlet_advance(&m->outlet, is_partial ? step.output_bytes : st.st_size);
  if (m->outlet.end > 0)
    tm_cli_say("printing %lld bytes of rows again, which earlier runs of this job have committed; "
               "write to a new file (>), not after those already printed (>>)",
               (long long)m->outlet.end);
  return 0;
}

/* A reader that started after the job may also write to the terminal. */
static void look_for_neighbours(struct map *m)
{
  if (!m->has_looked && tm_terminal_has_bar(m->terminal) && tm_neighbours_write_to(m->terminal->fd))
    tm_terminal_drop_bar(m->terminal);
  m->has_looked = true;
}

static void on_event(const struct tidemill_event *e, void *data)
{
  struct map *m = data;
  if (e->kind == TIDEMILL_EVENT_PROGRESS && e->counts->all_created)
    m->terminal->is_read = false;
  if (e->kind != TIDEMILL_EVENT_ROWS || !m->has_rows)
    return;
  look_for_neighbours(m);
  tm_outlet_advance(&m->outlet, e->output_bytes);
  if (m->is_shared && !tm_outlet_is_idle(&m->outlet))
    tm_terminal_yield(m->terminal); /* so that the report follows the rows */
}

/* Cancels the job, because nobody reads its rows. Running mini-batches get half a second to
 * finish. */
static void on_gone(struct map *m, struct tm_execution *x)
{
  bool has_gone = m->lost.code == -EPIPE;
  x->status = has_gone ? TM_CLI_NO_READER : 3;
  if (x->has_ended)
    return;
  tidemill_job_say(x->job, TIDEMILL_LEVEL_WARNING,
                   has_gone ? "the reader of the rows has gone: no more rows are printed, and work "
                              "that is not done is canceled"
                            : m->lost.text);
  tm_execution_end(x);
}

/* Writes rows and progress in turns on one terminal, and never cuts a line. */
static void take_back(struct map *m)
{
  if (tm_outlet_is_idle(&m->outlet) ||
      (tm_terminal_has_later(m->terminal) && !m->outlet.is_mid_line))
    tm_terminal_take_back(m->terminal);
}

static int on_turn(void *data, struct tm_execution *x, struct pollfd *p)
{
  struct map *m = data;
  if (!m->has_rows)
    return -1;
  if (m->is_shared && !tm_outlet_is_idle(&m->outlet) && !tm_terminal_yield(m->terminal))
    return FULL_MS;
  if (tm_outlet_send(&m->outlet, &m->lost) < 0)
    on_gone(m, x);
  if (m->is_shared)
    take_back(m);
  return tm_outlet_wait(&m->outlet, p);
}

static bool is_done(void *data, const struct tm_execution *x)
{
  const struct map *m = data;
  return !m->has_rows || tm_outlet_is_idle(&m->outlet);
}

/* Where the rows of the job are, to free(): until the job is Completed, in a partial file. */
static char *rows_file(const struct map *m)
{
  char *partial = tm_xprintf("%s.partial", m->output);
  if (access(m->output, F_OK) < 0 && access(partial, F_OK) == 0)
    return partial;
  free(partial);
  return tm_xstrdup(m->output);
}

/* Does not wait for the remaining rows. */
static void on_hurry(void *data, struct tm_execution *x)
{
  const struct map *m = data;
  char *file = rows_file(m);
  tm_cli_say("%lld bytes of rows have not been read; they are in '%s'",
             (long long)(m->outlet.end - m->outlet.sent), file);
  free(file);
  x->status = 130;
  x->is_over = true;
}

/* ---- rows to a file ---- */
static int on_over(void *data, struct tm_execution *x, int status, struct tm_err *err)
{
  struct map *m = data;
  tm_outlet_close(&m->outlet);
  if (status == 3 && m->lost.code) {
    char *file = rows_file(m);
    tm_cli_say("%s; they are in '%s'", m->lost.text, file);
    free(file);
  }
  if (status != 0 || !m->has_file)
    return status;
  if (tidemill_job_put_output(x->job, 0, m->o.step.output, m->o.overwrite, err) < 0)
    return tm_err_wrap(err, "the output is in '%s'", m->output);
  char *path = tm_launch_path(m->o.step.output, err);
  tm_cli_say("output: %s", path ? path : m->o.step.output);
  free(path);
  return 0;
}

static const struct tm_execute_hooks hooks = { .on_open = on_open,
                                               .on_event = on_event,
                                               .on_turn = on_turn,
                                               .is_done = is_done,
                                               .on_hurry = on_hurry,
                                               .on_over = on_over,
                                               .add_message = tm_parameter_words_add_message,
                                               .add_again = add_again,
                                               .add_rerun = add_rerun };

/* ---- the command ---- */

/* Whether the job in `dir` runs the failed items of the job that the user names. */
static bool is_about_failed_of(const char *dir, const char *given)
{
  struct tidemill_record *job = NULL, *other = NULL;
  struct tm_json *definition = NULL;
  bool yes = false;
  if (tidemill_record_open(&job, NULL, dir, NULL) >= 0 &&
      tidemill_record_open(&other, NULL, given, NULL) >= 0) {
    definition = tm_json_of(tidemill_record_definition(job));
    yes = strcmp(tm_json_str(definition, "only_failed", ""), tidemill_record_info(other)->dir) == 0;
  }
  tm_json_free(definition);
  tidemill_record_close(other);
  tidemill_record_close(job);
  return yes;
}

/* The command that started a job over failed items, with --resume: the record of the job names the
 * items. */
static int check_same_failed(const struct map *m, struct tm_err *err)
{
  const char *dir = m->o.launch.job_dir;
  if (dir && is_about_failed_of(dir, m->o.only_failed))
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "'--only-failed' starts a new job, and --resume resumes an old one over its "
                    "own items; leave out one of them");
}

/* Reads the command line and makes a checked pipeline. */
static int read_all(struct map *m, const struct tm_cli *cli, struct tm_err *err)
{
  const struct tm_one_step_options *given = &m->o.step;
  int rc = tm_one_step_read(&m->words, &m->options, m->argc, m->argv, &m->o, given, err);
  m->launch.o = m->o.launch;
  if (rc >= 0)
    rc = tm_launch_init(&m->launch, cli, err);
  if (rc >= 0)
    rc = tm_one_step_build(&m->launch.pipeline, &m->words, given, m->launch.rt, err);
  if (rc >= 0)
    rc = choose_output(m, cli, err);
  if (rc == 0 && m->o.only_failed && m->o.launch.resume)
    return check_same_failed(m, err);
  if (rc == 0 && m->o.only_failed)
    rc = tidemill_pipeline_set_only_failed(m->launch.pipeline, m->o.only_failed, err);
  return rc;
}

static void release(struct map *m)
{
  tm_outlet_close(&m->outlet);
  tm_launch_release(&m->launch);
  tm_one_step_release(&m->words);
  tm_parameter_words_release(&m->o.step.parameters);
  tm_parameter_options_release(&m->options);
  free(m->output);
}

/* Otherwise no message would show that the command waits for standard input. */
static void say_waiting(const struct map *m)
{
  if (m->words.has_stdin && !m->o.dry_run && isatty(STDIN_FILENO))
    tm_cli_say("paths are read from the terminal, one a line; Ctrl-D ends them");
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  if (tm_one_step_asks_for_model_help(argc, argv))
    return tm_one_step_model_help(cli);
  struct map m = { .argc = argc, .argv = argv, .launch = { .argc = argc, .argv = argv } };
  struct tm_err err = TM_ERR_NONE;
  int rc, status;
  tm_parameter_options_init(&m.options, own, TM_COUNT_OF(own), TM_TAKES_ALL_GROUPS,
                            PLACE(step.parameters));
  rc = read_all(&m, cli, &err);
  bool is_usage = rc == TM_EUSAGE;
  if (rc == TIDEMILL_ONLY_FAILED_NONE) { /* no item failed in that job */
    tm_cli_say("%s", err.text);
    rc = 0;
  } else if (rc == 0) {
    say_waiting(&m);
    rc = m.o.dry_run ? tm_launch_plan(&m.launch, false, &err)
                     : tm_launch_run(&m.launch, &hooks, &m, &err);
  }
  if (rc < 0)
    tm_parameter_words_in_error(&err);
  if (rc == TM_EDAMAGE && m.o.launch.resume)
    append_rerun(&m, &err);
  status = is_usage ? tm_cli_fail_usage(&tm_command_map, &err) : tm_launch_status(rc, &err);
  release(&m);
  return status;
}
