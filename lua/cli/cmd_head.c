/* cmd_head.c - `tidemill head`: the columns and first rows of tables, read as a job would read
 * them; inputs and outputs of models. Creates nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/one_step.h"

#define TAKES TM_TAKES(TM_PARAMETERS_TABLES)

struct head_options {
  const char *rows, *format;
  struct tm_parameter_words parameters;
};

struct head {
  struct head_options o;
  struct tm_parameter_options options;
  struct tm_words files;
  struct TM_ARRAY(char *) settings; /* pairs of a name and a value */
};

/* clang-format off */
static const struct tm_option own[] = {
  { "n", TM_OPTION_VALUE, offsetof(struct head_options, rows), "N", NULL, "the number of rows; 10 by default" },
  { "input-format", TM_OPTION_VALUE, offsetof(struct head_options, format), "csv|tsv|jsonl", tm_input_formats, TM_INPUT_FORMAT_HELP },
};
/* clang-format on */

static int run(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_head = {
  .name = "head",
  .run = run,
  .usage = "FILE... [-n N] [options]",
  .summary = "shows the columns, types and first rows of a table, or a model",
  .options = own,
  .options_len = TM_COUNT_OF(own),
  .parameters = TAKES,
  .help = "Reads .csv, .tsv and .jsonl files, also with .gz appended. Unless --input-format\n"
          "is given, the name of the first file says how all are read: .tsv, .jsonl,\n"
          ".ndjson, .json, else CSV. map --rows and try --rows take the same options.\n"
          "\n"
          "  tidemill head orders.txt --separator ';' --encoding latin1 \\\n"
          "    --set-column-types id=string\n"
          "\n"
          "Of ONNX models it shows inputs, outputs, sizes and the program that wrote them.\n"
          "It needs no ONNX Runtime, and takes no options then:\n"
          "\n"
          "  tidemill head model.onnx\n",
};

static int on_line(const char *line, void *data)
{
  struct tm_buf *out = data;
  tm_buf_printf(out, "%s\n", line);
  return 0;
}

static void on_log(enum tidemill_level level, const char *text, void *data)
{
  struct tm_buf words = TM_BUF_NONE, line = TM_BUF_NONE;
  tm_parameter_words_add_message(&words, text, strlen(text));
  tm_text_one_line(&line, tm_buf_str(&words), words.len, 0);
  tm_cli_say("warning: %s", tm_buf_str(&line));
  tm_buf_release(&words);
  tm_buf_release(&line);
}

/* With the parameters as options. A line break is part of a file's name: it must not begin a line
 * that looks like another message. */
static void show_error(struct tm_err *err)
{
  struct tm_buf line = TM_BUF_NONE;
  tm_parameter_words_in_error(err);
  tm_text_one_line(&line, err->text, strlen(err->text), 0);
  tm_err_set(err, err->code, "%s", tm_buf_str(&line));
  tm_buf_release(&line);
}

static int add_setting(void *data, const char *name, const char *value, struct tm_err *err)
{
  struct head *h = data;
  *TM_ARRAY_ADD(&h->settings) = tm_xstrdup(name);
  *TM_ARRAY_ADD(&h->settings) = tm_xstrdup(value);
  return 0;
}

static int show(struct head *h, int64_t rows, struct tm_err *err)
{
  struct tidemill_head_options o = TIDEMILL_HEAD_OPTIONS_INIT;
  struct tm_buf out = TM_BUF_NONE;
  if (h->o.format)
    add_setting(h, "format", h->o.format, err);
  tm_parameter_words_each(&h->o.parameters, TM_PARAMETERS_TABLES, add_setting, h, err);
  o.paths = (const char *const *)h->files.at;
  o.paths_len = h->files.len;
  o.rows = rows;
  o.settings = (const char *const *)h->settings.at;
  o.settings_len = h->settings.len;
  o.on_line = on_line;
  o.on_log = on_log;
  o.data = &out;
  int rc = tm_cli_head(&o, err);
  if (rc == 0)
    rc = tm_cli_write(&out);
  tm_buf_release(&out);
  return rc;
}

static int read_words(struct head *h, int argc, char **argv, int64_t *rows, struct tm_err *err)
{
  tm_parameter_options_init(&h->options, own, TM_COUNT_OF(own), TAKES,
                            offsetof(struct head_options, parameters));
  int rc =
      tm_options_read(h->options.all.at, h->options.all.len, argc, argv, &h->o, &h->files, err);
  if (rc >= 0 && h->files.len == 0)
    rc = tm_err_set(err, TM_EUSAGE, "a file is missing; accepted: files, folders, patterns");
  if (rc >= 0 && (!tm_text_int(h->o.rows, rows) || *rows < 0))
    rc = tm_err_set(err, TM_EUSAGE, "'-n' is \"%s\"; accepted: an integer from 0 on", h->o.rows);
  if (rc >= 0 && !h->o.format)
    rc = tm_one_step_check_tables(h->files.at, h->files.len, err);
  return rc;
}

static void release(struct head *h)
{
  TM_ARRAY_RELEASE_EACH(&h->settings);
  TM_ARRAY_RELEASE(&h->files);
  tm_parameter_words_release(&h->o.parameters);
  tm_parameter_options_release(&h->options);
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  struct head h = { .o.rows = "10" };
  struct tm_err err = TM_ERR_NONE;
  int64_t rows = 0;
  int status, rc = read_words(&h, argc, argv, &rows, &err);
  bool is_usage = rc == TM_EUSAGE;
  if (rc >= 0)
    rc = show(&h, rows, &err);
  if (rc < 0)
    show_error(&err);
  status = is_usage ? tm_cli_fail_usage(&tm_command_head, &err) : tm_cli_end(rc, &err);
  release(&h);
  return status;
}
