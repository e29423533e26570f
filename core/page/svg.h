/* svg.h - pictures, as SVG with presentation attributes alone: a reader that applies no style sheet
 * shows the same picture in light colours. report.css gives each meaning its colour of the theme by
 * its class.
 *
 *   tm_svg_open(h, &picture); tm_svg_rect(h, TM_PAINT_DONE, 0, 0, 40, 12, NULL); tm_svg_close(h);
 *
 * Each picture has a sentence that says what it shows. A fixed picture scales as a whole. A fluid
 * one is as wide as the page and has a fixed height; in it, text is placed by percent and keeps its
 * size, and the drawing is in a nested picture that stretches:
 *
 *   tm_svg_open(h, &fluid);
 *   tm_svg_label(h, &(struct tm_svg_label){ .percent = 12, .y = 20, .text = "400" });
 *   tm_svg_stretch_open(h, &(struct tm_svg_stretch){ 12, 88, 0, 92, 1000, 92 }); ...
 *   tm_svg_stretch_close(h);
 *   tm_svg_close(h);
 */
#ifndef TM_PAGE_SVG_H
#define TM_PAGE_SVG_H

#include "page/html.h"

enum tm_paint { /* the six meanings, and the rest of a picture */
                TM_PAINT_DONE,
                TM_PAINT_FAILED,
                TM_PAINT_DIED,
                TM_PAINT_LOADING,
                TM_PAINT_INIT,
                TM_PAINT_NOTHING,
                TM_PAINT_INK,
                TM_PAINT_DIM,
                TM_PAINT_RULE,
                TM_PAINT_GAP,
                TM_PAINT_PAPER,
                TM_PAINTS
};

/* "done", and its colour in light, "#2a6f97". Failed is also a pattern: tm_svg_defs(). */
const char *tm_paint_name(enum tm_paint p);
const char *tm_paint_colour(enum tm_paint p);

struct tm_svg_picture {
  const char *class_name; /* a literal */
  const char *sentence;
  double width, height; /* width 0: fluid */
};
void tm_svg_open(struct tm_html *h, const struct tm_svg_picture *picture);

void tm_svg_close(struct tm_html *h);

/* A picture in a fluid one, which stretches: where it is, and the size of its own units. */
struct tm_svg_stretch {
  double percent, width_percent, y, height; /* in the fluid picture */
  double inner_width, inner_height;
};
void tm_svg_stretch_open(struct tm_html *h, const struct tm_svg_stretch *s);
void tm_svg_stretch_close(struct tm_html *h);

/* The hatching of failed areas; once in a page, before the first picture. */
void tm_svg_defs(struct tm_html *h);

/* Shapes. `title`: what a reader sees when the pointer rests on it; NULL: nothing. Failed areas are
 * hatched. */
void tm_svg_rect(struct tm_html *h, enum tm_paint fill, double x, double y, double width,
                 double height, const char *title);
/* The same without a title, left open for attributes. */
void tm_svg_rect_tag(struct tm_html *h, enum tm_paint fill, double x, double y, double width,
                     double height);
/* The outline of a box with round corners; `width`: of the line. */
void tm_svg_frame(struct tm_html *h, enum tm_paint line, const double box[4], double line_width,
                  bool is_dashed);
void tm_svg_circle(struct tm_html *h, enum tm_paint fill, double x, double y, double radius,
                   const char *title);
void tm_svg_rule(struct tm_html *h, enum tm_paint line, double x1, double y1, double x2, double y2);

/* A path: an area, or a line that is `line_width` wide on the screen however its picture stretches.
 * Then its points; then the end. */
void tm_svg_area_begin(struct tm_html *h, enum tm_paint fill, double opacity);
void tm_svg_line_begin(struct tm_html *h, enum tm_paint line, double line_width);
void tm_svg_move(struct tm_html *h, double x, double y);
void tm_svg_to(struct tm_html *h, double x, double y);
void tm_svg_across(struct tm_html *h, double x);              /* horizontally */
void tm_svg_down(struct tm_html *h, double y);                /* vertically */
void tm_svg_curve(struct tm_html *h, const double points[6]); /* a cubic one */
void tm_svg_path_end(struct tm_html *h, const char *title);

enum tm_svg_anchor { TM_SVG_START, TM_SVG_MIDDLE, TM_SVG_END };

struct tm_svg_label {
  double percent, x, y; /* at percent of the width of a fluid picture, x px to the right of that */
  double size;          /* px; 0: 11 */
  enum tm_svg_anchor anchor;
  enum tm_paint paint; /* 0, done, is ink: text is never a mark */
  bool is_bold;
  const char *text;
};
void tm_svg_label(struct tm_html *h, const struct tm_svg_label *label);

#endif
