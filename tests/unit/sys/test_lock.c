/* test_lock.c - one owner has a lock alone, or many share it, and it ends with its descriptor. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sys/fs.h"

struct files {
  char path[64];
  int a, b; /* opened twice: two owners */
};

static int setup(void **state)
{
  static struct files f;
  snprintf(f.path, sizeof f.path, "/tmp/tm_lock_XXXXXX");
  f.a = mkostemp(f.path, O_CLOEXEC);
  f.b = open(f.path, O_RDWR | O_CLOEXEC);
  *state = &f;
  return f.a < 0 || f.b < 0;
}

static int teardown(void **state)
{
  struct files *f = *state;
  close(f->a);
  close(f->b);
  return unlink(f->path);
}

static void alone_is_alone(void **state)
{
  struct files *f = *state;
  assert_int_equal(tm_lock_take(f->a, false), 0);
  assert_int_equal(tm_lock_take(f->b, false), -EWOULDBLOCK);
  assert_int_equal(tm_lock_take(f->b, true), -EWOULDBLOCK);
  tm_lock_release(f->a);
  assert_int_equal(tm_lock_take(f->b, false), 0);
}

static void shared_is_shared(void **state)
{
  struct files *f = *state;
  assert_int_equal(tm_lock_take(f->a, true), 0);
  assert_int_equal(tm_lock_take(f->b, true), 0);
  assert_int_equal(tm_lock_take(f->b, false), -EWOULDBLOCK);
}

static void it_ends_with_the_descriptor(void **state)
{
  struct files *f = *state;
  assert_int_equal(tm_lock_take(f->a, false), 0);
  close(f->a);
  assert_int_equal(tm_lock_take(f->b, false), 0);
  f->a = open(f->path, O_RDWR | O_CLOEXEC);
}

static void an_invalid_descriptor_is_an_error(void **state)
{
  assert_int_equal(tm_lock_take(-1, false), -EBADF);
}

static void a_lock_that_is_taken_does_not_count_as_unsupported(void **state)
{
  assert_true(tm_lock_is_unsupported(-ENOLCK));
  assert_true(tm_lock_is_unsupported(-ENOSYS));
  assert_true(tm_lock_is_unsupported(-EOPNOTSUPP));
  assert_false(tm_lock_is_unsupported(-EWOULDBLOCK));
  assert_false(tm_lock_is_unsupported(0));
}

#define WITH_FILES(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS({
    WITH_FILES(alone_is_alone),
    WITH_FILES(shared_is_shared),
    WITH_FILES(it_ends_with_the_descriptor),
    cmocka_unit_test(an_invalid_descriptor_is_an_error),
    cmocka_unit_test(a_lock_that_is_taken_does_not_count_as_unsupported),
});
