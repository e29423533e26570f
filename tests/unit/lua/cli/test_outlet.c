/* test_outlet.c - rows go out as they are committed, as fast as the reader takes them; the end of
 * the reader is noticed. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/terminal/outlet.h"
#include "folder.h"

#define LONG (1 << 20) /* bytes: more than a pipe or a socket holds */

#define LIMIT_MS 20000

struct world {
  struct folder folder;
  struct tm_outlet outlet;
  struct tm_err err;
};

/* A file of `len` bytes, the first of which go to `fd`. */
static void begin(struct world *w, int fd, size_t len)
{
  char *bytes = malloc(len + 1);
  memset(w, 0, sizeof(*w));
  folder_init(&w->folder);
  for (size_t i = 0; i < len; i++)
    bytes[i] = (char)('a' + i % 23);
  folder_put(&w->folder, "rows", 0, bytes, len);
  free(bytes);
  assert_int_equal(tm_outlet_open(&w->outlet, folder_file(&w->folder, "rows"), fd, &w->err), 0);
}

static void end(struct world *w)
{
  tm_outlet_close(&w->outlet);
  folder_release(&w->folder);
}

/* Waits for what the outlet asks for, up to this limit, then lets it send; returns its result. With
 * `reader`, readable data there end the wait too; -1: none. */
static int turn(struct world *w, int reader)
{
  struct pollfd p[2] = { { .fd = -1 }, { .fd = reader, .events = POLLIN } };
  int timeout = tm_outlet_wait(&w->outlet, &p[0]);
  if (poll(p, 2, timeout < 0 ? LIMIT_MS : timeout) == 0 && timeout < 0)
    fail_msg("nothing happens any more");
  return tm_outlet_send(&w->outlet, &w->err);
}

/* Until all is sent, or no more can be sent. */
static int send_all(struct world *w)
{
  int rc = 0;
  while (rc == 0 && !tm_outlet_is_idle(&w->outlet))
    rc = turn(w, -1);
  return rc;
}

static void take(int fd, size_t *got)
{
  char piece[7000];
  ssize_t n = read(fd, piece, sizeof(piece));
  for (ssize_t i = 0; i < n; i++)
    if (piece[i] != (char)('a' + (*got + (size_t)i) % 23))
      fail_msg("byte %zu is another", *got + (size_t)i);
  *got += n > 0 ? (size_t)n : 0;
}

static void read_all(struct world *w, int fd, size_t len)
{
  size_t got = 0;
  fcntl(fd, F_SETFL, O_NONBLOCK);
  tm_outlet_advance(&w->outlet, (int64_t)len);
  assert_false(tm_outlet_is_idle(&w->outlet));
  while (!tm_outlet_is_idle(&w->outlet)) {
    assert_int_equal(turn(w, fd), 0);
    take(fd, &got);
  }
  for (size_t before = len; before != got;) { /* what the pipe still holds */
    before = got;
    take(fd, &got);
  }
  assert_int_equal(got, len);
}

static void a_slow_pipe_gets_all_of_it(void **state)
{
  struct world w;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  begin(&w, ends[1], LONG);
  read_all(&w, ends[0], LONG);
  assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0); /* other processes use it too */
  end(&w);
  close(ends[0]);
  close(ends[1]);
}

static void a_slow_socket_gets_all_of_it(void **state)
{
  struct world w;
  int ends[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  begin(&w, ends[1], LONG);
  read_all(&w, ends[0], LONG);
  assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
  end(&w);
  close(ends[0]);
  close(ends[1]);
}

static void only_committed_rows_are_sent(void **state)
{
  struct world w;
  char got[64];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  begin(&w, ends[1], 50);
  tm_outlet_advance(&w.outlet, 10);
  assert_int_equal(send_all(&w), 0);
  assert_int_equal(read(ends[0], got, sizeof(got)), 10);
  tm_outlet_advance(&w.outlet, 10); /* no change */
  assert_true(tm_outlet_is_idle(&w.outlet));
  tm_outlet_advance(&w.outlet, 23);
  assert_int_equal(send_all(&w), 0);
  assert_int_equal(read(ends[0], got, sizeof(got)), 13);
  assert_memory_equal(got, "klmnopqrstuvw", 13);
  end(&w);
  close(ends[0]);
  close(ends[1]);
}

static void a_file_gets_all_rows_at_its_position(void **state)
{
  struct world w;
  char path[] = "/tmp/tidemill-outlet-XXXXXX";
  int fd = mkstemp(path);
  assert_int_equal(write(fd, "before", 6), 6);
  begin(&w, fd, 3 * LONG);
  tm_outlet_advance(&w.outlet, 3 * LONG);
  assert_int_equal(send_all(&w), 0);
  assert_int_equal(lseek(fd, 0, SEEK_CUR), 6 + 3 * LONG);
  end(&w);
  close(fd);
  unlink(path);
}

static void a_reader_that_goes_is_noticed_while_nothing_is_sent(void **state)
{
  struct world w;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  begin(&w, ends[1], 10);
  close(ends[0]);
  assert_int_equal(turn(&w, -1), -EPIPE);
  assert_int_equal(tm_outlet_send(&w.outlet, &w.err), 0); /* reported once */
  assert_true(tm_outlet_is_idle(&w.outlet));
  tm_outlet_advance(&w.outlet, 10); /* there is no reader */
  assert_true(tm_outlet_is_idle(&w.outlet));
  end(&w);
  close(ends[1]);
}

static void a_reader_that_goes_half_way_is_noticed(void **state)
{
  struct world w;
  char got[100];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  begin(&w, ends[1], LONG);
  tm_outlet_advance(&w.outlet, LONG / 64);
  assert_int_equal(send_all(&w), 0);
  assert_int_equal(read(ends[0], got, sizeof(got)), sizeof(got));
  tm_outlet_advance(&w.outlet, LONG);
  close(ends[0]);
  assert_int_equal(send_all(&w), -EPIPE);
  end(&w);
  close(ends[1]);
}

static void a_failed_write_is_reported(void **state)
{
  struct world w;
  int fd = open("/dev/full", O_WRONLY);
  begin(&w, fd, 10);
  tm_outlet_advance(&w.outlet, 10);
  assert_int_equal(send_all(&w), -ENOSPC);
  end(&w);
  close(fd);
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  begin(&w, ends[1], 10);
  tm_outlet_advance(&w.outlet, 11); /* beyond the end of the file: somebody has cut it */
  assert_int_equal(send_all(&w), TM_EDAMAGE);
  end(&w);
  close(ends[0]);
  close(ends[1]);
}

UNIT_HOOKS(.limit_s = 60);
UNIT_TESTS({
    cmocka_unit_test(a_slow_pipe_gets_all_of_it),
    cmocka_unit_test(a_slow_socket_gets_all_of_it),
    cmocka_unit_test(only_committed_rows_are_sent),
    cmocka_unit_test(a_file_gets_all_rows_at_its_position),
    cmocka_unit_test(a_reader_that_goes_is_noticed_while_nothing_is_sent),
    cmocka_unit_test(a_reader_that_goes_half_way_is_noticed),
    cmocka_unit_test(a_failed_write_is_reported),
});
