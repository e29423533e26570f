/* returns.c - see returns.h. */
#include "run/returns.h"

#include <inttypes.h>

#include "base/text.h"

void tm_returns_warn(struct tm_supervisor *s, const struct tm_held *held, uint32_t marked,
                     uint32_t returned)
{
  uint32_t good = held->items - marked;

  if (returned <= good || s->has_surplus_warning)
    return;
  s->has_surplus_warning = true;
  tm_supervisor_say(s, TM_WARNING,
                    "step '%s': run() returned %" PRIu32 " %s for the %" PRIu32
                    " %s of mini-batch %" PRIu64
                    "%s; all rows are written, and all these items count as succeeded (said once)",
                    s->o.step->name, returned, tm_text_counted(returned, "element", "elements"),
                    good, tm_text_counted(good, "item", "items"), held->entry.index,
                    marked == 0 ? ""
                                : tm_text_counted(good, " that is not marked as failed",
                                                  " that are not marked as failed"));
}
