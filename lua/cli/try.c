/* try.c - `tidemill try`: an entry script over the first mini-batch, in this process.
 *
 *   words -> one_step.c -> pipeline -> the first cut -> load, init(), run(), shutdown() -> rows, or the error with its stack
 *
 * No workspace, no job, no worker: nothing is left but what the script writes, in folders made for it. There is one try and
 * no timeout. Standard output is for rows alone: what the script prints there goes to standard error. Ctrl-C interrupts the
 * script and shows where it was; a second one ends the program.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/execute.h"
#include "cli/foreground.h"
#include "cli/one_step.h"
#include "lua/table_look.h"
#include "data/cut.h"

#define ROWS_SHOWN 5

struct
try {
  struct tm_one_step_options o;
  struct tm_config_options options;
  struct tm_one_step step;
  struct tm_mini_batch mini_batch;
  struct tm_table_look look;
  char *script_dir;
  struct tm_foreground foreground;
};

#define PLACE(field) offsetof(struct tm_one_step_options, field)
/* clang-format off */
static const struct tm_option own[] = {
  { "0", TM_OPTION_FLAG, PLACE(is_null_separated), NULL, NULL, "with '-': NUL stands between the paths, as find -print0 writes them" },
  { "rows", TM_OPTION_FLAG, PLACE(has_rows), NULL, NULL, "the inputs are tables, .csv, .tsv or .jsonl (also .gz), and run() gets their rows" },
  { "entries", TM_OPTION_VALUE, PLACE(entries), "PATTERN", NULL, "the inputs are archives, and the items their entries that match, extracted for their mini-batch" },
  { "partition-format", TM_OPTION_VALUE, PLACE(partition_format), "FORMAT", NULL, "columns in the end of each path, as {store}/{date:yyyy/MM/dd}/*.csv" },
  { "limit", TM_OPTION_VALUE, PLACE(limit), "N", NULL, "only the first N items" },
};
/* clang-format on */

static int run(const struct tm_cli *cli, int argc, char **argv);
static void add_help(struct tm_buf *out);

const struct tm_command tm_command_try = {
  .name = "try",
  .run = run,
  .usage = "ENTRY.lua INPUT... [-N SIZE] [--limit N] [options] [-- ARGS]",
  .summary = "runs an entry script over the first mini-batch, in this process",
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
      "Words are those of map. The rows go to standard output, an error and its stack, and what "
      "the "
      "script\nprints, to standard error. There is one try and no timeout; output_dir, log_dir and "
      "temp_dir are fresh\nfolders, and no job is made. Ctrl-C shows where the script is, and ends "
      "it.\nExit status 1: "
      "the script failed; 130: it was interrupted.\n\n");
  tm_config_options_init(&options, own, TM_COUNT_OF(own), PLACE(config));
  tm_config_options_add_help(out, &options);
  tm_config_options_release(&options);
}

static void on_warning(void *data, const char *text)
{
  tm_cli_say("%s", text);
}

/* What run() will be given. */
static void say_table(const struct try *t)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_table_look_add(&text, &t->look, ROWS_SHOWN, "");
  fputs(tm_buf_str(&text), stderr);
  tm_buf_release(&text);
}

/* The first mini-batch of the input. */
static int cut(struct try *t, struct tm_err *err)
{
  const struct tm_step *step = t->step.pipeline->steps[0];
  struct tm_cut_options options = tm_step_cut(step);
  options.spill_dir = t->foreground.setup.temp_dir;
  options.on_warning = on_warning;
  tm_table_look_init(&t->look, step);
  tm_table_look_cut_options(&t->look, &options);
  struct tm_cut *cut = tm_cut_open(&options);
  int rc = tm_cut_next(cut, &t->mini_batch, err);
  if (rc == 0)
    rc = tm_cut_no_input(cut, err);
  tm_cut_close(cut);
  if (rc > 0)
    rc = tm_table_look_load(&t->look, &t->mini_batch, err);
  if (rc >= 0 && t->look.is_table)
    say_table(t);
  return rc;
}

/* Folders and variables, as a worker has them. */
static int set_up(struct try *t, struct tm_err *err)
{
  const struct tm_step *step = t->step.pipeline->steps[0];
  const struct tm_config *config = &step->config;
  struct tm_setup *setup = &t->foreground.setup;
  int rc = tm_foreground_open(&t->foreground, "try", err);
  if (rc < 0)
    return rc;
  t->script_dir = config->source_directory ? tm_xstrdup(config->source_directory)
                                           : tm_path_dir(config->entry_script);
  setup->script = setup->script_name = config->entry_script;
  setup->script_dir = t->script_dir;
  setup->arguments = step->arguments;
  setup->arguments_len = step->arguments_len;
  setup->logging_level = config->logging_level;
  setup->is_interruptible = config->interruptible != TM_NOT_INTERRUPTIBLE;
  setup->append_row = config->output_action == TM_APPEND_ROW;
  setup->escapes_line_breaks = config->escapes_line_breaks;
  setup->separator = config->append_row_separator;
  t->foreground.has_header = config->append_row_header;
  setup->max_result_size = config->max_result_size;
  for (char **variable = config->environment; variable && *variable; variable++)
    putenv(*variable);
  return 0;
}

static int run_first(struct try *t, struct tm_err *err)
{
  const struct tm_mini_batch *mb = &t->mini_batch;
  struct tm_run_call call = {
    .try = 1, .dataset = "", .items = mb->items, .bytes = mb->bytes.data, .bytes_len = mb->bytes.len
  };
  struct tm_item range;
  tm_table_look_give(&t->look, &call, &range);
  return tm_foreground_run(&t->foreground, &call, "the first mini-batch", err);
}

static void release(struct try *t)
{
  tm_one_step_release(&t->step);
  tm_config_words_release(&t->o.config);
  tm_config_options_release(&t->options);
  tm_buf_release(&t->mini_batch.bytes);
  tm_table_look_release(&t->look);
  free(t->script_dir);
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  struct try t = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc, status;
  tm_config_options_init(&t.options, own, TM_COUNT_OF(own), PLACE(config));
  rc = tm_one_step_read(&t.step, &t.options, argc, argv, &t.o, &t.o, &err);
  bool is_usage = rc == TM_EUSAGE;
  if (rc >= 0 && (rc = set_up(&t, &err)) >= 0 && (rc = cut(&t, &err)) >= 0) {
    tm_cli_say("output_dir, log_dir and temp_dir are in '%s'; what stays empty is removed",
               t.foreground.folders.root);
    rc = run_first(&t, &err);
  }
  tm_foreground_close(&t.foreground);
  if (is_usage)
    status = tm_cli_fail_usage(&tm_command_try, &err);
  else if (rc < 0)
    tm_cli_say("%s", err.text), status = tm_execute_status_of(rc);
  else
    status = rc;
  release(&t);
  return status;
}
