/* test_result_size.c - results at the limit of a tensor, before and after a call. */
#include "unit.h"

#include "data/tensor/tensor_types.h"
#include "model/result_size.h"

#define ROWS_MAX ((INT64_C(2) << 30) / 1024 - 64) /* rows of 256 numbers */

static struct tm_model_value inputs[] = {
  { .name = (char *)"a", .rank = 2, .shape = { -1, 1 }, .axes = { (char *)"n" } },
  { .name = (char *)"b", .rank = 2, .shape = { 1, -1 }, .axes = { NULL, (char *)"m" } },
};
static const struct tm_signature s = { .inputs = { inputs, 2 } };

static int ahead(const char *second, int64_t n, int64_t m, int64_t rows, struct tm_err *err)
{
  struct tm_model_value y = { .name = (char *)"y", .type = TM_TENSOR_FLOAT32, .rank = 2 };
  struct tm_tensor a = { .rank = 2, .shape = { n, 1 } }, b = { .rank = 2, .shape = { 1, m } };
  const struct tm_tensor *const given[] = { &a, &b };
  y.shape[0] = y.shape[1] = -1;
  y.axes[0] = (char *)"n";
  y.axes[1] = (char *)second;
  *err = (struct tm_err)TM_ERR_NONE;
  return tm_result_check_ahead(&y, &s, given, rows, err);
}

static void a_shape_that_the_model_says_is_checked_ahead(void **state)
{
  struct tm_err err;
  assert_int_equal(ahead("m", ROWS_MAX, 256, -1, &err), 0);
  assert_int_equal(ahead("m", ROWS_MAX + 1, 256, -1, &err), TM_ELIMIT);
  assert_int_equal(ahead("m", 1, 256, ROWS_MAX, &err), 0); /* pieces of one row */
  assert_int_equal(ahead("m", 1, 256, ROWS_MAX + 1, &err), TM_ELIMIT);
  assert_int_equal(ahead("m", 32768, 16384, -1, &err), TM_ELIMIT);
  assert_string_equal(err.text, "output 'y' would be float32 [32768, 16384], 2.0 GB; a tensor has "
                                "less than 2 GB: run fewer rows at once ('max_batch' joins the "
                                "outputs of its pieces)");
  assert_int_equal(ahead("m", INT64_MAX / 2, INT64_MAX / 2, -1, &err), TM_ELIMIT);
}

static void another_shape_is_not_guessed(void **state)
{
  struct tm_err err;
  assert_int_equal(ahead("k", ROWS_MAX + 1, 256, -1, &err), 0);
  assert_int_equal(ahead(NULL, ROWS_MAX + 1, 256, -1, &err), 0);
}

static void strings_count_with_their_bytes(void **state)
{
  struct tm_model_value y = { .name = (char *)"y" };
  struct tm_tensor t = { .type = TM_TENSOR_STRING, .rank = 1, .shape = { 4096 } };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_result_check(&y, &t, TM_TENSOR_BYTES_MAX - 65536, &err), 0);
  assert_int_equal(tm_result_check(&y, &t, TM_TENSOR_BYTES_MAX - 65535, &err), TM_ELIMIT);
  assert_int_equal(tm_result_check(&y, &t, INT64_MAX, &err), TM_ELIMIT);
}

UNIT_TESTS({
    cmocka_unit_test(a_shape_that_the_model_says_is_checked_ahead),
    cmocka_unit_test(another_shape_is_not_guessed),
    cmocka_unit_test(strings_count_with_their_bytes),
});
