/* model_script.c - see model_script.h. */
#include "plan/model_script.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/table/table.h"
#include "data/tensor/tensor.h"
#include "model/onnx_data.h"
#include "model/onnx_file.h"
#include "params/params.h"
#include "plan/datasets.h"
#include "plan/inputs.h"
#include "plan/script_arguments.h"

#define OPTION        "--model"
#define COLUMNS       "--columns"
#define LABELS        "--labels"
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
  if (!v->has_shape) {
    tm_buf_add_str(out, "of any shape");
    return;
  }
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
  if (tm_path_has_ending(model, ".lua"))
    return tm_err_set(err, TM_EUSAGE,
                      "'model' is '%s', a Lua script; give it as the entry script, without a model",
                      model);
  s->model = TM_NEW(struct tm_onnx_file);
  int rc = look(s->model, model, err);
  if (rc == 0)
    rc = check_inputs(s, model, s->model, err);
  struct tm_json *v = rc == 0 ? dataset_of(model, s->model) : NULL;
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

/* A relative path is one of the workers' directory, which only a command sets. */
static void add_labels(struct tm_step *s, const struct tm_plan_reader *r)
{
  const char *labels = tm_script_arguments_value(s, LABELS);
  if (!labels || (!r->working_dir && !tm_path_is_absolute(labels)))
    return;
  char *path = tm_path_absolute(r->working_dir, labels);
  tm_script_arguments_reads(s, path);
  free(path);
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
  add_labels(s, r);
  free(model);
  if (rc == 0)
    return 0;
  return r->working_dir ? rc : tm_params_locate("ParallelRunConfig", config, err);
}

/* Columns. */

struct tm_model_wish {
  char *model;
  struct TM_ARRAY(struct tm_onnx_value) inputs; /* of it */
  bool is_open;                                 /* which columns it gets is not known */
  bool names_columns;                           /* those that follow, by --columns */
  struct TM_ARRAY(char *) columns;
};

/* The values of --columns, up to the next option; of several, the last one counts. */
static void read_columns(struct tm_model_wish *w, const struct tm_step *s)
{
  for (size_t i = 0; i < s->arguments_len; i++) {
    const char *argument = s->arguments[i];
    if (strcmp(argument, COLUMNS) == 0)
      w->columns.len = 0;
    if (strncmp(argument, "--", 2) == 0)
      w->names_columns = strcmp(argument, COLUMNS) == 0;
    else if (w->names_columns)
      *TM_ARRAY_ADD(&w->columns) = s->arguments[i];
  }
  w->names_columns = tm_script_arguments_have(s, COLUMNS);
  w->is_open = w->names_columns && w->columns.len == 0; /* "--columns=NAME" */
  for (size_t i = 0; i < w->columns.len; i++)
    w->columns.at[i] = tm_xstrdup(w->columns.at[i]);
}

static void copy_input(struct tm_onnx_value *to, const struct tm_onnx_value *from)
{
  *to = (struct tm_onnx_value) { .name = tm_xstrdup(from->name),
                                 .type = tm_xstrdup(from->type),
                                 .element = from->element,
                                 .has_shape = from->has_shape };
  for (size_t i = 0; i < from->shape.len; i++)
    *TM_ARRAY_ADD(&to->shape) = (struct tm_onnx_axis) { .size = from->shape.at[i].size };
}

struct tm_model_wish *tm_model_wish_of(const struct tm_step *s)
{
  if (!s->model)
    return NULL;
  struct tm_model_wish *w = TM_NEW(struct tm_model_wish);
  w->model = tm_xstrdup(s->config.model);
  for (size_t i = 0; i < s->model->inputs.len; i++)
    copy_input(TM_ARRAY_ADD(&w->inputs), &s->model->inputs.at[i]);
  read_columns(w, s);
  return w;
}

void tm_model_wish_free(struct tm_model_wish *w)
{
  if (!w)
    return;
  for (size_t i = 0; i < w->columns.len; i++)
    free(w->columns.at[i]);
  TM_ARRAY_RELEASE(&w->columns);
  for (size_t i = 0; i < w->inputs.len; i++) {
    free(w->inputs.at[i].name);
    free(w->inputs.at[i].type);
    TM_ARRAY_RELEASE(&w->inputs.at[i].shape);
  }
  TM_ARRAY_RELEASE(&w->inputs);
  free(w->model);
  free(w);
}

/* The columns that the model gets. */
struct picked {
  const struct tm_model_wish *wish;
  const struct tm_data_frame *rows;
  struct TM_ARRAY(size_t) at; /* in `rows` */
};

static void add_names(struct tm_buf *out, const struct picked *p)
{
  for (size_t i = 0; i < p->at.len && out->len < COLUMNS_SHOWN; i++)
    tm_buf_printf(out, "%s%s", i > 0 ? ", " : "", p->rows->names[p->at.at[i]]);
  if (out->len >= COLUMNS_SHOWN)
    tm_buf_add_str(out, ", ...");
}

static void pick_all(struct picked *p)
{
  p->at.len = 0;
  for (size_t i = 0; i < p->rows->n; i++)
    *TM_ARRAY_ADD(&p->at) = i;
}

static int pick(struct picked *p, struct tm_err *err)
{
  const struct tm_model_wish *w = p->wish;
  struct tm_buf names = TM_BUF_NONE;
  int rc = 0;
  for (size_t i = 0; i < w->columns.len && rc == 0; i++) {
    long at = tm_data_frame_find(p->rows, w->columns.at[i]);
    if (at >= 0)
      *TM_ARRAY_ADD(&p->at) = (size_t)at;
    else
      rc = TM_EUSAGE;
    if (rc < 0) {
      pick_all(p);
      add_names(&names, p);
      tm_err_set(err, rc, "the rows have no column '%s', which '--columns' names; columns: %s",
                 w->columns.at[i], tm_buf_str(&names));
    }
  }
  if (!w->names_columns)
    pick_all(p);
  tm_buf_release(&names);
  return rc;
}

static bool has_picked(const struct picked *p, const char *name, size_t *at)
{
  for (size_t i = 0; i < p->at.len; i++)
    if (strcmp(p->rows->names[ *at = p->at.at[i]], name) == 0)
      return true;
  return false;
}

/* Whether the input takes all columns, as one row; `n`: how many, or -1 for any number. */
static bool takes_rows(const struct tm_model_wish *w, int64_t *n)
{
  const struct tm_onnx_value *v = &w->inputs.at[0];
  *n = v->shape.len == 2 ? v->shape.at[1].size : -1;
  return w->inputs.len == 1 && (!v->has_shape || v->shape.len == 2);
}

static int refuse_number(const struct picked *p, const char *input, int64_t n, struct tm_err *err)
{
  struct tm_buf names = TM_BUF_NONE;
  add_names(&names, p);
  if (p->wish->names_columns)
    tm_err_set(err, TM_EUSAGE,
               "'--columns' names %zu %s (%s), and the input '%s' of the model '%s' takes %lld",
               p->at.len, tm_text_counted((int64_t)p->at.len, "column", "columns"),
               tm_buf_str(&names), input, p->wish->model, (long long)n);
  else
    tm_err_set(err, TM_EUSAGE,
               "the rows have %zu columns (%s), and the input '%s' of the model '%s' takes %lld; "
               "name them in 'arguments': --columns NAME...",
               p->at.len, tm_buf_str(&names), input, p->wish->model, (long long)n);
  tm_buf_release(&names);
  return TM_EUSAGE;
}

/* As tensor.from_frame() would refuse it (stdlib/tidemill/tensor/frames.lua). */
static int check_type(const struct picked *p, size_t at, const struct tm_onnx_value *input,
                      bool may_choose, struct tm_err *err)
{
  int type = p->rows->columns[at].type;
  bool is_text = type == TM_COLUMN_STRING, wants_text = input->element == TM_TENSOR_STRING;
  if (input->element == 0 || (is_text == wants_text && type != TM_COLUMN_DATETIME))
    return 0;
  return tm_err_set(
      err, TM_EUSAGE,
      "the column '%s' of the rows is of type %s, and the input '%s' of the model '%s' takes %s; "
      "accepted: %s%s",
      p->rows->names[at], tm_column_type_name(type), input->name, p->wish->model, input->type,
      wants_text ? "texts" : "numbers and bools",
      may_choose ? "; name the columns for the model in 'arguments': --columns NAME..." : "");
}

static int check_input(const struct picked *p, const struct tm_onnx_value *input,
                       struct tm_err *err)
{
  size_t at;
  int64_t n;
  if (has_picked(p, input->name, &at))
    return check_type(p, at, input, false, err);
  if (takes_rows(p->wish, &n)) {
    int rc = n >= 0 && (size_t)n != p->at.len ? refuse_number(p, input->name, n, err) : 0;
    for (size_t k = 0; k < p->at.len && rc == 0; k++)
      rc = check_type(p, p->at.at[k], input, true, err);
    return rc;
  }
  struct tm_buf names = TM_BUF_NONE;
  add_names(&names, p);
  tm_err_set(err, TM_EUSAGE,
             "the rows have no column '%s', which is an input of the model '%s'; columns: %s",
             input->name, p->wish->model, tm_buf_str(&names));
  tm_buf_release(&names);
  return TM_EUSAGE;
}

int tm_model_wish_check(const struct tm_model_wish *w, const struct tm_data_frame *rows,
                        struct tm_err *err)
{
  struct picked p = { .wish = w, .rows = rows };
  if (w->is_open)
    return 0;
  int rc = pick(&p, err);
  for (size_t i = 0; i < w->inputs.len && rc == 0; i++)
    rc = check_input(&p, &w->inputs.at[i], err);
  TM_ARRAY_RELEASE(&p.at);
  return rc;
}

int tm_model_wish_check_schema(const struct tm_model_wish *w, const struct tm_dataset *d,
                               const struct tm_schema *schema, struct tm_err *err)
{
  struct tm_arena arena = { 0 };
  struct tm_data_frame rows;
  int rc = tm_table_ops_columns(&d->table->ops, &arena, schema, &rows, NULL);
  /* columns that the operations lack are reported where the table is listed */
  rc = rc < 0 ? 0 : tm_model_wish_check(w, &rows, err);
  tm_arena_release(&arena);
  return rc;
}
