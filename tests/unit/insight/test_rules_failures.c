/* test_rules_failures.c - rules about tries that failed: each in a model in which it just applies,
 * and in one in which it just does not. */
#include "unit.h"

#include "made_model.h"

/* 100 s; `burst` failures within a second, and ten far from them and from each other. */
static void have_failures(struct made *t, int burst)
{
  begin(t);
  worker(t, 0, 0, 100000);
  for (int i = 0; i < 10; i++)
    try(t, (struct row) { .mini_batch = i,
                          .begin_ms = 1000 + i * 7000 + (i >= 5 ? 25000 : 0),
                          .run_ms = 100,
                          .category = "error" });
  for (int i = 0; i < burst; i++)
    try(t, (struct row) { .mini_batch = 100 + i,
                          .begin_ms = 50000 + 100 * i,
                          .run_ms = 100,
                          .category = "error" });
  t->step.counts = (struct tm_fact_counts) { .created = 10 + burst, .failed = 10 + burst };
}

static void a_burst_has_half_of_the_failures(void **state)
{
  struct made t;
  have_failures(&t, 10);
  expect(&t, "burst",
         "A burst of failures: 10 of 20 failed tries ended between 50.0 s and 51.0 s after the "
         "start. 'tidemill logs scans-1 --errors' shows what else happened then.");
  have_failures(&t, 9);
  expect(&t, "burst", NULL);
}

static void a_burst_may_be_one_error(void **state)
{
  struct made t;
  have_failures(&t, 90);
  have_group(&t, 90, 50100, 59000);
  expect(&t, "burst",
         "A burst of one error: 90 of 100 failed tries have one error, \"cannot read <item>\", and "
         "ended between 50.0 s and 59.0 s after the start. 'tidemill replay scans-1 --mini-batch "
         "17' runs the first of these mini-batches again.");
  have_failures(&t, 90);
  have_group(&t, 90, 50100, 59000);
  expect(&t, "one_error", NULL); /* the burst has said it */
}

static void one_error_causes_nine_of_ten_failures(void **state)
{
  struct made t;
  have_failures(&t, 0);
  have_group(&t, 9, 1000, 90000);
  expect(&t, "one_error",
         "One error causes nearly all failures: 9 of 10 failed tries have one error: \"cannot read "
         "<item>\". 'tidemill replay scans-1 --mini-batch 17' runs the first of these mini-batches "
         "again.");
  have_failures(&t, 0);
  have_group(&t, 8, 1000, 90000);
  expect(&t, "one_error", NULL);
}

/* A mini-batch that fails, and is tried again. */
static void have_retried(struct made *t, bool succeeds)
{
  begin(t);
  worker(t, 0, 0, 10000);
  try(t, (struct row) { .mini_batch = 3, .begin_ms = 100, .run_ms = 10, .category = "error" });
  try(t, (struct row) { .mini_batch = 3,
                        .begin_ms = 200,
                        .run_ms = 10,
                        .picked = 2,
                        .items = 2,
                        .category = succeeds ? NULL : "error" });
}

static void a_failure_may_pass(void **state)
{
  struct made t;
  have_retried(&t, true);
  expect(&t, "retried",
         "Failures that passed: 2 items succeeded after a try of the same mini-batch had failed. "
         "'tidemill logs scans-1 --errors' shows why.");
  have_retried(&t, false);
  expect(&t, "retried", NULL);
}

UNIT_TESTS({
    cmocka_unit_test(a_burst_has_half_of_the_failures),
    cmocka_unit_test(a_burst_may_be_one_error),
    cmocka_unit_test(one_error_causes_nine_of_ten_failures),
    cmocka_unit_test(a_failure_may_pass),
});
