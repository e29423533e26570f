/* test_splitter.c - all mini-batches except the last of each input are full; and the message when
 * there is nothing to cut. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "base/buf.h"
#include "data/splitter.h"
#include "data/item.h"
#include "tree_fixture.h"

enum { PATHS = 8 };

/* A definition on the stack: NULL ends the paths. */
struct input {
  struct tm_dataset d;
  char *paths[PATHS];
};

static void init_input(struct input *in, char *root, enum tm_dataset_kind kind,
                       const char *const *paths)
{
  memset(in, 0, sizeof(*in));
  in->d.kind = kind;
  in->d.base_dir = root;
  in->d.paths = in->paths;
  for (; paths[in->d.paths_len] != NULL; in->d.paths_len++)
    in->paths[in->d.paths_len] = (char *)(uintptr_t)paths[in->d.paths_len];
}

#define FILES(in, ...)                                                                             \
  init_input(in, *state, TM_DATASET_FILES, (const char *const[]) { __VA_ARGS__, NULL })
#define LIST(in, ...)                                                                              \
  init_input(in, *state, TM_DATASET_MANIFEST, (const char *const[]) { __VA_ARGS__, NULL })

struct cut_up {
  struct tm_buf text;     /* "0: a b\n1: c\n": input and names of each mini-batch */
  struct tm_buf warnings; /* one per line */
  struct tm_err no_input; /* the message, when there was none */
  struct tm_err err;
  int rc;
};

static void on_warning(void *data, const char *text)
{
  struct cut_up *out = data;
  tm_buf_printf(&out->warnings, "%s\n", text);
}

static void note_mini_batch(struct cut_up *out, const struct tm_mini_batch *b)
{
  struct tm_reader r;
  struct tm_item item;
  uint32_t items = 0;
  tm_reader_init(&r, b->bytes.data, b->bytes.len);
  tm_buf_printf(&out->text, "%u:", b->dataset);
  for (; tm_item_next(&r, &item); items++) {
    const char *name = item.path + item.path_len;
    while (name[-1] != '/')
      name--;
    tm_buf_add_char(&out->text, ' ');
    tm_buf_add(&out->text, name, (size_t)(item.path + item.path_len - name));
  }
  tm_buf_add_char(&out->text, '\n');
  assert_false(r.bad);
  assert_int_equal(items, b->items);
}

static void cut_up(struct cut_up *out, int64_t size, struct input *a, struct input *b)
{
  const struct tm_dataset *inputs[] = { &a->d, b == NULL ? NULL : &b->d };
  struct tm_mini_batch mini_batch = { .items = 0 };
  memset(out, 0, sizeof(*out));
  struct tm_splitter *splitter =
      tm_splitter_open(&(struct tm_splitter_options) { .inputs = inputs,
                                                       .inputs_len = b == NULL ? 1 : 2,
                                                       .mini_batch_size = size,
                                                       .on_warning = on_warning,
                                                       .data = out });
  while ((out->rc = tm_splitter_next(splitter, &mini_batch, &out->err)) > 0)
    note_mini_batch(out, &mini_batch);
  if (out->rc == 0) {
    assert_int_equal(tm_splitter_next(splitter, &mini_batch, &out->err), 0);
    assert_int_equal(mini_batch.items, 0);
  }
  if (out->rc == 0 && out->text.len == 0)
    assert_int_equal(tm_splitter_no_input(splitter, &out->no_input), TM_ENOINPUT);
  tm_splitter_close(splitter);
  tm_buf_release(&mini_batch.bytes);
}

static void release(struct cut_up *out)
{
  tm_buf_release(&out->text);
  tm_buf_release(&out->warnings);
}

static int setup(void **state)
{
  if (tree_setup(state) != 0)
    return -1;
  for (const char *s = "abcde"; *s != '\0'; s++)
    tree_file(*state, (char[]) { 'd', '/', *s, '\0' }, "", 0);
  tree_folder(*state, "empty");
  tree_file(*state, "list", "x\ny\n/z\n", 7);
  tree_file(*state, "nothing", "\n\n", 2);
  return 0;
}

static void mini_batches_are_full_but_for_the_last_of_an_input(void **state)
{
  static const struct {
    int64_t size;
    const char *want;
  } cases[] = {
    { 1, "0: a\n0: b\n0: c\n0: d\n0: e\n1: x\n1: y\n1: z\n" },
    { 2, "0: a b\n0: c d\n0: e\n1: x y\n1: z\n" },
    { 5, "0: a b c d e\n1: x y z\n" },
    { INT64_MAX, "0: a b c d e\n1: x y z\n" },
  };
  struct input a, b;
  struct cut_up out;
  FILES(&a, "d/*");
  LIST(&b, "list");
  for (size_t i = 0; i < 4; i++) {
    cut_up(&out, cases[i].size, &a, &b);
    assert_int_equal(out.rc, 0);
    assert_string_equal(tm_buf_str(&out.text), cases[i].want);
    assert_int_equal(out.warnings.len, 0);
    release(&out);
  }
}

static void several_paths_of_an_input_fill_one_mini_batch(void **state)
{
  struct input a;
  struct cut_up out;
  FILES(&a, "d/[ab]", "d/c", "d/c");
  cut_up(&out, 3, &a, NULL);
  assert_string_equal(tm_buf_str(&out.text), "0: a b c\n0: c\n");
  release(&out);
  LIST(&a, "list", "list");
  cut_up(&out, 4, &a, NULL);
  assert_string_equal(tm_buf_str(&out.text), "0: x y z x\n0: y z\n");
  release(&out);
}

static void a_path_among_others_that_matches_nothing_is_a_warning(void **state)
{
  struct input a, b;
  struct cut_up out;
  FILES(&a, "e/*", "d/a", "gone", "empty");
  LIST(&b, "nothing");
  cut_up(&out, 10, &a, &b);
  char *want = tm_xprintf(
      "nothing matches 'e/*' in '%s'; '%s/gone' does not exist, '%s/empty' holds no files\n"
      "'%s/nothing' lists no paths\n",
      (char *)*state, (char *)*state, (char *)*state, (char *)*state);
  assert_string_equal(tm_buf_str(&out.text), "0: a\n");
  assert_string_equal(tm_buf_str(&out.warnings), want);
  release(&out);
  free(want);
}

static void expect_no_input(struct input *a, struct input *b, const char *fmt, const char *root)
{
  struct cut_up out;
  struct tm_buf want = TM_BUF_NONE;
  cut_up(&out, 10, a, b);
  assert_int_equal(out.rc, 0);
  assert_int_equal(out.warnings.len, 0);
  for (const char *s = fmt; *s != '\0'; s++)
    if (*s == '@')
      tm_buf_add_str(&want, root);
    else
      tm_buf_add_char(&want, *s);
  assert_string_equal(out.no_input.text, tm_buf_str(&want));
  tm_buf_release(&want);
  release(&out);
}

static void no_input_names_the_pattern_and_the_folder(void **state)
{
  struct input a, b;
  FILES(&a, "digits/*.pgm");
  expect_no_input(&a, NULL, "no input: nothing matches 'digits/*.pgm' in '@'", *state);
  FILES(&a, "digits");
  expect_no_input(&a, NULL, "no input: '@/digits' does not exist", *state);
  FILES(&a, "empty");
  expect_no_input(&a, NULL, "no input: '@/empty' holds no files", *state);
  FILES(&a, "/nowhere/*");
  expect_no_input(&a, NULL, "no input: nothing matches '/nowhere/*'", *state);
  FILES(&a, "1*", "2*", "3*", "4*", "5*", "6*", "7*");
  expect_no_input(
      &a, NULL, "no input: nothing matches '1*', '2*', '3*', '4*', '5*' and 2 more in '@'", *state);
  LIST(&b, "nothing");
  FILES(&a, "1*");
  expect_no_input(&a, &b, "no input: nothing matches '1*' in '@'; '@/nothing' lists no paths",
                  *state);
  a.d.paths_len = 0;
  expect_no_input(&a, NULL, "no input: the inputs name no paths", *state);
}

static void a_missing_list_is_reported_like_a_missing_path(void **state)
{
  struct input a;
  struct cut_up out;
  LIST(&a, "list", "gone");
  cut_up(&out, 2, &a, NULL);
  char *want = tm_xprintf("the list '%s/gone' does not exist\n", (char *)*state);
  assert_int_equal(out.rc, 0);
  assert_int_equal(strncmp(tm_buf_str(&out.text), "0: x y\n", 7), 0);
  assert_string_equal(tm_buf_str(&out.warnings), want);
  release(&out);
  free(want);
  LIST(&a, "gone");
  expect_no_input(&a, NULL, "no input: the list '@/gone' does not exist", *state);
}

static void list_that_cannot_be_read_is_an_error(void **state)
{
  struct input a;
  struct cut_up out;
  LIST(&a, "list", "empty");
  cut_up(&out, 2, &a, NULL);
  assert_int_equal(out.rc, -EISDIR);
  assert_non_null(strstr(out.err.text, "/empty'"));
  release(&out);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, setup, tree_teardown)

static void a_limit_ends_an_input(void **state)
{
  static const struct {
    int64_t size, limit;
    const char *want;
  } cases[] = {
    { 2, 1, "0: a\n1: x\n" },
    { 2, 2, "0: a b\n1: x y\n" },
    { 2, 3, "0: a b\n0: c\n1: x y\n1: z\n" },
    { 9, 99, "0: a b c d e\n1: x y z\n" },
  };
  struct input a, b;
  struct cut_up out;
  FILES(&a, "d/*");
  LIST(&b, "list", "list");
  for (size_t i = 0; i < 4; i++) {
    a.d.limit = b.d.limit = cases[i].limit;
    b.d.paths_len = cases[i].limit == 99 ? 1 : 2;
    cut_up(&out, cases[i].size, &a, &b);
    assert_int_equal(out.rc, 0);
    assert_string_equal(tm_buf_str(&out.text), cases[i].want);
    release(&out);
  }
}

/* It did not look for what follows, so it does not report it. */
static void paths_after_a_limit_cause_no_message(void **state)
{
  struct input a;
  struct cut_up out;
  FILES(&a, "d/*", "missing-*");
  a.d.limit = 5;
  cut_up(&out, 2, &a, NULL);
  assert_string_equal(tm_buf_str(&out.text), "0: a b\n0: c d\n0: e\n");
  assert_int_equal(out.warnings.len, 0);
  release(&out);
  a.d.limit = 6;
  cut_up(&out, 2, &a, NULL);
  assert_non_null(strstr(tm_buf_str(&out.warnings), "missing-*"));
  release(&out);
}

UNIT_TESTS({
    IN_TREE(mini_batches_are_full_but_for_the_last_of_an_input),
    IN_TREE(several_paths_of_an_input_fill_one_mini_batch),
    IN_TREE(a_path_among_others_that_matches_nothing_is_a_warning),
    IN_TREE(no_input_names_the_pattern_and_the_folder),
    IN_TREE(a_missing_list_is_reported_like_a_missing_path),
    IN_TREE(list_that_cannot_be_read_is_an_error),
    IN_TREE(a_limit_ends_an_input),
    IN_TREE(paths_after_a_limit_cause_no_message),
});
