/* returns.c - see returns.h. */
#include "step/returns.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/text.h"

static bool are_rows(const struct tm_supervisor *s, const struct tm_in_flight *held)
{
  const struct tm_step *step = s->o.step;
  return held->dataset < step->inputs_len && tm_dataset_is_table(step->inputs[held->dataset]);
}

uint32_t tm_returns_succeeded(const struct tm_supervisor *s, const struct tm_in_flight *held,
                              uint32_t marked, uint32_t returned)
{
  tm_require(marked <= held->items);
  if (tm_config_returns_any(&s->o.step->config, are_rows(s, held)))
    return held->items - marked;
  return (uint32_t)tm_tally_succeeded(held->items, marked, returned);
}

static void warn_surplus(struct tm_supervisor *s, const struct tm_in_flight *held, uint32_t marked,
                         uint32_t returned)
{
  uint32_t good = held->items - marked;

  if (!tm_warnings_is_first(&s->warnings, TM_WARNS_SURPLUS))
    return;
  tm_supervisor_say(s, TM_WARNING,
                    "step '%s': run() returned %" PRIu32 " %s for the %" PRIu32
                    " %s of mini-batch %" PRIu64
                    "%s; all rows are written, and the items succeed; returns = \"any\" allows any "
                    "number (said once)",
                    s->o.step->name, returned, tm_text_counted(returned, "element", "elements"),
                    good, tm_text_counted(good, "item", "items"), held->index,
                    marked == 0 ? ""
                                : tm_text_counted(good, " that is not marked as failed",
                                                  " that are not marked as failed"));
}

static void warn_short(struct tm_supervisor *s, const struct tm_in_flight *held, uint32_t marked,
                       uint32_t returned)
{
  uint32_t good = held->items - marked;

  if (!tm_warnings_is_first(&s->warnings, TM_WARNS_SHORT))
    return;
  tm_supervisor_say(
      s, TM_WARNING,
      "step '%s': run() returned %" PRIu32 " %s for %" PRIu32 " rows of mini-batch %" PRIu64
      ", and with error_threshold a row without one has failed; filter by "
      "dataset:filter(), or set returns = \"any\"; returns = \"rows\" omits this (said once)",
      s->o.step->name, returned, tm_text_counted(returned, "element", "elements"), good,
      held->index);
}

void tm_returns_warn(struct tm_supervisor *s, const struct tm_in_flight *held, uint32_t marked,
                     uint32_t returned)
{
  const struct tm_config *config = &s->o.step->config;
  uint32_t good = held->items - marked;

  if (returned == good || tm_config_returns_any(config, are_rows(s, held)))
    return;
  if (returned > good)
    warn_surplus(s, held, marked, returned);
  else if (config->returns == TM_RETURNS_AUTO && are_rows(s, held))
    warn_short(s, held, marked, returned);
}
