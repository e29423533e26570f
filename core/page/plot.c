/* plot.c - see plot.h. */
#include "page/plot.h"

#include <math.h>

#define TIME_TICKS 8

void tm_plot_row_open(struct tm_html *h, const char *id, const char *label, const char *unit)
{
  tm_html_open(h, "figure class='row'");
  tm_html_attr(h, "data-row", id);
  tm_html_open(h, "figcaption class='row-head'");
  tm_html_put(h, "b", label);
  tm_html_text(h, " ");
  tm_html_put(h, "small", unit);
  tm_html_close(h, "figcaption");
}

void tm_plot_row_close(struct tm_html *h)
{
  tm_html_close(h, "figure");
}

void tm_plot_view_open(struct tm_html *h, double height)
{
  tm_svg_stretch_open(h, &(struct tm_svg_stretch) { .width_percent = 100,
                                                    .height = height,
                                                    .inner_width = TM_PLOT_WIDTH,
                                                    .inner_height = height });
  tm_html_attr(h, "class", "view");
}

void tm_plot_add_gaps(struct tm_html *h, const struct tm_axis *axis, double height)
{
  for (size_t i = 0; i + 1 < axis->spans.len; i++) {
    double from = tm_axis_x(axis, axis->spans.at[i].to_ns) * TM_PLOT_WIDTH;
    double to = tm_axis_x(axis, axis->spans.at[i + 1].from_ns) * TM_PLOT_WIDTH;
    tm_svg_rect(h, TM_PAINT_GAP, from, 0, to - from, height, NULL);
  }
}

static double y_of(const struct tm_plot *p, double value)
{
  double share = p->top > 0 ? value / p->top : 0;
  return round(p->height * (1 - fmax(0, fmin(1, share))) * 10) / 10;
}

static void edges(const struct tm_axis *axis, const struct tm_series *s, size_t i, double *from,
                  double *to)
{
  int64_t begin = s->from_ns + (int64_t)i * s->width_ns;
  *from = round(tm_axis_x(axis, begin) * TM_PLOT_WIDTH * 10) / 10;
  *to = round(tm_axis_x(axis, begin + s->width_ns) * TM_PLOT_WIDTH * 10) / 10;
}

/* Whether a point is drawn: bars of nothing are not. */
static bool is_drawn(const struct tm_plot *p, const struct tm_series *s, size_t i)
{
  return !isnan(s->at[i]) && !(p->form == TM_PLOT_BARS && s->at[i] == 0);
}

/* The run of points from *at on that are drawn, and are on the axis; false: there are no more. */
static bool next_run(const struct tm_axis *axis, const struct tm_plot *p, const struct tm_series *s,
                     size_t *at, size_t *end)
{
  size_t i = *at;
  while (i < s->len &&
         (!is_drawn(p, s, i) || s->from_ns + (int64_t)(i + 1) * s->width_ns <= axis->from_ns))
    i++;
  *at = *end = i;
  while (*end < s->len && is_drawn(p, s, *end) &&
         s->from_ns + (int64_t)*end * s->width_ns < axis->to_ns)
    (*end)++;
  return *end > *at;
}

/* The steps of a run; neighbours at one height are one step. `floor`: closes an area below it. */
static void add_steps(struct tm_html *h, const struct tm_axis *axis, const struct tm_plot *p,
                      bool is_area)
{
  const struct tm_series *s = p->series;
  for (size_t at = 0, end = 0; next_run(axis, p, s, &at, &end); at = end) {
    double from = 0, to = 0, y = is_area ? p->height : y_of(p, s->at[at]), last = y;
    edges(axis, s, at, &from, &to);
    tm_svg_move(h, from, y);
    for (size_t i = at; i < end; i++) {
      edges(axis, s, i, &from, &to);
      y = y_of(p, s->at[i]);
      if (y != last && i > at)
        tm_svg_across(h, from);
      if (y != last)
        tm_svg_down(h, y);
      last = y;
    }
    tm_svg_across(h, to);
    if (is_area)
      tm_svg_down(h, p->height);
  }
}

static void add_line(struct tm_html *h, const struct tm_axis *axis, const struct tm_plot *p,
                     const struct tm_series *s)
{
  for (size_t at = 0, end = 0; next_run(axis, p, s, &at, &end); at = end) {
    double from = 0, to = 0;
    for (size_t i = at; i < end; i++) {
      edges(axis, s, i, &from, &to);
      if (i == at)
        tm_svg_move(h, end - at == 1 ? from : from / 2 + to / 2, y_of(p, s->at[i]));
      else
        tm_svg_to(h, (from + to) / 2, y_of(p, s->at[i]));
    }
    if (end - at == 1)
      tm_svg_across(h, fmax(to, from + 2));
  }
}

static void add_grid(struct tm_html *h, const struct tm_plot *p, const struct tm_tick *ticks,
                     size_t n)
{
  tm_svg_rule(h, TM_PAINT_RULE, 0, p->height, TM_PLOT_WIDTH, p->height);
  for (size_t i = 0; i < n; i++)
    tm_svg_rule(h, TM_PAINT_RULE, 0, p->height * (1 - ticks[i].at), TM_PLOT_WIDTH,
                p->height * (1 - ticks[i].at));
}

static void add_shape(struct tm_html *h, const struct tm_axis *axis, const struct tm_plot *p)
{
  if (p->form != TM_PLOT_LINE) {
    tm_svg_area_begin(h, p->paint, p->form == TM_PLOT_BARS ? 1 : 0.2);
    add_steps(h, axis, p, true);
    tm_svg_path_end(h, NULL);
  }
  tm_svg_line_begin(h, p->paint, p->form == TM_PLOT_BARS ? 1 : 1.5);
  if (p->form == TM_PLOT_LINE)
    add_line(h, axis, p, p->series);
  else
    add_steps(h, axis, p, p->form == TM_PLOT_BARS);
  tm_svg_path_end(h, NULL);
}

static void add_dashed(struct tm_html *h, const struct tm_axis *axis, const struct tm_plot *p)
{
  if (p->second && p->second->len > 0) {
    tm_html_open(h, "g class='dashed' stroke-dasharray='2 3'");
    tm_svg_line_begin(h, p->paint, 1.5);
    add_line(h, axis, p, p->second);
    tm_svg_path_end(h, NULL);
    tm_html_close(h, "g");
  }
  if (p->limit > 0) {
    tm_html_open(h, "g class='limit' stroke-dasharray='3 3'");
    tm_svg_rule(h, TM_PAINT_DIM, 0, y_of(p, p->limit), TM_PLOT_WIDTH, y_of(p, p->limit));
    tm_html_close(h, "g");
  }
}

void tm_plot_add(struct tm_html *h, const struct tm_axis *axis, const struct tm_plot *p)
{
  struct tm_tick ticks[TM_TICKS_MAX];
  size_t n = p->top > 0 ? tm_axis_value_ticks(p->top, p->height < 50 ? 2 : 3, ticks) : 0;
  tm_plot_row_open(h, p->id, p->label, p->unit);
  tm_svg_open(h, &(struct tm_svg_picture) {
                     .class_name = "chart", .sentence = p->sentence, .height = p->height });
  tm_html_attr(h, "overflow", "visible");
  for (size_t i = 0; i < n; i++)
    tm_svg_label(h, &(struct tm_svg_label) { .x = -7,
                                             .y = p->height * (1 - ticks[i].at) + 4,
                                             .anchor = TM_SVG_END,
                                             .paint = TM_PAINT_DIM,
                                             .text = ticks[i].text });
  tm_plot_view_open(h, p->height);
  add_grid(h, p, ticks, n);
  tm_plot_add_gaps(h, axis, p->height);
  add_shape(h, axis, p);
  add_dashed(h, axis, p);
  tm_svg_stretch_close(h);
  tm_svg_close(h);
  tm_plot_row_close(h);
}

/* Two strokes through the axis where it is folded. */
static void add_folds(struct tm_html *h, const struct tm_axis *axis)
{
  for (size_t i = 0; i < axis->pieces.len; i++) {
    const struct tm_axis_piece *p = &axis->pieces.at[i];
    if (p->is_folded)
      tm_svg_label(h, &(struct tm_svg_label) { .percent = 50 * (p->from + p->to),
                                               .y = 4.5,
                                               .anchor = TM_SVG_MIDDLE,
                                               .paint = TM_PAINT_DIM,
                                               .is_bold = true,
                                               .text = "//" });
  }
}

void tm_plot_add_time(struct tm_html *h, const struct tm_axis *axis)
{
  struct tm_tick ticks[TM_TICKS_MAX];
  const char *unit;
  size_t n = tm_axis_time_ticks(axis, TIME_TICKS, ticks, &unit);
  tm_html_open(h, "div class='row time-axis'");
  tm_html_put(h, "small class='row-head'", unit);
  tm_html_open(h, "svg class='ticks' aria-hidden='true' width='100%' height='22' overflow='visible'"
                  " font-family='system-ui, sans-serif'");
  tm_plot_view_open(h, 2);
  tm_svg_rule(h, TM_PAINT_DIM, 0, 0.5, TM_PLOT_WIDTH, 0.5);
  tm_svg_stretch_close(h);
  for (size_t i = 0; i < n; i++) {
    tm_html_open(h, "g");
    tm_html_attr(h, "class", i % 2 == 1 ? "tick odd" : "tick");
    tm_svg_label(h, &(struct tm_svg_label) { .percent = 100 * ticks[i].at,
                                             .y = 17,
                                             .paint = TM_PAINT_DIM,
                                             .anchor = ticks[i].at < 0.02   ? TM_SVG_START
                                                       : ticks[i].at > 0.98 ? TM_SVG_END
                                                                            : TM_SVG_MIDDLE,
                                             .text = ticks[i].text });
    tm_html_close(h, "g");
  }
  add_folds(h, axis);
  tm_html_close(h, "svg");
  tm_html_close(h, "div");
}
