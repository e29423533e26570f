/* sim.c - the clock, the events, and what the schedulers decide: see sim.h, sim_own.h. */
#include "sim/sim_own.h"

#include <string.h>

#include "base/check.h"

#define TICK_NS (100 * TM_MS) /* as the supervisor's */

static bool is_before(const void *left, const void *right)
{
  const struct sim_event *a = left, *b = right;

  return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void sim_at(struct sim *x, int64_t at_ns, enum sim_kind kind, uint32_t step, uint32_t number)
{
  struct sim_event e = {
    .at_ns = at_ns, .order = x->order++, .kind = kind, .step = step, .number = number
  };

  tm_heap_add(&x->events, &e);
}

int64_t sim_latency_ns(const struct sim *x, uint32_t node)
{
  return x->o.latencies_ns ? x->o.latencies_ns[x->nodes.at[node].place % x->o.latencies_len]
                           : x->o.latency_ns;
}

/* ---- what is decided ---- */

static void note(struct sim *x, uint64_t value)
{
  x->trace = (x->trace ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  x->trace ^= x->trace >> 32;
}

static void trace(struct sim *x, const struct sim_step *st, const struct tm_sched_action *a)
{
  note(x, (uint64_t)x->now_ns);
  note(x, (uint64_t)a->kind << 56 | (uint64_t)st->number << 48 | a->node);
  note(x, (uint64_t)a->worker << 32 | a->what.try);
  note(x, a->seq);
  note(x, a->what.index);
}

uint64_t sim_trace(const struct sim *x)
{
  return x->trace;
}

static void fail(struct sim *x, struct sim_step *st)
{
  st->failed++;
  x->failed++;
  x->last_ns = x->now_ns;
  tm_tally_add_failed(&st->tally, 1);
}

static void carry_out(struct sim *x, struct sim_step *st)
{
  struct tm_sched_action a;

  while (tm_sched_next(&st->s, &a)) {
    trace(x, st, &a);
    switch (a.kind) {
    case TM_SCHED_START: sim_workers_start(x, st, &a); break;
    case TM_SCHED_HAND: sim_workers_hand(x, st, &a); break;
    case TM_SCHED_RECALL: sim_workers_recall(x, st, &a); break;
    case TM_SCHED_STOP:
    case TM_SCHED_KILL:
      sim_at(x, x->now_ns + 2 * sim_latency_ns(x, a.node), SIM_GONE, st->number, a.worker);
      break;
    case TM_SCHED_RETRY:
      st->retried++;
      sim_check_verdict(x, st, &a);
      break;
    case TM_SCHED_FAIL:
      sim_check_verdict(x, st, &a);
      fail(x, st);
      break;
    case TM_SCHED_AGAIN: sim_check_again(x, &a); break;
    case TM_SCHED_NODE_SICK: sim_nodes_sick(x, a.node); break;
    case TM_SCHED_SETUP: break;
    default: sim_check_wrong(x, "the scheduler gives up: action %d", (int)a.kind); break;
    }
  }
}

bool sim_tell(struct sim *x, struct sim_step *st, struct tm_sched_event e)
{
  bool is_taken = tm_sched_event(&st->s, &e, x->now_ns);

  carry_out(x, st);
  return is_taken;
}

void sim_turn(struct sim *x, struct sim_step *st)
{
  sim_tell(x, st, (struct tm_sched_event) { .kind = TM_SCHED_ON_TURN });
  sim_check_turn(x, st);
  if (x->empty_ns == 0 && x->tries > 0 && !tm_sched_has_waiting(&st->s)) {
    x->empty_ns = x->now_ns;
    sim_workers_note_empty(x);
  }
  if (st->has_begun && !st->s.is_ending && tm_sched_open(&st->s) == 0)
    sim_tell(x, st, (struct tm_sched_event) { .kind = TM_SCHED_ON_END });
}

/* ---- steps ---- */

static bool is_over(void *data, uint64_t index)
{
  (void)data;
  (void)index;
  return false;
}

static void share_of(const struct sim *x, const struct sim_step *st, struct tm_share *out)
{
  int64_t open = tm_sched_open(&st->s), most = x->ready * x->o.slots;

  *out = (struct tm_share) { .lives = st->s.roster.living, .leaves = st->s.roster.leaves };
  if (st->has_begun && open > 0)
    out->wants = open < most ? open : most;
}

static size_t shares_of(const struct sim *x, struct tm_share *out, int64_t *max)
{
  for (uint32_t i = 0; i < x->steps_len; i++)
    share_of(x, &x->steps[i], &out[i]);
  *max = tm_share_limit(x->o.max_workers, x->ready * x->o.slots, x->o.slots);
  return x->steps_len;
}

static bool may_start(void *data)
{
  const struct sim_step *st = data;
  const struct sim *x = st->x;
  struct tm_share shares[SIM_STEPS_MAX];
  int64_t max;
  size_t n = shares_of(x, shares, &max);

  return tm_share_may_start(shares, n, st->number, max);
}

static void give_first_worker(struct sim *x)
{
  struct tm_share shares[SIM_STEPS_MAX];
  int64_t max;
  size_t n = shares_of(x, shares, &max), giver = tm_share_giver(shares, n, max);

  if (giver < n)
    sim_tell(x, &x->steps[giver], (struct tm_sched_event) { .kind = TM_SCHED_ON_GIVE_BACK });
}

static void begin_step(struct sim *x, struct sim_step *st)
{
  st->has_begun = true;
  sim_tell(x, st, (struct tm_sched_event) { .kind = TM_SCHED_ON_BEGIN });
  tm_tally_set_created(&st->tally, (int64_t)x->o.mini_batches, (int64_t)x->o.mini_batches, true);
  sim_tell(x, st,
           (struct tm_sched_event) { .kind = TM_SCHED_ON_CREATED, .count = x->o.mini_batches });
}

static void tick(struct sim *x)
{
  for (uint32_t i = 0; i < x->steps_len; i++)
    if (x->steps[i].has_begun && tm_sched_open(&x->steps[i].s) > 0)
      sim_tell(x, &x->steps[i],
               (struct tm_sched_event) { .kind = TM_SCHED_ON_TIME,
                                         .counts = &x->steps[i].tally.counts });
  if (x->steps_len > 1)
    give_first_worker(x);
  sim_at(x, x->now_ns + TICK_NS, SIM_TICK, 0, 0);
}

static void init_step(struct sim *x, uint32_t number)
{
  const struct sim_options *o = &x->o;
  struct sim_step *st = &x->steps[number];
  struct tm_sched_options options = { .run_max_try = 3,
                                      .retry_delay_ns = -1,
                                      .window_max = 512,
                                      .seed = o->seed,
                                      .time = { .first_ns = 3600 * TM_S,
                                                .update_ns = 3600 * TM_S,
                                                .workers = (int64_t)o->nodes * o->slots,
                                                .run_timeout_ns = 3600 * TM_S },
                                      .is_over = is_over,
                                      .may_start = may_start,
                                      .data = st };

  *st = (struct sim_step) { .x = x, .number = number, .idle_ns = INT64_MAX };
  st->mini_batches = tm_xcalloc(o->mini_batches, sizeof(*st->mini_batches));
  tm_sched_init(&st->s, &options, 0);
  tm_tally_init(
      &st->tally,
      &(struct tm_limits) { .failed_items = -1, .failed_mini_batches = -1, .failed_percent = -1 },
      true);
  sim_at(x, number * o->stagger_ns, SIM_STEP_BEGINS, number, 0);
}

/* ---- a whole run ---- */

void sim_init(struct sim *x, const struct sim_options *o)
{
  memset(x, 0, sizeof(*x));
  x->o = *o;
  x->random.state = o->seed;
  x->steps_len = o->steps > 0 ? o->steps : 1;
  tm_require(x->steps_len <= SIM_STEPS_MAX && o->slots > 0 && o->run_ns > 0);
  tm_heap_init(&x->events, sizeof(struct sim_event), is_before);
  for (uint32_t i = 0; i < x->steps_len; i++)
    init_step(x, i);
  sim_nodes_init(x);
  sim_at(x, 0, SIM_TICK, 0, 0);
}

static void happen(struct sim *x, const struct sim_event *e)
{
  switch (e->kind) {
  case SIM_STEP_BEGINS: begin_step(x, &x->steps[e->step]); break;
  case SIM_TICK: tick(x); break;
  case SIM_LOSE:
  case SIM_DRAIN:
  case SIM_WAITS:
  case SIM_ADDED:
  case SIM_ENDS:
  case SIM_MEASURED: sim_nodes_happen(x, e); break;
  default: sim_workers_happen(x, e); break;
  }
}

/* What concerns one worker, concerns its step alone, unless the worker is gone: then another step
 * may have one more. */
static void turn(struct sim *x, const struct sim_event *e)
{
  bool is_of_one = e->kind == SIM_ANSWERED || e->kind == SIM_TAKEN || e->kind == SIM_RECALL;

  if (e->kind != SIM_RECALL)
    for (uint32_t i = 0; i < x->steps_len; i++)
      if (!is_of_one || i == e->step)
        sim_turn(x, &x->steps[i]);
}

static bool has_open(const struct sim *x)
{
  for (uint32_t i = 0; i < x->steps_len; i++)
    if (!x->steps[i].has_begun || tm_sched_open(&x->steps[i].s) > 0)
      return true;
  return false;
}

static int64_t due_of_steps(const struct sim *x)
{
  int64_t due_ns = INT64_MAX;

  for (uint32_t i = 0; i < x->steps_len; i++) {
    int64_t ns = tm_sched_due(&x->steps[i].s);
    due_ns = ns < due_ns ? ns : due_ns;
  }
  return due_ns;
}

static void go_on(struct sim *x)
{
  const struct sim_event *next = tm_heap_at(&x->events, 0);
  int64_t due_ns = due_of_steps(x);
  struct sim_event e;

  if (x->plan_ns <= next->at_ns && x->plan_ns <= due_ns) {
    x->now_ns = x->plan_ns > x->now_ns ? x->plan_ns : x->now_ns;
    sim_nodes_launch(x);
  } else if (next->at_ns <= due_ns) {
    tm_heap_remove(&x->events, 0, &e);
    x->now_ns = e.at_ns;
    happen(x, &e);
    turn(x, &e);
  } else {
    x->now_ns = due_ns > x->now_ns ? due_ns : x->now_ns;
    for (uint32_t i = 0; i < x->steps_len; i++)
      sim_turn(x, &x->steps[i]);
  }
}

bool sim_run(struct sim *x)
{
  while (has_open(x) && !x->found.text[0])
    go_on(x);
  for (uint32_t i = 0; i < x->steps_len && !x->found.text[0]; i++)
    sim_check_end(x, &x->steps[i]);
  for (size_t i = 0; i < x->nodes.len; i++)
    sim_check_sick(x, (uint32_t)i);
  return !x->found.text[0];
}

void sim_release(struct sim *x)
{
  for (uint32_t i = 0; i < x->steps_len; i++) {
    sim_workers_release(&x->steps[i]);
    tm_sched_release(&x->steps[i].s);
    free(x->steps[i].mini_batches);
  }
  sim_nodes_release(x);
  tm_heap_release(&x->events);
}

uint64_t sim_decisions(const struct sim *x)
{
  return x->tries + x->results;
}
