/* rig_script.h - an entry script in C for the tests of node and agent. The path of the first item
 * says what a try does:
 *
 *   /fail /exit /kill9   as named
 *   /hang     writes a byte to the FIFO 'begun' in its working directory, then never returns
 *   /big      returns one row of 2 MB, which is spilled
 *   /large    returns one row of 1000 kB, which is not
 *   /daemon   starts a process in its own session that holds all descriptors
 *   /wiped    the same, with an empty environment
 *   /env      returns rows: TMPDIR, working directory, marker
 *   /none     returns no row
 *   /nul      fails with a NUL in the message
 *   /spin     runs until it is interrupted
 *   /block    writes a byte to 'begun', then waits until the FIFO 'go' is opened and closed
 *   /in-c     the same, in a call that can be stopped without arming
 *   others    return a row for each item: its path
 *
 * The script's first argument says what loading and the other hooks do: no-run, bad-load, bad-init,
 * bad-shutdown, recovers, bad-recover. Only with the last two does it have a recover().
 *
 * With `prefetch` it has that hook, which fails for /bad-ahead and hangs for /stuck-ahead. The rows
 * of a try then begin with what has happened since the last one: "prefetch PATH", "drop SEQ".
 */
#ifndef TM_TESTS_RIG_SCRIPT_H
#define TM_TESTS_RIG_SCRIPT_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"

static const char *rig_mode = "";

static bool rig_has_prefetch;
static struct tm_buf rig_news;     /* since the last run() */
static uint64_t rig_prefetched[8]; /* a bit for each seq */

static inline int rig_give(struct tm_script_error *e, enum tm_status status, const char *words)
{
  e->status = status;
  tm_buf_add_str(&e->message, words);
  tm_buf_add_str(&e->stack, "stack traceback:\n\tline 7");
  tm_buf_add_str(&e->where, "score.c:7");
  return -1;
}

static inline int rig_load(void *data, const struct tm_setup *setup, bool *has_no_run,
                           struct tm_script_error *e)
{
  if (setup->arguments_len > 0)
    rig_mode = setup->arguments[0];
  rig_has_prefetch = strcmp(rig_mode, "prefetch") == 0;
  if (strcmp(rig_mode, "no-run") == 0) {
    *has_no_run = true;
    return rig_give(e, TM_INIT_EXCEPTION, "it defines no run");
  }
  return strcmp(rig_mode, "bad-load") == 0 ? rig_give(e, TM_INIT_EXCEPTION, "it does not load") : 0;
}

static inline int rig_init(void *data, struct tm_script_error *e)
{
  return strcmp(rig_mode, "bad-init") == 0 ? rig_give(e, TM_INIT_EXCEPTION, "no model") : 0;
}

static inline void rig_hang(void)
{
  int fd = open("begun", O_WRONLY);
  ssize_t put = write(fd, "x", 1);
  while (put > 0)
    pause();
}

/* Starts a process that outlives its worker; returns its pid once it has left the session. */
static inline long rig_daemon(bool wiped)
{
  int ready[2];
  char byte;
  if (pipe2(ready, O_CLOEXEC) < 0)
    return -1;
  pid_t pid = fork();
  if (pid == 0) {
    char *argv[] = { (char *)"daemon", (char *)"pause", NULL }, *env[] = { NULL };
    setsid();
    if (wiped)
      execve("/proc/self/exe", argv, env); /* closes `ready` */
    close(ready[0]);
    close(ready[1]);
    for (;;)
      pause();
  }
  close(ready[1]);
  while (read(ready[0], &byte, 1) > 0)
    ;
  close(ready[0]);
  return pid;
}

static volatile sig_atomic_t rig_is_interrupted;
static _Atomic uint64_t *rig_has_stoppable;

static inline void rig_arm(void *data)
{
}

static inline void rig_interrupt(void *data)
{
  rig_is_interrupted = 1;
}

static inline int rig_recover(void *data, const char *reason, struct tm_script_error *e)
{
  if (strcmp(rig_mode, "bad-recover") == 0)
    return rig_give(e, TM_RUN_EXCEPTION, "not put right");
  return strcmp(rig_mode, "recovers") == 0 && strcmp(reason, "it was stuck") == 0 ? 0 : 1;
}

static inline int rig_spin(struct tm_script_error *e)
{
  while (!rig_is_interrupted)
    ;
  rig_is_interrupted = 0;
  return rig_give(e, TM_RUN_TIMEOUT, "it was stuck");
}

/* Whether prefetch() has returned for it, which is then forgotten. */
static inline bool rig_take_prefetched(uint64_t seq)
{
  uint64_t bit = UINT64_C(1) << seq % 64, *word = &rig_prefetched[seq / 64 % 8];
  bool is_set = *word & bit;
  *word &= ~bit;
  return is_set;
}

static inline int rig_prefetch(void *data, const struct tm_run_call *call,
                               struct tm_script_error *e)
{
  struct tm_reader r;
  struct tm_item item;
  char path[256] = "";
  tm_reader_init(&r, call->bytes, call->bytes_len);
  if (tm_item_next(&r, &item))
    snprintf(path, sizeof path, "%.*s", (int)item.path_len, item.path);
  tm_buf_printf(&rig_news, "prefetch %s\n", path);
  if (strcmp(path, "/bad-ahead") == 0)
    return rig_give(e, TM_RUN_EXCEPTION, "nothing to start");
  if (strcmp(path, "/stuck-ahead") == 0) {
    rig_spin(e);
    e->status = TM_LOAD_TIMEOUT;
    return -1;
  }
  if (rig_take_prefetched(call->seq))
    tm_buf_add_str(&rig_news, "again\n");
  rig_prefetched[call->seq / 64 % 8] |= UINT64_C(1) << call->seq % 64;
  return 0;
}

static inline void rig_drop(void *data, uint64_t seq)
{
  if (rig_take_prefetched(seq))
    tm_buf_printf(&rig_news, "drop %d\n", (int)seq);
}

static inline void rig_block(void)
{
  char byte;
  int fd = open("begun", O_WRONLY), go;
  if (write(fd, "x", 1) != 1)
    return;
  close(fd);
  go = open("go", O_RDONLY);
  while (read(go, &byte, 1) > 0)
    ;
  close(go);
}

static inline void rig_act(const char *path, struct tm_buf *rows)
{
  if (strcmp(path, "/exit") == 0)
    _exit(7);
  if (strcmp(path, "/kill9") == 0)
    raise(SIGKILL);
  if (strcmp(path, "/hang") == 0)
    rig_hang();
  if (strcmp(path, "/block") == 0)
    rig_block();
  if (strcmp(path, "/big") == 0)
    memset(tm_buf_extend(rows, 2 << 20), 'b', 2 << 20);
  if (strcmp(path, "/large") == 0)
    memset(tm_buf_extend(rows, 1000000), 'l', 1000000);
  if (strcmp(path, "/daemon") == 0 || strcmp(path, "/wiped") == 0)
    tm_buf_printf(rows, "%ld\n", rig_daemon(path[1] == 'w'));
  if (strcmp(path, "/env") == 0) {
    char cwd[4096];
    tm_buf_printf(rows, "%s\n%s\n%s\n", getenv("TMPDIR"), getcwd(cwd, sizeof cwd),
                  getenv("TIDEMILL_WORKER"));
  }
}

static inline int rig_run(void *data, const struct tm_run_call *call, struct tm_buf *rows,
                          uint32_t *returned, struct tm_script_error *e)
{
  struct tm_reader r;
  struct tm_item item;
  char path[256] = "";
  if (rig_has_prefetch && (!rig_take_prefetched(call->seq) || !call->is_prefetched))
    return rig_give(e, TM_RUN_EXCEPTION, "prefetch() was not called for it");
  tm_buf_add(rows, tm_buf_str(&rig_news), rig_news.len);
  tm_buf_clear(&rig_news);
  tm_reader_init(&r, call->bytes, call->bytes_len);
  for (; tm_item_next(&r, &item); ++*returned) {
    if (*returned == 0)
      snprintf(path, sizeof path, "%.*s", (int)item.path_len, item.path);
    size_t before = rows->len;
    rig_act(*returned == 0 ? path : "", rows);
    if (rows->len == before) {
      tm_buf_add(rows, item.path, item.path_len);
      tm_buf_add_char(rows, '\n');
    }
  }
  if (strcmp(path, "/spin") == 0)
    return rig_spin(e);
  if (strcmp(path, "/in-c") == 0) {
    atomic_store(rig_has_stoppable, 1);
    return rig_spin(e);
  }
  if (strcmp(path, "/fail") == 0)
    return rig_give(e, TM_RUN_EXCEPTION, "it failed\nfor a reason");
  if (strcmp(path, "/nul") == 0) {
    tm_buf_add(&e->message, "a\0b", 3);
    return -1;
  }
  return 0;
}

static inline int rig_shutdown(void *data, struct tm_script_error *e)
{
  return strcmp(rig_mode, "bad-shutdown") == 0 ? rig_give(e, TM_RUN_EXCEPTION, "not closed") : 0;
}

static inline int rig_worker(void)
{
  struct tm_script script = { .load = rig_load,
                              .init = rig_init,
                              .has_prefetch = &rig_has_prefetch,
                              .prefetch = rig_prefetch,
                              .drop = rig_drop,
                              .run = rig_run,
                              .arm = rig_arm,
                              .interrupt = rig_interrupt,
                              .shown = &rig_has_stoppable,
                              .recover = rig_recover,
                              .shutdown = rig_shutdown };
  return tm_agent_run(&script);
}

#endif
