/* launch_plan.c - see launch_plan.h. */
#include "fleet/launch_plan.h"

#include <string.h>

#include "base/check.h"
#include "sched/backoff.h"

#define RATE_NS (INT64_C(1000000000))

void tm_launch_plan_init(struct tm_launch_plan *p, const struct tm_launch_options *o)
{
  tm_require(o->nodes_max > 0 && (o->hosts == 0 || o->hosts >= o->nodes_max));
  tm_require(o->start_timeout_ns > 0 && o->starts_max > 0 && o->rate_max <= TM_LAUNCH_RATE_MAX);
  *p =
      (struct tm_launch_plan) { .o = *o,
                                .limit = o->nodes_max,
                                .quick_max = o->hosts > TM_LAUNCH_QUICK_MAX ? o->hosts
                                                                            : TM_LAUNCH_QUICK_MAX };
  for (size_t i = 0; i < TM_LAUNCH_RATE_MAX; i++)
    p->last_ns[i] = INT64_MIN;
  for (size_t i = 0; i < o->hosts; i++)
    *TM_ARRAY_ADD(&p->spares) = (struct tm_launch_host) { .index = i };
}

void tm_launch_plan_release(struct tm_launch_plan *p)
{
  TM_ARRAY_RELEASE(&p->places);
  TM_ARRAY_RELEASE(&p->spares);
  TM_ARRAY_RELEASE(&p->by_id);
}

/* ---- places ---- */

const struct tm_launch_place *tm_launch_plan_find(const struct tm_launch_plan *p, uint32_t id)
{
  size_t place = id < p->by_id.len ? p->by_id.at[id] : 0;

  return place > 0 ? &p->places.at[place - 1] : NULL;
}

static struct tm_launch_place *place_of(struct tm_launch_plan *p, uint32_t id)
{
  const struct tm_launch_place *place = tm_launch_plan_find(p, id);

  tm_require(place);
  return &p->places.at[place - p->places.at];
}

static void set_index(struct tm_launch_plan *p, uint32_t id, size_t place)
{
  while (p->by_id.len <= id)
    *TM_ARRAY_ADD(&p->by_id) = 0;
  p->by_id.at[id] = place;
}

static void set_state(struct tm_launch_plan *p, struct tm_launch_place *l,
                      enum tm_launch_place_state state)
{
  size_t *const counts[] = { [TM_LAUNCH_PLACE_STARTS] = &p->starting,
                             [TM_LAUNCH_PLACE_READY] = &p->ready,
                             [TM_LAUNCH_PLACE_LEAVES] = &p->leaving };

  if (l->state != TM_LAUNCH_PLACE_EMPTY)
    --*counts[l->state];
  if (state != TM_LAUNCH_PLACE_EMPTY)
    ++*counts[state];
  l->state = state;
}

/* Its place in the list is taken by the last one. */
static void remove_place(struct tm_launch_plan *p, struct tm_launch_place *l)
{
  tm_require(l->state == TM_LAUNCH_PLACE_EMPTY);
  *l = p->places.at[--p->places.len];
  if (l->state != TM_LAUNCH_PLACE_EMPTY && l < p->places.at + p->places.len)
    set_index(p, l->id, (size_t)(l - p->places.at) + 1);
}

/* `until_ns`: its host is excluded so long; 0: it is not. Keeps (1). */
static void empty(struct tm_launch_plan *p, struct tm_launch_place *l, int64_t until_ns)
{
  set_index(p, l->id, 0);
  set_state(p, l, TM_LAUNCH_PLACE_EMPTY);
  if (p->o.hosts > 0)
    *TM_ARRAY_ADD(&p->spares) = (struct tm_launch_host) {
      .index = l->host, .excluded_ns = until_ns, .was_sick = l->is_sick, .is_held = l->holds_host
    };
  l->host = SIZE_MAX;
  l->is_sick = l->holds_host = false;
}

/* ---- how many there should be ---- */

static size_t target(const struct tm_launch_plan *p)
{
  return p->wanted < p->limit ? p->wanted : p->limit;
}

static size_t count(const struct tm_launch_plan *p)
{
  return p->places.len - p->leaving;
}

static void remove_empty(struct tm_launch_plan *p)
{
  for (size_t i = p->places.len; i-- > 0 && count(p) > target(p);)
    if (p->places.at[i].state == TM_LAUNCH_PLACE_EMPTY)
      remove_place(p, &p->places.at[i]);
}

void tm_launch_plan_want(struct tm_launch_plan *p, size_t nodes)
{
  p->wanted = nodes;
  remove_empty(p);
}

size_t tm_launch_plan_surplus(const struct tm_launch_plan *p)
{
  size_t have = p->starting + p->ready;

  return have > target(p) ? have - target(p) : 0;
}

bool tm_launch_plan_is_exhausted(const struct tm_launch_plan *p)
{
  bool is_wrong = p->quick >= p->quick_max && p->ready == 0 && !p->has_committed; /* keeps (4) */

  return is_wrong || p->launches >= 3 * (int64_t)p->o.nodes_max + 10; /* keeps (3) */
}

bool tm_launch_plan_are_all_canceled(const struct tm_launch_plan *p)
{
  return p->limit == 0;
}

bool tm_launch_plan_is_over(const struct tm_launch_plan *p) /* keeps (5) */
{
  return (tm_launch_plan_is_exhausted(p) || p->limit == 0) && p->starting == 0 && p->ready == 0;
}

bool tm_launch_plan_expects(const struct tm_launch_plan *p)
{
  return p->starting > 0 || (!tm_launch_plan_is_exhausted(p) && p->ready < target(p));
}

bool tm_launch_plan_has_running(const struct tm_launch_plan *p)
{
  for (size_t i = 0; i < p->places.len; i++)
    if (p->places.at[i].state != TM_LAUNCH_PLACE_EMPTY && p->places.at[i].begun_ns != INT64_MAX)
      return true;
  return false;
}

/* ---- launching ---- */

/* The less, the better the host: 0 for one that is not excluded, 2 after a sick node, 3 for one
 * that cannot be used. */
static int rank(const struct tm_launch_host *h, int64_t now_ns)
{
  return h->is_held ? 3 : h->excluded_ns <= now_ns ? 0 : 1 + h->was_sick;
}

/* Keeps (1). */
static bool has_host(const struct tm_launch_plan *p, int64_t now_ns)
{
  int most = p->starting == 0 && p->ready == 0 ? 2 : 1;

  if (p->o.hosts == 0)
    return true;
  for (size_t i = 0; i < p->spares.len; i++)
    if (rank(&p->spares.at[i], now_ns) <= most)
      return true;
  return false;
}

/* Keeps (6). */
static bool may_start(const struct tm_launch_plan *p, int64_t now_ns)
{
  size_t rate = p->o.rate_max;
  size_t oldest = (p->last_at + TM_LAUNCH_RATE_MAX - rate) % TM_LAUNCH_RATE_MAX;

  return p->starting < p->o.starts_max && has_host(p, now_ns) &&
         (rate == 0 || p->last_ns[oldest] == INT64_MIN || now_ns - p->last_ns[oldest] >= RATE_NS);
}

size_t tm_launch_plan_next(const struct tm_launch_plan *p, int64_t now_ns)
{
  if (tm_launch_plan_is_exhausted(p) || !may_start(p, now_ns))
    return SIZE_MAX;
  for (size_t i = 0; i < p->places.len; i++)
    if (p->places.at[i].state == TM_LAUNCH_PLACE_EMPTY && p->places.at[i].due_ns <= now_ns)
      return i;
  return count(p) < target(p) ? p->places.len : SIZE_MAX;
}

/* Keeps (1). */
static size_t take_spare(struct tm_launch_plan *p, int64_t now_ns)
{
  size_t found = 0, host;

  for (size_t i = 1; i < p->spares.len; i++) {
    const struct tm_launch_host *h = &p->spares.at[i], *best = &p->spares.at[found];
    int better = rank(best, now_ns) - rank(h, now_ns);
    if (better > 0 || (better == 0 && rank(h, now_ns) > 0 && h->excluded_ns < best->excluded_ns))
      found = i;
  }
  tm_require(!p->spares.at[found].is_held); /* keeps (1) */
  host = p->spares.at[found].index;
  p->spares.len--;
  memmove(p->spares.at + found, p->spares.at + found + 1,
          (p->spares.len - found) * sizeof(*p->spares.at));
  return host;
}

size_t tm_launch_plan_launch(struct tm_launch_plan *p, size_t place, uint32_t id, int64_t now_ns)
{
  struct tm_launch_place *l;

  tm_require(place <= p->places.len && !tm_launch_plan_find(p, id));
  if (place == p->places.len)
    *TM_ARRAY_ADD(&p->places) = (struct tm_launch_place) { .state = TM_LAUNCH_PLACE_EMPTY };
  l = &p->places.at[place];
  tm_require(l->state == TM_LAUNCH_PLACE_EMPTY);
  tm_require(p->o.hosts == 0 || p->spares.len > 0); /* each filled place has one: keeps (1) */
  set_index(p, id, place + 1);
  set_state(p, l, TM_LAUNCH_PLACE_STARTS);
  l->id = id;
  l->host = p->o.hosts > 0 ? take_spare(p, now_ns) : SIZE_MAX;
  l->begun_ns = l->deadline_ns = INT64_MAX;
  p->launches++;
  p->last_ns[p->last_at] = now_ns;
  p->last_at = (p->last_at + 1) % TM_LAUNCH_RATE_MAX;
  return l->host;
}

/* ---- what becomes of them ---- */

void tm_launch_plan_running(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  struct tm_launch_place *l = place_of(p, id);

  tm_require(l->state == TM_LAUNCH_PLACE_STARTS && l->begun_ns == INT64_MAX);
  l->begun_ns = now_ns;
  l->deadline_ns = now_ns + p->o.start_timeout_ns;
}

void tm_launch_plan_waited(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  struct tm_launch_place *l = place_of(p, id);

  tm_require(l->state == TM_LAUNCH_PLACE_STARTS && l->begun_ns != INT64_MAX);
  l->begun_ns = now_ns;
  l->deadline_ns = now_ns + p->o.start_timeout_ns;
}

void tm_launch_plan_moves(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  struct tm_launch_place *l = place_of(p, id);

  if (l->state == TM_LAUNCH_PLACE_STARTS)
    l->deadline_ns = now_ns + p->o.start_timeout_ns;
}

void tm_launch_plan_ready(struct tm_launch_plan *p, uint32_t id)
{
  struct tm_launch_place *l = place_of(p, id);

  tm_require(l->state == TM_LAUNCH_PLACE_STARTS);
  set_state(p, l, TM_LAUNCH_PLACE_READY);
  p->quick = 0;
}

void tm_launch_plan_ends(struct tm_launch_plan *p, uint32_t id)
{
  place_of(p, id)->deadline_ns = INT64_MAX;
}

void tm_launch_plan_leaves(struct tm_launch_plan *p, uint32_t id)
{
  struct tm_launch_place *l = place_of(p, id);

  if (l->state == TM_LAUNCH_PLACE_STARTS && p->launches > 0)
    p->launches--; /* it was not a failed start: keeps (3) */
  set_state(p, l, TM_LAUNCH_PLACE_LEAVES);
}

void tm_launch_plan_left(struct tm_launch_plan *p, uint32_t id)
{
  struct tm_launch_place *l = place_of(p, id);

  tm_require(l->state == TM_LAUNCH_PLACE_LEAVES);
  empty(p, l, 0);
  remove_place(p, l);
}

void tm_launch_plan_sick(struct tm_launch_plan *p, uint32_t id)
{
  struct tm_launch_place *l = place_of(p, id);

  tm_require(l->state == TM_LAUNCH_PLACE_READY);
  l->is_sick = true;
}

void tm_launch_plan_hold_host(struct tm_launch_plan *p, uint32_t id)
{
  place_of(p, id)->holds_host = true;
}

void tm_launch_plan_free_host(struct tm_launch_plan *p, size_t host)
{
  for (size_t i = 0; i < p->spares.len; i++)
    if (p->spares.at[i].index == host)
      p->spares.at[i].is_held = false;
}

bool tm_launch_plan_blames_host(enum tm_slurm_end end)
{
  return end == TM_SLURM_END_NOT_KNOWN || end == TM_SLURM_END_OTHER ||
         end == TM_SLURM_END_NODE_FAIL;
}

/* Keeps (4). What Slurm explains is not a fault of the command. */
static bool is_quick(const struct tm_launch_place *l, enum tm_slurm_end end, int64_t now_ns)
{
  bool is_explained = end != TM_SLURM_END_NOT_KNOWN && end != TM_SLURM_END_OTHER;

  return !is_explained && l->state == TM_LAUNCH_PLACE_STARTS && l->begun_ns != INT64_MAX &&
         now_ns - l->begun_ns <= TM_LAUNCH_QUICK_NS;
}

/* Keeps (2). */
static int64_t wait_after(const struct tm_launch_plan *p, const struct tm_launch_place *l)
{
  struct tm_backoff b = { .first_ns = TM_LAUNCH_WAIT_MIN_NS, .max_ns = TM_LAUNCH_WAIT_MAX_NS };

  return tm_backoff_delay(&b, l->failures - 1, p->o.seed + l->id);
}

/* Keeps (7). */
static void cancel(struct tm_launch_plan *p, struct tm_launch_place *l)
{
  empty(p, l, 0);
  remove_place(p, l);
  if (count(p) < p->limit)
    p->limit = count(p);
}

void tm_launch_plan_failed(struct tm_launch_plan *p, uint32_t id, enum tm_slurm_end end,
                           int64_t now_ns)
{
  struct tm_launch_place *l = place_of(p, id);
  bool is_excluded = l->is_sick || tm_launch_plan_blames_host(end);

  if (end == TM_SLURM_END_CANCELED) {
    cancel(p, l);
    return;
  }
  p->quick = is_quick(l, end, now_ns) ? p->quick + 1 : 0;
  l->failures++;
  l->due_ns = now_ns + wait_after(p, l);
  empty(p, l, is_excluded ? now_ns + TM_LAUNCH_EXCLUDE_NS : 0);
  remove_empty(p);
}

void tm_launch_plan_withdrawn(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  struct tm_launch_place *l = place_of(p, id);

  l->due_ns = now_ns;
  empty(p, l, 0);
  remove_empty(p);
}

/* Keeps (3) and (4). */
void tm_launch_plan_unanswered(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  struct tm_launch_place *l = place_of(p, id);

  if (p->launches > 0)
    p->launches--;
  l->failures++;
  l->due_ns = now_ns + wait_after(p, l);
  empty(p, l, 0);
  remove_empty(p);
}

void tm_launch_plan_committed(struct tm_launch_plan *p, uint32_t id)
{
  const struct tm_launch_place *l = tm_launch_plan_find(p, id);

  p->launches = 0;
  p->has_committed = true;
  if (l) /* else it was lost before its result was copied */
    p->places.at[l - p->places.at].failures = 0;
}

bool tm_launch_plan_late(const struct tm_launch_plan *p, int64_t now_ns, uint32_t *id)
{
  for (size_t i = 0; i < p->places.len; i++)
    if (p->places.at[i].state == TM_LAUNCH_PLACE_STARTS && p->places.at[i].deadline_ns <= now_ns) {
      *id = p->places.at[i].id;
      return true;
    }
  return false;
}
