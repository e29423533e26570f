/* test_overview.c - the progress of a step: a line every ten seconds, a file per day, a link to the
 * newest. */
#include "unit.h"

#include "report_fixture.h"

#include <unistd.h>

#include "report/overview.h"

#define LINK   "logs/job_progress_overview.txt"
#define FIRST  "logs/job_progress_overview.20260131-235958.txt"
#define SECOND "logs/job_progress_overview.20260201-000000.txt"

struct session {
  struct report_fixture *f;
  struct tm_overview v;
  struct tm_progress p;
};

static void start(struct session *s, struct report_fixture *f, const struct tm_fs *fs)
{
  struct tm_event e = fixture_event(f, TM_EVENT_JOB_STARTED);
  s->f = f;
  tm_progress_init(&s->p, "score");
  tm_progress_sample(&s->p, &f->step.counts, f->now_ns);
  assert_int_equal(tm_overview_open(&s->v, fs, &e, &f->step, NULL), 0);
}

static void pass(struct session *s, int64_t ns)
{
  struct report_fixture *f = s->f;
  f->now_ns += ns;
  f->wall_ns += ns;
  struct tm_event e = fixture_event(f, TM_EVENT_TICK);
  tm_progress_sample(&s->p, &f->step.counts, f->now_ns);
  assert_int_equal(tm_overview_tick(&s->v, &e, &f->step, &s->p, NULL), 0);
}

static void end(struct session *s, const char *words)
{
  struct tm_event e = fixture_event(s->f, TM_EVENT_STEP_ENDED);
  struct tm_buf result = TM_BUF_NONE;
  tm_buf_add_str(&result, words);
  assert_int_equal(tm_overview_end(&s->v, &e, &s->p, &result, NULL), 0);
  assert_int_equal(tm_overview_close(&s->v, NULL), 0);
  tm_buf_release(&result);
}

static void expect_link(const struct report_fixture *f, const char *name)
{
  char *path = tm_path_join(f->dir, LINK);
  char target[256] = "";
  assert_true(readlink(path, target, sizeof(target) - 1) > 0);
  assert_string_equal(target, strchr(name, '/') + 1);
  free(path);
}

static void a_line_comes_every_ten_seconds(void **state)
{
  struct report_fixture *f = *state;
  struct session s;
  f->wall_ns -= 3600 * TM_S;
  f->step.counts = (struct tm_counts) { .created = 120,
                                        .succeeded = 44,
                                        .failed = 1,
                                        .running = 2,
                                        .items = 450,
                                        .items_failed = 10,
                                        .returned = 440 };
  start(&s, f, tm_fs_real());
  for (int i = 0; i < 259; i++)
    pass(&s, TM_S / 10);
  char *text = fixture_read(f, LINK);
  assert_has(text, "|supervisor|step 'score' of 'digits' starts; job: ");
  assert_int_equal(count_of(text, "\n"), 3);
  assert_has(text,
             "|supervisor|120 mini-batches created so far, 45 processed (44 succeeded, 1 "
             "failed), 2 running; 450 items, 10 failed; output: 440 rows; 10.0 s so far, time "
             "left unknown\n");
  free(text);
  f->step.counts.all_created = true;
  f->step.counts.succeeded = 79;
  pass(&s, 10 * TM_S);
  end(&s, "score: Completed\n  items: 5\n\nstart here\n");
  text = fixture_read(f, LINK);
  assert_has(text, "|120 mini-batches created, 80 processed");
  assert_has(text, " s left\n");
  assert_has(text, "|supervisor|score: Completed\n");
  assert_has(text, "|supervisor|  items: 5\n");
  assert_has(text, "|supervisor|start here\n");
  free(text);
}

static void a_new_file_begins_with_a_day(void **state)
{
  struct report_fixture *f = *state;
  struct session s;
  start(&s, f, tm_fs_real()); /* at 23:59:58.123 */
  expect_link(f, FIRST);
  pass(&s, 10 * TM_S); /* at 00:00:08.123 */
  expect_link(f, "logs/job_progress_overview.20260201-000008.txt");
  pass(&s, 10 * TM_S);
  end(&s, "score: Completed\n");
  char *text = fixture_read(f, FIRST);
  assert_int_equal(count_of(text, "\n"), 1);
  free(text);
  text = fixture_read(f, LINK);
  assert_has(text, "|step 'score' of 'digits' continues from the day before; job: ");
  assert_int_equal(count_of(text, "mini-batches created"), 3);
  assert_has(text, "|score: Completed\n");
  free(text);
}

static void a_clock_that_is_set_back_keeps_the_file(void **state)
{
  struct report_fixture *f = *state;
  struct session s;
  f->wall_ns = FIXTURE_WALL + 2 * TM_S - 123456000;
  start(&s, f, tm_fs_real());
  expect_link(f, SECOND);
  f->wall_ns -= 7200 * TM_S;
  pass(&s, 10 * TM_S);
  expect_link(f, SECOND);
  end(&s, "");
  assert_null(fixture_read(f, FIRST));
}

static void a_session_continues_the_file_of_its_day(void **state)
{
  struct report_fixture *f = *state;
  struct session s;
  f->wall_ns -= 3600 * TM_S;
  start(&s, f, tm_fs_real());
  end(&s, "score: Failed\n");
  f->wall_ns += 600 * TM_S;
  f->job.is_resumed = true;
  start(&s, f, tm_fs_real());
  end(&s, "score: Completed\n");
  expect_link(f, "logs/job_progress_overview.20260131-225958.txt");
  char *text = fixture_read(f, LINK);
  assert_has(text, "|step 'score' of 'digits' continues; job: ");
  assert_has(text, "score: Failed");
  assert_has(strstr(text, "score: Failed"), "score: Completed");
  free(text);
  f->wall_ns += 24 * 3600 * TM_S; /* and a different day in its own file */
  start(&s, f, tm_fs_real());
  end(&s, "score: Completed\n");
  expect_link(f, "logs/job_progress_overview.20260201-230958.txt");
}

static void the_newest_of_a_day_is_continued(void **state)
{
  struct report_fixture *f = *state;
  static const char *const names[] = { "job_progress_overview.20260131-101010.txt",
                                       "job_progress_overview.20260131-111111.txt",
                                       "job_progress_overview.20260130-222222.txt",
                                       "job_progress_overview.20260131-222222.txt.old",
                                       "job_progress_overview.20260131.txt" };
  struct session s;
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), f->logs, 0700, NULL), 0);
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    char *path = tm_path_join(f->logs, names[i]);
    assert_int_equal(tm_fs_write_file(tm_fs_real(), path, "x\n", 2, 0600, NULL), 0);
    free(path);
  }
  start(&s, f, tm_fs_real());
  end(&s, "");
  expect_link(f, "logs/job_progress_overview.20260131-111111.txt");
}

static int no_symlink(void *self, const char *target, const char *path)
{
  return -EPERM;
}

static void without_links_it_is_written_all_the_same(void **state)
{
  struct report_fixture *f = *state;
  struct tm_fs fs = *tm_fs_real();
  struct tm_event e = fixture_event(f, TM_EVENT_JOB_STARTED);
  struct tm_err err = TM_ERR_NONE;
  struct session s = { .f = f };
  fs.symlink = no_symlink;
  tm_progress_init(&s.p, "score");
  assert_true(tm_overview_open(&s.v, &fs, &e, &f->step, &err) < 0);
  assert_has(err.text, "cannot link '");
  end(&s, "score: Completed\n");
  char *text = fixture_read(f, FIRST);
  assert_has(text, "score: Completed");
  free(text);
}

/* The file of a step with one tick and this end, at a level. The caller frees it. */
static char *overview_at(struct report_fixture *f, enum tm_level level, enum tm_verdict verdict)
{
  struct session s;
  char *path = tm_path_join(f->dir, FIRST);
  (void)unlink(path);
  free(path);
  f->wall_ns = FIXTURE_WALL;
  f->step.logging_level = level;
  f->step.verdict = verdict;
  f->step.counts = (struct tm_counts) { .created = 9, .succeeded = 4, .running = 2, .timeouts = 1 };
  start(&s, f, tm_fs_real());
  s.v.day++; /* the day does not end within this test */
  pass(&s, 10 * TM_S);
  end(&s, "words\n");
  return fixture_read(f, FIRST);
}

static void the_level_decides_which_lines_are_written(void **state)
{
  struct report_fixture *f = *state;
  char *text = overview_at(f, TM_INFO, TM_COMPLETED);
  assert_int_equal(count_of(text, "|INFO|"), 4);
  assert_int_equal(count_of(text, "\n"), 4);
  free(text);
  text = overview_at(f, TM_WARNING, TM_COMPLETED);
  assert_string_equal(text, "");
  free(text);
  text = overview_at(f, TM_WARNING, TM_FAILED);
  assert_int_equal(count_of(text, "\n"), 1);
  assert_has(text, "|ERROR|");
  assert_has(text, "|supervisor|words\n");
  free(text);
  text = overview_at(f, TM_DEBUG, TM_COMPLETED);
  assert_int_equal(count_of(text, "\n"), 6);
  assert_has(text,
             "|supervisor|mini-batches: 9 created so far, 3 waiting, 2 at workers, 4 succeeded, "
             "0 failed; failed tries: 0 by an error, 1 by a timeout, 0 with their worker\n");
  free(text);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_open, fixture_close)
UNIT_TESTS({
    TEST(the_level_decides_which_lines_are_written),
    TEST(a_line_comes_every_ten_seconds),
    TEST(a_new_file_begins_with_a_day),
    TEST(a_clock_that_is_set_back_keeps_the_file),
    TEST(a_session_continues_the_file_of_its_day),
    TEST(the_newest_of_a_day_is_continued),
    TEST(without_links_it_is_written_all_the_same),
});
