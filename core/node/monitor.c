/* monitor.c - samples a node's resources (sampler.c) at intervals, for a step.
 *
 *   a worker starts -> FIRST_NS, or the interval if shorter -> a sample -> the interval -> ...
 *   no worker lives -> nothing, until one starts
 *
 * A step that measures launches has launches instead of workers. It accompanies a step whose
 * workers run on the nodes that the launches carry, and ends with it.
 *
 * The interval "auto" grows with the time since the first worker started, so that a job of minutes
 * has a graph, and one of days does not fill a disk.
 *
 *  (1) A job that takes less than FIRST_NS costs nothing.
 *  (2) It must not disturb a job: if a file cannot be written, or there is no /proc, this is
 *      reported once, and the step's monitor is turned off.
 *  (3) The list of all processes is made in pieces, between other events.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/path.h"
#include "base/time.h"
#include "base/check.h"
#include "node/node_own.h"
#include "node/sampler.h"
#include "sys/clock.h"
#include "sys/fs.h"

#define FIRST_NS TM_S
#define LEAST_NS (100 * TM_MS) /* minimum between two samples */
#define PIECE_NS TM_MS         /* between two pieces of a list */
#define LISTS_NS (600 * TM_S)  /* auto: between two lists of all processes */

struct tm_keeper_monitor {
  struct tm_keeper *k;
  struct tm_keeper_step *step;
  struct tm_timer timer;
  struct tm_sampler *sampler; /* NULL: no worker has started yet, or the monitor is off */
  int64_t interval_ns;        /* negative: auto */
  int64_t begun_ns;           /* monotonic; when the first worker started */
  int64_t due_ns;             /* monotonic; the next sample */
  int64_t list_due_ns;        /* monotonic; the next list */
  bool is_waiting;            /* the timer has been started */
  bool is_off;
};

static void turn_off(struct tm_keeper_monitor *m, struct tm_err *err) /* keeps (2) */
{
  m->is_off = true;
  tm_keeper_note_log(m->k, err);
}

/* For a machine without /proc. */
static void turn_off_at_once(struct tm_keeper_monitor *m, struct tm_err *err)
{
  m->is_off = true;
  tm_err_wrap(err, "the resources of node %s cannot be measured, and the job continues without",
              m->step->s.node_id);
  tm_keeper_note(m->k, err->text);
}

/* The older name of the folder. */
static void add_link(struct tm_keeper_monitor *m)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_err err = TM_ERR_NONE;
  char *link = tm_xprintf("%s/sys/perf", m->step->s.logs_dir);
  int rc = fs->symlink(fs->self, "../perf", link);
  if (rc < 0 && rc != -EEXIST) {
    tm_err_system(&err, rc, "cannot make the link '%s'", link);
    tm_keeper_note_log(m->k, &err);
  }
  free(link);
}

int64_t tm_keeper_monitor_interval(int64_t interval_ns, int64_t age_ns)
{
  if (interval_ns >= 0)
    return interval_ns < LEAST_NS ? LEAST_NS : interval_ns;
  return age_ns < 120 * TM_S ? TM_S : age_ns < 3600 * TM_S ? 5 * TM_S : 30 * TM_S;
}

/* Whether this sample comes with a list of all processes. */
static bool is_list_due(struct tm_keeper_monitor *m, int64_t now_ns)
{
  if (m->interval_ns < 0 && now_ns < m->list_due_ns)
    return false;
  m->list_due_ns = now_ns + LISTS_NS;
  return true;
}

struct roots {
  struct TM_ARRAY(struct tm_sample_root) list;
  struct TM_ARRAY(char *) names; /* of launches */
};

static void add_parents(struct roots *r, const struct tm_keeper_monitor *m)
{
  bool is_local = m->step->s.incarnation.node == TM_LOCAL_NODE;
  *TM_ARRAY_ADD(&r->list) = (struct tm_sample_root) { .pid = m->k->parent,
                                                      .name = is_local ? "supervisor" : "relay",
                                                      .is_alone = true };
  *TM_ARRAY_ADD(&r->list) =
      (struct tm_sample_root) { .pid = getpid(), .name = "keeper", .is_alone = true };
}

static void add_workers(struct roots *r, const struct tm_keeper_monitor *m)
{
  for (size_t i = 0; i < m->k->workers.len; i++) {
    const struct tm_keeper_worker *w = m->k->workers.at[i];
    if (w->step == m->step)
      *TM_ARRAY_ADD(&r->list) = (struct tm_sample_root) { .pid = w->pid, .name = w->name };
  }
}

/* "launcher of 3", which writes to <job>/nodes/3.txt. */
static void add_launches(struct roots *r, const struct tm_keeper_monitor *m)
{
  for (size_t i = 0; i < m->k->launches.len; i++) {
    const struct tm_keeper_launch *l = m->k->launches.at[i];
    char *stem = tm_path_stem(l->stderr_path);
    if (l->pid > 0) {
      *TM_ARRAY_ADD(&r->names) = tm_xprintf("launcher of %s", stem);
      *TM_ARRAY_ADD(&r->list) =
          (struct tm_sample_root) { .pid = l->pid, .name = r->names.at[r->names.len - 1] };
    }
    free(stem);
  }
}

/* Whether there was anything to measure. */
static bool take(struct tm_keeper_monitor *m, int64_t mono_ns, struct tm_err *err)
{
  struct roots r = { 0 };
  size_t parents;
  bool is_any;
  add_parents(&r, m);
  parents = r.list.len;
  if (m->step->s.measures_launches)
    add_launches(&r, m);
  else
    add_workers(&r, m);
  is_any = r.list.len > parents;
  if (is_any)
    tm_sampler_take(m->sampler, r.list.at, r.list.len, is_list_due(m, mono_ns), tm_clock_wall_ns(),
                    mono_ns, err);
  TM_ARRAY_RELEASE(&r.list);
  TM_ARRAY_RELEASE_EACH(&r.names);
  return is_any;
}

static void wait_until(struct tm_keeper_monitor *m, int64_t due_ns, int64_t now_ns)
{
  tm_require(m->sampler && !m->is_off);
  m->is_waiting = true;
  tm_timer_start(&m->timer, due_ns > now_ns ? due_ns - now_ns : 0, 0);
}

static void on_time(struct tm_timer *t)
{
  struct tm_keeper_monitor *m = t->data;
  struct tm_err err = TM_ERR_NONE;
  int64_t now_ns = tm_clock_mono_ns();
  bool has_workers = true;
  m->is_waiting = false;
  if (now_ns >= m->due_ns) {
    has_workers = take(m, now_ns, &err);
    add_link(m);
    m->due_ns = now_ns + tm_keeper_monitor_interval(m->interval_ns, now_ns - m->begun_ns);
  } else {
    tm_sampler_list(m->sampler, &err); /* keeps (3) */
  }
  if (err.code < 0)
    turn_off(m, &err);
  else if (tm_sampler_is_listing(m->sampler))
    wait_until(m, now_ns + PIECE_NS, now_ns);
  else if (has_workers)
    wait_until(m, m->due_ns, now_ns);
}

void tm_keeper_monitor_open(struct tm_keeper *k, struct tm_keeper_step *step)
{
  if (step->s.monitor_ns == 0)
    return;
  tm_require(!step->monitor);
  struct tm_keeper_monitor *m = step->monitor = TM_NEW(struct tm_keeper_monitor);
  m->k = k;
  m->step = step;
  m->interval_ns = step->s.monitor_ns;
  tm_timer_open(&m->timer, &k->loop, on_time, m);
}

void tm_keeper_monitor_begin(struct tm_keeper_step *step)
{
  struct tm_keeper_monitor *m = step->monitor;
  struct tm_err err = TM_ERR_NONE;
  if (!m || m->is_off || m->is_waiting)
    return;
  int64_t now_ns = tm_clock_mono_ns();
  if (!m->sampler) {
    char *dir = tm_xprintf("%s/perf/%s", step->s.logs_dir,
                           step->s.measures_launches ? "supervisor" : step->s.node_id);
    m->sampler = tm_sampler_new(dir, "/proc", &err);
    int64_t first_ns = tm_keeper_monitor_interval(m->interval_ns, 0);
    m->begun_ns = now_ns;
    m->due_ns = now_ns + (first_ns < FIRST_NS ? first_ns : FIRST_NS);
    free(dir);
  }
  if (m->sampler)
    wait_until(m, m->due_ns, now_ns);
  else
    turn_off_at_once(m, &err);
}

void tm_keeper_monitor_launches(struct tm_keeper *k)
{
  for (size_t i = 0; i < k->steps.len && k->launches.len > 0; i++)
    if (k->steps.at[i]->s.measures_launches)
      tm_keeper_monitor_begin(k->steps.at[i]);
}

void tm_keeper_monitor_end(struct tm_keeper_step *step)
{
  struct tm_keeper_monitor *m = step->monitor;
  if (!m || m->is_off)
    return;
  m->is_off = true;
  tm_timer_stop(&m->timer);
}

void tm_keeper_monitor_close(struct tm_keeper_step *step)
{
  if (step->monitor)
    tm_timer_close(&step->monitor->timer);
}

void tm_keeper_monitor_free(struct tm_keeper_step *step)
{
  if (!step->monitor)
    return;
  tm_sampler_free(step->monitor->sampler);
  free(step->monitor);
  step->monitor = NULL;
}
