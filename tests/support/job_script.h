/* job_script.h - an entry script in C for whole jobs. The prefix of an item's name says what a try
 * does:
 *
 *   slow...    a row, so slowly that its answer is not held for the next
 *   ok...      a row: its name                       many...   three rows      none...   no row
 *   fail...    fails, each time                      once...   fails in its first try
 *   die...     kills its worker in its first try     hang...   never returns from its first try
 *   hold...    says that it has begun, and returns when the test releases it
 *   child...   starts a process in its own session, which writes its pid to the file 'child'
 *   keeper...  kills the keeper, once; keepers...    kills it each time
 *   big...     one row of 2 MB
 *   rubbish... writes rubbish into the channel, once
 *   mute...    closes the channel and does not return, once
 *   ready...   says READY to the supervisor, once    fd...       sends a descriptor too, once
 *
 * Its arguments are the test's folder and how loading and init() end: no-run, bad-init, exit-init,
 * hold-init, keeper-init (it kills the keeper), short-ready, long-ready, negative-ready (the first
 * worker says in init() that it is ready, with a time that is cut off, too long or negative), or
 * nothing. The folder has two FIFOs: a try that holds or hangs writes a byte to 'begun', and a try
 * that holds reads one from 'go'.
 */
#ifndef TM_TESTS_JOB_SCRIPT_H
#define TM_TESTS_JOB_SCRIPT_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/agent.h"
#include "sys/clock.h"

#define JOB_BIG     (2u << 20)
#define JOB_SLOW_NS (300 * 1000)

struct job_script {
  char dir[128];
  char mode[32];
};

static inline int job_open(const struct job_script *s, const char *name, int flags)
{
  char path[sizeof s->dir + 200];
  snprintf(path, sizeof path, "%s/%s", s->dir, name);
  return open(path, flags | O_CLOEXEC, 0600);
}

/* True for the first caller that gives this name, over all processes. */
static inline bool job_is_first(const struct job_script *s, const char *name)
{
  char mark[160];
  snprintf(mark, sizeof mark, "first.%s", name);
  int fd = job_open(s, mark, O_WRONLY | O_CREAT | O_EXCL);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

static inline void job_say_begun(const struct job_script *s)
{
  int fd = job_open(s, "begun", O_WRONLY);
  if (write(fd, "x", 1) != 1)
    _exit(9);
  close(fd);
}

static inline void job_hold(const struct job_script *s)
{
  char byte;
  job_say_begun(s);
  int fd = job_open(s, "go", O_RDONLY);
  if (read(fd, &byte, 1) != 1)
    _exit(9);
  close(fd);
}

/* Outlives its worker, unless somebody ends it. */
static inline void job_kill_keeper(void)
{
  kill(getppid(), SIGKILL);
  for (;;)
    pause(); /* ends this process too */
}

static inline void job_child(const struct job_script *s)
{
  int ready[2];
  char byte;
  if (pipe2(ready, O_CLOEXEC) < 0)
    _exit(9);
  if (fork() == 0) {
    setsid();
    int fd = job_open(s, "child", O_WRONLY | O_CREAT | O_TRUNC);
    dprintf(fd, "%ld\n", (long)getpid());
    for (int i = 0; i < 64; i++)
      close(i);
    for (;;)
      pause();
  }
  close(ready[1]);
  while (read(ready[0], &byte, 1) > 0)
    ;
  close(ready[0]);
}

static inline void job_say_rubbish(void)
{
  char bytes[1000];
  memset(bytes, 0xa5, sizeof bytes);
  tm_put_u32(bytes, 8); /* a frame of an unknown type */
  send(TM_WORKER_CHANNEL_FD, bytes, TM_MSG_HEADER + 8, MSG_NOSIGNAL);
}

static inline void job_say_ready(bool with_fd)
{
  char bytes[TM_MSG_HEADER], space[CMSG_SPACE(sizeof(int))] = { 0 };
  struct tm_msg f = { .type = with_fd ? TM_MSG_BYE | TM_MSG_FD : TM_MSG_READY };
  struct iovec part = { bytes, sizeof bytes };
  struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
  int fd = STDOUT_FILENO;
  tm_msg_encode(&f, bytes);
  if (with_fd) {
    m.msg_control = space;
    m.msg_controllen = sizeof space;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  sendmsg(TM_WORKER_CHANNEL_FD, &m, MSG_NOSIGNAL);
}

static inline void job_say_bad_ready(const char *mode)
{
  char bytes[TM_MSG_HEADER + 20] = { 0 };
  struct tm_msg f = { .type = TM_MSG_READY, .length = 16 };
  if (strcmp(mode, "negative-ready") == 0)
    memset(bytes + TM_MSG_HEADER, 0xff, f.length);
  else
    f.length = strcmp(mode, "short-ready") == 0 ? 15 : 20;
  tm_msg_encode(&f, bytes);
  send(TM_WORKER_CHANNEL_FD, bytes, TM_MSG_HEADER + f.length, MSG_NOSIGNAL);
}

static inline bool job_is(const char *name, const char *what)
{
  return strncmp(name, what, strlen(what)) == 0;
}

static inline int job_fail(struct tm_script_error *e, enum tm_status status, const char *words)
{
  e->status = status;
  tm_buf_add_str(&e->message, words);
  tm_buf_add_str(&e->where, "score.c:7");
  return -1;
}

/* Tries that do more than return rows. */
static inline void job_act(const struct job_script *s, const char *name, uint32_t try)
{
  if (job_is(name, "die") && try == 1)
    raise(SIGKILL);
  if (job_is(name, "hang") && try == 1) {
    job_say_begun(s);
    for (;;)
      pause();
  }
  for (int64_t until_ns = tm_clock_mono_ns() + JOB_SLOW_NS; job_is(name, "slow");)
    if (tm_clock_mono_ns() >= until_ns)
      break;
  if (job_is(name, "mute") && job_is_first(s, name)) {
    dup2(STDOUT_FILENO, TM_WORKER_CHANNEL_FD);
    for (;;)
      pause();
  }
  if (job_is(name, "hold"))
    job_hold(s);
  if (job_is(name, "child"))
    job_child(s);
  if (job_is(name, "keepers") || (job_is(name, "keeper") && job_is_first(s, name)))
    job_kill_keeper();
  if (job_is(name, "rubbish") && job_is_first(s, name))
    job_say_rubbish();
  if (job_is(name, "ready") && job_is_first(s, name))
    job_say_ready(false);
  if (job_is(name, "fd") && job_is_first(s, name))
    job_say_ready(true);
}

static inline uint32_t job_add_rows(const char *name, struct tm_buf *rows)
{
  uint32_t n = job_is(name, "none") ? 0 : job_is(name, "many") ? 3 : 1;
  if (job_is(name, "big")) {
    memset(tm_buf_extend(rows, JOB_BIG), 'b', JOB_BIG);
    tm_buf_add_char(rows, '\n');
    return 1;
  }
  for (uint32_t i = 0; i < n; i++)
    tm_buf_printf(rows, "%s\n", name);
  return n;
}

static inline int job_run_call(void *data, const struct tm_run_call *call, struct tm_buf *rows,
                               uint32_t *returned, struct tm_script_error *e)
{
  const struct job_script *s = data;
  struct tm_reader r;
  struct tm_item item;
  char name[128];
  tm_reader_init(&r, call->bytes, call->bytes_len);
  while (tm_item_next(&r, &item)) {
    const char *base = item.path + item.path_len;
    while (base > item.path && base[-1] != '/')
      base--;
    snprintf(name, sizeof name, "%.*s", (int)(item.path + item.path_len - base), base);
    job_act(s, name, call->try);
    if (job_is(name, "fail") || (job_is(name, "once") && call->try == 1))
      return job_fail(e, TM_RUN_EXCEPTION, "it failed");
    *returned += job_add_rows(name, rows);
  }
  return 0;
}

static inline int job_load(void *data, const struct tm_setup *setup, bool *has_no_run,
                           struct tm_script_error *e)
{
  struct job_script *s = data;
  snprintf(s->dir, sizeof s->dir, "%s", setup->arguments_len > 0 ? setup->arguments[0] : "");
  snprintf(s->mode, sizeof s->mode, "%s", setup->arguments_len > 1 ? setup->arguments[1] : "");
  if (strcmp(s->mode, "no-run") != 0)
    return 0;
  *has_no_run = true;
  return job_fail(e, TM_INIT_EXCEPTION, "it defines no run");
}

static inline int job_init(void *data, struct tm_script_error *e)
{
  const struct job_script *s = data;
  if (strcmp(s->mode, "exit-init") == 0)
    _exit(5);
  if (strcmp(s->mode, "keeper-init") == 0)
    job_kill_keeper();
  if (strcmp(s->mode, "hold-init") == 0)
    job_hold(s);
  if (strstr(s->mode, "-ready") && job_is_first(s, s->mode))
    job_say_bad_ready(s->mode);
  return strcmp(s->mode, "bad-init") == 0 ? job_fail(e, TM_INIT_EXCEPTION, "no model") : 0;
}

static inline int job_shutdown(void *data, struct tm_script_error *e)
{
  return 0;
}

static inline int job_worker(void)
{
  struct job_script s = { "", "" };
  struct tm_script script = {
    .data = &s, .load = job_load, .init = job_init, .run = job_run_call, .shutdown = job_shutdown
  };
  return tm_agent_run(&script);
}

#endif
