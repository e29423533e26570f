/* Two nodes of a fleet, with keepers that say HELLO and nothing else. */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "fleet/fleet.h"
#include "job_keeper.h"
#include "sys/fs.h"
#include "sys/process.h"

struct seen {
  struct tm_loop loop;
  struct tm_fleet fleet;
  struct tm_buf order; /* "lost 1;gone 1;" */
  char *self;
  char dir[64];
};

static void on_note(void *data, uint32_t id, const char *text)
{
}

static void on_lost(void *data, uint32_t id, const char *text)
{
  struct seen *s = data;
  assert_null(tm_fleet_node(&s->fleet, id));
  tm_buf_printf(&s->order, "lost %u: %s;", id, text);
}

static void on_gone(void *data, uint32_t id)
{
  struct seen *s = data;
  tm_buf_printf(&s->order, "gone %u;", id);
}

static void start(struct seen *s, uint32_t id, const char *mode)
{
  setenv("TM_TEST_KEEPER", mode, 1);
  assert_int_equal(tm_fleet_start(&s->fleet, id, NULL), 0);
  unsetenv("TM_TEST_KEEPER");
}

static void setup(struct seen *s)
{
  struct tm_fleet_options o = {
    .loop = &s->loop, .on_note = on_note, .on_lost = on_lost, .on_gone = on_gone, .data = s
  };
  memset(s, 0, sizeof(*s));
  assert_int_equal(tm_loop_init(&s->loop, NULL), 0);
  s->self = tm_process_program();
  o.program = s->self;
  tm_fleet_init(&s->fleet, &o);
}

static void release(struct seen *s, const char *order)
{
  tm_fleet_close_now(&s->fleet);
  tm_loop_release(&s->loop);
  tm_fleet_release(&s->fleet);
  assert_string_equal(tm_buf_str(&s->order), order);
  tm_buf_release(&s->order);
  free(s->self);
}

static void a_fleet_knows_its_nodes_by_id(void **state)
{
  struct seen s;
  setup(&s);
  assert_true(tm_fleet_is_empty(&s.fleet));
  start(&s, 2, "deaf");
  assert_false(tm_fleet_is_empty(&s.fleet));
  assert_int_equal(tm_fleet_ids(&s.fleet), 3);
  assert_int_equal(tm_fleet_count(&s.fleet), 1);
  assert_null(tm_fleet_node(&s.fleet, 0));
  assert_null(tm_fleet_node(&s.fleet, 3));
  assert_int_equal(tm_node_id(tm_fleet_node(&s.fleet, 2)), 2);
  assert_string_equal(tm_node_name(tm_fleet_node(&s.fleet, 2)), "2");
  release(&s, "");
}

static void a_node_is_lost_and_the_other_stays(void **state)
{
  struct seen s;
  setup(&s);
  start(&s, 0, "deaf");
  start(&s, 1, "version");
  while (!strstr(tm_buf_str(&s.order), "gone"))
    tm_loop_turn(&s.loop);
  assert_non_null(tm_fleet_node(&s.fleet, 0));
  assert_null(tm_fleet_node(&s.fleet, 1));
  start(&s, 1, "deaf");
  assert_non_null(tm_fleet_node(&s.fleet, 1));
  release(&s, "lost 1: the keeper of the workers has another version of tidemill;gone 1;");
}

static void on_timer(struct tm_timer *t)
{
  struct seen *s = t->data;
  char *path = tm_path_join(s->dir, "go");
  tm_buf_add_str(&s->order, "turn;");
  int fd = open(path, O_WRONLY | O_CLOEXEC); /* the keeper ends when this is open */
  assert_true(fd >= 0);
  close(fd);
  free(path);
}

/* The keeper waits for a timer of the loop before it ends. */
static void close_with_a_slow_keeper(bool is_lost)
{
  struct seen s;
  struct tm_timer timer;
  setup(&s);
  strcpy(s.dir, "/tmp/tidemill-test-XXXXXX");
  assert_non_null(mkdtemp(s.dir));
  char *path = tm_path_join(s.dir, "go");
  assert_int_equal(mkfifo(path, 0600), 0);
  setenv("TM_TEST_KEEPER_WAITS", path, 1);
  start(&s, 0, is_lost ? "early" : "deaf");
  unsetenv("TM_TEST_KEEPER_WAITS");
  while (is_lost && !strstr(tm_buf_str(&s.order), "lost"))
    tm_loop_turn(&s.loop);
  tm_buf_clear(&s.order);
  if (!is_lost)
    tm_fleet_close(&s.fleet);
  assert_null(tm_fleet_node(&s.fleet, 0));
  assert_false(tm_fleet_is_empty(&s.fleet));
  tm_timer_open(&timer, &s.loop, on_timer, &s);
  tm_timer_start(&timer, 0, 0);
  while (!tm_fleet_is_empty(&s.fleet))
    tm_loop_turn(&s.loop);
  tm_timer_close(&timer);
  free(path);
  tm_tree_remove(s.dir, NULL);
  release(&s, "turn;gone 0;");
}

static void the_loop_turns_while_a_keeper_ends(void **state)
{
  close_with_a_slow_keeper(false);
}

static void the_loop_turns_while_a_lost_keeper_ends(void **state)
{
  close_with_a_slow_keeper(true);
}

static int serve(int argc, char **argv)
{
  return job_keeper();
}

UNIT_HOOKS(.serve = serve);
UNIT_TESTS({
    cmocka_unit_test(a_fleet_knows_its_nodes_by_id),
    cmocka_unit_test(a_node_is_lost_and_the_other_stays),
    cmocka_unit_test(the_loop_turns_while_a_keeper_ends),
    cmocka_unit_test(the_loop_turns_while_a_lost_keeper_ends),
});
