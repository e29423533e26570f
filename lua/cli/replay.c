/* replay.c - `tidemill replay JOB --mini-batch N`: a mini-batch of a job once more, in this process.
 *
 *   job.json -> step -> its copy of the script, copied   \
 *   manifest -> the items, looked at                      > foreground.c -> rows, or the error with its stack
 *   pipeline file -> variables, where it still says them /
 *
 *  (1) The job is not changed: what a script may write to, its current directory too, is a folder made for it. No lock is
 *      taken; a job that runs is refused, because its files grow.
 *  (2) It has the limits of the job: worker_memory_limit for what is Lua's, run_invocation_timeout and init_timeout, which say
 *      where it hangs (foreground.h).
 *  (3) Values of environment variables are not kept with a job. They are those of the pipeline file as long as it names
 *      the same ones (their hash is kept), else those of this terminal; which is said.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/foreground.h"
#include "cli/table_look.h"
#include "data/item.h"
#include "plan/pipeline.h"
#include "plan/snapshot.h"
#include "run/job_record.h"
#include "run/survey.h"
#include "runtime.h"

struct replay_options {
  const char *step, *mini_batch;
  bool no_timeout;
};

/* clang-format off */
static const struct tm_option options[] = {
  { "mini-batch", TM_OPTION_VALUE, offsetof(struct replay_options, mini_batch), "N", NULL, "its number, from 0; errors and processed_mini-batches.csv name it" },
  { "step", TM_OPTION_VALUE, offsetof(struct replay_options, step), "NAME", NULL, "of which step, where the job has several" },
  { "no-timeout", TM_OPTION_FLAG, offsetof(struct replay_options, no_timeout), NULL, NULL, "without the job's run_invocation_timeout and init_timeout: it may be looked at for long" },
};
/* clang-format on */

static int replay(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_replay = {
  .name = "replay",
  .run = replay,
  .usage = "JOB --mini-batch N [--step NAME] [--no-timeout]",
  .summary = "runs one mini-batch of a job again, in this process",
  .options = options,
  .options_len = TM_COUNT_OF(options),
};

struct replay {
  int64_t index;
  char *dir; /* of the job */
  struct tm_json *record;
  const struct tm_json *step, *definition, *settings; /* of the record */
  const char *step_name;
  struct tm_manifest_found found;
  struct tm_snapshot copy; /* of the job's copy */
  struct TM_ARRAY(char *) arguments, runner_arguments, datasets, owned;
  struct tm_pipeline *pipeline; /* NULL: not needed, or not to be had */
  struct tm_foreground foreground;
  struct tm_table_look look;
};

static const struct tm_json *setting(const struct tm_json *settings, const char *name)
{
  return tm_json_get(tm_json_get(settings, name), "value");
}

static const char *text_setting(const struct replay *r, const char *name, const char *otherwise)
{
  return tm_json_str(tm_json_get(r->settings, name), "value", otherwise);
}

/* ---- which mini-batch ---- */

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

static int find_step(struct replay *r, const char *given, struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(r->record, "steps");
  if (!steps || steps->type != TM_JSON_ARRAY || steps->list.len == 0)
    return tm_err_set(err, TM_EDAMAGE, "'%s/job.json' is damaged: it has no list of steps", r->dir);
  if (given)
    r->step = tm_job_record_step(r->record, given);
  else if (steps->list.len == 1)
    r->step = steps->list.at[0];
  if (!r->step)
    return refuse_step(steps, given, err);
  r->step_name = tm_json_str(r->step, "name", "");
  r->definition = tm_json_get(r->step, "definition");
  r->settings = tm_json_get(r->definition, "settings");
  if (!*r->step_name || !r->settings || !text_setting(r, "entry_script", NULL))
    return tm_err_set(err, TM_EDAMAGE, "'%s/job.json' is damaged: a step has no name or settings",
                      r->dir);
  return 0;
}

static int refuse_running(const struct replay *r, struct tm_err *err)
{
  int64_t pid;
  char *host;
  if (tm_survey_is_running(r->dir, &pid, &host))
    tm_err_set(err, TM_EINUSE,
               "job '%s' is running, by pid %" PRId64
               " on host %s; its mini-batches can be run again when it has ended",
               r->dir, pid, host);
  free(host);
  return err->code;
}

/* An item that was there when it was listed, and is not what it was. */
static int check_items(const struct replay *r, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_reader reader;
  struct tm_item item;
  int64_t gone = 0, changed = 0;
  char *first = NULL;
  tm_reader_init(&reader, tm_buf_str(&r->found.bytes), r->found.bytes.len);
  while (tm_item_next(&reader, &item)) {
    struct tm_stat st;
    char *path = tm_xstrndup(item.path, item.path_len);
    bool is_gone = fs->stat(fs->self, path, true, &st) < 0;
    if (is_gone && item.size < 0)
      tm_cli_say("input '%s' is not there; it was not looked at when it was listed", path);
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
               r->index, gone, r->found.items, tm_text_counted(gone, "is", "are"), first);
  else if (changed > 0)
    tm_cli_say("%" PRId64 " of the %u inputs %s changed since the list was made", changed,
               r->found.items, tm_text_counted(changed, "has", "have"));
  free(first);
  return err->code;
}

static int find_mini_batch(struct replay *r, const char *step, struct tm_err *err)
{
  int rc;
  r->record = tm_job_record_load(r->dir, err);
  if (!r->record || (rc = find_step(r, step, err)) < 0 || (rc = refuse_running(r, err)) < 0)
    return err->code;
  char *path = tm_xprintf("%s/%s/state/manifest", r->dir, r->step_name);
  rc = tm_manifest_pick(&r->found, path, (uint64_t)r->index, err);
  free(path);
  return rc < 0 ? tm_err_wrap(err, "step '%s' of job '%s'", r->step_name, r->dir)
                : check_items(r, err);
}

/* ---- as it was run ---- */

/* Keeps (1). */
static int copy_script(struct replay *r, struct tm_err *err)
{
  struct tm_config was = { .entry_script = (char *)text_setting(r, "entry_script", ""),
                           .source_directory = (char *)text_setting(r, "source_directory", NULL) };
  const char *hash = tm_json_str(r->definition, "snapshot_hash", "");
  char *dir = tm_xprintf("%s/script/%s", r->dir, r->step_name), found[17] = "";
  struct tm_config now = { .source_directory = dir, .entry_script = tm_snapshot_script(&was, dir) };
  char *to = tm_path_join(r->foreground.root, "script");
  int rc = tm_snapshot_hash_dir(tm_fs_real(), dir, found, err);
  if (rc >= 0 && !tm_fs_exists(tm_fs_real(), now.entry_script))
    rc = tm_err_set(err, TM_EDAMAGE, "there is no file '%s'", now.entry_script);
  if (rc < 0)
    tm_err_wrap(err, "the job's copy of its script is gone");
  else if (strcmp(found, hash) !=
           0) /* its workers may have written there: it is their current directory */
    tm_cli_say(
        "the job's copy of its script, '%s', is not as it was when the job began; it is run as "
        "it is",
        dir);
  if (rc >= 0)
    rc = tm_snapshot_take(tm_fs_real(), &now, NULL, to, &r->copy, err);
  free(now.entry_script);
  free(dir);
  free(to);
  return rc;
}

static void add_owned(struct replay *r, char *text)
{
  *TM_ARRAY_ADD(&r->owned) = text;
}

/* A text, or a place in the job's directory. */
static void add_argument(struct replay *r, const struct tm_json *v)
{
  const char *path = tm_json_str(v, "path", NULL);
  if (v->type == TM_JSON_STRING)
    *TM_ARRAY_ADD(&r->arguments) = v->string.at;
  if (!path)
    return;
  add_owned(r, tm_path_join(r->dir, path));
  *TM_ARRAY_ADD(&r->arguments) = r->owned.at[r->owned.len - 1];
}

static void read_words(struct replay *r)
{
  const struct tm_json *arguments = tm_json_get(r->definition, "arguments");
  const struct tm_json *inputs = tm_json_get(r->definition, "inputs");
  for (size_t i = 0; arguments && i < arguments->list.len; i++)
    add_argument(r, arguments->list.at[i]);
  for (size_t i = 0; inputs && i < inputs->list.len; i++)
    *TM_ARRAY_ADD(&r->datasets) = (char *)tm_json_str(inputs->list.at[i], "name", "");
  for (size_t i = 0; i < r->settings->list.len; i++) {
    if (strcmp(tm_json_str(r->settings->list.at[i], "origin", ""), "argument") != 0)
      continue;
    struct tm_buf value = TM_BUF_NONE;
    const struct tm_json *v = tm_json_get(r->settings->list.at[i], "value");
    if (v && v->type == TM_JSON_STRING)
      tm_buf_add_str(&value, v->string.at);
    else if (v)
      tm_json_write(&value, v, (struct tm_json_style) { 0 });
    add_owned(r, tm_xprintf("--%s", r->settings->keys[i]));
    *TM_ARRAY_ADD(&r->runner_arguments) = r->owned.at[r->owned.len - 1];
    tm_buf_add_str(&value, "");
    add_owned(r, tm_xstrdup(tm_buf_str(&value)));
    *TM_ARRAY_ADD(&r->runner_arguments) = r->owned.at[r->owned.len - 1];
    tm_buf_release(&value);
  }
}

static int64_t ns_setting(const struct replay *r, const char *name)
{
  double s = tm_json_num(tm_json_get(r->settings, name), "value", 0);
  return s > 0 && s < 1e9 ? (int64_t)(s * (double)TM_S) : 0;
}

static void fill_setup(struct replay *r, bool has_timeouts)
{
  struct tm_setup *s = &r->foreground.setup;
  const char *level = text_setting(r, "logging_level", "INFO");
  s->script = r->copy.script;
  s->script_dir = r->copy.dir;
  s->script_name = (char *)text_setting(r, "entry_script", "");
  s->arguments = r->arguments.at;
  s->arguments_len = r->arguments.len;
  s->runner_arguments = r->runner_arguments.at;
  s->runner_arguments_len = r->runner_arguments.len;
  s->datasets = r->datasets.at;
  s->datasets_len = r->datasets.len;
  s->logging_level = strcmp(level, "DEBUG") == 0     ? TM_DEBUG
                     : strcmp(level, "WARNING") == 0 ? TM_WARNING
                                                     : TM_INFO;
  s->append_row = strcmp(text_setting(r, "output_action", ""), "append_row") == 0;
  s->escapes_line_breaks = strcmp(text_setting(r, "append_row_line_break", ""), "escape") == 0;
  tm_config_read_form(r->settings, &s->separator, &r->foreground.has_header);
  s->max_result_size = tm_json_int(tm_json_get(r->settings, "max_result_size"), "value", 0);
  s->memory_limit = tm_json_int(tm_json_get(r->settings, "worker_memory_limit"), "value", 0);
  r->foreground.grace_ns = ns_setting(r, "interrupt_grace");
  if (has_timeouts) { /* keeps (2) */
    s->run_timeout_ns = ns_setting(r, "run_invocation_timeout");
    s->init_timeout_ns = ns_setting(r, "init_timeout");
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

/* The pipeline as its file has it now, with the parameters of the job. What it prints is not a row. */
static void load_pipeline(struct replay *r, const char *file)
{
  const struct tm_json *params = tm_json_get(r->record, "params");
  struct TM_ARRAY(struct tm_param) given = { 0 };
  for (size_t i = 0; params && params->type == TM_JSON_OBJECT && i < params->list.len; i++)
    *TM_ARRAY_ADD(&given) =
        (struct tm_param) { params->keys[i], tm_json_str(params, params->keys[i], "") };
  fflush(stdout);
  int out = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  struct tm_json *tree = tm_lua_load_pipeline(file, NULL, NULL, NULL);
  fflush(stdout);
  dup2(out, STDOUT_FILENO);
  close(out);
  if (tree)
    r->pipeline = tm_pipeline_from_json(tree, file, given.at, given.len, NULL);
  tm_json_free(tree);
  TM_ARRAY_RELEASE(&given);
}

/* The step in the pipeline file, if it has the job's variables still. */
static const struct tm_step *find_definition(struct replay *r)
{
  const char *file = tm_json_str(r->record, "pipeline", NULL);
  if (file && tm_fs_exists(tm_fs_real(), file))
    load_pipeline(r, file);
  for (size_t i = 0; r->pipeline && i < r->pipeline->steps_len; i++) {
    const struct tm_step *s = r->pipeline->steps[i];
    const struct tm_json *now = tm_json_get(s->effective, "settings");
    if (strcmp(s->name, r->step_name) == 0 &&
        is_same(setting(now, "environment"), setting(r->settings, "environment")) &&
        is_same(setting(now, "environment_variables"),
                setting(r->settings, "environment_variables")))
      return s;
  }
  return NULL;
}

static void add_names(struct tm_buf *set, struct tm_buf *unset, const struct tm_json *variables)
{
  const struct tm_json *names = tm_json_get(variables, "names");
  for (size_t i = 0; names && i < names->list.len; i++) {
    if (names->list.at[i]->type != TM_JSON_STRING)
      continue;
    struct tm_buf *to = getenv(names->list.at[i]->string.at) ? set : unset;
    tm_buf_printf(to, "%s%s", to->len > 0 ? ", " : "", names->list.at[i]->string.at);
  }
}

static void set_variables(struct replay *r)
{
  const struct tm_json *environment = setting(r->settings, "environment");
  const struct tm_json *variables = setting(r->settings, "environment_variables");
  struct tm_buf set = TM_BUF_NONE, unset = TM_BUF_NONE;
  if (!environment && !variables)
    return;
  const struct tm_step *step = find_definition(r);
  for (char **v = step ? step->config.environment : NULL; v && *v; v++)
    putenv(*v);
  if (step)
    return;
  add_names(&set, &unset, tm_json_get(environment, "variables"));
  add_names(&set, &unset, variables);
  const struct tm_json *paths = tm_json_get(environment, "module_paths");
  if (paths && paths->list.len > 0)
    tm_buf_printf(&unset, "%smodule_paths", unset.len > 0 ? ", " : "");
  tm_cli_say(
      "the job's environment is not kept with it, and its pipeline file does not have it any "
      "more: %s%s%s%s%s",
      set.len > 0 ? "taken from here: " : "", tm_buf_str(&set),
      set.len > 0 && unset.len > 0 ? "; " : "", unset.len > 0 ? "not set: " : "",
      tm_buf_str(&unset));
  tm_buf_release(&set);
  tm_buf_release(&unset);
}

/* ---- */

/* Of a table: the rows, read as a worker of the job reads them. */
static int give_rows(struct replay *r, struct tm_run_call *call, struct tm_item *range,
                     struct tm_err *err)
{
  struct tm_mini_batch mb = { .dataset = r->found.dataset, .bytes = r->found.bytes };
  tm_table_look_open_job(&r->look, tm_json_get(r->definition, "inputs"), r->dir, r->step_name,
                         &mb.bytes);
  int rc = tm_table_look_load(&r->look, &mb, err);
  if (rc >= 0)
    tm_table_look_give(&r->look, call, range);
  return rc;
}

static int run_it(struct replay *r, struct tm_err *err)
{
  struct tm_run_call call = { .index = (uint64_t)r->index,
                              .seq = 1,
                              .try = 1,
                              .dataset = r->found.dataset < r->datasets.len
                                             ? r->datasets.at[r->found.dataset]
                                             : "",
                              .items = r->found.items,
                              .bytes = tm_buf_str(&r->found.bytes),
                              .bytes_len = r->found.bytes.len };
  char what[64];
  struct tm_item range;
  const char *dir = tm_json_str(r->definition, "working_dir", r->copy.dir);
  if (chdir(dir) < 0)
    return tm_err_set(err, TM_EUSAGE, "the working directory '%s' of the job is gone", dir);
  snprintf(what, sizeof(what), "mini-batch %" PRId64, r->index);
  int rc = give_rows(r, &call, &range, err);
  return rc < 0 ? rc : tm_foreground_run(&r->foreground, &call, what, err);
}

/* The script may have written to its own folder, which is its current directory. */
static void leave_script(struct replay *r)
{
  char hash[17] = "";
  if (!r->copy.dir)
    return;
  if (tm_snapshot_hash_dir(tm_fs_real(), r->copy.dir, hash, NULL) >= 0 &&
      strcmp(hash, r->copy.hash) == 0)
    tm_tree_remove(r->copy.dir, NULL);
  else
    tm_cli_say("the script has changed files in its folder; they are in '%s'", r->copy.dir);
}

static int replay_found(struct replay *r, bool has_timeouts, struct tm_err *err)
{
  int rc = tm_foreground_open(&r->foreground, "replay", err);
  if (rc < 0 || (rc = copy_script(r, err)) < 0)
    return rc;
  read_words(r);
  fill_setup(r, has_timeouts);
  set_variables(r);
  tm_cli_say("step '%s' of job '%s', which is not changed", r->step_name, r->dir);
  tm_cli_say("output_dir, log_dir and temp_dir are in '%s'; what stays empty is removed",
             r->foreground.root);
  return run_it(r, err);
}

static void release(struct replay *r)
{
  leave_script(r);
  tm_foreground_close(&r->foreground);
  tm_table_look_release(&r->look);
  tm_snapshot_release(&r->copy);
  tm_manifest_found_release(&r->found);
  TM_ARRAY_RELEASE(&r->arguments);
  TM_ARRAY_RELEASE(&r->runner_arguments);
  TM_ARRAY_RELEASE(&r->datasets);
  for (size_t i = 0; i < r->owned.len; i++)
    free(r->owned.at[i]);
  TM_ARRAY_RELEASE(&r->owned);
  tm_pipeline_free(r->pipeline);
  tm_json_free(r->record);
  free(r->dir);
}

static int read_options(struct replay_options *o, struct tm_words *rest, int argc, char **argv,
                        int64_t *index, struct tm_err *err)
{
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, o, rest, err);
  if (rc < 0 || (rc = tm_cli_one_job(rest, err)) < 0)
    return rc;
  if (!o->mini_batch)
    return tm_err_set(err, TM_EUSAGE, "'--mini-batch' is missing; accepted: a number from 0 on");
  if (!tm_text_int(o->mini_batch, index) || *index < 0)
    return tm_err_set(err, TM_EUSAGE, "'--mini-batch' is \"%s\"; accepted: a number from 0 on",
                      o->mini_batch);
  return 0;
}

static int replay(const struct tm_cli *cli, int argc, char **argv)
{
  struct replay_options o = { 0 };
  struct replay r = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = read_options(&o, &rest, argc, argv, &r.index, &err);
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_replay, &err);
  }
  r.dir = tm_cli_find_job(cli, rest.at[0], &err);
  rc = r.dir ? find_mini_batch(&r, o.step, &err) : err.code;
  if (rc >= 0)
    rc = replay_found(&r, !o.no_timeout, &err);
  TM_ARRAY_RELEASE(&rest);
  release(&r);
  return tm_cli_end(rc, &err);
}
