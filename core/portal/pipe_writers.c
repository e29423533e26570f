/* pipe_writers.c - see pipe_writers.h. */
#include "portal/pipe_writers.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define NAME_SIZE 40 /* "pipe:[4026531840]" */

/* Whether the folder, /proc/PID/fd, has the pipe, open for writing. It follows no link: a file may
 * be on a disk that does not answer. */
static bool has_writer(DIR *fds, const char *pipe)
{
  struct dirent *entry;
  struct stat link;
  char target[NAME_SIZE];
  size_t len = strlen(pipe);
  while ((entry = readdir(fds)))
    if (readlinkat(dirfd(fds), entry->d_name, target, sizeof target) == (ssize_t)len &&
        memcmp(target, pipe, len) == 0 &&
        fstatat(dirfd(fds), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) == 0 &&
        (link.st_mode & S_IWUSR))
      return true;
  return false;
}

/* The number may have become another process's before the signal, but not the descriptor. */
static void kill_writer(int proc, pid_t pid, const char *pipe)
{
  char path[40];
  int process = pidfd_open(pid, 0);
  snprintf(path, sizeof path, "%d/fd", (int)pid);
  int folder = process < 0 ? -1 : openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *fds = folder < 0 ? NULL : fdopendir(folder);
  if (fds && has_writer(fds, pipe))
    (void)pidfd_send_signal(process, SIGKILL, NULL, 0);
  if (fds)
    closedir(fds);
  else if (folder >= 0)
    close(folder);
  if (process >= 0)
    close(process);
}

void tm_pipe_writers_kill(int pipe)
{
  struct stat of_pipe;
  struct dirent *entry;
  char name[NAME_SIZE];
  int64_t pid;
  DIR *proc = fstat(pipe, &of_pipe) == 0 ? opendir("/proc") : NULL;
  if (proc)
    snprintf(name, sizeof name, "pipe:[%ju]", (uintmax_t)of_pipe.st_ino);
  while (proc && (entry = readdir(proc)))
    if (tm_text_int(entry->d_name, &pid) && pid > 0 && pid != getpid())
      kill_writer(dirfd(proc), (pid_t)pid, name);
  if (proc)
    closedir(proc);
}
