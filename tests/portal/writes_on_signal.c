/* writes_on_signal.c - for LD_PRELOAD: a process that gets SIGUSR1 tries to write the file named in
 * TM_WRITE_TO, and says on standard error what has become of it. It shows what the program's own
 * process may do at that moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const char *path;

static void write_it(int number)
{
  static const char written[] = "written\n", refused[] = "refused\n", other[] = "cannot say\n";
  int before = errno;
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const char *said = fd >= 0 ? written : errno == EACCES ? refused : other;
  size_t len = fd < 0 && errno != EACCES ? sizeof other - 1 : sizeof written - 1;
  (void)!write(STDERR_FILENO, said, len);
  if (fd >= 0)
    close(fd);
  errno = before;
}

__attribute__((constructor)) static void prepare(void)
{
  struct sigaction action = { .sa_handler = write_it, .sa_flags = SA_RESTART };
  path = getenv("TM_WRITE_TO");
  if (path)
    sigaction(SIGUSR1, &action, NULL);
}
