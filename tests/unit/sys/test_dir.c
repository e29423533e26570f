/* test_dir.c - lists names in a folder, removes trees, appends lines. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

static int setup(void **state)
{
  char name[] = "/tmp/tm_dir_XXXXXX";
  *state = mkdtemp(name) != NULL ? tm_xstrdup(name) : NULL;
  return *state == NULL;
}

static int teardown(void **state)
{
  int rc = tm_tree_remove(*state, NULL);
  free(*state);
  return rc;
}

static void put(const char *root, const char *path)
{
  char *full = tm_path_join(root, path), *dir = tm_path_dir(full);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), dir, 0755, NULL), 0);
  int fd = open(full, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  assert_true(fd >= 0);
  close(fd);
  free(dir);
  free(full);
}

struct seen {
  int files, folders, links, others, calls, stop_at;
};

static int on_name(void *data, const char *name, int type)
{
  struct seen *s = data;
  assert_string_not_equal(name, ".");
  assert_string_not_equal(name, "..");
  *(type == DT_REG   ? &s->files
    : type == DT_DIR ? &s->folders
    : type == DT_LNK ? &s->links
                     : &s->others) += 1;
  return ++s->calls == s->stop_at ? -ECANCELED : 0;
}

static void names_come_with_their_types(void **state)
{
  struct seen s = { 0 };
  put(*state, "a");
  put(*state, ".hidden");
  put(*state, "d/x");
  char *link = tm_path_join(*state, "l");
  assert_int_equal(symlink("a", link), 0);
  assert_int_equal(tm_dir_read(*state, on_name, &s), 0);
  assert_int_equal(s.files, 2);
  assert_int_equal(s.folders, 1);
  assert_int_equal(s.links, 1);
  assert_int_equal(s.others, 0);
  free(link);
}

static void a_negative_answer_ends_the_walk(void **state)
{
  struct seen s = { .stop_at = 2 };
  put(*state, "a");
  put(*state, "b");
  put(*state, "c");
  assert_int_equal(tm_dir_read(*state, on_name, &s), -ECANCELED);
  assert_int_equal(s.calls, 2);
}

static void a_missing_folder_is_an_error(void **state)
{
  struct seen s = { 0 };
  char *path = tm_path_join(*state, "none");
  assert_int_equal(tm_dir_read(path, on_name, &s), -ENOENT);
  free(path);
}

static void a_tree_is_removed_and_targets_of_links_stay(void **state)
{
  put(*state, "kept/file");
  put(*state, "t/a/b/c/file");
  put(*state, "t/a/other");
  char *tree = tm_path_join(*state, "t"), *link = tm_path_join(*state, "t/a/link");
  char *kept = tm_path_join(*state, "kept"), *file = tm_path_join(*state, "kept/file");
  assert_int_equal(symlink(kept, link), 0);
  assert_int_equal(tm_tree_remove(tree, NULL), 0);
  assert_false(tm_fs_exists(tm_fs_real(), tree));
  assert_true(tm_fs_exists(tm_fs_real(), file));
  free(tree);
  free(link);
  free(kept);
  free(file);
}

/* Deeper than a process has descriptors, with paths longer than the limit. Names that block a
 * caller that moves folders up are removed too. */
static void any_depth_is_removed(void **state)
{
  char *tree = tm_path_join(*state, "deep");
  assert_int_equal(mkdir(tree, 0755), 0);
  int at = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_int_equal(mkdirat(at, "deep-0", 0755), 0);
  assert_int_equal(mkdirat(at, "deep-0/kept", 0755), 0);
  for (int i = 0; i < 3000; i++) {
    assert_int_equal(mkdirat(at, "d", 0755), 0);
    int below = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(below >= 0);
    close(at);
    at = below;
  }
  close(at);
  assert_int_equal(tm_tree_remove(tree, NULL), 0);
  assert_false(tm_fs_exists(tm_fs_real(), tree));
  free(tree);
}

static void a_link_as_the_root_goes_alone(void **state)
{
  put(*state, "kept/file");
  char *link = tm_path_join(*state, "l"), *file = tm_path_join(*state, "kept/file");
  assert_int_equal(symlink("kept", link), 0);
  assert_int_equal(tm_tree_remove(link, NULL), 0);
  assert_true(tm_fs_exists(tm_fs_real(), file));
  assert_int_not_equal(access(link, F_OK), 0);
  free(link);
  free(file);
}

static void a_missing_one_is_not_an_error(void **state)
{
  char *path = tm_path_join(*state, "none");
  assert_int_equal(tm_tree_remove(path, NULL), 0);
  free(path);
}

/* All of them are in the test's own folder: if one is not refused, nothing else is lost. */
static void a_path_that_does_not_end_in_a_name_is_refused(void **state)
{
  static const char *const names[] = { "a/b/..", "a/b/../", "a/b/.", "a/b/.//" };
  char *file = tm_path_join(*state, "a/b/file");
  put(*state, "a/b/file");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct tm_err err = TM_ERR_NONE;
    char *path = tm_path_join(*state, names[i]);
    assert_int_equal(tm_tree_remove(path, &err), TM_EUSAGE);
    assert_non_null(strstr(err.text, "is not removed with all that is in it"));
    assert_true(tm_fs_exists(tm_fs_real(), file));
    free(path);
  }
  free(file);
}

static void many_names_go(void **state)
{
  char name[32];
  for (int i = 0; i < 3000; i++) {
    snprintf(name, sizeof name, "many/%d", i);
    put(*state, name);
  }
  char *path = tm_path_join(*state, "many");
  assert_int_equal(tm_tree_remove(path, NULL), 0);
  assert_false(tm_fs_exists(tm_fs_real(), path));
  free(path);
}

static void one_that_cannot_be_removed_is_named(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  assert_true(tm_tree_remove("/proc/self/status", &err) < 0);
  assert_non_null(strstr(err.text, "cannot remove '/proc/self/status': "));
  assert_int_not_equal(err.code, 0);
}

/* As a user other than root, so that modes apply. Exits with 0 if all is correct. */
static void remove_closed(const char *root)
{
  static const mode_t modes[] = { 0, 0500, 0300 };
  char *tree = tm_path_join(root, "tree");
  struct stat st;
  if (geteuid() == 0 && (chown(root, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
    _exit(2);
  for (size_t i = 0; i < TM_COUNT_OF(modes); i++) {
    put(root, "tree/closed/below/file");
    char *closed = tm_path_join(tree, "closed");
    if (chmod(closed, modes[i]) < 0 || tm_tree_remove(tree, NULL) >= 0)
      _exit(3);
    if (tm_tree_remove_forced(tree, NULL) != 0 || lstat(tree, &st) == 0)
      _exit(4);
    free(closed);
  }
  free(tree);
  _exit(0);
}

static void folders_closed_to_their_owner_are_removed_by_force(void **state)
{
  int status = 0;
  pid_t pid = fork();
  if (pid == 0)
    remove_closed(*state);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

/* In a mount namespace of this process, from now on. */
static void mounted_folders_stay(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    skip();
  char *tree = tm_path_join(*state, "tree"), *at = tm_path_join(tree, "a/m"),
       *kept = tm_path_join(*state, "kept"), *file = tm_path_join(kept, "file");
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), at, 0700, NULL), 0);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), kept, 0700, NULL), 0);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), file, "x", 1, 0600, NULL), 0);
  if (mount(kept, at, NULL, MS_BIND, NULL) < 0)
    skip();
  int below = tm_tree_remove(tree, &err), itself = tm_tree_remove(at, NULL);
  bool is_kept = tm_fs_exists(tm_fs_real(), file);
  umount2(at, MNT_DETACH);
  assert_int_equal(below, -EBUSY);
  assert_int_equal(itself, -EBUSY);
  assert_non_null(strstr(err.text, "cannot remove 'm', a mount point (unmount it first), below '"));
  assert_true(is_kept);
  assert_int_equal(tm_tree_remove(tree, NULL), 0);
  free(file);
  free(kept);
  free(at);
  free(tree);
}

static void lines_are_appended(void **state)
{
  char *path = tm_path_join(*state, "log");
  struct tm_buf text = TM_BUF_NONE;
  int fd = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  assert_int_equal(tm_fd_append(fd, "one\n", 4), 0);
  assert_int_equal(tm_fd_append(fd, "two\n", 4), 0);
  close(fd);
  assert_int_equal(tm_fd_append(fd, "three\n", 6), -EBADF);
  assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 100, &text, NULL), 0);
  assert_string_equal(tm_buf_str(&text), "one\ntwo\n");
  tm_buf_release(&text);
  free(path);
}

#define WITH_ROOT(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS({
    WITH_ROOT(names_come_with_their_types),
    WITH_ROOT(a_negative_answer_ends_the_walk),
    WITH_ROOT(a_missing_folder_is_an_error),
    WITH_ROOT(a_tree_is_removed_and_targets_of_links_stay),
    WITH_ROOT(any_depth_is_removed),
    WITH_ROOT(a_link_as_the_root_goes_alone),
    WITH_ROOT(a_missing_one_is_not_an_error),
    WITH_ROOT(a_path_that_does_not_end_in_a_name_is_refused),
    WITH_ROOT(many_names_go),
    WITH_ROOT(one_that_cannot_be_removed_is_named),
    WITH_ROOT(folders_closed_to_their_owner_are_removed_by_force),
    WITH_ROOT(mounted_folders_stay),
    WITH_ROOT(lines_are_appended),
});
