/* test_table_ops.c - operations of tables: what is refused, and which rows and columns remain. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/table/table_ops.h"
#include "tree.h"

enum { ROWS = 1000 };

/* id long 0 .. n - 1, name string "n0" ..., null for each third. */
static void make_frame(struct tm_arena *arena, struct tm_data_frame *out, int64_t n)
{
  static const char *const names[] = { "id", "name" };
  static const enum tm_column_type types[] = { TM_COLUMN_LONG, TM_COLUMN_STRING };
  struct tm_frame_builder b;
  tm_frame_builder_init(&b, arena, names, types, 2);
  for (int64_t i = 0; i < n; i++) {
    char text[32];
    int len = snprintf(text, sizeof(text), "n%d", (int)i);
    tm_builder_reserve(&b.columns[0], 1);
    b.columns[0].i64[b.columns[0].len++] = i;
    if (i % 3 == 2)
      tm_builder_add_null(&b.columns[1]);
    else
      tm_builder_add_string(&b.columns[1], text, (size_t)len);
  }
  tm_frame_builder_end(&b, out);
}

static void read_ops(struct tm_table_ops *o, const char *text)
{
  struct tm_json *v = tree(NULL, NULL, text);
  struct tm_err err = TM_ERR_NONE;
  if (tm_table_ops_read(o, v, &err) < 0)
    fail_msg("%s: %s", text, err.text);
  tm_json_free(v);
}

/* The remaining rows, and the ids of the first and the last. */
static int64_t apply(const char *text, int64_t number, int64_t *first, int64_t *last)
{
  struct tm_table_ops o;
  struct tm_arena arena = { 0 };
  struct tm_data_frame f;
  struct tm_err err = TM_ERR_NONE;
  read_ops(&o, text);
  make_frame(&arena, &f, ROWS);
  if (tm_table_ops_apply(&o, &arena, &f, number, &err) < 0)
    fail_msg("%s: %s", text, err.text);
  int64_t n = f.len;
  *first = n > 0 ? f.columns[0].i64[0] : -1;
  *last = n > 0 ? f.columns[0].i64[n - 1] : -1;
  tm_table_ops_release(&o);
  tm_arena_release(&arena);
  return n;
}

static void windows_are_the_listers(void **state)
{
  static const struct {
    const char *ops;
    int64_t skip, take;
  } cases[] = {
    { "[]", 0, -1 },
    { "[{'op':'take','count':5}]", 0, 5 },
    { "[{'op':'skip','count':5}]", 5, -1 },
    { "[{'op':'skip','count':5},{'op':'take','count':3}]", 5, 3 },
    { "[{'op':'take','count':5},{'op':'skip','count':3}]", 3, 2 },
    { "[{'op':'take','count':5},{'op':'skip','count':9}]", 9, 0 },
    { "[{'op':'take','count':5},{'op':'take','count':9}]", 0, 5 },
    { "[{'op':'skip','count':2},{'op':'keep','columns':['id']},{'op':'skip','count':2}]", 4, -1 },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_table_ops o;
    read_ops(&o, cases[i].ops);
    assert_int_equal(o.skip, cases[i].skip);
    assert_int_equal(o.take, cases[i].take);
    tm_table_ops_release(&o);
  }
}

static void rows_are_filtered_by_value(void **state)
{
  int64_t first, last;
  assert_int_equal(apply("[{'op':'filter','column':'id','is':'>=','value':990}]", 0, &first, &last),
                   10);
  assert_int_equal(first, 990);
  assert_int_equal(
      apply("[{'op':'filter','column':'name','is':'==','value':'n7'}]", 0, &first, &last), 1);
  assert_int_equal(first, 7);
  /* A null is never unequal. */
  assert_int_equal(
      apply("[{'op':'filter','column':'name','is':'~=','value':'n7'}]", 0, &first, &last),
      ROWS - 1 - ROWS / 3);
  assert_int_equal(apply("[{'op':'filter','column':'id','is':'<','value':-0.5}]", 0, &first, &last),
                   0);
}

static void rows_are_drawn_by_their_number(void **state)
{
  static const char sample[] = "[{'op':'sample','probability':0.25,'seed':9}]";
  int64_t first, last, other;
  int64_t n = apply(sample, 0, &first, &last);
  assert_true(n > 150 && n < 350);
  assert_int_equal(apply(sample, 0, &other, &last), n);
  assert_int_equal(other, first);
  apply(sample, 5000, &other, &last); /* other rows of the dataset */
  assert_int_not_equal(apply("[{'op':'sample','probability':0}]", 0, &first, &last), n);
  assert_int_equal(apply("[{'op':'sample','probability':1}]", 0, &first, &last), ROWS);
  int64_t drawn = apply("[{'op':'split','fraction':0.7,'seed':1,'part':1}]", 10, &first, &last);
  int64_t rest = apply("[{'op':'split','fraction':0.7,'seed':1,'part':2}]", 10, &first, &last);
  assert_int_equal(drawn + rest, ROWS);
  assert_true(drawn > 600 && drawn < 800);
}

static void drawing_after_a_filter_uses_the_original_numbers(void **state)
{
  int64_t first, last, other;
  int64_t n = apply("[{'op':'filter','column':'id','is':'>=','value':500},"
                    "{'op':'sample','probability':0.3,'seed':4}]",
                    0, &first, &last);
  int64_t m = apply("[{'op':'sample','probability':0.3,'seed':4},"
                    "{'op':'filter','column':'id','is':'>=','value':500}]",
                    0, &other, &last);
  assert_int_equal(n, m);
  assert_int_equal(first, other);
}

static void columns_are_chosen(void **state)
{
  static const struct {
    const char *ops;
    size_t n;
    const char *first;
  } cases[] = {
    { "[{'op':'keep','columns':['name','id']}]", 2, "name" },
    { "[{'op':'keep','columns':['name']}]", 1, "name" },
    { "[{'op':'drop','columns':['id']}]", 1, "name" },
    { "[{'op':'drop','columns':['name']}]", 1, "id" },
  };
  for (size_t i = 0; i < 4; i++) {
    struct tm_table_ops o;
    struct tm_arena arena = { 0 };
    struct tm_data_frame f;
    read_ops(&o, cases[i].ops);
    make_frame(&arena, &f, 3);
    assert_int_equal(tm_table_ops_apply(&o, &arena, &f, 0, NULL), 0);
    assert_int_equal(f.n, cases[i].n);
    assert_int_equal(f.len, 3);
    assert_string_equal(f.names[0], cases[i].first);
    tm_table_ops_release(&o);
    tm_arena_release(&arena);
  }
}

static void bad_ones_are_refused(void **state)
{
  static const struct {
    const char *ops, *words;
  } cases[] = {
    { "[{'op':'sort'}]", "'sort' is not an operation of a table" },
    { "[{'op':'take'}]", "take(count): accepted: an integer from 0 on" },
    { "[5]", "'' is not an operation of a table" },
    { "[{'op':'take','count':-1}]", "take(count): accepted" },
    { "[{'op':'skip','count':1,'cuont':1}]", "unknown key 'cuont'; did you mean 'count'?" },
    { "[{'op':'sample','probability':0.5},{'op':'take','count':1}]", "take() after filter()" },
    { "[{'op':'sample','probability':1.5}]", "accepted: a number from 0 to 1" },
    { "[{'op':'sample','probability':0.5,'seed':'x'}]", "'seed': accepted: an integer" },
    { "[{'op':'filter','is':'==','value':1}]", "the name of a column comes first" },
    { "[{'op':'filter','column':'a','is':'=','value':1}]", "the sign is not a comparison" },
    { "[{'op':'filter','column':'a','is':'=='}]", "accepted: a number, a string or a boolean" },
    { "[{'op':'keep','columns':[]}]", "one or more names of columns" },
    { "[{'op':'drop','columns':[1]}]", "one or more names of columns" },
    { "[{'op':'keep','columns':['a','b','a']}]", "names of columns, each once" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_table_ops o;
    struct tm_err err = TM_ERR_NONE;
    struct tm_json *v = tree(NULL, NULL, cases[i].ops);
    assert_int_equal(tm_table_ops_read(&o, v, &err), TM_EUSAGE);
    if (strstr(err.text, cases[i].words) == NULL)
      fail_msg("'%s' is missing in: %s", cases[i].words, err.text);
    tm_table_ops_release(&o);
    tm_json_free(v);
  }
}

static void missing_columns_are_refused(void **state)
{
  struct tm_schema s = { 0 };
  tm_schema_set_type(tm_schema_add(&s, "price", 5), TM_COLUMN_DOUBLE, NULL, 0);
  tm_schema_set_type(tm_schema_add(&s, "day", 3), TM_COLUMN_DATETIME, NULL, 0);
  static const struct {
    const char *ops, *words;
  } cases[] = {
    { "[{'op':'filter','column':'price','is':'>','value':1}]", NULL },
    { "[{'op':'filter','column':'day','is':'>','value':'2026-01-31'}]", NULL },
    { "[{'op':'keep','columns':['day','pirce']}]",
      "there is no column 'pirce'; did you mean 'price'?; the columns are 'price', 'day'" },
    { "[{'op':'filter','column':'price','is':'>','value':'x'}]", "of type double" },
    { "[{'op':'filter','column':'day','is':'>','value':'soon'}]", "of type datetime" },
    { "[{'op':'drop','columns':['day']},{'op':'filter','column':'day','is':'>','value':1}]",
      "filter: column 'day' does not exist any more" },
    { "[{'op':'keep','columns':['price']},{'op':'keep','columns':['day']}]",
      "keep_columns: column 'day' does not exist any more" },
    { "[{'op':'drop','columns':['day']},{'op':'drop','columns':['day']}]", NULL },
    { "[{'op':'drop','columns':['day','price']}]", "leave no column" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_table_ops o;
    struct tm_err err = TM_ERR_NONE;
    read_ops(&o, cases[i].ops);
    assert_int_equal(tm_table_ops_check(&o, &s, &err), cases[i].words ? TM_EUSAGE : 0);
    if (cases[i].words && strstr(err.text, cases[i].words) == NULL)
      fail_msg("'%s' is missing in: %s", cases[i].words, err.text);
    tm_table_ops_release(&o);
  }
  tm_schema_release(&s);
}

/* The columns of a filter are read even if a later operation drops them. */
static void unused_columns_are_marked(void **state)
{
  static const struct {
    const char *ops, *unread; /* a letter for each column */
  } cases[] = {
    { "[]", "---" },
    { "[{'op':'keep','columns':['c']}]", "ab-" },
    { "[{'op':'drop','columns':['c']}]", "--c" },
    { "[{'op':'filter','column':'a','is':'>','value':1},{'op':'keep','columns':['c']}]", "-b-" },
    { "[{'op':'drop','columns':['a']},{'op':'drop','columns':['b', 'c']}]", "abc" },
    { "[{'op':'keep','columns':['a','b']},{'op':'sample','probability':0.5},"
      "{'op':'keep','columns':['b']}]",
      "a-c" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_table_ops o;
    struct tm_schema s = { 0 };
    char unread[] = "---";
    read_ops(&o, cases[i].ops);
    for (size_t c = 0; c < 3; c++)
      tm_schema_add(&s, (const char[]) { (char)('a' + c) }, 1)->is_unread = c == 0;
    tm_table_ops_mark(&o, &s);
    for (size_t c = 0; c < 3; c++)
      unread[c] = s.columns[c].is_unread ? s.columns[c].name[0] : '-';
    assert_string_equal(unread, cases[i].unread);
    tm_table_ops_release(&o);
    tm_schema_release(&s);
  }
}

UNIT_TESTS({
    cmocka_unit_test(windows_are_the_listers),
    cmocka_unit_test(rows_are_filtered_by_value),
    cmocka_unit_test(rows_are_drawn_by_their_number),
    cmocka_unit_test(drawing_after_a_filter_uses_the_original_numbers),
    cmocka_unit_test(columns_are_chosen),
    cmocka_unit_test(bad_ones_are_refused),
    cmocka_unit_test(missing_columns_are_refused),
    cmocka_unit_test(unused_columns_are_marked),
});
