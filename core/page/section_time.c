/* section_time.c - "Where the time went": a bar of all the time in which workers lived, and its
 * legend, whose parts add up to the whole. */
#include "base/time.h"
#include "page/figures.h"
#include "page/cells.h"
#include "page/section.h"
#include "page/svg.h"

#define BAR_HEIGHT 34
#define BAR_UNITS  1000

struct part {
  enum tm_paint paint;
  const char *words;
  int64_t ns;
};

#define PARTS 8

static size_t parts_of(const struct tm_worker_time *t, struct part parts[PARTS])
{
  const struct part all[PARTS] = {
    { TM_PAINT_DONE, "run() of tries that succeeded", t->run_ok_ns },
    { TM_PAINT_FAILED, "run() of tries that failed", t->run_failed_ns },
    { TM_PAINT_DIM, "run() of tries that still run, or were cut off", t->run_open_ns },
    { TM_PAINT_LOADING, "loading inputs, handing over results", t->around_ns },
    { TM_PAINT_INIT, "init()", t->init_ns },
    { TM_PAINT_INIT, "starting workers, loading the script", t->start_ns },
    { TM_PAINT_NOTHING, "waiting for work", t->wait_ns },
    { TM_PAINT_GAP, "not measured: the table of tries is not whole", t->unmeasured_ns },
  };
  size_t n = 0;
  for (size_t i = 0; i < PARTS; i++)
    if (all[i].ns > 0)
      parts[n++] = all[i];
  return n;
}

static char *sentence_of(const struct part *parts, size_t n, int64_t whole)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_str(&text, "Of the time of all workers: ");
  for (size_t i = 0; i < n; i++) {
    tm_buf_add_str(&text, i > 0 ? "; " : "");
    tm_text_percent(&text, (double)parts[i].ns / (double)whole);
    tm_buf_printf(&text, " %s", parts[i].words);
  }
  tm_buf_add_char(&text, '.');
  return tm_buf_take(&text);
}

static void add_label(struct tm_html *h, const struct part *p, double from, double share)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_printf(&text, "%.0f %%", 100 * share);
  tm_html_open(h, "g");
  tm_html_attrf(h, "class", "on-%s", tm_paint_name(p->paint));
  bool is_dark =
      p->paint == TM_PAINT_DONE || p->paint == TM_PAINT_FAILED || p->paint == TM_PAINT_DIM;
  tm_svg_label(h, &(struct tm_svg_label) { .percent = 100 * from,
                                           .x = 8,
                                           .y = 22,
                                           .size = 13,
                                           .is_bold = true,
                                           .paint = is_dark ? TM_PAINT_PAPER : TM_PAINT_INK,
                                           .text = tm_buf_str(&text) });
  tm_html_close(h, "g");
  tm_buf_release(&text);
}

static void add_bar(struct tm_html *h, const struct part *parts, size_t n, int64_t whole)
{
  char *sentence = sentence_of(parts, n, whole);
  double at = 0;
  tm_svg_open(h, &(struct tm_svg_picture) {
                     .class_name = "timebar", .sentence = sentence, .height = BAR_HEIGHT });
  for (size_t i = 0; i < n; i++) {
    double share = (double)parts[i].ns / (double)whole;
    struct tm_buf title = TM_BUF_NONE;
    tm_buf_printf(&title, "%s: ", parts[i].words);
    tm_time_precise(&title, parts[i].ns);
    tm_svg_stretch_open(h, &(struct tm_svg_stretch) { 100 * at, 100 * share, 0, BAR_HEIGHT,
                                                      BAR_UNITS * share, BAR_HEIGHT });
    tm_svg_rect(h, parts[i].paint, 0, 0, BAR_UNITS * share, BAR_HEIGHT, tm_buf_str(&title));
    if (i > 0)
      tm_svg_rect(h, TM_PAINT_PAPER, 0, 0, 1.5, BAR_HEIGHT, NULL);
    tm_svg_stretch_close(h);
    if (share > 0.06)
      add_label(h, &parts[i], at, share);
    at += share;
    tm_buf_release(&title);
  }
  tm_svg_close(h);
  free(sentence);
}

static void add_key(struct tm_html *h, enum tm_paint paint)
{
  tm_html_open(h, "svg class='key' width='14' height='11' aria-hidden='true'");
  tm_svg_rect(h, paint, 0, 0, 14, 11, NULL);
  tm_html_close(h, "svg");
  tm_html_text(h, " ");
}

static void add_row(struct tm_html *h, const struct part *p, int64_t whole)
{
  tm_html_open(h, "tr");
  tm_html_open(h, "th scope='row'");
  add_key(h, p->paint);
  tm_html_text(h, p->words);
  tm_html_close(h, "th");
  tm_cell_duration(h, p->ns);
  tm_cell_share(h, (double)p->ns, (double)whole);
  tm_html_close(h, "tr");
}

static void add_legend(struct tm_html *h, const struct part *parts, size_t n, int64_t whole)
{
  tm_html_open(h, "table class='legend'");
  tm_html_put(h, "caption class='vh'", "Where the time of the workers went");
  tm_html_open(h, "thead");
  tm_html_open(h, "tr");
  tm_html_put(h, "th scope='col'", "part");
  tm_html_put(h, "th scope='col' class='num'", "time");
  tm_html_put(h, "th scope='col' class='num'", "share");
  tm_html_close(h, "tr");
  tm_html_close(h, "thead");
  tm_html_open(h, "tbody");
  for (size_t i = 0; i < n; i++)
    add_row(h, &parts[i], whole);
  tm_html_close(h, "tbody");
  tm_html_open(h, "tfoot");
  tm_html_open(h, "tr");
  tm_html_put(h, "th scope='row'", "all workers together");
  tm_cell_duration(h, whole);
  tm_cell_share(h, (double)whole, (double)whole);
  tm_html_close(h, "tr");
  tm_html_close(h, "tfoot");
  tm_html_close(h, "table");
}

void tm_section_time(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_step_model *m = tm_page_model(page);
  struct tm_worker_time time = { 0 };
  struct part parts[PARTS];
  if (m)
    tm_step_model_time(m, tm_page_now(page), &time);
  size_t n = parts_of(&time, parts);
  if (n == 0 || time.lived_ns <= 0)
    return;
  struct tm_buf small = TM_BUF_NONE;
  tm_figure_count(&small, (int64_t)m->workers.list.len + m->workers.unnamed, "worker lived",
                  "workers lived");
  tm_buf_add_char(&small, ' ');
  tm_time_precise(&small, time.lived_ns);
  tm_buf_add_str(&small, m->workers.list.len > 1 ? " together" : "");
  tm_section_begin(h, page, "time", "Where the time went", TM_SECTION_OF_STEP, tm_buf_str(&small));
  add_bar(h, parts, n, time.lived_ns);
  add_legend(h, parts, n, time.lived_ns);
  tm_section_end(h);
  tm_buf_release(&small);
}
