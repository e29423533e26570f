/* events.c - the list of listeners, and the names of verdicts.
 *
 * The list is intrusive: a listener's memory is its owner's, and adding never fails. Nobody is removed while a job runs.
 */
#include "run/events.h"

#include "base/check.h"

void tm_events_add(struct tm_events *events, struct tm_listener *listener)
{
  struct tm_listener **at = &events->first;

  while (*at)
    at = &(*at)->next;
  listener->next = NULL;
  *at = listener;
}

void tm_events_emit(const struct tm_events *events, const struct tm_event *e)
{
  for (struct tm_listener *l = events->first; l; l = l->next)
    l->on_event(l->data, e);
}

const char *tm_verdict_name(enum tm_verdict v)
{
  switch (v) {
  case TM_RUNNING: return "Running";
  case TM_COMPLETED: return "Completed";
  case TM_FAILED: return "Failed";
  case TM_CANCELED_JOB: return "Canceled";
  case TM_SKIPPED: return "Skipped";
  }
  tm_require(!"a verdict");
}
