/* test_signature.c - what a model takes: names, types and shapes that do not fit, in words. */
#include "unit.h"

#include "base/mem.h"
#include "model/signature.h"

static struct tm_model_value image = { .name = (char *)"image",
                                       .type = TM_TENSOR_FLOAT32,
                                       .rank = 4,
                                       .shape = { -1, 3, 8, 9 },
                                       .axes = { (char *)"n" } };

static void is_refused(const struct tm_tensor *t, const char *expected)
{
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_model_value_check(&image, t, &err), TM_EUSAGE);
  assert_string_equal(err.text, expected);
}

static void the_nearest_name_is_named(void **state)
{
  struct tm_model_value two[] = { { .name = (char *)"pixels" }, { .name = (char *)"mask" } };
  struct tm_model_values v = { two, 2 };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_model_values_find(&v, "input", "mask", &err), 1);
  assert_int_equal(tm_model_values_find(&v, "input", "pixel", &err), -1);
  assert_string_equal(err.text, "the model has no input 'pixel'; it has 'pixels', 'mask'; did you "
                                "mean 'pixels'?");
  assert_int_equal(tm_model_values_find(&v, "output", "probability", &err), -1);
  assert_string_equal(err.text, "the model has no output 'probability'; it has 'pixels', 'mask'");
}

static void any_size_fits_a_free_axis(void **state)
{
  struct tm_tensor t = { .type = TM_TENSOR_FLOAT32, .rank = 4, .shape = { 5, 3, 8, 9 } };
  assert_int_equal(tm_model_value_check(&image, &t, NULL), 0);
  t.shape[0] = 0;
  assert_int_equal(tm_model_value_check(&image, &t, NULL), 0);
}

static void a_type_is_named_with_its_conversion(void **state)
{
  struct tm_tensor t = { .type = TM_TENSOR_FLOAT64, .rank = 4, .shape = { 5, 3, 8, 9 } };
  is_refused(&t, "input 'image' is a tensor of float64; the model takes float32; convert it with "
                 "tensor:cast(\"float32\")");
  t.type = TM_TENSOR_STRING;
  is_refused(&t, "input 'image' is a tensor of string; the model takes float32");
}

static void both_shapes_are_shown_with_what_to_do(void **state)
{
  struct tm_tensor t = { .type = TM_TENSOR_FLOAT32, .rank = 4, .shape = { 5, 3, 8, 8 } };
  is_refused(&t, "input 'image' has the shape [5, 3, 8, 8]; the model takes [n, 3, 8, 9]");
  t = (struct tm_tensor) { .type = TM_TENSOR_FLOAT32, .rank = 4, .shape = { 5, 8, 9, 3 } };
  is_refused(&t, "input 'image' has the shape [5, 8, 9, 3]; the model takes [n, 3, 8, 9]; the "
                 "channels are its last axis: make the images with layout = \"NCHW\"");
  t = (struct tm_tensor) { .type = TM_TENSOR_FLOAT32, .rank = 3, .shape = { 3, 8, 9 } };
  is_refused(&t, "input 'image' has the shape [3, 8, 9]; the model takes [n, 3, 8, 9]; for a batch "
                 "of one: tensor:reshape { 1, 3, 8, 9 }");
  struct tm_model_value before = image;
  image.shape[1] = 8, image.shape[2] = 9, image.shape[3] = 3;
  t = (struct tm_tensor) { .type = TM_TENSOR_FLOAT32, .rank = 4, .shape = { 5, 3, 8, 9 } };
  is_refused(&t, "input 'image' has the shape [5, 3, 8, 9]; the model takes [n, 8, 9, 3]; the "
                 "channels are its second axis: make the images with layout = \"NHWC\"");
  image = before;
}

static void what_cannot_be_given_is_named(void **state)
{
  struct tm_tensor t = { .type = TM_TENSOR_FLOAT32, .rank = 4, .shape = { 5, 3, 8, 9 } };
  struct tm_model_value before = image;
  image.kind = TM_VALUE_SEQUENCE;
  is_refused(&t, "the model's input 'image' is a sequence, which cannot be given");
  image.kind = TM_VALUE_TENSOR;
  image.type = 16; /* bfloat16 */
  is_refused(&t, "the model's input 'image' is a tensor of a type that tensors do not have, which "
                 "cannot be given");
  image = before;
}

static void only_the_first_axis_may_vary(void **state)
{
  struct tm_onnx_axis axes[] = { { .size = -1 }, { .size = 3 } };
  struct tm_onnx_value v = { .has_shape = true, .shape = { axes, 2, 2 } };
  struct tm_onnx_file f = { .inputs = { &v, 1, 1 } };
  assert_true(tm_model_varies_in_rows(&f));
  axes[1].size = -1;
  assert_false(tm_model_varies_in_rows(&f));
  v.shape.len = 0;
  assert_true(tm_model_varies_in_rows(&f));
  v.has_shape = false;
  assert_false(tm_model_varies_in_rows(&f));
}

static void axes_with_one_name_have_one_size(void **state)
{
  struct tm_model_value inputs[] = {
    { .name = (char *)"a", .rank = 2, .shape = { -1, -1 }, .axes = { (char *)"n", (char *)"k" } },
    { .name = (char *)"b", .rank = 1, .shape = { 7 } },
    { .name = (char *)"c", .rank = 2, .shape = { -1, -1 }, .axes = { (char *)"k" } },
  };
  struct tm_signature s = { .inputs = { inputs, 3 } };
  struct tm_tensor a = { .rank = 2, .shape = { 4, 3 } }, b = { .rank = 1, .shape = { 7 } };
  struct tm_tensor c = { .rank = 2, .shape = { 3, 9 } };
  const struct tm_tensor *const given[] = { &a, &b, &c };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_signature_check_axes(&s, given, &err), 0);
  c.shape[0] = 1; /* repeated by many operators */
  assert_int_equal(tm_signature_check_axes(&s, given, &err), 0);
  c.shape[0] = 5;
  assert_int_equal(tm_signature_check_axes(&s, given, &err), TM_EUSAGE);
  assert_string_equal(err.text, "the model's axis 'k' is 3 in input 'a' [4, 3] and 5 in input 'c' "
                                "[5, 9]; give it one size");
  c.rank = 1; /* refused for that */
  assert_int_equal(tm_signature_check_axes(&s, given, &err), 0);
}

UNIT_TESTS({
    cmocka_unit_test(the_nearest_name_is_named),
    cmocka_unit_test(any_size_fits_a_free_axis),
    cmocka_unit_test(a_type_is_named_with_its_conversion),
    cmocka_unit_test(both_shapes_are_shown_with_what_to_do),
    cmocka_unit_test(what_cannot_be_given_is_named),
    cmocka_unit_test(axes_with_one_name_have_one_size),
    cmocka_unit_test(only_the_first_axis_may_vary),
});
