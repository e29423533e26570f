/* What the keeper of a node may say, and how its workers live: over a stream (node_rig.h); some
 * cases also with a keeper that is a child (job_keeper.h). */
#include "unit.h"

#include "fleet/node_rig.h"
#include "sys/process.h"

/* The parameter of the cases that run for both kinds of node. */
static const bool local = false, over_stream = true;

/* ---- what a keeper may say ---- */

static void setup_mode(struct rig *r, bool is_stream, const char *mode)
{
  struct tm_node_options o = options_of(r);
  char *self = tm_process_program();
  if (is_stream) {
    setup(r);
    r->mode = mode;
  } else {
    memset(r, 0, sizeof(*r));
    r->closes_when_lost = true;
    assert_int_equal(tm_loop_init(&r->loop, NULL), 0);
    o.program = self;
    setenv("TM_TEST_KEEPER", mode, 1);
    r->node = tm_node_start(&o, NULL);
    unsetenv("TM_TEST_KEEPER");
    assert_non_null(r->node);
    add_step(r);
  }
  free(self);
}

static void an_impossible_message_loses_the_node(void **state)
{
  static const struct {
    const char *mode, *text;
  } cases[] = {
    { "version", "the keeper of the workers has another version of tidemill;" },
    { "early", "the keeper of the workers did not say its version;" },
    { "type", "the keeper of the workers sent an impossible message;" },
    { "stranger", "the keeper of the workers sent an impossible message;" },
    { "ended", "the keeper of the workers sent an impossible message;" },
    { "taken", "the keeper of the workers sent an impossible message;" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct rig r;
    setup_mode(&r, *(bool *)*state, cases[i].mode);
    start_worker(&r, 0);
    await_lost(&r, cases[i].text);
    release(&r);
  }
}

static void a_worker_that_cannot_be_started_is_reported(void **state)
{
  struct rig r;
  setup_mode(&r, *(bool *)*state, "failed");
  start_worker(&r, 0);
  await_order(&r, "failed 10: no such machine;");
  assert_int_equal(r.lost.len, 0);
  release(&r);
}

static void started_twice(struct rig *r)
{
  tell_started(r, 0);
}

static void ended_of_another(struct rig *r)
{
  tell_ended(r, 1);
}

static void taken_unasked(struct rig *r)
{
  tell(r, TM_MSG_TAKEN, 0, "", 0);
}

static void closed_of_another(struct rig *r)
{
  tell_closed(r, 1, 0);
}

static void closed_without_a_code(struct rig *r)
{
  tell(r, TM_MSG_CLOSED, 0, "", 0);
}

static void message_of_another(struct rig *r)
{
  tell_text(r, 1, 1, "x");
}

static void message_of_none(struct rig *r)
{
  tell_text(r, 1, UINT32_MAX, "x");
}

static void pid_cut_off(struct rig *r)
{
  start_worker(r, 1);
  r->mode = "deaf";
  tell(r, TM_MSG_STARTED, 1, "", 0);
}

static void launched_unasked(struct rig *r)
{
  tell(r, TM_MSG_LAUNCHED, 0, "\1\0\0\0\0\0\0\0\0\0\0", 12);
}

static void adopted_unasked(struct rig *r)
{
  tell(r, TM_MSG_ADOPTED, 0, "", 0);
}

static void launch_ended_unasked(struct rig *r)
{
  tell(r, TM_MSG_LAUNCH_ENDED, 0, "", 0);
}

static void an_impossible_message_about_a_worker_loses_the_node(void **state)
{
  static void (*const cases[])(struct rig *) = {
    started_twice,         ended_of_another,     taken_unasked,   closed_of_another,
    closed_without_a_code, message_of_another,   message_of_none, pid_cut_off,
    launched_unasked,      launch_ended_unasked, adopted_unasked
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct rig r;
    setup_worker(&r);
    cases[i](&r);
    await_lost(&r, "the keeper of the workers sent an impossible message;");
    release(&r);
  }
}

/* ---- workers ---- */

static void workers_live_and_end(void **state)
{
  struct tm_msg f = { .type = 7, .worker = 99, .payload = "x", .length = 1, .fd = -1 };
  uint64_t seq = 1;
  struct rig r;
  setup_worker(&r);
  assert_string_equal(tm_node_address(r.node), "far");
  start_worker(&r, 1);
  await_order(&r, "started 11;");
  tell_text(&r, 1, 1, "a");
  tell_text(&r, 1, 1, "b");
  await_order(&r, "11:a;11:b;");
  tm_worker_link_send(r.workers[1].link, &f);
  tm_node_take_back(r.node, 0, &seq, 1);
  tm_node_stopping(r.node, 1);
  tm_node_kill(r.node, 0);
  while (r.heard.len < strlen("68 to 0;69 to 1;70 to 0;7 to 1;"))
    turn(&r);
  assert_string_equal(tm_buf_str(&r.heard), "68 to 0;69 to 1;70 to 0;7 to 1;");
  tell(&r, TM_MSG_TAKEN, 0, "", 0);
  await_order(&r, "taken 10: 0;");
  tell_closed(&r, 1, TM_EPROTOCOL);
  tell_closed(&r, 1, 0);
  tell_ended(&r, 1);
  tell_ended(&r, 0);
  await_order(&r, "11 end -10007;ended 11;10 end 0;ended 10;");
  assert_int_equal(r.lost.len, 0);
  release(&r);
}

/* As while a large result is copied: the end of the worker comes before its messages. */
static void what_waits_comes_before_the_end(void **state)
{
  struct rig r;
  setup(&r);
  r.is_held = true;
  start_worker(&r, 0);
  await_order(&r, "started 10;");
  tell_text(&r, 1, 0, "a");
  tell_text(&r, 1, 0, "b");
  while (tm_node_stream_pending(r.relay) > 0)
    turn(&r);
  tell_ended(&r, 0);
  await_order(&r, "ended 10;");
  tm_worker_link_hold(r.workers[0].link, false);
  await_order(&r, "10:a;10:b;10 end 0;");
  release(&r);
}

static void large_messages_of_several_workers_arrive(void **state)
{
  size_t len = 1 << 20;
  char *bytes = tm_xcalloc(1, len);
  struct rig r;
  setup(&r);
  for (uint32_t i = 0; i < WORKERS; i++)
    start_worker(&r, i);
  await_order(&r, "started 10;started 11;started 12;started 13;");
  for (uint32_t i = 0; i < WORKERS * 3; i++)
    tell(&r, 1, i % WORKERS, bytes, len);
  while (r.order.len < WORKERS * 3 * strlen("10:;"))
    turn(&r);
  assert_int_equal(r.lost.len, 0);
  release(&r);
  free(bytes);
}

static int serve(int argc, char **argv)
{
  return job_keeper();
}

#define BOTH(f)                                                                                    \
  { #f " (local)", f, NULL, NULL, (void *)&local },                                                \
  {                                                                                                \
#f " (stream)", f, NULL, NULL, (void *)&over_stream                                            \
  }

UNIT_HOOKS(.serve = serve);
UNIT_TESTS({
    BOTH(an_impossible_message_loses_the_node),
    BOTH(a_worker_that_cannot_be_started_is_reported),
    cmocka_unit_test(an_impossible_message_about_a_worker_loses_the_node),
    cmocka_unit_test(workers_live_and_end),
    cmocka_unit_test(what_waits_comes_before_the_end),
    cmocka_unit_test(large_messages_of_several_workers_arrive),
});
