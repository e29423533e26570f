/* cmd_resume.c - `tidemill resume JOB`: resumes a job with the pipeline file and the parameters of
 * its record. It is `run --resume --job-dir` for users who do not know these. launch.c does the
 * work.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/command_line.h"
#include "cli/launch.h"
#include "cli/loading.h"
#include "cli/parameter_options.h"
#include "records/rerun.h"

struct resume_options {
  struct tm_launch_options launch;
  bool overwrite;
};

struct resume {
  struct tm_launch launch;
  struct resume_options o;
  char *dir;          /* the job's; NULL: not known yet */
  const char *output; /* the file for the rows; NULL: none */
  bool overwrites;    /* replaces that file */
  bool was_printed;   /* the command that began the job printed the rows, as `map` does */
  bool is_usage;
  struct tm_execute_hooks hooks;
};

#define PLACE(field) offsetof(struct resume_options, launch.field)
/* clang-format off */
static const struct tm_option options[] = {
  { "param", TM_OPTION_LIST, PLACE(params), "NAME=VALUE", NULL, "changes a parameter of the job; may be repeated" },
  { "params-file", TM_OPTION_VALUE, PLACE(params_file), "FILE", NULL, "changes parameters of the job: FILE is a JSON object, or a Lua file that returns a table; --param overrides it" },
  { "keep-failed", TM_OPTION_FLAG, PLACE(keep_failed), NULL, NULL, "failed mini-batches stay failed; by default they get new tries" },
  { "keep-script", TM_OPTION_FLAG, PLACE(keep_script), NULL, NULL, "uses the job's own copy of the script, even if the script has changed" },
  { "accept-changes", TM_OPTION_FLAG, PLACE(accept_changes), NULL, NULL, "continues even if the script, settings or input files have changed; the list of inputs stays as it was" },
  { "verify-input", TM_OPTION_FLAG, PLACE(verify_input), NULL, NULL, "lists the inputs again and compares the whole list" },
  { "verify-output", TM_OPTION_FLAG, PLACE(verify_output), NULL, NULL, "reads all committed rows and failures and compares them with the journal before anything runs" },
  { "overwrite", TM_OPTION_FLAG, offsetof(struct resume_options, overwrite), NULL, NULL, "for a job that 'map --output FILE' started: replaces FILE if it exists" },
  { "max-workers", TM_OPTION_VALUE, PLACE(max_workers), "N", NULL, "the limit of workers for all steps together; by default the number of cores, or the largest process_count_per_node if that is more, on each node" },
  { "progress", TM_OPTION_VALUE, PLACE(progress), "MODE", tm_progress_modes, "auto, bar, plain or none; auto shows a bar on a terminal, else plain lines" },
  { "joblog", TM_OPTION_VALUE, PLACE(joblog), "FILE", NULL, "appends a row to FILE for each mini-batch that has ended, as GNU parallel does: tidemill help report --manual" },
  { "report", TM_OPTION_MAYBE, PLACE(report), "FILE", NULL, "writes the report when the job has ended: into the job's directory, or to FILE; a FILE that is not a report is refused" },
  { "json", TM_OPTION_FLAG, PLACE(json), NULL, NULL, "prints the result as one JSON object, the last line of standard output" },
};
/* clang-format on */

static int resume(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_resume = {
  .name = "resume",
  .run = resume,
  .usage = "[JOB] [--param NAME=VALUE]... [--params-file FILE] [--keep-failed] [--keep-script] "
           "[--accept-changes] "
           "[--verify-input] [--verify-output] [--overwrite] "
           "[--max-workers N] [--joblog FILE] [--report[=FILE]] [--progress auto|bar|plain|none] "
           "[--json]",
  .summary = "resumes a job that was interrupted or has failed",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .help = "resume compares output below 64 MB with the journal. To be fast, it compares only\n"
          "the length of larger output that was on disk when the job ended or was killed.\n"
          "--verify-output first reads all committed rows and\n"
          "failure lines. If one differs from the journal, the command ends with status 3\n"
          "and names the file, the byte and the mini-batch. 'tidemill verify JOB' checks\n"
          "the same without resuming. Neither reads files from context:output_file(): the\n"
          "journal has only their names.\n",
};

/* If `map --output FILE` began the job, its rows go to FILE. A Completed job has already written
 * them there, unless writing failed. */
static int choose_output(struct resume *r, bool is_completed, struct tm_err *err)
{
  bool overwrites;
  const char *file = tidemill_pipeline_output_file(r->launch.pipeline, &overwrites);
  if (!file)
    return r->o.overwrite ? tm_err_set(err, TM_EUSAGE,
                                       "'--overwrite' goes with a job that was started by "
                                       "'tidemill map --output FILE'")
                          : 0;
  bool is_there = access(file, F_OK) == 0;
  if (is_completed && is_there && !r->o.overwrite)
    return 0;
  r->output = file;
  r->overwrites = overwrites || r->o.overwrite;
  if (is_there && !r->overwrites)
    return tm_err_set(err, TM_EUSAGE,
                      "the rows of this job go to '%s', which is there already; move it away, or "
                      "replace it: --overwrite",
                      file);
  return tidemill_output_check(r->launch.rt, file, r->overwrites, err);
}

/* This command prints no rows. */
static void say_rows(const struct tm_execution *x)
{
  struct tidemill_step step = TIDEMILL_STEP_INIT;
  if (tidemill_job_step(x->job, 0, &step, NULL) == 0 && step.output_file)
    tm_cli_say("the rows are in '%s'; 'tidemill resume' does not print them", step.output_file);
}

static int on_over(void *data, struct tm_execution *x, int status, struct tm_err *err)
{
  const struct resume *r = data;
  if (status == 0 && r->was_printed)
    say_rows(x);
  if (status != 0 || !r->output)
    return status;
  if (tidemill_job_put_output(x->job, 0, r->output, r->overwrites, err) < 0)
    return tm_err_wrap(err, "the rows are in the job's directory, '%s'", tidemill_job_dir(x->job));
  tm_cli_say("output: %s", r->output);
  return 0;
}

static int load(struct resume *r, const struct tm_cli *cli, const char *job, struct tm_err *err)
{
  struct tidemill_record *record = NULL;
  struct tm_buf anew = TM_BUF_NONE;
  int rc = tm_loading_job(cli, &r->launch.pipeline, r->launch.rt, job, err);
  if (rc < 0)
    return rc;
  rc = tm_launch_set_params(&r->launch, err);
  r->is_usage = rc < 0;
  if (rc == 0)
    rc = tm_cli_open_record(cli, &record, job, err);
  if (rc >= 0) {
    const struct tidemill_record_info *info = tidemill_record_info(record);
    r->dir = tm_xstrdup(info->dir);
    tm_rerun_add_without_job(&anew, record, r->launch.o.params.at, r->launch.o.params.len);
    r->launch.anew = anew.len > 0 ? tm_buf_take(&anew) : NULL;
    rc = choose_output(r, info->state == TIDEMILL_STATE_COMPLETED, err);
    r->hooks.add_message = tm_command_line_defines(record) ? tm_parameter_words_add_message : NULL;
    r->was_printed = tidemill_record_command(record, NULL) && !*info->file &&
                     info->steps_len == 1 &&
                     !tidemill_pipeline_output_file(r->launch.pipeline, NULL);
  }
  tidemill_record_close(record);
  return rc;
}

static int resume(const struct tm_cli *cli, int argc, char **argv)
{
  struct resume r = { .hooks = { .on_over = on_over } };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int status, rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &r.o, &rest, &err);
  r.launch.o = r.o.launch;
  r.launch.o.resume = true;
  if (rc >= 0)
    rc = tm_cli_one_job(&rest, &err);
  if (rc >= 0)
    rc = tm_launch_init(&r.launch, cli, &err);
  r.is_usage = rc == TM_EUSAGE;
  if (rc >= 0)
    rc = load(&r, cli, rest.at[0], &err);
  if (rc >= 0)
    rc = tm_launch_run(&r.launch, &r.hooks, &r, &err);
  if (rc < 0 && r.hooks.add_message)
    tm_parameter_words_in_error(&err);
  if (rc == TM_EDAMAGE && r.dir)
    tm_rerun_append_anew(&err, r.dir);
  status = r.is_usage ? tm_cli_fail_usage(&tm_command_resume, &err) : tm_launch_status(rc, &err);
  TM_ARRAY_RELEASE(&rest);
  tm_launch_release(&r.launch);
  free(r.dir);
  return status;
}
