/* section_profile.c - where the workers were when a sample was taken: a flame graph, the outermost
 * frame on top, and the hottest lines beside it. */
#include <math.h>
#include <stdio.h>

#include "base/path.h"
#include "base/text.h"
#include "page/figures.h"
#include "page/cells.h"
#include "page/section.h"
#include "page/stacks.h"
#include "page/svg.h"

#define FRAME_HEIGHT 19
#define FRAMES_MAX   2000
#define FRAME_LEAST  0.0005 /* of all samples */
#define LABEL_LEAST  2.5    /* percent of the width */
#define HOT_LINES    15

struct flame {
  struct tm_html *h;
  const struct tm_stacks *s;
  double all;
  size_t shown;
  int64_t left_out; /* samples in frames that are not drawn */
  int depth;
};

static bool is_shown(const struct flame *f, const struct tm_stack_node *n)
{
  return (double)n->samples >= FRAME_LEAST * f->all && f->shown < FRAMES_MAX;
}

/* How deep the picture is, and which frames it has: outer ones before inner ones. */
static bool *choose(struct flame *f)
{
  bool *is_in = tm_xcalloc(f->s->nodes.len, sizeof(*is_in));
  for (int depth = 0; depth <= TM_STACK_DEPTH; depth++)
    for (size_t i = 0; i < f->s->nodes.len; i++) {
      const struct tm_stack_node *n = &f->s->nodes.at[i];
      if (n->depth != depth || (i > 0 && !is_in[n->parent]))
        continue;
      is_in[i] = is_shown(f, n);
      f->shown += is_in[i];
      f->left_out += is_in[i] ? 0 : n->samples;
      f->depth = is_in[i] ? depth : f->depth;
    }
  return is_in;
}

/* "json.lua:12": paths are long, and begin with what says least. The title has all of it. */
static const char *label_of(const struct tm_stack_node *n)
{
  const char *base = tm_path_base(n->name);
  return *base ? base : n->name;
}

static void add_frame(struct flame *f, size_t i, double from)
{
  const struct tm_stack_node *n = &f->s->nodes.at[i];
  double width = 100 * (double)n->samples / f->all;
  struct tm_buf title = TM_BUF_NONE;
  tm_buf_printf(&title, "%s: ", n->name);
  tm_text_percent(&title, (double)n->samples / f->all);
  tm_html_open(f->h, "svg class='frame'");
  tm_html_attr_percent(f->h, "x", 100 * from);
  tm_html_attr_percent(f->h, "width", width);
  tm_html_attr_num(f->h, "y", n->depth * (double)FRAME_HEIGHT);
  tm_html_attr_num(f->h, "height", FRAME_HEIGHT - 1);
  tm_html_open(f->h, "rect width='100%' height='100%' fill='#7fb0c8'");
  tm_html_attrf(f->h, "fill-opacity", "%.1f",
                n->self * 2 > n->samples ? 0.7
                : n->depth % 2           ? 0.4
                                         : 0.5);
  tm_html_put(f->h, "title", tm_buf_str(&title));
  tm_html_close(f->h, "rect");
  if (width >= LABEL_LEAST)
    tm_svg_label(f->h,
                 &(struct tm_svg_label) {
                     .x = 4, .y = 13, .size = 11.5, .paint = TM_PAINT_INK, .text = label_of(n) });
  tm_html_close(f->h, "svg");
  tm_buf_release(&title);
}

static void add_frames(struct flame *f, const bool *is_in)
{
  double *from = tm_xcalloc(f->s->nodes.len, sizeof(*from));
  for (size_t i = 0; i < f->s->nodes.len; i++) { /* parents come before their children */
    const struct tm_stack_node *n = &f->s->nodes.at[i];
    double at = from[i];
    for (size_t c = n->child; c != 0; c = f->s->nodes.at[c].next) {
      from[c] = at;
      at += (double)f->s->nodes.at[c].samples / f->all;
    }
    if (is_in[i])
      add_frame(f, i, from[i]);
  }
  free(from);
}

static char *sentence_of(const struct flame *f, const struct tm_stack_line *hot, size_t len)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_str(&text, "Flame graph of ");
  tm_figure_count(&text, (int64_t)f->all, "sample", "samples");
  for (size_t i = 0; i < len && i < 3; i++) {
    tm_buf_add_str(&text, i == 0 ? ": the hottest lines are " : ", ");
    tm_buf_printf(&text, "%s (", hot[i].name);
    tm_text_percent(&text, (double)hot[i].self / f->all);
    tm_buf_add_char(&text, ')');
  }
  tm_buf_add_char(&text, '.');
  return tm_buf_take(&text);
}

static void add_graph(struct flame *f, const struct tm_stack_line *hot, size_t len)
{
  bool *is_in = choose(f);
  char *sentence = sentence_of(f, hot, len);
  tm_html_open(f->h, "div");
  tm_html_open(f->h, "figure class='flame'");
  tm_svg_open(f->h, &(struct tm_svg_picture) { .class_name = "flame-graph",
                                               .sentence = sentence,
                                               .height = (f->depth + 1) * (double)FRAME_HEIGHT });
  add_frames(f, is_in);
  tm_svg_close(f->h);
  tm_html_open(f->h, "figcaption class='more'");
  tm_html_text(f->h,
               "Each frame is called by the one above it; its width is its share of the samples.");
  if (f->left_out > 0) {
    struct tm_buf text = TM_BUF_NONE;
    tm_buf_add_str(&text, " Too narrow to be shown: ");
    tm_text_percent(&text, (double)f->left_out / f->all);
    tm_buf_add_char(&text, '.');
    tm_html_text(f->h, tm_buf_str(&text));
    tm_buf_release(&text);
  }
  tm_html_close(f->h, "figcaption");
  tm_html_close(f->h, "figure");
  tm_html_close(f->h, "div");
  free(sentence);
  free(is_in);
}

static void add_hot(struct tm_html *h, const struct tm_stack_line *hot, size_t len, double all)
{
  static const char *const head[] = { "Line", "#Itself", "#With calls", NULL };
  tm_html_open(h, "div class='hot'");
  tm_page_table_begin(h, "The hottest lines", head);
  for (size_t i = 0; i < len; i++) {
    tm_html_open(h, "tr");
    tm_html_open(h, "td class='path'");
    tm_html_name(h, hot[i].name);
    tm_html_close(h, "td");
    tm_cell_share(h, (double)hot[i].self, all);
    tm_cell_share(h, (double)hot[i].samples, all);
    tm_html_close(h, "tr");
  }
  tm_page_table_end(h);
  tm_html_close(h, "div");
}

static void add_bad_lines(struct tm_html *h, int64_t n)
{
  struct tm_buf text = TM_BUF_NONE;
  if (n == 0)
    return;
  tm_figure_count(&text, n, "line is not a stack with its samples, and was left out.",
                  "lines are not stacks with their samples, and were left out.");
  tm_html_put(h, "p class='more'", tm_buf_str(&text));
  tm_buf_release(&text);
}

void tm_section_profile(struct tm_html *h, const struct tm_job_page *page)
{
  struct tm_stacks stacks;
  struct tm_buf small = TM_BUF_NONE;
  size_t len = 0;
  if (page->profiles_len == 0)
    return;
  tm_stacks_init(&stacks);
  for (size_t i = 0; i < page->profiles_len; i++)
    tm_stacks_add(&stacks, page->profiles[i].text, page->profiles[i].len);
  tm_stacks_settle(&stacks);
  struct flame f = { .h = h, .s = &stacks, .all = (double)stacks.nodes.at[0].samples };
  struct tm_stack_line *hot = tm_stacks_hot(&stacks, HOT_LINES, &len);
  if (f.all > 0 || stacks.bad_lines > 0) {
    tm_figure_count(&small, stacks.nodes.at[0].samples, "sample", "samples");
    tm_section_begin(h, page, "profile", "Profile", TM_SECTION_OF_JOB, tm_buf_str(&small));
    if (f.all > 0) {
      tm_html_open(h, "div class='two profile'");
      add_graph(&f, hot, len);
      add_hot(h, hot, len, f.all);
      tm_html_close(h, "div");
    }
    add_bad_lines(h, stacks.bad_lines);
    tm_section_end(h);
  }
  free(hot);
  tm_buf_release(&small);
  tm_stacks_release(&stacks);
}
