/* test_host_replay.c - a hundred runtimes, one after the other, each with a job: none of them
 * leaves anything behind. TM_TIMES asks for fewer, unless TM_LONG is set. The count starts with the
 * second runtime, because libuv keeps two descriptors of its first loop. Valgrind also runs this,
 * to count memory.
 */
#include "host.h"

#include <dirent.h>

static int times(void)
{
  const char *few = getenv("TM_TIMES");
  return few && !getenv("TM_LONG") ? atoi(few) : 100;
}

struct left {
  int fds, threads, children;
};

static int entries(const char *path)
{
  DIR *dir = opendir(path);
  int n = 0;
  assert_non_null(dir);
  while (readdir(dir) != NULL)
    n++;
  closedir(dir);
  return n;
}

static struct left look(void)
{
  struct left l = { .fds = entries("/proc/self/fd"), .threads = entries("/proc/self/task") };
  char word[32], path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *f = fopen(path, "r");
  while (f && fscanf(f, "%31s", word) == 1)
    l.children++;
  if (f)
    fclose(f);
  return l;
}

static int on_job(struct tidemill_record *job, void *data)
{
  assert_string_equal(tidemill_record_info(job)->fault, "");
  assert_non_null(tidemill_record_json(job));
  ++*(int *)data;
  return 0;
}

/* Files that the job has left on the disk. */
static void look_at_jobs(struct host *h)
{
  struct tidemill_workspace_options o = TIDEMILL_WORKSPACE_OPTIONS_INIT;
  struct tidemill_workspace *ws = NULL;
  struct tidemill_record *r = NULL;
  struct tidemill_clean *c = NULL;
  char path[256];
  int n = 0;
  host_path(h, "ws", path);
  o.path = path;
  host_must(h, tidemill_workspace_open(&ws, &o, &h->err));
  host_must(h, tidemill_workspace_jobs(ws, true, on_job, &n, &h->err));
  assert_int_equal(n, 1);
  host_must(h, tidemill_record_open(&r, ws, "latest", &h->err));
  assert_non_null(tidemill_record_definition(r));
  host_must(h, tidemill_clean_new(&c, ws, NULL, &h->err));
  tidemill_clean_free(c);
  tidemill_record_close(r);
  tidemill_workspace_close(ws);
}

/* A job ends in three ways: by itself, canceled, closed while it runs. */
static void run_once(int i)
{
  struct host h;
  const char *second = i % 3 == 0 ? NULL : "wait"; /* the first NULL ends the list */
  host_setup(&h, "good", 1, second, 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  if (i % 3 == 0) {
    host_wait(&h);
    assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  } else if (i % 3 == 1) {
    tidemill_job_cancel(h.job, true);
    host_wait(&h);
    assert_int_equal(h.state, TIDEMILL_STATE_CANCELED);
  } else {
    assert_int_equal(tidemill_job_wait(h.job, 0, NULL), -ETIMEDOUT);
  }
  look_at_jobs(&h);
  host_end(&h);
}

static void nothing_is_left_from_the_second_runtime_on(void **state)
{
  struct left first, last;
  for (int i = 0; i < 6; i++)
    run_once(i);
  first = look();
  assert_int_equal(first.children, 0);
#ifdef __SANITIZE_THREAD__
  assert_int_equal(first.threads, 4); /* ".", "..", the only thread, and the sanitizer's */
#else
  assert_int_equal(first.threads, 3);
#endif
  for (int i = 6; i < times(); i++)
    run_once(i);
  last = look();
  assert_int_equal(last.fds, first.fds);
  assert_int_equal(last.threads, first.threads);
  assert_int_equal(last.children, 0);
}

/* What the library adds to a host that does nothing with it yet: a runtime and a loaded pipeline.
 */
static long resident_kb(void)
{
  long pages = 0, ignored;
  FILE *f = fopen("/proc/self/statm", "r");
  assert_int_equal(fscanf(f, "%ld %ld", &ignored, &pages), 2);
  fclose(f);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void an_idle_runtime_takes_little_memory(void **state)
{
  struct host h;
  long before = resident_kb();
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_load(&h);
  long with = resident_kb() - before;
  print_message("a runtime and a pipeline add %ld kB\n", with);
#ifndef __SANITIZE_ADDRESS__
  assert_true(with < 15 * 1024);
#endif
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_idle_runtime_takes_little_memory),
    cmocka_unit_test(nothing_is_left_from_the_second_runtime_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
