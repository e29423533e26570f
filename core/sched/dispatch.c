/* dispatch.c - the end of a turn: see sched_own.h.
 *
 * Workers get one assignment at a time, in turn, idle ones first. A worker that can take none of
 * those that wait, because it must avoid them, is passed over. Any other worker can take one of
 * them, so a turn passes over one worker at most.
 */
#include "sched/sched_own.h"

#define WORKER(item, member) TM_LIST_OWNER(item, struct tm_sched_worker, member)

/* ---- handing out ---- */

static bool hand(struct tm_sched *s, struct tm_sched_worker *w, int64_t now_ns)
{
  struct tm_assignment what;
  struct tm_sched_action *a;

  if (!tm_queue_take(&s->queue, w->number, s->roster.ready > 1, &what))
    return false;
  a = tm_actions_add(&s->actions, TM_SCHED_HAND);
  a->worker = w->number;
  a->node = w->node->number;
  a->seq = tm_window_add(&w->window, &what, now_ns)->seq;
  a->what = what;
  s->running++;
  tm_roster_unlist(w);
  tm_roster_update(&s->roster, w); /* at the end of its list, if there is still room */
  return true;
}

static void hand_out(struct tm_sched *s, int64_t now_ns)
{
  struct tm_sched_worker *w, *skip = NULL;

  while (tm_queue_has_waiting(&s->queue) && (w = tm_roster_wanting(&s->roster, skip))) {
    if (tm_window_is_late(&w->window, now_ns)) {
      tm_roster_unlist(w); /* until its first ends */
    } else if (!hand(s, w, now_ns)) {
      if (skip)
        break;
      skip = w;
    }
  }
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

void tm_dispatch_recall(struct tm_sched *s, struct tm_sched_worker *w, int64_t before_ns)
{
  struct tm_sched_action *a;

  if (w->is_recalling || w->state != TM_WORKER_READY || !w->node->is_up ||
      tm_window_recall(&w->window, before_ns) == 0)
    return;
  w->is_recalling = true;
  a = tm_actions_add(&s->actions, TM_SCHED_RECALL);
  a->worker = w->number;
  a->node = w->node->number;
  tm_roster_update(&s->roster, w);
}

/* Keeps (3). */
static void recall(struct tm_sched *s, int64_t now_ns)
{
  struct tm_list *crowded = &s->roster.crowded;
  struct tm_list_item *next;

  if (now_ns >= s->recall_ns) {
    s->recall_ns = INT64_MAX;
    for (struct tm_list_item *i = tm_list_first(crowded); i && s->roster.idle.len > 0; i = next) {
      next = tm_list_next(crowded, i);
      tm_dispatch_recall(s, WORKER(i, crowded), now_ns - TM_WINDOW_LATE_NS);
    }
  }
  if (s->recall_ns == INT64_MAX && s->roster.idle.len > 0 && crowded->len > 0)
    s->recall_ns = now_ns + TM_WINDOW_LATE_NS;
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
