/* test_registered.c - registered inputs: no message while they are unchanged, and a warning when
 * they are not. */
#include "unit.h"

#include "store_fixture.h"

#include "snapshot/registered.h"
#include "store/registry.h"

static void on_changed(void *data, const char *words)
{
  struct tm_buf *out = data;
  tm_buf_add_str(out, words);
}

/* Registers in/a as "digits", version 1, as the input of a step that names it. */
static struct tm_dataset *registered(const char *dir)
{
  struct tm_dataset *d = store_files(dir, "in/*");
  struct tm_registration r = { .fs = tm_fs_real(), .name = "digits", .dataset = d, .wall_ns = 1 };
  struct tm_registered out;
  struct tm_err err = TM_ERR_NONE;
  if (tm_registry_add(&out, dir, &r, &err) < 0)
    fail_msg("%s", err.text);
  tm_registered_release(&out);
  d->registered = tm_xstrdup("digits");
  d->version = 1;
  d->workspace = tm_xstrdup(dir);
  return d;
}

static void assert_said(struct tm_dataset *d, const char *expected)
{
  struct tm_step step = { .name = (char *)"score", .inputs = &d, .inputs_len = 1 }, *steps = &step;
  struct tm_pipeline p = { .steps = &steps, .steps_len = 1 };
  struct tm_buf out = TM_BUF_NONE;
  tm_registered_check(&p, tm_fs_real(), on_changed, &out);
  assert_string_equal(tm_buf_str(&out), expected);
  tm_buf_release(&out);
}

static void a_change_is_reported_with_step_and_version(void **state)
{
  struct tm_dataset *d;
  store_put(*state, "in/a.csv", "0123456789", 100);
  d = registered(*state);
  assert_said(d, "");
  store_put(*state, "in/a.csv", "0123456789ab", 100);
  assert_said(d, "step 'score': dataset 'digits' version 1 has changed since it was registered: "
                 "input 'in/a.csv': size 10 -> 12");
  tm_dataset_free(d);
}

static void a_forgotten_one_is_reported(void **state)
{
  struct tm_dataset *d;
  struct tm_buf expected = TM_BUF_NONE;
  store_put(*state, "in/a.csv", "", 100);
  d = registered(*state);
  assert_int_equal(tm_registry_remove(*state, "digits", 0, NULL), 1);
  tm_buf_printf(&expected,
                "step 'score': dataset 'digits' version 1 has changed since it was registered: no "
                "dataset 'digits' is registered in the workspace '%s'; 'tidemill dataset list' "
                "lists those that are",
                (const char *)*state);
  assert_said(d, expected.data);
  tm_buf_release(&expected);
  tm_dataset_free(d);
}

static void an_unregistered_one_is_not_examined(void **state)
{
  struct tm_dataset *d = store_files(*state, "nothing");
  assert_said(d, "");
  tm_dataset_free(d);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(a_change_is_reported_with_step_and_version),
    TEST(a_forgotten_one_is_reported),
    TEST(an_unregistered_one_is_not_examined),
});
