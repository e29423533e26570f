/* test_host_loop.c - which loop runs: a host's own, a polled one, several runtimes on several
 * threads.
 */
#include "host.h"

#include <poll.h>
#include <pthread.h>
#include <uv.h>

/* A loop that belongs to the host. */

struct shared {
  struct host h;
  uv_loop_t loop;
  uv_timer_t beat;
  int beats;
  bool is_closed;
};

static void on_beat(uv_timer_t *t)
{
  struct shared *s = t->data;
  s->beats++;
}

static void on_closed(void *data)
{
  struct shared *s = data;
  s->is_closed = true;
}

static void close_when_over(struct host *h, const struct tidemill_event *e)
{
  struct shared *s = h->data;
  if (e->kind != TIDEMILL_EVENT_STATE || e->state == TIDEMILL_STATE_RUNNING)
    return;
  tidemill_job_close(h->job);
  h->job = NULL;
  uv_close((uv_handle_t *)&s->beat, NULL);
}

static void share_loop(struct shared *s)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  assert_int_equal(uv_loop_init(&s->loop), 0);
  s->loop.data = s; /* still belongs to the host */
  uv_timer_init(&s->loop, &s->beat);
  s->beat.data = s;
  uv_timer_start(&s->beat, on_beat, 1, 1);
  o.loop = &s->loop;
  o.on_closed = on_closed;
  o.data = s;
  host_runtime(&s->h, &o);
  s->h.data = s;
  s->h.on_event = close_when_over;
}

static void a_job_runs_on_the_loop_of_a_host(void **state)
{
  struct shared s = { .beats = 0 };
  host_setup(&s.h, "good", 4, NULL);
  share_loop(&s);
  assert_int_equal(tidemill_runtime_fd(s.h.rt), -1);
  assert_int_equal(tidemill_runtime_run(s.h.rt, 0, &s.h.err), TIDEMILL_EUSAGE);
  assert_non_null(strstr(s.h.err.text, "on a loop of the host's"));
  host_submit(&s.h);
  assert_int_equal(tidemill_job_wait(s.h.job, 0, &s.h.err), TIDEMILL_EUSAGE);
  assert_int_equal(uv_run(&s.loop, UV_RUN_DEFAULT),
                   0); /* it ends: the library leaves no active handle */
  assert_int_equal(s.h.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(s.h.done, 4);
  assert_true(s.beats > 0);
  assert_ptr_equal(s.loop.data, &s);
  tidemill_pipeline_free(s.h.pipeline);
  s.h.pipeline = NULL;
  host_must(&s.h, tidemill_runtime_close(s.h.rt, &s.h.err));
  s.h.rt = NULL;
  assert_false(s.is_closed);
  uv_run(&s.loop, UV_RUN_DEFAULT);
  assert_true(s.is_closed);
  assert_int_equal(uv_loop_close(&s.loop), 0); /* the loop is empty */
  host_end(&s.h);
}

static void a_runtime_on_the_loop_of_a_host_is_closed_while_a_job_runs(void **state)
{
  struct shared s = { .beats = 0 };
  host_setup(&s.h, "wait", 2, NULL);
  share_loop(&s);
  host_submit(&s.h);
  while (s.h.ready == 0)
    uv_run(&s.loop, UV_RUN_ONCE);
  tidemill_pipeline_free(s.h.pipeline);
  s.h.pipeline = NULL;
  host_must(&s.h, tidemill_runtime_close(s.h.rt, &s.h.err));
  s.h.rt = NULL;
  s.h.job = NULL;
  uv_close((uv_handle_t *)&s.beat, NULL);
  uv_run(&s.loop, UV_RUN_DEFAULT);
  assert_true(s.is_closed);
  assert_int_equal(uv_loop_close(&s.loop), 0);
  host_end(&s.h);
}

/* Polling. */

static void a_job_runs_in_a_host_that_polls(void **state)
{
  struct host h;
  int running = 1, polls = 0;
  host_setup(&h, "good", 20, "wait", 1, NULL);
  host_runtime(&h, NULL);
  while (tidemill_runtime_timeout_ms(h.rt) == 0)
    assert_int_equal(tidemill_runtime_turn(h.rt, &h.err), 0);
  assert_int_equal(tidemill_runtime_timeout_ms(h.rt), -1); /* nothing to do */
  host_submit(&h);
  host_go(&h, 1);
  struct pollfd p = { .fd = tidemill_runtime_fd(h.rt), .events = POLLIN };
  assert_true(p.fd > 2);
  while (running > 0) {
    int ms = tidemill_runtime_timeout_ms(h.rt);
    polls++;
    assert_true(ms >= -1 && ms <= HOST_LIMIT_MS);
    assert_true(poll(&p, 1, ms < 0 ? HOST_LIMIT_MS : ms) >= 0);
    running = tidemill_runtime_turn(h.rt, &h.err);
  }
  assert_int_equal(running, 0);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(h.done, 21);
  assert_true(polls < 5000); /* and it does not spin */
  assert_int_equal(p.fd, tidemill_runtime_fd(h.rt));
  host_end(&h);
}

/* Waking. */

static void *wake(void *rt)
{
  tidemill_runtime_wake(rt);
  return NULL;
}

static void a_wait_is_woken_from_another_thread(void **state)
{
  struct host h;
  pthread_t thread;
  host_setup(&h, "wait", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  assert_int_equal(pthread_create(&thread, NULL, wake, h.rt), 0);
  assert_int_equal(tidemill_job_wait(h.job, HOST_LIMIT_MS, &h.err), -EINTR);
  pthread_join(thread, NULL);
  tidemill_runtime_wake(h.rt); /* called before run(), it ends the next one */
  assert_int_equal(tidemill_runtime_run(h.rt, HOST_LIMIT_MS, &h.err), -EINTR);
  host_go(&h, 1);
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  host_end(&h);
}

/* Several runtimes. */

static void jobs_of_a_runtime_run_at_the_same_time(void **state)
{
  struct host h, other;
  host_setup(&h, "wait", 1, NULL);
  host_setup(&other, "good", 3, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  other.rt = h.rt;
  host_submit(&other);
  host_wait(&other); /* while the first one waits */
  assert_int_equal(other.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(tidemill_job_state(h.job), TIDEMILL_STATE_RUNNING);
  host_go(&h, 1);
  host_must(&h, tidemill_runtime_run(h.rt, HOST_LIMIT_MS, &h.err));
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  other.rt = NULL;
  host_end(&other);
  host_end(&h);
}

static void *run_one(void *data)
{
  struct host *h = data;
  host_runtime(h, NULL);
  host_submit(h);
  host_wait(h);
  tidemill_job_close(h->job);
  tidemill_pipeline_free(h->pipeline);
  host_must(h, tidemill_runtime_close(h->rt, &h->err));
  h->job = NULL;
  h->pipeline = NULL;
  h->rt = NULL;
  return NULL;
}

static void each_thread_has_a_runtime(void **state)
{
  enum { N = 3 };
  struct host h[N];
  pthread_t threads[N];
  for (int i = 0; i < N; i++) {
    host_setup(&h[i], "good", 10, NULL);
    assert_int_equal(pthread_create(&threads[i], NULL, run_one, &h[i]), 0);
  }
  for (int i = 0; i < N; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(h[i].state, TIDEMILL_STATE_COMPLETED);
    assert_int_equal(h[i].done, 10);
    host_end(&h[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_job_runs_on_the_loop_of_a_host),
    cmocka_unit_test(a_runtime_on_the_loop_of_a_host_is_closed_while_a_job_runs),
    cmocka_unit_test(a_job_runs_in_a_host_that_polls),
    cmocka_unit_test(a_wait_is_woken_from_another_thread),
    cmocka_unit_test(jobs_of_a_runtime_run_at_the_same_time),
    cmocka_unit_test(each_thread_has_a_runtime),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
