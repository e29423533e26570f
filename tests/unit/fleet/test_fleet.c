/* Nodes of a fleet: with keepers that say HELLO and nothing else, and over streams whose relay the
 * test plays in the same loop. */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "fleet/fleet.h"
#include "job_keeper.h"
#include "node/node_msg.h"
#include "relay_news.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/messages/channel.h"
#include "sys/messages/node_stream.h"
#include "sys/process.h"

struct seen {
  struct tm_loop loop;
  struct tm_fleet fleet;
  struct tm_buf order; /* "lost 1;gone 1;" */
  struct tm_buf notes;
  char *self;
  char dir[64];
};

static void on_note(void *data, uint32_t id, const char *text)
{
  struct seen *s = data;
  tm_buf_printf(&s->notes, "%s;", text);
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

static void on_ready(void *data, uint32_t id)
{
  struct seen *s = data;
  assert_true(tm_fleet_is_ready(&s->fleet, id));
  tm_buf_printf(&s->order, "ready %u;", id);
}

static void on_report(void *data, uint32_t id)
{
  struct seen *s = data;
  assert_false(tm_fleet_is_ready(&s->fleet, id));
  assert_int_equal(tm_node_reported(tm_fleet_node(&s->fleet, id))->cpus, 3);
  ask_nothing(tm_fleet_node(&s->fleet, id));
}

static void on_probed(void *data, uint32_t id, const struct tm_node_probed *probed)
{
  struct seen *s = data;
  assert_false(tm_fleet_is_ready(&s->fleet, id));
  tm_node_admit(tm_fleet_node(&s->fleet, id), true);
}

static void start(struct seen *s, uint32_t id, const char *mode)
{
  setenv("TM_TEST_KEEPER", mode, 1);
  assert_int_equal(tm_fleet_start(&s->fleet, id, NULL), 0);
  unsetenv("TM_TEST_KEEPER");
}

static void setup(struct seen *s)
{
  struct tm_fleet_options o = { .loop = &s->loop,
                                .on_note = on_note,
                                .on_report = on_report,
                                .on_probed = on_probed,
                                .on_ready = on_ready,
                                .on_lost = on_lost,
                                .on_gone = on_gone,
                                .data = s };
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
  tm_buf_release(&s->notes);
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
  assert_true(tm_fleet_lives(&s.fleet, 2));
  assert_false(tm_fleet_lives(&s.fleet, 0));
  assert_false(tm_fleet_lives(&s.fleet, 3));
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

/* ---- over streams ---- */

struct relay {
  struct seen *s;
  struct tm_node_stream *stream;
  const char *hello;
  bool has_ended;
};

static void on_relay_open(void *data, const char *skipped, size_t len)
{
  struct relay *r = data;
  struct tm_node_report report = usual_report();
  tell_report(r->stream, &report);
}

static void on_relay_msg(void *data, const struct tm_msg *f)
{
  struct relay *r = data;
  struct tm_msg hello = {
    .type = TM_MSG_HELLO, .payload = r->hello, .length = (uint32_t)strlen(r->hello), .fd = -1
  };
  if (f->type == TM_MSG_HELLO)
    tm_node_stream_send(r->stream, &hello);
  else if (f->type == TM_MSG_PROBE)
    tell_probed(r->stream, "");
}

static void on_relay_end(void *data, int code, const char *text)
{
  struct relay *r = data;
  r->has_ended = true;
}

static void on_relay_closed(void *data)
{
}

/* A node, and its relay, whose keeper says `hello`. */
static void connect_to(struct seen *s, struct relay *r, uint32_t id, const char *hello,
                       const char *address)
{
  struct tm_node_stream_options o = { .loop = &s->loop,
                                      .hello = tm_hello(),
                                      .on_open = on_relay_open,
                                      .on_msg = on_relay_msg,
                                      .on_end = on_relay_end,
                                      .on_closed = on_relay_closed,
                                      .data = r };
  int pair[2];
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  *r = (struct relay) { .s = s, .hello = hello };
  o.in = o.out = pair[1];
  assert_non_null(r->stream = tm_node_stream_open(&o, NULL));
  assert_int_equal(tm_fleet_connect(&s->fleet, id, pair[0], pair[0], address, 3600 * TM_S, NULL),
                   0);
  assert_false(tm_fleet_is_ready(&s->fleet, id));
}

static void connect_node(struct seen *s, struct relay *r, uint32_t id, const char *hello)
{
  connect_to(s, r, id, hello, "far");
}

static void await(struct seen *s, const char *order)
{
  while (!strstr(tm_buf_str(&s->order), order))
    tm_loop_turn(&s->loop);
}

static void a_node_over_a_stream_is_ready_when_its_keeper_has_said_its_version(void **state)
{
  struct seen s;
  struct relay r;
  setup(&s);
  connect_node(&s, &r, 1, tm_hello());
  assert_string_equal(tm_node_address(tm_fleet_node(&s.fleet, 1)), "far");
  await(&s, "ready");
  assert_true(tm_fleet_lives(&s.fleet, 1));
  tm_node_stream_close(r.stream); /* the relay ends */
  await(&s, "gone");
  assert_false(tm_fleet_is_ready(&s.fleet, 1));
  assert_null(tm_fleet_node(&s.fleet, 1));
  release(&s, "ready 1;lost 1: the connection to node 1 has ended;gone 1;");
}

static void a_node_has_the_name_that_it_reports(void **state)
{
  struct seen s;
  struct relay r;
  setup(&s);
  connect_to(&s, &r, 1, tm_hello(), NULL);
  assert_string_equal(tm_node_address(tm_fleet_node(&s.fleet, 1)), "");
  await(&s, "ready");
  assert_string_equal(tm_node_address(tm_fleet_node(&s.fleet, 1)), RELAY_HOST);
  assert_true(tm_node_has_sizes_alone(tm_fleet_node(&s.fleet, 1)));
  assert_int_equal(tm_node_workers(tm_fleet_node(&s.fleet, 1)), 3);
  tm_node_stream_close(r.stream);
  await(&s, "gone");
  release(&s, "ready 1;lost 1: the connection to node 1 has ended;gone 1;");
}

static void a_node_of_another_version_is_never_ready(void **state)
{
  struct seen s;
  struct relay r;
  setup(&s);
  connect_node(&s, &r, 1, "another");
  await(&s, "gone");
  tm_node_stream_close(r.stream);
  release(&s, "lost 1: the keeper of the workers has another version of tidemill;gone 1;");
}

/* The keeper here carries the streams' commands, so it ends last. */
static void streams_end_before_the_node_of_this_machine(void **state)
{
  struct seen s;
  struct relay r[2];
  setup(&s);
  start(&s, 0, "deaf");
  connect_node(&s, &r[0], 1, tm_hello());
  connect_node(&s, &r[1], 2, tm_hello());
  await(&s, "ready 1");
  await(&s, "ready 2");
  tm_buf_clear(&s.order);
  assert_true(tm_fleet_has_streams(&s.fleet));
  tm_fleet_close_streams(&s.fleet);
  while (tm_fleet_has_streams(&s.fleet) || !r[0].has_ended || !r[1].has_ended)
    tm_loop_turn(&s.loop);
  assert_null(tm_fleet_node(&s.fleet, 2));
  assert_non_null(tm_fleet_node(&s.fleet, 0));
  assert_false(tm_fleet_is_empty(&s.fleet));
  for (int i = 0; i < 2; i++)
    tm_node_stream_close(r[i].stream);
  assert_non_null(strstr(tm_buf_str(&s.order), "gone 1;"));
  assert_non_null(strstr(tm_buf_str(&s.order), "gone 2;"));
  tm_buf_clear(&s.order);
  release(&s, "");
}

static void a_node_that_is_given_up_is_lost_and_gone(void **state)
{
  struct seen s;
  int pair[2];
  size_t len;
  setup(&s);
  assert_null(tm_fleet_foreign(&s.fleet, 1, &len));
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  assert_int_equal(tm_fleet_connect(&s.fleet, 1, pair[0], pair[0], "far", 3600 * TM_S, NULL), 0);
  assert_int_equal(write(pair[1], "what?", 5), 5);
  while (tm_fleet_foreign(&s.fleet, 1, &len) == NULL)
    tm_loop_turn(&s.loop);
  assert_int_equal(len, 5);
  tm_fleet_give_up(&s.fleet, 1, "late"); /* the other end stays open */
  assert_non_null(tm_fleet_foreign(&s.fleet, 1, &len));
  await(&s, "gone");
  close(pair[1]);
  release(&s, "lost 1: late;gone 1;");
}

/* A node that is ready, then given up; two messages of it are on their way. Others do not wait for
 * them. */
static void give_up_late(struct seen *s, struct relay *r)
{
  struct tm_msg f = { .type = TM_MSG_NOTE, .payload = "late", .length = 4, .fd = -1 };
  setup(s);
  connect_node(s, r, 1, tm_hello());
  await(s, "ready");
  for (int i = 0; i < 2; i++)
    tm_node_stream_send(r->stream, &f);
  tm_node_stream_flush(r->stream);
  tm_buf_clear(&s->notes);
  tm_fleet_give_up(&s->fleet, 1, "silent");
  assert_string_equal(tm_buf_str(&s->order), "ready 1;lost 1: silent;");
  await(s, "gone");
  while (!r->has_ended) /* it hears of that */
    tm_loop_turn(&s->loop);
  assert_true(tm_fleet_is_empty(&s->fleet));
  assert_non_null(s->fleet.places.at[1]->left);
}

static void await_closed(struct seen *s)
{
  while (s->fleet.places.at[1]->left)
    tm_loop_turn(&s->loop);
}

static void a_lost_node_is_read_until_its_stream_ends(void **state)
{
  struct seen s;
  struct relay r;
  give_up_late(&s, &r);
  tm_node_stream_close(r.stream);
  await_closed(&s);
  assert_string_equal(tm_buf_str(&s.notes), "dropped 2 late messages from node 1;");
  release(&s, "ready 1;lost 1: silent;gone 1;");
}

static void a_lost_node_is_read_for_ten_seconds(void **state)
{
  struct seen s;
  struct relay r;
  give_up_late(&s, &r);
  int64_t left_ns = s.fleet.places.at[1]->left_ns;
  tm_fleet_tick(&s.fleet, left_ns + 10 * TM_S - 1);
  for (int i = 0; i < 3; i++)
    tm_loop_turn(&s.loop);
  assert_non_null(s.fleet.places.at[1]->left);
  tm_fleet_tick(&s.fleet, left_ns + 10 * TM_S);
  tm_fleet_tick(&s.fleet, left_ns + 20 * TM_S);
  await_closed(&s);
  assert_string_equal(tm_buf_str(&s.notes), "dropped 2 late messages from node 1;");
  tm_node_stream_close(r.stream);
  release(&s, "ready 1;lost 1: silent;gone 1;");
}

static void a_lost_node_is_not_read_when_all_streams_are_closed(void **state)
{
  struct seen s;
  struct relay r;
  give_up_late(&s, &r);
  tm_fleet_close_streams(&s.fleet);
  await_closed(&s);
  tm_node_stream_close(r.stream);
  release(&s, "ready 1;lost 1: silent;gone 1;");
}

static void a_lost_node_that_is_read_does_not_outlive_the_fleet(void **state)
{
  struct seen s;
  struct relay r;
  give_up_late(&s, &r);
  tm_node_stream_close(r.stream);
  release(&s, "ready 1;lost 1: silent;gone 1;");
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
    cmocka_unit_test(a_node_over_a_stream_is_ready_when_its_keeper_has_said_its_version),
    cmocka_unit_test(a_node_has_the_name_that_it_reports),
    cmocka_unit_test(a_node_of_another_version_is_never_ready),
    cmocka_unit_test(streams_end_before_the_node_of_this_machine),
    cmocka_unit_test(a_node_that_is_given_up_is_lost_and_gone),
    cmocka_unit_test(a_lost_node_is_read_until_its_stream_ends),
    cmocka_unit_test(a_lost_node_is_read_for_ten_seconds),
    cmocka_unit_test(a_lost_node_is_not_read_when_all_streams_are_closed),
    cmocka_unit_test(a_lost_node_that_is_read_does_not_outlive_the_fleet),
});
