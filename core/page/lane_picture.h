/* lane_picture.h - the lanes of the timeline, a line for each worker slot or node. What is narrower
 * than a pixel at the page's width is merged with its neighbours, so the size of the picture is
 * bounded. A failure is drawn over successes, the taller the more of the time failed. */
#ifndef TM_PAGE_LANE_PICTURE_H
#define TM_PAGE_LANE_PICTURE_H

#include "insight/step_model.h"
#include "page/axis.h"
#include "page/html.h"
#include "page/timeline.h"

#define TM_LANE_MARKS 2000 /* deaths that are drawn at most */

/* `width`: px of the axis. */
void tm_lane_picture_add(struct tm_html *h, const struct tm_step_model *m,
                         const struct tm_axis *axis, struct tm_timeline_detail detail, int width);
/* The box of a try that the worker has not ended, or did not: false, there is none, or its lane has
 * more than one slot. */
#define TM_BOX_RUNS TM_CATEGORIES /* `category` of one that runs */
bool tm_lane_open_box(struct tm_box *out, const struct tm_step_model *m,
                      const struct tm_worker_life *w);
/* px of a lane, when there are so many. */
int tm_lane_height(size_t lanes);

#endif
