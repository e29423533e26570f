/* test_stream_in.c - what a stream receives: long messages, and frames that nobody should send. */
#include "unit.h"

#include "stream_rig.h"

static void a_message_longer_than_the_credit_passes(void **state)
{
  struct rig rig;
  open_both(&rig, false);
  for (int i = 0; i < 3; i++) {
    send_bytes(&rig.supervisor, 3, 1, 5000000);
    send_bytes(&rig.relay, 3, (uint32_t)i, 5000000);
    send_bytes(&rig.relay, 70, 0, 5000000);
  }
  turn(&rig, 400);
  assert_int_equal(rig.relay.msgs, 3);
  assert_int_equal(rig.supervisor.msgs, 6);
  assert_int_equal(rig.relay.last.length, 5000000);
  close_rig(&rig);
}

static void a_hostile_relay_is_refused(void **state)
{
  static const struct {
    uint32_t type, length;
    uint64_t index;
  } bad[] = {
    { TM_STREAM_NUDGE, 1, 0 },  { TM_STREAM_NUDGE | TM_STREAM_MORE, 0, 0 },
    { TM_STREAM_CREDIT, 0, 1 }, { TM_STREAM_CREDIT, 0, UINT64_MAX },
    { TM_STREAM_CUT, 0, 0 },    { TM_STREAM_CUT + 1, 0, 0 },
    { 3 | TM_MSG_FD, 0, 0 },    { 3 | TM_STREAM_MORE, 0, 0 },
  };
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++) {
    struct rig rig;
    struct tm_buf out = TM_BUF_NONE;
    open_begun(&rig);
    tm_frame_add(&out, &(struct tm_msg) { .type = bad[i].type,
                                          .length = bad[i].length,
                                          .index = bad[i].index,
                                          .payload = "x" });
    put_buf(&rig, &out);
    assert_int_equal(rig.supervisor.code, TM_EPROTOCOL);
    assert_int_equal(rig.supervisor.msgs, 0);
    tm_buf_release(&out);
    close_rig(&rig);
  }
}

static void a_relay_that_ignores_its_credit_is_refused(void **state)
{
  struct rig rig;
  struct tm_buf out = TM_BUF_NONE;
  char *payload = tm_xcalloc(1, TM_STREAM_PIECE);
  open_begun(&rig);
  rig.supervisor.holds = true;
  for (uint32_t sent = 0; rig.supervisor.ends == 0; sent += TM_STREAM_PIECE) {
    assert_in_range(sent, 0, TM_STREAM_NODE_CREDIT);
    tm_frame_add(&out,
                 &(struct tm_msg) { .type = 3, .length = TM_STREAM_PIECE, .payload = payload });
    put_buf(&rig, &out);
  }
  assert_int_equal(rig.supervisor.code, TM_EPROTOCOL);
  assert_non_null(strstr(rig.supervisor.text, "credit"));
  free(payload);
  tm_buf_release(&out);
  close_rig(&rig);
}

UNIT_HOOKS(.limit_s = 60);
UNIT_TESTS({
    cmocka_unit_test(a_message_longer_than_the_credit_passes),
    cmocka_unit_test(a_hostile_relay_is_refused),
    cmocka_unit_test(a_relay_that_ignores_its_credit_is_refused),
});
