/* test_side_files.c - the files that a step reads beside its inputs: recorded, and compared. */
#include "unit.h"

#include "store_fixture.h"

#include "record/input_record.h"
#include "record/side_files.h"

struct rig {
  const char *dir;
  struct tm_dataset *sets[2];
  struct tm_step step;
};

static void open_rig(struct rig *r, const char *dir)
{
  *r = (struct rig) { .dir = dir, .sets = { store_files(dir, "a"), store_files(dir, "b") } };
  r->step.side_inputs = r->sets;
  r->step.side_inputs_len = 2;
  store_put(dir, "a/x", "one", 100);
  store_put(dir, "a/y", "two", 100);
  store_put(dir, "b/x", "three", 100);
}

static void close_rig(struct rig *r)
{
  tm_dataset_free(r->sets[0]);
  tm_dataset_free(r->sets[1]);
}

static struct tm_side_files *listed(struct rig *r)
{
  struct tm_side_files *s = tm_side_files_new(tm_fs_real(), &r->step, r->dir);
  tm_side_files_list(s);
  return s;
}

static void record(struct rig *r, bool by_content)
{
  struct tm_identity all = { .is_listed = true, .has_contents = true };
  struct tm_side_files *s = listed(r);
  for (int i = 0; i < 2; i++)
    assert_int_equal(tm_input_record_list(&all, tm_fs_real(), r->sets[i], NULL, NULL), 0);
  assert_int_equal(tm_side_files_write(s, by_content ? &all : NULL, true, NULL), 0);
  tm_identity_release(&all);
  tm_side_files_free(s);
}

/* What has changed, with "D" for the folder; to free(). */
static char *changes(struct rig *r)
{
  struct tm_buf words = TM_BUF_NONE, out = TM_BUF_NONE;
  struct tm_side_files *s = listed(r);
  tm_side_files_compare(s, &words);
  tm_side_files_free(s);
  for (const char *at = tm_buf_str(&words); *at;) {
    bool is_dir = strncmp(at, r->dir, strlen(r->dir)) == 0;
    tm_buf_add_char(&out, is_dir ? 'D' : *at);
    at += is_dir ? strlen(r->dir) : 1;
  }
  tm_buf_release(&words);
  return out.len > 0 ? tm_buf_take(&out) : tm_xstrdup("");
}

static void expect(struct rig *r, const char *words)
{
  char *said = changes(r);
  assert_string_equal(said, words);
  free(said);
}

static void each_side_input_is_named(void **state)
{
  struct rig r;
  open_rig(&r, *state);
  r.sets[1]->name = tm_xstrdup("words");
  expect(&r, ""); /* no record: from before there was one */
  record(&r, false);
  expect(&r, "");
  store_put(*state, "a/y", "four", 100);
  store_put(*state, "b/x", "three", 101);
  expect(&r, "file of side input 1 'D/a/y': size 3 -> 4; file of side input 'words' 'D/b/x': "
             "modified 1970-01-01T00:01:40.000000Z -> 1970-01-01T00:01:41.000000Z");
  r.step.config.model = (char *)"m";
  store_put(*state, "a/y", "two", 100);
  store_take_away(*state, "b/x");
  expect(&r, "file of the model 'D/b/x' is gone");
  store_put(*state, "b/x", "three", 100);
  expect(&r, "");
  close_rig(&r);
}

static void contents_decide_where_only_the_time_differs(void **state)
{
  struct rig r;
  open_rig(&r, *state);
  record(&r, true);
  store_put(*state, "a/x", "one", 200);
  store_put(*state, "b/x", "three", 200);
  expect(&r, "");
  store_put(*state, "a/y", "owt", 200);
  char *said = changes(&r);
  assert_non_null(strstr(said, "file of side input 1 'D/a/y': modified "));
  free(said);
  store_put(*state, "a/x", "two", 200); /* the same two texts, exchanged */
  store_put(*state, "a/y", "one", 200);
  said = changes(&r);
  assert_non_null(strstr(said, "file of side input 1 'D/a/x': modified "));
  free(said);
  record(&r, false); /* now without hashes */
  store_put(*state, "a/x", "two", 300);
  said = changes(&r);
  assert_non_null(strstr(said, "file of side input 1 'D/a/x': modified "));
  free(said);
  close_rig(&r);
}

static void what_the_job_keeps_is_not_recorded(void **state)
{
  struct rig r;
  char *path = tm_path_join(*state, "side_input.1");
  open_rig(&r, *state);
  r.sets[0]->mode = TM_DATASET_DOWNLOAD;
  r.sets[1]->step = tm_xstrdup("earlier");
  record(&r, false);
  assert_false(tm_fs_exists(tm_fs_real(), path));
  store_put(*state, "a/x", "other", 200);
  expect(&r, "");
  close_rig(&r);
  free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(each_side_input_is_named),
    TEST(contents_decide_where_only_the_time_differs),
    TEST(what_the_job_keeps_is_not_recorded),
});
