/* owner.c - see owner.h. */
#include "record/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"
#include "sys/process.h"

#define OWNER_MAX 4096 /* bytes */

static bool is_of_this_host(int64_t pid, const char *host)
{
  char here[HOST_NAME_MAX + 1] = "";
  (void)gethostname(here, sizeof(here) - 1);
  return pid > 0 && pid <= INT_MAX && host && strcmp(host, here) == 0;
}

bool tm_owner_is_here(const char *job_dir, int lock)
{
  int64_t pid;
  char *host;
  tm_owner_read(job_dir, &pid, &host);
  size_t ours = pid == getpid(); /* this process may have closed an earlier job */
  bool yes = is_of_this_host(pid, host) && tm_process_count_open((pid_t)pid, lock, "lock") > ours;
  free(host);
  return yes;
}

static bool is_locked(const char *job_dir)
{
  const struct tm_fs *fs = tm_fs_real();
  char *path = tm_path_join(job_dir, "lock");
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, NULL), rc;
  free(path);
  if (fd < 0)
    return false;
  rc = tm_lock_take(fd, true);
  if (rc == 0)
    tm_lock_release(fd);
  bool yes = rc == -EWOULDBLOCK || (tm_lock_is_unsupported(rc) && tm_owner_is_here(job_dir, fd));
  tm_fs_close(fs, fd);
  return yes;
}

bool tm_owner_is_running(const char *job_dir, int64_t *pid, char **host)
{
  bool yes = is_locked(job_dir);
  if (pid || host)
    tm_owner_read(job_dir, pid, host);
  return yes;
}

void tm_owner_read(const char *job_dir, int64_t *pid, char **host)
{
  char *owner_file = tm_path_join(job_dir, "owner");
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *owner = NULL;
  if (tm_fs_read_file(tm_fs_real(), owner_file, OWNER_MAX, &text, NULL) >= 0)
    owner = tm_json_parse(tm_buf_str(&text), text.len, NULL);
  if (pid)
    *pid = tm_json_int(owner, "pid", 0);
  if (host)
    *host = tm_xstrdup(tm_json_str(owner, "host", ""));
  tm_json_free(owner);
  tm_buf_release(&text);
  free(owner_file);
}

bool tm_owner_is_stopped(int64_t pid, const char *host)
{
  return is_of_this_host(pid, host) && tm_process_is_stopped((pid_t)pid);
}
