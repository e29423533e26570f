/* plot.h - a row of the timeline: a quantity over time, with the values at its left, and the gaps
 * between sessions. Rows stand below each other on one axis, which a script may enlarge: it moves
 * the view of the picture of class "view". */
#ifndef TM_PAGE_PLOT_H
#define TM_PAGE_PLOT_H

#include "page/axis.h"
#include "page/series.h"
#include "page/svg.h"

#define TM_PLOT_WIDTH 1000 /* units of a view in x: the whole axis */

struct tm_plot {
  const char *id, *label, *unit;           /* id: a literal, "items" */
  const struct tm_series *series, *second; /* `second`: a dashed line, or NULL */
  enum tm_paint paint;
  enum tm_plot_form { TM_PLOT_AREA, TM_PLOT_BARS, TM_PLOT_LINE } form;
  double height, top; /* px; the value at the upper end */
  double limit;       /* a dashed line; 0: none */
  const char *sentence;
};
void tm_plot_add(struct tm_html *h, const struct tm_axis *axis, const struct tm_plot *plot);

/* The head of a row, which is left open: `id` is what the script calls it. The caller adds the
 * picture, and then tm_plot_row_close(). */
void tm_plot_row_open(struct tm_html *h, const char *id, const char *label, const char *unit);
void tm_plot_row_close(struct tm_html *h);
/* The view of a row's picture: units 0 to TM_PLOT_WIDTH, 0 to `height`. */
void tm_plot_view_open(struct tm_html *h, double height);
/* Where no session was. */
void tm_plot_add_gaps(struct tm_html *h, const struct tm_axis *axis, double height);
/* The line of ticks below all rows. */
void tm_plot_add_time(struct tm_html *h, const struct tm_axis *axis);

#endif
