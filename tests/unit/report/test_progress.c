/* test_progress.c - the progress of a job: what the bar shows at each width, what it does not
 * claim, and the speed. */
#include "unit.h"

#include "report_fixture.h"

#include "record/activity.h"
#include "report/progress.h"

/* Two samples, ten seconds apart. */
static void prepare(struct tm_progress *p, const struct tm_counts *then,
                    const struct tm_counts *now)
{
  tm_progress_init(p, "score");
  tm_progress_sample(p, then, 5 * TM_S);
  tm_progress_sample(p, now, 15 * TM_S);
}

static const struct tm_counts nothing = { .created = 10 };
static const struct tm_counts half = { .created = 1000,
                                       .all_created = true,
                                       .succeeded = 448,
                                       .failed = 2,
                                       .items = 4500,
                                       .items_succeeded = 4497,
                                       .items_failed = 3 };

static const char *bar(struct tm_buf *b, const struct tm_progress *p, int width)
{
  tm_buf_clear(b);
  tm_progress_add_bar(b, p, width);
  return tm_buf_str(b);
}

static void the_bar_shows_as_much_as_fits(void **state)
{
  struct tm_progress p;
  struct tm_buf b = TM_BUF_NONE;
  prepare(&p, &nothing, &half);
  assert_string_equal(
      bar(&b, &p, 90),
      "score [========>         ] 45% 450/1,000, 4,500 items, 3 failed, 450/s, 13 s left");
  assert_string_equal(bar(&b, &p, 120),
                      "score [==========>             ] 45% 450 of 1,000 mini-batches, "
                      "4,500 items, 3 failed, 450/s, 13 s left");
  assert_string_equal(bar(&b, &p, 60), "score 45% 450/1,000, 4,500 items, 3 failed, 13 s left");
  assert_string_equal(bar(&b, &p, 50), "45% 450/1,000, 4,500 items, 3 failed, 13 s left");
  assert_string_equal(bar(&b, &p, 40), "45% 450/1,000, 4,500 items, 3 failed");
  assert_string_equal(bar(&b, &p, 30), "45% 450/1,000, 3 failed");
  assert_string_equal(bar(&b, &p, 20), "45% 450/1,000, 3 fai");
  tm_buf_release(&b);
}

static void nodes_are_shown_where_there_is_room(void **state)
{
  const struct tm_nodes_now nodes = { .ready = 2, .all = 8, .waiting = 6, .reason = "Resources" };
  struct tm_progress p;
  struct tm_buf b = TM_BUF_NONE;
  prepare(&p, &nothing, &half);
  tm_progress_set_nodes(&p, &nodes);
  assert_string_equal(
      bar(&b, &p, 160),
      "score [==============>                 ] 45% 450 of 1,000 mini-batches, "
      "4,500 items, 3 failed, 450/s, 13 s left; 2 of 8 nodes, 6 waiting: Resources");
  assert_string_equal(bar(&b, &p, 100), "score 45% 450/1,000, 4,500 items, 3 failed, 13 s left; "
                                        "2 of 8 nodes, 6 waiting: Resources");
  assert_string_equal(bar(&b, &p, 70), "score 45% 450/1,000, 4,500 items, 3 failed, 13 s left");
  tm_buf_clear(&b);
  tm_progress_add_line(&b, &p);
  assert_has(b.data, " so far; 2 of 8 nodes, 6 waiting: Resources");
  tm_buf_clear(&b);
  tm_progress_add_overview(&b, &p);
  assert_has(b.data, " left; 2 of 8 nodes, 6 waiting: Resources");
  tm_progress_set_nodes(&p, NULL);
  tm_buf_clear(&b);
  tm_progress_add_line(&b, &p);
  assert_has_not(b.data, "nodes");
  tm_buf_release(&b);
}

static struct tm_activity stuck = { .worker = "process003",
                                    .pid = 4711,
                                    .phase = TM_PHASE_RUN,
                                    .ns = 41 * TM_S,
                                    .seq = 9,
                                    .index = 7,
                                    .try = 1,
                                    .first_item = (char *)"/data/a.pgm" };

static void slow_mini_batches_stay_if_room_is_short(void **state)
{
  struct report_fixture *f = *state;
  struct tm_activities now = { .list = { &stuck, 1, 1 }, .workers = 2 };
  struct tm_progress p;
  struct tm_buf b = TM_BUF_NONE;
  prepare(&p, &nothing, &half);
  f->step.activities = &now;
  tm_progress_set_slow(&p, f->steps, 1);
  assert_string_equal(bar(&b, &p, 130),
                      "score [===========>              ] 45% 450/1,000, 4,500 items, 3 failed, "
                      "450/s, 13 s left; process003: mini-batch 7 for 41 s");
  assert_string_equal(bar(&b, &p, 79), "score 45% 450/1,000, 3 failed, 13 s left; process003: "
                                       "mini-batch 7 for 41 s");
  assert_string_equal(bar(&b, &p, 59),
                      "45% 450/1,000, 3 failed; process003: mini-batch 7 for 41 s");
  assert_string_equal(bar(&b, &p, 50), "45% 450/1,000, 4,500 items, 3 failed, 13 s left");
  tm_buf_clear(&b);
  tm_progress_add_line(&b, &p);
  assert_string_equal(b.data, "score: 45% 450 of 1,000 mini-batches, 4,500 items, 3 failed, 13 s "
                              "left, 450 items/s, 10.0 s so far; process003: mini-batch 7, try 1, "
                              "for 41 s in run(), first item '/data/a.pgm'");
  tm_buf_clear(&b);
  tm_progress_add_overview(&b, &p);
  assert_has(b.data, "; process003: mini-batch 7, try 1, for 41 s in run(), first item");
  f->step.verdict = TM_COMPLETED; /* an ended step has no slow try */
  tm_progress_set_slow(&p, f->steps, 1);
  assert_has_not(bar(&b, &p, 130), "process003");
  tm_buf_release(&b);
}

static void of_several_steps_the_slowest_is_named(void **state)
{
  struct report_fixture *f = *state;
  struct tm_activity longer = stuck;
  struct tm_activities now = { .list = { &stuck, 1, 1 } },
                       other_now = { .list = { &longer, 1, 1 } };
  struct tm_step_view other = { .name = "other", .activities = &other_now };
  struct tm_progress p;
  longer.ns = 50 * TM_S;
  longer.index = 8;
  prepare(&p, &nothing, &half);
  f->step.activities = &now;
  f->steps[1] = &other;
  tm_progress_set_slow(&p, f->steps, 2);
  assert_string_equal(p.slow_short, "process003: mini-batch 8 for 50 s");
  assert_has(p.slow, "step 'other': process003: mini-batch 8, try 1, for 50 s");
  f->steps[1] = NULL;
  tm_progress_set_slow(&p, f->steps, 2);
  assert_has(p.slow, "step 'score': process003: mini-batch 7");
}

static void no_bar_is_wider_than_the_terminal(void **state)
{
  struct tm_counts large = { .created = INT64_MAX / 200,
                             .succeeded = INT64_MAX / 300,
                             .items = INT64_MAX / 4,
                             .items_failed = INT64_MAX / 5 };
  struct tm_progress p;
  struct tm_buf b = TM_BUF_NONE;
  for (int all = 0; all < 2; all++) {
    large.all_created = all == 1;
    prepare(&p, &nothing, &large);
    for (int width = 0; width <= 200; width++) {
      bar(&b, &p, width);
      assert_true(b.len <= (size_t)width);
      assert_int_equal(strlen(tm_buf_str(&b)), b.len);
      if (width >= 20)
        assert_true(b.len >= 15);
    }
  }
  tm_buf_release(&b);
}

static void an_unknown_total_is_not_guessed(void **state)
{
  struct tm_counts open = half;
  struct tm_progress p;
  struct tm_buf b = TM_BUF_NONE;
  open.all_created = false;
  prepare(&p, &nothing, &open);
  assert_int_equal(tm_progress_left(&p), -1);
  assert_string_equal(bar(&b, &p, 100),
                      "score 450 of 1,000 or more mini-batches, 4,500 items, 3 failed, 450/s");
  tm_buf_clear(&b);
  tm_progress_add_line(&b, &p);
  assert_string_equal(b.data, "score: 450 of 1,000 or more mini-batches, 4,500 items, 3 failed, "
                              "450 items/s, 10.0 s so far");
  tm_buf_clear(&b);
  open = (struct tm_counts) { 0 };
  prepare(&p, &nothing, &open);
  tm_progress_add_line(&b, &p);
  assert_has(b.data, "score: no mini-batches yet, 0 items");
  tm_buf_clear(&b);
  open.created = 1;
  prepare(&p, &nothing, &open);
  tm_progress_add_line(&b, &p);
  assert_has(b.data, "score: 0 of 1 or more mini-batches, 0 items");
  tm_buf_release(&b);
}

static void the_line_says_all(void **state)
{
  struct tm_progress p;
  struct tm_buf b = TM_BUF_NONE;
  prepare(&p, &nothing, &half);
  tm_progress_add_line(&b, &p);
  assert_string_equal(b.data, "score: 45% 450 of 1,000 mini-batches, 4,500 items, 3 failed, 13 s "
                              "left, 450 items/s, 10.0 s so far");
  tm_buf_release(&b);
}

static void nothing_is_left_at_the_end(void **state)
{
  struct tm_counts all = half;
  struct tm_progress p;
  struct tm_buf b = TM_BUF_NONE;
  all.succeeded = 998;
  prepare(&p, &nothing, &all);
  assert_int_equal(tm_progress_left(&p), -1);
  assert_has(bar(&b, &p, 120), "[========================] 100% 1,000 of 1,000");
  tm_buf_release(&b);
}

static void earlier_results_do_not_count_as_speed(void **state)
{
  struct tm_counts more = half;
  struct tm_progress p;
  more.succeeded += 10;
  more.items += 100;
  prepare(&p, &half, &half);
  assert_true(tm_progress_speed(&p) == 0);
  assert_int_equal(tm_progress_left(&p), -1);
  prepare(&p, &half, &more);
  assert_true(tm_progress_speed(&p) == 1.0);
  assert_true(tm_progress_item_speed(&p) == 10.0);
  assert_int_equal(tm_progress_left(&p), 540 * TM_S);
}

static void the_speed_is_that_of_late(void **state)
{
  struct tm_counts c = { .created = 1000000, .all_created = true };
  struct tm_progress p;
  tm_progress_init(&p, "score");
  for (int second = 0; second < 100; second++) { /* 1000 a second, then 10 */
    tm_progress_sample(&p, &c, second * TM_S);
    c.succeeded += second < 50 ? 1000 : 10;
  }
  assert_in_range((int)(tm_progress_speed(&p) + 0.5), 10, 10);
}

static void mini_batches_that_take_long_have_a_speed_all_the_same(void **state)
{
  struct tm_counts c = { .created = 100, .all_created = true };
  struct tm_progress p;
  tm_progress_init(&p, "score");
  for (int second = 0; second <= 300; second++) { /* one per 30 s: in most windows none ends */
    c.succeeded = second / 30;
    c.items = c.succeeded * 5;
    tm_progress_sample(&p, &c, second * TM_S);
    if (second >= 60) {
      assert_true(tm_progress_speed(&p) > 0.02 && tm_progress_speed(&p) < 0.035);
      assert_true(tm_progress_left(&p) > 2000 * TM_S && tm_progress_left(&p) < 5000 * TM_S);
    }
  }
  assert_true(tm_progress_item_speed(&p) == 50.0 / 300);
}

static void a_job_that_stalls_has_no_speed(void **state)
{
  struct tm_counts c = { .created = 1000000, .all_created = true };
  struct tm_progress p;
  tm_progress_init(&p, "score");
  for (int second = 0; second < 60; second++) {
    tm_progress_sample(&p, &c, second * TM_S);
    c.succeeded += second < 30 ? 1000 : 0;
  }
  assert_true(tm_progress_speed(&p) == 0);
  assert_int_equal(tm_progress_left(&p), -1);
}

static void the_overview_shows_all_known_figures(void **state)
{
  struct tm_counts c = half;
  struct tm_progress p;
  struct tm_buf b = TM_BUF_NONE;
  c.running = 3;
  c.returned = 4497;
  prepare(&p, &nothing, &c);
  tm_progress_add_overview(&b, &p);
  assert_string_equal(b.data,
                      "1,000 mini-batches created, 450 processed (448 succeeded, 2 failed), "
                      "3 running; 4,500 items, 3 failed; output: 4,497 rows; 10.0 s so far, "
                      "13 s left");
  c.all_created = false;
  prepare(&p, &nothing, &c);
  tm_buf_clear(&b);
  tm_progress_add_overview(&b, &p);
  assert_has(b.data, "1,000 mini-batches created so far, ");
  assert_has(b.data, ", time left unknown");
  tm_buf_release(&b);
}

static void steps_are_summed(void **state)
{
  struct report_fixture *f = *state;
  struct tm_step_view other = { .name = "other",
                                .counts = { .created = 3, .succeeded = 1, .all_created = true } };
  struct tm_counts sum;
  f->step.counts = half;
  assert_string_equal(tm_progress_sum(&sum, &f->job), "score");
  assert_int_equal(sum.created, 1000);
  assert_true(sum.all_created);
  f->steps[1] = &other;
  f->job.steps_len = 2;
  assert_string_equal(tm_progress_sum(&sum, &f->job), "digits");
  assert_int_equal(sum.created, 1003);
  assert_int_equal(sum.succeeded, 449);
  assert_true(sum.all_created);
  f->steps[1] = NULL; /* not opened */
  (void)tm_progress_sum(&sum, &f->job);
  assert_int_equal(sum.created, 1000);
  assert_false(sum.all_created);
}

UNIT_TESTS({
    cmocka_unit_test(the_bar_shows_as_much_as_fits),
    cmocka_unit_test(nodes_are_shown_where_there_is_room),
    cmocka_unit_test(no_bar_is_wider_than_the_terminal),
    cmocka_unit_test(an_unknown_total_is_not_guessed),
    cmocka_unit_test(the_line_says_all),
    cmocka_unit_test(nothing_is_left_at_the_end),
    cmocka_unit_test(earlier_results_do_not_count_as_speed),
    cmocka_unit_test(the_speed_is_that_of_late),
    cmocka_unit_test(mini_batches_that_take_long_have_a_speed_all_the_same),
    cmocka_unit_test(a_job_that_stalls_has_no_speed),
    cmocka_unit_test(the_overview_shows_all_known_figures),
    cmocka_unit_test_setup_teardown(steps_are_summed, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(slow_mini_batches_stay_if_room_is_short, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(of_several_steps_the_slowest_is_named, fixture_open,
                                    fixture_close),
});
