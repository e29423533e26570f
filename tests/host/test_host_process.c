/* test_host_process.c - the library does nothing to the host's process. There is a case for each
 * clause of that promise: one child, no signal handler, no signal, it reaps no other child, prints
 * nothing, takes no descriptor from 0 to 2, keeps the host's locale and directory, never calls
 * exit(), for hosts of any size. */
#include "host.h"

#include <dirent.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { SIGNALS = 65 };

static volatile sig_atomic_t signals_seen;

static void on_signal(int number)
{
  signals_seen++;
}

/* The number of children of this process, with zombies. */
static int children(void)
{
  char path[64], line[64];
  int n = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  while (fscanf(f, "%63s", line) == 1)
    n++;
  fclose(f);
  return n;
}

static void count_children(struct host *h, const struct tidemill_event *e)
{
  int *most = h->data, n = children();
  *most = n > *most ? n : *most;
}

static void a_job_has_one_child_of_the_hosts(void **state)
{
  struct host h;
  int most = 0;
  host_setup(&h, "good", 20, NULL);
  host_runtime(&h, NULL);
  assert_int_equal(children(), 0);
  h.on_event = count_children;
  h.data = &most;
  host_submit(&h);
  host_wait(&h);
  assert_int_equal(h.done, 20);
  assert_int_equal(most, 1);
  assert_int_equal(children(), 0);
  host_end(&h);
}

static void handlers_and_mask_of_the_host_stay(void **state)
{
  struct sigaction before[SIGNALS], after;
  struct sigaction ours = { .sa_handler = on_signal };
  sigset_t mask, then;
  struct host h;
  sigaction(SIGCHLD, &ours, NULL);
  sigaction(SIGALRM, &ours, NULL);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  for (int i = 1; i < SIGNALS; i++)
    if (sigaction(i, NULL, &before[i]) < 0)
      memset(&before[i], 0, sizeof before[i]);
  signals_seen = 0;
  host_setup(&h, "good", 5, "bad", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  host_end(&h);
  for (int i = 1; i < SIGNALS; i++)
    if (sigaction(i, NULL, &after) == 0)
      assert_ptr_equal(after.sa_handler, before[i].sa_handler);
  pthread_sigmask(SIG_SETMASK, NULL, &then);
  assert_int_equal(sigismember(&then, SIGUSR2), 1);
  assert_int_equal(sigismember(&then, SIGCHLD), 0);
  assert_true(signals_seen >= 1); /* for the end of the keeper: the host's handler receives it */
  signal(SIGCHLD, SIG_DFL);
  signal(SIGALRM, SIG_DFL);
  sigemptyset(&mask);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static pid_t start_child(int status)
{
  pid_t pid = fork();
  if (pid == 0)
    _exit(status);
  assert_true(pid > 0);
  return pid;
}

static void children_of_the_host_are_reaped_by_the_host(void **state)
{
  struct host h;
  int status;
  host_setup(&h, "good", 5, NULL);
  host_runtime(&h, NULL);
  pid_t early = start_child(7);
  host_submit(&h);
  pid_t late = start_child(8);
  host_wait(&h);
  host_end(&h);
  assert_int_equal(waitpid(early, &status, 0), early);
  assert_int_equal(WEXITSTATUS(status), 7);
  assert_int_equal(waitpid(late, &status, 0), late);
  assert_int_equal(WEXITSTATUS(status), 8);
}

static void a_host_may_reap_every_child(void **state)
{
  struct sigaction ours = { .sa_handler = host_reap_all, .sa_flags = SA_RESTART };
  struct host h;
  sigaction(SIGCHLD, &ours, NULL);
  host_setup(&h, "good", 5, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  host_end(&h);
  signal(SIGCHLD, SIG_DFL);
}

static void kill_keeper(struct host *h, const struct tidemill_event *e)
{
  int *killed = h->data;
  if (e->worker_state != TIDEMILL_WORKER_READY || (*killed)++ > 0)
    return;
  char path[64];
  int pid = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *f = fopen(path, "r");
  assert_int_equal(fscanf(f, "%d", &pid), 1);
  fclose(f);
  kill(pid, SIGKILL);
}

static void a_keeper_that_dies_raises_no_signal_and_no_exit(void **state)
{
  struct sigaction ours = { .sa_handler = on_signal };
  struct host h;
  int killed = 0;
  sigaction(SIGPIPE, &ours, NULL);
  signals_seen = 0;
  host_setup(&h, "good", 50, NULL);
  host_runtime(&h, NULL);
  h.on_event = kill_keeper;
  h.data = &killed;
  host_submit(&h);
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED); /* with another keeper */
  assert_int_equal(signals_seen, 0);
  host_end(&h);
  signal(SIGPIPE, SIG_DFL);
}

/* Standard descriptors are not written to. */

static void keep_log(enum tidemill_level level, const char *text, void *data)
{
  struct host *h = data;
  assert_int_equal(level, TIDEMILL_LEVEL_INFO);
  strcat(h->log, text);
  strcat(h->log, "\n");
}

static void nothing_is_printed(void **state)
{
  static const char prints[] = "print('hello', 1) io.write('wor', 'ld')\n";
  struct host h;
  char path[256], text[2000], read_back[16];
  int kept[2];
  host_setup(&h, "good", 3, "bad", 1, NULL);
  host_path(&h, "printed", path);
  fflush(NULL);
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  for (int i = 0; i < 2; i++) {
    kept[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 10);
    dup2(file, i + 1);
  }
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  o.on_log = keep_log;
  o.data = &h;
  strcpy(text, prints);
  snprintf(text + strlen(text), sizeof text - strlen(text), host_text, h.dir);
  host_runtime(&h, &o);
  host_path(&h, "pipeline.lua", path);
  int rc = tidemill_pipeline_load_string(&h.pipeline, h.rt, text, path, &h.err);
  if (rc == 0)
    rc = tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err);
  if (rc == 0)
    rc = tidemill_job_wait(h.job, HOST_LIMIT_MS, &h.err);
  fflush(NULL);
  for (int i = 0; i < 2; i++) {
    dup2(kept[i], i + 1);
    close(kept[i]);
  }
  host_must(&h, rc);
  assert_int_equal(pread(file, read_back, sizeof read_back, 0), 0);
  assert_string_equal(h.log, "hello\t1\nworld\n");
  close(file);
  host_end(&h);
}

/* Locale and directory. */

/* Numbers in a message: a job fails because of a threshold with a fraction. */
static void fail_for_half_a_percent(struct host *h)
{
  host_must(h, tidemill_pipeline_new(&h->pipeline, h->rt, "half", h->dir, &h->err));
  host_must(h, tidemill_pipeline_add_step(&h->step, h->pipeline, "score", "score.lua", &h->err));
  host_must(h, tidemill_pipeline_step_set(h->step, "allowed_failed_percent", "0.5", &h->err));
  host_must(h, tidemill_pipeline_step_add_files(&h->input, h->step, "in/*", NULL, &h->err));
  host_must(h, tidemill_pipeline_step_add_argument(h->step, h->dir, &h->err));
  host_must(h, tidemill_job_submit(&h->job, h->pipeline, NULL, &h->err));
  host_wait(h);
  assert_int_equal(tidemill_job_state(h->job), TIDEMILL_STATE_FAILED);
}

static void a_locale_with_a_comma_changes_nothing(void **state)
{
  struct host h;
  char path[512];
  struct tidemill_step step = TIDEMILL_STEP_INIT;
  host_setup(&h, "good", 3, "bad", 1, NULL);
  snprintf(path, sizeof path, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8'", h.dir);
  assert_int_equal(system(path), 0);
  setenv("LOCPATH", h.dir, 1);
  assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
  unsetenv("LOCPATH"); /* the processes that it starts do not need it */
  snprintf(path, sizeof path, "%.1f", 0.5);
  assert_string_equal(path, "0,5");
  host_runtime(&h, NULL);
  host_load(&h);
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  host_wait(&h);
  assert_string_equal(setlocale(LC_NUMERIC, NULL), "de_DE.UTF-8");
  assert_int_equal(tidemill_job_step(h.job, 0, &step, &h.err), 0);
  snprintf(path, sizeof path,
           "grep -qE '^3,1,process00[01],[^,]*Z,1,1,0,[0-9]+\\.[0-9]+,[0-9.]+,[0-9.]+,RUN_DONE,' "
           "'%s/sys/job_report/processed_mini-batches.csv'",
           step.logs_dir);
  assert_int_equal(system(path), 0); /* decimal points */
  tidemill_pipeline_free(h.pipeline);
  tidemill_job_close(h.job);
  fail_for_half_a_percent(&h);
  assert_non_null(strstr(tidemill_job_cause(h.job), "tolerates 0.5 %"));
  host_end(&h);
  setlocale(LC_ALL, "C");
}

static void go_away(struct host *h, const struct tidemill_event *e)
{
  assert_int_equal(chdir("/"), 0);
}

static void the_directory_is_the_hosts(void **state)
{
  struct host h;
  char *before = getcwd(NULL, 0), now[256];
  host_setup(&h, "good", 3, NULL);
  assert_int_equal(chdir(h.dir), 0);
  host_runtime(&h, NULL);
  h.options.dir = "job"; /* relative to the directory at this moment */
  host_must(&h, tidemill_pipeline_load(&h.pipeline, h.rt, "pipeline.lua", &h.err));
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  assert_non_null(getcwd(now, sizeof now));
  assert_string_equal(now, h.dir);
  h.on_event = go_away; /* the host may change its directory meanwhile */
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  assert_non_null(strstr(tidemill_job_dir(h.job), h.dir));
  assert_non_null(getcwd(now, sizeof now));
  assert_string_equal(now, "/");
  assert_int_equal(chdir(before), 0);
  free(before);
  host_end(&h);
}

/* A large host: the processes that the library starts do not copy its memory. */

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double time_of_job(void)
{
  struct host h;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  double begin = seconds();
  host_submit(&h);
  host_wait(&h);
  double took = seconds() - begin;
  host_end(&h);
  return took;
}

static double shortest(int n)
{
  double best = 1e9;
  for (int i = 0; i < n; i++) {
    double t = time_of_job();
    best = t < best ? t : best;
  }
  return best;
}

static void the_size_of_the_host_costs_nothing(void **state)
{
  const size_t size = (size_t)500 << 20;
  double small = shortest(5);
  char *large = malloc(size);
  assert_non_null(large);
  memset(large, 1, size);
  double with = shortest(5);
  assert_int_equal(large[size - 1], 1);
  free(large);
  print_message("a job takes %.1f ms in a small host, %.1f ms in one of 500 MB\n", small * 1e3,
                with * 1e3);
  assert_true(with < 3 * small + 0.1);
}

/* The library's threads block all signals, so the host's thread receives them. */

static unsigned long long blocked_of(const char *thread)
{
  char path[128], line[256];
  unsigned long long mask = 0;
  snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "SigBlk: %llx", &mask) == 1)
      break;
  if (f)
    fclose(f);
  return mask;
}

static void look_at_threads(struct host *h, const struct tidemill_event *e)
{
  int *seen = h->data;
  char self[32];
  struct dirent *d;
  DIR *dir = opendir("/proc/self/task");
  snprintf(self, sizeof self, "%d", (int)getpid());
  while ((d = readdir(dir)) != NULL) {
    if (d->d_name[0] == '.' || strcmp(d->d_name, self) == 0)
      continue;
    unsigned long long mask = blocked_of(d->d_name);
    if (mask == 0)
      continue; /* has just ended */
    ++*seen;
    assert_true(mask & 1ull << (SIGCHLD - 1));
    assert_true(mask & 1ull << (SIGALRM - 1));
    assert_true(mask & 1ull << (SIGUSR1 - 1));
  }
  closedir(dir);
}

static void threads_of_the_library_block_signals(void **state)
{
  struct host h;
  int seen = 0;
  host_setup(&h, "good", 20, NULL);
  host_runtime(&h, NULL);
  h.on_event = look_at_threads;
  h.data = &seen;
  host_submit(&h);
  host_wait(&h);
  assert_true(seen > 0);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_job_has_one_child_of_the_hosts),
    cmocka_unit_test(handlers_and_mask_of_the_host_stay),
    cmocka_unit_test(children_of_the_host_are_reaped_by_the_host),
    cmocka_unit_test(a_host_may_reap_every_child),
    cmocka_unit_test(a_keeper_that_dies_raises_no_signal_and_no_exit),
    cmocka_unit_test(nothing_is_printed),
    cmocka_unit_test(a_locale_with_a_comma_changes_nothing),
    cmocka_unit_test(the_directory_is_the_hosts),
    cmocka_unit_test(the_size_of_the_host_costs_nothing),
    cmocka_unit_test(threads_of_the_library_block_signals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
