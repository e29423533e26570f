/* Pieces of lanes as bytes. */
#include "unit.h"

#include "base/time.h"
#include "page/lane_cells.h"

static struct tm_bins *bins_made(struct tm_bins *b)
{
  tm_bins_init(b, 0, TM_LANE_CHANNELS, 64);
  return b;
}

static void one_short_failure_among_successes_is_seen(void **state)
{
  (void)state;
  struct tm_bins b;
  tm_bins_add_span(bins_made(&b), TM_LANE_OK, 0, 32 * TM_MS);
  tm_bins_add(&b, TM_LANE_FAILURES, 7 * TM_MS, 1);
  uint8_t cell = tm_lane_cell(&b, 0, 32, 1);
  assert_int_equal(tm_lane_cell_run(cell), 7);
  assert_int_equal(tm_lane_cell_failed(cell), 1);
  assert_int_equal(tm_lane_cell_failed(tm_lane_cell(&b, 8, 32, 1)), 0);
  tm_bins_release(&b);
}

static void shares_are_of_all_slots_of_the_lane(void **state)
{
  (void)state;
  struct tm_bins b;
  tm_bins_add_span(bins_made(&b), TM_LANE_OK, 0, 10 * TM_MS);
  tm_bins_add_span(&b, TM_LANE_FAILED, 0, 10 * TM_MS);
  uint8_t cell = tm_lane_cell(&b, 0, 10, 4);
  assert_int_equal(tm_lane_cell_run(cell), 4); /* half of seven, rounded up */
  assert_int_equal(tm_lane_cell_failed(cell), 2);
  tm_bins_release(&b);
}

static void what_a_worker_does_besides_run_is_named(void **state)
{
  (void)state;
  struct tm_bins b;
  tm_bins_add_span(bins_made(&b), TM_LANE_ALIVE, 0, 40 * TM_MS);
  tm_bins_add_span(&b, TM_LANE_INIT, 0, 10 * TM_MS);
  tm_bins_add_span(&b, TM_LANE_AROUND, 10 * TM_MS, 20 * TM_MS);
  assert_int_equal(tm_lane_cell_rest(tm_lane_cell(&b, 0, 10, 1)), TM_LANE_STARTING);
  assert_int_equal(tm_lane_cell_rest(tm_lane_cell(&b, 10, 20, 1)), TM_LANE_LOADING);
  assert_int_equal(tm_lane_cell_rest(tm_lane_cell(&b, 20, 30, 1)), TM_LANE_IDLE);
  assert_int_equal(tm_lane_cell_rest(tm_lane_cell(&b, 40, 50, 1)), TM_LANE_EMPTY);
  assert_int_equal(tm_lane_cell_rest(tm_lane_cell(&b, 18, 24, 1)), TM_LANE_IDLE); /* mostly */
  tm_bins_release(&b);
}

static void columns_follow_the_axis(void **state)
{
  (void)state;
  struct tm_lanes l;
  struct tm_axis axis;
  struct tm_axis_span spans[] = { { 0, 100 * TM_MS }, { 900 * TM_MS, 1000 * TM_MS } };
  tm_lanes_init(&l, 0);
  size_t lane = tm_lanes_of(&l, 0, "a");
  tm_lanes_add_span(&l, lane, TM_LANE_OK, 0, 50 * TM_MS);
  tm_lanes_add_span(&l, lane, TM_LANE_OK, 950 * TM_MS, 1000 * TM_MS);
  tm_axis_init(&axis, 0, 1000 * TM_MS, spans, 2);
  uint8_t *cells = tm_lane_columns(&l, &axis, 100);
  assert_int_equal(tm_lane_cell_run(cells[0]), 7);
  assert_int_equal(cells[30], 0);
  assert_int_equal(cells[50], 0); /* folded */
  assert_int_equal(tm_lane_cell_run(cells[99]), 7);
  free(cells);
  tm_axis_release(&axis);
  tm_lanes_release(&l);
}

UNIT_TESTS({
    cmocka_unit_test(one_short_failure_among_successes_is_seen),
    cmocka_unit_test(shares_are_of_all_slots_of_the_lane),
    cmocka_unit_test(what_a_worker_does_besides_run_is_named),
    cmocka_unit_test(columns_follow_the_axis),
});
