/* test_model_script.c - a model in place of an entry script: what the step becomes. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "plan/model_script.h"
#include "plan/read.h"
#include "tree.h"

#define MODELS TM_TESTS_DIR "/fuzz/corpus/onnx_file/"

struct world {
  char *dir;
  struct tm_json *config, *step, *pipeline; /* step owns config, pipeline owns step */
};

static void put_model(struct world *w, const char *from, const char *to)
{
  struct tm_buf bytes = TM_BUF_NONE;
  char *path = tm_path_join(w->dir, to);
  assert_int_equal(tm_fs_read_file(tm_fs_real(), from, 1 << 20, &bytes, NULL), 0);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, bytes.data, bytes.len, 0600, NULL), 0);
  tm_buf_release(&bytes);
  free(path);
}

static int setup(void **state)
{
  struct world *w = TM_NEW(struct world);
  w->dir = folder_make();
  put_model(w, MODELS "elsewhere.onnx", "m.onnx");
  file_put(w->dir, "elsewhere.bin", "0123456789abcdef0123456789abcdef", 0600);
  w->config = tree("ParallelRunConfig", "p.lua:5", "{'model':'m.onnx'}");
  w->step =
      tree("ParallelRunStep", "p.lua:9", "{'name':'predict','arguments':['--labels','l.txt']}");
  tm_json_set(w->step, "parallel_run_config", w->config);
  tm_json_set(w->step, "inputs",
              tree("TabularDataset", "p.lua:3", "{'kind':'delimited','paths':['a.csv']}"));
  w->pipeline = tree("Pipeline", "p.lua:20", "{'name':'digits','steps':[]}");
  tm_json_add(tm_json_get(w->pipeline, "steps"), w->step);
  *state = w;
  return 0;
}

static int teardown(void **state)
{
  struct world *w = *state;
  tm_json_free(w->pipeline);
  folder_remove(w->dir);
  free(w);
  return 0;
}

static struct tm_pipeline *read_all(struct world *w, struct tm_err *err)
{
  char *file = tm_path_join(w->dir, "p.lua");
  struct tm_pipeline *p = tm_pipeline_from_json(w->pipeline, file, NULL, 0, false, err);
  free(file);
  return p;
}

static void refused(struct world *w, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  assert_null(read_all(w, &err));
  assert_int_equal(err.code, TM_EUSAGE);
  if (!strstr(err.text, words))
    fail_msg("%s", err.text);
}

static void the_step_is_an_ordinary_one(void **state)
{
  struct world *w = *state;
  struct tm_err err = TM_ERR_NONE;
  struct tm_pipeline *p = read_all(w, &err);
  if (!p)
    fail_msg("%s", err.text);
  const struct tm_step *s = p->steps[0];
  char *model = tm_path_join(w->dir, "m.onnx");
  const char *script = "script/predict/m.onnx.lua";
  assert_string_equal(s->config.model, model);
  assert_string_equal(s->config.entry_script, script);
  assert_non_null(strstr(s->config.script_text, "function run("));
  assert_string_equal(s->config.library_dir, w->dir);
  assert_int_equal(s->arguments_len, 4);
  assert_string_equal(s->arguments[0], "--model");
  assert_string_equal(s->arguments[1], model);
  assert_string_equal(s->arguments[2], "--labels");
  assert_int_equal(s->side_inputs_len, 1);
  assert_string_equal(s->side_inputs[0]->base_dir, w->dir);
  assert_int_equal(s->side_inputs[0]->paths_len, 2);
  assert_string_equal(s->side_inputs[0]->paths[0], "m.onnx");
  assert_string_equal(s->side_inputs[0]->paths[1], "elsewhere.bin");
  const struct tm_json *settings = tm_json_get(s->effective, "settings");
  assert_string_equal(tm_json_str(tm_json_get(settings, "model"), "value", ""), model);
  assert_string_equal(tm_json_str(tm_json_get(settings, "entry_script"), "value", ""), script);
  assert_int_equal(tm_json_items(tm_json_get(s->effective, "side_inputs")), 1);
  assert_int_equal(tm_json_items(tm_json_get(s->effective, "arguments")), 4);
  free(model);
  tm_pipeline_free(p);
}

static void what_is_not_a_whole_model_is_refused(void **state)
{
  struct world *w = *state;
  file_put(w->dir, "elsewhere.bin", "short", 0600);
  refused(w, "p.lua:5: ParallelRunConfig: cannot load '");
  refused(w, "/m.onnx': the data of tensor 'second' are in 'elsewhere.bin', which has 5 bytes");
  file_put(w->dir, "m.onnx", "", 0600);
  refused(w, "/m.onnx': the file is empty");
  tm_json_set(w->config, "model", tm_json_new_string("none.onnx"));
  refused(w, "/none.onnx': no such file or directory");
}

static void a_pattern_is_refused(void **state)
{
  struct world *w = *state;
  put_model(w, MODELS "labels.onnx", "m[1].onnx");
  tm_json_set(w->config, "model", tm_json_new_string("m[1].onnx"));
  refused(w, "/m[1].onnx'; its name, and those of its files of data, may not contain *, ?, [ or {");
}

static void an_image_model_takes_files_and_a_table_model_rows(void **state)
{
  struct world *w = *state;
  put_model(w, MODELS "labels.onnx", "m.onnx");
  struct tm_pipeline *p = read_all(w, NULL);
  assert_non_null(p);
  struct tm_err err = TM_ERR_NONE;
  struct tm_model_wish *wish = tm_model_wish_of(p->steps[0]);
  const char *two[] = { "scores", "x" }, *three[] = { "a", "b", "c" };
  struct tm_column numbers[] = { { .type = TM_COLUMN_DOUBLE },
                                 { .type = TM_COLUMN_LONG },
                                 { .type = TM_COLUMN_STRING } };
  struct tm_data_frame rows = { .columns = numbers, .names = two, .n = 2 };
  assert_int_equal(tm_model_wish_check(wish, &rows, &err), 0);
  rows.names = three;
  assert_int_equal(tm_model_wish_check(wish, &rows, &err), 0);
  rows.n = 3;
  assert_int_equal(tm_model_wish_check(wish, &rows, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "the rows have 3 columns (a, b, c), and the input 'scores'"));
  tm_model_wish_free(wish);
  tm_pipeline_free(p);
  tm_json_set(w->step, "inputs", tree("FileDataset", "p.lua:3", "{'kind':'files','paths':['*']}"));
  refused(w, "whose input 'scores' is [n, 2]; accepted for files: one input of four axes, images");
}

static void labels_are_read_beside_the_inputs(void **state)
{
  struct world *w = *state;
  const char *const given[] = { "['--labels','/a/l.txt']", "['--labels=/a/l.txt','--softmax']",
                                "['--labels','l.txt']", "['--softmax','--labels']" };
  for (size_t i = 0; i < 4; i++) {
    tm_json_set(w->step, "arguments", tree(NULL, "p.lua:9", given[i]));
    struct tm_pipeline *p = read_all(w, NULL);
    assert_non_null(p);
    assert_int_equal(p->steps[0]->read_paths_len, i < 2); /* relative to a copy of the script */
    if (i < 2)
      assert_string_equal(p->steps[0]->read_paths[0], "/a/l.txt");
    tm_pipeline_free(p);
  }
}

static void expect_columns(struct world *w, const char *arguments, const struct tm_data_frame *rows,
                           const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  tm_json_set(w->step, "arguments", tree(NULL, "p.lua:9", arguments));
  struct tm_pipeline *p = read_all(w, &err);
  assert_non_null(p);
  struct tm_model_wish *wish = tm_model_wish_of(p->steps[0]);
  assert_int_equal(tm_model_wish_check(wish, rows, &err), words ? TM_EUSAGE : 0);
  if (words && !strstr(err.text, words))
    fail_msg("%s", err.text);
  tm_model_wish_free(wish);
  tm_pipeline_free(p);
}

/* labels.onnx has one input: scores, float32 [n, 2]. */
static void columns_are_those_of_the_arguments_and_have_fitting_types(void **state)
{
  struct world *w = *state;
  const char *names[] = { "kind", "a", "b", "day" };
  const struct tm_column columns[] = { { .type = TM_COLUMN_STRING },
                                       { .type = TM_COLUMN_LONG },
                                       { .type = TM_COLUMN_BOOL },
                                       { .type = TM_COLUMN_DATETIME } };
  struct tm_data_frame rows = { .columns = columns, .names = names, .n = 4 };
  put_model(w, MODELS "labels.onnx", "m.onnx");
  expect_columns(w, "['--columns','a','b','--softmax']", &rows, NULL);
  expect_columns(w, "['--columns','kind','--columns','b','a']", &rows, NULL);
  expect_columns(w, "['--columns=a']", &rows, NULL); /* the script will refuse it */
  expect_columns(w, "['--columns','a','z']", &rows,
                 "the rows have no column 'z', which '--columns' names; columns: kind, a, b, day");
  expect_columns(w, "['--softmax','--columns','a']", &rows,
                 "'--columns' names 1 column (a), and the input 'scores' of the model '");
  expect_columns(w, "['--columns','a','kind']", &rows,
                 "the column 'kind' of the rows is of type string, and the input 'scores' of the "
                 "model '");
  expect_columns(w, "['--columns','day','a']", &rows,
                 "m.onnx' takes float32; accepted: numbers and bools; name the columns for the "
                 "model in 'arguments': --columns NAME...");
  rows.n = 2;
  expect_columns(w, "[]", &rows, "the column 'kind' of the rows is of type string");
  names[0] = "scores";
  expect_columns(w, "[]", &rows, "the column 'scores' of the rows is of type string");
}

static void the_model_is_named_once(void **state)
{
  struct world *w = *state;
  tm_json_set(w->step, "arguments", tree(NULL, "p.lua:9", "['--model=x.onnx']"));
  refused(w, "'--model' is among 'arguments', and the step has it already");
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(the_step_is_an_ordinary_one, setup, teardown),
    cmocka_unit_test_setup_teardown(what_is_not_a_whole_model_is_refused, setup, teardown),
    cmocka_unit_test_setup_teardown(a_pattern_is_refused, setup, teardown),
    cmocka_unit_test_setup_teardown(an_image_model_takes_files_and_a_table_model_rows, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(labels_are_read_beside_the_inputs, setup, teardown),
    cmocka_unit_test_setup_teardown(columns_are_those_of_the_arguments_and_have_fitting_types,
                                    setup, teardown),
    cmocka_unit_test_setup_teardown(the_model_is_named_once, setup, teardown),
});
