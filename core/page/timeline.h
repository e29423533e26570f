/* timeline.h - what the timeline of a step shows: its axis, and the quantities over time, each with
 * a sentence. Pure.
 *
 * A quantity is left out if it says nothing: failed tries if there are none, disk and network below
 * TM_TIMELINE_QUIET bytes per second, items per second with fewer than TM_TIMELINE_TRIES tries.
 */
#ifndef TM_PAGE_TIMELINE_H
#define TM_PAGE_TIMELINE_H

#include "page/axis.h"
#include "page/job_page.h"
#include "page/plot.h"
#include "page/series.h"

#define TM_TIMELINE_QUIET     1000000
#define TM_TIMELINE_TRIES     20
#define TM_TIMELINE_POINTS    512 /* of the part that is shown, at most */
#define TM_TIMELINE_LEAST     96  /* likewise, if there are only few tries */
#define TM_TIMELINE_ROWS      8
#define TM_TIMELINE_COLUMNS   40000 /* of the lanes of all timelines of a page */
#define TM_CELLS_BESIDE_BOXES 1024  /* of a lane whose tries are shown one by one */

struct tm_timeline_row {
  const char *id, *label, *unit; /* literals */
  char *unit_text;               /* if it depends on numbers, else NULL; own */
  enum tm_paint paint;
  enum tm_plot_form form;
  double height, top, limit;
  struct tm_series series, second; /* `second`: empty, or a dashed line */
  char *sentence;                  /* own */
};

struct tm_timeline {
  struct tm_axis axis;
  int64_t end_ns; /* the end of all that is known */
  struct tm_timeline_row rows[TM_TIMELINE_ROWS];
  size_t len;
};

/* False, and nothing to release: there is nothing to show. */
bool tm_timeline_init(struct tm_timeline *t, const struct tm_job_page *page);
void tm_timeline_release(struct tm_timeline *t);
/* How much detail a timeline of this page may have, so that the page has a limited size: its steps
 * share what there is. */
struct tm_timeline_detail {
  bool has_boxes;        /* tries one by one, rather than cells */
  size_t cells, columns; /* of all lanes together, at most: for the script, in the picture */
};
struct tm_timeline_detail tm_timeline_detail(const struct tm_job_page *page);

const char *tm_timeline_unit(const struct tm_timeline_row *row);

#endif
