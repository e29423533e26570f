/* step_rig.h - runs one step without a job: the supervisor of step/supervisor.h on a loop of its
 * own, with the folder and the definition of a job_rig.h. Its workers are structs of this process,
 * without a socket: they answer what a step sends over their links. Their keeper is a process that
 * says HELLO and nothing else (TM_TEST_KEEPER "deaf"); the rig says in its place how workers start
 * and end. With is_real, keepers and workers are processes, as those of a job_rig.h are.
 *
 *   step_setup(&r);  job_add(&r.j, ...);  step_open(&r);
 *   step_start(&r);  step_set_node(&r, 0);  step_run(&r);  step_close(&r);
 *
 * A test waits for events, never for a time. The file needs UNIT_HOOKS(.serve = job_serve).
 */
#ifndef TM_TESTS_STEP_RIG_H
#define TM_TESTS_STEP_RIG_H

#include "job_rig.h"

#include "agent/agent_msg.h"
#include "base/hash.h"
#include "data/item.h"
#include "fleet/fleet.h"
#include "record/temp_dirs.h"
#include "step/supervisor_own.h"

struct step_rig;

struct memory_worker {
  struct tm_worker_link link;
  struct step_rig *r;
  uint32_t number;
  struct TM_ARRAY(struct tm_msg) sent; /* by the step, not answered yet; copies */
  struct tm_ended ended;               /* what its keeper will say of its end */
  int mute;                            /* mini-batches that it has begun and will not answer */
  bool is_held, is_ended;
};

struct step_rig {
  struct job j;
  struct tm_loop loop;
  struct tm_turn turn;
  struct tm_timer again; /* for one more turn */
  struct tm_timer limit;
  struct tm_supervisor *s;
  struct tm_job_view view;
  struct tm_snapshot copy;
  struct tm_fleet fleet;
  bool is_real;
  struct TM_ARRAY(struct memory_worker *) workers;
  int handed;  /* mini-batches */
  int keepers; /* started */
  int gone;    /* nodes */
  int turns;
  void (*on_turn)(struct step_rig *r);
  int bad_bigs; /* so many large results get a wrong hash */
  int spilled;  /* large results */
  void (*on_spilled)(struct step_rig *r, const char *path); /* before it is announced */
  char *spill;                                              /* the test's */
  bool has_one;        /* no worker starts but the first, unless the test starts it */
  bool is_full;        /* no link can be opened */
  int64_t patience_ns; /* of the newest worker */
  int copies[3];       /* turns in which rows were copied, by what they are */
  void (*on_copy)(struct step_rig *r); /* in each of these turns */
  /* After a worker's answer to a mini-batch. */
  void (*on_answered)(struct step_rig *r, struct memory_worker *w, bool is_big);
  bool is_ended, is_late;
};

static inline int memory_open(struct tm_worker_link *l, struct tm_loop *loop, struct tm_err *err)
{
  bool is_full = ((struct memory_worker *)l)->r->is_full;
  return is_full ? tm_err_system(err, -ENOSPC, "cannot watch a descriptor") : 0;
}

static inline void memory_send(struct tm_worker_link *l, const struct tm_msg *f)
{
  struct memory_worker *w = (struct memory_worker *)l;
  struct tm_msg *copy = TM_ARRAY_ADD(&w->sent);
  *copy = *f;
  copy->payload = memcpy(tm_xmalloc(f->length + 1), f->length > 0 ? f->payload : "", f->length);
}

static inline void memory_hold(struct tm_worker_link *l, bool is_held)
{
  struct memory_worker *w = (struct memory_worker *)l;
  w->is_held = is_held;
  tm_timer_start(&w->r->again, 0, 0);
}

static inline void memory_drain(struct tm_worker_link *l)
{
} /* it answers at once, or not */

static inline void memory_close(struct tm_worker_link *l)
{
  struct memory_worker *w = (struct memory_worker *)l;
  for (size_t i = 0; i < w->sent.len; i++)
    free((char *)w->sent.at[i].payload);
  TM_ARRAY_RELEASE(&w->sent);
  for (size_t i = 0; i < w->r->workers.len; i++)
    if (w->r->workers.at[i] == w)
      w->r->workers.at[i] = NULL;
  if (l->user)
    l->user->on_closed(l->data);
  free(w);
}

static inline void memory_answer(struct memory_worker *w, uint32_t type, const struct tm_buf *bytes)
{
  struct tm_msg f = { .type = type, .worker = w->number, .fd = -1 };
  f.payload = bytes ? bytes->data : NULL;
  f.length = bytes ? (uint32_t)bytes->len : 0;
  w->link.user->on_msg(w->link.data, &f);
}

static inline void memory_ready(struct memory_worker *w)
{
  struct tm_buf bytes = TM_BUF_NONE;
  tm_buf_add_u64(&bytes, 0);
  tm_buf_add_u64(&bytes, 0);
  memory_answer(w, TM_MSG_READY, &bytes);
  tm_buf_release(&bytes);
}

#define STEP_BIG (18u << 20)

/* The rows of an item whose name begins with "big", in a file. */
static inline void memory_spill(const struct memory_worker *w, struct tm_buf *answer)
{
  const char *worker = w->r->s->by_number.at[w->number]->name;
  char *name = tm_xprintf("%s.%d", worker, w->r->spilled++);
  char *path = tm_path_join(w->r->s->spill_dir, name);
  char *rows = tm_xmalloc(STEP_BIG);
  memset(rows, 'b', STEP_BIG);
  rows[STEP_BIG - 1] = '\n';
  assert_true(tm_fs_write_file(tm_fs_real(), path, rows, STEP_BIG, 0600, NULL) >= 0);
  if (w->r->on_spilled)
    w->r->on_spilled(w->r, path);
  tm_buf_add_bytes32(answer, name, strlen(name));
  tm_buf_add_u64(answer, STEP_BIG);
  tm_buf_add_u64(answer, tm_hash64(rows, STEP_BIG) + (w->r->bad_bigs-- > 0));
  free(name);
  free(path);
  free(rows);
}

static inline void memory_fail(struct memory_worker *w, const struct tm_mini_batch_head *head)
{
  struct tm_failure failure = {
    .head = { .seq = head->seq, .begin_wall_ns = 1, .total_ns = 1000, .items = head->items },
    .status = TM_RUN_EXCEPTION,
    .message = (char *)"bad item",
    .stack = (char *)"",
    .where = (char *)""
  };
  struct tm_buf bytes = TM_BUF_NONE;
  tm_failure_encode(&bytes, &failure);
  memory_answer(w, TM_MSG_FAILED, &bytes);
  tm_buf_release(&bytes);
}

/* Whether the name of an item begins with this. */
static inline bool memory_has(struct tm_reader r, const char *name)
{
  struct tm_item item;
  while (tm_item_next(&r, &item))
    if (strncmp(item.path + 1, name, strlen(name)) == 0)
      return true;
  return false;
}

/* It ends when it has begun two: only its own code can make its page say so. */
static inline void memory_stay_mute(struct memory_worker *w, uint64_t seq)
{
  struct tm_page_states *s = &w->ended.states;
  size_t i = seq % TM_PAGE_WORDS;
  s->last = seq > s->last ? seq : s->last;
  s->bits[i / 4] = (unsigned char)(s->bits[i / 4] | TM_ASSIGNMENT_BEGUN << i % 4 * 2);
  s->has_begun = true;
  w->is_ended = ++w->mute == 2;
}

/* Returns one row for each item: its name. Fails if an item's name begins with "bad". So does one
 * that begins with "mute", unless it is alone: then it is not answered. */
static inline void memory_run(struct memory_worker *w, const struct tm_msg *f)
{
  struct tm_mini_batch_head head;
  struct tm_result_head answer = { .begin_wall_ns = 1, .total_ns = 1000, .run_ns = 1000 };
  struct tm_buf bytes = TM_BUF_NONE;
  struct tm_reader r;
  struct tm_item item;
  tm_reader_init(&r, f->payload, f->length);
  assert_true(tm_mini_batch_head_read(&r, &head));
  w->r->handed++;
  if (memory_has(r, "bad") || (head.items > 1 && memory_has(r, "mute"))) {
    memory_fail(w, &head);
    return;
  }
  if (memory_has(r, "mute")) {
    memory_stay_mute(w, head.seq);
    return;
  }
  answer.seq = head.seq;
  answer.returned = answer.items = head.items;
  assert_true(tm_item_next(&r, &item));
  answer.is_spilled = strncmp(item.path, "/big", 4) == 0;
  tm_result_head_encode(tm_buf_extend(&bytes, TM_RESULT_HEAD), &answer);
  if (answer.is_spilled)
    memory_spill(w, &bytes);
  else
    do
      tm_buf_printf(&bytes, "%.*s\n", (int)item.path_len - 1, item.path + 1);
    while (tm_item_next(&r, &item));
  memory_answer(w, TM_MSG_RESULT, &bytes);
  tm_buf_release(&bytes);
  if (w->r->on_answered)
    w->r->on_answered(w->r, w, answer.is_spilled);
}

/* The keeper's part: the worker has ended by itself. */
static inline void memory_end(struct memory_worker *w)
{
  struct tm_node_user user = tm_copying_node_user(w->r->s);
  w->ended.cause = TM_END_STOPPED;
  w->ended.lived_ns = 1;
  struct tm_ended ended = w->ended;
  user.on_ended(user.data, w->number, &ended); /* frees the worker */
}

static inline void memory_set_up(struct memory_worker *w, const struct tm_msg *f)
{
  struct tm_setup setup;
  assert_int_equal(tm_setup_decode(&setup, f->payload, f->length, NULL), 0);
  w->r->patience_ns = setup.patience_ns;
  tm_setup_release(&setup);
}

static inline void memory_handle(struct memory_worker *w, const struct tm_msg *f)
{
  switch (f->type) {
  case TM_MSG_SETUP:
    memory_set_up(w, f);
    memory_answer(w, TM_MSG_LOADED, NULL);
    memory_ready(w);
    break;
  case TM_MSG_MINI_BATCH: memory_run(w, f); break;
  case TM_MSG_STOP: w->is_ended = true; break;
  default: fail_msg("a worker got a message of type %u", f->type);
  }
}

/* One message; false: there is none. */
static inline bool memory_turn(struct memory_worker *w)
{
  struct tm_msg f;
  if (w->sent.len == 0 || w->is_held)
    return false;
  f = w->sent.at[0];
  memmove(w->sent.at, w->sent.at + 1, --w->sent.len * sizeof(*w->sent.at));
  memory_handle(w, &f);
  free((char *)f.payload);
  if (w->is_ended)
    memory_end(w);
  return true;
}

static inline const struct tm_worker_carrier *memory_carrier(void)
{
  static const struct tm_worker_carrier carrier = { .open = memory_open,
                                                    .send = memory_send,
                                                    .hold = memory_hold,
                                                    .drain = memory_drain,
                                                    .close = memory_close };
  return &carrier;
}

/* The keeper's part: starts the worker that the step has asked for. */
static inline void step_start_worker(struct step_rig *r, uint32_t number)
{
  struct tm_node_user user = tm_copying_node_user(r->s);
  struct memory_worker *w = TM_NEW(struct memory_worker);
  w->link.carrier = memory_carrier();
  w->r = r;
  w->number = number;
  *TM_ARRAY_ADD(&r->workers) = w;
  user.on_started(user.data, number, 1000 + number, &w->link);
}

/* It stays in STARTING while a copy keeps the news of its start waiting. */
static inline bool step_has_started(const struct step_rig *r, uint32_t number)
{
  for (size_t i = 0; i < r->workers.len; i++)
    if (r->workers.at[i] && r->workers.at[i]->number == number)
      return true;
  return false;
}

static inline void step_on_turn(struct tm_turn *t)
{
  struct step_rig *r = t->data;
  bool is_busy = false;
  r->turns++;
  if (r->on_turn && !r->is_ended)
    r->on_turn(r);
  if (!r->is_ended && r->s->copying.is_on) {
    r->copies[r->s->copying.what]++;
    if (r->on_copy)
      r->on_copy(r);
  }
  for (size_t i = 0; !r->is_real && !r->is_ended && i < r->s->workers.len; i++)
    if (tm_workers_state(r->s->workers.at[i]) == TM_WORKER_STARTING &&
        (!r->has_one || r->s->workers.at[i]->number == 0) &&
        !step_has_started(r, r->s->workers.at[i]->number))
      step_start_worker(r, r->s->workers.at[i]->number);
  for (size_t i = 0; i < r->workers.len; i++)
    is_busy |= r->workers.at[i] && memory_turn(r->workers.at[i]);
  if (is_busy)
    tm_timer_start(&r->again, 0, 0);
}

static inline void step_on_again(struct tm_timer *t)
{
}

static inline void step_on_late(struct tm_timer *t)
{
  struct step_rig *r = t->data;
  r->is_late = true;
  tm_loop_stop(&r->loop);
}

static inline void step_on_ended(void *data, struct tm_supervisor *s)
{
  struct step_rig *r = data;
  r->is_ended = true;
  tm_loop_stop(&r->loop);
}

static inline void step_setup(struct step_rig *r)
{
  memset(r, 0, sizeof(*r));
  job_setup(&r->j);
}

static inline void step_on_note(void *data, uint32_t id, const char *text)
{
  fail_msg("node %u: %s", id, text);
}

/* Of relays that a test plays, which say nothing of their machine. */
static inline void step_on_report(void *data, uint32_t id)
{
}

static inline void step_on_probed(void *data, uint32_t id, const struct tm_node_probed *probed)
{
}

static inline void step_on_lost(void *data, uint32_t id, const char *text)
{
  struct step_rig *r = data;
  tm_supervisor_silence_node(r->s, id);
}

static inline void step_on_gone(void *data, uint32_t id)
{
  struct step_rig *r = data;
  r->gone++;
  tm_supervisor_lose_node(r->s, id);
}

static inline void step_open(struct step_rig *r)
{
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_loop_init(&r->loop, NULL), 0);
  job_plan(&r->j);
  r->view = (struct tm_job_view) { .name = "case", .dir = r->j.job_dir };
  r->copy = (struct tm_snapshot) { .script = (char *)"score.lua", .dir = r->j.dir };
  struct tm_supervisor_options o = { .loop = &r->loop,
                                     .fs = tm_fs_real(),
                                     .events = &r->j.events,
                                     .job = &r->view,
                                     .step = r->j.pipeline->steps[0],
                                     .program = r->j.self,
                                     .on_ended = step_on_ended,
                                     .data = r };
  if (tm_supervisor_open(&r->s, &o, &err) < 0 || tm_supervisor_begin(r->s, &r->copy, &err) < 0)
    fail_msg("%s", err.text);
  tm_fleet_init(&r->fleet, &(struct tm_fleet_options) { .loop = &r->loop,
                                                        .program = r->j.self,
                                                        .has_stderr = true,
                                                        .on_note = step_on_note,
                                                        .on_report = step_on_report,
                                                        .on_probed = step_on_probed,
                                                        .on_lost = step_on_lost,
                                                        .on_gone = step_on_gone,
                                                        .data = r });
  tm_turn_open(&r->turn, &r->loop, step_on_turn, r);
  tm_timer_open(&r->again, &r->loop, step_on_again, r);
  tm_timer_open(&r->limit, &r->loop, step_on_late, r);
  assert_int_equal(tm_poll_open(&r->j.poll, &r->loop, r->j.begun, job_on_poll, &r->j, NULL), 0);
  tm_poll_want(&r->j.poll, TM_READABLE);
}

static inline void step_start(struct step_rig *r)
{
  tm_timer_start(&r->limit, JOB_LIMIT, 0);
  tm_supervisor_start(r->s);
}

/* Starts a keeper for this node, and gives the node to the step. */
static inline void step_set_node(struct step_rig *r, uint32_t id)
{
  struct tm_err err = TM_ERR_NONE;
  if (!r->is_real)
    setenv("TM_TEST_KEEPER", "deaf", 1);
  if (tm_fleet_start(&r->fleet, id, &err) < 0)
    fail_msg("%s", err.text);
  unsetenv("TM_TEST_KEEPER");
  char *temp = tm_xprintf("%s/temp%u.%d", r->j.dir, id, r->keepers++);
  tm_supervisor_set_node(r->s, tm_fleet_node(&r->fleet, id),
                         &(struct tm_temp_dirs) { temp, (char *)"" });
  free(temp);
}

/* Until the step has ended. */
static inline void step_run(struct step_rig *r)
{
  if (!r->is_ended)
    tm_loop_run(&r->loop);
  assert_false(r->is_late);
}

static inline void step_close(struct step_rig *r)
{
  tm_fleet_close_now(&r->fleet);
  tm_supervisor_close(r->s);
  tm_turn_close(&r->turn);
  tm_timer_close(&r->again);
  tm_timer_close(&r->limit);
  tm_poll_close(&r->j.poll);
  tm_loop_release(&r->loop);
  tm_fleet_release(&r->fleet);
  TM_ARRAY_RELEASE(&r->workers);
  job_end(&r->j);
}

#endif
