/* test_fs.c - the file helpers on file tables that do what a disk seldom does: short transfers,
 * interrupted calls, a failure at the n-th call for n = 1, 2, ... until a run has no failure. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

/* The real table, with faults; records the order of calls as letters, with 'D' for the sync of a
 * folder. */
struct faulty {
  struct tm_fs fs;
  int fail_at, calls; /* the n-th call returns -EIO; 0: none */
  int piece;          /* the most bytes of one transfer; 0: all */
  bool interrupts;    /* every second transfer and open returns -EINTR */
  bool is_interrupted;
  char order[400];
};

static bool is_due(struct faulty *f, char letter)
{
  size_t len = strlen(f->order);
  if (len + 1 < sizeof f->order)
    f->order[len] = letter;
  return ++f->calls == f->fail_at;
}

static bool is_interrupt(struct faulty *f)
{
  f->is_interrupted = f->interrupts && !f->is_interrupted;
  return f->is_interrupted;
}

static size_t cut(const struct faulty *f, size_t n)
{
  return f->piece > 0 && n > (size_t)f->piece ? (size_t)f->piece : n;
}

static int faulty_open(void *self, const char *path, int flags, int mode)
{
  if (is_interrupt(self))
    return -EINTR;
  return is_due(self, 'o') ? -EIO : tm_fs_real()->open(NULL, path, flags, mode);
}

static int faulty_close(void *self, int fd)
{
  bool due = is_due(self, 'c');
  int rc = tm_fs_real()->close(NULL, fd);
  return due ? -EIO : rc;
}

static int64_t faulty_pread(void *self, int fd, void *p, size_t n, int64_t at)
{
  if (is_interrupt(self))
    return -EINTR;
  return is_due(self, 'r') ? -EIO : tm_fs_real()->pread(NULL, fd, p, cut(self, n), at);
}

static int64_t faulty_pwrite(void *self, int fd, const void *p, size_t n, int64_t at)
{
  if (is_interrupt(self))
    return -EINTR;
  return is_due(self, 'w') ? -EIO : tm_fs_real()->pwrite(NULL, fd, p, cut(self, n), at);
}

static int faulty_fsync(void *self, int fd)
{
  struct tm_stat st;
  tm_fs_real()->fstat(NULL, fd, &st);
  return is_due(self, S_ISDIR(st.mode) ? 'D' : 's') ? -EIO : 0;
}

static int faulty_stat(void *self, const char *path, bool follow, struct tm_stat *out)
{
  return tm_fs_real()->stat(NULL, path, follow, out);
}

static int faulty_rename(void *self, const char *from, const char *to)
{
  return is_due(self, 'n') ? -EIO : tm_fs_real()->rename(NULL, from, to);
}

static int faulty_unlink(void *self, const char *path)
{
  return tm_fs_real()->unlink(NULL, path);
}

static int faulty_mkdir(void *self, const char *path, int mode)
{
  return is_due(self, 'm') ? -EIO : tm_fs_real()->mkdir(NULL, path, mode);
}

static struct faulty *faulty_init(struct faulty *f)
{
  memset(f, 0, sizeof *f);
  f->fs = (struct tm_fs) { .self = f,
                           .open = faulty_open,
                           .close = faulty_close,
                           .pread = faulty_pread,
                           .pwrite = faulty_pwrite,
                           .fsync = faulty_fsync,
                           .stat = faulty_stat,
                           .rename = faulty_rename,
                           .unlink = faulty_unlink,
                           .mkdir = faulty_mkdir };
  return f;
}

static int setup(void **state)
{
  char name[] = "/tmp/tm_fs_XXXXXX";
  *state = mkdtemp(name) != NULL ? tm_xstrdup(name) : NULL;
  return *state == NULL;
}

static int teardown(void **state)
{
  int rc = tm_tree_remove(*state, NULL);
  free(*state);
  return rc;
}

static void assert_file(const char *path, const char *text)
{
  struct tm_buf got = TM_BUF_NONE;
  assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 1000, &got, NULL), 0);
  assert_string_equal(tm_buf_str(&got), text);
  tm_buf_release(&got);
}

static void a_file_is_synced_before_and_its_folder_after_the_rename(void **state)
{
  struct faulty f;
  char *path = tm_path_join(*state, "f");
  assert_int_equal(tm_fs_write_file(&faulty_init(&f)->fs, path, "new", 3, 0640, NULL), 0);
  assert_string_equal(f.order, "owscnoDc");
  assert_file(path, "new");
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0640);
  free(path);
}

static void a_file_is_old_or_new_whatever_call_fails(void **state)
{
  char *path = tm_path_join(*state, "f"), *tmp = tm_path_join(*state, "f.tmp");
  int failed = 0;
  for (int n = 1;; n++) {
    struct faulty f;
    struct tm_err err = TM_ERR_NONE;
    assert_int_equal(tm_fs_write_file(tm_fs_real(), path, "old", 3, 0644, NULL), 0);
    faulty_init(&f)->fail_at = n;
    int rc = tm_fs_write_file(&f.fs, path, "new", 3, 0644, &err);
    assert_false(tm_fs_exists(tm_fs_real(), tmp));
    bool renamed = strchr(f.order, 'n') != NULL && strchr(f.order, 'n')[1] != '\0';
    assert_file(path, renamed ? "new" : "old");
    if (f.calls < n) {
      assert_int_equal(rc, 0);
      break;
    }
    if (rc == 0) /* closes the folder: nothing depends on it */
      continue;
    failed++;
    assert_int_equal(rc, -EIO);
    assert_int_equal(err.code, -EIO);
    assert_non_null(strstr(err.text, "cannot "));
  }
  assert_int_equal(failed, 7);
  free(path);
  free(tmp);
}

static void a_file_is_replaced_without_a_sync(void **state)
{
  struct faulty f;
  char *path = tm_path_join(*state, "f"), *tmp = tm_path_join(*state, "f.tmp");

  assert_int_equal(tm_fs_replace_file(&faulty_init(&f)->fs, path, "new", 3, 0600, NULL), 0);
  assert_string_equal(f.order, "owcn");
  assert_file(path, "new");
  for (int n = 1; n <= 4; n++) {
    faulty_init(&f)->fail_at = n;
    assert_int_equal(tm_fs_replace_file(&f.fs, path, "newer", 5, 0600, NULL), -EIO);
    assert_file(path, "new");
    assert_false(tm_fs_exists(tm_fs_real(), tmp));
  }
  free(path);
  free(tmp);
}

static void short_and_interrupted_transfers_continue(void **state)
{
  struct faulty f;
  struct tm_buf got = TM_BUF_NONE;
  char *path = tm_path_join(*state, "f");
  faulty_init(&f)->piece = 3;
  f.interrupts = true;
  assert_int_equal(tm_fs_write_file(&f.fs, path, "0123456789", 10, 0644, NULL), 0);
  tm_buf_add_str(&got, "had ");
  assert_int_equal(tm_fs_read_file(&f.fs, path, 10, &got, NULL), 0);
  assert_string_equal(got.data, "had 0123456789");
  assert_int_equal(got.len, 14);
  tm_buf_release(&got);
  free(path);
}

static int64_t no_progress(void *self, int fd, const void *p, size_t n, int64_t at)
{
  return 0;
}

static void a_write_that_makes_no_progress_is_an_error(void **state)
{
  struct faulty f;
  struct tm_err err = TM_ERR_NONE;
  faulty_init(&f)->fs.pwrite = no_progress;
  assert_int_equal(tm_fs_write_at(&f.fs, 0, "f", "x", 1, 0, &err), -EIO);
  assert_non_null(strstr(err.text, "cannot write 'f': "));
}

static void a_failed_fsync_is_not_tried_again(void **state)
{
  struct faulty f;
  char *path = tm_path_join(*state, "f");
  faulty_init(&f);
  int fd = tm_fs_open(&f.fs, path, O_CREAT | O_WRONLY, 0644, NULL);
  f.fail_at = f.calls + 1;
  assert_int_equal(tm_fs_sync(&f.fs, fd, path, NULL), -EIO);
  assert_string_equal(f.order, "os");
  tm_fs_close(&f.fs, fd);
  tm_fs_close(&f.fs, -1);
  assert_string_equal(f.order, "osc");
  free(path);
}

static int fsync_einval(void *self, int fd)
{
  return -EINVAL;
}

static void folders_that_cannot_be_synced_cause_no_error(void **state)
{
  struct faulty f;
  faulty_init(&f)->fs.fsync = fsync_einval;
  assert_int_equal(tm_fs_sync_dir(&f.fs, *state, NULL), 0);
  assert_int_equal(tm_fs_sync(&f.fs, 0, "f", NULL), -EINVAL);
}

static int open_eacces(void *self, const char *path, int flags, int mode)
{
  return -EACCES;
}

static void a_name_is_synced_in_a_folder_that_may_be_read(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct faulty f;
  char *path = tm_path_join(*state, "f");
  assert_int_equal(tm_fs_sync_name(&faulty_init(&f)->fs, path, &err), 0);
  assert_string_equal(f.order, "oDc");
  faulty_init(&f)->fail_at = 2;
  assert_int_equal(tm_fs_sync_name(&f.fs, path, &err), -EIO);
  assert_non_null(strstr(err.text, "cannot sync folder"));
  err = (struct tm_err)TM_ERR_NONE;
  faulty_init(&f)->fs.open = open_eacces;
  assert_int_equal(tm_fs_sync_name(&f.fs, path, &err), 0);
  assert_int_equal(err.code, 0);
  free(path);
}

static void reading_stops_at_the_end_and_at_the_limit(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf got = TM_BUF_NONE;
  char bytes[8], *path = tm_path_join(*state, "f");
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, "0123456789", 10, 0644, NULL), 0);
  int fd = tm_fs_open(tm_fs_real(), path, O_RDONLY, 0, NULL);
  assert_int_equal(tm_fs_read_at(tm_fs_real(), fd, path, bytes, sizeof bytes, 0, NULL), 8);
  assert_int_equal(tm_fs_read_at(tm_fs_real(), fd, path, bytes, sizeof bytes, 8, NULL), 2);
  assert_int_equal(tm_fs_read_at(tm_fs_real(), fd, path, bytes, sizeof bytes, 10, NULL), 0);
  tm_fs_close(tm_fs_real(), fd);
  assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 10, &got, NULL), 0);
  assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 9, &got, &err), TM_ELIMIT);
  assert_non_null(strstr(err.text, "longer than 9 bytes"));
  tm_buf_release(&got);
  free(path);
}

static void an_error_has_a_message(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_fs_open(tm_fs_real(), "/none/such", O_RDONLY, 0, &err), -ENOENT);
  assert_string_equal(err.text, "cannot open '/none/such': no such file or directory");
  assert_int_equal(err.code, -ENOENT);
}

static void each_new_folder_has_its_parent_synced(void **state)
{
  struct faulty f;
  char *path = tm_path_join(*state, "a/b/c");
  assert_int_equal(tm_fs_make_dirs(&faulty_init(&f)->fs, path, 0755, NULL), 0);
  assert_string_equal(f.order, "moDcmoDcmoDc");
  assert_true(tm_fs_exists(tm_fs_real(), path));
  assert_int_equal(tm_fs_make_dirs(&faulty_init(&f)->fs, path, 0755, NULL), 0);
  assert_string_equal(f.order, "");
  free(path);
}

static void folders_fail_with_the_call_that_fails(void **state)
{
  char name[32];
  for (int n = 1;; n++) {
    struct faulty f;
    snprintf(name, sizeof name, "sweep%d/b", n);
    char *path = tm_path_join(*state, name);
    faulty_init(&f)->fail_at = n;
    int rc = tm_fs_make_dirs(&f.fs, path, 0755, NULL);
    free(path);
    if (f.calls < n) {
      assert_int_equal(rc, 0);
      assert_int_equal(n, 9);
      break;
    }
    assert_int_equal(rc, f.order[n - 1] == 'c' ? 0 : -EIO);
  }
}

static void slashes_and_relative_names_are_folders_too(void **state)
{
  char *was = getcwd(NULL, 0);
  struct tm_stat st;
  assert_int_equal(chdir(*state), 0);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), "x//y/", 0755, NULL), 0);
  assert_int_equal(tm_fs_real()->stat(NULL, "x/y", true, &st), 0);
  assert_true(S_ISDIR(st.mode));
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), "z", 0755, NULL), 0);
  assert_true(tm_fs_exists(tm_fs_real(), "z"));
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), "./z/.", 0755, NULL), 0);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), "/", 0755, NULL), 0);
  assert_int_equal(chdir(was), 0);
  free(was);
}

static void a_file_in_the_way_is_reported(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  char *file = tm_path_join(*state, "f"), *below = tm_path_join(*state, "f/g/h");
  assert_int_equal(tm_fs_write_file(tm_fs_real(), file, "", 0, 0644, NULL), 0);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), file, 0755, &err), -ENOTDIR);
  assert_non_null(strstr(err.text, "cannot make folder '"));
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), below, 0755, NULL), -ENOTDIR);
  free(file);
  free(below);
}

#define WITH_ROOT(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS({
    WITH_ROOT(a_file_is_synced_before_and_its_folder_after_the_rename),
    WITH_ROOT(a_file_is_old_or_new_whatever_call_fails),
    WITH_ROOT(a_file_is_replaced_without_a_sync),
    WITH_ROOT(short_and_interrupted_transfers_continue),
    WITH_ROOT(a_write_that_makes_no_progress_is_an_error),
    WITH_ROOT(a_failed_fsync_is_not_tried_again),
    WITH_ROOT(folders_that_cannot_be_synced_cause_no_error),
    WITH_ROOT(a_name_is_synced_in_a_folder_that_may_be_read),
    WITH_ROOT(reading_stops_at_the_end_and_at_the_limit),
    WITH_ROOT(an_error_has_a_message),
    WITH_ROOT(each_new_folder_has_its_parent_synced),
    WITH_ROOT(folders_fail_with_the_call_that_fails),
    WITH_ROOT(slashes_and_relative_names_are_folders_too),
    WITH_ROOT(a_file_in_the_way_is_reported),
});
