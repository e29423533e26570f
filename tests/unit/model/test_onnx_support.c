/* test_onnx_support.c - opsets, versions of the format and operators that a version of the library
 * does not have. */
#include "unit.h"

#include <string.h>

#include "model/onnx_support.h"

static void the_newest_opset_of_a_version_is_known(void **state)
{
  (void)state;
  assert_int_equal(tm_onnx_newest_opset("ai.onnx", "1.17.0"), 20);
  assert_int_equal(tm_onnx_newest_opset("ai.onnx", "1.17.3"), 20);
  assert_int_equal(tm_onnx_newest_opset("ai.onnx", "1.20.1"), 21);
  assert_int_equal(tm_onnx_newest_opset("ai.onnx", "1.24.1"), 25);
  assert_int_equal(tm_onnx_newest_opset("ai.onnx", "1.30.0"), 26);
  assert_int_equal(tm_onnx_newest_opset("ai.onnx.ml", "1.17.0"), 4);
  assert_int_equal(tm_onnx_newest_opset("ai.onnx", "1.31.0"), 0);
  assert_int_equal(tm_onnx_newest_opset("ai.onnx", "1.16.0"), 0);
  assert_int_equal(tm_onnx_newest_opset("ai.onnx", "2.0.0"), 0);
  assert_int_equal(tm_onnx_newest_opset("ai.onnx", "?"), 0);
  assert_int_equal(tm_onnx_newest_opset("com.microsoft", "1.17.0"), 0);
}

static void check_opset(const char *domain, int64_t opset, const char *version, const char *words)
{
  struct tm_onnx_opset o[] = { { (char *)"ai.onnx", 13 }, { (char *)domain, opset } };
  struct tm_onnx_file f = { .opsets = { o, 2, 2 } };
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_onnx_check_versions(&f, version, &err);
  assert_int_equal(rc, words ? TM_EVERSION : 0);
  assert_string_equal(err.text, words ? words : "");
}

static void an_opset_that_is_too_new_is_named_with_both_numbers(void **state)
{
  (void)state;
  check_opset("ai.onnx", 20, "1.17.0", NULL);
  check_opset("ai.onnx", 21, "1.17.0",
              "the model has opset 21 of ai.onnx, and ONNX Runtime 1.17.0 has 20; use 1.18 or "
              "newer, or export the model with opset 20");
  check_opset("ai.onnx.ml", 5, "1.17.0",
              "the model has opset 5 of ai.onnx.ml, and ONNX Runtime 1.17.0 has 4; use 1.18 or "
              "newer, or export the model with opset 4");
  check_opset("ai.onnx", 40, "1.30.0",
              "the model has opset 40 of ai.onnx, and ONNX Runtime 1.30.0 has 26; use one newer "
              "than 1.30, or export the model with opset 26");
  check_opset("ai.onnx", 40, "1.99.0", NULL);
  check_opset("my.ops", 99, "1.17.0", NULL);
}

static void check_ir(int64_t ir, const char *version, const char *words)
{
  struct tm_onnx_file f = { .ir_version = ir };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_onnx_check_versions(&f, version, &err), words ? TM_EVERSION : 0);
  assert_string_equal(err.text, words ? words : "");
}

static void a_format_that_is_too_new_is_named_with_both_versions(void **state)
{
  (void)state;
  check_ir(9, "1.17.0", NULL);
  check_ir(10, "1.17.0",
           "the model has version 10 of the ONNX format (IR), and ONNX Runtime 1.17.0 reads up to "
           "9; use 1.18 or newer, or save the model with ir_version = 9, as Python's package onnx "
           "can");
  check_ir(10, "1.22.0", NULL);
  check_ir(12, "1.23.2",
           "the model has version 12 of the ONNX format (IR), and ONNX Runtime 1.23.2 reads up to "
           "11; use 1.24 or newer, or save the model with ir_version = 11, as Python's package "
           "onnx can");
  check_ir(13, "1.30.0", NULL);
  check_ir(14, "1.30.0",
           "the model has version 14 of the ONNX format (IR), and ONNX Runtime 1.30.0 reads up to "
           "13; use one newer than 1.30, or save the model with ir_version = 13, as Python's "
           "package onnx can");
  check_ir(99, "1.31.0", NULL);
}

static int check_operators(const char *domain, const char *message, struct tm_err *err)
{
  struct tm_onnx_operator o[] = {
    { (char *)"ai.onnx", (char *)"Add", (char *)"a", 3 },
    { (char *)domain, (char *)"Gelu", (char *)"g1", 1 },
  };
  struct tm_onnx_opset function = { (char *)"my.functions", 0 }, opset = { (char *)"ai.onnx", 13 };
  struct tm_onnx_file f = { .operators = { o, 2, 2 },
                            .functions = { &function, 1, 1 },
                            .opsets = { &opset, 1, 1 } };
  *err = (struct tm_err)TM_ERR_NONE;
  return tm_onnx_check_operators(&f, "1.17.0", message, err);
}

static void a_node_that_needs_an_unknown_operator_is_named(void **state)
{
  struct tm_err err;
  (void)state;
  assert_int_equal(check_operators("ai.onnx", "something else", &err), 0);
  assert_int_equal(check_operators("ai.onnx", "No Op registered for Gelus", &err), 0);
  assert_int_equal(check_operators("ai.onnx",
                                   "In Node, (\"g1\", Gelu, \"\", -1) : (\"x\": tensor(float),) -> "
                                   "(\"y\": tensor(float),) , Error No Op registered for Gelu with "
                                   "domain_version of 13",
                                   &err),
                   TM_EINPUT);
  assert_string_equal(err.text,
                      "node 'g1' needs the operator 'Gelu' of ai.onnx, which ONNX Runtime 1.17.0 "
                      "does not have in opset 13; export the model with another opset");
}

static void a_domain_of_custom_operators_is_named(void **state)
{
  struct tm_err err;
  (void)state;
  assert_int_equal(check_operators("com.microsoft", "anything", &err), 0);
  assert_int_equal(check_operators("my.functions", "anything", &err), 0);
  assert_int_equal(check_operators("my.ops", "anything", &err), TM_EINPUT);
  assert_string_equal(err.text,
                      "node 'g1' needs the operator 'Gelu' of my.ops, which ONNX Runtime 1.17.0 "
                      "does not have; custom operators are not loaded: export the model without "
                      "them");
}

UNIT_TESTS({
    cmocka_unit_test(the_newest_opset_of_a_version_is_known),
    cmocka_unit_test(an_opset_that_is_too_new_is_named_with_both_numbers),
    cmocka_unit_test(a_format_that_is_too_new_is_named_with_both_versions),
    cmocka_unit_test(a_node_that_needs_an_unknown_operator_is_named),
    cmocka_unit_test(a_domain_of_custom_operators_is_named),
});
