/* A large result of another node is late; meanwhile its worker, its node or the step ends. */
#include "unit.h"

#include "late_files.h"

static void end_with_announcement(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  if (!is_big)
    return;
  r->on_answered = NULL;
  assert_int_equal(r->s->announced.list.len, 1);
  w->is_ended = true; /* the end follows */
}

static void the_worker_ends_right_after_it(void **state)
{
  struct step_rig r;
  begin(&r, hide_first);
  r.on_answered = end_with_announcement;
  r.on_turn = show_after_the_others;
  r.j.on_seen = count_others;
  step_run(&r);
  expect_done(&r);
  assert_int_equal(tries_of_first(&r), 1);
  const struct job_seen *e = job_find(&r.j, TM_EVENT_TRY_ENDED, "");
  for (size_t i = 0; i < r.j.seen.len; i++) /* the report names the worker */
    if (r.j.seen.at[i].kind == TM_EVENT_TRY_ENDED && r.j.seen.at[i].index == 0)
      e = &r.j.seen.at[i];
  assert_string_equal(e->worker, "process000");
  assert_string_equal(e->node, "1");
  end(&r);
}

static void the_worker_ends_and_its_file_never_comes(void **state)
{
  struct step_rig r;
  begin(&r, hide_three);
  r.s->announced.looks.limit_ns = 1;
  r.on_answered = end_with_announcement;
  step_run(&r);
  expect_done(&r);
  assert_int_equal(messages(&r, "is run again, uncounted"), 2);
  assert_int_equal(tries_of_first(&r), 2);
  end(&r);
}

/* The file of the lost node appears then, with the right rows. Nobody reads it. */
static void lose(struct step_rig *r)
{
  r->on_turn = NULL;
  assert_int_equal(r->s->announced.list.len, 1);
  tm_supervisor_silence_node(r->s, NODE);
  tm_supervisor_lose_node(r->s, NODE);
  assert_int_equal(r->s->announced.list.len, 0);
  show(r);
  tm_supervisor_set_node(r->s, tm_fleet_node(&r->fleet, NODE), /* another one */
                         &(struct tm_temp_dirs) { (char *)"/tmp/again", (char *)"" });
}

static void lose_after_announcement(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  if (!is_big)
    return;
  r->on_answered = NULL;
  r->on_turn = lose;
}

static void the_file_of_a_lost_node_does_not_count(void **state)
{
  struct step_rig r;
  begin(&r, hide_first);
  r.on_answered = lose_after_announcement;
  step_run(&r);
  expect_done(&r); /* also: the file is removed */
  assert_int_equal(r.spilled, 2);
  assert_int_equal(tries_of_first(&r), 1);
  end(&r);
}

/* While the second of two is copied. The file of the first appears then. */
static void lose_while_copying(struct step_rig *r)
{
  assert_int_equal(r->s->announced.list.len, 2);
  r->on_copy = NULL;
  show(r);
  tm_supervisor_silence_node(r->s, NODE);
  tm_supervisor_lose_node(r->s, NODE);
  assert_true(r->s->workers.len > 0); /* the news waits */
  tm_supervisor_set_node(r->s, tm_fleet_node(&r->fleet, NODE),
                         &(struct tm_temp_dirs) { (char *)"/tmp/again", (char *)"" });
}

static void a_node_is_lost_while_its_result_is_copied(void **state)
{
  struct step_rig r;
  step_setup(&r);
  r.j.sync = 0.001;
  r.on_spilled = hide_first;
  r.on_copy = lose_while_copying;
  job_add(&r.j, "big", 2);
  job_add(&r.j, "ok", 10);
  step_open(&r);
  step_start(&r);
  step_set_node(&r, NODE);
  step_run(&r);
  assert_null(r.on_copy);
  assert_int_equal(tm_supervisor_view(r.s)->counts.succeeded, 12);
  expect_rows(&r, 2);
  assert_int_equal(r.spilled, 3); /* the one that is copied counts */
  assert_int_equal(job_count_names(r.s->spill_dir), 0);
  end(&r);
}

static void cancel(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  if (!is_big)
    return;
  r->on_answered = NULL;
  tm_supervisor_cancel(r->s, false);
}

static void show_after_worker(struct job *j, const struct job_seen *e)
{
  if (e->kind == TM_EVENT_WORKER_ENDED)
    show((struct step_rig *)j);
}

static void a_step_that_is_canceled_waits_for_it(void **state)
{
  struct step_rig r;
  begin(&r, hide_first);
  r.on_answered = cancel;
  r.j.on_seen = show_after_worker;
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_CANCELED_JOB);
  assert_int_equal(tm_commit_state(r.s->commit, 0), TM_MINI_BATCH_COMMITTED);
  assert_int_equal(job_count_names(r.s->spill_dir), 0);
  end(&r);
}

static void cancel_now(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  if (!is_big)
    return;
  tm_supervisor_cancel(r->s, true);
  assert_int_equal(r->s->announced.list.len, 0);
  show(r);
  w->is_ended = true;
}

static void a_step_that_is_killed_does_not_wait_for_it(void **state)
{
  struct step_rig r;
  begin(&r, hide_first);
  r.on_answered = cancel_now;
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_CANCELED_JOB);
  assert_int_equal(tm_supervisor_view(r.s)->counts.succeeded, 0);
  assert_int_equal(job_count_names(r.s->spill_dir), 0);
  end(&r);
}

static void stop(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  if (is_big)
    tm_loop_stop(&r->loop);
}

static void end_and_stop(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  if (!is_big)
    return;
  w->is_ended = true;
  tm_loop_stop(&r->loop);
}

static void is_closed_after(void (*on_answered)(struct step_rig *r, struct memory_worker *w,
                                                bool is_big),
                            void (*on_spilled)(struct step_rig *r, const char *path))
{
  struct step_rig r;
  begin(&r, on_spilled);
  r.on_answered = on_answered;
  step_run(&r);
  assert_int_equal(r.s->announced.list.len, 1);
  end(&r);
}

static void a_step_is_closed_while_it_waits(void **state)
{
  is_closed_after(stop, hide_first);
  is_closed_after(end_and_stop, hide_first);
}

static void a_step_is_closed_while_it_looks(void **state)
{
  is_closed_after(stop, NULL);
  is_closed_after(end_and_stop, NULL);
}

static void kill_while_copying(struct step_rig *r)
{
  r->on_copy = NULL;
  assert_int_equal(r->s->announced.list.len, 1);
  tm_supervisor_cancel(r->s, true);
  assert_int_equal(r->s->announced.list.len, 1);
  for (size_t i = 0; i < r->workers.len; i++)
    if (r->workers.at[i])
      memory_end(r->workers.at[i]);
}

static void a_step_that_is_killed_commits_what_it_copies(void **state)
{
  struct step_rig r;
  begin(&r, NULL);
  r.on_copy = kill_while_copying;
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_CANCELED_JOB);
  assert_int_equal(tm_commit_state(r.s->commit, 0), TM_MINI_BATCH_COMMITTED);
  end(&r);
}

static void fail_while_copying(struct step_rig *r)
{
  struct tm_err err = TM_ERR_NONE;
  r->on_copy = NULL;
  tm_err_set(&err, TM_EDAMAGE, "an error");
  tm_supervisor_fail(r->s, &err);
  for (size_t i = 0; i < r->workers.len; i++)
    if (r->workers.at[i])
      memory_end(r->workers.at[i]);
}

static void a_step_that_fails_does_not_commit_what_it_copies(void **state)
{
  struct step_rig r;
  begin(&r, NULL);
  r.on_copy = fail_while_copying;
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_FAILED);
  assert_int_equal(tm_commit_state(r.s->commit, 0), TM_MINI_BATCH_OPEN);
  assert_int_equal(job_count_names(r.s->spill_dir), 0);
  end(&r);
}

static void stop_while_copying(struct step_rig *r)
{
  tm_loop_stop(&r->loop);
}

static void a_step_is_closed_while_it_copies(void **state)
{
  struct step_rig r;
  begin(&r, NULL);
  r.on_copy = stop_while_copying;
  step_run(&r);
  assert_true(r.s->copying.is_on);
  assert_int_equal(r.s->announced.list.len, 1);
  end(&r);
}

static void leave_file(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  char *path = tm_path_join(r->s->spill_dir, "process999.7.3.0");
  assert_true(tm_fs_write_file(tm_fs_real(), path, "abc", 3, 0600, NULL) >= 0);
  free(path);
}

static void a_file_that_nobody_names_is_removed(void **state)
{
  struct step_rig r;
  begin(&r, NULL);
  r.on_answered = leave_file;
  step_run(&r);
  expect_done(&r);
  end(&r);
}

UNIT_HOOKS(.serve = job_serve);
UNIT_TESTS({
    cmocka_unit_test(the_worker_ends_right_after_it),
    cmocka_unit_test(the_worker_ends_and_its_file_never_comes),
    cmocka_unit_test(the_file_of_a_lost_node_does_not_count),
    cmocka_unit_test(a_step_that_is_canceled_waits_for_it),
    cmocka_unit_test(a_step_that_is_killed_does_not_wait_for_it),
    cmocka_unit_test(a_step_is_closed_while_it_waits),
    cmocka_unit_test(a_step_is_closed_while_it_looks),
    cmocka_unit_test(a_node_is_lost_while_its_result_is_copied),
    cmocka_unit_test(a_step_that_is_killed_commits_what_it_copies),
    cmocka_unit_test(a_step_that_fails_does_not_commit_what_it_copies),
    cmocka_unit_test(a_step_is_closed_while_it_copies),
    cmocka_unit_test(a_file_that_nobody_names_is_removed),
});
