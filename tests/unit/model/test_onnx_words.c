/* test_onnx_words.c - what a user sees of an ONNX file. */
#include "unit.h"

#include "model/onnx_words.h"

/* Texts come from a file that may be hostile. */
static void texts_are_safe_for_a_terminal(void **state)
{
  struct tm_onnx_axis axes[] = { { -1, NULL }, { -1, (char *)"\033[2J" }, { 7, NULL } };
  struct tm_onnx_value input = {
    .name = (char *)"a\nb", .type = (char *)"float32", .has_shape = true, .shape = { axes, 3, 3 }
  };
  struct tm_onnx_opset opset = { (char *)"my\tops", 2 };
  struct tm_onnx_data_file data = { .location = (char *)"w\r.bin", .tensors = 1, .bytes = 4096 };
  struct tm_onnx_file f = { .inputs = { &input, 1, 1 },
                            .opsets = { &opset, 1, 1 },
                            .data_files = { &data, 1, 1 },
                            .producer = (char *)"p\x01",
                            .producer_version = (char *)"1.0",
                            .weights = 4096,
                            .nodes = 12345 };
  struct tm_buf out = TM_BUF_NONE;
  (void)state;
  tm_onnx_add_words(&out, &f);
  assert_string_equal(tm_buf_str(&out), "inputs:   a\\nb float32 [-1, \\x1B[2J, 7]\n"
                                        "opsets:   my\\tops 2\n"
                                        "size:     12,345 nodes, 4.0 KB of weights\n"
                                        "data:     w\\r.bin, 4.0 KB of 1 tensor\n"
                                        "producer: p\\x01 1.0\n");
  tm_buf_release(&out);
}

UNIT_TESTS({
    cmocka_unit_test(texts_are_safe_for_a_terminal),
});
