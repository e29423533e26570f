/* resume.c - `tidemill resume JOB`: goes on with a job, from what its record says: the pipeline file, the parameters of its
 * submission. It is `run --resume --job-dir` without having to know them; how it is run is launch.c.
 */
#include "cli/launch.h"

#define PLACE(field) offsetof(struct tm_launch_options, field)
/* clang-format off */
static const struct tm_option options[] = {
  { "param", TM_OPTION_LIST, PLACE(params), "NAME=VALUE", NULL, "another value than the job was submitted with; as often as needed" },
  { "params-file", TM_OPTION_VALUE, PLACE(params_file), "FILE", NULL, "other values, of a JSON object or a Lua file that returns a table; --param goes before it" },
  { "keep-failed", TM_OPTION_FLAG, PLACE(keep_failed), NULL, NULL, "failed mini-batches stay failed; else they get fresh tries" },
  { "keep-script", TM_OPTION_FLAG, PLACE(keep_script), NULL, NULL, "goes on with the job's own copy of the script, whatever that is now" },
  { "accept-changes", TM_OPTION_FLAG, PLACE(accept_changes), NULL, NULL, "goes on although the script, settings or input files have changed; the list of inputs stays as it was" },
  { "verify-input", TM_OPTION_FLAG, PLACE(verify_input), NULL, NULL, "lists the input again and compares all of it" },
  { "verify-output", TM_OPTION_FLAG, PLACE(verify_output), NULL, NULL, "reads all committed rows and failures, and compares them with the journal, before anything runs" },
  { "max-workers", TM_OPTION_VALUE, PLACE(max_workers), "N", NULL, "workers of all steps together; else as many as cores, or as the largest process_count_per_node" },
  { "progress", TM_OPTION_VALUE, PLACE(progress), "MODE", tm_progress_modes, "auto, bar, plain or none; auto: a bar on a terminal" },
  { "json", TM_OPTION_FLAG, PLACE(json), NULL, NULL, "the result as one JSON object, the last line of standard output" },
};
/* clang-format on */

static int resume(const struct tm_cli *cli, int argc, char **argv);
static void add_help(struct tm_buf *out);

const struct tm_command tm_command_resume = {
  .name = "resume",
  .run = resume,
  .usage = "[JOB] [--param NAME=VALUE]... [--params-file FILE] [--keep-failed] [--keep-script] "
           "[--accept-changes] "
           "[--verify-input] [--verify-output] "
           "[--max-workers N] [--progress auto|bar|plain|none] [--json]",
  .summary = "goes on with a job that was interrupted, or has failed",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .add_help = add_help,
};

static void add_help(struct tm_buf *out)
{
  tm_buf_add_str(
      out,
      "Of output that was on the disk when the job ended or was killed, only the lengths are "
      "compared, so\n"
      "that a large job goes on at once. --verify-output reads all committed rows and failure "
      "lines "
      "first;\n"
      "a difference from the journal ends the command with status 3 and names the file, the byte "
      "and the\n"
      "mini-batch. 'tidemill verify JOB' does the same without resuming. Neither reads files from\n"
      "context:output_file(): the journal has only their names.\n\n");
}

static int resume_job(struct tm_launch *l, const char *job, bool *is_usage, struct tm_err *err)
{
  int rc = tidemill_pipeline_load_job(&l->pipeline, l->rt, job, err);
  if (rc == 0) {
    rc = tm_launch_set_params(l, err);
    *is_usage = rc < 0;
  }
  return rc < 0 ? rc : tm_launch_run(l, NULL, NULL, err);
}

static int resume(const struct tm_cli *cli, int argc, char **argv)
{
  struct tm_launch l = { .rt = NULL };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  bool is_usage;
  int status, rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &l.o, &rest, &err);
  l.o.resume = true;
  if (rc >= 0)
    rc = tm_cli_one_job(&rest, &err);
  if (rc >= 0)
    rc = tm_launch_init(&l, cli, &err);
  is_usage = rc == TM_EUSAGE;
  if (rc >= 0)
    rc = resume_job(&l, rest.at[0], &is_usage, &err);
  status = is_usage ? tm_cli_fail_usage(&tm_command_resume, &err) : tm_launch_status(rc, &err);
  TM_ARRAY_RELEASE(&rest);
  tm_launch_release(&l);
  return status;
}
