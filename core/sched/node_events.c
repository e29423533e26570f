/* node_events.c - the events of nodes: see sched_own.h. */
#include "sched/sched_own.h"

#define WORKER(item, member) TM_LIST_OWNER(item, struct tm_sched_worker, member)

/* Keeps (5). Returns how many mini-batches, or parts, have failed. */
static int take_all(struct tm_sched *s, struct tm_sched_worker *w)
{
  bool may_run = w->state == TM_WORKER_READY && !w->node->drains && !s->is_ending;
  int64_t held = (int64_t)tm_window_len(&w->window);
  int failed = 0;

  while (tm_window_len(&w->window) > 0) {
    uint64_t seq = w->window.ring.first;
    if (may_run) {
      struct tm_try try = tm_sched_take_try(s, w, seq);
      failed += tm_try_ends_with_node(s, &try);
    } else {
      tm_sched_put_back(s, w, seq);
    }
  }
  w->node->went_back += held - failed;
  w->node->had_work += held > failed;
  return failed;
}

static bool on_node(struct tm_sched *s, const struct tm_sched_event *e)
{
  struct tm_sched_node *n = tm_roster_add_node(&s->roster, e->node, e->slots);

  s->starts_ns = 0;
  n->is_lost = false;
  n->went_back = n->had_work = 0;
  tm_roster_set_drains(&s->roster, n, false);
  tm_roster_set_up(&s->roster, n, true);
  return true;
}

static bool on_node_silent(struct tm_sched *s, uint32_t node)
{
  struct tm_sched_node *n = tm_roster_node(&s->roster, node);

  if (!n || n->is_lost)
    return false;
  tm_roster_set_up(&s->roster, n, false);
  return true;
}

/* A node that is lost although nothing has ever ended there may be so for ever. */
static void count_loss(struct tm_sched *s, struct tm_sched_node *n)
{
  struct tm_sched_action *a;

  if (++n->losses < TM_SCHED_LOSSES_MAX || s->is_ending)
    return;
  a = tm_actions_add(&s->actions, TM_SCHED_NODE_FAILED);
  a->node = n->number;
  a->losses = n->losses;
}

static bool on_node_lost(struct tm_sched *s, const struct tm_sched_event *e, int64_t now_ns)
{
  struct tm_sched_node *n = tm_roster_node(&s->roster, e->node);
  bool was_draining;
  int failed = 0;

  if (!n || n->is_lost)
    return false;
  was_draining = n->drains;
  n->is_lost = true;
  while (n->workers.len > 0) {
    struct tm_sched_worker *w = WORKER(tm_list_first(&n->workers), of_node);
    failed += take_all(s, w);
    tm_roster_step(&s->roster, w, TM_WORKER_ON_STOP); /* its end is not its own failure */
    tm_sched_remove_worker(s, w, now_ns);
  }
  tm_health_forget(&s->health, &n->health);
  tm_roster_set_doubtful(&s->roster, n, false);
  tm_roster_set_up(&s->roster, n, false);
  if (failed > 0)
    n->losses = 0;
  else if (!was_draining)
    count_loss(s, n);
  return true;
}

/* A worker that is not ready has nothing to lose. */
static bool on_node_drains(struct tm_sched *s, uint32_t node)
{
  struct tm_sched_node *n = tm_roster_node(&s->roster, node);

  if (!n || n->is_lost || n->drains)
    return false;
  tm_roster_set_drains(&s->roster, n, true);
  for (struct tm_list_item *i = tm_list_first(&n->workers); i; i = tm_list_next(&n->workers, i)) {
    struct tm_sched_worker *w = WORKER(i, of_node);
    if (w->state < TM_WORKER_READY)
      tm_sched_kill_worker(s, w);
    else if (w->state == TM_WORKER_READY && !w->is_leaving)
      tm_sched_release_worker(s, w);
  }
  return true;
}

static bool on_distance(struct tm_sched *s, uint32_t node, int64_t ns)
{
  struct tm_sched_node *n = tm_roster_node(&s->roster, node);

  if (!n || n->is_lost)
    return false;
  tm_roster_set_distance(&s->roster, n, ns);
  return true;
}

static bool on_event(struct tm_sched *s, const struct tm_sched_event *e, int64_t now_ns)
{
  switch (e->kind) {
  case TM_SCHED_ON_NODE: return on_node(s, e);
  case TM_SCHED_ON_NODE_SILENT: return on_node_silent(s, e->node);
  case TM_SCHED_ON_NODE_LOST: return on_node_lost(s, e, now_ns);
  case TM_SCHED_ON_NODE_DRAINS: return on_node_drains(s, e->node);
  case TM_SCHED_ON_DISTANCE: return on_distance(s, e->node, e->ns);
  default: return false;
  }
}

bool tm_sched_node_event(struct tm_sched *s, const struct tm_sched_event *e, int64_t now_ns)
{
  bool has_changed = on_event(s, e, now_ns);

  if (has_changed && e->kind != TM_SCHED_ON_DISTANCE)
    tm_time_rules_look_at_nodes(&s->time, &s->roster, now_ns);
  return has_changed;
}
