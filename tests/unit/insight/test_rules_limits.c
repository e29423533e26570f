/* test_rules_limits.c - rules about limits that are near: each in a model in which it just applies,
 * and in one in which it just does not. */
#include "unit.h"

#include "made_model.h"

static void have_memory(struct made *t, int64_t largest, const char *end)
{
  begin(t);
  event(t, 0, 0, "started", "", 0);
  event(t, 0, 5000, "ended", end, largest);
  t->step.worker_memory_limit = 100 * GB;
}

static void a_worker_is_within_a_tenth_of_its_memory(void **state)
{
  struct made t;
  have_memory(&t, 90 * GB, "stopped");
  expect(&t, "memory",
         "Memory is nearly used up: 1 worker came within a tenth of worker_memory_limit, which is "
         "100 GB; the largest had 90.0 GB. A smaller mini_batch_size may need less.");
  have_memory(&t, 89 * GB, "stopped");
  expect(&t, "memory", NULL);
  have_memory(&t, 80 * GB, "killed for passing worker_memory_limit, with 120 GB resident");
  expect(&t, "memory",
         "Memory is nearly used up: 1 worker was killed for passing worker_memory_limit, which is "
         "100 GB; the largest had 80.0 GB. A smaller mini_batch_size may need less.");
}

/* The weights of a model, mapped from a file, are resident and do not count. */
static void only_memory_that_counts_is_compared(void **state)
{
  struct made t;
  struct tm_life_row row = { .wall_ns = ORIGIN + TM_S,
                             .process = "process000",
                             .node = "0",
                             .address = "mill",
                             .event = "ended",
                             .max_rss_bytes = 99 * GB,
                             .own_bytes = 10 * GB,
                             .detail = "stopped" };
  begin(&t);
  event(&t, 0, 0, "started", "", 0);
  tm_step_model_add_event(&t.m, &row);
  t.step.worker_memory_limit = 100 * GB;
  expect(&t, "memory", NULL);
}

/* Two workers, measured for some time, with so many percent more in each fifth. */
static void have_growth(struct made *t, double percent, int64_t seconds)
{
  double bytes = (double)GB;
  begin(t);
  worker(t, 0, 0, seconds * 1000);
  worker(t, 1, 0, seconds * 1000);
  for (int64_t i = 0; i < 360; i++) {
    for (int w = 0; w < 2; w++)
      tm_step_model_add_process(
          &t->m, "0",
          &(struct tm_process_sample) { .wall_ns = ORIGIN + i * seconds * TM_S / 360,
                                        .process = w ? "process000" : "process001",
                                        .rss = (int64_t)bytes });
    if (i % 72 == 71)
      bytes *= 1 + percent / 100;
  }
}

static void memory_grows_from_part_to_part(void **state)
{
  struct made t;
  have_growth(&t, 10, 3600);
  char *text = said(&t, "memory");
  assert_non_null(text);
  assert_memory_equal(text, "Memory grows: each worker gained about ", 39);
  assert_non_null(strstr(text, " MB an hour. worker_memory_limit ends a worker before"));
  free(text);
  have_growth(&t, 10, 20);
  text = said(&t, "memory");
  assert_non_null(strstr(text, " MB in 12."));
  assert_null(strstr(text, "an hour")); /* of which 20 s say nothing */
  free(text);
  have_growth(&t, 4, 3600);
  expect(&t, "memory", NULL);
}

static void have_machine(struct made *t, int64_t used, double disk)
{
  begin(t);
  worker(t, 0, 0, 5000);
  add_machine(t, used, disk);
}

static void the_memory_of_a_machine_is_nearly_used_up(void **state)
{
  struct made t;
  have_machine(&t, 90 * GB, 0);
  expect(&t, "memory",
         "Memory is nearly used up: The memory of node 0 was 90 % in use. Fewer workers "
         "(process_count_per_node) need less.");
  have_machine(&t, 89 * GB, 0);
  expect(&t, "memory", NULL);
}

static void a_disk_is_nine_tenths_full(void **state)
{
  struct made t;
  have_machine(&t, 0, 90);
  expect(&t, "disk",
         "A disk is nearly full: /data on node 0 is 90 % full. 'tidemill clean' removes old jobs.");
  have_machine(&t, 0, 89.9);
  expect(&t, "disk", NULL);
}

static void have_calls(struct made *t, int64_t long_ms)
{
  begin(t);
  worker(t, 0, 0, 5000000);
  for (int64_t i = 0; i < 100; i++)
    try(t, (struct row) { .mini_batch = i,
                          .begin_ms = i * 50000,
                          .run_ms = i % 50 == 7 ? long_ms : 10000,
                          .cpu_ms = 10000 });
}

static void one_call_in_a_hundred_is_near_the_timeout(void **state)
{
  struct made t;
  have_calls(&t, 49000);
  expect(&t, "timeout",
         "run() comes close to its timeout: one call in a hundred took 48.3 s or longer, and "
         "run_invocation_timeout is 1 min 00 s. A longer one, or a smaller mini_batch_size, leaves "
         "room.");
  have_calls(&t, 47000);
  expect(&t, "timeout", NULL);
}

UNIT_TESTS({
    cmocka_unit_test(a_worker_is_within_a_tenth_of_its_memory),
    cmocka_unit_test(only_memory_that_counts_is_compared),
    cmocka_unit_test(memory_grows_from_part_to_part),
    cmocka_unit_test(the_memory_of_a_machine_is_nearly_used_up),
    cmocka_unit_test(a_disk_is_nine_tenths_full),
    cmocka_unit_test(one_call_in_a_hundred_is_near_the_timeout),
});
