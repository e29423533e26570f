/* test_listing.c - what is listed and in which order, from tests/cases/listing.txt, and the effect
 * of changes and faults on the disk. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "cases.h"
#include "data/files/listing.h"
#include "tree_fixture.h"

/* The result of a listing: "PATH\n" without the root, and its warnings, one per line. */
struct listed {
  struct tm_buf paths, warnings;
  int rc;
  struct tm_err err;
};

static void on_warning(void *data, const char *text)
{
  struct listed *out = data;
  tm_buf_printf(&out->warnings, "%s\n", text);
}

static void list_with(struct listed *out, const struct tm_fs *fs, const char *root,
                      bool skip_unreadable, const char *const *paths, size_t n)
{
  struct tm_listing_options options = { .fs = fs,
                                        .base_dir = root,
                                        .paths = paths,
                                        .paths_len = n,
                                        .skip_unreadable = skip_unreadable,
                                        .on_warning = on_warning,
                                        .data = out };
  struct tm_listing *l = tm_listing_open(&options);
  struct tm_item item;
  uint64_t files = 0, counted = 0;
  size_t skip = strlen(root) + 1;
  memset(out, 0, sizeof(*out));
  while ((out->rc = tm_listing_next(l, &item, &out->err)) > 0) {
    files++;
    assert_true(item.path_len > skip && memcmp(item.path, root, skip - 1) == 0);
    tm_buf_add(&out->paths, item.path + skip, item.path_len - skip);
    tm_buf_add_char(&out->paths, '\n');
  }
  for (size_t i = 0; i < n; i++)
    counted += tm_listing_count(l, i);
  assert_int_equal(counted, files);
  assert_true(tm_listing_next(l, &item, &out->err) <= 0);
  tm_listing_close(l);
}

static void list_one(struct listed *out, const char *root, const char *path)
{
  list_with(out, tm_fs_real(), root, false, &path, 1);
}

static void release(struct listed *out)
{
  tm_buf_release(&out->paths);
  tm_buf_release(&out->warnings);
}

static void expect_paths(struct listed *out, const char *want)
{
  assert_int_equal(out->rc, 0);
  assert_string_equal(tm_buf_str(&out->paths), want);
}

/* ---- the table ---- */

struct expected {
  int number; /* line of the `list`; 0: none yet */
  struct listed listed;
  struct tm_buf paths;
  size_t at; /* position after the warnings that were expected so far */
  int wrong;
};

static void expect_warning(struct expected *e, const struct case_line *line)
{
  const char *at = tm_buf_str(&e->listed.warnings) + e->at, *end = strchr(at, '\n');
  struct tm_buf want = TM_BUF_NONE;
  for (int i = 1; i < line->words_len; i++)
    tm_buf_printf(&want, "%s%s", i > 1 ? " " : "", line->words[i]);
  const char *found = strstr(at, tm_buf_str(&want));
  if (end == NULL || found == NULL || found > end) {
    print_error("listing.txt:%d: the next warning is '%.*s'\n", line->number,
                end == NULL ? 4 : (int)(end - at), end == NULL ? "none" : at);
    e->wrong++;
  }
  e->at += end == NULL ? 0 : (size_t)(end + 1 - at);
  tm_buf_release(&want);
}

static void end_list(struct expected *e)
{
  const char *more = tm_buf_str(&e->listed.warnings) + e->at;
  if (e->number != 0 && (e->listed.rc != 0 || *more != '\0' ||
                         strcmp(tm_buf_str(&e->paths), tm_buf_str(&e->listed.paths)) != 0)) {
    print_error("listing.txt:%d: %s\n%s%s", e->number, e->listed.err.text,
                tm_buf_str(&e->listed.paths), more);
    e->wrong++;
  }
  release(&e->listed);
  tm_buf_release(&e->paths);
  e->at = 0;
  e->number = 0;
}

static void lists_as_the_table_says(void **state)
{
  struct case_line line = { .number = 0 };
  struct expected e = { .number = 0 };
  FILE *f = fopen(TM_TESTS_DIR "/cases/listing.txt", "r");
  int lists = 0;
  assert_non_null(f);
  while (case_next(f, &line)) {
    const char *verb = line.words[0];
    if (line.is_indented) {
      if (strcmp(verb, "warn") == 0)
        expect_warning(&e, &line);
      else
        tm_buf_printf(&e.paths, "%s\n", verb);
      continue;
    }
    end_list(&e);
    if (strcmp(verb, "file") == 0) {
      tree_file(*state, line.words[1], "x", 1);
    } else if (strcmp(verb, "folder") == 0) {
      tree_folder(*state, line.words[1]);
    } else if (strcmp(verb, "link") == 0) {
      tree_link(*state, line.words[1], line.words[2]);
    } else if (strcmp(verb, "list") == 0) {
      e.number = line.number;
      lists++;
      list_with(&e.listed, tm_fs_real(), *state, false, (const char *const *)line.words + 1,
                (size_t)line.words_len - 1);
    } else {
      fail_msg("listing.txt:%d: '%s' is not a verb", line.number, verb);
    }
  }
  end_list(&e);
  fclose(f);
  assert_true(lists > 60);
  assert_int_equal(e.wrong, 0);
}

/* ---- the disk ---- */

static void size_and_time_are_the_files_own(void **state)
{
  struct timespec times[2] = { { 1, 2 }, { 1700000000, 123456789 } };
  char *file = tm_path_join(*state, "f"), *link = tm_path_join(*state, "l");
  const char *const paths[] = { file, link };
  struct tm_listing_options options = {
    .fs = tm_fs_real(), .base_dir = "/", .paths = paths, .paths_len = 2
  };
  struct tm_listing *l = tm_listing_open(&options);
  struct tm_item item;
  tree_file(*state, "f", "12345", 5);
  tree_link(*state, "l", "f");
  assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tm_listing_next(l, &item, NULL), 1);
    assert_int_equal(item.path_len, strlen(paths[i]));
    assert_memory_equal(item.path, paths[i], item.path_len);
    assert_int_equal(item.size, 5);
    assert_int_equal(item.mtime_ns, INT64_C(1700000000123456789));
  }
  assert_int_equal(tm_listing_next(l, &item, NULL), 0);
  tm_listing_close(l);
  free(file);
  free(link);
}

static void special_files_are_named_and_skipped(void **state)
{
  struct listed out;
  char *fifo = tm_path_join(*state, "d/fifo");
  tree_file(*state, "d/a", "", 0);
  tree_file(*state, "d/z", "", 0);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  list_one(&out, *state, "d");
  expect_paths(&out, "d/a\nd/z\n");
  assert_non_null(
      strstr(tm_buf_str(&out.warnings), "d/fifo' is not a regular file; it is skipped"));
  release(&out);
  list_one(&out, *state, "d/fifo");
  expect_paths(&out, "");
  assert_non_null(
      strstr(tm_buf_str(&out.warnings), "d/fifo' is not a regular file; it is skipped"));
  release(&out);
  list_one(&out, *state, "d/[az]");
  expect_paths(&out, "d/a\nd/z\n");
  assert_int_equal(out.warnings.len, 0);
  release(&out);
  free(fifo);
}

/* A stat that returns `code` for paths with this end. */
struct fake {
  const char *name;
  int code;
};

static int fake_stat(void *self, const char *path, bool follow, struct tm_stat *out)
{
  const struct fake *fake = self;
  size_t n = strlen(path), m = strlen(fake->name);
  if (n >= m && strcmp(path + n - m, fake->name) == 0)
    return fake->code;
  return tm_fs_real()->stat(tm_fs_real()->self, path, follow, out);
}

static void vanished_files_are_skipped_and_other_errors_end_it(void **state)
{
  struct fake fake = { "/b", -ENOENT };
  struct tm_fs fs = *tm_fs_real();
  struct listed out;
  const char *const path[] = { "." };
  fs.self = &fake;
  fs.stat = fake_stat;
  tree_file(*state, "a", "", 0);
  tree_file(*state, "b", "", 0);
  tree_file(*state, "c", "", 0);
  list_with(&out, &fs, *state, false, path, 1);
  expect_paths(&out, "a\nc\n");
  assert_non_null(strstr(tm_buf_str(&out.warnings), "/b' has gone since its folder was read"));
  release(&out);
  fake.code = -EIO;
  list_with(&out, &fs, *state, true, path, 1);
  assert_int_equal(out.rc, -EIO);
  assert_string_equal(tm_buf_str(&out.paths), "a\n");
  assert_non_null(strstr(out.err.text, "/b'"));
  release(&out);
}

/* Lists as a user who may not read everything; returns the result as an exit status. Root may read
 * everything. */
static int list_as_nobody(const char *root, bool skip, const char *want, const char *words)
{
  const char *const path[] = { "." };
  struct listed out;
  if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
    return 2;
  list_with(&out, tm_fs_real(), root, skip, path, 1);
  if (strcmp(tm_buf_str(&out.paths), want) != 0)
    return 3;
  if (out.rc != (skip ? 0 : -EACCES))
    return 4;
  if (strstr(skip ? tm_buf_str(&out.warnings) : out.err.text, words) == NULL)
    return 5;
  release(&out);
  return 0;
}

static void expect_as_nobody(const char *root, bool skip, const char *want, const char *words)
{
  int status = -1;
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0)
    _exit(list_as_nobody(root, skip, want, words));
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void unreadable_folder_ends_it_unless_skipped(void **state)
{
  char *closed = tm_path_join(*state, "b"), *no_search = tm_path_join(*state, "d");
  tree_file(*state, "a", "", 0);
  tree_file(*state, "b/in", "", 0);
  tree_file(*state, "c", "", 0);
  assert_int_equal(chmod(closed, 0), 0);
  expect_as_nobody(*state, false, "a\n",
                   "b': permission denied; on_unreadable = \"skip\" leaves it out");
  expect_as_nobody(*state, true, "a\nc\n", "b': permission denied; it is skipped");
  tree_file(*state, "d/in", "", 0);
  assert_int_equal(chmod(no_search, 0444), 0); /* its names can be read, but not their types */
  expect_as_nobody(*state, true, "a\nc\n", "d/in': permission denied; it is skipped");
  assert_int_equal(chmod(closed, 0700), 0);
  assert_int_equal(chmod(no_search, 0700), 0);
  free(closed);
  free(no_search);
}

static void big_and_deep_folders_are_streams(void **state)
{
  enum { COUNT = 3000, DEPTH = 200 };
  struct tm_buf want = TM_BUF_NONE, deep = TM_BUF_NONE;
  struct listed out;
  char name[32];
  for (int i = 0; i < COUNT; i++) {
    snprintf(name, sizeof(name), "big/%05d", (i * 1009) % COUNT);
    tree_file(*state, name, "", 0);
    tm_buf_printf(&want, "big/%05d\n", i);
  }
  list_one(&out, *state, "big");
  expect_paths(&out, tm_buf_str(&want));
  release(&out);
  tm_buf_add_str(&deep, "deep");
  for (int i = 0; i < DEPTH; i++)
    tm_buf_add_str(&deep, "/d");
  tm_buf_add_str(&deep, "/f");
  tree_file(*state, tm_buf_str(&deep), "", 0);
  tm_buf_add_char(&deep, '\n');
  list_one(&out, *state, "deep/**/f");
  expect_paths(&out, tm_buf_str(&deep));
  release(&out);
  tm_buf_release(&want);
  tm_buf_release(&deep);
}

static void long_patterns_cause_no_error(void **state)
{
  struct tm_buf pattern = TM_BUF_NONE;
  struct listed out;
  tree_file(*state, "file_199", "", 0);
  tm_buf_add_str(&pattern, "{");
  for (int i = 0; i < 200; i++)
    tm_buf_printf(&pattern, "%sfile_%03d_that_has_a_long_name,file_%03d", i > 0 ? "," : "", i, i);
  tm_buf_add_str(&pattern, "}");
  list_one(&out, *state, tm_buf_str(&pattern));
  assert_int_equal(out.rc, TM_ELIMIT); /* 400 alternatives */
  release(&out);
  pattern.len = 150 * 40;
  while (pattern.data[pattern.len - 1] != ',')
    pattern.len--;
  tm_buf_add_str(&pattern, "file_199}");
  list_one(&out, *state, tm_buf_str(&pattern));
  assert_int_equal(out.rc, TM_ELIMIT);
  release(&out);
  pattern.len = 4500;
  while (pattern.data[pattern.len - 1] != ',')
    pattern.len--;
  tm_buf_add_str(&pattern, "file_199}");
  list_one(&out, *state, tm_buf_str(&pattern)); /* longer than any path may be */
  expect_paths(&out, "file_199\n");
  release(&out);
  tm_buf_release(&pattern);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(lists_as_the_table_says, tree_setup, tree_teardown),
    cmocka_unit_test_setup_teardown(size_and_time_are_the_files_own, tree_setup, tree_teardown),
    cmocka_unit_test_setup_teardown(special_files_are_named_and_skipped, tree_setup, tree_teardown),
    cmocka_unit_test_setup_teardown(vanished_files_are_skipped_and_other_errors_end_it, tree_setup,
                                    tree_teardown),
    cmocka_unit_test_setup_teardown(unreadable_folder_ends_it_unless_skipped, tree_setup,
                                    tree_teardown),
    cmocka_unit_test_setup_teardown(big_and_deep_folders_are_streams, tree_setup, tree_teardown),
    cmocka_unit_test_setup_teardown(long_patterns_cause_no_error, tree_setup, tree_teardown),
});
