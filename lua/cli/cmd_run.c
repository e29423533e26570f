/* cmd_run.c - `tidemill run`: runs a pipeline file as a new job, or resumes its job. launch.c does
 * the work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/launch.h"
#include "cli/loading.h"
#include "cli/parameter_options.h"
#include "records/rerun.h"

struct run_options {
  struct tm_launch_options launch;
  const char *only_failed, *like;
  bool dry_run, explain;
};

struct run {
  struct tm_launch launch;
  struct run_options o;
  struct tm_words rest;
  bool is_usage; /* the command line is wrong */
};

#define PLACE(field)  offsetof(struct run_options, field)
#define LAUNCH(field) PLACE(launch.field)
/* clang-format off */
static const struct tm_option options[] = {
  { "param", TM_OPTION_LIST, LAUNCH(params), "NAME=VALUE", NULL, "sets a PipelineParameter; may be repeated" },
  { "params-file", TM_OPTION_VALUE, LAUNCH(params_file), "FILE", NULL, "reads values of parameters from FILE, a JSON object or a Lua file that returns a table; --param overrides them" },
  { "like", TM_OPTION_VALUE, PLACE(like), "JOB", NULL, "submits the pipeline file of JOB again, with the parameters of JOB where you give none" },
  { "job-dir", TM_OPTION_VALUE, LAUNCH(job_dir), "DIR", NULL, "the job's directory; by default a new one in the workspace, in .tidemill/jobs/" },
  { "resume", TM_OPTION_FLAG, LAUNCH(resume), NULL, NULL, "resumes the job in --job-dir, or else this pipeline's newest job that is not Completed" },
  { "keep-failed", TM_OPTION_FLAG, LAUNCH(keep_failed), NULL, NULL, "with --resume or --resume_from: failed mini-batches stay failed; by default they get new tries" },
  { "keep-script", TM_OPTION_FLAG, LAUNCH(keep_script), NULL, NULL, "with --resume: uses the job's own copy of the script, even if the script has changed" },
  { "accept-changes", TM_OPTION_FLAG, LAUNCH(accept_changes), NULL, NULL, "with --resume or --resume_from: continues even if the script, settings or input files have changed; the list of inputs stays as it was" },
  { "verify-input", TM_OPTION_FLAG, LAUNCH(verify_input), NULL, NULL, "with --resume or --resume_from: lists the inputs again and compares the whole list" },
  { "verify-output", TM_OPTION_FLAG, LAUNCH(verify_output), NULL, NULL, "with --resume: reads all committed rows and failures and compares them with the journal before anything runs" },
  { "only-failed", TM_OPTION_VALUE, PLACE(only_failed), "JOB", NULL, "runs a new job over the items that failed in JOB; each step gets the failed items of the step of its name" },
  { "no-reuse", TM_OPTION_FLAG, LAUNCH(no_reuse), NULL, NULL, "runs every step, even if an earlier job has its result; later jobs may reuse this one" },
  { "dry-run", TM_OPTION_FLAG, PLACE(dry_run), NULL, NULL, "shows what would run (settings with their origins, mini-batches), and creates nothing" },
  { "explain", TM_OPTION_FLAG, PLACE(explain), NULL, NULL, "with --dry-run: shows for each step why an earlier result would be reused, or what has changed" },
  { "j", TM_OPTION_VALUE, LAUNCH(max_workers), "N", NULL, "short for --max-workers" },
  { "max-workers", TM_OPTION_VALUE, LAUNCH(max_workers), "N", NULL, "the limit of workers for all steps together; by default the number of cores, or the largest process_count_per_node if that is more, on each node" },
  { "progress", TM_OPTION_VALUE, LAUNCH(progress), "MODE", tm_progress_modes, "auto, bar, plain or none; auto shows a bar on a terminal, else plain lines" },
  { "joblog", TM_OPTION_VALUE, LAUNCH(joblog), "FILE", NULL, "appends a row to FILE for each mini-batch that has ended, as GNU parallel does: tidemill help report --manual" },
  { "report", TM_OPTION_MAYBE, LAUNCH(report), "FILE", NULL, "writes the report when the job has ended: into the job's directory, or to FILE; a FILE that is not a report is refused" },
  { "json", TM_OPTION_FLAG, LAUNCH(json), NULL, NULL, "prints the result as one JSON object, the last line of standard output" },
};
/* clang-format on */

static int run(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_run = {
  .name = "run",
  .run = run,
  .usage = "PIPELINE.lua|--like JOB [--param NAME=VALUE]... [--params-file FILE] [--job-dir DIR] "
           "[--resume [--keep-failed] [--keep-script] [--accept-changes] [--verify-input] "
           "[--verify-output]] "
           "[--only-failed JOB] "
           "[--no-reuse] [--dry-run [--explain]] [--joblog FILE] [--report[=FILE]] [--progress "
           "auto|bar|plain|none] "
           "[--json]",
  .summary = "runs a pipeline",
  .options = options,
  .options_len = TM_COUNT_OF(options),
};

/* Explains an option that only `map` takes, because it sets a step's setting: here the setting
 * belongs in the pipeline file. */
static void explain_setting(const char *word, struct tm_err *err)
{
  struct tidemill_parameter p;
  bool is_long = strncmp(word, "--", 2) == 0;
  const char *of_letter = is_long ? NULL : tm_parameter_of_letter(word[1]);
  char *name = of_letter ? tm_xstrdup(of_letter) : tm_xstrndup(word + 2, strcspn(word + 2, "="));
  char *refused =
      is_long ? tm_xprintf("unknown option '--%s'", name) : tm_xprintf("unknown option '%s'", word);
  bool is_refused = strncmp(err->text, refused, strlen(refused)) == 0;
  for (char *at = name; *at; at++)
    *at = *at == '-' ? '_' : *at;
  for (size_t i = 0; is_refused && tm_parameter_of_group(TM_PARAMETERS_CONFIG, i, &p); i++)
    if (strcmp(p.name, name) == 0)
      tm_err_set(err, TM_EUSAGE,
                 "%s: the pipeline file has this setting; %s = tidemill.PipelineParameter { name = "
                 "\"%s\", default_value = ... } there is set by --param %s=VALUE here",
                 refused, p.name, p.name, p.name);
  free(refused);
  free(name);
}

static int read_arguments(struct run *r, int argc, char **argv, struct tm_err *err)
{
  const struct tm_launch_options *o = &r->o.launch;
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &r->o, &r->rest, err);
  r->launch.o = r->o.launch; /* the launch frees the values that were read */
  for (int i = 1; rc < 0 && i < argc; i++)
    if (strncmp(argv[i], "--", 2) == 0 ||
        tm_parameter_of_letter(argv[i][0] == '-' ? argv[i][1] : 0))
      explain_setting(argv[i], err);
  if (rc < 0)
    return rc;
  if (r->rest.len == 0 && !r->o.like)
    return tm_err_set(err, TM_EUSAGE, "a pipeline file is missing");
  if (o->resume && r->o.like)
    return tm_err_set(err, TM_EUSAGE,
                      "'--like' starts a new job, and --resume resumes an old one with its own "
                      "parameters; choose one");
  if (r->rest.len > 1)
    return tm_err_set(err, TM_EUSAGE, "one pipeline file is run at a time; '%s' is too many",
                      r->rest.at[1]);
  if (o->resume && r->o.only_failed)
    return tm_err_set(err, TM_EUSAGE,
                      "'--only-failed' starts a new job, and --resume resumes an old one over its "
                      "whole input; choose one");
  if (o->keep_script && !o->resume)
    return tm_err_set(err, TM_EUSAGE,
                      "'--keep-script' goes with --resume: a new job makes a new copy");
  if (o->resume && r->o.dry_run)
    return tm_launch_plan(&r->launch, false, err);
  if (r->o.explain && !r->o.dry_run)
    return tm_err_set(
        err, TM_EUSAGE,
        "'--explain' goes with --dry-run; a run says by itself what it reuses, and why");
  return 0;
}

static void add_option(struct tm_buf *out, const char *name, const char *value)
{
  tm_buf_printf(out, " %s ", name);
  tm_text_shell(out, value);
}

/* Returns the command for a new job with the same parameters; the caller frees it. */
static char *new_job(const struct run *r)
{
  const struct tm_launch_options *o = &r->o.launch;
  struct tm_buf out = TM_BUF_NONE;
  tm_buf_add_str(&out, "tidemill run");
  if (r->rest.len > 0) {
    char *file = tm_launch_path(r->rest.at[0], NULL);
    tm_buf_add_char(&out, ' ');
    tm_text_shell(&out, file ? file : r->rest.at[0]);
    free(file);
  }
  if (r->o.like)
    add_option(&out, "--like", r->o.like);
  if (r->o.only_failed)
    add_option(&out, "--only-failed", r->o.only_failed);
  if (o->params_file)
    add_option(&out, "--params-file", o->params_file);
  for (size_t i = 0; i < o->params.len; i++)
    add_option(&out, "--param", o->params.at[i]);
  return tm_buf_take(&out);
}

/* Returns the pipeline file: the named one, or that of the job to compare with. The caller frees
 * it. NULL: sets `err`. */
static char *find_file(const struct tm_cli *cli, const struct run *r, struct tm_err *err)
{
  struct tidemill_record *record;
  if (r->rest.len > 0)
    return tm_launch_path(r->rest.at[0], err);
  char *dir = tm_cli_find_job(cli, r->o.like, err); /* the command will run its pipeline file */
  int rc = dir ? tm_cli_open_record(cli, &record, dir, err) : err->code;
  free(dir);
  if (rc < 0) {
    tm_err_wrap(err, "--like");
    return NULL;
  }
  const struct tidemill_record_info *info = tidemill_record_info(record);
  char *file = *info->file ? tm_xstrdup(info->file) : NULL;
  if (!file)
    tm_err_set(err, TM_EUSAGE,
               "--like: job '%s' was not started from a pipeline file; run the command that "
               "started it again",
               info->dir);
  tidemill_record_close(record);
  return file;
}

/* Loads the pipeline file with its parameters. 1: there is nothing to do. */
static int load(const struct tm_cli *cli, struct run *r, struct tm_err *err)
{
  struct tm_launch *l = &r->launch;
  char *file = find_file(cli, r, err);
  int rc = file ? tm_loading_file(&l->pipeline, l->rt, file, err) : err->code;
  free(file);
  if (rc == 0 && r->o.like)
    rc = tidemill_pipeline_set_like(l->pipeline, r->o.like, err);
  if (rc == 0) {
    rc = tm_launch_set_params(l, err);
    r->is_usage = rc < 0;
  }
  if (rc == 0 && r->o.only_failed)
    rc = tidemill_pipeline_set_only_failed(l->pipeline, r->o.only_failed, err);
  return rc;
}

static int load_and_run(const struct tm_cli *cli, struct run *r, struct tm_err *err)
{
  int rc = load(cli, r, err);
  if (rc < 0)
    return rc;
  if (rc == TIDEMILL_ONLY_FAILED_NONE) {
    tm_cli_say("%s", err->text);
    if (r->o.launch.json)
      /* the error is checked when the program ends */
      puts("{\"status\":\"Completed\",\"steps\":[]}");
    return 0;
  }
  return r->o.dry_run ? tm_launch_plan(&r->launch, r->o.explain, err)
                      : tm_launch_run(&r->launch, NULL, NULL, err);
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  struct run r = { .launch = { .argc = argc, .argv = argv } };
  struct tm_err err = TM_ERR_NONE;
  int status, rc = read_arguments(&r, argc, argv, &err);
  if (rc >= 0)
    rc = tm_launch_init(&r.launch, cli, &err);
  r.is_usage = rc == TM_EUSAGE;
  if (rc >= 0) {
    r.launch.anew = new_job(&r);
    rc = load_and_run(cli, &r, &err);
  }
  if (rc == TM_EDAMAGE && r.o.launch.resume)
    tm_rerun_append_command(&err, r.launch.anew);
  status = r.is_usage ? tm_cli_fail_usage(&tm_command_run, &err) : tm_launch_status(rc, &err);
  TM_ARRAY_RELEASE(&r.rest);
  tm_launch_release(&r.launch);
  return status;
}
