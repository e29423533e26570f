/* sim_checks.c - what must hold in every run: see sim.h. What the scheduler decides is compared
 * with what has happened to each mini-batch, not with the scheduler's own counts. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "sim/sim_own.h"

#define RUN_MAX_TRY 3

void sim_check_wrong(struct sim *x, const char *fmt, ...)
{
  va_list ap;

  if (x->found.text[0])
    return;
  va_start(ap, fmt);
  vsnprintf(x->found.text, sizeof(x->found.text), fmt, ap);
  va_end(ap);
}

static void check(struct sim *x, bool holds, const char *what, uint64_t index)
{
  if (!holds)
    sim_check_wrong(x, "at %.6f s: mini-batch %" PRIu64 ": %s", (double)x->now_ns / 1e9, index,
                    what);
}

/* ---- mini-batches: (1), (2) ---- */

void sim_check_handed(struct sim *x, struct sim_step *st, const struct tm_sched_action *a)
{
  struct sim_mini_batch *m = &st->mini_batches[a->what.index];

  check(x, !m->held, "handed out while a worker has it", a->what.index);
  check(x, !m->ended, "handed out when it was over", a->what.index);
  check(x, a->what.try == m->failed + 1u, "a try was counted wrongly", a->what.index);
  m->held = 1;
}

void sim_check_back(struct sim *x, struct sim_step *st, uint64_t index)
{
  check(x, st->mini_batches[index].held, "taken from a worker that does not have it", index);
  st->mini_batches[index].held = 0;
}

void sim_check_failed(struct sim *x, struct sim_step *st, uint64_t index)
{
  sim_check_back(x, st, index);
  st->mini_batches[index].failed++;
}

void sim_check_committed(struct sim *x, struct sim_step *st, uint64_t index)
{
  sim_check_back(x, st, index);
  check(x, st->mini_batches[index].ended++ == 0, "over twice", index);
}

void sim_check_verdict(struct sim *x, struct sim_step *st, const struct tm_sched_action *a)
{
  struct sim_mini_batch *m = &st->mini_batches[a->what.index];
  bool is_last = m->failed >= RUN_MAX_TRY;

  check(x, is_last == (a->kind == TM_SCHED_FAIL), "given up too early, or too late", a->what.index);
  if (a->kind == TM_SCHED_FAIL)
    check(x, m->ended++ == 0, "over twice", a->what.index);
}

void sim_check_again(struct sim *x, const struct tm_sched_action *a)
{
  check(x, x->nodes.at[a->node].drains, "a failed try did not count", a->what.index);
}

/* ---- sick nodes: (5) ---- */

/* A node that is found, or each one in the end. */
void sim_check_sick(struct sim *x, uint32_t node)
{
  const struct sim_node *n = &x->nodes.at[node];
  bool is_sick = sim_node_lacks_init(x, node) || sim_node_is_bad(x, node);
  int64_t until_ns = n->is_gone ? n->gone_ns : x->now_ns;

  if (n->is_sick && !is_sick)
    sim_check_wrong(x, "at %.6f s: node %" PRIu32 " was called sick", (double)x->now_ns / 1e9,
                    node);
  if (!n->was_ready || !is_sick || until_ns - n->added_ns <= x->found.sick_ns)
    return;
  x->found.sick_ns = until_ns - n->added_ns;
  if (x->found.sick_ns > SIM_SICK_NS)
    sim_check_wrong(x, "node %" PRIu32 " was sick, and in use for %.3f s", node,
                    (double)x->found.sick_ns / 1e9);
}

/* ---- idle workers: (3), (4) ---- */

/* What else it must avoid: all that failed on its node, or at itself. */
static bool must_avoid(const struct tm_roster *r, const struct tm_sched_worker *w,
                       const struct tm_assignment *a)
{
  const struct tm_sched_node *n = w->node;
  int64_t others = n->is_doubtful ? r->doubtful.count - n->takers : r->sound.count - n->takers;

  if (n->is_doubtful && r->sound.count > 0)
    return a->avoid_node != TM_NO_NODE;
  return others > 0 ? a->avoid_node == n->number : a->avoid == w->number;
}

/* Whether the queue has something that this worker need not avoid. */
static bool has_for(struct sim_step *st, const struct tm_sched_worker *w)
{
  const struct tm_queue *q = &st->s.queue;

  for (size_t i = 0; i < q->back.order.len; i++) {
    const struct tm_heap *h = &q->back.order.at[i]->of;
    for (size_t k = 0; k < h->len; k++)
      if (!must_avoid(&st->s.roster, w, tm_heap_at(h, k)))
        return true;
  }
  return q->next < q->created;
}

static void check_idle(struct sim *x, struct sim_step *st, const struct tm_list *nodes)
{
  for (struct tm_list_item *i = tm_list_first(nodes); i; i = tm_list_next(nodes, i)) {
    const struct tm_list *idle = &TM_LIST_OWNER(i, struct tm_sched_node, has_idle)->idle;
    const struct tm_sched_worker *w =
        TM_LIST_OWNER(tm_list_first(idle), struct tm_sched_worker, wants);
    if (has_for(st, w))
      sim_check_wrong(x, "at %.6f s: worker %" PRIu32 " is idle while something waits",
                      (double)x->now_ns / 1e9, w->number);
  }
}

void sim_check_turn(struct sim *x, struct sim_step *st)
{
  if (!tm_roster_has_idle(&st->s.roster)) {
    st->idle_ns = INT64_MAX;
    return;
  }
  if (st->idle_ns == INT64_MAX)
    st->idle_ns = x->now_ns;
  if (!tm_sched_has_waiting(&st->s))
    return;
  check_idle(x, st, &st->s.roster.sound.idle);
  check_idle(x, st, &st->s.roster.doubtful.idle);
}

int64_t sim_late_ns(const struct sim *x, uint32_t node)
{
  int64_t latency_ns = sim_latency_ns(x, node);

  return tm_window_late_ns(2 * latency_ns + x->o.jitter_ns) + TM_SCHED_LOOK_NS + latency_ns;
}

void sim_check_waited(struct sim *x, struct sim_step *st, const struct sim_worker *w,
                      const struct sim_held *held, int64_t until_ns)
{
  int64_t since_ns = held->handed_ns > st->idle_ns ? held->handed_ns : st->idle_ns;
  int64_t waited_ns = st->idle_ns == INT64_MAX ? 0 : until_ns - since_ns;
  int64_t round_ns = 2 * sim_latency_ns(x, w->node);

  if (waited_ns - round_ns > x->found.longest_ns)
    x->found.longest_ns = waited_ns - round_ns;
  if (waited_ns > sim_late_ns(x, w->node))
    sim_check_wrong(x,
                    "at %.6f s: mini-batch %" PRIu64 " has waited for %.3f ms at a worker of node "
                    "%" PRIu32 ", %.3f ms away, while another worker was idle",
                    (double)x->now_ns / 1e9, held->index, (double)waited_ns / 1e6, w->node,
                    (double)round_ns / 1e6);
}

/* ---- the end ---- */

void sim_check_end(struct sim *x, struct sim_step *st)
{
  const struct tm_counts *c = &st->tally.counts;
  struct tm_err err = TM_ERR_NONE;

  for (uint64_t i = 0; i < x->o.mini_batches; i++) {
    check(x, st->mini_batches[i].ended == 1, "not over, or more than once", i);
    check(x, !st->mini_batches[i].held, "over, and still at a worker", i);
  }
  if (tm_sched_open(&st->s) != 0 || st->s.running != 0)
    sim_check_wrong(x, "the scheduler has something left");
  if (st->committed + st->failed != x->o.mini_batches || (uint64_t)c->succeeded != st->committed ||
      (uint64_t)c->failed != st->failed)
    sim_check_wrong(x, "the tally has other numbers");
  if (tm_tally_verdict(&st->tally, &err) != TM_COMPLETED)
    sim_check_wrong(x, "the verdict is not Completed: %s", err.text);
}
