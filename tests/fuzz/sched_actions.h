/* sched_actions.h - fuzz_sched.c carries out what the scheduler decides: each action must be
 * possible in the model, and changes it.
 */
#ifndef TM_TESTS_SCHED_ACTIONS_H
#define TM_TESTS_SCHED_ACTIONS_H

#include "sched_model.h"

static void on_hand(struct model *m, const struct tm_sched_action *a)
{
  struct mini_batch *b = &m->all[a->what.index];
  const struct search *x = &m->searches[a->what.search];

  fuzz_require(!m->is_ended && a->what.index < m->created && !m->drains[a->node]);
  fuzz_require(tm_sched_state(&m->s, a->worker) == TM_WORKER_READY);
  fuzz_require(!find_held(m, a->worker, a->seq) && m->held_len < HELD_MAX);
  if (a->what.part == 0) {
    fuzz_require(b->outcome == WAITS && a->what.try == b->failed + 1);
    fuzz_require(a->what.lost_nodes == b->lost);
    fuzz_require(a->what.picked == ++b->picked);
    if (b->failed > 0 && b->lost < TM_LOST_NODES_MAX - 1) { /* else it is a suspect */
      fuzz_require(b->failed_node != a->node || !has_other_node(m, a->node));
      fuzz_require(!is_shunned(m, a->node));
      fuzz_require(b->failed_at != a->worker || count_takers(m, a->node, true, false) == 1);
    }
    b->outcome = AT_WORKER;
  } else {
    fuzz_require(b->outcome == SEARCHED && x->is_open && x->index == a->what.index);
    fuzz_require(!is_shunned(m, a->node) || a->what.lost_nodes == TM_LOST_NODES_MAX - 1);
    for (size_t i = 0; i < m->held_len; i++)
      fuzz_require(m->held[i].what.index != a->what.index ||
                   (m->held[i].what.part != a->what.part && m->held[i].what.try != a->what.try));
  }
  check_room(m, a);
  m->held[m->held_len++] = (struct held) {
    .worker = a->worker, .node = a->node, .seq = a->seq, .what = a->what, .handed_ns = m->now_ns
  };
}

static void on_again(struct model *m, const struct tm_sched_action *a)
{
  struct held *h = find_held(m, a->worker, a->seq);

  fuzz_require(h && m->drains[h->node] && h->what.try == a->what.try);
  m->uncounted++;
  give_back_held(m, (size_t)(h - m->held));
}

/* It is reported once, with figures that accuse it; it may drain then, or not. */
static void on_sick(struct model *m, const struct tm_sched_action *a)
{
  const struct tm_sched_node *n = tm_roster_node(&m->s.roster, a->node);
  const struct tm_sickness *x = &a->sickness;

  fuzz_require(!m->is_ended && m->is_up[a->node] && !m->drains[a->node]);
  fuzz_require(!m->is_sick[a->node] && n->health.is_sick);
  fuzz_require(x->failed >= 3 * m->slots[a->node] && 2 * x->good > x->elsewhere);
  if (x->kind == TM_SICK_TRIES)
    fuzz_require(x->failed == m->failed_there[a->node] && x->failed >= TM_HEALTH_TRIES_MIN);
  m->is_sick[a->node] = true;
}

/* It has lost the last node that it may: no other try follows. */
static bool has_failed_with_nodes(struct model *m, const struct tm_sched_action *a)
{
  if (a->what.lost_nodes < TM_LOST_NODES_MAX)
    return false;
  fuzz_require(a->kind == (a->what.part == 0 ? TM_SCHED_FAIL : TM_SCHED_SEARCH));
  fuzz_require(a->what.part == 0 || a->bad == a->what.part);
  fuzz_require(a->what.lost_at[TM_LOST_NODES_MAX - 1] == a->node);
  m->failed_with_nodes++;
  return true;
}

static void on_failed_try(struct model *m, const struct tm_sched_action *a)
{
  struct held *h = find_held(m, a->worker, a->seq);
  struct mini_batch *b = &m->all[a->what.index];
  struct search *x = &m->searches[a->search];
  int64_t max = m->s.o.run_max_try;
  bool is_counted = !has_failed_with_nodes(m, a);

  fuzz_require(h && h->what.index == a->what.index && h->what.part == a->what.part);
  m->failed_there[h->node] += is_counted && h->what.part == 0;
  drop_held(m, h);
  if (a->what.part == 0 && is_counted)
    b->failed++;
  b->failed_at = a->worker;
  b->failed_node = a->node;
  if (a->kind == TM_SCHED_RETRY) {
    fuzz_require(a->what.part == 0 && b->failed < max);
    b->outcome = WAITS;
  } else if (a->kind == TM_SCHED_FAIL) {
    fuzz_require(a->what.part == 0 && b->outcome == AT_WORKER);
    fuzz_require(is_counted ? b->failed == max : b->lost == TM_LOST_NODES_MAX);
    b->outcome = OVER;
  } else {
    fuzz_require(a->is_new == (a->what.part == 0) && a->is_new != x->is_open);
    fuzz_require(!a->is_new || b->failed == max);
    b->outcome = SEARCHED;
    x->is_open = true;
    x->index = a->what.index;
    x->is_over = a->is_over;
    m->time.parts += !a->is_new;
    x->part = a->is_new ? tm_part(0, 1) : a->what.part;
  }
}

/* Only what waits behind the first is recalled, when it is late, or because the worker ends. */
static void on_recall(struct model *m, uint32_t worker)
{
  bool is_late = !m->is_ended && !tm_roster_worker(&m->s.roster, worker)->is_leaving;
  uint64_t seqs[WINDOW_MAX];
  size_t n = tm_sched_recalled(&m->s, worker, seqs);

  fuzz_require(n > 0 && !m->is_recalling[worker % RECALLS]);
  for (size_t i = 0; i < n; i++) {
    const struct held *h = find_held(m, worker, seqs[i]);
    fuzz_require(h && h->seq != tm_sched_first(&m->s, worker));
    fuzz_require(!is_late || m->now_ns - h->handed_ns >= late_ns(m, worker));
  }
  m->is_recalling[worker % RECALLS] = true;
}

static void carry_out(struct model *m)
{
  struct tm_sched_action a;

  while (tm_sched_next(&m->s, &a)) {
    switch (a.kind) {
    case TM_SCHED_START:
      fuzz_require(!m->is_ended && !m->has_started_none && m->is_up[a.node] && !m->drains[a.node]);
      *TM_ARRAY_ADD(&m->workers) = a.worker;
      m->time.started_ns[a.worker % STARTS] = m->time.awake_ns;
      break;
    case TM_SCHED_HAND: on_hand(m, &a); break;
    case TM_SCHED_RECALL: on_recall(m, a.worker); break;
    case TM_SCHED_AGAIN: on_again(m, &a); break;
    case TM_SCHED_RETRY:
    case TM_SCHED_FAIL:
    case TM_SCHED_SEARCH: on_failed_try(m, &a); break;
    case TM_SCHED_SEARCH_OVER:
      fuzz_require(m->searches[a.search].is_open && !m->searches[a.search].is_over);
      m->searches[a.search].is_over = true;
      break;
    case TM_SCHED_NO_PROGRESS:
    case TM_SCHED_INIT_FAILS:
    case TM_SCHED_INIT_STUCK: fuzz_require(false); /* only pass_time() causes these */
    case TM_SCHED_NODE_SICK: on_sick(m, &a); break;
    case TM_SCHED_NODE_FAILED:
      fuzz_require(a.losses >= TM_SCHED_LOSSES_MAX && a.losses == m->losses[a.node] + 1);
      break;
    default: break;
    }
  }
}

#endif
