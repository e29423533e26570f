/* test_onnx_data.c - files of data beside a model: where they may be, and how long. */
#include "unit.h"

#include <sys/stat.h>

#include "folder.h"
#include "model/onnx_rig.h"
#include "model/onnx_data.h"

struct rig {
  struct folder d;
  struct tm_onnx_file f;
  char *model;
};

static int setup(void **state)
{
  static struct rig r;
  struct tm_buf b = TM_BUF_NONE;
  r = (struct rig) { 0 };
  folder_init(&r.d);
  assert_int_equal(mkdir(folder_file(&r.d, "model"), 0700), 0);
  assert_int_equal(mkdir(folder_file(&r.d, "model/below"), 0700), 0);
  assert_int_equal(tm_fs_read_file(tm_fs_real(), MODELS "elsewhere.onnx", 1 << 20, &b, NULL), 0);
  folder_put(&r.d, "model/m.onnx", 0, b.data, b.len);
  tm_buf_release(&b);
  r.model = tm_xstrdup(r.d.name);
  assert_int_equal(tm_onnx_file_read(&r.f, tm_fs_real(), r.model, NULL), 0);
  *state = &r;
  return 0;
}

static int teardown(void **state)
{
  struct rig *r = *state;
  tm_onnx_file_release(&r->f);
  free(r->model);
  folder_release(&r->d);
  return 0;
}

/* The model's data are in `location`. NULL: accepted. */
static void check_at(struct rig *r, const char *model, const char *location, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  free(r->f.data_files.at[0].location);
  r->f.data_files.at[0].location = tm_xstrdup(location);
  int rc = tm_onnx_check_data(&r->f, tm_fs_real(), model, &err);
  if (words ? rc >= 0 || !strstr(err.text, words) : rc < 0)
    fail_msg("'%s': '%s', not '%s'", location, err.text, words ? words : "");
}

static void check(struct rig *r, const char *location, const char *words)
{
  check_at(r, r->model, location, words);
}

static void a_file_in_the_folder_or_below_is_accepted(void **state)
{
  struct rig *r = *state;
  char bytes[32] = { 0 };
  folder_put(&r->d, "model/a.bin", 0, bytes, 32);
  folder_put(&r->d, "model/below/b.bin", 0, bytes, 32);
  assert_int_equal(symlink("below/b.bin", folder_file(&r->d, "model/led.bin")), 0);
  check(r, "a.bin", NULL);
  check(r, "./a.bin", NULL);
  check(r, "below/b.bin", NULL);
  check(r, "below/../a.bin", NULL);
  check(r, "led.bin", NULL);
}

static void a_file_elsewhere_is_refused(void **state)
{
  struct rig *r = *state;
  char bytes[32] = { 0 };
  folder_put(&r->d, "secret", 0, bytes, 32);
  assert_int_equal(symlink("../secret", folder_file(&r->d, "model/led")), 0);
  assert_int_equal(symlink("..", folder_file(&r->d, "model/up")), 0);
  check(r, "../secret", "outside of the model's folder");
  check(r, "below/../../secret", "outside of the model's folder");
  check(r, "/etc/passwd", "an absolute path; accepted: a file in the model's folder");
  check(r, "led", "a link that leads out of the model's folder");
  check(r, "up/secret", "a link that leads out of the model's folder");
  check(r, "", "outside of the model's folder");
  check(r, ".", "outside of the model's folder");
}

/* The library would read the offset as an address, whether or not there is such a file. */
static void an_address_in_memory_is_refused(void **state)
{
  struct rig *r = *state;
  char bytes[32] = { 0 };
  assert_int_equal(mkdir(folder_file(&r->d, "model/*"), 0700), 0);
  assert_int_equal(mkdir(folder_file(&r->d, "model/*/_ORT_MEM_ADDR_"), 0700), 0);
  folder_put(&r->d, "model/*/_ORT_MEM_ADDR_/*", 0, bytes, 32);
  folder_put(&r->d, "model/*.bin", 0, bytes, 32);
  check(r, "*/_ORT_MEM_ADDR_/*", "means an address in its memory; accepted: a file in the model's");
  check(r, "*/another", "means an address in its memory");
  check(r, "*.bin", NULL);
}

/* All files of a model may be links into one folder, under other names. */
static void files_beside_the_model_that_a_link_leads_to_are_accepted(void **state)
{
  struct rig *r = *state;
  char bytes[32] = { 0 }, *path;
  folder_put(&r->d, "model/a.bin", 0, bytes, 32);
  folder_put(&r->d, "secret", 0, bytes, 32);
  assert_int_equal(mkdir(folder_file(&r->d, "links"), 0700), 0);
  assert_int_equal(symlink("../model/a.bin", folder_file(&r->d, "links/a.bin")), 0);
  assert_int_equal(symlink("../secret", folder_file(&r->d, "links/s.bin")), 0);
  assert_int_equal(symlink("../model/m.onnx", folder_file(&r->d, "links/m.onnx")), 0);
  path = tm_xstrdup(r->d.name);
  check_at(r, path, "a.bin", NULL);
  check_at(r, path, "s.bin", "a link that leads out of the model's folder");
  free(path);
}

static void a_file_that_is_missing_or_short_is_refused(void **state)
{
  struct rig *r = *state;
  static const char pointer[] = "version https://git-lfs.github.com/spec/v1\n";
  check(r, "none.bin", "the data of tensor 'second' are in 'none.bin', which is missing");
  check(r, "below", "which is not a regular file");
  folder_put(&r->d, "model/short.bin", 0, "0123456789", 10);
  check(r, "short.bin", "which has 10 bytes: the tensor takes 16 from 16 on");
  r->f.data_files.at[0].offset = INT64_MAX;
  check(r, "short.bin", "which has 10 bytes");
  folder_put(&r->d, "model/pointer.bin", 0, pointer, sizeof(pointer) - 1);
  check(r, "pointer.bin", "a Git LFS pointer; run 'git lfs pull'");
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(a_file_in_the_folder_or_below_is_accepted, setup, teardown),
    cmocka_unit_test_setup_teardown(a_file_elsewhere_is_refused, setup, teardown),
    cmocka_unit_test_setup_teardown(an_address_in_memory_is_refused, setup, teardown),
    cmocka_unit_test_setup_teardown(files_beside_the_model_that_a_link_leads_to_are_accepted, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(a_file_that_is_missing_or_short_is_refused, setup, teardown),
});
