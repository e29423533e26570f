/* try.c - `tidemill try`: an entry script over the first mini-batch, in this process.
 *
 *   words -> one_step.c -> pipeline -> the first cut -> load, init(), run(), shutdown() -> rows, or the error with its stack
 *
 * No workspace, no job, no worker: nothing is left but what the script writes, in folders made for it. There is one try and
 * no timeout. Standard output is for rows alone: what the script prints there goes to standard error.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "cli/execute.h"
#include "cli/one_step.h"
#include "data/cut.h"
#include "data/frame_text.h"
#include "lua/script.h"

struct
try {
  struct tm_one_step_options o;
  struct tm_config_options options;
  struct tm_one_step step;
  struct tm_mini_batch mini_batch;
  char *root; /* of the folders */
  struct tm_setup setup;
  struct tm_script script;
  struct tm_script_error error;
  struct tm_extras extras;
  struct tm_buf rows;
  int out_fd; /* standard output, as it was */
};

#define PLACE(field) offsetof(struct tm_one_step_options, field)
/* clang-format off */
static const struct tm_option own[] = {
  { "0", TM_OPTION_FLAG, PLACE(is_null_separated), NULL, NULL, "with '-': NUL stands between the paths, as find -print0 writes them" },
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
      "temp_dir are fresh\nfolders, and no job is made. Exit status 1: the script failed.\n\n");
  tm_config_options_init(&options, own, TM_COUNT_OF(own), PLACE(config));
  tm_config_options_add_help(out, &options);
  tm_config_options_release(&options);
}

static void on_warning(void *data, const char *text)
{
  tm_cli_say("%s", text);
}

/* The first mini-batch of the input. */
static int cut(struct try *t, struct tm_err *err)
{
  const struct tm_step *step = t->step.pipeline->steps[0];
  struct tm_cut *cut = tm_cut_open((const struct tm_dataset *const *)step->inputs, step->inputs_len,
                                   step->config.mini_batch_size, NULL, on_warning, NULL);
  int rc = tm_cut_next(cut, &t->mini_batch, err);
  if (rc == 0)
    rc = tm_cut_no_input(cut, err);
  tm_cut_close(cut);
  return rc;
}

/* Folders and variables, as a worker has them. */
static int set_up(struct try *t, struct tm_err *err)
{
  const struct tm_step *step = t->step.pipeline->steps[0];
  const struct tm_config *config = &step->config;
  const char *tmp = getenv("TMPDIR");
  t->root = tm_xprintf("%s/tidemill-try-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
  if (!mkdtemp(t->root))
    return tm_err_set(err, TM_EUSAGE, "cannot make a folder '%s'; TMPDIR names another place",
                      t->root);
  t->setup = (struct tm_setup) { .worker_name = (char *)"process000",
                                 .node_id = (char *)"0",
                                 .script = config->entry_script,
                                 .script_name = config->entry_script,
                                 .arguments = step->arguments,
                                 .arguments_len = step->arguments_len,
                                 .output_dir = tm_path_join(t->root, "output"),
                                 .log_dir = tm_path_join(t->root, "log"),
                                 .temp_dir = tm_path_join(t->root, "temp"),
                                 .logger_file = tm_path_join(t->root, "log/process000.log.txt"),
                                 .logging_level = config->logging_level,
                                 .append_row = config->output_action == TM_APPEND_ROW,
                                 .escapes_line_breaks = config->escapes_line_breaks,
                                 .separator = config->append_row_separator,
                                 .max_result_size = config->max_result_size };
  t->setup.script_dir = config->source_directory ? tm_xstrdup(config->source_directory)
                                                 : tm_path_dir(config->entry_script);
  for (char **variable = config->environment; variable && *variable; variable++)
    putenv(*variable);
  setenv("TMPDIR", t->setup.temp_dir, 1);
  return tm_fs_make_dirs(tm_fs_real(), t->setup.temp_dir, 0700, err);
}

static void clear_error(struct try *t)
{
  tm_buf_clear(&t->error.message);
  tm_buf_clear(&t->error.stack);
  tm_buf_clear(&t->error.where);
}

static int say_failure(const struct try *t, const char *what)
{
  const struct tm_script_error *e = &t->error;
  tm_cli_say("%s failed%s%s: %s%s%s", what, e->where.len > 0 ? " at " : "",
             e->where.len > 0 ? e->where.data : "", e->message.len > 0 ? e->message.data : "",
             e->stack.len > 0 ? "\n" : "", e->stack.len > 0 ? e->stack.data : "");
  return TM_ESCRIPT;
}

static int load(struct try *t)
{
  bool has_no_run = false;
  if (t->script.load(t->script.data, &t->setup, &has_no_run, &t->error) < 0)
    return say_failure(t, "loading the script");
  clear_error(t);
  return t->script.init(t->script.data, &t->error) < 0 ? say_failure(t, "init()") : 0;
}

/* With the header that a data frame has. */
static bool write_rows(struct try *t)
{
  const struct tm_config *config = &t->step.pipeline->steps[0]->config;
  struct tm_buf line = TM_BUF_NONE;
  if (t->extras.columns.len > 0 && config->append_row_header)
    tm_frame_add_header(&line, t->extras.columns.data, t->extras.columns.len,
                        config->append_row_separator);
  bool is_good = tm_fd_append(t->out_fd, tm_buf_str(&line), line.len) == 0 &&
                 tm_fd_append(t->out_fd, tm_buf_str(&t->rows), t->rows.len) == 0;
  tm_buf_release(&line);
  return is_good;
}

static int run_first(struct try *t)
{
  const struct tm_mini_batch *mb = &t->mini_batch;
  struct tm_run_call call = { .try = 1,
                              .dataset = "",
                              .items = mb->items,
                              .bytes = mb->bytes.data,
                              .bytes_len = mb->bytes.len,
                              .extras = &t->extras };
  uint32_t returned = 0;
  clear_error(t);
  if (t->script.run(t->script.data, &call, &t->rows, &returned, &t->error) < 0)
    return say_failure(t, "run()");
  if (!write_rows(t))
    tm_cli_say("cannot write rows to standard output");
  tm_cli_say("the first mini-batch: %u %s, %u %s returned%s", mb->items,
             tm_text_counted(mb->items, "item", "items"), returned,
             tm_text_counted(returned, "element", "elements"),
             returned < mb->items   ? "; the missing ones count as failed items"
             : returned > mb->items ? "; more than one for an item"
                                    : "");
  return 0;
}

static int run_script(struct try *t, struct tm_err *err)
{
  int rc = tm_lua_script_open(&t->script, err);
  if (rc < 0)
    return rc;
  fflush(stdout);
  t->out_fd = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  rc = load(t);
  if (rc == 0)
    rc = run_first(t);
  if (rc == 0) {
    clear_error(t);
    if (t->script.shutdown(t->script.data, &t->error) < 0)
      say_failure(t, "shutdown()"); /* fails nothing */
  }
  tm_lua_script_close(&t->script);
  fflush(stdout);
  close(t->out_fd);
  return rc == 0 ? 0 : 1;
}

/* What the script has left stays, and is named. */
static void leave_folders(struct try *t)
{
  const char *const dirs[] = { t->setup.output_dir, t->setup.log_dir, t->root };
  bool is_left = false;
  tm_tree_remove(t->setup.temp_dir, NULL);
  for (size_t i = 0; i < TM_COUNT_OF(dirs); i++)
    is_left = (rmdir(dirs[i]) < 0 && tm_fs_exists(tm_fs_real(), dirs[i])) || is_left;
  if (is_left)
    tm_cli_say("output_dir: %s, log_dir: %s", t->setup.output_dir, t->setup.log_dir);
}

static void release(struct try *t)
{
  tm_one_step_release(&t->step);
  tm_config_words_release(&t->o.config);
  tm_config_options_release(&t->options);
  tm_buf_release(&t->mini_batch.bytes);
  tm_buf_release(&t->error.message);
  tm_buf_release(&t->error.stack);
  tm_buf_release(&t->error.where);
  tm_buf_release(&t->rows);
  tm_extras_release(&t->extras);
  free(t->setup.output_dir);
  free(t->setup.log_dir);
  free(t->setup.temp_dir);
  free(t->setup.logger_file);
  free(t->setup.script_dir);
  free(t->root);
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  struct try t = { .out_fd = -1 };
  struct tm_err err = TM_ERR_NONE;
  int rc, status;
  tm_config_options_init(&t.options, own, TM_COUNT_OF(own), PLACE(config));
  rc = tm_one_step_read(&t.step, &t.options, argc, argv, &t.o, &t.o, &err);
  bool is_usage = rc == TM_EUSAGE;
  if (rc >= 0 && (rc = cut(&t, &err)) >= 0 && (rc = set_up(&t, &err)) >= 0) {
    tm_cli_say("output_dir, log_dir and temp_dir are in '%s'; what stays empty is removed", t.root);
    rc = run_script(&t, &err);
    leave_folders(&t);
  }
  if (is_usage)
    status = tm_cli_fail_usage(&tm_command_try, &err);
  else if (rc < 0)
    tm_cli_say("%s", err.text), status = tm_execute_status_of(rc);
  else
    status = rc;
  release(&t);
  return status;
}
