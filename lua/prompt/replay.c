/* replay.c - see replay.h.
 *
 *   job.json -> struct tm_step, its script copied        \
 *   manifest -> the items, checked                        > struct tm_setup, struct tm_run_call
 *   pipeline file -> variables, if it still names them   /
 *
 *  (1) The job is not changed: the script is copied once more, and an argument that is the folder
 *      of an output of the step is replaced by an empty folder. No lock is taken. A job that is
 *      running is refused, because its files grow.
 *  (2) The limits are those of the job: worker_memory_limit for Lua, run_invocation_timeout and
 *      init_timeout.
 *  (3) A job does not keep the values of environment variables. They are those of the pipeline file
 *      if it still names the same variables (their hash is kept), otherwise those of this terminal,
 *      with a message.
 */
#include "prompt/replay.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "data/item.h"
#include "outputs/input_staging.h"
#include "plan/pipeline.h"
#include "plan/read.h"
#include "plan/settings.h"
#include "record/job_record.h"
#include "record/owner.h"
#include "runtime.h"
#include "step/worker_setup.h"
#include "store/workspace.h"

static void say(const struct tm_replay *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const struct tm_replay *a, const char *fmt, ...)
{
  struct tm_buf words = TM_BUF_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(&words, fmt, ap);
  va_end(ap);
  if (a->say)
    a->say(a->data, tm_buf_str(&words));
  tm_buf_release(&words);
}

static const struct tm_json *setting(const struct tm_json *definition, const char *name)
{
  return tm_json_get(tm_json_get(tm_json_get(definition, "settings"), name), "value");
}

static char *text_setting(const struct tm_json *definition, const char *name)
{
  const struct tm_json *v = setting(definition, name);
  return v && v->type == TM_JSON_STRING ? tm_xstrdup(v->string.at) : NULL;
}

/* ---- the step, from the job's record ---- */

static void add_inputs(struct tm_step *s, const struct tm_json *inputs)
{
  size_t n = tm_json_items(inputs);
  s->inputs = tm_xcalloc(n + 1, sizeof(*s->inputs));
  for (; s->inputs_len < n; s->inputs_len++) {
    s->inputs[s->inputs_len] = TM_NEW(struct tm_dataset);
    s->inputs[s->inputs_len]->name =
        tm_xstrdup(tm_json_str(inputs->list.at[s->inputs_len], "name", NULL));
  }
}

static void add_outputs(struct tm_step *s, const struct tm_json *outputs)
{
  size_t n = tm_json_items(outputs);
  s->outputs = tm_xcalloc(n + 1, sizeof(*s->outputs));
  for (; s->outputs_len < n; s->outputs_len++)
    s->outputs[s->outputs_len].name =
        tm_xstrdup(tm_json_str(outputs->list.at[s->outputs_len], "name", NULL));
}

/* "--name", "value" for each setting that came from the arguments. */
static void add_runner_arguments(struct tm_step *s, const struct tm_json *settings)
{
  s->runner_arguments = tm_xcalloc(2 * settings->list.len + 1, sizeof(char *));
  for (size_t i = 0; i < settings->list.len; i++) {
    const struct tm_json *v = tm_json_get(settings->list.at[i], "value");
    struct tm_buf value = TM_BUF_NONE;
    if (strcmp(tm_json_str(settings->list.at[i], "origin", ""), "argument") != 0)
      continue;
    if (v && v->type == TM_JSON_STRING)
      tm_buf_add_str(&value, v->string.at);
    else if (v)
      tm_json_write(&value, v, (struct tm_json_style) { 0 });
    s->runner_arguments[s->runner_arguments_len++] = tm_xprintf("--%s", settings->keys[i]);
    s->runner_arguments[s->runner_arguments_len++] = tm_buf_take(&value);
  }
}

static struct tm_step *read_step(const struct tm_json *record, const struct tm_json *definition)
{
  const struct tm_json *settings = tm_json_get(definition, "settings");
  struct tm_step *s = TM_NEW(struct tm_step);
  s->name = tm_xstrdup(tm_json_str(record, "name", ""));
  s->working_dir = tm_xstrdup(tm_json_str(definition, "working_dir", NULL));
  s->config.entry_script = text_setting(definition, "entry_script");
  s->config.source_directory = text_setting(definition, "source_directory");
  tm_config_read(&s->config, settings);
  add_inputs(s, tm_json_get(definition, "inputs"));
  add_outputs(s, tm_json_get(definition, "outputs"));
  if (settings && settings->type == TM_JSON_OBJECT)
    add_runner_arguments(s, settings);
  return s;
}

/* ---- the choice of the mini-batch ---- */

static int refuse_step(const struct tm_json *steps, const char *given, struct tm_err *err)
{
  struct tm_buf names = TM_BUF_NONE;
  for (size_t i = 0; i < steps->list.len; i++)
    tm_buf_printf(&names, "%s'%s'", i > 0 ? ", " : "", tm_json_str(steps->list.at[i], "name", ""));
  if (given)
    tm_err_set(err, TM_EUSAGE, "the job has no step '%s'; accepted: %s", given, tm_buf_str(&names));
  else
    tm_err_set(err, TM_EUSAGE, "the job has several steps; '--step' says which: %s",
               tm_buf_str(&names));
  tm_buf_release(&names);
  return TM_EUSAGE;
}

static int find_step(struct tm_replay *a, const char *given, struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(a->record, "steps"), *step = NULL;
  if (tm_json_items(steps) == 0)
    return tm_err_set(err, TM_EDAMAGE, "'%s/job.json' is damaged: it has no list of steps", a->dir);
  if (given)
    step = tm_job_record_step(a->record, given);
  else if (steps->list.len == 1)
    step = steps->list.at[0];
  if (!step)
    return refuse_step(steps, given, err);
  a->definition = tm_json_get(step, "definition");
  a->step = read_step(step, a->definition);
  if (!*a->step->name || !a->step->config.entry_script)
    return tm_err_set(err, TM_EDAMAGE, "'%s/job.json' is damaged: a step has no name or settings",
                      a->dir);
  return 0;
}

static int refuse_running(const struct tm_replay *a, struct tm_err *err)
{
  int64_t pid;
  char *host;
  if (a->is_over)
    return 0;
  if (tm_owner_is_running(a->dir, &pid, &host))
    tm_err_set(err, TM_EINUSE,
               "job '%s' is running, by pid %" PRId64
               " on host %s; its mini-batches can be run again when it has ended",
               a->dir, pid, host);
  free(host);
  return err->code;
}

/* Reports items that are gone, or have changed since the job listed them. */
static int check_items(const struct tm_replay *a, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_reader reader;
  struct tm_item item;
  int64_t gone = 0, changed = 0;
  char *first = NULL;
  tm_reader_init(&reader, tm_buf_str(&a->found.bytes), a->found.bytes.len);
  while (tm_item_next(&reader, &item)) {
    struct tm_stat st;
    char *path = tm_xstrndup(item.path, tm_item_file_len(&item));
    bool is_gone = fs->stat(fs->self, path, true, &st) < 0;
    if (is_gone && item.size < 0)
      say(a, "input '%s' does not exist; it was not checked when it was listed", path);
    else if (is_gone && ++gone == 1)
      first = tm_xstrdup(path);
    else if (!is_gone && item.size >= 0)
      changed += st.size != item.size || st.mtime_ns != item.mtime_ns;
    free(path);
  }
  if (gone > 0)
    tm_err_set(err, TM_ECHANGED,
               "mini-batch %" PRId64 " cannot be run again: %" PRId64
               " of its %u inputs %s gone, the first is '%s'",
               a->index, gone, a->found.items, tm_text_counted(gone, "is", "are"), first);
  else if (changed > 0)
    say(a, "%" PRId64 " of the %u inputs %s changed since the list was made", changed,
        a->found.items, tm_text_counted(changed, "has", "have"));
  free(first);
  return err->code;
}

static int find(struct tm_replay *a, const char *step, struct tm_err *err)
{
  int rc;
  tm_require(!a->record && a->index >= 0);
  a->record = tm_job_record_load(a->dir, err);
  if (!a->record || (rc = find_step(a, step, err)) < 0 || (rc = refuse_running(a, err)) < 0)
    return err->code;
  char *path = tm_xprintf("%s/%s/state/manifest", a->dir, a->step->name);
  rc = tm_manifest_pick(&a->found, path, (uint64_t)a->index, err);
  free(path);
  return rc < 0 ? tm_err_wrap(err, "step '%s' of job '%s'", a->step->name, a->dir)
                : check_items(a, err);
}

/* ---- the script and its arguments ---- */

/* Keeps (1). */
static int copy_script(struct tm_replay *a, const char *root, struct tm_err *err)
{
  const char *hash = tm_json_str(a->definition, "snapshot_hash", "");
  char *dir = tm_xprintf("%s/script/%s", a->dir, a->step->name), found[17] = "";
  struct tm_config now = { .source_directory = dir,
                           .entry_script = tm_snapshot_script(&a->step->config, dir) };
  char *to = tm_path_join(root, "script");
  int rc = tm_snapshot_hash_dir(tm_fs_real(), dir, found, err);
  if (rc >= 0 && !tm_fs_exists(tm_fs_real(), now.entry_script))
    rc = tm_err_set(err, TM_EDAMAGE, "there is no file '%s'", now.entry_script);
  if (rc < 0)
    tm_err_wrap(err, "the job's copy of its script is gone");
  else if (strcmp(found, hash) !=
           0) /* its workers may have written there: it is their current directory */
    say(a,
        "the job's copy of its script, '%s', is not as it was when the job began; it is run as "
        "it is",
        dir);
  if (rc >= 0)
    rc = tm_snapshot_take(tm_fs_real(), &now, NULL, to, &a->copy, err);
  free(now.entry_script);
  free(dir);
  free(to);
  return rc;
}

/* The output of the step with this path in the job's directory, or NULL. */
static const struct tm_json *find_output(const struct tm_replay *a, const char *path)
{
  const struct tm_json *outputs = tm_json_get(a->definition, "outputs");
  for (size_t i = 0; i < tm_json_items(outputs); i++)
    if (strcmp(tm_json_str(outputs->list.at[i], "folder", ""), path) == 0)
      return outputs->list.at[i];
  return NULL;
}

/* Adds an argument: a text, or a path in the job's directory. A path that the step writes to
 * becomes one below `root`. Keeps (1).
 */
static int add_argument(struct tm_replay *a, const struct tm_json *v, const char *root,
                        struct tm_err *err)
{
  struct tm_step *s = a->step;
  const char *path = tm_json_str(v, "path", NULL);
  if (v->type == TM_JSON_STRING)
    s->arguments[s->arguments_len++] = tm_xstrdup(v->string.at);
  if (!path)
    return 0;
  const struct tm_json *output = find_output(a, path);
  char *place = tm_path_join(output ? root : a->dir, output ? tm_path_base(path) : path);
  s->arguments[s->arguments_len++] = place;
  if (!output)
    return 0;
  s->paths[s->paths_len++] = (struct tm_step_path) { .at = s->arguments_len - 1 };
  say(a, "the folder of output '%s' is '%s'", tm_json_str(output, "name", ""), place);
  return tm_fs_make_dirs(tm_fs_real(), place, 0777, err);
}

static int read_arguments(struct tm_replay *a, const char *root, struct tm_err *err)
{
  const struct tm_json *arguments = tm_json_get(a->definition, "arguments");
  size_t n = tm_json_items(arguments);
  int rc = 0;
  tm_require(!a->step->arguments && !a->step->paths);
  a->step->arguments = tm_xcalloc(n + 1, sizeof(char *));
  a->step->paths = tm_xcalloc(n + 1, sizeof(*a->step->paths));
  for (size_t i = 0; i < n && rc >= 0; i++)
    rc = add_argument(a, arguments->list.at[i], root, err);
  return rc;
}

static void fill_setup(struct tm_replay *a, struct tm_setup *setup)
{
  const struct tm_json *inputs = tm_json_get(a->definition, "inputs");
  tm_require(a->copy.script && a->copy.dir && !a->schema_file);
  a->schema_file = tm_xprintf("%s/%s/state/schema.json", a->dir, a->step->name);
  a->index_dir = tm_workspace_index_dir(a->dir, a->step->name);
  tm_setup_of_step(setup, a->step); /* keeps (2) */
  free(setup->tables);
  setup->tables = inputs ? tm_json_text(inputs) : tm_xstrdup("");
  setup->schema_file = a->schema_file;
  setup->index_dir = a->index_dir;
  setup->script = a->copy.script;
  setup->script_dir = a->copy.dir;
}

/* ---- variables: (3) ---- */

/* Loads the present pipeline file with the parameters of the job. NULL: it cannot be loaded. */
static struct tm_pipeline *load_pipeline(const struct tm_replay *a, const char *file)
{
  const struct tm_json *params = tm_json_get(a->record, "params");
  struct TM_ARRAY(struct tm_param) given = { 0 };
  for (size_t i = 0; params && params->type == TM_JSON_OBJECT && i < params->list.len; i++)
    if (params->list.at[i]->type != TM_JSON_NULL)
      *TM_ARRAY_ADD(&given) = (struct tm_param) { .name = params->keys[i],
                                                  .tree = params->list.at[i],
                                                  .origin = "the job's record" };
  struct tm_lua_piece piece = {
    .name = file, .modules = a->modules, .prepare = a->prepare, .data = a->host
  };
  struct tm_json *tree = tm_lua_load_piece(&piece, NULL);
  struct tm_pipeline *p =
      tree ? tm_pipeline_from_json(tree, file, given.at, given.len, false, NULL) : NULL;
  tm_json_free(tree);
  TM_ARRAY_RELEASE(&given);
  return p;
}

/* The step in the pipeline, if it still has the job's variables. */
static const struct tm_step *find_definition(const struct tm_replay *a, const struct tm_pipeline *p)
{
  static const char environment[] = "environment", variables[] = "environment_variables";
  for (size_t i = 0; p && i < p->steps_len; i++) {
    const struct tm_step *s = p->steps[i];
    if (strcmp(s->name, a->step->name) == 0 &&
        tm_json_is_equal(setting(s->effective, environment), setting(a->definition, environment)) &&
        tm_json_is_equal(setting(s->effective, variables), setting(a->definition, variables)))
      return s;
  }
  return NULL;
}

static bool has_variables(const struct tm_replay *a)
{
  return setting(a->definition, "environment") || setting(a->definition, "environment_variables");
}

/* The variables are not kept with the job. The file may end the process, so this comes before
 * folders are made. */
static void find_pipeline(struct tm_replay *a)
{
  const char *file = tm_json_str(a->record, "pipeline", NULL);
  if (has_variables(a) && file && tm_fs_exists(tm_fs_real(), file))
    a->pipeline = load_pipeline(a, file);
}

/* Takes the variables of the pipeline file. Whether it still has those of the job. */
static bool take_variables(struct tm_replay *a)
{
  const struct tm_step *s = find_definition(a, a->pipeline);
  if (s)
    a->variables = tm_snapshot_environment(&s->config, a->copy.dir);
  return s != NULL;
}

static void add_names(struct tm_buf *set, struct tm_buf *unset, const struct tm_json *variables)
{
  const struct tm_json *names = tm_json_get(variables, "names");
  for (size_t i = 0; i < tm_json_items(names); i++) {
    if (names->list.at[i]->type != TM_JSON_STRING)
      continue;
    struct tm_buf *to = getenv(names->list.at[i]->string.at) ? set : unset;
    tm_buf_printf(to, "%s%s", to->len > 0 ? ", " : "", names->list.at[i]->string.at);
  }
}

static void find_variables(struct tm_replay *a)
{
  const struct tm_json *environment = setting(a->definition, "environment");
  const struct tm_json *variables = setting(a->definition, "environment_variables");
  struct tm_buf set = TM_BUF_NONE, unset = TM_BUF_NONE;
  if (!has_variables(a) || take_variables(a))
    return;
  add_names(&set, &unset, tm_json_get(environment, "variables"));
  add_names(&set, &unset, variables);
  const struct tm_json *paths = tm_json_get(environment, "module_paths");
  if (tm_json_items(paths) > 0)
    tm_buf_printf(&unset, "%smodule_paths", unset.len > 0 ? ", " : "");
  say(a,
      "the job's environment is not kept with it, and its pipeline file does not have it any "
      "more: %s%s%s%s%s",
      set.len > 0 ? "taken from here: " : "", tm_buf_str(&set),
      set.len > 0 && unset.len > 0 ? "; " : "", unset.len > 0 ? "not set: " : "",
      tm_buf_str(&unset));
  tm_buf_release(&set);
  tm_buf_release(&unset);
}

void tm_replay_set_variables(const struct tm_replay *a)
{
  for (char *const *v = a->variables; v && *v; v++) {
    char *name = tm_xstrndup(*v, strcspn(*v, "="));
    setenv(name, *v + strlen(name) + 1, 1);
    free(name);
  }
}

static int link_places(struct tm_replay *a, struct tm_err *err)
{
  const struct tm_json *places = tm_json_get(a->definition, "places");
  int rc = 0;
  for (size_t i = 0; i < tm_json_items(places); i++) {
    const char *path = tm_json_str(places->list.at[i], "path", ""),
               *folder = tm_json_str(places->list.at[i], "folder", "");
    char *whole = tm_path_join(a->dir, folder);
    rc = tm_input_staging_link(tm_fs_real(), whole, path, err);
    if (rc == 0)
      *TM_ARRAY_ADD(&a->links) = (struct tm_replay_link) { whole, path };
    else
      free(whole);
    if (rc < 0)
      return rc;
  }
  return 0;
}

static int prepare(struct tm_replay *a, const char *root, struct tm_err *err)
{
  tm_require(root[0] == '/' && a->step && !a->copy.dir);
  int rc = copy_script(a, root, err);
  if (rc >= 0)
    rc = read_arguments(a, root, err);
  if (rc < 0)
    return rc;
  find_variables(a);
  return link_places(a, err);
}

int tm_replay_open(struct tm_replay *a, const char *step, const char *kind,
                   struct tm_script_folders *folders, struct tm_setup *setup, struct tm_err *err)
{
  int rc = find(a, step, err);
  if (rc >= 0)
    find_pipeline(a);
  if (rc >= 0)
    rc = tm_script_folders_make(folders, kind, err);
  if (rc >= 0)
    rc = prepare(a, folders->root, err);
  if (rc < 0)
    return rc;
  fill_setup(a, setup);
  tm_script_folders_give(folders, setup);
  return 0;
}

/* ---- the mini-batch ---- */

static bool is_of_rows(const struct tm_run_call *call)
{
  struct tm_reader r;
  struct tm_item item;
  tm_reader_init(&r, call->bytes, call->bytes_len);
  return tm_item_next(&r, &item) && item.is_rows;
}

int tm_replay_call(const struct tm_replay *a, struct tm_run_call *call, struct tm_trial *trial,
                   struct tm_err *err)
{
  const struct tm_setup *setup = &trial->setup;
  *call = (struct tm_run_call) { .index = (uint64_t)a->index,
                                 .seq = 1,
                                 .try = 1,
                                 .dataset = a->found.dataset < setup->datasets_len
                                                ? setup->datasets[a->found.dataset]
                                                : "",
                                 .dataset_number = a->found.dataset,
                                 .items = a->found.items,
                                 .first_row = -1,
                                 .bytes = tm_buf_str(&a->found.bytes),
                                 .bytes_len = a->found.bytes.len };
  if (!is_of_rows(call))
    return 0;
  tm_items_open_tables(&trial->loader, setup);
  return tm_items_load_rows(&trial->loader, call, err);
}

const char *tm_replay_working_dir(const struct tm_replay *a)
{
  return a->step->working_dir ? a->step->working_dir : a->copy.dir;
}

/* Removes the script's folder unless the script wrote to it: it is the current directory of the
 * script. */
static void leave_script(struct tm_replay *a)
{
  char hash[17] = "";
  if (!a->copy.dir)
    return;
  if (tm_snapshot_hash_dir(tm_fs_real(), a->copy.dir, hash, NULL) >= 0 &&
      strcmp(hash, a->copy.hash) == 0)
    tm_tree_remove(a->copy.dir, NULL);
  else
    say(a, "the script has changed files in its folder; they are in '%s'", a->copy.dir);
}

void tm_replay_release(struct tm_replay *a)
{
  leave_script(a);
  for (size_t i = 0; a->step && i < a->step->paths_len; i++)
    rmdir(a->step->arguments[a->step->paths[i].at]); /* keeps a folder that is not empty */
  for (size_t i = 0; i < a->links.len; i++) {
    tm_input_staging_unlink(tm_fs_real(), a->links.at[i].folder, a->links.at[i].path);
    free(a->links.at[i].folder);
  }
  TM_ARRAY_RELEASE(&a->links);
  free(a->schema_file);
  free(a->index_dir);
  tm_snapshot_release(&a->copy);
  tm_manifest_found_release(&a->found);
  tm_snapshot_free_environment(a->variables);
  tm_pipeline_free(a->pipeline);
  tm_step_free(a->step);
  tm_json_free(a->record);
  free(a->dir);
}
