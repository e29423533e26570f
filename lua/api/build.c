/* build.c - a pipeline built by calls: makes the tree that the constructors of stdlib/tidemill.lua
 * would make.
 *
 * A value comes as text. The table of parameters checks it at once; everything else is checked with
 * the pipeline.
 */
#include "api/handles.h"
#include "api/own.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/text.h"
#include "params/params.h"
#include "plan/datasets.h"
#include "plan/params_check.h"

#define DELIMITED  "Dataset.Tabular.from_delimited_files"
#define JSON_LINES "Dataset.Tabular.from_json_lines_files"

static struct tm_json *tagged(const char *tag)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  v->tag = tm_xstrdup(tag);
  return v;
}

int tidemill_pipeline_new(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                          const char *name, const char *dir, struct tm_err *err)
{
  struct tm_json *tree;
  char *file;
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_pipeline_new()", "out", out, "rt", rt, "name", name, NULL) < 0)
    return TM_EUSAGE;
  tree = tagged("Pipeline");
  file = dir ? tm_path_join(dir, "pipeline") : tm_xstrdup("");
  tm_json_set(tree, "name", tm_json_new_string(name));
  tm_json_set(tree, "steps", tm_json_new(TM_JSON_ARRAY));
  int rc = tm_draft_new(out, rt, tree, file, false, TM_ERR_OWN(err));
  if (rc == 0)
    (*out)->is_built = true;
  free(file);
  return rc;
}

/* Returns a list of the step to add to; a Lua definition may have a single value or nothing
 * there. */
static struct tm_json *list_of(struct tm_json *step, const char *key)
{
  struct tm_json *known = tm_json_get(step, key);
  if (known && known->type == TM_JSON_ARRAY && !known->tag)
    return known;
  struct tm_json *list = tm_json_new(TM_JSON_ARRAY);
  if (known && known->type != TM_JSON_NULL)
    tm_json_add(list, tm_json_copy(known));
  return tm_json_set(step, key, list);
}

/* `key`: of the ParallelRunConfig, which names what the step runs. */
static int add_step(struct tidemill_pipeline_step **out, struct tidemill_pipeline *p,
                    const char *name, const char *key, const char *path, struct tm_err *err)
{
  struct tm_json *steps, *step, *config;
  steps = tm_json_get(p->tree, "steps");
  if (tm_draft_has_step(p, name))
    return tm_err_set(err, TM_EUSAGE, "there is a step '%s' already", name);
  step = tagged("ParallelRunStep");
  config = tagged("ParallelRunConfig");
  tm_json_set(step, "name", tm_json_new_string(name));
  tm_json_set(config, key, tm_json_new_string(path));
  tm_json_set(step, "parallel_run_config", config);
  tm_json_set(step, "inputs", tm_json_new(TM_JSON_ARRAY));
  tm_json_set(step, "arguments", tm_json_new(TM_JSON_ARRAY));
  tm_json_add(steps, step);
  tm_draft_changed(p);
  if (out)
    *out = tm_draft_step(p, steps->list.len - 1);
  return 0;
}

int tidemill_pipeline_add_step(struct tidemill_pipeline_step **out, struct tidemill_pipeline *p,
                               const char *name, const char *entry_script, struct tm_err *err)
{
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_pipeline_add_step()", "p", p, "name", name, "entry_script",
              entry_script, NULL) < 0)
    return TM_EUSAGE;
  return add_step(out, p, name, "entry_script", entry_script, err);
}

int tidemill_pipeline_add_model_step(struct tidemill_pipeline_step **out,
                                     struct tidemill_pipeline *p, const char *name,
                                     const char *model, struct tm_err *err)
{
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_pipeline_add_model_step()", "p", p, "name", name, "model", model,
              NULL) < 0)
    return TM_EUSAGE;
  return add_step(out, p, name, "model", model, err);
}

/* ---- values ---- */

static struct tm_json *names_of(const char *text)
{
  struct tm_json *v = tm_json_new(TM_JSON_ARRAY);
  for (;; text++) {
    size_t n = strcspn(text, ",");
    tm_json_add(v, tm_json_new_bytes(text, n));
    text += n;
    if (!*text)
      return v;
  }
}

/* Adds "NAME=VALUE" to the known variables. */
static struct tm_json *variables_of(const struct tm_json *known, const char *text)
{
  const char *equal = strchr(text, '=');
  struct tm_json *v = known ? tm_json_copy(known) : tm_json_new(TM_JSON_OBJECT);
  char *name = tm_xstrndup(text, equal ? (size_t)(equal - text) : strlen(text));
  tm_json_set(v, name, tm_json_new_string(equal ? equal + 1 : ""));
  free(name);
  return v;
}

/* Reads "id=long,day=datetime"; a name may contain '='. NULL: the text does not have this form. */
static struct tm_json *pairs_of(const char *text)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  for (size_t n; *text; text += n + (text[n] == ',')) {
    n = strcspn(text, ",");
    size_t equal = n;
    while (equal > 0 && text[equal - 1] != '=')
      equal--;
    if (equal < 2) { /* no '=', or no name before it */
      tm_json_free(v);
      return NULL;
    }
    char *name = tm_xstrndup(text, equal - 1);
    tm_json_set(v, name, tm_json_new_bytes(text + equal, n - equal));
    free(name);
  }
  return v;
}

/* Reads the same as JSON, which can say more: {"day": {"type": "datetime", "formats":
 * ["%d.%m.%Y"]}}.
 */
static struct tm_json *types_of(const char *text)
{
  struct tm_json *v = *text == '{' ? tm_json_of(text) : pairs_of(text);
  return v ? v : tm_json_new_string(text);
}

static struct tm_json *value_of(const struct tm_field *f, const struct tm_json *known,
                                const char *text)
{
  bool is_true = strcmp(text, "true") == 0;
  if (f->type == TM_FIELD_NAMES)
    return names_of(text);
  if (f->type == TM_FIELD_VARIABLES)
    return variables_of(known, text);
  if (f->type == TM_FIELD_BOOL && (is_true || strcmp(text, "false") == 0))
    return tm_json_new_bool(is_true);
  if (f->type == TM_FIELD_TYPES)
    return types_of(text);
  return tm_json_new_string(text);
}

/* "--max-columns" */
static void add_option(struct tm_buf *out, const char *key)
{
  tm_buf_add_str(out, "--");
  for (const char *c = key; *c; c++)
    tm_buf_add_char(out, *c == '_' ? '-' : *c);
}

/* Refuses an unknown key, and suggests the nearest known one. */
static int refuse_key(const char *kind, const char *key, struct tm_err *err)
{
  struct tm_json *v = tagged(kind);
  tm_json_set(v, key, tm_json_new_string(""));
  int rc = tm_params_check(kind, v, err);
  tm_json_free(v);
  return rc < 0 ? rc : tm_err_set(err, TM_EUSAGE, "'%s' cannot be set", key);
}

/* Names the accepted types in the form of the command line. */
static void refuse_types(const char *option, const char *text, struct tm_err *err)
{
  tm_err_set(
      err, TM_EUSAGE,
      "'%s' is \"%s\"; accepted: NAME=TYPE,... with the types bool, long, double, string and "
      "datetime, or JSON: '{\"day\": {\"type\": \"datetime\", \"formats\": [\"%%d.%%m.%%Y\"]}}'",
      option, text);
}

/* Checks a value. For a command, the message names the option as the user gave it. */
static int check_value(bool is_command, const char *kind, const struct tm_field *f,
                       const struct tm_json *given, const char *text, struct tm_err *err)
{
  struct tm_field named = *f;
  struct tm_buf option = TM_BUF_NONE;
  add_option(&option, f->name);
  if (is_command)
    named.name = option.data;
  struct tm_json *settled = tm_params_value(&named, given, err);
  if (!settled && is_command && f->type == TM_FIELD_TYPES)
    refuse_types(option.data, text, err);
  tm_buf_release(&option);
  if (!settled)
    return is_command ? err->code : tm_err_wrap(err, "%s", kind);
  tm_json_free(settled); /* keeps the given value, as a definition does */
  return 0;
}

int tidemill_pipeline_step_set(struct tidemill_pipeline_step *s, const char *key, const char *value,
                               struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_pipeline_step_set()", "step", s, "key", key, "value", value, NULL) < 0)
    return TM_EUSAGE;
  struct tm_json *step = tm_draft_step_tree(s), *to, *given;
  bool is_command = s->pipeline->rt->is_command;
  const char *kind = "ParallelRunConfig";
  const struct tm_field *f = tm_params_find(kind, key);
  to = tm_json_get(step, "parallel_run_config");
  if (!f) {
    f = tm_params_find(kind = "ParallelRunStep", key);
    to = step;
  }
  if (!f || f->type == TM_FIELD_OBJECT || f->type == TM_FIELD_OBJECTS || f->type == TM_FIELD_LIST)
    return refuse_key("ParallelRunConfig", key, err);
  if (f->type == TM_FIELD_VARIABLES &&
      (!strchr(value, '=') || *value == '=')) /* does not show the value, which may be a secret */
    return is_command
               ? tm_err_set(err, TM_EUSAGE,
                            "'--environment-variables' is not of the form NAME=VALUE")
               : tm_err_set(err, TM_EUSAGE, "%s: '%s' is not of the form NAME=VALUE", kind, key);
  given = value_of(f, tm_json_get(to, key), value);
  if (check_value(is_command, kind, f, given, value, err) < 0) {
    tm_json_free(given);
    return err->code;
  }
  tm_json_set(to, key, given);
  return 0;
}

/* ---- inputs and arguments ---- */

/* Takes the dataset over. */
static int add_input(struct tidemill_pipeline_input **out, struct tidemill_pipeline_step *step,
                     struct tm_json *dataset, const char *name)
{
  tm_require(dataset->tag);
  struct tm_json *inputs = list_of(tm_draft_step_tree(step), "inputs");
  tm_json_set_text(dataset, "name", name);
  tm_json_add(inputs, dataset);
  if (out)
    *out = tm_draft_input(step, inputs->list.len - 1);
  return 0;
}

static int need(struct tidemill_pipeline_input **out, const char *call,
                const struct tidemill_pipeline_step *step, const char *name, const void *value,
                struct tm_err *err)
{
  if (out)
    *out = NULL;
  return tm_need(err, call, "step", step, name, value, NULL);
}

static int add_files(struct tidemill_pipeline_input **out, struct tidemill_pipeline_step *step,
                     const char *kind, const char *path, const char *name)
{
  struct tm_json *v = tagged("FileDataset");
  tm_json_set(v, "kind", tm_json_new_string(kind));
  tm_json_add(tm_json_set(v, "paths", tm_json_new(TM_JSON_ARRAY)), tm_json_new_string(path));
  return add_input(out, step, v, name);
}

int tidemill_pipeline_step_add_files(struct tidemill_pipeline_input **out,
                                     struct tidemill_pipeline_step *step, const char *path,
                                     const char *name, struct tm_err *err)
{
  int rc = need(out, "tidemill_pipeline_step_add_files()", step, "path", path, err);
  return rc < 0 ? rc : add_files(out, step, "files", path, name);
}

int tidemill_pipeline_step_add_archives(struct tidemill_pipeline_input **out,
                                        struct tidemill_pipeline_step *step, const char *path,
                                        const char *name, struct tm_err *err)
{
  int rc = need(out, "tidemill_pipeline_step_add_archives()", step, "path", path, err);
  return rc < 0 ? rc : add_files(out, step, "archives", path, name);
}

int tidemill_pipeline_step_add_manifest(struct tidemill_pipeline_input **out,
                                        struct tidemill_pipeline_step *step, const char *path,
                                        const char *name, struct tm_err *err)
{
  int rc = need(out, "tidemill_pipeline_step_add_manifest()", step, "path", path, err);
  return rc < 0 ? rc : add_files(out, step, "manifest", path, name);
}

int tidemill_pipeline_step_add_table(struct tidemill_pipeline_input **out,
                                     struct tidemill_pipeline_step *step, const char *path,
                                     const char *name, struct tm_err *err)
{
  int rc = need(out, "tidemill_pipeline_step_add_table()", step, "path", path, err);
  return rc < 0 ? rc : add_input(out, step, tm_plan_table(&path, 1), name);
}

int tidemill_pipeline_set_working_dir(struct tidemill_pipeline *p, const char *dir,
                                      struct tm_err *err)
{
  static const char call[] = "tidemill_pipeline_set_working_dir()";
  err = TM_ERR_OWN(err);
  if (tm_need(err, call, "p", p, "dir", dir, NULL) < 0)
    return TM_EUSAGE;
  if (!p->is_built)
    return tm_err_set(err, TM_EUSAGE, "%s: pipeline '%s' was not made by tidemill_pipeline_new()",
                      call, tidemill_pipeline_name(p));
  char *cwd = tm_api_here(err);
  if (!cwd)
    return err->code;
  free(p->working_dir);
  p->working_dir = tm_path_absolute(cwd, dir);
  tm_draft_changed(p);
  free(cwd);
  return 0;
}

int tidemill_pipeline_step_add_output_of(struct tidemill_pipeline_input **out,
                                         struct tidemill_pipeline_step *step,
                                         struct tidemill_pipeline_step *from, const char *name,
                                         struct tm_err *err)
{
  static const char call[] = "tidemill_pipeline_step_add_output_of()";
  if (need(out, call, step, "from", from, err) < 0)
    return TM_EUSAGE;
  if (from == step || from->pipeline != step->pipeline)
    return tm_err_set(err, TM_EUSAGE, "%s: `from` is %s", call,
                      from == step ? "the step itself" : "a step of another pipeline");
  struct tm_json *tree = tm_draft_step_tree(from), *output = tm_json_get(tree, "output"), *v;
  if (!output) {
    output = tm_json_set(tree, "output", tagged("OutputFileDatasetConfig"));
    tm_json_set(output, "name", tm_json_new_string(tm_json_str(tree, "name", "")));
    output->id = (int64_t)from->at + 1; /* identifies it wherever it is used */
  }
  v = tagged("FileDataset");
  tm_json_set(v, "kind", tm_json_new_string("files"));
  tm_json_set(v, "output", tm_json_copy(output));
  return add_input(out, step, v, name);
}

int tidemill_pipeline_step_input(struct tidemill_pipeline_input **out,
                                 struct tidemill_pipeline_step *step, size_t i, struct tm_err *err)
{
  static const char call[] = "tidemill_pipeline_step_input()";
  if (need(out, call, step, "out", out, err) < 0)
    return TM_EUSAGE;
  size_t n = list_of(tm_draft_step_tree(step), "inputs")->list.len;
  if (i >= n)
    return tm_err_set(err, TM_EUSAGE, "%s: there is no input %zu; the step has %zu", call, i, n);
  *out = tm_draft_input(step, i);
  return 0;
}

static struct tm_json *tree_of(struct tidemill_pipeline_input *input)
{
  const struct tm_json *inputs = list_of(tm_draft_step_tree(input->step), "inputs");
  tm_require(input->at < inputs->list.len); /* inputs are only added */
  return inputs->list.at[input->at];
}

int tidemill_pipeline_input_add_path(struct tidemill_pipeline_input *input, const char *path,
                                     struct tm_err *err)
{
  static const char call[] = "tidemill_pipeline_input_add_path()";
  if (tm_need(err, call, "input", input, "path", path, NULL) < 0)
    return TM_EUSAGE;
  struct tm_json *paths = tm_json_get(tree_of(input), "paths");
  if (!paths || paths->type != TM_JSON_ARRAY || paths->tag)
    return tm_err_set(err, TM_EUSAGE,
                      "%s: the input has no paths of its own: it is what another step writes, or a "
                      "parameter",
                      call);
  tm_json_add(paths, tm_json_new_string(path));
  return 0;
}

static int set_limit(struct tm_json *input, const char *value, struct tm_err *err)
{
  int64_t limit = 0;
  if (!tm_text_int(value, &limit) || limit < 1)
    return tm_err_set(err, TM_EUSAGE, "'limit' is \"%s\"; accepted: an integer from 1 on", value);
  tm_json_set(input, "limit", tm_json_new_int(limit));
  return 0;
}

/* Returns where an option belongs: beside the paths for any kind of input, or in the constructor's
 * own options. */
static struct tm_json *place_of(struct tm_json *input, const char *key)
{
  static const char *const beside[] = { "on_unreadable", "partition_format", "null_separated" };
  for (size_t i = 0; i < TM_COUNT_OF(beside); i++)
    if (strcmp(key, beside[i]) == 0)
      return input;
  struct tm_json *options = tm_json_get(input, "options");
  return options ? options : tm_json_set(input, "options", tm_json_new(TM_JSON_OBJECT));
}

int tidemill_pipeline_input_set(struct tidemill_pipeline_input *input, const char *key,
                                const char *value, struct tm_err *err)
{
  static const char call[] = "tidemill_pipeline_input_set()";
  err = TM_ERR_OWN(err);
  if (tm_need(err, call, "input", input, "key", key, "value", value, NULL) < 0)
    return TM_EUSAGE;
  struct tm_json *tree = tree_of(input);
  bool is_command = input->step->pipeline->rt->is_command;
  return strcmp(key, "limit") == 0 ? set_limit(tree, value, err)
                                   : tm_api_set_input(tree, key, value, is_command, err);
}

/* Sets the format, which the name of the first file decides by default. Drops the options that are
 * set, so a caller sets the format first. */
static int set_format(struct tm_json *input, const char *value, struct tm_err *err)
{
  const char *kind = tm_dataset_constructor(input);
  bool is_json = strcmp(value, "jsonl") == 0, is_tsv = strcmp(value, "tsv") == 0;
  if (strcmp(kind, DELIMITED) != 0 && strcmp(kind, JSON_LINES) != 0)
    return tm_err_set(err, TM_EUSAGE, "'format' goes with tables");
  if (!is_json && !is_tsv && strcmp(value, "csv") != 0)
    return tm_err_set(err, TM_EUSAGE, "'format' is \"%s\"; accepted: csv, tsv, jsonl", value);
  tm_json_set(input, "kind", tm_json_new_string(is_json ? "json_lines" : "delimited"));
  struct tm_json *options = tm_json_set(input, "options", tm_json_new(TM_JSON_OBJECT));
  if (is_tsv)
    tm_json_set(options, "separator", tm_json_new_string("\\t"));
  return 0;
}

/* Refuses an option of the other kind of table: a command accepts the options of both kinds. */
static int refuse_other_kind(const struct tm_json *input, const char *kind, const char *key,
                             struct tm_err *err)
{
  bool is_json = strcmp(kind, JSON_LINES) == 0;
  const struct tm_json *paths = tm_json_get(input, "paths");
  const char *first = tm_json_items(paths) > 0 ? paths->list.at[0]->string.at : "";
  struct tm_buf option = TM_BUF_NONE;
  add_option(&option, key);
  tm_err_set(err, TM_EUSAGE,
             "'%s' goes with %s, and '%s' is read as %s; --input-format says otherwise",
             option.data, is_json ? "CSV" : "JSON lines", first, is_json ? "JSON lines" : "CSV");
  tm_buf_release(&option);
  return TM_EUSAGE;
}

int tm_api_set_input(struct tm_json *input, const char *key, const char *value, bool is_command,
                     struct tm_err *err)
{
  const char *kind = tm_dataset_constructor(input);
  const struct tm_field *f = tm_params_find(kind, key);
  if (strcmp(key, "format") == 0)
    return set_format(input, value, err);
  const char *other = strcmp(kind, DELIMITED) == 0    ? JSON_LINES
                      : strcmp(kind, JSON_LINES) == 0 ? DELIMITED
                                                      : NULL;
  if (!f && is_command && other && tm_params_find(other, key))
    return refuse_other_kind(input, kind, key, err);
  if (!f)
    return refuse_key(kind, key, err);
  struct tm_json *given = value_of(f, NULL, value);
  if (check_value(is_command, kind, f, given, value, err) < 0) {
    tm_json_free(given);
    return err->code;
  }
  tm_json_set(place_of(input, key), key, given);
  return 0;
}

int tidemill_pipeline_step_add_argument(struct tidemill_pipeline_step *step, const char *text,
                                        struct tm_err *err)
{
  if (tm_need(err, "tidemill_pipeline_step_add_argument()", "step", step, "text", text, NULL) < 0)
    return TM_EUSAGE;
  tm_json_add(list_of(tm_draft_step_tree(step), "arguments"), tm_json_new_string(text));
  return 0;
}

/* ---- scripts as text ---- */

/* Returns <workspace>/scripts/<hash>/<name>; makes the folder. The caller frees it. */
static char *script_place(const struct tidemill_pipeline *p, const char *path, const char *text,
                          struct tm_err *err)
{
  char *workspace = tm_runtime_workspace(p->rt, p->file, err), *dir, *place = NULL;
  if (!workspace)
    return NULL;
  dir = tm_xprintf("%s/scripts/%016" PRIx64, workspace, tm_hash64(text, strlen(text)));
  if (tm_fs_make_dirs(p->rt->fs, dir, 0700, err) == 0)
    place = tm_path_join(dir, tm_path_base(path));
  free(dir);
  free(workspace);
  return place;
}

/* Replaces `path` in the steps that name it, and returns how many they are. `place` NULL: only
 * counts them. */
static size_t use_script(struct tidemill_pipeline *p, const char *path, const char *place)
{
  size_t n = 0;
  const struct tm_json *steps = tm_json_get(p->tree, "steps");
  if (place)
    tm_draft_changed(p);
  for (size_t i = 0; steps && i < steps->list.len; i++) {
    struct tm_json *config = tm_json_get(steps->list.at[i], "parallel_run_config");
    if (!config || strcmp(tm_json_str(config, "entry_script", ""), path) != 0)
      continue;
    n++;
    tm_json_set_text(config, "entry_script", place);
  }
  return n;
}

int tidemill_pipeline_set_script(struct tidemill_pipeline *p, const char *path, const char *text,
                                 struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  static const char call[] = "tidemill_pipeline_set_script()";
  if (tm_need(err, call, "p", p, "path", path, "text", text, NULL) < 0)
    return TM_EUSAGE;
  if (use_script(p, path, NULL) == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "%s: no step so far has the entry script '%s'; add the step first", call,
                      path);
  char *place = script_place(p, path, text, err);
  int rc = place ? tm_fs_write_file(p->rt->fs, place, text, strlen(text), 0600, err) : err->code;
  if (rc >= 0)
    use_script(p, path, place);
  free(place);
  return rc < 0 ? rc : 0;
}
