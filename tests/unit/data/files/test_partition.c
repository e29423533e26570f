/* test_partition.c - partition formats: which are refused, which values paths have, which paths do
 * not fit. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/files/partition.h"

/* "store=north, date=2026-01-31", or the message of the refusal. The caller frees it. */
static char *values_of(const char *format, const char *path)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_key keys[TM_PARTITION_KEYS_MAX];
  struct tm_buf record = TM_BUF_NONE, out = TM_BUF_NONE;
  struct tm_reader r;
  struct tm_partition *p = tm_partition_new(format, &err);
  if (p == NULL)
    fail_msg("%s: %s", format, err.text);
  if (tm_partition_match(p, path, strlen(path), keys, &err) < 0) {
    assert_int_equal(err.code, TM_EINPUT);
    tm_buf_add_str(&out, err.text);
  } else {
    tm_keys_add(&record, keys, tm_partition_len(p));
    assert_true(tm_keys_find(record.data, record.len, &r));
    tm_keys_describe(&out, r);
  }
  tm_buf_release(&record);
  tm_partition_free(p);
  return tm_buf_take(&out);
}

static void paths_have_values(void **state)
{
  static const struct {
    const char *format, *path, *values;
  } cases[] = {
    { "{store}/{date:yyyy/MM/dd}/x.csv", "/data/sales/north/2026/01/31/x.csv",
      "store=north, date=2026-01-31" },
    { "/{Department}/{PartitionDate:yyyy/MM/dd}/data.jsonl", "/in/Accounts/2019/01/01/data.jsonl",
      "Department=Accounts, PartitionDate=2019-01-01" },
    { "{user}/{season}/{genres}.wav", "/t/ann/winter/rock.wav",
      "user=ann, season=winter, genres=rock" },
    { "{user}/*.wav", "/t/ann/x.y.wav", "user=ann" },
    { "{name}.csv", "/a.b.csv", "name=a.b" },      /* goes back when '.csv' appears again */
    { "{a}_{b}.csv", "/x_y_z.csv", "a=x, b=y_z" }, /* the first takes the shortest match */
    { "{a}_{b}_z.csv", "/x_y_q_z.csv", "a=x, b=y_q" },
    { "store={store}/part-????", "/w/store=a=b/part-0001", "store=a=b" },
    { "{t:yyyy-MM-ddTHH:mm:ss}.log", "/l/2026-02-28T23:59:58.log", "t=2026-02-28T23:59:58" },
    { "{t:yyyyMMdd}_{n}", "/20240229_7", "t=2024-02-29, n=7" },
    { "{t:yyyy}/{n}", "/1969/x", "t=1969-01-01, n=x" },
    { "y{y:yyyy}m{m}", "/y2026m13", "y=2026-01-01, m=13" },
    { "?{n}", "/\xc3\xa4x", "n=x" }, /* one character of two bytes */
    { "{n}", "/\xff", "n=\\xFF" },
    { "{n}/*", "/a/", "n=a" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char *values = values_of(cases[i].format, cases[i].path);
    assert_string_equal(values, cases[i].values);
    free(values);
  }
}

static void names_may_stand_for_any_value(void **state)
{
  static const struct {
    const char *value;
    size_t n;
    const char *name, *shown;
  } cases[] = {
    { "north", 5, "north", "k=north" },
    { "a/b%c", 5, "a%2Fb%25c", "k=a/b%c" },
    { "..", 2, "%2E.", "k=.." },
    { "", 0, "%empty", "k=" },
    { NULL, 0, "%null", "k=null" },
    { "%null", 5, "%25null", "k=%null" },
    { "a\nb\0", 4, "a%0Ab%00", "k=a\\nb\\x00" },
    { "\xc3\xa4 x", 4, "\xc3\xa4 x", "k=\xc3\xa4 x" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_buf path = TM_BUF_NONE;
    tm_buf_add_str(&path, "/t/");
    tm_partition_add_name(&path, cases[i].value, cases[i].n);
    assert_string_equal(cases[i].name, path.data + 3);
    tm_buf_add_str(&path, "/rows.csv");
    char *values = values_of("{k:%}/rows.csv", path.data);
    assert_string_equal(cases[i].shown, values);
    free(values);
    tm_buf_release(&path);
  }
  char *values = values_of("{a:%}/{b:%}_{c}", "/x%2fy/%zz%2_%2F"); /* other text stays */
  assert_string_equal("a=x/y, b=%zz%2, c=%2F", values);
  free(values);
}

static void other_paths_do_not_fit(void **state)
{
  static const struct {
    const char *format, *path, *words;
  } cases[] = {
    { "{store}/x.csv", "/north/y.csv",
      "'/north/y.csv' does not fit partition_format '{store}/x.csv', from 'y.csv' on; leave the "
      "file "
      "out of the dataset's path, or mend the format" },
    { "{a}/{b}/{c}", "/x/y", "which has more folders" },
    { "{a}/x", "//x", "does not fit" }, /* a value must not be empty */
    { "{a}.csv", "/.csv", "does not fit" },
    { "{d:yyyy/MM/dd}/x", "/2026/13/01/x", "from '13/01/x' on" },
    { "{d:yyyy/MM/dd}/x", "/2026/02/29/x", "does not fit" },
    { "{d:yyyy/MM/dd}/x", "/2026/2/01/x", "from '2/01/x' on" },
    { "{d:yyyy/MM/dd HH}/x", "/2026/02/01 24/x", "from '24/x' on" },
    { "{d:yyyy}x", "/202ax", "from '202ax' on" },
    { "{a}/x.csv", "/a/x.csvx", "from 'x' on" },
    { "{a}/x.csv.gz", "/a/x.csv", "which has more" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char *words = values_of(cases[i].format, cases[i].path);
    if (strstr(words, cases[i].words) == NULL)
      fail_msg("'%s' is missing in: %s", cases[i].words, words);
    free(words);
  }
}

static void bad_formats_are_refused(void **state)
{
  static const struct {
    const char *format, *words;
  } cases[] = {
    { "", "it has no key" },
    { "x/*.csv", "it has no key" },
    { "{a", "'{' is not closed" },
    { "a}", "'}' closes nothing" },
    { "{}/x", "a key has no name" },
    { "{:yyyy}/x", "a key has no name" },
    { "{a}/{a}", "the key 'a' occurs twice" },
    { "{a}{b}", "there is nothing between '{a}' and '{b}'" },
    { "{a/b}", "has a sign in its name" },
    { "{a}/**/x", "'**' is any number of folders" },
    { "{d:}", "'{d:}' has no fields" },
    { "{d:YYYY/MM}",
      "'YYYY' in '{d:...}' is not a field of a datetime; did you mean 'yyyy'?; accepted" },
    { "{d:yyyy/DD}", "'DD' in '{d:...}' is not a field of a datetime; did you mean 'dd'?" },
    { "{d:MM/dd}", "'{d:...}' lacks 'yyyy'" },
    { "{d:yyyy/dd}", "'{d:...}' lacks 'MM'" },
    { "{d:yyyy/MM/MM}", "has 'MM' twice" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_err err = TM_ERR_NONE;
    assert_null(tm_partition_new(cases[i].format, &err));
    assert_int_equal(err.code, TM_EUSAGE);
    if (strstr(err.text, cases[i].words) == NULL)
      fail_msg("'%s' is missing in: %s", cases[i].words, err.text);
  }
}

/* Without the bits, it would try each of some 10^14 ways to cut the name. */
static void a_long_name_and_many_stars_take_no_time(void **state)
{
  char path[256] = "/";
  memset(path + 1, 'a', 250);
  char *words = values_of("{k}-*a*a*a*a*a*a*a*b", path);
  assert_non_null(strstr(words, "does not fit"));
  free(words);
  words = values_of("*a*a*a*a*a*a*a{k}b", path);
  assert_non_null(strstr(words, "does not fit"));
  free(words);
}

static void keys_have_names_and_types(void **state)
{
  struct tm_partition *p = tm_partition_new("{store}/{date:yyyy/MM}/{c}.csv", NULL);
  assert_int_equal(tm_partition_len(p), 3);
  assert_string_equal(tm_partition_key(p, 1), "date");
  assert_int_equal(tm_partition_type(p, 0), TM_KEY_STRING);
  assert_int_equal(tm_partition_type(p, 1), TM_KEY_DATETIME);
  tm_partition_free(p);
}

UNIT_TESTS({
    cmocka_unit_test(paths_have_values),
    cmocka_unit_test(names_may_stand_for_any_value),
    cmocka_unit_test(other_paths_do_not_fit),
    cmocka_unit_test(bad_formats_are_refused),
    cmocka_unit_test(a_long_name_and_many_stars_take_no_time),
    cmocka_unit_test(keys_have_names_and_types),
});
