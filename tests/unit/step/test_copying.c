/* A large result is copied in pieces, one in each turn of the loop. */
#include "unit.h"

#include "step_rig.h"

#define PIECES (STEP_BIG / TM_COMMIT_PIECE)

static int begun; /* the turn in which the large result came; in each test's order */

/* The copy has begun, and nothing is committed of it. */
static void note_begin(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  if (!is_big)
    return;
  begun = r->turns;
  assert_true(r->s->copying.is_on);
  assert_int_equal(tm_supervisor_view(r->s)->counts.succeeded, 0);
  for (size_t i = 0; i < r->workers.len; i++)
    assert_true(!r->workers.at[i] || r->workers.at[i]->is_held);
}

static void note_turns(struct job *j, const struct job_seen *e)
{
  if (e->kind == TM_EVENT_TRY_ENDED && e->index == 0)
    j->count = ((struct step_rig *)j)->turns - begun; /* `j` is its first member */
}

static void begin_with(struct step_rig *r, double sync_interval)
{
  step_setup(r);
  r->j.sync = sync_interval;
  r->on_answered = note_begin;
  r->j.on_seen = note_turns;
  job_add(&r->j, "big", 1);
  job_add(&r->j, "ok", 10);
  step_open(r);
  step_start(r);
  step_set_node(r, TM_LOCAL_NODE);
}

static int tries_of_first(const struct step_rig *r)
{
  int n = 0;
  for (size_t i = 0; i < r->j.seen.len; i++)
    n += r->j.seen.at[i].kind == TM_EVENT_TRY_ENDED && r->j.seen.at[i].index == 0;
  return n;
}

static void begin(struct step_rig *r)
{
  begin_with(r, 0.001); /* flushes and syncs while it is copied */
}

/* Until the step has ended, or the test stops it. */
static void run(struct step_rig *r,
                void (*on_answered)(struct step_rig *r, struct memory_worker *w, bool is_big))
{
  begin(r);
  r->on_answered = on_answered;
  step_run(r);
}

/* All rows once, and those of the large result together. Returns where these begin. */
static size_t expect_output(const struct step_rig *r)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_path_join(r->j.job_dir, "score/output/parallel_run_step.txt");
  size_t at = 0;
  assert_int_equal(tm_supervisor_view(r->s)->verdict, TM_COMPLETED);
  assert_int_equal(tm_supervisor_view(r->s)->counts.succeeded, 11);
  assert_true(tm_fs_read_file(tm_fs_real(), path, 1 << 30, &text, NULL) >= 0);
  assert_int_equal(text.len, STEP_BIG + 10 * strlen("ok.000001\n"));
  while (text.data[at] == 'o')
    at += strlen("ok.000001\n");
  for (size_t i = 0; i < STEP_BIG - 1; i++)
    if (text.data[at + i] != 'b')
      fail_msg("byte %zu is not of the large result", i);
  assert_int_equal(text.data[at + STEP_BIG - 1], '\n');
  for (int i = 1; i <= 10; i++) {
    char *row = tm_xprintf("ok.%06d\n", i);
    assert_non_null(memmem(text.data, text.len, row, strlen(row)));
    free(row);
  }
  tm_buf_release(&text);
  free(path);
  return at;
}

static void the_loop_turns_while_a_result_is_copied(void **state)
{
  struct step_rig r;
  run(&r, note_begin);
  assert_int_equal(expect_output(&r), 0); /* it came first */
  assert_true(r.j.count >= (int)PIECES);
  assert_int_equal(tries_of_first(&r), 1);
  step_close(&r);
}

static void end_worker_too(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  note_begin(r, w, is_big);
  if (is_big)
    memory_end(w);
}

static void the_end_of_its_worker_waits(void **state)
{
  struct step_rig r;
  run(&r, end_worker_too);
  assert_int_equal(expect_output(&r), 0);
  assert_true(r.j.count >= (int)PIECES);
  assert_int_equal(tries_of_first(&r), 1);
  assert_int_equal(job_count(&r.j, TM_EVENT_WORKER_ENDED),
                   job_count(&r.j, TM_EVENT_WORKER_STARTED));
  step_close(&r);
}

static void lose(struct step_rig *r)
{
  tm_supervisor_silence_node(r->s, TM_LOCAL_NODE);
  tm_supervisor_lose_node(r->s, TM_LOCAL_NODE);
  assert_true(r->s->workers.len > 0);
  tm_supervisor_set_node(r->s, tm_fleet_node(&r->fleet, TM_LOCAL_NODE), /* it comes back */
                         &(struct tm_temp_dirs) { (char *)"/tmp/again", (char *)"" });
  assert_true(r->s->copying.is_on);
}

static void lose_node(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  note_begin(r, w, is_big);
  if (is_big)
    lose(r);
}

static void the_loss_of_a_node_waits(void **state)
{
  struct step_rig r;
  run(&r, lose_node);
  assert_int_equal(expect_output(&r), 0);
  assert_int_equal(tries_of_first(&r), 1);
  assert_non_null(job_find(&r.j, TM_EVENT_WORKER_ENDED, "lost with its node"));
  step_close(&r);
}

static void start_and_lose_node(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  note_begin(r, w, is_big);
  if (!is_big)
    return;
  step_start_worker(r, 1);
  lose(r);
  r->has_one = false;
  r->is_full = true;
}

static void note_full(struct job *j, const struct job_seen *e)
{
  struct step_rig *r = (struct step_rig *)j;
  note_turns(j, e);
  if (e->kind == TM_EVENT_MESSAGE && strstr(e->text, "cannot watch"))
    r->is_full = false;
}

/* Its node is gone: no message reaches it any more. */
static void a_worker_of_a_lost_node_cannot_be_reached(void **state)
{
  struct step_rig r;
  begin(&r);
  r.has_one = true;
  r.on_answered = start_and_lose_node;
  r.j.on_seen = note_full;
  step_run(&r);
  assert_int_equal(expect_output(&r), 0);
  assert_false(r.is_full);
  step_close(&r);
}

/* The link of another worker had ended long before, and the news of its end has to wait. */
static void end_mute_worker(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  note_begin(r, w, is_big);
  for (size_t i = 0; is_big && i < r->workers.len; i++)
    if (r->workers.at[i] && r->workers.at[i] != w) {
      r->s->by_number.at[r->workers.at[i]->number]->mute_ns = 1;
      memory_end(r->workers.at[i]);
    }
  if (is_big)
    tm_supervisor_tick(r->s);
}

static void a_worker_whose_end_waits_is_not_mute(void **state)
{
  struct step_rig r;
  run(&r, end_mute_worker);
  assert_int_equal(expect_output(&r), 0);
  assert_null(job_find(&r.j, TM_EVENT_MESSAGE, "closed its connection"));
  assert_int_equal(job_count(&r.j, TM_EVENT_WORKER_ENDED),
                   job_count(&r.j, TM_EVENT_WORKER_STARTED));
  step_close(&r);
}

static void a_copy_that_differs_fails_the_try(void **state)
{
  struct step_rig r;
  begin(&r);
  r.on_answered = NULL;
  r.bad_bigs = 1;
  step_run(&r);
  expect_output(&r);
  assert_int_equal(tries_of_first(&r), 2);
  assert_non_null(job_find(&r.j, TM_EVENT_TRY_ENDED, "is not what its worker wrote"));
  step_close(&r);
}

static void cancel(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  if (!is_big)
    return;
  tm_supervisor_cancel(r->s, true);
  assert_true(r->s->copying.is_on);
  assert_false(tm_step_life_may(&r->s->life, TM_STEP_MAY_START));
  for (size_t i = 0; i < r->workers.len; i++)
    if (r->workers.at[i])
      memory_end(r->workers.at[i]);
  assert_true(r->s->workers.len > 0);
}

static void a_step_is_canceled_while_it_copies(void **state)
{
  struct step_rig r;
  run(&r, cancel);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_CANCELED_JOB);
  assert_int_equal(tm_supervisor_view(r.s)->counts.succeeded, 1);
  step_close(&r);
}

static void cancel_and_lose_node(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  if (!is_big)
    return;
  tm_supervisor_cancel(r->s, true);
  tm_supervisor_silence_node(r->s, TM_LOCAL_NODE);
  tm_supervisor_lose_node(r->s, TM_LOCAL_NODE);
  assert_true(r->s->workers.len > 0);
}

static void a_canceled_step_loses_its_node_while_it_copies(void **state)
{
  struct step_rig r;
  begin_with(&r, 600); /* no sync asks whether it has ended */
  r.on_answered = cancel_and_lose_node;
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_CANCELED_JOB);
  assert_int_equal(tm_supervisor_view(r.s)->counts.succeeded, 1);
  step_close(&r);
}

/* As if it were killed before it could report the file. */
static void leave_file_and_end(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  const char *name = r->s->by_number.at[w->number]->name;
  char *mine = tm_xprintf("%s/%s.7.3.0", r->s->spill_dir, name);
  char *other = tm_xprintf("%s/%s0.7.3.0", r->s->spill_dir, name);
  r->on_answered = NULL;
  assert_true(tm_fs_write_file(tm_fs_real(), mine, "abc", 3, 0600, NULL) >= 0);
  assert_true(tm_fs_write_file(tm_fs_real(), other, "abc", 3, 0600, NULL) >= 0);
  w->is_ended = true; /* the end follows */
  free(mine);
  free(other);
}

static void the_files_of_a_worker_are_removed_with_it(void **state)
{
  struct step_rig r;
  step_setup(&r);
  r.on_answered = leave_file_and_end;
  job_add(&r.j, "ok", 10);
  step_open(&r);
  step_start(&r);
  step_set_node(&r, TM_LOCAL_NODE);
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_COMPLETED);
  char *mine = tm_path_join(r.s->spill_dir, "process000.7.3.0");
  char *other = tm_path_join(r.s->spill_dir, "process0000.7.3.0");
  assert_false(tm_fs_exists(tm_fs_real(), mine));
  assert_true(tm_fs_exists(tm_fs_real(), other));
  free(mine);
  free(other);
  step_close(&r);
}

static void stop(struct step_rig *r, struct memory_worker *w, bool is_big)
{
  if (!is_big)
    return;
  memory_end(w);
  tm_loop_stop(&r->loop);
}

/* What waits is dropped. */
static void a_step_is_closed_while_it_copies(void **state)
{
  struct step_rig r;
  run(&r, stop);
  assert_true(r.s->copying.is_on);
  step_close(&r);
}

/* A mini-batch with a large result and a bad item: it is run in parts. */
static void begin_in_parts(struct step_rig *r)
{
  step_setup(r);
  r->j.sync = 0.001;
  r->j.size = 2;
  r->j.max_try = 1;
  r->j.isolates = true;
  job_add(&r->j, "big", 1);
  job_add(&r->j, "bad", 1);
  job_add(&r->j, "ok", 10);
  step_open(r);
  step_start(r);
  step_set_node(r, TM_LOCAL_NODE);
}

static void the_rows_of_parts_are_copied_in_pieces(void **state)
{
  struct step_rig r;
  struct tm_buf text = TM_BUF_NONE;
  begin_in_parts(&r);
  step_run(&r);
  char *path = tm_path_join(r.j.job_dir, "score/output/parallel_run_step.txt");
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_COMPLETED);
  assert_int_equal(tm_supervisor_view(r.s)->counts.succeeded, 6);
  assert_int_equal(tm_supervisor_view(r.s)->counts.items_failed, 1);
  assert_true(tm_fs_read_file(tm_fs_real(), path, 1 << 30, &text, NULL) >= 0);
  assert_int_equal(text.len, STEP_BIG + 10 * strlen("ok.000001\n"));
  const char *first = memchr(text.data, 'b', text.len);
  for (size_t i = 0; i < STEP_BIG - 1; i++)
    assert_int_equal(first[i], 'b');
  assert_true(r.copies[TM_COPY_PART] >= (int)PIECES);
  assert_true(r.copies[TM_COPY_JOINED] >= 2 * (int)PIECES); /* joined, then copied to the output */
  assert_int_equal(r.copies[TM_COPY_RESULT], 0);
  tm_buf_release(&text);
  free(path);
  step_close(&r);
}

static void cancel_while_joining(struct step_rig *r)
{
  if (r->s->copying.what != TM_COPY_JOINED)
    return;
  r->on_copy = NULL;
  tm_supervisor_cancel(r->s, true);
  for (size_t i = 0; i < r->workers.len; i++)
    if (r->workers.at[i])
      memory_end(r->workers.at[i]);
  assert_false(r->is_ended);
}

static void a_step_is_canceled_while_it_joins(void **state)
{
  struct step_rig r;
  begin_in_parts(&r);
  r.on_copy = cancel_while_joining;
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_CANCELED_JOB);
  assert_int_equal(tm_supervisor_view(r.s)->counts.items_failed, 1); /* it was committed */
  step_close(&r);
}

static void fail_while_joining(struct step_rig *r)
{
  struct tm_err err = TM_ERR_NONE;
  if (r->s->copying.what != TM_COPY_JOINED)
    return;
  r->on_copy = NULL;
  tm_err_set(&err, TM_EDAMAGE, "an error");
  tm_supervisor_fail(r->s, &err);
  for (size_t i = 0; i < r->workers.len; i++)
    if (r->workers.at[i])
      memory_end(r->workers.at[i]);
}

static void a_step_that_fails_while_it_joins_commits_nothing(void **state)
{
  struct step_rig r;
  begin_in_parts(&r);
  r.on_copy = fail_while_joining;
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_FAILED);
  assert_int_equal(tm_supervisor_view(r.s)->counts.items_failed, 0);
  step_close(&r);
}

static void close_while_joining(struct step_rig *r)
{
  if (r->s->copying.what == TM_COPY_JOINED)
    tm_loop_stop(&r->loop);
}

static void a_step_is_closed_while_it_joins(void **state)
{
  struct step_rig r;
  begin_in_parts(&r);
  r.on_copy = close_while_joining;
  step_run(&r);
  assert_true(r.s->copying.is_on);
  step_close(&r);
}

/* A worker whose first mini-batch is late gets no more, and this one keeps its first. */
static void never_be_late(struct job *j, const struct job_seen *e)
{
  const struct tm_roster *roster = &((struct step_rig *)j)->s->sched.roster;
  struct tm_sched_worker *w = tm_roster_worker(roster, 0);
  for (uint64_t seq = w ? w->window.ring.first : 0; w && seq < w->window.ring.next; seq++) {
    struct tm_inflight *in = tm_window_find(&w->window, seq);
    if (in)
      in->handed_ns = INT64_MAX;
  }
}

static void note_waiting_search(struct step_rig *r)
{
  if (r->s->copying.what != TM_COPY_JOINED)
    return;
  r->on_copy = NULL;
  assert_int_equal(r->s->copying.search, 0);
  assert_int_equal(r->s->copying.news.len, 1);
  assert_int_equal(tm_supervisor_view(r->s)->counts.items_failed, 0);
}

/* The end of their worker ends both: the last part of each has failed. */
static void a_search_that_ends_during_a_copy_waits(void **state)
{
  struct step_rig r;
  step_setup(&r);
  r.j.workers = 1;
  r.on_copy = note_waiting_search;
  r.j.on_seen = never_be_late;
  r.j.size = 2;
  r.j.max_try = 1;
  r.j.isolates = true;
  for (int i = 0; i < 2; i++) {
    job_add(&r.j, "big", 1);
    job_add(&r.j, "mute", 1);
  }
  step_open(&r);
  step_start(&r);
  step_set_node(&r, TM_LOCAL_NODE);
  step_run(&r);
  assert_null(r.on_copy); /* they were over together */
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_COMPLETED);
  assert_int_equal(tm_supervisor_view(r.s)->counts.succeeded, 2);
  assert_int_equal(tm_supervisor_view(r.s)->counts.items_failed, 2);
  assert_true(r.copies[TM_COPY_JOINED] >= 4 * (int)PIECES);
  const struct job_seen *first = job_find(&r.j, TM_EVENT_MESSAGE, "mini-batch 0: of its 2 items 1");
  const struct job_seen *next = job_find(&r.j, TM_EVENT_MESSAGE, "mini-batch 1: of its 2 items 1");
  assert_true(first && next && first < next);
  char *text = job_read(r.j.job_dir, "score/output/parallel_run_step.txt");
  assert_int_equal(strlen(text), 2 * STEP_BIG);
  assert_int_equal(strspn(text, "b"), STEP_BIG - 1);
  assert_int_equal(strspn(text + STEP_BIG, "b"), STEP_BIG - 1);
  free(text);
  step_close(&r);
}

UNIT_HOOKS(.serve = job_serve);
UNIT_TESTS({
    cmocka_unit_test(the_loop_turns_while_a_result_is_copied),
    cmocka_unit_test(the_end_of_its_worker_waits),
    cmocka_unit_test(the_loss_of_a_node_waits),
    cmocka_unit_test(a_worker_of_a_lost_node_cannot_be_reached),
    cmocka_unit_test(a_worker_whose_end_waits_is_not_mute),
    cmocka_unit_test(a_copy_that_differs_fails_the_try),
    cmocka_unit_test(a_step_is_canceled_while_it_copies),
    cmocka_unit_test(a_canceled_step_loses_its_node_while_it_copies),
    cmocka_unit_test(a_step_is_closed_while_it_copies),
    cmocka_unit_test(the_files_of_a_worker_are_removed_with_it),
    cmocka_unit_test(the_rows_of_parts_are_copied_in_pieces),
    cmocka_unit_test(a_step_is_canceled_while_it_joins),
    cmocka_unit_test(a_step_that_fails_while_it_joins_commits_nothing),
    cmocka_unit_test(a_step_is_closed_while_it_joins),
    cmocka_unit_test(a_search_that_ends_during_a_copy_waits),
});
