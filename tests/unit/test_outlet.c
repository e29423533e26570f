/* test_outlet.c - rows go out as they are committed, at the pace of their reader, and its going is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/outlet.h"
#include "folder.h"

#define LONG (1 << 20) /* bytes: more than a pipe or a socket holds */

/* A reader that takes what there is whenever the loop has done something. */
struct reader {
  struct tm_timer timer;
  int fd;
  size_t got;
};

struct world {
  struct folder folder;
  struct tm_loop loop;
  struct tm_outlet outlet;
  struct tm_err err;
  struct tm_timer limit;
  struct reader reader;
  int idle, gone;
  int code; /* of on_gone */
  int write_fd;
};

static void on_limit(struct tm_timer *t)
{
  fail_msg("nothing happens any more");
}

static void on_idle(void *data)
{
  struct world *w = data;
  w->idle++;
  tm_loop_stop(&w->loop);
}

static void on_gone(void *data, const struct tm_err *err)
{
  struct world *w = data;
  w->gone++;
  w->code = err->code;
  tm_loop_stop(&w->loop);
}

/* A file of `len` bytes, whose first are to go to `fd`. */
static void begin(struct world *w, int fd, size_t len)
{
  char *bytes = malloc(len + 1);
  memset(w, 0, sizeof(*w));
  folder_init(&w->folder);
  for (size_t i = 0; i < len; i++)
    bytes[i] = (char)('a' + i % 23);
  folder_put(&w->folder, "rows", 0, bytes, len);
  free(bytes);
  w->write_fd = fd;
  assert_int_equal(tm_loop_init(&w->loop, NULL), 0);
  tm_timer_open(&w->limit, &w->loop, on_limit, w);
  tm_timer_start(&w->limit, INT64_C(20000000000), 0);
  struct tm_outlet_options o = { .loop = &w->loop,
                                 .fs = tm_fs_real(),
                                 .path = folder_file(&w->folder, "rows"),
                                 .fd = fd,
                                 .on_idle = on_idle,
                                 .on_gone = on_gone,
                                 .data = w };
  assert_int_equal(tm_outlet_open(&w->outlet, &o, &w->err), 0);
}

static void end(struct world *w)
{
  tm_outlet_close(&w->outlet);
  tm_timer_close(&w->limit);
  tm_loop_release(&w->loop);
  folder_release(&w->folder);
}

static void on_read_time(struct tm_timer *t)
{
  struct reader *r = t->data;
  char piece[7000];
  ssize_t n = read(r->fd, piece, sizeof(piece));
  for (ssize_t i = 0; i < n; i++)
    if (piece[i] != (char)('a' + (r->got + (size_t)i) % 23))
      fail_msg("byte %zu is another", r->got + (size_t)i);
  r->got += n > 0 ? (size_t)n : 0;
}

static void read_all(struct world *w, int fd, size_t len)
{
  struct reader *r = &w->reader;
  r->fd = fd;
  fcntl(fd, F_SETFL, O_NONBLOCK);
  tm_timer_open(&r->timer, &w->loop, on_read_time, r);
  tm_timer_start(&r->timer, 0, 1000000);
  tm_outlet_advance(&w->outlet, (int64_t)len);
  assert_false(tm_outlet_is_idle(&w->outlet));
  tm_loop_run(&w->loop);
  assert_int_equal(w->idle, 1);
  assert_true(tm_outlet_is_idle(&w->outlet));
  for (size_t before = len; before != r->got;) { /* what the pipe still holds */
    before = r->got;
    on_read_time(&r->timer);
  }
  assert_int_equal(r->got, len);
  tm_timer_close(&r->timer);
}

static void a_slow_pipe_gets_all_of_it(void **state)
{
  struct world w;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  begin(&w, ends[1], LONG);
  read_all(&w, ends[0], LONG);
  assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0); /* it is not ours alone */
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

static void only_what_is_committed_is_sent(void **state)
{
  struct world w;
  char got[64];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  begin(&w, ends[1], 50);
  tm_outlet_advance(&w.outlet, 10);
  tm_loop_run(&w.loop);
  assert_int_equal(read(ends[0], got, sizeof(got)), 10);
  tm_outlet_advance(&w.outlet, 10); /* nothing new */
  assert_true(tm_outlet_is_idle(&w.outlet));
  tm_outlet_advance(&w.outlet, 23);
  tm_loop_run(&w.loop);
  assert_int_equal(read(ends[0], got, sizeof(got)), 13);
  assert_memory_equal(got, "klmnopqrstuvw", 13);
  end(&w);
  close(ends[0]);
  close(ends[1]);
}

static void a_file_gets_all_of_it_where_it_stands(void **state)
{
  struct world w;
  char path[] = "/tmp/tidemill-outlet-XXXXXX";
  int fd = mkstemp(path);
  assert_int_equal(write(fd, "before", 6), 6);
  begin(&w, fd, 3 * LONG);
  tm_outlet_advance(&w.outlet, 3 * LONG);
  tm_loop_run(&w.loop);
  assert_int_equal(w.idle, 1);
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
  tm_loop_run(&w.loop);
  assert_int_equal(w.gone, 1);
  assert_int_equal(w.code, -EPIPE);
  assert_true(tm_outlet_is_idle(&w.outlet));
  tm_outlet_advance(&w.outlet, 10); /* nobody is there */
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
  tm_loop_run(&w.loop);
  assert_int_equal(w.idle, 1);
  assert_int_equal(read(ends[0], got, sizeof(got)), sizeof(got));
  tm_outlet_advance(&w.outlet, LONG);
  close(ends[0]);
  tm_loop_run(&w.loop);
  assert_int_equal(w.code, -EPIPE);
  end(&w);
  close(ends[1]);
}

static void what_cannot_be_written_is_said(void **state)
{
  struct world w;
  int fd = open("/dev/full", O_WRONLY);
  begin(&w, fd, 10);
  tm_outlet_advance(&w.outlet, 10);
  tm_loop_run(&w.loop);
  assert_int_equal(w.code, -ENOSPC);
  end(&w);
  close(fd);
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  begin(&w, ends[1], 10);
  tm_outlet_advance(&w.outlet, 11); /* more than there is: somebody has cut the file */
  tm_loop_run(&w.loop);
  assert_int_equal(w.code, TM_EDAMAGE);
  end(&w);
  close(ends[0]);
  close(ends[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_slow_pipe_gets_all_of_it),
    cmocka_unit_test(a_slow_socket_gets_all_of_it),
    cmocka_unit_test(only_what_is_committed_is_sent),
    cmocka_unit_test(a_file_gets_all_of_it_where_it_stands),
    cmocka_unit_test(a_reader_that_goes_is_noticed_while_nothing_is_sent),
    cmocka_unit_test(a_reader_that_goes_half_way_is_noticed),
    cmocka_unit_test(what_cannot_be_written_is_said),
  };
  alarm(60);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
