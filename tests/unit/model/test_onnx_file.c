/* test_onnx_file.c - what ONNX files say, and files that are cut or hostile. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "folder.h"
#include "model/onnx_rig.h"

static void read_model(struct tm_onnx_file *f, const char *name)
{
  char path[512];
  struct tm_err err = TM_ERR_NONE;
  snprintf(path, sizeof(path), MODELS "%s", name);
  if (tm_onnx_file_read(f, tm_fs_real(), path, &err) < 0)
    fail_msg("%s: %s", name, err.text);
}

/* ---- what a model says ---- */

static void inputs_and_outputs_have_names_types_and_shapes(void **state)
{
  struct tm_onnx_file f;
  (void)state;
  read_model(&f, "scale.onnx");
  assert_int_equal(f.inputs.len, 1); /* the other one has a value */
  assert_string_equal(f.inputs.at[0].name, "x");
  assert_string_equal(f.inputs.at[0].type, "float32");
  assert_int_equal(f.inputs.at[0].element, 1);
  assert_true(f.inputs.at[0].has_shape);
  assert_int_equal(f.inputs.at[0].shape.len, 2);
  assert_int_equal(f.inputs.at[0].shape.at[0].size, -1);
  assert_string_equal(f.inputs.at[0].shape.at[0].name, "n");
  assert_int_equal(f.inputs.at[0].shape.at[1].size, 3);
  assert_null(f.inputs.at[0].shape.at[1].name);
  assert_int_equal(f.outputs.len, 1);
  assert_string_equal(f.outputs.at[0].name, "y");
  tm_onnx_file_release(&f);
}

static void a_model_says_where_it_is_from(void **state)
{
  struct tm_onnx_file f;
  (void)state;
  read_model(&f, "scale.onnx");
  assert_string_equal(f.producer, "onnx_models.lua");
  assert_string_equal(f.producer_version, "");
  assert_string_equal(f.graph, "graph");
  assert_int_equal(f.ir_version, 8);
  assert_int_equal(f.opsets.len, 1);
  assert_string_equal(f.opsets.at[0].domain, "ai.onnx");
  assert_int_equal(f.opsets.at[0].version, 13);
  assert_int_equal(f.metadata.len, 2);
  assert_string_equal(f.metadata.at[1].key, "purpose");
  assert_string_equal(f.metadata.at[1].value, "a test");
  assert_int_equal(f.nodes, 1);
  assert_int_equal(f.weights, 12);
  assert_int_equal(f.operators.len, 1);
  assert_string_equal(f.operators.at[0].type, "Mul");
  assert_string_equal(f.operators.at[0].node, "scaling");
  tm_onnx_file_release(&f);
}

static void sequences_of_maps_have_a_type(void **state)
{
  struct tm_onnx_file f;
  (void)state;
  read_model(&f, "labels.onnx");
  assert_string_equal(f.outputs.at[0].type, "string");
  assert_string_equal(f.outputs.at[1].type, "sequence<map<string,float32>>");
  assert_int_equal(f.outputs.at[1].element, 0);
  assert_false(f.outputs.at[1].has_shape);
  assert_int_equal(f.weights, 6); /* "cat", "dog" */
  assert_int_equal(f.operators.len, 3);
  assert_string_equal(f.operators.at[2].domain, "ai.onnx.ml");
  tm_onnx_file_release(&f);
}

static void types_have_names_and_sizes(void **state)
{
  struct tm_onnx_file f;
  (void)state;
  read_model(&f, "types.onnx");
  assert_string_equal(f.inputs.at[0].type, "float16");
  assert_string_equal(f.inputs.at[1].type, "float64");
  assert_true(f.inputs.at[1].has_shape);
  assert_int_equal(f.inputs.at[1].shape.len, 0);
  assert_int_equal(f.weights, 4 + 1 + 8 + 2);
  tm_onnx_file_release(&f);
}

static void any_rank_is_not_rank_0(void **state)
{
  struct tm_buf b = TM_BUF_NONE, tensor = TM_BUF_NONE, type = TM_BUF_NONE, input = TM_BUF_NONE,
                graph = TM_BUF_NONE;
  struct tm_onnx_file f;
  struct tm_err err;
  (void)state;
  model_begin(&b);
  put_number(&tensor, 1, 99);
  put_inner(&type, 1, &tensor);
  put_inner(&input, 2, &type);
  put_inner(&graph, 11, &input);
  put_inner(&b, 7, &graph);
  assert_int_equal(model_read(&f, b.data, b.len, &err), 0);
  assert_false(f.inputs.at[0].has_shape);
  assert_string_equal(f.inputs.at[0].type, "type 99");
  assert_string_equal(f.inputs.at[0].name, "");
  tm_onnx_file_release(&f);
  tm_buf_release(&b);
}

static void graphs_within_graphs_count(void **state)
{
  struct tm_onnx_file f;
  (void)state;
  read_model(&f, "branches.onnx");
  assert_int_equal(f.nodes, 3);
  assert_int_equal(f.weights, 32); /* in an attribute, and in an inner graph */
  assert_int_equal(f.outputs.len, 1);
  tm_onnx_file_release(&f);
}

static void files_of_data_are_listed(void **state)
{
  struct tm_onnx_file f;
  (void)state;
  read_model(&f, "elsewhere.onnx");
  assert_int_equal(f.data_files.len, 1);
  assert_string_equal(f.data_files.at[0].location, "elsewhere.bin");
  assert_string_equal(f.data_files.at[0].tensor, "second");
  assert_int_equal(f.data_files.at[0].offset, 16);
  assert_int_equal(f.data_files.at[0].length, 16);
  assert_int_equal(f.data_files.at[0].tensors, 2);
  assert_int_equal(f.data_files.at[0].bytes, 32);
  assert_int_equal(f.weights, 32);
  tm_onnx_file_release(&f);
}

/* A model whose weights are a hole of 3 GB: they are skipped. */
static void weights_are_not_read(void **state)
{
  struct tm_buf b = TM_BUF_NONE, opset = TM_BUF_NONE;
  struct folder d;
  struct tm_onnx_file f;
  struct tm_err err = TM_ERR_NONE;
  const uint64_t bytes = UINT64_C(3) << 30;
  (void)state;
  folder_init(&d);
  put_number(&b, 1, 8);
  put_number(&opset, 2, 13);
  put_inner(&b, 8, &opset);
  tm_buf_add(&b, "\x3a\x86\x80\x80\x80\x0c\x2a\x80\x80\x80\x80\x0c\x4a\xfa\xff\xff\xff\x0b", 18);
  folder_put(&d, "large.onnx", 0, b.data, b.len);
  folder_cut(&d, "large.onnx", (int64_t)(b.len + bytes - 6));
  if (tm_onnx_file_read(&f, tm_fs_real(), folder_file(&d, "large.onnx"), &err) < 0)
    fail_msg("%s", err.text);
  assert_int_equal(f.weights, bytes - 6);
  tm_onnx_file_release(&f);
  tm_buf_release(&b);
  folder_release(&d);
}

/* ---- files that are cut ---- */

static void check_cuts(const char *name)
{
  char path[512];
  struct tm_buf b = TM_BUF_NONE;
  int refused = 0, accepted = 0;
  snprintf(path, sizeof(path), MODELS "%s", name);
  assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 1 << 20, &b, NULL), 0);
  for (size_t n = 1; n < b.len; n++) {
    struct tm_onnx_file f;
    struct tm_err err;
    int rc = model_read(&f, b.data, n, &err);
    refused += rc < 0;
    accepted += rc == 0; /* cut between metadata: nobody can know */
    if (rc < 0 && n > 1 && !strstr(err.text, "cut"))
      fail_msg("%s, %zu bytes: %s", name, n, err.text);
    tm_onnx_file_release(&f);
  }
  assert_true(refused > 100);
  assert_true(accepted <= 3);
  tm_buf_release(&b);
}

static void a_model_that_is_cut_anywhere_is_refused(void **state)
{
  (void)state;
  check_cuts("scale.onnx");
  check_cuts("labels.onnx");
  check_cuts("elsewhere.onnx");
  check_cuts("branches.onnx");
}

/* ---- hostile files ---- */

static void deep_graphs_are_refused(void **state)
{
  struct tm_buf b = TM_BUF_NONE, inner = TM_BUF_NONE;
  (void)state;
  for (int i = 0; i < TM_ONNX_DEPTH_MAX + 2; i++) {
    struct tm_buf node = TM_BUF_NONE, graph = TM_BUF_NONE, attribute = TM_BUF_NONE;
    put_inner(&attribute, 6, &inner);
    put_inner(&node, 5, &attribute);
    put_inner(&graph, 1, &node);
    inner = graph;
  }
  model_begin(&b);
  put_inner(&b, 7, &inner);
  model_refused(b.data, b.len, "more than 32 deep");
  tm_buf_release(&b);
}

/* Merged, they would be another model than each of them. */
static void a_second_graph_is_refused(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  (void)state;
  model_begin(&b);
  put_text(&b, 7, "");
  put_text(&b, 7, "");
  model_refused(b.data, b.len, "a second field 7");
  tm_buf_release(&b);
}

static void add_tensor(struct tm_buf *b, void (*fill)(struct tm_buf *tensor))
{
  struct tm_buf tensor = TM_BUF_NONE, graph = TM_BUF_NONE;
  model_begin(b);
  put_text(&tensor, 8, "w");
  fill(&tensor);
  put_inner(&graph, 5, &tensor);
  put_inner(b, 7, &graph);
}

static void check_tensor(void (*fill)(struct tm_buf *tensor), const char *words)
{
  struct tm_buf b = TM_BUF_NONE;
  add_tensor(&b, fill);
  model_refused(b.data, b.len, words);
  tm_buf_release(&b);
}

static void two_locations(struct tm_buf *t)
{
  put_pair(t, 13, "location", "a.bin");
  put_pair(t, 13, "location", "/etc/passwd");
  put_number(t, 14, 1);
}

static void no_location(struct tm_buf *t)
{
  put_number(t, 14, 1);
}

static void negative_offset(struct tm_buf *t)
{
  put_pair(t, 13, "offset", "-5");
}

static void words_as_length(struct tm_buf *t)
{
  put_pair(t, 13, "length", "many");
}

static void two_lengths(struct tm_buf *t)
{
  put_pair(t, 13, "length", "1");
  put_pair(t, 13, "length", "2");
}

static void negative_axis(struct tm_buf *t)
{
  put_number(t, 1, UINT64_MAX);
}

static void odd_tensors_are_refused(void **state)
{
  (void)state;
  check_tensor(two_locations, "two fields 'location'");
  check_tensor(two_lengths, "two fields 'length'");
  check_tensor(no_location, "tensor 'w' does not name the file of its data");
  check_tensor(negative_offset, "the offset \"-5\"; accepted: an integer from 0 on");
  check_tensor(words_as_length, "the length \"many\"");
  check_tensor(negative_axis, "-1 elements along an axis");
}

static void huge_tensor(struct tm_buf *t)
{
  put_number(t, 1, INT64_MAX);
  put_number(t, 1, INT64_MAX);
  put_number(t, 2, 1);
  put_pair(t, 13, "location", "a.bin");
  put_number(t, 14, 1);
}

static void sizes_do_not_overflow(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_onnx_file f;
  struct tm_err err;
  (void)state;
  add_tensor(&b, huge_tensor);
  assert_int_equal(model_read(&f, b.data, b.len, &err), 0);
  assert_int_equal(f.weights, INT64_MAX);
  assert_int_equal(f.data_files.at[0].length, INT64_MAX);
  tm_onnx_file_release(&f);
  tm_buf_release(&b);
}

/* Other readers skip a field of a kind that the number does not have, and values that an enum does
 * not have. */
static void odd_location(struct tm_buf *t)
{
  put_pair(t, 13, "location", "a.bin");
  put_number(t, 14, 1);
  put_number(t, 14, 5);
  put_text(t, 14, "");
}

static void unknown_fields_change_nothing(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_onnx_file f;
  struct tm_err err;
  (void)state;
  add_tensor(&b, odd_location);
  put_number(&b, 15, 3);
  put_text(&b, 1, "no version");
  assert_int_equal(model_read(&f, b.data, b.len, &err), 0);
  assert_int_equal(f.data_files.len, 1);
  assert_int_equal(f.ir_version, 8);
  tm_onnx_file_release(&f);
  tm_buf_release(&b);
}

/* ---- files of other kinds ---- */

static void other_kinds_are_named(void **state)
{
  static const struct {
    const char *bytes;
    size_t n;
    const char *words;
  } cases[] = {
    { "", 0, "the file is empty" },
    { "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", 56, "run 'git lfs pull'" },
    { "PK\3\4\0\0\0\0archive/data.pkl", 24, "a PyTorch model; export it: torch.onnx.export" },
    { "PK\3\4\0\0\0\0model/other.txt", 23, "a zip archive" },
    { "PK\3\4\0\0\0\0metadata.json", 21, "a Keras model" },
    { "PK\3\4"
      "00000000000000000000000000"
      "config.json",
      41, "python -m tf2onnx.convert --keras" },
    { "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15, "a PyTorch model" },
    { "\x80\x04\x95\x10\0\0\0", 7, "a Python pickle" },
    { "\x20\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[1]}}", 42, "a safetensors file" },
    { "GGUF\3\0\0\0", 8, "a GGUF file" },
    { "\x89HDF\r\n\x1a\n\0", 9, "a Keras model" },
    { "\x1c\0\0\0TFL3\0", 9, "a TensorFlow Lite model" },
    { "\x1c\0\0\0ORTM\0", 9, "in ONNX Runtime's own format" },
    { "\x08\x01\x12\x0c\x0a\x0a\x12\x08serve\0\0\0", 16, "a TensorFlow SavedModel" },
    { "\x0a\x0a\x0a\x01x\x12\x05"
      "Const",
      12, "a TensorFlow graph" },
    { "\x1f\x8b\x08\0\0", 5, "the file is compressed" },
    { "<!DOCTYPE html>", 15, "a web page" },
    { "\n\n\na,b\n1,2\n", 11, "the file is not an ONNX model: " },
    { "\x08\x01\x12\x0c"
      "tidemill.lua"
      "\x3a",
      17, "the file is cut: " },
    { "a,b\n1,2\n", 8, "the file is not an ONNX model: " },
  };
  (void)state;
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    model_refused(cases[i].bytes, cases[i].n, cases[i].words);
}

static void check_path(struct folder *d, const char *name, const char *words, bool is_model)
{
  struct tm_onnx_file f;
  struct tm_err err = TM_ERR_NONE;
  assert_true(tm_onnx_file_read(&f, tm_fs_real(), folder_file(d, name), &err) < 0);
  if (!strstr(err.text, words))
    fail_msg("not '%s' in: %s", words, err.text);
  assert_int_equal(tm_onnx_is_model(tm_fs_real(), folder_file(d, name)), is_model);
  tm_onnx_file_release(&f);
}

static void files_that_are_not_there_and_folders_are_refused(void **state)
{
  struct folder d;
  (void)state;
  folder_init(&d);
  check_path(&d, "none.onnx", "no such file or directory", false);
  check_path(&d, ".", "it is a folder; name the .onnx file", false);
  folder_put(&d, "saved_model.pb", 0, "x", 1);
  check_path(&d, ".", "a TensorFlow SavedModel", false);
  folder_put(&d, "model.onnx", 0, "x", 1);
  check_path(&d, ".", "name the file in it: 'model.onnx'", false);
  folder_put(&d, "weights", 0, "GGUF\3\0\0\0", 8);
  check_path(&d, "weights", "GGUF", true);
  folder_put(&d, "table.csv", 0, "a,b\n1,2\n", 8);
  check_path(&d, "table.csv", "not an ONNX model", false);
  assert_int_equal(mkfifo(folder_file(&d, "fifo"), 0600), 0);
  check_path(&d, "fifo", "not a regular file", false);
  folder_release(&d);
}

static void contents_say_that_a_file_is_a_model(void **state)
{
  (void)state;
  assert_true(tm_onnx_is_model(tm_fs_real(), MODELS "scale.onnx"));
  assert_true(tm_onnx_is_model(tm_fs_real(), MODELS "labels.onnx"));
  assert_false(tm_onnx_is_model(tm_fs_real(), TM_TESTS_DIR "/README.md"));
}

UNIT_TESTS({
    cmocka_unit_test(inputs_and_outputs_have_names_types_and_shapes),
    cmocka_unit_test(a_model_says_where_it_is_from),
    cmocka_unit_test(sequences_of_maps_have_a_type),
    cmocka_unit_test(types_have_names_and_sizes),
    cmocka_unit_test(any_rank_is_not_rank_0),
    cmocka_unit_test(graphs_within_graphs_count),
    cmocka_unit_test(files_of_data_are_listed),
    cmocka_unit_test(weights_are_not_read),
    cmocka_unit_test(a_model_that_is_cut_anywhere_is_refused),
    cmocka_unit_test(deep_graphs_are_refused),
    cmocka_unit_test(a_second_graph_is_refused),
    cmocka_unit_test(odd_tensors_are_refused),
    cmocka_unit_test(sizes_do_not_overflow),
    cmocka_unit_test(unknown_fields_change_nothing),
    cmocka_unit_test(other_kinds_are_named),
    cmocka_unit_test(files_that_are_not_there_and_folders_are_refused),
    cmocka_unit_test(contents_say_that_a_file_is_a_model),
});
