/* test_reuse_key.c - which parts of a definition count for reuse, and the message about
 * differences. */
#include "unit.h"

#include "snapshot/reuse_key.h"
#include "tree.h"

static const char base[] =
    "{'name':'score','settings':{'mini_batch_size':{'value':10,'origin':'file'},"
    "'run_max_try':{'value':3,'origin':'default'}},'inputs':[{'paths':['in/*']}],"
    "'arguments':['--a'],'outputs':[],'allow_reuse':true}";

static struct tm_json *definition(const char *text, const char *hash)
{
  struct tm_json *effective = tree(NULL, NULL, text), *v = tm_reuse_definition(effective, hash);
  tm_json_free(effective);
  return v;
}

/* Replaces `from` by `to` in the definition: does the key change, and what is the message? */
static void assert_change(const char *from, const char *to, bool changes, bool has_failures,
                          const char *words)
{
  const char *found = strstr(base, from);
  struct tm_buf out = TM_BUF_NONE;
  char before[TM_REUSE_KEY_LEN + 1], after[TM_REUSE_KEY_LEN + 1];
  assert_non_null(found);
  char *text = tm_xprintf("%.*s%s%s", (int)(found - base), base, to, found + strlen(from));
  struct tm_json *then = definition(base, "00"), *now = definition(text, "00");
  tm_reuse_key(then, before);
  tm_reuse_key(now, after);
  assert_int_equal(strcmp(before, after) != 0, changes);
  assert_int_equal(tm_reuse_compare(&out, then, now, NULL, has_failures), *words != '\0');
  assert_string_equal(tm_buf_str(&out), words);
  tm_buf_release(&out);
  tm_json_free(then);
  tm_json_free(now);
  free(text);
}

static void everything_that_affects_the_output_counts(void **state)
{
  assert_change("'value':10", "'value':5", true, false, "mini_batch_size 10 -> 5");
  assert_change("['--a']", "['--b']", true, false, "arguments[1] \"--a\" -> \"--b\"");
  assert_change("in/*", "in2", true, false, "inputs[1].paths \"in/*\" -> \"in2\"");
  assert_change("['in/*']}", "['in/*'],'on_unreadable':'skip'}", true, false,
                "inputs[1].on_unreadable none -> \"skip\"");
  assert_change("['in/*']}", "['in/*']},{'paths':['a','b']}", true, false,
                "inputs[2] none -> [\"a\",\"b\"]");
  assert_change("'outputs':[]", "'outputs':[{'destination':'/x'}]", true, false,
                "outputs[1] none -> {\"destination\":\"/x\"}");
  assert_change("'run_max_try'", "'profiling_module':{'value':'jit'},'run_max_try'", true, false,
                "profiling_module none -> \"jit\"");
  assert_change("'allow_reuse':true", "'allow_reuse':'content'", true, false,
                "allow_reuse true -> content");
}

static void where_a_value_comes_from_does_not(void **state)
{
  assert_change("'origin':'file'", "'origin':'parameter'", false, false, "");
  assert_change("'run_max_try':", "'process_count_per_node':{'value':2},'run_max_try':", false,
                true, "");
}

static void thresholds_count_only_if_items_failed(void **state)
{
  assert_change("'value':3", "'value':5", false, false, "");
  assert_change("'value':3", "'value':5", false, true, "run_max_try 3 -> 5");
}

static void key_of(const char *inputs, const char *settings, char out[TM_REUSE_KEY_LEN + 1])
{
  char *text = tm_xprintf("{'name':'s','settings':{%s},'inputs':[%s]}", settings, inputs);
  struct tm_json *v = definition(text, "00");
  tm_reuse_key(v, out);
  tm_json_free(v);
  free(text);
}

static bool is_one_key(const char *inputs, const char *then, const char *now)
{
  char a[TM_REUSE_KEY_LEN + 1], b[TM_REUSE_KEY_LEN + 1];
  key_of(inputs, then, a);
  key_of(inputs, now, b);
  return strcmp(a, b) == 0;
}

/* With "auto", a tolerant job counts a row without an element as a success, and a strict job as a
 * failure. */
static void the_rule_for_returned_rows_counts_where_it_decides(void **state)
{
  static const char tolerant[] = "'error_threshold':{'value':-1}";
  static const char strict[] = "'error_threshold':{'value':0}";
  static const char stricter[] = "'error_threshold':{'value':9}";
  static const char any[] = "'error_threshold':{'value':0},'returns':{'value':'any'}";
  static const char rows[] = "'error_threshold':{'value':-1},'returns':{'value':'rows'}";
  static const char *const tables[] = {
    "{'kind':'delimited','paths':['a']}",
    "{'kind':'files','paths':['b']},{'kind':'sql','paths':['a']}"
  };
  for (size_t i = 0; i < TM_COUNT_OF(tables); i++) {
    assert_false(is_one_key(tables[i], tolerant, strict));
    assert_true(is_one_key(tables[i], strict, stricter));
    assert_true(is_one_key(tables[i], tolerant, any));
    assert_true(is_one_key(tables[i], strict, rows));
  }
  assert_true(is_one_key("{'kind':'files','paths':['a']}", tolerant, strict));

  struct tm_buf words = TM_BUF_NONE;
  struct tm_json *then =
      definition("{'settings':{'error_threshold':{'value':-1}},'inputs':[{'kind':"
                 "'delimited','paths':['a']}]}",
                 "00");
  struct tm_json *now = definition("{'settings':{'error_threshold':{'value':0}},'inputs':[{'kind':"
                                   "'delimited','paths':['a']}]}",
                                   "00");
  assert_true(tm_reuse_compare(&words, then, now, NULL, false));
  assert_string_equal(tm_buf_str(&words), "returns \"any\" -> \"rows\"");
  tm_buf_release(&words);
  tm_json_free(then);
  tm_json_free(now);
}

static void the_script_counts(void **state)
{
  struct tm_json *then = definition(base, "01"), *now = definition(base, "02");
  struct tm_buf out = TM_BUF_NONE;
  char before[TM_REUSE_KEY_LEN + 1], after[TM_REUSE_KEY_LEN + 1];
  tm_reuse_key(then, before);
  tm_reuse_key(now, after);
  assert_int_equal(strlen(before), TM_REUSE_KEY_LEN);
  assert_string_not_equal(before, after);
  assert_true(tm_reuse_compare(&out, then, now, NULL, false));
  assert_string_equal(out.data, "the script has changed");
  tm_buf_release(&out);
  assert_true(tm_reuse_compare(&out, then, now, "'s.lua' has changed", false));
  assert_string_equal(out.data, "'s.lua' has changed");
  tm_buf_release(&out);
  tm_json_free(then);
  tm_json_free(now);
}

static void the_order_of_members_does_not_count(void **state)
{
  struct tm_json *one = definition("{'name':'a','arguments':[],'settings':{}}", "1");
  struct tm_json *two = definition("{'settings':{},'name':'a','arguments':[]}", "1");
  char before[TM_REUSE_KEY_LEN + 1], after[TM_REUSE_KEY_LEN + 1];
  tm_reuse_key(one, before);
  tm_reuse_key(two, after);
  assert_string_equal(before, after);
  tm_json_free(one);
  tm_json_free(two);
}

static void another_version_counts(void **state)
{
  struct tm_json *then = definition(base, "1"), *now = definition(base, "1");
  struct tm_buf out = TM_BUF_NONE;
  tm_json_set(then, "program", tm_json_new_string("0.0"));
  assert_true(tm_reuse_compare(&out, then, now, NULL, false));
  assert_non_null(strstr(out.data, "tidemill 0.0 -> 0."));
  tm_buf_release(&out);
  tm_json_free(then);
  tm_json_free(now);
}

UNIT_TESTS({
    cmocka_unit_test(everything_that_affects_the_output_counts),
    cmocka_unit_test(where_a_value_comes_from_does_not),
    cmocka_unit_test(thresholds_count_only_if_items_failed),
    cmocka_unit_test(the_rule_for_returned_rows_counts_where_it_decides),
    cmocka_unit_test(the_script_counts),
    cmocka_unit_test(the_order_of_members_does_not_count),
    cmocka_unit_test(another_version_counts),
});
