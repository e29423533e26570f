/* svg.c - see svg.h. A mark has a class for its colour and the light colour itself as an attribute,
 * which counts where no style sheet is applied. */
#include "page/svg.h"

#include <string.h>

#include "base/check.h"

static const struct {
  const char *name, *colour;
} paints[TM_PAINTS] = {
  [TM_PAINT_DONE] = { "done", "#2a6f97" },   [TM_PAINT_FAILED] = { "failed", "#b3390a" },
  [TM_PAINT_DIED] = { "died", "#3d3d3d" },   [TM_PAINT_LOADING] = { "loading", "#7fb0c8" },
  [TM_PAINT_INIT] = { "init", "#bfa637" },   [TM_PAINT_NOTHING] = { "nothing", "#d9d6cf" },
  [TM_PAINT_INK] = { "ink", "#22201c" },     [TM_PAINT_DIM] = { "dim", "#666259" },
  [TM_PAINT_RULE] = { "rule", "#e4e1da" },   [TM_PAINT_GAP] = { "gap", "#efece5" },
  [TM_PAINT_PAPER] = { "paper", "#ffffff" },
};

const char *tm_paint_name(enum tm_paint p)
{
  tm_require(p >= 0 && p < TM_PAINTS);
  return paints[p].name;
}

const char *tm_paint_colour(enum tm_paint p)
{
  tm_require(p >= 0 && p < TM_PAINTS);
  return paints[p].colour;
}

void tm_svg_open(struct tm_html *h, const struct tm_svg_picture *picture)
{
  tm_require(picture->sentence);
  tm_html_open(h, "svg role='img' font-family='system-ui, sans-serif'");
  tm_html_attr(h, "class", picture->class_name);
  tm_html_attr(h, "aria-label", picture->sentence);
  if (picture->width > 0) {
    tm_html_attr_begin(h, "viewBox");
    tm_html_attr_piece(h, '\0', 0);
    tm_html_attr_piece(h, ' ', 0);
    tm_html_attr_piece(h, ' ', picture->width);
    tm_html_attr_piece(h, ' ', picture->height);
    tm_html_attr_end(h);
    tm_html_attr_num(h, "width", picture->width);
  } else {
    tm_html_attr_percent(h, "width", 100);
  }
  tm_html_attr_num(h, "height", picture->height);
}

void tm_svg_close(struct tm_html *h)
{
  tm_html_close(h, "svg");
}

void tm_svg_stretch_open(struct tm_html *h, const struct tm_svg_stretch *s)
{
  tm_html_open(h, "svg preserveAspectRatio='none'");
  tm_html_attr_percent(h, "x", s->percent);
  tm_html_attr_num(h, "y", s->y);
  tm_html_attr_percent(h, "width", s->width_percent);
  tm_html_attr_num(h, "height", s->height);
  tm_html_attr_begin(h, "viewBox");
  tm_html_attr_piece(h, '\0', 0);
  tm_html_attr_piece(h, ' ', 0);
  tm_html_attr_piece(h, ' ', s->inner_width);
  tm_html_attr_piece(h, ' ', s->inner_height);
  tm_html_attr_end(h);
}

void tm_svg_stretch_close(struct tm_html *h)
{
  tm_html_close(h, "svg");
}

void tm_svg_defs(struct tm_html *h)
{
  tm_html_open(h, "svg width='0' height='0' aria-hidden='true' class='defs'");
  tm_html_open(h, "defs");
  tm_html_open(h, "pattern id='hatch' width='7' height='7' patternUnits='userSpaceOnUse' "
                  "patternTransform='rotate(45)'");
  tm_html_void(h, "rect class='failed-ground' width='7' height='7' fill='#ca7453'");
  tm_html_void(h, "rect class='failed-line' width='4' height='7' fill='#b3390a'");
  tm_html_close(h, "pattern");
  tm_html_close(h, "defs");
  tm_html_close(h, "svg");
}

static void add_fill(struct tm_html *h, enum tm_paint fill)
{
  tm_html_attr(h, "class", tm_paint_name(fill));
  tm_html_attr(h, "fill", fill == TM_PAINT_FAILED ? "url(#hatch)" : tm_paint_colour(fill));
}

static void add_stroke(struct tm_html *h, enum tm_paint line, double width)
{
  tm_html_attrf(h, "class", "%s-line", tm_paint_name(line));
  tm_html_attr(h, "fill", "none");
  tm_html_attr(h, "stroke", tm_paint_colour(line));
  tm_html_attr_num(h, "stroke-width", width);
}

static void add_box(struct tm_html *h, double x, double y, double width, double height)
{
  tm_html_attr_num(h, "x", x);
  tm_html_attr_num(h, "y", y);
  tm_html_attr_num(h, "width", width);
  tm_html_attr_num(h, "height", height);
}

void tm_svg_rect_tag(struct tm_html *h, enum tm_paint fill, double x, double y, double width,
                     double height)
{
  tm_html_void(h, "rect");
  add_fill(h, fill);
  add_box(h, x, y, width, height);
}

void tm_svg_rect(struct tm_html *h, enum tm_paint fill, double x, double y, double width,
                 double height, const char *title)
{
  if (!title) {
    tm_svg_rect_tag(h, fill, x, y, width, height);
    return;
  }
  tm_html_open(h, "rect");
  add_fill(h, fill);
  add_box(h, x, y, width, height);
  tm_html_put(h, "title", title);
  tm_html_close(h, "rect");
}

void tm_svg_frame(struct tm_html *h, enum tm_paint line, const double box[4], double line_width,
                  bool is_dashed)
{
  tm_html_void(h, "rect rx='6'");
  add_stroke(h, line, line_width);
  add_box(h, box[0], box[1], box[2], box[3]);
  tm_html_attr(h, "stroke-dasharray", is_dashed ? "4 4" : NULL);
}

void tm_svg_circle(struct tm_html *h, enum tm_paint fill, double x, double y, double radius,
                   const char *title)
{
  tm_html_open(h, "circle");
  add_fill(h, fill);
  tm_html_attr_num(h, "cx", x);
  tm_html_attr_num(h, "cy", y);
  tm_html_attr_num(h, "r", radius);
  if (title)
    tm_html_put(h, "title", title);
  tm_html_close(h, "circle");
}

void tm_svg_rule(struct tm_html *h, enum tm_paint line, double x1, double y1, double x2, double y2)
{
  tm_html_void(h, "line vector-effect='non-scaling-stroke'");
  add_stroke(h, line, 1);
  tm_html_attr_num(h, "x1", x1);
  tm_html_attr_num(h, "y1", y1);
  tm_html_attr_num(h, "x2", x2);
  tm_html_attr_num(h, "y2", y2);
}

void tm_svg_area_begin(struct tm_html *h, enum tm_paint fill, double opacity)
{
  tm_html_open(h, "path");
  add_fill(h, fill);
  if (opacity < 1)
    tm_html_attr_num(h, "fill-opacity", opacity);
  tm_html_attr_begin(h, "d");
}

void tm_svg_line_begin(struct tm_html *h, enum tm_paint line, double line_width)
{
  tm_html_open(h, "path vector-effect='non-scaling-stroke'");
  add_stroke(h, line, line_width);
  tm_html_attr_begin(h, "d");
}

static void add_point(struct tm_html *h, char letter, double x, double y)
{
  tm_html_attr_piece(h, letter, x);
  tm_html_attr_piece(h, ' ', y);
}

void tm_svg_move(struct tm_html *h, double x, double y)
{
  add_point(h, 'M', x, y);
}

void tm_svg_to(struct tm_html *h, double x, double y)
{
  add_point(h, 'L', x, y);
}

void tm_svg_across(struct tm_html *h, double x)
{
  tm_html_attr_piece(h, 'H', x);
}

void tm_svg_down(struct tm_html *h, double y)
{
  tm_html_attr_piece(h, 'V', y);
}

void tm_svg_curve(struct tm_html *h, const double points[6])
{
  for (int i = 0; i < 6; i += 2)
    add_point(h, i == 0 ? 'C' : ' ', points[i], points[i + 1]);
}

void tm_svg_path_end(struct tm_html *h, const char *title)
{
  tm_html_attr_end(h);
  if (title)
    tm_html_put(h, "title", title);
  tm_html_close(h, "path");
}

void tm_svg_label(struct tm_html *h, const struct tm_svg_label *label)
{
  static const char *const anchors[] = { NULL, "middle", "end" };
  enum tm_paint paint = label->paint == TM_PAINT_DONE ? TM_PAINT_INK : label->paint;
  tm_html_open(h, "text");
  add_fill(h, paint);
  if (label->percent != 0)
    tm_html_attr_percent(h, "x", label->percent);
  else
    tm_html_attr_num(h, "x", label->x);
  if (label->percent != 0 && label->x != 0)
    tm_html_attr_num(h, "dx", label->x);
  tm_html_attr_num(h, "y", label->y);
  tm_html_attr_num(h, "font-size", label->size > 0 ? label->size : 11);
  tm_html_attr(h, "text-anchor", anchors[label->anchor]);
  tm_html_attr(h, "font-weight", label->is_bold ? "600" : NULL);
  tm_html_text(h, label->text);
  tm_html_close(h, "text");
}
