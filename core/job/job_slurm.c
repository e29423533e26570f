/* job_slurm.c - nodes that are Slurm jobs (compute_target = "slurm"): see job_own.h.
 *
 * A node is one srun, which the keeper of this machine runs as it runs any other command. Its end
 * ends the Slurm job, unless srun is killed or the machine of the node is dead. So:
 *
 *  (1) <job>/nodes/<id>.slurm holds the name of the Slurm job from before its launch until it is
 *      certain that it has ended. What an earlier session has left is canceled by the next one.
 *  (2) A Slurm job whose srun did not end well is canceled, by its name: `scancel --name` takes
 *      one. scancel is a command of the keeper, too. One that fails is reported, not repeated.
 *  (3) Nobody waits for a cancellation but the end of the job, for a limited time. If the keeper of
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
#include "sys/clock.h"
#include "sys/program.h"

#define SAID_MAX       ((size_t)64 << 10) /* bytes of nodes/<id>.txt that are read */
#define NAME_MAX_BYTES 256
#define FINISH_NS      (5 * TM_S)

/* A Slurm job that must end. */
struct tm_slurm_cancel {
  struct tm_job *job;
  uint32_t id; /* of the node */
  char *name;
  bool is_asked; /* scancel runs, or will */
};

static char *file_of(const struct tm_job *job, uint32_t id, const char *ending)
{
  return tm_xprintf("%s/nodes/%" PRIu32 "%s", job->dir.path, id, ending);
}

/* ---- the launch ---- */

/* Keeps (1). */
static int record(struct tm_job *job, uint32_t id, const char *name, struct tm_err *err)
{
  char *file = file_of(job, id, ".slurm");
  int rc = tm_fs_write_file(job->o.fs, file, name, strlen(name), 0600, err);

  free(file);
  return rc;
}

static void forget(struct tm_job *job, uint32_t id)
{
  char *file = file_of(job, id, ".slurm");

  (void)job->o.fs->unlink(job->o.fs->self, file); /* else it is canceled again some day */
  free(file);
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

char **tm_job_slurm_command(struct tm_launched_node *n, const struct tm_config *c,
                            struct tm_err *err)
{
  struct tm_job *job = n->job;
  char *program[] = { (char *)job->o.program, (char *)"node", NULL };
  struct tm_slurm_request r = { .processes = c->process_count_per_node,
                                .options = c->slurm_options,
                                .program = program };
  char *exclude = tm_exclusions_text(&tm_job_launched_group(n)->exclude.hosts, c->slurm_exclude);
  char **argv;

  tm_require(!n->slurm_name);
  n->slurm_name = tm_slurm_command_name(tm_path_base(job->dir.path), job->dir.epoch, n->id);
  if (record(job, n->id, n->slurm_name, err) < 0) {
    free(exclude);
    return NULL;
  }
  r.name = n->slurm_name;
  r.exclude = exclude;
  argv = tm_slurm_command_start(&r);
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

  tm_buf_printf(&text,
                "cannot cancel the Slurm job of node %" PRIu32 ": %s; it may still run: scancel "
                "--name=%s",
                c->id, why, c->name);
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

/* Keeps (2). */
static void cancel(struct tm_slurm_cancel *c)
{
  struct tm_launch_user hears = { c, on_launched, on_launch_failed, on_launch_ended };
  char *file = file_of(c->job, c->id, ".txt");
  char **without = tm_slurm_environment_removed(environ);
  char **argv = tm_slurm_command_cancel_name(c->name);

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

static void add(struct tm_job *job, uint32_t id, const char *name)
{
  struct tm_slurm_cancel *c = TM_NEW(struct tm_slurm_cancel);

  *c = (struct tm_slurm_cancel) { .job = job, .id = id, .name = tm_xstrdup(name) };
  *TM_ARRAY_ADD(&job->launches->slurm.cancels) = c;
}

void tm_job_slurm_ended(struct tm_launched_node *n)
{
  if (!n->slurm_name)
    return;
  if (!n->why && n->ended.exit_status == 0 && n->ended.signal == 0) {
    forget(n->job, n->id);
    return;
  }
  add(n->job, n->id, n->slurm_name);
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
      add(job, l->nodes.at[i]->id, l->nodes.at[i]->slurm_name);
}

/* Runs scancel as our own child. 0, or a message. */
static int cancel_here(const struct tm_slurm_cancel *c, int64_t ns, struct tm_err *err)
{
  struct tm_buf out = TM_BUF_NONE, said = TM_BUF_NONE;
  char **argv = tm_slurm_command_cancel_name(c->name);
  struct tm_program p = { .argv = argv, .input = "" };
  struct tm_program_capture capture = { .out = &out, .err = &said, .max = SAID_MAX };
  struct tm_process_end end;
  bool timed_out = false;
  int rc = tm_program_run(&p, &capture, ns, &end, &timed_out, err);

  if (rc == 0 && (timed_out || end.exit_status != 0 || end.signal != 0))
    rc = tm_err_set(err, TM_ESCRIPT, "%s",
                    timed_out ? "scancel takes too long" : "scancel has failed");
  tm_buf_release(&out);
  tm_buf_release(&said);
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

static int on_file(void *data, const char *file, int type)
{
  struct tm_job *job = data;
  char *stem = tm_path_stem(file), *path;
  struct tm_buf name = TM_BUF_NONE;
  int64_t id;

  if (tm_path_has_ending(file, ".slurm") && tm_text_int(stem, &id) && id > 0 && id < UINT32_MAX) {
    path = file_of(job, (uint32_t)id, ".slurm");
    if (tm_fs_read_file(job->o.fs, path, NAME_MAX_BYTES, &name, NULL) == 0 &&
        tm_slurm_command_is_name(tm_buf_str(&name)))
      add(job, (uint32_t)id, tm_buf_str(&name));
    free(path);
  }
  tm_buf_release(&name);
  free(stem);
  return 0;
}

void tm_job_slurm_go(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  char *dir;

  if (!s->has_looked) {
    dir = tm_path_join(job->dir.path, "nodes");
    (void)tm_dir_read(dir, on_file, job); /* missing in a job without such nodes */
    free(dir);
  }
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
