/* test_tensor_ops.c - strings are copied with their bytes. */
#include "unit.h"

#include "data/tensor/tensor_ops.h"

static void strings_are_copied_with_their_bytes(void **state)
{
  const struct tm_tensor_ops *ops = tm_tensor_ops();
  struct tm_tensor_string from[] = { { "ab\0c", 4 }, { NULL, 0 }, { "xyz", 2 } }, to[3];
  char room[8] = "--------";
  assert_int_equal(ops->string_bytes(from, 3), 6);
  assert_ptr_equal(ops->copy_strings(from, 3, to, room), room + 6);
  assert_memory_equal(room, "ab\0cxy--", 8);
  assert_true(to[0].bytes == room && to[0].len == 4);
  assert_true(to[1].bytes == NULL && to[1].len == 0);
  assert_true(to[2].bytes == room + 4 && to[2].len == 2);
}

UNIT_TESTS({
    cmocka_unit_test(strings_are_copied_with_their_bytes),
});
