/* test_input_look.c - finds inputs that name nothing before there is a job; an input that cannot be
 * judged counts as one that names files. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <dirent.h>

#include "base/mem.h"
#include "data/files/input_look.h"
#include "tree_fixture.h"

enum { PATHS = 4 };

static int setup(void **state)
{
  if (tree_setup(state) != 0)
    return -1;
  tree_file(*state, "in/a.txt", "", 0);
  tree_file(*state, "in/deep/below/b.png", "", 0);
  tree_file(*state, "in/.hidden/c.jpg", "", 0);
  tree_folder(*state, "empty");
  tree_file(*state, "dots/.d", "", 0);
  tree_link(*state, "link", "in");
  tree_link(*state, "nowhere", "gone");
  return 0;
}

/* The message about one input with these paths, with "@" for the root; "" if it may name files. The
 * caller frees it. */
static char *words_of(const char *root, enum tm_dataset_kind kind, const char *const *paths)
{
  struct tm_dataset d = { .kind = kind, .base_dir = (char *)(uintptr_t)root };
  struct tm_dataset *inputs[] = { &d };
  char *own[PATHS];
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf text = TM_BUF_NONE;
  for (d.paths = own; paths[d.paths_len] != NULL; d.paths_len++)
    own[d.paths_len] = (char *)(uintptr_t)paths[d.paths_len];
  int rc = tm_inputs_look(tm_fs_real(), inputs, 1, &err);
  assert_int_equal(rc, err.text[0] ? TM_ENOINPUT : 0);
  for (const char *at = err.text; *at;) {
    bool is_root = strncmp(at, root, strlen(root)) == 0;
    tm_buf_add(&text, is_root ? "@" : at, 1);
    at += is_root ? strlen(root) : 1;
  }
  return text.len > 0 ? tm_buf_take(&text) : tm_xstrdup("");
}

static void expect(void **state, enum tm_dataset_kind kind, const char *path, const char *want)
{
  char *words = words_of(*state, kind, (const char *const[]) { path, NULL });
  if (strcmp(words, want) != 0)
    fail_msg("'%s': the message is '%s', not '%s'", path, words, want);
  free(words);
}

static void existing_and_possible_files_are_input(void **state)
{
  static const char *const paths[] = {
    "in",         "in/a.txt", "in/*.txt", "in/**/*.png", "**/b.png", "i?/a.t[xy]t",  "{gone,in}/*",
    "link/*.txt", "link",     "*/a.txt",  "in/*",        "in/**",    "in/.h*/c.jpg", "**/b.{j,p}*",
  };
  for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
    expect(state, TM_DATASET_FILES, paths[i], "");
  expect(state, TM_DATASET_MANIFEST, "in/a.txt", "");
  expect(state, TM_DATASET_MANIFEST, "-", "");
  expect(state, TM_DATASET_FAILED, "gone", "");
}

static void an_unknown_name_is_reported_with_the_nearest(void **state)
{
  static const struct {
    const char *path, *want;
  } cases[] = {
    { "gone", "no input: '@/gone' does not exist" },
    { "inn", "no input: '@/inn' does not exist (did you mean '@/in'?)" },
    { "im/a.txt", "no input: '@/im/a.txt' does not exist (did you mean '@/in/a.txt'?)" },
    { "im/q.txt", "no input: '@/im/q.txt' does not exist" },
    { "in/A.txt", "no input: '@/in/A.txt' does not exist (did you mean '@/in/a.txt'?)" },
    { "empty", "no input: '@/empty' holds no files" },
    { "dots", "no input: '@/dots' holds no files" },
    { "in/*.png", "no input: nothing matches 'in/*.png' in '@'" },
    { "in/**/*.jpg", "no input: nothing matches 'in/**/*.jpg' in '@'" },
    { "im/*.txt", "no input: nothing matches 'im/*.txt' in '@' (did you mean the folder '@/in'?)" },
    { "in/a.txt/*", "no input: nothing matches 'in/a.txt/*' in '@'" },
    { "https://a.b/c.csv", "no input: 'https://a.b/c.csv' is not a path; URLs are not read: fetch "
                           "or mount the files first" },
    { "dots/*", "no input: nothing matches 'dots/*' in '@'" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    expect(state, TM_DATASET_FILES, cases[i].path, cases[i].want);
  expect(state, TM_DATASET_MANIFEST, "gone", "no input: the list '@/gone' does not exist");
}

static void one_path_that_names_something_is_enough(void **state)
{
  char *words =
      words_of(*state, TM_DATASET_FILES, (const char *const[]) { "gone", "in/*.txt", NULL });
  assert_string_equal(words, "");
  free(words);
  words = words_of(*state, TM_DATASET_FILES, (const char *const[]) { "gone", "x*", NULL });
  assert_string_equal(words, "no input: nothing matches 'x*' in '@'; '@/gone' does not exist");
  free(words);
}

/* A folder of TM_LOOK_NAMES + 1 names. */
static int read_many(void *self, const char *path, tm_on_name on_name, void *data)
{
  int rc = 0;
  for (int i = 0; i <= TM_LOOK_NAMES && rc == 0; i++)
    rc = on_name(data, "x", DT_REG);
  return rc;
}

static void a_folder_beyond_the_limit_of_names_may_match(void **state)
{
  struct tm_fs fs = *tm_fs_real();
  char *paths[] = { (char *)"in/*.png" };
  struct tm_dataset d = {
    .kind = TM_DATASET_FILES, .base_dir = *state, .paths = paths, .paths_len = 1
  };
  struct tm_dataset *inputs[] = { &d };
  assert_int_equal(tm_inputs_look(&fs, inputs, 1, NULL), TM_ENOINPUT);
  fs.dir_read = read_many;
  assert_int_equal(tm_inputs_look(&fs, inputs, 1, NULL), 0);
}

static void the_output_of_another_step_is_not_examined(void **state)
{
  char *paths[] = { (char *)"step/output" };
  struct tm_dataset d = { .kind = TM_DATASET_FILES, .paths = paths, .paths_len = 1 };
  struct tm_dataset *inputs[] = { &d };
  assert_int_equal(tm_inputs_look(tm_fs_real(), inputs, 1, NULL), 0);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, setup, tree_teardown)

UNIT_TESTS({
    IN_TREE(existing_and_possible_files_are_input),
    IN_TREE(an_unknown_name_is_reported_with_the_nearest),
    IN_TREE(one_path_that_names_something_is_enough),
    IN_TREE(a_folder_beyond_the_limit_of_names_may_match),
    IN_TREE(the_output_of_another_step_is_not_examined),
});
