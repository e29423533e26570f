/* cells.h - cells of tables that the script sorts by a number, which `data-value` has. */
#ifndef TM_PAGE_CELLS_H
#define TM_PAGE_CELLS_H

#include "page/html.h"
#include "page/job_page.h"

void tm_cell_count(struct tm_html *h, int64_t n);
void tm_cell_duration(struct tm_html *h, int64_t ns);
void tm_cell_share(struct tm_html *h, double part, double whole);
void tm_cell_bytes(struct tm_html *h, int64_t bytes); /* 0: not known, which is empty */
void tm_cell_name(struct tm_html *h, const char *name);

/* The moment for those workers of the page's step that live; 0: it does not run. */
int64_t tm_page_now(const struct tm_job_page *page);

#endif
