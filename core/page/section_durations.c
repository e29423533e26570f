/* section_durations.c - how long run() took: a histogram on a logarithmic scale, or a dot for each
 * try if there are few; and the slowest tries. */
#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "base/time.h"
#include "page/figures.h"
#include "page/cells.h"
#include "page/section.h"
#include "page/plot.h"
#include "page/svg.h"

#define DOTS_BELOW  20
#define BARS_MAX    48
#define BARS_LEAST  10 /* at most so many if there are only few tries */
#define PLOT_HEIGHT 150
#define DOT_HEIGHT  46
#define MARK_HEIGHT 17 /* of the line of a mark's words */
#define MARKS       4
#define UNITS       1000
#define SHORTEST_NS 500 /* tables have microseconds, and the scale has no place for 0 */

/* ---- the scale ---- */

struct scale {
  double low, high; /* log2 of ns */
};

static double log_of(int64_t ns)
{
  return log2(ns > 1 ? (double)ns : 1);
}

static double percent_of(const struct scale *s, int64_t ns)
{
  return 100 * fmax(0, fmin(1, (log_of(ns) - s->low) / (s->high - s->low)));
}

/* A bar is `joined` bins of the quantiles, a power of two of them. */
struct bars {
  size_t first, joined, len; /* `first`: a bin */
  int64_t max;               /* tries in a bar */
  double densest;            /* tries for a unit of the scale */
  struct scale scale;
};

static int64_t count_of(const struct tm_quantiles *q, const struct bars *b, size_t bar)
{
  int64_t sum = 0;
  size_t first = b->first + bar * b->joined;
  for (size_t i = bar > 0 ? first : 0; /* the first bar has what is too short for the scale */
       i < first + b->joined && i < TM_QUANTILE_BINS; i++)
    sum += q->bins[i];
  return sum;
}

static int64_t first_of(const struct bars *b, size_t bar)
{
  size_t bin = b->first + bar * b->joined;
  return bin < TM_QUANTILE_BINS ? tm_quantiles_first(bin) : INT64_MAX;
}

/* Bars are not equally wide on a logarithmic scale, so not their heights but their areas show how
 * many tries they have. */
static double density_of(const struct tm_quantiles *q, const struct bars *b, size_t bar)
{
  double width = log_of(first_of(b, bar + 1)) - log_of(first_of(b, bar));
  return width > 0 ? (double)count_of(q, b, bar) / width : 0;
}

/* Which bins make a bar: at most BARS_MAX bars, fewer for few tries, with one free at each end. */
static struct bars bars_of(const struct tm_quantiles *q)
{
  size_t low = tm_quantiles_bin(q->min > SHORTEST_NS ? q->min : SHORTEST_NS),
         high = tm_quantiles_bin(q->max > SHORTEST_NS ? q->max : SHORTEST_NS);
  struct bars b = { .joined = 1 };
  for (;; b.joined *= 2) {
    b.first = low / b.joined * b.joined;
    b.len = (high - b.first) / b.joined + 1;
    if ((double)b.len <= fmin(BARS_MAX, fmax(BARS_LEAST, 2 * sqrt((double)q->count))))
      break;
  }
  size_t free = b.len < 12 ? (12 - b.len) / 2 + 1 : 1; /* a few bars are in the middle */
  size_t before = b.first / b.joined < free ? b.first / b.joined : free;
  b.first -= before * b.joined;
  b.len += before + free;
  for (size_t i = 0; i < b.len; i++) {
    int64_t n = count_of(q, &b, i);
    b.max = n > b.max ? n : b.max;
    b.densest = fmax(b.densest, density_of(q, &b, i));
  }
  b.scale = (struct scale) { log_of(first_of(&b, 0)), log_of(first_of(&b, b.len)) };
  return b;
}

/* ---- ticks: powers of ten of each unit, and as many between them as there is room for ---- */

static void add_tick(struct tm_html *h, const struct scale *s, double ns, double y)
{
  static const struct {
    double ns;
    const char *name;
  } units[] = { { 3600e9, "h" }, { 60e9, "min" }, { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" } };
  struct tm_buf text = TM_BUF_NONE;
  double at = percent_of(s, (int64_t)ns);
  size_t unit = 0;
  while (unit + 1 < TM_COUNT_OF(units) && ns < units[unit].ns)
    unit++;
  tm_buf_printf(&text, "%g %s", ns / units[unit].ns, units[unit].name);
  tm_svg_label(h, &(struct tm_svg_label) { .percent = at,
                                           .y = y,
                                           .paint = TM_PAINT_DIM,
                                           .anchor = at < 4    ? TM_SVG_START
                                                     : at > 96 ? TM_SVG_END
                                                               : TM_SVG_MIDDLE,
                                           .text = tm_buf_str(&text) });
  tm_buf_release(&text);
}

/* The ticks at these factors of all bases: their number, and with `h` they are written. */
static size_t each_tick(struct tm_html *h, const struct scale *s, const double *factors, double y)
{
  static const double bases[] = { 1,   10,   100,  1e3,   1e4,    1e5,   1e6,   1e7,   1e8,
                                  1e9, 1e10, 60e9, 600e9, 3600e9, 36e12, 36e13, 36e14, INFINITY };
  size_t n = 0, step = s->high - s->low > 7 * log2(10) ? 2 : 1;
  for (size_t b = 0; b + 1 < TM_COUNT_OF(bases); b += step)
    for (const double *f = factors; *f > 0 && *f * bases[b] < bases[b + 1]; f++) {
      double ns = *f * bases[b], at = log2(ns);
      if (at < s->low || at > s->high)
        continue;
      n++;
      if (h)
        add_tick(h, s, ns, y);
    }
  return n;
}

static void add_ticks(struct tm_html *h, const struct scale *s, double y)
{
  static const double factors[][10] = {
    { 1 }, { 1, 3 }, { 1, 2, 5 }, { 1, 2, 3, 5, 7 }, { 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 }
  };
  size_t i = 0;
  while (i + 1 < TM_COUNT_OF(factors) && each_tick(NULL, s, factors[i], y) < 3)
    i++;
  each_tick(h, s, factors[i], y);
}

/* ---- marks ---- */

struct mark {
  const char *name;
  int64_t ns;
  double percent;
  bool is_left; /* its words are at the left of its line */
  int row;
};

/* Each mark has a row of its own, so no words overlap. First come those at the right, from the
 * rightmost on, with their words at the left of their lines; then those at the left, from the
 * leftmost on. So the line of a mark, which goes down from its row, crosses the words of a lower
 * one only if both are near the middle. */
static void place_marks(const struct tm_quantiles *q, const struct scale *s,
                        struct mark marks[MARKS])
{
  static const struct {
    const char *name;
    double share;
  } all[MARKS] = { { "median", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "longest", 1 } };
  int row = 0;
  for (int i = 0; i < MARKS; i++) {
    int64_t ns = i == MARKS - 1 ? q->max : tm_quantiles_at(q, all[i].share);
    marks[i] = (struct mark) { all[i].name, ns, percent_of(s, ns), false, 0 };
    marks[i].is_left = marks[i].percent > 60;
  }
  for (int i = MARKS; i-- > 0;)
    if (marks[i].is_left)
      marks[i].row = row++;
  for (int i = 0; i < MARKS; i++)
    if (!marks[i].is_left)
      marks[i].row = row++;
}

static void add_mark(struct tm_html *h, const struct mark *m)
{
  struct tm_buf text = TM_BUF_NONE;
  double y = m->row * MARK_HEIGHT;
  tm_buf_printf(&text, "%s ", m->name);
  tm_time_precise(&text, m->ns);
  tm_svg_stretch_open(h, &(struct tm_svg_stretch) {
                             m->percent, 0.4, y, PLOT_HEIGHT + MARKS * MARK_HEIGHT - y, 4, 100 });
  tm_html_attr(h, "overflow", "visible");
  tm_svg_rule(h, TM_PAINT_DIM, 0, 0, 0, 100);
  tm_svg_stretch_close(h);
  tm_html_open(h, "g class='halo'");
  tm_svg_label(h, &(struct tm_svg_label) { .percent = m->percent,
                                           .x = m->is_left ? -5 : 5,
                                           .y = y + 12,
                                           .size = 12,
                                           .anchor = m->is_left ? TM_SVG_END : TM_SVG_START,
                                           .paint = TM_PAINT_INK,
                                           .text = tm_buf_str(&text) });
  tm_html_close(h, "g");
  tm_buf_release(&text);
}

/* ---- the pictures ---- */

static char *sentence_of(const struct tm_quantiles *q)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_str(&text, "How long run() took in ");
  tm_figure_count(&text, q->count, "try", "tries");
  tm_buf_add_str(&text, ", on a logarithmic scale: half took at most ");
  tm_time_precise(&text, tm_quantiles_at(q, 0.5));
  tm_buf_add_str(&text, ", 90 % at most ");
  tm_time_precise(&text, tm_quantiles_at(q, 0.9));
  tm_buf_add_str(&text, ", 99 % at most ");
  tm_time_precise(&text, tm_quantiles_at(q, 0.99));
  tm_buf_add_str(&text, "; the longest took ");
  tm_time_precise(&text, q->max);
  tm_buf_add_char(&text, '.');
  return tm_buf_take(&text);
}

static void add_range(struct tm_buf *text, const struct bars *b, size_t bar)
{
  tm_time_precise(text, first_of(b, bar));
  tm_buf_add_str(text, " to ");
  tm_time_precise(text, first_of(b, bar + 1));
}

static void add_bar(struct tm_html *h, const struct tm_quantiles *q, const struct bars *b,
                    size_t bar)
{
  struct tm_buf title = TM_BUF_NONE;
  int64_t n = count_of(q, b, bar);
  double range = b->scale.high - b->scale.low;
  double from = (log_of(first_of(b, bar)) - b->scale.low) / range * UNITS;
  double to = (log_of(first_of(b, bar + 1)) - b->scale.low) / range * UNITS;
  double height = fmax(1.5, density_of(q, b, bar) / b->densest * (PLOT_HEIGHT - 2));
  add_range(&title, b, bar);
  tm_buf_add_str(&title, ": ");
  tm_figure_count(&title, n, "try", "tries");
  tm_svg_rect(h, TM_PAINT_DONE, from + 1, PLOT_HEIGHT - height, fmax(1, to - from - 2), height,
              tm_buf_str(&title));
  tm_buf_release(&title);
}

static void add_histogram(struct tm_html *h, const struct tm_quantiles *q)
{
  struct bars b = bars_of(q);
  struct mark marks[MARKS];
  double top = MARKS * MARK_HEIGHT;
  char *sentence = sentence_of(q);
  place_marks(q, &b.scale, marks);
  tm_svg_open(h, &(struct tm_svg_picture) { .class_name = "histogram",
                                            .sentence = sentence,
                                            .height = top + PLOT_HEIGHT + 22 });
  tm_svg_stretch_open(h, &(struct tm_svg_stretch) { 0, 100, top, PLOT_HEIGHT, UNITS, PLOT_HEIGHT });
  for (size_t i = 0; i < b.len; i++)
    if (count_of(q, &b, i) > 0)
      add_bar(h, q, &b, i);
  tm_svg_rule(h, TM_PAINT_DIM, 0, PLOT_HEIGHT, UNITS, PLOT_HEIGHT);
  tm_svg_stretch_close(h);
  for (int i = 0; i < MARKS; i++)
    add_mark(h, &marks[i]);
  add_ticks(h, &b.scale, top + PLOT_HEIGHT + 17);
  tm_svg_close(h);
  free(sentence);
}

/* A dot for each try, above each other if they took equally long. */
static void add_dots(struct tm_html *h, const struct tm_quantiles *q)
{
  struct bars b = bars_of(q);
  char *sentence = sentence_of(q);
  double top = 12 * (double)b.max;
  top = top < DOT_HEIGHT ? DOT_HEIGHT : top;
  tm_svg_open(h, &(struct tm_svg_picture) {
                     .class_name = "histogram", .sentence = sentence, .height = top + 24 });
  tm_svg_stretch_open(h, &(struct tm_svg_stretch) { 0, 100, top, 2, UNITS, 2 });
  tm_svg_rule(h, TM_PAINT_DIM, 0, 0, UNITS, 0);
  tm_svg_stretch_close(h);
  for (size_t i = 0; i < b.len; i++) {
    struct tm_buf title = TM_BUF_NONE;
    double percent =
        percent_of(&b.scale, first_of(&b, i)) / 2 + percent_of(&b.scale, first_of(&b, i + 1)) / 2;
    add_range(&title, &b, i);
    for (int64_t k = 0; k < count_of(q, &b, i); k++) {
      tm_html_open(h, "svg overflow='visible'");
      tm_html_attr_percent(h, "x", percent);
      tm_svg_circle(h, TM_PAINT_DONE, 0, top - 7 - 12 * (double)k, 5, tm_buf_str(&title));
      tm_html_close(h, "svg");
    }
    tm_buf_release(&title);
  }
  add_ticks(h, &b.scale, top + 17);
  tm_svg_close(h);
  free(sentence);
}

static void add_table(struct tm_html *h, const struct tm_quantiles *q)
{
  static const char *const head[] = { "run() took", "#Tries", "#Share", NULL };
  struct bars b = bars_of(q);
  tm_html_open(h, "details class='table'");
  tm_html_put(h, "summary", "The picture as a table");
  tm_page_table_begin(h, "How many tries took how long", head);
  for (size_t i = 0; i < b.len; i++) {
    struct tm_buf range = TM_BUF_NONE;
    int64_t n = count_of(q, &b, i);
    if (n == 0)
      continue;
    add_range(&range, &b, i);
    tm_html_open(h, "tr");
    tm_html_put(h, "td", tm_buf_str(&range));
    tm_cell_count(h, n);
    tm_cell_share(h, (double)n, (double)q->count);
    tm_html_close(h, "tr");
    tm_buf_release(&range);
  }
  tm_page_table_end(h);
  tm_html_close(h, "details");
}

static void add_one(struct tm_html *h, const struct tm_quantiles *q)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_str(&text, "run() was called once and took ");
  tm_time_precise(&text, q->max);
  tm_buf_add_char(&text, '.');
  tm_html_put(h, "p", tm_buf_str(&text));
  tm_buf_release(&text);
}

/* ---- the slowest ---- */

static void add_slow_row(struct tm_html *h, const struct tm_job_page *page,
                         const struct tm_notable_try *t)
{
  tm_html_open(h, "tr");
  tm_html_attrf(h, "data-mini-batch", "%" PRId64, t->mini_batch);
  tm_page_cell_mini_batch(h, page, t->mini_batch);
  tm_cell_duration(h, t->run_ns);
  tm_page_cell_worker(h, page, t->worker);
  tm_cell_count(h, t->try_number);
  tm_html_open(h, "td class='path'");
  tm_html_name(h, t->first_item);
  tm_html_close(h, "td");
  tm_html_close(h, "tr");
}

static void add_slowest(struct tm_html *h, const struct tm_job_page *page,
                        const struct tm_notable *n)
{
  static const char *const head[] = {
    "#Mini-batch", "#run()", "Worker", "#Try", "First item", NULL
  };
  size_t len = 0;
  struct tm_notable_try **slowest = tm_notable_slowest(n, &len);
  if (len > 0) {
    tm_html_open(h, "div class='slowest'");
    tm_page_table_begin(h, "The slowest tries that succeeded", head);
    for (size_t i = 0; i < len; i++)
      add_slow_row(h, page, slowest[i]);
    tm_page_table_end(h);
    tm_html_close(h, "div");
  }
  free(slowest);
}

void tm_section_durations(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_step_model *m = tm_page_model(page);
  if (!m || m->run.count == 0)
    return;
  struct tm_buf small = TM_BUF_NONE;
  tm_figure_count(&small, m->run.count, "try", "tries");
  tm_buf_add_str(&small, m->run.count > 1 ? ", a logarithmic scale" : "");
  tm_section_begin(h, page, "durations", "How long run() took", TM_SECTION_OF_STEP,
                   tm_buf_str(&small));
  if (m->run.count == 1) {
    add_one(h, &m->run);
  } else {
    tm_html_open(h, "div class='two'");
    tm_html_open(h, "div");
    tm_html_open(h, "figure class='hist'");
    if (m->run.count < DOTS_BELOW)
      add_dots(h, &m->run);
    else
      add_histogram(h, &m->run);
    tm_html_close(h, "figure");
    add_table(h, &m->run);
    tm_html_close(h, "div");
    add_slowest(h, page, &m->notable);
    tm_html_close(h, "div");
  }
  tm_section_end(h);
  tm_buf_release(&small);
}
