/* test_worker.c - `tidemill worker` in its own process; the test talks to it over its channel. */
#include "unit.h"

#include "script_fixture.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/time.h"
#include "lua/modules.h"
#include "lua/runtime.h"
#include "node/worker_page.h"
#include "sys/messages/channel.h"
#include "sys/messages/link.h"
#include "sys/shared_memory.h"

static struct fixture f;
static struct tm_link channel;
static pid_t pid;

static int setup(void **state)
{
  fixture_init(&f);
  return 0;
}

static int teardown(void **state)
{
  close(channel.fd);
  tm_link_release(&channel);
  fixture_release(&f);
  return 0;
}

/* The child: a worker's descriptors, a file as stdout, and this program again. */
static _Noreturn void be_worker(int fd, int page)
{
  char *out = tm_xprintf("%s/stdout.txt", f.dir);
  int file = open(out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  free(out);
  fd = fcntl(fd, F_DUPFD_CLOEXEC, 10); /* out of the way of the descriptors to set */
  page = fcntl(page, F_DUPFD_CLOEXEC, 10);
  file = fcntl(file, F_DUPFD_CLOEXEC, 10);
  if (dup2(fd, TM_WORKER_CHANNEL_FD) < 0 || dup2(page, TM_WORKER_PAGE_FD) < 0 || dup2(file, 1) < 0)
    _exit(99);
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* os.exit() frees nothing, and that is right */
  execl("/proc/self/exe", "unit_lua_entry", "worker", (char *)NULL);
  _exit(98);
}

static void send_frame(uint32_t type, const char *payload, size_t length)
{
  struct tm_msg frame = { .type = type, .index = 7, .try = 1, .length = (uint32_t)length };
  struct tm_err err = TM_ERR_NONE;
  frame.payload = payload;
  frame.fd = -1;
  tm_link_send(&channel, &frame);
  assert_int_equal(tm_link_flush(&channel, &err), 0);
}

static void start_worker(const char *source)
{
  int fds[2], page = tm_shared_memory_new("test", sizeof(struct tm_page), NULL);
  struct tm_buf bytes = TM_BUF_NONE;
  fixture_write(&f, "score.lua", source);
  assert_true(page >= 0);
  assert_int_equal(tm_channel_pair(fds, NULL), 0);
  fflush(stdout);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0)
    be_worker(fds[1], page);
  close(fds[1]);
  close(page);
  tm_link_init(&channel, fds[0]);
  tm_setup_encode(&bytes, &f.setup);
  send_frame(TM_MSG_SETUP, bytes.data, bytes.len);
  tm_buf_release(&bytes);
}

static void send_mini_batch(uint64_t seq)
{
  struct tm_mini_batch_head head = { .seq = seq, .dataset = 0, .items = 1 };
  struct tm_item item = { .path = "/in/1", .path_len = 5, .size = -1 };
  struct tm_buf bytes = TM_BUF_NONE;
  tm_mini_batch_head_encode(tm_buf_extend(&bytes, 16), &head);
  tm_item_add(&bytes, &item);
  send_frame(TM_MSG_MINI_BATCH, bytes.data, bytes.len);
  tm_buf_release(&bytes);
}

/* The next frame, which must have this type; with 0, the end of the channel. */
static struct tm_msg expect_frame(uint32_t type)
{
  struct tm_msg frame = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_link_read(&channel, &frame, true, NULL, &err);
  assert_string_equal(err.text, "");
  assert_int_equal(rc, type != 0);
  assert_int_equal(frame.type, type);
  return frame;
}

static void expect_exit(int status)
{
  int got;
  assert_int_equal(waitpid(pid, &got, 0), pid);
  assert_true(WIFEXITED(got));
  assert_int_equal(WEXITSTATUS(got), status);
}

static int64_t init_time(void)
{
  struct tm_msg ready = expect_frame(TM_MSG_READY);
  assert_int_equal(ready.length, 16);
  assert_int_equal(tm_get_u64(ready.payload + 8), 0); /* it has no prefetch() */
  return (int64_t)tm_get_u64(ready.payload);
}

static void it_serves_a_script(void **state)
{
  static char *datasets[] = { "images" };
  f.setup.datasets = datasets;
  f.setup.datasets_len = 1;
  start_worker("function init() print 'ready' end\n"
               "function run(mini_batch, context)\n"
               "  print(context.minibatch_index)\n"
               "  return { mini_batch[1] .. ' ' .. context.dataset_name }\n"
               "end\n"
               "function shutdown() io.write 'over' end\n");
  expect_frame(TM_MSG_LOADED);
  assert_in_range(init_time(), 1, 60 * TM_S);
  send_mini_batch(1);
  struct tm_msg result = expect_frame(TM_MSG_RESULT);
  assert_int_equal(result.index, 7);
  assert_int_equal(result.length, TM_RESULT_HEAD + strlen("/in/1 images\n"));
  assert_memory_equal(result.payload + TM_RESULT_HEAD, "/in/1 images\n", strlen("/in/1 images\n"));
  char *lines = fixture_read(&f, "stdout.txt"); /* line by line, while it runs */
  assert_string_equal(lines, "ready\n7\n");
  free(lines);
  send_frame(TM_MSG_STOP, NULL, 0);
  expect_frame(TM_MSG_BYE);
  expect_exit(0);
  lines = fixture_read(&f, "stdout.txt");
  assert_string_equal(lines, "ready\n7\nover");
  free(lines);
}

static void an_exit_in_run_ends_the_worker(void **state)
{
  static char *datasets[] = { "" };
  f.setup.datasets = datasets;
  f.setup.datasets_len = 1;
  start_worker("function run() io.write 'unfinished' os.exit(7) end\n");
  expect_frame(TM_MSG_LOADED);
  assert_int_equal(init_time(), 0); /* it has none */
  send_mini_batch(1);
  expect_frame(0);
  expect_exit(7);
  char *lines = fixture_read(&f, "stdout.txt");
  assert_string_equal(lines, "unfinished");
  free(lines);
}

static int serve(int argc, char **argv)
{
  return tm_lua_run_worker(tm_lua_modules());
}

UNIT_HOOKS(.serve = serve);
UNIT_TESTS({
    cmocka_unit_test_setup_teardown(it_serves_a_script, setup, teardown),
    cmocka_unit_test_setup_teardown(an_exit_in_run_ends_the_worker, setup, teardown),
});
