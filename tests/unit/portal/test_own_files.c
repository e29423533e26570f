/* test_own_files.c - portal.json and portal_address.json. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "folder.h"
#include "portal/own_files.h"

static struct folder folder;

static int setup(void **state)
{
  folder_init(&folder);
  return 0;
}

static int teardown(void **state)
{
  folder_release(&folder);
  return 0;
}

static void a_second_portal_hears_of_the_first(void **state)
{
  struct tm_own_files one, other;
  struct tm_portal_address a;
  struct tm_buf url = TM_BUF_NONE;
  struct stat st;
  assert_int_equal(tm_own_files_open(&one, folder.path, &url, NULL), 0);
  assert_int_equal(tm_own_files_address(&one, &a, NULL), 0);
  a.port = 8080;
  assert_int_equal(tm_own_files_write(&one, &a, "http://x/", NULL), 0);
  assert_int_equal(stat(folder_file(&folder, "portal.json"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  assert_int_equal(tm_own_files_open(&other, folder.path, &url, NULL), TM_EINUSE);
  assert_string_equal(tm_buf_str(&url), "http://x/");
  tm_own_files_close(&other);
  assert_int_equal(stat(folder_file(&folder, "portal.json"), &st), 0);
  tm_own_files_close(&one);
  assert_true(stat(folder_file(&folder, "portal.json"), &st) < 0);
  tm_buf_release(&url);
}

static void prefix_and_port_survive_a_restart(void **state)
{
  struct tm_own_files f;
  struct tm_portal_address first, second;
  struct tm_buf url = TM_BUF_NONE;
  assert_int_equal(tm_own_files_open(&f, folder.path, &url, NULL), 0);
  assert_int_equal(tm_own_files_address(&f, &first, NULL), 0);
  first.port = 8080;
  assert_int_equal(tm_own_files_write(&f, &first, "u", NULL), 0);
  tm_own_files_close(&f);
  assert_int_equal(tm_own_files_open(&f, folder.path, &url, NULL), 0);
  assert_int_equal(tm_own_files_address(&f, &second, NULL), 0);
  tm_own_files_close(&f);
  assert_string_equal(second.prefix, first.prefix);
  assert_int_equal(second.port, 8080);
  tm_buf_release(&url);
}

/* A portal that was killed leaves it, without a lock. */
static void a_stale_file_is_taken_over(void **state)
{
  struct tm_own_files f;
  struct tm_buf url = TM_BUF_NONE;
  int fd = open(folder_file(&folder, "portal.json"), O_WRONLY | O_CREAT, 0644);
  assert_int_equal(write(fd, "{\"url\":\"old\"}", 13), 13);
  close(fd);
  assert_int_equal(tm_own_files_open(&f, folder.path, &url, NULL), 0);
  assert_int_equal(url.len, 0);
  tm_own_files_close(&f);
  tm_buf_release(&url);
}

static void another_file_in_its_place_is_an_error(void **state)
{
  struct tm_own_files f;
  struct tm_buf url = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(symlink("elsewhere", folder_file(&folder, "portal.json")), 0);
  assert_true(tm_own_files_open(&f, folder.path, &url, &err) < 0);
  tm_own_files_close(&f);
  assert_int_equal(unlink(folder_file(&folder, "portal.json")), 0);
  assert_int_equal(mkfifo(folder_file(&folder, "portal.json"), 0600), 0);
  assert_true(tm_own_files_open(&f, folder.path, &url, &err) < 0);
  tm_own_files_close(&f);
  tm_buf_release(&url);
}

static void an_address_that_is_not_ours_is_not_used(void **state)
{
  static const char *const refused[] = { "",
                                         "{}",
                                         "[",
                                         "{\"prefix\":\"../../etc/passwd\",\"port\":1}",
                                         "{\"prefix\":\"0123456789abcdef\",\"port\":65536}",
                                         "{\"prefix\":\"0123456789ABCDEF\",\"port\":1}",
                                         "{\"prefix\":\"0123456789abcde\",\"port\":1}" };
  struct tm_portal_address a = { .port = 7 };
  for (size_t i = 0; i < TM_COUNT_OF(refused); i++)
    assert_false(tm_portal_address_read(&a, refused[i]));
  assert_int_equal(a.port, 7);
  assert_true(tm_portal_address_read(&a, "{\"prefix\":\"0123456789abcdef\",\"port\":1}"));
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(a_second_portal_hears_of_the_first, setup, teardown),
    cmocka_unit_test_setup_teardown(prefix_and_port_survive_a_restart, setup, teardown),
    cmocka_unit_test_setup_teardown(a_stale_file_is_taken_over, setup, teardown),
    cmocka_unit_test_setup_teardown(another_file_in_its_place_is_an_error, setup, teardown),
    cmocka_unit_test(an_address_that_is_not_ours_is_not_used),
});
