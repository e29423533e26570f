/* axis.h - the axes of pictures: where a moment stands on the axis of time, and at which values an
 * axis has its ticks. Pure.
 *
 * The sessions of a job share one axis. A gap between two of them that is longer than TM_AXIS_FOLD
 * of the axis is folded: it gets a narrow piece. What is folded does not count as length, so all
 * long gaps are folded, however much longer one of them is.
 */
#ifndef TM_PAGE_AXIS_H
#define TM_PAGE_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"

#define TM_AXIS_FOLD   0.05
#define TM_AXIS_NARROW 0.02 /* of the axis, for a folded piece */
#define TM_AXIS_FOLDS  0.3  /* of the axis, for all of them */
#define TM_TICKS_MAX   16
#define TM_AXIS_PARTS  24

struct tm_axis_span { /* of a session; `to_ns` > `from_ns` */
  int64_t from_ns, to_ns;
};

struct tm_axis_piece {
  int64_t from_ns, to_ns;
  double from, to; /* on the axis, 0 to 1 */
  bool is_folded;
};

struct tm_axis {
  int64_t origin_ns; /* what ticks of time count from */
  int64_t from_ns, to_ns;
  struct TM_ARRAY(struct tm_axis_span) spans;   /* the sessions in it: in order, none overlaps */
  struct TM_ARRAY(struct tm_axis_piece) pieces; /* all of it */
};

/* From `from_ns` to `to_ns`, which is later. `spans`: in any order. */
void tm_axis_init(struct tm_axis *a, int64_t from_ns, int64_t to_ns,
                  const struct tm_axis_span *spans, size_t n);
void tm_axis_release(struct tm_axis *a);
/* Where a moment is, 0 to 1; moments outside of the axis are at its ends. */
double tm_axis_x(const struct tm_axis *a, int64_t ns);
int64_t tm_axis_at(const struct tm_axis *a, double x);
/* Whether a session has some of this time. Without any sessions: yes. */
bool tm_axis_has(const struct tm_axis *a, int64_t from_ns, int64_t to_ns);

struct tm_tick {
  double at; /* 0 to 1 */
  char text[24];
};
/* About `want` ticks, at most TM_TICKS_MAX; *unit: what they count, "h:min since the start".
 * Neighbours are at least 0.6 / want apart. */
size_t tm_axis_time_ticks(const struct tm_axis *a, size_t want, struct tm_tick *out,
                          const char **unit);
/* Ticks of an axis from 0 to `top` > 0, at most `want` of them besides 0, which is not one. */
size_t tm_axis_value_ticks(double top, size_t want, struct tm_tick *out);
/* A moment as time since the start: "1:02:05", "2:05", "5.2 s", "410 ms". It is so exact that the
 * beginnings of TM_AXIS_PARTS equal parts of the axis differ. */
void tm_axis_add_moment(struct tm_buf *text, const struct tm_axis *a, int64_t ns);

#endif
