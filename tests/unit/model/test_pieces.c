/* test_pieces.c - how inputs are cut into pieces, and what is refused. */
#include "unit.h"

#include "model/pieces.h"

/* A model with inputs x [n, 2] and w [3], and an output. */
static struct tm_model_value inputs[2], output;
static struct tm_signature s = { .inputs = { inputs, 2 }, .outputs = { &output, 1 } };

static int setup(void **state)
{
  inputs[0] =
      (struct tm_model_value) { .name = (char *)"x", .type = 1, .rank = 2, .shape = { -1, 2 } };
  inputs[1] = (struct tm_model_value) { .name = (char *)"w", .type = 1, .rank = 1, .shape = { 3 } };
  output =
      (struct tm_model_value) { .name = (char *)"y", .type = 1, .rank = 2, .shape = { -1, 4 } };
  return 0;
}

static float rows[20], three[3];

static struct tm_tensor x_of(int64_t n)
{
  return (struct tm_tensor) { .data = rows, .shape = { n, 2 }, .rank = 2, .type = 1 };
}

static const struct tm_tensor w = { .data = three, .shape = { 3 }, .rank = 1, .type = 1 };

static int plan(struct tm_pieces *b, const struct tm_tensor *x, int64_t max, struct tm_err *err)
{
  const struct tm_tensor *const given[] = { x, &w };
  return tm_pieces_plan(b, &s, given, max, err);
}

/* The pieces as "rows+filling ..." */
static void is_cut(int64_t n, int64_t max, const char *expected)
{
  struct tm_pieces b;
  struct tm_tensor x = x_of(n);
  struct tm_buf text = TM_BUF_NONE;
  assert_int_equal(plan(&b, &x, max, NULL), 0);
  for (int64_t k = 0; k < b.pieces; k++) {
    int64_t fill;
    struct tm_tensor part = tm_pieces_part(&b, 0, &x, k, &fill);
    assert_ptr_equal(part.data, rows + k * b.size * 2);
    tm_buf_printf(&text, "%s%d+%d", k ? " " : "", (int)part.shape[0], (int)fill);
    part = tm_pieces_part(&b, 1, &w, k, &fill);
    assert_true(part.data == three && part.shape[0] == 3 && fill == 0);
  }
  assert_string_equal(tm_buf_str(&text), expected);
  tm_buf_release(&text);
  tm_pieces_release(&b);
}

static void a_free_axis_is_cut_only_above_the_limit(void **state)
{
  is_cut(5, 0, "5+0");
  is_cut(5, 5, "5+0");
  is_cut(5, 2, "2+0 2+0 1+0");
  is_cut(4, 2, "2+0 2+0");
  is_cut(0, 2, "0+0");
}

static void a_fixed_axis_decides_the_size_and_is_filled_up(void **state)
{
  inputs[0].shape[0] = output.shape[0] = 4;
  is_cut(4, 0, "4+0");
  is_cut(4, 2, "4+0");
  is_cut(3, 0, "3+1");
  is_cut(9, 2, "4+0 4+0 1+3");
  is_cut(0, 0, "0+4");
}

static void outputs_that_cannot_be_joined_are_refused(void **state)
{
  struct tm_pieces b;
  struct tm_err err = TM_ERR_NONE;
  struct tm_tensor x = x_of(5);
  output.shape[0] = 7;
  assert_int_equal(plan(&b, &x, 2, &err), TM_EUSAGE);
  assert_string_equal(err.text, "output 'y' [7, 4] has no free first axis, so that the outputs of "
                                "several pieces cannot be joined; leave out 'max_batch'");
  tm_pieces_release(&b);
  is_cut(5, 5, "5+0");
  inputs[0].shape[0] = 4; /* not a batch: the call is refused for its size */
  is_cut(5, 0, "5+0");
}

static void a_shape_that_does_not_fit_is_not_cut(void **state)
{
  inputs[0].shape[1] = 3;
  is_cut(5, 2, "5+0");
}

#define CASE(test) cmocka_unit_test_setup(test, setup)

UNIT_TESTS({
    CASE(a_free_axis_is_cut_only_above_the_limit),
    CASE(a_fixed_axis_decides_the_size_and_is_filled_up),
    CASE(outputs_that_cannot_be_joined_are_refused),
    CASE(a_shape_that_does_not_fit_is_not_cut),
});
