/* job_launches.c - the nodes that commands start (compute_target = "exec"): see job_own.h.
 *
 * Steps whose settings of nodes are equal form a group: its nodes serve all of them. A node lives
 * in two ways: its command, which the keeper of this machine runs, and its stream in the fleet.
 *
 *   launch -> on_launched -> fleet -> ready ----> lost, gone --.
 *     |           |                                            v
 *     |           `-----------------------------> ended ---> settled -> launched again, as a new id
 *     `-> on_launch_failed: no node of the group can be had
 *
 *  (1) An id is used once, also across sessions: <job>/nodes/<id>.txt exists before the launch.
 *  (2) A node is settled once: when its stream is gone and nothing of its command is left. Only
 *      then may its host be used again, and its temporary folder be removed.
 *  (3) Nodes are launched only while a step of their group can use workers.
 *  (4) If the keeper of this machine is lost, its commands end with it, and so do their nodes.
 *
 * The keeper of this machine marks what it launches with the job of its first step, and finds by
 * that mark what a killed keeper has left. So a step without workers is added to it, which has the
 * log folders of the first step of the group that launches.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/command_template.h"
#include "base/path.h"
#include "base/text.h"
#include "fleet/launch_plan.h"
#include "fleet/launches.h"
#include "job/job_own.h"
#include "sys/clock.h"

#define NO_GROUP SIZE_MAX

struct group {
  const struct tm_config *config; /* of its first step */
  struct tm_launch_plan plan;
  struct tm_err cause; /* why no node of it can be had; code 0: no error */
  struct tm_err last;  /* why its last node has failed */
};

struct launched_node {
  struct tm_job *job;
  uint32_t id, launch;
  size_t group;
  const char *host; /* or NULL */
  bool has_stream;  /* in the fleet */
  bool is_over;     /* nothing of its command is left */
  bool was_ready;
  char *why; /* it is being ended, or is lost; NULL: it is not */
  bool is_late, has_ended;
  struct tm_launch_ended ended;
};

struct tm_job_launches {
  struct TM_ARRAY(struct group) groups;
  size_t *group_of; /* by step */
  struct TM_ARRAY(struct launched_node *) nodes;
  uint32_t next_id;   /* 0: not known yet */
  bool knows_step;    /* the keeper of this machine */
  int64_t give_up_ns; /* of an ending job: when its commands are ended by force */
};

/* ---- groups ---- */

static bool are_equal(char *const *a, char *const *b)
{
  size_t i = 0;

  if (!a || !b)
    return a == b;
  while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
    i++;
  return a[i] == b[i];
}

static bool is_same_group(const struct tm_config *a, const struct tm_config *b)
{
  return are_equal(a->node_command, b->node_command) && are_equal(a->node_hosts, b->node_hosts) &&
         a->node_count == b->node_count && a->node_timeout_ns == b->node_timeout_ns &&
         a->node_start_timeout_ns == b->node_start_timeout_ns &&
         a->process_count_per_node == b->process_count_per_node;
}

static size_t group_for(struct tm_job_launches *l, const struct tm_config *c)
{
  struct group *g;

  for (size_t i = 0; i < l->groups.len; i++)
    if (is_same_group(l->groups.at[i].config, c))
      return i;
  g = TM_ARRAY_ADD(&l->groups);
  *g = (struct group) { .config = c };
  tm_launch_plan_init(&g->plan, (size_t)c->node_count, c->node_hosts_len,
                      c->node_start_timeout_ns);
  return l->groups.len - 1;
}

void tm_job_launches_init(struct tm_job *job)
{
  struct tm_job_launches *l = TM_NEW(struct tm_job_launches);

  l->group_of = tm_xcalloc(job->steps_len, sizeof(*l->group_of));
  for (size_t i = 0; i < job->steps_len; i++) {
    const struct tm_config *c = &job->o.pipeline->steps[i]->config;
    l->group_of[i] = c->launches_nodes ? group_for(l, c) : NO_GROUP;
  }
  job->launches = l;
}

static void free_node(struct launched_node *n)
{
  free(n->why);
  free(n);
}

void tm_job_launches_release(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  if (!l)
    return;
  for (size_t i = 0; i < l->nodes.len; i++)
    free_node(l->nodes.at[i]);
  for (size_t i = 0; i < l->groups.len; i++)
    tm_launch_plan_release(&l->groups.at[i].plan);
  TM_ARRAY_RELEASE(&l->nodes);
  TM_ARRAY_RELEASE(&l->groups);
  free(l->group_of);
  free(l);
  job->launches = NULL;
}

static struct launched_node *find(const struct tm_job *job, uint32_t id)
{
  for (size_t i = 0; i < job->launches->nodes.len; i++)
    if (job->launches->nodes.at[i]->id == id)
      return job->launches->nodes.at[i];
  return NULL;
}

static struct group *group_of(const struct launched_node *n)
{
  return &n->job->launches->groups.at[n->group];
}

static bool is_usable(const struct launched_node *n)
{
  return n && n->was_ready && !n->why;
}

bool tm_job_launches_serves(const struct tm_job *job, uint32_t id, size_t step)
{
  size_t group = job->launches->group_of[step];
  const struct launched_node *n = find(job, id);

  if (group == NO_GROUP)
    return id == TM_LOCAL_NODE;
  return is_usable(n) && n->group == group && tm_fleet_is_ready(&job->fleet, id);
}

size_t tm_job_launches_count(const struct tm_job *job)
{
  size_t n = 0;

  for (size_t i = 0; i < job->launches->nodes.len; i++)
    n += is_usable(job->launches->nodes.at[i]);
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->launches->group_of[i] == NO_GROUP)
      return n + 1;
  return n;
}

/* Keeps (3). The step that needs nodes; SIZE_MAX: none. */
static size_t find_user(const struct tm_job *job, size_t group)
{
  for (size_t i = 0; i < job->steps_len; i++) {
    struct tm_share share;
    if (job->launches->group_of[i] != group || job->steps[i].state != TM_STEP_RUNS)
      continue;
    tm_supervisor_share(job->steps[i].s, &share);
    if (share.wants > 0)
      return i;
  }
  return SIZE_MAX;
}

/* ---- failing ---- */

static bool may_run(const struct tm_job *job)
{
  return tm_job_life_may(&job->life, TM_JOB_MAY_RUN);
}

void tm_job_launches_check(struct tm_job *job, size_t step)
{
  size_t group = job->launches->group_of[step];

  if (group != NO_GROUP && job->launches->groups.at[group].cause.code < 0 &&
      job->steps[step].state == TM_STEP_RUNS)
    tm_supervisor_fail(job->steps[step].s, &job->launches->groups.at[group].cause);
}

/* No node of the group can be had: its steps fail, now or when they begin. */
static void fail_group(struct tm_job *job, size_t group, const struct tm_err *err)
{
  struct group *g = &job->launches->groups.at[group];

  if (g->cause.code < 0)
    return;
  g->cause = *err;
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->launches->group_of[i] == group)
      tm_job_launches_check(job, i);
}

static void add_name(struct tm_buf *out, const struct launched_node *n)
{
  tm_buf_printf(out, "node %" PRIu32, n->id);
  if (n->host)
    tm_buf_printf(out, " (%s)", n->host);
}

static void add_end(struct tm_buf *out, const struct tm_launch_ended *e)
{
  if (e->signal)
    tm_buf_printf(out, "its command was killed by signal %d (%s)", e->signal,
                  strsignal(e->signal));
  else
    tm_buf_printf(out, "its command exited with status %d", e->exit_status);
}

/* Our own SIGTERM explains nothing. */
static bool explains(const struct launched_node *n)
{
  return n->has_ended && !n->is_late && !(n->why && n->ended.signal == SIGTERM);
}

static void describe(struct tm_buf *out, const struct launched_node *n)
{
  tm_buf_add_str(out, n->was_ready ? "" : "cannot start ");
  add_name(out, n);
  tm_buf_add_str(out, n->was_ready ? " is lost: " : ": ");
  if (!n->was_ready && explains(n)) {
    add_end(out, &n->ended);
    tm_buf_add_str(out, " before the node was ready");
  } else {
    tm_buf_add_str(out, n->why ? n->why : "its command has ended");
    if (explains(n)) {
      tm_buf_add_str(out, "; ");
      add_end(out, &n->ended);
    }
  }
  if (n->has_ended && n->ended.last_line[0])
    tm_buf_printf(out, "; its last line was '%s'", n->ended.last_line);
  tm_buf_printf(out, "; see 'nodes/%" PRIu32 ".txt'", n->id);
}

/* ---- the end of a node ---- */

static void drop(struct launched_node *n)
{
  struct tm_job_launches *l = n->job->launches;
  size_t kept = 0;

  for (size_t i = 0; i < l->nodes.len; i++)
    if (l->nodes.at[i] != n)
      l->nodes.at[kept++] = l->nodes.at[i];
  l->nodes.len = kept;
  free_node(n);
}

static void fail_node(struct launched_node *n, struct tm_err *err)
{
  struct tm_job *job = n->job;
  size_t group = n->group;
  struct group *g = group_of(n);
  struct tm_buf text = TM_BUF_NONE;

  describe(&text, n);
  tm_err_set(err, TM_ESCRIPT, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
  g->last = *err;
  tm_job_nodes_remove_temp_of(job, n->id);
  tm_launch_plan_failed(&g->plan, n->id, tm_clock_mono_ns());
  drop(n);
  if (find_user(job, group) == SIZE_MAX)
    return;
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_WARNING, err->text);
  if (may_run(job) && tm_launch_plan_is_exhausted(&g->plan))
    fail_group(job, group, err);
}

/* Keeps (2). */
static void settle(struct launched_node *n)
{
  struct tm_job *job = n->job;
  struct tm_err err = TM_ERR_NONE;

  if (n->has_stream || !n->is_over)
    return;
  if (may_run(job)) {
    fail_node(n, &err);
    tm_job_launches_go(job);
  } else {
    drop(n);
    tm_job_launches_end(job);
  }
}

/* Its command ends; then it is settled. */
static void end_command(struct launched_node *n)
{
  struct tm_node *local = tm_fleet_node(&n->job->fleet, TM_LOCAL_NODE);

  if (!n->is_over && local)
    tm_node_end_launch(local, n->launch);
}

static void give_up(struct launched_node *n, const char *why)
{
  if (!n->why)
    n->why = tm_xstrdup(why);
  end_command(n);
}

static void lose_local(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  l->knows_step = false;
  for (size_t i = 0; i < l->nodes.len; i++) {
    struct launched_node *n = l->nodes.at[i];
    if (!n->why)
      n->why = tm_xstrdup("the keeper of this machine, which ran its command, is lost");
    n->is_over = true; /* keeps (4) */
    tm_job_steps_silence_node(job, n->id);
  }
  tm_fleet_close_streams(&job->fleet);
  for (size_t i = l->nodes.len; i-- > 0;)
    if (i < l->nodes.len && may_run(job))
      settle(l->nodes.at[i]);
}

void tm_job_launches_lost(struct tm_job *job, uint32_t id, const char *why)
{
  struct launched_node *n = find(job, id);

  if (id == TM_LOCAL_NODE)
    lose_local(job);
  else if (n)
    give_up(n, why);
}

void tm_job_launches_gone(struct tm_job *job, uint32_t id)
{
  struct launched_node *n = find(job, id);

  if (!n)
    return;
  n->has_stream = false;
  settle(n);
}

/* ---- what the keeper says of a command ---- */

static void on_launched(void *data, uint32_t launch, int64_t pid, int fd)
{
  struct launched_node *n = data;
  struct group *g = group_of(n);
  struct tm_err err = TM_ERR_NONE;

  if (n->why || !may_run(n->job)) {
    tm_fs_close(tm_fs_real(), fd);
    end_command(n);
    return;
  }
  tm_launch_plan_running(&g->plan, n->id, tm_clock_mono_ns());
  if (tm_fleet_connect(&n->job->fleet, n->id, fd, fd, n->host, g->config->node_timeout_ns, &err) <
      0) {
    give_up(n, err.text);
    return;
  }
  n->has_stream = true;
}

static void on_launch_failed(void *data, uint32_t launch, const char *text)
{
  struct launched_node *n = data;
  struct tm_job *job = n->job;
  size_t group = n->group;
  struct tm_err err = TM_ERR_NONE;

  n->is_over = true;
  if (!n->why)
    n->why = tm_xstrdup(text);
  if (!may_run(job)) {
    settle(n);
    return;
  }
  fail_node(n, &err);
  fail_group(job, group, &err);
}

static void on_launch_ended(void *data, uint32_t launch, const struct tm_launch_ended *ended)
{
  struct launched_node *n = data;

  n->ended = *ended;
  n->has_ended = n->is_over = true;
  settle(n);
}

void tm_job_launches_ready(struct tm_job *job, uint32_t id)
{
  struct launched_node *n = find(job, id);
  struct tm_buf text = TM_BUF_NONE;

  if (!n || n->why || !may_run(job))
    return;
  n->was_ready = true;
  tm_launch_plan_ready(&group_of(n)->plan, id);
  add_name(&text, n);
  tm_buf_add_str(&text, " is ready");
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_INFO, tm_buf_str(&text));
  tm_buf_release(&text);
  tm_job_steps_set_node(job, tm_fleet_node(&job->fleet, id));
}

void tm_job_launches_committed(struct tm_job *job, size_t step, uint32_t id)
{
  size_t group = job->launches->group_of[step];

  if (group != NO_GROUP)
    tm_launch_plan_committed(&job->launches->groups.at[group].plan, id);
}

/* ---- launching ---- */

static int on_file(void *data, const char *name, int type)
{
  uint32_t *next = data;
  char *stem = tm_path_stem(name);
  int64_t number;

  if (tm_text_int(stem, &number) && number >= *next && number < UINT32_MAX)
    *next = (uint32_t)number + 1;
  free(stem);
  return 0;
}

/* Makes the file that keeps (1). `out`: its path, to free(), also after an error. */
static int take_id(struct tm_job *job, uint32_t *id, char **out, struct tm_err *err)
{
  struct tm_job_launches *l = job->launches;
  char *dir = tm_path_join(job->dir.path, "nodes");
  int rc = 0;

  if (l->next_id == 0) {
    l->next_id = TM_LOCAL_NODE + 1;
    rc = tm_fs_make_dirs(job->o.fs, dir, 0700, err);
    (void)tm_dir_read(dir, on_file, &l->next_id);
  }
  *id = l->next_id++;
  *out = tm_xprintf("%s/%" PRIu32 ".txt", dir, *id);
  free(dir);
  if (rc == 0)
    rc = tm_fs_open(job->o.fs, *out, O_WRONLY | O_CREAT | O_EXCL, 0600, err);
  if (rc >= 0)
    tm_fs_close(job->o.fs, rc);
  return rc < 0 ? rc : 0;
}

static char **command_of(const struct launched_node *n, struct tm_err *err)
{
  const struct tm_config *c = group_of(n)->config;
  char *id = tm_xprintf("%" PRIu32, n->id),
       *processes = tm_xprintf("%" PRId64, c->process_count_per_node);
  struct tm_template_value values[] = { { "node_id", id },
                                        { "program", n->job->o.program },
                                        { "job_dir", n->job->dir.path },
                                        { "processes", processes },
                                        { "host", n->host } };
  char **argv = tm_command_words_expand(c->node_command, values,
                                        TM_COUNT_OF(values) - (n->host ? 0 : 1), err);

  free(id);
  free(processes);
  return argv;
}

/* It has no workers: nothing is said of it. */
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

/* Makes the keeper of this machine know the job, once. */
static void add_step(struct tm_job *job, struct tm_node *local, size_t user)
{
  char *logs = tm_path_join(job->steps[user].own.dir, "logs");
  char *argv[] = { (char *)job->o.program, (char *)"worker", NULL }, *environment[] = { NULL };
  struct tm_temp_dirs dirs = tm_temp_dirs_of(&job->temps.at[TM_LOCAL_NODE], "nodes", NULL);
  struct tm_node_step step = { .node_id = (char *)TM_LOCAL_NODE_NAME,
                               .job_dir = job->dir.path,
                               .logs_dir = logs,
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

  if (!job->launches->knows_step)
    tm_node_add_step(local, &step, &nobody);
  job->launches->knows_step = true;
  tm_temp_dirs_release(&dirs);
  free(logs);
}

static void launch(struct tm_job *job, size_t group, size_t place, size_t user)
{
  struct tm_job_launches *l = job->launches;
  struct group *g = &l->groups.at[group];
  struct launched_node *n = TM_NEW(struct launched_node);
  struct tm_launch_user hears = { n, on_launched, on_launch_failed, on_launch_ended };
  struct tm_node *local = tm_fleet_node(&job->fleet, TM_LOCAL_NODE);
  struct tm_err err = TM_ERR_NONE;
  char *file, **argv = NULL;
  int rc;

  *n = (struct launched_node) { .job = job, .group = group };
  rc = take_id(job, &n->id, &file, &err);
  size_t host = tm_launch_plan_launch(&g->plan, place, n->id);
  n->host = host == SIZE_MAX ? NULL : g->config->node_hosts[host];
  *TM_ARRAY_ADD(&l->nodes) = n;
  if (rc == 0)
    rc = tm_job_nodes_record_temp(job, n->id, &err);
  if (rc == 0 && (argv = command_of(n, &err))) {
    add_step(job, local, user);
    n->launch = tm_node_launch(
        local, &(struct tm_launch) { .argv = argv, .stderr_path = file, .cwd = "" }, &hears);
  } else {
    tm_launch_plan_failed(&g->plan, n->id, tm_clock_mono_ns());
    drop(n);
    fail_group(job, group, &err);
  }
  tm_command_words_free(argv);
  free(file);
}

static void end_late(struct tm_job *job, struct group *g)
{
  char *why = tm_xprintf("it was not ready after %g s (node_start_timeout)",
                         (double)g->config->node_start_timeout_ns / 1e9);
  uint32_t id;

  while (tm_launch_plan_late(&g->plan, tm_clock_mono_ns(), &id)) {
    struct launched_node *n = find(job, id);
    tm_launch_plan_ends(&g->plan, id);
    tm_require(n);
    n->is_late = true;
    give_up(n, why);
  }
  free(why);
}

static bool has_places_in_use(const struct tm_launch_plan *p)
{
  for (size_t i = 0; i < p->places.len; i++)
    if (p->places.at[i].state != TM_LAUNCH_PLACE_EMPTY)
      return true;
  return false;
}

static void go(struct tm_job *job, size_t group)
{
  struct group *g = &job->launches->groups.at[group];
  size_t place, user;

  end_late(job, g);
  while (may_run(job) && g->cause.code == 0 && tm_fleet_node(&job->fleet, TM_LOCAL_NODE) &&
         (user = find_user(job, group)) != SIZE_MAX) {
    if (tm_launch_plan_is_exhausted(&g->plan) && !has_places_in_use(&g->plan))
      fail_group(job, group, &g->last);
    place = tm_launch_plan_next(&g->plan, tm_clock_mono_ns());
    if (place == SIZE_MAX || g->cause.code < 0)
      return;
    launch(job, group, place, user);
  }
}

void tm_job_launches_go(struct tm_job *job)
{
  for (size_t i = 0; may_run(job) && i < job->launches->groups.len; i++)
    go(job, i);
}

/* ---- the end of the job ---- */

void tm_job_launches_close(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  l->give_up_ns = tm_clock_mono_ns() + TM_LAUNCH_END_NS;
  for (size_t i = 0; i < l->nodes.len; i++)
    if (!l->nodes.at[i]->was_ready)
      end_command(l->nodes.at[i]); /* it has no keeper that could end first */
  tm_fleet_close_streams(&job->fleet);
  tm_job_launches_end(job);
}

void tm_job_launches_end(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  if (job->life.state != TM_JOB_IS_ENDING ||
      (l->nodes.len > 0 && tm_clock_mono_ns() < l->give_up_ns))
    return;
  tm_fleet_close(&job->fleet);
  if (tm_fleet_is_empty(&job->fleet))
    tm_job_happen(job, TM_JOB_ON_GONE);
}
