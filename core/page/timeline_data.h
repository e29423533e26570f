/* timeline_data.h - the timeline's numbers for report.js, which shows them under the pointer and at
 * any scale: JSON, in which long rows of numbers are base64 of little-endian arrays. Pure.
 *
 * Times are seconds since the first session began. Members:
 *   origin, total   the moment of 0 (seconds since the epoch), the end of the axis
 *   pieces          of the axis: [from, to, x of from, x of to, 1 if it is folded]
 *   rows            {id, from, width, top, values}: float32, NaN is a gap; `second` likewise
 *   lanes           {count, nodes, height, lives: [[name, lane, from, to, died]]}, and
 *     cells         {width, count, data}: bytes of lane_cells.h, lane after lane; or
 *     boxes         {count, lane: uint16, from: float64, elapsed: float32, mini: float64,
 *                   tries: uint8 (255: or more), category: uint8}
 */
#ifndef TM_PAGE_TIMELINE_DATA_H
#define TM_PAGE_TIMELINE_DATA_H

#include "page/timeline.h"

#define TM_LIVES_SHOWN 2000 /* names of workers; with more of them, none */

void tm_timeline_data(struct tm_buf *json, const struct tm_timeline *t,
                      const struct tm_step_model *m, struct tm_timeline_detail detail);
/* "AAEC" */
void tm_base64(struct tm_buf *text, const void *bytes, size_t n);

#endif
