/* again.c - see again.h.
 *
 *   job.json -> step -> its copy of the script, copied   \
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
#include "prompt/again.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "data/item.h"
#include "outputs/intake.h"
#include "plan/pipeline.h"
#include "plan/read.h"
#include "plan/settings.h"
#include "record/job_record.h"
#include "record/owner.h"
#include "runtime.h"

static void say(const struct tm_again *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const struct tm_again *a, const char *fmt, ...)
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

static const struct tm_json *setting(const struct tm_json *settings, const char *name)
{
  return tm_json_get(tm_json_get(settings, name), "value");
}

static const char *text_setting(const struct tm_again *a, const char *name, const char *otherwise)
{
  return tm_json_str(tm_json_get(a->settings, name), "value", otherwise);
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

static int find_step(struct tm_again *a, const char *given, struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(a->record, "steps");
  if (tm_json_items(steps) == 0)
    return tm_err_set(err, TM_EDAMAGE, "'%s/job.json' is damaged: it has no list of steps", a->dir);
  if (given)
    a->step = tm_job_record_step(a->record, given);
  else if (steps->list.len == 1)
    a->step = steps->list.at[0];
  if (!a->step)
    return refuse_step(steps, given, err);
  a->step_name = tm_json_str(a->step, "name", "");
  a->definition = tm_json_get(a->step, "definition");
  a->settings = tm_json_get(a->definition, "settings");
  if (!*a->step_name || !a->settings || !text_setting(a, "entry_script", NULL))
    return tm_err_set(err, TM_EDAMAGE, "'%s/job.json' is damaged: a step has no name or settings",
                      a->dir);
  return 0;
}

static int refuse_running(const struct tm_again *a, struct tm_err *err)
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
static int check_items(const struct tm_again *a, struct tm_err *err)
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

int tm_again_find(struct tm_again *a, const char *step, struct tm_err *err)
{
  int rc;
  a->record = tm_job_record_load(a->dir, err);
  if (!a->record || (rc = find_step(a, step, err)) < 0 || (rc = refuse_running(a, err)) < 0)
    return err->code;
  char *path = tm_xprintf("%s/%s/state/manifest", a->dir, a->step_name);
  rc = tm_manifest_pick(&a->found, path, (uint64_t)a->index, err);
  free(path);
  return rc < 0 ? tm_err_wrap(err, "step '%s' of job '%s'", a->step_name, a->dir)
                : check_items(a, err);
}

/* ---- the script and its arguments ---- */

/* Keeps (1). */
static int copy_script(struct tm_again *a, const char *root, struct tm_err *err)
{
  struct tm_config was = { .entry_script = (char *)text_setting(a, "entry_script", ""),
                           .source_directory = (char *)text_setting(a, "source_directory", NULL) };
  const char *hash = tm_json_str(a->definition, "snapshot_hash", "");
  char *dir = tm_xprintf("%s/script/%s", a->dir, a->step_name), found[17] = "";
  struct tm_config now = { .source_directory = dir, .entry_script = tm_snapshot_script(&was, dir) };
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

static void add_owned(struct tm_again *a, char *text)
{
  *TM_ARRAY_ADD(&a->owned) = text;
}

/* The output of the step with this path in the job's directory, or NULL. */
static const struct tm_json *find_output(const struct tm_again *a, const char *path)
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
static int add_argument(struct tm_again *a, const struct tm_json *v, const char *root,
                        struct tm_err *err)
{
  const char *path = tm_json_str(v, "path", NULL);
  if (v->type == TM_JSON_STRING)
    *TM_ARRAY_ADD(&a->arguments) = v->string.at;
  if (!path)
    return 0;
  const struct tm_json *output = find_output(a, path);
  const char *name = strrchr(path, '/');
  char *place = tm_path_join(output ? root : a->dir, output && name ? name + 1 : path);
  add_owned(a, place);
  *TM_ARRAY_ADD(&a->arguments) = place;
  if (!output)
    return 0;
  *TM_ARRAY_ADD(&a->folders) = place;
  say(a, "the folder of output '%s' is '%s'", tm_json_str(output, "name", ""), place);
  return tm_fs_make_dirs(tm_fs_real(), place, 0777, err);
}

static int read_arguments(struct tm_again *a, const char *root, struct tm_err *err)
{
  const struct tm_json *arguments = tm_json_get(a->definition, "arguments");
  int rc = 0;
  for (size_t i = 0; i < tm_json_items(arguments) && rc >= 0; i++)
    rc = add_argument(a, arguments->list.at[i], root, err);
  return rc;
}

static void read_words(struct tm_again *a)
{
  const struct tm_json *inputs = tm_json_get(a->definition, "inputs"),
                       *outputs = tm_json_get(a->definition, "outputs");
  for (size_t i = 0; i < tm_json_items(inputs); i++)
    *TM_ARRAY_ADD(&a->datasets) = (char *)tm_json_str(inputs->list.at[i], "name", "");
  for (size_t i = 0; i < tm_json_items(outputs); i++)
    *TM_ARRAY_ADD(&a->outputs) = (char *)tm_json_str(outputs->list.at[i], "name", "");
  for (size_t i = 0; i < a->settings->list.len; i++) {
    if (strcmp(tm_json_str(a->settings->list.at[i], "origin", ""), "argument") != 0)
      continue;
    struct tm_buf value = TM_BUF_NONE;
    const struct tm_json *v = tm_json_get(a->settings->list.at[i], "value");
    if (v && v->type == TM_JSON_STRING)
      tm_buf_add_str(&value, v->string.at);
    else if (v)
      tm_json_write(&value, v, (struct tm_json_style) { 0 });
    add_owned(a, tm_xprintf("--%s", a->settings->keys[i]));
    *TM_ARRAY_ADD(&a->runner_arguments) = a->owned.at[a->owned.len - 1];
    tm_buf_add_str(&value, "");
    add_owned(a, tm_xstrdup(tm_buf_str(&value)));
    *TM_ARRAY_ADD(&a->runner_arguments) = a->owned.at[a->owned.len - 1];
    tm_buf_release(&value);
  }
}

static int64_t ns_setting(const struct tm_again *a, const char *name)
{
  double s = tm_json_num(tm_json_get(a->settings, name), "value", 0);
  return s > 0 && s < 1e9 ? (int64_t)(s * (double)TM_S) : 0;
}

static void fill_setup(struct tm_again *a, bool has_timeouts, struct tm_setup *s)
{
  const char *level = text_setting(a, "logging_level", "INFO");
  s->script = a->copy.script;
  s->script_dir = a->copy.dir;
  s->script_name = (char *)text_setting(a, "entry_script", "");
  s->arguments = a->arguments.at;
  s->arguments_len = a->arguments.len;
  s->runner_arguments = a->runner_arguments.at;
  s->runner_arguments_len = a->runner_arguments.len;
  s->datasets = a->datasets.at;
  s->datasets_len = a->datasets.len;
  s->outputs = a->outputs.at;
  s->outputs_len = a->outputs.len;
  s->logging_level = strcmp(level, "DEBUG") == 0     ? TM_DEBUG
                     : strcmp(level, "WARNING") == 0 ? TM_WARNING
                                                     : TM_INFO;
  s->append_row = strcmp(text_setting(a, "output_action", ""), "append_row") == 0;
  s->escapes_line_breaks = strcmp(text_setting(a, "append_row_line_break", ""), "escape") == 0;
  tm_config_read_form(a->settings, &s->separator, &a->has_header);
  s->max_result_size = tm_json_int(tm_json_get(a->settings, "max_result_size"), "value", 0);
  s->memory_limit = tm_json_int(tm_json_get(a->settings, "worker_memory_limit"), "value", 0);
  a->grace_ns = ns_setting(a, "interrupt_grace");
  if (has_timeouts) { /* keeps (2) */
    s->run_timeout_ns = ns_setting(a, "run_invocation_timeout");
    s->init_timeout_ns = ns_setting(a, "init_timeout");
  }
}

/* ---- variables: (3) ---- */

static bool is_same(const struct tm_json *a, const struct tm_json *b)
{
  struct tm_buf left = TM_BUF_NONE, right = TM_BUF_NONE;
  struct tm_json_style style = { .sorted = true };
  if (a)
    tm_json_write(&left, a, style);
  if (b)
    tm_json_write(&right, b, style);
  bool yes = left.len == right.len && memcmp(tm_buf_str(&left), tm_buf_str(&right), left.len) == 0;
  tm_buf_release(&left);
  tm_buf_release(&right);
  return yes;
}

/* Loads the present pipeline file with the parameters of the job. */
static void load_pipeline(struct tm_again *a, const char *file)
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
  if (tree)
    a->pipeline = tm_pipeline_from_json(tree, file, given.at, given.len, false, NULL);
  tm_json_free(tree);
  TM_ARRAY_RELEASE(&given);
}

/* The step in the pipeline file, if it still has the job's variables. */
static const struct tm_step *find_definition(struct tm_again *a)
{
  const char *file = tm_json_str(a->record, "pipeline", NULL);
  if (file && tm_fs_exists(tm_fs_real(), file))
    load_pipeline(a, file);
  for (size_t i = 0; a->pipeline && i < a->pipeline->steps_len; i++) {
    const struct tm_step *s = a->pipeline->steps[i];
    const struct tm_json *now = tm_json_get(s->effective, "settings");
    if (strcmp(s->name, a->step_name) == 0 &&
        is_same(setting(now, "environment"), setting(a->settings, "environment")) &&
        is_same(setting(now, "environment_variables"),
                setting(a->settings, "environment_variables")))
      return s;
  }
  return NULL;
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

static void find_variables(struct tm_again *a)
{
  const struct tm_json *environment = setting(a->settings, "environment");
  const struct tm_json *variables = setting(a->settings, "environment_variables");
  struct tm_buf set = TM_BUF_NONE, unset = TM_BUF_NONE;
  if (!environment && !variables)
    return;
  const struct tm_step *step = find_definition(a);
  char **all = step ? tm_snapshot_environment(&step->config, a->copy.dir) : NULL;
  for (char **v = all; v && *v; v++)
    *TM_ARRAY_ADD(&a->variables) = tm_xstrdup(*v);
  tm_snapshot_free_environment(all);
  if (step)
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

void tm_again_set_variables(const struct tm_again *a)
{
  for (size_t i = 0; i < a->variables.len; i++) {
    const char *v = a->variables.at[i];
    char *name = tm_xstrndup(v, strcspn(v, "="));
    setenv(name, v + strlen(name) + 1, 1);
    free(name);
  }
}

static int link_places(struct tm_again *a, struct tm_err *err)
{
  const struct tm_json *places = tm_json_get(a->definition, "places");
  int rc = 0;
  for (size_t i = 0; i < tm_json_items(places); i++) {
    const char *path = tm_json_str(places->list.at[i], "path", ""),
               *folder = tm_json_str(places->list.at[i], "folder", "");
    add_owned(a, tm_path_join(a->dir, folder));
    if ((rc = tm_intake_link(tm_fs_real(), a->owned.at[a->owned.len - 1], path, err)) < 0)
      return rc;
    if (rc == 0)
      *TM_ARRAY_ADD(&a->links) = (struct tm_again_link) { a->owned.at[a->owned.len - 1], path };
  }
  return 0;
}

int tm_again_prepare(struct tm_again *a, const char *root, bool has_timeouts,
                     struct tm_setup *setup, struct tm_err *err)
{
  int rc = copy_script(a, root, err);
  if (rc >= 0)
    rc = read_arguments(a, root, err);
  if (rc < 0)
    return rc;
  read_words(a);
  fill_setup(a, has_timeouts, setup);
  find_variables(a);
  return link_places(a, err);
}

/* ---- the mini-batch ---- */

/* Reads the rows of a table, as a worker of the job reads them. */
static int give_rows(struct tm_again *a, struct tm_run_call *call, struct tm_item *range,
                     struct tm_err *err)
{
  struct tm_mini_batch mb = { .dataset = a->found.dataset, .bytes = a->found.bytes };
  tm_table_look_open_job(&a->look, tm_json_get(a->definition, "inputs"), a->dir, a->step_name,
                         &mb.bytes);
  int rc = tm_table_look_load(&a->look, &mb, err);
  if (rc >= 0)
    tm_table_look_give(&a->look, call, range);
  return rc;
}

int tm_again_call(struct tm_again *a, struct tm_run_call *call, struct tm_item *range,
                  struct tm_err *err)
{
  *call = (struct tm_run_call) { .index = (uint64_t)a->index,
                                 .seq = 1,
                                 .try = 1,
                                 .dataset = a->found.dataset < a->datasets.len
                                                ? a->datasets.at[a->found.dataset]
                                                : "",
                                 .items = a->found.items,
                                 .bytes = tm_buf_str(&a->found.bytes),
                                 .bytes_len = a->found.bytes.len };
  return give_rows(a, call, range, err);
}

const char *tm_again_working_dir(const struct tm_again *a)
{
  return tm_json_str(a->definition, "working_dir", a->copy.dir);
}

/* Removes the script's folder unless the script wrote to it: it is the current directory of the
 * script. */
static void leave_script(struct tm_again *a)
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

void tm_again_release(struct tm_again *a)
{
  leave_script(a);
  for (size_t i = 0; i < a->folders.len; i++)
    rmdir(a->folders.at[i]); /* keeps a folder that is not empty */
  TM_ARRAY_RELEASE(&a->folders);
  for (size_t i = 0; i < a->links.len; i++)
    tm_intake_unlink(tm_fs_real(), a->links.at[i].folder, a->links.at[i].path);
  TM_ARRAY_RELEASE(&a->links);
  tm_table_look_release(&a->look);
  tm_snapshot_release(&a->copy);
  tm_manifest_found_release(&a->found);
  TM_ARRAY_RELEASE(&a->arguments);
  TM_ARRAY_RELEASE(&a->runner_arguments);
  TM_ARRAY_RELEASE(&a->datasets);
  TM_ARRAY_RELEASE(&a->outputs);
  for (size_t i = 0; i < a->owned.len; i++)
    free(a->owned.at[i]);
  TM_ARRAY_RELEASE(&a->owned);
  for (size_t i = 0; i < a->variables.len; i++)
    free(a->variables.at[i]);
  TM_ARRAY_RELEASE(&a->variables);
  tm_pipeline_free(a->pipeline);
  tm_json_free(a->record);
  free(a->dir);
}
