/* lock.c - a lock on a whole file, by flock.
 *
 * The lock belongs to the open file, not to the process: a duplicate of the descriptor in a child
 * holds it too, and it ends when the last one is closed, however its owner dies. That tells whether
 * a process still lives in a job directory. It also means that a fork of the host keeps the lock:
 * whoever closes a job must release it explicitly.
 */
#include "sys/fs.h"

#include <errno.h>
#include <sys/file.h>

int tm_lock_take(int fd, bool shared)
{
  int rc;
  do
    rc = flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? -errno : 0;
}

void tm_lock_release(int fd)
{
  flock(fd, LOCK_UN);
}
