/* test_standard_fds.c - opening a file never returns a descriptor from 0 to 2. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/fs.h"
#include "sys/standard_fds.h"
#include "sys/shared_memory.h"

struct kept {
  int at[3];
};

static int close_standard(void **state)
{
  static struct kept k;
  for (int i = 0; i < 3; i++) {
    k.at[i] = fcntl(i, F_DUPFD_CLOEXEC, 20);
    close(i);
  }
  *state = &k;
  return 0;
}

static int open_standard(void **state)
{
  struct kept *k = *state;
  for (int i = 0; i < 3; i++) {
    dup2(k->at[i], i);
    close(k->at[i]);
  }
  return 0;
}

static bool is_open(int fd)
{
  return fcntl(fd, F_GETFD) >= 0;
}

static void a_low_descriptor_is_lifted(void **state)
{
  int low = open("/dev/null", O_RDWR), high = tm_fd_lift(low);
  bool is_low_open = is_open(low), is_cloexec = fcntl(high, F_GETFD) == FD_CLOEXEC;
  close(high);
  assert_int_equal(low, 0);
  assert_true(high > 2);
  assert_false(is_low_open);
  assert_true(is_cloexec);
  assert_int_equal(tm_fd_lift(high), high); /* a different number: not checked */
  assert_int_equal(tm_fd_lift(-1), -1);
}

static void low_ones_are_held_for_a_while(void **state)
{
  struct tm_standard_fds low;
  tm_standard_fds_hold(&low);
  int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  bool is_held = is_open(0) && is_open(1) && is_open(2);
  bool is_writable = write(1, "x", 1) >= 0 || errno != EBADF;
  tm_standard_fds_release(&low);
  bool is_left = is_open(0) || is_open(1) || is_open(2);
  close(fd);
  assert_true(fd > 2);
  assert_true(is_held);
  assert_false(is_writable);
  assert_false(is_left);
}

static void a_descriptor_that_a_host_opens_meanwhile_stays(void **state)
{
  struct tm_standard_fds low;
  tm_standard_fds_hold(&low);
  int own = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(own, 1);
  tm_standard_fds_release(&low);
  bool is_left = is_open(1), are_others = is_open(0) || is_open(2);
  close(own);
  close(1);
  assert_true(is_left);
  assert_false(are_others);
}

static void both_of_a_pair_are_lifted(void **state)
{
  int fds[2];
  int made = pipe2(fds, O_CLOEXEC), rc = tm_fd_lift_pair(fds);
  bool is_left = is_open(0) || is_open(1) || is_open(2);
  close(fds[0]);
  close(fds[1]);
  assert_int_equal(made, 0);
  assert_int_equal(rc, 0);
  assert_true(fds[0] > 2 && fds[1] > 2);
  assert_false(is_left);
}

/* Each of these stays open for as long as a caller, or the file system, needs it. */

static int look(void *data, const char *name, int type)
{
  bool *is_low = data;
  *is_low = *is_low || is_open(0) || is_open(1) || is_open(2);
  return 0;
}

static void a_folder_is_read_above(void **state)
{
  bool is_low = false;
  int rc = tm_dir_read("/proc/self", look, &is_low);
  assert_int_equal(rc, 0);
  assert_false(is_low);
}

static void shared_memory_is_above(void **state)
{
  int fd = tm_shared_memory_new("case", 4096, NULL);
  bool is_low = is_open(0) || is_open(1) || is_open(2);
  close(fd);
  assert_true(fd > 2);
  assert_false(is_low);
}

static void without_room_the_low_one_is_closed(void **state)
{
  struct rlimit before, none;
  getrlimit(RLIMIT_NOFILE, &before);
  int low = open("/dev/null", O_RDWR | O_CLOEXEC);
  none = before;
  none.rlim_cur = 3;
  setrlimit(RLIMIT_NOFILE, &none);
  int rc = tm_fd_lift(low);
  setrlimit(RLIMIT_NOFILE, &before);
  assert_true(rc == -EMFILE || rc == -EINVAL);
  assert_false(is_open(low));
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(a_low_descriptor_is_lifted, close_standard, open_standard),
    cmocka_unit_test_setup_teardown(low_ones_are_held_for_a_while, close_standard, open_standard),
    cmocka_unit_test_setup_teardown(a_descriptor_that_a_host_opens_meanwhile_stays, close_standard,
                                    open_standard),
    cmocka_unit_test_setup_teardown(both_of_a_pair_are_lifted, close_standard, open_standard),
    cmocka_unit_test_setup_teardown(a_folder_is_read_above, close_standard, open_standard),
    cmocka_unit_test_setup_teardown(shared_memory_is_above, close_standard, open_standard),
    cmocka_unit_test_setup_teardown(without_room_the_low_one_is_closed, close_standard,
                                    open_standard),
});
