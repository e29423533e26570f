/* test_fs_real.c - the machine's files behave as the table says. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/clock.h"
#include "sys/fs.h"

static int setup(void **state)
{
  char name[] = "/tmp/tm_real_XXXXXX";
  *state = mkdtemp(name) != NULL ? tm_xstrdup(name) : NULL;
  return *state == NULL;
}

static int teardown(void **state)
{
  int rc = tm_tree_remove(*state, NULL);
  free(*state);
  return rc;
}

static void a_file_is_written_read_cut_and_removed(void **state)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  char bytes[4] = "", *path = tm_path_join(*state, "f");
  int fd = fs->open(fs->self, path, O_RDWR | O_CREAT, 0644);
  assert_true(fd >= 0);
  assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
  assert_int_equal(fs->pwrite(fs->self, fd, "abcdef", 6, 2), 6);
  assert_int_equal(fs->pread(fs->self, fd, bytes, 3, 3), 3);
  assert_string_equal(bytes, "bcd");
  assert_int_equal(fs->ftruncate(fs->self, fd, 5), 0);
  assert_int_equal(fs->fsync(fs->self, fd), 0);
  assert_int_equal(fs->fstat(fs->self, fd, &st), 0);
  assert_int_equal(st.size, 5);
  assert_true(S_ISREG(st.mode));
  int64_t age = tm_clock_wall_ns() - st.mtime_ns;
  assert_true(age > -INT64_C(1000000000) && age < INT64_C(60000000000));
  assert_int_equal(fs->close(fs->self, fd), 0);
  assert_int_equal(fs->unlink(fs->self, path), 0);
  assert_int_equal(fs->stat(fs->self, path, true, &st), -ENOENT);
  free(path);
}

static void the_contents_of_a_folder_are_named(void **state)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_volume v, proc;
  struct statvfs seen;
  assert_int_equal(fs->volume(fs->self, *state, &v), 0);
  assert_int_equal(statvfs(*state, &seen), 0);
  assert_int_equal(v.is_no_exec, (seen.f_flag & ST_NOEXEC) != 0);
  assert_false(v.is_read_only);
  assert_true(v.free_bytes > 0 && v.free_files > 0);
  assert_int_equal(fs->volume(fs->self, "/proc/self", &proc), 0);
  assert_false(proc.is_memory);
  char *missing = tm_path_join(*state, "missing");
  assert_int_equal(fs->volume(fs->self, missing, &v), -ENOENT);
  free(missing);
}

static void a_fifo_in_the_place_of_a_file_holds_nobody_up(void **state)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_buf text = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  char *path = tm_path_join(*state, "fifo");
  assert_int_equal(mkfifo(path, 0600), 0);
  alarm(60); /* otherwise it would wait for a writer */
  assert_int_equal(tm_fs_read_file(fs, path, 100, &text, &err), -ESPIPE);
  alarm(0);
  assert_non_null(strstr(err.text, "it is a FIFO or a device, not a file"));
  assert_int_equal(fs->unlink(fs->self, path), 0);
  tm_buf_release(&text);
  free(path);
}

static void folders_and_links(void **state)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st, there;
  char *dir = tm_path_join(*state, "d"), *link = tm_path_join(*state, "l");
  char *moved = tm_path_join(*state, "m");
  assert_int_equal(fs->mkdir(fs->self, dir, 0755), 0);
  assert_int_equal(fs->mkdir(fs->self, dir, 0755), -EEXIST);
  assert_int_equal(fs->symlink(fs->self, "d", link), 0);
  assert_int_equal(fs->stat(fs->self, link, false, &st), 0);
  assert_true(S_ISLNK(st.mode));
  assert_int_equal(fs->stat(fs->self, link, true, &st), 0);
  assert_int_equal(fs->stat(fs->self, dir, true, &there), 0);
  assert_true(S_ISDIR(st.mode) && st.ino == there.ino && st.dev == there.dev);
  assert_int_equal(fs->rename(fs->self, dir, moved), 0);
  assert_int_equal(fs->unlink(fs->self, moved), 0); /* an empty folder */
  assert_int_equal(fs->unlink(fs->self, link), 0);
  assert_int_equal(fs->unlink(fs->self, link), -ENOENT);
  free(dir);
  free(link);
  free(moved);
}

static void two_names_change_places(void **state)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat before, after;
  char *dir = tm_path_join(*state, "d"), *file = tm_path_join(*state, "f");
  assert_int_equal(fs->mkdir(fs->self, dir, 0755), 0);
  assert_int_equal(fs->stat(fs->self, dir, false, &before), 0);
  assert_int_equal(fs->exchange(fs->self, dir, file), -ENOENT);
  assert_int_equal(tm_fs_write_file(fs, file, "x", 1, 0600, NULL), 0);
  assert_int_equal(fs->exchange(fs->self, dir, file), 0);
  assert_int_equal(fs->stat(fs->self, file, false, &after), 0);
  assert_true(S_ISDIR(after.mode) && after.ino == before.ino);
  assert_true(after.mtime_ns == before.mtime_ns);
  assert_int_equal(fs->stat(fs->self, dir, false, &after), 0);
  assert_true(S_ISREG(after.mode));
  assert_int_equal(fs->exchange(fs->self, dir, dir), 0);
  free(dir);
  free(file);
}

static void assert_text(const char *path, const char *expected)
{
  struct tm_buf text = TM_BUF_NONE;
  assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 100, &text, NULL), 0);
  assert_string_equal(tm_buf_str(&text), expected);
  tm_buf_release(&text);
}

static void a_file_takes_only_a_free_name(void **state)
{
  const struct tm_fs *fs = tm_fs_real();
  char *mine = tm_path_join(*state, "mine"), *other = tm_path_join(*state, "other");
  char *link = tm_path_join(*state, "link"), *dir = tm_path_join(*state, "dir");
  assert_int_equal(tm_fs_write_file(fs, mine, "mine", 4, 0600, NULL), 0);
  assert_int_equal(tm_fs_write_file(fs, other, "other", 5, 0600, NULL), 0);
  assert_int_equal(fs->symlink(fs->self, "nowhere", link), 0);
  assert_int_equal(fs->mkdir(fs->self, dir, 0700), 0);
  assert_int_equal(fs->rename_new(fs->self, mine, other), -EEXIST);
  assert_int_equal(fs->rename_new(fs->self, mine, link), -EEXIST);
  assert_int_equal(fs->rename_new(fs->self, mine, dir), -EEXIST);
  assert_text(mine, "mine");
  assert_text(other, "other");
  assert_int_equal(fs->unlink(fs->self, other), 0);
  assert_int_equal(fs->rename_new(fs->self, mine, other), 0);
  assert_text(other, "mine");
  assert_false(tm_fs_exists(fs, mine));
  assert_int_equal(fs->rename_new(fs->self, mine, dir), -ENOENT);
  const char *names[] = { other, link, dir };
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(fs->unlink(fs->self, names[i]), 0);
  free(mine);
  free(other);
  free(link);
  free(dir);
}

/* As on NFS. */
static void refuse_renameat2(void)
{
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
  assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void a_file_takes_only_a_free_name_on_nfs(void **state)
{
  int status;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    refuse_renameat2();
    assert_int_equal(tm_fs_real()->exchange(NULL, *state, *state), -ENOSYS);
    a_file_takes_only_a_free_name(state);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void errors_are_negated(void **state)
{
  const struct tm_fs *fs = tm_fs_real();
  char byte = 0;
  assert_int_equal(fs->open(fs->self, "/none/such", O_RDONLY, 0), -ENOENT);
  assert_int_equal(fs->close(fs->self, -1), -EBADF);
  assert_int_equal(fs->pread(fs->self, -1, &byte, 1, 0), -EBADF);
  assert_int_equal(fs->pwrite(fs->self, -1, &byte, 1, 0), -EBADF);
  assert_int_equal(fs->fsync(fs->self, -1), -EBADF);
  assert_int_equal(fs->unlink(fs->self, *state), 0);
  assert_int_equal(fs->mkdir(fs->self, *state, 0700), 0);
}

#define WITH_ROOT(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS({
    WITH_ROOT(a_file_is_written_read_cut_and_removed),
    WITH_ROOT(the_contents_of_a_folder_are_named),
    WITH_ROOT(a_fifo_in_the_place_of_a_file_holds_nobody_up),
    WITH_ROOT(folders_and_links),
    WITH_ROOT(two_names_change_places),
    WITH_ROOT(a_file_takes_only_a_free_name),
    WITH_ROOT(a_file_takes_only_a_free_name_on_nfs),
    WITH_ROOT(errors_are_negated),
});
