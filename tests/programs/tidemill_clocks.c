/* tidemill_clocks.c - the program, with clocks that a test controls, and a disk that hangs:
 *
 *   TM_CLOCK_SPEED=10   the monotonic clock runs ten times as fast; the loop's timers do not change
 *   TM_CLOCK_AHEAD=60   the wall clock is so many seconds ahead
 *   TM_CLOCK_JUMPS=1    the wall clock jumps by up to two days, back and forth, at every reading
 *   TM_HANGS=stat:TEXT  in workers stat() of a path that contains TEXT never returns
 *   TM_HANGS=fsync      in workers fsync() never returns
 *
 * Keepers and workers run the same program and have the same clocks. All of tidemill's code reads
 * the time with clock_gettime().
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "sys/fs.h"

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

static long setting(const char *name)
{
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
  int rc = __real_clock_gettime(id, t);
  if (id == CLOCK_MONOTONIC && setting("TM_CLOCK_SPEED") > 1) {
    long long ns = (t->tv_sec * 1000000000LL + t->tv_nsec) * setting("TM_CLOCK_SPEED");
    t->tv_sec = (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
  }
  if (id == CLOCK_REALTIME)
    t->tv_sec += setting("TM_CLOCK_AHEAD");
  if (id == CLOCK_REALTIME && setting("TM_CLOCK_JUMPS") > 0)
    t->tv_sec += (t->tv_nsec / 1000 % 5 - 2) * 86400;
  return rc;
}

int __real_stat(const char *path, struct stat *out);
int __wrap_stat(const char *path, struct stat *out);
int __real_fsync(int fd);
int __wrap_fsync(int fd);

/* A relay and its keeper have a worker's marker, too: that of the command that started them. */
static bool is_worker;

/* The text after `call` in TM_HANGS; NULL: another call, or none, hangs. */
static const char *hangs(const char *call)
{
  const char *text = getenv("TM_HANGS");
  size_t n = strlen(call);
  return text && is_worker && strncmp(text, call, n) == 0 ? text + n : NULL;
}

int __wrap_stat(const char *path, struct stat *out)
{
  const char *text = hangs("stat:");
  while (text && strstr(path, text))
    pause();
  return __real_stat(path, out);
}

int __wrap_fsync(int fd)
{
  while (hangs("fsync"))
    pause();
  return __real_fsync(fd);
}

int main(int argc, char **argv)
{
  is_worker = argc > 1 && strcmp(argv[1], "worker") == 0;
  return tm_cli_main(argc, argv, tm_fs_real());
}
