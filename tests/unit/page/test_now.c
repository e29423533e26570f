/* How far a job that runs has come. */
#include "unit.h"

#include "page/now.h"
#include "page_fixture.h"

static struct fixture f;
static struct tm_now now;

/* Runs for a minute: one worker was cut off with an earlier session, one lives, one has died. */
static struct tm_fact_step *start(void)
{
  fixture_start(&f);
  f.job.state = TM_FACT_RUNNING;
  f.job.counts = (struct tm_fact_counts) { 100, 40, 2, true, 500, 200, 10 };
  struct tm_fact_step *s = fixture_add_step(&f, "score", TM_FACT_RUNNING);
  s->counts = f.job.counts;
  s->workers_wanted = 4;
  s->rate = 2;
  tm_step_model_set_sessions(
      &f.models[0],
      (struct tm_step_session[]) { { .begin_ns = FIXTURE_BEGIN },
                                   { .begin_ns = FIXTURE_BEGIN + 10 * TM_S } },
      2);
  return s;
}

static void add_event(const char *process, double at_s, const char *event)
{
  tm_step_model_add_event(&f.models[0],
                          &(struct tm_life_row) { .wall_ns = FIXTURE_BEGIN + (int64_t)(at_s * 1e9),
                                                  .process = process,
                                                  .node = "node0",
                                                  .address = "vm",
                                                  .pid = 4711,
                                                  .event = event,
                                                  .detail = "" });
}

static void workers_of_an_earlier_session_are_gone(void **state)
{
  (void)state;
  start();
  add_event("process000", 0, "started");
  add_event("process001", 11, "started");
  add_event("process002", 11, "started");
  add_event("process002", 20, "ended");
  tm_now_of(&now, &f.page);
  assert_int_equal(now.workers, 1);
  assert_int_equal(now.wanted, 4);
  fixture_stop(&f);
}

static void the_time_left_is_that_of_the_slowest_step(void **state)
{
  (void)state;
  start(); /* 58 mini-batches are open, two a second */
  struct tm_fact_step *other = fixture_add_step(&f, "other", TM_FACT_RUNNING);
  other->counts = (struct tm_fact_counts) { 10, 0, 0, true, 10, 0, 0 };
  other->rate = 0.1;
  tm_now_of(&now, &f.page);
  assert_true(now.share > 0.419 && now.share < 0.421);
  assert_int_equal(now.left_ns, 100 * TM_S);
  other->rate = 0; /* nobody knows */
  tm_now_of(&now, &f.page);
  assert_int_equal(now.left_ns, -1);
  other->rate = 0.1;
  other->state = TM_FACT_WAITING;
  tm_now_of(&now, &f.page);
  assert_int_equal(now.left_ns, -1);
  fixture_stop(&f);
}

static void the_speed_is_that_of_the_last_seconds(void **state)
{
  (void)state;
  start();
  fixture_add_worker(&f, 0, "process000", 11, 70, "stopped");
  for (int i = 0; i < 100; i++) /* 28 items a second until the 30th second */
    fixture_add_try(&f, 0, i, "process000", 12 + i * 0.18, 0.1, "", "");
  f.job.now_ns = FIXTURE_BEGIN + 31 * TM_S;
  tm_now_of(&now, &f.page);
  assert_true(now.items_per_second > 20 && now.items_per_second < 35);
  f.job.now_ns = FIXTURE_BEGIN + 60 * TM_S;
  tm_now_of(&now, &f.page);
  assert_true(now.items_per_second > -0.5 && now.items_per_second < 0.5);
  fixture_stop(&f);
}

static void an_old_sample_says_nothing_about_now(void **state)
{
  (void)state;
  start();
  add_event("process001", 11, "started");
  struct tm_node_sample sample = { .wall_ns = FIXTURE_BEGIN + 20 * TM_S,
                                   .cpu_percent = 92,
                                   .memory_total = INT64_C(64) << 30,
                                   .memory_used = INT64_C(1) << 30,
                                   .disk_read = -1,
                                   .disk_written = -1,
                                   .network_sent = -1,
                                   .network_received = -1 };
  tm_step_model_add_sample(&f.models[0], "node0", &sample);
  tm_now_of(&now, &f.page);
  assert_true(now.cpu_percent > 91.9 && now.cpu_percent < 92.1);
  assert_int_equal(now.workers_rss, -1);
  f.job.now_ns = FIXTURE_BEGIN + 600 * TM_S;
  tm_now_of(&now, &f.page);
  assert_true(now.cpu_percent < 0);
  fixture_stop(&f);
}

static void a_page_has_a_bar_and_what_remains(void **state)
{
  (void)state;
  start();
  const char *text = fixture_section(&f, "figures");
  const char *words[] = {
    "aria-label=\"42 % of the mini-batches have ended\"",
    "<b>42 %</b> 42 of 100 mini-batches · 29.0 s left · 6.00 s so far",
    "<dt>remaining mini-batches</dt> <dd class='v'>58</dd> <dd>290 items</dd>",
    "<dt>failed items</dt> <dd class='v'>10</dd>", "0 of 4"
  };
  for (size_t i = 0; i < TM_COUNT_OF(words); i++)
    if (!strstr(text, words[i]))
      fail_msg("'%s' is missing in: %s", words[i], text);
  fixture_stop(&f);
}

UNIT_TESTS({
    cmocka_unit_test(workers_of_an_earlier_session_are_gone),
    cmocka_unit_test(the_time_left_is_that_of_the_slowest_step),
    cmocka_unit_test(the_speed_is_that_of_the_last_seconds),
    cmocka_unit_test(an_old_sample_says_nothing_about_now),
    cmocka_unit_test(a_page_has_a_bar_and_what_remains),
});
