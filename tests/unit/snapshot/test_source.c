/* test_source.c - a definition survives its job's record, tags included; what must not be recorded
 * is not. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "snapshot/source.h"

static struct tm_json *parsed(const char *text)
{
  struct tm_json *v = tm_json_parse(text, strlen(text), NULL);
  assert_non_null(v);
  return v;
}

static struct tm_json *tagged(const char *tag, const char *text)
{
  struct tm_json *v = parsed(text);
  v->tag = tm_xstrdup(tag);
  return v;
}

/* Through the text of a record. */
static struct tm_json *carried(const struct tm_json *tree)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *packed = tm_source_pack(tree);
  assert_non_null(packed);
  tm_json_write(&text, packed, (struct tm_json_style) { .indent = 2 });
  struct tm_json *read = parsed(tm_buf_str(&text));
  struct tm_json *out = tm_source_unpack(read);
  assert_non_null(out);
  tm_json_free(read);
  tm_json_free(packed);
  tm_buf_release(&text);
  return out;
}

static void tags_places_and_ids_are_kept(void **state)
{
  struct tm_json *tree = tagged("Pipeline", "{\"name\":\"abc\",\"n\":[1,2.5,true,null,{}]}");
  struct tm_json *step = tm_json_set(tree, "step", tagged("ParallelRunStep", "{\"name\":\"x\"}"));
  step->where = tm_xstrdup("p.lua:3");
  step->id = 7;
  struct tm_json *out = carried(tree);
  assert_true(tm_json_is_equal(tree, out));
  assert_string_equal(out->tag, "Pipeline");
  assert_null(out->where);
  const struct tm_json *same = tm_json_get(out, "step");
  assert_string_equal(same->tag, "ParallelRunStep");
  assert_string_equal(same->where, "p.lua:3");
  assert_int_equal(same->id, 7);
  tm_json_free(out);
  tm_json_free(tree);
}

static void names_that_are_not_utf8_are_kept(void **state)
{
  struct tm_json *tree = parsed("[]");
  tm_json_add(tree, tm_json_new_bytes("in/\xff\x00\x0a.txt", 9));
  struct tm_json *out = carried(tree);
  assert_int_equal(out->list.at[0]->string.len, 9);
  assert_memory_equal(out->list.at[0]->string.at, "in/\xff\x00\x0a.txt", 9);
  tm_json_free(out);
  tm_json_free(tree);
}

static void expect_refused(struct tm_json *tree)
{
  assert_null(tm_source_pack(tree));
  tm_json_free(tree);
}

static void values_of_variables_are_never_recorded(void **state)
{
  struct tm_json *outer = tagged("Pipeline", "{}");
  tm_json_set(outer, "config",
              tagged("ParallelRunConfig", "{\"environment_variables\":{\"KEY\":\"secret\"}}"));
  expect_refused(outer);
  expect_refused(tagged("ParallelRunConfig", "{\"environment\":{\"variables\":{\"K\":\"s\"}}}"));
  struct tm_json *none = tagged("ParallelRunConfig", "{\"environment_variables\":[]}");
  struct tm_json *out = carried(none);
  tm_json_free(out);
  tm_json_free(none);
}

static void values_that_json_cannot_represent_are_refused(void **state)
{
  struct tm_json *deep = parsed("[]"), *at = deep;
  for (int i = 0; i < 60; i++)
    at = tm_json_add(at, tm_json_new(TM_JSON_ARRAY));
  expect_refused(deep);
  struct tm_json *number = parsed("[]");
  tm_json_add(number, tm_json_new_number(INFINITY));
  expect_refused(number);
  expect_refused(parsed("{\"$\":1}"));
  assert_null(tm_source_pack(NULL));
}

static void a_forged_record_is_refused(void **state)
{
  static const char *const forged[] = {
    "{\"$\":1}",
    "{\"$\":\"Pipeline\"}",
    "{\"$\":\"Pipeline\",\"is\":3}",
    "{\"$\":\"Pipeline\",\"is\":{\"a\":{\"$\":\"x\"}}}",
    "{\"$\":\"bytes\",\"hex\":\"abc\"}",
    "{\"$\":\"bytes\",\"hex\":\"zz\"}",
    "[{\"$\":null}]",
  };
  for (size_t i = 0; i < TM_COUNT_OF(forged); i++) {
    struct tm_json *v = parsed(forged[i]);
    assert_null(tm_source_unpack(v));
    tm_json_free(v);
  }
  assert_null(tm_source_unpack(NULL));
}

UNIT_TESTS({
    cmocka_unit_test(tags_places_and_ids_are_kept),
    cmocka_unit_test(names_that_are_not_utf8_are_kept),
    cmocka_unit_test(values_of_variables_are_never_recorded),
    cmocka_unit_test(values_that_json_cannot_represent_are_refused),
    cmocka_unit_test(a_forged_record_is_refused),
});
