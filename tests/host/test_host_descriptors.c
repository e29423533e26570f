/* test_host_descriptors.c - a host may close its standard descriptors: the library never takes
 * their place.
 *
 * A new descriptor gets the lowest free number, and the library then moves it. For that moment it
 * is below 3, and if a thread of the library has to wait then, the host can see it. So a single
 * look proves little. Two things are certain: a descriptor below 3 goes away again, and the library
 * only moves it. The calls that would use it are replaced by this program's own here, which check
 * the descriptors that they get.
 */
#include "host.h"

#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static atomic_bool is_watched;
static _Atomic(const char *) used; /* the call that got a descriptor below 3, or NULL */

static bool is_low_open(void)
{
  return fcntl(0, F_GETFD) >= 0 || fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0;
}

static void note(const char *call, int fd)
{
  if (fd >= 0 && fd <= STDERR_FILENO && atomic_load(&is_watched))
    atomic_store(&used, call);
}

ssize_t read(int fd, void *p, size_t n)
{
  note("read", fd);
  return syscall(SYS_read, fd, p, n);
}

ssize_t write(int fd, const void *p, size_t n)
{
  note("write", fd);
  return syscall(SYS_write, fd, p, n);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
  note("pread", fd);
  return syscall(SYS_pread64, fd, p, n, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
  note("pwrite", fd);
  return syscall(SYS_pwrite64, fd, p, n, at);
}

int fsync(int fd)
{
  note("fsync", fd);
  return (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t n)
{
  note("ftruncate", fd);
  return (int)syscall(SYS_ftruncate, fd, n);
}

int flock(int fd, int how)
{
  note("flock", fd);
  return (int)syscall(SYS_flock, fd, how);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
  note("recvmsg", fd);
  return syscall(SYS_recvmsg, fd, m, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
  note("sendmsg", fd);
  return syscall(SYS_sendmsg, fd, m, flags);
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
  struct timespec t = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
  for (nfds_t i = 0; i < n; i++)
    note("poll", fds[i].fd);
  return (int)syscall(SYS_ppoll, fds, n, timeout_ms < 0 ? NULL : &t, NULL, 0);
}

struct dirent *readdir(DIR *dir)
{
  static _Atomic(void *) real;
  struct dirent *(*call)(DIR *);
  void *found = atomic_load(&real);
  if (found == NULL)
    atomic_store(&real, found = dlsym(RTLD_NEXT, "readdir"));
  memcpy(&call, &found, sizeof call);
  note("readdir", dirfd(dir));
  return call(dir);
}

/* Descriptors below 3 go away: they are being moved, or SQLite's guard holds them. */
static void wait_for_none(struct host *h, const struct tidemill_event *e)
{
  int *stayed = h->data;
  int left_ms = HOST_LIMIT_MS;
  while (is_low_open() && left_ms-- > 0)
    poll(NULL, 0, 1);
  *stayed += left_ms < 0;
}

static void closed_standard_descriptors_stay_closed(void **state)
{
  struct host h;
  int stayed = 0, taken = 0, kept[3];
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  char workspace[256], path[256];
  for (int i = 0; i < 3; i++)
    kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
  fflush(NULL);
  host_setup(&h, "good", 10, "bad", 1, NULL);
  host_path(&h, "ws", workspace);
  host_path(&h, "pipeline.lua", path);
  o.workspace = workspace;
  h.on_event = wait_for_none;
  h.data = &stayed;
  for (int i = 0; i < 3; i++)
    close(i);
  atomic_store(&is_watched, true);
  int rc = tidemill_runtime_new(&h.rt, &o, &h.err);
  taken += is_low_open(); /* the library has no thread here, so one look is enough */
  if (rc == 0)
    rc = tidemill_pipeline_load(&h.pipeline, h.rt, path, &h.err);
  taken += is_low_open();
  if (rc == 0)
    rc = tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err);
  if (rc == 0)
    rc = tidemill_job_wait(h.job, HOST_LIMIT_MS, &h.err);
  tidemill_job_close(h.job);
  h.job = NULL;
  taken += is_low_open();
  atomic_store(&is_watched, false);
  for (int i = 0; i < 3; i++) {
    dup2(kept[i], i);
    close(kept[i]);
  }
  host_must(&h, rc);
  assert_int_equal(taken, 0);
  assert_int_equal(stayed, 0);
  if (atomic_load(&used))
    fail_msg("%s() was given a descriptor below 3", atomic_load(&used));
  assert_int_equal(h.done, 10);
  host_end(&h);
}

/* The watch detects what it is meant to detect. */
static void a_low_descriptor_that_is_used_is_seen(void **state)
{
  char byte;
  atomic_store(&is_watched, true);
  ssize_t got = pread(STDIN_FILENO, &byte, 0, 0);
  atomic_store(&is_watched, false);
  assert_true(got <= 0);
  assert_non_null(atomic_load(&used));
  assert_string_equal(atomic_load(&used), "pread");
  atomic_store(&used, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_low_descriptor_that_is_used_is_seen),
    cmocka_unit_test(closed_standard_descriptors_stay_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
