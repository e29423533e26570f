/* sched_model.h - what fuzz_sched.c knows of the scheduler's world, and what must hold of both
 * after every event. */
#ifndef TM_TESTS_SCHED_MODEL_H
#define TM_TESTS_SCHED_MODEL_H

#include "fuzz.h"

#include "base/mem.h"
#include "base/time.h"
#include "record/part.h"
#include "sched/sched.h"

#define INDEXES    64
#define NODES      3
#define WINDOW_MAX 16
#define KEPT_MAX   32 /* announced results */
#define HELD_MAX   (NODES * 4 * WINDOW_MAX + KEPT_MAX)
#define EVENTS_MAX 250  /* of an input */
#define RECALLS    4096 /* workers of which recalls are known */
#define STARTS     4096 /* workers of which the start is known */
#define LATE_NS    (10 * TM_MS)

enum outcome { WAITS, AT_WORKER, SEARCHED, OVER };

struct mini_batch {
  enum outcome outcome;
  uint32_t failed, picked; /* tries, hand-outs */
  uint32_t lost;           /* nodes */
  uint32_t failed_at;      /* a worker */
  uint32_t failed_node;    /* its node */
};

struct held {
  uint32_t worker, node;
  uint64_t seq;
  bool is_kept; /* its result is announced: it has left the worker, which may be gone */
  struct tm_assignment what;
  int64_t handed_ns;
};

/* What decides when something that waits at a worker is late. */
struct waits {
  uint64_t first;     /* seq; 0: it holds nothing */
  int64_t first_ns;   /* since when that is its first */
  int64_t crowded_ns; /* since when something waits behind that, unasked for; INT64_MAX: nothing */
  int64_t refused_ns; /* the last recall that brought nothing back */
};

struct search {
  bool is_open, is_over;
  uint64_t index;
  uint64_t part; /* one of those that have ended well */
  uint32_t last_try;
};

/* What the rules of time must say: time awake, and what has happened since. */
struct time_model {
  int64_t looked_ns, awake_ns;
  bool has_no_node;                 /* time stands still */
  int64_t since_ns, created, ended; /* awake; the last progress that was seen */
  int64_t started_ns[STARTS];       /* awake; by worker */
  int64_t init_failures, parts;
  bool has_ready;
};

struct model {
  struct tm_sched s;
  struct time_model time;
  const uint8_t *at, *end;
  int64_t now_ns;
  uint64_t created;
  struct mini_batch all[INDEXES];
  struct held held[HELD_MAX];
  size_t held_len;
  struct TM_ARRAY(uint32_t) workers; /* living */
  struct search searches[INDEXES];
  bool is_up[NODES], drains[NODES], is_ended, has_started_none;
  int losses[NODES];           /* in a row, and no mini-batch has ended */
  int64_t failed_there[NODES]; /* tries in a row, but for parts */
  bool is_sick[NODES];
  int failed_with_nodes, uncounted; /* tries, or parts: with their nodes; while a node drains */
  int64_t slots[NODES];
  bool is_recalling[RECALLS];  /* by worker */
  struct waits waits[RECALLS]; /* by worker */
  int64_t distance_ns[NODES], distance_set_ns[NODES];
  int64_t idle_ns; /* since when some worker has been idle at each turn; INT64_MAX: none was */
  uint8_t ends;    /* how tries of a lost worker have ended, two bits each */
};

static struct held *find_held(struct model *m, uint32_t worker, uint64_t seq)
{
  for (size_t i = 0; i < m->held_len; i++)
    if (m->held[i].worker == worker && m->held[i].seq == seq)
      return &m->held[i];
  return NULL;
}

static const struct held *first_held(const struct model *m, uint32_t worker)
{
  const struct held *first = NULL;

  for (size_t i = 0; i < m->held_len; i++)
    if (m->held[i].worker == worker && !m->held[i].is_kept &&
        (!first || m->held[i].seq < first->seq))
      first = &m->held[i];
  return first;
}

/* Its script has prefetch(): what waits at it may be late. */
static bool has_prefetch(uint32_t worker)
{
  return worker % 3 == 1;
}

/* How many it gets even if its first is late. */
static size_t least_of(uint32_t worker)
{
  return has_prefetch(worker) ? TM_WINDOW_PREFETCH : 0;
}

static int64_t late_ns(const struct model *m, uint32_t worker)
{
  return LATE_NS + m->distance_ns[tm_roster_worker(&m->s.roster, worker)->node->number];
}

/* ---- what the rules of time must say ---- */

static struct tm_counts counts_of(const struct model *m)
{
  struct tm_counts c = { .created = (int64_t)m->created, .parts = m->time.parts };

  for (uint64_t i = 0; i < m->created; i++)
    c.succeeded += m->all[i].outcome == OVER;
  return c;
}

static bool lacks_progress(struct model *m, const struct tm_counts *c)
{
  const struct tm_time_limits *limits = &m->s.o.time;
  struct time_model *t = &m->time;

  if (c->created != t->created || c->succeeded + c->parts != t->ended) {
    t->created = c->created;
    t->ended = c->succeeded + c->parts;
    t->since_ns = t->awake_ns;
  }
  return t->awake_ns - t->since_ns >= (c->created == 0 ? limits->first_ns : limits->update_ns);
}

/* Every worker that runs and was not told to end is in init(), for longer than `ns`. */
static bool is_stuck(const struct model *m, int64_t ns)
{
  size_t in_init = 0;

  for (size_t i = 0; i < m->workers.len; i++) {
    uint32_t number = m->workers.at[i];
    enum tm_worker_state state = tm_sched_state(&m->s, number);
    if (state == TM_WORKER_READY)
      return false;
    if (state != TM_WORKER_LOADING && state != TM_WORKER_INIT)
      continue;
    if (m->time.awake_ns - m->time.started_ns[number % STARTS] <= ns)
      return false;
    in_init++;
  }
  return in_init > 0;
}

static void look_at_clock(struct model *m)
{
  struct time_model *t = &m->time;
  int64_t gap_ns = m->now_ns - t->looked_ns;

  t->looked_ns = m->now_ns;
  if (!t->has_no_node)
    t->awake_ns += gap_ns < TM_S ? gap_ns : TM_S;
}

/* One is up, down or gone. */
static void look_at_nodes(struct model *m)
{
  look_at_clock(m);
  m->time.has_no_node = true;
  for (size_t i = 0; i < NODES; i++)
    m->time.has_no_node = m->time.has_no_node && !m->is_up[i];
}

/* The action that must follow from ON_TIME; TM_SCHED_START: none. */
static enum tm_sched_action_kind broken_rule(struct model *m, const struct tm_counts *c)
{
  const struct tm_time_limits *limits = &m->s.o.time;
  struct time_model *t = &m->time;

  look_at_clock(m);
  if (lacks_progress(m, c))
    return TM_SCHED_NO_PROGRESS;
  if (is_stuck(m, 3 * limits->run_timeout_ns + 30 * TM_S))
    return TM_SCHED_INIT_STUCK;
  if (!t->has_ready && t->awake_ns > 120 * TM_S && t->init_failures >= 2 * limits->workers)
    return TM_SCHED_INIT_FAILS;
  return TM_SCHED_START;
}

/* ---- what must hold ---- */

static void check_worker(const struct model *m, uint32_t number, size_t *idle, size_t *crowded)
{
  const struct tm_sched_worker *w = tm_roster_worker(&m->s.roster, number);
  size_t len, held = 0;

  fuzz_require(w && w->state != TM_WORKER_GONE);
  len = tm_window_len(&w->window);
  for (size_t i = 0; i < m->held_len; i++)
    held += m->held[i].worker == number && !m->held[i].is_kept;
  fuzz_require(len == held && len <= WINDOW_MAX);
  fuzz_require(w->node->distance_ns == m->distance_ns[w->node->number]);
  fuzz_require(w->window.ring.next - w->window.ring.first <= WINDOW_MAX);
  fuzz_require(!w->window.ring.at || (UINT64_C(1) << w->window.ring.cap_log2) <= WINDOW_MAX);
  fuzz_require(w->node->drains == m->drains[w->node->number]);
  fuzz_require(!w->node->drains || w->is_leaving || w->state == TM_WORKER_STOPPING);
  bool is_free = w->state == TM_WORKER_READY && !w->is_deaf && w->node->is_up;
  bool is_idle = is_free && !w->is_leaving && len == 0;
  fuzz_require(is_idle == (w->in == &w->node->idle));
  fuzz_require(w->is_taker == (is_free && !w->is_leaving));
  fuzz_require(!((m->is_ended || w->is_leaving) && is_free && len == 0));
  fuzz_require(w->is_recalling == m->is_recalling[number % RECALLS]);
  *idle += is_idle;
  *crowded += w->state == TM_WORKER_READY && w->node->is_up && len > 1 && !w->is_recalling;
}

/* A node that is up, has a ready worker, and whose workers hold no suspect. */
static bool is_calm(const struct model *m, uint32_t node)
{
  bool has_ready = false;

  for (size_t i = 0; i < m->held_len; i++)
    if (m->held[i].node == node && !m->held[i].is_kept &&
        m->held[i].what.lost_nodes == TM_LOST_NODES_MAX - 1)
      return false;
  for (size_t i = 0; i < m->workers.len; i++) {
    const struct tm_sched_worker *w = tm_roster_worker(&m->s.roster, m->workers.at[i]);
    has_ready = has_ready || (w->node->number == node && w->state == TM_WORKER_READY);
  }
  return has_ready && m->is_up[node] && !m->drains[node];
}

static size_t count_calm(const struct model *m)
{
  size_t n = 0;

  for (uint32_t node = 0; node < NODES; node++)
    n += is_calm(m, node);
  return n;
}

static bool is_alone(const struct tm_assignment *a)
{
  return a->lost_nodes > 0 || a->lost_answers > 0;
}

/* More tries have failed there in a row than it may have workers. */
static bool is_doubtful(const struct model *m, uint32_t node)
{
  return m->failed_there[node] > m->slots[node];
}

/* How many workers of the node hold something. */
static size_t count_holders(const struct model *m, uint32_t node)
{
  size_t n = 0;

  for (size_t i = 0; i < m->workers.len; i++)
    n += tm_roster_worker(&m->s.roster, m->workers.at[i])->node->number == node &&
         first_held(m, m->workers.at[i]);
  return n;
}

static size_t count_idle(const struct model *m)
{
  const struct tm_roster *r = &m->s.roster;
  size_t n = 0, listed[2] = { 0, 0 };

  for (size_t i = 0; i < r->nodes.len; i++) {
    const struct tm_sched_node *node = r->nodes.at[i];
    if (!node)
      continue;
    fuzz_require(node->holders == count_holders(m, node->number));
    n += node->idle.len;
    listed[node->is_doubtful] += node->idle.len > 0;
    fuzz_require(tm_list_has(&node->has_idle) == (node->idle.len > 0));
    fuzz_require(tm_list_has(&node->has_roomy) == (node->roomy.len > 0));
    fuzz_require(node->is_lost || node->is_doubtful == is_doubtful(m, node->number));
  }
  fuzz_require(listed[0] == r->sound.idle.len && listed[1] == r->doubtful.idle.len);
  return n;
}

/* How many workers that can take something are on these nodes: on that one, or on any other one. */
static int count_takers(const struct model *m, uint32_t node, bool is_there, bool is_sound)
{
  int n = 0;

  for (size_t i = 0; i < m->workers.len; i++) {
    const struct tm_sched_worker *w = tm_roster_worker(&m->s.roster, m->workers.at[i]);
    n += w->is_taker && (w->node->number == node) == is_there &&
         (!is_sound || !is_doubtful(m, w->node->number));
  }
  return n;
}

/* Whether a sound node has workers that can take something, and this one is not sound. */
static bool is_shunned(const struct model *m, uint32_t node)
{
  return is_doubtful(m, node) && count_takers(m, node, false, true) > 0;
}

/* Whether what has failed on the node is for another one. */
static bool has_other_node(const struct model *m, uint32_t node)
{
  return count_takers(m, node, false, !is_doubtful(m, node)) > 0;
}

static void check_all(const struct model *m)
{
  int64_t leaves = 0, kept = 0;
  size_t idle = 0, crowded = 0, over = 0, searched = 0, at_workers = 0, whole = 0;

  for (size_t i = 0; i < m->workers.len; i++) {
    const struct tm_sched_worker *w = tm_roster_worker(&m->s.roster, m->workers.at[i]);
    check_worker(m, m->workers.at[i], &idle, &crowded);
    leaves += w->is_leaving || w->state == TM_WORKER_STOPPING;
  }
  for (uint64_t i = 0; i < m->created; i++) {
    over += m->all[i].outcome == OVER;
    searched += m->all[i].outcome == SEARCHED;
    at_workers += m->all[i].outcome == AT_WORKER;
  }
  for (size_t i = 0; i < m->held_len; i++) {
    whole += m->held[i].what.part == 0;
    kept += m->held[i].is_kept;
  }
  fuzz_require(whole == at_workers && m->s.running == (int64_t)m->held_len);
  fuzz_require(m->s.announced == kept);
  fuzz_require(m->s.searches.len == (int64_t)searched);
  fuzz_require(tm_sched_open(&m->s) == (int64_t)(m->created - over - searched) + m->s.parts_open);
  fuzz_require(m->s.roster.living == (int64_t)m->workers.len);
  fuzz_require(m->s.roster.leaves == leaves);
  fuzz_require(count_idle(m) == idle);
  for (size_t i = 0; i < m->s.roster.nodes.len; i++)
    crowded -= m->s.roster.nodes.at[i] ? m->s.roster.nodes.at[i]->crowded.len : 0;
  fuzz_require(crowded == 0);
  fuzz_require(m->s.roster.calm == count_calm(m));
}

static void drop_held(struct model *m, struct held *h)
{
  *h = m->held[--m->held_len];
}

static void give_back_held(struct model *m, size_t i)
{
  if (m->held[i].what.part == 0)
    m->all[m->held[i].what.index].outcome = WAITS;
  drop_held(m, &m->held[i]);
}

/* An event about it, also if it has left its worker. */
static struct tm_sched_event about(const struct held *h, enum tm_sched_event_kind kind)
{
  return (struct tm_sched_event) { .kind = kind,
                                   .node = h->node,
                                   .worker = h->worker,
                                   .seq = h->seq,
                                   .what = h->is_kept ? &h->what : NULL };
}

/* After an event. */
static void note_waits(struct model *m)
{
  for (size_t i = 0; i < m->workers.len; i++) {
    const struct tm_sched_worker *w = tm_roster_worker(&m->s.roster, m->workers.at[i]);
    struct waits *x = &m->waits[w->number % RECALLS];
    const struct held *first = first_held(m, w->number);
    uint64_t seq = first ? first->seq : 0;
    bool is_crowded = w->state == TM_WORKER_READY && w->node->is_up && !w->is_recalling &&
                      tm_window_len(&w->window) > 1;
    if (seq != x->first)
      x->first_ns = m->now_ns;
    x->first = seq;
    if (!is_crowded || x->crowded_ns == INT64_MAX)
      x->crowded_ns = is_crowded ? m->now_ns : INT64_MAX;
  }
}

static void check_slots(const struct model *m)
{
  for (size_t n = 0; n < m->s.roster.nodes.len; n++) {
    const struct tm_sched_node *node = m->s.roster.nodes.at[n];
    int64_t taken = 0;
    if (!node)
      continue;
    for (size_t i = 0; i < node->slots.list.len; i++)
      taken += node->slots.list.at[i].is_taken;
    fuzz_require(taken == node->pool.living && taken <= m->slots[n]);
    fuzz_require((size_t)taken == node->workers.len);
  }
}

/* The worker must avoid all of them. */
static void check_avoided(const struct model *m, const struct tm_backlog *waiting,
                          const struct tm_sched_worker *w)
{
  bool has_other = has_other_node(m, w->node->number);
  size_t len = 0;

  for (size_t i = 0; i < waiting->order.len; i++) {
    const struct tm_heap *h = &waiting->order.at[i]->of;
    for (size_t k = 0; k < h->len; k++) {
      const struct tm_assignment *a = tm_heap_at(h, k);
      if (is_shunned(m, w->node->number))
        fuzz_require(a->avoid_node != TM_NO_NODE || a->part != 0);
      else
        fuzz_require(has_other ? a->avoid_node == w->node->number : a->avoid == w->number);
    }
    len += h->len;
  }
  fuzz_require(len == waiting->len);
}

/* A ready worker gets no more only if it has none of the room, must avoid all that waits, or holds
 * something while others wait for a worker that holds nothing. */
static void check_refused(const struct model *m, const struct tm_sched_worker *w)
{
  const struct tm_queue *q = &m->s.queue;
  const struct held *first = first_held(m, w->number);

  if (w->state != TM_WORKER_READY || w->is_deaf || w->is_leaving || !w->node->is_up ||
      !tm_window_has_room(&w->window, w->node->distance_ns) ||
      (tm_window_len(&w->window) > 0 && tm_window_len(&w->window) >= least_of(w->number) &&
       m->now_ns - m->waits[w->number % RECALLS].first_ns >= late_ns(m, w->number)))
    return;
  if (!first)
    fuzz_require(q->suspects.len == 0 || !is_calm(m, w->node->number));
  else if (is_alone(&first->what) || q->alone.len > 0 || (q->suspects.len > 0 && count_calm(m) > 0))
    return;
  if (!tm_queue_has_waiting(&((struct model *)(uintptr_t)m)->s.queue))
    return;
  fuzz_require(m->s.roster.sound.count + m->s.roster.doubtful.count > 1);
  fuzz_require(q->next == q->created);
  check_avoided(m, &q->back, w);
  if (!first)
    check_avoided(m, &q->alone, w);
}

/* A worker has started wherever one may: there is work for it, and a slot that is free. */
static void check_starts(const struct model *m)
{
  const struct tm_roster *r = &m->s.roster;

  if (m->has_started_none || r->living >= tm_sched_open(&m->s) || (r->living > 0 && !r->has_loaded))
    return;
  for (size_t i = 0; i < r->nodes.len; i++) {
    const struct tm_sched_node *n = r->nodes.at[i];
    if (n && n->is_up && !n->drains && tm_pool_wants_worker(&n->pool, INT64_MAX))
      fuzz_require(tm_slots_due(&n->slots) > m->now_ns);
  }
}

/* The window is as large as the distance permits, and its first is not late, unless the worker must
 * get some ahead. */
static void check_room(struct model *m, const struct tm_sched_action *a)
{
  struct waits *x = &m->waits[a->worker % RECALLS];
  size_t held = 0;

  for (size_t i = 0; i < m->held_len; i++) {
    bool is_here = m->held[i].worker == a->worker && !m->held[i].is_kept;
    held += is_here;
    fuzz_require(!is_here || !(is_alone(&m->held[i].what) || is_alone(&a->what)));
  }
  fuzz_require(a->what.lost_nodes < TM_LOST_NODES_MAX - 1 || is_calm(m, a->node));
  fuzz_require(held < (m->distance_ns[a->node] > TM_MS ? WINDOW_MAX : WINDOW_MAX / 2));
  if (held == 0) {
    x->first = a->seq;
    x->first_ns = m->now_ns;
  }
  fuzz_require(held < least_of(a->worker) || m->now_ns - x->first_ns < late_ns(m, a->worker));
}

/* What has waited too long behind another one was recalled, if a worker was idle all the time. */
static void check_recalls(const struct model *m)
{
  for (size_t i = 0; i < m->held_len; i++) {
    const struct held *h = &m->held[i];
    const struct waits *x = &m->waits[h->worker % RECALLS];
    int64_t since_ns = h->handed_ns, due_ns;
    if (h->is_kept || h->seq == x->first || x->crowded_ns == INT64_MAX)
      continue;
    since_ns = since_ns > m->idle_ns ? since_ns : m->idle_ns;
    since_ns = since_ns > x->refused_ns ? since_ns : x->refused_ns;
    due_ns = since_ns + late_ns(m, h->worker);
    due_ns = due_ns > x->crowded_ns ? due_ns : x->crowded_ns;
    due_ns = due_ns > m->distance_set_ns[h->node] ? due_ns : m->distance_set_ns[h->node];
    fuzz_require(m->now_ns < due_ns + TM_SCHED_LOOK_NS);
    fuzz_require(tm_sched_due(&m->s) <= due_ns + TM_SCHED_LOOK_NS);
  }
}

static void check_turn(struct model *m)
{
  const struct tm_roster *r = &m->s.roster;

  if (m->is_ended)
    return;
  if (!tm_roster_has_idle(r) || m->idle_ns == INT64_MAX)
    m->idle_ns = tm_roster_has_idle(r) ? m->now_ns : INT64_MAX;
  if (tm_sched_has_waiting(&m->s) || m->s.queue.suspects.len > 0)
    for (size_t i = 0; i < m->workers.len; i++)
      check_refused(m, tm_roster_worker(r, m->workers.at[i]));
  check_starts(m);
  if (tm_roster_has_idle(r))
    check_recalls(m);
  fuzz_require(tm_sched_due(&m->s) > m->now_ns);
}

#endif
