/* sched.c - see sched.h: what follows from each event. dispatch.c has ON_TURN; node_events.c has
 * the events of nodes; try_ends.c has the ends of tries. */
#include "sched/sched_own.h"

#include <string.h>

#include "base/check.h"

void tm_sched_init(struct tm_sched *s, const struct tm_sched_options *o, int64_t over)
{
  tm_require(over >= 0 && (!o->isolates || o->isolation_max_try >= 1));
  memset(s, 0, sizeof(*s));
  s->o = *o;
  s->over = over;
  tm_queue_init(&s->queue, o->run_max_try, o->is_over, o->data);
  tm_roster_init(&s->roster);
  tm_dispatch_init(s);
  tm_time_rules_init(&s->time, &o->time);
}

void tm_sched_release(struct tm_sched *s)
{
  tm_queue_release(&s->queue);
  tm_roster_release(&s->roster);
  tm_searches_release(&s->searches);
  tm_actions_release(&s->actions);
  tm_heap_release(&s->looks);
}

bool tm_sched_next(struct tm_sched *s, struct tm_sched_action *out)
{
  return tm_actions_take(&s->actions, out);
}

/* ---- what a worker holds ---- */

static void add_action(struct tm_sched *s, enum tm_sched_action_kind kind,
                       const struct tm_sched_worker *w)
{
  struct tm_sched_action *a = tm_actions_add(&s->actions, kind);

  a->worker = w->number;
  a->node = w->node->number;
}

/* Ends the worker if nothing keeps it; else brings its lists up to date. */
static void settle_worker(struct tm_sched *s, struct tm_sched_worker *w)
{
  if ((s->is_ending || w->is_leaving) && w->state == TM_WORKER_READY && !w->is_deaf &&
      w->node->is_up && tm_window_len(&w->window) == 0) {
    tm_roster_step(&s->roster, w, TM_WORKER_ON_STOP);
    add_action(s, TM_SCHED_STOP, w);
  }
  tm_roster_update(&s->roster, w);
}

static struct tm_assignment remove_inflight(struct tm_sched *s, struct tm_sched_worker *w,
                                            uint64_t seq)
{
  struct tm_assignment what = tm_window_find(&w->window, seq)->what;

  tm_window_remove(&w->window, seq, s->queue.now_ns);
  s->running--;
  tm_roster_count_held(&s->roster, w->node, &what, -1);
  return what;
}

void tm_sched_put_back(struct tm_sched *s, struct tm_sched_worker *w, uint64_t seq)
{
  struct tm_assignment what = remove_inflight(s, w, seq);

  tm_queue_put_back(&s->queue, &what);
}

void tm_sched_kill_worker(struct tm_sched *s, struct tm_sched_worker *w)
{
  tm_roster_step(&s->roster, w, TM_WORKER_ON_STOP);
  add_action(s, TM_SCHED_KILL, w);
}

/* ---- the ends of tries ---- */

struct tm_try tm_sched_take_try(struct tm_sched *s, struct tm_sched_worker *w, uint64_t seq)
{
  return (struct tm_try) {
    .what = remove_inflight(s, w, seq), .worker = w->number, .node = w->node->number, .seq = seq
  };
}

static void fail_try(struct tm_sched *s, struct tm_sched_worker *w, uint64_t seq, bool is_lost,
                     const struct tm_sched_event *e, int64_t now_ns)
{
  struct tm_try try = tm_sched_take_try(s, w, seq);

  tm_try_ends_badly(s, &try, is_lost, e, now_ns);
}

/* Keeps (5). */
static void run_again(struct tm_sched *s, struct tm_sched_worker *w, uint64_t seq)
{
  struct tm_sched_action *a = tm_actions_add(&s->actions, TM_SCHED_AGAIN);

  a->worker = w->number;
  a->node = w->node->number;
  a->seq = seq;
  a->what = tm_window_find(&w->window, seq)->what;
  tm_sched_put_back(s, w, seq);
}

static void note_worked(struct tm_sched *s, struct tm_sched_worker *w)
{
  if (!w->has_worked)
    tm_health_note_start(&s->health, &w->node->health, true);
  w->has_worked = true;
}

static bool on_failed(struct tm_sched *s, struct tm_sched_worker *w, const struct tm_sched_event *e,
                      int64_t now_ns)
{
  if (!tm_window_find(&w->window, e->seq))
    return false;
  if (w->node->drains && !e->is_timeout)
    run_again(s, w, e->seq);
  else
    fail_try(s, w, e->seq, false, e, now_ns);
  note_worked(s, w);
  settle_worker(s, w);
  return true;
}

static bool on_result(struct tm_sched *s, struct tm_sched_worker *w, const struct tm_sched_event *e)
{
  struct tm_try try;

  if (!tm_window_find(&w->window, e->seq))
    return false;
  try = tm_sched_take_try(s, w, e->seq);
  tm_window_measure(&w->window, e->ns);
  note_worked(s, w);
  tm_try_ends_well(s, &try);
  settle_worker(s, w);
  return true;
}

/* The worker has done its part; its window may take the next. */
static bool on_announced(struct tm_sched *s, struct tm_sched_worker *w,
                         const struct tm_sched_event *e)
{
  if (!tm_window_find(&w->window, e->seq))
    return false;
  (void)remove_inflight(s, w, e->seq);
  s->running++; /* it is not over */
  s->announced++;
  tm_window_measure(&w->window, e->ns);
  note_worked(s, w);
  settle_worker(s, w);
  return true;
}

/* That says nothing about the items, which have only this try: the part runs again, uncounted. */
static bool on_unusable(struct tm_sched *s, struct tm_sched_worker *w, uint64_t seq)
{
  struct tm_inflight *in = tm_window_find(&w->window, seq);

  if (!in || in->what.part == 0 || in->what.lost_answers >= TM_SCHED_LOST_MAX)
    return false;
  in->what.lost_answers++;
  tm_sched_put_back(s, w, seq);
  note_worked(s, w);
  settle_worker(s, w);
  return true;
}

/* ---- the ends of workers ---- */

/* Keeps (2) and (5). An answer that was lost counts if the mini-batch keeps ending its workers. */
static bool counts_as_try(struct tm_inflight *in, const struct tm_lost_try *lost)
{
  if (lost->state == TM_TRY_DONE)
    return ++in->what.lost_answers > TM_SCHED_LOST_MAX;
  return lost->state == TM_TRY_BEGUN;
}

static void settle_window(struct tm_sched *s, struct tm_sched_worker *w,
                          const struct tm_sched_event *e, int64_t now_ns)
{
  bool is_ours = (w->state == TM_WORKER_STOPPING || w->node->drains) && !e->is_timeout;

  while (tm_window_len(&w->window) > 0) {
    struct tm_inflight *in = tm_ring_first(&w->window.ring);
    struct tm_lost_try lost = { .state = TM_TRY_QUEUED };
    if (e->look)
      e->look(e->data, in->seq, &lost);
    if (is_ours || !counts_as_try(in, &lost)) {
      tm_sched_put_back(s, w, in->seq);
    } else {
      struct tm_sched_event failed = { .rows = lost.rows, .items = lost.items };
      fail_try(s, w, in->seq, !e->is_timeout, &failed, now_ns);
    }
  }
}

void tm_sched_remove_worker(struct tm_sched *s, struct tm_sched_worker *w, int64_t now_ns)
{
  bool has_worked = w->has_worked || w->state == TM_WORKER_STOPPING;

  tm_slots_give_back(&w->node->slots, w->slot, has_worked, now_ns, s->o.seed + w->number);
  s->starts_ns = 0;
  tm_roster_step(&s->roster, w, TM_WORKER_ON_ENDED);
  tm_roster_remove(&s->roster, w);
}

static void note_own_end(struct tm_sched *s, const struct tm_sched_worker *w, bool has_begun)
{
  struct tm_node_health *health = &w->node->health;

  if (w->state < TM_WORKER_READY) {
    tm_init_rules_note(&s->time.init, false);
    tm_health_note_init(&s->health, health, false);
    return;
  }
  tm_pool_note_end(&w->node->pool, has_begun);
  if (!has_begun)
    tm_health_note_start(&s->health, health, false);
}

static bool on_ended(struct tm_sched *s, struct tm_sched_worker *w, const struct tm_sched_event *e,
                     int64_t now_ns)
{
  if (w->state <= TM_WORKER_READY)
    note_own_end(s, w, e->has_begun);
  settle_window(s, w, e, now_ns);
  tm_sched_remove_worker(s, w, now_ns);
  return true;
}

/* ---- recalls, and ends that we decide ---- */

static bool on_taken(struct tm_sched *s, struct tm_sched_worker *w, const struct tm_sched_event *e)
{
  struct tm_ring *ring = &w->window.ring;
  size_t len = ring->len;

  for (size_t i = 0; i < e->seqs_len; i++)
    if (tm_window_find(&w->window, e->seqs[i])) /* else it has been answered already */
      tm_sched_put_back(s, w, e->seqs[i]);
  for (uint64_t seq = ring->first; w->is_recalling && seq < ring->next; seq++) {
    struct tm_inflight *in = tm_ring_find(ring, seq);
    if (in)
      in->is_recalled = false;
  }
  w->is_recalling = false;
  if (ring->len == len)
    w->refused_ns = s->queue.now_ns;
  tm_roster_set_look(&s->roster, w->node, INT64_MAX); /* what it got meanwhile may be late */
  if (s->is_ending || w->is_leaving)
    tm_dispatch_recall(s, w, INT64_MAX); /* what it was not asked for, and got later */
  settle_worker(s, w);
  return true;
}

void tm_sched_release_worker(struct tm_sched *s, struct tm_sched_worker *w)
{
  tm_roster_leave(&s->roster, w);
  tm_dispatch_recall(s, w, INT64_MAX);
  settle_worker(s, w);
}

/* Takes the ready worker that holds the least, so that it ends soon. */
static bool on_give_back(struct tm_sched *s)
{
  struct tm_sched_worker *found = NULL;

  for (size_t i = 0; i < s->roster.workers.len; i++) {
    struct tm_sched_worker *w = s->roster.workers.at[i];
    if (w && w->state == TM_WORKER_READY && !w->is_leaving && !w->is_deaf &&
        (!found || tm_window_len(&w->window) < tm_window_len(&found->window)))
      found = w;
  }
  if (!found || s->is_ending)
    return false;
  tm_sched_release_worker(s, found);
  return true;
}

/* A worker that is not ready has nothing to lose. A ready one may end what it has begun. */
static bool on_end(struct tm_sched *s, bool kill)
{
  s->is_ending = true;
  tm_queue_close(&s->queue);
  tm_roster_close(&s->roster);
  for (size_t i = 0; i < s->roster.workers.len; i++) {
    struct tm_sched_worker *w = s->roster.workers.at[i];
    if (!w)
      continue;
    if (kill || w->state < TM_WORKER_READY) {
      tm_sched_kill_worker(s, w);
    } else if (w->state == TM_WORKER_READY) {
      tm_dispatch_recall(s, w, INT64_MAX);
      settle_worker(s, w);
    }
  }
  return true;
}

static bool on_spoiled(struct tm_sched *s, const struct tm_sched_event *e)
{
  struct tm_search *x = tm_searches_at(&s->searches, e->search);

  if (!x || x->again >= TM_SEARCH_AGAIN_MAX)
    return false;
  x->again++;
  x->isolation.open++;
  s->parts_open++;
  tm_queue_add_part(&s->queue, x->index, e->part, ++x->try, e->search);
  return true;
}

static bool on_settled(struct tm_sched *s, uint32_t search)
{
  const struct tm_search *x = tm_searches_at(&s->searches, search);

  if (!x || !tm_check(x->isolation.open == 0))
    return false;
  tm_searches_remove(&s->searches, search);
  s->over++;
  return true;
}

/* ---- the events ---- */

static bool on_started(struct tm_sched *s, struct tm_sched_worker *w)
{
  if (!tm_roster_step(&s->roster, w, TM_WORKER_ON_STARTED))
    return false;
  add_action(s, w->state == TM_WORKER_STOPPING ? TM_SCHED_KILL : TM_SCHED_SETUP, w);
  return true;
}

static bool on_ready(struct tm_sched *s, struct tm_sched_worker *w, const struct tm_sched_event *e)
{
  if (!tm_roster_step(&s->roster, w, TM_WORKER_ON_READY))
    return false;
  if (e->has_prefetch)
    w->window.least = TM_WINDOW_PREFETCH;
  tm_init_rules_note(&s->time.init, true);
  tm_health_note_init(&s->health, &w->node->health, true);
  settle_worker(s, w);
  return true;
}

static bool on_retired(struct tm_sched *s, struct tm_sched_worker *w)
{
  if (w->state == TM_WORKER_STOPPING)
    return false;
  tm_sched_kill_worker(s, w);
  return true;
}

static bool on_deaf(struct tm_sched *s, struct tm_sched_worker *w)
{
  w->is_deaf = true;
  tm_roster_update(&s->roster, w);
  return true;
}

static bool on_worker_event(struct tm_sched *s, const struct tm_sched_event *e, int64_t now_ns)
{
  struct tm_sched_worker *w = tm_roster_worker(&s->roster, e->worker);

  if (!w)
    return false;
  switch (e->kind) {
  case TM_SCHED_ON_STARTED: return on_started(s, w);
  case TM_SCHED_ON_LOADED: return tm_roster_step(&s->roster, w, TM_WORKER_ON_LOADED);
  case TM_SCHED_ON_READY: return on_ready(s, w, e);
  case TM_SCHED_ON_RESULT: return on_result(s, w, e);
  case TM_SCHED_ON_FAILED: return on_failed(s, w, e, now_ns);
  case TM_SCHED_ON_UNUSABLE: return on_unusable(s, w, e->seq);
  case TM_SCHED_ON_ANNOUNCED: return on_announced(s, w, e);
  case TM_SCHED_ON_TAKEN: return on_taken(s, w, e);
  case TM_SCHED_ON_RETIRED: return on_retired(s, w);
  case TM_SCHED_ON_ENDED: return on_ended(s, w, e, now_ns);
  case TM_SCHED_ON_DEAF: return on_deaf(s, w);
  default: return false;
  }
}

/* Keeps (6). */
static void look_at_health(struct tm_sched *s)
{
  for (size_t i = 0; !s->is_ending && i < s->roster.nodes.len; i++) {
    struct tm_sched_node *n = s->roster.nodes.at[i];
    struct tm_sickness found = { .kind = TM_SICK_NOT };
    if (n && n->is_up && !n->drains && !n->health.is_sick)
      found = tm_health_look(&s->health, &n->health, &n->pool);
    if (found.kind == TM_SICK_NOT)
      continue;
    n->health.is_sick = true;
    struct tm_sched_action *a = tm_actions_add(&s->actions, TM_SCHED_NODE_SICK);
    a->node = n->number;
    a->sickness = found;
  }
}

static bool on_time(struct tm_sched *s, const struct tm_counts *counts, int64_t now_ns)
{
  look_at_health(s);
  switch (tm_time_rules_look(&s->time, &s->roster, counts, now_ns)) {
  case TM_TIME_IS_FINE: break;
  case TM_TIME_NO_PROGRESS: tm_actions_add(&s->actions, TM_SCHED_NO_PROGRESS); break;
  case TM_TIME_INIT_FAILS: tm_actions_add(&s->actions, TM_SCHED_INIT_FAILS); break;
  case TM_TIME_INIT_STUCK: tm_actions_add(&s->actions, TM_SCHED_INIT_STUCK); break;
  }
  return true;
}

bool tm_sched_event(struct tm_sched *s, const struct tm_sched_event *e, int64_t now_ns)
{
  s->queue.now_ns = now_ns;
  switch (e->kind) {
  case TM_SCHED_ON_TURN: tm_dispatch_turn(s, now_ns); return true;
  case TM_SCHED_ON_BEGIN: tm_time_rules_start(&s->time, &s->roster, now_ns); return true;
  case TM_SCHED_ON_TIME: return on_time(s, e->counts, now_ns);
  case TM_SCHED_ON_NODE:
  case TM_SCHED_ON_NODE_SILENT:
  case TM_SCHED_ON_NODE_LOST:
  case TM_SCHED_ON_NODE_DRAINS:
  case TM_SCHED_ON_DISTANCE: return tm_sched_node_event(s, e, now_ns);
  case TM_SCHED_ON_CREATED: tm_queue_set_created(&s->queue, e->count); return true;
  case TM_SCHED_ON_SPOILED: return on_spoiled(s, e);
  case TM_SCHED_ON_SETTLED: return on_settled(s, e->search);
  case TM_SCHED_ON_GIVE_BACK: return on_give_back(s);
  case TM_SCHED_ON_NO_STARTS: tm_roster_close(&s->roster); return true;
  case TM_SCHED_ON_END: return on_end(s, e->kill);
  default: return e->what ? tm_try_ends_announced(s, e, now_ns) : on_worker_event(s, e, now_ns);
  }
}

/* ---- questions ---- */

enum tm_worker_state tm_sched_state(const struct tm_sched *s, uint32_t worker)
{
  const struct tm_sched_worker *w = tm_roster_worker(&s->roster, worker);

  return w ? w->state : TM_WORKER_GONE;
}

uint64_t tm_sched_first(const struct tm_sched *s, uint32_t worker)
{
  const struct tm_sched_worker *w = tm_roster_worker(&s->roster, worker);

  return w && tm_window_len(&w->window) > 0 ? w->window.ring.first : 0;
}

const struct tm_assignment *tm_sched_assignment(const struct tm_sched *s, uint32_t worker,
                                                uint64_t seq)
{
  const struct tm_sched_worker *w = tm_roster_worker(&s->roster, worker);
  const struct tm_inflight *in = w ? tm_window_find(&w->window, seq) : NULL;

  return in ? &in->what : NULL;
}

int64_t tm_sched_mean_ns(const struct tm_sched *s, uint32_t worker)
{
  const struct tm_sched_worker *w = tm_roster_worker(&s->roster, worker);

  return w ? w->window.mean_ns : 0;
}

size_t tm_sched_recalled(const struct tm_sched *s, uint32_t worker, uint64_t *seqs)
{
  const struct tm_sched_worker *w = tm_roster_worker(&s->roster, worker);
  size_t n = 0;

  for (uint64_t seq = w ? w->window.ring.first : 0; w && seq < w->window.ring.next; seq++) {
    const struct tm_inflight *in = tm_window_find(&w->window, seq);
    if (in && in->is_recalled)
      seqs[n++] = seq;
  }
  return n;
}

const struct tm_search *tm_sched_search(struct tm_sched *s, uint32_t search)
{
  return tm_searches_at(&s->searches, search);
}

bool tm_sched_has_waiting(struct tm_sched *s)
{
  return tm_queue_has_waiting(&s->queue);
}

int64_t tm_sched_open(const struct tm_sched *s)
{
  /* a mini-batch that is run in parts counts as its parts */
  return (int64_t)s->queue.created - s->over - s->searches.len + s->parts_open;
}

int64_t tm_sched_awake_ns(struct tm_sched *s, int64_t now_ns)
{
  return tm_time_rules_clock(&s->time, now_ns);
}

int64_t tm_sched_in_init(const struct tm_sched *s)
{
  return tm_time_rules_init_look(&s->time, &s->roster).in_init;
}

const struct tm_sched_node *tm_sched_given_up(const struct tm_sched *s)
{
  const struct tm_sched_node *found = NULL;

  if (s->roster.living > 0)
    return NULL;
  for (size_t i = 0; i < s->roster.nodes.len; i++) {
    const struct tm_sched_node *n = s->roster.nodes.at[i];
    if (!n || n->is_lost)
      continue;
    if (!tm_pool_has_given_up(&n->pool))
      return NULL;
    found = n;
  }
  return found;
}

int64_t tm_sched_due(const struct tm_sched *s)
{
  int64_t due_ns = tm_queue_due(&s->queue), look_ns = tm_dispatch_look_due(s);

  if (s->is_ending)
    return INT64_MAX;
  if (look_ns < due_ns)
    due_ns = look_ns;
  if (s->starts_ns < due_ns && tm_dispatch_wants_worker(s))
    due_ns = s->starts_ns;
  return due_ns;
}
