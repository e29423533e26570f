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

/* `text` with the inode of the job's directory for HERE, which may be missing; to free. */
static char *with_inode(const char *job, const char *text)
{
  const char *here = strstr(text, "HERE");
  struct stat st;

  assert_int_equal(stat(job, &st), 0);
  return here ? tm_xprintf("%.*s%lld%s", (int)(here - text), text, (long long)st.st_ino, here + 4)
              : tm_xstrdup(text);
}

static void put(const char *job, const char *name, const char *format)
{
  char *file = nodes_file(job, name), *text = with_inode(job, format);

  assert_int_equal(tm_fs_write_file(tm_fs_real(), file, text, strlen(text), 0600, NULL), 0);
  free(text);
  free(file);
}

static void update(const char *job, uint32_t id, const char *changes)
{
  struct tm_err err = TM_ERR_NONE;

  if (tm_node_record_update(tm_fs_real(), job, id, tm_json_of(changes), &err) < 0)
    fail_msg("%s", err.text);
}

static void expect_file(const char *job, const char *name, const char *format)
{
  char *file = nodes_file(job, name), *expected = with_inode(job, format), *text;
  struct tm_buf got = TM_BUF_NONE;
  struct tm_json *v;

  assert_int_equal(tm_fs_read_file(tm_fs_real(), file, 10000, &got, NULL), 0);
  v = tm_json_of(tm_buf_str(&got));
  text = tm_json_text(v);
  assert_string_equal(text, expected);
  tm_json_free(v);
  tm_buf_release(&got);
  free(text);
  free(expected);
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
              "{\"id\":3,\"directory\":HERE,\"command\":[\"ssh\",\"a "
              "b\"],\"may_run\":false,\"host\":\"cn1\","
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
    expect_file(*state, "3.json", "{\"id\":3,\"directory\":HERE,\"why\":\"lost\"}");
  }
}

static void a_folder_that_is_missing_is_an_error(void **state)
{
  struct tm_err err = TM_ERR_NONE;

  assert_int_equal(tm_node_record_update(tm_fs_real(), *state, 1, tm_json_of("{}"), &err), -ENOENT);
  assert_non_null(strstr(err.text, "nodes/1.json"));
}

static void on_left(void *data, const struct tm_node_left *left)
{
  tm_buf_printf(data, "%u:%s%s%s;", (unsigned)left->id, left->name, left->is_step ? ":step" : "",
                left->is_elsewhere ? ":elsewhere" : "");
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
  put(*state, "3.json", "{\"name\":\"n3\",\"may_run\":true,\"directory\":HERE}");
  expect_left(*state, "3:n3;");
  put(*state, "3.json",
      "{\"name\":\"n3\",\"may_run\":true,\"allocation\":\"27\",\"directory\":HERE}");
  expect_left(*state, "3:n3:step;");
}

/* In a copy of a directory, the records are those of the job there, which may run. */
static void nodes_in_a_copied_record_are_elsewhere(void **state)
{
  char *copy = tm_path_join(*state, "copy"), *from = nodes_file(*state, "3.json"),
       *to = nodes_file(copy, "3.json");
  struct tm_buf text = TM_BUF_NONE;

  update(*state, 3, "{\"name\":\"n3\",\"may_run\":true}");
  expect_left(*state, "3:n3;");
  assert_int_equal(tm_fs_read_file(tm_fs_real(), from, 10000, &text, NULL), 0);
  put(copy, "3.json", tm_buf_str(&text));
  expect_left(copy, "3:n3:elsewhere;");
  assert_int_equal(rename(from, to), 0);
  expect_left(copy, "3:n3:elsewhere;");
  update(copy, 3, "{\"may_run\":false}");
  expect_left(copy, "");
  put(copy, "3.json", "{\"name\":\"n3\",\"may_run\":true}");
  expect_left(copy, "3:n3:elsewhere;");
  put(copy, "3.json", "{\"name\":\"n3\",\"may_run\":true,\"directory\":\"HERE\"}");
  expect_left(copy, "3:n3:elsewhere;");
  tm_buf_release(&text);
  free(copy);
  free(from);
  free(to);
}

/* On one file system, a job's directory may have another name when the job is resumed. */
static void nodes_of_a_moved_job_are_its_own(void **state)
{
  char *job = tm_path_join(*state, "job"), *moved = tm_path_join(*state, "moved"),
       *file = nodes_file(job, "3.json");

  update(job, 3, "{\"name\":\"n3\",\"may_run\":true}");
  assert_int_equal(rename(job, moved), 0);
  expect_left(moved, "3:n3;");
  free(job);
  free(moved);
  free(file);
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
    TEST(nodes_in_a_copied_record_are_elsewhere),
    TEST(nodes_of_a_moved_job_are_its_own),
    TEST(other_files_are_ignored),
});
