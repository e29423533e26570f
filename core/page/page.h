/* page.h - the page of a job, as HTML: the report, and the same in the portal. Pure.
 *
 * A page consists of sections, each of which is also written alone (for a page that is live).
 * Everything is in the text and in SVG; report.js only adds to it.
 */
#ifndef TM_PAGE_PAGE_H
#define TM_PAGE_PAGE_H

#include "base/buf.h"
#include "page/job_page.h"

/* The names of the sections, in the order in which the page has them (failures come first if there
 * are any). Ends in NULL. */
const char *const *tm_page_sections(void);
/* One section; false: there is no section of that name. Adds nothing if it has no data. */
bool tm_page_add_section(struct tm_buf *out, const struct tm_job_page *page, const char *name);
/* The whole file. */
void tm_page_add(struct tm_buf *out, const struct tm_job_page *page);
/* What each of these files begins with. */
#define TM_PAGE_BEGIN                                                                              \
  "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'/>"                                 \
  "<meta name='generator' content=\"tidemill report "

#endif
