/* test_errand.c - work on a thread: it wakes the loop at its end, is waited for, and is left behind
 * while it hangs. */
#include "unit.h"

#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/time.h"
#include "sys/errand.h"

#define PATIENCE_NS (60 * TM_S)

struct work {
  struct tm_errand errand;
  struct tm_loop *loop;
  int hold[2];     /* the thread ends when it can read, or at the end of the pipe */
  bool saw_left;   /* what the thread got from tm_errand_enter() */
  int wakes;       /* on the loop */
  atomic_int *end; /* counts the calls of free_data */
};

static void run(void *data)
{
  struct work *w = data;
  struct pollfd p = { .fd = w->hold[0], .events = POLLIN };
  (void)poll(&p, 1, -1);
  w->saw_left = !tm_errand_enter(&w->errand);
  if (!w->saw_left)
    tm_errand_leave(&w->errand);
}

static void on_wake(void *data)
{
  struct work *w = data;
  w->wakes++;
  tm_loop_stop(w->loop);
}

static void free_work(void *data)
{
  struct work *w = data;
  close(w->hold[0]);
  *w->end += 1 + w->saw_left;
}

static void begin(struct work *w, struct tm_loop *loop, atomic_int *end)
{
  *w = (struct work) { .loop = loop, .end = end };
  assert_int_equal(pipe(w->hold), 0);
  w->errand = (struct tm_errand) {
    .loop = loop, .run = run, .on_wake = on_wake, .free_data = free_work, .data = w
  };
  assert_int_equal(tm_errand_start(&w->errand, NULL), 0);
}

static void the_end_wakes_the_loop(void **state)
{
  struct tm_loop loop;
  struct work w;
  atomic_int end = 0;
  assert_int_equal(tm_loop_init(&loop, NULL), 0);
  begin(&w, &loop, &end);
  close(w.hold[1]);
  tm_loop_run(&loop);
  assert_int_equal(w.wakes, 1);
  assert_true(tm_errand_end(&w.errand, 0));
  assert_int_equal(end, 0); /* the loop still has its share */
  tm_loop_run(&loop);
  assert_int_equal(end, 1);
  tm_loop_release(&loop);
}

static void without_a_loop_the_caller_waits(void **state)
{
  struct work w;
  atomic_int end = 0;
  begin(&w, NULL, &end);
  assert_false(tm_errand_wait(&w.errand, 1));
  close(w.hold[1]);
  assert_true(tm_errand_wait(&w.errand, PATIENCE_NS));
  assert_int_equal(end, 0);
  assert_true(tm_errand_end(&w.errand, TM_ERRAND_JOIN));
  assert_int_equal(end, 1);
}

static void a_thread_that_hangs_is_left_behind(void **state)
{
  struct tm_loop loop;
  struct work w;
  atomic_int end = 0;
  int hold;
  assert_int_equal(tm_loop_init(&loop, NULL), 0);
  begin(&w, &loop, &end);
  hold = w.hold[1];
  assert_false(tm_errand_end(&w.errand, 1));
  tm_loop_run(&loop);
  assert_int_equal(end, 0);
  tm_loop_release(&loop);
  close(hold); /* the thread goes on, and frees what it owns */
  for (int i = 0; end == 0 && i < 6000; i++)
    (void)poll(NULL, 0, 10);
  assert_int_equal(end, 2);
}

UNIT_TESTS({
    cmocka_unit_test(the_end_wakes_the_loop),
    cmocka_unit_test(without_a_loop_the_caller_waits),
    cmocka_unit_test(a_thread_that_hangs_is_left_behind),
});
