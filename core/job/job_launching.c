/* job_launching.c - begins a launch: see job_own.h.
 *
 *  (1) An id is used once, also across sessions: <job>/nodes/<id>.txt exists before the launch.
 *  (2) A file whose number is ID_MAX or more is not ours, and is ignored: tables have a place for
 *      each id up to the largest.
 *
 * The keeper of this machine marks its launches with the job of its first step, and finds the
 * processes of a killed keeper by that mark. So it gets a step without workers first. This step has
 * no logs: the log folders of the nodes do not contain one of this machine. For each step with
 * launched nodes, another step without workers makes the keeper measure the supervisor and the
 * launches.
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
#include "slurm/slurm_environment.h"
#include "job/job_own.h"

#define ID_MAX 1000000

struct scan {
  struct tm_job *job;
  const char *dir;
  uint32_t next; /* id */
};

/* Keeps (2). Also removes what a killed session has left of a probe (job_probe.h). */
static int on_file(void *data, const char *name, int type)
{
  struct scan *s = data;
  char *stem = tm_path_stem(name);
  int64_t number;

  if (tm_text_int(stem, &number) && number >= s->next && number < ID_MAX)
    s->next = (uint32_t)number + 1;
  if (tm_path_has_ending(name, ".asked") || tm_path_has_ending(name, ".answered")) {
    char *path = tm_path_join(s->dir, name);
    (void)s->job->o.fs->unlink(s->job->o.fs->self, path);
    free(path);
  }
  free(stem);
  return 0;
}

uint32_t tm_job_launching_next_id(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;
  char *dir = tm_path_join(job->dir.path, "nodes");

  if (l->next_id == 0) {
    struct scan s = { .job = job, .dir = dir, .next = TM_LOCAL_NODE + 1 };
    (void)tm_dir_read(dir, on_file, &s); /* missing in a new job */
    l->next_id = s.next;
  }
  free(dir);
  return l->next_id++;
}

/* Keeps (1). */
static int make_file(struct tm_job *job, const char *file, struct tm_err *err)
{
  char *dir = tm_path_dir(file);
  int rc = tm_fs_make_dirs(job->o.fs, dir, 0700, err);

  free(dir);
  if (rc == 0)
    rc = tm_fs_open(job->o.fs, file, O_WRONLY | O_CREAT | O_EXCL, 0600, err);
  if (rc >= 0)
    tm_fs_close(job->o.fs, rc);
  return rc < 0 ? rc : 0;
}

static char **command_of(struct tm_launched_node *n, const struct tm_config *c, struct tm_err *err)
{
  if (c->uses_slurm)
    return tm_job_slurm_command(n, c);
  char *id = tm_xprintf("%" PRIu32, n->id),
       *processes = tm_xprintf("%" PRId64, c->process_count_per_node);
  struct tm_template_value values[5] = { { "node_id", id },
                                         { "program", n->job->o.program },
                                         { "job_dir", n->job->dir.path } };
  size_t len = 3;
  char **argv;

  if (n->host)
    values[len++] = (struct tm_template_value) { "host", n->host };
  if (c->process_count_per_node > 0)
    values[len++] = (struct tm_template_value) { "processes", processes };
  argv = tm_command_words_expand(c->node_command, values, len, err);

  free(id);
  free(processes);
  return argv;
}

/* It has no workers: the keeper reports nothing of it. */
static void on_nothing_started(void *data, uint32_t worker, int64_t pid,
                               struct tm_worker_link *link)
{
}

static void on_no_text(void *data, uint32_t worker, const char *text)
{
}

static void on_nothing_taken(void *data, uint32_t worker, const uint64_t *seqs, size_t n)
{
}

static void on_nothing_ended(void *data, uint32_t worker, const struct tm_ended *ended)
{
}

static void on_nothing_done(void *data, const struct tm_worker_doing *doing)
{
}

/* A step without workers. `monitor_ns`: as in struct tm_node_step; then its launches are measured,
 * below `logs_dir`. Returns its number. */
static uint32_t add_empty_step(struct tm_job *job, struct tm_node *local, const char *logs_dir,
                               int64_t monitor_ns)
{
  char *argv[] = { (char *)job->o.program, (char *)"worker", NULL }, *environment[] = { NULL };
  struct tm_temp_dirs dirs = tm_temp_dirs_of(&job->temps.at[TM_LOCAL_NODE], "nodes", NULL);
  struct tm_node_step step = { .node_id = (char *)TM_LOCAL_NODE_NAME,
                               .job_dir = job->dir.path,
                               .logs_dir = (char *)logs_dir,
                               .monitor_ns = monitor_ns,
                               .measures_launches = monitor_ns != 0,
                               .cwd = job->dir.path,
                               .temp_base = dirs.temp,
                               .memory_base = dirs.memory,
                               .worker_argv = argv,
                               .worker_argv_len = 2,
                               .environment = environment,
                               .log_level = TM_INFO };
  struct tm_node_user nobody = { .on_started = on_nothing_started,
                                 .on_start_failed = on_no_text,
                                 .on_taken = on_nothing_taken,
                                 .on_ended = on_nothing_ended,
                                 .on_doing = on_nothing_done };

  uint32_t number = tm_node_add_step(local, &step, &nobody);

  tm_temp_dirs_release(&dirs);
  return number;
}

/* Makes the keeper of this machine know the job, once. */
static void add_step(struct tm_job *job, struct tm_node *local)
{
  if (!job->launches->knows_step) {
    (void)add_empty_step(job, local, "", 0);
    tm_job_slurm_guard(job, local);
  }
  job->launches->knows_step = true;
}

static void measure(struct tm_job *job, struct tm_node *local, size_t i)
{
  struct tm_measured *m = &job->launches->measured[i];
  int64_t interval_ns = job->o.pipeline->steps[i]->config.monitor_interval_ns;
  bool is_due = job->steps[i].state == TM_STEP_RUNS && interval_ns != 0 &&
                job->launches->group_of[i] != SIZE_MAX;

  if (is_due && !m->is_on) {
    add_step(job, local);
    m->step = add_empty_step(job, local, job->step_views[i]->logs_dir, interval_ns);
  } else if (!is_due && m->is_on) {
    tm_node_step_is_over(local, m->step);
  }
  m->is_on = is_due;
}

void tm_job_launching_measure(struct tm_job *job)
{
  struct tm_node *local = tm_fleet_node(&job->fleet, TM_LOCAL_NODE);

  for (size_t i = 0; i < job->steps_len && local; i++)
    measure(job, local, i);
}

void tm_job_launching_lost(struct tm_job *job)
{
  job->launches->knows_step = false;
  memset(job->launches->measured, 0, job->steps_len * sizeof(*job->launches->measured));
}

uint32_t tm_job_launching_run(struct tm_job *job, const struct tm_launch *l,
                              const struct tm_launch_user *user)
{
  struct tm_node *local = tm_fleet_node(&job->fleet, TM_LOCAL_NODE);

  tm_require(local);
  add_step(job, local);
  return tm_node_launch(local, l, user);
}

static char *file_of(const struct tm_launched_node *n)
{
  return tm_xprintf("%s/nodes/%" PRIu32 ".txt", n->job->dir.path, n->id);
}

void tm_job_launching_adopt(struct tm_launched_node *n, const struct tm_launch_user *user)
{
  struct tm_node *local = tm_fleet_node(&n->job->fleet, TM_LOCAL_NODE);
  char *file = file_of(n);

  tm_require(local);
  add_step(n->job, local);
  n->launch = tm_node_adopt(local, &n->process, file, user);
  free(file);
}

static void run_kept(struct tm_launched_node *n, const struct tm_launch *l,
                     const struct tm_launch_user *user)
{
  n->launch = tm_job_launching_run(n->job, l, user);
  n->process = *tm_node_launched(tm_fleet_node(&n->job->fleet, TM_LOCAL_NODE), n->launch);
}

int tm_job_launching_begin(struct tm_launched_node *n, const struct tm_config *c,
                           const struct tm_launch_user *user, struct tm_err *err)
{
  struct tm_job *job = n->job;
  char *file = file_of(n);
  char **without = c->uses_slurm ? tm_slurm_environment_removed(environ) : NULL, **argv = NULL;
  int rc = make_file(job, file, err);

  if (rc == 0 && !(argv = command_of(n, c, err)))
    rc = err->code;
  if (rc == 0)
    rc = tm_job_node_record_begin(n, c, argv, err);
  if (rc == 0)
    run_kept(
        n,
        &(struct tm_launch) {
            .argv = argv, .stderr_path = file, .cwd = "", .without = without, .is_kept = true },
        user);
  tm_command_words_free(argv);
  tm_command_words_free(without);
  free(file);
  return rc;
}
