/* fuzz_sched.c - the scheduler under random events: what happens to workers, nodes and mini-batches
 * in any order, also what cannot happen. After every event:
 *
 *   - each mini-batch is in one state, is at one worker at most, and is over once;
 *   - tries are counted as the results say, and a try number is given once;
 *   - losses of nodes are counted for what may have run there, not after the node drains; what has
 *     lost a node is alone at its worker, and what has lost two is the only such one on its node;
 *   - no window is larger than it may be, and no slot has two workers;
 *   - no worker is idle while something waits that it may take, and what waits behind a long one is
 *     recalled in time, which depends on how far the node is; distances change, and may be absurd;
 *   - the lists say what a look at all workers says;
 *   - a sick node is reported once, with what failed there in a row;
 *   - the rules of time are broken when a model says so, and a look at them changes nothing.
 *
 * In the end, all that is left succeeds, and every mini-batch must get there.
 */
#include "sched_actions.h"

static unsigned next_byte(struct model *m)
{
  return m->at < m->end ? *m->at++ : 0;
}

static bool is_over(void *data, uint64_t index)
{
  const struct model *m = data;

  return index % 7 == 3 && m->all[index % INDEXES].outcome == OVER;
}

/* ---- what happens ---- */

static bool event(struct model *m, struct tm_sched_event e)
{
  bool is_taken = tm_sched_event(&m->s, &e, m->now_ns);

  carry_out(m);
  note_waits(m);
  check_all(m);
  return is_taken;
}

static void turn(struct model *m)
{
  event(m, (struct tm_sched_event) { .kind = TM_SCHED_ON_TURN });
  check_turn(m);
}

static uint32_t some_worker(struct model *m, unsigned n)
{
  return m->workers.len > 0 ? m->workers.at[n % m->workers.len] : n;
}

static void live_on(struct model *m, uint32_t worker)
{
  static const enum tm_sched_event_kind next[TM_WORKER_STATES] = {
    [TM_WORKER_STARTING] = TM_SCHED_ON_STARTED,
    [TM_WORKER_LOADING] = TM_SCHED_ON_LOADED,
    [TM_WORKER_INIT] = TM_SCHED_ON_READY
  };
  enum tm_sched_event_kind kind = next[tm_sched_state(&m->s, worker)];

  m->time.has_ready |= kind == TM_SCHED_ON_READY;
  if (kind != TM_SCHED_ON_TURN)
    fuzz_require(event(m, (struct tm_sched_event) { .kind = kind,
                                                    .worker = worker,
                                                    .has_prefetch = has_prefetch(worker) }));
}

static void end_well(struct model *m, struct held *h, unsigned n)
{
  struct held was = *h;

  drop_held(m, h);
  if (was.what.part == 0)
    m->all[was.what.index].outcome = OVER;
  else
    m->searches[was.what.search].part = was.what.part;
  m->time.parts += was.what.part != 0;
  struct tm_sched_event e = about(&was, TM_SCHED_ON_RESULT);
  m->losses[was.node] = 0;
  m->failed_there[was.node] = 0;
  e.ns = (int64_t)(n & 31) * TM_MS / 8;
  fuzz_require(event(m, e));
}

/* The result is announced. The worker may go on, or end. */
static void announce(struct model *m, struct held *h, unsigned n)
{
  struct tm_sched_event e = about(h, TM_SCHED_ON_ANNOUNCED);

  e.ns = (int64_t)(n & 31) * TM_MS / 8;
  if (h->is_kept || m->s.announced == KEPT_MAX)
    return;
  h->is_kept = true;
  fuzz_require(event(m, e));
}

static void end_badly(struct model *m, const struct held *h, unsigned n)
{
  struct held was = *h; /* the event drops it */
  int uncounted = m->uncounted;
  struct tm_sched_event e = about(&was, TM_SCHED_ON_FAILED);

  e.items = n & 7;
  e.no_halves = n & 8;
  e.is_timeout = n & 16;
  fuzz_require(event(m, e));
  fuzz_require(m->uncounted - uncounted == (!was.is_kept && m->drains[was.node] && !e.is_timeout));
}

/* The result of a part cannot be read, or an announced one was not seen: it comes back, a few
 * times. */
static void end_unusable(struct model *m, struct held *h)
{
  struct held was = *h;
  struct tm_sched_event e = about(&was, TM_SCHED_ON_UNUSABLE);
  uint32_t max = was.is_kept ? TM_SCHED_UNSEEN_MAX : was.what.part != 0 ? TM_SCHED_LOST_MAX : 0;

  if (was.what.lost_answers < max) {
    give_back_held(m, (size_t)(h - m->held));
    fuzz_require(event(m, e));
  } else {
    fuzz_require(!event(m, e));
  }
}

static unsigned how_it_ended(const struct model *m, uint64_t seq)
{
  return m->ends >> (seq % 4 * 2) & 3;
}

static void look(void *data, uint64_t seq, struct tm_lost_try *out)
{
  unsigned how = how_it_ended(data, seq);

  out->state = how == 0 ? TM_TRY_QUEUED : how == 3 ? TM_TRY_DONE : TM_TRY_BEGUN;
  out->items = (uint32_t)(seq % 5);
}

/* What the worker holds and nobody had begun goes back; the scheduler says what becomes of the
 * rest. */
static void end_worker(struct model *m, uint32_t worker, unsigned n)
{
  struct tm_sched_event e = { .kind = TM_SCHED_ON_ENDED,
                              .worker = worker,
                              .is_timeout = n & 1,
                              .has_begun = n & 2,
                              .look = look,
                              .data = m };
  bool is_ours;

  if (tm_sched_state(&m->s, worker) == TM_WORKER_GONE)
    return;
  is_ours = (tm_sched_state(&m->s, worker) == TM_WORKER_STOPPING ||
             m->drains[tm_roster_worker(&m->s.roster, worker)->node->number]) &&
            !e.is_timeout;
  m->time.init_failures += tm_sched_state(&m->s, worker) < TM_WORKER_READY;
  m->ends = (uint8_t)next_byte(m);
  for (size_t i = m->held_len; i-- > 0;) {
    const struct held *h = &m->held[i];
    unsigned how = how_it_ended(m, h->seq);
    bool counts = how == 3 ? h->what.lost_answers >= TM_SCHED_LOST_MAX : how != 0;
    if (h->worker == worker && !h->is_kept && (is_ours || !counts))
      give_back_held(m, i);
  }
  for (size_t i = 0; i < m->workers.len; i++)
    if (m->workers.at[i] == worker)
      m->workers.at[i--] = m->workers.at[--m->workers.len];
  fuzz_require(event(m, e));
  fuzz_require(tm_sched_state(&m->s, worker) == TM_WORKER_GONE);
}

/* The node's answer to a recall, if it owes one: it takes back some of the assignments. */
static void answer_recall(struct model *m, uint32_t worker, unsigned n)
{
  const struct tm_sched_worker *w = tm_roster_worker(&m->s.roster, worker);
  uint64_t seqs[WINDOW_MAX];
  size_t len = 0, all;

  if (!w || !w->is_recalling)
    return;
  all = tm_sched_recalled(&m->s, worker, seqs);
  for (size_t i = 0; i < all; i++) {
    struct held *h = find_held(m, worker, seqs[i]);
    fuzz_require(h);
    if ((n >> i % 8 & 1) == 0 || n < 32)
      continue;
    seqs[len++] = seqs[i];
    give_back_held(m, (size_t)(h - m->held));
  }
  m->is_recalling[worker % RECALLS] = false;
  if (len == 0)
    m->waits[worker % RECALLS].refused_ns = m->now_ns;
  event(m, (struct tm_sched_event) {
               .kind = TM_SCHED_ON_TAKEN, .worker = worker, .seqs = seqs, .seqs_len = len });
}

/* What its workers had sent before is read first, if they can still be read. */
static void silence_node(struct model *m, uint32_t node)
{
  m->is_up[node] = false;
  fuzz_require(event(m, (struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_SILENT, .node = node }));
  look_at_nodes(m);
  for (size_t i = m->held_len; i-- > 0;)
    if (m->held[i].node == node && i % 2)
      end_well(m, &m->held[i], 5);
  turn(m);
}

/* It may be what took its node down. True: it has failed with that, which the scheduler says. */
static bool has_lost_all(struct model *m, const struct held *h)
{
  bool may_run =
      tm_sched_state(&m->s, h->worker) == TM_WORKER_READY && !m->drains[h->node] && !m->is_ended;

  if (may_run && h->what.part == 0)
    m->all[h->what.index].lost++;
  return may_run && h->what.lost_nodes + 1 == TM_LOST_NODES_MAX;
}

static void lose_worker(struct model *m, uint32_t worker)
{
  for (size_t i = m->held_len; i-- > 0;) {
    const struct held *h = &m->held[i];
    if (h->worker == worker && !h->is_kept && !has_lost_all(m, h))
      give_back_held(m, i);
  }
}

static void lose_node(struct model *m, uint32_t node, bool is_silent)
{
  int failed = m->failed_with_nodes;

  if (is_silent)
    silence_node(m, node);
  for (size_t i = m->workers.len; i-- > 0;) {
    uint32_t worker = m->workers.at[i];
    if (tm_roster_worker(&m->s.roster, worker)->node->number != node)
      continue;
    lose_worker(m, worker);
    m->workers.at[i] = m->workers.at[--m->workers.len];
  }
  m->is_up[node] = m->is_sick[node] = false;
  fuzz_require(event(m, (struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_LOST, .node = node }));
  look_at_nodes(m);
  m->failed_there[node] = 0;
  if (m->failed_with_nodes > failed)
    m->losses[node] = 0;
  else
    m->losses[node] += !m->drains[node];
  for (size_t h = m->held_len; h-- > 0;) {
    struct held was = m->held[h];
    if (was.node != node || !was.is_kept)
      continue;
    give_back_held(m, h);
    fuzz_require(event(m, about(&was, TM_SCHED_ON_DROPPED)));
  }
}

static void turn_node(struct model *m, unsigned n)
{
  uint32_t node = n % NODES;

  if (m->is_up[node]) {
    lose_node(m, node, n & 64);
    return;
  }
  m->is_up[node] = true;
  m->drains[node] = false;
  if (m->slots[node] == 0)
    m->slots[node] = 1 + n / NODES % 4;
  event(m, (struct tm_sched_event) {
               .kind = TM_SCHED_ON_NODE, .node = node, .slots = m->slots[node] });
  look_at_nodes(m);
}

static void drain_node(struct model *m, uint32_t node)
{
  const struct tm_sched_node *there = tm_roster_node(&m->s.roster, node);
  bool may = there && !there->is_lost && !m->drains[node];

  m->drains[node] |= may;
  fuzz_require(
      event(m, (struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_DRAINS, .node = node }) == may);
}

static void set_distance(struct model *m, unsigned n)
{
  static const int64_t all[] = { 0,           TM_MS / 10, TM_MS, TM_MS + 1, 5 * TM_MS, 20 * TM_MS,
                                 90 * TM_MS,  TM_S - 1,   TM_S,  TM_S + 1,  -1,        -TM_S,
                                 3600 * TM_S, INT64_MAX,  2,     INT64_MIN };
  int64_t ns = all[n / NODES % (sizeof(all) / sizeof(all[0]))];
  uint32_t node = n % NODES;
  const struct tm_sched_node *there = tm_roster_node(&m->s.roster, node);
  bool is_known = there && !there->is_lost;

  if (is_known) {
    int64_t was_ns = m->distance_ns[node];
    m->distance_ns[node] = ns < 0 ? 0 : ns > TM_S ? TM_S : ns;
    if (was_ns != m->distance_ns[node])
      m->distance_set_ns[node] = m->now_ns;
  }
  fuzz_require(event(m, (struct tm_sched_event) {
                            .kind = TM_SCHED_ON_DISTANCE, .node = node, .ns = ns }) == is_known);
}

static void settle_search(struct model *m, uint32_t number, unsigned n)
{
  struct search *x = &m->searches[number];
  struct tm_sched_event e = { .kind = TM_SCHED_ON_SPOILED, .search = number, .part = x->part };

  if (!x->is_open || !x->is_over)
    return;
  if ((n & 3) == 0 && event(m, e)) {
    x->is_over = false;
    return;
  }
  x->is_open = false;
  m->all[x->index].outcome = OVER;
  e.kind = TM_SCHED_ON_SETTLED;
  fuzz_require(event(m, e));
}

/* What cannot happen: it is refused, and changes nothing. */
static void lie(struct model *m, unsigned n)
{
  struct tm_sched_event e = { .kind = TM_SCHED_ON_STARTED + n % 7,
                              .worker = next_byte(m),
                              .seq = next_byte(m) & 15 };
  static const enum tm_worker_state right[] = { TM_WORKER_STARTING, TM_WORKER_LOADING,
                                                TM_WORKER_INIT };
  enum tm_worker_state state = tm_sched_state(&m->s, e.worker);
  unsigned at = e.kind - TM_SCHED_ON_STARTED;

  if (at < 3 ? state == right[at] || state == TM_WORKER_STOPPING
             : find_held(m, e.worker, e.seq) != NULL)
    return;
  fuzz_require(!event(m, e));
}

static void add_created(struct model *m, unsigned n)
{
  m->created = m->created + n % 9 < INDEXES ? m->created + n % 9 : INDEXES;
  event(m, (struct tm_sched_event) { .kind = TM_SCHED_ON_CREATED, .count = m->created });
}

static void end_step(struct model *m, unsigned n)
{
  bool is_end = n & 1;

  if (n < 248)
    return;
  m->is_ended = m->is_ended || is_end;
  m->has_started_none = true;
  event(m, (struct tm_sched_event) { .kind = is_end ? TM_SCHED_ON_END : TM_SCHED_ON_NO_STARTS,
                                     .kill = n & 2 });
}

/* The rules of time are applied. True: one is broken. */
static bool apply_rules(struct model *m)
{
  struct tm_counts counts = counts_of(m);
  enum tm_sched_action_kind rule = broken_rule(m, &counts);
  struct tm_sched_action a = { .kind = TM_SCHED_START };

  fuzz_require(tm_sched_event(
      &m->s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TIME, .counts = &counts }, m->now_ns));
  while (tm_sched_next(&m->s, &a) && a.kind == TM_SCHED_NODE_SICK) {
    on_sick(m, &a);
    a.kind = TM_SCHED_START;
  }
  fuzz_require(a.kind == rule && !tm_sched_next(&m->s, &a));
  fuzz_require(rule == TM_SCHED_START || m->s.time.why.text[0] != '\0');
  carry_out(m);
  check_all(m);
  return rule != TM_SCHED_START;
}

/* As the supervisor does, it looks many times until much time has passed. After a broken rule the
 * step may end, or go on, as while workers are asked where they are. */
static void pass_time(struct model *m, unsigned looks, int64_t ns, bool ends)
{
  for (unsigned i = 0; i < looks; i++) {
    m->now_ns += ns;
    if (!m->is_ended && apply_rules(m) && ends) {
      end_step(m, 255);
      return;
    }
  }
}

static int64_t until_due(const struct model *m)
{
  int64_t due_ns = tm_sched_due(&m->s);

  return due_ns < INT64_MAX && due_ns > m->now_ns ? due_ns - m->now_ns : 0;
}

static void retire(struct model *m, uint32_t worker)
{
  enum tm_worker_state state = tm_sched_state(&m->s, worker);

  if (state == TM_WORKER_GONE)
    return;
  fuzz_require(
      event(m, (struct tm_sched_event) { .kind = TM_SCHED_ON_RETIRED, .worker = worker }) ==
      (state != TM_WORKER_STOPPING));
  fuzz_require(tm_sched_state(&m->s, worker) == TM_WORKER_STOPPING);
}

static void on_held(struct model *m, unsigned what, unsigned n)
{
  struct held *h = m->held_len > 0 ? &m->held[n % m->held_len] : NULL;

  if (!h)
    return;
  switch (what) {
  case 0: end_badly(m, h, n >> 3); break;
  case 1: end_unusable(m, h); break;
  case 2: announce(m, h, n); break;
  default: end_well(m, h, n); break;
  }
}

static void step(struct model *m)
{
  unsigned what = next_byte(m), n = next_byte(m);
  uint32_t worker = some_worker(m, n);
  struct tm_sched_event e = { .worker = worker };

  switch (what & 31) {
  case 0: pass_time(m, 1, what & 64 ? until_due(m) : n * TM_MS / 4, what & 32); break;
  case 1: pass_time(m, what & 64 ? n : 1, what & 64 ? TM_S : n * n * TM_MS, what & 32); break;
  case 2:
  case 3: add_created(m, n); break;
  case 4: turn_node(m, n); break;
  case 5: end_worker(m, worker, next_byte(m)); break;
  case 6: e.kind = TM_SCHED_ON_DEAF; break;
  case 7: retire(m, worker); break;
  case 8: e.kind = TM_SCHED_ON_GIVE_BACK; break;
  case 9: lie(m, n); break;
  case 10: end_step(m, n | (what & 0x60) << 1); break;
  case 11:
  case 12: answer_recall(m, worker, next_byte(m)); break;
  case 13:
  case 14: settle_search(m, n % INDEXES, n >> 6); break;
  case 15: on_held(m, 1, n); break;
  case 16:
  case 17: on_held(m, 0, n); break;
  case 18: on_held(m, 2, n); break;
  case 19:
  case 20:
  case 21:
  case 22:
  case 23: live_on(m, worker); break;
  case 24: set_distance(m, n); break;
  case 25: n % 4 == 0 ? drain_node(m, n / 4 % NODES) : on_held(m, 3, n); break;
  default: on_held(m, 3, n); break;
  }
  if (e.kind != TM_SCHED_ON_TURN && tm_sched_state(&m->s, worker) != TM_WORKER_GONE)
    event(m, e);
  if (what & 128)
    turn(m);
  check_slots(m);
}

/* ---- the end: all succeed from here on ---- */

static bool can_end(const struct model *m)
{
  const struct tm_roster *r = &m->s.roster;

  if (m->is_ended || m->has_started_none)
    return false;
  for (size_t i = 0; i < r->nodes.len; i++)
    if (r->nodes.at[i] && m->is_up[i] && !m->drains[i] &&
        !tm_pool_has_given_up(&r->nodes.at[i]->pool))
      return true;
  return false;
}

static bool has_work(const struct model *m)
{
  return tm_sched_open(&m->s) > 0 || m->s.searches.len > 0;
}

static void finish(struct model *m)
{
  for (int round = 0; round < 4000 && has_work(m); round++) {
    for (size_t i = m->workers.len; i-- > 0;) {
      uint32_t worker = m->workers.at[i];
      const struct tm_sched_worker *w = tm_roster_worker(&m->s.roster, worker);
      answer_recall(m, worker, 255);
      if (w->is_deaf || w->state == TM_WORKER_STOPPING)
        end_worker(m, worker, 0);
      else
        live_on(m, worker);
    }
    while (m->held_len > 0)
      end_well(m, &m->held[0], 31);
    for (uint32_t i = 0; i < INDEXES; i++)
      settle_search(m, i, 1);
    m->now_ns += 100 * TM_MS;
    if (can_end(m))
      turn(m);
    else
      return;
  }
  fuzz_require(!has_work(m));
  for (uint64_t i = 0; i < m->created; i++)
    fuzz_require(m->all[i].outcome == OVER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct model m = { .at = data, .end = data + size, .now_ns = TM_S, .idle_ns = INT64_MAX };
  unsigned options = next_byte(&m), earlier = next_byte(&m);
  struct tm_sched_options o = { .run_max_try = 1 + (options & 3),
                                .retry_delay_ns = (int64_t)(options >> 2 & 3) * 10 * TM_MS - 10,
                                .isolates = options & 16,
                                .isolation_max_try = 1 + (options >> 5) * 3,
                                .window_max = WINDOW_MAX,
                                .time = { .first_ns = (1 + (earlier >> 1 & 3)) * 20 * TM_S,
                                          .update_ns = (1 + (earlier >> 3 & 3)) * 50 * TM_S,
                                          .workers = 1 + (earlier >> 5 & 3),
                                          .run_timeout_ns = (earlier >> 7) * 10 * TM_S },
                                .seed = 7,
                                .is_over = is_over,
                                .data = &m };
  int64_t over = 0;

  for (uint64_t i = 3; i < INDEXES && earlier & 1; i += 7)
    m.all[i].outcome = OVER;
  /* as a session that is resumed: they exist already */
  m.created = earlier & 1 ? INDEXES / 2 : 0;
  for (uint64_t i = 0; i < m.created; i++)
    over += m.all[i].outcome == OVER;
  for (uint64_t i = m.created; i < INDEXES; i++)
    m.all[i].outcome = WAITS;
  for (size_t i = 0; i < RECALLS; i++)
    m.waits[i].crowded_ns = INT64_MAX;
  tm_sched_init(&m.s, &o, over);
  m.time.looked_ns = m.now_ns;
  look_at_nodes(&m);
  tm_sched_event(&m.s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_BEGIN }, m.now_ns);
  event(&m, (struct tm_sched_event) { .kind = TM_SCHED_ON_CREATED, .count = m.created });
  for (int i = 0; i < EVENTS_MAX && m.at < m.end; i++)
    step(&m);
  finish(&m);
  tm_sched_release(&m.s);
  TM_ARRAY_RELEASE(&m.workers);
  return 0;
}
