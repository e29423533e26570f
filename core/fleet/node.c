/* node.c - see node.h.
 *
 * What a keeper may say, and who hears it: a table by worker number says which step a worker
 * belongs to, so that every message finds its user. A connection (node_connection.h) carries the
 * messages.
 *
 *  (1) A user hears only what can happen to a worker: STARTED or START_FAILED once, then TAKEN for
 *      each take-back, ENDED once. A keeper that sends anything else is lost: its later messages
 *      cannot be trusted. They are counted, for a note.
 */
#include "fleet/node_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "fleet/local_connection.h"
#include "fleet/stream_connection.h"
#include "sys/clock.h"

static void on_msg(void *data, const struct tm_msg *f);
static void on_end(void *data, const char *text, bool is_other_build);
static void on_open(void *data);
static void on_carrier_note(void *data, const char *text);
static void on_carrier_gone(void *data);
static void on_carrier_closed(void *data);

void tm_node_send(struct tm_node *n, const struct tm_msg *f)
{
  tm_node_connection_send(n->connection, f);
}

static void say_hello(struct tm_node *n)
{
  const char *hello = tm_hello();
  struct tm_msg f = {
    .type = TM_MSG_HELLO, .payload = hello, .length = (uint32_t)strlen(hello), .fd = -1
  };

  tm_node_send(n, &f);
}

static struct tm_node *make(const struct tm_node_options *o)
{
  struct tm_node *n = TM_NEW(struct tm_node);

  n->o = *o;
  snprintf(n->name, sizeof(n->name), "%" PRIu32, o->incarnation.node);
  if (o->address)
    snprintf(n->address, sizeof(n->address), "%s", o->address);
  tm_silence_init(&n->silence, TM_NODE_PATIENCE_NS, tm_clock_mono_ns());
  return n;
}

static struct tm_node_connection_user user_of(struct tm_node *n)
{
  return (struct tm_node_connection_user) { .data = n,
                                            .on_open = on_open,
                                            .on_msg = on_msg,
                                            .on_end = on_end,
                                            .on_note = on_carrier_note,
                                            .on_gone = on_carrier_gone,
                                            .on_closed = on_carrier_closed };
}

/* NULL if there is no connection. */
static struct tm_node *begin(struct tm_node *n)
{
  if (!n->connection) {
    free(n);
    return NULL;
  }
  say_hello(n);
  return n;
}

struct tm_node *tm_node_start(const struct tm_node_options *o, struct tm_err *err)
{
  struct tm_node *n = make(o);
  struct tm_node_connection_user user = user_of(n);

  n->is_reached = true;
  if (!o->address)
    (void)gethostname(n->address, sizeof(n->address) - 1);
  n->connection =
      tm_local_connection_start(o->loop, o->program, o->has_stderr, &n->o.incarnation, &user, err);
  return begin(n);
}

struct tm_node *tm_node_connect(const struct tm_node_options *o, int in, int out,
                                struct tm_err *err)
{
  struct tm_node *n = make(o);
  struct tm_node_connection_user user = user_of(n);

  tm_require(o->on_report && o->on_probed);
  n->is_stream = true;
  if (o->node_timeout_ns > 0)
    n->silence.limit_ns = o->node_timeout_ns;
  n->connection =
      tm_stream_connection_open(o->loop, in, out, n->name, o->node_timeout_ns, &user, err);
  return begin(n);
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
  if (!n->is_stream && step->run_timeout_ns > n->silence.limit_ns)
    n->silence.limit_ns = step->run_timeout_ns;
  told.incarnation = n->o.incarnation;
  tm_node_step_encode(&text, &told);
  f.payload = text.data;
  f.length = (uint32_t)text.len;
  tm_node_send(n, &f);
  tm_buf_release(&text);
  return (uint32_t)(n->users.len - 1);
}

void tm_node_step_is_over(struct tm_node *n, uint32_t step)
{
  struct tm_msg f = { .type = TM_MSG_STEP_IS_OVER, .index = step, .fd = -1 };

  tm_require(step < n->users.len);
  tm_node_send(n, &f);
}

uint32_t tm_node_start_worker(struct tm_node *n, uint32_t step, uint32_t number, const char *name)
{
  struct tm_msg f = {
    .type = TM_MSG_START, .index = step, .worker = (uint32_t)n->workers.len, .fd = -1
  };

  tm_require(step < n->users.len);
  *TM_ARRAY_ADD(&n->workers) =
      (struct tm_node_worker) { .step = step, .number = number, .phase = TM_NODE_WORKER_ASKED };
  f.payload = name;
  f.length = (uint32_t)strlen(name);
  tm_node_send(n, &f);
  return f.worker;
}

static void send_to(struct tm_node *n, uint32_t type, uint32_t worker)
{
  struct tm_msg f = { .type = type, .worker = worker, .fd = -1 };

  tm_node_send(n, &f);
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
  tm_node_send(n, &f);
  tm_buf_release(&list);
}

void tm_node_stopping(struct tm_node *n, uint32_t worker)
{
  send_to(n, TM_MSG_STOPPING, worker);
}

void tm_node_kill(struct tm_node *n, uint32_t worker)
{
  tm_node_connection_wake(n->connection); /* a stopped keeper does not kill its workers */
  send_to(n, TM_MSG_KILL, worker);
}

void tm_node_end_init(struct tm_node *n, uint32_t step)
{
  struct tm_msg f = { .type = TM_MSG_INIT_IS_LATE, .index = step, .fd = -1 };

  tm_require(step < n->users.len);
  tm_node_send(n, &f);
}

uint32_t tm_node_launch(struct tm_node *n, const struct tm_launch *l,
                        const struct tm_launch_user *user)
{
  tm_require(!n->is_stream && !n->is_closed && n->job_dir);
  return tm_launches_add(&n->launches, n->connection, n->o.incarnation.number, l, user);
}

const struct tm_launched_process *tm_node_launched(const struct tm_node *n, uint32_t launch)
{
  tm_require(launch < n->launches.list.len);
  return &n->launches.list.at[launch].process;
}

uint32_t tm_node_adopt(struct tm_node *n, const struct tm_launched_process *p,
                       const char *stderr_path, const struct tm_launch_user *user)
{
  tm_require(!n->is_stream && !n->is_closed && n->job_dir);
  return tm_launches_adopt(&n->launches, n->connection, p, stderr_path, user);
}

void tm_node_end_launch(struct tm_node *n, uint32_t launch)
{
  tm_require(!n->is_stream && !n->is_closed);
  tm_launches_end(&n->launches, n->connection, launch);
}

void tm_node_kill_launch(struct tm_node *n, uint32_t launch)
{
  tm_require(!n->is_stream && !n->is_closed);
  tm_launches_kill(&n->launches, n->connection, launch);
}

void tm_node_at_end(struct tm_node *n, const struct tm_launch *l)
{
  tm_require(!n->is_stream && !n->is_closed && n->job_dir);
  tm_launches_at_end(n->connection, l);
}

void tm_node_ask_doing(struct tm_node *n, uint32_t step)
{
  struct tm_msg f = { .type = TM_MSG_ASK_DOING, .index = step, .fd = -1 };

  tm_require(step < n->users.len && n->users.at[step].on_doing);
  n->asked++;
  tm_node_send(n, &f);
}

void tm_node_lose(struct tm_node *n, const char *text)
{
  if (n->is_lost)
    return;
  n->is_lost = true;
  n->o.on_lost(n->o.data, text);
}

void tm_node_lose_impossible(struct tm_node *n)
{
  tm_node_lose(n, "the keeper of the workers sent an impossible message");
}

bool tm_node_is_reached(const struct tm_node *n)
{
  return n->is_reached;
}

const char *tm_node_foreign(const struct tm_node *n, size_t *len)
{
  return tm_node_connection_foreign(n->connection, len);
}

bool tm_node_is_other_build(const struct tm_node *n)
{
  return n->is_other_build;
}

void tm_node_give_up(struct tm_node *n, const char *text)
{
  tm_node_lose(n, text);
}

int64_t tm_node_round_trip_ns(const struct tm_node *n)
{
  return tm_node_connection_round_trip_ns(n->connection);
}

int64_t tm_node_clock_offset_ns(const struct tm_node *n)
{
  return tm_node_connection_clock_offset_ns(n->connection);
}

static void on_open(void *data)
{
  struct tm_node *n = data;

  n->is_reached = true;
  tm_silence_heard(&n->silence);
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
    tm_node_lose(n, err.text);
    return;
  }
  n->workers.at[f->worker].phase = TM_NODE_WORKER_GONE;
  tm_node_connection_end_link(n->connection, f->worker);
  user->on_ended(user->data, n->workers.at[f->worker].number, &ended);
}

static char *text_of(const struct tm_msg *f)
{
  return tm_xstrndup(f->length ? f->payload : "", f->length);
}

/* Keeps (1). */
static bool may_happen(const struct tm_node_worker *w, uint32_t type)
{
  switch (type) {
  case TM_MSG_STARTED:
  case TM_MSG_START_FAILED: return w->phase == TM_NODE_WORKER_ASKED;
  case TM_MSG_TAKEN: return w->phase == TM_NODE_WORKER_LIVES && w->take_backs > 0;
  case TM_MSG_ENDED: return w->phase == TM_NODE_WORKER_LIVES;
  default: return false;
  }
}

static void on_started(struct tm_node *n, const struct tm_node_user *user, const struct tm_msg *f)
{
  struct tm_worker_link *link =
      f->length < 4 ? NULL : tm_node_connection_make_link(n->connection, f);

  if (!link) {
    tm_node_lose_impossible(n);
    return;
  }
  n->workers.at[f->worker].phase = TM_NODE_WORKER_LIVES;
  user->on_started(user->data, n->workers.at[f->worker].number, tm_get_u32(f->payload), link);
}

static void on_start_failed(struct tm_node *n, const struct tm_node_user *user,
                            const struct tm_msg *f)
{
  char *text = text_of(f);

  n->workers.at[f->worker].phase = TM_NODE_WORKER_GONE;
  user->on_start_failed(user->data, n->workers.at[f->worker].number, text);
  free(text);
}

/* A message about one worker. Keeps (1). */
static void on_worker_news(struct tm_node *n, const struct tm_msg *f)
{
  const struct tm_node_user *user;

  if (f->worker >= n->workers.len || !may_happen(&n->workers.at[f->worker], f->type)) {
    tm_node_lose_impossible(n);
    return;
  }
  user = &n->users.at[n->workers.at[f->worker].step];
  switch (f->type) {
  case TM_MSG_STARTED: on_started(n, user, f); break;
  case TM_MSG_START_FAILED: on_start_failed(n, user, f); break;
  case TM_MSG_TAKEN: on_taken(n, user, f); break;
  default: on_ended(n, user, f); break;
  }
}

/* Keeps (1). The message cannot name a worker of another step, or one that has ended. */
static void on_doing(struct tm_node *n, const struct tm_msg *f)
{
  const struct tm_node_user *user;
  struct tm_worker_doing doing;
  struct tm_reader r;

  if (n->asked == 0 || f->index >= n->users.len) {
    tm_node_lose(n, "the keeper of the workers said what cannot be");
    return;
  }
  n->asked--;
  user = &n->users.at[f->index];
  tm_reader_init(&r, f->payload, f->length);
  while (r.at < r.end) {
    if (!tm_worker_doing_read(&r, &doing) || doing.worker >= n->workers.len ||
        n->workers.at[doing.worker].step != f->index ||
        n->workers.at[doing.worker].phase != TM_NODE_WORKER_LIVES) {
      tm_node_lose(n, "the keeper of the workers said what cannot be");
      return;
    }
    doing.worker = n->workers.at[doing.worker].number;
    user->on_doing(user->data, &doing);
  }
}

static void on_launch_news(struct tm_node *n, const struct tm_msg *f)
{
  if (!tm_launches_deliver(&n->launches, n->connection, f))
    tm_node_lose_impossible(n);
}

static void on_note(struct tm_node *n, const struct tm_msg *f)
{
  char *text = text_of(f);

  n->o.on_note(n->o.data, text);
  free(text);
}

static void on_msg(void *data, const struct tm_msg *f)
{
  struct tm_node *n = data;

  if (f->type != TM_MSG_KEEPER_SILENT) /* of which the relay says that it is silent */
    tm_silence_heard(&n->silence);
  if (f->type == TM_MSG_PONG)
    return;
  if (n->is_lost)
    n->late++;
  else if (tm_node_is_of_relay(n, f))
    tm_node_on_relay_news(n, f);
  else if (f->type == TM_MSG_HELLO)
    tm_node_on_hello(n, f);
  else if (!n->has_hello)
    tm_node_lose(n, "the keeper of the workers did not say its version");
  else if (f->type == TM_MSG_NOTE)
    on_note(n, f);
  else if (f->type == TM_MSG_DOING)
    on_doing(n, f);
  else if ((f->type >= TM_MSG_LAUNCHED && f->type <= TM_MSG_LAUNCH_ENDED) ||
           f->type == TM_MSG_ADOPTED)
    on_launch_news(n, f);
  else if (f->type >= TM_MSG_HELLO && f->type != TM_MSG_CLOSED)
    on_worker_news(n, f);
  else if (!tm_node_connection_deliver(n->connection, f))
    tm_node_lose_impossible(n);
}

static void on_end(void *data, const char *text, bool is_other_build)
{
  struct tm_node *n = data;

  n->has_ended = true;
  n->is_other_build = is_other_build;
  if (n->on_quiet)
    n->on_quiet(n->o.data);
  else
    tm_node_lose(n, text);
}

/* ---- the end ---- */

static void on_carrier_note(void *data, const char *text)
{
  struct tm_node *n = data;

  n->o.on_note(n->o.data, text);
}

static void on_carrier_gone(void *data)
{
  struct tm_node *n = data;

  if (n->on_gone)
    n->on_gone(n->o.data);
}

static void on_carrier_closed(void *data)
{
  struct tm_node *n = data;

  TM_ARRAY_RELEASE(&n->users);
  TM_ARRAY_RELEASE(&n->workers);
  tm_launches_release(&n->launches);
  tm_node_admission_release(&n->admission);
  free(n->job_dir);
  free(n);
}

static void note_late(struct tm_node *n)
{
  char *text = tm_xprintf("dropped %" PRId64 " late %s from node %s", n->late,
                          tm_text_counted(n->late, "message", "messages"), n->name);

  if (n->late > 0)
    n->o.on_note(n->o.data, text);
  free(text);
}

bool tm_node_leave(struct tm_node *n, void (*on_quiet)(void *data))
{
  tm_require(n->is_lost && !n->is_closed);
  if (n->has_ended || !tm_node_connection_leave(n->connection))
    return false;
  n->on_quiet = on_quiet;
  return true;
}

void tm_node_close(struct tm_node *n, void (*on_gone)(void *data))
{
  if (!n)
    return;
  tm_require(!n->is_closed);
  n->is_lost = n->is_closed = true; /* reports nothing any more */
  n->on_gone = on_gone;
  note_late(n);
  tm_node_connection_close(n->connection, n->job_dir);
}

void tm_node_close_now(struct tm_node *n)
{
  if (!n)
    return;
  if (!n->is_closed)
    tm_node_close(n, NULL);
  n->on_gone = NULL;
  tm_node_connection_wait(n->connection);
}
