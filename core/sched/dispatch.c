/* dispatch.c - the end of a turn: see sched_own.h.
 *
 * Nodes take turns, and so do the workers of a node. Each turn gives one assignment; idle workers
 * come first. A worker can take none of the waiting assignments in two cases. They all avoid its
 * node: the node is skipped. Or they avoid the worker, because no other node has a worker that
 * could take them (queue.h (3)): only the worker is skipped. Any other node or worker can take one
 * of them, so a turn skips at most one. Doubtful nodes come after sound ones. While there are sound
 * ones, doubtful nodes take only assignments that have not failed, and are not looked at if none of
 * these waits.
 *
 * An assignment that must be alone (queue.h) waits for a worker that holds nothing. Meanwhile
 * workers that hold something get nothing more, so that one is empty soon. A node has at most one
 * suspect. Only while suspects wait, a turn may look at all nodes with idle workers.
 *
 * Recalls. While a worker is idle, each node with crowded workers has a planned look at them. The
 * look recalls late assignments, and plans the next look for when others will be late. A node's
 * plan is dropped if it may be too late: its distance has changed, or a worker has answered a
 * recall. `looks` still has the entry then, and it is ignored. Looks are planned by node, because
 * lateness depends on its distance. They are at least TM_SCHED_LOOK_NS apart, so that they cost
 * nothing per mini-batch.
 */
#include "sched/sched_own.h"

#define WORKER(item, member) TM_LIST_OWNER(item, struct tm_sched_worker, member)

/* ---- handing out ---- */

static void hand(struct tm_sched *s, struct tm_sched_worker *w, const struct tm_assignment *what,
                 int64_t now_ns)
{
  struct tm_sched_action *a = tm_actions_add(&s->actions, TM_SCHED_HAND);

  a->worker = w->number;
  a->node = w->node->number;
  a->seq = tm_window_add(&w->window, what, now_ns)->seq;
  a->what = *what;
  s->running++;
  tm_roster_count_held(&s->roster, w->node, what, 1);
  tm_roster_unlist(&s->roster, w);
  tm_roster_update(&s->roster, w); /* at the end of its list, if there is still room */
}

static bool hand_next(struct tm_sched *s, struct tm_sched_worker *w, int64_t now_ns)
{
  struct tm_queue_taker taker = { .worker = w->number,
                                  .node = w->node->number,
                                  .holds_some = tm_window_len(&w->window) > 0,
                                  .others = w->node->takers > 1,
                                  .other_nodes = tm_roster_has_other_node(&s->roster, w->node),
                                  .is_shunned = tm_roster_is_shunned(&s->roster, w->node) };
  struct tm_assignment what;

  if (!tm_queue_take(&s->queue, &taker, &what))
    return false;
  hand(s, w, &what, now_ns);
  return true;
}

static void hand_suspects(struct tm_sched *s, int64_t now_ns)
{
  struct tm_sched_worker *w;
  struct tm_assignment what;

  while (s->queue.suspects.len > 0 && s->roster.calm > 0 && (w = tm_roster_calm(&s->roster)) &&
         tm_queue_take_suspect(&s->queue, &what))
    hand(s, w, &what, now_ns);
}

/* Whether something waits for a worker that holds nothing. */
static bool awaits_empty(const struct tm_sched *s)
{
  return s->queue.alone.len > 0 || (s->queue.suspects.len > 0 && s->roster.calm > 0);
}

typedef struct tm_sched_worker *next_worker(const struct tm_roster *r,
                                            const struct tm_sched_takers *of,
                                            const struct tm_sched_worker *skip);

/* Whether something waits that these may take, unless they avoid it. */
static bool has_waiting_for(struct tm_sched *s, const struct tm_sched_takers *of)
{
  if (of == &s->roster.doubtful && s->roster.sound.count > 0)
    return tm_queue_has_unfailed(&s->queue);
  return tm_queue_has_waiting(&s->queue);
}

/* `nodes`: those among which `next` looks. */
static void hand_to(struct tm_sched *s, const struct tm_sched_takers *of,
                    const struct tm_list *nodes, next_worker *next, int64_t now_ns)
{
  struct tm_sched_worker *w, *skip = NULL;

  while (nodes->len > 0 && has_waiting_for(s, of) && (w = next(&s->roster, of, skip))) {
    if (tm_window_len(&w->window) > 0 && awaits_empty(s))
      break; /* so do all that follow */
    if (tm_window_is_late(&w->window, w->node->distance_ns, now_ns)) {
      tm_roster_unlist(&s->roster, w); /* until its first ends */
    } else if (!hand_next(s, w, now_ns)) {
      if (skip)
        break;
      skip = w;
    }
  }
}

static void hand_out(struct tm_sched *s, int64_t now_ns)
{
  const struct tm_sched_takers *sound = &s->roster.sound, *doubtful = &s->roster.doubtful;

  hand_suspects(s, now_ns);
  hand_to(s, sound, &sound->idle, tm_roster_next_idle, now_ns);
  hand_to(s, doubtful, &doubtful->idle, tm_roster_next_idle, now_ns);
  hand_to(s, sound, &sound->roomy, tm_roster_next_roomy, now_ns);
  hand_to(s, doubtful, &doubtful->roomy, tm_roster_next_roomy, now_ns);
}

/* ---- starting ---- */

bool tm_dispatch_wants_worker(const struct tm_sched *s)
{
  const struct tm_roster *r = &s->roster;

  return r->open_nodes.len > 0 && r->living < tm_sched_open(s) &&
         (r->has_loaded || r->living == 0) && (!s->o.may_start || s->o.may_start(s->o.data));
}

static void start(struct tm_sched *s, struct tm_sched_node *n, int64_t slot)
{
  struct tm_sched_worker *w = tm_roster_add(&s->roster, n, slot, s->o.window_max);
  struct tm_sched_action *a = tm_actions_add(&s->actions, TM_SCHED_START);

  w->started_ns = s->time.progress.clock.now_ns;
  a->node = n->number;
  a->worker = w->number;
}

/* On the open nodes in turn. False: no slot is free; sets when one will be. */
static bool start_one(struct tm_sched *s, int64_t now_ns)
{
  struct tm_list *open = &s->roster.open_nodes;

  s->starts_ns = INT64_MAX;
  for (struct tm_list_item *i = tm_list_first(open); i; i = tm_list_next(open, i)) {
    struct tm_sched_node *n = TM_LIST_OWNER(i, struct tm_sched_node, open);
    int64_t slot = tm_slots_take(&n->slots, now_ns), due_ns;
    if (slot >= 0) {
      s->starts_ns = 0;
      tm_list_remove(open, &n->open);
      start(s, n, slot); /* if it may have more, it is the last of the list now */
      return true;
    }
    due_ns = tm_slots_due(&n->slots);
    s->starts_ns = due_ns < s->starts_ns ? due_ns : s->starts_ns;
  }
  return false;
}

static void start_workers(struct tm_sched *s, int64_t now_ns)
{
  while (s->starts_ns <= now_ns && tm_dispatch_wants_worker(s) && start_one(s, now_ns))
    ;
}

/* ---- recalling ---- */

struct look {
  int64_t at_ns;
  struct tm_sched_node *node;
};

static bool is_before(const void *left, const void *right)
{
  return ((const struct look *)left)->at_ns < ((const struct look *)right)->at_ns;
}

void tm_dispatch_init(struct tm_sched *s)
{
  s->idle_ns = INT64_MAX;
  tm_heap_init(&s->looks, sizeof(struct look), is_before);
}

int64_t tm_dispatch_look_due(const struct tm_sched *s)
{
  return s->looks.len > 0 ? ((struct look *)tm_heap_at(&s->looks, 0))->at_ns : INT64_MAX;
}

void tm_dispatch_recall(struct tm_sched *s, struct tm_sched_worker *w, int64_t until_ns)
{
  struct tm_sched_action *a;

  if (w->is_recalling || w->state != TM_WORKER_READY || !w->node->is_up ||
      tm_window_recall(&w->window, until_ns) == 0)
    return;
  w->is_recalling = true;
  a = tm_actions_add(&s->actions, TM_SCHED_RECALL);
  a->worker = w->number;
  a->node = w->node->number;
  tm_roster_update(&s->roster, w);
}

static void plan_look(struct tm_sched *s, struct tm_sched_node *n, int64_t at_ns)
{
  if (at_ns < n->looked_ns + TM_SCHED_LOOK_NS)
    at_ns = n->looked_ns + TM_SCHED_LOOK_NS;
  tm_heap_add(&s->looks, &(struct look) { .at_ns = at_ns, .node = n });
  tm_roster_set_look(&s->roster, n, at_ns);
}

/* When something that waits at the worker is late. What was asked for in vain has begun; so that it
 * is not asked for all the time, everything there is as old as that answer at most. */
static int64_t late_at(const struct tm_sched_worker *w)
{
  int64_t since_ns = tm_window_waits_since(&w->window);

  if (since_ns < w->refused_ns)
    since_ns = w->refused_ns;
  return since_ns + tm_window_late_ns(w->node->distance_ns);
}

/* Recalls what is late on the node. */
static void look_at(struct tm_sched *s, struct tm_sched_node *n, int64_t now_ns)
{
  int64_t next_ns = INT64_MAX;
  struct tm_list_item *next;

  n->looked_ns = now_ns;
  for (struct tm_list_item *i = tm_list_first(&n->crowded); i; i = next) {
    struct tm_sched_worker *w = WORKER(i, crowded);
    int64_t due_ns = late_at(w);
    next = tm_list_next(&n->crowded, i);
    if (due_ns <= now_ns)
      tm_dispatch_recall(s, w, now_ns - tm_window_late_ns(n->distance_ns));
    else if (due_ns < next_ns)
      next_ns = due_ns;
  }
  if (next_ns < INT64_MAX)
    plan_look(s, n, next_ns);
}

/* Keeps (3). */
static void recall(struct tm_sched *s, int64_t now_ns)
{
  bool is_any_idle = tm_roster_has_idle(&s->roster);
  struct tm_list *unplanned = &s->roster.unplanned;
  struct look look;

  if (!is_any_idle || s->idle_ns == INT64_MAX)
    s->idle_ns = is_any_idle ? now_ns : INT64_MAX;
  while (is_any_idle && unplanned->len > 0) {
    struct tm_sched_node *n =
        TM_LIST_OWNER(tm_list_first(unplanned), struct tm_sched_node, unplanned);
    plan_look(s, n, s->idle_ns + tm_window_late_ns(n->distance_ns));
  }
  while (tm_dispatch_look_due(s) <= now_ns) {
    tm_heap_remove(&s->looks, 0, &look);
    if (look.node->look_ns != look.at_ns)
      continue;
    tm_roster_set_look(&s->roster, look.node, INT64_MAX);
    if (is_any_idle)
      look_at(s, look.node, now_ns);
  }
}

void tm_dispatch_turn(struct tm_sched *s, int64_t now_ns)
{
  if (s->is_ending)
    return;
  tm_queue_set_now(&s->queue, now_ns);
  hand_out(s, now_ns);
  start_workers(s, now_ns);
  recall(s, now_ns);
}
