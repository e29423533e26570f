/* test_worker_slots.c - lives of workers from their events, and the slots that they share. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "insight/worker_slots.h"

static void event(struct tm_workers *w, size_t session, int64_t wall_ns, const char *name,
                  const char *node, const char *what, int64_t lived_ns, const char *detail)
{
  (void)tm_workers_add_event(
      w,
      &(struct tm_life_row) { .wall_ns = wall_ns,
                              .process = name,
                              .node = node,
                              .address = "mill",
                              .pid = 7,
                              .event = what,
                              .lived_ns = lived_ns,
                              .init_ns = strcmp(what, "ready") ? 0 : 40,
                              .died =
                                  strcmp(what, "ended") == 0 && strncmp(detail, "stopped", 7) != 0,
                              .was_killed = strncmp(detail, "killed", 6) == 0,
                              .detail = detail },
      session);
}

static void expect_slots(const struct tm_workers *w, const char *expected)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < w->list.len; i++)
    tm_buf_printf(&text, "%s:%zu ", w->list.at[i].name, w->list.at[i].slot);
  assert_string_equal(tm_buf_str(&text), expected);
  tm_buf_release(&text);
}

static void successive_workers_of_a_node_share_a_slot(void **state)
{
  struct tm_workers w = { 0 };
  event(&w, 0, 100, "p0", "0", "started", 0, "");
  event(&w, 0, 100, "p1", "0", "started", 0, "");
  event(&w, 0, 100, "p2", "1", "started", 0, "");
  event(&w, 0, 200, "p0", "0", "ended", 100, "killed by signal 9 (Killed)");
  event(&w, 0, 210, "p3", "1", "started", 0, ""); /* the free slot is another node's */
  event(&w, 0, 220, "p4", "0", "started", 0, "");
  event(&w, 0, 230, "p5", "0", "started", 0, "");
  expect_slots(&w, "p0:0 p1:1 p2:2 p3:3 p4:0 p5:4 ");
  assert_int_equal(w.slots.at[0].workers, 2);
  assert_int_equal(w.slots.at[0].worker, 4);
  assert_int_equal(w.deaths, 1);
  assert_true(w.list.at[0].was_killed && w.list.at[0].has_died);
  tm_workers_release(&w);
}

static void slots_of_an_earlier_session_are_free(void **state)
{
  struct tm_workers w = { 0 };
  event(&w, 0, 100, "p0", "0", "started", 0, "");
  event(&w, 0, 100, "p1", "0", "started", 0, ""); /* the job is killed */
  event(&w, 1, 900, "p2", "0", "started", 0, "");
  event(&w, 1, 900, "p3", "0", "started", 0, "");
  event(&w, 1, 900, "p4", "0", "started", 0, "");
  expect_slots(&w, "p0:0 p1:1 p2:0 p3:1 p4:2 ");
  tm_workers_release(&w);
}

static void a_life_has_its_times(void **state)
{
  struct tm_workers w = { 0 };
  event(&w, 0, 1000, "p0", "0", "started", 0, "");
  event(&w, 0, 1300, "p0", "0", "ready", 290, "");
  event(&w, 0, 1900, "p0", "0", "ended", 880, "stopped");
  const struct tm_worker_life *l = &w.list.at[0];
  assert_int_equal(l->started_ns, 1000);
  assert_int_equal(l->ready_ns, 1300);
  assert_int_equal(l->init_ns, 40);
  assert_int_equal(l->start_ns, 250);
  assert_int_equal(tm_worker_lived_ns(l, 0), 880);
  assert_int_equal(tm_worker_until_ns(l, 0), 1900);
  assert_string_equal(l->end, "stopped");
  assert_false(l->has_died || l->was_killed);
  tm_workers_release(&w);
}

static void after_a_failed_init_nothing_was_waited_for(void **state)
{
  struct tm_workers w = { 0 };
  struct tm_worker_time time = { 0 };
  event(&w, 0, 1000, "p0", "0", "started", 0, "");
  event(&w, 0, 1300, "p0", "0", "init_failed", 300, "");
  event(&w, 0, 1900, "p0", "0", "ended", 900, "exited with status 3");
  tm_worker_time_add(&time, &w.list.at[0], 0);
  assert_int_equal(time.lived_ns, 900);
  assert_int_equal(time.init_ns, 300);
  assert_int_equal(time.start_ns, 600);
  assert_int_equal(time.wait_ns, 0);
  tm_workers_release(&w);
}

static void how_a_worker_ended(void **state)
{
  for (int i = 0; i < 4; i++) {
    struct tm_workers w = { 0 };
    struct tm_life_row end = { .wall_ns = 200,
                               .process = "p0",
                               .node = "0",
                               .address = "",
                               .event = "ended",
                               .lived_ns = 100,
                               .died = i & 1,
                               .was_killed = i & 2,
                               .detail = "killed, said it" };
    event(&w, 0, 100, "p0", "0", "started", 0, "");
    (void)tm_workers_add_event(&w, &end, 0);
    assert_int_equal(w.list.at[0].has_died, i & 1);
    assert_int_equal(w.deaths, i & 1);
    assert_int_equal(w.list.at[0].was_killed, (i & 2) != 0);
    tm_workers_release(&w);
  }
}

static void a_clock_that_was_set_back_makes_no_negative_time(void **state)
{
  struct tm_workers w = { 0 };
  event(&w, 0, 5000, "p0", "0", "started", 0, "");
  event(&w, 0, 4000, "p0", "0", "ready", 0, "");
  event(&w, 0, 4500, "p0", "0", "ended", 700, "stopped");
  assert_int_equal(w.clock_jumps, 2);
  assert_int_equal(tm_worker_lived_ns(&w.list.at[0], 0), 700);
  assert_int_equal(w.list.at[0].init_ns, 1);
  assert_int_equal(tm_worker_until_ns(&w.list.at[0], 0), 5000);
  tm_workers_release(&w);
}

static void a_worker_that_was_cut_off_lived_until_its_last_try(void **state)
{
  struct tm_workers w = { 0 };
  struct tm_try_row t = { .process = "p0", .node = "0", .begin_wall_ns = 2000, .elapsed_ns = 500 };
  event(&w, 0, 1000, "p0", "0", "started", 0, "");
  (void)tm_workers_add_try(&w, &t, &(struct tm_try_sums) { .run_ns = 400, .is_ok = true }, 0);
  assert_int_equal(tm_worker_lived_ns(&w.list.at[0], 0), 1500);
  assert_int_equal(tm_worker_lived_ns(&w.list.at[0], TM_UNSEEN_NS + 9000), 8000);
  tm_workers_release(&w);
}

static void a_try_without_events_makes_its_worker(void **state)
{
  struct tm_workers w = { 0 };
  struct tm_try_row t = { .process = "p0", .node = "0", .begin_wall_ns = 2000, .elapsed_ns = 500 },
                    never = { .process = "p1", .node = "0" };
  assert_non_null(tm_workers_add_try(&w, &t, &(struct tm_try_sums) { .is_ok = true }, 0));
  assert_null(tm_workers_add_try(&w, &never, &(struct tm_try_sums) { 0 }, 0));
  assert_int_equal(w.list.len, 1);
  assert_int_equal(w.list.at[0].started_ns, 2000);
  assert_int_equal(w.others.tries, 1);
  assert_true(tm_workers_knows(&w, "p0") && !tm_workers_knows(&w, "p1"));
  tm_workers_release(&w);
}

static void expect_time(const struct tm_worker_life *l, int64_t now_ns, const char *expected)
{
  struct tm_worker_time t = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  tm_worker_time_add(&t, l, now_ns);
  tm_buf_printf(
      &text, "lived %lld ok %lld failed %lld open %lld around %lld init %lld start %lld wait %lld",
      (long long)t.lived_ns, (long long)t.run_ok_ns, (long long)t.run_failed_ns,
      (long long)t.run_open_ns, (long long)t.around_ns, (long long)t.init_ns, (long long)t.start_ns,
      (long long)t.wait_ns);
  assert_string_equal(text.data, expected);
  assert_int_equal(t.lived_ns, t.run_ok_ns + t.run_failed_ns + t.run_open_ns + t.around_ns +
                                   t.init_ns + t.start_ns + t.wait_ns);
  tm_buf_release(&text);
}

static void the_parts_of_its_time_add_up(void **state)
{
  char name[] = "p0";
  struct tm_worker_life l = { .name = name,
                              .started_ns = 1000,
                              .ready_ns = 1100,
                              .start_ns = 30,
                              .init_ns = 70,
                              .tries = 1,
                              .run_ok_ns = 300,
                              .run_failed_ns = 50,
                              .around_ns = 20,
                              .last_ns = 1900 };
  expect_time(&l, 0, "lived 900 ok 300 failed 50 open 0 around 20 init 70 start 30 wait 430");
  expect_time(&l, TM_UNSEEN_NS + 2000,
              "lived 1000 ok 300 failed 50 open 0 around 20 init 70 start 30 wait 530");
  l.lived_ns = 360; /* clocks of two machines */
  expect_time(&l, 0, "lived 360 ok 300 failed 50 open 0 around 0 init 10 start 0 wait 0");
  expect_time(&(struct tm_worker_life) { .name = name, .started_ns = 1000 }, TM_UNSEEN_NS + 1500,
              "lived 500 ok 0 failed 0 open 0 around 0 init 0 start 500 wait 0");
}

static void add_try(struct tm_workers *w, const char *name, int64_t mini_batch, int64_t begin_ns,
                    int64_t elapsed_ns, bool is_ok)
{
  (void)tm_workers_add_try(w,
                           &(struct tm_try_row) { .mini_batch = mini_batch,
                                                  .picked = 1,
                                                  .process = name,
                                                  .node = "0",
                                                  .begin_wall_ns = begin_ns,
                                                  .elapsed_ns = elapsed_ns },
                           &(struct tm_try_sums) { .run_ns = elapsed_ns, .is_ok = is_ok }, 0);
}

static void set_running(struct tm_workers *w, int64_t mini_batch, int64_t begun_ns, int64_t now_ns)
{
  tm_workers_set_running(w, &(struct tm_running_try) { "p0", mini_batch, 1, begun_ns }, 1, now_ns);
}

#define S INT64_C(1000000000)

static void a_try_that_runs_is_time_in_run_and_not_waiting(void **state)
{
  struct tm_workers w = { 0 };
  event(&w, 0, S, "p0", "0", "started", 0, "");
  event(&w, 0, S, "p0", "0", "ready", 0, "");
  add_try(&w, "p0", 3, S, 2 * S, true);
  set_running(&w, 4, 3 * S, 13 * S);
  expect_time(&w.list.at[0], 13 * S,
              "lived 12000000000 ok 2000000000 failed 0 open 10000000000 around 0 init 0 start 0 "
              "wait 0");
  set_running(&w, 4, 3 * S, 14 * S); /* the next one replaces it */
  assert_int_equal(w.list.at[0].open.elapsed_ns, 11 * S);
  tm_workers_set_running(&w, NULL, 0, 14 * S);
  assert_int_equal(w.list.at[0].open.elapsed_ns, 0);
  expect_time(&w.list.at[0], 8 * S, /* what it does since, nobody knows */
              "lived 3000000000 ok 2000000000 failed 0 open 0 around 0 init 1 start 0 wait "
              "999999999");
  tm_workers_release(&w);
}

/* running.json is older than the tables. */
static void a_try_that_has_ended_does_not_run(void **state)
{
  struct tm_workers w = { 0 };
  event(&w, 0, S, "p0", "0", "started", 0, "");
  add_try(&w, "p0", 3, S + 700, 2 * S, true);
  set_running(&w, 3, S, 9 * S); /* begun: in ms */
  assert_int_equal(w.list.at[0].open.elapsed_ns, 0);
  add_try(&w, "p0", 5, 6 * S, S, true);
  set_running(&w, 4, 3 * S, 9 * S); /* a later one has ended since */
  assert_int_equal(w.list.at[0].open.elapsed_ns, 0);
  set_running(&w, 4, 9 * S, 9 * S - 1); /* another clock */
  assert_int_equal(w.list.at[0].open.elapsed_ns, 0);
  set_running(&w, 4, 7 * S, 9 * S);
  assert_int_equal(w.list.at[0].open.elapsed_ns, 2 * S);
  event(&w, 0, 8 * S, "p0", "0", "ended", 0, "stopped");
  set_running(&w, 4, 7 * S, 9 * S);
  assert_int_equal(w.list.at[0].open.elapsed_ns, 0);
  tm_workers_release(&w);
}

static void a_try_that_was_cut_off_is_time_in_run(void **state)
{
  struct tm_workers w = { 0 };
  event(&w, 0, S, "p0", "0", "started", 0, "");
  event(&w, 0, S, "p0", "0", "ready", 0, "");
  add_try(&w, "p0", 6, 2 * S, 7 * S, false);
  event(&w, 0, 9 * S, "p0", "0", "ended", 8 * S, "killed by the supervisor");
  expect_time(&w.list.at[0], 0,
              "lived 8000000000 ok 0 failed 0 open 7000000000 around 0 init 1 start 0 wait "
              "999999999");
  set_running(&w, 6, 2 * S, 99 * S);
  assert_false(w.list.at[0].open.runs);
  assert_int_equal(w.list.at[0].open.mini_batch, 6);
  assert_int_equal(w.list.at[0].open.elapsed_ns, 7 * S);
  tm_workers_release(&w);
}

/* Slots of nodes that alternate. */
static void a_node_has_its_first_free_slot(void **state)
{
  static const struct {
    const char *name, *node, *ends;
    size_t slot;
  } cases[] = { { "p0", "a", NULL, 0 }, { "p1", "b", NULL, 1 }, { "p2", "a", NULL, 2 },
                { "p3", "b", "p0", 3 }, { "p4", "a", "p2", 0 }, { "p5", "a", NULL, 2 },
                { "p6", "a", "p1", 4 }, { "p7", "b", NULL, 1 }, { "p8", "b", NULL, 5 } };
  struct tm_workers w = { 0 };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    event(&w, 0, 100, cases[i].name, cases[i].node, "started", 0, "");
    assert_int_equal(w.list.at[i].slot, cases[i].slot);
    if (cases[i].ends)
      event(&w, 0, 200, cases[i].ends, "", "ended", 100, "");
  }
  assert_int_equal(w.slots.len, 6);
  tm_workers_release(&w);
}

static void too_many_workers_are_counted_together(void **state)
{
  struct tm_workers w = { 0 };
  char name[32];
  for (int i = 0; i <= TM_WORKERS_NAMED; i++) {
    snprintf(name, sizeof(name), "p%d", i);
    event(&w, 0, 1000 + i, name, "0", "started", 0, "");
    event(&w, 0, 1100 + i, name, "0", "ready", 60, "");
    event(&w, 0, 1100 + i, name, "0", "ended", 100, "exited with status 1");
  }
  assert_int_equal(w.list.len, TM_WORKERS_NAMED);
  assert_int_equal(w.slots.len, 1);
  assert_int_equal(w.unnamed, 1);
  assert_int_equal(w.deaths, TM_WORKERS_NAMED + 1);
  expect_time(&w.others, 0, "lived 100 ok 0 failed 0 open 0 around 0 init 40 start 20 wait 40");
  tm_workers_release(&w);
}

static void workers_whose_names_end_alike_are_told_apart(void **state)
{
  static const char *const names[] = { "process001", "process129", "a001", "1", "process001" };
  struct tm_workers w = { 0 };
  for (size_t i = 0; i < 4; i++)
    event(&w, 0, 100, names[i], "0", "started", 0, "");
  for (size_t i = 0; i < 5; i++)
    (void)tm_workers_add_try(
        &w, &(struct tm_try_row) { .process = names[i], .node = "0", .begin_wall_ns = 200 },
        &(struct tm_try_sums) { .items = 1, .is_ok = true }, 0);
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(w.list.at[i].tries, i == 0 ? 2 : 1);
  assert_true(tm_workers_knows(&w, "a001") && !tm_workers_knows(&w, "b001"));
  tm_workers_release(&w);
}

UNIT_TESTS({
    cmocka_unit_test(workers_whose_names_end_alike_are_told_apart),
    cmocka_unit_test(successive_workers_of_a_node_share_a_slot),
    cmocka_unit_test(slots_of_an_earlier_session_are_free),
    cmocka_unit_test(a_life_has_its_times),
    cmocka_unit_test(after_a_failed_init_nothing_was_waited_for),
    cmocka_unit_test(how_a_worker_ended),
    cmocka_unit_test(a_clock_that_was_set_back_makes_no_negative_time),
    cmocka_unit_test(a_worker_that_was_cut_off_lived_until_its_last_try),
    cmocka_unit_test(a_try_without_events_makes_its_worker),
    cmocka_unit_test(the_parts_of_its_time_add_up),
    cmocka_unit_test(a_try_that_runs_is_time_in_run_and_not_waiting),
    cmocka_unit_test(a_try_that_has_ended_does_not_run),
    cmocka_unit_test(a_try_that_was_cut_off_is_time_in_run),
    cmocka_unit_test(a_node_has_its_first_free_slot),
    cmocka_unit_test(too_many_workers_are_counted_together),
});
