/* test_rules_speed.c - rules about slow workers and jobs: each in a model in which it just applies,
 * and in one in which it just does not. */
#include "unit.h"

#include "made_model.h"

static void have_slow(struct made *t, int64_t slow_ms)
{
  begin(t);
  for (int i = 0; i < 3; i++) {
    worker(t, i, 0, 100000);
    fill(t, i, 0, i == 2 ? 20 * slow_ms : 20000, i == 2 ? slow_ms : 1000);
  }
}

static void a_worker_is_half_as_slow_again(void **state)
{
  struct made t;
  have_slow(&t, 1500);
  expect(&t, "slow",
         "Worker process002 was slower: it took 1.5 times as long for an item as the median of the "
         "others, 1.50 s instead of 1.00 s. Its items may have been larger; 'tidemill logs scans-1 "
         "--worker process002' shows its tries.");
  have_slow(&t, 1490);
  expect(&t, "slow", NULL);
}

static void have_processor(struct made *t, int64_t cpu_ms)
{
  begin(t);
  worker(t, 0, 0, 20000);
  for (int64_t i = 0; i < 20; i++)
    try(t,
        (struct row) { .mini_batch = i, .begin_ms = 1000 * i, .run_ms = 1000, .cpu_ms = cpu_ms });
  tm_step_model_add_sample(&t->m, "0",
                           &(struct tm_node_sample) { .wall_ns = ORIGIN + TM_S,
                                                      .cpu_percent = 12,
                                                      .memory_used = -1,
                                                      .disk_read = -1,
                                                      .disk_written = -1,
                                                      .network_sent = -1,
                                                      .network_received = -1 });
}

static void tries_use_three_tenths_of_a_processor(void **state)
{
  struct made t;
  have_processor(&t, 290);
  expect(&t, "idle_processor",
         "Workers wait rather than compute: during their tries they used 29 % of a processor; the "
         "rest is waiting for files, a network, or programs that run() starts. The processors were "
         "12 % busy. More workers (process_count_per_node) may be faster.");
  have_processor(&t, 300);
  expect(&t, "idle_processor", NULL);
}

static void have_before(struct made *t, int64_t now_s)
{
  begin(t);
  t->job.before = "scans-0";
  t->step.effort = (struct tm_fact_effort) { .items = 2000, .ns = now_s * TM_S };
  t->step.before = (struct tm_fact_effort) { .items = 1000, .ns = 100 * TM_S };
  t->setting = (struct tm_fact_setting) { .name = "mini_batch_size", .value = "1", .before = "10" };
  t->step.settings.at = &t->setting;
  t->step.settings.len = 1;
}

static void an_item_takes_a_quarter_longer_than_last_time(void **state)
{
  struct made t;
  have_before(&t, 250);
  expect(&t, "slower",
         "score was slower than last time: its tries took 1.2 times as long for an item as in "
         "scans-0, the last Completed job of this pipeline: 0.13 s instead of 0.10 s. The items "
         "may have been larger. Changed since: mini_batch_size is 1 and was 10. 'tidemill status "
         "scans-0' shows that job.");
  have_before(&t, 249);
  expect(&t, "slower", NULL);
}

/* A job of other steps, or one that reused this one, is another job however long it took. */
static void a_step_that_did_not_run_last_time_is_not_slower(void **state)
{
  struct made t;
  have_before(&t, 250);
  t.step.before = (struct tm_fact_effort) { 0 };
  t.job.before_elapsed_ns = TM_S;
  t.job.before_items = 1000;
  t.job.elapsed_ns = 3600 * TM_S;
  t.job.counts.items_succeeded = 2000;
  expect(&t, "slower", NULL);
}

UNIT_TESTS({
    cmocka_unit_test(a_worker_is_half_as_slow_again),
    cmocka_unit_test(tries_use_three_tenths_of_a_processor),
    cmocka_unit_test(an_item_takes_a_quarter_longer_than_last_time),
    cmocka_unit_test(a_step_that_did_not_run_last_time_is_not_slower),
});
