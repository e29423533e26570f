/* test_watch.c - each event on a loop arrives when it should, and never after its watch is closed.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/time.h"
#include "sys/clock.h"
#include "sys/loop.h"
#include "sys/threads.h"

struct seen {
  struct tm_loop loop;
  struct tm_timer timer;
  struct tm_poll poll;
  struct tm_wake wake;
  struct tm_signal signal;
  int64_t at_ns;
  int calls, closed, last;
};

static struct seen *seen_init(struct seen *s)
{
  memset(s, 0, sizeof *s);
  assert_int_equal(tm_loop_init(&s->loop, NULL), 0);
  return s;
}

static void on_timer_closed(struct tm_timer *t)
{
  struct seen *s = t->data;
  s->closed++;
}

static void on_time(struct tm_timer *t)
{
  struct seen *s = t->data;
  s->at_ns = tm_clock_mono_ns();
  if (++s->calls == 3) {
    tm_timer_close(t);
    tm_timer_close(t);
  }
}

static void a_timer_is_never_early_and_comes_again(void **state)
{
  struct seen s;
  tm_timer_open(&seen_init(&s)->timer, &s.loop, on_time, &s);
  s.timer.on_closed = on_timer_closed;
  int64_t start = tm_clock_mono_ns();
  tm_timer_start(&s.timer, 5 * TM_MS + 1, 2 * TM_MS);
  tm_loop_run(&s.loop);
  assert_int_equal(s.calls, 3);
  assert_int_equal(s.closed, 1);
  assert_true(s.at_ns - start > 8 * TM_MS);
  tm_loop_release(&s.loop);
}

static void on_time_close(struct tm_timer *t)
{
  struct seen *s = t->data;
  s->calls++;
  s->at_ns = tm_clock_mono_ns();
  tm_timer_close(t);
}

static void one_shots_are_never_early(void **state)
{
  for (int i = 0; i < 20; i++) {
    struct seen s;
    tm_timer_open(&seen_init(&s)->timer, &s.loop, on_time_close, &s);
    int64_t start = tm_clock_mono_ns();
    tm_timer_start(&s.timer, TM_MS + i * 50000, 0);
    tm_loop_run(&s.loop);
    assert_true(s.at_ns - start >= TM_MS + i * 50000);
    tm_loop_release(&s.loop);
  }
}

static void starting_again_replaces_and_stopping_stops(void **state)
{
  struct seen s;
  struct tm_timer stopped;
  tm_timer_open(&seen_init(&s)->timer, &s.loop, on_time_close, &s);
  tm_timer_start(&s.timer, 3600 * TM_S, 0);
  tm_timer_start(&s.timer, 0, 0);
  tm_timer_open(&stopped, &s.loop, on_time, &s);
  tm_timer_start(&stopped, 0, 0);
  tm_timer_stop(&stopped);
  tm_loop_run(&s.loop);
  assert_int_equal(s.calls, 1);
  tm_timer_close(&stopped);
  tm_loop_release(&s.loop);
}

static void on_ready(struct tm_poll *p, int events)
{
  struct seen *s = p->data;
  s->calls++;
  s->last = events;
  tm_poll_close(p);
}

static void a_descriptor_is_readable_or_writable(void **state)
{
  const int wants[] = { TM_READABLE, TM_WRITABLE };
  for (int i = 0; i < 2; i++) {
    struct seen s;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(tm_poll_open(&seen_init(&s)->poll, &s.loop, fds[0], on_ready, &s, NULL), 0);
    tm_poll_want(&s.poll, TM_READABLE | TM_WRITABLE);
    tm_poll_want(&s.poll, 0);
    tm_poll_want(&s.poll, wants[i]);
    tm_loop_run(&s.loop);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.last, wants[i]);
    tm_loop_release(&s.loop);
    close(fds[0]);
    close(fds[1]);
  }
}

static void on_error(struct tm_poll *p, int events)
{
  struct seen *s = p->data;
  assert_true(events & TM_READABLE);
  if (++s->calls == 3) /* still asked for after an error */
    tm_poll_close(p);
}

static void an_error_is_readable_and_comes_again(void **state)
{
  struct seen s;
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  close(fds[0]);
  assert_int_equal(tm_poll_open(&seen_init(&s)->poll, &s.loop, fds[1], on_error, &s, NULL), 0);
  tm_poll_want(&s.poll, TM_READABLE);
  tm_loop_run(&s.loop);
  assert_int_equal(s.calls, 3);
  tm_loop_release(&s.loop);
  close(fds[1]);
}

static void an_unwatchable_descriptor_is_reported(void **state)
{
  struct seen s;
  struct tm_err err = TM_ERR_NONE;
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  seen_init(&s);
  assert_true(tm_poll_open(&s.poll, &s.loop, fd, on_ready, &s, &err) < 0);
  assert_non_null(strstr(err.text, "cannot watch descriptor"));
  assert_false(s.poll.is_open);
  tm_poll_close(&s.poll);
  assert_int_equal(s.loop.open, 0);
  tm_loop_release(&s.loop);
  close(fd);
}

static void on_wake(struct tm_wake *w)
{
  struct seen *s = w->data;
  s->calls++;
  tm_wake_close(w);
}

static void send_wake(void *data)
{
  tm_wake_send(data);
}

static void another_thread_wakes_the_loop(void **state)
{
  struct seen s;
  struct tm_thread t;
  tm_wake_open(&seen_init(&s)->wake, &s.loop, on_wake, &s);
  assert_int_equal(tm_thread_start(&t, send_wake, &s.wake, NULL), 0);
  tm_loop_run(&s.loop);
  assert_int_equal(s.calls, 1);
  tm_thread_join(&t);
  tm_loop_release(&s.loop);
}

static void on_signal(struct tm_signal *sig, int number)
{
  struct seen *s = sig->data;
  s->last = number;
  tm_signal_close(sig);
}

static void a_signal_comes_as_a_callback(void **state)
{
  struct seen s;
  seen_init(&s);
  assert_int_equal(tm_signal_open(&s.signal, &s.loop, SIGUSR1, on_signal, &s, NULL), 0);
  raise(SIGUSR1);
  tm_loop_run(&s.loop);
  assert_int_equal(s.last, SIGUSR1);
  tm_loop_release(&s.loop);
}

static void a_signal_that_cannot_be_watched_leaves_nothing(void **state)
{
  const int numbers[] = { SIGKILL, SIGSTOP, 0, 1000 };
  struct seen s;
  seen_init(&s);
  for (int i = 0; i < 4; i++)
    assert_int_equal(tm_signal_open(&s.signal, &s.loop, numbers[i], on_signal, &s, NULL), -EINVAL);
  assert_int_equal(s.loop.open, 0);
  tm_loop_release(&s.loop);
}

UNIT_HOOKS(.limit_s = 30);
UNIT_TESTS({
    cmocka_unit_test(a_timer_is_never_early_and_comes_again),
    cmocka_unit_test(one_shots_are_never_early),
    cmocka_unit_test(starting_again_replaces_and_stopping_stops),
    cmocka_unit_test(a_descriptor_is_readable_or_writable),
    cmocka_unit_test(an_error_is_readable_and_comes_again),
    cmocka_unit_test(an_unwatchable_descriptor_is_reported),
    cmocka_unit_test(another_thread_wakes_the_loop),
    cmocka_unit_test(a_signal_comes_as_a_callback),
    cmocka_unit_test(a_signal_that_cannot_be_watched_leaves_nothing),
});
