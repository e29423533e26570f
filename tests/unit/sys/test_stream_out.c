/* test_stream_out.c - what a stream sends first, what waits, and where it breaks lines. */
#include "unit.h"

#include "stream_rig.h"

/* Worker 1 has used up its credit: other workers, and control messages, pass. */
static void control_passes_when_the_credit_is_used_up(void **state)
{
  struct rig rig;
  open_both(&rig, false);
  rig.relay.holds = rig.supervisor.holds = true;
  for (int i = 0; i < 100; i++)
    send_bytes(&rig.supervisor, 3, 1, 10000);
  turn(&rig, 50);
  size_t came = rig.relay.unconsumed[1];
  assert_in_range(came, TM_STREAM_WORKER_CREDIT - 10032, TM_STREAM_WORKER_CREDIT);
  assert_int_equal(tm_node_stream_pending_of(rig.supervisor.stream, 1), 100 * 10032 - came);
  send_bytes(&rig.supervisor, 70, 1, 40000);
  send_bytes(&rig.supervisor, 3, 2, 10);
  turn(&rig, 10);
  assert_int_equal(rig.relay.last.worker, 2);
  assert_int_equal(rig.relay.unconsumed[1], came);
  assert_int_equal(rig.relay.msgs, came / 10032 + 2);
  tm_node_stream_consumed(rig.relay.stream, 1, came);
  turn(&rig, 50);
  assert_in_range(rig.relay.unconsumed[1], 2 * came - 10032, 2 * came + 10032);

  for (uint32_t i = 0; i < 300; i++)
    send_bytes(&rig.relay, 3, i % WORKERS, 10000);
  send_bytes(&rig.relay, 70, 1, 3);
  turn(&rig, 100);
  size_t all = 0;
  for (int i = 0; i < WORKERS; i++)
    all += rig.supervisor.unconsumed[i];
  assert_in_range(all, TM_STREAM_NODE_CREDIT - 10032, TM_STREAM_NODE_CREDIT);
  assert_int_equal(rig.supervisor.msgs, all / 10032 + 1);
  for (uint32_t i = 0; i < WORKERS; i++)
    assert_in_range(rig.supervisor.unconsumed[i], all / WORKERS - 10032, all / WORKERS + 10032);
  close_rig(&rig);
}

/* The test reads little, so that much waits for the descriptor; then a control message is sent. */
static void control_waits_behind_one_piece_at_most(void **state)
{
  struct rig rig;
  struct tm_buf in = TM_BUF_NONE;
  struct tm_msg f;
  size_t at = 0, before = 0, queued;
  int small = 8192;
  open_begun(&rig);
  assert_int_equal(setsockopt(rig.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  for (uint32_t w = 0; w < 20; w++)
    send_bytes(&rig.supervisor, 3, w, 200000);
  turn(&rig, 5);
  queued = tm_node_stream_pending(rig.supervisor.stream);
  assert_true(queued > 0);
  send_bytes(&rig.supervisor, 70, 0, 0);
  size_t in_kernel = 20 * 200032 - queued; /* at least */
  get(&rig, &in);
  while (tm_frame_next(&in, &at, &f, NULL) == 1 && f.type != 70)
    before = at;
  assert_int_equal(f.type, 70);
  assert_in_range(before, 1, in_kernel + 2 * TM_STREAM_PIECE);
  tm_buf_release(&in);
  close_rig(&rig);
}

static void what_is_forgotten_does_not_come(void **state)
{
  struct rig rig;
  open_both(&rig, false);
  rig.relay.holds = true;
  for (uint32_t w = 1; w <= 2; w++) {
    send_bytes(&rig.supervisor, 3, w, w == 1 ? 200000 : 100);
    send_bytes(&rig.supervisor, 3, w, 200000);
    send_bytes(&rig.supervisor, 3, w, 10);
  }
  turn(&rig, 30);
  assert_int_equal(rig.relay.came[1], 1); /* and a piece of the second one */
  assert_in_range(tm_node_stream_pending_of(rig.supervisor.stream, 1), 1, 199999);
  tm_node_stream_forget(rig.supervisor.stream, 1);
  tm_node_stream_forget(rig.supervisor.stream, 3);
  assert_int_equal(tm_node_stream_pending_of(rig.supervisor.stream, 1), 0);
  turn(&rig, 10);
  assert_int_equal(tm_node_stream_pending(rig.supervisor.stream), 0);
  assert_int_equal(rig.relay.came[2], 3);
  tm_node_stream_consumed(rig.relay.stream, 1, rig.relay.unconsumed[1]);
  for (uint64_t i = 0; i < 6; i++) { /* the credit of the dropped pieces has come back, too */
    send_bytes(&rig.supervisor, 3, 1, 40000);
    turn(&rig, 10);
    assert_int_equal(rig.relay.came[1], 2 + i);
    assert_int_equal(rig.relay.last.length, 40000);
  }
  assert_int_equal(rig.relay.ends + rig.supervisor.ends, 0);
  close_rig(&rig);
}

/* Of 2000 messages with line breaks, which take several writes. */
static void one_line_break_ends_each_flush(void **state)
{
  struct rig rig;
  struct tm_buf in = TM_BUF_NONE;
  open_begun(&rig);
  get(&rig, &in); /* its answer to the preface */
  for (int flush = 0; flush < 3; flush++) {
    for (uint32_t i = 0; i < 2000; i++)
      tm_node_stream_send(rig.supervisor.stream,
                          &(struct tm_msg) { .type = 3 + i % 2 * 66,
                                             .worker = i % 10,
                                             .length = 10,
                                             .payload = "\n\na\n\n\nbc\n\n" });
    tm_buf_clear(&in);
    get(&rig, &in);
    assert_ptr_equal(memchr(in.data, '\n', in.len), in.data + in.len - 1);
  }
  tm_buf_release(&in);
  close_rig(&rig);
}

UNIT_HOOKS(.limit_s = 60);
UNIT_TESTS({
    cmocka_unit_test(control_passes_when_the_credit_is_used_up),
    cmocka_unit_test(control_waits_behind_one_piece_at_most),
    cmocka_unit_test(what_is_forgotten_does_not_come),
    cmocka_unit_test(one_line_break_ends_each_flush),
});
