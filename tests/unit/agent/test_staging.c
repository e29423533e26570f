/* test_staging.c - where files of context:output_file() are before they are committed: in the job,
 * or in the destination that the output folder leads to, which the setup may name. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent_msg.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"
#include "tree_fixture.h"

#define STAGING "/job/staging/process000.7"

static void expect(char *path, const char *expected)
{
  assert_string_equal(path, expected);
  free(path);
}

static void the_setup_names_the_folder(void **state)
{
  char *outputs[] = { (char *)"", (char *)"more", (char *)"own" };
  char *staged_in[] = { (char *)"/job/out/.s1", (char *)"/job/out.more/.s2", (char *)"" };
  struct tm_setup s = { .output_dir = (char *)"/job/out",
                        .outputs = outputs,
                        .outputs_len = 3,
                        .staged_in = staged_in,
                        .staged_in_len = 3 };
  expect(tm_output_file_staged_by(&s, STAGING, "a/b"), "/job/out/.s1/process000.7/a/b");
  expect(tm_output_file_staged_by(&s, STAGING, "/more/b"), "/job/out.more/.s2/process000.7/b");
  char *own = tm_output_file_below(STAGING, "/own/b");
  expect(tm_output_file_staged_by(&s, STAGING, "/own/b"), own);
  free(own);
}

/* The folder's name is that of the machine that the worker runs on. */
static void without_a_setup_the_link_names_it(void **state)
{
  struct tm_setup s = { .output_dir = tm_path_join(*state, "out") };
  char *target = tm_path_join(*state, "target"), *within;
  tree_folder(*state, "target");
  assert_null(tm_output_staging(tm_fs_real(), target));
  expect(tm_output_file_staged_by(&s, STAGING, "b"), STAGING "/b");
  assert_int_equal(symlink(target, s.output_dir), 0);
  within = tm_output_staging(tm_fs_real(), s.output_dir);
  assert_non_null(within);
  char *path = tm_path_join(within, "process000.7/b");
  expect(tm_output_file_staged_by(&s, STAGING, "b"), path);
  free(path);
  free(within);
  free(target);
  free(s.output_dir);
}

UNIT_TESTS({
    cmocka_unit_test(the_setup_names_the_folder),
    cmocka_unit_test_setup_teardown(without_a_setup_the_link_names_it, tree_setup, tree_teardown),
});
