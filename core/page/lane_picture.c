/* lane_picture.c - see lane_picture.h. */
#include "page/lane_picture.h"

#include <math.h>

#include "base/text.h"
#include "base/time.h"
#include "page/figures.h"
#include "page/lane_cells.h"
#include "page/plot.h"

#define COLUMNS_MIN 100
#define LABELS_MAX  16 /* lanes that have a name each */
#define HATCHED_PX  4
#define TITLES_MAX  4000 /* of tries of one kind; with more, a browser takes too long */

struct picture {
  struct tm_html *h;
  const struct tm_step_model *m;
  const struct tm_axis *axis;
  size_t columns;
  uint8_t *cells;
  double px;     /* units of x in a pixel */
  double height; /* of a lane */
};

int tm_lane_height(size_t lanes)
{
  static const struct {
    size_t lanes;
    int height;
  } heights[] = { { 8, 20 }, { 16, 14 }, { 32, 9 }, { 64, 7 }, { 128, 4 } };
  for (size_t i = 0; i < TM_COUNT_OF(heights); i++)
    if (lanes <= heights[i].lanes)
      return heights[i].height;
  return 3;
}

/* ---- layers of cells ---- */

/* A layer: the cells of one kind, as lines of that colour. */
struct layer {
  enum tm_paint paint;
  double share; /* of the height of a lane */
  bool is_low;  /* at the lower edge of the lane, not in its middle */
  bool (*has)(uint8_t cell);
};

static bool is_there(uint8_t cell)
{
  return tm_lane_cell_rest(cell) != TM_LANE_EMPTY;
}

static bool is_init(uint8_t cell)
{
  return tm_lane_cell_rest(cell) == TM_LANE_STARTING;
}

static bool is_loading(uint8_t cell)
{
  return tm_lane_cell_rest(cell) == TM_LANE_LOADING;
}

static bool runs_little(uint8_t cell)
{
  return tm_lane_cell_run(cell) > 0 && tm_lane_cell_run(cell) < 3;
}

static bool runs_half(uint8_t cell)
{
  return tm_lane_cell_run(cell) >= 3 && tm_lane_cell_run(cell) < 6;
}

static bool runs_fully(uint8_t cell)
{
  return tm_lane_cell_run(cell) >= 6;
}

/* The more failed, the taller is the mark; it is always there. */
static bool fails_little(uint8_t cell)
{
  return tm_lane_cell_failed(cell) == 1;
}

static bool fails_half(uint8_t cell)
{
  return tm_lane_cell_failed(cell) > 1 && tm_lane_cell_failed(cell) < 5;
}

static bool fails_fully(uint8_t cell)
{
  return tm_lane_cell_failed(cell) >= 5;
}

static const struct layer rest_layers[] = { { TM_PAINT_NOTHING, 0, false, is_there },
                                            { TM_PAINT_LOADING, 0.5, false, is_loading },
                                            { TM_PAINT_INIT, 0.5, false, is_init } };

static void open_lines(struct tm_html *h, enum tm_paint paint, double width)
{
  tm_html_open(h, "g fill='none'");
  tm_html_attrf(h, "class", "%s-line", tm_paint_name(paint));
  tm_html_attr(h, "stroke", tm_paint_colour(paint));
  tm_html_attr_num(h, "stroke-width", width);
}

static double middle_of(const struct picture *p, size_t lane)
{
  return p->height * ((double)lane + 0.5);
}

static void add_stroke(struct picture *p, double y, double from, double to)
{
  tm_html_attr_piece(p->h, 'M', round(from * 10) / 10);
  tm_html_attr_piece(p->h, ' ', y);
  tm_html_attr_piece(p->h, 'h', round((to - from) * 10) / 10);
}

static void add_layer(struct picture *p, const struct layer *layer)
{
  double unit = (double)TM_PLOT_WIDTH / (double)p->columns;
  double width = fmax(layer->is_low ? 2 : 1, round(p->height * layer->share));
  open_lines(p->h, layer->paint, width);
  tm_html_open(p->h, "path");
  tm_html_attr_begin(p->h, "d");
  for (size_t lane = 0; lane < p->m->lanes.list.len; lane++) {
    const uint8_t *cells = &p->cells[lane * p->columns];
    double y = layer->is_low ? p->height * (double)(lane + 1) - width / 2 : middle_of(p, lane);
    for (size_t c = 0, end; c < p->columns; c = end) {
      for (end = c + 1; end < p->columns && layer->has(cells[end]) == layer->has(cells[c]); end++)
        ;
      if (layer->has(cells[c]))
        add_stroke(p, y, (double)c * unit, (double)end * unit);
    }
  }
  tm_html_attr_end(p->h);
  tm_html_close(p->h, "path");
  tm_html_close(p->h, "g");
}

static void add_bins(struct picture *p)
{
  static const struct layer run[] = { { TM_PAINT_DONE, 0.62, false, runs_little },
                                      { TM_PAINT_DONE, 0.62, false, runs_half },
                                      { TM_PAINT_DONE, 0.62, false, runs_fully } };
  static const struct layer failed[] = { { TM_PAINT_FAILED, 0.4, true, fails_little },
                                         { TM_PAINT_FAILED, 0.7, true, fails_half },
                                         { TM_PAINT_FAILED, 1, true, fails_fully } };
  tm_html_open(p->h, "g opacity='0.4'");
  add_layer(p, &run[0]);
  tm_html_close(p->h, "g");
  tm_html_open(p->h, "g opacity='0.6'");
  add_layer(p, &run[1]);
  tm_html_close(p->h, "g");
  tm_html_open(p->h, "g opacity='0.8'");
  add_layer(p, &run[2]);
  tm_html_close(p->h, "g");
  for (size_t i = 0; i < TM_COUNT_OF(failed); i++)
    add_layer(p, &failed[i]);
}

/* ---- tries one by one ---- */

static int by_place(const void *a, const void *b)
{
  const struct tm_box *x = a, *y = b;
  if (x->lane != y->lane)
    return x->lane < y->lane ? -1 : 1;
  if (x->begin_ns != y->begin_ns)
    return x->begin_ns < y->begin_ns ? -1 : 1;
  return (x->mini_batch > y->mini_batch) - (x->mini_batch < y->mini_batch);
}

static bool is_failed(const struct tm_box *b)
{
  return b->category != TM_CATEGORY_OK && b->category != TM_CATEGORY_CANCELED;
}

static char *title_of(const struct tm_box *b)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_printf(&text, "mini-batch %lld, try %u: ", (long long)b->mini_batch, b->try_number);
  if (is_failed(b))
    tm_buf_printf(&text, "failed (%s) after ", tm_category_name((enum tm_category)b->category));
  tm_time_precise(&text, b->elapsed_ns);
  if (b->items > 1 && !is_failed(b)) {
    tm_buf_add_str(&text, ", ");
    tm_figure_count(&text, b->items, "item", "items");
  }
  return tm_buf_take(&text);
}

struct run { /* of tries that are too short to be seen alone */
  size_t lane, tries;
  double from, to;
};

struct pen { /* draws tries of one kind: as elements with titles, or all in one path */
  struct picture *p;
  bool failed, is_one_path;
  struct run run;
};

static void add_line(struct pen *pen, size_t lane, double from, double to, const char *title)
{
  struct tm_html *h = pen->p->h;
  if (!pen->is_one_path) {
    tm_html_open(h, "path");
    tm_html_attr_begin(h, "d");
  }
  add_stroke(pen->p, middle_of(pen->p, lane), from, to);
  if (!pen->is_one_path) {
    tm_html_attr_end(h);
    tm_html_put(h, "title", title);
    tm_html_close(h, "path");
  }
}

static void flush(struct pen *pen)
{
  struct tm_buf text = TM_BUF_NONE;
  struct run *r = &pen->run;
  if (r->tries > 0) {
    tm_figure_count(&text, (int64_t)r->tries, "try", "tries");
    add_line(pen, r->lane, r->from, fmax(r->to, r->from + pen->p->px), tm_buf_str(&text));
  }
  r->tries = 0;
  tm_buf_release(&text);
}

static void add_box(struct pen *pen, const struct tm_box *b, double from, double to)
{
  struct picture *p = pen->p;
  char *title = pen->is_one_path ? NULL : title_of(b);
  double width = (to - from) / p->px;
  if (pen->failed && !pen->is_one_path && width >= HATCHED_PX) {
    tm_html_open(p->h, "g stroke='none'"); /* that of the lines around it is as wide as a lane */
    tm_svg_rect(p->h, TM_PAINT_FAILED, from, p->height * b->lane + 1, to - from, p->height - 2,
                title);
    tm_html_close(p->h, "g");
  } else {
    add_line(pen, b->lane, from, width >= 3 ? to - 0.8 * p->px : to, title);
  }
  free(title);
}

static void add_try(struct pen *pen, const struct tm_box *b)
{
  const struct picture *p = pen->p;
  struct run *r = &pen->run;
  double from = tm_axis_x(p->axis, b->begin_ns) * TM_PLOT_WIDTH;
  double to = tm_axis_x(p->axis, b->begin_ns + b->elapsed_ns) * TM_PLOT_WIDTH;
  bool is_short = to - from < p->px;
  if (!is_short || b->lane != r->lane || from > r->to + p->px)
    flush(pen);
  if (!is_short)
    add_box(pen, b, from, to);
  else if (r->tries++ == 0)
    *r = (struct run) { b->lane, 1, from, to };
  else
    r->to = fmax(r->to, to);
}

static bool is_seen(const struct picture *p, const struct tm_box *b, bool failed)
{
  return is_failed(b) == failed && b->category != TM_CATEGORY_CANCELED &&
         b->begin_ns < p->axis->to_ns && b->begin_ns + b->elapsed_ns >= p->axis->from_ns;
}

static void add_boxes(struct picture *p, const struct tm_box *boxes, size_t n, bool failed)
{
  struct pen pen = { .p = p, .failed = failed };
  size_t seen = 0;
  for (size_t i = 0; i < n; i++)
    seen += is_seen(p, &boxes[i], failed);
  pen.is_one_path = seen > TITLES_MAX;
  open_lines(p->h, failed ? TM_PAINT_FAILED : TM_PAINT_DONE,
             fmax(1, round(p->height * (failed ? 0.9 : 0.62))));
  if (pen.is_one_path) {
    tm_html_open(p->h, "path");
    tm_html_attr_begin(p->h, "d");
  }
  for (size_t i = 0; i < n; i++)
    if (is_seen(p, &boxes[i], failed))
      add_try(&pen, &boxes[i]);
  flush(&pen);
  if (pen.is_one_path) {
    tm_html_attr_end(p->h);
    tm_html_close(p->h, "path");
  }
  tm_html_close(p->h, "g");
}

static void add_tries(struct picture *p)
{
  size_t n = p->m->lanes.boxes.len;
  struct tm_box *boxes = tm_xmalloc(n * sizeof(*boxes));
  for (size_t i = 0; i < n; i++)
    boxes[i] = p->m->lanes.boxes.at[i];
  qsort(boxes, n, sizeof(*boxes), by_place);
  tm_html_open(p->h, "g opacity='0.85'");
  add_boxes(p, boxes, n, false);
  tm_html_close(p->h, "g");
  add_boxes(p, boxes, n, true);
  free(boxes);
}

/* ---- tries without an end ---- */

bool tm_lane_open_box(struct tm_box *out, const struct tm_step_model *m,
                      const struct tm_worker_life *w)
{
  const struct tm_open_try *t = &w->open;
  if (t->elapsed_ns <= 0 || m->lanes.are_nodes || w->slot >= m->lanes.of_slot.len)
    return false;
  *out = (struct tm_box) { .lane = m->lanes.of_slot.at[w->slot],
                           .begin_ns = t->begin_ns,
                           .elapsed_ns = t->elapsed_ns,
                           .mini_batch = t->mini_batch,
                           .try_number = (uint32_t)t->try_number,
                           .category = t->runs ? TM_BOX_RUNS : TM_CATEGORY_CANCELED };
  return true;
}

static void add_open(struct picture *p, const struct tm_box *b)
{
  double from = fmax(0, tm_axis_x(p->axis, b->begin_ns) * TM_PLOT_WIDTH);
  double to = fmin(TM_PLOT_WIDTH, tm_axis_x(p->axis, b->begin_ns + b->elapsed_ns) * TM_PLOT_WIDTH);
  struct tm_buf title = TM_BUF_NONE;
  tm_buf_printf(&title, "mini-batch %lld, try %u: %s ", (long long)b->mini_batch, b->try_number,
                b->category == TM_BOX_RUNS ? "has run for" : "cut off after");
  tm_time_precise(&title, b->elapsed_ns);
  tm_svg_rect(p->h, TM_PAINT_DIM, from, p->height * (b->lane + 0.19), fmax(p->px, to - from),
              fmax(1, p->height * 0.62), tm_buf_str(&title));
  tm_buf_release(&title);
}

static void add_all_open(struct picture *p)
{
  size_t marks = 0;
  for (size_t i = 0; i < p->m->workers.list.len && marks < TM_LANE_MARKS; i++) {
    struct tm_box box;
    if (!tm_lane_open_box(&box, p->m, &p->m->workers.list.at[i]) ||
        box.begin_ns >= p->axis->to_ns || box.begin_ns + box.elapsed_ns < p->axis->from_ns)
      continue;
    add_open(p, &box);
    marks++;
  }
}

/* ---- deaths ---- */

static void add_deaths(struct picture *p)
{
  const struct tm_workers *w = &p->m->workers;
  size_t marks = 0;
  tm_html_open(p->h, "g class='deaths'");
  for (size_t i = 0; i < w->list.len && marks < TM_LANE_MARKS; i++) {
    const struct tm_worker_life *life = &w->list.at[i];
    if (!(life->has_died || life->was_killed) || life->slot >= p->m->lanes.of_slot.len ||
        life->ended_ns < p->axis->from_ns || life->ended_ns > p->axis->to_ns)
      continue;
    char *title = tm_xprintf("%s ended: %s", life->name, tm_text_or_empty(life->end));
    double x = tm_axis_x(p->axis, life->ended_ns) * TM_PLOT_WIDTH;
    tm_svg_rect(p->h, TM_PAINT_DIED, fmin(x, TM_PLOT_WIDTH - 2.5 * p->px),
                p->height * p->m->lanes.of_slot.at[life->slot] - 1, 2.5 * p->px, p->height + 2,
                title);
    free(title);
    marks++;
  }
  tm_html_close(p->h, "g");
}

/* ---- the whole ---- */

static char *sentence_of(const struct tm_step_model *m)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_str(&text, "What ");
  tm_figure_count(&text, (int64_t)m->lanes.list.len, m->lanes.are_nodes ? "node" : "worker slot",
                  m->lanes.are_nodes ? "nodes" : "worker slots");
  tm_buf_add_str(&text, " did over time: ");
  tm_figure_count(&text, m->lanes.tries, "try, ", "tries, ");
  tm_text_grouped(&text, m->tries_failed);
  tm_buf_add_str(&text, " failed; ");
  tm_figure_count(&text, m->workers.deaths, "worker died", "workers died");
  tm_buf_add_str(&text, ". The table of workers has the same in numbers.");
  return tm_buf_take(&text);
}

static void add_labels(struct picture *p)
{
  const struct tm_lanes *l = &p->m->lanes;
  for (size_t i = 0; i < l->list.len && l->list.len <= LABELS_MAX; i++) {
    char *text = l->are_nodes ? tm_xprintf("%.12s", l->list.at[i].name)
                              : tm_xprintf("slot %zu", l->list.at[i].slot);
    tm_svg_label(p->h, &(struct tm_svg_label) { .x = -7,
                                                .y = middle_of(p, i) + 4,
                                                .anchor = TM_SVG_END,
                                                .paint = TM_PAINT_DIM,
                                                .text = text });
    free(text);
  }
}

static void add_row_open(struct tm_html *h, const struct tm_step_model *m)
{
  struct tm_buf unit = TM_BUF_NONE;
  bool are_nodes = m->lanes.are_nodes;
  tm_figure_count(&unit, (int64_t)m->lanes.list.len, are_nodes ? "node" : "slot",
                  are_nodes ? "nodes" : "slots");
  tm_buf_add_str(&unit, m->lanes.list.len > LABELS_MAX ? ", a line each" : "");
  tm_plot_row_open(h, "lanes", "Workers", tm_buf_str(&unit));
  tm_buf_release(&unit);
}

void tm_lane_picture_add(struct tm_html *h, const struct tm_step_model *m,
                         const struct tm_axis *axis, struct tm_timeline_detail detail, int width)
{
  const struct tm_lanes *l = &m->lanes;
  if (l->list.len == 0)
    return;
  size_t columns = detail.columns / l->list.len;
  columns = columns < COLUMNS_MIN ? COLUMNS_MIN : columns;
  columns = columns > (size_t)width ? (size_t)width : columns;
  struct picture p = { h,
                       m,
                       axis,
                       columns,
                       tm_lane_columns(l, axis, columns),
                       (double)TM_PLOT_WIDTH / width,
                       tm_lane_height(l->list.len) };
  char *sentence = sentence_of(m);
  add_row_open(h, m);
  tm_svg_open(h, &(struct tm_svg_picture) { .class_name = "chart lanes",
                                            .sentence = sentence,
                                            .height = p.height * (double)l->list.len });
  tm_html_attr(h, "overflow", "visible");
  add_labels(&p);
  tm_plot_view_open(h, p.height * (double)l->list.len);
  tm_plot_add_gaps(h, axis, p.height * (double)l->list.len);
  for (size_t i = 0; i < TM_COUNT_OF(rest_layers); i++)
    add_layer(&p, &rest_layers[i]);
  if (detail.has_boxes)
    add_tries(&p);
  else
    add_bins(&p);
  add_all_open(&p);
  add_deaths(&p);
  tm_svg_stretch_close(h);
  tm_svg_close(h);
  tm_plot_row_close(h);
  free(sentence);
  free(p.cells);
}
