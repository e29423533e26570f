/* test_node_record.c - what a job records about its nodes, and what it reads of it again. */
#include "unit.h"

#include "store_fixture.h"

#include <errno.h>
#include <sys/stat.h>

#include "record/node_record.h"

static char *nodes_file(const char *job, const char *name)
{
  char *dir = tm_path_join(job, "nodes"), *file = tm_path_join(dir, name);

  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), dir, 0700, NULL), 0);
  free(dir);
  return file;
}

static void put(const char *job, const char *name, const char *text)
{
  char *file = nodes_file(job, name);

  assert_int_equal(tm_fs_write_file(tm_fs_real(), file, text, strlen(text), 0600, NULL), 0);
  free(file);
}

static void update(const char *job, uint32_t id, const char *changes)
{
  struct tm_err err = TM_ERR_NONE;

  if (tm_node_record_update(tm_fs_real(), job, id, tm_json_of(changes), &err) < 0)
    fail_msg("%s", err.text);
}

static void expect_file(const char *job, const char *name, const char *expected)
{
  char *file = nodes_file(job, name), *text;
  struct tm_buf got = TM_BUF_NONE;
  struct tm_json *v;

  assert_int_equal(tm_fs_read_file(tm_fs_real(), file, 10000, &got, NULL), 0);
  v = tm_json_of(tm_buf_str(&got));
  text = tm_json_text(v);
  assert_string_equal(text, expected);
  tm_json_free(v);
  tm_buf_release(&got);
  free(text);
  free(file);
}

static void fields_are_added_to_a_record(void **state)
{
  char *file = nodes_file(*state, "3.json");
  struct stat st;

  update(*state, 3, "{\"command\":[\"ssh\",\"a b\"],\"may_run\":true}");
  update(*state, 3, "{\"host\":\"cn1\"}");
  update(*state, 3, "{\"may_run\":false,\"why\":\"lost\"}");
  expect_file(*state, "3.json",
              "{\"id\":3,\"command\":[\"ssh\",\"a b\"],\"may_run\":false,\"host\":\"cn1\","
              "\"why\":\"lost\"}");
  assert_int_equal(stat(file, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  free(file);
}

static void a_damaged_file_is_replaced(void **state)
{
  static const char *const texts[] = { "", "{", "[1]", "\"x\"", "{\"id\":3,\"host\":" };

  for (size_t i = 0; i < TM_COUNT_OF(texts); i++) {
    put(*state, "3.json", texts[i]);
    update(*state, 3, "{\"why\":\"lost\"}");
    expect_file(*state, "3.json", "{\"id\":3,\"why\":\"lost\"}");
  }
}

static void a_folder_that_is_missing_is_an_error(void **state)
{
  struct tm_err err = TM_ERR_NONE;

  assert_int_equal(tm_node_record_update(tm_fs_real(), *state, 1, tm_json_of("{}"), &err), -ENOENT);
  assert_non_null(strstr(err.text, "nodes/1.json"));
}

static void on_left(void *data, uint32_t id, const char *name, bool is_step)
{
  tm_buf_printf(data, "%u:%s%s;", (unsigned)id, name, is_step ? ":step" : "");
}

static void expect_left(const char *job, const char *expected)
{
  struct tm_buf out = TM_BUF_NONE;

  tm_node_record_each_left(tm_fs_real(), job, on_left, &out);
  assert_string_equal(tm_buf_str(&out), expected);
  tm_buf_release(&out);
}

static void only_nodes_that_may_run_are_left(void **state)
{
  expect_left(*state, "");
  put(*state, "1.json", "{\"name\":\"n1\",\"may_run\":false}");
  put(*state, "2.json", "{\"command\":[\"ssh\"]}");
  expect_left(*state, "");
  put(*state, "3.json", "{\"name\":\"n3\",\"may_run\":true}");
  expect_left(*state, "3:n3;");
  put(*state, "3.json", "{\"name\":\"n3\",\"may_run\":true,\"allocation\":\"27\"}");
  expect_left(*state, "3:n3:step;");
}

static void other_files_are_ignored(void **state)
{
  static const char *const names[] = { "0.json",
                                       "-1.json",
                                       "+1.json",
                                       "01.json",
                                       "4294967295.json",
                                       "99999999999999999999.json",
                                       "1.JSON",
                                       "1.json.tmp",
                                       "x.json",
                                       "1.txt",
                                       ".json" };
  static const char *const texts[] = {
    "",
    "{",
    "[]",
    "{\"name\":7,\"may_run\":true}",
    "{\"name\":\"n\",\"may_run\":\"true\"}",
    "{\"may_run\":true}",
    "{\"name\":\"n\",\"may_run\":true} x",
    "\xff",
  };
  char *fifo = nodes_file(*state, "5.json"), *link = nodes_file(*state, "6.json"),
       *dir = nodes_file(*state, "7.json");

  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    put(*state, names[i], "{\"name\":\"n\",\"may_run\":true}");
  expect_left(*state, "");
  for (size_t i = 0; i < TM_COUNT_OF(texts); i++) {
    put(*state, "1.json", texts[i]);
    expect_left(*state, "");
  }
  assert_int_equal(mkfifo(fifo, 0600), 0);
  assert_int_equal(symlink("x.json", link), 0);
  assert_int_equal(mkdir(dir, 0700), 0);
  expect_left(*state, "");
  free(fifo);
  free(link);
  free(dir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(fields_are_added_to_a_record),
    TEST(a_damaged_file_is_replaced),
    TEST(a_folder_that_is_missing_is_an_error),
    TEST(only_nodes_that_may_run_are_left),
    TEST(other_files_are_ignored),
});
