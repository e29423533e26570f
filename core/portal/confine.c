/* confine.c - see confine.h. */
#include "portal/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of later kernels than these headers. */
#define REFER    (UINT64_C(1) << 13)
#define TRUNCATE (UINT64_C(1) << 14)

static const uint64_t from_the_first =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

bool tm_confine(void)
{
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  struct landlock_ruleset_attr rules = { .handled_access_fs = from_the_first };
  if (version < 1)
    return false;
  rules.handled_access_fs |= version >= 2 ? REFER : 0;
  rules.handled_access_fs |= version >= 3 ? TRUNCATE : 0;
  long fd = syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  bool is_done = fd >= 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                 syscall(SYS_landlock_restrict_self, fd, 0) == 0;
  if (fd >= 0)
    close((int)fd);
  return is_done;
}

static void wait_and_work(int begin, void (*work)(void *data), void *data)
{
  char byte;
  (void)setsid(); /* a closed terminal does not end it before its work */
  while (read(begin, &byte, 1) < 0 && errno == EINTR)
    ;
  work(data);
  _exit(0);
}

int tm_janitor_start(struct tm_janitor *j, void (*work)(void *data), void *data, struct tm_err *err)
{
  int ends[2];
  *j = (struct tm_janitor) { .end = -1 };
  if (pipe2(ends, O_CLOEXEC) < 0)
    return tm_err_system(err, -errno, "cannot make a pipe");
  j->pid = fork();
  if (j->pid == 0) {
    close(ends[1]);
    wait_and_work(ends[0], work, data);
  }
  int code = errno;
  close(ends[0]);
  if (j->pid > 0) {
    j->end = ends[1];
    return 0;
  }
  close(ends[1]);
  j->pid = 0;
  return tm_err_system(err, -code, "cannot start a process");
}

void tm_janitor_end(struct tm_janitor *j)
{
  if (j->pid <= 0)
    return;
  close(j->end);
  while (waitpid(j->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  j->pid = 0;
}
