/* test_json.c - the tree: who owns what, which key wins, and equality. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

static struct tm_json *parsed(const char *text)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *v = tm_json_parse(text, strlen(text), &err);
  if (!v)
    fail_msg("%s", err.text);
  return v;
}

static void new_is_empty(void **state)
{
  for (int type = TM_JSON_NULL; type <= TM_JSON_OBJECT; type++) {
    struct tm_json *v = tm_json_new((enum tm_json_type)type), *copy = tm_json_copy(v);
    assert_int_equal(v->type, type);
    assert_true(tm_json_is_equal(v, copy));
    tm_json_free(v);
    tm_json_free(copy);
  }
  struct tm_json *none = tm_json_new_string(NULL);
  assert_int_equal(none->type, TM_JSON_NULL);
  tm_json_free(none);
  tm_json_free(NULL);
  assert_null(tm_json_copy(NULL));
}

static void set_again_replaces_in_place(void **state)
{
  struct tm_json *o = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(o, "a", tm_json_new_int(1));
  tm_json_set(o, "b", tm_json_new_int(2));
  struct tm_json *again = tm_json_set(o, "a", tm_json_new_string("x"));
  assert_int_equal(o->list.len, 2);
  assert_string_equal(o->keys[0], "a");
  assert_ptr_equal(tm_json_get(o, "a"), again);
  tm_json_set(o, "a", again); /* itself */
  assert_string_equal(tm_json_str(o, "a", ""), "x");
  tm_json_free(o);
}

static void many_members_are_kept_in_order(void **state)
{
  struct tm_json *o = tm_json_new(TM_JSON_OBJECT);
  char key[] = "a0";
  for (int i = 0; i < 200; i++) {
    key[0] = (char)('a' + i / 10);
    key[1] = (char)('0' + i % 10);
    tm_json_set(o, key, tm_json_new_int(i));
  }
  assert_int_equal(o->list.len, 200);
  for (int i = 0; i < 200; i++)
    assert_int_equal(o->list.at[i]->integer, i);
  assert_string_equal(o->keys[123], "m3");
  tm_json_free(o);
}

static void getters_take_only_their_type(void **state)
{
  struct tm_json *o =
      parsed("{\"i\":5,\"n\":2.5,\"w\":1e3,\"s\":\"x\",\"b\":true,\"z\":null,\"big\":1e19}");
  assert_int_equal(tm_json_int(o, "i", -1), 5);
  assert_int_equal(tm_json_int(o, "w", -1), 1000);
  assert_int_equal(tm_json_int(o, "n", -1), -1);
  assert_int_equal(tm_json_int(o, "big", -1), -1);
  assert_int_equal(tm_json_int(o, "s", -1), -1);
  assert_int_equal(tm_json_int(o, "none", -1), -1);
  assert_true(tm_json_num(o, "i", -1) == 5.0);
  assert_true(tm_json_num(o, "n", -1) == 2.5);
  assert_true(tm_json_num(o, "b", -1) == -1);
  assert_string_equal(tm_json_str(o, "s", "-"), "x");
  assert_string_equal(tm_json_str(o, "z", "-"), "-");
  assert_null(tm_json_str(o, "i", NULL));
  assert_true(tm_json_bool(o, "b", false));
  assert_true(tm_json_bool(o, "i", true));
  assert_null(tm_json_get(NULL, "x"));
  assert_int_equal(tm_json_items(NULL), 0);
  assert_int_equal(tm_json_items(o), 0); /* it has no members */
  assert_null(tm_json_get(tm_json_get(o, "i"), "x"));
  assert_int_equal(tm_json_int(NULL, "x", 9), 9);
  tm_json_free(o);
}

static void equality_is_by_value(void **state)
{
  static const struct {
    const char *a, *b;
    bool equal;
  } cases[] = {
    { "{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", true },
    { "{\"a\":1}", "{\"a\":1,\"b\":2}", false },
    { "{\"a\":1}", "{\"b\":1}", false },
    { "{\"a\":null}", "{\"b\":null}", false },
    { "[1,2]", "[2,1]", false },
    { "[]", "{}", false },
    { "null", "false", false },
    { "1", "1.0", true },
    { "1.5", "1.5", true },
    { "1", "true", false },
    { "9007199254740993", "9007199254740992.0", false }, /* as doubles they would be equal */
    { "9223372036854775807", "9223372036854775808", false },
    { "-9223372036854775808", "-9223372036854775808.0", true },
    { "\"a\\u0000b\"", "\"a\\u0000c\"", false },
    { "\"\"", "\"\\u0000\"", false },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_json *a = parsed(cases[i].a), *b = parsed(cases[i].b);
    if (tm_json_is_equal(a, b) != cases[i].equal || tm_json_is_equal(b, a) != cases[i].equal)
      fail_msg("%s and %s", cases[i].a, cases[i].b);
    tm_json_free(a);
    tm_json_free(b);
  }
  assert_true(tm_json_is_equal(NULL, NULL));
  struct tm_json *null = tm_json_new(TM_JSON_NULL);
  assert_false(tm_json_is_equal(null, NULL));
  tm_json_free(null);
}

static void copy_shares_nothing(void **state)
{
  struct tm_json *v = parsed("{\"a\":[1,\"x\\u0000y\",2.5,true,null],\"b\":{}}");
  v->tag = tm_xstrdup("Pipeline");
  v->where = tm_xstrdup("p.lua:3");
  struct tm_json *copy = tm_json_copy(v);
  assert_true(tm_json_is_equal(v, copy));
  tm_json_free(v);
  assert_string_equal(copy->tag, "Pipeline");
  assert_string_equal(copy->where, "p.lua:3");
  assert_int_equal(tm_json_get(copy, "a")->list.at[1]->string.len, 3);
  tm_json_add(tm_json_get(copy, "a"), tm_json_new_int(3));
  assert_int_equal(tm_json_get(copy, "a")->list.len, 6);
  tm_json_free(copy);
}

UNIT_TESTS({
    cmocka_unit_test(new_is_empty),
    cmocka_unit_test(set_again_replaces_in_place),
    cmocka_unit_test(many_members_are_kept_in_order),
    cmocka_unit_test(getters_take_only_their_type),
    cmocka_unit_test(equality_is_by_value),
    cmocka_unit_test(copy_shares_nothing),
});
