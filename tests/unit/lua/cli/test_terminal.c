/* test_terminal.c - standard error never blocks a job: a pipe without a reader, a file, a stopped
 * terminal. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/terminal/terminal.h"

static size_t drain(int fd, char first[64])
{
  char piece[65536];
  size_t all = 0;
  ssize_t n;
  while ((n = read(fd, piece, sizeof(piece))) > 0) {
    if (all == 0)
      memcpy(first, piece, n < 64 ? (size_t)n : 64);
    all += (size_t)n;
  }
  return all;
}

static void a_pipe_that_nobody_reads_is_not_waited_for(void **state)
{
  struct tm_terminal t;
  char line[1000], first[64];
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  tm_terminal_init(&t, fds[1]);
  struct tidemill_screen w = tm_terminal_screen(&t);
  memset(line, 'x', sizeof(line));
  for (int i = 0; i < 200; i++) /* more than a pipe holds */
    w.write(line, sizeof(line), w.data);
  assert_false(w.is_ready(w.data));
  assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0); /* the user's descriptor is unchanged */
  fcntl(fds[0], F_SETFL, O_NONBLOCK);
  size_t got = drain(fds[0], first);
  assert_true(got > 0);
  while (!w.is_ready(w.data)) /* held output comes, in order */
    got += drain(fds[0], first);
  got += drain(fds[0], first);
  assert_int_equal(got, 200 * sizeof(line));
  tm_terminal_release(&t);
  close(fds[0]);
  close(fds[1]);
}

static void a_reader_that_is_gone_does_no_harm(void **state)
{
  struct tm_terminal t;
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  tm_terminal_init(&t, fds[1]);
  close(fds[0]);
  struct tidemill_screen w = tm_terminal_screen(&t);
  w.write("x\n", 2, w.data);
  assert_true(w.is_ready(w.data));
  tm_terminal_release(&t);
  close(fds[1]);
}

static void a_file_is_written_at_its_position(void **state)
{
  char name[] = "/tmp/tidemill-terminal-XXXXXX", text[16] = "";
  struct tm_terminal t;
  int fd = mkstemp(name);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, "before ", 7), 7);
  tm_terminal_init(&t, fd);
  struct tidemill_screen w = tm_terminal_screen(&t);
  w.write("after", 5, w.data);
  assert_false(tm_terminal_has_bar(&t));
  assert_int_equal(w.width(w.data), 80);
  tm_terminal_release(&t);
  assert_int_equal(pread(fd, text, sizeof(text) - 1, 0), 12);
  assert_string_equal(text, "before after");
  close(fd);
  unlink(name);
}

/* A terminal without a reader at its other end. */
static void a_stopped_terminal_is_not_waited_for(void **state)
{
  struct winsize size = { .ws_col = 42, .ws_row = 10 };
  struct tm_terminal t;
  char line[1000];
  int other = posix_openpt(O_RDWR | O_NOCTTY), fd;
  assert_true(other >= 0);
  assert_int_equal(grantpt(other), 0);
  assert_int_equal(unlockpt(other), 0);
  assert_true((fd = open(ptsname(other), O_RDWR | O_NOCTTY)) >= 0);
  assert_int_equal(ioctl(fd, TIOCSWINSZ, &size), 0);
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  tm_terminal_init(&t, fd);
  struct tidemill_screen w = tm_terminal_screen(&t);
  assert_true(tm_terminal_has_bar(&t));
  assert_true(tm_terminal_has_color(&t));
  setenv("NO_COLOR", "1", 1);
  assert_false(tm_terminal_has_color(&t));
  assert_int_equal(w.width(w.data), 42);
  memset(line, 'x', sizeof(line));
  for (int i = 0; i < 5000; i++) /* also beyond what is held */
    w.write(line, sizeof(line), w.data);
  assert_false(w.is_ready(w.data));
  assert_true(t.held.len <= 1 << 20);
  close(other);
  assert_true(w.is_ready(w.data)); /* the reader is gone: nothing is held any more */
  tm_terminal_release(&t);
  close(fd);
}

static void expect_next(int fd, const char *want)
{
  char text[200] = "";
  size_t len = strlen(want), got = 0;
  while (got < len) {
    ssize_t n = read(fd, text + got, len - got);
    assert_true(n > 0);
    got += (size_t)n;
  }
  assert_string_equal(text, want);
}

#define WRITE(w, text) (w).write(text, strlen(text), (w).data)

static void a_bar_leaves_its_line_for_rows_and_comes_back(void **state)
{
  struct tm_terminal t;
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  tm_terminal_init(&t, fds[1]);
  struct tidemill_screen w = tm_terminal_screen(&t);
  WRITE(w, "said\n");
  WRITE(w, "\r[=> ]\x1b[K");
  expect_next(fds[0], "said\n\r[=> ]\x1b[K");
  assert_true(tm_terminal_yield(&t));
  expect_next(fds[0], "\r\x1b[K");
  assert_false(w.is_ready(w.data)); /* for a different frame */
  assert_true(tm_terminal_yield(&t));
  tm_terminal_take_back(&t);
  tm_terminal_take_back(&t);
  expect_next(fds[0], "\r[=> ]\x1b[K");
  assert_true(w.is_ready(w.data));
  assert_true(tm_terminal_yield(&t));
  expect_next(fds[0], "\r\x1b[K");
  WRITE(w, "\r\x1b[Kdone\n"); /* held until the rows are out; then there is no bar */
  assert_true(tm_terminal_has_later(&t));
  tm_terminal_take_back(&t);
  assert_true(tm_terminal_yield(&t));
  tm_terminal_take_back(&t);
  WRITE(w, "end\n");
  expect_next(fds[0], "\r\x1b[Kdone\nend\n");
  assert_true(tm_terminal_yield(&t));
  WRITE(w, "last\n");
  tm_terminal_release(&t); /* loses nothing */
  expect_next(fds[0], "last\n");
  close(fds[0]);
  close(fds[1]);
}

static void a_bar_that_is_dropped_does_not_come_back(void **state)
{
  struct tm_terminal t;
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  tm_terminal_init(&t, fds[1]);
  struct tidemill_screen w = tm_terminal_screen(&t);
  WRITE(w, "\r[=> ]\x1b[K");
  tm_terminal_drop_bar(&t);
  assert_false(w.is_ready(w.data));
  WRITE(w, "said\n");
  expect_next(fds[0], "\r[=> ]\x1b[K\r\x1b[Ksaid\n");
  tm_terminal_release(&t);
  close(fds[0]);
  close(fds[1]);
}

static void a_dumb_terminal_has_no_bar(void **state)
{
  struct tm_terminal t = { .is_tty = true, .has_no_cursor = true };
  assert_false(tm_terminal_has_bar(&t));
  assert_false(tm_terminal_has_color(&t));
}

static void start(char **argv)
{
  signal(SIGPIPE, SIG_IGN);
}

UNIT_HOOKS(.start = start);
UNIT_TESTS({
    cmocka_unit_test(a_pipe_that_nobody_reads_is_not_waited_for),
    cmocka_unit_test(a_reader_that_is_gone_does_no_harm),
    cmocka_unit_test(a_file_is_written_at_its_position),
    cmocka_unit_test(a_stopped_terminal_is_not_waited_for),
    cmocka_unit_test(a_bar_leaves_its_line_for_rows_and_comes_back),
    cmocka_unit_test(a_bar_that_is_dropped_does_not_come_back),
    cmocka_unit_test(a_dumb_terminal_has_no_bar),
});
