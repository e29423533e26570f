/* test_registering.c - outputs become versions when their step is Completed: each once, whichever
 * process is killed. */
#include "unit.h"

#include "store_fixture.h"

#include "base/path.h"
#include "commit/journal.h"
#include "outputs/registering.h"
#include "store/registry.h"

struct world {
  char *dir, *file, *job_dir, *step_dir, *output_dir, *workspace;
  struct tm_step_output outputs[2];
  struct tm_step step, *steps;
  struct tm_pipeline pipeline;
  struct tm_step_view view;
  const struct tm_step_view *views;
  struct tm_job_view job;
  struct tm_events events;
};

static void setup(struct world *w, char *dir)
{
  *w = (struct world) { .dir = dir };
  w->file = tm_path_join(dir, "pipeline.lua");
  w->job_dir = tm_path_join(dir, "job");
  w->step_dir = tm_path_join(dir, "job/score");
  w->output_dir = tm_path_join(w->step_dir, "output");
  store_put(dir, "job/score/output/rows.txt", "1\n", 100);
  store_put(dir, "ws/keep", "", 100);
  w->outputs[0] =
      (struct tm_step_output) { .folder = (char *)"score/output", .register_as = (char *)"rows" };
  w->step = (struct tm_step) { .name = (char *)"score", .outputs = w->outputs, .outputs_len = 1 };
  w->steps = &w->step;
  w->pipeline = (struct tm_pipeline) { .file = w->file, .steps = &w->steps, .steps_len = 1 };
  w->view = (struct tm_step_view) {
    .name = "score", .dir = w->step_dir, .output_dir = w->output_dir, .verdict = TM_COMPLETED
  };
  w->views = &w->view;
  w->job = (struct tm_job_view) { .dir = w->job_dir, .steps = &w->views, .steps_len = 1 };
  w->workspace = tm_path_join(dir, "ws");
}

static void teardown(struct world *w)
{
  free(w->file);
  free(w->job_dir);
  free(w->step_dir);
  free(w->output_dir);
  free(w->workspace);
}

static void assert_adds(struct world *w, size_t versions)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_registered_list all = { 0 };
  char *ws = tm_path_join(w->dir, "ws");
  if (tm_registering_add(&w->job, tm_fs_real(), w->workspace, &w->pipeline, &w->events, &err) < 0)
    fail_msg("%s", err.text);
  (void)tm_registry_list(&all, ws, "rows", NULL);
  assert_int_equal(all.len, versions);
  tm_registered_list_release(&all);
  free(ws);
}

static void a_step_makes_one_version(void **state)
{
  struct world w;
  setup(&w, *state);
  assert_int_equal(tm_registering_check(w.workspace, &w.pipeline, NULL), 0);
  assert_adds(&w, 1);
  assert_adds(&w, 1);
  store_put(*state, "job/score/output/rows.txt", "1\n", 200); /* a later session writes it again */
  assert_adds(&w, 1);
  store_take_away(*state, "job/score/registered"); /* a different job in the same place */
  assert_adds(&w, 2);
  teardown(&w);
}

static void commit(struct world *w, uint64_t index)
{
  struct tm_journal j = { .fd = -1 };
  struct tm_record r = { .kind = TM_RECORD_COMMITTED, .index = index };
  char *path = tm_path_join(w->step_dir, "state/journal");
  store_put(w->dir, "job/score/state/keep", "", 100);
  assert_int_equal(tm_journal_open(&j, tm_fs_real(), path, NULL), 0);
  assert_int_equal(tm_journal_make(&j, NULL), 0);
  tm_journal_add(&j, &r);
  assert_int_equal(tm_journal_flush(&j, NULL), 0);
  tm_journal_close(&j);
  free(path);
}

static void assert_registered(struct world *w, int64_t files, int64_t bytes)
{
  struct tm_registered r = { 0 };
  char *ws = tm_path_join(w->dir, "ws");
  assert_int_equal(tm_registry_find(&r, ws, "rows", 1, NULL), 0);
  assert_int_equal(r.identity.files, files);
  assert_int_equal(r.identity.bytes, bytes);
  assert_int_equal(r.identity.list.len, files);
  tm_registered_release(&r);
  free(ws);
}

/* Killed after its registration, and opened again. */
static void a_step_that_commits_more_changes_its_version(void **state)
{
  struct world w;
  setup(&w, *state);
  commit(&w, 0);
  assert_adds(&w, 1);
  assert_registered(&w, 1, 2);
  store_put(*state, "job/score/output/rows.txt", "1\n2\n", 200);
  store_put(*state, "job/score/output/more.txt", "more\n", 200);
  assert_adds(&w, 1); /* nothing was committed: another process has done that */
  assert_registered(&w, 1, 2);
  commit(&w, 1);
  assert_adds(&w, 1);
  assert_registered(&w, 2, 9);
  store_take_away(*state, "job/score/output/more.txt");
  commit(&w, 2);
  assert_adds(&w, 1);
  assert_registered(&w, 1, 4);
  /* A different job with the same data, for example one that reuses the step, does not change the
   * version. */
  char *other = tm_path_join(w.dir, "other");
  w.job.dir = other;
  commit(&w, 3);
  store_put(*state, "job/score/output/rows.txt", "", 300);
  assert_adds(&w, 1);
  assert_registered(&w, 1, 4);
  free(other);
  teardown(&w);
}

/* Both under one name: each is a version of it. */
static void each_output_makes_one_version(void **state)
{
  struct world w;
  setup(&w, *state);
  char *destination = tm_path_join(w.dir, "there");
  store_put(*state, "there/more.txt", "2\n", 100);
  w.outputs[1] = (struct tm_step_output) { .name = (char *)"more",
                                           .folder = (char *)"score/output.more",
                                           .destination = destination,
                                           .register_as = (char *)"rows" };
  w.step.outputs_len = 2;
  assert_adds(&w, 2);
  assert_adds(&w, 2);
  free(destination);
  teardown(&w);
}

/* The marker is written completely or not at all, but it may belong to another job. */
static void a_wrong_word_is_corrected(void **state)
{
  struct world w;
  setup(&w, *state);
  store_put(*state, "job/score/registered", "", 100);
  assert_adds(&w, 1);
  assert_adds(&w, 1);
  teardown(&w);
}

static void unfinished_or_unrequested_outputs_make_no_version(void **state)
{
  struct world w;
  setup(&w, *state);
  w.view.verdict = TM_FAILED;
  assert_adds(&w, 0);
  w.view.verdict = TM_COMPLETED;
  w.outputs[0].register_as = NULL;
  assert_adds(&w, 0);
  teardown(&w);
}

static void an_unwritable_registry_is_reported_beforehand(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct world w;
  setup(&w, *state);
  store_put(*state, "ws/workspace.db", "not a database, but long enough to be recognised", 1);
  assert_int_equal(tm_registering_check(w.workspace, &w.pipeline, &err), TM_EDAMAGE);
  assert_words(&err, TM_EDAMAGE, "dataset 'rows' could not be registered later");
  w.outputs[0].register_as = NULL;
  assert_int_equal(tm_registering_check(w.workspace, &w.pipeline, &err), 0);
  teardown(&w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(a_step_makes_one_version),
    TEST(a_step_that_commits_more_changes_its_version),
    TEST(each_output_makes_one_version),
    TEST(a_wrong_word_is_corrected),
    TEST(unfinished_or_unrequested_outputs_make_no_version),
    TEST(an_unwritable_registry_is_reported_beforehand),
});
