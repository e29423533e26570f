/* pipeline.c - a pipeline, from the tree that its definition made to the structs that a job is run from.
 *
 *   tree of Lua's constructors -> params.c: is every key and value accepted?
 *                              -> parameters.c: PipelineParameters get their values
 *                              -> config.c: settings with origins, struct tm_config
 *                              -> outputs.c: what the steps write
 *                              -> here: names, inputs, arguments
 *                              -> graph.c: which step waits for which
 *
 * Relative paths are against the pipeline file's folder. The constructors have checked most of this when the file was
 * loaded; it is checked again, because a tree may come from elsewhere, and because parameters have new values now.
 *
 * `effective` of a step is the record of all this: {name, settings: {NAME: {value, origin}}, inputs, arguments,
 * output, working_dir (where it is not the script's folder), allow_reuse}. It holds no value of an environment variable.
 */
#include "plan/pipeline.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "plan/aliases.h"
#include "plan/arguments.h"
#include "plan/cutting.h"
#include "plan/datasets.h"
#include "plan/graph.h"
#include "plan/outputs.h"
#include "plan/params.h"
#include "plan/settings.h"

/* What a step is read against. */
struct reader {
  const struct tm_values *values;
  char *base_dir;          /* the pipeline file's folder, absolute */
  const char *working_dir; /* of workers, or NULL */
  const char *origin;      /* of what the definition says: "file" or "option" */
  struct tm_outputs outputs;
};

static void release_inputs(struct tm_step *s)
{
  for (size_t i = 0; i < s->inputs_len; i++)
    tm_dataset_free(s->inputs[i]);
  free(s->inputs);
}

static void step_free(struct tm_step *s)
{
  if (!s)
    return;
  release_inputs(s);
  for (size_t i = 0; i < s->arguments_len; i++)
    free(s->arguments[i]);
  for (size_t i = 0; i < s->runner_arguments_len; i++)
    free(s->runner_arguments[i]);
  for (size_t i = 0; i < s->notes_len; i++)
    free(s->notes[i]);
  free(s->runner_arguments);
  free(s->notes);
  free(s->arguments);
  free(s->name);
  free(s->where);
  tm_outputs_free(s);
  for (size_t i = 0; i < s->paths_len; i++)
    free(s->paths[i].step);
  free(s->paths);
  free(s->needs);
  free(s->working_dir);
  tm_config_release(&s->config);
  tm_json_free(s->effective);
  free(s);
}

struct tm_cut_options tm_step_cut(const struct tm_step *s)
{
  return (struct tm_cut_options) { .inputs = (const struct tm_dataset *const *)s->inputs,
                                   .inputs_len = s->inputs_len,
                                   .mini_batch_size = s->config.mini_batch_size,
                                   .counts_rows = s->config.counts_rows,
                                   .partition_keys = s->config.partition_keys,
                                   .partition_keys_len = s->config.partition_keys_len };
}

void tm_step_note(struct tm_step *s, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  tm_array_reserve((void **)&s->notes, s->notes_len + 1, &s->notes_cap, sizeof(*s->notes));
  s->notes[s->notes_len++] = tm_buf_take(&text);
}

static bool is_tagged(const struct tm_json *v, const char *tag)
{
  return v && v->tag && strcmp(v->tag, tag) == 0;
}

/* Which element of a list they are is told from 1. */
static int refuse_mixed(const struct tm_step *s, const struct tm_json *v, struct tm_err *err)
{
  size_t i = s->inputs_len;
  tm_err_set(err, TM_EUSAGE,
             "'inputs[%zu]' is a %s and 'inputs[1]' a %s; accepted: datasets of one type", i,
             tm_dataset_tag(s->inputs[i - 1]), tm_dataset_tag(s->inputs[0]));
  return tm_params_place("ParallelRunStep", v, err);
}

/* A script knows its inputs by their names (context.dataset_name). */
static int check_input_names(const struct tm_step *s, const struct tm_json *v, struct tm_err *err)
{
  for (size_t i = 1; i < s->inputs_len; i++)
    for (size_t j = 0; j < i && s->inputs[i]->name; j++) {
      const struct tm_dataset *first = s->inputs[j], *second = s->inputs[i];
      if (!first->name || strcmp(first->name, second->name) != 0)
        continue;
      bool has_places = first->where && second->where;
      tm_err_set(err, TM_EUSAGE,
                 "two inputs are named '%s'%s%s%s%s; accepted: a name for each, by "
                 "as_named_input(), or none",
                 first->name, has_places ? ", at " : "", has_places ? first->where : "",
                 has_places ? " and " : "", has_places ? second->where : "");
      return tm_params_place("ParallelRunStep", v, err);
    }
  return 0;
}

static int read_inputs(struct tm_step *s, const struct tm_json *v, const struct reader *r,
                       struct tm_err *err)
{
  struct tm_json *inputs =
      tm_params_value(tm_params_find("ParallelRunStep", "inputs"), tm_json_get(v, "inputs"), err);
  if (!inputs)
    return tm_params_place("ParallelRunStep", v, err);
  struct tm_json *record = tm_json_set(s->effective, "inputs", tm_json_new(TM_JSON_ARRAY));
  s->inputs = tm_xcalloc(inputs->list.len, sizeof(struct tm_dataset *));
  int rc = 0;
  for (size_t i = 0; i < inputs->list.len && rc == 0; i++) {
    struct tm_json *input = tm_outputs_input(&r->outputs, inputs->list.at[i], err);
    if (!input) {
      tm_err_wrap(err, "'inputs[%zu]'", i + 1);
      rc = tm_params_place("ParallelRunStep", v, err);
      break;
    }
    struct tm_dataset *d = tm_plan_dataset(input, r->base_dir, err);
    tm_json_free(input);
    if (!d) {
      rc = TM_EUSAGE;
      break;
    }
    s->inputs[s->inputs_len++] = d;
    if (tm_dataset_is_table(d) != tm_dataset_is_table(s->inputs[0]))
      rc = refuse_mixed(s, v, err);
    tm_json_add(record, tm_dataset_to_json(d));
  }
  tm_json_free(inputs);
  return rc < 0 ? rc : check_input_names(s, v, err);
}

/* An argument as the script sees it, to be freed; NULL: it cannot be one. */
static char *argument_text(const struct tm_json *v, const struct tm_values *values)
{
  struct tm_buf out = TM_BUF_NONE;
  if (is_tagged(v, "PipelineParameter"))
    v = tm_values_find(values, v);
  if (!v || v->tag)
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

/* The place of a dataset: of one file or folder. NULL: it is of several, or a pattern. */
static char *dataset_path(const struct tm_json *v, const struct reader *r)
{
  const struct tm_json *paths = tm_json_get(v, "paths");
  const struct tm_json *path =
      paths && paths->type == TM_JSON_ARRAY && paths->list.len == 1 ? paths->list.at[0] : NULL;
  if (!path || path->type != TM_JSON_STRING || strpbrk(path->string.at, "*?{[") ||
      strcmp(tm_json_str(v, "kind", ""), "files") != 0)
    return NULL;
  return tm_path_absolute(r->base_dir, path->string.at);
}

static int refuse_argument(const struct tm_json *step, const struct tm_json *v, size_t i,
                           struct tm_err *err)
{
  struct tm_buf said = TM_BUF_NONE;
  tm_params_describe(&said, v);
  tm_err_set(err, TM_EUSAGE,
             "'arguments[%zu]' is %s%s; accepted: a string, a number, a boolean, a "
             "PipelineParameter, an output, or a dataset of one file or folder",
             i + 1, said.data,
             is_tagged(v, "FileDataset") ? " of several paths, or of a pattern" : "");
  tm_buf_release(&said);
  return tm_params_place("ParallelRunStep", step, err);
}

/* The path of an output, relative to the job's directory; it is noted which argument that is. NULL with words. */
static char *output_path(struct tm_step *s, const struct tm_json *v, size_t i,
                         const struct reader *r, struct tm_err *err)
{
  const struct tm_output_known *k = tm_outputs_find(&r->outputs, v, err);
  if (!k) {
    tm_err_wrap(err, "'arguments[%zu]'", i + 1);
    return NULL;
  }
  s->paths[s->paths_len++] =
      (struct tm_step_path) { .at = i, .step = tm_xstrdup(tm_json_str(k->step, "name", "")) };
  return tm_xstrdup(k->folder);
}

/* Where the path's arguments stand once the runner's own have been taken out. */
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

/* Of a place in the job's directory the record says where in it: the job may be moved. */
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

static int collect_arguments(struct tm_step *s, const struct tm_json *v, const struct reader *r,
                             const struct tm_json *list, struct tm_err *err)
{
  for (size_t i = 0; i < list->list.len; i++) {
    const struct tm_json *given = list->list.at[i];
    bool is_output = tm_outputs_is_output(given);
    char *text = is_output                         ? output_path(s, given, i, r, err)
                 : is_tagged(given, "FileDataset") ? dataset_path(given, r)
                                                   : argument_text(given, r->values);
    if (!text && is_output)
      return tm_params_place("ParallelRunStep", v, err);
    if (!text)
      return refuse_argument(v, given, i, err);
    s->arguments[s->arguments_len++] = text;
  }
  return 0;
}

/* Those of the script stay in s->arguments, the runner's go to `taken`. */
static int read_arguments(struct tm_step *s, const struct tm_json *v, const struct reader *r,
                          struct tm_json *taken, struct tm_err *err)
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
      rc = tm_params_place("ParallelRunStep", v, err);
  }
  free(given);
  if (rc == 0)
    record_arguments(s);
  return rc;
}

static int read_config(struct tm_step *s, const struct tm_json *v, const struct reader *r,
                       const struct tm_json *taken, struct tm_err *err)
{
  const struct tm_json *config = tm_json_get(v, "parallel_run_config");
  if (tm_params_check("ParallelRunConfig", config, err) < 0)
    return TM_EUSAGE;
  struct tm_json *settings = tm_settings_make(config, s, r->values, r->origin, err);
  if (!settings)
    return TM_EUSAGE;
  tm_aliases_note(config, s);
  if (tm_arguments_settle(settings, taken, err) < 0) {
    tm_json_free(settings);
    return tm_params_place("ParallelRunStep", v, err);
  }
  int rc = tm_config_fill(&s->config, settings, s, r->base_dir, err);
  if (rc == 0)
    rc = tm_cutting_check(s, err);
  if (rc < 0 && !r->working_dir)
    tm_params_place("ParallelRunConfig", config, err);
  if (rc == 0)
    tm_json_set(s->effective, "settings", tm_settings_public(settings, &s->config));
  tm_json_free(settings);
  return rc;
}

/* Work of another job was done over what that one's steps had written, in its directory. */
static int check_takeover(const struct tm_step *s, const struct tm_json *v, struct tm_err *err)
{
  for (size_t i = 0; s->config.resume_from && i < s->inputs_len; i++)
    if (s->inputs[i]->step) {
      tm_err_set(err, TM_EUSAGE,
                 "'--resume_from' is in 'arguments' of a step that reads what step '%s' writes, "
                 "which this job writes anew; accepted: for steps whose inputs are there before "
                 "the job",
                 s->inputs[i]->step);
      return tm_params_place("ParallelRunStep", v, err);
    }
  return 0;
}

/* A step's folder stands beside these in the job directory. */
static int check_name(const char *name, const struct tm_json *v, struct tm_err *err)
{
  static const char *const taken[] = { "lock", "owner", "script" };
  for (size_t i = 0; i < TM_COUNT_OF(taken); i++)
    if (strcmp(name, taken[i]) == 0) {
      tm_err_set(err, TM_EUSAGE,
                 "'name' is '%s', which the job directory has a file or folder of its own for; "
                 "choose another one",
                 name);
      return tm_params_place("ParallelRunStep", v, err);
    }
  return 0;
}

/* true, false, or "content"; the check of the definition has seen that it is one of them. */
static void read_reuse(struct tm_step *s, const struct tm_json *given)
{
  struct tm_json *word =
      given ? tm_params_value(tm_params_find("ParallelRunStep", "allow_reuse"), given, NULL) : NULL;
  const char *text = word && word->type == TM_JSON_STRING ? word->string.at : "true";
  s->allow_reuse = strcmp(text, "false") != 0;
  s->reuses_by_content = strcmp(text, "content") == 0;
  tm_json_free(word);
}

static struct tm_step *read_step(const struct tm_json *v, const struct reader *r,
                                 struct tm_err *err)
{
  if (tm_params_check("ParallelRunStep", v, err) < 0 ||
      check_name(tm_json_str(v, "name", ""), v, err) < 0)
    return NULL;
  struct tm_step *s = TM_NEW(struct tm_step);
  s->name = tm_xstrdup(tm_json_str(v, "name", ""));
  s->where = tm_xstrdup(v->where ? v->where : "");
  read_reuse(s, tm_json_get(v, "allow_reuse"));
  s->effective = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(s->effective, "name", tm_json_new_string(s->name));
  struct tm_json *taken = tm_json_new(TM_JSON_OBJECT);
  bool is_read = read_arguments(s, v, r, taken, err) == 0 && read_inputs(s, v, r, err) == 0 &&
                 read_config(s, v, r, taken, err) == 0 &&
                 tm_outputs_fill(&r->outputs, s, v, err) == 0 && check_takeover(s, v, err) == 0;
  tm_json_free(taken);
  if (!is_read) {
    step_free(s);
    return NULL;
  }
  if (r->working_dir) {
    s->working_dir = tm_xstrdup(r->working_dir);
    tm_json_set(s->effective, "working_dir", tm_json_new_string(r->working_dir));
  }
  tm_json_set(s->effective, "allow_reuse",
              s->reuses_by_content ? tm_json_new_string("content")
                                   : tm_json_new_bool(s->allow_reuse));
  return s;
}

static int refuse_twice(const struct tm_json *v, const struct tm_step *first,
                        const struct tm_step *second, struct tm_err *err)
{
  tm_err_set(err, TM_EUSAGE, "two steps are named '%s'%s%s%s%s; accepted: a name for each",
             first->name, *first->where ? ", at " : "", first->where, *second->where ? " and " : "",
             second->where);
  return tm_params_place("Pipeline", v, err);
}

static int read_steps(struct tm_pipeline *p, const struct tm_json *v, struct reader *r,
                      struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(v, "steps");
  p->steps = tm_xcalloc(steps->list.len, sizeof(struct tm_step *));
  if (tm_outputs_init(&r->outputs, steps, r->base_dir, err) < 0)
    return TM_EUSAGE;
  for (size_t i = 0; i < steps->list.len; i++) {
    struct tm_step *s = read_step(steps->list.at[i], r, err);
    if (!s)
      return TM_EUSAGE;
    p->steps[p->steps_len++] = s;
    for (size_t j = 0; j < i; j++) {
      if (strcmp(p->steps[j]->name, s->name) == 0)
        return refuse_twice(v, p->steps[j], s, err);
    }
  }
  return tm_graph_link(p, err) < 0 ? tm_params_place("Pipeline", v, err) : 0;
}

static char *absolute_file(const char *file, struct tm_err *err)
{
  char *here = getcwd(NULL, 0);
  if (!here) {
    tm_err_set(err, TM_EUSAGE, "cannot tell where '%s' is: the current folder is gone", file);
    return NULL;
  }
  char *path = tm_path_absolute(here, file);
  free(here);
  return path;
}

static int check_tag(const struct tm_json *v, struct tm_err *err)
{
  if (is_tagged(v, "Pipeline"))
    return 0;
  struct tm_buf said = TM_BUF_NONE;
  tm_params_describe(&said, v);
  tm_err_set(err, TM_EUSAGE, "the definition is %s; accepted: Pipeline { name, steps }", said.data);
  tm_buf_release(&said);
  return TM_EUSAGE;
}

static struct tm_json *keep_params(const struct tm_param *params, size_t params_len)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  for (size_t i = 0; i < params_len; i++)
    tm_json_set(v, params[i].name, tm_json_new_string(params[i].value));
  return v;
}

/* All but where it comes from. False, with words: p is filled in part. */
static bool read_pipeline(struct tm_pipeline *p, const struct tm_json *v, struct reader *r,
                          struct tm_err *err)
{
  p->name = tm_xstrdup(tm_json_str(v, "name", ""));
  p->description = tm_xstrdup(tm_json_str(v, "description", NULL));
  return read_steps(p, v, r, err) == 0;
}

struct tm_pipeline *tm_pipeline_from_json(const struct tm_json *v, const char *file,
                                          const struct tm_param *params, size_t params_len,
                                          struct tm_err *err)
{
  struct tm_pipeline *p = TM_NEW(struct tm_pipeline);
  struct tm_values values = { .processes_default = tm_settings_processes_default() };
  struct reader r = { .values = &values, .origin = "file" };
  bool is_read = false;
  if (check_tag(v, err) == 0 && tm_params_check("Pipeline", v, err) == 0) {
    p->file = absolute_file(file, err);
    p->params = keep_params(params, params_len);
    r.base_dir = p->file ? tm_path_dir(p->file) : NULL;
    is_read = p->file && tm_values_init(&values, v, params, params_len, err) == 0 &&
              read_pipeline(p, v, &r, err);
  }
  if (!is_read) {
    tm_pipeline_free(p);
    p = NULL;
  }
  free(r.base_dir);
  tm_outputs_release(&r.outputs);
  tm_values_release(&values);
  return p;
}

struct tm_pipeline *tm_pipeline_from_options(const struct tm_json *v, const char *cwd,
                                             struct tm_err *err)
{
  struct tm_pipeline *p = TM_NEW(struct tm_pipeline);
  struct tm_values values = { .processes_default = tm_settings_processes_default() };
  struct reader r = {
    .values = &values, .base_dir = tm_xstrdup(cwd), .working_dir = cwd, .origin = "option"
  };
  if (check_tag(v, err) < 0 || tm_params_check("Pipeline", v, err) < 0 ||
      tm_values_init(&values, v, NULL, 0, err) < 0 || !read_pipeline(p, v, &r, err)) {
    tm_pipeline_free(p);
    p = NULL;
  }
  free(r.base_dir);
  tm_outputs_release(&r.outputs);
  tm_values_release(&values);
  return p;
}

static bool is_in_arguments(const struct tm_step *s, const char *step)
{
  for (size_t i = 0; i < s->paths_len; i++)
    if (strcmp(s->paths[i].step, step) == 0)
      return true;
  return false;
}

/* What is read as an input alone. */
static void drop_inputs_needs(struct tm_step *s)
{
  size_t kept = 0;
  for (size_t i = 0; i < s->needs_len; i++)
    if (is_in_arguments(s, s->needs[i]->name))
      s->needs[kept++] = s->needs[i];
  s->needs_len = kept;
}

void tm_step_set_inputs(struct tm_step *s, struct tm_dataset **inputs, size_t len)
{
  struct tm_json *record = tm_json_set(s->effective, "inputs", tm_json_new(TM_JSON_ARRAY));
  release_inputs(s);
  s->inputs = inputs;
  s->inputs_len = len;
  drop_inputs_needs(s);
  for (size_t i = 0; i < len; i++)
    tm_json_add(record, tm_dataset_to_json(inputs[i]));
}

static void drop_need(struct tm_step *s, const struct tm_step *need)
{
  size_t kept = 0;
  for (size_t i = 0; i < s->needs_len; i++)
    if (s->needs[i] != need)
      s->needs[kept++] = s->needs[i];
  s->needs_len = kept;
}

/* Arguments that are places of `step` become paths. */
static void settle_arguments(struct tm_step *s, const char *step, const char *job_dir)
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

void tm_pipeline_drop_step(struct tm_pipeline *p, size_t at, const char *job_dir)
{
  for (size_t i = 0; i < p->steps_len; i++) {
    drop_need(p->steps[i], p->steps[at]);
    settle_arguments(p->steps[i], p->steps[at]->name, job_dir);
  }
  step_free(p->steps[at]);
  p->steps_len--;
  memmove(&p->steps[at], &p->steps[at + 1], (p->steps_len - at) * sizeof(struct tm_step *));
}

void tm_pipeline_free(struct tm_pipeline *p)
{
  if (!p)
    return;
  for (size_t i = 0; i < p->steps_len; i++)
    step_free(p->steps[i]);
  free(p->steps);
  free(p->name);
  free(p->description);
  free(p->file);
  free(p->only_failed);
  tm_json_free(p->params);
  free(p);
}
