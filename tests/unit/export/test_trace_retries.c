/* test_trace_retries.c - what is remembered of failed tries, and what is forgotten. */
#include "unit.h"

#include "export/trace_retries.h"

static void add(struct tm_trace_retries *r, int64_t mini_batch, int64_t begin_us)
{
  tm_trace_retries_add(r, &(struct tm_retry) { .mini_batch = mini_batch, .begin_us = begin_us });
}

static void the_last_failed_try_is_taken_once(void **state)
{
  struct tm_trace_retries r = { 0 };
  struct tm_retry got = { 0 };
  assert_false(tm_trace_retries_take(&r, 0, &got));
  add(&r, 0, 5);
  add(&r, 7, 6);
  add(&r, 0, 9);
  assert_true(tm_trace_retries_take(&r, 0, &got));
  assert_int_equal(got.mini_batch, 0);
  assert_int_equal(got.begin_us, 9);
  assert_false(tm_trace_retries_take(&r, 0, &got));
  assert_true(tm_trace_retries_take(&r, 7, &got));
  add(&r, INT64_MAX, 8); /* of a damaged table */
  assert_true(tm_trace_retries_take(&r, INT64_MAX, &got));
  assert_int_equal(got.begin_us, 8);
  assert_int_equal(r.forgotten, 0);
  tm_trace_retries_release(&r);
}

static void the_oldest_of_a_place_is_forgotten(void **state)
{
  struct tm_trace_retries r = { 0 };
  struct tm_retry got;
  for (int64_t i = 0; i <= TM_RETRIES_EACH; i++)
    add(&r, i * TM_RETRIES_PLACES, i);
  assert_int_equal(r.forgotten, 1);
  assert_false(tm_trace_retries_take(&r, 0, &got));
  assert_true(tm_trace_retries_take(&r, TM_RETRIES_PLACES, &got));
  assert_int_equal(got.begin_us, 1);
  tm_trace_retries_clear(&r);
  assert_false(tm_trace_retries_take(&r, (int64_t)2 * TM_RETRIES_PLACES, &got));
  assert_int_equal(r.forgotten, 1);
  tm_trace_retries_release(&r);
}

UNIT_TESTS({
    cmocka_unit_test(the_last_failed_try_is_taken_once),
    cmocka_unit_test(the_oldest_of_a_place_is_forgotten),
});
