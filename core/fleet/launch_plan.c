/* launch_plan.c - see launch_plan.h. */
#include "fleet/launch_plan.h"

#include <string.h>

#include "base/check.h"

void tm_launch_plan_init(struct tm_launch_plan *p, size_t places, size_t hosts,
                         int64_t start_timeout_ns)
{
  tm_require(places > 0 && (hosts == 0 || hosts >= places) && start_timeout_ns > 0);
  *p = (struct tm_launch_plan) { .has_hosts = hosts > 0, .start_timeout_ns = start_timeout_ns };
  for (size_t i = 0; i < places; i++)
    *TM_ARRAY_ADD(&p->places) = (struct tm_launch_place) { .host = SIZE_MAX, .due_ns = INT64_MIN };
  for (size_t i = 0; i < hosts; i++)
    *TM_ARRAY_ADD(&p->spares) = i;
}

void tm_launch_plan_release(struct tm_launch_plan *p)
{
  TM_ARRAY_RELEASE(&p->places);
  TM_ARRAY_RELEASE(&p->spares);
}

const struct tm_launch_place *tm_launch_plan_find(const struct tm_launch_plan *p, uint32_t id)
{
  for (size_t i = 0; i < p->places.len; i++)
    if (p->places.at[i].state != TM_LAUNCH_PLACE_EMPTY && p->places.at[i].id == id)
      return &p->places.at[i];
  return NULL;
}

static struct tm_launch_place *place_of(struct tm_launch_plan *p, uint32_t id)
{
  const struct tm_launch_place *place = tm_launch_plan_find(p, id);

  tm_require(place);
  return &p->places.at[place - p->places.at];
}

bool tm_launch_plan_is_exhausted(const struct tm_launch_plan *p)
{
  bool has_ready = false;

  for (size_t i = 0; i < p->places.len; i++)
    has_ready |= p->places.at[i].state == TM_LAUNCH_PLACE_READY;
  return p->launches >= 3 * (int64_t)p->places.len + 10 || /* keeps (3) */
         (p->quick >= TM_LAUNCH_QUICK_MAX && !has_ready);  /* keeps (4) */
}

size_t tm_launch_plan_next(const struct tm_launch_plan *p, int64_t now_ns)
{
  for (size_t i = 0; !tm_launch_plan_is_exhausted(p) && i < p->places.len; i++)
    if (p->places.at[i].state == TM_LAUNCH_PLACE_EMPTY && p->places.at[i].due_ns <= now_ns)
      return i;
  return SIZE_MAX;
}

static size_t take_spare(struct tm_launch_plan *p)
{
  size_t host = p->spares.at[0];

  p->spares.len--;
  memmove(p->spares.at, p->spares.at + 1, p->spares.len * sizeof(*p->spares.at));
  return host;
}

size_t tm_launch_plan_launch(struct tm_launch_plan *p, size_t place, uint32_t id)
{
  struct tm_launch_place *l = &p->places.at[place];

  tm_require(place < p->places.len && l->state == TM_LAUNCH_PLACE_EMPTY &&
             !tm_launch_plan_find(p, id));
  tm_require(!p->has_hosts || p->spares.len > 0); /* each filled place has one: keeps (1) */
  l->state = TM_LAUNCH_PLACE_STARTS;
  l->id = id;
  l->host = p->has_hosts ? take_spare(p) : SIZE_MAX;
  l->begun_ns = l->deadline_ns = INT64_MAX;
  p->launches++;
  return l->host;
}

void tm_launch_plan_running(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  struct tm_launch_place *l = place_of(p, id);

  tm_require(l->state == TM_LAUNCH_PLACE_STARTS && l->begun_ns == INT64_MAX);
  l->begun_ns = now_ns;
  l->deadline_ns = now_ns + p->start_timeout_ns;
}

void tm_launch_plan_ready(struct tm_launch_plan *p, uint32_t id)
{
  struct tm_launch_place *l = place_of(p, id);

  tm_require(l->state == TM_LAUNCH_PLACE_STARTS);
  l->state = TM_LAUNCH_PLACE_READY;
  p->quick = 0;
}

void tm_launch_plan_ends(struct tm_launch_plan *p, uint32_t id)
{
  place_of(p, id)->deadline_ns = INT64_MAX;
}

/* Keeps (4). */
static bool is_quick(const struct tm_launch_place *l, int64_t now_ns)
{
  return l->state == TM_LAUNCH_PLACE_STARTS && l->begun_ns != INT64_MAX &&
         now_ns - l->begun_ns <= TM_LAUNCH_QUICK_NS;
}

/* Keeps (2). */
static int64_t wait_after(int failures)
{
  int64_t ns = TM_LAUNCH_WAIT_MIN_NS;

  if (failures < 2)
    return 0;
  for (int i = 2; i < failures && ns < TM_LAUNCH_WAIT_MAX_NS; i++)
    ns *= 2;
  return ns < TM_LAUNCH_WAIT_MAX_NS ? ns : TM_LAUNCH_WAIT_MAX_NS;
}

void tm_launch_plan_failed(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  struct tm_launch_place *l = place_of(p, id);

  p->quick = is_quick(l, now_ns) ? p->quick + 1 : 0;
  l->state = TM_LAUNCH_PLACE_EMPTY;
  l->failures++;
  l->due_ns = now_ns + wait_after(l->failures);
  if (p->has_hosts)
    *TM_ARRAY_ADD(&p->spares) = l->host; /* behind the others: keeps (1) */
  l->host = SIZE_MAX;
}

void tm_launch_plan_committed(struct tm_launch_plan *p, uint32_t id)
{
  const struct tm_launch_place *l = tm_launch_plan_find(p, id);

  p->launches = 0;
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

int64_t tm_launch_plan_due(const struct tm_launch_plan *p)
{
  int64_t due = INT64_MAX;

  for (size_t i = 0; i < p->places.len; i++) {
    const struct tm_launch_place *l = &p->places.at[i];
    int64_t ns = INT64_MAX;
    if (l->state == TM_LAUNCH_PLACE_STARTS)
      ns = l->deadline_ns;
    else if (l->state == TM_LAUNCH_PLACE_EMPTY && !tm_launch_plan_is_exhausted(p))
      ns = l->due_ns;
    due = ns < due ? ns : due;
  }
  return due;
}
