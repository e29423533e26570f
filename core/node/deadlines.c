/* deadlines.c - deadlines and ends. Events of a worker are in one table, [state][event] -> action.
 *
 *  (1) No polling: one timer, set to the earliest possible deadline. A worker in run() since s can
 *      be late at s + timeout; one that is not in run() can be late at now + timeout at the
 *      earliest. The same holds for init(), loading a mini-batch, writing its result, and
 *      recover().
 *  (2) An end is handled completely before the next one: the group is killed while the ended worker
 *      still holds its number, then the worker is reaped and reported, and its folders are removed.
 *  (3) A process that has left the group by setsid() becomes our child when its parent dies. Its
 *      marker identifies it: if that belongs to no living worker, the process is killed. This is
 *      checked whenever a process beneath us has ended, because only then something can have become
 *      our child. A process that has erased its marker lives until the keeper ends.
 *  (4) A kill is sent once and its cause stored; a worker that ended by itself before the kill
 *      reports that.
 *  (5) A worker that was stopped (SIGSTOP) does nothing until it is continued, whatever its page
 *      says. It has run_invocation_timeout for that, in any phase. SIGKILL works on stopped
 *      processes.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "base/check.h"
#include "base/mem.h"
#include "node/node_own.h"
#include "sys/clock.h"
#include "sys/fs.h"

#define FROZEN_NS (60 * TM_S) /* if there is no run_invocation_timeout */

static int64_t due_of(int64_t since_ns, int64_t timeout_ns)
{
  if (timeout_ns <= 0)
    return INT64_MAX;
  return since_ns < INT64_MAX - timeout_ns ? since_ns + timeout_ns : INT64_MAX;
}

int64_t tm_keeper_due(const struct tm_page_view *view, const struct tm_node_step *s, int64_t now_ns)
{
  tm_require(view->phase <= TM_PHASE_LAST);
  bool is_new = view->phase == TM_PHASE_START || view->phase == TM_PHASE_INIT;
  const struct limit {
    enum tm_phase phase;
    int64_t ns;
  } limits[] = { { TM_PHASE_RUN, s->run_timeout_ns },
                 { TM_PHASE_LOAD, s->load_timeout_ns },
                 { TM_PHASE_PREFETCH, s->load_timeout_ns },
                 { TM_PHASE_RETURN, s->load_timeout_ns },
                 { TM_PHASE_INIT, is_new ? s->init_timeout_ns : 0 },
                 { TM_PHASE_RECOVER, s->interrupt_grace_ns > 0 ? TM_STOP_NS : 0 } };
  int64_t since_ns = view->since_ns < now_ns ? view->since_ns : now_ns, first_ns = INT64_MAX;
  for (size_t i = 0; i < TM_COUNT_OF(limits); i++) {
    int64_t due_ns = due_of(view->phase == limits[i].phase ? since_ns : now_ns, limits[i].ns);
    first_ns = due_ns < first_ns ? due_ns : first_ns;
  }
  return first_ns;
}

bool tm_keeper_is_marked(const char *found, const char *marker)
{
  size_t n = strlen(found), m = strlen(marker);
  return n >= m && strcmp(found + n - m, marker) == 0 && (n == m || found[n - m - 1] == ',');
}

enum tm_end_cause tm_keeper_cause(const struct tm_keeper_worker *w,
                                  const struct tm_process_end *end, enum tm_phase phase)
{
  if (w->state == TM_KEEPER_KILLED && end->signal == SIGKILL)
    return w->kill_cause; /* (4) */
  if (end->signal == SIGALRM && w->interrupt.call != 0)
    return TM_END_TIMEOUT; /* user code had removed the handler */
  if (end->signal != 0)
    return TM_END_SIGNAL;
  /* The worker may have received STOP and ended before we learn of the STOP: the page shows it,
   * too. */
  bool was_told = w->state == TM_KEEPER_STOPS || phase == TM_PHASE_SHUTDOWN;
  return was_told && end->exit_status == 0 ? TM_END_STOPPED : TM_END_EXITED;
}

/* ---- deadlines ---- */

static void arm(struct tm_keeper *k, int64_t now_ns) /* keeps (1) */
{
  int64_t first_ns = INT64_MAX;
  for (size_t i = 0; i < k->workers.len; i++) {
    const struct tm_keeper_worker *w = k->workers.at[i];
    if (w->state == TM_KEEPER_KILLED)
      continue;
    first_ns = w->due_ns < first_ns ? w->due_ns : first_ns;
    first_ns = w->stop_due_ns < first_ns ? w->stop_due_ns : first_ns;
    first_ns = w->frozen_due_ns < first_ns ? w->frozen_due_ns : first_ns;
  }
  if (first_ns == INT64_MAX)
    tm_timer_stop(&k->timer);
  else
    tm_timer_start(&k->timer, first_ns > now_ns ? first_ns - now_ns : 0, 0);
}

/* init() has no time left once the supervisor has said so. */
static int64_t due_now(const struct tm_keeper_worker *w, int64_t now_ns)
{
  if (w->step->is_init_late && w->view.phase == TM_PHASE_INIT)
    return now_ns;
  return tm_keeper_due(&w->view, &w->step->s, now_ns);
}

static void look_at_page(struct tm_keeper *k, struct tm_keeper_worker *w, int64_t now_ns)
{
  if (w->due_ns > now_ns || w->state == TM_KEEPER_KILLED)
    return;
  tm_page_read(w->page, &w->view);
  w->due_ns = due_now(w, now_ns);
  if (w->due_ns <= now_ns)
    tm_keeper_step(k, w, TM_KEEPER_ON_RUN_LATE);
}

static void look_at(struct tm_keeper *k, struct tm_keeper_worker *w, int64_t now_ns)
{
  if (w->stop_due_ns <= now_ns)
    tm_keeper_step(k, w, TM_KEEPER_ON_STOP_LATE);
  look_at_page(k, w, now_ns);
  if (w->frozen_due_ns <= now_ns) /* last: if it was late by its page, that is the cause */
    tm_keeper_step(k, w, TM_KEEPER_ON_FROZEN_LATE);
}

void tm_keeper_on_time(struct tm_timer *t)
{
  struct tm_keeper *k = t->data;
  int64_t now_ns = tm_clock_mono_ns();
  for (size_t i = 0; i < k->workers.len; i++)
    if (k->workers.at[i]->state != TM_KEEPER_KILLED)
      look_at(k, k->workers.at[i], now_ns);
  arm(k, now_ns);
}

void tm_keeper_look_again(struct tm_keeper *k, const struct tm_keeper_step *step)
{
  for (size_t i = 0; i < k->workers.len; i++)
    if (k->workers.at[i]->step == step)
      k->workers.at[i]->due_ns = 0;
  tm_keeper_on_time(&k->timer);
}

void tm_keeper_watch(struct tm_keeper *k, struct tm_keeper_worker *w)
{
  int64_t now_ns = tm_clock_mono_ns();
  struct tm_page_view view = { .phase = TM_PHASE_START };
  w->due_ns = tm_keeper_due(&view, &w->step->s, now_ns);
  w->stop_due_ns = w->frozen_due_ns = INT64_MAX;
  arm(k, now_ns);
}

void tm_keeper_on_stop(struct tm_keeper *k, struct tm_keeper_worker *w, bool is_stopped)
{
  int64_t now_ns = tm_clock_mono_ns(), timeout_ns = w->step->s.run_timeout_ns;
  tm_keeper_log(w->step, TM_WARNING, "%s was %s", w->name,
                is_stopped ? "stopped (SIGSTOP) by somebody" : "woken (SIGCONT)");
  w->frozen_due_ns = is_stopped ? now_ns + (timeout_ns > 0 ? timeout_ns : FROZEN_NS) : INT64_MAX;
  arm(k, now_ns);
}

/* ---- the table ---- */

static void nothing(struct tm_keeper *k, struct tm_keeper_worker *w)
{
}

static void begin_stop(struct tm_keeper *k, struct tm_keeper_worker *w)
{
  int64_t now_ns = tm_clock_mono_ns();
  w->state = TM_KEEPER_STOPS;
  w->stop_due_ns = now_ns + TM_STOP_NS;
  arm(k, now_ns);
}

static void kill_worker(struct tm_keeper_worker *w, enum tm_end_cause cause)
{
  tm_require(w->pid > 0 && w->state != TM_KEEPER_KILLED); /* keeps (4) */
  w->state = TM_KEEPER_KILLED;
  w->kill_cause = cause;
  tm_process_kill_group(w->pid, SIGKILL);
}

static void end_killed(struct tm_keeper *k, struct tm_keeper_worker *w)
{
  kill_worker(w, TM_END_KILLED);
}

static void end_late_stop(struct tm_keeper *k, struct tm_keeper_worker *w)
{
  kill_worker(w, TM_END_SHUTDOWN);
}

static void end_late_run(struct tm_keeper *k, struct tm_keeper_worker *w)
{
  bool is_given_up = w->step->is_init_late && w->view.phase == TM_PHASE_INIT;
  if (!tm_keeper_interrupt(w))
    kill_worker(w, is_given_up ? TM_END_KILLED : TM_END_TIMEOUT);
}

static void end_frozen(struct tm_keeper *k, struct tm_keeper_worker *w)
{
  kill_worker(w, TM_END_FROZEN);
}

static void end_large(struct tm_keeper *k, struct tm_keeper_worker *w)
{
  kill_worker(w, TM_END_MEMORY);
}

static void forget(struct tm_keeper *k, struct tm_keeper_worker *w)
{
  size_t i = 0;
  while (i < k->workers.len && k->workers.at[i] != w)
    i++;
  tm_require(i < k->workers.len);
  k->workers.at[i] = k->workers.at[--k->workers.len];
  tm_tree_remove_forced(w->temp_dir, NULL); /* on failure, it is removed with the keeper's folder */
  if (w->memory_dir)
    tm_tree_remove_forced(w->memory_dir, NULL);
  tm_keeper_worker_free(w);
  k->has_ends = true;
}

static void (*const actions[TM_KEEPER_STATES][TM_KEEPER_EVENTS])(struct tm_keeper *,
                                                                 struct tm_keeper_worker *) = {
  /*                    STOPPING    KILL        RUN_LATE      STOP_LATE      FROZEN_LATE MEMORY
   *                                END */
  [TM_KEEPER_LIVES] = { begin_stop, end_killed, end_late_run, nothing, end_frozen, end_large,
                        forget },
  [TM_KEEPER_STOPS] = { nothing, end_killed, end_late_run, end_late_stop, end_frozen, end_large,
                        forget },
  [TM_KEEPER_KILLED] = { nothing, nothing, nothing, nothing, nothing, nothing, forget },
};

void tm_keeper_step(struct tm_keeper *k, struct tm_keeper_worker *w, enum tm_keeper_event event)
{
  tm_require(w->state < TM_KEEPER_STATES && event < TM_KEEPER_EVENTS);
  actions[w->state][event](k, w);
}

/* ---- ends ---- */

static void tell(struct tm_keeper *k, struct tm_keeper_worker *w, const struct tm_ended *ended)
{
  struct tm_buf bytes = TM_BUF_NONE;
  tm_keeper_log_end(k, w, ended);
  tm_ended_encode(&bytes, ended);
  tm_keeper_send(k, TM_MSG_ENDED, w->number, bytes.data,
                 bytes.len);     /* after the logs, because it names them */
  tm_channel_flush(&k->control); /* its successor need not wait for what we do next */
  tm_buf_release(&bytes);
}

static void end_worker(struct tm_keeper *k, struct tm_keeper_worker *w,
                       const struct tm_process_end *end)
{
  struct tm_ended ended = { .pid = (uint32_t)end->pid,
                            .exit_status = end->exit_status,
                            .signal = end->signal };
  int64_t now_ns = tm_clock_mono_ns();
  tm_require(w->pid == end->pid && w->page);
  tm_process_kill_group(w->pid, SIGKILL); /* keeps (2) */
  tm_page_read(w->page, &ended.view);
  tm_page_states_read(&ended.states, w->page);
  ended.cause = tm_keeper_cause(w, end, ended.view.phase);
  ended.lived_ns = now_ns - w->started_ns;
  if (ended.view.since_ns > 0 && ended.view.since_ns < now_ns) /* otherwise it was scribbled on */
    ended.phase_ns = now_ns - ended.view.since_ns;
  tm_keeper_find_cause(k, w, &ended);
  tm_process_reap(w->pid, &ended.max_rss_kb);
  tell(k, w, &ended);
  tm_keeper_step(k, w, TM_KEEPER_ON_END);
}

static struct tm_keeper_worker *find_pid(const struct tm_keeper *k, pid_t pid)
{
  for (size_t i = 0; i < k->workers.len; i++)
    if (k->workers.at[i]->pid == pid)
      return k->workers.at[i];
  return NULL;
}

/* Whether its worker lives, or is unknown. */
static bool may_live(const struct tm_keeper *k, pid_t pid)
{
  char found[TM_MARKER_MAX];
  if (!tm_process_env(pid, TM_ENV_WORKER, found, sizeof found))
    return true;
  for (size_t i = 0; i < k->workers.len; i++)
    if (tm_keeper_is_marked(found, k->workers.at[i]->marker))
      return true;
  return tm_keeper_launch_lives(k, found);
}

/* When the keeper ends, only launches live on, until the time for their end is over. */
static bool is_spared(const struct tm_keeper *k, pid_t pid)
{
  char found[TM_MARKER_MAX];
  if (tm_keeper_find_launch(k, pid))
    return true;
  if (!k->is_closing)
    return find_pid(k, pid) || may_live(k, pid);
  return tm_process_env(pid, TM_ENV_WORKER, found, sizeof found) &&
         tm_keeper_launch_lives(k, found);
}

static pid_t *all_children(size_t *n)
{
  pid_t *pids = NULL;
  size_t room = 512;
  do {
    room *= 2;
    pids = tm_xrealloc(pids, room * sizeof *pids);
    *n = tm_process_children(getpid(), pids, room);
  } while (*n == room);
  return pids;
}

/* Keeps (3). When the keeper ends, nothing may survive. If nothing was killed, and no child has
 * ended in the meantime whose own children became ours, then nothing is left of commands that have
 * ended. Otherwise the end of that child calls this again. */
static void sweep(struct tm_keeper *k)
{
  struct tm_process_end end;
  bool is_clean = true;
  size_t n;
  pid_t *pids = all_children(&n);
  for (size_t i = 0; i < n; i++)
    if (!is_spared(k, pids[i])) {
      tm_process_kill(pids[i], SIGKILL);
      is_clean = false;
    }
  free(pids);
  if (is_clean && tm_process_next_end(&end) <= 0)
    tm_keeper_report_launches(k);
}

static void look_for_stopped(struct tm_keeper *k) /* keeps (5) */
{
  pid_t pid;
  bool is_stopped;
  while (tm_process_next_stop(&pid, &is_stopped) > 0) {
    struct tm_keeper_worker *w = find_pid(k, pid);
    if (w && !k->is_closing)
      tm_keeper_on_stop(k, w, is_stopped);
  }
}

bool tm_keeper_reap(struct tm_keeper *k)
{
  struct tm_process_end end;
  int rc;
  look_for_stopped(k);
  while ((rc = tm_process_next_end(&end)) > 0) {
    struct tm_keeper_worker *w = find_pid(k, end.pid);
    struct tm_keeper_launch *l = tm_keeper_find_launch(k, end.pid);
    if (w)
      end_worker(k, w, &end);
    else if (l)
      tm_keeper_launch_over(k, l, &end);
    else
      tm_process_reap(end.pid, NULL);
  }
  if (rc == 0 && (k->has_ends || k->is_closing))
    sweep(k);
  else if (rc < 0)
    tm_keeper_report_launches(k);
  return rc == 0;
}
