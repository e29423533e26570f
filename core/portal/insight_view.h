/* insight_view.h - the sections of the report, for the pages of jobs that somebody looks at.
 *
 * A page that asks because there is news never gets what was there before: the first one reads what
 * is new. The others, and the other sections of that page, get what that has read, so that rows are
 * read and sections are written once for all tabs. Without news, it is read again when it is due
 * (tm_feed_due()). TM_INSIGHT_VIEWS at most are open, and those that nobody has used
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
  char *made[TM_INSIGHT_SECTIONS];    /* sections that were written since the last reading */
  uint64_t hash[TM_INSIGHT_SECTIONS]; /* as they were written last */
  bool is_new[TM_INSIGHT_SECTIONS];   /* and whether that differed from before */
  int64_t used_ns;
  int64_t version; /* of the record, when it was last read */
  int64_t due_ns;  /* when it is read again without news */
};

struct tm_insight_views {
  struct TM_ARRAY(struct tm_insight_view *) at;
};

/* The view of the job in directory `dir`; `version`: how often its record has changed
 * (tm_watch_version()). NULL and an error. It is valid until the next call. */
struct tm_insight_view *tm_insight_view(struct tm_insight_views *views, const char *key,
                                        const char *dir, int64_t version, int64_t now_ns,
                                        struct tm_err *err);
/* Section `i` of tidemill_html_sections(). "": it has no data. */
const char *tm_insight_section(struct tm_insight_view *v, size_t i);
/* Calls on_section() with the name of each section that has changed since the last call: each for
 * the first one. `version`: as for tm_insight_view(). False: the view is not open, so nothing is
 * known. */
bool tm_insight_changes(struct tm_insight_views *views, const char *key, int64_t version,
                        void (*on_section)(void *data, const char *name), void *data);
/* As tm_merged_clean(). */
int64_t tm_insight_clean(struct tm_insight_views *views, int64_t now_ns, bool all);

#endif
