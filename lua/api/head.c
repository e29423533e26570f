/* head.c - the columns and first rows of a table, read as a job would read them; what a model says
 * that its file holds. Creates nothing. */
#include <string.h>

#include "api/own.h"
#include "api/command_host.h"
#include "base/path.h"
#include "entry/step_walk.h"
#include "entry/table_look.h"
#include "model/onnx_data.h"
#include "model/onnx_words.h"
#include "plan/datasets.h"

struct head {
  const struct tidemill_head_options *o;
  struct tm_buf out;
};

static void on_warning(void *data, const char *text)
{
  const struct head *h = data;
  if (h->o->on_log)
    h->o->on_log(TIDEMILL_LEVEL_WARNING, text, h->o->data);
}

/* Reports faults in these rows. */
static void tell_faults(struct head *h, const struct tm_step_walk *w)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_table_load_words(w->loader.tables, &words);
  if (words.len > 0)
    on_warning(h, tm_buf_str(&words));
  tm_buf_release(&words);
}

static int look(struct head *h, const struct tm_step *step, struct tm_err *err)
{
  struct tm_step_walk w;
  struct tm_run_call call;
  int64_t rows = h->o->rows;
  struct tm_splitter_options o = { .inputs = (const struct tm_dataset *const *)step->inputs,
                                   .inputs_len = 1,
                                   .mini_batch_size = rows > 0 ? rows : 1,
                                   .counts_rows = true,
                                   .on_warning = on_warning,
                                   .data = h };
  tm_step_walk_open(&w, step, o);
  int rc = tm_step_walk_next(&w, &call, err);
  if (rc > 0 && call.frame) {
    tm_table_look_add(&h->out, call.frame, rows, "");
    tell_faults(h, &w);
  }
  tm_step_walk_close(&w);
  return rc < 0 ? rc : 0;
}

/* ---- models ---- */

static bool is_model(const char *path)
{
  return tm_path_has_ending(path, ".onnx") || tm_onnx_is_model(tm_fs_real(), path);
}

static int look_at_model(struct head *h, const char *path, struct tm_err *err)
{
  struct tm_onnx_file f;
  struct tm_err damage = TM_ERR_NONE;
  int rc = tm_onnx_file_read(&f, tm_fs_real(), path, err);
  if (rc >= 0 && h->o->paths_len > 1)
    tm_buf_printf(&h->out, "model:    %s\n", path);
  if (rc >= 0)
    tm_onnx_add_words(&h->out, &f);
  if (rc >= 0 && tm_onnx_check_data(&f, tm_fs_real(), path, &damage) < 0)
    on_warning(h, damage.text);
  tm_onnx_file_release(&f);
  return rc < 0 ? tm_err_wrap(err, "cannot read '%s'", path) : 0;
}

static int look_at_models(struct head *h, const char *cwd, struct tm_err *err)
{
  int rc = 0;
  if (h->o->settings_len > 0)
    return tm_err_set(err, TM_EUSAGE, "'%s' is a model: options of tables do not go with it",
                      h->o->paths[0]);
  for (size_t i = 0; i < h->o->paths_len && rc == 0; i++) {
    char *path = tm_path_join(cwd, h->o->paths[i]);
    rc = look_at_model(h, path, err);
    free(path);
  }
  return rc;
}

/* ---- tables ---- */

static int set_all(struct tm_json *table, const struct tidemill_head_options *o, bool is_command,
                   struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < o->settings_len && rc == 0; i += 2)
    rc = tm_api_set_input(table, o->settings[i], o->settings[i + 1], is_command, err);
  return rc;
}

static int look_at_table(struct head *h, const char *cwd, bool is_command, struct tm_err *err)
{
  struct tm_json *v = tm_plan_table(h->o->paths, h->o->paths_len);
  struct tm_dataset *d =
      set_all(v, h->o, is_command, err) == 0 ? tm_plan_dataset(v, cwd, err) : NULL;
  struct tm_step step = { .inputs = &d, .inputs_len = 1 };
  int rc = d ? look(h, &step, err) : err->code;
  tm_dataset_free(d);
  tm_json_free(v);
  return rc;
}

/* ---- the call ---- */

/* Passes on each line, with NUL in place of its line break. */
static int tell(struct head *h)
{
  char *at = h->out.data, *end;
  int rc = 0;
  while (rc == 0 && at && (end = strchr(at, '\n')) != NULL) {
    *end = 0;
    rc = h->o->on_line(at, h->o->data);
    at = end + 1;
  }
  return rc;
}

static int read_options(struct tidemill_head_options *out,
                        const struct tidemill_head_options *given, struct tm_err *err)
{
  static const char call[] = "tidemill_head()";
  *out = (struct tidemill_head_options)TIDEMILL_HEAD_OPTIONS_INIT;
  if (tm_need(err, call, "options", given, NULL) < 0 ||
      tm_take_options(out, sizeof(*out), given, call, "the options", "TIDEMILL_HEAD_OPTIONS_INIT",
                      err) < 0)
    return TM_EUSAGE;
  if (!out->paths || out->paths_len == 0 || !out->on_line)
    return tm_err_set(err, TM_EUSAGE, "%s: it needs `paths`, and `on_line`", call);
  for (size_t i = 0; i < out->paths_len; i++)
    if (!out->paths[i])
      return tm_err_set(err, TM_EUSAGE, "%s: `paths` has a NULL, at %zu", call, i);
  if (out->rows < 0)
    return tm_err_set(err, TM_EUSAGE, "%s: `rows` is %lld; accepted: an integer from 0 on", call,
                      (long long)out->rows);
  if (out->settings_len % 2 != 0)
    return tm_err_set(err, TM_EUSAGE, "%s: `settings` are pairs of a name and a value", call);
  return 0;
}

static int show(const struct tidemill_head_options *options, bool is_command, struct tm_err *err)
{
  struct tidemill_head_options o;
  struct head h = { .o = &o };
  char *cwd;
  err = TM_ERR_OWN(err);
  if (read_options(&o, options, err) < 0 || !(cwd = tm_api_here(err)))
    return err->code;
  char *first = tm_path_join(cwd, o.paths[0]);
  int rc = is_model(first) ? look_at_models(&h, cwd, err) : look_at_table(&h, cwd, is_command, err);
  if (rc == 0)
    rc = tell(&h);
  tm_buf_release(&h.out);
  free(first);
  free(cwd);
  return rc;
}

int tidemill_head(const struct tidemill_head_options *options, struct tm_err *err)
{
  return show(options, false, err);
}

int tm_head_of_command(const struct tidemill_head_options *options, struct tm_err *err)
{
  return show(options, true, err);
}
