/* section_steps.c - the steps of a job: their graph, a bar for each on one axis, and a table. */
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "page/graph_layout.h"
#include "page/section.h"
#include "page/svg.h"

#define BOX_WIDTH  264.0
#define BOX_HEIGHT 54.0
#define COLUMN     344.0 /* from one box to the next */
#define ROW        74.0
#define NAME_BYTES 26 /* bytes of a name in a box */
#define LINE_BYTES 46 /* of the line below it */

static bool has(const char *text)
{
  return text && *text;
}

static double x_of(const struct tm_graph_layout *g, size_t step)
{
  return 2 + COLUMN * (double)g->column[step];
}

/* Columns with fewer steps are centred. */
static double y_of(const struct tm_graph_layout *g, size_t step)
{
  double unused = (double)(g->rows - g->in_column[g->column[step]]);
  return 4 + ROW * ((double)g->row[step] + unused / 2);
}

static void add_edge(struct tm_html *h, const struct tm_graph_layout *g, size_t from, size_t to)
{
  double x1 = x_of(g, from) + BOX_WIDTH, y1 = y_of(g, from) + BOX_HEIGHT / 2;
  double x2 = x_of(g, to) - 5, y2 = y_of(g, to) + BOX_HEIGHT / 2, middle = (x1 + x2) / 2;
  tm_svg_line_begin(h, TM_PAINT_DIM, 1.2);
  tm_svg_move(h, x1, y1);
  tm_svg_curve(h, (double[6]) { middle, y1, middle, y2, x2, y2 });
  tm_svg_path_end(h, NULL);
  tm_svg_area_begin(h, TM_PAINT_DIM, 1);
  tm_svg_move(h, x2 + 5, y2);
  tm_svg_to(h, x2 - 3, y2 - 4);
  tm_svg_to(h, x2 - 3, y2 + 4);
  tm_svg_path_end(h, NULL);
}

/* The first step that a skipped one needs and that did not complete; NULL: it is not known. */
static const struct tm_fact_step *missing(const struct tm_fact_job *job,
                                          const struct tm_fact_step *s)
{
  for (size_t i = 0; s->state == TM_FACT_SKIPPED && i < s->after.len; i++)
    if (job->steps.at[s->after.at[i]].state != TM_FACT_COMPLETED)
      return &job->steps.at[s->after.at[i]];
  return NULL;
}

/* What is known of a step in a few words: "200 of 200 mini-batches", "from daily-1120". */
static void describe(struct tm_buf *text, const struct tm_fact_job *job,
                     const struct tm_fact_step *s)
{
  const struct tm_fact_step *needed = missing(job, s);
  tm_buf_add_str(text, tm_page_state_of_step(s).word);
  if (needed)
    tm_buf_printf(text, " · needs %s", needed->name);
  if (has(s->reused_from)) {
    const char *slash = strrchr(s->reused_from, '/');
    tm_buf_printf(text, " from %s", slash ? slash + 1 : s->reused_from);
  } else if (has(s->waits_for) && s->state == TM_FACT_WAITING) {
    tm_buf_printf(text, " for %s", s->waits_for);
  } else if (s->counts.created > 0) {
    tm_buf_add_str(text, " · ");
    tm_text_grouped(text, s->counts.succeeded);
    tm_buf_add_str(text, " of ");
    tm_text_grouped(text, s->counts.created);
  }
}

/* At most `max` bytes, cut between characters. */
static void add_short(struct tm_buf *text, const char *s, size_t max)
{
  size_t n = strlen(s), end = n;
  if (n > max)
    for (end = max; end > 0 && ((unsigned char)s[end] & 0xC0) == 0x80;)
      end--;
  tm_buf_add(text, s, end);
  if (end < n)
    tm_buf_add_str(text, "…");
}

static void add_box(struct tm_html *h, const struct tm_graph_layout *g,
                    const struct tm_fact_job *job, size_t i)
{
  const struct tm_fact_step *s = &job->steps.at[i];
  struct tm_page_state state = tm_page_state_of_step(s);
  bool is_bad = s->state == TM_FACT_FAILED;
  bool is_open = s->state == TM_FACT_SKIPPED || s->state == TM_FACT_WAITING;
  double x = x_of(g, i), y = y_of(g, i);
  struct tm_buf text = TM_BUF_NONE, name = TM_BUF_NONE, line = TM_BUF_NONE;
  tm_svg_frame(h, is_bad ? TM_PAINT_FAILED : TM_PAINT_DIM,
               (double[4]) { x, y, BOX_WIDTH, BOX_HEIGHT }, is_bad ? 2.5 : 1.2, is_open);
  tm_buf_printf(&name, "%s ", state.symbol);
  add_short(&name, s->name, NAME_BYTES);
  tm_svg_label(
      h, &(struct tm_svg_label) {
             .x = x + 13, .y = y + 23, .size = 15, .is_bold = true, .text = tm_buf_str(&name) });
  describe(&text, job, s);
  add_short(&line, tm_buf_str(&text), LINE_BYTES);
  tm_svg_label(
      h,
      &(struct tm_svg_label) {
          .x = x + 13, .y = y + 42, .size = 12, .paint = TM_PAINT_DIM, .text = tm_buf_str(&line) });
  tm_buf_release(&line);
  tm_buf_release(&text);
  tm_buf_release(&name);
}

/* The sentence of the picture: each step, its state, and what it needs. */
static void describe_graph(struct tm_buf *text, const struct tm_fact_job *job)
{
  tm_buf_add_str(text, "Steps: ");
  for (size_t i = 0; i < job->steps.len; i++) {
    const struct tm_fact_step *s = &job->steps.at[i];
    tm_buf_printf(text, "%s%s (%s)", i == 0 ? "" : "; ", s->name, tm_page_state_of_step(s).word);
    for (size_t a = 0; a < s->after.len; a++)
      if (s->after.at[a] < i)
        tm_buf_printf(text, "%s%s", a == 0 ? ", after " : " and ",
                      job->steps.at[s->after.at[a]].name);
  }
}

static void add_graph(struct tm_html *h, const struct tm_fact_job *job)
{
  struct tm_graph_layout g;
  struct tm_buf sentence = TM_BUF_NONE;
  tm_graph_layout(&g, job);
  describe_graph(&sentence, job);
  tm_html_open(h, "div class='scroll' tabindex='0' role='group' aria-label='Graph of the steps'");
  tm_svg_open(h, &(struct tm_svg_picture) { "graph", tm_buf_str(&sentence),
                                            COLUMN * (double)(g.columns - 1) + BOX_WIDTH + 4,
                                            ROW * (double)g.rows - 12 });
  for (size_t i = 0; i < job->steps.len; i++)
    for (size_t a = 0; a < job->steps.at[i].after.len; a++)
      if (job->steps.at[i].after.at[a] < i)
        add_edge(h, &g, job->steps.at[i].after.at[a], i);
  for (size_t i = 0; i < job->steps.len; i++)
    add_box(h, &g, job, i);
  tm_svg_close(h);
  tm_html_close(h, "div");
  tm_buf_release(&sentence);
}

/* One axis for all steps. */

struct span {
  int64_t from_ns, to_ns;
};

static struct span span_of(const struct tm_job_page *page, size_t step)
{
  const struct tm_step_model *m = page->steps ? page->steps[step].model : NULL;
  if (!m || m->last_ns <= m->origin_ns)
    return (struct span) { 0, 0 };
  return (struct span) { m->origin_ns, m->last_ns };
}

static struct span span_of_all(const struct tm_job_page *page)
{
  struct span all = { 0, 0 };
  for (size_t i = 0; i < page->job->steps.len; i++) {
    struct span s = span_of(page, i);
    if (s.to_ns == 0)
      continue;
    all.from_ns = all.to_ns == 0 || s.from_ns < all.from_ns ? s.from_ns : all.from_ns;
    all.to_ns = s.to_ns > all.to_ns ? s.to_ns : all.to_ns;
  }
  return all;
}

/* A bar, with the step's name before it or in the table's words behind it. */
static void add_bar(struct tm_html *h, const struct tm_job_page *page, size_t step, struct span all,
                    double y)
{
  const struct tm_fact_step *s = &page->job->steps.at[step];
  struct span at = span_of(page, step);
  struct tm_buf text = TM_BUF_NONE;
  double axis = (double)(all.to_ns - all.from_ns);
  tm_buf_clear(&text);
  add_short(&text, s->name, NAME_BYTES);
  tm_svg_label(h, &(struct tm_svg_label) { .y = y + 14, .size = 13, .text = tm_buf_str(&text) });
  tm_buf_clear(&text);
  if (at.to_ns > 0) {
    tm_buf_printf(&text, "%s: from ", s->name);
    tm_time_precise(&text, at.from_ns - all.from_ns);
    tm_buf_add_str(&text, " to ");
    tm_time_precise(&text, at.to_ns - all.from_ns);
    tm_svg_stretch_open(h, &(struct tm_svg_stretch) { 20, 80, y, 18, 1000, 18 });
    double from = 1000 * (double)(at.from_ns - all.from_ns) / axis;
    double width = 1000 * (double)(at.to_ns - at.from_ns) / axis;
    tm_svg_rect(h, s->state == TM_FACT_FAILED ? TM_PAINT_FAILED : TM_PAINT_DONE, from, 0,
                width < 2 ? 2 : width, 18, tm_buf_str(&text));
    tm_svg_stretch_close(h);
  }
  tm_buf_release(&text);
}

static void add_bars(struct tm_html *h, const struct tm_job_page *page)
{
  struct span all = span_of_all(page);
  struct tm_buf text = TM_BUF_NONE;
  double y = 0;
  if (all.to_ns <= all.from_ns)
    return;
  tm_buf_add_str(&text, "When each step ran, over ");
  tm_time_precise(&text, all.to_ns - all.from_ns);
  tm_svg_open(h, &(struct tm_svg_picture) { "plot bars", tm_buf_str(&text), 0,
                                            26.0 * (double)page->job->steps.len + 24 });
  for (size_t i = 0; i < page->job->steps.len; i++, y += 26)
    add_bar(h, page, i, all, y);
  for (int half = 0; half <= 2; half++) {
    tm_buf_clear(&text);
    tm_time_precise(&text, (all.to_ns - all.from_ns) * half / 2);
    tm_svg_label(h, &(struct tm_svg_label) { .percent = 20 + 40.0 * half,
                                             .y = y + 14,
                                             .anchor = half == 0   ? TM_SVG_START
                                                       : half == 2 ? TM_SVG_END
                                                                   : TM_SVG_MIDDLE,
                                             .paint = TM_PAINT_DIM,
                                             .text = tm_buf_str(&text) });
  }
  tm_svg_close(h);
  tm_buf_release(&text);
}

/* The table. */

static void add_row(struct tm_html *h, const struct tm_job_page *page, size_t i)
{
  const struct tm_fact_step *s = &page->job->steps.at[i];
  struct tm_page_state state = tm_page_state_of_step(s);
  const struct tm_fact_step *needed = missing(page->job, s);
  struct span at = span_of(page, i);
  tm_html_open(h, "tr");
  tm_html_open(h, "th scope='row'");
  tm_html_name(h, s->name);
  tm_html_close(h, "th");
  tm_html_open(h, "td");
  tm_html_open(h, "span");
  tm_html_attrf(h, "class", "of-%s", state.tone);
  tm_html_textf(h, "%s %s", state.symbol, state.word);
  tm_html_close(h, "span");
  tm_html_close(h, "td");
  tm_html_open(h, "td class='num'");
  if (at.to_ns > 0)
    tm_page_duration(h, at.to_ns - at.from_ns);
  tm_html_close(h, "td");
  tm_page_cell_int(h, s->counts.succeeded);
  tm_page_cell_int(h, s->counts.failed);
  tm_page_cell_int(h, s->counts.items_failed);
  tm_html_open(h, "td class='path'");
  if (has(s->reused_from)) {
    tm_html_text(h, "reused from ");
    tm_page_file(h, page, s->reused_from);
  } else if (has(s->cause)) {
    tm_html_long(h, s->cause);
  } else if (needed) {
    tm_html_text(h, "needs ");
    tm_html_name(h, needed->name);
    tm_html_text(h, ", which did not complete");
  } else if (has(s->waits_for)) {
    tm_html_textf(h, "waits for %s", s->waits_for);
  }
  tm_html_close(h, "td");
  tm_html_close(h, "tr");
}

static void add_table(struct tm_html *h, const struct tm_job_page *page)
{
  static const char *const columns[] = { "Step",    "State",         "#Time", "#Done",
                                         "#Failed", "#Failed items", "Why",   NULL };
  tm_page_table_begin(h, "Steps, with their mini-batches", columns);
  for (size_t i = 0; i < page->job->steps.len; i++)
    add_row(h, page, i);
  tm_page_table_end(h);
}

void tm_section_steps(struct tm_html *h, const struct tm_job_page *page)
{
  size_t n = page->job->steps.len;
  if (n < 2)
    return;
  tm_section_begin(h, page, "steps", "Steps", TM_SECTION_OF_JOB, NULL);
  if (n > TM_GRAPH_STEPS) {
    add_table(h, page);
  } else {
    add_graph(h, page->job);
    add_bars(h, page);
    tm_html_open(h, "details class='more'");
    tm_html_put(h, "summary", "The steps as a table");
    add_table(h, page);
    tm_html_close(h, "details");
  }
  tm_section_end(h);
}
