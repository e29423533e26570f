/* test_source_copy.c - what a relay makes of the bytes of a script, in real folders: complete, with
 * the hash of the job's copy, within its folder, or refused with a reason. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/tree_bytes.h"
#include "folder.h"
#include "node/temp_owner.h"
#include "relay/source_copy.h"
#include "sys/errand.h"

#define PART ((size_t)10000) /* bytes that are added at a time */

struct fixture {
  struct tm_loop loop;
  struct tm_source_copy *copy;
  struct folder folder;
  char *base, *dir; /* of the node's temporary folder, of the copy */
  struct tm_fs fs;
  struct tm_buf bytes;
  char hash[17];
  size_t used;
  char *problem; /* NULL: not known yet */
  int64_t room;  /* bytes that the disk takes */
};

static int setup(void **state)
{
  struct fixture *x = TM_NEW(struct fixture);
  folder_init(&x->folder);
  x->base = tm_xstrdup(folder_file(&x->folder, "base"));
  x->dir = tm_xprintf("%s/source", x->base);
  x->fs = *tm_fs_real();
  assert_int_equal(tm_loop_init(&x->loop, NULL), 0);
  *state = x;
  return 0;
}

static int teardown(void **state)
{
  struct fixture *x = *state;
  tm_source_copy_end(x->copy, TM_ERRAND_JOIN);
  tm_loop_release(&x->loop);
  folder_release(&x->folder);
  tm_buf_release(&x->bytes);
  free(x->problem);
  free(x->base);
  free(x->dir);
  free(x);
  return 0;
}

static void on_used(void *data, size_t bytes)
{
  struct fixture *x = data;
  x->used += bytes;
  tm_loop_stop(&x->loop);
}

static void on_taken(void *data, const char *problem)
{
  struct fixture *x = data;
  assert_null(x->problem);
  x->problem = tm_xstrdup(problem);
  tm_loop_stop(&x->loop);
}

static void begin(struct fixture *x)
{
  struct tm_source_copy_options o = {
    .loop = &x->loop, .fs = &x->fs, .on_used = on_used, .on_taken = on_taken, .data = x
  };
  struct tm_node_source s = { .job_dir = tm_xstrdup("/job"),
                              .dir = tm_xstrdup(x->dir),
                              .hash = tm_xstrdup(x->hash),
                              .incarnation = { 1, 2, 3 } };
  x->copy = tm_source_copy_begin(&o, &s, NULL);
  assert_non_null(x->copy);
}

/* Sends everything, as the stream would: no more than was credited. */
static const char *send_all(struct fixture *x)
{
  size_t at = 0;
  begin(x);
  while (at < x->bytes.len || !x->problem) {
    size_t n = x->bytes.len - at < PART ? x->bytes.len - at : PART;
    if (n > 0 && at + n - x->used <= TM_STREAM_WORKER_CREDIT) {
      assert_true(tm_source_copy_add(x->copy, x->bytes.data + at, n));
      at += n;
    } else {
      tm_loop_run(&x->loop);
    }
  }
  assert_true(tm_source_copy_is_over(x->copy));
  assert_int_equal(x->used, x->bytes.len);
  return x->problem;
}

static bool never_read(void *data, char *p, size_t n)
{
  struct tm_reader *r = data;
  const char *from = tm_read_raw(r, n);
  if (from)
    memcpy(p, from, n);
  return from;
}

static int ignore_name(void *data, const char *name, struct tm_err *err)
{
  return 0;
}

static int ignore_file(void *data, const char *name, bool is_program, struct tm_err *err)
{
  return 0;
}

static int ignore_piece(void *data, const char *p, size_t n, struct tm_err *err)
{
  return 0;
}

static int ignore_link(void *data, const char *name, const char *target, struct tm_err *err)
{
  return 0;
}

/* The end of the tree, and its hash. */
static void finish(struct fixture *x)
{
  struct tm_reader bytes;
  struct tm_tree_reader reader = { &bytes,      never_read,   ignore_name,
                                   ignore_file, ignore_piece, ignore_link };
  tm_tree_add_end(&x->bytes);
  tm_reader_init(&bytes, x->bytes.data, x->bytes.len);
  assert_int_equal(tm_tree_read(&reader, x->hash, NULL), 0);
}

static void add_file(struct fixture *x, const char *name, bool is_program, const char *p, size_t n)
{
  tm_tree_add_file(&x->bytes, name, is_program);
  for (size_t at = 0; at < n; at += TM_TREE_PIECE_MAX)
    tm_tree_add_piece(&x->bytes, p + at, n - at < TM_TREE_PIECE_MAX ? n - at : TM_TREE_PIECE_MAX);
  tm_tree_add_piece(&x->bytes, "", 0);
}

static void expect_mode(struct fixture *x, const char *name, unsigned mode)
{
  struct stat st;
  assert_int_equal(stat(folder_file(&x->folder, name), &st), 0);
  assert_int_equal(st.st_mode & 0777, mode);
}

static void a_script_is_copied(void **state)
{
  struct fixture *x = *state;
  char target[64] = "";
  add_file(x, "score.lua", false, "one", 3);
  tm_tree_add_folder(&x->bytes, "lib");
  add_file(x, "lib/tool", true, "", 0);
  tm_tree_add_link(&x->bytes, "lib/up", "../score.lua");
  tm_tree_add_folder(&x->bytes, ".tidemill-modules/1"); /* the folder above is not named */
  add_file(x, ".tidemill-modules/1/m.lua", false, "two", 3);
  finish(x);
  assert_string_equal(send_all(x), "");
  char *text = folder_text(&x->folder, "base/source/score.lua"),
       *module = folder_text(&x->folder, "base/source/.tidemill-modules/1/m.lua");
  assert_string_equal(text, "one");
  assert_string_equal(module, "two");
  expect_mode(x, "base/source/score.lua", 0600);
  expect_mode(x, "base/source/lib/tool", 0700);
  expect_mode(x, "base/source", 0700);
  expect_mode(x, "base", 0700);
  assert_true(readlink(folder_file(&x->folder, "base/source/lib/up"), target, 63) > 0);
  assert_string_equal(target, "../score.lua");
  free(text);
  free(module);
}

/* Pieces longer than all that may be on its way. */
static void a_large_script_is_copied(void **state)
{
  struct fixture *x = *state;
  size_t n = 3 * TM_TREE_PIECE_MAX + 17;
  char *text = tm_xcalloc(n + 1, 1), *got;
  memset(text, 'x', n);
  add_file(x, "a", false, text, n);
  finish(x);
  assert_string_equal(send_all(x), "");
  got = folder_text(&x->folder, "base/source/a");
  assert_string_equal(got, text);
  free(got);
  free(text);
}

/* As the keeper does it: nobody removes it meanwhile. */
static void the_folder_is_held(void **state)
{
  struct fixture *x = *state;
  struct tm_temp_machine here = tm_temp_this_machine();
  struct tm_temp_owner owner;
  finish(x);
  assert_string_equal(send_all(x), "");
  assert_true(tm_temp_owner_read(&owner, x->base, &here));
  assert_true(owner.incarnation.epoch == 1 && owner.incarnation.node == 2 &&
              owner.incarnation.number == 3);
  int fd = open(x->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_int_equal(tm_lock_take(fd, false), -EWOULDBLOCK);
  assert_int_equal(tm_lock_take(fd, true), 0);
  close(fd);
}

static void another_hash_is_a_problem(void **state)
{
  struct fixture *x = *state;
  add_file(x, "score.lua", false, "one", 3);
  finish(x);
  strcpy(x->hash, "0123456789abcdef");
  assert_non_null(strstr(send_all(x), "and not 0123456789abcdef"));
}

static void bytes_that_are_not_a_tree_are_a_problem(void **state)
{
  struct fixture *x = *state;
  strcpy(x->hash, "0123456789abcdef");
  add_file(x, "../stray", false, "one", 3);
  assert_string_equal(send_all(x),
                      "the bytes of a folder cannot be read: a name leads out of the folder");
  assert_int_equal(folder_size(&x->folder, "base/stray"), -1);
}

/* Links are made last, and those that lead out are not. */
static void nothing_is_written_through_a_link(void **state)
{
  struct fixture *x = *state;
  assert_int_equal(mkdir(folder_file(&x->folder, "outside"), 0700), 0);
  char *outside = tm_xstrdup(folder_file(&x->folder, "outside"));
  tm_tree_add_link(&x->bytes, "a", outside);
  tm_tree_add_link(&x->bytes, "b", "../../outside");
  tm_tree_add_link(&x->bytes, "c", ".");
  tm_tree_add_folder(&x->bytes, "a");
  add_file(x, "a/stray", false, "one", 3);
  add_file(x, "b", false, "two", 3);
  finish(x);
  assert_string_equal(send_all(x), "");
  char *text = folder_text(&x->folder, "base/source/a/stray");
  assert_string_equal(text, "one");
  assert_int_equal(folder_size(&x->folder, "outside/stray"), -1);
  assert_int_equal(folder_size(&x->folder, "base/source/b"), 3);
  free(text);
  free(outside);
}

static void a_second_file_with_the_same_name_is_a_problem(void **state)
{
  struct fixture *x = *state;
  add_file(x, "a", false, "one", 3);
  add_file(x, "a", false, "two", 3);
  finish(x);
  assert_non_null(strstr(send_all(x), "file already exists"));
}

static void a_folder_that_exists_is_a_problem(void **state)
{
  struct fixture *x = *state;
  assert_int_equal(mkdir(x->base, 0700), 0);
  assert_int_equal(symlink("/etc", x->dir), 0);
  finish(x);
  assert_non_null(strstr(send_all(x), "cannot make the folder '"));
}

static int64_t write_some(void *self, int fd, const void *p, size_t n, int64_t at)
{
  struct fixture *x = self;
  const struct tm_fs *real = tm_fs_real();
  x->room -= (int64_t)n;
  return x->room < 0 ? -ENOSPC : real->pwrite(real->self, fd, p, n, at);
}

static void a_full_disk_is_named(void **state)
{
  struct fixture *x = *state;
  size_t n = 3 * TM_STREAM_WORKER_CREDIT;
  char *text = tm_xcalloc(n, 1), *expected;
  x->room = 100000;
  x->fs.self = x;
  x->fs.pwrite = write_some;
  add_file(x, "a", false, text, n);
  finish(x);
  expected = tm_xprintf("cannot write '%s/a': no space left on device", x->dir);
  assert_string_equal(send_all(x), expected);
  free(expected);
  free(text);
}

static void more_bytes_than_credited_are_refused(void **state)
{
  struct fixture *x = *state;
  char *bytes = tm_xcalloc(TM_SOURCE_COPY_LIMIT + 1, 1);
  strcpy(x->hash, "0123456789abcdef");
  begin(x);
  assert_false(tm_source_copy_add(x->copy, bytes, TM_SOURCE_COPY_LIMIT + 1));
  free(bytes);
}

static void a_copy_may_be_ended_at_any_time(void **state)
{
  struct fixture *x = *state;
  add_file(x, "a", false, "one", 3);
  finish(x);
  begin(x);
  assert_true(tm_source_copy_add(x->copy, x->bytes.data, x->bytes.len - 1));
  tm_source_copy_end(x->copy, TM_ERRAND_JOIN);
  x->copy = NULL;
  assert_null(x->problem);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
UNIT_TESTS({
    CASE(a_script_is_copied),
    CASE(a_large_script_is_copied),
    CASE(the_folder_is_held),
    CASE(another_hash_is_a_problem),
    CASE(bytes_that_are_not_a_tree_are_a_problem),
    CASE(nothing_is_written_through_a_link),
    CASE(a_second_file_with_the_same_name_is_a_problem),
    CASE(a_folder_that_exists_is_a_problem),
    CASE(a_full_disk_is_named),
    CASE(more_bytes_than_credited_are_refused),
    CASE(a_copy_may_be_ended_at_any_time),
});
