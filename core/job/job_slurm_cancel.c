/* job_slurm_cancel.c - ends Slurm jobs and steps that may outlive their srun: see job_own.h.
 *
 * When the srun of a node ends, its Slurm job or step ends, too, unless srun is killed, the machine
 * of the node is dead, or the controller of Slurm is away. In the last case srun exits with 0, but
 * for Slurm the job still runs. So:
 *
 *  (1) From before the launch until the Slurm job has certainly ended, the record of the node says
 *      that it may run (record/node_record.h). A session cancels the Slurm jobs that earlier
 *      sessions have left.
 *  (2) A Slurm job whose srun did not end well is canceled by its name: the node reports the id, so
 *      that may be the id of another job. Steps are canceled in the same way; the allocation never
 *      is.
 *  (3) One command cancels several Slurm jobs at a time, so that the controller is not flooded. The
 *      keeper runs it, with a limit of 20 s. If it fails, that is reported once. It is repeated
 *      while the job runs, and once more at its end: else the machine would stay taken.
 *  (4) Only the end of the job waits for a cancellation, for a limited time. If the keeper of this
 *      machine is lost by then, the command is a child of our own.
 *  (5) The end of a Slurm job is uncertain if srun has ended well, but Slurm has not said that the
 *      Slurm job has ended. When all sruns have ended at the end of the job, one command asks about
 *      all of those Slurm jobs, and cancels the ones that still run. If the controller is away, the
 *      user is shown a command for that; by (1) the next session does it, too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/command_template.h"
#include "base/path.h"
#include "slurm/slurm_command.h"
#include "slurm/slurm_environment.h"
#include "job/job_own.h"
#include "slurm/slurm_run.h"
#include "record/node_record.h"
#include "sys/clock.h"

#define FINISH_NS (5 * TM_S)
#define AGAIN_NS  (20 * TM_S)
#define NODES_MAX 200 /* that one command cancels */

struct left {
  uint32_t id; /* of the node */
  char *name;
  bool is_step;
};

/* What one command ends. */
struct tm_slurm_cancel {
  struct tm_job *job;
  struct TM_ARRAY(struct left) left; /* 1 ... NODES_MAX of them */
  bool is_of_session;                /* all of this session, by (5): any number */
  bool is_asked;                     /* the command runs */
  uint32_t launch;                   /* is_asked: its number */
  int64_t asked_ns;
  bool is_late;     /* it has taken too long, and was killed */
  bool is_reported; /* it has failed before */
  int64_t due_ns;   /* when it is repeated then */
};

/* Keeps (1). */
static void forget(struct tm_job *job, uint32_t id)
{
  struct tm_json *changes = tm_json_new(TM_JSON_OBJECT);

  tm_json_set(changes, "may_run", tm_json_new_bool(false));
  tm_job_node_record(job, id, changes); /* else it is canceled again some day */
}

static void forget_all(const struct tm_slurm_cancel *c)
{
  for (size_t i = 0; i < c->left.len; i++)
    forget(c->job, c->left.at[i].id);
}

static void release(struct tm_slurm_cancel *c)
{
  for (size_t i = 0; i < c->left.len; i++)
    free(c->left.at[i].name);
  TM_ARRAY_RELEASE(&c->left);
  free(c);
}

static void remove_cancel(struct tm_slurm_cancel *c)
{
  struct tm_job_slurm *s = &c->job->launches->slurm;
  size_t kept = 0;

  for (size_t i = 0; i < s->cancels.len; i++)
    if (s->cancels.at[i] != c)
      s->cancels.at[kept++] = s->cancels.at[i];
  s->cancels.len = kept;
  release(c);
}

static struct tm_slurm_cancel *new_cancel(struct tm_job *job, bool is_of_session)
{
  struct tm_slurm_cancel *c = TM_NEW(struct tm_slurm_cancel);

  *c = (struct tm_slurm_cancel) { .job = job, .is_of_session = is_of_session };
  return c;
}

static struct tm_slurm_cancel *open_cancel(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  struct tm_slurm_cancel *c = s->cancels.len > 0 ? s->cancels.at[s->cancels.len - 1] : NULL;

  if (c && !c->is_of_session && !c->is_asked && !c->is_reported && c->left.len < NODES_MAX)
    return c;
  c = new_cancel(job, false);
  *TM_ARRAY_ADD(&s->cancels) = c;
  return c;
}

static void add_to(struct tm_slurm_cancel *c, uint32_t id, const char *name, bool is_step)
{
  *TM_ARRAY_ADD(&c->left) =
      (struct left) { .id = id, .name = tm_xstrdup(name), .is_step = is_step };
}

static void add(struct tm_job *job, uint32_t id, const char *name, bool is_step)
{
  add_to(open_cancel(job), id, name, is_step);
}

/* Keeps (5). */
static void add_uncertain(const struct tm_launched_node *n)
{
  struct tm_job_slurm *s = &n->job->launches->slurm;

  if (!s->uncertain)
    s->uncertain = new_cancel(n->job, true);
  add_to(s->uncertain, n->id, n->slurm_name, n->is_step);
}

/* ---- the command ---- */

static char *names_of_session(const struct tm_job *job)
{
  return tm_slurm_command_names(tm_path_base(job->dir.path), job->dir.epoch);
}

static char **command_for_session(const struct tm_slurm_cancel *c)
{
  char *names = names_of_session(c->job), **argv;
  bool has_steps = false;

  for (size_t i = 0; i < c->left.len; i++)
    has_steps = has_steps || c->left.at[i].is_step;
  argv = tm_slurm_command_cancel_all(names, has_steps);
  free(names);
  return argv;
}

/* Keeps (2) and (3). */
static char **command_for(const struct tm_slurm_cancel *c)
{
  const char *names[NODES_MAX];

  if (c->left.len == 1 && !c->left.at[0].is_step)
    return tm_slurm_command_cancel_name(c->left.at[0].name);
  if (c->is_of_session)
    return command_for_session(c);
  for (size_t i = 0; i < c->left.len; i++)
    names[i] = c->left.at[i].name;
  return tm_slurm_command_cancel_names(names, c->left.len);
}

/* For the user: `len` at `first`. */
static char *command_by_hand(const struct tm_job *job, const struct left *first, size_t len,
                             bool is_of_session)
{
  bool is_all = is_of_session && len > 1;
  char *names, *text;

  if (!first->is_step && !is_all)
    return tm_xprintf("scancel --name=%s", first->name);
  names = is_all ? names_of_session(job) : tm_xstrdup(first->name);
  text = tm_slurm_command_cancel_by_hand(names, first->is_step);
  free(names);
  return text;
}

/* `first`: of `len` ones. `is_of_session`: keeps (5). */
static void report_left(struct tm_job *job, const struct left *first, size_t len,
                        bool is_of_session, const char *why)
{
  char *command = command_by_hand(job, first, len, is_of_session);
  struct tm_buf text = TM_BUF_NONE;

  tm_buf_printf(&text, "%s the Slurm %s of node %" PRIu32,
                is_of_session ? "cannot ask Slurm about" : "cannot cancel",
                first->is_step ? "step" : "job", first->id);
  if (len > 1)
    tm_buf_printf(&text, " and of %zu more", len - 1);
  tm_buf_printf(&text, ": %s; it may still run: %s", why, command);
  if (is_of_session)
    tm_buf_add_str(&text, "; 'tidemill resume' cancels it, too");
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_WARNING, tm_buf_str(&text));
  tm_buf_release(&text);
  free(command);
}

static void report(const struct tm_slurm_cancel *c, const char *why)
{
  report_left(c->job, &c->left.at[0], c->left.len, c->is_of_session, why);
}

static void finish(struct tm_slurm_cancel *c)
{
  struct tm_job *job = c->job;

  remove_cancel(c);
  tm_job_launches_end(job);
}

static void on_launched(void *data, uint32_t launch, int64_t pid, int fd)
{
  tm_fs_close(tm_fs_real(), fd);
}

static void on_launch_failed(void *data, uint32_t launch, const char *text)
{
  report(data, text);
  finish(data);
}

static const char *why_of(const struct tm_slurm_cancel *c, const struct tm_launch_ended *ended)
{
  if (c->is_late)
    return "Slurm does not answer in time";
  return ended->last_line[0] ? ended->last_line : "the command has failed";
}

static void on_launch_ended(void *data, uint32_t launch, const struct tm_launch_ended *ended)
{
  struct tm_slurm_cancel *c = data;
  bool has_failed = ended->exit_status != 0 || ended->signal != 0;

  if (!has_failed)
    forget_all(c);
  else if (!c->is_reported)
    report(c, why_of(c, ended));
  c->is_reported = has_failed;
  c->is_asked = false;
  c->due_ns = tm_clock_mono_ns() + AGAIN_NS;
  if (!has_failed || !tm_job_life_may(&c->job->life, TM_JOB_MAY_RUN))
    finish(c);
}

static void ask(struct tm_slurm_cancel *c)
{
  struct tm_launch_user hears = { c, on_launched, on_launch_failed, on_launch_ended, NULL };
  char *file = tm_xprintf("%s/nodes/scancel.txt", c->job->dir.path);
  char **without = tm_slurm_environment_removed(environ), **argv = command_for(c);

  c->is_asked = true;
  c->is_late = false;
  c->asked_ns = tm_clock_mono_ns();
  c->launch = tm_job_launching_run(
      c->job,
      &(struct tm_launch) { .argv = argv, .stderr_path = file, .cwd = "", .without = without },
      &hears);
  tm_command_words_free(argv);
  tm_command_words_free(without);
  free(file);
}

/* Keeps (3) and (4). Nothing is lost with the command: it is killed at once. */
static void limit(struct tm_slurm_cancel *c, struct tm_node *local, int64_t now_ns)
{
  bool is_at_end = !tm_job_life_may(&c->job->life, TM_JOB_MAY_RUN);

  if (c->is_late || now_ns - c->asked_ns < (is_at_end ? FINISH_NS : TM_SLURM_LIMIT_NS))
    return;
  c->is_late = true;
  tm_node_kill_launch(local, c->launch);
}

static void ask_all(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  struct tm_node *local = tm_fleet_node(&job->fleet, TM_LOCAL_NODE);
  int64_t now_ns = tm_clock_mono_ns();

  for (size_t i = 0; local && i < s->cancels.len; i++)
    if (s->cancels.at[i]->is_asked)
      limit(s->cancels.at[i], local, now_ns);
    else if (s->cancels.at[i]->due_ns <= now_ns)
      ask(s->cancels.at[i]);
}

/* ---- what must end ---- */

static bool has_ended_well(const struct tm_launched_node *n)
{
  return !n->why && !n->ended.is_unknown && n->ended.exit_status == 0 && n->ended.signal == 0;
}

/* Slurm has never heard of it, or has said that it has ended. */
static bool is_certain(const struct tm_launched_node *n)
{
  return tm_slurm_text_is_unreached(n->ended.last_line) ||
         (has_ended_well(n) && n->slurm_end != TM_SLURM_END_NOT_KNOWN);
}

void tm_job_slurm_ended(struct tm_launched_node *n)
{
  if (!n->slurm_name)
    return;
  if (is_certain(n)) {
    forget(n->job, n->id);
  } else if (has_ended_well(n)) {
    add_uncertain(n);
  } else {
    add(n->job, n->id, n->slurm_name, n->is_step);
    ask_all(n->job);
  }
}

void tm_job_slurm_lost(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  tm_job_slurm_queue_lost(&l->slurm);
  for (size_t i = 0; i < l->slurm.cancels.len; i++)
    l->slurm.cancels.at[i]->is_asked = false;
}

void tm_job_slurm_orphaned(struct tm_launched_node *n)
{
  if (n->slurm_name && !n->has_ended)
    add(n->job, n->id, n->slurm_name, n->is_step);
}

struct look {
  struct tm_job *job;
  struct TM_ARRAY(struct left) elsewhere;
};

static void on_left(void *data, const struct tm_node_left *l)
{
  struct look *look = data;

  if (!tm_slurm_command_is_name(l->name, l->id))
    return;
  if (l->is_elsewhere)
    *TM_ARRAY_ADD(&look->elsewhere) =
        (struct left) { .id = l->id, .name = tm_xstrdup(l->name), .is_step = l->is_step };
  else
    add(look->job, l->id, l->name, l->is_step);
}

/* Keeps (1). */
static void look_for_left(struct tm_job *job)
{
  struct look look = { .job = job };

  tm_node_record_each_left(job->o.fs, job->dir.path, on_left, &look);
  if (look.elsewhere.len > 0)
    report_left(job, &look.elsewhere.at[0], look.elsewhere.len, false,
                "another directory had started it, of which this one may be a copy");
  for (size_t i = 0; i < look.elsewhere.len; i++) {
    forget(job, look.elsewhere.at[i].id);
    free(look.elsewhere.at[i].name);
  }
  TM_ARRAY_RELEASE(&look.elsewhere);
}

static void look_once(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;

  if (!s->has_looked)
    look_for_left(job);
  s->has_looked = true;
}

void tm_job_slurm_go(struct tm_job *job)
{
  look_once(job);
  ask_all(job);
  tm_job_slurm_queue_go(job);
}

bool tm_job_slurm_is_done(const struct tm_job *job)
{
  return job->launches->slurm.cancels.len == 0;
}

/* ---- the end of the job ---- */

void tm_job_slurm_close(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;

  for (size_t i = 0; i < s->cancels.len; i++)
    s->cancels.at[i]->due_ns = 0;
  ask_all(job);
}

/* Keeps (5). Whether there are any. */
static bool take_uncertain(struct tm_job_slurm *s)
{
  if (!s->uncertain)
    return false;
  *TM_ARRAY_ADD(&s->cancels) = s->uncertain;
  s->uncertain = NULL;
  return true;
}

void tm_job_slurm_end(struct tm_job *job)
{
  if (job->launches->nodes.len == 0 && take_uncertain(&job->launches->slurm)) {
    job->launches->give_up_ns += TM_LAUNCH_END_NS; /* the command has this time for itself */
  }
  ask_all(job);
}

/* Runs the command as our own child. 0, or a message. */
static int cancel_here(const struct tm_slurm_cancel *c, int64_t ns, struct tm_err *err)
{
  char **argv = command_for(c);
  struct tm_slurm_ran ran;
  int rc = tm_slurm_run(&ran, argv, ns, err);

  if (rc == 0 && (ran.is_late || ran.has_failed))
    rc = tm_err_set(err, TM_ESCRIPT, "%s",
                    ran.is_late ? "Slurm does not answer in time" : "the command has failed");
  tm_slurm_ran_release(&ran);
  tm_command_words_free(argv);
  return rc;
}

/* Those whose srun was killed with the keeper, or by it. */
static void take_unended(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  for (size_t i = 0; i < l->nodes.len; i++)
    if (!l->nodes.at[i]->is_over)
      tm_job_slurm_orphaned(l->nodes.at[i]);
}

void tm_job_slurm_finish(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  int64_t until_ns = tm_clock_mono_ns() + FINISH_NS;

  take_unended(job);
  (void)take_uncertain(s);
  while (s->cancels.len > 0) {
    struct tm_slurm_cancel *c = s->cancels.at[0];
    struct tm_err why = TM_ERR_NONE;
    int64_t left_ns = until_ns - tm_clock_mono_ns();
    if (left_ns <= 0)
      tm_err_set(&why, TM_ESCRIPT, "there is no time left");
    if (left_ns > 0 && cancel_here(c, left_ns, &why) == 0)
      forget_all(c);
    else
      report(c, why.text);
    remove_cancel(c);
  }
}

void tm_job_slurm_cancel_left(struct tm_job *job)
{
  look_once(job);
  tm_job_slurm_finish(job);
}

void tm_job_slurm_release(struct tm_job_slurm *s)
{
  for (size_t i = 0; i < s->cancels.len; i++)
    release(s->cancels.at[i]);
  TM_ARRAY_RELEASE(&s->cancels);
  if (s->uncertain)
    release(s->uncertain);
  tm_job_slurm_queue_lost(s);
  free(s->reported);
}
