/* pool.c - see pool.h. */
#include "sched/pool.h"

#include <string.h>

#include "base/check.h"

#define NO       (-1) /* cannot happen */
#define GONE     TM_WORKER_GONE
#define STARTING TM_WORKER_STARTING
#define LOADING  TM_WORKER_LOADING
#define INIT     TM_WORKER_INIT
#define READY    TM_WORKER_READY
#define STOPPING TM_WORKER_STOPPING

/* clang-format off */
static const signed char next_state[TM_WORKER_STATES][TM_WORKER_EVENTS] = {
  /*              start     started   loaded    ready     stop      ended */
  [GONE]     = {  STARTING, NO,       NO,       NO,       NO,       NO   },
  [STARTING] = {  NO,       LOADING,  NO,       NO,       STOPPING, GONE },
  [LOADING]  = {  NO,       NO,       INIT,     NO,       STOPPING, GONE },
  [INIT]     = {  NO,       NO,       NO,       READY,    STOPPING, GONE },
  [READY]    = {  NO,       NO,       NO,       NO,       STOPPING, GONE },
  /* Messages that the worker sent before it received the stop may still arrive. */
  [STOPPING] = {  NO,       STOPPING, STOPPING, STOPPING, STOPPING, GONE },
};
/* clang-format on */

void tm_pool_init(struct tm_pool *p, int64_t process_count)
{
  memset(p, 0, sizeof(*p));
  tm_require(process_count >= 1);
  p->process_count = process_count;
}

bool tm_pool_allows(enum tm_worker_state s, enum tm_worker_event e)
{
  return next_state[s][e] != NO;
}

enum tm_worker_state tm_pool_step(struct tm_pool *p, enum tm_worker_state s, enum tm_worker_event e)
{
  int next = next_state[s][e];

  if (!tm_check(next != NO))
    return s;
  p->living += (s == GONE) - (next == (int)GONE);
  p->ready += (next == (int)READY) - (s == READY);
  tm_require(p->ready >= 0 && p->ready <= p->living);
  if (e == TM_WORKER_ON_LOADED)
    p->has_loaded = true;
  if (e == TM_WORKER_ON_READY)
    p->init_failures = 0;
  if (e == TM_WORKER_ON_ENDED && (s == STARTING || s == LOADING || s == INIT))
    p->init_failures++;
  return (enum tm_worker_state)next;
}

int64_t tm_pool_failures_max(const struct tm_pool *p)
{
  return 3 * p->process_count;
}

static bool is_exhausted(const struct tm_pool *p)
{
  int64_t max = tm_pool_failures_max(p);

  return p->init_failures >= max || p->idle_ends >= max;
}

void tm_pool_note_end(struct tm_pool *p, bool has_begun)
{
  p->idle_ends = has_begun ? 0 : p->idle_ends + 1;
}

bool tm_pool_wants_worker(const struct tm_pool *p, int64_t open)
{
  if (p->is_closed || is_exhausted(p) || p->living >= p->process_count || p->living >= open)
    return false;
  return p->has_loaded || p->living == 0;
}

bool tm_pool_has_given_up(const struct tm_pool *p)
{
  return is_exhausted(p) && p->living == 0;
}

void tm_pool_close(struct tm_pool *p)
{
  p->is_closed = true;
}
