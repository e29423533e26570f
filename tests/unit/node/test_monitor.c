/* test_monitor.c - which processes a real keeper measures, in which folder, and how long. */
#include "unit.h"

#include <poll.h>
#include <sys/stat.h>

#include "rig.h"

#define PROCESSES "processes_resource_usage.csv"

static void rig_open_measuring(struct rig *r, uint32_t node)
{
  rig_open(r, tm_hello());
  rig_wait(r, TM_MSG_HELLO, 0);
  r->monitor_ns = TM_MS; /* the keeper makes 100 ms of it */
  r->incarnation.node = node;
}

/* A step with logs of its own: the keeper knows steps by the folders of their logs. */
static void add_step(struct rig *r, uint64_t index, const char *logs)
{
  char *path = tm_xprintf("%s/%s", r->dir, logs);
  assert_true(mkdir(path, 0700) == 0 || rig_exists(r, logs));
  rig_add_step(r, index, NULL, path, 0);
  free(path);
}

/* Waits until the file has such a row; returns all of it, for the caller to free. */
static char *wait_for_row(struct rig *r, const char *file, const char *row)
{
  for (int64_t waited_ms = 0; waited_ms < RIG_LIMIT / TM_MS; waited_ms += 5) {
    char *text = rig_read(r, file);
    if (strstr(text, row))
      return text;
    free(text);
    poll(NULL, 0, 5);
  }
  fail_msg("'%s' is not in %s", row, file);
  return NULL;
}

static size_t count_lines(const char *text)
{
  size_t n = 0;
  for (; (text = strchr(text, '\n')); text++)
    n++;
  return n;
}

static void expect_parent(uint32_t node, const char *parent, const char *other)
{
  struct rig r;
  rig_open_measuring(&r, node);
  add_step(&r, 0, "logs");
  rig_start_worker(&r, 0);
  char *text = wait_for_row(&r, "logs/perf/0/" PROCESSES, ",process0,");
  assert_non_null(strstr(text, parent));
  assert_null(strstr(text, other));
  assert_non_null(strstr(text, ",keeper,"));
  free(text);
  rig_close(&r);
}

static void the_parent_of_a_keeper_has_its_own_name(void **state)
{
  expect_parent(TM_LOCAL_NODE, ",supervisor,", ",relay,");
  expect_parent(3, ",relay,", ",supervisor,");
}

static void launch(struct rig *r, uint32_t number, const char *name)
{
  struct tm_buf b = TM_BUF_NONE;
  char *argv[] = { (char *)"cat", NULL };
  char *path = tm_xprintf("%s/%s", r->dir, name);
  struct tm_launch l = { .argv = argv, .stderr_path = path, .cwd = r->dir };
  tm_node_launch_encode(&b, &l, RIG_LIMIT);
  rig_send(r, TM_MSG_LAUNCH, 0, number, b.data, b.len);
  const struct tm_msg *f = rig_wait(r, TM_MSG_LAUNCHED, number);
  assert_true(f->fd >= 0);
  tm_buf_release(&b);
  free(path);
}

static void launches_are_measured_for_a_step_until_it_is_over(void **state)
{
  struct rig r;
  rig_open_measuring(&r, TM_LOCAL_NODE);
  r.measures_launches = true;
  add_step(&r, 0, "first");
  launch(&r, 0, "17.txt");
  char *text = wait_for_row(&r, "first/perf/supervisor/" PROCESSES, ",launcher of 17,");
  assert_non_null(strstr(text, ",supervisor,"));
  assert_non_null(strstr(text, ",keeper,"));
  free(text);
  assert_false(rig_exists(&r, "first/sys/node")); /* no worker will be there */

  rig_send(&r, TM_MSG_STEP_IS_OVER, 0, 0, NULL, 0);
  rig_send(&r, TM_MSG_STEP_IS_OVER, 99, 0, NULL, 0); /* not known: ignored */
  rig_send(&r, TM_MSG_PING, 0, 0, NULL, 0);
  rig_wait(&r, TM_MSG_PONG, 0);
  text = rig_read(&r, "first/perf/supervisor/" PROCESSES);
  size_t before = count_lines(text);
  free(text);
  add_step(&r, 1, "second"); /* the launch is older than the step */
  launch(&r, 1, "18.txt");
  free(wait_for_row(&r, "second/perf/supervisor/" PROCESSES, ",launcher of 18,"));
  text = rig_read(&r, "first/perf/supervisor/" PROCESSES);
  assert_int_equal(count_lines(text), before);
  free(text);
  rig_close(&r);
}

UNIT_HOOKS(.serve = rig_serve);
UNIT_TESTS({
    cmocka_unit_test(the_parent_of_a_keeper_has_its_own_name),
    cmocka_unit_test(launches_are_measured_for_a_step_until_it_is_over),
});
