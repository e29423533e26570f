/* test_job.c - whole jobs that end: what they run, retry, count and commit, and what they leave
 * behind. test_job_faults.c has jobs that somebody kills, cancels or sends wrong frames. */
#include "unit.h"

#include "job_rig.h"

static void a_job_commits_each_row_once(void **state)
{
  struct job j;
  job_setup(&j);
  j.size = 3;
  job_add(&j, "ok", 1000);
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  assert_int_equal(job_counts(&j)->created, 334);
  assert_int_equal(job_counts(&j)->succeeded, 334);
  assert_int_equal(job_counts(&j)->items_succeeded, 1000);
  assert_int_equal(job_counts(&j)->running, 0);
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 334);
  assert_int_equal(job_count(&j, TM_EVENT_WORKER_STARTED), 2);
  assert_int_equal(job_count(&j, TM_EVENT_WORKER_ENDED), 2);
  job_close(&j);
  job_end(&j);
}

static void without_rows_the_count_is_kept(void **state)
{
  struct job j;
  job_setup(&j);
  j.no_rows = true;
  job_add(&j, "ok", 10);
  job_add(&j, "none", 1);
  assert_int_equal(job_run(&j), 0);
  assert_int_equal(job_counts(&j)->items_succeeded, 10);
  assert_int_equal(job_counts(&j)->items_failed, 1);
  job_close(&j);
  job_end(&j);
}

static void a_job_is_synced_while_it_runs(void **state)
{
  struct job j;
  job_setup(&j);
  j.sync = 0.002;
  job_add(&j, "slow", 1000);
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  struct tm_stat st;
  char *journal = tm_path_join(j.job_dir, "score/state/journal");
  assert_int_equal(tm_fs_real()->stat(tm_fs_real()->self, journal, true, &st), 0);
  assert_true(st.size > 1000 * 64 + 10 * 64); /* the session, 1000 mini-batches, and syncs */
  free(journal);
  job_close(&j);
  job_end(&j);
}

static void two_jobs_run_on_one_loop(void **state)
{
  struct job a, b, *both[] = { &a, &b };
  struct tm_loop loop;
  job_setup(&a);
  job_setup(&b);
  assert_int_equal(tm_loop_init(&loop, NULL), 0);
  job_add(&a, "ok", 300);
  job_add(&b, "ok", 200);
  job_add(&b, "once", 5);
  job_open_on(&a, &loop);
  job_open_on(&b, &loop);
  job_run_all(both, 2);
  job_expect_completed(&a);
  job_expect_completed(&b);
  job_close(&a);
  job_close(&b);
  tm_loop_release(&loop);
  job_end(&a);
  job_end(&b);
}

static void two_steps_run_at_the_same_time(void **state)
{
  struct job j;
  job_setup(&j);
  j.steps = 2;
  job_add_to(&j, 0, "ok", 100);
  job_add_to(&j, 1, "ok", 50);
  job_add_to(&j, 1, "once", 3);
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  assert_int_equal(job_count(&j, TM_EVENT_STEP_ENDED), 2);
  assert_int_equal(tm_job_view(j.job)->steps[1]->counts.succeeded, 53);
  job_close(&j);
  job_end(&j);
}

/* A worker that holds many mini-batches kills itself in one of them: only that one counts as a try.
 */
static void a_death_costs_one_try(void **state)
{
  for (int round = 0; round < 5; round++) {
    struct job j;
    int at = (int)(tm_process_random() % 500);
    job_setup(&j);
    j.workers = 1;
    job_add(&j, "ok", at);
    job_add(&j, "die", 1);
    job_add(&j, "ok", 499 - at);
    assert_int_equal(job_run(&j), 0);
    job_expect_completed(&j);
    assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 501);
    assert_int_equal(job_count_status(&j, TM_PROCESS_DIED), 1);
    for (size_t i = 0; i < j.seen.len; i++) {
      const struct job_seen *e = &j.seen.at[i];
      if (e->kind != TM_EVENT_TRY_ENDED)
        continue;
      bool is_death = e->status == TM_PROCESS_DIED, is_it = e->index == (uint64_t)at;
      assert_true(!is_death || is_it);
      assert_int_equal(e->is_final, !is_death);
      assert_int_equal(e->try, is_it && !is_death ? 2 : 1);
    }
    assert_non_null(job_find(&j, TM_EVENT_WORKER_ENDED, "killed by signal 9"));
    job_close(&j);
    job_end(&j);
  }
}

static void a_run_that_takes_too_long_is_tried_again(void **state)
{
  struct job j;
  job_setup(&j);
  j.timeout = 0.3;
  job_add(&j, "ok", 20);
  job_add(&j, "hang", 1);
  job_add(&j, "ok", 20);
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  assert_int_equal(job_count_status(&j, TM_RUN_TIMEOUT), 1);
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 42);
  assert_non_null(job_find(&j, TM_EVENT_TRY_ENDED, "longer than run_invocation_timeout (0.3 s)"));
  assert_int_equal(job_counts(&j)->timeouts, 1);
  job_close(&j);
  job_end(&j);
}

static void let_both_go(struct job *j)
{
  if (++j->count == 2) {
    job_let_go(j);
    job_let_go(j);
  }
}

/* Both workers have started and hold a mini-batch each before any fails. */
static void a_failed_mini_batch_is_tried_by_another_worker(void **state)
{
  struct job j;
  char first[64][24];
  int retried = 0;
  job_setup(&j);
  j.on_begun = let_both_go;
  job_add(&j, "hold", 2);
  job_add(&j, "once", 20);
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  for (size_t i = 0; i < j.seen.len; i++) {
    const struct job_seen *e = &j.seen.at[i];
    if (e->kind != TM_EVENT_TRY_ENDED || e->index < 2)
      continue;
    if (e->try == 1) {
      assert_int_equal(e->status, TM_RUN_EXCEPTION);
      assert_int_equal(e->failed, 0);
      strcpy(first[e->index], e->worker);
    } else {
      assert_string_not_equal(first[e->index], e->worker);
      retried++;
    }
  }
  assert_int_equal(retried, 20);
  assert_int_equal(job_counts(&j)->errors, 20);
  job_close(&j);
  job_end(&j);
}

static void tries_are_used_up(void **state)
{
  struct job j;
  job_setup(&j);
  j.max_try = 2;
  job_add(&j, "ok", 10);
  int at = (int)j.items[0].len;
  job_add(&j, "fail", 3);
  assert_int_equal(job_run(&j), 0);
  assert_int_equal(job_count_status(&j, TM_RUN_EXCEPTION), 6);
  assert_int_equal(job_counts(&j)->failed, 3);
  assert_int_equal(job_counts(&j)->items_failed, 3);
  char *failed = job_read(j.job_dir, "score/failed_items.jsonl"),
       *ok = tm_xstrndup(j.items[0].data, (size_t)at);
  assert_non_null(strstr(failed, "fail.000011"));
  assert_non_null(strstr(failed, "\"error\":\"it failed\""));
  job_expect_rows(&j, 0, true, ok);
  free(failed);
  free(ok);
  job_close(&j);
  job_end(&j);
}

/* All mini-batches but the holding one have ended: release it. */
static void let_the_last_go(struct job *j, const struct job_seen *e)
{
  if (e->kind == TM_EVENT_TRY_ENDED && e->is_final && ++j->count == j->items_len - 1)
    job_let_go(j);
}

/* All mini-batches but the holding one are so slow that their answers are not held for the next.
 * The job would never end unless the supervisor took back what waits behind the holding one and
 * gave it to the idle worker. */
static bool run_one_that_holds(int before)
{
  struct job j;
  bool was_taken_back = false;
  job_setup(&j);
  j.on_seen = let_the_last_go;
  job_add(&j, "slow", before);
  job_add(&j, "hold", 1);
  job_add(&j, "slow", 200);
  assert_int_equal(job_run(&j), 0);
  job_expect_completed(&j);
  const struct job_seen *last = NULL;
  for (size_t i = 0; i < j.seen.len; i++)
    if (j.seen.at[i].kind == TM_EVENT_TRY_ENDED) {
      last = &j.seen.at[i];
      assert_int_equal(last->try, 1);
      was_taken_back |= last->picked > 1;
      assert_true(last->picked < 20); /* not handed to the holding worker again and again */
    }
  assert_int_equal(last->index, before);
  assert_int_equal(last->picked, 1);
  job_close(&j);
  job_end(&j);
  return was_taken_back;
}

/* The first worker holds an early mini-batch, and either worker a late one. On a slow machine a
 * worker may have no other mini-batch waiting. */
static void mini_batches_queued_after_a_long_one_run_elsewhere(void **state)
{
  bool is_early = false, is_late = false;
  for (int round = 0; round < 3 || (round < 20 && !(is_early && is_late)); round++) {
    is_early |= run_one_that_holds(5);
    is_late |= run_one_that_holds(200);
  }
  assert_true(is_early && is_late);
}

static void init_that_always_fails_ends_the_job(void **state)
{
  static const char *const modes[] = { "bad-init", "exit-init" };
  static const char *const words[] = { "no model", "exited with status 5 in init()" };
  for (size_t i = 0; i < TM_COUNT_OF(modes); i++) {
    struct job j;
    job_setup(&j);
    j.mode = modes[i];
    job_add(&j, "ok", 100);
    job_run(&j);
    job_expect_failed(&j, 1, "times in a row: ");
    assert_non_null(strstr(tm_job_view(j.job)->cause, words[i]));
    assert_in_range(job_count(&j, TM_EVENT_INIT_FAILED), 6,
                    7); /* 3 for each; one more may have begun */
    assert_int_equal(job_count(&j, TM_EVENT_WORKER_READY), 0);
    assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 0);
    job_close(&j);
    job_end(&j);
  }
}

static void a_script_without_run_is_refused_by_the_first_worker(void **state)
{
  struct job j;
  job_setup(&j);
  j.mode = "no-run";
  job_add(&j, "ok", 100);
  job_run(&j);
  job_expect_failed(&j, 2, "it defines no run");
  assert_int_equal(job_count(&j, TM_EVENT_WORKER_STARTED), 1);
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 0);
  job_close(&j);
  job_end(&j);
}

static void more_failed_items_than_tolerated_end_the_job(void **state)
{
  struct job j;
  job_setup(&j);
  j.threshold = 2;
  j.max_try = 1;
  job_add(&j, "ok", 5);
  job_add(&j, "fail", 2000);
  job_run(&j);
  job_expect_failed(&j, 1, "items have failed, and error_threshold tolerates 2");
  assert_true(job_counts(&j)->items_failed >= 3);
  assert_true(job_counts(&j)->failed < 2000);
  job_close(&j);
  j.seen.len = 0;
  job_end(&j);
}

static void not_one_item_that_succeeded_is_a_failure(void **state)
{
  struct job j;
  job_setup(&j);
  j.max_try = 1;
  job_add(&j, "none", 3);
  job_run(&j);
  job_expect_failed(&j, 1, "not one of 3 items succeeded");
  job_close(&j);
  job_end(&j);
}

static void a_listing_that_fails_ends_the_job(void **state)
{
  struct job j;
  job_setup(&j);
  char *link = tm_path_join(j.dir, "nowhere-at-all"), *pattern = tm_path_join(j.dir, "nowhere*");
  assert_int_equal(symlink("gone", link), 0); /* the early look found it, the listing does not */
  j.path = pattern;
  job_run(&j);
  job_expect_failed(&j, 1, "nowhere*");
  job_close(&j);
  unlink(link);
  job_end(&j);
  free(link);
  free(pattern);
}

static void no_input_ends_the_job(void **state)
{
  struct job j;
  job_setup(&j);
  job_run(&j);
  job_expect_failed(&j, 1, "items0");
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 0);
  job_close(&j);
  job_end(&j);
}

static void more_elements_than_items_are_reported_once(void **state)
{
  struct job j;
  int warnings = 0;
  job_setup(&j);
  job_add(&j, "many", 5);
  assert_int_equal(job_run(&j), 0);
  for (size_t i = 0; i < j.seen.len; i++)
    warnings += j.seen.at[i].kind == TM_EVENT_MESSAGE && j.seen.at[i].level == TM_WARNING;
  assert_int_equal(warnings, 1);
  assert_non_null(job_find(&j, TM_EVENT_MESSAGE, "run() returned 3 elements for the 1 item"));
  assert_int_equal(job_counts(&j)->returned, 15);
  assert_int_equal(job_counts(&j)->items_succeeded, 5);
  job_close(&j);
  job_end(&j);
}

static void large_results_go_through_files(void **state)
{
  struct job j;
  job_setup(&j);
  job_add(&j, "big", 4);
  job_add(&j, "ok", 50);
  assert_int_equal(job_run(&j), 0);
  char *text = job_read(j.job_dir, "score/output/parallel_run_step.txt"),
       *spill = tm_path_join(j.job_dir, "score/state/spill");
  assert_int_equal(strlen(text), 4 * (JOB_BIG + 1) + 50 * strlen("ok.000000\n"));
  assert_int_equal(job_count_names(spill), 0);
  free(text);
  free(spill);
  job_close(&j);
  job_end(&j);
}

static void a_result_beyond_the_limit_fails_its_try(void **state)
{
  struct job j;
  job_setup(&j);
  j.max_result = JOB_BIG / 2;
  j.max_try = 2;
  job_add(&j, "big", 1);
  job_add(&j, "ok", 5);
  assert_int_equal(job_run(&j), 0);
  assert_int_equal(job_count_status(&j, TM_RUN_WRONG_RETURN), 2);
  assert_non_null(job_find(&j, TM_EVENT_TRY_ENDED, "max_result_size"));
  assert_int_equal(job_counts(&j)->failed, 1);
  job_close(&j);
  job_end(&j);
}

/* 18 MB of paths fit into one mini-batch; 72 MB cannot be handed over. */
static void a_mini_batch_too_long_to_be_handed_out_is_reported(void **state)
{
  struct job j;
  char name[4001];
  memset(name, 'o', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  job_setup(&j);
  j.size = 18000;
  job_add(&j, name, 18000);
  job_run(&j);
  job_expect_failed(&j, 3, "make mini_batch_size smaller");
  assert_int_equal(job_count(&j, TM_EVENT_TRY_ENDED), 0);
  job_close(&j);
  job_end(&j);
}

static void run_one(void)
{
  struct job j;
  job_setup(&j);
  job_add(&j, "ok", 50);
  job_add(&j, "die", 1);
  assert_int_equal(job_run(&j), 0);
  job_close(&j);
  assert_int_equal(job_count_processes(&j), 0);
  job_end(&j);
}

static void nothing_is_left_behind(void **state)
{
  run_one(); /* libraries have now created what they create once */
  int fds = job_count_names("/proc/self/fd"), threads = job_count_names("/proc/self/task");
  run_one();
  assert_int_equal(job_count_names("/proc/self/fd"), fds);
  assert_int_equal(job_count_names("/proc/self/task"), threads);
}

UNIT_HOOKS(.serve = job_serve);
UNIT_TESTS({
    cmocka_unit_test(a_job_commits_each_row_once),
    cmocka_unit_test(without_rows_the_count_is_kept),
    cmocka_unit_test(a_job_is_synced_while_it_runs),
    cmocka_unit_test(two_jobs_run_on_one_loop),
    cmocka_unit_test(two_steps_run_at_the_same_time),
    cmocka_unit_test(a_death_costs_one_try),
    cmocka_unit_test(a_run_that_takes_too_long_is_tried_again),
    cmocka_unit_test(a_failed_mini_batch_is_tried_by_another_worker),
    cmocka_unit_test(tries_are_used_up),
    cmocka_unit_test(mini_batches_queued_after_a_long_one_run_elsewhere),
    cmocka_unit_test(init_that_always_fails_ends_the_job),
    cmocka_unit_test(a_script_without_run_is_refused_by_the_first_worker),
    cmocka_unit_test(more_failed_items_than_tolerated_end_the_job),
    cmocka_unit_test(not_one_item_that_succeeded_is_a_failure),
    cmocka_unit_test(a_listing_that_fails_ends_the_job),
    cmocka_unit_test(no_input_ends_the_job),
    cmocka_unit_test(more_elements_than_items_are_reported_once),
    cmocka_unit_test(large_results_go_through_files),
    cmocka_unit_test(a_result_beyond_the_limit_fails_its_try),
    cmocka_unit_test(a_mini_batch_too_long_to_be_handed_out_is_reported),
    cmocka_unit_test(nothing_is_left_behind),
});
