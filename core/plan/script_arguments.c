/* script_arguments.c - see script_arguments.h. */
#include "plan/script_arguments.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "plan/arguments.h"
#include "plan/inputs.h"
#include "plan/names.h"
#include "params/params.h"
#include "sys/fs.h"

static bool is_tagged(const struct tm_json *v, const char *tag)
{
  return v->tag && strcmp(v->tag, tag) == 0;
}

/* An argument as the script sees it, to be freed; NULL: not valid. */
static char *argument_text(const struct tm_json *v)
{
  struct tm_buf out = TM_BUF_NONE;
  if (v->tag || tm_names_of_value(v))
    return NULL;
  switch (v->type) {
  case TM_JSON_STRING:
    return strlen(v->string.at) == v->string.len ? tm_xstrdup(v->string.at) : NULL;
  case TM_JSON_INT: tm_buf_add_int(&out, v->integer); break;
  case TM_JSON_NUMBER: tm_json_write_number(&out, v->number); break;
  case TM_JSON_BOOL: tm_buf_add_str(&out, v->boolean ? "true" : "false"); break;
  default: return NULL;
  }
  return tm_buf_take(&out);
}

static bool is_dataset(const struct tm_json *v)
{
  return is_tagged(v, "FileDataset") || is_tagged(v, "TabularDataset");
}

static void add_path(struct tm_step *s, size_t i, const char *writer)
{
  s->paths[s->paths_len++] = (struct tm_step_path) { .at = i, .step = tm_xstrdup(writer) };
}

/* A path for the script must exist before the job. */
static bool is_there(const char *path, struct tm_err *err)
{
  if (tm_fs_exists(tm_fs_real(), path))
    return true;
  tm_err_set(err, TM_EUSAGE, "there is no file or folder '%s'", path);
  return false;
}

/* The path of a dataset: its own place, or its only file or folder. NULL: it has none, or, with a
 * message, it does not exist. */
static char *dataset_path(struct tm_step *s, const struct tm_dataset *d, size_t i,
                          struct tm_err *err)
{
  const struct tm_step_staging *input_staging = tm_inputs_find(s, d);
  bool is_here = !d->place && d->mode != TM_DATASET_DOWNLOAD && !d->step;
  if (input_staging && !input_staging->path)
    add_path(s, i, s->name);
  if (input_staging)
    return tm_xstrdup(input_staging->path ? input_staging->path : input_staging->folder);
  bool is_list = d->kind == TM_DATASET_MANIFEST || d->kind == TM_DATASET_FAILED;
  bool is_part = d->kind == TM_DATASET_FILES && d->limit > 0;
  if (!is_here || is_list || is_part || d->paths_len != 1 || strpbrk(d->paths[0], "*?{["))
    return NULL;
  char *path = tm_path_absolute(d->base_dir, d->paths[0]);
  if (!is_there(path, err)) {
    tm_err_wrap(err, "'arguments[%zu]'", i + 1);
    free(path);
    return NULL;
  }
  tm_script_arguments_reads(s, path);
  return path;
}

static int refuse_argument(const struct tm_json *step, const struct tm_json *v, size_t i,
                           struct tm_err *err)
{
  struct tm_buf said = TM_BUF_NONE;
  tm_params_describe(&said, v);
  bool has_mode = tm_json_get(v, "mode"), is_files = is_dataset(v);
  const char *words = tm_names_of_value(v);
  if (words)
    tm_err_set(err, TM_EUSAGE, "'arguments[%zu]' is %s; %s", i + 1, said.data, words);
  else
    tm_err_set(err, TM_EUSAGE,
               "'arguments[%zu]' is %s%s; accepted: a string, a number, a boolean, a "
               "PipelineParameter, an output, a dataset of one file or folder, or one of 'inputs' "
               "and 'side_inputs' that has a place by as_mount() or as_download()",
               i + 1, said.data,
               is_files && has_mode ? " that is in neither 'inputs' nor 'side_inputs'"
               : is_files           ? " of several paths, of a pattern, or of a part"
                                    : "");
  tm_buf_release(&said);
  return tm_params_locate("ParallelRunStep", step, err);
}

/* The path of an output, relative to the job's directory; notes the argument's number. NULL with a
 * message. */
static char *output_path(struct tm_step *s, const struct tm_json *v, size_t i,
                         const struct tm_plan_reader *r, struct tm_err *err)
{
  const struct tm_output_known *k = tm_outputs_find(&r->outputs, v, err);
  if (!k) {
    tm_err_wrap(err, "'arguments[%zu]'", i + 1);
    return NULL;
  }
  add_path(s, i, tm_json_str(k->step, "name", ""));
  return tm_xstrdup(k->folder);
}

/* Finds the paths among the arguments again, after the runner's own were removed. */
static int settle_paths(struct tm_step *s, char *const *given, struct tm_err *err)
{
  for (size_t i = 0; i < s->paths_len; i++) {
    const char *path = given[s->paths[i].at];
    size_t at = 0;
    while (at < s->arguments_len && s->arguments[at] != path)
      at++;
    if (at == s->arguments_len)
      return tm_err_set(err, TM_EUSAGE,
                        "'arguments[%zu]' is an output, and would be a value of the runner's own",
                        s->paths[i].at + 1);
    s->paths[i].at = at;
  }
  return 0;
}

static const struct tm_step_path *path_at(const struct tm_step *s, size_t at)
{
  for (size_t i = 0; i < s->paths_len; i++)
    if (s->paths[i].at == at)
      return &s->paths[i];
  return NULL;
}

/* Paths in the job's directory are recorded relative to it: the job may be moved. */
static void record_arguments(struct tm_step *s)
{
  struct tm_json *record = tm_json_set(s->effective, "arguments", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < s->arguments_len; i++) {
    struct tm_json *text = tm_json_new_string(s->arguments[i]);
    if (path_at(s, i)) {
      struct tm_json *place = tm_json_new(TM_JSON_OBJECT);
      tm_json_set(place, "path", text);
      text = place;
    }
    tm_json_add(record, text);
  }
}

/* The text for a dataset or an output; NULL with a message, or without one if it cannot be an
 * argument. */
static char *place_text(struct tm_step *s, const struct tm_json *given, size_t i,
                        const struct tm_plan_reader *r, struct tm_err *err)
{
  bool is_output = tm_outputs_is_output(given);
  struct tm_dataset *d =
      is_dataset(given) ? tm_inputs_dataset(given, r, is_output ? err : NULL) : NULL;
  char *text = d ? dataset_path(s, d, i, err) : NULL;
  tm_dataset_free(d);
  return text || !is_output ? text : output_path(s, given, i, r, err);
}

/* One argument; in `given`, parameters are resolved. */
static int add_argument(struct tm_step *s, const struct tm_json *v, const struct tm_plan_reader *r,
                        size_t i, const struct tm_json *given, struct tm_err *err)
{
  bool is_output = tm_outputs_is_output(given), is_place = is_output || given->tag;
  struct tm_err why = TM_ERR_NONE;
  char *text = is_place ? place_text(s, given, i, r, &why) : argument_text(given);
  if (text) {
    s->arguments[s->arguments_len++] = text;
    return 0;
  }
  if (why.code == 0)
    return refuse_argument(v, given, i, err);
  tm_err_set(err, why.code, "%s", why.text);
  return tm_params_locate("ParallelRunStep", v, err);
}

static int collect_arguments(struct tm_step *s, const struct tm_json *v,
                             const struct tm_plan_reader *r, const struct tm_json *list,
                             struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < list->list.len && rc == 0; i++) {
    struct tm_json *given = tm_values_put(r->values, list->list.at[i]);
    rc = add_argument(s, v, r, i, given, err);
    tm_json_free(given);
  }
  return rc;
}

int tm_script_arguments_read(struct tm_step *s, const struct tm_json *v,
                             const struct tm_plan_reader *r, struct tm_json *taken,
                             struct tm_err *err)
{
  const struct tm_json *arguments = tm_json_get(v, "arguments");
  size_t n = arguments ? arguments->list.len : 0;
  char **given = tm_xcalloc(n + 1, sizeof(char *));
  s->arguments = tm_xcalloc(n + 1, sizeof(char *));
  s->paths = tm_xcalloc(n + 1, sizeof(*s->paths));
  int rc = arguments ? collect_arguments(s, v, r, arguments, err) : 0;
  if (rc == 0) {
    memcpy(given, s->arguments, n * sizeof(char *));
    if (tm_arguments_take(s, taken, err) < 0 || settle_paths(s, given, err) < 0)
      rc = tm_params_locate("ParallelRunStep", v, err);
  }
  free(given);
  if (rc == 0)
    record_arguments(s);
  return rc;
}

bool tm_script_arguments_have(const struct tm_step *s, const char *option)
{
  size_t n = strlen(option);
  for (size_t i = 0; i < s->arguments_len; i++)
    if (strncmp(s->arguments[i], option, n) == 0 && strchr("=", s->arguments[i][n]))
      return true;
  return false;
}

const char *tm_script_arguments_value(const struct tm_step *s, const char *option)
{
  const char *value = NULL;
  size_t n = strlen(option);
  for (size_t i = 0; i < s->arguments_len; i++) {
    const char *argument = s->arguments[i];
    if (strncmp(argument, option, n) != 0)
      continue;
    if (argument[n] == '=')
      value = argument + n + 1;
    else if (argument[n] == '\0' && i + 1 < s->arguments_len)
      value = s->arguments[i + 1];
  }
  return value;
}

void tm_script_arguments_reads(struct tm_step *s, const char *path)
{
  for (size_t i = 0; i < s->read_paths_len; i++)
    if (strcmp(s->read_paths[i], path) == 0)
      return;
  tm_array_reserve((void **)&s->read_paths, s->read_paths_len + 1, &s->read_paths_cap,
                   sizeof(*s->read_paths));
  s->read_paths[s->read_paths_len++] = tm_xstrdup(path);
}

int tm_script_arguments_put(struct tm_step *s, const char *option, const char *path,
                            struct tm_err *err)
{
  size_t n = s->arguments_len;
  if (tm_script_arguments_have(s, option))
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is among 'arguments', and the step has it already: '%s'; leave it out",
                      option, path);
  s->arguments = tm_xrealloc(s->arguments, (n + 3) * sizeof(char *));
  memmove(s->arguments + 2, s->arguments, n * sizeof(char *));
  s->arguments[0] = tm_xstrdup(option);
  s->arguments[1] = tm_xstrdup(path);
  s->arguments_len = n + 2;
  for (size_t i = 0; i < s->paths_len; i++)
    s->paths[i].at += 2;
  record_arguments(s);
  return 0;
}

void tm_script_arguments_settle(struct tm_step *s, const char *step, const char *job_dir)
{
  size_t kept = 0;
  for (size_t i = 0; i < s->paths_len; i++) {
    char **argument = &s->arguments[s->paths[i].at], *place = *argument;
    if (strcmp(s->paths[i].step, step) != 0) {
      s->paths[kept++] = s->paths[i];
      continue;
    }
    *argument = tm_path_join(job_dir, place);
    free(place);
    free(s->paths[i].step);
  }
  s->paths_len = kept;
  record_arguments(s);
}
