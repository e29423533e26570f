/* test_host_nodes.c - a job on several nodes does nothing to the host's process either: its one
 * child is the keeper, which starts the nodes. Here one of two nodes is killed on the way. */
#include "host.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { SIGNALS = 65, ITEMS = 40 };

/* With node_command as Lua text. */
#define PIPELINE(command)                                                                          \
  "local t = require 'tidemill'\n"                                                                 \
  "return t.Pipeline { name = 'case', steps = { t.ParallelRunStep { name = 'score',\n"             \
  "  parallel_run_config = t.ParallelRunConfig { entry_script = 'score.lua',\n"                    \
  "    mini_batch_size = 1, compute_target = 'exec', node_count = 2,\n"                            \
  "    node_command = " command ",\n"                                                              \
  "    process_count_per_node = 1, error_threshold = 0 },\n"                                       \
  "  inputs = t.Dataset.File.from_files 'in/*', arguments = { '%s' } } } }\n"

static volatile sig_atomic_t signals_seen;

static void on_signal(int number)
{
  signals_seen++;
}

struct look {
  int most; /* children at a time */
  bool has_killed;
};

/* The children of a process, with zombies: how many, and the last one. */
static int children_of(int pid, int *last)
{
  char path[64];
  int n = 0, child;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
  FILE *f = fopen(path, "r");
  while (f && fscanf(f, "%d", &child) == 1) {
    n++;
    *last = child;
  }
  if (f)
    fclose(f);
  return n;
}

static void look(struct host *h, const struct tidemill_event *e)
{
  struct look *l = h->data;
  int keeper = 0, node = 0, n = children_of((int)getpid(), &keeper);
  l->most = n > l->most ? n : l->most;
  if (e->kind == TIDEMILL_EVENT_MINI_BATCH && h->done > 2 && !l->has_killed &&
      children_of(keeper, &node) > 0)
    l->has_killed = kill(node, SIGKILL) == 0;
}

static void start(struct host *h, struct look *l)
{
  char text[1200];
  host_setup(h, "good", ITEMS, NULL);
  snprintf(text, sizeof text, PIPELINE("'{program} node'"), h->dir);
  host_put(h, "pipeline.lua", text);
  host_runtime(h, NULL);
  *l = (struct look) { 0 };
  h->on_event = look;
  h->data = l;
}

static void run(struct host *h, const struct look *l)
{
  host_submit(h);
  host_wait(h);
  assert_int_equal(h->state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(h->done, ITEMS);
  assert_int_equal(h->retried, 0); /* the loss counts as no try */
  assert_true(l->has_killed);
}

static void a_job_on_nodes_has_one_child_of_the_hosts(void **state)
{
  struct host h;
  struct look l;
  int pid;
  start(&h, &l);
  run(&h, &l);
  assert_int_equal(l.most, 1);
  assert_int_equal(children_of((int)getpid(), &pid), 0);
  host_end(&h);
}

static void handlers_and_mask_of_the_host_stay(void **state)
{
  struct sigaction before[SIGNALS], after,
      ours = { .sa_handler = on_signal, .sa_flags = SA_NOCLDSTOP | SA_RESTART };
  sigset_t mask, then;
  struct host h;
  struct look l;
  sigaction(SIGCHLD, &ours, NULL);
  sigaction(SIGPIPE, &ours, NULL);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  for (int i = 1; i < SIGNALS; i++)
    if (sigaction(i, NULL, &before[i]) < 0)
      memset(&before[i], 0, sizeof before[i]);
  start(&h, &l);
  signals_seen = 0;
  run(&h, &l);
  assert_int_equal(signals_seen, 1); /* the end of the keeper; nodes are its children */
  host_end(&h);
  for (int i = 1; i < SIGNALS; i++)
    if (sigaction(i, NULL, &after) == 0)
      assert_ptr_equal(after.sa_handler, before[i].sa_handler);
  pthread_sigmask(SIG_SETMASK, NULL, &then);
  assert_int_equal(sigismember(&then, SIGUSR2), 1);
  assert_int_equal(sigismember(&then, SIGCHLD), 0);
  signal(SIGCHLD, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  sigemptyset(&mask);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void a_host_may_reap_every_child(void **state)
{
  struct sigaction ours = { .sa_handler = host_reap_all, .sa_flags = SA_RESTART };
  struct host h;
  struct look l;
  sigaction(SIGCHLD, &ours, NULL);
  start(&h, &l);
  run(&h, &l);
  host_end(&h);
  signal(SIGCHLD, SIG_DFL);
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
  struct look l;
  int status;
  start(&h, &l);
  pid_t early = start_child(7);
  run(&h, &l);
  pid_t late = start_child(8);
  host_end(&h);
  assert_int_equal(waitpid(early, &status, 0), early);
  assert_int_equal(WEXITSTATUS(status), 7);
  assert_int_equal(waitpid(late, &status, 0), late);
  assert_int_equal(WEXITSTATUS(status), 8);
}

/* The open descriptors, and what they are, as text. */
static void list_descriptors(char *out, size_t size)
{
  size_t len = 0;
  out[0] = '\0';
  for (int fd = 0; fd < 1024 && len < size; fd++) {
    char path[64], target[200];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n > 0)
      len += (size_t)snprintf(out + len, size - len, "%d %.*s\n", fd, (int)n, target);
  }
}

static void descriptors_of_the_host_stay(void **state)
{
  static char before[8192], after[8192];
  struct host h;
  struct look l;
  list_descriptors(before, sizeof before);
  start(&h, &l);
  run(&h, &l);
  host_end(&h);
  list_descriptors(after, sizeof after);
  assert_string_equal(after, before);
}

static void close_early(struct host *h, const struct tidemill_event *e)
{
  if (h->done < 3 || !h->job)
    return;
  tidemill_job_close(h->job);
  h->job = NULL;
}

/* Each node writes down how it has ended, unless it is killed. */
static void nodes_end_by_themselves_when_their_job_is_closed(void **state)
{
  char text[1600], path[256], over[8] = "";
  struct host h;
  FILE *f;
  host_setup(&h, "good", ITEMS, NULL);
  snprintf(text, sizeof text,
           PIPELINE("{ 'sh', '-c', [[trap '' TERM; \"$1\" node; echo $? >>\"$2/over\"]], 'sh', "
                    "'{program}', '%s' }"),
           h.dir, h.dir);
  host_put(&h, "pipeline.lua", text);
  host_runtime(&h, NULL);
  h.on_event = close_early;
  host_submit(&h);
  assert_int_equal(tidemill_job_wait(h.job, HOST_LIMIT_MS, &h.err), -ECANCELED);
  host_path(&h, "over", path);
  f = fopen(path, "r");
  assert_non_null(f);
  assert_int_equal(fread(over, 1, sizeof over - 1, f), 4);
  fclose(f);
  assert_string_equal(over, "0\n0\n");
  host_end(&h);
}

struct kept {
  struct pollfd nodes[2]; /* their commands */
};

static void close_without_keeper(struct host *h, const struct tidemill_event *e)
{
  struct kept *k = h->data;
  char path[256];
  int keeper = 0, pids[2], found;
  if (h->done < 3 || !h->job)
    return;
  host_path(h, "pids", path);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  found = fscanf(f, "%d %d\n", &pids[0], &pids[1]);
  fclose(f);
  if (found < 2)
    return;
  for (int i = 0; i < 2; i++) {
    int held = (int)syscall(SYS_pidfd_open, pids[i], 0);
    assert_true(held >= 0);
    k->nodes[i] = (struct pollfd) { .fd = held, .events = POLLIN };
  }
  assert_int_equal(children_of((int)getpid(), &keeper), 1);
  kill(keeper, SIGKILL);
  close_early(h, e);
}

/* Their commands would not end with their streams. */
static void nothing_is_left_if_the_keeper_was_killed_when_the_job_is_closed(void **state)
{
  char text[1600];
  struct host h;
  struct kept k;
  host_setup(&h, "good", ITEMS, NULL);
  snprintf(text, sizeof text,
           PIPELINE("{ 'sh', '-c', [[trap '' TERM HUP; echo $$ >>\"$2/pids\"; \"$1\" node; "
                    "while :; do sleep 1000; done]], 'sh', '{program}', '%s' }"),
           h.dir, h.dir);
  host_put(&h, "pids", "");
  host_put(&h, "pipeline.lua", text);
  host_runtime(&h, NULL);
  h.data = &k;
  h.on_event = close_without_keeper;
  host_submit(&h);
  assert_int_equal(tidemill_job_wait(h.job, HOST_LIMIT_MS, &h.err), -ECANCELED);
  assert_int_equal(poll(k.nodes, 2, 0), 2);
  for (int i = 0; i < 2; i++)
    close(k.nodes[i].fd);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_job_on_nodes_has_one_child_of_the_hosts),
    cmocka_unit_test(handlers_and_mask_of_the_host_stay),
    cmocka_unit_test(a_host_may_reap_every_child),
    cmocka_unit_test(nodes_end_by_themselves_when_their_job_is_closed),
    cmocka_unit_test(nothing_is_left_if_the_keeper_was_killed_when_the_job_is_closed),
    cmocka_unit_test(children_of_the_host_are_reaped_by_the_host),
    cmocka_unit_test(descriptors_of_the_host_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
