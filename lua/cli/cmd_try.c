/* cmd_try.c - `tidemill try`: runs an entry script over the first mini-batch, in this process.
 *
 *   words -> one_step.c -> pipeline -> tidemill_script_load() -> foreground.c -> rows, or the error
 *   with its stack
 *
 * There is no workspace, no job and no worker. Only the files that the script writes remain, in
 * folders made for it. There is one try and no timeout. Standard output has only rows: prints of
 * the script go to standard error. Ctrl-C interrupts the script and shows where it was; a second
 * Ctrl-C ends the program.
 */
#include "cli/cli.h"

#include <stdio.h>

#include "cli/foreground.h"
#include "cli/one_step.h"

struct
try {
  struct tm_one_step_options o;
  struct tm_parameter_options options;
  struct tm_one_step step;
  struct tidemill_runtime *rt;
  struct tidemill_pipeline *pipeline;
  struct tm_foreground foreground;
};

#define PLACE(field) offsetof(struct tm_one_step_options, field)
/* clang-format off */
static const struct tm_option own[] = {
  { "0", TM_OPTION_FLAG, PLACE(is_null_separated), NULL, NULL, "with '-': the paths are separated by NUL, as find -print0 writes them" },
  { "rows", TM_OPTION_FLAG, PLACE(has_rows), NULL, NULL, "the inputs are tables, and run() gets their rows. The name of the first input says how all are read: .tsv, .jsonl, .ndjson, .json, else CSV (also with .gz and the like appended)" },
  { "input-format", TM_OPTION_VALUE, PLACE(input_format), "csv|tsv|jsonl", tm_input_formats, "with --rows: " TM_INPUT_FORMAT_HELP },
  { "entries", TM_OPTION_VALUE, PLACE(entries), "PATTERN", NULL, "the inputs are archives, and the items are their entries that match, extracted for their mini-batch" },
  { "limit", TM_OPTION_VALUE, PLACE(limit), "N", NULL, "only the first N items" },
  { "output-format", TM_OPTION_VALUE, PLACE(format), "text|csv|tsv", tm_output_formats, "how data frames are written. csv and tsv: with a header line; text: without one, separated by blanks; --append-row-separator and --append-row-header override this. By default the name in --append-row-file-name decides" },
};
/* clang-format on */

static int run(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_try = {
  .name = "try",
  .run = run,
  .usage = "(ENTRY.lua|--model FILE) INPUT... [-N SIZE] [--limit N] [options] [-- ARGS]",
  .summary = "runs an entry script over the first mini-batch, in this process",
  .options = own,
  .options_len = TM_COUNT_OF(own),
  .parameters = TM_TAKES_ALL_GROUPS,
  .help = "Takes the same words as tidemill map. The rows go to standard output; what the\n"
          "script prints, and errors with their stacks, go to standard error. There is only\n"
          "one try and no timeout. output_dir, log_dir and temp_dir are new folders, and no\n"
          "job is made. Ctrl-C ends the script and shows where it was.\n"
          "\n"
          "Exit status: 0 all items succeeded; 1 the script failed, or an item did\n"
          "(context:fail(), no element for it, or an entry or row that cannot be read),\n"
          "whatever --error-threshold allows; 130 it was interrupted.\n",
};

/* Loads the script and the first mini-batch of its input. */
static int load(struct try *t, struct tm_err *err)
{
  struct tidemill_script_options how = tm_foreground_options(&t->foreground, NULL, true);
  const struct tidemill_mini_batch *first = NULL;
  int rc = tidemill_script_load(&t->foreground.script, t->pipeline, &how, err);
  if (rc < 0)
    return rc;
  tm_foreground_place(&t->foreground);
  rc = tidemill_script_next(t->foreground.script, &first, err);
  if (rc == TIDEMILL_NEXT_MINI_BATCH)
    fputs(first->head, stderr);
  return rc;
}

/* An option that has no effect here, in place of silence. */
static void warn_of_timeouts(const struct try *t)
{
  static const char *const names[][2] = { { "init_timeout", "init-timeout" },
                                          { "run_invocation_timeout", "run-invocation-timeout" } };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    if (tm_parameter_words_last(&t->o.parameters, TM_PARAMETERS_CONFIG, names[i][0]))
      tm_cli_say("warning: '--%s' has no effect: try has no timeouts; Ctrl-C ends the script and "
                 "shows where it was",
                 names[i][1]);
}

static int run_first(struct try *t, struct tm_err *err)
{
  tm_foreground_open(&t->foreground);
  t->foreground.names_options = true;
  int rc = load(t, err);
  if (rc >= 0) {
    tm_foreground_say_folders(&t->foreground);
    rc = tm_foreground_run(&t->foreground, "the first mini-batch", err);
  }
  tm_foreground_close(&t->foreground);
  return rc;
}

static void release(struct try *t)
{
  tidemill_pipeline_free(t->pipeline);
  tidemill_runtime_close(t->rt, NULL);
  tm_one_step_release(&t->step);
  tm_parameter_words_release(&t->o.parameters);
  tm_parameter_options_release(&t->options);
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  if (tm_one_step_asks_for_model_help(argc, argv))
    return tm_one_step_model_help(cli);
  struct try t = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int status;
  tm_parameter_options_init(&t.options, own, TM_COUNT_OF(own), TM_TAKES_ALL_GROUPS,
                            PLACE(parameters));
  int rc = tm_one_step_read(&t.step, &t.options, argc, argv, &t.o, &t.o, &err);
  if (rc >= 0)
    rc = tm_cli_open_runtime(cli, &t.rt, &err);
  if (rc >= 0)
    rc = tm_one_step_build(&t.pipeline, &t.step, &t.o, t.rt, &err);
  bool is_usage = rc == TM_EUSAGE;
  if (rc >= 0) {
    warn_of_timeouts(&t);
    rc = run_first(&t, &err);
  }
  if (rc < 0)
    tm_parameter_words_in_error(&err);
  if (is_usage)
    status = tm_cli_fail_usage(&tm_command_try, &err);
  else if (rc == TM_ESCRIPT) /* a syntax error: nothing has run */
    status = tm_cli_end(rc, &err), status = 2;
  else
    status = tm_cli_end(rc, &err);
  release(&t);
  return status;
}
