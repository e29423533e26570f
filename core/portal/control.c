/* control.c - see control.h. */
#include "portal/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"

extern char **environ;

#define LIMIT_S 10

struct question {
  unsigned number;
  enum tm_control_action action;
  char job[NAME_MAX + 1];
};

struct started { /* a process that does something with a job */
  enum tm_control_action action;
  char *dir;
  pid_t pid;
};

struct helper {
  const char *jobs_dir;
  char *program;
  int fd;
  struct TM_ARRAY(struct started) started;
};

__attribute__((format(printf, 3, 4))) static void say(struct tm_control_reply *reply, int status,
                                                      const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(reply->text, sizeof reply->text, fmt, ap);
  va_end(ap);
  reply->status = status;
}

/* ---- the helper ---- */

static void cancel(const char *dir, bool now, struct tm_control_reply *reply)
{
  struct tidemill_cancel *c = NULL;
  struct tm_err err = TM_ERR_NONE;
  if (tidemill_cancel_new(&c, NULL, dir, now, &err) < 0)
    say(reply, 409, "%s", err.text);
  else if (!tidemill_cancel_info(c)->is_asked)
    say(reply, 409, "Nobody runs the job here: there is nothing to cancel.");
  else if (now)
    say(reply, 202, "The job is asked to end now.");
  else
    say(reply, 202, "The job is asked to end. Running mini-batches may end first.");
  tidemill_cancel_free(c);
}

/* A regular file, whatever a job has put in its place. */
static int open_log(const char *dir, const char *name)
{
  struct stat st;
  char *path = tm_path_join(dir, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  free(path);
  if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
    close(fd);
    errno = EEXIST;
    return -1;
  }
  return fd;
}

/* In a session of its own, with the signals of a program that a shell starts. Returns errno. */
static int spawn(const struct helper *helper, const struct tidemill_rerun *c, int log, pid_t *pid)
{
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGCHLD);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, log, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, log, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  if (*c->directory)
    posix_spawn_file_actions_addchdir_np(&files, c->directory);
  int code = posix_spawn(pid, helper->program, &files, &attributes,
                         (char *const *)(uintptr_t)c->argv, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return code;
}

static void forget_ended(struct helper *helper)
{
  for (size_t i = helper->started.len; i-- > 0;)
    if (waitpid(helper->started.at[i].pid, NULL, WNOHANG) != 0) {
      free(helper->started.at[i].dir);
      helper->started.at[i] = helper->started.at[--helper->started.len];
    }
}

/* Also while the process that was started has not taken the job yet, so that its state is as
 * before: two pages may ask at once. */
static bool is_being_done(struct helper *helper, enum tm_control_action action, const char *dir)
{
  forget_ended(helper);
  for (size_t i = 0; i < helper->started.len; i++)
    if (helper->started.at[i].action == action && strcmp(helper->started.at[i].dir, dir) == 0)
      return true;
  return false;
}

/* Runs the command, which prints into the file `name` of the job. False: the reply says why not. */
static bool start(struct helper *helper, enum tm_control_action action, const char *dir,
                  const struct tidemill_rerun *c, const char *name, struct tm_control_reply *reply)
{
  pid_t pid = 0;
  int log = open_log(dir, name);
  if (log < 0) {
    say(reply, 500, "Cannot write '%s/%s': %s.", dir, name, strerror(errno));
    return false;
  }
  int code = spawn(helper, c, log, &pid);
  close(log);
  if (code != 0) {
    say(reply, 500, "Cannot run '%s'%s%s: %s.", helper->program, *c->directory ? " in " : "",
        c->directory, strerror(code));
    return false;
  }
  *TM_ARRAY_ADD(&helper->started) =
      (struct started) { .action = action, .dir = tm_xstrdup(dir), .pid = pid };
  return true;
}

static void resume(struct helper *helper, const char *dir, struct tm_control_reply *reply)
{
  struct tm_err err = TM_ERR_NONE;
  const char *words;
  const char *argv[] = { "tidemill", "resume", dir, NULL };
  const struct tidemill_rerun command = { .argv = argv, .directory = "" };
  if (is_being_done(helper, TM_CONTROL_RESUME, dir))
    say(reply, 409, "The job is being resumed already.");
  else if (!tm_control_resumes(tidemill_resume_way(dir, &err), &words))
    say(reply, 409, "%s%s%s", words, *err.text ? " " : "", err.text);
  else if (start(helper, TM_CONTROL_RESUME, dir, &command, TM_CONTROL_LOG, reply))
    say(reply, 202,
        "`tidemill resume` is started. It goes on without the portal, and what it prints is in %s.",
        TM_CONTROL_LOG);
}

static void run_failed(struct helper *helper, struct tidemill_record *record, const char *dir,
                       struct tm_control_reply *reply)
{
  struct tm_err err = TM_ERR_NONE;
  const struct tidemill_rerun *command;
  if (is_being_done(helper, TM_CONTROL_ONLY_FAILED, dir))
    say(reply, 409, "The failed items are being run again already.");
  else if (tidemill_record_rerun(record, &command, &err) < 0)
    say(reply, 409, "%s", err.text);
  else if (start(helper, TM_CONTROL_ONLY_FAILED, dir, command, TM_CONTROL_RERUN_LOG, reply))
    say(reply, 202,
        "A new job is started, and will appear in the list of jobs. It goes on without the portal, "
        "and what it prints is in %s of this job.",
        TM_CONTROL_RERUN_LOG);
}

static void act_on(struct helper *helper, enum tm_control_action action,
                   struct tidemill_record *record, const char *dir, struct tm_control_reply *reply)
{
  struct tm_err err = TM_ERR_NONE;
  const char *words;
  int status = tm_control_check(action, tidemill_record_info(record)->state, &words);
  if (tidemill_record_trust(record, &err) < 0)
    say(reply, 403, "%s", err.text);
  else if (status)
    say(reply, status, "%s", words);
  else if (action == TM_CONTROL_RESUME)
    resume(helper, dir, reply);
  else if (action == TM_CONTROL_ONLY_FAILED)
    run_failed(helper, record, dir, reply);
  else
    cancel(dir, action == TM_CONTROL_CANCEL_NOW, reply);
}

static void act(struct helper *helper, const struct question *q, const char *dir,
                struct tm_control_reply *reply)
{
  struct tidemill_record *record = NULL;
  struct tm_err err = TM_ERR_NONE;
  if (tidemill_record_open(&record, NULL, dir, &err) < 0)
    say(reply, 404, "%s", err.text);
  else
    act_on(helper, q->action, record, dir, reply);
  tidemill_record_close(record);
}

/* Until the portal ends. */
static void serve(struct helper *helper)
{
  struct question q;
  ssize_t n;
  while ((n = recv(helper->fd, &q, sizeof q, 0)) > 0 || (n < 0 && errno == EINTR)) {
    struct tm_control_reply reply = { .number = q.number };
    if (n != (ssize_t)sizeof q)
      continue;
    q.job[sizeof q.job - 1] = '\0';
    if (*q.job == '\0' || *q.job == '.' || strchr(q.job, '/')) {
      say(&reply, 404, "That is not the name of a job.");
    } else {
      char *dir = tm_path_join(helper->jobs_dir, q.job);
      act(helper, &q, dir, &reply);
      free(dir);
    }
    (void)send(helper->fd, &reply, sizeof reply, MSG_NOSIGNAL);
  }
}

/* A command runs elsewhere, where it would find another workspace. */
static void name_workspace(const struct helper *helper)
{
  char *workspace = tm_path_dir(helper->jobs_dir);
  if (setenv("TIDEMILL_WORKSPACE", workspace, 1) < 0)
    _exit(1);
  free(workspace);
}

/* Of all descriptors, it keeps the first three and its own. */
__attribute__((noreturn)) static void become_helper(struct helper *helper)
{
  int first = STDERR_FILENO + 1;
  name_workspace(helper);
  (void)setsid(); /* Ctrl-C ends the portal, and so the helper */
  signal(SIGCHLD, SIG_DFL);
  if (helper->fd != first && dup3(helper->fd, first, O_CLOEXEC) < 0)
    _exit(1);
  helper->fd = first;
  if (close_range((unsigned)first + 1, ~0U, 0) < 0)
    _exit(1);
  serve(helper);
  _exit(0);
}

/* ---- the portal ---- */

/* The program beside this one, or where it is installed. To free(); NULL: it is not there. */
static char *find_program(void)
{
  static const char *const places[] = { "tidemill", "../../bin/tidemill" };
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0)
    return NULL;
  self[n] = '\0';
  *strrchr(self, '/') = '\0';
  for (size_t i = 0; i < TM_COUNT_OF(places); i++) {
    char *path = tm_path_join(self, places[i]);
    if (access(path, X_OK) == 0)
      return path;
    free(path);
  }
  return NULL;
}

static int start_helper(struct tm_control *c, struct helper *helper, struct tm_err *err)
{
  int ends[2];
  struct timeval limit = { .tv_sec = LIMIT_S };
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
    return tm_err_system(err, -errno, "cannot make a pair of sockets");
  pid_t pid = fork();
  if (pid == 0) {
    helper->fd = ends[1];
    become_helper(helper);
  }
  int code = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return tm_err_system(err, -code, "cannot start a process");
  }
  (void)setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  c->pid = pid;
  c->fd = ends[0];
  return 0;
}

int tm_control_start(struct tm_control *c, const char *jobs_dir, struct tm_err *err)
{
  struct helper helper = { .jobs_dir = jobs_dir, .program = find_program() };
  if (!helper.program)
    return tm_err_set(err, TM_EUSAGE,
                      "--allow-control needs the program 'tidemill' beside tidemill-portal, or in "
                      "../../bin: install all of tidemill");
  int rc = start_helper(c, &helper, err);
  free(helper.program);
  return rc;
}

void tm_control_ask(struct tm_control *c, enum tm_control_action action, const char *job,
                    struct tm_control_reply *reply)
{
  struct question q = { .number = ++c->asked, .action = action };
  ssize_t n;
  if (strlen(job) >= sizeof q.job) {
    say(reply, 404, "That is not the name of a job.");
    return;
  }
  memcpy(q.job, job, strlen(job) + 1);
  if (send(c->fd, &q, sizeof q, MSG_NOSIGNAL) != (ssize_t)sizeof q) {
    say(reply, 500, "The portal's helper has ended: start the portal again.");
    return;
  }
  do
    n = recv(c->fd, reply, sizeof *reply, 0);
  while ((n < 0 && errno == EINTR) || (n == (ssize_t)sizeof *reply && reply->number != q.number));
  if (n != (ssize_t)sizeof *reply)
    say(reply, n == 0 ? 500 : 504,
        n == 0 ? "The portal's helper has ended: start the portal again."
               : "The disk is slow: the page of the job will show what has become of it.");
}

void tm_control_end(struct tm_control *c)
{
  if (c->pid <= 0)
    return;
  close(c->fd);
  while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  c->pid = 0;
}
