/* test_rules_time.c - rules about where the time of workers went: each in a model in which it just
 * applies, and in one in which it just does not. */
#include "unit.h"

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
  have_tail(&t, 4500, 40);
  expect(&t, "tail", NULL);
}

static void workers_wait_for_a_tenth_of_their_time(void **state)
{
  struct made t;
  have_waiting(&t, 120);
  expect(&t, "input",
         "Workers waited for input: until the last mini-batch came, workers had none for 12 % of "
         "their time. Fewer workers (process_count_per_node) would have been enough, unless the "
         "input can be listed faster: 'tidemill run --dry-run' lists it alone.");
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
         "and run() 1 min 00 s. A larger mini_batch_size costs less; it is 10.");
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
    cmocka_unit_test(workers_wait_for_a_tenth_of_their_time),
    cmocka_unit_test(a_tail_is_not_waiting_for_input),
    cmocka_unit_test(init_takes_a_tenth_of_worker_time),
    cmocka_unit_test(handing_over_takes_three_tenths_of_worker_time),
    cmocka_unit_test(a_short_wait_is_handing_over_and_a_longer_one_waits_for_input),
});
