/* test_activity.c - which activity counts as slow, which one is named, and the message. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "record/activity.h"

static struct tm_activity *add(struct tm_activities *a, int worker, enum tm_phase phase, int64_t ns)
{
  struct tm_activity *one = TM_ARRAY_ADD(&a->list);
  *one = (struct tm_activity) { .pid = 4711, .phase = phase, .ns = ns };
  snprintf(one->worker, sizeof(one->worker), "process%03d", worker);
  return one;
}

static struct tm_activity *add_mini_batch(struct tm_activities *a, int worker, enum tm_phase phase,
                                          int64_t ns, uint64_t index)
{
  struct tm_activity *one = add(a, worker, phase, ns);
  one->seq = 3;
  one->index = index;
  one->try = 2;
  one->first_item = tm_xstrdup("/data/a\nb.csv");
  return one;
}

static const char *slow_short(const struct tm_activities *a)
{
  static char text[200];
  struct tm_slow slow = tm_activities_slow(a);
  struct tm_buf b = TM_BUF_NONE;
  tm_slow_add_short(&b, &slow);
  snprintf(text, sizeof(text), "%s", tm_buf_str(&b));
  tm_buf_release(&b);
  return text;
}

static const char *slow_line(const struct tm_activities *a)
{
  static char text[500];
  struct tm_slow slow = tm_activities_slow(a);
  struct tm_buf b = TM_BUF_NONE;
  tm_slow_add(&b, &slow, a);
  snprintf(text, sizeof(text), "%s", tm_buf_str(&b));
  tm_buf_release(&b);
  return text;
}

static void quick_mini_batches_are_not_named(void **state)
{
  struct tm_activities a = { .workers = 2 };
  assert_string_equal(slow_short(&a), "");
  struct tm_activity *one = add_mini_batch(&a, 3, TM_PHASE_RUN, 5 * TM_S - 1, 7);
  assert_string_equal(slow_short(&a), "");
  assert_string_equal(slow_line(&a), "");
  one->ns = 5 * TM_S;
  assert_string_equal(slow_short(&a), "process003: mini-batch 7 for 5 s");
  tm_activities_release(&a);
}

static void a_mini_batch_is_slow_beside_others(void **state)
{
  struct tm_activities a = { .workers = 2, .typical_ns = 20 * TM_S };
  struct tm_activity *one = add_mini_batch(&a, 3, TM_PHASE_RUN, 59 * TM_S, 7);
  assert_string_equal(slow_short(&a), "");
  one->ns = 60 * TM_S;
  assert_string_equal(slow_short(&a), "process003: mini-batch 7 for 1 min 00 s");
  tm_activities_clear(&a);
  add(&a, 4, TM_PHASE_SHUTDOWN, 6 * TM_S); /* mini-batches tell nothing about a shutdown() */
  assert_string_equal(slow_short(&a), "process004: in shutdown() for 6 s");
  tm_activities_release(&a);
}

static void of_many_the_longest_is_named(void **state)
{
  struct tm_activities a = { .workers = 5 };
  add_mini_batch(&a, 0, TM_PHASE_RUN, 4 * TM_S, 1);
  add_mini_batch(&a, 1, TM_PHASE_RUN, 9 * TM_S, 2);
  add_mini_batch(&a, 2, TM_PHASE_LOAD, 41 * TM_S + 900 * TM_MS, 3);
  add(&a, 3, TM_PHASE_RECOVER, 9 * TM_S);
  tm_activities_sort(&a);
  assert_string_equal(slow_short(&a), "process002: mini-batch 3 for 41 s (2 more)");
  assert_string_equal(slow_line(&a),
                      "process002: mini-batch 3, try 2, for 41 s loading it, first item "
                      "'/data/a\\nb.csv' (2 more workers are slow)");
  assert_string_equal(a.list.at[1].worker, "process001"); /* equally long: by name */
  assert_string_equal(a.list.at[2].worker, "process003");
  tm_activities_release(&a);
}

static void a_line_has_part_phase_and_stop(void **state)
{
  struct tm_activities a = { .workers = 5 };
  struct tm_activity *one = add_mini_batch(&a, 0, TM_PHASE_RUN, 8 * TM_S, 1);
  one->part_first = 3;
  one->part_last = 4;
  one->is_stopped = true;
  assert_string_equal(slow_line(&a),
                      "process000: mini-batch 1, items 3 to 4, try 2, for 8 s in run(), stopped by "
                      "SIGSTOP, first item '/data/a\\nb.csv'");
  one->phase = TM_PHASE_IDLE; /* not reported yet */
  one->is_stopped = false;
  one->is_waiting = true;
  assert_string_equal(slow_line(&a),
                      "process000: mini-batch 1, items 3 to 4, try 2, for 8 s, waiting for another "
                      "worker, first item '/data/a\\nb.csv'");
  one->is_waiting = false;
  one->part_first = one->part_last = 0;
  assert_string_equal(slow_line(&a), "process000: mini-batch 1, try 2, for 8 s, first item "
                                     "'/data/a\\nb.csv'");
  tm_activities_release(&a);
}

static void workers_that_are_all_in_init_are_one_thing(void **state)
{
  struct tm_activities a = { .workers = 2, .in_init = 2, .script = "s.lua" };
  add(&a, 0, TM_PHASE_INIT, 25 * TM_S);
  add(&a, 1, TM_PHASE_INIT, 25 * TM_S);
  assert_string_equal(slow_short(&a), "no worker has come out of init() for 25 s");
  assert_string_equal(slow_line(&a), "no worker has come out of init() for 25 s (init_timeout is "
                                     "not set; s.lua)");
  a.init_timeout_ns = 90 * TM_S;
  assert_string_equal(slow_line(&a), "no worker has come out of init() for 25 s (init_timeout is "
                                     "90 s; s.lua)");
  a.workers = 3; /* one is reported */
  assert_string_equal(slow_short(&a), "process000: in init() for 25 s (1 more)");
  tm_activities_release(&a);
}

static void a_step_that_is_given_up_names_a_few(void **state)
{
  struct tm_activities a = { .workers = 5 };
  struct tm_buf b = TM_BUF_NONE;
  tm_activities_add_stuck(&b, &a);
  assert_string_equal(tm_buf_str(&b), "");
  for (int i = 0; i < 5; i++)
    add(&a, i, TM_PHASE_INIT, (2 - i / 4) * TM_S);
  tm_activities_sort(&a);
  tm_activities_add_stuck(&b, &a);
  assert_string_equal(tm_buf_str(&b),
                      "process000: in init() for 2 s; process001: in init() for 2 s; "
                      "process002: in init() for 2 s; and 2 more");
  tm_buf_release(&b);
  tm_activities_release(&a);
}

static void a_begun_one_has_its_time_of_begin(void **state)
{
  struct tm_activities a = { .workers = 5 };
  struct tm_buf b = TM_BUF_NONE;
  int64_t now_ns = INT64_C(1769903998) * TM_S + 123 * TM_MS;
  tm_activity_add_begun(&b, add_mini_batch(&a, 0, TM_PHASE_RUN, 1500 * TM_MS, 7), now_ns);
  assert_string_equal(tm_buf_str(&b),
                      "mini-batch 7, try 2: begun 2026-01-31 23:59:56,623, in run(), "
                      "first item '/data/a\nb.csv'");
  tm_buf_clear(&b);
  tm_activity_add_begun(&b, add(&a, 0, TM_PHASE_INIT, 1500 * TM_MS), now_ns);
  assert_string_equal(tm_buf_str(&b), "in init() since 2026-01-31 23:59:56,623");
  tm_buf_release(&b);
  tm_activities_release(&a);
}

static void json_brings_it_back(void **state)
{
  struct tm_activities a = { .workers = 5 };
  struct tm_activity back, *one = add_mini_batch(&a, 3, TM_PHASE_RETURN, 41500 * TM_MS, 7);
  struct tm_buf text = TM_BUF_NONE, again = TM_BUF_NONE;
  one->part_first = 3;
  one->part_last = 4;
  one->begun_wall_ns = 1700000000123 * TM_MS;
  one->is_waiting = true;
  for (int i = 0; i < 3; i++) {
    struct tm_json *v = tm_activity_to_json(one);
    tm_buf_clear(&text);
    tm_buf_clear(&again);
    assert_true(tm_activity_from_json(&back, v));
    tm_activity_add(&text, one);
    tm_activity_add(&again, &back);
    assert_string_equal(tm_buf_str(&again), tm_buf_str(&text));
    assert_int_equal(back.ns, one->ns);
    assert_int_equal(back.begun_wall_ns, one->begun_wall_ns);
    assert_int_equal(back.phase, one->phase);
    assert_int_equal(back.pid, 4711);
    free(back.first_item);
    tm_json_free(v);
    if (i == 0)
      one->phase = TM_PHASE_IDLE;
    else
      one = add(&a, 4, TM_PHASE_INIT, 2 * TM_S);
  }
  tm_buf_release(&text);
  tm_buf_release(&again);
  tm_activities_release(&a);
}

static void an_invalid_one_is_refused(void **state)
{
  static const char *const bad[] = {
    "{}",
    "[]",
    "7",
    "{\"worker\": \"process000\"}",
    "{\"worker\": 7, \"seconds\": 1}",
    "{\"worker\": \"\", \"seconds\": 1}",
    "{\"worker\": \"a name of a worker that is too long\", \"seconds\": 1}",
    "{\"worker\": \"process000\", \"seconds\": -1}",
    "{\"worker\": \"process000\", \"seconds\": 1e300}",
    "{\"worker\": \"process000\", \"seconds\": 1, \"mini_batch\": -2}",
    "{\"worker\": \"process000\", \"seconds\": 1, \"mini_batch\": 1, \"try\": 0}",
    "{\"worker\": \"process000\", \"seconds\": 1, \"mini_batch\": 1, \"try\": 99999999999}",
  };
  struct tm_activity out;
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++) {
    struct tm_json *v = tm_json_parse(bad[i], strlen(bad[i]), NULL);
    assert_non_null(v);
    if (tm_activity_from_json(&out, v))
      fail_msg("taken: %s", bad[i]);
    tm_json_free(v);
  }
  static const char odd[] =
      "{\"worker\": \"process000\", \"seconds\": 1, \"mini_batch\": 1, \"try\": 1,"
      " \"phase\": \"dance\", \"items\": [\"a\", -7], \"first_item\": 7}";
  struct tm_json *v = tm_json_parse(odd, strlen(odd), NULL);
  assert_true(tm_activity_from_json(&out, v));
  assert_int_equal(out.phase, TM_PHASE_IDLE);
  assert_int_equal(out.part_first, 0);
  assert_null(out.first_item);
  tm_json_free(v);
}

UNIT_TESTS({
    cmocka_unit_test(quick_mini_batches_are_not_named),
    cmocka_unit_test(a_mini_batch_is_slow_beside_others),
    cmocka_unit_test(of_many_the_longest_is_named),
    cmocka_unit_test(a_line_has_part_phase_and_stop),
    cmocka_unit_test(workers_that_are_all_in_init_are_one_thing),
    cmocka_unit_test(a_step_that_is_given_up_names_a_few),
    cmocka_unit_test(a_begun_one_has_its_time_of_begin),
    cmocka_unit_test(json_brings_it_back),
    cmocka_unit_test(an_invalid_one_is_refused),
});
