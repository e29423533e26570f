/* test_warnings.c - a step warns once of each thing, and adds up faults in rows. */
#include "unit.h"

#include <string.h>

#include "step/warnings.h"

static struct tm_fault_entry fault(int kind, int64_t count, const char *what)
{
  struct tm_fault_entry e = { .count = count, .what = what, .what_len = strlen(what) };
  e.kind = kind;
  return e;
}

static void each_warning_is_given_once(void **state)
{
  struct tm_warnings w = { 0 };

  for (int k = 0; k < TM_WARNING_KINDS; k++) {
    assert_true(tm_warnings_is_first(&w, (enum tm_warning)k));
    assert_false(tm_warnings_is_first(&w, (enum tm_warning)k));
  }
}

static void faults_are_added_up_by_kind(void **state)
{
  struct tm_warnings w = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  struct tm_fault_entry two = fault(0, 2, "values that\nare null"), three = two,
                        other = fault(1, 7, "texts");

  three.count = 3;
  assert_true(tm_warnings_add_faults(&w, &two));
  assert_false(tm_warnings_describe(&w, 0, &text)); /* the first warning said it */
  assert_true(tm_warnings_add_faults(&w, &other));
  assert_false(tm_warnings_add_faults(&w, &three));
  assert_true(tm_warnings_describe(&w, 0, &text));
  assert_string_equal(tm_buf_str(&text), "values that\\nare null: 5 in 2 mini-batches");
  assert_false(tm_warnings_describe(&w, 1, &text));
  tm_buf_release(&text);
}

static void a_sum_does_not_overflow(void **state)
{
  struct tm_warnings w = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  struct tm_fault_entry most = fault(0, INT64_MAX, "texts");

  (void)tm_warnings_add_faults(&w, &most);
  (void)tm_warnings_add_faults(&w, &most);
  assert_true(tm_warnings_describe(&w, 0, &text));
  assert_string_equal(tm_buf_str(&text), "texts: 9223372036854775807 in 2 mini-batches");
  tm_buf_release(&text);
}

UNIT_TESTS({
    cmocka_unit_test(each_warning_is_given_once),
    cmocka_unit_test(faults_are_added_up_by_kind),
    cmocka_unit_test(a_sum_does_not_overflow),
});
