/* test_heap.c - the first by some order, whatever was added and removed before. */

#include "unit.h"

#include "base/heap.h"
#include "base/mem.h"

static bool is_less(const void *a, const void *b)
{
  return *(const int *)a < *(const int *)b;
}

static void add_all(struct tm_heap *h, const int *values, size_t n)
{
  for (size_t i = 0; i < n; i++)
    tm_heap_add(h, &values[i]);
}

static void test_gives_them_in_order(void **state)
{
  static const int values[] = { 5, 3, 8, 3, 1, 9, 2, 2, 7 },
                   sorted[] = { 1, 2, 2, 3, 3, 5, 7, 8, 9 };
  struct tm_heap h;
  int out;

  tm_heap_init(&h, sizeof(int), is_less);
  add_all(&h, values, TM_COUNT_OF(values));
  for (size_t i = 0; i < TM_COUNT_OF(sorted); i++) {
    assert_int_equal(*(int *)tm_heap_at(&h, 0), sorted[i]);
    tm_heap_remove(&h, 0, &out);
    assert_int_equal(out, sorted[i]);
  }
  assert_int_equal(h.len, 0);
  tm_heap_release(&h);
}

static void test_any_element_can_be_removed(void **state)
{
  static const int values[] = { 1, 20, 2, 21, 22, 3, 4, 23, 24, 25, 26, 5 };
  struct tm_heap h;
  int out, last;

  for (size_t at = 0; at < TM_COUNT_OF(values); at++) {
    tm_heap_init(&h, sizeof(int), is_less);
    add_all(&h, values, TM_COUNT_OF(values));
    tm_heap_remove(&h, at, &out);
    assert_int_equal(h.len, TM_COUNT_OF(values) - 1);
    for (last = 0; h.len > 0; last = out) {
      tm_heap_remove(&h, 0, &out);
      assert_true(out >= last);
    }
    tm_heap_release(&h);
  }
}

UNIT_TESTS({
    cmocka_unit_test(test_gives_them_in_order),
    cmocka_unit_test(test_any_element_can_be_removed),
});
