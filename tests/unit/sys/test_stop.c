/* test_stop.c - a wait for input that another thread ends, and reads without waiting. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "sys/stop.h"
#include "sys/threads.h"

struct reader {
  struct tm_stop stop;
  int in[2], waits[2]; /* pipes: the input; a byte for each wait that has begun */
  int64_t got;
  char bytes[8];
};

static void on_wait(void *data)
{
  struct reader *r = data;
  assert_int_equal(write(r->waits[1], "w", 1), 1);
}

static int open_reader(void **state)
{
  static struct reader r;
  assert_int_equal(tm_stop_open(&r.stop, NULL), 0);
  assert_int_equal(pipe2(r.in, O_NONBLOCK), 0);
  assert_int_equal(pipe(r.waits), 0);
  r.stop.on_wait = on_wait;
  r.stop.data = &r;
  *state = &r;
  return 0;
}

static int close_reader(void **state)
{
  struct reader *r = *state;
  tm_stop_close(&r->stop);
  close(r->in[0]);
  close(r->in[1]);
  close(r->waits[0]);
  close(r->waits[1]);
  return 0;
}

static void read_once(void *data)
{
  struct reader *r = data;
  r->got = tm_stop_read(&r->stop, r->in[0], r->bytes, sizeof r->bytes);
}

/* Starts the read on a thread and waits until that thread waits. */
static void start(struct reader *r, struct tm_thread *t)
{
  char byte;
  assert_int_equal(tm_thread_start(t, read_once, r, NULL), 0);
  assert_int_equal(read(r->waits[0], &byte, 1), 1);
}

static void a_wait_ends_when_the_flag_is_raised(void **state)
{
  struct reader *r = *state;
  struct tm_thread t = { 0 };
  start(r, &t);
  assert_false(tm_stop_is_set(&r->stop));
  tm_stop_set(&r->stop);
  tm_thread_join(&t);
  assert_int_equal(r->got, -ECANCELED);
  assert_true(tm_stop_is_set(&r->stop));
}

static void a_wait_ends_with_new_bytes(void **state)
{
  struct reader *r = *state;
  struct tm_thread t = { 0 };
  start(r, &t);
  assert_int_equal(write(r->in[1], "abc", 3), 3);
  tm_thread_join(&t);
  assert_int_equal(r->got, 3);
  assert_memory_equal(r->bytes, "abc", 3);
}

static void available_bytes_are_read_without_a_wait_up_to_the_end(void **state)
{
  struct reader *r = *state;
  r->stop.on_wait = NULL;
  assert_int_equal(write(r->in[1], "ab", 2), 2);
  close(r->in[1]);
  read_once(r);
  assert_int_equal(r->got, 2);
  read_once(r);
  assert_int_equal(r->got, 0);
  assert_int_equal(tm_stop_read(NULL, r->in[0], r->bytes, 1), 0);
  r->in[1] = -1;
}

static void a_raised_flag_is_noticed_before_waiting_bytes(void **state)
{
  struct reader *r = *state;
  assert_int_equal(write(r->in[1], "ab", 2), 2);
  tm_stop_set(&r->stop);
  tm_stop_set(&r->stop);
  read_once(r);
  assert_int_equal(r->got, -ECANCELED);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(a_wait_ends_when_the_flag_is_raised, open_reader, close_reader),
    cmocka_unit_test_setup_teardown(a_wait_ends_with_new_bytes, open_reader, close_reader),
    cmocka_unit_test_setup_teardown(available_bytes_are_read_without_a_wait_up_to_the_end,
                                    open_reader, close_reader),
    cmocka_unit_test_setup_teardown(a_raised_flag_is_noticed_before_waiting_bytes, open_reader,
                                    close_reader),
});
