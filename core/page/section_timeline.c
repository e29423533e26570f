/* section_timeline.c - the timeline: sessions, what stands out, the quantities over time and the
 * lanes on one axis; and the same as a table. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "page/figures.h"
#include "page/lane_picture.h"
#include "page/cells.h"
#include "page/section.h"
#include "page/timeline.h"
#include "page/timeline_data.h"

#define WIDTH         1048
#define HEAD_WIDTH    132
#define TABLE_ROWS    TM_AXIS_PARTS
#define NOTE_HEIGHT   20
#define SESSION_WORDS 20  /* percent of the axis: room for more than its number */
#define NOTE_MIN      2.2 /* percent of the axis */

/* ---- sessions ---- */

/* A nested picture at a place of the axis, which the script moves when the axis changes. */
static void open_span(struct tm_html *h, double from, double to, double y, double height)
{
  tm_html_open(h, "svg class='span'");
  tm_html_attr_percent(h, "x", from);
  tm_html_attr_num(h, "y", y);
  tm_html_attr_percent(h, "width", to - from);
  tm_html_attr_num(h, "height", height);
  tm_html_attrf(h, "data-from", "%.6f", from / 100);
  tm_html_attrf(h, "data-to", "%.6f", to / 100);
}

/* How a session ended, as far as that is known: the last one as the step did; one before it was
 * interrupted if a worker of it has no end. */
static const char *end_of_session(const struct tm_job_page *page, size_t i)
{
  const struct tm_step_model *m = tm_page_model(page);
  if (i + 1 == m->sessions.len)
    return tm_page_state_of_step(tm_page_fact(page)).word;
  for (size_t k = 0; k < m->workers.list.len; k++)
    if (m->workers.list.at[k].session == i && !m->workers.list.at[k].end)
      return "Interrupted";
  return NULL;
}

static void add_session(struct tm_html *h, const struct tm_job_page *page,
                        const struct tm_timeline *t, size_t i)
{
  const struct tm_step_session *s = &tm_page_model(page)->sessions.at[i];
  const char *ended = end_of_session(page, i);
  struct tm_buf text = TM_BUF_NONE, title = TM_BUF_NONE;
  int64_t end = s->end_ns;
  double from = 100 * tm_axis_x(&t->axis, s->begin_ns), to = 100 * tm_axis_x(&t->axis, end);
  tm_buf_printf(&text, "%zu", i + 1);
  if (to - from > SESSION_WORDS) {
    tm_buf_add_str(&text, " · ");
    tm_figure_count(&text, s->mini_batches, "mini-batch", "mini-batches");
    if (ended)
      tm_buf_printf(&text, " · %s", ended);
  }
  tm_buf_printf(&title, "session %zu, from ", i + 1);
  tm_time_second(&title, s->begin_ns);
  tm_buf_add_str(&title, " to ");
  tm_time_second(&title, end);
  tm_buf_add_str(&title, ": ");
  tm_figure_count(&title, s->mini_batches, "mini-batch", "mini-batches");
  if (ended)
    tm_buf_printf(&title, ", %s", ended);
  open_span(h, from, fmax(to, from + 0.3), 0, 24);
  tm_html_open(h, "rect class='session' fill='#f3f1eb' width='100%' height='24'");
  tm_html_put(h, "title", tm_buf_str(&title));
  tm_html_close(h, "rect");
  tm_svg_rect(h, TM_PAINT_DIM, 0, 0, 3, 24, NULL);
  tm_svg_label(
      h, &(struct tm_svg_label) {
             .x = 10, .y = 16, .size = 12, .paint = TM_PAINT_DIM, .text = tm_buf_str(&text) });
  tm_html_close(h, "svg");
  tm_buf_release(&text);
  tm_buf_release(&title);
}

static void add_sessions(struct tm_html *h, const struct tm_job_page *page,
                         const struct tm_timeline *t)
{
  const struct tm_step_model *m = tm_page_model(page);
  if (m->sessions.len < 2)
    return;
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_printf(&text, "%zu sessions:", m->sessions.len);
  for (size_t i = 0; i < m->sessions.len && i < 20; i++) {
    tm_buf_add_str(&text, i > 0 ? ", then " : " ");
    tm_time_precise(&text, m->sessions.at[i].end_ns - m->sessions.at[i].begin_ns);
  }
  tm_plot_row_open(h, "sessions", "Sessions", "");
  tm_svg_open(h, &(struct tm_svg_picture) {
                     .class_name = "chart", .sentence = tm_buf_str(&text), .height = 24 });
  for (size_t i = 0; i < m->sessions.len; i++)
    if (m->sessions.at[i].begin_ns < t->axis.to_ns && m->sessions.at[i].end_ns > t->axis.from_ns)
      add_session(h, page, t, i);
  tm_svg_close(h);
  tm_plot_row_close(h);
  tm_buf_release(&text);
}

/* ---- what stands out ---- */

struct note {
  const struct tm_finding *finding;
  double from, to; /* percent */
  size_t row;
};

/* The findings that have a place on the axis, each in the first row that has room for it. */
static size_t place_notes(const struct tm_job_page *page, const struct tm_axis *axis,
                          struct note notes[TM_FINDINGS_MAX])
{
  size_t n = 0;
  for (size_t i = 0; page->findings && i < page->findings->len; i++) {
    const struct tm_finding *f = &page->findings->at[i];
    if (f->step != page->step || f->to_ns <= f->from_ns || f->from_ns >= axis->to_ns ||
        f->to_ns <= axis->from_ns)
      continue;
    struct note note = { f, 100 * tm_axis_x(axis, f->from_ns), 100 * tm_axis_x(axis, f->to_ns), 0 };
    note.to = fmax(note.to, note.from + NOTE_MIN);
    note.from -= fmax(0, note.to - 100);
    note.to = fmin(note.to, 100);
    for (size_t k = 0; k < n;)
      if (notes[k].row == note.row && notes[k].from < note.to && notes[k].to > note.from) {
        note.row++;
        k = 0;
      } else {
        k++;
      }
    notes[n++] = note;
  }
  return n;
}

static void add_note(struct tm_html *h, const struct tm_timeline *t, const struct note *n)
{
  const char letter[] = { n->finding->letter, '\0' };
  bool is_high = n->finding->weight == TM_WEIGHT_HIGH;
  struct tm_buf title = TM_BUF_NONE;
  const char *head = tm_text_or_empty(n->finding->head);
  tm_buf_printf(&title, "%s: %.*s, from ", letter, (int)strcspn(head, ":"), head);
  tm_axis_add_moment(&title, &t->axis, n->finding->from_ns);
  tm_buf_add_str(&title, " to ");
  tm_axis_add_moment(&title, &t->axis, n->finding->to_ns);
  tm_html_open(h, "a");
  tm_html_href_idf(h, "finding-%c", n->finding->letter - 'A' + 'a');
  tm_html_attr(h, "aria-label", tm_buf_str(&title));
  tm_html_attr(h, "class", is_high ? "note high" : "note");
  open_span(h, n->from, n->to, (double)n->row * NOTE_HEIGHT, NOTE_HEIGHT - 2);
  tm_html_open(h, "rect class='note-box' x='1' y='1' width='100%' height='100%' rx='3'");
  tm_html_attr(h, "fill", is_high ? "#b3390a" : "#ffffff");
  tm_html_attr(h, "stroke", "#b3390a");
  tm_html_attr(h, "stroke-width", "1.5");
  tm_html_put(h, "title", tm_buf_str(&title));
  tm_html_close(h, "rect");
  tm_html_open(h, "text class='note-letter' x='50%' y='14' font-size='12' font-weight='600' "
                  "text-anchor='middle'");
  tm_html_attr(h, "fill", is_high ? "#ffffff" : "#b3390a");
  tm_html_text(h, letter);
  tm_html_close(h, "text");
  tm_html_close(h, "svg");
  tm_html_close(h, "a");
  tm_buf_release(&title);
}

static void add_notes(struct tm_html *h, const struct tm_job_page *page,
                      const struct tm_timeline *t)
{
  struct note notes[TM_FINDINGS_MAX];
  size_t n = place_notes(page, &t->axis, notes), rows = 0;
  if (n == 0)
    return;
  for (size_t i = 0; i < n; i++)
    rows = notes[i].row + 1 > rows ? notes[i].row + 1 : rows;
  tm_plot_row_open(h, "notes", "Noted", "");
  tm_html_open(h, "svg class='chart notes' role='group' width='100%' overflow='visible'"
                  " font-family='system-ui, sans-serif'");
  tm_html_attr(h, "aria-label", "What stands out, where it was");
  tm_html_attr_num(h, "height", (double)(rows * NOTE_HEIGHT));
  for (size_t i = 0; i < n; i++)
    add_note(h, t, &notes[i]);
  tm_html_close(h, "svg");
  tm_plot_row_close(h);
}

/* ---- key, table, data ---- */

static void add_key_entry(struct tm_html *h, enum tm_paint paint, const char *words)
{
  tm_html_open(h, "li");
  tm_html_open(h, "svg class='key' width='14' height='14' aria-hidden='true'");
  switch (paint) {
  case TM_PAINT_DIED: tm_svg_rect(h, paint, 5, 0, 3, 14, NULL); break;
  case TM_PAINT_NOTHING: tm_svg_rect(h, TM_PAINT_DIM, 0, 6.5, 14, 1, NULL); break;
  case TM_PAINT_FAILED: tm_svg_rect(h, paint, 0, 1, 14, 12, NULL); break;
  default: tm_svg_rect(h, paint, 0, 3, 14, 8, NULL);
  }
  tm_html_close(h, "svg");
  tm_html_text(h, " ");
  tm_html_text(h, words);
  tm_html_close(h, "li");
}

static bool has_open(const struct tm_step_model *m)
{
  size_t i = 0;
  while (i < m->workers.list.len && m->workers.list.at[i].open.elapsed_ns == 0)
    i++;
  return i < m->workers.list.len;
}

static void add_key(struct tm_html *h, const struct tm_step_model *m)
{
  tm_html_open(h, "ul class='key-row'");
  add_key_entry(h, TM_PAINT_DONE, "run()");
  if (m->tries_failed > 0)
    add_key_entry(h, TM_PAINT_FAILED, "a try that failed");
  if (has_open(m))
    add_key_entry(h, TM_PAINT_DIM, "run() that has not ended, or was cut off");
  add_key_entry(h, TM_PAINT_LOADING, "loading, handing over");
  add_key_entry(h, TM_PAINT_INIT, "starting, and init()");
  if (m->workers.deaths > 0)
    add_key_entry(h, TM_PAINT_DIED, "killed, or died");
  add_key_entry(h, TM_PAINT_NOTHING, "nothing to do");
  tm_html_close(h, "ul");
}

static double value_at(const struct tm_series *s, int64_t from, int64_t to)
{
  double sum = 0, n = 0;
  for (size_t i = 0; i < s->len; i++) {
    int64_t at = s->from_ns + (int64_t)i * s->width_ns;
    if (at + s->width_ns > from && at < to && !isnan(s->at[i])) {
      sum += s->at[i];
      n++;
    }
  }
  return n > 0 ? sum / n : NAN;
}

static void add_cell(struct tm_html *h, double value)
{
  struct tm_buf text = TM_BUF_NONE;
  if (isnan(value))
    tm_buf_add_str(&text, "–");
  else
    tm_figure_number(&text, value);
  tm_html_put(h, "td class='num'", tm_buf_str(&text));
  tm_buf_release(&text);
}

static void add_table_row(struct tm_html *h, const struct tm_timeline *t, int64_t from, int64_t to)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_axis_add_moment(&text, &t->axis, from);
  tm_html_open(h, "tr");
  tm_html_put(h, "th scope='row'", tm_buf_str(&text));
  for (size_t i = 0; i < t->len; i++)
    add_cell(h, value_at(&t->rows[i].series, from, to));
  tm_html_close(h, "tr");
  tm_buf_release(&text);
}

static char *column_of(const struct tm_timeline_row *r)
{
  const char *unit = tm_timeline_unit(r);
  return tm_xprintf(*unit ? "#%s, %s" : "#%s", r->label, unit);
}

static void add_table(struct tm_html *h, const struct tm_timeline *t)
{
  if (t->len == 0)
    return;
  tm_html_open(h, "details class='table'");
  tm_html_put(h, "summary", "The timeline as a table");
  const char *columns[TM_TIMELINE_ROWS + 2] = { "From" };
  char *names[TM_TIMELINE_ROWS];
  for (size_t i = 0; i < t->len; i++)
    columns[i + 1] = names[i] = column_of(&t->rows[i]);
  tm_page_table_begin(h, "Means of equal parts of the time", columns);
  for (int i = 0; i < TABLE_ROWS; i++)
    add_table_row(h, t, tm_axis_at(&t->axis, i / (double)TABLE_ROWS),
                  tm_axis_at(&t->axis, (i + 1) / (double)TABLE_ROWS));
  tm_page_table_end(h);
  tm_html_close(h, "details");
  for (size_t i = 0; i < t->len; i++)
    free(names[i]);
}

static void add_data(struct tm_html *h, const struct tm_job_page *page, const struct tm_timeline *t)
{
  struct tm_buf json = TM_BUF_NONE;
  tm_timeline_data(&json, t, tm_page_model(page), tm_timeline_detail(page));
  tm_html_json(h, "timeline-data", tm_buf_str(&json), json.len);
  tm_buf_release(&json);
}

static void add_row(struct tm_html *h, const struct tm_timeline *t, const struct tm_timeline_row *r)
{
  tm_plot_add(h, &t->axis,
              &(struct tm_plot) { .id = r->id,
                                  .label = r->label,
                                  .unit = tm_timeline_unit(r),
                                  .series = &r->series,
                                  .second = &r->second,
                                  .paint = r->paint,
                                  .form = r->form,
                                  .height = r->height,
                                  .top = r->top,
                                  .limit = r->limit,
                                  .sentence = r->sentence });
}

void tm_section_timeline(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_step_model *m = tm_page_model(page);
  struct tm_timeline t;
  if (!m || !tm_timeline_init(&t, page))
    return;
  int width = (page->width > 0 ? page->width : WIDTH) - HEAD_WIDTH;
  tm_section_begin(h, page, "timeline", "Timeline", TM_SECTION_OF_STEP, NULL);
  tm_html_open(h, "div class='timeline'");
  add_sessions(h, page, &t);
  add_notes(h, page, &t);
  for (size_t i = 0; i < t.len; i++)
    add_row(h, &t, &t.rows[i]);
  tm_lane_picture_add(h, m, &t.axis, tm_timeline_detail(page), width > 200 ? width : 200);
  tm_plot_add_time(h, &t.axis);
  tm_html_close(h, "div");
  add_key(h, m);
  add_table(h, &t);
  add_data(h, page, &t);
  tm_section_end(h);
  tm_timeline_release(&t);
}
