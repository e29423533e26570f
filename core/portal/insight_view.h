/* insight_view.h - the sections of the report, for the pages of jobs that somebody looks at.
 *
 * Each use reads what is new, so that a page that asks because there is news never gets what was
 * there before. How often pages ask is decided by the news (watched_jobs.h). A section is written
 * once until something changes. TM_INSIGHT_VIEWS at most are open, and those that nobody has used
 * for half a minute are closed.
 */
#ifndef TM_PORTAL_INSIGHT_VIEW_H
#define TM_PORTAL_INSIGHT_VIEW_H

#include <tidemill.h>

#include "base/err.h"
#include "base/mem.h"

#define TM_INSIGHT_VIEWS    4
#define TM_INSIGHT_SECTIONS 24

struct tm_insight_view {
  char *key; /* of the job */
  struct tidemill_insight *insight;
  char *made[TM_INSIGHT_SECTIONS]; /* sections that were written since the last reading */
  int64_t used_ns;
};

struct tm_insight_views {
  struct TM_ARRAY(struct tm_insight_view *) at;
};

/* The view of the job in directory `dir`, as it is now. NULL and an error. It
 * is valid until the next call. */
struct tm_insight_view *tm_insight_view(struct tm_insight_views *views, const char *key,
                                        const char *dir, int64_t now_ns, struct tm_err *err);
/* Section `i` of tidemill_html_sections(). "": it has no data. */
const char *tm_insight_section(struct tm_insight_view *v, size_t i);
/* As tm_merged_clean(). */
int64_t tm_insight_clean(struct tm_insight_views *views, int64_t now_ns, bool all);

#endif
