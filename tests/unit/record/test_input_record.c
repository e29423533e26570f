/* test_input_record.c - the record of the files that a step has read: added one by one, on disk,
 * and compared with a new listing. */
#include "unit.h"

#include "store_fixture.h"

#include "data/splitter.h"
#include "record/input_record.h"

static char *record_path(const char *dir)
{
  return tm_path_join(dir, "inputs");
}

static int on_file(void *data, uint32_t input, const struct tm_item *file, struct tm_err *err)
{
  return tm_input_record_add(data, input, file, err);
}

/* As the lister does it. */
static void cut_all(struct tm_input_record *r, const struct tm_dataset *const *inputs, size_t n,
                    bool by_content)
{
  struct tm_splitter_options o = {
    .inputs = inputs, .inputs_len = n, .mini_batch_size = 2, .on_file = on_file, .data = r
  };
  struct tm_mini_batch mb = { 0 };
  struct tm_splitter *splitter = tm_splitter_open(&o);
  struct tm_err err = TM_ERR_NONE;
  tm_input_record_init(r, tm_fs_real(), inputs, by_content);
  while (tm_splitter_next(splitter, &mb, &err) > 0)
    ;
  assert_int_equal(err.code, 0);
  tm_buf_release(&mb.bytes);
  tm_splitter_close(splitter);
}

static void the_reported_files_are_listed_again(void **state)
{
  struct tm_dataset *a = store_files(*state, "a"), *b = store_files(*state, "b/* a/1");
  const struct tm_dataset *const inputs[] = { a, b };
  struct tm_input_record r;
  struct tm_identity now = { .is_listed = true };
  for (int i = 0; i < 5; i++) {
    char *name = tm_xprintf("%s/%d", i % 2 ? "a" : "b", i);
    store_put(*state, name, "text", 100 + i);
    free(name);
  }
  cut_all(&r, inputs, 2, false);
  assert_int_equal(r.sum.files, 6);
  assert_int_equal(tm_input_record_list(&now, tm_fs_real(), a, NULL, NULL), 0);
  assert_int_equal(tm_input_record_list(&now, tm_fs_real(), b, NULL, NULL), 0);
  assert_true(tm_identity_is_equal(&r.sum, &now));
  store_put(*state, "b/4", "text", 105);
  tm_identity_release(&now);
  now = (struct tm_identity) { .is_listed = true };
  assert_int_equal(tm_input_record_list(&now, tm_fs_real(), a, NULL, NULL), 0);
  assert_int_equal(tm_input_record_list(&now, tm_fs_real(), b, NULL, NULL), 0);
  assert_false(tm_identity_is_equal(&r.sum, &now));
  tm_identity_release(&now);
  tm_input_record_release(&r);
  tm_dataset_free(a);
  tm_dataset_free(b);
}

static void an_input_that_comes_again_counts_once(void **state)
{
  struct tm_dataset *a = store_files(*state, "a"), *b = store_files(*state, "b");
  const struct tm_dataset *const inputs[] = { a, b };
  struct tm_item one = { .path = "/x/1", .path_len = 4, .size = 1, .mtime_ns = 2 };
  struct tm_item two = { .path = "/x/2", .path_len = 4, .size = 3, .mtime_ns = 4 };
  struct tm_input_record once, again;
  tm_input_record_init(&once, tm_fs_real(), inputs, false);
  tm_input_record_init(&again, tm_fs_real(), inputs, false);
  tm_input_record_add(&once, 0, &one, NULL);
  tm_input_record_add(&once, 1, &two, NULL);
  tm_input_record_add(&again, 0, &one, NULL);
  tm_input_record_add(&again, 1, &one, NULL);
  tm_input_record_add(&again, 1, &two, NULL);
  tm_input_record_add(&again, 1, NULL, NULL);
  tm_input_record_add(&again, 1, &two, NULL);
  assert_true(tm_identity_is_equal(&once.sum, &again.sum));
  assert_int_equal(again.sum.list.len, 2);
  tm_input_record_release(&once);
  tm_input_record_release(&again);
  tm_dataset_free(a);
  tm_dataset_free(b);
}

static void names_within_a_job_are_those_below_it(void **state)
{
  struct tm_dataset *one = store_files(*state, "one/out"), *two = store_files(*state, "two/out");
  struct tm_identity a = { .is_listed = true }, b = { .is_listed = true };
  store_put(*state, "one/out/x", "1", 7);
  store_put(*state, "two/out/x", "1", 7);
  free(one->base_dir);
  free(two->base_dir);
  one->base_dir = tm_path_join(*state, "one");
  two->base_dir = tm_path_join(*state, "two");
  free(one->paths[0]);
  free(two->paths[0]);
  one->paths[0] = tm_xstrdup("out");
  two->paths[0] = tm_xstrdup("out");
  one->step = tm_xstrdup("s");
  two->step = tm_xstrdup("s");
  assert_int_equal(tm_input_record_list(&a, tm_fs_real(), one, NULL, NULL), 0);
  assert_int_equal(tm_input_record_list(&b, tm_fs_real(), two, NULL, NULL), 0);
  assert_int_equal(a.files, 1);
  assert_string_equal(a.list.at[0].path, "out/x");
  assert_true(tm_identity_is_equal(&a, &b));
  tm_identity_release(&a);
  tm_identity_release(&b);
  tm_dataset_free(one);
  tm_dataset_free(two);
}

static void contents_count_where_that_is_asked(void **state)
{
  struct tm_dataset *d = store_files(*state, "a");
  const struct tm_dataset *const inputs[] = { d };
  struct tm_input_record before, after;
  store_put(*state, "a/1", "one", 5);
  cut_all(&before, inputs, 1, true);
  store_put(*state, "a/1", "one", 6);
  cut_all(&after, inputs, 1, true);
  assert_true(tm_identity_is_equal(&before.sum, &after.sum));
  tm_input_record_release(&after);
  store_put(*state, "a/1", "two", 6);
  cut_all(&after, inputs, 1, true);
  assert_false(tm_identity_is_equal(&before.sum, &after.sum));
  tm_input_record_release(&before);
  tm_input_record_release(&after);
  tm_dataset_free(d);
}

static struct tm_identity sample(void)
{
  struct tm_identity sum = { .files = 2, .bytes = 3, .hash = 9, .is_listed = true };
  tm_identity_add(&sum, "/a", 2, 1, 5);
  tm_identity_add(&sum, "/b\xff", 3, 2, 6);
  return sum;
}

static void it_comes_back_from_the_disk(void **state)
{
  struct tm_identity sum = sample(), found;
  char *path = record_path(*state);
  assert_int_equal(tm_input_record_write(tm_fs_real(), path, &sum, NULL), 0);
  int64_t files, bytes;
  assert_int_equal(tm_input_record_read(&found, tm_fs_real(), path, NULL), 0);
  assert_true(tm_identity_is_equal(&sum, &found));
  assert_int_equal(tm_input_record_sum(&files, &bytes, tm_fs_real(), path, NULL), 0);
  assert_int_equal(files, sum.files);
  assert_int_equal(bytes, sum.bytes);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, "TMINPUTS", 8, 0600, NULL), 0);
  assert_int_equal(tm_input_record_sum(&files, &bytes, tm_fs_real(), path, NULL), TM_EDAMAGE);
  assert_int_equal(found.list.len, 2);
  assert_string_equal(found.list.at[1].path, "/b\xff");
  assert_int_equal(found.list.at[1].mtime_ns, 6);
  tm_identity_release(&sum);
  tm_identity_release(&found);
  free(path);
}

static void every_bad_byte_is_damage(void **state)
{
  struct tm_identity sum = sample(), found;
  struct tm_buf all = TM_BUF_NONE;
  char *path = record_path(*state);
  assert_int_equal(tm_input_record_write(tm_fs_real(), path, &sum, NULL), 0);
  assert_true(tm_fs_read_file(tm_fs_real(), path, 1000, &all, NULL) >= 0);
  for (size_t i = 0; i < all.len; i++) {
    all.data[i] ^= 1;
    assert_int_equal(tm_fs_write_file(tm_fs_real(), path, all.data, all.len, 0600, NULL), 0);
    assert_int_equal(tm_input_record_read(&found, tm_fs_real(), path, NULL), TM_EDAMAGE);
    tm_identity_release(&found);
    all.data[i] ^= 1;
    assert_int_equal(tm_fs_write_file(tm_fs_real(), path, all.data, i, 0600, NULL), 0);
    assert_int_equal(tm_input_record_read(&found, tm_fs_real(), path, NULL), TM_EDAMAGE);
    tm_identity_release(&found);
  }
  tm_buf_release(&all);
  tm_identity_release(&sum);
  free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(the_reported_files_are_listed_again),
    TEST(an_input_that_comes_again_counts_once),
    TEST(names_within_a_job_are_those_below_it),
    TEST(contents_count_where_that_is_asked),
    TEST(it_comes_back_from_the_disk),
    TEST(every_bad_byte_is_damage),
});
