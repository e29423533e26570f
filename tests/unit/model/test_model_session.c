/* test_model_session.c - calls of a real library, with each version that tests have: y = x * w, of
 * x [n, 3] and w [3, 2]. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "folder.h"
#include "model/model_session.h"
#include "onnx_rig.h"
#include "onnxruntime/versions.h"

/* ---- the model ---- */

static const float weights[] = { 1, 2, 3, 4, 5, 6 };

static void add_value(struct tm_buf *graph, unsigned field, const char *name, int64_t rows,
                      int64_t columns)
{
  struct tm_buf value = TM_BUF_NONE, type = TM_BUF_NONE, tensor = TM_BUF_NONE, shape = TM_BUF_NONE;
  struct tm_buf axis = TM_BUF_NONE;
  if (rows < 0)
    put_text(&axis, 2, "n");
  else
    put_number(&axis, 1, (uint64_t)rows);
  put_inner(&shape, 1, &axis);
  put_number(&axis, 1, (uint64_t)columns);
  put_inner(&shape, 1, &axis);
  put_number(&tensor, 1, TM_TENSOR_FLOAT32);
  put_inner(&tensor, 2, &shape);
  put_inner(&type, 1, &tensor);
  put_text(&value, 1, name);
  put_inner(&value, 2, &type);
  put_inner(graph, field, &value);
}

/* `rows`: of x and y; -1: any number. */
static void write_model(struct folder *f, int64_t rows)
{
  struct tm_buf model = TM_BUF_NONE, graph = TM_BUF_NONE, node = TM_BUF_NONE, w = TM_BUF_NONE;
  put_text(&node, 1, "x");
  put_text(&node, 1, "w");
  put_text(&node, 2, "y");
  put_text(&node, 4, "MatMul");
  put_inner(&graph, 1, &node);
  put_text(&graph, 2, "g");
  put_number(&w, 1, 3);
  put_number(&w, 1, 2);
  put_number(&w, 2, TM_TENSOR_FLOAT32);
  put_text(&w, 8, "w");
  put_bytes(&w, 9, (const char *)weights, sizeof weights);
  put_inner(&graph, 5, &w);
  add_value(&graph, 11, "x", rows, 3);
  add_value(&graph, 12, "y", rows, 2);
  model_begin(&model);
  put_inner(&model, 7, &graph);
  folder_put(f, "model.onnx", 0, model.data, model.len);
  folder_cut(f, "model.onnx", (int64_t)model.len);
  tm_buf_release(&model);
}

/* ---- a session ---- */

static struct folder f;
static const struct tm_model_options options = {
  .shown = "model.onnx", .intra_threads = 1, .inter_threads = 1, .optimization = TM_OPTIMIZE_ALL
};

static int setup(void **state)
{
  folder_init(&f);
  return 0;
}

static int teardown(void **state)
{
  folder_release(&f);
  return 0;
}

static struct tm_model_session *open_session(const char *library, int64_t rows, int64_t rows_max)
{
  static const char *const none[] = { NULL };
  struct tm_model_options own = options;
  struct tm_err err = TM_ERR_NONE;
  own.rows_max = rows_max;
  setenv("TIDEMILL_ONNXRUNTIME", library, 1);
  write_model(&f, rows);
  struct tm_runtime *r = tm_runtime_open(none, &err);
  struct tm_model_session *s =
      r ? tm_model_session_open(r, folder_file(&f, "model.onnx"), &own, NULL, &err) : NULL;
  if (!s)
    fail_msg("%s", err.text);
  return s;
}

static float values[30];

static int run(struct tm_model_session *s, int64_t rows, struct tm_results *out, struct tm_err *err)
{
  struct tm_tensor x = {
    .data = values, .shape = { rows, 3 }, .rank = 2, .type = TM_TENSOR_FLOAT32
  };
  const struct tm_tensor *const inputs[] = { &x };
  const size_t outputs[] = { 0 };
  *err = (struct tm_err)TM_ERR_NONE;
  for (int i = 0; i < 30; i++)
    values[i] = (float)(i * i % 7);
  return tm_model_session_run(s, inputs, outputs, 1, out, err);
}

/* Joins the pieces, and compares with the product computed here. */
static void gives_products(struct tm_model_session *s, int64_t rows, size_t pieces)
{
  struct tm_results results;
  struct tm_err err;
  struct tm_tensor shape;
  float y[20];
  int64_t bytes;
  if (run(s, rows, &results, &err) < 0)
    fail_msg("%s", err.text);
  assert_int_equal(results.pieces, pieces);
  assert_int_equal(tm_results_shape(&results, 0, &shape, &bytes, &err), 0);
  assert_true(shape.rank == 2 && shape.shape[0] == rows && shape.shape[1] == 2);
  tm_results_copy(&results, 0, y, NULL);
  for (int64_t i = 0; i < rows; i++)
    for (int k = 0; k < 2; k++)
      assert_true(y[2 * i + k] == values[3 * i] * weights[k] + values[3 * i + 1] * weights[2 + k] +
                                      values[3 * i + 2] * weights[4 + k]);
  tm_results_release(&results);
}

/* ---- the cases, for each version ---- */

static void calls_give_products(const char *library)
{
  struct tm_model_session *s = open_session(library, -1, 0);
  const struct tm_loaded_model *m = tm_model_session_model(s);
  assert_string_equal(m->signature.inputs.at[0].name, "x");
  assert_string_equal(m->signature.inputs.at[0].axes[0], "n");
  assert_int_equal(m->signature.outputs.at[0].shape[1], 2);
  assert_int_equal(m->placed_len, 1);
  assert_string_equal(m->placed[0].provider, "CPUExecutionProvider");
  assert_int_equal(m->placed[0].nodes, 1);
  gives_products(s, 1, 1);
  gives_products(s, 9, 1);
  gives_products(s, 0, 1);
  tm_model_session_close(s);
}

static void pieces_are_joined(const char *library)
{
  struct tm_model_session *s = open_session(library, -1, 4);
  gives_products(s, 4, 1);
  gives_products(s, 9, 3);
  tm_model_session_close(s);
  s = open_session(library, 4, 0);
  gives_products(s, 4, 1);
  gives_products(s, 3, 1);
  gives_products(s, 9, 3);
  gives_products(s, 0, 1);
  tm_model_session_close(s);
}

/* A stop before the library looks is not lost, and ends nothing later. */
static void a_stopped_call_leaves_a_usable_session(const char *library)
{
  struct tm_model_session *s = open_session(library, -1, 0);
  struct tm_results results;
  struct tm_err err;
  for (int i = 0; i < 20; i++) {
    tm_model_session_stop(s);
    assert_int_equal(run(s, 5, &results, &err), -ECANCELED);
    assert_string_equal(err.text, "cannot run 'model.onnx': interrupted");
    tm_results_release(&results);
    gives_products(s, 5, 1);
    tm_model_session_stop(s); /* after the call */
    tm_model_session_forget_stop(s);
    gives_products(s, 5, 1);
  }
  tm_model_session_close(s);
}

/* Also in a version that cannot stop while it loads. */
static void loading_can_be_stopped(const char *library)
{
  static const char *const none[] = { NULL };
  struct tm_model_loading loading = { .is_stopped = false };
  struct tm_err err = TM_ERR_NONE;
  write_model(&f, -1);
  tm_model_loading_stop(&loading);
  struct tm_runtime *r = tm_runtime_open(none, &err);
  assert_null(tm_model_session_open(r, folder_file(&f, "model.onnx"), &options, &loading, &err));
  assert_int_equal(err.code, -ECANCELED);
}

static void a_call_that_does_not_fit_is_refused(const char *library)
{
  struct tm_model_session *s = open_session(library, -1, 0);
  struct tm_tensor x = { .data = values, .shape = { 2, 4 }, .rank = 2, .type = TM_TENSOR_FLOAT32 };
  const struct tm_tensor *const inputs[] = { &x }, *const none[] = { NULL };
  const size_t outputs[] = { 0 };
  struct tm_results results;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_model_session_run(s, inputs, outputs, 1, &results, &err), TM_EUSAGE);
  assert_string_equal(
      err.text, "cannot run 'model.onnx': input 'x' has the shape [2, 4]; the model takes [n, 3]");
  tm_results_release(&results);
  assert_int_equal(tm_model_session_run(s, none, outputs, 1, &results, &err), TM_EUSAGE);
  assert_string_equal(
      err.text, "cannot run 'model.onnx': input 'x' is missing; the model takes float32 [n, 3]");
  tm_results_release(&results);
  tm_model_session_close(s);
}

static void all_cases(const char *library)
{
  calls_give_products(library);
  pieces_are_joined(library);
  a_stopped_call_leaves_a_usable_session(library);
  a_call_that_does_not_fit_is_refused(library);
  loading_can_be_stopped(library);
}

static void the_oldest_version(void **state)
{
  const char *library;
  NEED_ONNXRUNTIME(library, "1_17");
  run_in_child(all_cases, library);
}

static void a_new_version(void **state)
{
  const char *library;
  NEED_ONNXRUNTIME(library, "1_30");
  all_cases(library);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS({
    CASE(the_oldest_version),
    CASE(a_new_version),
});
