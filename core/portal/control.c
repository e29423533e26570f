/* control.c - see control.h. */
#include "portal/control.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "portal/child.h"
#include "portal/moment.h"
#include "portal/replays.h"

#define LIMIT_S 10
#define END_MS  800 /* the portal is gone within a second */

struct question {
  unsigned number;
  enum tm_control_action action;
  int64_t asked_ns;
  int64_t mini_batch;
  char job[NAME_MAX + 1], step[NAME_MAX + 1];
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
  struct tm_replays replays;
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
  int code =
      tm_child_start(helper->program, c->argv, *c->directory ? c->directory : NULL, log, &pid);
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
    say(reply, 202, "The job is resumed. It continues if the portal ends. What it prints is in %s.",
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
        "A new job is started, and will appear in the list of jobs. It continues if the portal "
        "ends. What it prints is in %s of this job.",
        TM_CONTROL_RERUN_LOG);
}

/* The mini-batches of a step; -1: there is no such step. */
static int64_t count_mini_batches(struct tidemill_record *record, const char *step)
{
  for (size_t i = 0; i < tidemill_record_info(record)->steps_len; i++)
    if (strcmp(tidemill_record_step(record, i)->name, step) == 0)
      return tidemill_record_step(record, i)->counts->created;
  return -1;
}

/* Nobody would read the output of a replay that starts when the portal waits no longer. */
static void replay(struct helper *helper, const struct question *q, const char *dir,
                   struct tm_control_reply *reply)
{
  char number[32];
  const char *argv[] = {
    "tidemill", "replay", dir, "--step", q->step, "--mini-batch", number, NULL
  };
  snprintf(number, sizeof number, "%" PRId64, q->mini_batch);
  if (tm_replays_has(&helper->replays, dir)) {
    say(reply, 409,
        "A replay of this job is running already. It ends within a second when its page is closed, "
        "or by Stop.");
    return;
  }
  if (helper->replays.len == TM_REPLAYS) {
    say(reply, 409, "%d replays of other jobs are running: end one of them first.", TM_REPLAYS);
    return;
  }
  if (tm_moment_now_ns() - q->asked_ns > LIMIT_S * TM_S / 2) {
    say(reply, 504, "The disk is slow: nothing is started. Try again.");
    return;
  }
  int code = tm_replays_start(&helper->replays, helper->program, argv, dir, &reply->output);
  if (code != 0)
    say(reply, 500, "Cannot run '%s': %s.", helper->program, strerror(code));
  else
    say(reply, 200, "The replay runs.");
}

static void act_on(struct helper *helper, const struct question *q, struct tidemill_record *record,
                   const char *dir, struct tm_control_reply *reply)
{
  struct tm_err err = TM_ERR_NONE;
  const char *words;
  int status = tm_control_check(q->action, tidemill_record_info(record)->state, &words);
  if (q->action == TM_CONTROL_REPLAY)
    status =
        tm_control_check_mini_batch(count_mini_batches(record, q->step), q->mini_batch, &words);
  if (tidemill_record_trust(record, &err) < 0)
    say(reply, 403, "%s", err.text);
  else if (status)
    say(reply, status, "%s", words);
  else if (q->action == TM_CONTROL_RESUME)
    resume(helper, dir, reply);
  else if (q->action == TM_CONTROL_ONLY_FAILED)
    run_failed(helper, record, dir, reply);
  else if (q->action == TM_CONTROL_REPLAY)
    replay(helper, q, dir, reply);
  else
    cancel(dir, q->action == TM_CONTROL_CANCEL_NOW, reply);
}

static void act(struct helper *helper, const struct question *q, const char *dir,
                struct tm_control_reply *reply)
{
  struct tidemill_record *record = NULL;
  struct tm_err err = TM_ERR_NONE;
  if (tidemill_record_open(&record, NULL, dir, &err) < 0)
    say(reply, 404, "%s", err.text);
  else
    act_on(helper, q, record, dir, reply);
  tidemill_record_close(record);
}

/* With the descriptor of `output`, which belongs to the portal then. */
static void send_reply(int fd, const struct tm_control_reply *reply)
{
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
  } more = { .bytes = { 0 } };
  struct iovec text = { (void *)reply, sizeof *reply };
  struct msghdr message = { .msg_iov = &text, .msg_iovlen = 1 };
  if (reply->output >= 0) {
    more.head = (struct cmsghdr) { .cmsg_len = CMSG_LEN(sizeof(int)),
                                   .cmsg_level = SOL_SOCKET,
                                   .cmsg_type = SCM_RIGHTS };
    memcpy(CMSG_DATA(&more.head), &reply->output, sizeof(int));
    message.msg_control = more.bytes;
    message.msg_controllen = sizeof more.bytes;
  }
  (void)sendmsg(fd, &message, MSG_NOSIGNAL);
  if (reply->output >= 0)
    close(reply->output);
}

/* Takes the next question. False: the portal has ended. */
static bool answer(struct helper *helper)
{
  struct question q;
  ssize_t n = recv(helper->fd, &q, sizeof q, MSG_DONTWAIT);
  if (n <= 0)
    return n < 0 && (errno == EINTR || errno == EAGAIN);
  struct tm_control_reply reply = { .number = q.number, .output = -1 };
  if (n != (ssize_t)sizeof q)
    return true;
  q.job[sizeof q.job - 1] = q.step[sizeof q.step - 1] = '\0';
  if (*q.job == '\0' || *q.job == '.' || strchr(q.job, '/')) {
    say(&reply, 404, "That is not the name of a job.");
  } else {
    char *dir = tm_path_join(helper->jobs_dir, q.job);
    act(helper, &q, dir, &reply);
    free(dir);
  }
  send_reply(helper->fd, &reply);
  return true;
}

/* Until the portal ends, and with it the replays. */
static void serve(struct helper *helper)
{
  bool is_asked = true;
  while (is_asked || helper->replays.len > 0) {
    struct pollfd polls[1 + TM_REPLAYS_POLLS] = { { is_asked ? helper->fd : -1, POLLIN, 0 } };
    size_t n = 1 + tm_replays_polls(&helper->replays, polls + 1);
    (void)poll(polls, n, tm_replays_timeout_ms(&helper->replays, tm_moment_now_ns()));
    tm_replays_turn(&helper->replays, tm_moment_now_ns());
    if (polls[0].revents)
      is_asked = answer(helper);
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

/* Returns the bytes of it, 0 at the end, -1 and errno. */
static ssize_t receive_reply(int fd, struct tm_control_reply *reply)
{
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
  } more;
  struct iovec text = { reply, sizeof *reply };
  struct msghdr message = { .msg_iov = &text,
                            .msg_iovlen = 1,
                            .msg_control = more.bytes,
                            .msg_controllen = sizeof more.bytes };
  ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  reply->output = -1;
  if (head && head->cmsg_type == SCM_RIGHTS)
    memcpy(&reply->output, CMSG_DATA(head), sizeof(int));
  return n;
}

static bool set_question(struct question *q, const struct tm_control_request *r)
{
  const char *step = r->step ? r->step : "";
  if (strlen(r->job) >= sizeof q->job || strlen(step) >= sizeof q->step)
    return false;
  memset(q, 0, sizeof *q);
  q->action = r->action;
  q->asked_ns = tm_moment_now_ns();
  q->mini_batch = r->mini_batch;
  memcpy(q->job, r->job, strlen(r->job));
  memcpy(q->step, step, strlen(step));
  return true;
}

void tm_control_ask(struct tm_control *c, const struct tm_control_request *r,
                    struct tm_control_reply *reply)
{
  struct question q;
  ssize_t n;
  *reply = (struct tm_control_reply) { .output = -1 };
  if (!set_question(&q, r)) {
    say(reply, 404, "That is not the name of a job, or of a step.");
    return;
  }
  q.number = ++c->asked;
  if (send(c->fd, &q, sizeof q, MSG_NOSIGNAL) != (ssize_t)sizeof q) {
    say(reply, 500, "The portal's helper has ended: start the portal again.");
    return;
  }
  while (((n = receive_reply(c->fd, reply)) < 0 && errno == EINTR) ||
         (n == (ssize_t)sizeof *reply && reply->number != q.number))
    if (reply->output >= 0)
      close(reply->output);
  if (n != (ssize_t)sizeof *reply)
    say(reply, n == 0 ? 500 : 504,
        n == 0 ? "The portal's helper has ended: start the portal again."
               : "The disk is slow: the page of the job will show what has become of it.");
}

/* A helper that waits for a disk ends later, by itself. */
void tm_control_end(struct tm_control *c)
{
  if (c->pid <= 0)
    return;
  close(c->fd);
  struct pollfd end = { .fd = pidfd_open(c->pid, 0), .events = POLLIN };
  if (end.fd >= 0)
    (void)poll(&end, 1, END_MS);
  (void)waitpid(c->pid, NULL, WNOHANG);
  if (end.fd >= 0)
    close(end.fd);
  c->pid = 0;
}
