/* test_log_file.c - a log appends lines, completes a torn one, and reports a failure once. */
#include "unit.h"

#include "report_fixture.h"

#include "report/log_file.h"

static void appends_and_ends_a_torn_line(void **state)
{
  struct report_fixture *f = *state;
  char *path = tm_path_join(f->dir, "b/log.txt");
  struct tm_log_file log;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_log_file_open(&log, tm_fs_real(), path, &err), 0);
  assert_true(tm_log_file_is_empty(&log));
  tm_buf_add_str(&log.text, "one\ntor");
  assert_int_equal(tm_log_file_flush(&log, &err), 0);
  assert_int_equal(tm_log_file_close(&log, &err), 0);
  assert_int_equal(tm_log_file_open(&log, tm_fs_real(), path, &err), 0);
  assert_false(tm_log_file_is_empty(&log));
  tm_buf_add_str(&log.text, "two\n");
  assert_int_equal(tm_log_file_close(&log, &err), 0);
  char *text = fixture_read(f, "b/log.txt");
  assert_string_equal(text, "one\ntor\ntwo\n");
  free(text);
  free(path);
}

static void writes_when_much_has_gathered(void **state)
{
  struct report_fixture *f = *state;
  char *path = tm_path_join(f->dir, "log.txt");
  struct tm_log_file log;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_log_file_open(&log, tm_fs_real(), path, &err), 0);
  memset(tm_buf_extend(&log.text, TM_LOG_FLUSH_BYTES - 1), 'x', TM_LOG_FLUSH_BYTES - 1);
  assert_int_equal(tm_log_file_flush_large(&log, &err), 0);
  assert_int_equal(log.text.len, TM_LOG_FLUSH_BYTES - 1);
  tm_buf_add_char(&log.text, '\n');
  assert_int_equal(tm_log_file_flush_large(&log, &err), 0);
  assert_int_equal(log.text.len, 0);
  assert_int_equal(log.at, TM_LOG_FLUSH_BYTES);
  assert_int_equal(tm_log_file_close(&log, &err), 0);
  free(path);
}

static void fails_once_and_swallows_then(void **state)
{
  struct report_fixture *f = *state;
  char *path = tm_path_join(f->dir, "log.txt");
  struct full_disk disk;
  struct tm_log_file log;
  struct tm_err err = TM_ERR_NONE;
  full_disk_init(&disk, 1);
  assert_int_equal(tm_log_file_open(&log, &disk.fs, path, &err), 0);
  for (int i = 0; i < 4; i++) {
    tm_buf_add_str(&log.text, "line\n");
    assert_int_equal(tm_log_file_flush(&log, &err), i == 1 ? -ENOSPC : 0);
    assert_int_equal(log.text.len, 0);
  }
  assert_has(err.text, "no space left");
  assert_has(err.text, path);
  assert_int_equal(tm_log_file_close(&log, &err), 0);
  free(path);
}

static void swallows_when_it_cannot_be_opened(void **state)
{
  struct report_fixture *f = *state;
  char *path = tm_path_join(f->dir, "file/log.txt");
  char *file = tm_path_join(f->dir, "file");
  struct tm_log_file log;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_fs_write_file(tm_fs_real(), file, "", 0, 0600, &err), 0);
  assert_true(tm_log_file_open(&log, tm_fs_real(), path, &err) < 0);
  tm_buf_add_str(&log.text, "line\n");
  assert_int_equal(tm_log_file_flush(&log, &err), 0);
  assert_int_equal(tm_log_file_close(&log, &err), 0);
  assert_int_equal(tm_log_file_close(&log, &err), 0);
  free(file);
  free(path);
}

static void does_not_bring_back_what_was_removed(void **state)
{
  struct report_fixture *f = *state;
  char *path = tm_path_join(f->dir, "removed/user/log.txt");
  char *removed = tm_path_join(f->dir, "removed");
  struct tm_buf text = TM_BUF_NONE;
  struct tm_log_file log;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_log_file_open(&log, tm_fs_real(), path, &err), -ENOENT);
  assert_int_equal(tm_log_file_close(&log, &err), 0);
  assert_int_equal(tm_log_replace(tm_fs_real(), path, &text, &err), -ENOENT);
  assert_false(tm_fs_exists(tm_fs_real(), removed));
  free(removed);
  free(path);
}

static void a_line_is_one_line(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_log_add_line(&b, FIXTURE_WALL, TM_WARNING, 12, "process001", "two\nlines");
  assert_string_equal(b.data, "2026-01-31 23:59:58,123|WARNING|12|process001|two\\nlines\n");
  tm_buf_release(&b);
}

static void a_file_is_replaced_whole(void **state)
{
  struct report_fixture *f = *state;
  char *path = tm_path_join(f->dir, "x/result.txt");
  struct tm_buf text = TM_BUF_NONE;
  struct full_disk disk;
  struct tm_err err = TM_ERR_NONE;
  full_disk_init(&disk, 1);
  tm_buf_add_str(&text, "old\n");
  assert_int_equal(tm_log_replace(&disk.fs, path, &text, &err), 0);
  tm_buf_add_str(&text, "new\n");
  assert_int_equal(tm_log_replace(&disk.fs, path, &text, &err), -ENOSPC);
  char *now = fixture_read(f, "x/result.txt");
  assert_string_equal(now, "old\n");
  free(now);
  free(path);
  tm_buf_release(&text);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(appends_and_ends_a_torn_line, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(writes_when_much_has_gathered, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(fails_once_and_swallows_then, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(swallows_when_it_cannot_be_opened, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(does_not_bring_back_what_was_removed, fixture_open,
                                    fixture_close),
    cmocka_unit_test(a_line_is_one_line),
    cmocka_unit_test_setup_teardown(a_file_is_replaced_whole, fixture_open, fixture_close),
});
