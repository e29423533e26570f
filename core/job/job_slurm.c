/* job_slurm.c - nodes that are Slurm jobs (compute_target = "slurm"): see job_own.h.
 *
 * A node is one srun, which the keeper of this machine runs as it runs any other command. Its end
 * ends the Slurm job, unless srun is killed or the machine of the node is dead. So:
 *
 *  (1) From before its launch until its Slurm job has certainly ended, the record of the node says
 *      that it may run (record/node_record.h). What an earlier session has left is canceled by the
 *      next one.
 *  (2) A Slurm job whose srun did not end well is canceled, by its name: `scancel --name` takes
 *      one. The id is what the node says, which may be that of another job. scancel is a command of
 *      the keeper, too. One that fails is reported, not repeated.
 *  (3) A step of an allocation is canceled in the same way. The allocation never is.
 *  (4) If we are killed, the keeper of this machine cancels all that this session has started
 *      (AT_END in node/launcher.c).
 *  (5) Nobody waits for a cancellation but the end of the job, for a limited time. If the keeper of
 *      this machine is lost by then, scancel is a child of our own.
 *
 * srun writes to nodes/<id>.txt that its Slurm job waits. In the queue a node cannot become usable,
 * so that time does not count.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/command_template.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "fleet/slurm_command.h"
#include "fleet/slurm_environment.h"
#include "fleet/slurm_text.h"
#include "job/job_own.h"
#include "job/slurm_run.h"
#include "record/node_record.h"
#include "sys/clock.h"

#define SAID_MAX  ((size_t)64 << 10) /* bytes of nodes/<id>.txt that are read */
#define FINISH_NS (5 * TM_S)

/* A Slurm job that must end. */
struct tm_slurm_cancel {
  struct tm_job *job;
  uint32_t id; /* of the node */
  char *name;
  bool is_step;  /* or a step */
  bool is_asked; /* scancel runs, or will */
};

static char *file_of(const struct tm_job *job, uint32_t id, const char *ending)
{
  return tm_xprintf("%s/nodes/%" PRIu32 "%s", job->dir.path, id, ending);
}

/* ---- the launch ---- */

/* Keeps (1). */
static void forget(struct tm_job *job, uint32_t id)
{
  struct tm_json *changes = tm_json_new(TM_JSON_OBJECT);

  tm_json_set(changes, "may_run", tm_json_new_bool(false));
  tm_job_node_record(job, id, changes); /* else it is canceled again some day */
}

static void tell(struct tm_job *job, uint32_t id, char *const *argv)
{
  struct tm_buf text = TM_BUF_NONE;

  tm_buf_printf(&text, "node %" PRIu32 " is started with:", id);
  for (size_t i = 0; argv[i]; i++) {
    tm_buf_add_char(&text, ' ');
    tm_text_shell(&text, argv[i]);
  }
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_DEBUG, tm_buf_str(&text));
  tm_buf_release(&text);
}

char **tm_job_slurm_command(struct tm_launched_node *n, const struct tm_config *c)
{
  struct tm_job *job = n->job;
  const struct tm_launch_group *g = tm_job_launched_group(n);
  char *exclude = tm_exclusions_text(&g->exclude.hosts, c->slurm_exclude), **argv;

  tm_require(!n->slurm_name);
  n->slurm_name = tm_slurm_command_name(tm_path_base(job->dir.path), job->dir.epoch, n->id);
  n->is_step = g->allocation.job != NULL;
  argv = tm_allocation_node_command(&g->allocation, n->host, c, n->slurm_name, exclude,
                                    job->o.program);
  free(exclude);
  tell(job, n->id, argv);
  return argv;
}

/* The last that srun has said of it; OTHER: nothing, as when it did not have to wait. */
static enum tm_slurm_line last_of(const struct tm_launched_node *n)
{
  char *file = file_of(n->job, n->id, ".txt");
  struct tm_buf said = TM_BUF_NONE;
  struct tm_slurm_said line;
  enum tm_slurm_line last = TM_SLURM_LINE_OTHER;

  if (tm_fs_read_file(n->job->o.fs, file, SAID_MAX, &said, NULL) == 0)
    for (const char *at = tm_buf_str(&said), *end; *at; at = end + (*end == '\n')) {
      end = at + strcspn(at, "\n");
      tm_slurm_text_line(at, (size_t)(end - at), &line);
      if (line.kind == TM_SLURM_LINE_QUEUED || line.kind == TM_SLURM_LINE_GRANTED)
        last = line.kind;
    }
  tm_buf_release(&said);
  free(file);
  return last;
}

static void report_waiting(struct tm_launched_node *n)
{
  struct tm_buf text = TM_BUF_NONE;

  if (!n->is_known_to_wait) {
    tm_launched_node_name(&text, n);
    tm_buf_add_str(&text, " waits in the queue of Slurm");
    tm_job_emit(n->job, TM_EVENT_MESSAGE, TM_INFO, tm_buf_str(&text));
  }
  n->is_known_to_wait = true;
  tm_buf_release(&text);
}

/* It is not known when a machine was granted, which may be a moment ago. */
bool tm_job_slurm_has_waited(struct tm_launched_node *n)
{
  enum tm_slurm_line last = n->slurm_name ? last_of(n) : TM_SLURM_LINE_OTHER;
  bool is_new = !n->is_known_to_run;

  if (last == TM_SLURM_LINE_QUEUED)
    report_waiting(n);
  n->is_known_to_run = last == TM_SLURM_LINE_GRANTED;
  return last == TM_SLURM_LINE_QUEUED || (last == TM_SLURM_LINE_GRANTED && is_new);
}

/* ---- the end ---- */

static void remove_cancel(struct tm_slurm_cancel *c)
{
  struct tm_job_slurm *s = &c->job->launches->slurm;
  size_t kept = 0;

  for (size_t i = 0; i < s->cancels.len; i++)
    if (s->cancels.at[i] != c)
      s->cancels.at[kept++] = s->cancels.at[i];
  s->cancels.len = kept;
  free(c->name);
  free(c);
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

static void report(const struct tm_slurm_cancel *c, const char *why)
{
  struct tm_buf text = TM_BUF_NONE;

  tm_buf_printf(&text, "cannot cancel the Slurm %s of node %" PRIu32 ": %s; it may still run: %s%s",
                c->is_step ? "step" : "job", c->id, why,
                c->is_step ? "squeue --steps shows it as " : "scancel --name=", c->name);
  tm_job_emit(c->job, TM_EVENT_MESSAGE, TM_WARNING, tm_buf_str(&text));
  tm_buf_release(&text);
}

static void on_launch_failed(void *data, uint32_t launch, const char *text)
{
  report(data, text);
  finish(data);
}

static void on_launch_ended(void *data, uint32_t launch, const struct tm_launch_ended *ended)
{
  struct tm_slurm_cancel *c = data;

  if (ended->exit_status == 0 && ended->signal == 0)
    forget(c->job, c->id);
  else
    report(c, ended->last_line[0] ? ended->last_line : "scancel has failed");
  finish(c);
}

/* Keeps (2) and (3). */
static char **command_for(const struct tm_slurm_cancel *c)
{
  return c->is_step ? tm_slurm_command_cancel_all(c->name) : tm_slurm_command_cancel_name(c->name);
}

static void cancel(struct tm_slurm_cancel *c)
{
  struct tm_launch_user hears = { c, on_launched, on_launch_failed, on_launch_ended };
  char *file = file_of(c->job, c->id, ".txt");
  char **without = tm_slurm_environment_removed(environ);
  char **argv = command_for(c);

  c->is_asked = true;
  tm_job_launching_run(
      c->job,
      &(struct tm_launch) { .argv = argv, .stderr_path = file, .cwd = "", .without = without },
      &hears);
  tm_command_words_free(argv);
  tm_command_words_free(without);
  free(file);
}

static void cancel_all(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;

  for (size_t i = 0; tm_fleet_node(&job->fleet, TM_LOCAL_NODE) && i < s->cancels.len; i++)
    if (!s->cancels.at[i]->is_asked)
      cancel(s->cancels.at[i]);
}

static void add(struct tm_job *job, uint32_t id, const char *name, bool is_step)
{
  struct tm_slurm_cancel *c = TM_NEW(struct tm_slurm_cancel);

  *c = (struct tm_slurm_cancel) {
    .job = job, .id = id, .name = tm_xstrdup(name), .is_step = is_step
  };
  *TM_ARRAY_ADD(&job->launches->slurm.cancels) = c;
}

/* Keeps (4). */
void tm_job_slurm_guard(struct tm_job *job, struct tm_node *local)
{
  const struct tm_job_launches *l = job->launches;
  char *name = tm_slurm_command_names(tm_path_base(job->dir.path), job->dir.epoch);
  char *file = tm_xprintf("%s/nodes/scancel.txt", job->dir.path);
  char **without = tm_slurm_environment_removed(environ), **argv;
  bool uses_slurm = false;

  for (size_t i = 0; i < l->groups.len; i++)
    uses_slurm = uses_slurm || l->groups.at[i].config->uses_slurm;
  argv = tm_slurm_command_cancel_all(name);
  if (uses_slurm)
    tm_node_at_end(local, &(struct tm_launch) {
                              .argv = argv, .stderr_path = file, .cwd = "", .without = without });
  tm_command_words_free(argv);
  tm_command_words_free(without);
  free(file);
  free(name);
}

void tm_job_slurm_ended(struct tm_launched_node *n)
{
  if (!n->slurm_name)
    return;
  if (!n->why && n->ended.exit_status == 0 && n->ended.signal == 0) {
    forget(n->job, n->id);
    return;
  }
  add(n->job, n->id, n->slurm_name, n->is_step);
  cancel_all(n->job);
}

void tm_job_slurm_lost(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  tm_job_slurm_queue_lost(&l->slurm);
  for (size_t i = 0; i < l->slurm.cancels.len; i++)
    l->slurm.cancels.at[i]->is_asked = false;
  for (size_t i = 0; i < l->nodes.len; i++)
    if (l->nodes.at[i]->slurm_name && !l->nodes.at[i]->has_ended)
      add(job, l->nodes.at[i]->id, l->nodes.at[i]->slurm_name, l->nodes.at[i]->is_step);
}

/* Runs scancel as our own child. 0, or a message. */
static int cancel_here(const struct tm_slurm_cancel *c, int64_t ns, struct tm_err *err)
{
  char **argv = command_for(c);
  struct tm_slurm_ran ran;
  int rc = tm_slurm_run(&ran, argv, ns, err);

  if (rc == 0 && (ran.is_late || ran.has_failed))
    rc = tm_err_set(err, TM_ESCRIPT, "%s",
                    ran.is_late ? "scancel takes too long" : "scancel has failed");
  tm_slurm_ran_release(&ran);
  tm_command_words_free(argv);
  return rc;
}

void tm_job_slurm_finish(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  int64_t until_ns = tm_clock_mono_ns() + FINISH_NS;

  while (s->cancels.len > 0) {
    struct tm_slurm_cancel *c = s->cancels.at[0];
    struct tm_err why = TM_ERR_NONE;
    int64_t left_ns = until_ns - tm_clock_mono_ns();
    if (left_ns <= 0)
      tm_err_set(&why, TM_ESCRIPT, "there is no time left");
    if (left_ns > 0 && cancel_here(c, left_ns, &why) == 0)
      forget(job, c->id);
    else
      report(c, why.text);
    remove_cancel(c);
  }
}

/* ---- what earlier sessions have left ---- */

static void on_left(void *data, uint32_t id, const char *name, bool is_step)
{
  if (tm_slurm_command_is_name(name))
    add(data, id, name, is_step);
}

void tm_job_slurm_go(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;

  if (!s->has_looked)
    tm_node_record_each_left(job->o.fs, job->dir.path, on_left, job);
  s->has_looked = true;
  cancel_all(job);
  tm_job_slurm_queue_go(job);
}

bool tm_job_slurm_is_done(const struct tm_job *job)
{
  return job->launches->slurm.cancels.len == 0;
}

void tm_job_slurm_release(struct tm_job_slurm *s)
{
  for (size_t i = 0; i < s->cancels.len; i++) {
    free(s->cancels.at[i]->name);
    free(s->cancels.at[i]);
  }
  TM_ARRAY_RELEASE(&s->cancels);
  tm_job_slurm_queue_lost(s);
  free(s->reported);
}
