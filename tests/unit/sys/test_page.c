/* test_page.c - memory shared by two maps, whose size nobody can change. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/shared_memory.h"

static void two_maps_are_one_memory(void **state)
{
  int fd = tm_shared_memory_new("page", 8192, NULL);
  assert_true(fd >= 0);
  assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
  char *a = tm_shared_memory_map(fd, 8192, NULL), *b = tm_shared_memory_map(fd, 8192, NULL);
  assert_non_null(a);
  assert_non_null(b);
  assert_ptr_not_equal(a, b);
  for (int i = 0; i < 8192; i++)
    assert_int_equal(a[i], 0);
  close(fd);
  strcpy(a + 5000, "here");
  assert_string_equal(b + 5000, "here");
  tm_shared_memory_unmap(a, 8192);
  assert_string_equal(b + 5000, "here");
  tm_shared_memory_unmap(b, 8192);
  tm_shared_memory_unmap(NULL, 8192);
}

static void nobody_can_cut_it(void **state)
{
  int fd = tm_shared_memory_new("page", 4096, NULL);
  assert_int_equal(ftruncate(fd, 0), -1);
  assert_int_equal(errno, EPERM);
  assert_int_equal(ftruncate(fd, 8192), -1);
  close(fd);
}

static void a_short_file_is_not_mapped(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  int fd = tm_shared_memory_new("page", 4096, NULL);
  assert_null(tm_shared_memory_map(fd, 8192, &err));
  assert_int_equal(err.code, TM_EPROTOCOL);
  assert_non_null(strstr(err.text, "4096 bytes where 8192 are needed"));
  close(fd);
  assert_null(tm_shared_memory_map(-1, 4096, &err));
  assert_int_equal(err.code, -EBADF);
}

UNIT_TESTS({
    cmocka_unit_test(two_maps_are_one_memory),
    cmocka_unit_test(nobody_can_cut_it),
    cmocka_unit_test(a_short_file_is_not_mapped),
});
