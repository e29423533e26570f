/* lane_cells.h - a piece of a lane as one byte: what the workers of the lane were doing in some
 * time. Pure.
 *
 *   bits 0 to 2   how much of the time was in run(), successes, failures and tries without an
 *                 end together: 0 to 7
 *   bits 3 to 5   how much was in tries that failed; at least 1 if one failed, however short
 *   bits 6 and 7  the rest: enum tm_lane_rest
 *
 * So successes never hide a failure, and a byte is enough for a picture at any scale.
 */
#ifndef TM_PAGE_LANE_CELLS_H
#define TM_PAGE_LANE_CELLS_H

#include <stdint.h>

#include "insight/lanes.h"
#include "page/axis.h"

enum tm_lane_rest { TM_LANE_EMPTY, TM_LANE_IDLE, TM_LANE_STARTING, TM_LANE_LOADING };

static inline int tm_lane_cell_run(uint8_t cell)
{
  return cell & 7;
}
static inline int tm_lane_cell_failed(uint8_t cell)
{
  return cell >> 3 & 7;
}
static inline enum tm_lane_rest tm_lane_cell_rest(uint8_t cell)
{
  return (enum tm_lane_rest)(cell >> 6);
}

/* Of the bins `first` to `end` - 1 of a lane that `slots` worker slots share. */
uint8_t tm_lane_cell(const struct tm_bins *bins, size_t first, size_t end, size_t slots);
/* How many slots each lane has; to free(). */
size_t *tm_lane_slots(const struct tm_lanes *l);
/* Cells of all lanes, `columns` for each, which divide the axis evenly; to free(). */
uint8_t *tm_lane_columns(const struct tm_lanes *l, const struct tm_axis *axis, size_t columns);

#endif
