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
#define HELD_MAX   (NODES * 4 * WINDOW_MAX)
#define EVENTS_MAX 250  /* of an input */
#define RECALLS    4096 /* workers of which recalls are known */

enum outcome { WAITS, AT_WORKER, SEARCHED, OVER };

struct mini_batch {
  enum outcome outcome;
  uint32_t failed, picked; /* tries, hand-outs */
  uint32_t failed_at;      /* a worker */
};

struct held {
  uint32_t worker;
  uint64_t seq;
  struct tm_assignment what;
};

struct search {
  bool is_open, is_over;
  uint64_t index;
  uint64_t part; /* one of those that have ended well */
  uint32_t last_try;
};

struct model {
  struct tm_sched s;
  const uint8_t *at, *end;
  int64_t now_ns;
  uint64_t created;
  struct mini_batch all[INDEXES];
  struct held held[HELD_MAX];
  size_t held_len;
  struct TM_ARRAY(uint32_t) workers; /* living */
  struct search searches[INDEXES];
  bool is_up[NODES], was_up[NODES], is_ended, has_started_none;
  int64_t slots[NODES];
  bool is_recalling[RECALLS]; /* by worker */
  uint8_t ends;               /* how tries of a lost worker have ended, two bits each */
};

static struct held *find_held(struct model *m, uint32_t worker, uint64_t seq)
{
  for (size_t i = 0; i < m->held_len; i++)
    if (m->held[i].worker == worker && m->held[i].seq == seq)
      return &m->held[i];
  return NULL;
}

/* ---- what must hold ---- */

static void check_worker(const struct model *m, uint32_t number, size_t *idle, size_t *crowded)
{
  const struct tm_sched_worker *w = tm_roster_worker(&m->s.roster, number);
  size_t len, held = 0;

  fuzz_require(w && w->state != TM_WORKER_GONE);
  len = tm_window_len(&w->window);
  for (size_t i = 0; i < m->held_len; i++)
    held += m->held[i].worker == number;
  fuzz_require(len == held && len <= WINDOW_MAX / 2);
  fuzz_require(w->window.ring.next - w->window.ring.first <= WINDOW_MAX);
  fuzz_require(w->window.ring.cap <= WINDOW_MAX);
  bool is_free = w->state == TM_WORKER_READY && !w->is_deaf && w->node->is_up;
  bool is_idle = is_free && !w->is_leaving && len == 0;
  fuzz_require(is_idle == (w->in == &m->s.roster.idle));
  fuzz_require(!((m->is_ended || w->is_leaving) && is_free && len == 0));
  fuzz_require(w->is_recalling == m->is_recalling[number % RECALLS]);
  *idle += is_idle;
  *crowded += w->state == TM_WORKER_READY && w->node->is_up && len > 1 && !w->is_recalling;
}

static void check_all(const struct model *m)
{
  int64_t leaves = 0;
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
  for (size_t i = 0; i < m->held_len; i++)
    whole += m->held[i].what.part == 0;
  fuzz_require(whole == at_workers && m->s.running == (int64_t)m->held_len);
  fuzz_require(m->s.searches.len == (int64_t)searched);
  fuzz_require(tm_sched_open(&m->s) == (int64_t)(m->created - over - searched) + m->s.parts_open);
  fuzz_require(m->s.roster.living == (int64_t)m->workers.len);
  fuzz_require(m->s.roster.leaves == leaves);
  fuzz_require(m->s.roster.idle.len == idle && m->s.roster.crowded.len == crowded);
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

/* A ready worker gets no more only if it has none of the room, or must avoid all that waits. */
static void check_refused(const struct model *m, const struct tm_sched_worker *w)
{
  const struct tm_inflight *last;

  if (w->state != TM_WORKER_READY || w->is_deaf || w->is_leaving || !w->node->is_up ||
      !tm_window_has_room(&w->window) || tm_window_is_late(&w->window, m->now_ns))
    return;
  last = tm_window_find(&w->window, w->window.ring.next - 1);
  if (last && last->what.lost_answers > 0)
    return; /* it stays alone */
  fuzz_require(m->s.roster.ready > 1 && m->s.queue.next == m->s.queue.created);
  for (size_t i = 0; i < m->s.queue.back.len; i++)
    fuzz_require(((struct tm_assignment *)tm_heap_at(&m->s.queue.back, i))->avoid == w->number);
}

/* A worker has started wherever one may: there is work for it, and a slot that is free. */
static void check_starts(const struct model *m)
{
  const struct tm_roster *r = &m->s.roster;

  if (m->has_started_none || r->living >= tm_sched_open(&m->s) || (r->living > 0 && !r->has_loaded))
    return;
  for (size_t i = 0; i < r->nodes.len; i++) {
    const struct tm_sched_node *n = r->nodes.at[i];
    if (n && n->is_up && tm_pool_wants_worker(&n->pool, INT64_MAX))
      fuzz_require(tm_slots_due(&n->slots) > m->now_ns);
  }
}

static void check_turn(struct model *m)
{
  const struct tm_roster *r = &m->s.roster;

  if (m->is_ended)
    return;
  if (tm_sched_has_waiting(&m->s))
    for (size_t i = 0; i < m->workers.len; i++)
      check_refused(m, tm_roster_worker(r, m->workers.at[i]));
  check_starts(m);
  if (r->idle.len > 0 && r->crowded.len > 0)
    fuzz_require(tm_sched_due(&m->s) <= m->now_ns + TM_WINDOW_LATE_NS);
  fuzz_require(tm_sched_due(&m->s) > m->now_ns);
}

#endif
