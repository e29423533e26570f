/* head.c - `tidemill head`: the columns and first rows of tables, read as a job would read them. Nothing is made. */
#include "cli/cli.h"

#include <limits.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/one_step.h"
#include "lua/table_look.h"
#include "plan/datasets.h"

struct head_options {
  const char *rows;
};

/* clang-format off */
static const struct tm_option options[] = {
  { "n", TM_OPTION_VALUE, offsetof(struct head_options, rows), "N", NULL, "so many rows; 10 when not given" },
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

static void on_warning(void *data, const char *text)
{
  tm_cli_say("warning: %s", text);
}

/* What was not as it should be in these rows. */
static void tell_faults(const struct tm_table_look *l)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_table_load_words(l->loader, &words);
  if (words.len > 0)
    on_warning(NULL, tm_buf_str(&words));
  tm_buf_release(&words);
}

static int look(struct tm_step *step, int64_t rows, struct tm_buf *out, struct tm_err *err)
{
  struct tm_table_look l;
  struct tm_mini_batch mb = { 0 };
  struct tm_cut_options o = { .inputs = (const struct tm_dataset *const *)step->inputs,
                              .inputs_len = 1,
                              .mini_batch_size = rows > 0 ? rows : 1,
                              .counts_rows = true,
                              .on_warning = on_warning };
  tm_table_look_init(&l, step);
  tm_table_look_cut_options(&l, &o);
  struct tm_cut *cut = tm_cut_open(&o);
  int rc = tm_cut_next(cut, &mb, err);
  if (rc == 0)
    rc = tm_cut_no_input(cut, err);
  if (rc > 0)
    rc = tm_table_look_load(&l, &mb, err);
  if (rc >= 0) {
    tm_table_look_add(out, &l, rows, "");
    tell_faults(&l);
  }
  tm_cut_close(cut);
  tm_buf_release(&mb.bytes);
  tm_table_look_release(&l);
  return rc < 0 ? rc : 0;
}

static int show(const struct tm_words *words, int64_t rows, struct tm_err *err)
{
  char cwd[PATH_MAX];
  struct tm_buf out = TM_BUF_NONE;
  if (!getcwd(cwd, sizeof(cwd)))
    return tm_err_set(err, TM_EUSAGE, "the current directory is gone; go to another one");
  struct tm_json *v = tm_plan_table((const char *const *)words->at, words->len);
  struct tm_dataset *d = tm_plan_dataset(v, cwd, err);
  struct tm_step step = { .inputs = &d, .inputs_len = 1 };
  int rc = d ? look(&step, rows, &out, err) : TM_EUSAGE;
  if (rc == 0)
    rc = tm_cli_write(&out);
  tm_buf_release(&out);
  tm_dataset_free(d);
  tm_json_free(v);
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
    rc = show(&words, rows, &err);
  TM_ARRAY_RELEASE(&words);
  return tm_cli_end(rc, &err);
}
