/* test_arena.c - blocks do not overlap and grow in place if possible; a cleared arena needs no new
 * memory. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/frame/arena.h"

static void pieces_are_aligned_and_do_not_overlap(void **state)
{
  struct tm_arena a = { 0 };
  char *pieces[200];
  for (size_t i = 0; i < 200; i++) {
    pieces[i] = tm_arena_take(&a, i * 37);
    assert_true((uintptr_t)pieces[i] % 16 == 0);
    if (i * 37 >= 64)
      assert_true((uintptr_t)pieces[i] % 64 == 0);
    memset(pieces[i], (int)i, i * 37);
  }
  for (size_t i = 0; i < 200; i++)
    for (size_t j = 0; j < i * 37; j++)
      assert_int_equal((unsigned char)pieces[i][j], i);
  tm_arena_release(&a);
}

static void the_last_piece_of_a_block_grows_in_place(void **state)
{
  struct tm_arena a = { 0 };
  char *first = tm_arena_take(&a, 1000), *p = tm_arena_take(&a, 1000);
  memset(first, 1, 1000);
  memset(p, 7, 1000);
  assert_ptr_equal(tm_arena_grow(&a, p, 1000, 5000), p);
  char *moved = tm_arena_grow(&a, first, 1000, 2000);
  assert_true(moved != first);
  for (int i = 0; i < 1000; i++)
    assert_true(moved[i] == 1 && p[i] == 7);
  assert_ptr_equal(tm_arena_grow(&a, p, 5000, 10), p);
  assert_non_null(tm_arena_grow(&a, NULL, 0, 10));
  tm_arena_release(&a);
}

static void a_cleared_arena_reuses_its_blocks(void **state)
{
  struct tm_arena a = { 0 };
  size_t held = 0;
  for (int round = 0; round < 5; round++) {
    for (size_t i = 1; i < 40; i++)
      memset(tm_arena_take(&a, i * 100000), round, i * 100000);
    if (round == 0)
      held = tm_arena_size(&a);
    assert_int_equal(tm_arena_size(&a), held);
    tm_arena_clear(&a);
  }
  assert_true(held < 2 * 79000000); /* the test asked for 78 MB */
  tm_arena_release(&a);
  assert_int_equal(tm_arena_size(&a), 0);
  assert_non_null(tm_arena_take(&a, 1)); /* it is usable again */
  tm_arena_release(&a);
}

UNIT_TESTS({
    cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
    cmocka_unit_test(the_last_piece_of_a_block_grows_in_place),
    cmocka_unit_test(a_cleared_arena_reuses_its_blocks),
});
