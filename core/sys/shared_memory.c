/* shared_memory.c - shared memory by memfd.
 *
 *  (1) The size is sealed before anyone gets the descriptor: otherwise a worker that truncates its
 *      page would kill its keeper by SIGBUS.
 *
 * The memory lives as long as a descriptor or a mapping of it. It has no name in a file system, so
 * a killed process leaves nothing behind.
 */
#include "sys/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "sys/standard_fds.h"

int tm_shared_memory_new(const char *name, size_t size, struct tm_err *err)
{
  tm_require(size > 0);
  int fd = tm_fd_lift(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd < 0)
    return tm_err_system(err, -errno, "cannot make shared memory '%s'", name);
  if (ftruncate(fd, (off_t)size) < 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) { /* keeps (1) */
    int rc = tm_err_system(err, -errno, "cannot make shared memory '%s' of %zu bytes", name, size);
    close(fd);
    return rc;
  }
  return fd;
}

void *tm_shared_memory_map(int fd, size_t size, struct tm_err *err)
{
  struct stat st;
  if (fstat(fd, &st) < 0) {
    tm_err_system(err, -errno, "cannot map shared memory");
    return NULL;
  }
  /* An access beyond its end would raise SIGBUS. */
  if (st.st_size < 0 || (size_t)st.st_size < size) {
    tm_err_set(err, TM_EPROTOCOL, "shared memory has %lld bytes where %zu are needed",
               (long long)st.st_size, size);
    return NULL;
  }
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) {
    tm_err_system(err, -errno, "cannot map shared memory of %zu bytes", size);
    return NULL;
  }
  return p;
}

void tm_shared_memory_unmap(void *p, size_t size)
{
  if (p != NULL)
    munmap(p, size);
}
