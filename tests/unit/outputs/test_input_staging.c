/* test_input_staging.c - the places of inputs: links and copies, made completely or made again;
 * links at paths that the user chose. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "outputs/input_staging.h"
#include "tree.h"

struct world {
  char *dir, *job;
  struct tm_loop loop;
  struct tm_step step;
  struct tm_step_staging stagings[2];
  struct tm_input_staging *input_staging;
  int code;
  struct tm_err err;
};

static int setup(void **state)
{
  struct world *w = *state = TM_NEW(struct world);
  w->dir = folder_make();
  w->job = tm_path_join(w->dir, "job");
  file_put(w->dir, "job/s/state/x", "", 0600);
  file_put(w->dir, "in/a/1.txt", "1", 0600);
  file_put(w->dir, "in/b/1.txt", "2", 0600);
  file_put(w->dir, "in/b/c/3.txt", "3", 0600);
  assert_int_equal(tm_loop_init(&w->loop, NULL), 0);
  w->step.name = (char *)"s";
  w->step.stagings = w->stagings;
  return 0;
}

static int teardown(void **state)
{
  struct world *w = *state;
  for (size_t i = 0; i < w->step.stagings_len; i++) {
    tm_dataset_free(w->stagings[i].dataset);
    free(w->stagings[i].folder);
    free(w->stagings[i].path);
  }
  tm_loop_release(&w->loop);
  free(w->job);
  folder_remove(w->dir);
  free(w);
  return 0;
}

static void add(struct world *w, const char *definition, const char *path)
{
  struct tm_json *v = tree("FileDataset", "p.lua:3", definition);
  struct tm_step_staging *in = &w->stagings[w->step.stagings_len++];
  struct tm_err err = TM_ERR_NONE;
  tm_json_set(v, "base_dir", tm_json_new_string(w->dir));
  in->dataset = tm_dataset_from_json(v, &err);
  if (!in->dataset)
    fail_msg("%s", err.text);
  in->folder = tm_xprintf("s/inputs/%zu", w->step.stagings_len);
  in->path = path ? tm_path_join(w->dir, path) : NULL;
  in->input = -1;
  tm_json_free(v);
}

static void on_ended(void *data, int code, const struct tm_err *err)
{
  struct world *w = data;
  w->code = code;
  w->err = *err;
  tm_input_staging_stop(w->input_staging);
  w->input_staging = NULL;
}

static int take(struct world *w)
{
  struct tm_input_staging_options o = { .loop = &w->loop,
                                        .fs = tm_fs_real(),
                                        .step = &w->step,
                                        .job_dir = w->job,
                                        .on_ended = on_ended,
                                        .data = w };
  w->code = 1;
  w->input_staging = tm_input_staging_start(&o, &w->err);
  assert_non_null(w->input_staging);
  tm_loop_run(&w->loop);
  assert_null(w->input_staging);
  return w->code;
}

static void reads(struct world *w, const char *name, const char *wanted)
{
  char *path = tm_path_join(w->dir, name);
  struct tm_buf text = TM_BUF_NONE;
  if (wanted)
    assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 100, &text, NULL), 0);
  else
    assert_false(tm_fs_exists(tm_fs_real(), path));
  assert_string_equal(tm_buf_str(&text), wanted ? wanted : "");
  tm_buf_release(&text);
  free(path);
}

static bool is_link(struct world *w, const char *name)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  char *path = tm_path_join(w->dir, name);
  bool yes = fs->stat(fs->self, path, false, &st) == 0 && S_ISLNK(st.mode);
  free(path);
  return yes;
}

static void names_begin_after_the_common_part_of_paths(void **state)
{
  struct world *w = *state;
  add(w, "{'kind':'files','paths':['in/*/1.txt','in/b/c'],'mode':'mount'}", NULL);
  add(w, "{'kind':'files','paths':['in/b/../b/1.txt','in/b/1.txt'],'mode':'download'}", NULL);
  assert_int_equal(take(w), 0);
  reads(w, "job/s/inputs/1/a/1.txt", "1");
  reads(w, "job/s/inputs/1/b/1.txt", "2");
  reads(w, "job/s/inputs/1/b/c/3.txt", "3");
  assert_true(is_link(w, "job/s/inputs/1/a/1.txt"));
  reads(w, "job/s/inputs/2/1.txt", "2");
  assert_false(is_link(w, "job/s/inputs/2/1.txt"));
}

static void a_folder_is_one_link_and_outside_targets_are_copied(void **state)
{
  struct world *w = *state;
  char *link = tm_path_join(w->dir, "in/a/link.txt");
  assert_int_equal(symlink("../b/1.txt", link), 0);
  free(link);
  add(w, "{'kind':'files','paths':['in/a'],'mode':'mount'}", "seen/here");
  add(w, "{'kind':'files','paths':['in/a'],'mode':'download'}", "copied");
  assert_int_equal(tm_input_staging_check(tm_fs_real(), &w->step, w->job, &w->err), 0);
  assert_int_equal(take(w), 0);
  assert_true(is_link(w, "job/s/inputs/1"));
  reads(w, "seen/here/link.txt", "2");
  reads(w, "copied/link.txt", "2");
  assert_false(is_link(w, "job/s/inputs/2/link.txt"));
  assert_int_equal(tm_input_staging_check(tm_fs_real(), &w->step, w->job, &w->err),
                   0); /* its own */
  tm_input_staging_clear(tm_fs_real(), &w->step, w->job);
  reads(w, "seen/here", NULL);
  reads(w, "copied", NULL);
  reads(w, "job/s/inputs/2/1.txt", "1");
}

static void a_place_without_its_mark_is_created_again(void **state)
{
  struct world *w = *state;
  add(w, "{'kind':'files','paths':['in/b'],'mode':'download'}", NULL);
  file_put(w->dir, "job/s/inputs/1/half.txt", "of a copy", 0600);
  assert_int_equal(take(w), 0);
  reads(w, "job/s/inputs/1/half.txt", NULL);
  reads(w, "job/s/inputs/1/c/3.txt", "3");
  file_put(w->dir, "in/b/1.txt", "changed", 0600);
  assert_int_equal(take(w), 0); /* it is complete, so nothing is checked again */
  reads(w, "job/s/inputs/1/1.txt", "2");
}

static void an_existing_file_stays(void **state)
{
  struct world *w = *state;
  add(w, "{'kind':'files','paths':['in/a'],'mode':'mount'}", "in");
  assert_int_equal(tm_input_staging_check(tm_fs_real(), &w->step, w->job, &w->err), TM_EUSAGE);
  assert_non_null(strstr(w->err.text, "step 's': p.lua:3: '"));
  assert_non_null(strstr(w->err.text, "/in' is a folder that is not empty; accepted: "));
  assert_int_equal(take(w), TM_EUSAGE);
  tm_input_staging_clear(tm_fs_real(), &w->step, w->job);
  reads(w, "in/a/1.txt", "1");
}

static void a_missing_one_is_reported_with_its_place(void **state)
{
  struct world *w = *state;
  add(w, "{'kind':'files','paths':['in/*.csv'],'mode':'mount','name':'tables'}", "x");
  assert_int_equal(take(w), TM_ENOINPUT);
  assert_non_null(strstr(w->err.text, "p.lua:3: 'tables': no input: "));
  reads(w, "x", NULL);
}

static void it_can_be_canceled(void **state)
{
  struct world *w = *state;
  struct tm_input_staging_options o = { .loop = &w->loop,
                                        .fs = tm_fs_real(),
                                        .step = &w->step,
                                        .job_dir = w->job,
                                        .on_ended = on_ended,
                                        .data = w };
  char *fifo = tm_path_join(w->dir, "list");
  assert_int_equal(mkfifo(fifo, 0600), 0); /* nobody writes to it, so listing waits for ever */
  free(fifo);
  add(w, "{'kind':'manifest','paths':['list'],'mode':'mount'}", NULL);
  w->input_staging = tm_input_staging_start(&o, &w->err);
  assert_non_null(w->input_staging);
  tm_input_staging_cancel(w->input_staging);
  tm_loop_run(&w->loop);
  assert_int_equal(w->code, -ECANCELED);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
UNIT_TESTS({
    TEST(names_begin_after_the_common_part_of_paths),
    TEST(a_folder_is_one_link_and_outside_targets_are_copied),
    TEST(a_place_without_its_mark_is_created_again),
    TEST(an_existing_file_stays),
    TEST(a_missing_one_is_reported_with_its_place),
    TEST(it_can_be_canceled),
});
