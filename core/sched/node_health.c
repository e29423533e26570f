/* node_health.c - see node_health.h. */
#include "sched/node_health.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/text.h"

static void add(struct tm_health_count *c, bool is_good)
{
  c->all++;
  c->good += is_good;
}

static struct tm_health_count minus(const struct tm_health_count *a,
                                    const struct tm_health_count *b)
{
  return (struct tm_health_count) { a->all - b->all, a->good - b->good };
}

void tm_health_init(struct tm_node_health *n, int64_t workers)
{
  int64_t enough = 3 * workers;

  *n = (struct tm_node_health) { .doubt = workers + 1,
                                 .enough =
                                     enough > TM_HEALTH_TRIES_MIN ? enough : TM_HEALTH_TRIES_MIN };
}

void tm_health_note_try(struct tm_step_health *s, struct tm_node_health *n, enum tm_health_try what,
                        bool is_good)
{
  bool counts = is_good || n->failed < n->enough;

  if (is_good) {
    n->failed = n->again = n->tries = 0;
  } else {
    if (n->failed == 0)
      n->since = s->tries;
    n->failed += what != TM_HEALTH_PART;
    n->again += counts && what == TM_HEALTH_AGAIN;
    n->tries += counts && n->failed > 0;
  }
  if (counts)
    add(&s->tries, is_good);
}

void tm_health_note_init(struct tm_step_health *s, struct tm_node_health *n, bool is_good)
{
  add(&s->init, is_good);
  add(&n->init, is_good);
}

void tm_health_note_start(struct tm_step_health *s, struct tm_node_health *n, bool is_good)
{
  add(&s->starts, is_good);
  add(&n->starts, is_good);
}

bool tm_health_is_doubtful(const struct tm_node_health *n)
{
  return n->failed >= n->doubt;
}

void tm_health_forget(struct tm_step_health *s, struct tm_node_health *n)
{
  s->init = minus(&s->init, &n->init);
  s->starts = minus(&s->starts, &n->starts);
  *n = (struct tm_node_health) { .doubt = n->doubt, .enough = n->enough };
}

/* Keeps (4). `more`: failures elsewhere that are not among those. */
static struct tm_sickness judge(enum tm_sickness_kind kind, int64_t failed,
                                const struct tm_health_count *elsewhere, int64_t least,
                                int64_t more)
{
  bool is_sick = elsewhere->all >= least && 2 * elsewhere->good > elsewhere->all + more;

  return (struct tm_sickness) { .kind = is_sick ? kind : TM_SICK_NOT,
                                .failed = failed,
                                .elsewhere = elsewhere->all,
                                .good = elsewhere->good };
}

/* Keeps (1). */
static struct tm_sickness judge_tries(const struct tm_step_health *s,
                                      const struct tm_node_health *n)
{
  struct tm_health_count elsewhere = minus(&s->tries, &n->since);

  if (n->failed < n->enough)
    return (struct tm_sickness) { .kind = TM_SICK_NOT };
  elsewhere.all -= n->tries;
  return judge(TM_SICK_TRIES, n->failed, &elsewhere, TM_HEALTH_ELSEWHERE_MIN, n->again);
}

struct tm_sickness tm_health_look(const struct tm_step_health *s, const struct tm_node_health *n,
                                  const struct tm_pool *pool)
{
  struct tm_health_count init = minus(&s->init, &n->init), starts = minus(&s->starts, &n->starts);
  struct tm_sickness found = judge_tries(s, n);

  if (found.kind == TM_SICK_NOT && pool->init_failures >= tm_pool_failures_max(pool))
    found = judge(TM_SICK_INIT, pool->init_failures, &init, 1, 0);
  if (found.kind == TM_SICK_NOT && pool->idle_ends >= tm_pool_failures_max(pool))
    found = judge(TM_SICK_STARTS, pool->idle_ends, &starts, 1, 0);
  return found;
}

void tm_sickness_describe(struct tm_buf *out, const struct tm_sickness *x)
{
  int64_t percent = x->elsewhere > 0 ? 100 * x->good / x->elsewhere : 0;

  switch (x->kind) {
  case TM_SICK_NOT: break;
  case TM_SICK_TRIES:
    tm_buf_printf(out,
                  "its last %" PRId64 " tries all failed, while %" PRId64 " %% of %" PRId64
                  " tries elsewhere succeeded",
                  x->failed, percent, x->elsewhere);
    break;
  case TM_SICK_INIT:
    tm_buf_printf(out,
                  "init() has failed %" PRId64 " times in a row there, while it succeeded in "
                  "%" PRId64 " %% of %" PRId64 " %s elsewhere",
                  x->failed, percent, x->elsewhere,
                  tm_text_counted(x->elsewhere, "worker", "workers"));
    break;
  case TM_SICK_STARTS:
    tm_buf_printf(out,
                  "its last %" PRId64 " workers ended before they had begun anything, unlike "
                  "%" PRId64 " %% of %" PRId64 " %s elsewhere",
                  x->failed, percent, x->elsewhere,
                  tm_text_counted(x->elsewhere, "worker", "workers"));
    break;
  }
}
