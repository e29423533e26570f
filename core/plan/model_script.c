/* model_script.c - see model_script.h. */
#include "plan/model_script.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "model/onnx_data.h"
#include "model/onnx_file.h"
#include "params/params.h"
#include "plan/datasets.h"
#include "plan/inputs.h"
#include "plan/script_arguments.h"

#define OPTION        "--model"
#define COLUMNS_SHOWN 400 /* bytes */

static bool is_pattern(const char *name)
{
  return strpbrk(name, "*?[{");
}

/* A FileDataset of the model and its files of data; NULL: one of them would be a pattern. */
static struct tm_json *dataset_of(const char *model, const struct tm_onnx_file *f)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT),
                 *paths = tm_json_set(v, "paths", tm_json_new(TM_JSON_ARRAY));
  char *dir = tm_path_dir(model);
  bool has_pattern = is_pattern(tm_path_base(model));
  v->tag = tm_xstrdup("FileDataset");
  tm_json_set(v, "kind", tm_json_new_string("files"));
  tm_json_set(v, "base_dir", tm_json_new_string(dir));
  tm_json_add(paths, tm_json_new_string(tm_path_base(model)));
  for (size_t i = 0; i < f->data_files.len; i++) {
    tm_json_add(paths, tm_json_new_string(f->data_files.at[i].location));
    has_pattern = has_pattern || is_pattern(f->data_files.at[i].location);
  }
  free(dir);
  if (!has_pattern)
    return v;
  tm_json_free(v);
  return NULL;
}

/* Negative, with the reason, if the file is not a whole model. */
static int look(struct tm_onnx_file *f, const char *model, struct tm_err *err)
{
  int rc = tm_onnx_file_read(f, tm_fs_real(), model, err);
  if (rc == 0)
    rc = tm_onnx_check_data(f, tm_fs_real(), model, err);
  if (rc < 0)
    tm_err_wrap(err, "cannot load '%s'", model);
  if (rc < 0 && err)
    err->code = TM_EUSAGE;
  return rc < 0 ? TM_EUSAGE : 0;
}

static void add_shape(struct tm_buf *out, const struct tm_onnx_value *v)
{
  tm_buf_add_char(out, '[');
  for (size_t i = 0; i < v->shape.len; i++) {
    const struct tm_onnx_axis *axis = &v->shape.at[i];
    tm_buf_add_str(out, i > 0 ? ", " : "");
    if (axis->size >= 0)
      tm_buf_add_int(out, axis->size);
    else
      tm_text_one_line(out, axis->name ? axis->name : "?", axis->name ? strlen(axis->name) : 1, 40);
  }
  tm_buf_add_char(out, ']');
}

/* Rows of tables have one axis for each input, or two; images have one input of four axes. Other
 * models need a script of the user's. */
static int check_inputs(const struct tm_step *s, const char *model, const struct tm_onnx_file *f,
                        struct tm_err *err)
{
  bool is_table = s->inputs_len > 0 && tm_dataset_is_table(s->inputs[0]);
  const struct tm_onnx_value *odd = NULL;
  for (size_t i = 0; i < f->inputs.len && !odd; i++) {
    const struct tm_onnx_value *v = &f->inputs.at[i];
    bool fits = is_table ? v->shape.len <= 2 : v->shape.len == 4 && f->inputs.len == 1;
    odd = v->has_shape && !fits ? v : NULL;
  }
  if (!odd)
    return 0;
  struct tm_buf shape = TM_BUF_NONE, name = TM_BUF_NONE;
  add_shape(&shape, odd);
  tm_text_one_line(&name, odd->name, strlen(odd->name), 100);
  tm_err_set(err, TM_EUSAGE,
             is_table
                 ? "'model' is '%s', whose input '%s' is %s; accepted for rows of tables: "
                   "inputs of one or two axes. Images are read by Dataset.File, and without "
                   "--rows; for others, write an entry script with require \"tidemill.onnx\""
                 : "'model' is '%s', whose input '%s' is %s; accepted for files: one input of "
                   "four axes, images. Rows of tables are read by Dataset.Tabular, or "
                   "with --rows; for others, write an entry script with require \"tidemill.onnx\"",
             model, tm_buf_str(&name), tm_buf_str(&shape));
  tm_buf_release(&shape);
  tm_buf_release(&name);
  return TM_EUSAGE;
}

static int add_model(struct tm_step *s, const char *model, const struct tm_plan_reader *r,
                     struct tm_err *err)
{
  struct tm_onnx_file f;
  int rc = look(&f, model, err);
  if (rc == 0)
    rc = check_inputs(s, model, &f, err);
  struct tm_json *v = rc == 0 ? dataset_of(model, &f) : NULL;
  tm_onnx_file_release(&f);
  if (rc == 0 && !v)
    tm_err_set(err, TM_EUSAGE,
               "'model' is '%s'; its name, and those of its files of data, may not contain *, ?, [ "
               "or {, which make a pattern",
               model);
  struct tm_dataset *d = v ? tm_plan_dataset_of(v, r->base_dir, err) : NULL;
  if (!d)
    return TM_EUSAGE;
  tm_inputs_add_side_input(s, d);
  return tm_script_arguments_put(s, OPTION, model, err);
}

int tm_model_script_add(struct tm_step *s, const struct tm_json *v, const struct tm_plan_reader *r,
                        struct tm_err *err)
{
  const struct tm_json *config = tm_json_get(v, "parallel_run_config");
  const char *given = tm_json_str(config, "model", NULL);
  if (!given)
    return 0;
  char *model = tm_path_absolute(r->base_dir, given);
  int rc = add_model(s, model, r, err);
  free(model);
  if (rc == 0)
    return 0;
  return r->working_dir ? rc : tm_params_locate("ParallelRunConfig", config, err);
}

static void add_columns(struct tm_buf *out, const struct tm_data_frame *rows)
{
  for (size_t i = 0; i < rows->n && out->len < COLUMNS_SHOWN; i++)
    tm_buf_printf(out, "%s%s", i > 0 ? ", " : "", rows->names[i]);
  if (out->len >= COLUMNS_SHOWN)
    tm_buf_add_str(out, ", ...");
}

/* Whether the input takes all columns, as one row; `n`: how many, or -1 for any number. */
static bool takes_rows(const struct tm_onnx_file *f, int64_t *n)
{
  const struct tm_onnx_value *v = &f->inputs.at[0];
  *n = v->shape.len == 2 ? v->shape.at[1].size : -1;
  return f->inputs.len == 1 && (!v->has_shape || v->shape.len == 2);
}

static int check_columns(const struct tm_step *s, const struct tm_onnx_file *f,
                         const struct tm_data_frame *rows, struct tm_err *err)
{
  struct tm_buf names = TM_BUF_NONE;
  int64_t n;
  int rc = 0;
  add_columns(&names, rows);
  for (size_t i = 0; i < f->inputs.len && rc == 0; i++) {
    const char *name = f->inputs.at[i].name;
    if (tm_data_frame_find(rows, name) >= 0)
      continue;
    if (!takes_rows(f, &n))
      rc = tm_err_set(err, TM_EUSAGE,
                      "the rows have no column '%s', which is an input of the model '%s'; columns: "
                      "%s",
                      name, s->config.model, tm_buf_str(&names));
    else if (n >= 0 && (size_t)n != rows->n && !tm_script_arguments_have(s, "--columns"))
      rc = tm_err_set(err, TM_EUSAGE,
                      "the rows have %zu columns (%s), and the input '%s' of the model '%s' takes "
                      "%lld; name them in 'arguments': --columns NAME...",
                      rows->n, tm_buf_str(&names), name, s->config.model, (long long)n);
  }
  tm_buf_release(&names);
  return rc;
}

int tm_model_script_check_columns(const struct tm_step *s, const struct tm_data_frame *rows,
                                  struct tm_err *err)
{
  struct tm_onnx_file f;
  if (!s->config.model)
    return 0;
  int rc = look(&f, s->config.model, err);
  if (rc == 0)
    rc = check_columns(s, &f, rows, err);
  tm_onnx_file_release(&f);
  return rc;
}
