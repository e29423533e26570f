/* test_node_samples.c - the resources of nodes over time. */
#include "unit.h"

#include "insight/step_model.h"

#define S INT64_C(1000000000)

static struct tm_step_model m; /* large */

static void begin(void)
{
  struct tm_life_row e = { .wall_ns = S, .process = "p", .node = "0", .address = "", .detail = "" };
  tm_step_model_init(&m, S);
  e.event = "started";
  tm_step_model_add_event(&m, &e);
}

static void expect(enum tm_gauge_kind kind, size_t bin, double mean, int64_t largest)
{
  double found;
  int64_t most;
  assert_true(tm_gauge_at(&m.nodes.at[0].gauges[kind], bin, &found, &most));
  assert_true(found == mean && most == largest);
}

static void rates_are_differences_of_totals(void **state)
{
  struct tm_node_sample s = { .wall_ns = 1 * S,
                              .cpu_percent = 12.5,
                              .memory_total = 1000,
                              .memory_used = 300,
                              .disk_read = 50,
                              .disk_written = -1 };
  double mean;
  int64_t most;
  begin();
  tm_step_model_add_sample(&m, "0", &s);
  s.wall_ns = 3 * S;
  s.disk_read = 90;
  s.memory_used = -1;
  tm_step_model_add_sample(&m, "0", &s);
  s.wall_ns = 4 * S;
  s.disk_read = 10; /* the machine was started again */
  tm_step_model_add_sample(&m, "0", &s);
  tm_step_model_add_sample(&m, "unknown", &s);
  expect(TM_GAUGE_CPU, 0, 1250, 1250);
  expect(TM_GAUGE_MEMORY, 0, 300, 300);
  expect(TM_GAUGE_DISK_READ,
         (size_t)(2 * S / m.nodes.at[0].gauges[TM_GAUGE_DISK_READ].bins.width_ns), 20, 20);
  assert_false(tm_gauge_at(&m.nodes.at[0].gauges[TM_GAUGE_DISK_WRITE], 0, &mean, &most));
  assert_false(tm_gauge_at(&m.nodes.at[0].gauges[TM_GAUGE_DISK_READ], 500, &mean, &most));
  assert_int_equal(m.nodes.at[0].memory_total, 1000);
  assert_int_equal(m.nodes.len, 1);
  tm_step_model_release(&m);
}

static void the_memory_of_workers_is_a_sum(void **state)
{
  struct tm_process_sample p = { .wall_ns = S, .process = "process000", .name = "", .rss = 100 };
  begin();
  tm_step_model_add_process(&m, "0", &p);
  p.process = "process001";
  tm_step_model_add_process(&m, "0", &p);
  p.process = "keeper";
  tm_step_model_add_process(&m, "0", &p);
  expect(TM_GAUGE_WORKERS, 0, 200, 200);
  p.process = "process001";
  p.wall_ns = S + 1; /* the same bin, another moment */
  tm_step_model_add_process(&m, "0", &p);
  expect(TM_GAUGE_WORKERS, 0, 150, 200);
  tm_step_model_release(&m);
}

static void the_fullest_disk_is_of_the_last_moment(void **state)
{
  struct tm_disk_sample d = { .wall_ns = S, .device = "", .mount_point = "/a", .used_percent = 90 };
  begin();
  tm_step_model_add_disk(&m, "0", &d);
  d.mount_point = "/b";
  d.used_percent = 80;
  tm_step_model_add_disk(&m, "0", &d);
  assert_string_equal(m.nodes.at[0].disk_fullest, "/a");
  d.wall_ns = 2 * S;
  tm_step_model_add_disk(&m, "0", &d);
  d.used_percent = -1;
  tm_step_model_add_disk(&m, "0", &d);
  assert_string_equal(m.nodes.at[0].disk_fullest, "/b");
  assert_true(m.nodes.at[0].disk_used_percent == 80);
  tm_step_model_release(&m);
}

UNIT_TESTS({
    cmocka_unit_test(rates_are_differences_of_totals),
    cmocka_unit_test(the_memory_of_workers_is_a_sum),
    cmocka_unit_test(the_fullest_disk_is_of_the_last_moment),
});
