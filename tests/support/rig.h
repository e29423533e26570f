/* rig.h - a supervisor for tests: it starts a real keeper, lets it start real workers, and records
 * every frame that it receives.
 *
 * The test's program has all roles: UNIT_HOOKS(.serve = rig_serve) runs it as keeper ("keeper"),
 * worker ("worker") or relay ("node") on request. A test waits for a frame by its type and worker,
 * never for a time; RIG_LIMIT ends a test whose frame never comes.
 *
 * A file that defines RIG_RELAYED as 1 reaches its keeper and workers through a relay. The variable
 * RIG_PROGRAM names a program that is relay and keeper then, instead of the test's.
 */
#ifndef TM_TESTS_RIG_H
#define TM_TESTS_RIG_H

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time.h"
#include "node/keeper.h"
#include "node/node_msg.h"
#include "relay/relay.h"
#include "rig_script.h"
#include "sys/messages/channel.h"
#include "sys/fs.h"
#include "sys/messages/node_stream.h"
#include "sys/process.h"

#define RIG_LIMIT   (30 * TM_S)
#define RIG_WORKERS 4

#ifndef RIG_RELAYED
#define RIG_RELAYED 0
#endif

struct rig_frame {
  struct tm_msg f; /* payload: its own */
  uint32_t worker;
};

struct rig_worker {
  struct tm_channel channel;
  struct rig *rig;
  uint32_t number;
  uint64_t seq;
  bool has_ended;
};

struct rig {
  struct tm_loop loop;
  struct tm_channel control;
  struct tm_node_stream *stream; /* to a relay, instead of the channels */
  struct tm_timer limit;
  struct rig_worker workers[RIG_WORKERS];
  struct TM_ARRAY(struct rig_frame) frames;
  bool has_ended; /* the control channel, or the stream */
  bool is_slow;   /* does not consume what workers send */
  bool is_late;
  pid_t keeper;   /* or the relay */
  char dir[64];   /* a fresh folder, the workers' working directory */
  int begun;      /* the FIFO of /hang */
  char *argument; /* the scripts' first argument, or NULL */
  bool verify_items, no_rows;
  bool is_interruptible;
  int64_t grace_ns;        /* interrupt_grace of steps */
  int64_t load_timeout_ns; /* task_overhead_timeout of steps; 0: none */
  uint32_t try;            /* the number of tries that are handed out; 0: 1 */
  int64_t monitor_ns;
  bool measures_launches;
  struct tm_incarnation incarnation;
  const char *job_dir; /* of its steps; NULL: dir */
  const char *base;    /* the folder of temporary folders; NULL: "<dir>/temp" */
  int64_t max_result_size;
  int64_t timeout_ns; /* of the stream's heartbeats */
};

static inline void rig_keep(struct rig *r, const struct tm_msg *f, uint32_t worker)
{
  struct rig_frame kept = { *f, worker };
  kept.f.payload = tm_xstrndup(f->length ? f->payload : "", f->length);
  *TM_ARRAY_ADD(&r->frames) = kept;
  tm_loop_stop(&r->loop);
}

static inline void rig_on_worker_frame(struct tm_channel *c, const struct tm_msg *f)
{
  struct rig_worker *w = c->data;
  rig_keep(w->rig, f, w->number);
}

static inline void rig_on_worker_end(struct tm_channel *c, int code)
{
  struct rig_worker *w = c->data;
  w->has_ended = true;
  tm_loop_stop(&w->rig->loop);
}

static inline void rig_on_control_frame(struct tm_channel *c, const struct tm_msg *f)
{
  struct rig *r = c->data;
  if (f->type == TM_MSG_STARTED) {
    struct rig_worker *w = &r->workers[f->worker];
    w->rig = r;
    w->number = f->worker;
    assert_true(f->fd >= 0);
    assert_int_equal(tm_channel_open(&w->channel, &r->loop, f->fd, rig_on_worker_frame,
                                     rig_on_worker_end, w, NULL),
                     0);
  }
  if (f->type == TM_MSG_ENDED && r->workers[f->worker].channel.is_open)
    tm_channel_drain(&r->workers[f->worker].channel);
  rig_keep(r, f, f->worker);
}

static inline void rig_on_control_end(struct tm_channel *c, int code)
{
  struct rig *r = c->data;
  r->has_ended = true;
  tm_loop_stop(&r->loop);
}

static inline void rig_on_stream_open(void *data, const char *skipped, size_t len)
{
}

static inline void rig_on_stream_msg(void *data, const struct tm_msg *f)
{
  struct rig *r = data;
  if (f->type < TM_MSG_HELLO && !r->is_slow)
    tm_node_stream_consumed(r->stream, f->worker, TM_MSG_HEADER + f->length);
  if (f->type == TM_MSG_CLOSED || f->type == TM_MSG_ENDED)
    r->workers[f->worker].has_ended = true;
  rig_keep(r, f, f->worker);
}

static inline void rig_on_stream_end(void *data, int code, const char *text)
{
  rig_on_control_end(&((struct rig *)data)->control, code);
}

static inline void rig_on_stream_closed(void *data)
{
}

static inline void rig_on_limit(struct tm_timer *t)
{
  struct rig *r = t->data;
  r->is_late = true;
  tm_loop_stop(&r->loop);
}

/* Runs one turn of the loop, until something has come. */
static inline void rig_turn(struct rig *r)
{
  tm_timer_start(&r->limit, RIG_LIMIT, 0);
  tm_loop_run(&r->loop);
  tm_timer_stop(&r->limit);
  assert_false(r->is_late);
}

/* The next frame of this type from or about this worker; earlier frames stay in the list. */
static inline const struct tm_msg *rig_wait(struct rig *r, uint32_t type, uint32_t worker)
{
  for (size_t i = 0;; i++) {
    while (i == r->frames.len)
      rig_turn(r);
    struct rig_frame *f = &r->frames.at[i];
    if (f->f.type != type || f->worker != worker)
      continue;
    f->f.type = 0; /* taken */
    return &f->f;
  }
}

static inline bool rig_has(const struct rig *r, uint32_t type)
{
  for (size_t i = 0; i < r->frames.len; i++)
    if (r->frames.at[i].f.type == type)
      return true;
  return false;
}

static inline void rig_send(struct rig *r, uint32_t type, uint64_t index, uint32_t worker,
                            const void *p, size_t n)
{
  struct tm_msg f = {
    .type = type, .index = index, .worker = worker, .payload = p, .length = (uint32_t)n, .fd = -1
  };
  if (r->stream)
    tm_node_stream_send(r->stream, &f);
  else
    tm_channel_send(&r->control, &f);
}

static inline void rig_start_keeper(struct rig *r, char *self)
{
  int pair[2];
  char *argv[] = { self, (char *)"keeper", NULL };
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  int fds[] = { -1, -1, 2, pair[1] };
  struct tm_spawn spawn = { .program = self, .argv = argv, .fds = fds, .fds_len = 4 };
  r->keeper = tm_process_start(&spawn, NULL);
  assert_true(r->keeper > 0);
  close(pair[1]);
  assert_int_equal(tm_channel_open(&r->control, &r->loop, pair[0], rig_on_control_frame,
                                   rig_on_control_end, r, NULL),
                   0);
}

static inline void rig_start_relay(struct rig *r, char *self)
{
  int down[2], up[2];
  char *program = getenv("RIG_PROGRAM") ? getenv("RIG_PROGRAM") : self;
  char *argv[] = { program, (char *)"node", NULL };
  signal(SIGPIPE, SIG_IGN);
  r->control.data = r;
  assert_int_equal(pipe2(down, O_CLOEXEC), 0);
  assert_int_equal(pipe2(up, O_CLOEXEC), 0);
  int fds[] = { down[0], up[1], 2 };
  struct tm_spawn spawn = { .program = program, .argv = argv, .fds = fds, .fds_len = 3 };
  r->keeper = tm_process_start(&spawn, NULL);
  assert_true(r->keeper > 0);
  close(down[0]);
  close(up[1]);
  struct tm_node_stream_options o = { .loop = &r->loop,
                                      .in = up[0],
                                      .out = down[1],
                                      .is_supervisor = true,
                                      .timeout_ns = r->timeout_ns,
                                      .hello = tm_hello(),
                                      .on_open = rig_on_stream_open,
                                      .on_msg = rig_on_stream_msg,
                                      .on_end = rig_on_stream_end,
                                      .on_closed = rig_on_stream_closed,
                                      .data = r };
  r->stream = tm_node_stream_open(&o, NULL);
  assert_non_null(r->stream);
}

static inline void rig_open_beating(struct rig *r, const char *hello, int64_t timeout_ns)
{
  char *self = tm_process_program();
  *r = (struct rig) { .max_result_size = 1 << 30, .grace_ns = RIG_LIMIT, .timeout_ns = timeout_ns };
  strcpy(r->dir, "/tmp/tidemill-rig-XXXXXX");
  assert_non_null(mkdtemp(r->dir));
  char *logs = tm_xprintf("%s/logs", r->dir); /* as a job has before it starts a keeper */
  assert_int_equal(mkdir(logs, 0700), 0);
  free(logs);
  char *fifo = tm_xprintf("%s/begun", r->dir);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  r->begun = open(fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  free(fifo);
  assert_int_equal(tm_loop_init(&r->loop, NULL), 0);
  tm_timer_open(&r->limit, &r->loop, rig_on_limit, r);
  if (RIG_RELAYED)
    rig_start_relay(r, self);
  else
    rig_start_keeper(r, self);
  free(self);
  if (hello)
    rig_send(r, TM_MSG_HELLO, 0, 0, hello, strlen(hello));
}

/* Starts the keeper alone and sends it `hello`. */
static inline void rig_open(struct rig *r, const char *hello)
{
  rig_open_beating(r, hello, 0);
}

static inline void rig_add_step(struct rig *r, uint64_t index, const char *program,
                                const char *logs, int64_t timeout_ns)
{
  struct tm_buf bytes = TM_BUF_NONE;
  char *self = tm_process_program();
  char *argv[] = { program ? (char *)program : self, (char *)"worker", NULL };
  char *logs_dir = logs ? tm_xstrdup(logs) : tm_xprintf("%s/logs", r->dir);
  char *temp_base = r->base ? tm_xprintf("%s/score", r->base) : tm_xprintf("%s/temp/score", r->dir);
  char *memory_base = tm_xprintf("%s/memory/score", r->dir);
  char *environment[] = { (char *)"RIG_STEP=yes", NULL };
  struct tm_node_step s = { .node_id = (char *)"0",
                            .job_dir = r->job_dir ? (char *)r->job_dir : r->dir,
                            .logs_dir = logs_dir,
                            .cwd = r->dir,
                            .temp_base = temp_base,
                            .memory_base = memory_base,
                            .worker_argv = argv,
                            .worker_argv_len = 2,
                            .environment = environment,
                            .environment_len = 1,
                            .run_timeout_ns = timeout_ns,
                            .load_timeout_ns = r->load_timeout_ns,
                            .interrupt_grace_ns = r->grace_ns,
                            .monitor_ns = r->monitor_ns,
                            .measures_launches = r->measures_launches,
                            .incarnation = r->incarnation };
  tm_node_step_encode(&bytes, &s);
  rig_send(r, TM_MSG_STEP, index, 0, bytes.data, bytes.len);
  tm_buf_release(&bytes);
  free(self);
  free(logs_dir);
  free(temp_base);
  free(memory_base);
}

/* Starts a keeper that knows step 0. */
static inline void rig_start(struct rig *r, int64_t timeout_ns)
{
  rig_open(r, tm_hello());
  rig_wait(r, TM_MSG_HELLO, 0);
  rig_add_step(r, 0, NULL, NULL, timeout_ns);
}

static inline void rig_say(struct rig *r, uint32_t worker, uint32_t type, uint64_t index,
                           const void *p, size_t n)
{
  struct tm_msg f = {
    .type = type,
    .index = index,
    .worker = worker,
    .try = r->try > 0 ? r->try : 1,
    .payload = p,
    .length = (uint32_t)n,
    .fd = -1
  };
  if (r->stream)
    tm_node_stream_send(r->stream, &f);
  else
    tm_channel_send(&r->workers[worker].channel, &f);
}

static inline void rig_send_setup(struct rig *r, uint32_t worker)
{
  struct tm_buf bytes = TM_BUF_NONE;
  char *arguments[] = { r->argument, NULL };
  char *spill_dir = tm_xprintf("%s/spill", r->dir);
  char *error_file = tm_xprintf("%s/logs/user/error/0/process%u.txt", r->dir, worker);
  char *name = tm_xprintf("process%u", worker);
  struct tm_setup s = { .worker_name = name,
                        .node_id = (char *)"0",
                        .arguments = arguments,
                        .arguments_len = r->argument ? 1 : 0,
                        .error_file = error_file,
                        .spill_dir = spill_dir,
                        .logging_level = TM_INFO,
                        .append_row = !r->no_rows,
                        .verify_items = r->verify_items,
                        .is_interruptible = r->is_interruptible,
                        .max_result_size = r->max_result_size };
  tm_setup_encode(&bytes, &s);
  rig_say(r, worker, TM_MSG_SETUP, 0, bytes.data, bytes.len);
  tm_buf_release(&bytes);
  free(spill_dir);
  free(error_file);
  free(name);
}

/* Starts a worker; returns its pid once it has its settings. */
static inline pid_t rig_start_worker(struct rig *r, uint32_t worker)
{
  char *name = tm_xprintf("process%u", worker);
  rig_send(r, TM_MSG_START, 0, worker, name, strlen(name));
  free(name);
  const struct tm_msg *f = rig_wait(r, TM_MSG_STARTED, worker);
  pid_t pid = (pid_t)tm_get_u32(f->payload);
  rig_send_setup(r, worker);
  return pid;
}

static inline void rig_wait_ready(struct rig *r, uint32_t worker)
{
  rig_wait(r, TM_MSG_LOADED, worker);
  rig_wait(r, TM_MSG_READY, worker);
}

/* Hands out one mini-batch of items with their size and mtime; returns its seq, which is also its
 * index. */
static inline uint64_t rig_hand_items(struct rig *r, uint32_t worker, const struct tm_item *items,
                                      uint32_t n)
{
  struct tm_buf bytes = TM_BUF_NONE;
  uint64_t seq = ++r->workers[worker].seq;
  tm_mini_batch_head_encode(tm_buf_extend(&bytes, 16),
                            &(struct tm_mini_batch_head) { .seq = seq, .items = n });
  for (uint32_t i = 0; i < n; i++)
    tm_item_add(&bytes, &items[i]);
  rig_say(r, worker, TM_MSG_MINI_BATCH, seq, bytes.data, bytes.len);
  tm_buf_release(&bytes);
  return seq;
}

static inline uint64_t rig_hand(struct rig *r, uint32_t worker, const char *path)
{
  struct tm_item item = { .path = path, .path_len = strlen(path), .size = -1 };
  return rig_hand_items(r, worker, &item, 1);
}

/* The rows of the next RESULT, for the caller to free. */
static inline char *rig_wait_rows(struct rig *r, uint32_t worker, uint64_t seq)
{
  const struct tm_msg *f = rig_wait(r, TM_MSG_RESULT, worker);
  struct tm_reader reader;
  struct tm_result_head head;
  tm_reader_init(&reader, f->payload, f->length);
  assert_true(tm_result_head_read(&reader, &head));
  assert_int_equal(head.seq, seq);
  assert_int_equal(f->index, seq);
  assert_int_equal(f->try, r->try > 0 ? r->try : 1);
  assert_int_equal(head.is_spilled, 0);
  return tm_xstrndup(reader.at, (size_t)(reader.end - reader.at));
}

/* Waits until /hang has begun. */
static inline void rig_wait_begun(struct rig *r)
{
  char byte;
  struct pollfd p = { .fd = r->begun, .events = POLLIN };
  if (r->stream)
    tm_node_stream_flush(r->stream);
  tm_channel_flush(&r->control);
  for (int i = 0; i < RIG_WORKERS; i++)
    tm_channel_flush(&r->workers[i].channel);
  assert_int_equal(poll(&p, 1, (int)(RIG_LIMIT / TM_MS)), 1);
  assert_int_equal(read(r->begun, &byte, 1), 1);
}

static inline void rig_wait_ended(struct rig *r, uint32_t worker, struct tm_ended *ended)
{
  const struct tm_msg *f = rig_wait(r, TM_MSG_ENDED, worker);
  assert_int_equal(tm_ended_decode(ended, f->payload, f->length, NULL), 0);
}

/* A handle on a living process, which need not be a child of this one. */
static inline int rig_hold(pid_t pid)
{
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  assert_true(fd >= 0);
  return fd;
}

static inline void rig_wait_gone(int held)
{
  struct pollfd p = { .fd = held, .events = POLLIN };
  assert_int_equal(poll(&p, 1, (int)(RIG_LIMIT / TM_MS)), 1);
  close(held);
}

static inline bool rig_exists(const struct rig *r, const char *name)
{
  struct stat st;
  char *path = tm_xprintf("%s/%s", r->dir, name);
  int rc = lstat(path, &st);
  free(path);
  return rc == 0;
}

/* The text of a file in the rig's folder, for the caller to free; "" if it is missing. */
static inline char *rig_read(const struct rig *r, const char *name)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_xprintf("%s/%s", r->dir, name);
  tm_fs_read_file(tm_fs_real(), path, 1 << 24, &text, NULL);
  free(path);
  return text.data ? tm_buf_take(&text) : tm_xstrdup("");
}

static inline void rig_expect_text(struct rig *r, const char *file, const char *text)
{
  char *all = rig_read(r, file);
  if (!strstr(all, text))
    fail_msg("'%s' is not in %s:\n%s", text, file, all);
  free(all);
}

/* `path` starts a process in its own session, and its worker exits. Returns a handle on the
 * process. */
static inline int rig_start_daemon(struct rig *r, uint32_t worker, const char *path)
{
  char *rows = rig_wait_rows(r, worker, rig_hand(r, worker, path));
  int held = rig_hold((pid_t)atol(rows));
  free(rows);
  return held;
}

/* Closes the control channel, waits for the keeper and returns its status. */
static inline int rig_end_keeper(struct rig *r)
{
  int status;
  int held = rig_hold(r->keeper);
  tm_channel_close(&r->control);
  tm_node_stream_close(r->stream);
  r->stream = NULL;
  rig_wait_gone(held);
  assert_int_equal(waitpid(r->keeper, &status, 0), r->keeper);
  r->keeper = 0;
  return status;
}

static inline void rig_close(struct rig *r)
{
  int expected = RIG_RELAYED && r->has_ended ? TM_RELAY_KEEPER_ENDED << 8 : 0;
  if (r->keeper > 0)
    assert_int_equal(rig_end_keeper(r), expected);
  tm_channel_close(&r->control);
  tm_node_stream_close(r->stream);
  for (int i = 0; i < RIG_WORKERS; i++)
    tm_channel_close(&r->workers[i].channel);
  tm_timer_close(&r->limit);
  tm_loop_release(&r->loop);
  for (size_t i = 0; i < r->frames.len; i++)
    free((char *)r->frames.at[i].f.payload);
  TM_ARRAY_RELEASE(&r->frames);
  close(r->begun);
  tm_tree_remove(r->dir, NULL);
}

static inline int rig_relay(void)
{
  char *self = tm_process_program();
  int status = tm_relay_run(self);
  free(self);
  return status;
}

/* The role that the arguments ask for. */
static inline int rig_serve(int argc, char **argv)
{
  if (strcmp(argv[1], "node") == 0)
    return rig_relay();
  if (strcmp(argv[1], "keeper") == 0)
    return tm_keeper_run();
  return strcmp(argv[1], "worker") == 0 ? rig_worker() : 2;
}

#endif
