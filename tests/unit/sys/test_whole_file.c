/* test_whole_file.c - whole files: what a name holds before, after and when a write fails. */
#include "unit.h"

#include <errno.h>
#include <sys/stat.h>

#include "folder.h"
#include "sys/whole_file.h"

static struct folder f;

static int setup(void **state)
{
  folder_init(&f);
  return 0;
}

static int teardown(void **state)
{
  folder_release(&f);
  return 0;
}

static void has_text(const char *name, const char *text)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_file_read(folder_file(&f, name), 1u << 20, &b, &err), 0);
  assert_string_equal(tm_buf_str(&b), text);
  tm_buf_release(&b);
}

static void put(const char *name, const char *text)
{
  struct tm_err err = TM_ERR_NONE;
  if (tm_file_write(folder_file(&f, name), text, strlen(text), true, &err) < 0)
    fail_msg("%s", err.text);
}

static int count_name(void *data, const char *name, int type)
{
  ++*(int *)data;
  return 0;
}

static int count_names(void)
{
  int n = 0;
  assert_int_equal(tm_dir_read(f.path, count_name, &n), 0);
  return n;
}

static mode_t mode_of(const char *name)
{
  struct stat st;
  assert_int_equal(lstat(folder_file(&f, name), &st), 0);
  return st.st_mode;
}

static void a_file_is_written_and_replaced_and_nothing_else_is_left(void **state)
{
  put("a", "one");
  has_text("a", "one");
  assert_int_equal(chmod(folder_file(&f, "a"), 0640), 0);
  put("a", "two");
  has_text("a", "two");
  assert_int_equal(mode_of("a") & 0777, 0640);
  assert_int_equal(count_names(), 1);
}

static void a_link_is_followed(void **state)
{
  put("real", "one");
  assert_int_equal(symlink("real", folder_file(&f, "link")), 0);
  put("link", "two");
  has_text("real", "two");
  assert_true(S_ISLNK(mode_of("link")));
}

static void a_special_file_is_not_replaced(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(mkfifo(folder_file(&f, "fifo"), 0600), 0);
  int reader = open(f.name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  char bytes[8] = "";
  put("fifo", "abc");
  assert_int_equal(read(reader, bytes, sizeof bytes), 3);
  assert_string_equal(bytes, "abc");
  assert_true(S_ISFIFO(mode_of("fifo")));
  close(reader);
  assert_int_equal(tm_file_write(f.path, "x", 1, false, &err), -EISDIR);
}

static void a_write_that_fails_leaves_the_old_file(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  put("a", "one");
  assert_int_equal(tm_file_copy("/no/such", folder_file(&f, "a"), true, &err), -ENOENT);
  assert_int_equal(tm_file_copy("/proc/self/mem", folder_file(&f, "a"), true, &err),
                   -EIO); /* opens; no read at 0 */
  assert_int_equal(tm_file_copy("/proc", folder_file(&f, "a"), true, &err), -EISDIR);
  assert_int_equal(tm_file_write(folder_file(&f, "no/a"), "x", 1, true, &err), -ENOENT);
  has_text("a", "one");
  assert_int_equal(count_names(), 1);
}

static void a_copy_has_bytes_and_mode(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  put("a", "one");
  assert_int_equal(chmod(folder_file(&f, "a"), 0750), 0);
  struct folder from = f;
  folder_file(&from, "a");
  assert_int_equal(tm_file_copy(from.name, folder_file(&f, "b"), true, &err), 0);
  has_text("b", "one");
  assert_int_equal(mode_of("b") & 0777, 0750);
  assert_int_equal(tm_file_copy(from.name, from.name, true, &err), 0);
  has_text("a", "one");
  assert_int_equal(count_names(), 2);
}

static void a_file_without_a_length_is_read(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_file_read("/proc/self/status", 1u << 20, &b, &err), 0);
  assert_true(b.len > 100);
  assert_int_equal(tm_file_read("/dev/zero", 1000, &b, &err), TM_ELIMIT);
  assert_string_equal(err.text, "cannot read '/dev/zero' whole: it is longer than 1000 bytes");
  tm_buf_release(&b);
}

static void appended_bytes_come_last(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_file_append(folder_file(&f, "log"), "a\n", 2, &err), 0);
  assert_int_equal(tm_file_append(folder_file(&f, "log"), "b\n", 2, &err), 0);
  has_text("log", "a\nb\n");
}

static void announcing_waits_for_nobody_and_changes_nothing(void **state)
{
  (void)state;
  put("file", "text");
  tm_file_announce(folder_file(&f, "file"));
  has_text("file", "text");
  assert_int_equal(mkfifo(folder_file(&f, "fifo"), 0600), 0);
  tm_file_announce(f.name);
  tm_file_announce(folder_file(&f, "none"));
  assert_int_equal(folder_size(&f, "none"), -1);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(a_file_is_written_and_replaced_and_nothing_else_is_left, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(a_link_is_followed, setup, teardown),
    cmocka_unit_test_setup_teardown(a_special_file_is_not_replaced, setup, teardown),
    cmocka_unit_test_setup_teardown(a_write_that_fails_leaves_the_old_file, setup, teardown),
    cmocka_unit_test_setup_teardown(a_copy_has_bytes_and_mode, setup, teardown),
    cmocka_unit_test_setup_teardown(a_file_without_a_length_is_read, setup, teardown),
    cmocka_unit_test_setup_teardown(announcing_waits_for_nobody_and_changes_nothing, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(appended_bytes_come_last, setup, teardown),
});
