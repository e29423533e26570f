/* timeline.c - see timeline.h. */
#include "page/timeline.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "insight/sums.h"
#include "page/figures.h"
#include "page/section.h"

/* ---- the axis ---- */

static int64_t end_of(const struct tm_job_page *page, const struct tm_step_model *m)
{
  int64_t end = m->last_ns;
  for (size_t i = 0; i < m->sessions.len; i++)
    end = m->sessions.at[i].end_ns > end ? m->sessions.at[i].end_ns : end;
  if (page->job->steps.at[page->step].state == TM_FACT_RUNNING && page->job->now_ns > end)
    end = page->job->now_ns;
  return end;
}

static void init_axis(struct tm_timeline *t, const struct tm_job_page *page,
                      const struct tm_step_model *m)
{
  struct TM_ARRAY(struct tm_axis_span) spans = { 0 };
  for (size_t i = 0; i < m->sessions.len; i++) {
    struct tm_axis_span s = { m->sessions.at[i].begin_ns, m->sessions.at[i].end_ns };
    if (i + 1 == m->sessions.len && t->end_ns > s.to_ns)
      s.to_ns = t->end_ns;
    *TM_ARRAY_ADD(&spans) = s;
  }
  int64_t from = m->origin_ns, to = t->end_ns;
  if (page->to_ns > page->from_ns) {
    from = page->from_ns;
    to = page->to_ns;
  }
  tm_axis_init(&t->axis, from, to, spans.at, spans.len);
  t->axis.origin_ns = m->origin_ns;
  TM_ARRAY_RELEASE(&spans);
}

/* ---- sentences ---- */

/* "Items per second: 410 at the median, at most 461, at 1:01:05." */
static char *sentence_of(const struct tm_timeline *t, const struct tm_timeline_row *r,
                         const char *what, const char *unit)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_series_facts f = tm_series_look(&r->series);
  tm_buf_printf(&text, "%s: ", what);
  tm_figure_number(&text, f.median);
  tm_buf_printf(&text, "%s at the median, at most ", unit);
  tm_figure_number(&text, f.max);
  tm_buf_printf(&text, "%s, at ", unit);
  tm_axis_add_moment(&text, &t->axis, f.max_ns);
  tm_buf_add_str(&text, " since the start.");
  return tm_buf_take(&text);
}

static char *memory_sentence(const struct tm_timeline *t, const struct tm_series *s, double unit)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_series_facts f = tm_series_look(s);
  tm_buf_add_str(&text, "Memory of the workers: ");
  tm_text_bytes(&text, (int64_t)(f.first * unit));
  tm_buf_add_str(&text, " at first, ");
  tm_text_bytes(&text, (int64_t)(f.last * unit));
  tm_buf_add_str(&text, " at the end, at most ");
  tm_text_bytes(&text, (int64_t)(fmax(f.max, 0) * unit));
  tm_buf_add_str(&text, ", at ");
  tm_axis_add_moment(&text, &t->axis, f.max_ns);
  tm_buf_add_str(&text, " since the start.");
  return tm_buf_take(&text);
}

/* ---- rows ---- */

static int64_t tries_of(const struct tm_step_model *m)
{
  int64_t tries = 0;
  for (size_t i = 0; i < TM_CATEGORIES; i++)
    tries += m->tries[i];
  return tries;
}

/* Points of all the bins, so that the part that is shown has as many as a picture has use for. */
static size_t points_of(const struct tm_timeline *t, const struct tm_step_model *m)
{
  double all = (double)(t->end_ns - m->origin_ns),
         shown = (double)(t->axis.to_ns - t->axis.from_ns);
  double points = fmin(TM_TIMELINE_POINTS, fmax(TM_TIMELINE_LEAST, 2 * (double)tries_of(m)));
  return (size_t)fmin(TM_SERIES_BINS, points * fmax(1, all / fmax(1, shown)));
}

static struct tm_timeline_row *add_row(struct tm_timeline *t, const struct tm_timeline_row *row)
{
  t->rows[t->len] = *row;
  return &t->rows[t->len++];
}

static double top_of(const struct tm_series *a, const struct tm_series *b)
{
  double top = tm_series_look(a).max;
  if (b)
    top = fmax(top, tm_series_look(b).max);
  return top > 0 ? top * 1.06 : 1;
}

/* Things that happened, per second, or how many within a shorter time. */
static void set_events(struct tm_timeline *t, struct tm_timeline_row *r,
                       const struct tm_step_model *m, size_t channel, size_t points)
{
  struct tm_buf unit = TM_BUF_NONE;
  if (tm_series_of_events(&r->series, &m->series, channel, points, t->end_ns)) {
    tm_buf_add_str(&unit, "per second");
  } else {
    tm_buf_add_str(&unit, "in ");
    tm_time_precise(&unit, r->series.width_ns);
  }
  r->unit_text = tm_buf_take(&unit);
  tm_series_cut(&r->series, &t->axis);
  r->top = top_of(&r->series, NULL);
}

static void add_items(struct tm_timeline *t, const struct tm_step_model *m, int64_t tries)
{
  size_t few = (size_t)fmax(8, fmin((double)points_of(t, m), (double)tries / 5));
  if (tries < TM_TIMELINE_TRIES || m->series.len == 0)
    return;
  struct tm_timeline_row *r = add_row(t, &(struct tm_timeline_row) { .id = "items",
                                                                     .label = "Items",
                                                                     .paint = TM_PAINT_DONE,
                                                                     .form = TM_PLOT_AREA,
                                                                     .height = 92 });
  set_events(t, r, m, TM_SERIES_ITEMS, few);
  char *what = tm_xprintf("Items %s", r->unit_text);
  r->sentence = sentence_of(t, r, what, "");
  free(what);
}

static void add_failed(struct tm_timeline *t, const struct tm_step_model *m)
{
  struct tm_buf text = TM_BUF_NONE;
  if (m->tries_failed == 0)
    return;
  struct tm_timeline_row *r = add_row(t, &(struct tm_timeline_row) { .id = "failed",
                                                                     .label = "Failed tries",
                                                                     .paint = TM_PAINT_FAILED,
                                                                     .form = TM_PLOT_BARS,
                                                                     .height = 44 });
  set_events(t, r, m, TM_SERIES_FAILED, points_of(t, m));
  struct tm_series_facts f = tm_series_look(&r->series);
  tm_figure_count(&text, m->tries_failed, "failed try", "failed tries");
  tm_buf_add_str(&text, ", at most ");
  tm_figure_number(&text, f.max);
  tm_buf_printf(&text, " %s, at ", r->unit_text);
  tm_axis_add_moment(&text, &t->axis, f.max_ns);
  tm_buf_add_str(&text, " since the start.");
  r->sentence = tm_buf_take(&text);
}

/* Those that have ended a try, and those that are at one; what is not known yet is a gap. */
static void set_busy(struct tm_series *s, const struct tm_step_model *m, size_t points,
                     int64_t end_ns)
{
  struct tm_series runs;
  tm_series_of_bins(s, &m->series, TM_SERIES_BUSY, points, end_ns, 1);
  tm_series_of_bins(&runs, &m->series, TM_SERIES_RUNS, points, end_ns, 1);
  for (size_t i = 0; i < s->len; i++) {
    int64_t to = tm_smaller(s->from_ns + (int64_t)(i + 1) * s->width_ns, end_ns);
    s->at[i] = to > m->known_ns ? NAN : s->at[i] + runs.at[i];
  }
  tm_series_release(&runs);
}

static void add_busy(struct tm_timeline *t, const struct tm_job_page *page,
                     const struct tm_step_model *m)
{
  int64_t wanted = page->job->steps.at[page->step].workers_wanted;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_series busy;
  if (m->series.len == 0 || (m->lacks_tries && tries_of(m) == 0))
    return;
  set_busy(&busy, m, points_of(t, m), t->end_ns);
  if (tm_series_look(&busy).len == 0) {
    tm_series_release(&busy);
    return;
  }
  struct tm_timeline_row *r = add_row(t, &(struct tm_timeline_row) { .id = "busy",
                                                                     .label = "Workers busy",
                                                                     .unit = "",
                                                                     .paint = TM_PAINT_DONE,
                                                                     .form = TM_PLOT_AREA,
                                                                     .height = 60,
                                                                     .series = busy });
  tm_series_cut(&r->series, &t->axis);
  r->limit = (double)wanted;
  r->top = fmax(top_of(&r->series, NULL), (double)wanted * 1.06);
  if (wanted > 0) {
    r->unit_text = tm_xprintf("of %lld allowed", (long long)wanted);
    tm_buf_printf(&text, " of %lld that are allowed", (long long)wanted);
  }
  r->sentence = sentence_of(t, r, "Workers that had a try", tm_buf_str(&text));
  tm_buf_release(&text);
}

static void add_gauge(struct tm_series *s, const struct tm_timeline *t,
                      const struct tm_step_model *m, enum tm_gauge_kind kind, double scale)
{
  size_t points = points_of(t, m);
  int64_t width = (t->end_ns - m->origin_ns) / (int64_t)points + 1;
  tm_series_init(s, m->origin_ns, width, points);
  for (size_t i = 0; i < m->nodes.len; i++)
    tm_series_add_gauge(s, &m->nodes.at[i].gauges[kind], &t->axis, scale);
}

static void add_memory(struct tm_timeline *t, const struct tm_step_model *m)
{
  struct tm_series s;
  add_gauge(&s, t, m, TM_GAUGE_WORKERS, 1);
  struct tm_series_facts f = tm_series_look(&s);
  bool is_large = f.max >= 1024.0 * 1024 * 1000;
  double unit = is_large ? 1024.0 * 1024 * 1024 : 1024.0 * 1024;
  if (f.len == 0 || f.max == 0) {
    tm_series_release(&s);
    return;
  }
  for (size_t i = 0; i < s.len; i++)
    s.at[i] /= unit;
  struct tm_timeline_row *r =
      add_row(t, &(struct tm_timeline_row) { .id = "memory",
                                             .label = "Memory",
                                             .unit = is_large ? "GB, workers" : "MB, workers",
                                             .paint = TM_PAINT_INK,
                                             .form = TM_PLOT_LINE,
                                             .height = 60,
                                             .series = s });
  r->top = top_of(&r->series, NULL);
  r->sentence = memory_sentence(t, &r->series, unit);
}

static void add_processor(struct tm_timeline *t, const struct tm_step_model *m)
{
  struct tm_series s;
  /* Hundredths of a percent; the mean of the nodes. */
  add_gauge(&s, t, m, TM_GAUGE_CPU, 0.01 / (double)(m->nodes.len > 0 ? m->nodes.len : 1));
  if (tm_series_look(&s).len == 0) {
    tm_series_release(&s);
    return;
  }
  struct tm_timeline_row *r = add_row(t, &(struct tm_timeline_row) { .id = "processor",
                                                                     .label = "Processor",
                                                                     .unit = "% of all cores",
                                                                     .paint = TM_PAINT_DONE,
                                                                     .form = TM_PLOT_LINE,
                                                                     .height = 48,
                                                                     .top = 104,
                                                                     .series = s });
  r->sentence = sentence_of(t, r, "Processor, of all cores", " %");
}

static void add_pair(struct tm_timeline *t, const struct tm_step_model *m,
                     const struct tm_timeline_row *row, enum tm_gauge_kind first,
                     enum tm_gauge_kind second)
{
  struct tm_series a, b;
  const double scale = 1 / (1024.0 * 1024);
  add_gauge(&a, t, m, first, scale);
  add_gauge(&b, t, m, second, scale);
  struct tm_series_facts of_a = tm_series_look(&a), of_b = tm_series_look(&b);
  if (fmax(of_a.max, of_b.max) < TM_TIMELINE_QUIET * scale) {
    tm_series_release(&a);
    tm_series_release(&b);
    return;
  }
  struct tm_timeline_row *r = add_row(t, row);
  struct tm_buf text = TM_BUF_NONE;
  r->series = a;
  r->second = b;
  r->top = top_of(&r->series, &r->second);
  tm_buf_printf(&text, "%s, MB per second: ", row->label);
  bool is_disk = first == TM_GAUGE_DISK_READ;
  tm_figure_number(&text, of_a.max);
  tm_buf_printf(&text, " %s and ", is_disk ? "read" : "received");
  tm_figure_number(&text, of_b.max);
  tm_buf_printf(&text, " %s at most.", is_disk ? "written" : "sent");
  r->sentence = tm_buf_take(&text);
}

bool tm_timeline_init(struct tm_timeline *t, const struct tm_job_page *page)
{
  const struct tm_step_model *m = tm_page_model(page);
  *t = (struct tm_timeline) { 0 };
  if (!m || m->origin_ns == 0)
    return false;
  t->end_ns = end_of(page, m);
  int64_t tries = tries_of(m);
  if (t->end_ns <= m->origin_ns || (tries == 0 && m->workers.list.len == 0))
    return false;
  init_axis(t, page, m);
  add_items(t, m, tries);
  add_failed(t, m);
  add_busy(t, page, m);
  add_memory(t, m);
  add_processor(t, m);
  add_pair(t, m,
           &(struct tm_timeline_row) { .id = "disk",
                                       .label = "Disk",
                                       .unit = "MB/s read, written dashed",
                                       .paint = TM_PAINT_INK,
                                       .form = TM_PLOT_LINE,
                                       .height = 56 },
           TM_GAUGE_DISK_READ, TM_GAUGE_DISK_WRITE);
  add_pair(t, m,
           &(struct tm_timeline_row) { .id = "network",
                                       .label = "Network",
                                       .unit = "MB/s in, out dashed",
                                       .paint = TM_PAINT_INK,
                                       .form = TM_PLOT_LINE,
                                       .height = 56 },
           TM_GAUGE_NET_RECV, TM_GAUGE_NET_SENT);
  return true;
}

void tm_timeline_release(struct tm_timeline *t)
{
  for (size_t i = 0; i < t->len; i++) {
    free(t->rows[i].unit_text);
    free(t->rows[i].sentence);
    tm_series_release(&t->rows[i].series);
    tm_series_release(&t->rows[i].second);
  }
  tm_axis_release(&t->axis);
  *t = (struct tm_timeline) { 0 };
}

struct tm_timeline_detail tm_timeline_detail(const struct tm_job_page *page)
{
  const struct tm_step_model *m = tm_page_model(page);
  size_t boxes = 0, steps = 0;
  for (size_t i = 0; i < page->job->steps.len; i++)
    if (page->steps[i].model) {
      boxes += page->steps[i].model->lanes.boxes.len;
      steps++;
    }
  bool has_boxes = m->lanes.boxes.len > 0 && !m->lanes.are_nodes && boxes <= TM_BOXES_MAX;
  size_t beside = m->lanes.list.len * TM_CELLS_BESIDE_BOXES;
  beside = beside < TM_LANE_CELLS / 16 ? beside : TM_LANE_CELLS / 16;
  return (struct tm_timeline_detail) { .has_boxes = has_boxes,
                                       .cells = (has_boxes ? beside : TM_LANE_CELLS) / steps,
                                       .columns = TM_TIMELINE_COLUMNS / steps };
}

const char *tm_timeline_unit(const struct tm_timeline_row *row)
{
  return row->unit_text ? row->unit_text : row->unit;
}
