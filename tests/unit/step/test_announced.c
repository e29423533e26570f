/* Large results of workers of another node, whose files come late, or never. */
#include "unit.h"

#include <unistd.h>

#include "step/announced.h"
#include "step_rig.h"

#define NODE 1 /* not this machine, for the step */

/* ---- files that are late: the test hides what the worker wrote ---- */

static void hide(struct step_rig *r, const char *path)
{
  char *away = tm_xprintf("%s/hidden", r->j.dir);
  assert_int_equal(rename(path, away), 0);
  free(r->spill);
  r->spill = tm_xstrdup(path);
  free(away);
}

static void show(struct step_rig *r)
{
  char *away = tm_xprintf("%s/hidden", r->j.dir);
  assert_int_equal(rename(away, r->spill), 0);
  free(away);
}

static void hide_first(struct step_rig *r, const char *path)
{
  r->on_spilled = NULL;
  hide(r, path);
}

/* Only the first half is there. */
static void cut_first(struct step_rig *r, const char *path)
{
  hide_first(r, path);
  char *half = tm_xmalloc(STEP_BIG / 2);
  memset(half, 'b', STEP_BIG / 2);
  assert_true(tm_fs_write_file(tm_fs_real(), path, half, STEP_BIG / 2, 0600, NULL) >= 0);
  free(half);
}

/* As long as the right one. */
static void spoil_first(struct step_rig *r, const char *path)
{
  hide_first(r, path);
  char *rows = tm_xmalloc(STEP_BIG);
  memset(rows, 'x', STEP_BIG);
  assert_true(tm_fs_write_file(tm_fs_real(), path, rows, STEP_BIG, 0600, NULL) >= 0);
  free(rows);
}

static void begin(struct step_rig *r, void (*on_spilled)(struct step_rig *r, const char *path))
{
  step_setup(r);
  r->j.sync = 0.001;
  r->j.workers = 1; /* the worker that has announced does the rest */
  r->on_spilled = on_spilled;
  job_add(&r->j, "big", 1);
  job_add(&r->j, "ok", 10);
  step_open(r);
  step_start(r);
  step_set_node(r, NODE);
}

static int tries_of_first(const struct step_rig *r)
{
  int n = 0;
  for (size_t i = 0; i < r->j.seen.len; i++)
    n += r->j.seen.at[i].kind == TM_EVENT_TRY_ENDED && r->j.seen.at[i].index == 0;
  return n;
}

static int messages(const struct step_rig *r, const char *text)
{
  int n = 0;
  for (size_t i = 0; i < r->j.seen.len; i++)
    n += r->j.seen.at[i].kind == TM_EVENT_MESSAGE && strstr(r->j.seen.at[i].text, text);
  return n;
}

static void expect_rows(const struct step_rig *r, size_t bigs)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_path_join(r->j.job_dir, "score/output/parallel_run_step.txt");
  size_t rows = 0, bytes = 0;
  assert_true(tm_fs_read_file(tm_fs_real(), path, 1 << 30, &text, NULL) >= 0);
  assert_int_equal(text.len, bigs * STEP_BIG + 10 * strlen("ok.000001\n"));
  for (size_t i = 0; i < text.len; i++) {
    rows += text.data[i] == '\n';
    bytes += text.data[i] == 'b';
  }
  assert_int_equal(rows, bigs + 10);
  assert_int_equal(bytes, bigs * (STEP_BIG - 1));
  tm_buf_release(&text);
  free(path);
}

/* Every row once, and no file is left. */
static void expect_done(struct step_rig *r)
{
  assert_int_equal(tm_supervisor_view(r->s)->verdict, TM_COMPLETED);
  assert_int_equal(tm_supervisor_view(r->s)->counts.succeeded, 11);
  expect_rows(r, 1);
  assert_int_equal(job_count_names(r->s->spill_dir), 0);
}

static void end(struct step_rig *r)
{
  step_close(r);
  free(r->spill);
}

/* ---- a file that comes late ---- */

static void count_others(struct job *j, const struct job_seen *e)
{
  j->count += e->kind == TM_EVENT_TRY_ENDED && e->index > 0;
}

/* A look has not seen the file, and `others` mini-batches are over. */
static bool is_late(const struct step_rig *r, int others)
{
  const struct tm_list *list = &r->s->announced.list;
  return r->j.count >= others && list->len > 0 &&
         TM_LIST_OWNER(tm_list_first(list), struct tm_announced, item)->look.wait_ns > 0;
}

static void show_after_the_others(struct step_rig *r)
{
  if (!is_late(r, 10))
    return;
  r->on_turn = NULL;
  assert_int_equal(r->s->sched.running, 1);
  if (tm_fs_exists(tm_fs_real(), r->spill))
    assert_int_equal(unlink(r->spill), 0);
  show(r);
}

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

static void hide_three(struct step_rig *r, const char *path)
{
  hide(r, path);
  r->on_spilled = r->spilled == 3 ? NULL : r->on_spilled;
}

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

/* ---- what happens meanwhile ---- */

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

/* While the first of two is copied. */
static void lose_while_copying(struct step_rig *r)
{
  if (r->s->announced.list.len < 2)
    return;
  r->on_copy = NULL;
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
  assert_int_equal(r.spilled, 3); /* the one that had been seen before counts */
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
    cmocka_unit_test(the_file_of_a_part_comes_late),
    cmocka_unit_test(a_part_whose_file_does_not_come_is_run_again),
    cmocka_unit_test(a_part_whose_files_never_come_has_failed),
});
