/* Large results of workers of another node, whose files come late, or never. */
#include "unit.h"

#include "late_files.h"

/* ---- a file that comes late ---- */

static void comes_late(void (*on_spilled)(struct step_rig *r, const char *path))
{
  struct step_rig r;
  begin(&r, on_spilled);
  r.on_turn = show_after_the_others;
  r.j.on_seen = count_others;
  step_run(&r);
  expect_done(&r);
  assert_int_equal(tries_of_first(&r), 1);
  assert_int_equal(messages(&r, "could be read here"), 1);
  end(&r);
}

static void a_file_that_comes_late_is_committed(void **state)
{
  comes_late(hide_first);
}

static void a_file_that_was_short_is_committed(void **state)
{
  comes_late(cut_first);
}

static void a_file_that_had_other_bytes_is_committed(void **state)
{
  comes_late(spoil_first);
}

static void a_file_that_is_there_is_committed_at_once(void **state)
{
  struct step_rig r;
  begin(&r, NULL);
  step_run(&r);
  expect_done(&r);
  assert_int_equal(tries_of_first(&r), 1);
  assert_int_equal(messages(&r, "could be read here"), 0);
  end(&r);
}

static void expect_no_looks(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  assert_int_equal(r->s->announced.list.len, 0);
}

static void a_file_of_this_machine_is_not_looked_at(void **state)
{
  struct step_rig r;
  step_setup(&r);
  r.on_answered = expect_no_looks;
  job_add(&r.j, "big", 1);
  job_add(&r.j, "ok", 10);
  step_open(&r);
  step_start(&r);
  step_set_node(&r, TM_LOCAL_NODE);
  step_run(&r);
  expect_done(&r);
  end(&r);
}

/* Two are seen at the same time: one waits until the other is copied. */
static void results_are_copied_one_after_the_other(void **state)
{
  struct step_rig r;
  step_setup(&r);
  r.j.sync = 0.001;
  job_add(&r.j, "big", 6);
  job_add(&r.j, "ok", 10);
  step_open(&r);
  step_start(&r);
  step_set_node(&r, NODE);
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->counts.succeeded, 16);
  expect_rows(&r, 6);
  assert_true(r.copies[TM_COPY_RESULT] >= 6 * (int)(STEP_BIG / TM_COMMIT_PIECE));
  end(&r);
}

/* ---- a file that does not come ---- */

static void the_third_time_counts(void **state)
{
  struct step_rig r;
  begin(&r, hide_three);
  r.s->announced.looks.limit_ns = 1;
  step_run(&r);
  expect_done(&r);
  assert_int_equal(messages(&r, "mini-batch 0 is run again, uncounted: the rows of process000 on "
                                "node 1 ("),
                   2);
  assert_int_equal(tries_of_first(&r), 2);
  const struct job_seen *e = job_find(&r.j, TM_EVENT_TRY_ENDED, "the rows of process000 on node 1");
  assert_int_equal(e->try, 1);
  assert_int_equal(e->picked, 3);
  assert_int_equal(e->status, TM_RUN_EXCEPTION);
  assert_int_equal(e->failed, 0);
  assert_non_null(strstr(e->text, "/state/spill/process000.2"));
  assert_non_null(strstr(e->text, "': it does not exist, and should have 18874368 bytes; check"));
  end(&r);
}

static void a_mini_batch_fails_whose_files_never_come(void **state)
{
  struct step_rig r;
  begin(&r, hide);
  r.s->announced.looks.limit_ns = 1;
  r.s->sched.queue.run_max_try = 1;
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_COMPLETED); /* no threshold is set */
  assert_int_equal(tm_supervisor_view(r.s)->counts.succeeded, 10);
  assert_int_equal(tm_supervisor_view(r.s)->counts.failed, 1);
  assert_int_equal(r.spilled, 3);
  expect_rows(&r, 0);
  end(&r);
}

/* ---- parts ---- */

static void begin_in_parts(struct step_rig *r,
                           void (*on_spilled)(struct step_rig *r, const char *path))
{
  step_setup(r);
  r->j.sync = 0.001;
  r->j.size = 2;
  r->j.max_try = 1;
  r->j.isolates = true;
  r->on_spilled = on_spilled;
  job_add(&r->j, "big", 1);
  job_add(&r->j, "bad", 1);
  job_add(&r->j, "ok", 10);
  step_open(r);
  step_start(r);
  step_set_node(r, NODE);
}

static void show_after_five(struct step_rig *r)
{
  if (!is_late(r, 5))
    return;
  r->on_turn = NULL;
  show(r);
}

static void expect_parts(struct step_rig *r)
{
  assert_int_equal(tm_supervisor_view(r->s)->verdict, TM_COMPLETED);
  assert_int_equal(tm_supervisor_view(r->s)->counts.succeeded, 6);
  assert_int_equal(tm_supervisor_view(r->s)->counts.items_failed, 1);
  assert_int_equal(job_count_names(r->s->spill_dir), 0);
  expect_rows(r, 1);
}

static void the_file_of_a_part_comes_late(void **state)
{
  struct step_rig r;
  begin_in_parts(&r, hide_first);
  r.on_turn = show_after_five;
  r.j.on_seen = count_others;
  step_run(&r);
  expect_parts(&r);
  assert_int_equal(r.spilled, 1);
  assert_true(r.copies[TM_COPY_PART] > 0);
  end(&r);
}

static void hide_two(struct step_rig *r, const char *path)
{
  hide(r, path);
  r->on_spilled = r->spilled == 2 ? NULL : r->on_spilled;
}

static void a_part_whose_file_does_not_come_is_run_again(void **state)
{
  struct step_rig r;
  begin_in_parts(&r, hide_two);
  r.s->announced.looks.limit_ns = 1;
  step_run(&r);
  expect_parts(&r);
  assert_int_equal(r.spilled, 3);
  assert_int_equal(messages(&r, "mini-batch 0 is run again, uncounted"), 2);
  end(&r);
}

static void a_part_whose_files_never_come_has_failed(void **state)
{
  struct step_rig r;
  begin_in_parts(&r, hide);
  r.s->announced.looks.limit_ns = 1;
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->counts.items_failed, 2);
  assert_int_equal(r.spilled, 3);
  expect_rows(&r, 0);
  end(&r);
}

UNIT_HOOKS(.serve = job_serve);
UNIT_TESTS({
    cmocka_unit_test(a_file_that_comes_late_is_committed),
    cmocka_unit_test(a_file_that_was_short_is_committed),
    cmocka_unit_test(a_file_that_had_other_bytes_is_committed),
    cmocka_unit_test(a_file_that_is_there_is_committed_at_once),
    cmocka_unit_test(a_file_of_this_machine_is_not_looked_at),
    cmocka_unit_test(results_are_copied_one_after_the_other),
    cmocka_unit_test(the_third_time_counts),
    cmocka_unit_test(a_mini_batch_fails_whose_files_never_come),
    cmocka_unit_test(the_file_of_a_part_comes_late),
    cmocka_unit_test(a_part_whose_file_does_not_come_is_run_again),
    cmocka_unit_test(a_part_whose_files_never_come_has_failed),
});
