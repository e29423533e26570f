/* test_model_sample.c - inputs made from signatures, and outputs compared. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "model/model_sample.h"

static void inputs_fit_the_signature(void **state)
{
  struct tm_model_value values[] = {
    { .name = (char *)"x", .type = TM_TENSOR_FLOAT32, .rank = 2, .shape = { -1, 20 } },
    { .name = (char *)"ids", .type = TM_TENSOR_INT64, .rank = 1, .shape = { 3 } },
    { .name = (char *)"text", .type = TM_TENSOR_STRING, .rank = 1, .shape = { 2 } },
    { .name = (char *)"no", .kind = TM_VALUE_SEQUENCE },
  };
  struct tm_model_values inputs = { values, 3 };
  struct tm_sample_numbers ones = { 1, 1 }, zeros = { 1, 0 };
  struct tm_model_sample s;
  struct tm_err err;
  assert_int_equal(tm_model_sample_make(&s, &inputs, &ones, &err), 0);
  const float *x = s.list[0]->data;
  const int64_t *ids = s.list[1]->data;
  const struct tm_tensor_string *text = s.list[2]->data;
  assert_int_equal(s.list[0]->shape[0], 1);
  assert_true(x[0] == 0 && x[15] == 1 && x[16] == 0 && x[19] == x[3] && x[3] > 0);
  assert_true(ids[0] == 1 && ids[2] == 1 && text[1].len == 0);
  tm_model_sample_release(&s);
  inputs.len = 4;
  assert_int_equal(tm_model_sample_make(&s, &inputs, &zeros, &err), TM_EINPUT);
  assert_string_equal(err.text, "its input 'no' is not a tensor that can be made");
  tm_model_sample_release(&s);
  values[0].shape[1] = INT64_C(1) << 40;
  assert_int_equal(tm_model_sample_make(&s, &inputs, &zeros, &err), TM_EINPUT);
  assert_string_equal(err.text, "its input 'x' takes more than 256 MB");
  tm_model_sample_release(&s);
}

static void free_axes_get_a_size(void **state)
{
  struct tm_model_value value = {
    .name = (char *)"image", .type = TM_TENSOR_FLOAT32, .rank = 4, .shape = { -1, 3, -1, -1 }
  };
  struct tm_model_values inputs = { &value, 1 };
  struct tm_sample_numbers numbers = { 32, 1 };
  struct tm_model_sample s;
  assert_true(tm_model_sample_is_free(&inputs));
  assert_int_equal(tm_model_sample_make(&s, &inputs, &numbers, NULL), 0);
  assert_int_equal(s.list[0]->shape[0], 1);
  assert_int_equal(s.list[0]->shape[1], 3);
  assert_int_equal(s.list[0]->shape[2], 32);
  assert_int_equal(s.list[0]->shape[3], 32);
  tm_model_sample_release(&s);
  value.rank = 2; /* only the first axis is free */
  assert_false(tm_model_sample_is_free(&inputs));
}

static struct tm_value value_of(int32_t type, void *data, int64_t n)
{
  return (struct tm_value) { .tensor = { .data = data, .shape = { n }, .rank = 1, .type = type } };
}

static int compare_floats(float a, float b)
{
  struct tm_value p = value_of(TM_TENSOR_FLOAT32, &a, 1), q = value_of(TM_TENSOR_FLOAT32, &b, 1);
  return tm_model_sample_compare("y", &p, &q, NULL);
}

static void numbers_may_differ_a_little(void **state)
{
  assert_int_equal(compare_floats(0.5F, 0.500009F), 0);
  assert_int_equal(compare_floats(0.5F, 0.50002F), TM_EINPUT);
  assert_int_equal(compare_floats(1000, 1000.009F), 0);
  assert_int_equal(compare_floats(1000, 1000.02F), TM_EINPUT);
  assert_int_equal(compare_floats(NAN, NAN), 0);
  assert_int_equal(compare_floats(NAN, 1), TM_EINPUT);
  assert_int_equal(compare_floats(1, NAN), TM_EINPUT);
  assert_int_equal(compare_floats(INFINITY, INFINITY), 0);
  assert_int_equal(compare_floats(INFINITY, -INFINITY), TM_EINPUT);
  assert_int_equal(compare_floats(INFINITY, 1), TM_EINPUT);
}

static void other_values_are_equal(void **state)
{
  int64_t a[] = { 1, 2 }, b[] = { 1, 3 };
  uint16_t h[] = { 0x3c00, 0x3c01 }; /* 1, and the half above it */
  struct tm_tensor_string s[] = { { "cat", 3 }, { "", 0 } }, t[] = { { "cat", 3 }, { "x", 1 } };
  struct tm_value p = value_of(TM_TENSOR_INT64, a, 2), q = value_of(TM_TENSOR_INT64, b, 2);
  struct tm_value u = value_of(TM_TENSOR_STRING, s, 2), v = value_of(TM_TENSOR_STRING, t, 2);
  struct tm_value half = value_of(TM_TENSOR_FLOAT16, h, 1),
                  above = value_of(TM_TENSOR_FLOAT16, h + 1, 1);
  struct tm_value list = { .kind = TM_VALUE_SEQUENCE, .items = &p, .len = 1 }, other = list;
  struct tm_err err;
  assert_int_equal(tm_model_sample_compare("y", &p, &p, &err), 0);
  assert_int_equal(tm_model_sample_compare("y", &p, &q, &err), TM_EINPUT);
  assert_string_equal(err.text, "output 'y' differs in the copy");
  assert_int_equal(tm_model_sample_compare("y", &u, &u, &err), 0);
  assert_int_equal(tm_model_sample_compare("y", &u, &v, &err), TM_EINPUT);
  assert_int_equal(tm_model_sample_compare("y", &half, &half, &err), 0);
  assert_int_equal(tm_model_sample_compare("y", &half, &above, &err), TM_EINPUT);
  other.items = &q;
  assert_int_equal(tm_model_sample_compare("y", &list, &list, &err), 0);
  assert_int_equal(tm_model_sample_compare("y", &list, &other, &err), TM_EINPUT);
  assert_int_equal(tm_model_sample_compare("y", &list, &p, &err), TM_EINPUT);
  q.tensor.shape[0] = 1;
  assert_int_equal(tm_model_sample_compare("y", &p, &q, &err), TM_EINPUT);
  assert_string_equal(err.text, "output 'y' has another type or shape in the copy");
}

UNIT_TESTS({
    cmocka_unit_test(inputs_fit_the_signature),
    cmocka_unit_test(free_axes_get_a_size),
    cmocka_unit_test(numbers_may_differ_a_little),
    cmocka_unit_test(other_values_are_equal),
});
