/* When a file is looked at again, and when it is given up. */
#include "unit.h"

#include "base/time.h"
#include "step/looks.h"

/* Looks at the file until it is given up; each look takes `took_ns`. Returns their number. */
static int look_until_the_end(struct tm_looks *l, struct tm_look *look, int64_t *now_ns,
                              int64_t took_ns)
{
  int looks = 0;

  for (;;) {
    int64_t due_ns = tm_looks_due(l);
    assert_true(due_ns >= *now_ns && due_ns < INT64_MAX);
    assert_true(due_ns == *now_ns || !tm_looks_next(l, due_ns - 1));
    *now_ns = due_ns;
    assert_ptr_equal(tm_looks_next(l, *now_ns), look);
    assert_null(tm_looks_next(l, *now_ns));
    assert_true(tm_looks_due(l) == INT64_MAX);
    *now_ns += took_ns;
    looks++;
    if (!tm_looks_again(l, look, *now_ns))
      return looks;
  }
}

static void test_a_file_is_looked_at_for_ten_seconds(void **state)
{
  struct tm_looks l;
  struct tm_look look;
  int64_t now_ns = 5 * TM_S;

  tm_looks_init(&l);
  tm_looks_add(&l, &look, now_ns);
  assert_in_range(look_until_the_end(&l, &look, &now_ns, 0), 12, 20);
  assert_true(now_ns == 15 * TM_S); /* the last look is at the end */
  assert_int_equal(l.under_way, 0);
  assert_int_equal(l.waiting.len, 0);
}

static void test_the_first_looks_come_soon(void **state)
{
  struct tm_looks l;
  struct tm_look look;

  tm_looks_init(&l);
  tm_looks_add(&l, &look, 0);
  assert_ptr_equal(tm_looks_next(&l, 0), &look);
  assert_true(tm_looks_again(&l, &look, TM_MS));
  assert_in_range(tm_looks_due(&l), 2 * TM_MS, 50 * TM_MS);
}

static void test_a_look_that_takes_long_is_not_repeated_soon(void **state)
{
  struct tm_looks l;
  struct tm_look look;
  int64_t now_ns = 0;

  tm_looks_init(&l);
  tm_looks_add(&l, &look, 0);
  assert_int_equal(look_until_the_end(&l, &look, &now_ns, 3 * TM_S), 3); /* at 0, 6 and 10 s */
  assert_true(now_ns == 13 * TM_S);
}

/* The supervisor was stopped meanwhile: the file had no chance to be seen. */
static void test_a_file_is_given_up_after_a_look(void **state)
{
  struct tm_looks l;
  struct tm_look look;

  tm_looks_init(&l);
  tm_looks_add(&l, &look, 0);
  assert_ptr_equal(tm_looks_next(&l, 0), &look);
  assert_true(tm_looks_again(&l, &look, 3600 * TM_S));
  assert_true(tm_looks_due(&l) == 3600 * TM_S);
  assert_ptr_equal(tm_looks_next(&l, 3600 * TM_S), &look);
  assert_false(tm_looks_again(&l, &look, 3600 * TM_S));
}

static void test_a_few_looks_are_under_way_at_once(void **state)
{
  struct tm_looks l;
  struct tm_look looks[TM_LOOKS_AT_ONCE + 2];

  tm_looks_init(&l);
  for (int i = 0; i < TM_LOOKS_AT_ONCE + 2; i++)
    tm_looks_add(&l, &looks[i], i);
  for (int i = 0; i < TM_LOOKS_AT_ONCE; i++)
    assert_ptr_equal(tm_looks_next(&l, TM_S), &looks[i]);
  assert_null(tm_looks_next(&l, TM_S));
  assert_true(tm_looks_due(&l) == INT64_MAX);
  tm_looks_remove(&l, &looks[1]); /* while it is looked at */
  assert_ptr_equal(tm_looks_next(&l, TM_S), &looks[TM_LOOKS_AT_ONCE]);
  tm_looks_remove(&l, &looks[TM_LOOKS_AT_ONCE + 1]); /* while it waits */
  assert_true(tm_looks_again(&l, &looks[0], TM_S));
  assert_null(tm_looks_next(&l, TM_S));
  assert_ptr_equal(tm_looks_next(&l, 2 * TM_S), &looks[0]);
}

static void expect_text(const struct tm_look_finding *found, const char *text)
{
  struct tm_buf words = TM_BUF_NONE;

  tm_look_describe(&words, found, 2000000);
  assert_string_equal(tm_buf_str(&words), text);
  tm_buf_release(&words);
}

static void test_what_was_found_is_described(void **state)
{
  struct tm_look_finding found = { .kind = TM_LOOK_MISSING, .length = 1234 };

  expect_text(&found, "it does not exist, and should have 2000000 bytes");
  found.file = 1; /* of an output file nobody knows the length */
  expect_text(&found, "it does not exist");
  found.file = 0;
  found.kind = TM_LOOK_LENGTH;
  expect_text(&found, "it has 1234 bytes instead of 2000000");
  found.kind = TM_LOOK_HASH;
  expect_text(&found, "it has 2000000 bytes as expected, but not those that were written");
  found.kind = TM_LOOK_UNREADABLE;
  tm_err_set(&found.err, TM_EDAMAGE, "stale file handle");
  expect_text(&found, "stale file handle");
}

UNIT_TESTS({
    cmocka_unit_test(test_a_file_is_looked_at_for_ten_seconds),
    cmocka_unit_test(test_the_first_looks_come_soon),
    cmocka_unit_test(test_a_look_that_takes_long_is_not_repeated_soon),
    cmocka_unit_test(test_a_file_is_given_up_after_a_look),
    cmocka_unit_test(test_a_few_looks_are_under_way_at_once),
    cmocka_unit_test(test_what_was_found_is_described),
});
