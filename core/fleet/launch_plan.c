/* launch_plan.c - see launch_plan.h. */
#include "fleet/launch_plan.h"

#include <string.h>

#include "base/check.h"

void tm_launch_plan_init(struct tm_launch_plan *p, size_t places, size_t hosts,
                         int64_t start_timeout_ns)
{
  tm_require(places > 0 && (hosts == 0 || hosts >= places) && start_timeout_ns > 0);
  *p = (struct tm_launch_plan) { .wanted = places,
                                 .has_hosts = hosts > 0,
                                 .quick_max =
                                     hosts > TM_LAUNCH_QUICK_MAX ? hosts : TM_LAUNCH_QUICK_MAX,
                                 .start_timeout_ns = start_timeout_ns };
  for (size_t i = 0; i < hosts; i++)
    *TM_ARRAY_ADD(&p->spares) = i;
}

void tm_launch_plan_release(struct tm_launch_plan *p)
{
  TM_ARRAY_RELEASE(&p->places);
  TM_ARRAY_RELEASE(&p->spares);
  TM_ARRAY_RELEASE(&p->by_id);
}

const struct tm_launch_place *tm_launch_plan_find(const struct tm_launch_plan *p, uint32_t id)
{
  size_t place = id < p->by_id.len ? p->by_id.at[id] : 0;

  return place > 0 ? &p->places.at[place - 1] : NULL;
}

static void set_index(struct tm_launch_plan *p, uint32_t id, size_t place)
{
  while (p->by_id.len <= id)
    *TM_ARRAY_ADD(&p->by_id) = 0;
  p->by_id.at[id] = place;
}

static struct tm_launch_place *place_of(struct tm_launch_plan *p, uint32_t id)
{
  const struct tm_launch_place *place = tm_launch_plan_find(p, id);

  tm_require(place);
  return &p->places.at[place - p->places.at];
}

bool tm_launch_plan_is_exhausted(const struct tm_launch_plan *p)
{
  return p->launches >= 3 * (int64_t)p->wanted + 10 || /* keeps (3) */
         (p->quick >= p->quick_max && p->ready == 0);  /* keeps (4) */
}

bool tm_launch_plan_is_over(const struct tm_launch_plan *p) /* keeps (5) */
{
  return tm_launch_plan_is_exhausted(p) && p->starting == 0 && p->ready == 0;
}

bool tm_launch_plan_has_running(const struct tm_launch_plan *p)
{
  for (size_t i = 0; i < p->places.len; i++)
    if (p->places.at[i].state != TM_LAUNCH_PLACE_EMPTY && p->places.at[i].begun_ns != INT64_MAX)
      return true;
  return false;
}

size_t tm_launch_plan_next(const struct tm_launch_plan *p, int64_t now_ns)
{
  if (tm_launch_plan_is_exhausted(p) || p->starting >= TM_LAUNCH_STARTS_MAX) /* keeps (6) */
    return SIZE_MAX;
  for (size_t i = 0; i < p->places.len; i++)
    if (p->places.at[i].state == TM_LAUNCH_PLACE_EMPTY && p->places.at[i].due_ns <= now_ns)
      return i;
  return p->places.len < p->wanted ? p->places.len : SIZE_MAX;
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
  struct tm_launch_place *l;

  tm_require(place <= p->places.len && place < p->wanted && !tm_launch_plan_find(p, id));
  if (place == p->places.len)
    *TM_ARRAY_ADD(&p->places) = (struct tm_launch_place) { .state = TM_LAUNCH_PLACE_EMPTY };
  l = &p->places.at[place];
  tm_require(l->state == TM_LAUNCH_PLACE_EMPTY);
  tm_require(!p->has_hosts || p->spares.len > 0); /* each filled place has one: keeps (1) */
  set_index(p, id, place + 1);
  l->state = TM_LAUNCH_PLACE_STARTS;
  l->id = id;
  l->host = p->has_hosts ? take_spare(p) : SIZE_MAX;
  l->begun_ns = l->deadline_ns = INT64_MAX;
  p->starting++;
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

void tm_launch_plan_waited(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  struct tm_launch_place *l = place_of(p, id);

  tm_require(l->state == TM_LAUNCH_PLACE_STARTS && l->begun_ns != INT64_MAX);
  l->begun_ns = now_ns;
  l->deadline_ns = now_ns + p->start_timeout_ns;
}

void tm_launch_plan_ready(struct tm_launch_plan *p, uint32_t id)
{
  struct tm_launch_place *l = place_of(p, id);

  tm_require(l->state == TM_LAUNCH_PLACE_STARTS);
  l->state = TM_LAUNCH_PLACE_READY;
  p->starting--;
  p->ready++;
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

static void empty(struct tm_launch_plan *p, struct tm_launch_place *l, int64_t due_ns)
{
  p->starting -= l->state == TM_LAUNCH_PLACE_STARTS;
  p->ready -= l->state == TM_LAUNCH_PLACE_READY;
  set_index(p, l->id, 0);
  l->state = TM_LAUNCH_PLACE_EMPTY;
  l->due_ns = due_ns;
  if (p->has_hosts)
    *TM_ARRAY_ADD(&p->spares) = l->host; /* behind the others: keeps (1) */
  l->host = SIZE_MAX;
}

void tm_launch_plan_failed(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  struct tm_launch_place *l = place_of(p, id);

  p->quick = is_quick(l, now_ns) ? p->quick + 1 : 0;
  l->failures++;
  empty(p, l, now_ns + wait_after(l->failures));
}

void tm_launch_plan_withdrawn(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  empty(p, place_of(p, id), now_ns);
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
  bool may_start = !tm_launch_plan_is_exhausted(p) && p->starting < TM_LAUNCH_STARTS_MAX;
  int64_t due = may_start && p->places.len < p->wanted ? INT64_MIN : INT64_MAX;

  for (size_t i = 0; i < p->places.len; i++) {
    const struct tm_launch_place *l = &p->places.at[i];
    int64_t ns = INT64_MAX;
    if (l->state == TM_LAUNCH_PLACE_STARTS)
      ns = l->deadline_ns;
    else if (l->state == TM_LAUNCH_PLACE_EMPTY && may_start)
      ns = l->due_ns;
    due = ns < due ? ns : due;
  }
  return due;
}
