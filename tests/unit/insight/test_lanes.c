/* test_lanes.c - what slots were doing over time, in a bounded number of bins. */
#include "unit.h"

#include "insight/lanes.h"
#include "model_text.h"

#define S INT64_C(1000000000)

static void all_lanes_have_one_width(void **state)
{
  struct tm_lanes l;
  tm_lanes_init(&l, S);
  (void)tm_lanes_of(&l, 0, "0");
  (void)tm_lanes_of(&l, 1, "0");
  tm_lanes_add_span(&l, 0, TM_LANE_OK, S, 2 * S);
  tm_lanes_add(&l, 1, TM_LANE_FAILURES, 40 * S, 1);
  assert_int_equal(tm_lanes_width_ns(&l), 8000000);
  assert_int_equal(l.list.at[0].bins.width_ns, 8000000);
  assert_int_equal(l.list.at[1].bins.width_ns, 8000000);
  assert_int_equal(tm_lanes_of(&l, 2, "1"), 2);
  assert_int_equal(l.list.at[2].bins.width_ns, 8000000);
  assert_int_equal(tm_bins_at(&l.list.at[0].bins, TM_LANE_OK, 0), 8000000);
  tm_lanes_clear(&l, TM_LANE_OK);
  assert_int_equal(tm_bins_at(&l.list.at[0].bins, TM_LANE_OK, 0), 0);
  tm_lanes_release(&l);
}

static size_t bytes_of(const struct tm_lanes *l)
{
  size_t bytes = 0;
  for (size_t i = 0; i < l->list.len; i++)
    for (size_t c = 0; c < TM_LANE_CHANNELS; c++)
      bytes += l->list.at[i].bins.channel[c].cap * sizeof(int64_t);
  return bytes;
}

/* Fills each bin of each channel. */
static void fill(struct tm_lanes *l, size_t slots)
{
  for (size_t slot = 0; slot < slots; slot++)
    (void)tm_lanes_of(l, slot, slot % 2 ? "1" : "0");
  for (size_t slot = 0; slot < slots; slot++)
    for (int c = 0; c < TM_LANE_CHANNELS; c++)
      tm_lanes_add_span(l, tm_lanes_of(l, slot, ""), (enum tm_lane_channel)c, 0, 100000 * S);
}

static void many_lanes_share_a_bounded_number_of_bins(void **state)
{
  static const size_t slots[] = { 1, 64, 65, 256 };
  for (size_t i = 0; i < TM_COUNT_OF(slots); i++) {
    struct tm_lanes l;
    tm_lanes_init(&l, 0);
    fill(&l, slots[i]);
    assert_int_equal(l.list.len, slots[i]);
    assert_true(l.list.len * l.max <= TM_LANE_CELLS);
    assert_true(bytes_of(&l) <= 30u << 20);
    tm_lanes_release(&l);
  }
}

static void above_256_slots_a_lane_is_a_node(void **state)
{
  struct tm_lanes l;
  tm_lanes_init(&l, 0);
  for (size_t slot = 0; slot < TM_LANES_MAX; slot++) {
    size_t lane = tm_lanes_of(&l, slot, slot % 2 ? "b" : "a");
    assert_int_equal(lane, slot);
    tm_lanes_add_span(&l, lane, TM_LANE_OK, 0, S);
    tm_lanes_add_box(&l, &(struct tm_box) { .lane = (uint32_t)lane });
  }
  assert_int_equal(tm_lanes_of(&l, TM_LANES_MAX, "c"), 2);
  assert_true(l.are_nodes);
  assert_int_equal(l.list.len, 3);
  assert_string_equal(l.list.at[1].name, "b");
  assert_int_equal(tm_lanes_of(&l, 3, ""), 1);
  assert_int_equal(l.boxes.at[3].lane, 1);
  assert_int_equal(tm_bins_at(&l.list.at[0].bins, TM_LANE_OK, 0), 128 * tm_lanes_width_ns(&l));
  tm_lanes_release(&l);
}

static void boxes_are_dropped_when_there_are_too_many(void **state)
{
  struct tm_lanes l;
  tm_lanes_init(&l, 0);
  for (int i = 0; i < TM_BOXES_MAX; i++)
    tm_lanes_add_box(&l, &(struct tm_box) { .mini_batch = i });
  assert_int_equal(l.boxes.len, TM_BOXES_MAX);
  assert_int_equal(l.boxes.at[TM_BOXES_MAX - 1].mini_batch, TM_BOXES_MAX - 1);
  tm_lanes_add_box(&l, NULL);
  assert_int_equal(l.boxes.len, 0);
  assert_int_equal(l.tries, TM_BOXES_MAX + 1);
  tm_lanes_release(&l);
}

UNIT_TESTS({
    cmocka_unit_test(all_lanes_have_one_width),
    cmocka_unit_test(many_lanes_share_a_bounded_number_of_bins),
    cmocka_unit_test(above_256_slots_a_lane_is_a_node),
    cmocka_unit_test(boxes_are_dropped_when_there_are_too_many),
});
