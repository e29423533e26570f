/* head.c - `tidemill head`: the columns and first rows of tables, read as a job would read them. Nothing is made. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/one_step.h"

struct head_options {
  const char *rows, *max_columns, *max_record_size;
};

/* clang-format off */
static const struct tm_option options[] = {
  { "n", TM_OPTION_VALUE, offsetof(struct head_options, rows), "N", NULL, "so many rows; 10 when not given" },
  TM_LIMIT_OPTIONS(offsetof(struct head_options, max_columns), offsetof(struct head_options, max_record_size)),
};
/* clang-format on */

static int run(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_head = {
  .name = "head",
  .run = run,
  .usage = "FILE... [-n N]",
  .summary = "columns, types and first rows of a table: .csv, .tsv or .jsonl, also .gz",
  .options = options,
  .options_len = TM_COUNT_OF(options),
};

static int on_line(void *data, const char *line)
{
  struct tm_buf *out = data;
  tm_buf_printf(out, "%s\n", line);
  return 0;
}

static void on_log(void *data, enum tidemill_level level, const char *text)
{
  tm_cli_say("warning: %s", text);
}

static int show(const struct tm_words *words, int64_t rows, const struct head_options *given,
                struct tm_err *err)
{
  const char *settings[4];
  struct tidemill_head_options o = TIDEMILL_HEAD_OPTIONS_INIT;
  struct tm_buf out = TM_BUF_NONE;
  o.paths = (const char *const *)words->at;
  o.paths_len = words->len;
  o.rows = rows;
  o.settings = settings;
  if (given->max_columns) {
    settings[o.settings_len++] = "max_columns";
    settings[o.settings_len++] = given->max_columns;
  }
  if (given->max_record_size) {
    settings[o.settings_len++] = "max_record_size";
    settings[o.settings_len++] = given->max_record_size;
  }
  o.on_line = on_line;
  o.on_log = on_log;
  o.data = &out;
  int rc = tidemill_head(&o, err);
  if (rc == 0)
    rc = tm_cli_write(&out);
  tm_buf_release(&out);
  return rc;
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  struct head_options o = { .rows = "10" };
  struct tm_words words = { .at = NULL };
  struct tm_err err = TM_ERR_NONE;
  int64_t rows = 0;
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &o, &words, &err);
  if (rc >= 0 && words.len == 0)
    rc = tm_err_set(&err, TM_EUSAGE, "a file is missing; accepted: files, folders, patterns");
  if (rc >= 0 && (!tm_text_int(o.rows, &rows) || rows < 0))
    rc = tm_err_set(&err, TM_EUSAGE, "'-n' is \"%s\"; accepted: an integer from 0 on", o.rows);
  if (rc == TM_EUSAGE) {
    TM_ARRAY_RELEASE(&words);
    return tm_cli_fail_usage(&tm_command_head, &err);
  }
  if (rc >= 0)
    rc = show(&words, rows, &o, &err);
  TM_ARRAY_RELEASE(&words);
  return tm_cli_end(rc, &err);
}
