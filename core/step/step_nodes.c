/* step_nodes.c - the nodes of a step: see supervisor_own.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/check.h"
#include "record/temp_dirs.h"
#include "snapshot/snapshot.h"
#include "step/supervisor_own.h"
#include "sys/process.h"

/* Names. */

static int on_log_name(void *data, const char *name, int type)
{
  static const char begin[] = "process";
  int64_t *next = data, number = 0;
  size_t at = sizeof(begin) - 1;

  if (strncmp(name, begin, at) != 0)
    return 0;
  for (; name[at] >= '0' && name[at] <= '9' && number < INT32_MAX; at++)
    number = number * 10 + (name[at] - '0');
  if (number >= *next)
    *next = number + 1;
  return 0;
}

struct log_dirs {
  char *dir;
  int64_t next;
};

static int on_log_dir(void *data, const char *name, int type)
{
  struct log_dirs *d = data;
  char *dir = tm_path_join(d->dir, name);

  (void)tm_dir_read(dir, on_log_name, &d->next);
  free(dir);
  return 0;
}

int64_t tm_step_nodes_next_number(const struct tm_supervisor *s)
{
  struct log_dirs d = { .dir = tm_path_join(s->logs_dir, "user/stdout") };

  (void)tm_dir_read(d.dir, on_log_dir, &d); /* missing in a new job */
  free(d.dir);
  return d.next;
}

/* Coming and going. */

static struct tm_step_node *place_of(struct tm_supervisor *s, uint32_t id)
{
  while (s->nodes.len <= id)
    *TM_ARRAY_ADD(&s->nodes) = NULL;
  if (!s->nodes.at[id]) {
    s->nodes.at[id] = TM_NEW(struct tm_step_node);
    s->nodes.at[id]->id = id;
  }
  return s->nodes.at[id];
}

/* On all nodes that it has. */
static int64_t count_slots(const struct tm_supervisor *s)
{
  int64_t slots = 0;

  for (size_t i = 0; i < s->nodes.len; i++)
    if (s->nodes.at[i] && s->nodes.at[i]->is_added)
      slots += s->nodes.at[i]->slots;
  return slots;
}

int64_t tm_step_nodes_workers(const struct tm_supervisor *s)
{
  int64_t slots = count_slots(s), given = s->o.step->config.process_count_per_node;

  if (slots > 0)
    return slots;
  return given > 0 ? given : 1; /* the least that a node decides */
}

static int64_t slots_of(const struct tm_supervisor *s, const struct tm_node *node)
{
  int64_t given = s->o.step->config.process_count_per_node;
  int64_t slots = given > 0 ? given : tm_node_workers(node);

  tm_require(slots > 0); /* a node of this machine never decides */
  return slots;
}

/* A keeper of this machine is a child of this process, with the same affinity and quota. */
static int64_t cores_of(const struct tm_node *node)
{
  const struct tm_node_report *report = tm_node_reported(node);

  return report ? (int64_t)report->cpus : tm_process_cores();
}

/* The job's copy, or the one that the node has got (job/job_source.h). */
static void find_script(const struct tm_supervisor *s, struct tm_step_node *n)
{
  const struct tm_config *config = &s->o.step->config;
  bool has_own = config->ships_source && n->id != TM_LOCAL_NODE;

  free(n->script);
  free(n->script_dir);
  n->script_dir = has_own ? tm_temp_dirs_source(&n->temp, s->copy->hash) : tm_xstrdup(s->copy->dir);
  n->script = has_own ? tm_snapshot_script(config, n->script_dir) : tm_xstrdup(s->copy->script);
}

/* Makes the step known to the keeper, and the node to the scheduler. */
static void add(struct tm_supervisor *s, struct tm_step_node *n)
{
  bool is_here = n->id == TM_LOCAL_NODE; /* else its keeper's program: it may have another path */
  char *argv[] = { is_here ? (char *)s->o.program : (char *)"", (char *)"worker", NULL };
  struct tm_temp_dirs dirs = tm_temp_dirs_of(&n->temp, s->view.name, NULL);
  find_script(s, n);
  char **environment = tm_snapshot_environment(&s->o.step->config, n->script_dir);
  size_t environment_len = 0;
  struct tm_node_user user = tm_copying_node_user(s);
  struct tm_node_step step = { .node_id = n->name,
                               .job_dir = (char *)s->o.job->dir,
                               .logs_dir = s->logs_dir,
                               .cwd =
                                   s->o.step->working_dir ? s->o.step->working_dir : n->script_dir,
                               .temp_base = dirs.temp,
                               .memory_base = dirs.memory,
                               .worker_argv = argv,
                               .worker_argv_len = 2,
                               .environment = environment,
                               .run_timeout_ns = s->o.step->config.run_invocation_timeout_ns,
                               .load_timeout_ns = s->o.step->config.load_timeout_ns,
                               .memory_limit = s->o.step->config.worker_memory_limit,
                               .init_timeout_ns = s->o.step->config.init_timeout_ns,
                               .monitor_ns = s->o.step->config.monitor_interval_ns,
                               .hides_gpus = s->o.step->config.hides_gpus,
                               .log_level = s->o.step->config.logging_level };

  tm_require(n->waiting && !n->is_added); /* the scheduler has lost the one before */
  n->node = n->waiting;
  n->waiting = NULL;
  snprintf(n->name, sizeof(n->name), "%s", tm_node_name(n->node));
  snprintf(n->address, sizeof(n->address), "%s", tm_node_address(n->node));
  if (s->o.step->config.interruptible != TM_NOT_INTERRUPTIBLE)
    step.interrupt_grace_ns = s->o.step->config.interrupt_grace_ns;
  while (environment[environment_len])
    environment_len++;
  step.environment_len = environment_len;
  n->step = tm_node_add_step(n->node, &step, &user);
  n->is_added = true;
  n->slots = slots_of(s, n->node);
  n->cores = cores_of(n->node);
  n->clock_offset_ns = tm_node_clock_offset_ns(n->node);
  s->sched.time.init.workers = tm_step_nodes_workers(s);
  tm_workers_tell(
      s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_NODE, .node = n->id, .slots = n->slots });
  tm_snapshot_free_environment(environment);
  tm_temp_dirs_release(&dirs);
}

void tm_step_nodes_set(struct tm_supervisor *s, struct tm_node *node,
                       const struct tm_temp_dirs *temp)
{
  struct tm_step_node *n = place_of(s, tm_node_id(node));

  n->waiting = node;
  tm_temp_dirs_release(&n->temp);
  n->temp = (struct tm_temp_dirs) { tm_xstrdup(temp->temp), tm_xstrdup(temp->memory) };
}

static bool is_new(const struct tm_step_node *n)
{
  return n && n->waiting;
}

bool tm_step_nodes_are_new(const struct tm_supervisor *s)
{
  for (size_t i = 0; i < s->nodes.len; i++)
    if (is_new(s->nodes.at[i]))
      return true;
  return false;
}

void tm_step_nodes_add_all(struct tm_supervisor *s)
{
  for (size_t i = 0; i < s->nodes.len; i++)
    if (is_new(s->nodes.at[i]))
      add(s, s->nodes.at[i]);
}

static struct tm_step_node *find(const struct tm_supervisor *s, uint32_t id)
{
  return id < s->nodes.len ? s->nodes.at[id] : NULL;
}

static bool is_used(const struct tm_step_node *n)
{
  return n && (n->waiting || n->node);
}

bool tm_supervisor_has_node(const struct tm_supervisor *s, uint32_t id)
{
  return is_used(find(s, id));
}

size_t tm_supervisor_nodes(const struct tm_supervisor *s)
{
  size_t count = 0;

  for (size_t i = 0; i < s->nodes.len; i++)
    count += is_used(s->nodes.at[i]);
  return count;
}

bool tm_supervisor_is_idle(const struct tm_supervisor *s, uint32_t id)
{
  const struct tm_sched_node *n = tm_roster_node(&s->sched.roster, id);

  return !s->copying.is_on && s->announced.list.len == 0 && (!n || n->holders == 0);
}

bool tm_supervisor_has_workers(const struct tm_supervisor *s, uint32_t id)
{
  const struct tm_sched_node *n = tm_roster_node(&s->sched.roster, id);

  return n && n->workers.len > 0;
}

void tm_supervisor_run_times(const struct tm_supervisor *s, struct tm_run_times *out)
{
  *out = (struct tm_run_times) { .longest_ns = s->longest_run_ns,
                                 .timeout_ns = s->o.step->config.run_invocation_timeout_ns };
}

void tm_supervisor_add_lost_work(const struct tm_supervisor *s, uint32_t id,
                                 struct tm_lost_work *sum)
{
  const struct tm_sched_node *n = tm_roster_node(&s->sched.roster, id);

  if (!n)
    return;
  sum->went_back += n->went_back;
  sum->may_have_run += n->had_work;
}

void tm_supervisor_drain_node(struct tm_supervisor *s, uint32_t id)
{
  (void)tm_workers_tell(s,
                        &(struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_DRAINS, .node = id });
  tm_workers_fill(s); /* what avoids another node may have waited for this one */
}

void tm_supervisor_add_use(const struct tm_supervisor *s, int64_t *run_ns, int64_t *worker_ns)
{
  for (size_t i = TM_LOCAL_NODE + 1; i < s->nodes.len; i++)
    if (s->nodes.at[i]) {
      if (__builtin_add_overflow(*run_ns, s->nodes.at[i]->run_ns, run_ns))
        *run_ns = INT64_MAX;
      *worker_ns += s->nodes.at[i]->worker_ns;
    }
}

void tm_step_nodes_silence(struct tm_supervisor *s, uint32_t id)
{
  struct tm_step_node *n = find(s, id);

  if (!n)
    return;
  n->node = n->waiting = NULL;
  if (n->is_added)
    tm_workers_silence(s, n);
}

bool tm_step_nodes_lose(struct tm_supervisor *s, uint32_t id)
{
  struct tm_step_node *n = find(s, id);

  if (!n || !n->is_added)
    return true;
  if (!tm_workers_lose(s, n))
    return false;
  tm_require(!n->node);
  n->is_added = false;
  s->sched.time.init.workers = tm_step_nodes_workers(s);
  return true;
}

void tm_step_nodes_tick(struct tm_supervisor *s)
{
  bool is_any = false;

  for (size_t i = 0; i < s->nodes.len; i++) {
    struct tm_step_node *n = s->nodes.at[i];
    if (!n || !n->is_added || !n->node)
      continue;
    n->clock_offset_ns = tm_node_clock_offset_ns(n->node);
    if (tm_node_round_trip_ns(n->node) == n->distance_ns)
      continue;
    n->distance_ns = tm_node_round_trip_ns(n->node);
    tm_workers_tell(s, &(struct tm_sched_event) {
                           .kind = TM_SCHED_ON_DISTANCE, .node = n->id, .ns = n->distance_ns });
    is_any = true;
  }
  if (is_any)
    tm_workers_fill(s);
}

void tm_step_nodes_release(struct tm_supervisor *s)
{
  for (size_t i = 0; i < s->nodes.len; i++) {
    struct tm_step_node *n = s->nodes.at[i];
    if (!n)
      continue;
    tm_temp_dirs_release(&n->temp);
    free(n->script);
    free(n->script_dir);
    free(n);
  }
  TM_ARRAY_RELEASE(&s->nodes);
}
