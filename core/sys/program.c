/* program.c - starts a program by name, with a message for each way in which that fails; waits for
 * it and sends it signals.
 *
 *  (1) The input is a file in memory, written before the start: a program that does not read all of
 *      it blocks nobody and raises no SIGPIPE in us.
 *  (2) The system reports "no such file" for a missing program, a missing folder and a missing
 *      interpreter alike. Each is checked before the start, so that the message names the right
 *      one.
 *  (3) A child's number is valid until it has been reaped; whoever reaps it forgets the number.
 */
#include "sys/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/standard_fds.h"

/* ---- which file to run ---- */

static const char *path_variable(char *const *env)
{
  for (char *const *at = env != NULL ? env : environ; at != NULL && *at != NULL; at++)
    if (strncmp(*at, "PATH=", 5) == 0)
      return *at + 5;
  return "/usr/local/bin:/usr/bin:/bin";
}

/* 0 if the file can be executed, else the error. */
static int look_at(const char *path)
{
  struct stat st;
  if (stat(path, &st) < 0)
    return -errno;
  if (S_ISDIR(st.st_mode))
    return -EISDIR;
  return access(path, X_OK) < 0 ? -errno : 0;
}

/* The path of a name without '/', to free(). NULL: *code has the error. */
static char *find_in(const char *folders, const char *name, int *code)
{
  *code = -ENOENT;
  while (*folders != '\0') {
    size_t len = strcspn(folders, ":");
    char *dir = tm_xstrndup(folders, len), *path = tm_path_join(dir, name);
    int rc = dir[0] == '/' ? look_at(path) : -ENOENT;
    free(dir);
    if (rc == 0)
      return path;
    free(path);
    if (rc == -EACCES)
      *code = rc;
    folders += len + (folders[len] == ':');
  }
  return NULL;
}

/* The file to execute, to free(). NULL with a message. */
static char *find_program(const struct tm_program *p, struct tm_err *err)
{
  const char *name = p->argv[0];
  int code = -ENOENT;
  if (strchr(name, '/') != NULL) {
    char *full = tm_path_join(p->cwd, name);
    code = look_at(full);
    free(full);
    if (code == 0)
      return tm_xstrdup(name); /* the child changes its folder before it executes the file */
  } else if (name[0] != '\0') {
    char *path = find_in(path_variable(p->env), name, &code);
    if (path != NULL)
      return path;
    if (code == -ENOENT) {
      tm_err_set(err, code, "cannot start '%s': there is no such program in PATH (%s)", name,
                 path_variable(p->env));
      return NULL;
    }
  }
  if (code == -EACCES)
    tm_err_set(err, code, "cannot start '%s': it is not executable (chmod +x makes it so)", name);
  else if (code == -EISDIR)
    tm_err_set(err, -EACCES, "cannot start '%s': it is a folder", name);
  else
    tm_err_system(err, code, "cannot start '%s'", name);
  return NULL;
}

static int check_cwd(const struct tm_program *p, struct tm_err *err)
{
  struct stat st;
  int code = stat(p->cwd, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
  if (code == 0 && access(p->cwd, X_OK) < 0)
    code = -errno;
  return code < 0
             ? tm_err_system(err, code, "cannot start '%s' in the folder '%s'", p->argv[0], p->cwd)
             : 0;
}

char *tm_program_file(const struct tm_program *p, struct tm_err *err)
{
  return p->cwd != NULL && check_cwd(p, err) < 0 ? NULL : find_program(p, err);
}

/* ---- input and output ---- */

/* Keeps (1). A descriptor, at the beginning of the input. */
static int open_input(const struct tm_program *p, struct tm_err *err)
{
  int fd = tm_fd_lift(memfd_create("tidemill-input", MFD_CLOEXEC));
  int code = fd < 0 ? -errno : tm_fd_append(fd, p->input, p->input_len);
  if (code == 0 && lseek(fd, 0, SEEK_SET) < 0)
    code = -errno;
  if (code == 0)
    return fd;
  if (fd >= 0)
    close(fd);
  return tm_err_system(err, code, "cannot hold the input of '%s' (%zu bytes)", p->argv[0],
                       p->input_len);
}

static int open_output(const char *path, struct tm_err *err)
{
  return tm_fs_open(tm_fs_real(), path, O_WRONLY | O_CREAT | O_TRUNC, 0666, err);
}

/* If a standard descriptor of ours is closed, the child gets /dev/null. */
static int own(int fd)
{
  return fcntl(fd, F_GETFD) < 0 ? -1 : fd;
}

static pid_t start(const struct tm_program *p, const char *path, const int fds[3],
                   struct tm_err *err)
{
  const char *name = p->argv[0];
  struct tm_spawn s = {
    .program = path,
    .argv = p->argv,
    .env = p->env,
    .cwd = p->cwd,
    .fds = fds,
    .fds_len = 3,
    .same_session = true,
  };
  pid_t pid = tm_process_start(&s, err);
  if (pid == -ENOENT) /* keeps (2): the file exists */
    return tm_err_set(
        err, -ENOENT,
        "cannot start '%s': the interpreter that it names (its first line, #!) is missing", name);
  if (pid == -ENOEXEC)
    return tm_err_set(err, -ENOEXEC,
                      "cannot start '%s': the system cannot run such a file; a script begins with "
                      "a line as '#!/bin/sh'",
                      name);
  return pid;
}

pid_t tm_program_start_with(const struct tm_program *p, int out, int errors, struct tm_err *err)
{
  int fds[3] = { own(0), out >= 0 ? out : own(1), errors >= 0 ? errors : own(2) };
  int opened[3] = { -1, -1, -1 };
  char *path = tm_program_file(p, err);
  pid_t pid = path == NULL ? err->code : 0;
  if (pid == 0 && p->input != NULL)
    pid = opened[0] = open_input(p, err);
  if (pid >= 0 && p->out_path != NULL)
    pid = opened[1] = open_output(p->out_path, err);
  if (pid >= 0 && p->err_path != NULL)
    pid = opened[2] = open_output(p->err_path, err);
  for (int i = 0; i < 3; i++)
    fds[i] = opened[i] >= 0 ? opened[i] : fds[i];
  if (pid >= 0)
    pid = start(p, path, fds, err);
  for (int i = 0; i < 3; i++)
    if (opened[i] >= 0)
      close(opened[i]);
  free(path);
  return pid;
}

pid_t tm_program_start(const struct tm_program *p, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  pid_t pid = tm_program_start_with(p, -1, -1, &why);
  if (pid < 0)
    tm_err_set(err, pid, "%s", why.text);
  return pid;
}

/* ---- its end ---- */

static bool has_ended(pid_t pid, int64_t ns)
{
  int64_t until = tm_clock_mono_ns() + ns;
  struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
  int rc;
  if (p.fd < 0)
    return errno == ESRCH;
  do {
    int64_t left = (until - tm_clock_mono_ns() + 999999) / 1000000;
    rc = poll(&p, 1, left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left);
  } while (rc < 0 && errno == EINTR);
  close(p.fd);
  return rc > 0;
}

int tm_program_wait(pid_t pid, int64_t ns, struct tm_process_end *end, struct tm_err *err)
{
  siginfo_t info;
  int rc;
  if (ns >= 0 && !has_ended(pid, ns))
    return 0;
  memset(&info, 0, sizeof info);
  do
    rc = waitid(P_PID, (id_t)pid, &info, WEXITED);
  while (rc < 0 && errno == EINTR);
  if (rc < 0)
    return tm_err_system(err, -errno,
                         "it is not known how program %d ended: this process ignores SIGCHLD, or "
                         "reaped it elsewhere",
                         (int)pid);
  bool exited = info.si_code == CLD_EXITED;
  *end = (struct tm_process_end) {
    .pid = pid,
    .exit_status = exited ? info.si_status : 0,
    .signal = exited ? 0 : info.si_status,
    .core_dumped = info.si_code == CLD_DUMPED,
  };
  return 1;
}

int tm_program_kill(pid_t pid, int signal, struct tm_err *err)
{
  if (kill(pid, signal) == 0 || errno == ESRCH)
    return 0;
  return tm_err_system(err, -errno, "cannot send signal %d to program %d", signal, (int)pid);
}
