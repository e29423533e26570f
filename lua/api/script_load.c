/* script_load.c - an entry script in this process: its sources, its folders, its end.
 *
 *   step of a pipeline      -> its settings                                   \
 *   mini-batch of a job     -> replay.c: its copy, its settings, its variables  > struct tm_setup
 *   script_folders.c        -> output_dir, log_dir, temp_dir                  /
 */
#include "api/script_api.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/path.h"
#include "modules.h"
#include "step/worker_setup.h"
#include "sys/alarm.h"

void tm_script_say(const struct tidemill_script *s, enum tidemill_level level, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;
  if (!s->log.on_log)
    return;
  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  s->log.on_log(level, tm_buf_str(&text), s->log.data);
  tm_buf_release(&text);
}

static void on_note(void *data, const char *words)
{
  tm_script_say(data, TIDEMILL_LEVEL_INFO, "%s", words);
}

/* ---- for both kinds ---- */

static int read_options(struct tidemill_script_options *out, const char *call,
                        const struct tidemill_script_options *o, struct tm_err *err)
{
  *out = (struct tidemill_script_options)TIDEMILL_SCRIPT_OPTIONS_INIT;
  return tm_take_options(out, sizeof(*out), o, call, "the options", "TIDEMILL_SCRIPT_OPTIONS_INIT",
                         err);
}

static struct tidemill_script *new_script(const struct tidemill_runtime *rt,
                                          const struct tidemill_script_options *o)
{
  struct tidemill_script *s = TM_NEW(struct tidemill_script);
  s->log = (struct tm_log) { o->on_log, o->data };
  s->is_program = rt->is_command;
  return s;
}

static int claim(struct tidemill_script *s, const struct tidemill_script_options *o,
                 struct tm_err *err)
{
  tm_require(!s->is_claimed && !s->is_open);
  if (o->no_timeout)
    s->trial.setup.run_timeout_ns = s->trial.setup.init_timeout_ns = 0;
  if (!o->interruptible || !s->trial.setup.is_interruptible)
    return 0;
  s->is_claimed = tm_tick_claim(tm_script_on_ask, s);
  return s->is_claimed ? 0
                       : tm_err_set(err, TM_EINUSE,
                                    "another script of this process can be interrupted; close it, "
                                    "or do without");
}

static void fill_info(struct tidemill_script *s, const char *job, const char *working_dir)
{
  tm_require(s->step && s->folders.root);
  s->info =
      (struct tidemill_script_info) { .size = sizeof(s->info),
                                      .step = s->step->name,
                                      .job = job,
                                      .dir = s->folders.root,
                                      .output_dir = s->folders.output_dir,
                                      .log_dir = s->folders.log_dir,
                                      .temp_dir = s->folders.temp_dir,
                                      .working_dir = working_dir,
                                      .interruptible = s->is_claimed,
                                      .interrupt_grace_ns = s->step->config.interrupt_grace_ns,
                                      .init_timeout_ns = s->trial.setup.init_timeout_ns,
                                      .run_timeout_ns = s->trial.setup.run_timeout_ns };
}

/* ---- a step of a pipeline ---- */

static int refuse_step(const struct tm_pipeline *p, const char *given, struct tm_err *err)
{
  struct tm_buf names = TM_BUF_NONE;
  for (size_t i = 0; i < p->steps_len; i++)
    tm_buf_printf(&names, "%s'%s'", i > 0 ? ", " : "", p->steps[i]->name);
  if (given)
    tm_err_set(err, TM_EUSAGE, "the pipeline has no step '%s'; accepted: %s", given,
               tm_buf_str(&names));
  else
    tm_err_set(err, TM_EUSAGE, "the pipeline has several steps; `step` says which: %s",
               tm_buf_str(&names));
  tm_buf_release(&names);
  return TM_EUSAGE;
}

static const struct tm_step *find_step(const struct tm_pipeline *p, const char *given,
                                       struct tm_err *err)
{
  for (size_t i = 0; i < p->steps_len; i++)
    if (given ? strcmp(p->steps[i]->name, given) == 0 : p->steps_len == 1)
      return p->steps[i];
  refuse_step(p, given, err);
  return NULL;
}

/* Refuses a step that needs something that only a job makes before the step begins. */
static int refuse_bound(const struct tm_step *step, struct tm_err *err)
{
  const char *words = step->stagings_len > 0 ? "a job mounts or downloads what it reads" : NULL;
  for (size_t i = 0; i < step->inputs_len; i++)
    words = step->inputs[i]->step ? "it reads what another step writes" : words;
  for (size_t i = 0; i < step->paths_len; i++)
    if (strcmp(step->paths[i].step, step->name) != 0)
      words = "one of its arguments is what another step writes";
  return words ? tm_err_set(err, TM_EUSAGE,
                            "step '%s' is not ready without a job: %s; run one, and its "
                            "mini-batches again",
                            step->name, words)
               : 0;
}

/* For outputs among the arguments, makes folders beside the first output. */
static int take_arguments(struct tidemill_script *s, struct tm_err *err)
{
  const struct tm_step *step = s->step;
  for (size_t i = 0; i < step->paths_len; i++) {
    char **argument = &step->arguments[step->paths[i].at];
    char *place = tm_path_join(s->folders.root, tm_path_base(*argument));
    free(*argument);
    *argument = place;
    if (tm_fs_make_dirs(tm_fs_real(), place, 0777, err) < 0)
      return err->code;
  }
  return 0;
}

/* Copies a script that is not a file. */
static int copy_script(struct tidemill_script *s, struct tm_err *err)
{
  char *to = s->step->config.script_text ? tm_path_join(s->folders.root, "script") : NULL;
  int rc = to ? tm_snapshot_take(tm_fs_real(), &s->step->config, NULL, to, &s->copy, err) : 0;
  free(to);
  return rc;
}

static void fill_setup(struct tidemill_script *s)
{
  tm_require(s->folders.root && !s->script_dir);
  const struct tm_config *config = &s->step->config;
  tm_setup_of_step(&s->trial.setup, s->step);
  s->script_dir = s->copy.dir                ? tm_xstrdup(s->copy.dir)
                  : config->source_directory ? tm_xstrdup(config->source_directory)
                                             : tm_path_dir(config->entry_script);
  tm_script_folders_give(&s->folders, &s->trial.setup);
  s->variables = config->environment;
  s->trial.setup.script = s->copy.script ? s->copy.script : config->entry_script;
  s->trial.setup.script_dir = s->script_dir;
  s->trial.setup.is_interruptible = config->interruptible != TM_NOT_INTERRUPTIBLE;
}

int tm_script_load_step(struct tidemill_script **out, const struct tidemill_runtime *rt,
                        struct tm_pipeline *p, const struct tidemill_script_options *o,
                        struct tm_err *err)
{
  struct tidemill_script *s = new_script(rt, o);
  int rc = 0;
  s->pipeline = p;
  s->step = find_step(p, o->step, err);
  if (!s->step)
    rc = err->code;
  else
    rc = tm_refuse_stdin(rt, p, err);
  if (rc >= 0)
    rc = refuse_bound(s->step, err);
  if (rc >= 0)
    rc = tm_script_folders_make(&s->folders, "try", err);
  if (rc >= 0)
    rc = take_arguments(s, err);
  if (rc >= 0)
    rc = copy_script(s, err);
  if (rc >= 0) {
    fill_setup(s);
    rc = claim(s, o, err);
  }
  if (rc < 0) {
    tidemill_script_close(s);
    return rc;
  }
  fill_info(s, "", s->step->working_dir ? s->step->working_dir : s->script_dir);
  *out = s;
  return 0;
}

int tidemill_script_load(struct tidemill_script **out, struct tidemill_pipeline *p,
                         const struct tidemill_script_options *options, struct tm_err *err)
{
  static const char call[] = "tidemill_script_load()";
  struct tm_err unheard = TM_ERR_NONE;
  struct tidemill_script_options o;
  err = err ? err : &unheard;
  if (out)
    *out = NULL;
  if (tm_need(err, call, "out", out, "p", p, NULL) < 0 || read_options(&o, call, options, err) < 0)
    return TM_EUSAGE;
  struct tm_pipeline *settled = tm_draft_settle(p, TM_SCRIPTS_COMPILED, err);
  return settled ? tm_script_load_step(out, p->rt, settled, &o, err)
                 : tm_words_for_host(p->rt, err);
}

/* ---- a mini-batch of a job ---- */

/* Whether the host still has this job open, and the job has ended. */
static bool is_over(const struct tidemill_runtime *rt, const char *dir)
{
  for (const struct tidemill_job *job = rt->jobs; job; job = job->next)
    if (job->has_ended && strcmp(job->dir, dir) == 0)
      return true;
  return false;
}

/* Callbacks of the host may not close the runtime meanwhile. */
static int prepare(struct tidemill_script *s, struct tidemill_runtime *rt,
                   const struct tidemill_script_options *o, struct tm_err *err)
{
  rt->loading++;
  int rc = tm_replay_open(s->replay, o->step, "replay", &s->folders, &s->trial.setup, err);
  tm_require(rt->loading > 0);
  rt->loading--;
  s->step = s->replay->step;
  if (rc < 0)
    return rc;
  s->variables = s->replay->variables;
  s->trial.setup.is_interruptible = true;
  return claim(s, o, err);
}

int tidemill_script_load_again(struct tidemill_script **out, struct tidemill_runtime *rt,
                               const char *job, int64_t mini_batch,
                               const struct tidemill_script_options *options, struct tm_err *err)
{
  static const char call[] = "tidemill_script_load_again()";
  struct tm_err unheard = TM_ERR_NONE;
  struct tidemill_script_options o;
  err = err ? err : &unheard;
  if (out)
    *out = NULL;
  if (tm_need(err, call, "out", out, "rt", rt, "job", job, NULL) < 0 ||
      read_options(&o, call, options, err) < 0)
    return TM_EUSAGE;
  if (mini_batch < 0)
    return tm_err_set(err, TM_EUSAGE, "%s: there is no mini-batch %lld; the first is 0", call,
                      (long long)mini_batch);
  *err = (struct tm_err)TM_ERR_NONE; /* replay.c finds out itself */
  char *dir = tm_runtime_job(rt, job, err);
  if (!dir)
    return err->code;
  struct tidemill_script *s = new_script(rt, &o);
  s->replay = TM_NEW(struct tm_replay);
  *s->replay = (struct tm_replay) { .index = mini_batch,
                                    .dir = dir,
                                    .is_over = is_over(rt, dir),
                                    .say = on_note,
                                    .data = s,
                                    .modules = tm_lua_modules(),
                                    .prepare = tm_host_prepare,
                                    .host = rt };
  int rc = prepare(s, rt, &o, err);
  if (rc < 0) {
    tidemill_script_close(s);
    return rc;
  }
  fill_info(s, dir, tm_replay_working_dir(s->replay));
  *out = s;
  return 0;
}

/* ---- questions ---- */

const struct tidemill_script_info *tidemill_script_info(const struct tidemill_script *s)
{
  return s ? &s->info : NULL;
}

const char *tidemill_script_variable(const struct tidemill_script *s, size_t i)
{
  if (!s)
    return NULL;
  for (size_t k = 0; s->variables && k < i; k++)
    if (!s->variables[k])
      return NULL;
  return s->variables ? s->variables[i] : NULL;
}

/* ---- the end ---- */

static void release_input(struct tidemill_script *s)
{
  tm_step_walk_close(&s->walk);
  if (s->replay)
    tm_replay_release(s->replay);
  free(s->replay);
  tm_setup_release_step(&s->trial.setup);
  free(s->script_dir);
}

static void release_results(struct tidemill_script *s)
{
  tm_buf_release(&s->head);
  tm_buf_release(&s->text);
  tm_buf_release(&s->words);
  tm_trial_release(&s->trial);
}

/* Removes empty folders of outputs among the arguments of a step. */
static void leave_folders(struct tidemill_script *s)
{
  if (s->copy.dir)
    tm_tree_remove(s->copy.dir, NULL);
  tm_snapshot_release(&s->copy);
  for (size_t i = 0; s->pipeline && s->step && i < s->step->paths_len; i++)
    rmdir(s->step->arguments[s->step->paths[i].at]);
  if (tm_script_folders_leave(&s->folders))
    tm_script_say(s, TIDEMILL_LEVEL_INFO, "output_dir: %s, log_dir: %s", s->folders.output_dir,
                  s->folders.log_dir);
  tm_script_folders_release(&s->folders);
}

void tidemill_script_leave(struct tidemill_script *s)
{
  if (!s)
    return;
  if (s->replay)
    tm_replay_release(s->replay);
  free(s->replay);
  s->replay = NULL;
  leave_folders(s);
}

void tidemill_script_close(struct tidemill_script *s)
{
  if (!s)
    return;
  tm_script_unload(s);
  if (s->is_claimed)
    tm_tick_release();
  release_results(s);
  release_input(s);
  leave_folders(s);
  tm_pipeline_free(s->pipeline);
  free(s);
}
