/* test_set_queue.c - the order in which pictures of several sets begin and end. */
#include "unit.h"

#include "data/images/set_queue.h"

static void begins(struct tm_set_queue *q, struct tm_picture_set *want, size_t number)
{
  struct tm_picture_set *b;
  size_t i;
  assert_true(tm_set_queue_begin(q, &b, &i));
  assert_ptr_equal(b, want);
  assert_int_equal(i, number);
}

static void pictures_begin_in_order(void **state)
{
  (void)state;
  struct tm_set_queue q;
  struct tm_picture_set a, none, b, *got;
  size_t i;
  tm_set_queue_init(&q);
  assert_false(tm_set_queue_begin(&q, &got, &i));
  tm_set_queue_add(&q, &a, 2);
  tm_set_queue_add(&q, &none, 0);
  tm_set_queue_add(&q, &b, 1);
  begins(&q, &a, 0);
  begins(&q, &a, 1);
  begins(&q, &b, 0);
  assert_false(tm_set_queue_begin(&q, &got, &i));
}

static void a_set_is_complete_when_all_have_ended(void **state)
{
  (void)state;
  struct tm_set_queue q;
  struct tm_picture_set a, b;
  tm_set_queue_init(&q);
  tm_set_queue_add(&q, &a, 2);
  begins(&q, &a, 0);
  assert_false(tm_set_queue_end(&a));
  assert_false(tm_picture_set_is_complete(&a)); /* the second has not begun */
  begins(&q, &a, 1);
  assert_true(tm_set_queue_end(&a));
  tm_set_queue_remove(&q, &a);
  tm_set_queue_add(&q, &b, 0);
  assert_true(tm_picture_set_is_complete(&b));
}

static void files_are_announced_shortly_before_they_begin(void **state)
{
  (void)state;
  struct tm_set_queue q;
  struct tm_picture_set large, *got;
  size_t announced = 0, i;
  tm_set_queue_init(&q);
  tm_set_queue_add(&q, &large, 100000);
  while (tm_picture_set_announce(&large, &i))
    assert_int_equal(i, announced++);
  assert_in_range(announced, 32, 1000); /* a batch of the usual size, and by far not all */
  for (size_t k = 0; k < 100000; k++) {
    assert_true(tm_set_queue_begin(&q, &got, &i));
    while (tm_picture_set_announce(&large, &i))
      assert_int_equal(i, announced++);
  }
  assert_int_equal(announced, 100000);
}

UNIT_TESTS({
    cmocka_unit_test(files_are_announced_shortly_before_they_begin),
    cmocka_unit_test(pictures_begin_in_order),
    cmocka_unit_test(a_set_is_complete_when_all_have_ended),
});
