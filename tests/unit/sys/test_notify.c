/* test_notify.c - reports files that appear, grow and are closed; skips folders that do not exist.
 */
#include "unit.h"

#include <fcntl.h>

#include "base/time.h"
#include "folder.h"
#include "sys/notify.h"

struct watching {
  struct tm_loop loop;
  struct tm_notify notify;
  struct tm_timer limit;
  struct folder folder;
  const char *expected; /* a suffix of the path */
  int told;
  bool is_late;
};

static void stop(struct watching *w)
{
  tm_timer_close(&w->limit);
  tm_notify_close(&w->notify);
}

static void on_change(void *data, const char *path)
{
  struct watching *w = data;
  assert_non_null(path);
  w->told++;
  size_t n = strlen(path), e = strlen(w->expected);
  if (n >= e && strcmp(path + n - e, w->expected) == 0)
    stop(w);
}

static void on_limit(struct tm_timer *t)
{
  struct watching *w = t->data;
  w->is_late = true;
  stop(w);
}

static void begin(struct watching *w, const char *expected)
{
  memset(w, 0, sizeof(*w));
  folder_init(&w->folder);
  w->expected = expected;
  assert_int_equal(tm_loop_init(&w->loop, NULL), 0);
  assert_int_equal(tm_notify_open(&w->notify, &w->loop, on_change, w, NULL), 0);
  tm_timer_open(&w->limit, &w->loop, on_limit, w);
  tm_timer_start(&w->limit, 30 * TM_S, 0);
  assert_int_equal(tm_notify_add(&w->notify, w->folder.path, NULL), 0);
  assert_int_equal(tm_notify_add(&w->notify, w->folder.path, NULL), 0);
  assert_int_equal(tm_notify_add(&w->notify, folder_file(&w->folder, "missing"), NULL), 0);
}

static void finish(struct watching *w)
{
  tm_loop_run(&w->loop);
  tm_loop_release(&w->loop);
  folder_release(&w->folder);
  assert_false(w->is_late);
  assert_true(w->told > 0);
}

static void a_new_file_is_reported(void **state)
{
  struct watching w;
  begin(&w, "/two");
  folder_put(&w.folder, "one", 0, "x", 1);
  folder_put(&w.folder, "two", 0, "x", 1);
  finish(&w);
}

/* For a file that existed before and is open. */
static void expect_told(void (*change)(int fd), bool stays_open)
{
  struct watching w;
  struct folder f;
  folder_init(&f);
  int fd = tm_fs_open(tm_fs_real(), folder_file(&f, "file"), O_RDWR | O_CREAT, 0600, NULL);
  assert_true(fd >= 0);
  begin(&w, "/file");
  assert_int_equal(tm_notify_add(&w.notify, f.path, NULL), 0);
  change(fd);
  finish(&w);
  if (stays_open)
    tm_fs_close(tm_fs_real(), fd);
  folder_release(&f);
}

static void grow(int fd)
{
  assert_int_equal(tm_fd_append(fd, "x", 1), 0);
}

static void shut(int fd)
{
  tm_fs_close(tm_fs_real(), fd);
}

static void a_growing_file_is_reported(void **state)
{
  expect_told(grow, true);
}

/* This shows the end of a process that held it, however it ended. */
static void a_closed_file_is_reported(void **state)
{
  expect_told(shut, false);
}

static void closed_twice_is_closed(void **state)
{
  struct tm_notify n = { 0 };
  tm_notify_close(&n);
  tm_notify_close(&n);
}

UNIT_TESTS({
    cmocka_unit_test(a_new_file_is_reported),
    cmocka_unit_test(a_growing_file_is_reported),
    cmocka_unit_test(a_closed_file_is_reported),
    cmocka_unit_test(closed_twice_is_closed),
});
