/* test_host_many.c - many things at once: threads with several jobs each, a runtime that moves from
 * thread to thread, a host that forks, turns too often or too late, signals, a lack of descriptors.
 */
#include "host.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <lauxlib.h>
#include <lua.h>

/* Threads. */

enum { JOBS = 4 };

/* The second and the fourth job never end by themselves. The test cancels them when the first
 * mini-batch is done, one with `now` and one without. */
struct several {
  struct host h[JOBS];
};

static void cancel_others(struct host *h, const struct tidemill_event *e)
{
  struct several *s = h->data;
  if (e->kind != TIDEMILL_EVENT_MINI_BATCH || h->done != 1)
    return;
  tidemill_job_cancel(s->h[1].job, true);
  tidemill_job_cancel(s->h[3].job, false);
}

static void *run_several(void *data)
{
  struct several *s = data;
  host_runtime(&s->h[0], NULL);
  for (int i = 0; i < JOBS; i++) {
    s->h[i].rt = s->h[0].rt;
    host_submit(&s->h[i]);
  }
  s->h[0].data = s;
  s->h[0].on_event = cancel_others;
  host_wait(&s->h[1]);
  host_go(&s->h[3], 2); /* lets running mini-batches end */
  host_must(&s->h[0], tidemill_runtime_run(s->h[0].rt, HOST_LIMIT_MS, &s->h[0].err));
  return NULL;
}

static void threads_run_several_jobs_each_and_cancel_some(void **state)
{
  enum { N = 2 };
  static struct several s[N];
  pthread_t threads[N];
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < JOBS; k++)
      host_setup(&s[i].h[k], k % 2 ? "wait" : "good", k % 2 ? 2 : 10, NULL);
    assert_int_equal(pthread_create(&threads[i], NULL, run_several, &s[i]), 0);
  }
  for (int i = 0; i < N; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(s[i].h[0].state, TIDEMILL_STATE_COMPLETED);
    assert_int_equal(s[i].h[0].done, 10);
    assert_int_equal(s[i].h[1].state, TIDEMILL_STATE_CANCELED);
    assert_int_equal(s[i].h[1].done, 0);
    assert_int_equal(s[i].h[2].state, TIDEMILL_STATE_COMPLETED);
    assert_int_not_equal(s[i].h[3].state, TIDEMILL_STATE_RUNNING);
    for (int k = JOBS - 1; k > 0; k--) {
      s[i].h[k].rt = NULL;
      host_end(&s[i].h[k]);
    }
    host_end(&s[i].h[0]);
  }
}

struct handed {
  struct host h;
  pthread_mutex_t mutex;
  int turns[2];
  int running;
};

static void *begin_and_end(void *data)
{
  struct handed *s = data;
  host_runtime(&s->h, NULL);
  host_submit(&s->h);
  while (s->h.ready < 2) /* a thread that ends soon has started the keeper and its workers */
    assert_int_equal(tidemill_job_wait(s->h.job, 10, &s->h.err), -ETIMEDOUT);
  return NULL;
}

static void turn_in_turns(struct handed *s, int which)
{
  struct pollfd fd = { .fd = tidemill_runtime_fd(s->h.rt), .events = POLLIN };
  bool goes_on = true;
  while (goes_on) {
    poll(&fd, 1, 10);
    pthread_mutex_lock(&s->mutex);
    if (s->running > 0)
      s->running = tidemill_runtime_turn(s->h.rt, &s->h.err);
    goes_on = s->running > 0;
    s->turns[which]++;
    pthread_mutex_unlock(&s->mutex);
  }
}

static void *turn_too(void *data)
{
  turn_in_turns(data, 1);
  return NULL;
}

static void a_runtime_goes_from_thread_to_thread(void **state)
{
  struct handed s = { .mutex = PTHREAD_MUTEX_INITIALIZER, .running = 1 };
  pthread_t thread;
  host_setup(&s.h, "wait", 2, "zgood", 30, NULL);
  assert_int_equal(pthread_create(&thread, NULL, begin_and_end, &s), 0);
  pthread_join(thread, NULL);
  host_go(&s.h, 2);
  assert_int_equal(pthread_create(&thread, NULL, turn_too, &s), 0);
  turn_in_turns(&s, 0);
  pthread_join(thread, NULL);
  assert_int_equal(s.running, 0);
  assert_int_equal(s.h.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(s.h.done, 32);
  assert_int_equal(s.h.retried, 0); /* no worker ended with the thread */
  assert_true(s.turns[0] > 0 && s.turns[1] > 0);
  host_end(&s.h);
}

/* Turns without work, and late turns. */

static void turns_may_come_for_nothing_and_late(void **state)
{
  struct host h;
  int running = 1, late = 0;
  host_setup(&h, "good", 40, NULL);
  host_runtime(&h, NULL);
  for (int i = 0; i < 100; i++)
    assert_int_equal(tidemill_runtime_turn(h.rt, &h.err), 0);
  host_submit(&h);
  struct pollfd p = { .fd = tidemill_runtime_fd(h.rt), .events = POLLIN };
  while (running > 0) {
    int ms = tidemill_runtime_timeout_ms(h.rt);
    int rc = poll(&p, 1, ms < 0 ? HOST_LIMIT_MS : ms);
    if (rc > 0 && late++ % 3 == 0)
      poll(NULL, 0, 30); /* the host does something else: the delay is the test, not a wait */
    tidemill_runtime_wake(h.rt);
    for (int i = 0; i < 3 && running > 0; i++)
      running = tidemill_runtime_turn(h.rt, &h.err);
  }
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(h.done, 40);
  host_end(&h);
}

/* Signals. */

static struct tidemill_runtime *rung;
static volatile sig_atomic_t rings;

static void on_alarm(int number)
{
  rings++;
  tidemill_runtime_wake(rung);
}

static void a_signal_handler_wakes_waits(void **state)
{
  struct sigaction a = { .sa_handler = on_alarm };
  struct itimerval often = { { 0, 700 }, { 0, 700 } }, never = { { 0, 0 }, { 0, 0 } };
  struct host h;
  int woken = 0;
  host_setup(&h, "good", 30, "wait", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  rung = h.rt;
  assert_int_equal(sigaction(SIGALRM, &a, NULL), 0);
  assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
  while (h.state != TIDEMILL_STATE_COMPLETED) {
    int rc = tidemill_job_wait(h.job, HOST_LIMIT_MS, &h.err);
    assert_true(rc == 0 || rc == -EINTR);
    woken += rc == -EINTR;
    if (woken == 20)
      host_go(&h, 1);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  signal(SIGALRM, SIG_IGN); /* under valgrind one may still be on its way */
  assert_true(woken >= 20 && rings >= woken);
  assert_int_equal(h.done, 31);
  host_end(&h);
}

/* Forks. */

/* A child of the host holds all of its descriptors until the test ends it. */
static pid_t fork_copy(int stay, bool with_exit)
{
  pid_t pid = fork();
  char c;
  assert_true(pid >= 0);
  if (pid > 0)
    return pid;
  if (read(stay, &c, 1) != 1)
    _exit(9);
  if (with_exit)
    exit(0);
  _exit(0);
}

static void end_copy(pid_t pid, int stay)
{
  int status;
  assert_int_equal(write(stay, "x", 1), 1);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

static void a_host_forks_while_a_job_runs(void **state)
{
  struct host h;
  int stay[2];
  fflush(NULL); /* the child must not write cmocka's buffered output */
  assert_int_equal(pipe(stay), 0);
  host_setup(&h, "wait", 2, "zgood", 20, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  while (h.ready < 2)
    assert_int_equal(tidemill_job_wait(h.job, 10, &h.err), -ETIMEDOUT);
  end_copy(fork_copy(stay[0], true), stay[1]);
  pid_t stays = fork_copy(stay[0], false);
  host_go(&h, 1);
  while (h.done < 1)
    tidemill_job_wait(h.job, 10, &h.err);
  tidemill_job_close(h.job); /* its processes end although the child holds the descriptors */
  h.job = NULL;
  h.options.resume = true;
  tidemill_pipeline_free(h.pipeline);
  host_go(&h, 1);
  host_submit(&h); /* and its directory is free */
  host_go(&h, 2);
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  end_copy(stays, stay[1]);
  close(stay[0]);
  close(stay[1]);
  host_end(&h);
}

/* Closing. */

static void close_at_first(struct host *h, const struct tidemill_event *e)
{
  if (e->kind == TIDEMILL_EVENT_MINI_BATCH && e->outcome == TIDEMILL_OUTCOME_DONE &&
      h->done == h->retried + 1)
    tidemill_job_close(h->job);
}

/* A request takes effect even if the host closes the job right after it. What arrives with the
 * first result is committed, too, but a closed job passes on no event about it. */
static void finished_mini_batches_are_not_run_again(void **state)
{
  enum { N = 8 };
  struct host h;
  int closed = 0;
  host_setup(&h, "good", N, NULL);
  host_runtime(&h, NULL);
  host_load(&h);
  h.options.resume = true;
  h.on_event = close_at_first;
  while (h.state != TIDEMILL_STATE_COMPLETED) {
    assert_true(closed++ <= N);
    h.retried = h.done; /* of earlier sessions */
    host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
    int rc = tidemill_job_wait(h.job, HOST_LIMIT_MS, &h.err);
    assert_true(rc == 0 || rc == -ECANCELED);
    if (rc == -ECANCELED)
      h.job = NULL;
  }
  assert_in_range(h.done, closed - 1, N); /* the last session may have had nothing to do */
  const struct tidemill_counts *counts = tidemill_job_counts(h.job);
  assert_int_equal(counts->succeeded, N);
  assert_int_equal(counts->items_succeeded, N);
  host_end(&h);
}

/* Descriptors. */

static int descriptors(void)
{
  DIR *dir = opendir("/proc/self/fd");
  int n = 0;
  assert_non_null(dir);
  while (readdir(dir) != NULL)
    n++;
  closedir(dir);
  return n;
}

static void jobs_of_one_runtime_leave_nothing(void **state)
{
  struct host h;
  int after_first = 0;
  host_setup(&h, "good", 2, NULL);
  host_runtime(&h, NULL);
  h.options.no_reuse = true;
  for (int i = 0; i < 40; i++) {
    host_submit(&h);
    host_wait(&h);
    assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
    tidemill_job_close(h.job);
    tidemill_pipeline_free(h.pipeline);
    if (i == 0)
      after_first = descriptors();
  }
  h.job = NULL;
  h.pipeline = NULL;
  assert_int_equal(descriptors(), after_first);
  host_end(&h);
}

enum { HELD = 100, FREE_MAX = 64 };

/* Runs a job with this many free descriptors: it completes or fails with a message, and leaves
 * nothing behind. */
static bool run_with(int more)
{
  struct rlimit before, low;
  struct host h;
  bool is_completed = false;
  host_setup(&h, "good", 3, NULL);
  int open_before = descriptors();
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  low = before;
  low.rlim_cur = (rlim_t)(open_before - 3 +
                          more); /* ".", ".." and the folder were counted, but do not stay open */
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  char path[256], workspace[256];
  host_path(&h, "ws", workspace);
  host_path(&h, "pipeline.lua", path);
  o.workspace = workspace;
  int rc = tidemill_runtime_new(&h.rt, &o, &h.err);
  if (rc == 0)
    rc = tidemill_pipeline_load(&h.pipeline, h.rt, path, &h.err);
  if (rc == 0)
    rc = tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err);
  if (rc == 0) {
    host_wait(&h);
    is_completed = h.state == TIDEMILL_STATE_COMPLETED;
    if (!is_completed && !*tidemill_job_cause(h.job))
      fail_msg("%d more: %s, and no cause", more, tidemill_state_name(h.state));
  } else if (h.err.code != rc || (!strstr(h.err.text, "too many open files") &&
                                  !strstr(h.err.text, "raise the limit"))) {
    fail_msg("%d more: %d, %d, %s", more, rc, h.err.code, h.err.text);
  }
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  host_end(&h);
  assert_true(descriptors() <= open_before + 1); /* of libuv's first loop; the FIFO is closed */
  return is_completed;
}

static void running_out_of_descriptors_is_reported(void **state)
{
  int completed = 0, held[HELD];
  for (int more = 0; more < FREE_MAX; more += 4)
    completed += run_with(more);
  assert_true(completed > 0 && completed < FREE_MAX / 4);
  for (int i = 0; i < HELD; i++) /* the limit is high, but the host uses nearly all of it */
    held[i] = open("/dev/null", O_RDONLY);
  completed = 0;
  for (int more = 0; more < FREE_MAX; more += 4)
    completed += run_with(more);
  for (int i = 0; i < HELD; i++)
    close(held[i]);
  assert_true(completed > 0 && completed < FREE_MAX / 4);
}

/* A pipeline file that calls submit(). */

static struct host inner;

static int host_start(lua_State *L)
{
  struct host *h = lua_touserdata(L, lua_upvalueindex(1));
  (void)h;
  inner.err.code = 0;
  host_submit(&inner);
  lua_pushstring(L, tidemill_job_dir(inner.job));
  return 1;
}

static const char *const starts_one =
    "local host, t = require 'host', require 'tidemill'\n"
    "assert(#host.start() > 0)\n"
    "return t.Pipeline { name = 'outer', steps = { t.ParallelRunStep { name = 'score',\n"
    "  parallel_run_config = t.ParallelRunConfig { entry_script = 'score.lua' },\n"
    "  inputs = t.Dataset.File.from_files 'in/*' } } }\n";

static void a_pipeline_file_submits_through_its_host(void **state)
{
  struct host h;
  char name[256];
  host_setup(&inner, "good", 3, NULL);
  host_setup(&h, "good", 2, NULL);
  host_runtime(&h, NULL);
  inner.rt = h.rt;
  host_path(&h, "p.lua", name);
  host_must(&h, tidemill_runtime_add_function(h.rt, "start", host_start, &h.err));
  host_must(&h, tidemill_pipeline_load_string(&h.pipeline, h.rt, starts_one, name, &h.err));
  assert_int_equal(inner.events, 0);
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  host_must(&h, tidemill_runtime_run(h.rt, HOST_LIMIT_MS, &h.err));
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(inner.state, TIDEMILL_STATE_COMPLETED);
  inner.rt = NULL;
  host_end(&inner);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(threads_run_several_jobs_each_and_cancel_some),
    cmocka_unit_test(a_runtime_goes_from_thread_to_thread),
    cmocka_unit_test(turns_may_come_for_nothing_and_late),
    cmocka_unit_test(a_signal_handler_wakes_waits),
    cmocka_unit_test(a_host_forks_while_a_job_runs),
    cmocka_unit_test(finished_mini_batches_are_not_run_again),
    cmocka_unit_test(jobs_of_one_runtime_leave_nothing),
    cmocka_unit_test(running_out_of_descriptors_is_reported),
    cmocka_unit_test(a_pipeline_file_submits_through_its_host),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
