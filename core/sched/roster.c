/* roster.c - see roster.h. */
#include "sched/roster.h"

#include "base/check.h"

#define WORKER(item, member) TM_LIST_OWNER(item, struct tm_sched_worker, member)
#define NODE(item, member)   TM_LIST_OWNER(item, struct tm_sched_node, member)

static void init_takers(struct tm_sched_takers *t)
{
  tm_list_init(&t->idle);
  tm_list_init(&t->roomy);
}

void tm_roster_init(struct tm_roster *r)
{
  *r = (struct tm_roster) { .living = 0 };
  tm_list_init(&r->in_init);
  init_takers(&r->sound);
  init_takers(&r->doubtful);
  tm_list_init(&r->open_nodes);
  tm_list_init(&r->unplanned);
}

static void free_worker(struct tm_sched_worker *w)
{
  if (w)
    tm_window_release(&w->window);
  free(w);
}

static void free_node(struct tm_sched_node *n)
{
  if (n)
    tm_slots_release(&n->slots);
  free(n);
}

void tm_roster_release(struct tm_roster *r)
{
  for (size_t i = 0; i < r->workers.len; i++)
    free_worker(r->workers.at[i]);
  for (size_t i = 0; i < r->nodes.len; i++)
    free_node(r->nodes.at[i]);
  TM_ARRAY_RELEASE(&r->workers);
  TM_ARRAY_RELEASE(&r->nodes);
}

/* Nodes. */

struct tm_sched_node *tm_roster_node(const struct tm_roster *r, uint32_t number)
{
  return number < r->nodes.len ? r->nodes.at[number] : NULL;
}

struct tm_sched_node *tm_roster_add_node(struct tm_roster *r, uint32_t number, int64_t slots)
{
  struct tm_sched_node *n = tm_roster_node(r, number);

  if (n)
    return n;
  while (r->nodes.len <= number)
    *TM_ARRAY_ADD(&r->nodes) = NULL;
  n = r->nodes.at[number] = TM_NEW(struct tm_sched_node);
  n->number = number;
  n->look_ns = INT64_MAX;
  tm_pool_init(&n->pool, slots);
  n->pool.has_loaded = r->has_loaded;
  n->pool.is_closed = r->is_closed;
  tm_slots_init(&n->slots, slots);
  tm_health_init(&n->health, slots);
  tm_list_init(&n->workers);
  tm_list_init(&n->crowded);
  tm_list_init(&n->idle);
  tm_list_init(&n->roomy);
  return n;
}

void tm_roster_update_node(struct tm_roster *r, struct tm_sched_node *n)
{
  bool is_calm = n->is_up && !n->drains && n->pool.ready > 0 && n->suspects == 0;

  tm_list_set(&r->open_nodes, &n->open,
              n->is_up && !n->drains && tm_pool_wants_worker(&n->pool, INT64_MAX));
  r->calm += (size_t)is_calm - (size_t)n->is_calm;
  n->is_calm = is_calm;
}

void tm_roster_count_held(struct tm_roster *r, struct tm_sched_node *n,
                          const struct tm_assignment *what, int change)
{
  if (!tm_assignment_is_suspect(what))
    return;
  n->suspects += (size_t)change;
  tm_roster_update_node(r, n);
}

static void update_workers(struct tm_roster *r, struct tm_sched_node *n)
{
  for (struct tm_list_item *i = tm_list_first(&n->workers); i; i = tm_list_next(&n->workers, i))
    tm_roster_update(r, WORKER(i, of_node));
}

void tm_roster_set_up(struct tm_roster *r, struct tm_sched_node *n, bool is_up)
{
  tm_require(!is_up || !n->is_lost);
  n->is_up = is_up;
  tm_roster_update_node(r, n);
  update_workers(r, n);
}

void tm_roster_set_drains(struct tm_roster *r, struct tm_sched_node *n, bool drains)
{
  n->drains = drains;
  tm_roster_update_node(r, n);
}

static void update_unplanned(struct tm_roster *r, struct tm_sched_node *n)
{
  tm_list_set(&r->unplanned, &n->unplanned, n->crowded.len > 0 && n->look_ns == INT64_MAX);
}

void tm_roster_set_look(struct tm_roster *r, struct tm_sched_node *n, int64_t at_ns)
{
  n->look_ns = at_ns;
  update_unplanned(r, n);
}

void tm_roster_set_distance(struct tm_roster *r, struct tm_sched_node *n, int64_t ns)
{
  ns = ns < 0 ? 0 : ns < TM_WINDOW_DISTANCE_MAX_NS ? ns : TM_WINDOW_DISTANCE_MAX_NS;
  if (ns == n->distance_ns)
    return;
  n->distance_ns = ns;
  tm_roster_set_look(r, n, INT64_MAX); /* what was planned may be too late now */
  update_workers(r, n);
}

void tm_roster_close(struct tm_roster *r)
{
  r->is_closed = true;
  for (size_t i = 0; i < r->nodes.len; i++)
    if (r->nodes.at[i]) {
      tm_pool_close(&r->nodes.at[i]->pool);
      tm_roster_update_node(r, r->nodes.at[i]);
    }
}

/* The first worker has loaded the script: further ones may start, on every node. */
static void note_loaded(struct tm_roster *r)
{
  if (r->has_loaded)
    return;
  r->has_loaded = true;
  for (size_t i = 0; i < r->nodes.len; i++)
    if (r->nodes.at[i]) {
      r->nodes.at[i]->pool.has_loaded = true;
      tm_roster_update_node(r, r->nodes.at[i]);
    }
}

/* Workers. */

struct tm_sched_worker *tm_roster_worker(const struct tm_roster *r, uint32_t number)
{
  return number < r->workers.len ? r->workers.at[number] : NULL;
}

struct tm_sched_worker *tm_roster_add(struct tm_roster *r, struct tm_sched_node *n, int64_t slot,
                                      size_t span_max)
{
  struct tm_sched_worker *w = TM_NEW(struct tm_sched_worker);

  tm_require(slot >= 0 && slot <= UINT32_MAX && r->workers.len < UINT32_MAX);
  w->number = (uint32_t)r->workers.len;
  w->node = n;
  w->slot = (uint32_t)slot;
  tm_window_init(&w->window, span_max);
  *TM_ARRAY_ADD(&r->workers) = w;
  tm_list_add(&n->workers, &w->of_node);
  tm_roster_step(r, w, TM_WORKER_ON_START);
  return w;
}

static void count_leaving(struct tm_roster *r, struct tm_sched_worker *w)
{
  r->leaves += !w->is_counted;
  w->is_counted = true;
}

void tm_roster_leave(struct tm_roster *r, struct tm_sched_worker *w)
{
  tm_require(w->state == TM_WORKER_READY && !w->is_leaving);
  w->is_leaving = true;
  count_leaving(r, w);
  tm_roster_update(r, w);
}

bool tm_roster_step(struct tm_roster *r, struct tm_sched_worker *w, enum tm_worker_event e)
{
  struct tm_pool *p = &w->node->pool;
  int64_t living = p->living, ready = p->ready;

  if (!tm_pool_allows(w->state, e))
    return false;
  w->state = tm_pool_step(p, w->state, e);
  r->living += p->living - living;
  r->ready += p->ready - ready;
  tm_require(r->ready >= 0 && r->ready <= r->living);
  if (e == TM_WORKER_ON_LOADED)
    note_loaded(r);
  if (e == TM_WORKER_ON_STOP)
    count_leaving(r, w);
  tm_roster_update(r, w);
  tm_roster_update_node(r, w->node);
  return true;
}

/* It holds nothing else then: queue.h (5). */
static bool has_lone(const struct tm_sched_worker *w)
{
  const struct tm_inflight *first = tm_ring_first(&w->window.ring);

  return tm_assignment_is_alone(&first->what);
}

static struct tm_sched_takers *takers_of(struct tm_roster *r, const struct tm_sched_node *n)
{
  return n->is_doubtful ? &r->doubtful : &r->sound;
}

static void list_node(struct tm_roster *r, struct tm_sched_node *n)
{
  struct tm_sched_takers *t = takers_of(r, n);

  tm_list_set(&t->idle, &n->has_idle, n->idle.len > 0);
  tm_list_set(&t->roomy, &n->has_roomy, n->roomy.len > 0);
}

void tm_roster_set_doubtful(struct tm_roster *r, struct tm_sched_node *n, bool is_doubtful)
{
  struct tm_sched_takers *t = takers_of(r, n);

  if (n->is_doubtful == is_doubtful)
    return;
  tm_list_remove(&t->idle, &n->has_idle);
  tm_list_remove(&t->roomy, &n->has_roomy);
  t->count -= n->takers;
  n->is_doubtful = is_doubtful;
  takers_of(r, n)->count += n->takers;
  list_node(r, n);
}

/* A node that has lost one of its list comes last: so the nodes take their turns. */
void tm_roster_unlist(struct tm_roster *r, struct tm_sched_worker *w)
{
  struct tm_sched_node *n = w->node;
  struct tm_sched_takers *t = takers_of(r, n);

  if (!w->in)
    return;
  tm_list_remove(w->in, &w->wants);
  if (w->in == &n->idle)
    tm_list_remove(&t->idle, &n->has_idle);
  else if (w->in == &n->roomy)
    tm_list_remove(&t->roomy, &n->has_roomy);
  w->in = NULL;
  list_node(r, n);
}

static void list(struct tm_roster *r, struct tm_sched_worker *w, struct tm_list *in)
{
  if (in == w->in)
    return;
  tm_roster_unlist(r, w);
  w->in = in;
  if (!in)
    return;
  tm_list_add(in, &w->wants);
  list_node(r, w->node);
}

static void count_taker(struct tm_roster *r, struct tm_sched_worker *w, bool is_taker)
{
  int64_t change = (int64_t)is_taker - (int64_t)w->is_taker;

  w->is_taker = is_taker;
  w->node->takers += change;
  takers_of(r, w->node)->count += change;
}

static void count_holder(struct tm_sched_worker *w, bool is_holder)
{
  w->node->holders += (size_t)is_holder - (size_t)w->is_holder;
  w->is_holder = is_holder;
}

void tm_roster_update(struct tm_roster *r, struct tm_sched_worker *w)
{
  size_t len = tm_window_len(&w->window);
  bool is_ready = w->state == TM_WORKER_READY && w->node->is_up;
  bool is_taker = is_ready && !w->is_deaf && !w->is_leaving;
  struct tm_list *in = NULL;

  if (w->state == TM_WORKER_LOADING || w->state == TM_WORKER_INIT)
    in = &r->in_init;
  else if (is_taker && len == 0)
    in = &w->node->idle;
  else if (is_taker && !has_lone(w) && tm_window_has_room(&w->window, w->node->distance_ns))
    in = &w->node->roomy;
  list(r, w, in);
  count_taker(r, w, is_taker);
  count_holder(w, len > 0);
  tm_list_set(&w->node->crowded, &w->crowded, is_ready && !w->is_recalling && len > 1);
  update_unplanned(r, w->node);
}

void tm_roster_remove(struct tm_roster *r, struct tm_sched_worker *w)
{
  tm_require(w->state == TM_WORKER_GONE && !w->in && !tm_list_has(&w->crowded));
  tm_require(tm_window_len(&w->window) == 0 && r->workers.at[w->number] == w);
  tm_require(!w->is_holder);
  r->leaves -= w->is_counted;
  tm_require(r->leaves >= 0);
  tm_list_remove(&w->node->workers, &w->of_node);
  r->workers.at[w->number] = NULL;
  free_worker(w);
}

bool tm_roster_has_idle(const struct tm_roster *r)
{
  return r->sound.idle.len > 0 || r->doubtful.idle.len > 0;
}

bool tm_roster_is_shunned(const struct tm_roster *r, const struct tm_sched_node *n)
{
  return n->is_doubtful && r->sound.count > 0;
}

bool tm_roster_has_other_node(const struct tm_roster *r, const struct tm_sched_node *n)
{
  if (n->is_doubtful)
    return r->sound.count > 0 || r->doubtful.count > n->takers;
  return r->sound.count > n->takers;
}

static struct tm_sched_worker *calm_of(const struct tm_list *nodes)
{
  for (struct tm_list_item *i = tm_list_first(nodes); i; i = tm_list_next(nodes, i))
    if (NODE(i, has_idle)->is_calm)
      return WORKER(tm_list_first(&NODE(i, has_idle)->idle), wants);
  return NULL;
}

struct tm_sched_worker *tm_roster_calm(const struct tm_roster *r)
{
  struct tm_sched_worker *w = calm_of(&r->sound.idle);

  return w ? w : calm_of(&r->doubtful.idle);
}

/* The first of the list, or the second if that is `skip`. */
static struct tm_sched_worker *first_of(const struct tm_list *l, const struct tm_sched_worker *skip)
{
  struct tm_list_item *item = tm_list_first(l);

  if (item && WORKER(item, wants) == skip)
    item = tm_list_next(l, item);
  return item ? WORKER(item, wants) : NULL;
}

/* The first node of the list, or the second if that is the one to skip. */
static struct tm_list_item *first_node(const struct tm_list *nodes, const struct tm_list_item *skip)
{
  struct tm_list_item *item = tm_list_first(nodes);

  return item && item == skip ? tm_list_next(nodes, item) : item;
}

static struct tm_sched_node *node_to_skip(const struct tm_roster *r,
                                          const struct tm_sched_worker *skip)
{
  return skip && tm_roster_has_other_node(r, skip->node) ? skip->node : NULL;
}

struct tm_sched_worker *tm_roster_next_idle(const struct tm_roster *r,
                                            const struct tm_sched_takers *of,
                                            const struct tm_sched_worker *skip)
{
  struct tm_sched_node *n = node_to_skip(r, skip);
  struct tm_list_item *node = first_node(&of->idle, n ? &n->has_idle : NULL);

  return node ? first_of(&NODE(node, has_idle)->idle, skip) : NULL;
}

struct tm_sched_worker *tm_roster_next_roomy(const struct tm_roster *r,
                                             const struct tm_sched_takers *of,
                                             const struct tm_sched_worker *skip)
{
  struct tm_sched_node *n = node_to_skip(r, skip);
  struct tm_list_item *node = first_node(&of->roomy, n ? &n->has_roomy : NULL);

  return node ? first_of(&NODE(node, has_roomy)->roomy, skip) : NULL;
}
