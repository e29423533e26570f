/* test_given.c - values of parameters, by what their defaults are. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "plan/given.h"
#include "tree.h"

static const char files[] =
    "{'kind':'files','paths':['in'],'name':'texts','registered':'r','version':2}";

/* The value as JSON with sorted keys, or the words. */
static void expect(const char *tag, const char *otherwise, const char *text, const char *value,
                   const char *wanted)
{
  struct tm_json *by = tree(tag, NULL, otherwise), *given = value ? tree(NULL, NULL, value) : NULL;
  struct tm_param p = { .name = "x", .value = text, .tree = given, .base_dir = "/base" };
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf out = TM_BUF_NONE;
  struct tm_json *v = tm_given_read(by, &p, "/base", &err);
  if (v) {
    tm_json_write(&out, v, (struct tm_json_style) { .sorted = true });
    assert_true(!tag || strcmp(v->tag, tag) == 0);
  } else {
    assert_int_equal(err.code, TM_EUSAGE);
    tm_buf_add_str(&out, err.text);
  }
  assert_string_equal(tm_buf_str(&out), wanted);
  tm_buf_release(&out);
  tm_json_free(v);
  tm_json_free(by);
  tm_json_free(given);
}

static void plain_values_are_of_the_type_of_the_default(void **state)
{
  expect(NULL, "1", "5", NULL, "5");
  expect(NULL, "1", "0.5", NULL, "0.5");
  expect(NULL, "1", NULL, "'7'", "7");
  expect(NULL, "1", NULL, "7.5", "7.5");
  expect(NULL, "1", "x", NULL, "parameter 'x' is \"x\"; accepted: a number, as its default 1");
  expect(NULL, "1", NULL, "true", "parameter 'x' is true; accepted: a number, as its default 1");
  expect(NULL, "true", "false", NULL, "false");
  expect(NULL, "true", NULL, "'true'", "true");
  expect(NULL, "true", "False", NULL, "false");
  expect(NULL, "false", NULL, "'True'", "true");
  expect(NULL, "true", "1", NULL,
         "parameter 'x' is \"1\"; accepted: true or false, as its default true");
  expect(NULL, "'a'", "5", NULL, "\"5\"");
  expect(NULL, "'a'", NULL, "5", "\"5\"");
  expect(NULL, "'a'", NULL, "0.5", "\"0.5\"");
  expect(NULL, "'a'", NULL, "true",
         "parameter 'x' is true; accepted: a string, as its default \"a\"");
}

static void a_dataset_gets_other_paths(void **state)
{
  expect("FileDataset", files, "more/*", NULL,
         "{\"base_dir\":\"/base\",\"kind\":\"files\",\"name\":\"texts\",\"paths\":\"more/*\"}");
  expect("FileDataset", files, NULL, "['a','b']",
         "{\"base_dir\":\"/base\",\"kind\":\"files\",\"name\":\"texts\",\"paths\":[\"a\",\"b\"]}");
  expect("FileDataset", files, NULL, "{'kind':'manifest','paths':['l']}",
         "{\"base_dir\":\"/base\",\"kind\":\"manifest\",\"paths\":[\"l\"]}");
  expect("FileDataset", files, NULL, "[]",
         "parameter 'x' is an empty table; accepted: a path, a list of paths, dataset:NAME, or "
         "a dataset of the same "
         "type, as its default a FileDataset");
  expect(
      "FileDataset", files, NULL, "{'kind':'delimited','paths':['l']}",
      "parameter 'x' is a table; accepted: a path, a list of paths, dataset:NAME, or a dataset of "
      "the same type, "
      "as its default a FileDataset");
  expect(
      "FileDataset", files, NULL, "{'kind':'files'}",
      "parameter 'x': FileDataset: the path is missing; accepted: a path or pattern, or a list of "
      "them");
}

UNIT_TESTS({
    cmocka_unit_test(plain_values_are_of_the_type_of_the_default),
    cmocka_unit_test(a_dataset_gets_other_paths),
});
