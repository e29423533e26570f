/* test_time_rules.c - the scheduler fails a step because time passes, on a clock that the test
 * sets. The rules themselves: test_progress_timeout.c, test_init_rules.c. */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "sched/sched.h"

#define NO_ACTION -1

struct fixture {
  struct tm_sched s;
  struct tm_counts counts;
  int64_t now_ns;
};

static void tell(struct fixture *f, const struct tm_sched_event *e)
{
  assert_true(tm_sched_event(&f->s, e, f->now_ns));
}

static void tell_worker(struct fixture *f, enum tm_sched_event_kind kind, uint32_t worker)
{
  tell(f, &(struct tm_sched_event) { .kind = kind, .worker = worker });
}

/* The kind of the first action, besides those that start and hand out. */
static int first_action(struct fixture *f)
{
  struct tm_sched_action a;
  int found = NO_ACTION;

  while (tm_sched_next(&f->s, &a))
    if (found == NO_ACTION && a.kind != TM_SCHED_START && a.kind != TM_SCHED_SETUP &&
        a.kind != TM_SCHED_HAND)
      found = (int)a.kind;
  return found;
}

/* Ten looks a second, until one of them decides something. */
static int pass(struct fixture *f, int64_t seconds)
{
  for (int64_t i = 0; i < seconds * 10; i++) {
    f->now_ns += 100 * TM_MS;
    tell(f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TIME, .counts = &f->counts });
    int action = first_action(f);
    if (action != NO_ACTION)
      return action;
  }
  return NO_ACTION;
}

static bool is_over(void *data, uint64_t index)
{
  return false;
}

static void begin(struct fixture *f, const struct tm_time_limits *limits)
{
  struct tm_sched_options o = {
    .run_max_try = 1, .window_max = 16, .retry_delay_ns = -1, .time = *limits, .is_over = is_over
  };

  memset(f, 0, sizeof *f);
  f->now_ns = 1000 * TM_S;
  tm_sched_init(&f->s, &o, 0);
  tell(f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_BEGIN });
  tell(f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_NODE, .slots = limits->workers });
  tell(f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_CREATED, .count = 100 });
  tell(f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TURN });
  f->counts.created = 100;
}

static void load(struct fixture *f, uint32_t worker)
{
  tell_worker(f, TM_SCHED_ON_STARTED, worker);
  tell_worker(f, TM_SCHED_ON_LOADED, worker);
  tell(f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TURN });
}

static const struct tm_time_limits usual = {
  .first_ns = 60 * TM_S, .update_ns = 300 * TM_S, .workers = 2, .run_timeout_ns = 10 * TM_S
};

static void a_step_without_progress_fails(void **state)
{
  struct fixture f;

  begin(&f, &usual);
  load(&f, 0);
  tell_worker(&f, TM_SCHED_ON_READY, 0);
  assert_int_equal(pass(&f, 299), NO_ACTION);
  f.counts.succeeded++;
  assert_int_equal(pass(&f, 299), NO_ACTION);
  assert_int_equal(pass(&f, 2), TM_SCHED_NO_PROGRESS);
  assert_int_equal(f.s.time.why.code, TM_ETHRESHOLD);
  assert_non_null(strstr(f.s.time.why.text, "progress_update_timeout (300 s)"));
  tm_sched_release(&f.s);
}

static void a_step_that_lists_nothing_fails(void **state)
{
  struct fixture f;

  begin(&f, &usual);
  f.counts.created = 0;
  assert_int_equal(pass(&f, 61), TM_SCHED_NO_PROGRESS);
  assert_non_null(strstr(f.s.time.why.text, "first_task_creation_timeout (60 s)"));
  tm_sched_release(&f.s);
}

static void time_counts_from_the_begin_and_only_while_awake(void **state)
{
  struct fixture f;

  begin(&f, &usual);
  f.counts.created = 0;
  assert_int_equal(pass(&f, 50), NO_ACTION);
  f.now_ns += 3600 * TM_S; /* stopped: counts as one second */
  assert_int_equal(pass(&f, 8), NO_ACTION);
  tell(&f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_BEGIN });
  assert_int_equal(pass(&f, 59), NO_ACTION);
  assert_int_equal(pass(&f, 2), TM_SCHED_NO_PROGRESS);
  tm_sched_release(&f.s);
}

static void workers_that_are_all_in_init_are_stuck(void **state)
{
  struct fixture f;

  begin(&f, &usual); /* 3 * run_invocation_timeout + 30 s: 60 s */
  load(&f, 0);
  assert_int_equal(pass(&f, 30), NO_ACTION);
  load(&f, 1);
  assert_int_equal(tm_sched_in_init(&f.s), 2);
  assert_int_equal(pass(&f, 31), TM_SCHED_INIT_STUCK);
  assert_non_null(strstr(f.s.time.why.text, "every living worker (there are 2)"));
  tm_sched_release(&f.s);
}

static void a_ready_worker_keeps_the_step_alive(void **state)
{
  struct fixture f;

  begin(&f, &usual);
  load(&f, 0);
  load(&f, 1);
  tell_worker(&f, TM_SCHED_ON_READY, 1);
  assert_int_equal(tm_sched_in_init(&f.s), 1);
  assert_int_equal(pass(&f, 200), NO_ACTION);
  tm_sched_release(&f.s);
}

/* Each worker is replaced while it loads the script. */
static void fail_inits(struct fixture *f, uint32_t first, uint32_t n)
{
  for (uint32_t i = first; i < first + n; i++) {
    tell_worker(f, TM_SCHED_ON_STARTED, i);
    tell_worker(f, TM_SCHED_ON_ENDED, i);
    f->now_ns += 60 * TM_S; /* for the slot; counts as one second */
    tell(f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TURN });
  }
}

static void failures_of_init_count_unless_one_has_succeeded(void **state)
{
  struct tm_time_limits one = usual;
  struct fixture f;

  one.workers = 1;
  begin(&f, &one);
  fail_inits(&f, 0, 2);
  assert_int_equal(f.s.time.init.failures, 2);
  assert_int_equal(pass(&f, 118), NO_ACTION);
  assert_int_equal(pass(&f, 3), TM_SCHED_INIT_FAILS);
  assert_non_null(strstr(f.s.time.why.text, "init() has failed 2 times"));
  tm_sched_release(&f.s);

  begin(&f, &one);
  load(&f, 0);
  tell_worker(&f, TM_SCHED_ON_READY, 0);
  tell_worker(&f, TM_SCHED_ON_ENDED, 0);
  f.now_ns += 60 * TM_S;
  tell(&f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TURN });
  fail_inits(&f, 1, 2);
  assert_int_equal(f.s.time.init.failures, 2);
  assert_int_equal(pass(&f, 200), NO_ACTION);
  tm_sched_release(&f.s);
}

static void a_lost_node_is_not_a_failure_of_init(void **state)
{
  struct fixture f;

  begin(&f, &usual);
  tell_worker(&f, TM_SCHED_ON_STARTED, 0);
  tell(&f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_LOST });
  assert_int_equal(f.s.time.init.failures, 0);
  assert_int_equal(tm_sched_in_init(&f.s), 0);
  tm_sched_release(&f.s);
}

/* Ten times a second somebody also asks for the time, as a step does. */
static void pass_without_node(struct fixture *f, int64_t seconds)
{
  for (int64_t i = 0; i < seconds * 10; i++) {
    f->now_ns += 100 * TM_MS;
    tell(f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TIME, .counts = &f->counts });
    (void)tm_sched_awake_ns(&f->s, f->now_ns);
    assert_int_equal(first_action(f), NO_ACTION);
  }
}

static void tell_node(struct fixture *f, enum tm_sched_event_kind kind)
{
  tell(f, &(struct tm_sched_event) { .kind = kind, .slots = 2 });
  tell(f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TURN });
}

static void time_stands_still_while_there_is_no_node(void **state)
{
  struct fixture f;

  begin(&f, &usual);
  assert_int_equal(pass(&f, 200), NO_ACTION);
  tell_node(&f, TM_SCHED_ON_NODE_SILENT);
  tell_node(&f, TM_SCHED_ON_NODE_LOST);
  pass_without_node(&f, 7200); /* in a queue */
  tell_node(&f, TM_SCHED_ON_NODE);
  assert_int_equal(pass(&f, 99), NO_ACTION);
  assert_int_equal(pass(&f, 2), TM_SCHED_NO_PROGRESS);
  tm_sched_release(&f.s);
}

static void failures_of_init_do_not_grow_old_while_there_is_no_node(void **state)
{
  struct fixture f;

  begin(&f, &usual);
  fail_inits(&f, 0, 4);
  tell_node(&f, TM_SCHED_ON_NODE_LOST);
  pass_without_node(&f, 7200);
  tell_node(&f, TM_SCHED_ON_NODE);
  assert_int_equal(pass(&f, 100), NO_ACTION);
  assert_int_equal(pass(&f, 20), TM_SCHED_INIT_FAILS);
  tm_sched_release(&f.s);
}

static void time_does_not_count_before_the_first_node(void **state)
{
  struct tm_sched_options o = {
    .run_max_try = 1, .window_max = 16, .retry_delay_ns = -1, .time = usual, .is_over = is_over
  };
  struct fixture f = { .now_ns = 1000 * TM_S };

  tm_sched_init(&f.s, &o, 0);
  tell(&f, &(struct tm_sched_event) { .kind = TM_SCHED_ON_BEGIN });
  pass_without_node(&f, 7200);
  tell_node(&f, TM_SCHED_ON_NODE);
  assert_int_equal(pass(&f, 59), NO_ACTION);
  assert_int_equal(pass(&f, 2), TM_SCHED_NO_PROGRESS);
  tm_sched_release(&f.s);
}

UNIT_TESTS({
    cmocka_unit_test(time_stands_still_while_there_is_no_node),
    cmocka_unit_test(failures_of_init_do_not_grow_old_while_there_is_no_node),
    cmocka_unit_test(time_does_not_count_before_the_first_node),
    cmocka_unit_test(a_step_without_progress_fails),
    cmocka_unit_test(a_step_that_lists_nothing_fails),
    cmocka_unit_test(time_counts_from_the_begin_and_only_while_awake),
    cmocka_unit_test(workers_that_are_all_in_init_are_stuck),
    cmocka_unit_test(a_ready_worker_keeps_the_step_alive),
    cmocka_unit_test(failures_of_init_count_unless_one_has_succeeded),
    cmocka_unit_test(a_lost_node_is_not_a_failure_of_init),
});
