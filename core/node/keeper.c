/* keeper.c - the process on a node that starts, watches and ends its workers.
 *
 * One loop, one thread, and these events: a message on the control channel; the end of a child; a
 * deadline. Its invariants, besides invariant 14 of core/README.md:
 *
 *  (1) When the control channel closes, everything beneath the keeper is killed, and the keeper
 *      ends when nothing is left: because it is a subreaper, all descendants of its workers become
 *      its children sooner or later, and are killed then. Until then it holds node.lock, if it is
 *      on the supervisor's machine. Launches are asked to end first, and have the time of their
 *      request for that (launcher.c). The command of AT_END runs after them.
 *  (2) The second line: if the supervisor's process has ended but another process still holds its
 *      end of the channel (a child that it forked), SIGHUP arrives by PDEATHSIG and has the same
 *      effect. SIGHUP also arrives if only the thread that started the keeper has ended; then the
 *      parent is unchanged, and nothing happens. It is not SIGKILL: a killed keeper could end
 *      nobody.
 *  (3) ENDED is sent once for each STARTED, and nothing about that worker after it.
 *  (4) Before a HELLO of the same version, only such a HELLO is answered.
 *  (5) Before the first worker is started, leftovers of killed keepers of the same job are ended:
 *      processes whose marker names the job and an incarnation that is over (worker_mark.h).
 *      Workers of other nodes of this session are spared, and so are launches of this session that
 *      are kept: the supervisor names those that we adopt (adopted.c).
 *  (6) It removes its temporary folders last, when no process is left that could write to them.
 *
 * It owns the workers' page, temp_dir and log files; their sockets belong to the supervisor and to
 * them.
 */
#include "node/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "base/time.h"
#include "node/node_own.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/messages/msg_bytes.h"

#define LOCK_AGAIN_NS (10 * TM_MS)
#define NAME_MAX_LEN  64 /* bytes of a worker's name */

void tm_keeper_send(struct tm_keeper *k, uint32_t type, uint32_t worker, const void *p, size_t n)
{
  tm_require(n <= UINT32_MAX);
  struct tm_msg f = {
    .type = type, .worker = worker, .payload = p, .length = (uint32_t)n, .fd = -1
  };
  tm_channel_send(&k->control, &f);
}

void tm_keeper_note(struct tm_keeper *k, const char *text)
{
  tm_keeper_send(k, TM_MSG_NOTE, 0, text, strlen(text));
}

/* ---- the end of the keeper ---- */

static void close_if_alone(struct tm_keeper *k)
{
  bool has_children = tm_keeper_reap(k);
  if (tm_keeper_run_at_end(k) || has_children || tm_keeper_launches_live(k))
    return;
  tm_timer_close(&k->launch_timer);
  tm_signal_close(&k->on_child);
  tm_signal_close(&k->on_term);
  tm_signal_close(&k->on_warning);
  tm_signal_close(&k->on_orphaned);
}

/* Keeps (1): from here on, every child that ends calls this again, until there is none. */
static void begin_close(struct tm_keeper *k)
{
  if (k->is_closing)
    return;
  k->is_closing = true;
  tm_channel_close(&k->control);
  tm_timer_close(&k->timer);
  tm_timer_close(&k->lock_timer);
  tm_timer_close(&k->memory_timer);
  for (size_t i = 0; i < k->steps.len; i++)
    tm_keeper_monitor_close(k->steps.at[i]);
  for (size_t i = 0; i < k->workers.len; i++)
    tm_keeper_step(k, k->workers.at[i], TM_KEEPER_ON_KILL);
  tm_keeper_end_launches(k);
  close_if_alone(k);
}

void tm_keeper_look(struct tm_keeper *k)
{
  if (k->is_closing)
    close_if_alone(k);
  else
    tm_keeper_reap(k);
}

static void on_child(struct tm_signal *s, int number)
{
  tm_keeper_look(s->data);
}

/* Slurm sends signals to all processes of a node: beneath a relay, that one decides. */
static void on_term(struct tm_signal *s, int number)
{
  struct tm_keeper *k = s->data;

  if (k->steps.len == 0 || k->steps.at[0]->s.incarnation.node == TM_LOCAL_NODE)
    begin_close(k);
}

static void on_warning(struct tm_signal *s, int number)
{
  /* of Slurm: the relay hears it, too */
}

static void on_orphaned(struct tm_signal *s, int number) /* keeps (2) */
{
  struct tm_keeper *k = s->data;
  if (getppid() != k->parent)
    begin_close(k);
}

/* ---- requests of the supervisor ---- */

static void take_lock(struct tm_keeper *k)
{
  int rc = tm_lock_take(k->lock_fd, true);
  if (rc == -EWOULDBLOCK) { /* a process that opens a job holds it for a moment, to check it */
    tm_timer_start(&k->lock_timer, LOCK_AGAIN_NS, 0);
  } else if (rc < 0 && !tm_lock_is_unsupported(rc)) { /* the job reports that */
    struct tm_err err = TM_ERR_NONE;
    tm_err_system(&err, rc, "cannot lock 'node.lock'");
    tm_keeper_note(k, err.text);
  }
}

static void on_lock_time(struct tm_timer *t)
{
  take_lock(t->data);
}

static void open_lock(struct tm_keeper *k, const char *job_dir)
{
  struct tm_err err = TM_ERR_NONE;
  char *path = tm_xprintf("%s/node.lock", job_dir);
  k->lock_fd = tm_fs_open(tm_fs_real(), path, O_RDWR | O_CREAT, 0600, &err);
  free(path);
  if (k->lock_fd >= 0) {
    take_lock(k);
  } else {
    k->lock_fd = -1;
    tm_keeper_note(k, err.text);
  }
}

/* Keeps (5). */
static void end_strays(struct tm_keeper_step *step)
{
  size_t n = tm_job_kill_over(step->s.job_dir, &step->s.incarnation);
  if (n > 0)
    tm_keeper_log(step, TM_WARNING,
                  "killed %zu %s that an earlier keeper of this job had left behind", n,
                  tm_text_counted((int64_t)n, "process", "processes"));
}

static struct tm_keeper_step *find_step(struct tm_keeper *k, uint64_t index)
{
  for (size_t i = 0; i < k->steps.len; i++)
    if (k->steps.at[i]->index == index)
      return k->steps.at[i];
  return NULL;
}

static struct tm_keeper_worker *find_worker(struct tm_keeper *k, uint32_t number)
{
  for (size_t i = 0; i < k->workers.len; i++)
    if (k->workers.at[i]->number == number)
      return k->workers.at[i];
  return NULL;
}

static void on_step(struct tm_keeper *k, const struct tm_msg *f)
{
  struct tm_node_step s;
  struct tm_err err = TM_ERR_NONE;
  if (find_step(k, f->index))
    tm_err_set(&err, TM_EPROTOCOL, "step %llu was sent twice; the first is kept",
               (unsigned long long)f->index);
  else
    tm_node_step_decode(&s, f->payload, f->length, &err);
  if (err.code < 0) {
    tm_keeper_note(k, err.text);
    return;
  }
  struct tm_keeper_step *step = TM_NEW(struct tm_keeper_step);
  step->index = f->index;
  step->s = s;
  *TM_ARRAY_ADD(&k->steps) = step;
  if (k->lock_fd < 0 && s.incarnation.node == TM_LOCAL_NODE)
    open_lock(k, s.job_dir);
  tm_keeper_log_open(k, step);
  if (!step->s.measures_launches)
    tm_keeper_find_gpus(step);
  tm_keeper_monitor_open(k, step);
  tm_keeper_monitor_launches(k);
  if (k->steps.len == 1)
    end_strays(step);
}

/* The name becomes part of paths. */
static bool is_good_name(const struct tm_msg *f)
{
  return f->length > 0 && f->length <= NAME_MAX_LEN && f->payload[0] != '.' &&
         !memchr(f->payload, '/', f->length) && !memchr(f->payload, 0, f->length);
}

/* Hands the socket over; false if the control channel is closed. */
static bool tell_started(struct tm_keeper *k, const struct tm_keeper_worker *w, int fd)
{
  char pid[4];
  struct tm_msg f = {
    .type = TM_MSG_STARTED, .worker = w->number, .payload = pid, .length = sizeof pid, .fd = -1
  };
  tm_put_u32(pid, (uint32_t)w->pid);
  int rc = tm_channel_send_fd(&k->control, &f, fd, NULL);
  tm_fs_close(tm_fs_real(), fd);
  return rc >= 0;
}

static int start_worker(struct tm_keeper *k, struct tm_keeper_step *step, uint32_t number,
                        const char *name, struct tm_err *err)
{
  tm_require(step);
  int fd = -1;
  struct tm_keeper_worker *w = TM_NEW(struct tm_keeper_worker);
  w->step = step;
  w->number = number;
  w->name = tm_xstrdup(name);
  w->frozen_due_ns = INT64_MAX;
  if (tm_keeper_spawn(k, w, &fd, err) < 0) {
    tm_keeper_log(step, TM_ERROR, "%s could not be started: %s", w->name, err->text);
    tm_keeper_worker_free(w);
    return err->code;
  }
  *TM_ARRAY_ADD(&k->workers) = w;
  tm_keeper_log(step, TM_INFO, "%s started: pid %ld%s%s", w->name, (long)w->pid,
                w->gpu ? ", GPU " : "", w->gpu ? w->gpu : "");
  tm_keeper_watch(k, w);
  tm_keeper_memory_watch(k, w);
  tm_keeper_monitor_begin(step);
  if (!tell_started(k, w, fd))
    tm_keeper_step(k, w, TM_KEEPER_ON_KILL);
  return 0;
}

void tm_keeper_start(struct tm_keeper *k, uint64_t step, uint32_t number, const char *name)
{
  struct tm_err err = TM_ERR_NONE;
  k->memory_kills = k->readings->kills(); /* earlier ones do not concern this worker */
  if (start_worker(k, find_step(k, step), number, name, &err) < 0)
    tm_keeper_send(k, TM_MSG_START_FAILED, number, err.text, strlen(err.text));
}

static void on_start(struct tm_keeper *k, const struct tm_msg *f)
{
  static const char refused[] =
      "a worker cannot be started: the request names no step, no good name, or a number "
      "that is in use";
  if (!find_step(k, f->index) || !is_good_name(f) || find_worker(k, f->worker)) {
    tm_keeper_send(k, TM_MSG_START_FAILED, f->worker, refused, sizeof refused - 1);
    return;
  }
  char *name = tm_xstrndup(f->payload, f->length);
  if (!tm_keeper_memory_hold(k, f->index, f->worker, name))
    tm_keeper_start(k, f->index, f->worker, name);
  free(name);
}

static void take_back(struct tm_keeper *k, struct tm_keeper_worker *w, const struct tm_msg *f)
{
  struct tm_reader r;
  struct tm_buf taken = TM_BUF_NONE;
  tm_reader_init(&r, f->payload, f->length);
  while (r.end - r.at >= 8) {
    uint64_t seq = tm_read_u64(&r);
    if (tm_page_take_back(w->page, seq))
      tm_buf_add_u64(&taken, seq);
  }
  tm_keeper_send(k, TM_MSG_TAKEN, w->number, taken.data, taken.len);
  tm_buf_release(&taken);
}

static void on_hello(struct tm_keeper *k, const struct tm_msg *f)
{
  const char *hello = tm_hello();
  k->has_hello = f->length == strlen(hello) && memcmp(f->payload, hello, f->length) == 0;
  if (!k->has_hello)
    begin_close(k);
}

static void on_worker_frame(struct tm_keeper *k, const struct tm_msg *f)
{
  struct tm_keeper_worker *w = find_worker(k, f->worker);
  if (!w) { /* its ENDED is on the way, or it is waiting to be started */
    if (f->type == TM_MSG_KILL)
      tm_keeper_memory_drop(k, f->worker);
    return;
  }
  switch (f->type) {
  case TM_MSG_TAKE_BACK: take_back(k, w, f); break;
  case TM_MSG_STOPPING: tm_keeper_step(k, w, TM_KEEPER_ON_STOPPING); break;
  case TM_MSG_KILL: tm_keeper_step(k, w, TM_KEEPER_ON_KILL); break;
  default: break;
  }
}

static void on_init_is_late(struct tm_keeper *k, const struct tm_msg *f)
{
  struct tm_keeper_step *step = find_step(k, f->index);
  if (!step)
    return;
  step->is_init_late = true;
  tm_keeper_look_again(k, step);
}

static void on_step_is_over(struct tm_keeper *k, const struct tm_msg *f)
{
  struct tm_keeper_step *step = find_step(k, f->index);
  if (step)
    tm_keeper_monitor_end(step);
}

static int64_t phase_ns(const struct tm_page_view *view, int64_t now_ns)
{
  bool is_good = view->since_ns > 0 && view->since_ns < now_ns; /* else it was scribbled on */
  return is_good ? now_ns - view->since_ns : 0;
}

/* The pages are the workers': their bytes are passed on as numbers, and mean nothing here. */
static void tell_doing(struct tm_keeper *k, const struct tm_keeper_step *step)
{
  struct tm_buf list = TM_BUF_NONE;
  int64_t now_ns = tm_clock_mono_ns();
  for (size_t i = 0; i < k->workers.len; i++) {
    const struct tm_keeper_worker *w = k->workers.at[i];
    struct tm_page_view view;
    if (w->step != step)
      continue;
    tm_page_read(w->page, &view);
    tm_worker_doing_encode(
        &list, &(struct tm_worker_doing) { .worker = w->number,
                                           .phase = view.phase,
                                           .phase_ns = phase_ns(&view, now_ns),
                                           .begun_wall_ns = view.begun_wall_ns,
                                           .seq = view.seq,
                                           .is_stopped = w->frozen_due_ns != INT64_MAX,
                                           .is_waiting = atomic_load(&w->page->waits) == 1 });
  }
  struct tm_msg f = { .type = TM_MSG_DOING,
                      .index = step->index,
                      .payload = tm_buf_str(&list),
                      .length = (uint32_t)list.len,
                      .fd = -1 };
  tm_channel_send(&k->control, &f);
  tm_buf_release(&list);
}

static void on_ask_doing(struct tm_keeper *k, const struct tm_msg *f)
{
  const struct tm_keeper_step *step = find_step(k, f->index);
  if (step)
    tell_doing(k, step);
}

static void on_launch(struct tm_keeper *k, const struct tm_msg *f)
{
  if (!tm_keeper_on_launch(k, f))
    begin_close(k);
}

static void on_adopt(struct tm_keeper *k, const struct tm_msg *f)
{
  if (!tm_keeper_on_adopt(k, f))
    begin_close(k);
}

static void on_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct tm_keeper *k = c->data;
  tm_fs_close(tm_fs_real(), f->fd); /* none is expected */
  if (f->type == TM_MSG_HELLO) {
    on_hello(k, f);
    return;
  }
  if (!k->has_hello) { /* keeps (4) */
    begin_close(k);
    return;
  }
  switch (f->type) {
  case TM_MSG_STEP: on_step(k, f); break;
  case TM_MSG_START: on_start(k, f); break;
  case TM_MSG_PING: tm_keeper_send(k, TM_MSG_PONG, 0, NULL, 0); break;
  case TM_MSG_STEP_IS_OVER: on_step_is_over(k, f); break;
  case TM_MSG_INIT_IS_LATE: on_init_is_late(k, f); break;
  case TM_MSG_ASK_DOING: on_ask_doing(k, f); break;
  case TM_MSG_LAUNCH: on_launch(k, f); break;
  case TM_MSG_ADOPT: on_adopt(k, f); break;
  case TM_MSG_END_LAUNCH: tm_keeper_on_end_launch(k, f); break;
  case TM_MSG_KILL_LAUNCH: tm_keeper_on_kill_launch(k, f); break;
  case TM_MSG_AT_END: tm_keeper_on_at_end(k, f); break;
  case TM_MSG_TAKE_BACK:
  case TM_MSG_STOPPING:
  case TM_MSG_KILL: on_worker_frame(k, f); break;
  default: tm_keeper_note(k, "a message of an unknown type was passed over"); break;
  }
}

static void on_end(struct tm_channel *c, int code)
{
  begin_close(c->data);
}

/* ---- the process ---- */

static int open_all(struct tm_keeper *k, struct tm_err *err)
{
  tm_timer_open(&k->timer, &k->loop, tm_keeper_on_time, k);
  tm_timer_open(&k->launch_timer, &k->loop, tm_keeper_on_launch_time, k);
  tm_timer_open(&k->lock_timer, &k->loop, on_lock_time, k);
  tm_timer_open(&k->memory_timer, &k->loop, tm_keeper_memory_on_time, k);
  if (tm_signal_open(&k->on_child, &k->loop, SIGCHLD, on_child, k, err) < 0 ||
      tm_signal_open(&k->on_term, &k->loop, SIGTERM, on_term, k, err) < 0 ||
      tm_signal_open(&k->on_warning, &k->loop, SIGUSR1, on_warning, k, err) < 0 ||
      tm_signal_open(&k->on_orphaned, &k->loop, SIGHUP, on_orphaned, k, err) < 0)
    return err->code;
  tm_process_signal_with_parent(SIGHUP); /* after the handler is installed */
  int rc = tm_process_adopt_orphans();
  if (rc < 0)
    return tm_err_system(err, rc, "cannot become the parent of orphans");
  return tm_channel_open(&k->control, &k->loop, TM_KEEPER_CONTROL_FD, on_msg, on_end, k, err);
}

static void release(struct tm_keeper *k)
{
  tm_keeper_bases_remove(k); /* keeps (6) */
  for (size_t i = 0; i < k->steps.len; i++) {
    struct tm_keeper_step *step = k->steps.at[i];
    tm_fs_close(tm_fs_real(), step->main_fd);
    tm_gpus_release(&step->gpus);
    tm_keeper_monitor_free(step);
    tm_node_step_release(&step->s);
    free(step->main_path);
    free(step);
  }
  TM_ARRAY_RELEASE(&k->steps);
  tm_keeper_memory_release(k);
  TM_ARRAY_RELEASE(&k->workers);
  TM_ARRAY_RELEASE(&k->launches);
  tm_node_launch_release(&k->at_end.asked);
  if (k->lock_fd >= 0)
    tm_lock_release(k->lock_fd);
  tm_fs_close(tm_fs_real(), k->lock_fd);
}

static bool read_memory(struct tm_memory *out)
{
  return tm_memory_read(out, "/proc", "/sys/fs/cgroup");
}

static int64_t read_kills(void)
{
  return tm_memory_kills("/proc", "/sys/fs/cgroup");
}

static bool log_names(pid_t pid, int64_t since_ns)
{
  return tm_memory_log_names("/dev/kmsg", pid, since_ns);
}

/* Before the loop, whose own descriptor could take its number. */
static int check_control(struct tm_err *err)
{
  if (tm_wire_is_socket(TM_KEEPER_CONTROL_FD))
    return 0;
  return tm_err_set(err, TM_EUSAGE, "descriptor %d is not a socket; only a job starts this command",
                    TM_KEEPER_CONTROL_FD);
}

int tm_keeper_run(void)
{
  static const struct tm_keeper_readings readings = { read_memory, read_kills, log_names };
  return tm_keeper_run_with(&readings);
}

int tm_keeper_run_with(const struct tm_keeper_readings *readings)
{
  struct tm_keeper k = { .lock_fd = -1, .parent = getppid(), .readings = readings };
  struct tm_err err = TM_ERR_NONE;
  const char *hello = tm_hello();
  int rc = check_control(&err);
  rc = rc < 0 ? rc : tm_loop_init(&k.loop, &err);
  if (rc == 0) {
    rc = open_all(&k, &err);
    if (rc < 0)
      begin_close(&k);
    tm_keeper_send(&k, TM_MSG_HELLO, 0, hello, strlen(hello));
    tm_loop_run(&k.loop);
    tm_loop_release(&k.loop);
  }
  release(&k);
  if (rc < 0) {
    struct tm_buf line = TM_BUF_NONE;
    tm_buf_printf(&line, "tidemill keeper: %s\n", err.text);
    tm_fd_append(STDERR_FILENO, line.data, line.len);
    tm_buf_release(&line);
  }
  return rc < 0 ? 3 : 0;
}
