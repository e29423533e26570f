/* test_changes.c - the descriptor is readable after a change, and after a time without one. */
#include "unit.h"

#include <poll.h>
#include <unistd.h>

#include "base/time.h"
#include "folder.h"
#include "sys/changes.h"
#include "sys/clock.h"

#define LONG (3600 * TM_S)

static bool is_readable(const struct tm_changes *c, int limit_ms)
{
  struct pollfd p = { .fd = c->fd, .events = POLLIN };
  return poll(&p, 1, limit_ms) == 1;
}

static void a_file_that_appears_grows_or_goes_is_a_change(void **state)
{
  struct tm_changes c = { .fd = 0 };
  struct folder f;
  folder_init(&f);
  assert_int_equal(tm_changes_open(&c, LONG, NULL), 0);
  assert_true(c.fd > 2);
  tm_changes_add(&c, f.path);
  tm_changes_add(&c, f.path);
  tm_changes_add(&c, folder_file(&f, "missing"));
  assert_false(is_readable(&c, 0));
  assert_false(tm_changes_take(&c));
  folder_put(&f, "a", 0, "one", 3);
  assert_true(is_readable(&c, 30000));
  assert_true(tm_changes_take(&c));
  assert_false(is_readable(&c, 0));
  folder_put(&f, "a", 3, "two", 3);
  assert_true(is_readable(&c, 30000));
  assert_true(tm_changes_take(&c));
  assert_int_equal(unlink(folder_file(&f, "a")), 0);
  assert_true(is_readable(&c, 30000));
  assert_true(tm_changes_take(&c));
  tm_changes_close(&c);
  tm_changes_close(&c);
  folder_release(&f);
}

static void without_a_change_the_time_makes_it_readable(void **state)
{
  struct tm_changes c = { .fd = 0 };
  int64_t began_ns = tm_clock_mono_ns();
  assert_int_equal(tm_changes_open(&c, 20 * TM_MS, NULL), 0);
  for (int i = 1; i <= 2; i++) {
    assert_true(is_readable(&c, 30000));
    assert_true(tm_changes_take(&c));
    assert_true(tm_clock_mono_ns() - began_ns >= i * 20 * TM_MS);
  }
  tm_changes_close(&c);
}

UNIT_TESTS({
    cmocka_unit_test(a_file_that_appears_grows_or_goes_is_a_change),
    cmocka_unit_test(without_a_change_the_time_makes_it_readable),
});
