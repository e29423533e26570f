/* test_keeper_watch.c - the keeper's decisions: when to look, which worker a process is of, why a
 * worker ended. */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "node/node_own.h"
#include "sys/clock.h"

/* Uses these limits of a step. */
static int64_t due(const struct tm_page_view *v, int64_t run_ns, int64_t load_ns, int64_t now_ns)
{
  struct tm_node_step s = { .run_timeout_ns = run_ns, .load_timeout_ns = load_ns };
  return tm_keeper_due(v, &s, now_ns);
}

static void a_run_is_late_at_its_timeout(void **state)
{
  struct tm_page_view v = { .phase = TM_PHASE_RUN, .since_ns = 100 };
  assert_int_equal(due(&v, 50, 0, 120), 150);
  assert_int_equal(due(&v, 50, 0, 150), 150); /* due: late */
  v.since_ns = 500;                           /* not yet: somebody has overwritten the page */
  assert_int_equal(due(&v, 50, 0, 120), 170);
  v.since_ns = INT64_MIN;
  assert_true(due(&v, 50, 0, 120) < 120);
}

static void init_and_recover_have_their_limits(void **state)
{
  struct tm_page_view v = { .phase = TM_PHASE_INIT, .since_ns = 100 };
  struct tm_node_step s = { .init_timeout_ns = 30 };
  assert_int_equal(tm_keeper_due(&v, &s, 120), 130);
  v.phase = TM_PHASE_START; /* it may be in init() now */
  assert_int_equal(tm_keeper_due(&v, &s, 120), 150);
  v.phase = TM_PHASE_IDLE; /* init() does not run again */
  assert_int_equal(tm_keeper_due(&v, &s, 120), INT64_MAX);
  v.phase = TM_PHASE_RECOVER; /* only after an interruption */
  assert_int_equal(tm_keeper_due(&v, &s, 120), INT64_MAX);
  s.interrupt_grace_ns = 1;
  assert_int_equal(tm_keeper_due(&v, &s, 120), 100 + TM_STOP_NS);
}

static void a_late_worker_is_interrupted_then_killed(void **state)
{
  struct tm_page_view v = { .phase = TM_PHASE_RUN, .seq = 7 };
  struct tm_keeper_interrupt i = { 0 };
  assert_int_equal(tm_keeper_late(&i, &v, false, 50, 120), TM_LATE_KILL);
  assert_int_equal(tm_keeper_late(&i, &v, true, 0, 120), TM_LATE_KILL);
  assert_int_equal(tm_keeper_late(&i, &v, true, 50, 120), TM_LATE_INTERRUPT);
  i = (struct tm_keeper_interrupt) { .call = 7, .begun_ns = 120 };
  assert_int_equal(tm_keeper_late(&i, &v, true, 50, 169), TM_LATE_AGAIN);
  assert_int_equal(tm_keeper_late(&i, &v, false, 50, 169),
                   TM_LATE_AGAIN); /* it is reporting where it was */
  assert_int_equal(tm_keeper_late(&i, &v, false, 50, 170), TM_LATE_KILL);
  assert_int_equal(tm_keeper_late(&i, &v, true, 50, 170), TM_LATE_KILL);
  v.seq = 8; /* a different call, with its own grace period */
  assert_int_equal(tm_keeper_late(&i, &v, true, 50, 500), TM_LATE_INTERRUPT);
  v.phase = TM_PHASE_INIT;
  assert_int_equal(tm_keeper_late(&i, &v, true, 50, 500), TM_LATE_INTERRUPT);
  v.phase = TM_PHASE_LOAD; /* no code of the script runs */
  assert_int_equal(tm_keeper_late(&i, &v, true, 50, 500), TM_LATE_KILL);
  v.phase = TM_PHASE_RECOVER;
  assert_int_equal(tm_keeper_late(&i, &v, true, 50, 500), TM_LATE_KILL);
}

static void an_idle_worker_is_checked_after_a_timeout(void **state)
{
  struct tm_page_view v = { .phase = TM_PHASE_IDLE, .since_ns = 100 };
  assert_int_equal(due(&v, 50, 0, 120), 170);
  v.phase = TM_PHASE_INIT;
  assert_int_equal(due(&v, 50, 0, 1000), 1050);
  assert_int_equal(due(&v, 0, 0, 1000), INT64_MAX);
  assert_int_equal(due(&v, INT64_MAX - 10, 0, 1000), INT64_MAX);
}

static void writing_a_result_has_the_timeout_of_loading(void **state)
{
  struct tm_page_view v = { .phase = TM_PHASE_RETURN, .since_ns = 100 };
  assert_int_equal(due(&v, 0, 50, 120), 150);
  assert_int_equal(due(&v, 500, 50, 160), 150); /* late */
  assert_int_equal(due(&v, 0, 0, 120), INT64_MAX);
}

static void loading_has_a_timeout_of_its_own(void **state)
{
  struct tm_page_view v = { .phase = TM_PHASE_LOAD, .since_ns = 100 };
  assert_int_equal(due(&v, 0, 50, 120), 150);
  assert_int_equal(due(&v, 500, 50, 160), 150); /* late */
  assert_int_equal(due(&v, 20, 500, 120), 140); /* it may be running by then */
  v.phase = TM_PHASE_RUN;
  assert_int_equal(due(&v, 50, 10, 120), 130); /* checked, and not late */
  assert_int_equal(due(&v, 50, 0, 120), 150);
}

static void a_marker_is_known_also_within_another(void **state)
{
  assert_true(tm_keeper_is_marked("job:process000:1", "job:process000:1"));
  assert_true(tm_keeper_is_marked("inner:process000:5,job:process000:1", "job:process000:1"));
  assert_false(tm_keeper_is_marked("job:process000:11", "job:process000:1"));
  assert_false(tm_keeper_is_marked("my-job:process000:1", "job:process000:1"));
  assert_false(tm_keeper_is_marked("job:process000:1,other:process000:2", "job:process000:1"));
  assert_false(tm_keeper_is_marked("", "job:process000:1"));
}

static void the_cause_is_the_first_event(void **state)
{
  struct tm_keeper_worker w = { .state = TM_KEEPER_KILLED, .kill_cause = TM_END_TIMEOUT };
  struct tm_process_end killed = { .signal = SIGKILL }, crashed = { .signal = SIGSEGV },
                        good = { 0 }, bad = { .exit_status = 1 };
  assert_int_equal(tm_keeper_cause(&w, &killed, TM_PHASE_RUN), TM_END_TIMEOUT);
  assert_int_equal(tm_keeper_cause(&w, &crashed, TM_PHASE_RUN), TM_END_SIGNAL);
  assert_int_equal(tm_keeper_cause(&w, &good, TM_PHASE_RUN), TM_END_EXITED);
  w.state = TM_KEEPER_LIVES;
  struct tm_process_end alarm = { .signal = SIGALRM };
  assert_int_equal(tm_keeper_cause(&w, &alarm, TM_PHASE_RUN), TM_END_SIGNAL);
  w.interrupt.call = 3; /* the alarm came from the keeper */
  assert_int_equal(tm_keeper_cause(&w, &alarm, TM_PHASE_RUN), TM_END_TIMEOUT);
  w.interrupt.call = 0;
  assert_int_equal(tm_keeper_cause(&w, &killed, TM_PHASE_RUN), TM_END_SIGNAL);
  assert_int_equal(tm_keeper_cause(&w, &good, TM_PHASE_RUN), TM_END_EXITED);
  assert_int_equal(tm_keeper_cause(&w, &good, TM_PHASE_SHUTDOWN), TM_END_STOPPED);
  w.state = TM_KEEPER_STOPS;
  assert_int_equal(tm_keeper_cause(&w, &good, TM_PHASE_IDLE), TM_END_STOPPED);
  assert_int_equal(tm_keeper_cause(&w, &bad, TM_PHASE_IDLE), TM_END_EXITED);
}

static void a_later_variable_replaces_an_earlier_one(void **state)
{
  char *own[] = { (char *)"A=1", (char *)"AB=2", (char *)"C=3", NULL };
  char *more[] = { (char *)"AB=x", (char *)"D=4" }, *last[] = { (char *)"D=5", (char *)"E=" };
  const char *expected[] = { "A=1", "AB=x", "C=3", "D=5", "E=" };
  char **env = tm_keeper_environment(own, more, 2, last, 2);
  for (size_t i = 0; i < TM_COUNT_OF(expected); i++)
    assert_string_equal(env[i], expected[i]);
  assert_null(env[TM_COUNT_OF(expected)]);
  free(env);
}

static void a_name_without_a_value_removes_the_variable(void **state)
{
  char *own[] = { (char *)"A=1", (char *)"B=2", (char *)"C=3", (char *)"D=4", NULL };
  char *more[] = { (char *)"A", (char *)"D", (char *)"C", (char *)"NONE" };
  char *last[] = { (char *)"E=5" };
  char **env = tm_keeper_environment(own, more, 4, last, 1);
  assert_string_equal(env[0], "B=2");
  assert_string_equal(env[1], "E=5");
  assert_null(env[2]);
  free(env);
  env = tm_keeper_environment(own, more, 4, NULL, 0);
  assert_string_equal(env[0], "B=2");
  assert_null(env[1]);
  free(env);
}

/* A keeper with one worker, a process that does nothing. */
struct one {
  struct tm_keeper k;
  struct tm_keeper_step step;
  struct tm_keeper_worker w;
  struct tm_page page;
};

static void one_open(struct one *o)
{
  char *self = tm_process_program();
  char *argv[] = { self, (char *)"pause", NULL };
  struct tm_spawn spawn = { .program = self, .argv = argv };
  memset(o, 0, sizeof *o);
  o->step.main_fd = -1;
  o->step.s.run_timeout_ns = 60 * TM_S;
  assert_int_equal(tm_loop_init(&o->k.loop, NULL), 0);
  tm_timer_open(&o->k.timer, &o->k.loop, tm_keeper_on_time, &o->k);
  o->w = (struct tm_keeper_worker) { .step = &o->step,
                                     .page = &o->page,
                                     .name = (char *)"process000",
                                     .pid = tm_process_start(&spawn, NULL) };
  free(self);
  assert_true(o->w.pid > 0);
  *TM_ARRAY_ADD(&o->k.workers) = &o->w;
  tm_keeper_watch(&o->k, &o->w);
}

static void one_close(struct one *o, enum tm_end_cause cause)
{
  int status;
  assert_int_equal(o->w.state, TM_KEEPER_KILLED);
  assert_int_equal(o->w.kill_cause, cause);
  assert_int_equal(waitpid(o->w.pid, &status, 0), o->w.pid);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  tm_timer_close(&o->k.timer);
  tm_loop_release(&o->k.loop);
  TM_ARRAY_RELEASE(&o->k.workers);
}

static void a_late_shutdown_is_killed(void **state)
{
  struct one o;
  one_open(&o);
  tm_keeper_step(&o.k, &o.w, TM_KEEPER_ON_STOPPING);
  assert_int_equal(o.w.state, TM_KEEPER_STOPS);
  assert_true(o.w.stop_due_ns > tm_clock_mono_ns());
  tm_keeper_on_time(&o.k.timer);
  assert_int_equal(o.w.state, TM_KEEPER_STOPS); /* it still has time */
  o.w.stop_due_ns = tm_clock_mono_ns();
  tm_keeper_on_time(&o.k.timer);
  one_close(&o, TM_END_SHUTDOWN);
}

static void a_run_is_killed_at_its_deadline_and_not_before(void **state)
{
  struct one o;
  one_open(&o);
  int64_t now = tm_clock_mono_ns();
  tm_page_set(&o.page, TM_PHASE_RUN, now - 30 * TM_S, 1, 1, 1);
  o.w.due_ns = now;
  tm_keeper_on_time(&o.k.timer);
  assert_int_equal(o.w.state, TM_KEEPER_LIVES);
  assert_int_equal(o.w.due_ns, now + 30 * TM_S);
  tm_page_set(&o.page, TM_PHASE_RUN, now - 61 * TM_S, 2, 2, 1);
  o.w.due_ns = now;
  tm_keeper_on_time(&o.k.timer);
  one_close(&o, TM_END_TIMEOUT);
}

static void one_that_is_stopped_is_killed_after_a_timeout_wherever_it_is(void **state)
{
  struct one o;
  one_open(&o);
  tm_keeper_on_stop(&o.k, &o.w, true);
  assert_in_range(o.w.frozen_due_ns, tm_clock_mono_ns() + 50 * TM_S,
                  tm_clock_mono_ns() + 60 * TM_S);
  tm_keeper_on_stop(&o.k, &o.w, false); /* woken */
  assert_true(o.w.frozen_due_ns == INT64_MAX);
  tm_keeper_on_stop(&o.k, &o.w, true);
  tm_keeper_on_time(&o.k.timer);
  assert_int_equal(o.w.state, TM_KEEPER_LIVES); /* it still has time */
  o.w.frozen_due_ns = tm_clock_mono_ns();
  tm_keeper_on_time(&o.k.timer);
  one_close(&o, TM_END_FROZEN);
}

static void a_late_run_of_one_that_is_stopped_is_a_late_run(void **state)
{
  struct one o;
  one_open(&o);
  int64_t now = tm_clock_mono_ns();
  tm_page_set(&o.page, TM_PHASE_RUN, now - 61 * TM_S, 2, 2, 1);
  o.w.due_ns = o.w.frozen_due_ns = now;
  tm_keeper_on_time(&o.k.timer);
  one_close(&o, TM_END_TIMEOUT);
}

static void a_second_kill_changes_nothing(void **state)
{
  struct one o;
  one_open(&o);
  tm_keeper_step(&o.k, &o.w, TM_KEEPER_ON_KILL);
  tm_keeper_step(&o.k, &o.w, TM_KEEPER_ON_RUN_LATE);
  tm_keeper_step(&o.k, &o.w, TM_KEEPER_ON_STOPPING);
  tm_keeper_step(&o.k, &o.w, TM_KEEPER_ON_STOP_LATE);
  tm_keeper_step(&o.k, &o.w, TM_KEEPER_ON_FROZEN_LATE);
  tm_keeper_step(&o.k, &o.w, TM_KEEPER_ON_MEMORY);
  one_close(&o, TM_END_KILLED);
}

UNIT_TESTS({
    cmocka_unit_test(a_run_is_late_at_its_timeout),
    cmocka_unit_test(an_idle_worker_is_checked_after_a_timeout),
    cmocka_unit_test(loading_has_a_timeout_of_its_own),
    cmocka_unit_test(writing_a_result_has_the_timeout_of_loading),
    cmocka_unit_test(init_and_recover_have_their_limits),
    cmocka_unit_test(a_late_worker_is_interrupted_then_killed),
    cmocka_unit_test(a_marker_is_known_also_within_another),
    cmocka_unit_test(the_cause_is_the_first_event),
    cmocka_unit_test(a_later_variable_replaces_an_earlier_one),
    cmocka_unit_test(a_name_without_a_value_removes_the_variable),
    cmocka_unit_test(a_late_shutdown_is_killed),
    cmocka_unit_test(a_run_is_killed_at_its_deadline_and_not_before),
    cmocka_unit_test(one_that_is_stopped_is_killed_after_a_timeout_wherever_it_is),
    cmocka_unit_test(a_late_run_of_one_that_is_stopped_is_a_late_run),
    cmocka_unit_test(a_second_kill_changes_nothing),
});
