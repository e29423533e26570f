/* The stream to a node: its beginning, its end, and its silence. */
#include "unit.h"

#include <fcntl.h>

#include "fleet/node_rig.h"
#include "sys/clock.h"

static void a_lost_stream_ends_links_after_what_waits(void **state)
{
  struct rig r;
  setup_worker(&r);
  tm_worker_link_hold(r.workers[0].link, true);
  tell_text(&r, 1, 0, "a");
  close_relay(&r);
  await_lost(&r, "the connection to node 3 has ended;");
  while (!r.is_gone)
    turn(&r);
  assert_int_equal(r.order.len, 0);
  tm_worker_link_hold(r.workers[0].link, false);
  await_order(&r, "10:a;10 end 0;");
  release(&r);
}

static void a_relay_of_another_version_is_refused(void **state)
{
  struct rig r;
  connect_only(&r);
  open_relay(&r, "another");
  while (r.lost.len == 0)
    turn(&r);
  assert_non_null(strstr(tm_buf_str(&r.lost), "it runs 'another', but this is 'tidemill "));
  assert_true(r.is_other_build);
  release(&r);
}

static void what_the_command_printed_is_noted(void **state)
{
  const char *text = "Welcome to far\n";
  struct rig r;
  connect_only(&r);
  assert_int_equal(write(r.fd, text, strlen(text)), (ssize_t)strlen(text));
  open_relay(&r, tm_hello());
  start_worker(&r, 0);
  await_order(&r, "started 10;");
  assert_string_equal(tm_buf_str(&r.notes),
                      "the command of node 3 printed 15 bytes before its first message: "
                      "'Welcome to far\\n';");
  release(&r);
}

static void what_came_instead_of_a_preface_can_be_quoted(void **state)
{
  struct rig r;
  size_t len;
  connect_only(&r);
  assert_null(tm_node_foreign(r.node, &len));
  assert_int_equal(write(r.fd, "Password:", 9), 9);
  while (tm_node_foreign(r.node, &len) == NULL)
    turn(&r);
  assert_int_equal(len, 9);
  assert_memory_equal(tm_node_foreign(r.node, &len), "Password:", 9);
  open_relay(&r, tm_hello());
  while (!tm_node_is_reached(r.node))
    turn(&r);
  assert_null(tm_node_foreign(r.node, &len));
  tm_node_give_up(r.node, "late");
  await_lost(&r, "late;");
  release(&r);
}

static void late_messages_are_dropped_and_counted(void **state)
{
  struct rig r;
  setup_worker(&r);
  r.closes_when_lost = false;
  tell(&r, TM_MSG_TAKEN, 0, "", 0); /* nobody asked */
  await_lost(&r, "the keeper of the workers sent an impossible message;");
  for (int i = 0; i < 15; i++)
    tell_text(&r, 1, 0, "late");
  tell_text(&r, TM_MSG_NOTE, 0, "late");
  tell(&r, TM_MSG_PONG, 0, "", 0);
  tell_ended(&r, 0);
  while (tm_node_stream_pending(r.relay) > 0)
    turn(&r);
  turn(&r);
  assert_int_equal(r.order.len, 0);
  assert_int_equal(r.notes.len, 0);
  close_node(&r);
  assert_string_equal(tm_buf_str(&r.notes), "dropped 17 late messages from node 3;");
  release(&r);
}

static void a_silent_node_is_lost(void **state)
{
  struct rig r;
  setup_worker(&r);
  int64_t now_ns = tm_clock_mono_ns();
  for (int i = 0; i < 20; i++) { /* it answers */
    int pings = r.pings;
    tm_node_tick(r.node, now_ns += TM_S);
    while (r.pings == pings)
      turn(&r);
    turn(&r);
  }
  assert_int_equal(r.lost.len, 0);
  r.is_mute = true;
  for (int i = 0; i < 5 && r.node; i++) {
    assert_int_equal(r.lost.len, 0);
    tm_node_tick(r.node, now_ns += TM_S);
    turn(&r);
  }
  await_lost(&r, "nothing heard for 4 s: the machine, the network or the keeper there may have "
                 "stopped;");
  release(&r);
}

/* A keeper that was stopped, behind a relay that lives. */
static void heartbeats_are_no_sign_of_the_keeper(void **state)
{
  struct rig r;
  connect_for(&r, 100 * TM_MS);
  open_relay(&r, tm_hello());
  r.is_mute = true;
  assert_int_equal(tm_node_round_trip_ns(r.node), 0);
  assert_int_equal(tm_node_clock_offset_ns(r.node), 0);
  while (tm_node_round_trip_ns(r.node) == 0)
    turn(&r);
  int64_t most_ns = tm_node_round_trip_ns(r.node) + TM_S; /* it is the same clock */
  assert_in_range(tm_node_clock_offset_ns(r.node) + most_ns, 0, 2 * most_ns);
  int64_t now_ns = tm_clock_mono_ns();
  for (int i = 0; i < 20 && r.lost.len == 0; i++) {
    int64_t heard_ns = tm_node_stream_heard_ns(r.relay);
    while (tm_node_stream_heard_ns(r.relay) == heard_ns)
      turn(&r);
    turn(&r); /* the answer comes */
    turn(&r);
    tm_node_tick(r.node, now_ns += 20 * TM_MS);
  }
  assert_int_not_equal(r.lost.len, 0);
  await_lost(&r, "nothing heard for 0.1 s: the machine, the network or the keeper there may have "
                 "stopped;");
  release(&r);
}

static void a_worker_is_a_sign_of_life(void **state)
{
  struct rig r;
  setup_worker(&r);
  int64_t now_ns = tm_clock_mono_ns();
  r.is_mute = true;
  for (int i = 0; i < 10; i++) {
    tm_node_tick(r.node, now_ns += TM_S);
    tell_text(&r, 1, 0, "x");
    await_order(&r, "10:x;");
  }
  assert_int_equal(r.lost.len, 0);
  release(&r);
}

static void a_node_is_not_judged_before_its_preface(void **state)
{
  struct rig r;
  connect_only(&r);
  int64_t now_ns = tm_clock_mono_ns();
  for (int i = 0; i < 100; i++) {
    tm_node_tick(r.node, now_ns += TM_S);
    turn(&r);
  }
  assert_false(tm_node_is_reached(r.node));
  assert_int_equal(r.lost.len, 0);
  open_relay(&r, tm_hello());
  r.is_mute = true;
  while (!tm_node_is_reached(r.node))
    turn(&r);
  for (int i = 0; i < 3; i++)
    tm_node_tick(r.node, now_ns += TM_S);
  assert_int_equal(r.lost.len, 0);
  tm_node_tick(r.node, now_ns += TM_S);
  assert_int_not_equal(r.lost.len, 0);
  release(&r);
}

/* What came while the supervisor was stopped is read before it judges. */
static void a_stopped_supervisor_reads_first(void **state)
{
  struct rig r;
  setup_worker(&r);
  int64_t now_ns = tm_clock_mono_ns();
  r.is_mute = true;
  for (int i = 0; i < 20; i++) {
    for (int s = 0; s < 3; s++)
      tm_node_tick(r.node, now_ns += TM_S);
    tell_text(&r, 1, 0, "x");
    tm_node_stream_flush(r.relay);
    tm_node_tick(r.node, now_ns += 3600 * TM_S);
    assert_int_equal(r.lost.len, 0);
    await_order(&r, "10:x;");
    tm_node_tick(r.node, now_ns += TM_S / 10);
    assert_int_equal(r.lost.len, 0);
  }
  release(&r);
}

static void a_close_that_waits_tells_nobody(void **state)
{
  struct rig r;
  setup_worker(&r);
  tm_node_close_now(r.node);
  r.node = NULL;
  while (!r.has_relay_ended)
    turn(&r);
  assert_false(r.is_gone);
  r.is_gone = true;
  await_order(&r, "10 end 0;");
  release(&r);
}

/* A regular file cannot be polled. */
static void a_connection_that_cannot_be_opened_is_an_error(void **state)
{
  struct rig r = { 0 };
  struct tm_node_options o = options_of(&r);
  struct tm_err err = TM_ERR_NONE;
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(tm_loop_init(&r.loop, NULL), 0);
  assert_null(tm_node_connect(&o, fd, fd, &err));
  assert_non_null(strstr(err.text, "cannot open the connection to node 3: "));
  assert_int_equal(fcntl(fd, F_GETFD), -1);
  tm_loop_release(&r.loop);
}

UNIT_TESTS({
    cmocka_unit_test(a_lost_stream_ends_links_after_what_waits),
    cmocka_unit_test(a_relay_of_another_version_is_refused),
    cmocka_unit_test(what_the_command_printed_is_noted),
    cmocka_unit_test(what_came_instead_of_a_preface_can_be_quoted),
    cmocka_unit_test(late_messages_are_dropped_and_counted),
    cmocka_unit_test(a_silent_node_is_lost),
    cmocka_unit_test(heartbeats_are_no_sign_of_the_keeper),
    cmocka_unit_test(a_worker_is_a_sign_of_life),
    cmocka_unit_test(a_node_is_not_judged_before_its_preface),
    cmocka_unit_test(a_stopped_supervisor_reads_first),
    cmocka_unit_test(a_close_that_waits_tells_nobody),
    cmocka_unit_test(a_connection_that_cannot_be_opened_is_an_error),
});
