/* test_schema.c - columns: their names, their types from the first rows, headers, and their JSON
 * form. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/rows/header.h"
#include "data/rows/infer.h"
#include "params/params.h"
#include "table.h"

static void check_schema(const struct tm_schema *s, const char *want)
{
  struct tm_buf out = TM_BUF_NONE;
  table_write_schema(&out, s);
  assert_string_equal(tm_buf_str(&out), want);
  tm_buf_release(&out);
}

static void names_are_unique(void **state)
{
  struct tm_schema s = { 0 };
  static const char *const names[] = { "a", "", "a", "a_2", "a", "", "Column2" };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    tm_schema_add(&s, names[i], strlen(names[i]));
  check_schema(
      &s,
      "a:string Column2:string a_2:string a_2_2:string a_3:string Column6:string Column2_2:string");
  assert_int_equal(tm_schema_find(&s, "a_2", 3), 2);
  assert_int_equal(tm_schema_find(&s, "A", 1), -1);
  tm_schema_release(&s);
}

/* A hostile header: without an index of names it would take hours. */
static void many_equal_names_take_no_time(void **state)
{
  struct tm_schema s = { 0 };
  for (int i = 0; i < 100000; i++)
    tm_schema_add(&s, "a", 1);
  assert_string_equal(s.columns[99999].name, "a_100000");
  assert_int_equal(tm_schema_find(&s, "a_77", 4), 76);
  tm_schema_release(&s);
}

static void json_and_back(void **state)
{
  struct tm_schema s = { 0 }, again = { 0 }, copy = { 0 };
  static const char *const formats[] = { "%d.%m.%Y", "%Y" };
  struct tm_err err = TM_ERR_NONE;
  table_schema(&s, "a:long b:datetime Path:string");
  tm_schema_set_type(&s.columns[1], TM_COLUMN_DATETIME, formats, 2);
  s.columns[2].of_file = true;
  struct tm_buf text = TM_BUF_NONE;
  tm_schema_add_exact(&s, "", 0);
  tm_schema_write(&text, &s);
  assert_int_equal(tm_schema_read(&again, text.data, text.len, &err), 0);
  assert_true(tm_schema_is_equal(&s, &again));
  tm_schema_copy(&copy, &s);
  assert_true(tm_schema_is_equal(&s, &copy));
  copy.columns[0].type = TM_COLUMN_BOOL;
  assert_false(tm_schema_is_equal(&s, &copy));
  tm_buf_release(&text);
  tm_schema_release(&s);
  tm_schema_release(&again);
  tm_schema_release(&copy);
}

static void damaged_json_is_refused(void **state)
{
  static const char *const bad[] = {
    "{}",
    "[]",
    "{\"columns\":1}",
    "{\"columns\":[1]}",
    "{\"columns\":[{\"name\":\"a\"}]}",
    "{\"columns\":[{\"name\":\"a\",\"type\":\"money\"}]}",
    "{\"columns\":[{\"type\":\"long\"}]}",
    "{\"columns\":[{\"name\":\"a\",\"type\":\"long\"}]",
    "{\"columns\":[{\"name\":\"a\",\"type\":\"long\"}]}]",
    "{\"columns\":[{\"name\":\"a\",\"type\":\"long\"},{\"name\":\"a\",\"type\":\"long\"}]}",
    "{\"columns\":[{\"name\":\"a\",\"type\":\"long\",\"formats\":[\"%Y\"]}]}",
    "{\"columns\":[{\"name\":\"a\",\"type\":\"datetime\",\"formats\":[\"%q\"]}]}",
    "{\"columns\":[{\"name\":\"a\",\"type\":\"datetime\",\"formats\":[\"%Y\",3]}]}",
  };
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++) {
    struct tm_schema s = { 0 };
    struct tm_err err = TM_ERR_NONE;
    if (tm_schema_read(&s, bad[i], strlen(bad[i]), &err) != TM_EDAMAGE)
      fail_msg("%s was taken", bad[i]);
    assert_int_equal(s.len, 0);
  }
}

static void schemas_are_merged_by_name(void **state)
{
  struct tm_schema a = { 0 }, b = { 0 };
  table_schema(&a, "i:long x:long s:long");
  table_schema(&b, "x:double n:bool s:string i:long");
  tm_schema_merge(&a, &b);
  check_schema(&a, "i:long x:double s:string n:bool");
  tm_schema_release(&a);
  tm_schema_release(&b);
}

/* The schema of a text with a header. */
static void infer(const char *text, struct tm_schema *s)
{
  struct tm_dialect d;
  tm_dialect_init(&d);
  struct tm_err err = TM_ERR_NONE;
  size_t n = strlen(text);
  int64_t head = tm_header_read(&d, text, n, true, true, s, &err);
  assert_true(head > 0);
  tm_infer_types(&d, text + head, n - (size_t)head, true, s);
}

static void types_are_inferred(void **state)
{
  static const struct {
    const char *text, *schema;
  } cases[] = {
    { "a,b,c,d,e,f\n1,1.5,true,2026-01-31,x,\n-2,3,False,2026-01-31 10:00Z,1,\n",
      "a:long b:double c:bool d:datetime e:string f:string" },
    { "a\n007\n", "a:string" },
    { "a\n0\n-0.5\n", "a:double" },
    { "a\n9223372036854775808\n", "a:string" },
    { "a\n1e400\n", "a:string" },
    { "a\n\"12\"\n\n", "a:long" },
    { "a\n0\n1\n", "a:long" },
    { "a\ntrue\n1\n", "a:string" },
    { "a,b\n,\"\"\n1,x\n", "a:long b:string" },
    { "a\n", "a:string" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_schema s = { 0 };
    infer(cases[i].text, &s);
    check_schema(&s, cases[i].schema);
    tm_schema_release(&s);
  }
}

static void columns_of_dates_alone_are_known(void **state)
{
  static const char *const formats[] = { "%d.%m.%Y", "%Y-%m-%d" }, *const clock[] = {
    "%Y-%m-%d %H"
  };
  struct tm_schema s = { 0 }, again = { 0 }, other = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  infer("a,b,c\n2026-01-31,2026-01-31,x\n, 2024-02-29 ,\n2026-01-31,2026-01-31Z,\n", &s);
  check_schema(&s, "a:datetime b:datetime c:string");
  assert_true(s.columns[0].is_date && !s.columns[1].is_date && !s.columns[2].is_date);
  tm_schema_write(&text, &s);
  assert_int_equal(tm_schema_read(&again, text.data, text.len, NULL), 0);
  assert_true(tm_schema_is_equal(&s, &again));
  tm_schema_set_type(&s.columns[2], TM_COLUMN_DATETIME, formats, 2);
  assert_true(s.columns[2].is_date);
  tm_schema_set_type(&s.columns[2], TM_COLUMN_DATETIME, clock, 1);
  assert_false(s.columns[2].is_date);
  infer("a\n2026-01-31T10:00:00Z\n", &other);
  tm_schema_merge(&s, &other);
  assert_false(s.columns[0].is_date);
  assert_false(tm_schema_is_equal(&s, &again));
  tm_buf_release(&text);
  tm_schema_release(&s);
  tm_schema_release(&again);
  tm_schema_release(&other);
}

static void only_the_first_rows_count(void **state)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_schema s = { 0 };
  tm_buf_add_str(&text, "a,b\n");
  for (int i = 1; i <= TM_INFER_ROWS + 1; i++)
    tm_buf_printf(&text, "%s,%s\n", i == TM_INFER_ROWS ? "x" : "1",
                  i == TM_INFER_ROWS + 1 ? "x" : "1");
  infer(text.data, &s);
  check_schema(&s, "a:string b:long");
  tm_schema_release(&s);
  tm_buf_release(&text);
}

static void types_can_be_set(void **state)
{
  struct tm_schema s = { 0 };
  struct tm_err err = TM_ERR_NONE;
  static const char *const formats[] = { "%d.%m.%Y" }, *const wrong[] = { "%d.%q" };
  struct tm_column_setting settings[] = { { "b", TM_COLUMN_DOUBLE, NULL, 0 },
                                          { "day", TM_COLUMN_DATETIME, formats, 1 } };
  table_schema(&s, "a:long b:long day:string");
  assert_int_equal(tm_infer_set(&s, settings, 2, &err), 0);
  check_schema(&s, "a:long b:double day:datetime");
  assert_string_equal(s.columns[2].formats[0], "%d.%m.%Y");
  settings[0].name = "dya";
  assert_int_equal(tm_infer_set(&s, settings, 1, &err), TM_EUSAGE);
  assert_string_equal(err.text, "set_column_types: there is no column 'dya'; did you mean 'day'?; "
                                "the columns are 'a', 'b', 'day'");
  settings[1].formats = wrong;
  assert_int_equal(tm_infer_set(&s, settings + 1, 1, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "'%q' in the format '%d.%q' is not known"));
  tm_schema_release(&s);
}

static void headers_are_read(void **state)
{
  static const struct {
    const char *text;
    bool is_whole, has_header;
    size_t bytes;
    const char *schema;
  } cases[] = {
    { "a,b\n1,2\n", true, true, 4, "a:string b:string" },
    { "a,b\n1,2\n", true, false, 0, "Column1:string Column2:string" },
    { "\r\n\n\"a,b\",\"c\"\r\n1", true, true, 14, "a,b:string c:string" },
    { "a,b", true, true, 3, "a:string b:string" },
    { "a,b", false, true, 0, "" },
    { "", true, true, 0, "" },
    { "\n\n", true, true, 0, "" },
    { ",x,\n", true, true, 4, "Column1:string x:string Column3:string" },
    { "a,\"x\ny\"\n1\n", true, true, 8, "a:string x\ny:string" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_schema s = { 0 };
    struct tm_dialect d;
    struct tm_err err = TM_ERR_NONE;
    tm_dialect_init(&d);
    d.multi_line = true;
    size_t n = strlen(cases[i].text);
    assert_int_equal(
        tm_header_read(&d, cases[i].text, n, cases[i].is_whole, cases[i].has_header, &s, &err),
        cases[i].bytes);
    check_schema(&s, cases[i].schema);
    tm_schema_release(&s);
  }
}

static void headers_are_mapped_and_checked(void **state)
{
  struct tm_schema names = { 0 }, schema = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int32_t fields[3];
  table_schema(&schema, "a:long b:long Path:string c:long");
  schema.columns[2].of_file = true;
  table_schema(&names, "c:string Path:string a:string");
  tm_header_map(&names, &schema, fields);
  assert_int_equal(fields[0], 3);
  assert_int_equal(fields[1], -1);
  assert_int_equal(fields[2], 0);
  assert_int_equal(tm_header_check(&names, &schema, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "column 1 of the header is 'c', in the first file it is 'a'"));
  tm_schema_release(&names);
  table_schema(&names, "a:string b:string c:string");
  assert_int_equal(tm_header_check(&names, &schema, &err), 0);
  tm_schema_release(&names);
  table_schema(&names, "a:string b:string");
  assert_int_equal(tm_header_check(&names, &schema, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "the header has 2 columns, that of the first file 3"));
  tm_schema_release(&names);
  tm_schema_release(&schema);
}

static void byte_order_marks(void **state)
{
  bool big;
  assert_int_equal(tm_header_mark(TM_ENCODING_UTF8, "\xef\xbb\xbfx", 4, &big), 3);
  assert_int_equal(tm_header_mark(TM_ENCODING_UTF8, "\xef\xbb", 2, &big), 0);
  assert_int_equal(tm_header_mark(TM_ENCODING_UTF16, "\xff\xfe", 2, &big), 2);
  assert_false(big);
  assert_int_equal(tm_header_mark(TM_ENCODING_UTF16, "\xfe\xff", 2, &big), 2);
  assert_true(big);
  assert_int_equal(tm_header_mark(TM_ENCODING_UTF16, "a\0", 2, &big), 0);
  assert_false(big);
}

/* Reads one option, as a definition may have it; false: it is refused. */
static bool read_option(struct tm_dialect *d, const char *key, const char *word)
{
  struct tm_json *given = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(given, key, tm_json_new_string(word));
  struct tm_json *settled =
      tm_params_settle("Dataset.Tabular.from_delimited_files", given, false, NULL);
  tm_dialect_init(d);
  if (settled)
    tm_dialect_read(d, settled);
  tm_json_free(given);
  tm_json_free(settled);
  return settled != NULL;
}

static void the_dialect_knows_the_words_of_definitions(void **state)
{
  static const char *const keys[] = { "encoding", "header", "on_ragged", "on_misfit" };
  static const char *const bad[] = { "", "::", "\"", "\n", "\xc3\xa9", "\\n" };
  struct tm_dialect d;
  for (size_t i = 0; i < TM_COUNT_OF(keys); i++) {
    const char *words = tm_params_find("Dataset.Tabular.from_delimited_files", keys[i])->accepts;
    for (const char *at = words; *at; at += strcspn(at, "|"), at += *at == '|') {
      char *word = tm_xstrndup(at, strcspn(at, "|"));
      assert_true(read_option(&d, keys[i], word));
      free(word);
    }
  }
  assert_true(read_option(&d, "encoding", "iso88591") && d.encoding == TM_ENCODING_LATIN1);
  assert_true(read_option(&d, "header", "from_first_file") && d.header == TM_HEADER_FIRST_FILE);
  assert_true(read_option(&d, "on_ragged", "drop") && d.ragged == TM_RAGGED_DROP);
  assert_true(read_option(&d, "on_misfit", "error") && d.misfit == TM_MISFIT_ERROR);
  assert_true(read_option(&d, "separator", ";") && d.separator == ';');
  assert_true(read_option(&d, "separator", "\\t") && d.separator == '\t');
  assert_false(read_option(&d, "encoding", "utf-8"));
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++)
    assert_false(read_option(&d, "separator", bad[i]));
}

UNIT_TESTS({
    cmocka_unit_test(names_are_unique),
    cmocka_unit_test(many_equal_names_take_no_time),
    cmocka_unit_test(json_and_back),
    cmocka_unit_test(damaged_json_is_refused),
    cmocka_unit_test(schemas_are_merged_by_name),
    cmocka_unit_test(columns_of_dates_alone_are_known),
    cmocka_unit_test(types_are_inferred),
    cmocka_unit_test(only_the_first_rows_count),
    cmocka_unit_test(types_can_be_set),
    cmocka_unit_test(headers_are_read),
    cmocka_unit_test(headers_are_mapped_and_checked),
    cmocka_unit_test(byte_order_marks),
    cmocka_unit_test(the_dialect_knows_the_words_of_definitions),
});
