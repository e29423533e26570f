/* cmd_report.c - `tidemill report JOB`: writes a page about a job, or the job in a format of
 * another program.
 *
 * Each format is an option that names the file, and a row in `outputs`.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

struct report_options {
  const char *joblog, *trace, *step, *page;
  bool overwrite, json, opens;
};

#define PLACE(field) offsetof(struct report_options, field)
/* clang-format off */
static const struct tm_option options[] = {
  { "o", TM_OPTION_VALUE, PLACE(page), "FILE", NULL, "the file for the page, by default report.html in the job's directory; -: to standard output" },
  { "open", TM_OPTION_FLAG, PLACE(opens), NULL, NULL, "shows the page in a browser" },
  { "joblog", TM_OPTION_VALUE, PLACE(joblog), "FILE", NULL, "writes a row for each mini-batch that has ended, as GNU parallel does; -: to standard output" },
  { "trace", TM_OPTION_VALUE, PLACE(trace), "FILE", NULL, "writes a trace for ui.perfetto.dev and chrome://tracing; FILE.gz: compressed" },
  { "json", TM_OPTION_FLAG, PLACE(json), NULL, NULL, "prints what the report shows as one JSON object on one line, for programs" },
  { "step", TM_OPTION_VALUE, PLACE(step), "NAME", NULL, "writes one step, by default all, one after the other; of the page: the step that comes first" },
  { "overwrite", TM_OPTION_FLAG, PLACE(overwrite), NULL, NULL, "replaces FILE whatever it is; by default only if it is empty, or has the same format" },
};
/* clang-format on */

static int report(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_report = {
  .name = "report",
  .run = report,
  .usage = "[JOB] [-o FILE|-] [--open] | --joblog FILE|- | --trace FILE[.gz] | --json "
           "[--step NAME] [--overwrite]",
  .summary = "writes a page about a job, or its rows for other programs",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .help = "The page is one file that loads nothing: it can be moved, mailed and printed. An\n"
          "earlier report is replaced. FILE gets its name when it is complete: if anything\n"
          "fails, an older FILE stays as it was. The job may be running, and is not changed.\n"
          "'tidemill help report --manual' shows what the files contain.\n",
};

/* What can be written: the option that gives the file, and the format. */
struct output {
  const char *name;
  size_t place;
  enum tidemill_format format;
};
static const struct output outputs[] = {
  { "--joblog", PLACE(joblog), TIDEMILL_FORMAT_JOBLOG },
  { "--trace", PLACE(trace), TIDEMILL_FORMAT_TRACE },
};

static const char *file_of(const struct report_options *o, const struct output *output)
{
  const char *file;
  memcpy(&file, (const char *)o + output->place, sizeof(file));
  return file;
}

/* The one that was asked for; *chosen is NULL for the page and --json. TM_EUSAGE. */
static int choose(const struct report_options *o, const struct output **chosen, struct tm_err *err)
{
  const char *first = o->page ? "-o" : o->opens ? "--open" : NULL;
  *chosen = NULL;
  for (size_t i = 0; i < TM_COUNT_OF(outputs); i++) {
    if (!file_of(o, &outputs[i]))
      continue;
    if (first)
      return tm_err_set(err, TM_EUSAGE, "'%s' does not go with '%s'; write one at a time",
                        outputs[i].name, first);
    *chosen = &outputs[i];
    first = outputs[i].name;
  }
  const char *beside = first ? first : o->step ? "--step" : o->overwrite ? "--overwrite" : NULL;
  if (o->json && beside) /* it prints all of the job */
    return tm_err_set(err, TM_EUSAGE, "'%s' does not go with '--json'", beside);
  if (o->opens && o->page && strcmp(o->page, "-") == 0)
    return tm_err_set(err, TM_EUSAGE, "'--open' needs a file; leave out '-o -'");
  return 0;
}

static int on_text(const char *text, size_t bytes, void *data)
{
  struct tm_buf out = TM_BUF_NONE;
  tm_buf_add(&out, text, bytes);
  return tm_cli_write_and_release(&out);
}

static void on_note(const char *text, void *data)
{
  tm_cli_say("%s", text);
}

static int write_job(const struct tm_cli *cli, const char *job, const struct report_options *o,
                     const struct output *output, struct tm_err *err)
{
  struct tidemill_export_options to = TIDEMILL_EXPORT_OPTIONS_INIT;
  struct tidemill_record *record = NULL;
  const char *file = file_of(o, output);
  bool is_printed = strcmp(file, "-") == 0;
  if (is_printed && cli->has_no_stdout)
    return tm_err_set(err, TM_EUSAGE, "standard output is closed; name a file: %s FILE",
                      output->name);
  int rc = tm_cli_open_record(cli, &record, job, err);
  if (rc < 0)
    return rc;
  to.step = o->step;
  to.overwrite = o->overwrite;
  to.on_note = on_note;
  if (is_printed)
    to.on_text = on_text;
  else
    to.path = file;
  rc = tidemill_record_export(record, output->format, &to, err);
  tidemill_record_close(record);
  return rc;
}

/* Also of a job that was removed, as far as the workspace remembers it. */
static int print_json(const struct tm_cli *cli, const char *job, struct tm_err *err)
{
  struct tidemill_insight *insight = NULL;
  struct tm_buf out = TM_BUF_NONE;
  struct tidemill_workspace *ws = tm_cli_nearest_workspace(cli);
  int rc = tidemill_insight_open(&insight, ws, job, NULL, err);
  tidemill_workspace_close(ws);
  if (rc < 0)
    return rc;
  tm_buf_printf(&out, "%s\n", tidemill_insight_json(insight));
  tidemill_insight_close(insight);
  return tm_cli_write_and_release(&out);
}

/* ---- the page ---- */

/* Starts a browser, and does not wait for it. Its output would be lost among ours. */
static void open_page(const char *path)
{
  const char *program = getenv("BROWSER");
  posix_spawn_file_actions_t files;
  pid_t pid;
  program = program && *program ? program : "xdg-open";
  char *const argv[] = { (char *)program, (char *)path, NULL };
  posix_spawn_file_actions_init(&files);
  for (int fd = 0; fd <= 2; fd++)
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
  int code = posix_spawnp(&pid, program, &files, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  if (code != 0)
    tm_cli_say("no browser was started: '%s': %s; open the file in one, or name one in BROWSER",
               program, strerror(code));
}

static void on_written(const char *path, void *data)
{
  const struct report_options *o = data;
  tm_cli_say("report: %s", path);
  if (o->opens)
    open_page(path);
}

static int write_page(const struct tm_cli *cli, const char *job, struct report_options *o,
                      struct tm_err *err)
{
  struct tidemill_report_options to = TIDEMILL_REPORT_OPTIONS_INIT;
  bool is_printed = o->page && strcmp(o->page, "-") == 0;
  if (is_printed && cli->has_no_stdout)
    return tm_err_set(err, TM_EUSAGE, "standard output is closed; name a file: -o FILE");
  if (is_printed)
    to.on_text = on_text;
  else
    to.path = o->page;
  to.step = o->step;
  to.overwrite = o->overwrite;
  to.on_written = on_written;
  to.data = o;
  struct tidemill_workspace *ws = tm_cli_nearest_workspace(cli);
  int rc = tidemill_report_write(ws, job, &to, err);
  tidemill_workspace_close(ws);
  return rc;
}

static int report(const struct tm_cli *cli, int argc, char **argv)
{
  struct report_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  const struct output *output = NULL;
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &o, &rest, &err);
  if (rc >= 0)
    rc = tm_cli_one_job(&rest, &err);
  if (rc >= 0)
    rc = choose(&o, &output, &err);
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_report, &err);
  }
  rc = o.json   ? print_json(cli, rest.at[0], &err)
       : output ? write_job(cli, rest.at[0], &o, output, &err)
                : write_page(cli, rest.at[0], &o, &err);
  TM_ARRAY_RELEASE(&rest);
  return tm_cli_end(rc, &err);
}
