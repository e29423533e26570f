/* launcher.c - commands that the keeper runs for the supervisor (LAUNCH in node_msg.h). Each one
 * carries the stream of a node: ssh, srun, or `tidemill node` itself. Events of a launch are in one
 * table, [state][event] -> action.
 *
 *   descriptors: 0 and 1 a socket, whose other end is the supervisor's; 2 a file; no others
 *   environment: the keeper's, less `without`, and the marker (spawn.c), with the name "launch"
 *
 *  (1) SIGTERM and SIGKILL go to the command alone, which may have helpers that must not end before
 *      it: if a helper of srun ends, srun cancels the job. The group gets SIGKILL when the command
 *      has ended.
 *  (2) LAUNCH_ENDED is sent once, when the command is reaped and no process that it has started is
 *      left. Such processes become our children when their parents die; then deadlines.c kills
 *      those whose marker belongs to no living command.
 *  (3) A launch has the same time to end when the keeper ends.
 *  (4) The keeper keeps neither end of the socket, so that each side sees the other's end.
 *  (5) The command of AT_END ends what launches have started elsewhere, if the supervisor cannot do
 *      that any more. It runs when all launches have ended, or when its time has come. Only when it
 *      is over are those killed that still live.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "node/node_own.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/program.h"

#define AT_END_NUMBER UINT32_MAX

enum event { ON_END, ON_LATE, ON_OVER, EVENTS };

static void step(struct tm_keeper *k, struct tm_keeper_launch *l, enum event event);

static void free_launch(struct tm_keeper_launch *l)
{
  free(l->marker);
  free(l->stderr_path);
  free(l);
}

struct tm_keeper_launch *tm_keeper_launch_find(const struct tm_keeper *k, uint32_t number)
{
  for (size_t i = 0; i < k->launches.len; i++)
    if (k->launches.at[i]->number == number)
      return k->launches.at[i];
  return NULL;
}

struct tm_keeper_launch *tm_keeper_find_launch(const struct tm_keeper *k, pid_t pid)
{
  for (size_t i = 0; i < k->launches.len; i++)
    if (k->launches.at[i]->pid == pid && !k->launches.at[i]->adopted)
      return k->launches.at[i];
  return NULL;
}

/* ---- the start ---- */

/* The descriptor for its stderr. */
static int open_stderr(struct tm_keeper_launch *l, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int fd = tm_fs_open(fs, l->stderr_path, O_WRONLY | O_APPEND | O_CREAT, 0600, err);
  if (fd >= 0 && fs->fstat(fs->self, fd, &st) == 0)
    l->stderr_from = st.size;
  return fd;
}

static size_t count_of(char *const *names)
{
  size_t len = 0;
  while (names && names[len])
    len++;
  return len;
}

static pid_t start_process(const struct tm_keeper_launch *l, const struct tm_launch *asked,
                           int socket, int errors, struct tm_err *err)
{
  struct tm_program p = { .argv = asked->argv, .cwd = *asked->cwd ? asked->cwd : NULL };
  char *program = tm_program_file(&p, err),
       *last[] = { tm_xprintf(TM_ENV_WORKER "=%s", l->marker) };
  char **env = tm_keeper_environment(environ, asked->without, count_of(asked->without), last, 1);
  int fds[] = { socket, socket, errors };
  struct tm_spawn spawn = {
    .program = program, .argv = asked->argv, .env = env, .cwd = p.cwd, .fds = fds, .fds_len = 3
  };
  pid_t pid = program ? tm_process_start(&spawn, err) : -1;
  if (!program)
    tm_err_append(err, "; install it on this machine, or name another command");
  free(env);
  free(last[0]);
  free(program);
  return pid;
}

/* *fd: the supervisor's end of the socket, for the caller. */
static int start(struct tm_keeper_launch *l, const struct tm_launch *asked, int *fd,
                 struct tm_err *err)
{
  int pair[2], errors = open_stderr(l, err);
  if (errors < 0)
    return errors;
  if (tm_channel_pair(pair, err) == 0) {
    l->started_ns = tm_clock_mono_ns();
    l->pid = start_process(l, asked, pair[1], errors, err);
    tm_fs_close(tm_fs_real(), pair[1]); /* keeps (4) */
    *fd = pair[0];
    if (l->pid < 0)
      tm_fs_close(tm_fs_real(), pair[0]);
  }
  tm_fs_close(tm_fs_real(), errors);
  return l->pid > 0 ? 0 : err->code;
}

/* Keeps (4). */
static void tell_launched(struct tm_keeper *k, struct tm_keeper_launch *l, int fd)
{
  struct tm_buf process = TM_BUF_NONE;
  struct tm_msg f = { .type = TM_MSG_LAUNCHED, .worker = l->number, .fd = -1 };
  tm_buf_add_u32(&process, (uint32_t)l->pid);
  tm_buf_add_u64(&process, tm_process_born(l->pid));
  f.payload = process.data;
  f.length = (uint32_t)process.len;
  if (tm_channel_send_fd(&k->control, &f, fd, NULL) < 0)
    step(k, l, ON_LATE); /* nobody can talk to it: the channel has ended */
  tm_fs_close(tm_fs_real(), fd);
  tm_buf_release(&process);
}

static char *marker_of(const struct tm_keeper *k, bool is_kept, uint32_t number)
{
  const struct tm_node_step *s = &k->steps.at[0]->s;
  return tm_keeper_launch_marker(s->job_dir, &s->incarnation, is_kept, number);
}

static void launch(struct tm_keeper *k, uint32_t number, const struct tm_launch *asked,
                   int64_t end_ns)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_keeper_launch *l = TM_NEW(struct tm_keeper_launch);
  int fd = -1;
  *l = (struct tm_keeper_launch) { .number = number,
                                   .marker = marker_of(k, asked->is_kept, number),
                                   .stderr_path = tm_xstrdup(asked->stderr_path),
                                   .end_ns = end_ns,
                                   .end_due_ns = INT64_MAX };
  if (start(l, asked, &fd, &err) < 0) {
    tm_keeper_send(k, TM_MSG_LAUNCH_FAILED, number, err.text, strlen(err.text));
    free_launch(l);
    return;
  }
  *TM_ARRAY_ADD(&k->launches) = l;
  tell_launched(k, l, fd);
  tm_keeper_monitor_launches(k);
}

bool tm_keeper_on_launch(struct tm_keeper *k, const struct tm_msg *f)
{
  struct tm_launch asked;
  struct tm_err err = TM_ERR_NONE;
  int64_t end_ns;
  if (k->steps.len == 0)
    tm_err_set(&err, TM_EPROTOCOL, "a launch was requested before the first step");
  else if (tm_keeper_launch_find(k, f->worker))
    tm_err_set(&err, TM_EPROTOCOL, "launch %u was requested twice", f->worker);
  else
    tm_node_launch_decode(&asked, &end_ns, f->payload, f->length, &err);
  if (err.code < 0) {
    tm_keeper_note(k, err.text);
    return false;
  }
  launch(k, f->worker, &asked, end_ns);
  tm_node_launch_release(&asked);
  return true;
}

/* ---- the table ---- */

static void arm(struct tm_keeper *k, int64_t now_ns)
{
  int64_t first_ns = INT64_MAX;
  for (size_t i = 0; i < k->launches.len; i++)
    if (k->launches.at[i]->state == TM_LAUNCH_ENDS && k->launches.at[i]->end_due_ns < first_ns)
      first_ns = k->launches.at[i]->end_due_ns;
  if (first_ns == INT64_MAX)
    tm_timer_stop(&k->launch_timer);
  else
    tm_timer_start(&k->launch_timer, first_ns > now_ns ? first_ns - now_ns : 0, 0);
}

static void nothing(struct tm_keeper *k, struct tm_keeper_launch *l)
{
}

static void send_signal(const struct tm_keeper_launch *l, int signal)
{
  if (l->adopted)
    tm_process_kill_held(l->adopted->held, signal);
  else
    tm_process_kill(l->pid, signal);
}

static void ask(struct tm_keeper *k, struct tm_keeper_launch *l)
{
  int64_t now_ns = tm_clock_mono_ns();
  l->state = TM_LAUNCH_ENDS;
  l->end_due_ns = l->end_ns < INT64_MAX - now_ns ? now_ns + l->end_ns : INT64_MAX;
  send_signal(l, SIGTERM); /* keeps (1) */
  arm(k, now_ns);
}

static void end_late(struct tm_keeper *k, struct tm_keeper_launch *l)
{
  l->state = TM_LAUNCH_KILLED;
  send_signal(l, SIGKILL); /* keeps (1) */
}

static void leave(struct tm_keeper *k, struct tm_keeper_launch *l)
{
  if (l->adopted) {
    tm_keeper_adopted_leave(l);
  } else {
    tm_process_kill_group(l->pid, SIGKILL); /* while it still holds its number: keeps (1) */
    tm_process_reap(l->pid, NULL);
  }
  l->state = TM_LAUNCH_LEFT;
  l->pid = 0;
  k->has_ends = true;
}

static void (*const actions[TM_LAUNCH_STATES][EVENTS])(struct tm_keeper *,
                                                       struct tm_keeper_launch *) = {
  /*                     END      LATE      OVER */
  [TM_LAUNCH_RUNS] = { ask, end_late, leave },
  [TM_LAUNCH_ENDS] = { nothing, end_late, leave },
  [TM_LAUNCH_KILLED] = { nothing, nothing, leave },
  [TM_LAUNCH_LEFT] = { nothing, nothing, nothing },
};

static void step(struct tm_keeper *k, struct tm_keeper_launch *l, enum event event)
{
  tm_require(l->state < TM_LAUNCH_STATES && event < EVENTS);
  actions[l->state][event](k, l);
}

void tm_keeper_on_end_launch(struct tm_keeper *k, const struct tm_msg *f)
{
  struct tm_keeper_launch *l = tm_keeper_launch_find(k, f->worker);
  if (l)
    step(k, l, ON_END);
}

void tm_keeper_on_kill_launch(struct tm_keeper *k, const struct tm_msg *f)
{
  struct tm_keeper_launch *l = tm_keeper_launch_find(k, f->worker);
  if (l)
    step(k, l, ON_LATE);
}

/* ---- the end of the keeper ---- */

void tm_keeper_on_at_end(struct tm_keeper *k, const struct tm_msg *f)
{
  struct tm_launch asked;
  struct tm_err err = TM_ERR_NONE;
  int64_t after_ns;
  if (tm_node_launch_decode(&asked, &after_ns, f->payload, f->length, &err) < 0) {
    tm_keeper_note(k, err.text);
    return;
  }
  tm_node_launch_release(&k->at_end.asked);
  k->at_end.asked = asked;
  k->at_end.after_ns = after_ns;
}

bool tm_keeper_launches_live(const struct tm_keeper *k)
{
  for (size_t i = 0; i < k->launches.len; i++)
    if (k->launches.at[i]->state != TM_LAUNCH_LEFT)
      return true;
  return false;
}

/* Keeps (5). */
static void kill_living(struct tm_keeper *k)
{
  k->at_end.state = TM_AT_END_OVER;
  for (size_t i = 0; i < k->launches.len; i++)
    step(k, k->launches.at[i], ON_LATE);
}

/* It has no number of the supervisor's, who hears nothing any more. */
static void begin_at_end(struct tm_keeper *k)
{
  int64_t now_ns = tm_clock_mono_ns();
  struct tm_keeper_launch *l = TM_NEW(struct tm_keeper_launch);
  int fd = -1;
  *l = (struct tm_keeper_launch) { .number = AT_END_NUMBER,
                                   .marker = marker_of(k, false, AT_END_NUMBER),
                                   .stderr_path = tm_xstrdup(k->at_end.asked.stderr_path),
                                   .state = TM_LAUNCH_ENDS, /* by itself */
                                   .end_due_ns = now_ns + TM_AT_END_NS };
  k->at_end.state = TM_AT_END_RUNS;
  if (start(l, &k->at_end.asked, &fd, NULL) < 0) {
    free_launch(l);
    kill_living(k);
    return;
  }
  tm_fs_close(tm_fs_real(), fd);
  *TM_ARRAY_ADD(&k->launches) = l;
  arm(k, now_ns);
}

bool tm_keeper_run_at_end(struct tm_keeper *k)
{
  if (k->at_end.state != TM_AT_END_DUE || tm_keeper_launches_live(k))
    return false;
  begin_at_end(k);
  return k->at_end.state == TM_AT_END_RUNS;
}

/* Keeps (3) and (5). */
void tm_keeper_end_launches(struct tm_keeper *k)
{
  int64_t now_ns = tm_clock_mono_ns();
  for (size_t i = 0; i < k->launches.len; i++)
    step(k, k->launches.at[i], ON_END);
  if (!k->at_end.asked.argv || !tm_keeper_launches_live(k))
    return;
  k->at_end.state = TM_AT_END_DUE;
  for (size_t i = 0; i < k->launches.len; i++)
    k->launches.at[i]->end_due_ns = now_ns + k->at_end.after_ns;
  arm(k, now_ns);
}

static void be_late(struct tm_keeper *k, struct tm_keeper_launch *l)
{
  l->end_due_ns = INT64_MAX;
  if (k->at_end.state == TM_AT_END_DUE)
    begin_at_end(k);
  else if (k->at_end.state != TM_AT_END_RUNS || l->number == AT_END_NUMBER)
    step(k, l, ON_LATE);
}

void tm_keeper_on_launch_time(struct tm_timer *t)
{
  struct tm_keeper *k = t->data;
  int64_t now_ns = tm_clock_mono_ns();
  for (size_t i = 0; i < k->launches.len; i++)
    if (k->launches.at[i]->end_due_ns <= now_ns)
      be_late(k, k->launches.at[i]);
  arm(k, now_ns);
}

/* ---- the end ---- */

void tm_keeper_launch_over(struct tm_keeper *k, struct tm_keeper_launch *l,
                           const struct tm_process_end *end)
{
  tm_require(l->pid == end->pid);
  l->ended = (struct tm_launch_ended) { .exit_status = end->exit_status,
                                        .signal = end->signal,
                                        .lived_ns = tm_clock_mono_ns() - l->started_ns };
  step(k, l, ON_OVER);
  if (l->number == AT_END_NUMBER)
    kill_living(k);
}

void tm_keeper_launch_ended_unseen(struct tm_keeper *k, struct tm_keeper_launch *l)
{
  l->ended = (struct tm_launch_ended) { .is_unknown = true,
                                        .lived_ns = tm_clock_mono_ns() - l->started_ns };
  step(k, l, ON_OVER);
}

bool tm_keeper_launch_lives(const struct tm_keeper *k, const char *found)
{
  for (size_t i = 0; i < k->launches.len; i++)
    if (k->launches.at[i]->state != TM_LAUNCH_LEFT &&
        tm_keeper_is_marked(found, k->launches.at[i]->marker))
      return true;
  return false;
}

static void tell_ended(struct tm_keeper *k, struct tm_keeper_launch *l)
{
  struct tm_buf bytes = TM_BUF_NONE;
  tm_keeper_last_line(l->stderr_path, l->stderr_from, l->ended.last_line);
  tm_launch_ended_encode(&bytes, &l->ended);
  tm_keeper_send(k, TM_MSG_LAUNCH_ENDED, l->number, bytes.data, bytes.len);
  tm_buf_release(&bytes);
}

void tm_keeper_report_launches(struct tm_keeper *k) /* keeps (2) */
{
  size_t kept = 0;
  for (size_t i = 0; i < k->launches.len; i++) {
    struct tm_keeper_launch *l = k->launches.at[i];
    if (l->state != TM_LAUNCH_LEFT) {
      k->launches.at[kept++] = l;
    } else {
      tell_ended(k, l);
      free_launch(l);
    }
  }
  k->launches.len = kept;
}
