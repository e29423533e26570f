/* test_syncer.c - fsyncs on their own thread. */
#include "unit.h"

#include "commit/manifest.h"
#include "commit/syncer.h"
#include "folder.h"

struct run {
  struct folder folder;
  struct tm_loop loop;
  struct tm_syncer syncer;
  struct tm_commit *commit;
  struct tm_sync sync;
  uint64_t added;
  int done;
};

static void init(struct run *r)
{
  struct tm_commit_found found;
  struct tm_err err = TM_ERR_NONE;
  memset(r, 0, sizeof(*r));
  folder_init(&r->folder);
  struct tm_commit_options o = { .fs = tm_fs_real(),
                                 .step_dir = r->folder.path,
                                 .output_dir = r->folder.path,
                                 .output_name = "rows" };
  if (tm_commit_open(&r->commit, &o, &found, &err) < 0 || tm_commit_begin(r->commit, &err) < 0)
    fail_msg("%s", err.text);
  assert_int_equal(tm_loop_init(&r->loop, NULL), 0);
}

static void release(struct run *r)
{
  tm_commit_close(r->commit);
  tm_loop_release(&r->loop);
  folder_release(&r->folder);
}

static void submit_one(struct run *r)
{
  struct tm_outcome o = {
    .index = r->added++, .try = 1, .items = 1, .succeeded = 1, .returned = 1
  };
  assert_int_equal(tm_manifest_add(tm_commit_manifest(r->commit), 0, 1, "x", 1, NULL), 0);
  assert_int_equal(tm_manifest_flush(tm_commit_manifest(r->commit), NULL), 0);
  tm_commit_add_done(r->commit, &o, "row\n", 4);
  assert_int_equal(tm_commit_flush(r->commit, NULL), 0);
  assert_true(tm_commit_sync_begin(r->commit, &r->sync));
  tm_syncer_submit(&r->syncer, &r->sync);
  assert_true(tm_syncer_is_busy(&r->syncer));
}

static void on_done(void *data, struct tm_sync *sync)
{
  struct run *r = data;
  assert_ptr_equal(sync, &r->sync);
  assert_int_equal(sync->code, 0);
  assert_false(tm_syncer_is_busy(&r->syncer));
  assert_int_equal(tm_commit_sync_end(r->commit, sync, NULL), 0);
  if (++r->done < 20)
    submit_one(r);
  else
    tm_loop_stop(&r->loop);
}

static void runs_one_after_the_other(void **state)
{
  struct run r;
  init(&r);
  assert_int_equal(tm_syncer_start(&r.syncer, &r.loop, on_done, &r, NULL), 0);
  submit_one(&r);
  tm_loop_run(&r.loop);
  assert_int_equal(r.done, 20);
  assert_false(tm_commit_sync_begin(r.commit, &r.sync)); /* nothing new */
  assert_null(tm_syncer_stop(&r.syncer));
  release(&r);
}

static void waits_for_a_running_sync(void **state)
{
  struct run r;
  init(&r);
  assert_int_equal(tm_syncer_start(&r.syncer, &r.loop, on_done, &r, NULL), 0);
  submit_one(&r);
  assert_ptr_equal(tm_syncer_stop(&r.syncer), &r.sync);
  assert_int_equal(r.sync.code, 0);
  assert_int_equal(tm_commit_sync_end(r.commit, &r.sync, NULL), 0);
  tm_loop_run(&r.loop);
  assert_int_equal(r.done, 0);
  assert_null(tm_syncer_stop(&r.syncer));
  release(&r);
}

UNIT_TESTS({
    cmocka_unit_test(runs_one_after_the_other),
    cmocka_unit_test(waits_for_a_running_sync),
});
