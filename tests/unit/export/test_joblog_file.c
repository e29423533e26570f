/* test_joblog_file.c - rows that are appended to the user's file while a job runs. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report_fixture.h"

#include "export/joblog.h"
#include "export/joblog_file.h"
#include "tree.h"

#define ROW(seq, bytes, exit, command)                                                             \
#seq "\thost7\t1769903998.123\t     1.234\t0\t" #bytes "\t" #exit "\t" command

static void on_failure(void *data, const struct tm_err *err)
{
  tm_buf_printf(data, "%s\n", err->text);
}

static struct tm_joblog_file *open_file(struct report_fixture *f, const char *name,
                                        struct tm_err *err)
{
  char *path = tm_path_join(f->dir, name);
  struct tm_joblog_file_options o = { .fs = tm_fs_real(),
                                      .path = path,
                                      .events = &f->events,
                                      .on_failure = on_failure,
                                      .data = &f->shown };
  f->events = (struct tm_events) { NULL };
  struct tm_joblog_file *file = tm_joblog_file_new(&o, err);
  free(path);
  return file;
}

static void end_try(const struct report_fixture *f)
{
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  tm_events_emit(&f->events, &e);
}

static void tick(const struct report_fixture *f)
{
  struct tm_event e = fixture_event(f, TM_EVENT_TICK);
  tm_events_emit(&f->events, &e);
}

static void expect(const struct report_fixture *f, const char *name, const char *rows)
{
  char *text = fixture_read(f, name);
  struct tm_buf expected = TM_BUF_NONE;
  tm_buf_printf(&expected, "%s%s", TM_JOBLOG_HEADER, rows);
  assert_string_equal(text, expected.data);
  tm_buf_release(&expected);
  free(text);
}

/* The rows of a job that has two steps. */
static void a_row_for_each_outcome_at_the_next_tick(void **state)
{
  struct report_fixture *f = *state;
  struct tm_joblog_file *file = open_file(f, "log", NULL);
  struct tm_buf rows = TM_BUF_NONE;
  f->job.steps_len = 2;
  f->attempt.status = TM_RUN_TIMEOUT;
  f->attempt.signal = 9;
  end_try(f); /* it is tried again */
  f->attempt.failed = 5;
  end_try(f);
  f->step.number = 1;
  f->step.name = "it's";
  end_try(f); /* the same number in another step */
  tick(f);
  tm_buf_printf(&rows,
                ROW(8, 0, -1, "9\ttidemill replay %s --mini-batch 7 --step score\n")
                    ROW(8, 0, -1, "9\ttidemill replay %s --mini-batch 7 --step 'it'\\''s'\n"),
                f->dir, f->dir);
  expect(f, "log", rows.data);
  tm_joblog_file_free(file);
  expect(f, "log", rows.data);
  assert_string_equal(tm_buf_str(&f->shown), "");
  tm_buf_release(&rows);
}

static void parts_are_summed_up(void **state)
{
  struct report_fixture *f = *state;
  struct tm_joblog_file *file = open_file(f, "log", NULL);
  struct tm_buf rows = TM_BUF_NONE;
  f->attempt.status = TM_RUN_EXCEPTION;
  end_try(f);
  f->attempt.part_first = 1;
  f->attempt.items = 4;
  f->attempt.status = TM_RUN_DONE;
  f->attempt.bytes = 40;
  end_try(f);
  f->attempt.part_first = 5;
  f->attempt.items = f->attempt.failed = 1;
  f->attempt.bytes = 0;
  f->attempt.status = TM_RUN_EXCEPTION;
  end_try(f);
  tm_joblog_file_free(file);
  tm_buf_printf(&rows, ROW(8, 40, 0, "0\ttidemill replay %s --mini-batch 7\n"), f->dir);
  expect(f, "log", rows.data);
  tm_buf_release(&rows);
}

/* The header comes once; a row that a kill has torn is ended. */
static void a_file_is_appended_to(void **state)
{
  struct report_fixture *f = *state;
  struct tm_buf rows = TM_BUF_NONE;
  file_put(f->dir, "log", TM_JOBLOG_HEADER "1\thos", 0600);
  tm_joblog_file_free(open_file(f, "log", NULL));
  struct tm_joblog_file *file = open_file(f, "log", NULL);
  end_try(f);
  tm_joblog_file_free(file);
  tm_buf_printf(&rows, "1\thos\n" ROW(8, 0, 0, "0\ttidemill replay %s --mini-batch 7\n"), f->dir);
  expect(f, "log", rows.data);
  tm_buf_release(&rows);
}

static void two_jobs_share_a_file(void **state)
{
  struct report_fixture *f = *state;
  struct tm_joblog_file *one = open_file(f, "log", NULL);
  tick(f);
  end_try(f);
  struct tm_events events = f->events;
  struct tm_joblog_file *two = open_file(f, "log", NULL);
  f->attempt.index = 8;
  end_try(f);
  tm_joblog_file_free(two);
  f->events = events;
  tm_joblog_file_free(one);
  char *text = fixture_read(f, "log");
  const char *first = strchr(text, '\n') + 1;
  assert_memory_equal(first, "9\t", 2);
  assert_memory_equal(strchr(first, '\n') + 1, "8\t", 2);
  free(text);
}

static void expect_refused(struct report_fixture *f, const char *name, const char *why)
{
  struct tm_err err = TM_ERR_NONE;
  assert_null(open_file(f, name, &err));
  if (!strstr(err.text, why))
    fail_msg("'%s' has no '%s'", err.text, why);
  assert_null(f->events.first);
}

static void what_cannot_be_appended_to_is_refused(void **state)
{
  struct report_fixture *f = *state;
  char *path = tm_path_join(f->dir, "fifo");
  assert_int_equal(mkfifo(path, 0600), 0);
  free(path);
  expect_refused(f, "fifo", "is a pipe or a terminal");
  expect_refused(f, "logs", "cannot open");
  expect_refused(f, "no/log", "cannot open");
  file_put(f->dir, "notes", "buy milk", 0600);
  expect_refused(f, "notes", "is not a joblog");
  char *text = fixture_read(f, "notes");
  assert_string_equal(text, "buy milk");
  free(text);
}

static void a_failure_is_reported_once(void **state)
{
  struct report_fixture *f = *state;
  struct tm_joblog_file *file = open_file(f, "../../dev/full", NULL);
  tick(f);
  assert_non_null(strstr(f->shown.data, "no space left on device"));
  for (int i = 0; i < 3; i++) {
    end_try(f);
    tick(f);
  }
  tm_joblog_file_free(file);
  assert_ptr_equal(strchr(f->shown.data, '\n'), f->shown.data + f->shown.len - 1);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, fixture_open, fixture_close)

UNIT_TESTS({
    WITH_FOLDER(a_row_for_each_outcome_at_the_next_tick),
    WITH_FOLDER(parts_are_summed_up),
    WITH_FOLDER(a_file_is_appended_to),
    WITH_FOLDER(two_jobs_share_a_file),
    WITH_FOLDER(what_cannot_be_appended_to_is_refused),
    WITH_FOLDER(a_failure_is_reported_once),
});
