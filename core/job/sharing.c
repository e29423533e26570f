/* sharing.c - a step among others: how many of the job's workers it has (share.h). See
 * supervisor_own.h. */
#include "step/supervisor_own.h"

static int64_t count_leaving(const struct tm_supervisor *s)
{
  int64_t n = 0;

  for (size_t i = 0; i < s->workers.len; i++)
    n += s->workers.at[i]->is_leaving || s->workers.at[i]->state == TM_WORKER_STOPPING;
  return n;
}

void tm_supervisor_fill(struct tm_supervisor *s)
{
  if (!s->is_ending && !s->intake)
    tm_crew_fill(s);
}

void tm_supervisor_share(const struct tm_supervisor *s, struct tm_share *out)
{
  int64_t open = tm_crew_open(s), most = s->pool.process_count;

  *out = (struct tm_share) { .lives = s->pool.living, .leaves = count_leaving(s) };
  /* at least one, even while nothing is listed: it is needed soon */
  if (!s->is_ending && !s->intake && s->stuck.since_ns == 0)
    out->wants = open < 1 ? 1 : open < most ? open : most;
}

/* Takes the ready worker that holds the least, so that it ends soon. */
void tm_supervisor_give_back(struct tm_supervisor *s)
{
  struct tm_worker *found = NULL;

  for (size_t i = 0; i < s->workers.len; i++) {
    struct tm_worker *w = s->workers.at[i];
    if (w->state == TM_WORKER_READY && !w->is_leaving && !w->is_deaf &&
        (!found || w->hand.len < found->hand.len))
      found = w;
  }
  if (!found || s->is_ending)
    return;
  found->is_leaving = true;
  tm_steal_ask_back(found, INT64_MAX);
  tm_crew_hand_out(s, found);
}
