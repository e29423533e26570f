/* read.c - a pipeline, from the tree of its definition to the structs that a job uses.
 *
 *   tree of Lua's constructors -> params_check.c: checks keys and values
 *                              -> parameters.c: resolves PipelineParameters
 *                              -> settings.c: settings with origins, struct tm_config
 *                              -> outputs.c: what the steps write
 *                              -> inputs.c: what they read, and where it is
 *                              -> script_arguments.c: what the script gets
 *                              -> model_script.c: the same for a model in place of a script
 *                              -> here: names
 *                              -> graph.c: which step waits for which
 *
 * Relative paths are relative to the pipeline file's folder. The constructors have checked most of
 * this when the file was loaded; it is checked again, because a tree may come from elsewhere, and
 * because parameters now have new values.
 *
 * `effective` of a step is the record of all this: {name, settings: {NAME: {value, origin}},
 * inputs, side_inputs and places (if any: {folder in the job's directory, path}), arguments,
 * outputs, working_dir (unless it is the script's folder), allow_reuse, parameters: {NAME: {value,
 * origin}} (those used)}. It holds no value of an environment variable.
 */
#include "plan/read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/aliases.h"
#include "plan/arguments.h"
#include "plan/splitting.h"
#include "plan/graph.h"
#include "plan/inputs.h"
#include "plan/model_script.h"
#include "plan/overlap.h"
#include "params/params.h"
#include "plan/params_check.h"
#include "plan/read_context.h"
#include "plan/script_arguments.h"
#include "plan/settings.h"

#define TINY_BYTES 64 /* of a table: fewer than most rows have */

static bool is_tagged(const struct tm_json *v, const char *tag)
{
  return v && v->tag && strcmp(v->tag, tag) == 0;
}

static void note_environment(const struct tm_json *config, struct tm_step *s)
{
  const struct tm_json *given = tm_json_get(config, "environment");
  const char *name =
      given && given->type == TM_JSON_STRING ? given->string.at : tm_json_str(given, "name", NULL);
  if (name)
    tm_step_note(s, TM_WARNING, "environment '%s' is not used: no packages are installed", name);
}

/* 10 files are common, and 10 bytes of a table are less than a row. */
static void note_tiny_size(struct tm_step *s)
{
  const struct tm_config *c = &s->config;
  bool is_table = s->inputs_len > 0 && tm_dataset_is_table(s->inputs[0]);
  if (is_table && !c->counts_rows && c->partition_keys_len == 0 && c->mini_batch_size < TINY_BYTES)
    tm_step_note(
        s, TM_WARNING,
        "mini_batch_size %lld is a number of bytes for a table; for rows, write \"%lldrows\"",
        (long long)c->mini_batch_size, (long long)c->mini_batch_size);
}

static int read_config(struct tm_step *s, const struct tm_json *v, const struct tm_plan_reader *r,
                       const struct tm_json *taken, struct tm_err *err)
{
  const struct tm_json *config = tm_json_get(v, "parallel_run_config");
  if (tm_params_check("ParallelRunConfig", config, err) < 0)
    return TM_EUSAGE;
  struct tm_json *settings = tm_settings_make(config, s, r->values, r->origin, err);
  if (!settings)
    return TM_EUSAGE;
  tm_aliases_note(config, s);
  note_environment(config, s);
  if (tm_arguments_settle(settings, taken, err) < 0) {
    tm_json_free(settings);
    return tm_params_locate("ParallelRunStep", v, err);
  }
  int rc = tm_config_fill(&s->config, settings, s, r->base_dir, err);
  if (rc == 0)
    rc = tm_splitting_check(s, err);
  if (rc < 0 && !r->working_dir)
    tm_params_locate("ParallelRunConfig", config, err);
  if (rc < 0) {
    tm_json_free(settings);
    return rc;
  }
  if (s->config.model && strcmp(r->origin, "file") == 0)
    s->config.library_dir = tm_xstrdup(r->base_dir);
  note_tiny_size(s);
  tm_settings_publish(settings, &s->config);
  tm_json_set(s->effective, "settings", settings);
  return 0;
}

/* A step of the job whose outputs this one reads, as inputs or otherwise; or NULL. */
static const char *writer_for(const struct tm_step *s)
{
  for (size_t i = 0; i < s->inputs_len; i++)
    if (s->inputs[i]->step)
      return s->inputs[i]->step;
  for (size_t i = 0; i < s->side_inputs_len; i++)
    if (s->side_inputs[i]->step)
      return s->side_inputs[i]->step;
  for (size_t i = 0; i < s->paths_len; i++)
    if (strcmp(s->paths[i].step, s->name) != 0)
      return s->paths[i].step;
  return NULL;
}

static bool has_place(const struct tm_step *s)
{
  for (size_t i = 0; i < s->inputs_len; i++)
    if (s->inputs[i]->mode != TM_DATASET_DIRECT)
      return true;
  return false;
}

/* The work of another job used the outputs of that job's steps, in its directory. */
static int check_import(const struct tm_step *s, const struct tm_json *v, struct tm_err *err)
{
  const char *job = s->config.resume_from, *writer = job ? writer_for(s) : NULL;
  char *word = tm_text_shell_word(job ? job : "");
  bool is_refused = writer || (job && has_place(s));
  if (writer)
    tm_err_set(
        err, TM_EUSAGE,
        "'--resume_from' is in 'arguments' of a step that reads the output of step '%s': the "
        "work of '%s' used an earlier output, which this job writes again; accepted: for "
        "steps whose inputs exist before the job; to resume that job itself: tidemill "
        "resume %s",
        writer, job, word);
  else if (is_refused)
    tm_err_set(err, TM_EUSAGE,
               "'--resume_from' is in 'arguments' of a step with an input that has a place of "
               "its own in each job; accepted: inputs as_direct(); to resume that job itself: "
               "tidemill resume %s",
               word);
  free(word);
  return is_refused ? tm_params_locate("ParallelRunStep", v, err) : 0;
}

/* A step's folder is beside these in the job directory. */
static int check_name(const char *name, const struct tm_json *v, struct tm_err *err)
{
  static const char *const taken[] = { "lock", "nodes", "owner", "script" };
  for (size_t i = 0; i < TM_COUNT_OF(taken); i++)
    if (strcmp(name, taken[i]) == 0) {
      tm_err_set(err, TM_EUSAGE,
                 "'name' is '%s', which the job directory has a file or folder of its own for; "
                 "choose another one",
                 name);
      return tm_params_locate("ParallelRunStep", v, err);
    }
  return 0;
}

/* Where values came from, for information: the values are in the other members. */
static void record_parameters(struct tm_step *s, const struct tm_json *v,
                              const struct tm_values *values)
{
  struct tm_json *used = tm_values_used(values, v);
  if (used->list.len > 0)
    tm_json_set(s->effective, "parameters", used);
  else
    tm_json_free(used);
}

/* true, false, or "content"; the definition was checked before. */
static void read_reuse(struct tm_step *s, const struct tm_json *given)
{
  struct tm_json *word =
      given ? tm_params_value(tm_params_find("ParallelRunStep", "allow_reuse"), given, NULL) : NULL;
  const char *text = word && word->type == TM_JSON_STRING ? word->string.at : "true";
  s->allow_reuse = strcmp(text, "false") != 0;
  s->reuses_by_content = strcmp(text, "content") == 0;
  tm_json_free(word);
}

static struct tm_step *read_step(const struct tm_json *v, const struct tm_plan_reader *r,
                                 struct tm_err *err)
{
  if (tm_params_check("ParallelRunStep", v, err) < 0 ||
      check_name(tm_json_str(v, "name", ""), v, err) < 0)
    return NULL;
  struct tm_step *s = TM_NEW(struct tm_step);
  s->name = tm_xstrdup(tm_json_str(v, "name", ""));
  s->where = tm_xstrdup(v->where ? v->where : "");
  s->keeps_script = r->keeps_scripts;
  read_reuse(s, tm_json_get(v, "allow_reuse"));
  s->effective = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(s->effective, "name", tm_json_new_string(s->name));
  struct tm_json *taken = tm_json_new(TM_JSON_OBJECT);
  bool is_read = tm_inputs_read(s, v, r, err) == 0 &&
                 tm_script_arguments_read(s, v, r, taken, err) == 0 &&
                 tm_model_script_add(s, v, r, err) == 0 && read_config(s, v, r, taken, err) == 0 &&
                 tm_outputs_fill(&r->outputs, s, v, err) == 0 && check_import(s, v, err) == 0;
  tm_json_free(taken);
  if (!is_read) {
    tm_step_free(s);
    return NULL;
  }
  if (r->working_dir) {
    s->working_dir = tm_xstrdup(r->working_dir);
    tm_json_set(s->effective, "working_dir", tm_json_new_string(r->working_dir));
  }
  tm_json_set(s->effective, "allow_reuse",
              s->reuses_by_content ? tm_json_new_string("content")
                                   : tm_json_new_bool(s->allow_reuse));
  record_parameters(s, v, r->values);
  return s;
}

static int refuse_twice(const struct tm_json *v, const struct tm_step *first,
                        const struct tm_step *second, struct tm_err *err)
{
  tm_err_set(err, TM_EUSAGE, "two steps are named '%s'%s%s%s%s; accepted: a name for each",
             first->name, *first->where ? ", at " : "", first->where, *second->where ? " and " : "",
             second->where);
  return tm_params_locate("Pipeline", v, err);
}

static int check_twice(const struct tm_pipeline *p, const struct tm_json *v, struct tm_err *err)
{
  struct tm_map by_name = { 0 };
  const struct tm_step *first = NULL, *second = NULL;
  for (size_t i = 0; i < p->steps_len && !first; i++) {
    bool is_new;
    second = p->steps[i];
    uint64_t *place = tm_map_add(&by_name, second->name, strlen(second->name), &is_new);
    first = is_new ? NULL : p->steps[*place];
    *place = is_new ? i : *place;
  }
  tm_map_release(&by_name);
  return first ? refuse_twice(v, first, second, err) : 0;
}

/* Checks the relations between steps. */
static int link_steps(struct tm_pipeline *p, const struct tm_json *v, struct tm_err *err)
{
  return tm_inputs_check_paths(p, err) < 0 || tm_graph_link(p, err) < 0 ||
                 tm_overlap_check(p, err) < 0
             ? tm_params_locate("Pipeline", v, err)
             : 0;
}

static int read_steps(struct tm_pipeline *p, const struct tm_json *v, struct tm_plan_reader *r,
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
    s->number = p->steps_len;
    p->steps[p->steps_len++] = s;
  }
  return check_twice(p, v, err) < 0 ? TM_EUSAGE : link_steps(p, v, err);
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

/* Parameters to be read again from any folder: datasets completely, because their paths need a
 * base. */
static struct tm_json *keep_params(const struct tm_values *values, const struct tm_param *params,
                                   size_t params_len)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  for (size_t i = 0; i < params_len; i++) {
    const struct tm_json *value = tm_json_get(values->by_name, params[i].name);
    if (value && value->type == TM_JSON_OBJECT)
      tm_json_set(v, params[i].name, tm_values_put(values, value));
    else if (value)
      tm_json_set(v, params[i].name,
                  params[i].tree ? tm_json_copy(params[i].tree)
                                 : tm_json_new_string(params[i].value));
  }
  return v;
}

/* Everything except the origin. False, with a message: p is partly filled. */
static bool read_pipeline(struct tm_pipeline *p, const struct tm_json *v, struct tm_plan_reader *r,
                          struct tm_err *err)
{
  p->name = tm_xstrdup(tm_json_str(v, "name", ""));
  p->description = tm_xstrdup(tm_json_str(v, "description", NULL));
  return read_steps(p, v, r, err) == 0;
}

struct tm_pipeline *tm_pipeline_from_json(const struct tm_json *v, const char *file,
                                          const struct tm_param *params, size_t params_len,
                                          bool keeps_scripts, struct tm_err *err)
{
  struct tm_pipeline *p = TM_NEW(struct tm_pipeline);
  struct tm_values values = { .processes_default = tm_settings_processes_default() };
  struct tm_plan_reader r = { .values = &values, .origin = "file", .keeps_scripts = keeps_scripts };
  bool is_read = false;
  if (check_tag(v, err) == 0 && tm_params_check("Pipeline", v, err) == 0) {
    p->file = absolute_file(file, err);
    r.base_dir = p->file ? tm_path_dir(p->file) : NULL;
    is_read = p->file && tm_values_init(&values, v, params, params_len, r.base_dir, err) == 0 &&
              read_pipeline(p, v, &r, err);
    if (is_read)
      p->params = keep_params(&values, params, params_len);
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

struct tm_pipeline *tm_pipeline_from_calls(const struct tm_json *v, const char *dir,
                                           const char *working_dir, const struct tm_param *params,
                                           size_t params_len, bool keeps_scripts,
                                           struct tm_err *err)
{
  struct tm_pipeline *p = TM_NEW(struct tm_pipeline);
  struct tm_values values = { .processes_default = tm_settings_processes_default() };
  struct tm_plan_reader r = { .values = &values,
                              .base_dir = tm_xstrdup(dir),
                              .working_dir = working_dir,
                              .origin = "option",
                              .keeps_scripts = keeps_scripts };
  if (check_tag(v, err) < 0 || tm_params_check("Pipeline", v, err) < 0 ||
      tm_values_init(&values, v, params, params_len, dir, err) < 0 ||
      !read_pipeline(p, v, &r, err)) {
    tm_pipeline_free(p);
    p = NULL;
  } else {
    p->params = keep_params(&values, params, params_len);
  }
  free(r.base_dir);
  tm_outputs_release(&r.outputs);
  tm_values_release(&values);
  return p;
}
