/* test_screen.c - what users see: one line redrawn, with messages above it; or a line now and then
 * if the output cannot be redrawn. */
#include "unit.h"

#include "report_fixture.h"

#include "record/activity.h"
#include "report/screen.h"

struct shown {
  struct report_fixture *f;
  struct tm_screen s;
};

static void start(struct shown *x, void **state, enum tm_progress_mode mode, bool has_color)
{
  struct tm_writer writer = fixture_writer(*state);
  x->f = *state;
  x->f->step.counts = (struct tm_counts) { .created = 10, .all_created = true };
  tm_screen_init(&x->s, &writer, mode, has_color);
  tm_screen_start(&x->s, &x->f->job, x->f->now_ns);
}

static void go(struct shown *x, int64_t ns, int64_t succeeded)
{
  x->f->now_ns += ns;
  x->f->step.counts.succeeded = succeeded;
  tm_buf_clear(&x->f->shown);
  tm_screen_tick(&x->s, &x->f->job, x->f->now_ns);
}

static const char *shown(const struct shown *x)
{
  return tm_buf_str(&x->f->shown);
}

static void a_bar_is_redrawn_in_place(void **state)
{
  struct shown x;
  start(&x, state, TM_PROGRESS_BAR, false);
  go(&x, 50 * TM_MS, 1);
  assert_string_equal(shown(&x), ""); /* too soon */
  go(&x, 60 * TM_MS, 2);
  assert_has(shown(&x), "\rscore [");
  assert_has(shown(&x), "\x1b[K");
  assert_has_not(shown(&x), "\n");
  go(&x, 99 * TM_MS, 3);
  assert_string_equal(shown(&x), "");
  go(&x, 1 * TM_MS, 3);
  assert_has(shown(&x), " 3 of 10 ");
  tm_screen_release(&x.s);
}

static void slow_mini_batches_are_named(void **state)
{
  struct tm_activity stuck = { .worker = "process003", .phase = TM_PHASE_INIT, .ns = 9 * TM_S };
  struct tm_activities now = { .list = { &stuck, 1, 1 }, .workers = 1, .in_init = 1 };
  struct shown x;
  for (int mode = TM_PROGRESS_PLAIN; mode <= TM_PROGRESS_BAR; mode++) {
    start(&x, state, (enum tm_progress_mode)mode, false);
    x.f->step.activities = &now;
    go(&x, 10 * TM_S, 0);
    assert_has(shown(&x), "; no worker has come out of init() for 9 s");
    x.f->step.activities = NULL;
    go(&x, 10 * TM_S, 0);
    assert_has_not(shown(&x), "init()");
    tm_screen_release(&x.s);
  }
}

static void a_terminal_that_does_not_read_misses_frames(void **state)
{
  struct shown x;
  start(&x, state, TM_PROGRESS_BAR, false);
  x.f->is_busy = true;
  go(&x, TM_S, 1);
  assert_string_equal(shown(&x), "");
  x.f->is_busy = false;
  go(&x, TM_S, 1);
  assert_has(shown(&x), "score");
  tm_screen_release(&x.s);
}

static void the_width_is_asked_for_each_time(void **state)
{
  struct shown x;
  start(&x, state, TM_PROGRESS_BAR, false);
  for (int columns = 20; columns < 120; columns += 9) {
    x.f->columns = columns;
    go(&x, TM_S, columns % 7);
    assert_in_range(x.f->shown.len, 10, (size_t)columns - 1 + strlen("\r\x1b[K"));
  }
  tm_screen_release(&x.s);
}

static void a_message_takes_the_bar_away(void **state)
{
  struct shown x;
  start(&x, state, TM_PROGRESS_BAR, false);
  go(&x, TM_S, 1);
  tm_buf_clear(&x.f->shown);
  tm_screen_say(&x.s, TM_WARNING, "two\nlines \x1b[31m");
  assert_string_equal(shown(&x), "\r\x1b[Kwarning: two\\nlines \\x1B[31m\n");
  tm_buf_clear(&x.f->shown);
  tm_screen_say(&x.s, TM_ERROR, "second");
  assert_string_equal(shown(&x), "error: second\n"); /* now there is no bar */
  go(&x, TM_S, 1);
  assert_has(shown(&x), "score"); /* and it comes back */
  tm_screen_release(&x.s);
}

static void a_text_is_shown_once(void **state)
{
  struct shown x;
  start(&x, state, TM_PROGRESS_NONE, true);
  tm_screen_say(&x.s, TM_WARNING, "a");
  tm_screen_say(&x.s, TM_WARNING, "a");
  tm_screen_say(&x.s, TM_INFO, "b");
  assert_string_equal(shown(&x), "\x1b[33mwarning: \x1b[0ma\nb\n");
  go(&x, 100 * TM_S, 1);
  assert_string_equal(shown(&x), "");
  tm_screen_release(&x.s);
}

static void plain_lines_come_every_ten_seconds(void **state)
{
  struct shown x;
  struct tm_buf text = TM_BUF_NONE;
  int lines = 0;
  start(&x, state, TM_PROGRESS_PLAIN, false);
  for (int i = 0; i < 350; i++) {
    go(&x, TM_S / 10, i % 10);
    lines += count_of(shown(&x), "\n");
    assert_has_not(shown(&x), "\x1b");
  }
  assert_int_equal(lines, 3);
  tm_buf_clear(&x.f->shown);
  tm_buf_add_str(&text, "Completed: digits\n");
  x.f->job.verdict = TM_COMPLETED;
  x.f->step.counts.succeeded = 10;
  tm_screen_end(&x.s, &x.f->job, x.f->now_ns, &text);
  assert_has(shown(&x), "score: 100% 10 of 10 mini-batches");
  assert_has(shown(&x), "so far\nCompleted: digits\n");
  tm_buf_release(&text);
  tm_screen_release(&x.s);
}

static void the_end_takes_the_bar_away(void **state)
{
  struct shown x;
  struct tm_buf text = TM_BUF_NONE;
  start(&x, state, TM_PROGRESS_BAR, true);
  go(&x, TM_S, 1);
  tm_buf_clear(&x.f->shown);
  tm_buf_add_str(&text, "Failed: digits\n");
  x.f->job.verdict = TM_FAILED;
  tm_screen_end(&x.s, &x.f->job, x.f->now_ns, &text);
  assert_string_equal(shown(&x), "\r\x1b[K\x1b[31mFailed\x1b[0m: digits\n");
  tm_buf_release(&text);
  tm_screen_release(&x.s);
}

static void without_a_writer_nothing_happens(void **state)
{
  struct report_fixture *f = *state;
  struct tm_writer none = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  struct tm_screen s;
  tm_screen_init(&s, &none, TM_PROGRESS_BAR, false);
  tm_screen_start(&s, &f->job, 0);
  tm_screen_say(&s, TM_WARNING, "a");
  tm_screen_tick(&s, &f->job, TM_S);
  tm_screen_end(&s, &f->job, TM_S, &text);
  assert_false(s.has_bar);
  tm_screen_release(&s);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(a_bar_is_redrawn_in_place, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(slow_mini_batches_are_named, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_terminal_that_does_not_read_misses_frames, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(the_width_is_asked_for_each_time, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_message_takes_the_bar_away, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_text_is_shown_once, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(plain_lines_come_every_ten_seconds, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(the_end_takes_the_bar_away, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(without_a_writer_nothing_happens, fixture_open, fixture_close),
});
