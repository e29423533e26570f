/* try_ends.c - the ends of tries: see sched_own.h. A try ends at its worker. If its result was
 * announced, it has left the worker, and ends later.
 */
#include "base/check.h"
#include "sched/backoff.h"
#include "sched/sched_own.h"

/* ---- searches ---- */

/* The search goes on, or begins: its next parts wait. */
static void search_on(struct tm_sched *s, uint32_t number, const struct tm_isolation_next *next,
                      struct tm_sched_action *a)
{
  struct tm_search *x = tm_searches_at(&s->searches, number);

  for (size_t i = 0; i < next->tries_len; i++)
    tm_queue_add_part(&s->queue, x->index, next->tries[i], ++x->try, number);
  a->search = number;
  a->bad = next->bad;
  a->untested = next->untested;
  a->is_over = x->isolation.open == 0;
}

static void begin_search(struct tm_sched *s, const struct tm_assignment *what, uint32_t items,
                         struct tm_sched_action *a)
{
  uint32_t number = tm_searches_add(&s->searches, what->index, what->try);
  struct tm_search *x = tm_searches_at(&s->searches, number);
  struct tm_isolation_next next;

  tm_isolation_begin(&x->isolation, items, s->o.isolation_max_try, &next);
  s->parts_open += x->isolation.open;
  a->is_new = true;
  search_on(s, number, &next, a);
}

static void fail_part(struct tm_sched *s, const struct tm_assignment *what, bool no_halves,
                      struct tm_sched_action *a)
{
  struct tm_search *x = tm_searches_at(&s->searches, what->search);
  struct tm_isolation_next next = { .tries_len = 0 };

  tm_require(x);
  s->parts_open -= x->isolation.open;
  if (no_halves) {
    tm_isolation_settle(&x->isolation);
    next.bad = what->part;
  } else {
    tm_isolation_fail(&x->isolation, what->part, &next);
  }
  s->parts_open += x->isolation.open;
  search_on(s, what->search, &next, a);
}

static void end_part(struct tm_sched *s, uint32_t number)
{
  struct tm_search *x = tm_searches_at(&s->searches, number);
  struct tm_sched_action *a;

  tm_require(x);
  tm_isolation_settle(&x->isolation);
  s->parts_open--;
  if (x->isolation.open > 0)
    return;
  a = tm_actions_add(&s->actions, TM_SCHED_SEARCH_OVER);
  a->search = number;
  a->is_over = true;
}

/* ---- ends ---- */

static struct tm_sched_action *add_end(struct tm_sched *s, const struct tm_try *t,
                                       enum tm_sched_action_kind kind)
{
  struct tm_sched_action *a = tm_actions_add(&s->actions, kind);

  a->worker = t->worker;
  a->node = t->node;
  a->seq = t->seq;
  a->what = t->what;
  return a;
}

static void note_health(struct tm_sched *s, const struct tm_try *t, bool is_good)
{
  struct tm_sched_node *n = tm_roster_node(&s->roster, t->node);
  enum tm_health_try what = t->what.part != 0 ? TM_HEALTH_PART
                            : t->what.try > 1 ? TM_HEALTH_AGAIN
                                              : TM_HEALTH_FIRST;

  if (!n || n->is_lost)
    return;
  tm_health_note_try(&s->health, &n->health, what, is_good);
  tm_roster_set_doubtful(&s->roster, n, tm_health_is_doubtful(&n->health));
}

void tm_try_ends_badly(struct tm_sched *s, const struct tm_try *t, bool is_lost,
                       const struct tm_sched_event *e, int64_t now_ns)
{
  struct tm_assignment what = t->what;
  struct tm_sched_action *a = add_end(s, t, TM_SCHED_RETRY);
  uint64_t seed = s->o.seed ^ (what.index << 16) ^ what.try;
  int64_t delay_ns = tm_backoff_retry(s->o.retry_delay_ns, is_lost, what.try, seed);

  note_health(s, t, false);
  if (e->rows > 0)
    what.rows = e->rows;
  what.due_ns = delay_ns > 0 ? now_ns + delay_ns : 0;
  a->what = what;
  if (tm_queue_fail(&s->queue, &what, t->worker, t->node))
    return;
  if (what.part != 0) {
    a->kind = TM_SCHED_SEARCH;
    fail_part(s, &what, e->no_halves, a);
  } else if (s->o.isolates && e->items > 1) {
    a->kind = TM_SCHED_SEARCH;
    begin_search(s, &what, e->items, a);
  } else {
    a->kind = TM_SCHED_FAIL;
    s->over++;
  }
}

bool tm_try_ends_with_node(struct tm_sched *s, const struct tm_try *t)
{
  struct tm_assignment what = t->what;
  struct tm_sched_action *a;

  what.lost_at[what.lost_nodes++] = t->node;
  if (what.lost_nodes < TM_LOST_NODES_MAX) {
    tm_queue_put_back(&s->queue, &what);
    return false;
  }
  a = add_end(s, t, TM_SCHED_FAIL);
  a->what = what;
  if (what.part == 0) {
    s->over++;
  } else {
    a->kind = TM_SCHED_SEARCH;
    fail_part(s, &what, true, a); /* its halves would take more nodes down */
  }
  return true;
}

void tm_try_ends_well(struct tm_sched *s, const struct tm_try *t)
{
  struct tm_sched_node *n = tm_roster_node(&s->roster, t->node);

  if (n)
    n->losses = 0;
  note_health(s, t, true);
  if (t->what.part != 0)
    end_part(s, t->what.search);
  else
    s->over++;
}

/* ---- after an announcement ---- */

static void put_back(struct tm_sched *s, const struct tm_assignment *what, bool is_unseen)
{
  struct tm_assignment again = *what;

  again.lost_answers += is_unseen;
  tm_queue_put_back(&s->queue, &again);
}

/* Its node is lost. */
static void drop(struct tm_sched *s, const struct tm_try *t)
{
  struct tm_sched_node *n = tm_roster_node(&s->roster, t->node);

  put_back(s, &t->what, false);
  if (n)
    n->went_back++;
}

bool tm_try_ends_announced(struct tm_sched *s, const struct tm_sched_event *e, int64_t now_ns)
{
  struct tm_try t = { .what = *e->what, .worker = e->worker, .node = e->node, .seq = e->seq };

  if (s->announced == 0 ||
      (e->kind == TM_SCHED_ON_UNUSABLE && t.what.lost_answers >= TM_SCHED_UNSEEN_MAX))
    return false;
  s->announced--;
  s->running--;
  switch (e->kind) {
  case TM_SCHED_ON_RESULT: tm_try_ends_well(s, &t); break;
  case TM_SCHED_ON_FAILED: tm_try_ends_badly(s, &t, false, e, now_ns); break;
  case TM_SCHED_ON_UNUSABLE: put_back(s, &t.what, true); break;
  default: drop(s, &t); break;
  }
  return true;
}
