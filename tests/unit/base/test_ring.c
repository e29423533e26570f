/* test_ring.c - numbered elements, removed in any order. */

#include "unit.h"

#include "base/buf.h"
#include "base/ring.h"

struct element {
  uint64_t seq;
  struct tm_buf text;
};

static void release(void *element)
{
  tm_buf_release(&((struct element *)element)->text);
}

static void test_elements_keep_their_number_while_it_grows(void **state)
{
  struct tm_ring r;

  tm_ring_init(&r, sizeof(struct element));
  assert_null(tm_ring_find(&r, 1));
  assert_null(tm_ring_first(&r));
  for (uint64_t seq = 1; seq <= 100; seq++) {
    struct element *e = tm_ring_add(&r);
    assert_int_equal(e->seq, seq);
    tm_buf_clear(&e->text);
    tm_buf_add(&e->text, &seq, sizeof(seq));
    if (seq % 3 == 0)
      tm_ring_remove(&r, seq - 1);
  }
  for (uint64_t seq = 1; seq <= 100; seq++) {
    const struct element *e = tm_ring_find(&r, seq);
    assert_true((e == NULL) == (seq % 3 == 2 && seq < 100));
    if (e)
      assert_memory_equal(e->text.data, &seq, sizeof(seq));
  }
  assert_int_equal(r.len, 67);
  tm_ring_release(&r, release);
}

static void test_the_first_moves_on_behind_what_was_removed(void **state)
{
  struct tm_ring r;

  tm_ring_init(&r, sizeof(struct element));
  for (int i = 0; i < 4; i++)
    tm_ring_add(&r);
  tm_ring_remove(&r, 2);
  assert_int_equal(((struct element *)tm_ring_first(&r))->seq, 1);
  tm_ring_remove(&r, 1);
  assert_int_equal(((struct element *)tm_ring_first(&r))->seq, 3);
  tm_ring_remove(&r, 3);
  tm_ring_remove(&r, 4);
  assert_null(tm_ring_first(&r));
  assert_int_equal(((struct element *)tm_ring_add(&r))->seq, 5);
  assert_int_equal(1 << r.cap_log2, 4);
  tm_ring_release(&r, NULL);
}

UNIT_TESTS({
    cmocka_unit_test(test_elements_keep_their_number_while_it_grows),
    cmocka_unit_test(test_the_first_moves_on_behind_what_was_removed),
});
