/* test_stream_heartbeats.c - the heartbeats of a stream: when they are sent, what they pass, and
 * what both sides learn. */
#include "unit.h"

#include <signal.h>

#include "base/time.h"
#include "stream_rig.h"
#include "sys/clock.h"
#include "sys/messages/heartbeat.h"

static void both_sides_learn_the_round_trip(void **state)
{
  for (int is_pipe = 0; is_pipe < 2; is_pipe++) {
    struct rig rig;
    init_rig(&rig);
    rig.timeout_ns = 10 * TM_MS;
    open_ends(&rig, is_pipe);
    struct tm_node_stream *streams[] = { rig.supervisor.stream, rig.relay.stream };
    assert_int_equal(tm_node_stream_timeout_ns(streams[1]), 0);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(tm_node_stream_round_trip_ns(streams[i]), 0);
      assert_int_equal(tm_node_stream_clock_offset_ns(streams[i]), 0);
    }
    while (tm_node_stream_round_trip_ns(streams[0]) == 0 ||
           tm_node_stream_round_trip_ns(streams[1]) == 0)
      turn(&rig, 1);
    for (int i = 0; i < 2; i++) { /* it is the same clock */
      int64_t most = tm_node_stream_round_trip_ns(streams[i]) + TM_S;
      assert_in_range(tm_node_stream_clock_offset_ns(streams[i]) + most, 0, 2 * most);
      assert_int_equal(tm_node_stream_timeout_ns(streams[i]), 10 * TM_MS);
    }
    assert_int_equal(rig.supervisor.msgs + rig.relay.msgs, 0);
    assert_int_equal(rig.supervisor.ends + rig.relay.ends, 0);
    close_rig(&rig);
  }
}

/* answer() expects nothing but the preface. */
static void the_first_one_follows_the_preface_at_once(void **state)
{
  struct rig rig;
  struct tm_buf bytes = TM_BUF_NONE;
  struct tm_msg f;
  size_t at = 0;
  init_rig(&rig);
  rig.timeout_ns = 3600 * TM_S;
  open_end(&rig, true);
  send_bytes(&rig.supervisor, 66, 0, 10);
  turn(&rig, 10);
  answer(&rig, &bytes);
  put_buf(&rig, &bytes);
  get(&rig, &bytes);
  assert_int_equal(tm_frame_next(&bytes, &at, &f, NULL), 1);
  assert_int_equal(f.type, TM_STREAM_HEARTBEAT);
  assert_int_equal(tm_frame_next(&bytes, &at, &f, NULL), 1);
  assert_int_equal(f.type, 66);
  assert_int_equal(at + 1, bytes.len);
  assert_int_equal(bytes.data[at], '\n');
  tm_buf_release(&bytes);
  close_rig(&rig);
}

static void none_is_sent_without_a_timeout(void **state)
{
  struct rig rig;
  struct tm_buf bytes = TM_BUF_NONE;
  open_begun(&rig);
  get(&rig, &bytes); /* its answer to the preface */
  tm_buf_clear(&bytes);
  turn(&rig, 10);
  get(&rig, &bytes);
  assert_int_equal(bytes.len, 0);
  close_rig(&rig);
  open_one(&rig, false);
  add_preface(&bytes, 0, HELLO);
  put_buf(&rig, &bytes);
  get(&rig, &bytes);
  assert_ptr_equal(memchr(bytes.data, '\n', bytes.len), bytes.data + bytes.len - 1);
  tm_buf_release(&bytes);
  close_rig(&rig);
}

static void add_beat(struct tm_buf *out, struct tm_heartbeat *h)
{
  char bytes[TM_HEARTBEAT_LEN];
  tm_heartbeat_make(h, tm_clock_mono_ns(), tm_clock_wall_ns(), bytes);
  tm_frame_add(out, &(struct tm_msg) {
                        .type = TM_STREAM_HEARTBEAT, .length = sizeof bytes, .payload = bytes });
}

/* A relay whose supervisor is the test: the prefaces were exchanged. */
static void open_relay(struct rig *rig)
{
  struct tm_buf bytes = TM_BUF_NONE;
  open_one(rig, false);
  add_preface(&bytes, 0, HELLO);
  put_buf(rig, &bytes);
  get(rig, &bytes);
  assert_int_equal(rig->relay.opens, 1);
  tm_buf_release(&bytes);
}

/* Reads frames, and answers the heartbeat with `h`; returns the bytes of messages after it. */
static size_t get_behind_beat(struct rig *rig, struct tm_heartbeat *h)
{
  struct tm_buf in = TM_BUF_NONE;
  struct tm_msg f;
  size_t at = 0, behind = 0;
  int beats = 0;
  get(rig, &in);
  while (tm_frame_next(&in, &at, &f, NULL) == 1) {
    behind += beats > 0 ? f.length : 0;
    if (f.type != TM_STREAM_HEARTBEAT)
      continue;
    beats++;
    assert_true(tm_heartbeat_take(h, f.payload, f.length, tm_clock_mono_ns(), tm_clock_wall_ns()));
  }
  assert_int_equal(at, in.len);
  assert_int_equal(beats, 1);
  tm_buf_release(&in);
  return behind;
}

/* A long control message waits, or the messages of a worker. */
static void it_passes_a_queue_that_is_full(void **state)
{
  for (int is_control = 0; is_control < 2; is_control++) {
    enum { LENGTH = 1000000, PIECES = 3 * TM_STREAM_PIECE };
    struct rig rig;
    struct tm_heartbeat h;
    struct tm_buf bytes = TM_BUF_NONE;
    open_relay(&rig);
    tm_heartbeat_init(&h, true, 3600 * TM_S);
    send_bytes(&rig.relay, is_control ? 66 : 3, 1, LENGTH);
    turn(&rig, 3);
    size_t waiting = tm_node_stream_pending(rig.relay.stream);
    assert_in_range(waiting, LENGTH / 2, LENGTH + PIECES); /* else the socket has taken it */
    add_beat(&bytes, &h);
    put_buf(&rig, &bytes);
    assert_in_range(get_behind_beat(&rig, &h), waiting - PIECES, waiting);
    assert_true(tm_heartbeat_round_trip_ns(&h) > 0);
    assert_int_equal(tm_node_stream_timeout_ns(rig.relay.stream), 3600 * TM_S);
    tm_buf_release(&bytes);
    close_rig(&rig);
  }
}

/* Its bytes are right; the frame is changed. */
static void receive_beat(struct rig *rig, uint32_t type, size_t length)
{
  struct tm_heartbeat h;
  char bytes[TM_HEARTBEAT_LEN + 1] = { 0 };
  struct tm_buf out = TM_BUF_NONE;
  open_relay(rig);
  tm_heartbeat_init(&h, true, 3600 * TM_S);
  tm_heartbeat_make(&h, tm_clock_mono_ns(), tm_clock_wall_ns(), bytes);
  tm_frame_add(&out,
               &(struct tm_msg) { .type = type, .length = (uint32_t)length, .payload = bytes });
  put_buf(rig, &out);
  tm_buf_release(&out);
}

static void expect_refused(struct side *side)
{
  assert_int_equal(side->ends, 1);
  assert_int_equal(side->code, TM_EPROTOCOL);
  assert_string_equal(side->text, "a message of the stream itself is wrong");
}

static void one_that_is_wrong_ends_the_stream(void **state)
{
  static const size_t lengths[] = { 0, TM_HEARTBEAT_LEN - 1, TM_HEARTBEAT_LEN + 1 };
  struct rig rig;
  for (int i = 0; i < 3; i++) {
    receive_beat(&rig, TM_STREAM_HEARTBEAT, lengths[i]);
    expect_refused(&rig.relay);
    close_rig(&rig);
  }
  receive_beat(&rig, TM_STREAM_HEARTBEAT | TM_STREAM_MORE, TM_HEARTBEAT_LEN);
  expect_refused(&rig.relay);
  close_rig(&rig);
  receive_beat(&rig, TM_STREAM_HEARTBEAT, TM_HEARTBEAT_LEN);
  assert_int_equal(rig.relay.ends, 0);
  close_rig(&rig);
}

static void a_supervisor_takes_no_timeout_from_the_other_side(void **state)
{
  struct rig rig;
  struct tm_heartbeat h;
  struct tm_buf out = TM_BUF_NONE;
  open_begun(&rig);
  tm_heartbeat_init(&h, true, TM_S);
  add_beat(&out, &h);
  put_buf(&rig, &out);
  expect_refused(&rig.supervisor);
  tm_buf_release(&out);
  close_rig(&rig);
}

static int ignore_sigpipe(void **state)
{
  signal(SIGPIPE, SIG_IGN);
  return 0;
}

UNIT_HOOKS(.limit_s = 120, .setup = ignore_sigpipe);
UNIT_TESTS({
    cmocka_unit_test(both_sides_learn_the_round_trip),
    cmocka_unit_test(the_first_one_follows_the_preface_at_once),
    cmocka_unit_test(none_is_sent_without_a_timeout),
    cmocka_unit_test(it_passes_a_queue_that_is_full),
    cmocka_unit_test(one_that_is_wrong_ends_the_stream),
    cmocka_unit_test(a_supervisor_takes_no_timeout_from_the_other_side),
});
