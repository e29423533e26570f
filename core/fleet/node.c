/* node.c - see node.h.
 *
 * The keeper is started in a session of its own (sys/process.h), with the control channel as
 * descriptor 3, and with our stderr if the caller asks for that. A table by worker number says
 * which step a worker belongs to, so that every message finds its user. After the channel has
 * ended, for any reason, a thread waits for the keeper: it ends within moments, or is killed.
 *
 *  (1) A user hears only what can happen to a worker: STARTED or START_FAILED once, then TAKEN for
 *      each take-back, ENDED once. A keeper that sends anything else is lost: its later messages
 *      cannot be trusted.
 *  (2) No process is ever left behind. A keeper that did not end by itself has not ended its
 *      workers. Their processes are found by the mark of this keeper, and killed here: if the job
 *      is ending, no later keeper would do it.
 *  (3) A descriptor that came with a message is closed, unless it is a worker's socket, for which
 *      the user gets a link.
 */
#include "fleet/node.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "sched/active_clock.h"
#include "sys/clock.h"
#include "sys/errand.h"
#include "sys/fs.h"
#include "sys/process.h"

#define KEEPER_END_NS (5 * TM_S)
#define PING_NS       TM_S

enum phase { ASKED, LIVES, GONE };

struct node_worker {
  uint32_t step, number; /* number: the step's */
  enum phase phase;
  int take_backs; /* not answered yet */
};

struct node_end;

struct tm_node {
  struct tm_node_options o;
  struct tm_channel control;
  char name[12], address[256];
  char *job_dir; /* NULL before the first step */
  pid_t pid;
  bool is_lost, has_hello;
  struct tm_active_clock clock;
  int64_t patience_ns; /* how long it may be silent */
  /* awake: when the keeper last sent a message; when it was last asked */
  int64_t heard_ns, pinged_ns;
  int64_t asked;        /* ASK_DOING messages without an answer */
  struct node_end *end; /* while a thread waits for the keeper's end */
  void (*on_gone)(void *data);
  int shares; /* in the memory, from the close on: the channel's, and the end's */
  struct TM_ARRAY(struct tm_node_user) users;  /* by step */
  struct TM_ARRAY(struct node_worker) workers; /* by number */
};

static void on_msg(struct tm_channel *c, const struct tm_msg *f);
static void on_end(struct tm_channel *c, int code);

static pid_t start_keeper(const char *program, bool has_stderr, int control, struct tm_err *err)
{
  char *argv[] = { (char *)program, (char *)"node", NULL };
  int fds[] = { -1, -1, has_stderr ? STDERR_FILENO : -1, control };
  struct tm_spawn spawn = {
    .program = program, .argv = argv, .fds = fds, .fds_len = TM_COUNT_OF(fds)
  };

  return tm_process_start(&spawn, err);
}

static void say_hello(struct tm_node *n)
{
  const char *hello = tm_hello();
  struct tm_msg f = {
    .type = TM_MSG_HELLO, .payload = hello, .length = (uint32_t)strlen(hello), .fd = -1
  };

  tm_channel_send(&n->control, &f);
}

struct tm_node *tm_node_start(const struct tm_node_options *o, struct tm_err *err)
{
  struct tm_node *n = NULL;
  int pair[2];
  pid_t pid;

  if (tm_channel_pair(pair, err) < 0)
    return NULL;
  pid = start_keeper(o->program, o->has_stderr, pair[1], err);
  tm_fs_close(tm_fs_real(), pair[1]);
  if (pid < 0) {
    tm_err_wrap(err, "cannot start the keeper of node %" PRIu32, o->incarnation.node);
    tm_fs_close(tm_fs_real(), pair[0]);
    return NULL;
  }
  n = TM_NEW(struct tm_node);
  n->o = *o;
  snprintf(n->name, sizeof(n->name), "%" PRIu32, o->incarnation.node);
  (void)gethostname(n->address, sizeof(n->address) - 1);
  n->pid = pid;
  n->patience_ns = TM_NODE_PATIENCE_NS;
  tm_active_clock_init(&n->clock, tm_clock_mono_ns());
  if (tm_channel_open(&n->control, o->loop, pair[0], on_msg, on_end, n, err) < 0) {
    tm_process_wait(pid, 0, NULL);
    free(n);
    return NULL;
  }
  say_hello(n);
  return n;
}

uint32_t tm_node_id(const struct tm_node *n)
{
  return n->o.incarnation.node;
}

const char *tm_node_name(const struct tm_node *n)
{
  return n->name;
}

const char *tm_node_address(const struct tm_node *n)
{
  return n->address;
}

uint32_t tm_node_add_step(struct tm_node *n, const struct tm_node_step *step,
                          const struct tm_node_user *user)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_msg f = { .type = TM_MSG_STEP, .index = n->users.len, .fd = -1 };
  struct tm_node_step told = *step;

  tm_require(step->job_dir[0] == '/'); /* the mark of its processes begins with it */
  tm_require(user->on_started && user->on_start_failed && user->on_taken && user->on_ended);
  *TM_ARRAY_ADD(&n->users) = *user;
  if (!n->job_dir)
    n->job_dir = tm_xstrdup(step->job_dir);
  if (step->run_timeout_ns > n->patience_ns)
    n->patience_ns = step->run_timeout_ns;
  told.incarnation = n->o.incarnation;
  tm_node_step_encode(&text, &told);
  f.payload = text.data;
  f.length = (uint32_t)text.len;
  tm_channel_send(&n->control, &f);
  tm_buf_release(&text);
  return (uint32_t)(n->users.len - 1);
}

uint32_t tm_node_start_worker(struct tm_node *n, uint32_t step, uint32_t number, const char *name)
{
  struct tm_msg f = {
    .type = TM_MSG_START, .index = step, .worker = (uint32_t)n->workers.len, .fd = -1
  };

  tm_require(step < n->users.len);
  *TM_ARRAY_ADD(&n->workers) =
      (struct node_worker) { .step = step, .number = number, .phase = ASKED };
  f.payload = name;
  f.length = (uint32_t)strlen(name);
  tm_channel_send(&n->control, &f);
  return f.worker;
}

static void send_to(struct tm_node *n, uint32_t type, uint32_t worker)
{
  struct tm_msg f = { .type = type, .worker = worker, .fd = -1 };

  tm_channel_send(&n->control, &f);
}

void tm_node_take_back(struct tm_node *n, uint32_t worker, const uint64_t *seqs, size_t len)
{
  struct tm_buf list = TM_BUF_NONE;
  struct tm_msg f = { .type = TM_MSG_TAKE_BACK, .worker = worker, .fd = -1 };

  tm_require(worker < n->workers.len);
  n->workers.at[worker].take_backs++;
  for (size_t i = 0; i < len; i++)
    tm_buf_add_u64(&list, seqs[i]);
  f.payload = list.data;
  f.length = (uint32_t)list.len;
  tm_channel_send(&n->control, &f);
  tm_buf_release(&list);
}

void tm_node_stopping(struct tm_node *n, uint32_t worker)
{
  send_to(n, TM_MSG_STOPPING, worker);
}

void tm_node_kill(struct tm_node *n, uint32_t worker)
{
  tm_process_kill(n->pid, SIGCONT); /* a stopped keeper does not kill its workers */
  send_to(n, TM_MSG_KILL, worker);
}

void tm_node_end_init(struct tm_node *n, uint32_t step)
{
  struct tm_msg f = { .type = TM_MSG_INIT_IS_LATE, .index = step, .fd = -1 };

  tm_require(step < n->users.len);
  tm_channel_send(&n->control, &f);
}

void tm_node_ask_doing(struct tm_node *n, uint32_t step)
{
  struct tm_msg f = { .type = TM_MSG_ASK_DOING, .index = step, .fd = -1 };

  tm_require(step < n->users.len && n->users.at[step].on_doing);
  n->asked++;
  tm_channel_send(&n->control, &f);
}

static void lose(struct tm_node *n, const char *text)
{
  if (n->is_lost)
    return;
  n->is_lost = true;
  n->o.on_lost(n->o.data, text);
}

void tm_node_tick(struct tm_node *n, int64_t mono_ns)
{
  int64_t now_ns;

  if (!n || n->is_lost)
    return;
  now_ns = tm_active_clock_look(&n->clock, mono_ns);
  if (now_ns - n->heard_ns >= n->patience_ns) {
    char *text =
        tm_xprintf("the keeper of the workers has not answered for %g s: it may have been stopped "
                   "(SIGSTOP); it is replaced",
                   (double)n->patience_ns / 1e9);
    lose(n, text);
    free(text);
  } else if (now_ns - n->pinged_ns >= PING_NS) {
    n->pinged_ns = now_ns;
    send_to(n, TM_MSG_PING, 0);
  }
}

static void on_taken(struct tm_node *n, const struct tm_node_user *user, const struct tm_msg *f)
{
  uint64_t seqs[TM_PAGE_WORDS];
  size_t len = 0;
  struct tm_reader r;

  n->workers.at[f->worker].take_backs--;
  tm_reader_init(&r, f->payload, f->length);
  for (size_t left = f->length / 8; left > 0 && len < TM_PAGE_WORDS; left--)
    seqs[len++] = tm_read_u64(&r);
  user->on_taken(user->data, n->workers.at[f->worker].number, seqs, len);
}

static void on_ended(struct tm_node *n, const struct tm_node_user *user, const struct tm_msg *f)
{
  struct tm_ended ended;
  struct tm_err err = TM_ERR_NONE;

  if (tm_ended_decode(&ended, f->payload, f->length, &err) < 0) {
    lose(n, err.text);
    return;
  }
  n->workers.at[f->worker].phase = GONE;
  user->on_ended(user->data, n->workers.at[f->worker].number, &ended);
}

static void on_hello(struct tm_node *n, const struct tm_msg *f)
{
  const char *hello = tm_hello();

  n->has_hello =
      !n->has_hello && f->length == strlen(hello) && memcmp(f->payload, hello, f->length) == 0;
  if (!n->has_hello)
    lose(n, "the keeper of the workers has another version of tidemill");
}

static char *text_of(const struct tm_msg *f)
{
  return tm_xstrndup(f->length ? f->payload : "", f->length);
}

/* Keeps (1). */
static bool may_happen(const struct node_worker *w, uint32_t type)
{
  switch (type) {
  case TM_MSG_STARTED:
  case TM_MSG_START_FAILED: return w->phase == ASKED;
  case TM_MSG_TAKEN: return w->phase == LIVES && w->take_backs > 0;
  case TM_MSG_ENDED: return w->phase == LIVES;
  default: return false;
  }
}

static void on_started(struct tm_node *n, const struct tm_node_user *user, const struct tm_msg *f)
{
  n->workers.at[f->worker].phase = LIVES;
  user->on_started(user->data, n->workers.at[f->worker].number, tm_get_u32(f->payload),
                   tm_worker_link_of_socket(f->fd));
}

static void on_start_failed(struct tm_node *n, const struct tm_node_user *user,
                            const struct tm_msg *f)
{
  char *text = text_of(f);

  n->workers.at[f->worker].phase = GONE;
  user->on_start_failed(user->data, n->workers.at[f->worker].number, text);
  free(text);
}

/* A message about one worker. True: the user's link has the descriptor now. */
static bool on_worker_frame(struct tm_node *n, const struct tm_msg *f)
{
  const struct tm_node_user *user;
  bool is_started = f->type == TM_MSG_STARTED;

  if (f->worker >= n->workers.len || !may_happen(&n->workers.at[f->worker], f->type) ||
      (is_started && (f->fd < 0 || f->length < 4))) {
    lose(n, "the keeper of the workers sent an impossible message");
    return false;
  }
  user = &n->users.at[n->workers.at[f->worker].step];
  switch (f->type) {
  case TM_MSG_STARTED: on_started(n, user, f); break;
  case TM_MSG_START_FAILED: on_start_failed(n, user, f); break;
  case TM_MSG_TAKEN: on_taken(n, user, f); break;
  default: on_ended(n, user, f); break;
  }
  return is_started;
}

/* Keeps (1). The message cannot name a worker of another step, or one that has ended. */
static void on_doing(struct tm_node *n, const struct tm_msg *f)
{
  const struct tm_node_user *user;
  struct tm_worker_doing doing;
  struct tm_reader r;

  if (n->asked == 0 || f->index >= n->users.len) {
    lose(n, "the keeper of the workers said what cannot be");
    return;
  }
  n->asked--;
  user = &n->users.at[f->index];
  tm_reader_init(&r, f->payload, f->length);
  while (r.at < r.end) {
    if (!tm_worker_doing_read(&r, &doing) || doing.worker >= n->workers.len ||
        n->workers.at[doing.worker].step != f->index ||
        n->workers.at[doing.worker].phase != LIVES) {
      lose(n, "the keeper of the workers said what cannot be");
      return;
    }
    doing.worker = n->workers.at[doing.worker].number;
    user->on_doing(user->data, &doing);
  }
}

static void on_note(struct tm_node *n, const struct tm_msg *f)
{
  char *text = text_of(f);

  n->o.on_note(n->o.data, text);
  free(text);
}

static void on_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct tm_node *n = c->data;
  bool is_taken = false;

  n->heard_ns = n->clock.now_ns;
  if (n->is_lost || f->type == TM_MSG_PONG)
    ;
  else if (f->type == TM_MSG_HELLO)
    on_hello(n, f);
  else if (!n->has_hello)
    lose(n, "the keeper of the workers did not say its version");
  else if (f->type == TM_MSG_NOTE)
    on_note(n, f);
  else if (f->type == TM_MSG_DOING)
    on_doing(n, f);
  else
    is_taken = on_worker_frame(n, f);
  if (!is_taken)
    tm_fs_close(tm_fs_real(), f->fd); /* keeps (3) */
}

static void on_end(struct tm_channel *c, int code)
{
  struct tm_node *n = c->data;

  char *text = code < 0
                   ? tm_xprintf("the keeper of the workers cannot be read: %s", tm_code_text(code))
                   : tm_xstrdup("the keeper of the workers has ended");

  lose(n, text);
  free(text);
}

/* ---- the end ---- */

/* What the thread works on that waits for the keeper's end. */
struct node_end {
  struct tm_errand errand;
  struct tm_node *n; /* not for the thread */
  pid_t pid;
  char *job_dir; /* or NULL: it has had no step */
  struct tm_incarnation incarnation;
  size_t killed; /* processes that the keeper has left */
};

static void drop(struct tm_node *n)
{
  tm_require(n->shares > 0);
  if (--n->shares > 0)
    return;
  TM_ARRAY_RELEASE(&n->users);
  TM_ARRAY_RELEASE(&n->workers);
  free(n->job_dir);
  free(n);
}

static void on_closed(struct tm_channel *c)
{
  drop(c->data);
}

/* Keeps (2). */
static void await_end(void *data)
{
  struct node_end *e = data;
  struct tm_process_end end;

  tm_process_wait(e->pid, KEEPER_END_NS, &end);
  if ((end.signal != 0 || end.exit_status != 0) && e->job_dir)
    e->killed = tm_incarnation_kill(e->job_dir, &e->incarnation);
}

static void free_end(void *data)
{
  struct node_end *e = data;

  free(e->job_dir);
  free(e);
}

static void over(struct tm_node *n, size_t killed)
{
  char *text = tm_xprintf("killed %zu %s of a keeper that did not end by itself", killed,
                          tm_text_counted((int64_t)killed, "process", "processes"));

  if (killed > 0)
    n->o.on_note(n->o.data, text);
  free(text);
  if (n->on_gone)
    n->on_gone(n->o.data);
  drop(n);
}

/* Waits for the thread, which has nothing more to do if it has sent its wake. */
static void on_awaited(void *data)
{
  struct node_end *e = data; /* lives until the loop turns */
  struct tm_node *n = e->n;

  tm_require(n->end == e);
  tm_errand_end(&e->errand, TM_ERRAND_JOIN);
  n->end = NULL;
  over(n, e->killed);
}

/* Without a thread, the loop waits. */
static void await_here(struct tm_node *n)
{
  struct node_end e = { .pid = n->pid, .job_dir = n->job_dir, .incarnation = n->o.incarnation };

  await_end(&e);
  over(n, e.killed);
}

void tm_node_close(struct tm_node *n, void (*on_gone)(void *data))
{
  if (!n)
    return;
  tm_require(!n->end && n->shares == 0); /* once */
  n->is_lost = true;                     /* reports nothing any more */
  n->on_gone = on_gone;
  n->shares = 2;
  n->control.on_closed = on_closed;
  /* A stopped keeper could not end its workers. Before it learns of the end: a leak checker or a
   * debugger stops an ending keeper, and would wait for that stop forever. */
  tm_process_kill(n->pid, SIGCONT);
  tm_channel_flush(&n->control);
  tm_channel_close(&n->control);
  n->end = TM_NEW(struct node_end);
  *n->end = (struct node_end) { .n = n,
                                .pid = n->pid,
                                .job_dir = n->job_dir ? tm_xstrdup(n->job_dir) : NULL,
                                .incarnation = n->o.incarnation };
  n->end->errand = (struct tm_errand) { .loop = n->o.loop,
                                        .run = await_end,
                                        .on_wake = on_awaited,
                                        .free_data = free_end,
                                        .data = n->end };
  if (tm_errand_start(&n->end->errand, NULL) == 0)
    return;
  n->end = NULL;
  await_here(n);
}

void tm_node_close_now(struct tm_node *n)
{
  if (!n)
    return;
  if (!n->end)
    tm_node_close(n, NULL);
  n->on_gone = NULL;
  if (n->end)
    on_awaited(n->end);
}
