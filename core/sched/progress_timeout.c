/* progress_timeout.c - see progress_timeout.h.
 *
 * Until the first mini-batch has been created only first_ns counts, afterwards only update_ns. A
 * retry is not progress: a mini-batch that hangs in each of its tries has ended when the last is
 * over. Each tried part is: their number is limited.
 */
#include "sched/progress_timeout.h"

void tm_progress_timeout_init(struct tm_progress_timeout *p, int64_t first_ns, int64_t update_ns,
                              int64_t now_ns)
{
  *p = (struct tm_progress_timeout) { .first_ns = first_ns, .update_ns = update_ns };
  tm_active_clock_init(&p->clock, now_ns);
}

int tm_progress_timeout_look(struct tm_progress_timeout *p, const struct tm_counts *c,
                             int64_t now_ns, struct tm_err *err)
{
  int64_t ended = c->succeeded + c->failed + c->parts;
  int64_t awake_ns = tm_active_clock_look(&p->clock, now_ns), waited_ns;

  if (c->created != p->created || ended != p->ended) {
    p->created = c->created;
    p->ended = ended;
    p->since_ns = awake_ns;
  }
  waited_ns = awake_ns - p->since_ns;
  if (c->created == 0 && waited_ns >= p->first_ns)
    return tm_err_set(err, TM_ETHRESHOLD,
                      "no mini-batch was created within first_task_creation_timeout (%g s)",
                      (double)p->first_ns / 1e9);
  if (c->created > 0 && waited_ns >= p->update_ns)
    return tm_err_set(
        err, TM_ETHRESHOLD,
        "no mini-batch has ended or was created within progress_update_timeout (%g s)",
        (double)p->update_ns / 1e9);
  return 0;
}
