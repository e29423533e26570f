/* lane_cells.c - see lane_cells.h. */
#include "page/lane_cells.h"

#include <math.h>

/* 1 to 7 for what is more than nothing. */
static int level_of(double part, double whole)
{
  if (part <= 0 || whole <= 0)
    return 0;
  return (int)fmax(1, fmin(7, ceil(7 * part / whole)));
}

static double run_of(const double *ns)
{
  return ns[TM_LANE_OK] + ns[TM_LANE_FAILED] + ns[TM_LANE_OPEN];
}

/* What took most of the time, if that was not run(). */
static enum tm_lane_rest rest_of(const double *ns, double whole)
{
  double run = run_of(ns);
  double init = ns[TM_LANE_INIT], around = ns[TM_LANE_AROUND];
  double none = whole - run - init - around;
  if (init > run && init >= around && init > none)
    return TM_LANE_STARTING;
  if (around > run && around > none)
    return TM_LANE_LOADING;
  return ns[TM_LANE_ALIVE] > 0 || run > 0 ? TM_LANE_IDLE : TM_LANE_EMPTY;
}

uint8_t tm_lane_cell(const struct tm_bins *bins, size_t first, size_t end, size_t slots)
{
  double ns[TM_LANE_CHANNELS] = { 0 };
  for (size_t i = first; i < end && i < bins->len; i++)
    for (size_t c = 0; c < TM_LANE_CHANNELS; c++)
      ns[c] += (double)tm_bins_at(bins, c, i);
  double whole = (double)(end - first) * (double)bins->width_ns * (double)(slots > 0 ? slots : 1);
  int run = level_of(run_of(ns), whole);
  int failed = level_of(ns[TM_LANE_FAILED], whole);
  if (failed == 0 && ns[TM_LANE_FAILURES] > 0)
    failed = 1;
  return (uint8_t)(run | failed << 3 | rest_of(ns, whole) << 6);
}

size_t *tm_lane_slots(const struct tm_lanes *l)
{
  size_t *slots = tm_xcalloc(l->list.len, sizeof(*slots));
  for (size_t i = 0; i < l->of_slot.len; i++)
    slots[l->of_slot.at[i]]++;
  return slots;
}

uint8_t *tm_lane_columns(const struct tm_lanes *l, const struct tm_axis *axis, size_t columns)
{
  uint8_t *cells = tm_xcalloc(l->list.len * columns, 1);
  size_t *slots = tm_lane_slots(l);
  for (size_t c = 0; c < columns; c++) {
    int64_t from = tm_axis_at(axis, (double)c / (double)columns) - l->origin_ns;
    int64_t to = tm_axis_at(axis, (double)(c + 1) / (double)columns) - l->origin_ns;
    if (!tm_axis_has(axis, from + l->origin_ns, to + l->origin_ns))
      continue;
    for (size_t i = 0; i < l->list.len; i++) {
      const struct tm_bins *bins = &l->list.at[i].bins;
      size_t first = from > 0 ? (size_t)(from / bins->width_ns) : 0;
      size_t end = to > 0 ? (size_t)((to - 1) / bins->width_ns) + 1 : 0;
      if (end > first)
        cells[i * columns + c] = tm_lane_cell(bins, first, end, slots[i]);
    }
  }
  free(slots);
  return cells;
}
