/* test_tensor_types.c - types and shapes of tensors. */
#include "unit.h"

#include "data/tensor/tensor_types.h"

static void each_type_has_a_name_and_a_size(void **state)
{
  for (int32_t type = 1; type <= TM_TENSOR_UINT64; type++) {
    assert_non_null(tm_tensor_type_name(type));
    assert_int_equal(tm_tensor_type_of(tm_tensor_type_name(type)), type);
    assert_true(tm_tensor_element_size(type) > 0);
  }
  assert_string_equal(tm_tensor_type_name(TM_TENSOR_FLOAT16), "float16");
  assert_int_equal(tm_tensor_element_size(TM_TENSOR_FLOAT16), 2);
  assert_null(tm_tensor_type_name(0));
  assert_null(tm_tensor_type_name(TM_TENSOR_UINT64 + 1));
  assert_null(tm_tensor_type_name(-1));
  assert_int_equal(tm_tensor_type_of("float"), 0);
  assert_int_equal(tm_tensor_element_size(0), 0);
}

static void sizes_of_shapes_do_not_overflow(void **state)
{
  static const int64_t shape[] = { 3, 1, 4 }, large[] = { INT64_C(1) << 40, INT64_C(1) << 30 },
                       edge[] = { INT64_MAX / 8, 1 }, over[] = { INT64_MAX / 8 + 1 },
                       empty[] = { INT64_MAX, INT64_MAX, 0 }, negative[] = { 2, -1 },
                       none[] = { 0, -1 };
  assert_int_equal(tm_tensor_shape_count(3, shape), 12);
  assert_int_equal(tm_tensor_shape_count(0, shape), 1);
  assert_int_equal(tm_tensor_shape_bytes(TM_TENSOR_INT16, 3, shape), 24);
  assert_int_equal(tm_tensor_shape_count(2, large), -1);
  assert_int_equal(tm_tensor_shape_bytes(TM_TENSOR_FLOAT64, 2, edge), INT64_MAX / 8 * 8);
  assert_int_equal(tm_tensor_shape_count(1, over), INT64_MAX / 8 + 1);
  assert_int_equal(tm_tensor_shape_bytes(TM_TENSOR_FLOAT64, 1, over), -1);
  assert_int_equal(tm_tensor_shape_bytes(TM_TENSOR_UINT8, 3, empty), 0);
  assert_int_equal(tm_tensor_shape_count(2, negative), -1);
  assert_int_equal(tm_tensor_shape_count(2, none), -1);
}

static void shapes_are_written(void **state)
{
  static const int64_t shape[] = { 8, 3, 224 };
  struct tm_buf out = TM_BUF_NONE;
  tm_tensor_add_shape(&out, 3, shape);
  tm_tensor_add_shape(&out, 0, shape);
  assert_string_equal(tm_buf_str(&out), "[8, 3, 224][]");
  tm_buf_release(&out);
}

UNIT_TESTS({
    cmocka_unit_test(each_type_has_a_name_and_a_size),
    cmocka_unit_test(sizes_of_shapes_do_not_overflow),
    cmocka_unit_test(shapes_are_written),
});
