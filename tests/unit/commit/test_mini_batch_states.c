/* test_mini_batch_states.c - two bits for each mini-batch. */
#include "unit.h"

#include "commit/mini_batch_states.h"

static void keeps_each_apart_from_its_neighbours(void **state)
{
  struct tm_mini_batch_states f = { 0 };
  for (uint64_t i = 0; i < 300; i++)
    if (i % 3)
      tm_mini_batch_states_put(&f, i, (enum tm_mini_batch_state)(i % 3));
  for (uint64_t i = 0; i < 300; i++)
    assert_int_equal(tm_mini_batch_states_get(&f, i), i % 3);
  assert_int_equal(tm_mini_batch_states_get(&f, UINT64_C(1) << 50), TM_MINI_BATCH_OPEN);
  tm_mini_batch_states_reopen(&f);
  for (uint64_t i = 0; i < 300; i++)
    assert_int_equal(tm_mini_batch_states_get(&f, i), i % 3 == TM_MINI_BATCH_COMMITTED
                                                          ? TM_MINI_BATCH_COMMITTED
                                                          : TM_MINI_BATCH_OPEN);
  tm_mini_batch_states_release(&f);
}

static void remembers_whose_rows_were_not_counted(void **state)
{
  struct tm_mini_batch_states f = { 0 };
  for (uint64_t i = 0; i < 100; i++)
    tm_mini_batch_states_put_failed(&f, &(struct tm_record) { .kind = TM_RECORD_FAILED,
                                                              .index = i,
                                                              .items = i % 3 ? (uint32_t)i : 0 });
  tm_mini_batch_states_put(&f, 100, TM_MINI_BATCH_COMMITTED);
  for (uint64_t i = 0; i < 100; i++) {
    assert_int_equal(tm_mini_batch_states_get(&f, i), TM_MINI_BATCH_FAILED);
    assert_int_equal(tm_mini_batch_states_is_uncounted(&f, i), i % 3 == 0);
  }
  assert_false(tm_mini_batch_states_is_uncounted(&f, 100));
  tm_mini_batch_states_reopen(&f);
  for (uint64_t i = 0; i < 100; i++)
    assert_int_equal(tm_mini_batch_states_get(&f, i), TM_MINI_BATCH_OPEN);
  assert_int_equal(tm_mini_batch_states_get(&f, 100), TM_MINI_BATCH_COMMITTED);
  tm_mini_batch_states_release(&f);
}

static void takes_two_bits_each(void **state)
{
  struct tm_mini_batch_states f = { 0 };
  tm_mini_batch_states_put(&f, 1000000, TM_MINI_BATCH_COMMITTED);
  assert_true(f.cap * sizeof(*f.words) <= 1024 * 1024 * 2 / 4);
  assert_int_equal(tm_mini_batch_states_get(&f, 1000000), TM_MINI_BATCH_COMMITTED);
  assert_int_equal(tm_mini_batch_states_get(&f, 999999), TM_MINI_BATCH_OPEN);
  tm_mini_batch_states_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(keeps_each_apart_from_its_neighbours),
    cmocka_unit_test(remembers_whose_rows_were_not_counted),
    cmocka_unit_test(takes_two_bits_each),
});
