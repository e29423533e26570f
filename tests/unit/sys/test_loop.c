/* test_loop.c - turns, deferred calls at their end, and the loop's message about forgotten handles.
 */
#include "unit.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "sys/loop.h"

struct trace {
  struct tm_loop loop;
  struct tm_timer timer;
  struct tm_turn turn, second;
  struct tm_late late;
  char text[64];
};

static void add(struct trace *t, const char *what)
{
  strncat(t->text, what, sizeof t->text - strlen(t->text) - 1);
}

static void on_late(struct tm_late *l)
{
  add(l->data, "late ");
}

static void on_turn(struct tm_turn *t)
{
  struct trace *trace = t->data;
  if (strchr(trace->text, '0') == NULL) /* the timer has not fired yet */
    return;
  add(trace, "turn ");
  tm_late_add(&trace->loop, &trace->late);
  tm_turn_close(t);
}

static void on_time_add(struct tm_timer *t)
{
  struct trace *trace = t->data;
  add(trace, "0 ");
  tm_late_add(&trace->loop, &trace->late);
  tm_late_add(&trace->loop, &trace->late);
  tm_timer_close(t);
}

static struct trace *trace_init(struct trace *t)
{
  memset(t, 0, sizeof *t);
  assert_int_equal(tm_loop_init(&t->loop, NULL), 0);
  t->late.on_late = on_late;
  t->late.data = t;
  return t;
}

static void lates_run_once_after_the_turns(void **state)
{
  struct trace t;
  trace_init(&t);
  tm_timer_open(&t.timer, &t.loop, on_time_add, &t);
  tm_timer_start(&t.timer, 0, 0);
  tm_turn_open(&t.turn, &t.loop, on_turn, &t);
  tm_turn_open(&t.second, &t.loop, on_turn, &t);
  assert_int_equal(t.loop.open, 3);
  tm_loop_run(&t.loop);
  assert_string_equal(t.text, "0 turn turn late ");
  assert_int_equal(t.loop.open, 0);
  tm_loop_release(&t.loop);
}

static void on_time_stop(struct tm_timer *t)
{
  struct trace *trace = t->data;
  tm_late_add(&trace->loop, &trace->late);
  tm_loop_stop(&trace->loop);
}

static void lates_of_the_last_turn_come_before_run_returns(void **state)
{
  struct trace t;
  trace_init(&t);
  tm_timer_open(&t.timer, &t.loop, on_time_stop, &t);
  tm_timer_start(&t.timer, 0, 0);
  tm_loop_run(&t.loop);
  assert_string_equal(t.text, "late ");
  tm_timer_close(&t.timer);
  tm_loop_release(&t.loop);
}

static void lates_are_taken_back_in_any_order(void **state)
{
  struct trace t;
  struct tm_late more[2] = { { .on_late = on_late, .data = &t },
                             { .on_late = on_late, .data = &t } };
  trace_init(&t);
  tm_late_add(&t.loop, &more[0]);
  tm_late_add(&t.loop, &t.late);
  tm_late_add(&t.loop, &more[1]);
  tm_late_remove(&t.late);
  tm_late_remove(&t.late);
  tm_late_remove(&more[1]);
  tm_loop_run(&t.loop);
  assert_string_equal(t.text, "late ");
  tm_late_add(&t.loop, &t.late);
  tm_loop_run(&t.loop);
  assert_string_equal(t.text, "late late ");
  tm_loop_release(&t.loop);
}

static void on_fault(const char *text, bool fatal, void *data)
{
  struct trace *t = data;
  add(t, strstr(text, "a timer handle") != NULL ? "timer "
         : strstr(text, "a poll handle")        ? "poll "
                                                : "?");
  add(t, fatal ? "fatal " : "");
}

static void never(struct tm_poll *p, int events)
{
  fail();
}

static void forgotten_handles_are_faults_that_name_them(void **state)
{
  struct trace t;
  struct tm_poll poll;
  int fds[2];
  trace_init(&t);
  assert_int_equal(pipe(fds), 0);
  tm_set_on_fault(on_fault, &t);
  tm_timer_open(&t.timer, &t.loop, on_time_add, &t);
  assert_int_equal(tm_poll_open(&poll, &t.loop, fds[0], never, NULL, NULL), 0);
  tm_poll_want(&poll, TM_READABLE);
  tm_loop_release(&t.loop);
  tm_set_on_fault(NULL, NULL);
  assert_true(strcmp(t.text, "timer poll ") == 0 || strcmp(t.text, "poll timer ") == 0);
  close(fds[0]);
  close(fds[1]);
}

static void close_turn(struct tm_timer *timer)
{
  struct trace *t = timer->data;
  tm_turn_close(&t->turn);
}

static void handles_closed_by_a_closing_handle_are_not_forgotten(void **state)
{
  struct trace t;
  trace_init(&t);
  tm_set_on_fault(on_fault, &t);
  tm_timer_open(&t.timer, &t.loop, on_time_add, &t);
  tm_turn_open(&t.turn, &t.loop, on_turn, &t);
  t.timer.on_closed = close_turn;
  tm_timer_close(&t.timer);
  tm_loop_release(&t.loop);
  tm_set_on_fault(NULL, NULL);
  assert_string_equal(t.text, "");
}

static void on_time_run(struct tm_timer *t)
{
  struct trace *trace = t->data;
  tm_loop_run(&trace->loop);
}

static void a_loop_within_itself_aborts(void **state)
{
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    struct trace t;
    signal(SIGABRT, SIG_DFL);
    trace_init(&t);
    tm_timer_open(&t.timer, &t.loop, on_time_run, &t);
    tm_timer_start(&t.timer, 0, 0);
    tm_loop_run(&t.loop);
    _exit(0);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void two_loops_are_two(void **state)
{
  struct trace a, b;
  trace_init(&a);
  trace_init(&b);
  tm_timer_open(&a.timer, &a.loop, on_time_add, &a);
  tm_timer_open(&b.timer, &b.loop, on_time_add, &b);
  tm_timer_start(&a.timer, 0, 0);
  tm_timer_start(&b.timer, 0, 0);
  tm_loop_run(&a.loop);
  assert_string_equal(b.text, "");
  tm_loop_run(&b.loop);
  assert_string_equal(a.text, b.text);
  tm_loop_release(&a.loop);
  tm_loop_release(&b.loop);
}

struct polled {
  struct tm_loop loop;
  struct tm_poll first, second;
  int a[2], b[2]; /* pipes */
  int heard;
};

static void hear_second(struct tm_poll *poll, int events)
{
  struct polled *p = poll->data;
  p->heard++;
  tm_poll_close(poll);
}

static void want_second(struct tm_poll *poll, int events)
{
  struct polled *p = poll->data;
  assert_int_equal(tm_poll_open(&p->second, &p->loop, p->b[0], hear_second, p, NULL), 0);
  tm_poll_want(&p->second, TM_READABLE);
  tm_poll_close(poll);
}

/* A host that polls the loop's descriptor between two turns would sleep although a callback has
 * asked for something. */
static void requests_of_a_callback_are_watched_after_the_turn(void **state)
{
  struct polled p = { .heard = 0 };
  assert_int_equal(tm_loop_init(&p.loop, NULL), 0);
  assert_int_equal(pipe(p.a), 0);
  assert_int_equal(pipe(p.b), 0);
  assert_int_equal(tm_poll_open(&p.first, &p.loop, p.a[0], want_second, &p, NULL), 0);
  tm_poll_want(&p.first, TM_READABLE);
  assert_int_equal(write(p.a[1], "x", 1), 1);
  tm_loop_turn(&p.loop);
  assert_int_equal(p.heard, 0);
  assert_int_equal(write(p.b[1], "x", 1), 1);
  struct pollfd fd = { .fd = tm_loop_fd(&p.loop), .events = POLLIN };
  assert_int_equal(poll(&fd, 1, 0), 1);
  tm_loop_turn(&p.loop);
  assert_int_equal(p.heard, 1);
  tm_loop_release(&p.loop);
  for (int i = 0; i < 2; i++) {
    close(p.a[i]);
    close(p.b[i]);
  }
}

UNIT_HOOKS(.limit_s = 30);
UNIT_TESTS({
    cmocka_unit_test(lates_run_once_after_the_turns),
    cmocka_unit_test(lates_of_the_last_turn_come_before_run_returns),
    cmocka_unit_test(lates_are_taken_back_in_any_order),
    cmocka_unit_test(forgotten_handles_are_faults_that_name_them),
    cmocka_unit_test(handles_closed_by_a_closing_handle_are_not_forgotten),
    cmocka_unit_test(a_loop_within_itself_aborts),
    cmocka_unit_test(two_loops_are_two),
    cmocka_unit_test(requests_of_a_callback_are_watched_after_the_turn),
});
