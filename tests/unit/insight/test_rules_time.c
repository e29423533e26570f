/* test_rules_time.c - rules about where the time of workers went: each in a model in which it just
 * applies, and in one in which it just does not. */
#include "unit.h"

#include "insight/rules.h"
#include "made_model.h"

/* Four workers; three end early, and the last mini-batch of the fourth takes 30 s. */
static void have_tail(struct made *t, int64_t tail_ms, int64_t size)
{
  begin(t);
  for (int i = 0; i < 4; i++)
    worker(t, i, 0, 100000);
  for (int i = 1; i < 4; i++)
    fill(t, i, 0, 100000 - tail_ms, 500);
  fill(t, 0, 0, 70000, 500);
  try(t,
      (struct row) {
          .mini_batch = 418, .begin_ms = 70000, .run_ms = 30000, .items = size, .cpu_ms = 30000 });
  t->step.mini_batch_size = size;
}

static void a_tail_is_a_twentieth_of_the_time(void **state)
{
  struct made t;
  have_tail(&t, 10000, 40);
  expect(
      &t, "tail",
      "A long tail: in the last 10.0 s fewer than half of the 4 worker slots had work; "
      "mini-batch 418 took 30.0 s. With mini_batch_size 4 instead of 40, it would have ended about "
      "4.50 s earlier, if the items of a mini-batch take equally long.");
  have_tail(&t, 10000, 1);
  char *text = said(&t, "tail");
  assert_non_null(
      strstr(text, " 'tidemill replay scans-1 --mini-batch 418' runs the longest again."));
  free(text);
  have_tail(&t, 10000, 40);
  t.m.lacks_tries = true;
  expect(&t, "tail", NULL);
  have_tail(&t, 4500, 40);
  expect(&t, "tail", NULL);
}

static void a_tail_names_what_was_cut_off(void **state)
{
  struct made t;
  have_tail(&t, 10000, 40);
  try(&t, (struct row) { .worker = 1,
                         .mini_batch = 419,
                         .begin_ms = 91000,
                         .run_ms = 9000,
                         .category = "canceled" });
  worker(&t, 4, 0, 1000); /* a fifth slot: two that are busy are fewer than half */
  expect(&t, "tail",
         "A long tail: in the last 8.99 s fewer than half of the 5 worker slots had work; "
         "mini-batch 418 took 30.0 s, and mini-batch 419 was cut off after 9.00 s. With "
         "mini_batch_size 4 instead of 40, it would have ended about 2.40 s earlier, if the items "
         "of a mini-batch take equally long.");
}

/* Two workers, both of which hang until the job is canceled. */
static void have_cut(struct made *t, int64_t cut_ms)
{
  begin(t);
  t->job.state = t->step.state = TM_FACT_CANCELED;
  for (int i = 0; i < 2; i++) {
    worker(t, i, 0, 10000 + cut_ms);
    fill(t, i, 0, 10000, 1000);
    try(t, (struct row) { .worker = i,
                          .mini_batch = 6 + i,
                          .begin_ms = 10000,
                          .run_ms = cut_ms,
                          .category = "canceled" });
  }
}

static void a_mini_batch_that_hung_took_five_times_as_long(void **state)
{
  struct made t;
  have_cut(&t, 5010);
  expect(&t, "cut",
         "Mini-batches did not end: mini-batches 6 and 7 were cut off after 5.01 s and 5.01 s; the "
         "longest that succeeded took 1.00 s. 'tidemill replay scans-1 --mini-batch 6' runs the "
         "longest again.");
  have_cut(&t, 4990);
  expect(&t, "cut", NULL);
  have_cut(&t, 5010);
  expect(&t, "input", NULL);
  have_cut(&t, 5010); /* the rest is another session, which has ended by itself */
  struct tm_step_session sessions[2] = { { .begin_ns = ORIGIN },
                                         { .begin_ns = ORIGIN + 20 * TM_S } };
  tm_step_model_set_sessions(&t.m, sessions, 2);
  expect(&t, "cut", NULL);
}

static void a_worker_at_a_try_does_not_wait_for_input(void **state)
{
  struct made t;
  begin(&t);
  t.job.state = t.step.state = TM_FACT_RUNNING;
  for (int i = 0; i < 2; i++)
    worker(&t, i, 0, 0);
  fill(&t, 0, 0, 30000, 1000);
  fill(&t, 1, 0, 10000, 1000);
  t.job.now_ns = ORIGIN + 30 * TM_S;
  t.job.steps.at = &t.step;
  t.job.steps.len = 1;
  struct tm_finding_input in = { .job = &t.job, .model = &t.m, .groups = &t.groups };
  struct tm_finding found;
  tm_step_model_settle(&t.m, t.job.now_ns);
  assert_true(tm_rule_input(&in, &found));
  free(found.head);
  free(found.text);
  tm_workers_set_running(&t.m.workers,
                         &(struct tm_running_try) { "process001", 7, 1, ORIGIN + 10 * TM_S }, 1,
                         t.job.now_ns);
  tm_step_model_settle(&t.m, t.job.now_ns);
  assert_false(tm_rule_input(&in, &found));
  assert_false(tm_rule_cut(&in, &found)); /* it may still end */
  tm_step_model_release(&t.m);
}

static void workers_wait_for_a_tenth_of_their_time(void **state)
{
  struct made t;
  have_waiting(&t, 120);
  expect(&t, "input",
         "Workers waited for input: until the last mini-batch came, workers had none for 12 % of "
         "their time. Fewer workers (process_count_per_node) would have been enough, unless the "
         "input can be listed faster: 'tidemill run --dry-run' lists it alone.");
  have_waiting(&t, 120);
  t.m.lacks_tries = true; /* of those that are not known, nobody can say when they were */
  expect(&t, "input", NULL);
  have_waiting(&t, 95);
  expect(&t, "input", NULL);
}

static void a_tail_is_not_waiting_for_input(void **state)
{
  struct made t;
  have_tail(&t, 25000, 1);
  expect(&t, "input", NULL);
}

static void init_takes_a_tenth_of_worker_time(void **state)
{
  struct made t;
  have_init(&t, 11000);
  expect(&t, "init",
         "init() takes 11.0 s and was run 2 times for 2 worker slots, 11 % of worker time. Fewer "
         "workers (process_count_per_node) run it less often.");
  have_init(&t, 10000);
  expect(&t, "init", NULL);
}

static void have_small(struct made *t, int64_t around_ms, int64_t each_ms)
{
  begin(t);
  worker(t, 0, 0, 100000);
  for (int64_t at = 0; at < 100000; at += each_ms)
    try(t, (struct row) { .mini_batch = at,
                          .begin_ms = at,
                          .run_ms = each_ms - around_ms,
                          .around_ms = around_ms,
                          .cpu_ms = each_ms });
  t->step.mini_batch_size = 10;
}

static void handing_over_takes_three_tenths_of_worker_time(void **state)
{
  struct made t;
  have_small(&t, 31, 100);
  expect(&t, "small", NULL); /* large items take as long in larger mini-batches */
  have_small(&t, 4, 10);
  expect(&t, "small",
         "Mini-batches are too small: handing them over takes 40 % of worker time, 40.0 s in all, "
         "and run() 1 min 00 s. A mini_batch_size larger than 10 costs less.");
  have_small(&t, 3, 10);
  expect(&t, "small", NULL);
}

/* A worker that waits for so long before each of its tries of 1 ms. */
static void have_pauses(struct made *t, int64_t pause_ms)
{
  begin(t);
  worker(t, 0, 0, 10000);
  for (int64_t at = 0; at < 10000; at += 1 + pause_ms)
    try(t, (struct row) { .mini_batch = at, .begin_ms = at, .run_ms = 1, .cpu_ms = 1 });
}

static void a_short_wait_is_handing_over_and_a_longer_one_waits_for_input(void **state)
{
  struct made t;
  have_pauses(&t, 2);
  expect(&t, "small",
         "Mini-batches are too small: handing them over and waiting for the next one take 67 % of "
         "worker time, 6.66 s in all, "
         "and run() 3.33 s. A larger mini_batch_size costs less.");
  have_pauses(&t, 2);
  expect(&t, "input", NULL);
  have_pauses(&t, 3);
  expect(&t, "small", NULL);
  have_pauses(&t, 3);
  char *text = said(&t, "input");
  assert_non_null(text);
  free(text);
}

UNIT_TESTS({
    cmocka_unit_test(a_tail_is_a_twentieth_of_the_time),
    cmocka_unit_test(a_tail_names_what_was_cut_off),
    cmocka_unit_test(a_mini_batch_that_hung_took_five_times_as_long),
    cmocka_unit_test(a_worker_at_a_try_does_not_wait_for_input),
    cmocka_unit_test(workers_wait_for_a_tenth_of_their_time),
    cmocka_unit_test(a_tail_is_not_waiting_for_input),
    cmocka_unit_test(init_takes_a_tenth_of_worker_time),
    cmocka_unit_test(handing_over_takes_three_tenths_of_worker_time),
    cmocka_unit_test(a_short_wait_is_handing_over_and_a_longer_one_waits_for_input),
});
