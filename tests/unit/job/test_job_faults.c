/* test_job_faults.c - jobs that are cancelled, killed, resumed, closed early, or that receive wrong
 * frames. */
#include "unit.h"

#include "job_rig.h"

/* ---- cancelling ---- */

static void cancel_and_let_go(struct job *j)
{
  tm_job_end_early(j->job, false);
  job_let_go(j);
}

/* The worker holds only the holding mini-batch: the supervisor has taken back what waited behind
 * it.
 */
static void let_the_only_one_go(struct job *j)
{
  if (job_counts(j)->running != 1)
    return;
  j->on_tick = NULL;
  job_let_go(j);
}

static void cancel(struct job *j)
{
  j->on_tick = let_the_only_one_go;
  tm_job_end_early(j->job, false);
}

static void running_mini_batches_may_finish_when_a_job_is_canceled(void **state)
{
  struct job j;
  job_setup(&j);
  j.workers = 1;
  j.on_begun = cancel;
  job_add(&j, "slow", 40);
  job_add(&j, "hold", 1);
  job_add(&j, "ok", 200);
  assert_int_equal(job_run(&j), 130);
  assert_int_equal(tm_job_view(j.job)->verdict, TM_CANCELED_JOB);
  assert_int_equal(job_counts(&j)->succeeded, 41);
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 41);
  job_close(&j);
  assert_int_equal(job_count_processes(&j), 0);
  j.resume = true;
  j.on_begun = job_let_go;
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 200);
  job_close(&j);
  job_end(&j);
}

static void cancel_again(struct tm_timer *t)
{
  struct job *j = t->data;
  tm_job_end_early(j->job, true);
}

static struct tm_timer again;

static void cancel_twice(struct job *j)
{
  tm_job_end_early(j->job, false);
  tm_job_end_early(j->job, false); /* changes nothing */
  tm_timer_start(&again, 0, 0);
}

static void running_mini_batches_are_killed_when_a_job_is_canceled_again(void **state)
{
  struct job j, *one = &j;
  struct tm_loop loop;
  job_setup(&j);
  assert_int_equal(tm_loop_init(&loop, NULL), 0);
  j.on_begun = cancel_twice;
  job_add(&j, "child", 1);
  job_add(&j, "hang", 1);
  job_add(&j, "ok", 50);
  job_open_on(&j, &loop);
  tm_timer_open(&again, &loop, cancel_again, &j);
  job_run_all(&one, 1);
  assert_int_equal(tm_job_exit_status(j.job), 130);
  assert_int_equal(job_count_processes(&j), 0);
  assert_int_equal(job_count_status(&j, TM_PROCESS_DIED), 0); /* the test did that */
  tm_timer_close(&again);
  job_close(&j);
  tm_loop_release(&loop);
  job_end(&j);
}

static void a_job_is_canceled_in_init(void **state)
{
  struct job j;
  job_setup(&j);
  j.mode = "hold-init";
  j.on_begun = cancel_and_let_go;
  job_add(&j, "ok", 50);
  assert_int_equal(job_run(&j), 130);
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 0);
  assert_int_equal(job_count(&j, TM_EVENT_INIT_FAILED), 0);
  job_close(&j);
  job_end(&j);
}

static void a_job_is_canceled_before_its_start(void **state)
{
  struct job j, *one = &j;
  job_setup(&j);
  job_add(&j, "ok", 50);
  job_open_on(&j, NULL);
  tm_job_end_early(j.job, false);
  job_run_all(&one, 1);
  assert_int_equal(tm_job_exit_status(j.job), 130);
  assert_int_equal(job_count(&j, TM_EVENT_WORKER_STARTED), 0);
  job_close(&j);
  j.resume = true;
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  job_close(&j);
  job_end(&j);
}

static void stop_loop(struct job *j)
{
  tm_loop_stop(j->loop);
}

static void a_job_is_closed_before_its_end(void **state)
{
  struct job j;
  int still_open = 1;
  job_setup(&j);
  j.on_begun = stop_loop;
  job_add(&j, "ok", 10);
  job_add(&j, "hang", 1);
  job_add(&j, "ok", 500);
  job_open_on(&j, NULL);
  j.still_open = &still_open;
  tm_job_start(j.job);
  tm_loop_run(j.loop);
  assert_false(j.is_ended);
  job_close(&j);
  assert_int_equal(job_count_processes(&j), 0);
  assert_false(j.is_ended);
  j.on_begun = NULL;
  j.resume = true;
  j.timeout = 0.3;
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  job_close(&j);
  job_end(&j);
}

static void a_job_is_closed_before_its_start(void **state)
{
  struct job j;
  job_setup(&j);
  job_add(&j, "ok", 10);
  job_open_on(&j, NULL);
  job_close(&j);
  j.resume = true;
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  job_close(&j);
  job_end(&j);
}

static void no_keeper_can_be_started(void **state)
{
  struct job j;
  job_setup(&j);
  j.steps = 2;
  j.program = "/no/such/program";
  job_add_to(&j, 0, "ok", 10);
  job_add_to(&j, 1, "ok", 10);
  job_run(&j);
  job_expect_failed(&j, 3, "cannot start '/no/such/program'");
  job_close(&j);
  job_end(&j);
}

/* ---- resuming ---- */

static void run_to_a_failure_and_a_cancel(struct job *j)
{
  job_setup(j);
  j->workers = 1;
  j->max_try = 1;
  j->on_begun = cancel;
  job_add(j, "fail", 1);
  job_add(j, "hold", 1);
  job_add(j, "ok", 10);
  assert_int_equal(job_run(j), 130);
  assert_int_equal(job_counts(j)->failed, 1);
  assert_int_equal(job_counts(j)->succeeded, 1);
  job_close(j);
  j->resume = true;
}

static void a_resumed_job_tries_failed_mini_batches_again(void **state)
{
  struct job j;
  run_to_a_failure_and_a_cancel(&j);
  assert_int_equal(job_run(&j), 0);
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 11);
  assert_int_equal(job_count_status(&j, TM_RUN_EXCEPTION), 1);
  assert_int_equal(job_counts(&j)->failed, 1);
  assert_int_equal(job_counts(&j)->succeeded, 11);
  job_close(&j);
  assert_int_equal(job_run(&j), 0); /* Completed: nothing runs */
  assert_int_equal(job_count(&j, TM_EVENT_STEP_STARTED), 0);
  job_close(&j);
  job_end(&j);
}

static void a_resumed_job_keeps_failed_mini_batches(void **state)
{
  struct job j;
  run_to_a_failure_and_a_cancel(&j);
  j.keep_failed = true;
  assert_int_equal(job_run(&j), 0);
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 10);
  assert_int_equal(job_count_status(&j, TM_RUN_EXCEPTION), 0);
  assert_int_equal(job_counts(&j)->failed, 1);
  assert_int_equal(job_counts(&j)->succeeded, 11);
  const struct job_seen *e = job_find(&j, TM_EVENT_WORKER_STARTED, "");
  assert_string_equal(e->worker, "process001"); /* numbering continues */
  job_close(&j);
  job_end(&j);
}

/* ---- keepers that are lost ---- */

static void a_killed_keeper_is_replaced(void **state)
{
  struct job j;
  job_setup(&j);
  job_add(&j, "ok", 300);
  job_add(&j, "keeper", 1);
  job_add(&j, "ok", 300);
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  assert_int_equal(job_count_status(&j, TM_RUN_DONE), 601);
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 601); /* none was counted */
  assert_non_null(job_find(&j, TM_EVENT_MESSAGE, "the keeper of the workers has ended"));
  assert_int_equal(job_count_processes(&j), 0);
  job_close(&j);
  job_end(&j);
}

static void a_mini_batch_that_kills_each_keeper_fails_alone(void **state)
{
  struct job j;
  job_setup(&j);
  job_add(&j, "ok", 30);
  job_add(&j, "keepers", 1);
  job_add(&j, "ok", 30);
  assert_int_equal(job_run(&j), 0);
  assert_int_equal(job_count_status(&j, TM_RUN_DONE), 60);
  assert_int_equal(job_count_status(&j, TM_PROCESS_DIED), 1);
  assert_non_null(job_find(&j, TM_EVENT_TRY_ENDED, "3 nodes were lost while they ran it"));
  assert_int_equal(job_count_processes(&j), 0);
  job_close(&j);
  job_end(&j);
}

static void a_keeper_that_is_lost_again_and_again_ends_the_job(void **state)
{
  struct job j;
  job_setup(&j);
  j.mode = "keeper-init";
  job_add(&j, "ok", 1);
  job_run(&j);
  job_expect_failed(&j, 3, "the node was lost 5 times in a row");
  job_close(&j);
  assert_int_equal(job_count_processes(&j), 0);
  job_end(&j);
}

static int hold_child(const struct job *j)
{
  char *text = job_read(j->dir, "child");
  int fd = (int)syscall(SYS_pidfd_open, atol(text), 0);
  assert_true(fd >= 0);
  free(text);
  return fd;
}

static bool has_gone(int held)
{
  struct pollfd p = { .fd = held, .events = POLLIN };
  int rc = poll(&p, 1, 0);
  close(held);
  return rc == 1;
}

static int held;

static void kill_keeper(struct job *j, const struct job_seen *e)
{
  if (e->kind != TM_EVENT_TRY_ENDED || e->index != 0)
    return;
  held = hold_child(j);
  kill(job_keeper_pid(), SIGKILL);
}

static void kill_keeper_and_cancel(struct job *j, const struct job_seen *e)
{
  if (e->kind != TM_EVENT_TRY_ENDED || e->index != 0)
    return;
  held = hold_child(j);
  kill(job_keeper_pid(), SIGKILL);
  tm_job_end_early(j->job, false);
}

static void survivors_of_a_killed_keeper_are_ended(void **state)
{
  struct job j;
  job_setup(&j);
  j.workers = 1;
  j.on_seen = kill_keeper;
  job_add(&j, "child", 1);
  job_add(&j, "ok", 200);
  assert_int_equal(job_run(&j), 0);
  assert_true(has_gone(held));
  assert_non_null(job_find(&j, TM_EVENT_MESSAGE, " of a keeper that did not end"));
  job_expect_completed(&j);
  job_close(&j);
  job_end(&j);
}

static void it_is_ended_when_the_job_is_ending_too(void **state)
{
  struct job j;
  job_setup(&j);
  j.workers = 1;
  j.on_seen = kill_keeper_and_cancel;
  job_add(&j, "child", 1);
  job_add(&j, "ok", 200);
  assert_int_equal(job_run(&j), 130);
  assert_true(has_gone(held));
  assert_int_equal(job_count_processes(&j), 0);
  job_close(&j);
  job_end(&j);
}

/* ---- keepers and workers that say what cannot be ---- */

static void rubbish_from_a_worker_ends_it(void **state)
{
  static const char *const items[] = { "rubbish", "ready" };
  for (size_t i = 0; i < TM_COUNT_OF(items); i++) {
    struct job j;
    job_setup(&j);
    job_add(&j, "ok", 100);
    job_add(&j, items[i], 1);
    job_add(&j, "ok", 100);
    assert_int_equal(job_run(&j), 0);
    job_expect_completed(&j);
    assert_non_null(job_find(&j, TM_EVENT_MESSAGE, "sent bytes that cannot be read"));
    assert_non_null(job_find(&j, TM_EVENT_WORKER_ENDED, "killed by the supervisor"));
    job_close(&j);
    job_end(&j);
  }
}

static void a_bad_time_of_init_ends_its_worker(void **state)
{
  static const char *const modes[] = { "short-ready", "long-ready", "negative-ready" };
  for (size_t i = 0; i < TM_COUNT_OF(modes); i++) {
    struct job j;
    job_setup(&j);
    j.mode = modes[i];
    job_add(&j, "ok", 10);
    assert_int_equal(job_run(&j), 0);
    job_expect_completed(&j);
    assert_non_null(job_find(&j, TM_EVENT_MESSAGE, "sent bytes that cannot be read"));
    assert_non_null(job_find(&j, TM_EVENT_WORKER_ENDED, "killed by the supervisor"));
    job_close(&j);
    job_end(&j);
  }
}

/* It is in run(), far from its timeout: nothing else would end it. */
static void a_worker_without_channel_is_killed(void **state)
{
  struct job j;
  job_setup(&j);
  job_add(&j, "mute", 1);
  job_add(&j, "ok", 10);
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  assert_int_equal(job_count_status(&j, TM_PROCESS_DIED), 1);
  assert_non_null(
      job_find(&j, TM_EVENT_MESSAGE,
               "closed its connection, but has not been reported as ended; it is killed"));
  job_close(&j);
  job_end(&j);
}

static void a_descriptor_from_a_worker_is_closed(void **state)
{
  struct job j;
  job_setup(&j);
  j.workers = 1;
  job_add(&j, "fd", 20);
  int fds = job_count_names("/proc/self/fd");
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  job_close(&j);
  assert_int_equal(job_count_names("/proc/self/fd"), fds);
  job_end(&j);
}

static void rubbish_from_a_keeper_loses_it(void **state)
{
  static const char *const modes[] = { "version", "early", "type", "stranger",
                                       "socket",  "ended", "taken" };
  for (size_t i = 0; i < TM_COUNT_OF(modes); i++) {
    struct job j;
    job_setup(&j);
    job_add(&j, "ok", 10);
    int fds = job_count_names("/proc/self/fd");
    setenv("TM_TEST_KEEPER", modes[i], 1);
    job_run(&j);
    unsetenv("TM_TEST_KEEPER");
    job_expect_failed(&j, 3, "the node was lost 5 times in a row");
    job_close(&j);
    assert_int_equal(job_count_names("/proc/self/fd"), fds);
    assert_int_equal(job_count_processes(&j), 0);
    j.resume = true;
    assert_int_equal(job_run(&j), 0);
    job_expect_completed(&j);
    job_close(&j);
    job_end(&j);
  }
}

static void workers_that_cannot_be_started_end_the_job(void **state)
{
  struct job j;
  job_setup(&j);
  job_add(&j, "ok", 10);
  setenv("TM_TEST_KEEPER", "failed", 1);
  job_run(&j);
  unsetenv("TM_TEST_KEEPER");
  job_expect_failed(&j, 1, "no such machine");
  assert_int_equal(job_count(&j, TM_EVENT_WORKER_STARTED), 0);
  job_close(&j);
  job_end(&j);
}

UNIT_HOOKS(.serve = job_serve);
UNIT_TESTS({
    cmocka_unit_test(running_mini_batches_may_finish_when_a_job_is_canceled),
    cmocka_unit_test(running_mini_batches_are_killed_when_a_job_is_canceled_again),
    cmocka_unit_test(a_job_is_canceled_in_init),
    cmocka_unit_test(a_job_is_canceled_before_its_start),
    cmocka_unit_test(a_job_is_closed_before_its_end),
    cmocka_unit_test(a_job_is_closed_before_its_start),
    cmocka_unit_test(no_keeper_can_be_started),
    cmocka_unit_test(a_resumed_job_tries_failed_mini_batches_again),
    cmocka_unit_test(a_resumed_job_keeps_failed_mini_batches),
    cmocka_unit_test(a_killed_keeper_is_replaced),
    cmocka_unit_test(a_mini_batch_that_kills_each_keeper_fails_alone),
    cmocka_unit_test(a_keeper_that_is_lost_again_and_again_ends_the_job),
    cmocka_unit_test(survivors_of_a_killed_keeper_are_ended),
    cmocka_unit_test(it_is_ended_when_the_job_is_ending_too),
    cmocka_unit_test(rubbish_from_a_worker_ends_it),
    cmocka_unit_test(a_bad_time_of_init_ends_its_worker),
    cmocka_unit_test(a_worker_without_channel_is_killed),
    cmocka_unit_test(a_descriptor_from_a_worker_is_closed),
    cmocka_unit_test(rubbish_from_a_keeper_loses_it),
    cmocka_unit_test(workers_that_cannot_be_started_end_the_job),
});
