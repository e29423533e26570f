/* sharing.c - a step among others: how many of the job's workers it has (share.h). See
 * supervisor_own.h. */
#include "step/supervisor_own.h"

void tm_supervisor_fill(struct tm_supervisor *s)
{
  if (tm_step_life_may(&s->life, TM_STEP_MAY_RUN))
    tm_workers_fill(s);
}

void tm_supervisor_share(const struct tm_supervisor *s, struct tm_share *out)
{
  int64_t open = tm_sched_open(&s->sched), most = tm_step_nodes_workers(s);

  *out = (struct tm_share) { .lives = s->sched.roster.living, .leaves = s->sched.roster.leaves };
  /* at least one, even while nothing is listed: it is needed soon */
  if (tm_step_life_may(&s->life, TM_STEP_MAY_START))
    out->wants = open < 1 ? 1 : open < most ? open : most;
}

void tm_supervisor_work(const struct tm_supervisor *s, struct tm_step_work *out)
{
  int64_t open = tm_sched_open(&s->sched);

  *out =
      (struct tm_step_work) { .open = open,
                              .is_final = s->tally.counts.all_created && open <= s->sched.running };
}

void tm_supervisor_give_back(struct tm_supervisor *s)
{
  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_GIVE_BACK });
  tm_workers_carry_out(s, NULL);
}
