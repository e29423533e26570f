/* page.h - the page of a job, as HTML: the report, and the same in the portal. Pure.
 *
 * A page consists of sections, each of which is also written alone (for a page that is live).
 * Everything is in the text and in SVG; report.js only adds to it.
 */
#ifndef TM_PAGE_PAGE_H
#define TM_PAGE_PAGE_H

#include "base/buf.h"
#include "insight/facts.h"
#include "insight/findings.h"
#include "insight/step_model.h"
#include "report/error_groups.h"

struct tm_page_step {
  const struct tm_step_model *model; /* NULL: nothing is known: it has not begun, or was reused */
  const struct tm_error_groups *groups;
};

struct tm_page_profile { /* a file of collapsed stacks (agent/profile.h) */
  const char *name;
  const char *text;
  size_t len;
};

/* What is shown. */
struct tm_page {
  const struct tm_fact_job *job;
  const struct tm_page_step *steps; /* one for each of job->steps */
  const struct tm_findings *findings;
  const struct tm_page_profile *profiles;
  size_t profiles_len;
  size_t step;            /* the step that the sections about one step show */
  int64_t from_ns, to_ns; /* the span of the timeline; both 0: all of it */
  int width;              /* of the timeline, px; 0: 1048 */
  bool is_live;           /* in the portal, where links lead to its pages */
  const char *nonce;      /* of the report's CSP */
  int64_t made_ns, made_in_ns;
};

/* The names of the sections, in the order in which the page has them (failures come first if there
 * are any). Ends in NULL. */
const char *const *tm_page_sections(void);
/* One section; false: there is no section of that name. Adds nothing if it has no data. */
bool tm_page_add_section(struct tm_buf *out, const struct tm_page *page, const char *name);
/* The whole file. */
void tm_page_add(struct tm_buf *out, const struct tm_page *page);

#endif
