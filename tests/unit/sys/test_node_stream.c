/* test_node_stream.c - a stream between a supervisor and a relay: its beginning and end, damage,
 * nudges, and many messages. */
#include "unit.h"

#include <signal.h>

#include "stream_rig.h"

static void what_was_sent_before_the_beginning_comes(void **state)
{
  for (int is_pipe = 0; is_pipe < 2; is_pipe++) {
    struct rig rig;
    open_both(&rig, is_pipe);
    send_bytes(&rig.supervisor, 3, 1, 10);
    send_bytes(&rig.relay, 66, 2, 245);
    assert_int_equal(tm_node_stream_pending_of(rig.supervisor.stream, 1), 42);
    assert_int_equal(tm_node_stream_pending_of(rig.supervisor.stream, 2), 0);
    assert_int_equal(tm_node_stream_pending(rig.relay.stream), 277);
    turn(&rig, 10);
    assert_int_equal(rig.relay.msgs, 1);
    assert_int_equal(rig.relay.last.type, 3);
    assert_int_equal(rig.relay.last.length, 10);
    assert_int_equal(rig.supervisor.msgs, 1);
    assert_int_equal(rig.supervisor.last.length, 245);
    assert_int_equal(tm_node_stream_pending(rig.supervisor.stream), 0);
    assert_int_equal(tm_node_stream_pending_of(rig.supervisor.stream, 1), 0);
    assert_int_equal(rig.supervisor.skipped_len + rig.relay.skipped_len, 0);
    tm_node_stream_close(rig.relay.stream);
    rig.relay.close_at = -1;
    turn(&rig, 10);
    assert_int_equal(rig.supervisor.ends, 1);
    assert_int_equal(rig.supervisor.code, 0);
    close_rig(&rig);
  }
}

static void some_consume(struct side *side, struct random *r)
{
  uint32_t w = (uint32_t)random_below(r, WORKERS);
  size_t n = side->unconsumed[w];
  if (n == 0)
    return;
  n = random_below(r, 3) == 0 ? random_below(r, n + 1) : n;
  side->unconsumed[w] -= n;
  tm_node_stream_consumed(side->stream, w, n);
}

static uint64_t total(const uint64_t *counts)
{
  uint64_t sum = 0;
  for (int i = 0; i <= WORKERS; i++)
    sum += counts[i];
  return sum;
}

/* A program that carries the bytes of both sides: it cuts them anywhere, and holds some of them. */
struct carrier {
  int fds[2]; /* to the supervisor, to the relay */
  struct tm_buf held[2];
};

static void carry(struct carrier *c, struct random *r)
{
  char bytes[40000];
  for (int i = 0; i < 2; i++) {
    size_t most = random_below(r, 3) == 0 ? sizeof bytes : 100;
    ssize_t n = read(c->fds[i], bytes, random_below(r, most) + 1);
    if (n > 0)
      tm_buf_add(&c->held[i], bytes, (size_t)n);
    n = write(c->fds[1 - i], c->held[i].data, random_below(r, c->held[i].len + 1));
    if (n > 0)
      tm_buf_remove_front(&c->held[i], (size_t)n);
  }
}

static void open_carrier(struct rig *rig, struct carrier *c)
{
  struct side *sides[] = { &rig->supervisor, &rig->relay };
  memset(c, 0, sizeof *c);
  init_rig(rig);
  for (int i = 0; i < 2; i++) {
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    open_side(rig, sides[i], fds[0], fds[0], HELLO);
    c->fds[i] = fds[1];
  }
}

static void send_and_consume(struct rig *rig, uint64_t seed, uint64_t count, struct carrier *c)
{
  struct random r = { seed };
  struct side *supervisor = &rig->supervisor, *relay = &rig->relay;
  while (total(supervisor->came) < count || total(relay->came) < count) {
    for (int i = 0; i < 2; i++) {
      struct side *side = i == 0 ? supervisor : relay;
      for (size_t n = random_below(&r, 60); n > 0 && total(side->sent) < count; n--)
        if (tm_node_stream_pending(side->stream) < 4u << 20)
          send_numbered(side, (uint32_t)random_below(&r, WORKERS + 1));
      for (size_t n = random_below(&r, 3 * WORKERS); n > 0; n--)
        some_consume(side, &r);
      if (random_below(&r, 10) == 0)
        tm_node_stream_flush(side->stream);
    }
    if (c != NULL)
      carry(c, &r);
    tm_loop_turn(&rig->loop);
  }
}

/* With TM_LONG ten times as many. */
static void all_messages_come_in_the_order_of_their_workers(void **state)
{
  const uint64_t count = getenv("TM_LONG") ? 40000 : 4000;
  for (int is_pipe = 0; is_pipe < 2; is_pipe++) {
    struct rig rig;
    open_both(&rig, is_pipe);
    rig.supervisor.is_numbered = rig.relay.is_numbered = true;
    rig.supervisor.holds = rig.relay.holds = true;
    send_and_consume(&rig, 5 + (uint64_t)is_pipe, count, NULL);
    assert_int_equal(rig.supervisor.msgs, count);
    assert_int_equal(rig.relay.msgs, count);
    assert_int_equal(rig.supervisor.ends + rig.relay.ends, 0);
    close_rig(&rig);
  }
}

static void all_messages_come_through_a_program_that_cuts_them(void **state)
{
  struct rig rig;
  struct carrier c;
  open_carrier(&rig, &c);
  rig.supervisor.is_numbered = rig.relay.is_numbered = true;
  rig.supervisor.holds = rig.relay.holds = true;
  send_and_consume(&rig, 7, 2000, &c);
  assert_int_equal(rig.supervisor.msgs, 2000);
  assert_int_equal(rig.relay.msgs, 2000);
  assert_int_equal(rig.supervisor.ends + rig.relay.ends, 0);
  close_rig(&rig);
  for (int i = 0; i < 2; i++) {
    close(c.fds[i]);
    tm_buf_release(&c.held[i]);
  }
}

static void text_before_the_preface_is_skipped(void **state)
{
  struct rig rig;
  struct tm_buf out = TM_BUF_NONE;
  open_one(&rig, true);
  for (int i = 0; i < 100; i++)
    tm_buf_add_str(&out, "Welcome\n");
  size_t len = out.len;
  answer(&rig, &out);
  tm_frame_add(&out, &(struct tm_msg) { .type = 66 });
  for (size_t i = 0; i < out.len; i++)
    put(&rig, out.data + i, 1);
  assert_int_equal(rig.supervisor.opens, 1);
  assert_int_equal(rig.supervisor.skipped_len, len);
  assert_memory_equal(rig.supervisor.skipped, out.data, 200);
  assert_int_equal(rig.supervisor.msgs, 1);
  tm_buf_release(&out);
  close_rig(&rig);
}

/* As from a terminal. */
static void an_echo_of_its_own_preface_is_text(void **state)
{
  struct rig rig;
  struct tm_buf out = TM_BUF_NONE;
  open_one(&rig, true);
  get(&rig, &out);
  put_buf(&rig, &out);
  assert_int_equal(rig.supervisor.opens, 0);
  size_t len;
  const char *foreign = tm_node_stream_foreign(rig.supervisor.stream, &len);
  assert_in_range(len, 16, 400);
  assert_memory_equal(foreign, "tidemill-stream ", 16);
  close(rig.fd);
  rig.fd = -1;
  turn(&rig, 3);
  assert_int_equal(rig.supervisor.code, TM_EPROTOCOL);
  assert_non_null(
      strstr(rig.supervisor.text, "before its first message, after: 'tidemill-stream 1"));
  tm_buf_release(&out);
  close_rig(&rig);
}

static void a_preface_that_never_comes_is_quoted(void **state)
{
  struct rig rig;
  struct tm_buf out = TM_BUF_NONE;
  open_one(&rig, true);
  tm_buf_add_str(&out, "srun: error\n");
  while (out.len < TM_STREAM_SKIP_MAX + 100)
    tm_buf_add_char(&out, '.');
  put(&rig, out.data, 60000);
  assert_int_equal(rig.supervisor.ends, 0);
  put(&rig, out.data + 60000, out.len - 60000);
  assert_int_equal(rig.supervisor.ends, 1);
  assert_int_equal(rig.supervisor.code, TM_EPROTOCOL);
  assert_non_null(strstr(rig.supervisor.text, "instead of a first message: 'srun: error\\n..."));
  assert_int_equal(rig.supervisor.opens, 0);
  tm_buf_release(&out);
  close_rig(&rig);
}

static void nothing_at_all_is_told_apart(void **state)
{
  struct rig rig;
  open_one(&rig, false);
  close(rig.fd);
  rig.fd = -1;
  turn(&rig, 3);
  assert_int_equal(rig.relay.code, TM_EPROTOCOL);
  assert_string_equal(rig.relay.text, "the stream ended before anything came");
  close_rig(&rig);
}

static void both_sides_tell_that_they_differ(void **state)
{
  struct rig rig;
  int fds[2];
  init_rig(&rig);
  assert_int_equal(tm_channel_pair(fds, NULL), 0);
  open_side(&rig, &rig.supervisor, fds[0], fds[0], "tidemill 1.1");
  open_side(&rig, &rig.relay, fds[1], fds[1], HELLO);
  turn(&rig, 10);
  assert_string_equal(rig.supervisor.text, "it runs 'tidemill 1.0', but this is 'tidemill 1.1'");
  assert_string_equal(rig.relay.text, "the job runs 'tidemill 1.1', but this is 'tidemill 1.0'");
  assert_int_equal(rig.supervisor.code, TM_EUSAGE);
  assert_int_equal(rig.relay.code, TM_EUSAGE);
  assert_int_equal(rig.supervisor.opens + rig.relay.opens, 0);
  size_t len;
  assert_null(tm_node_stream_foreign(rig.supervisor.stream, &len));
  close_rig(&rig);
}

/* Plays a relay that sends a message with these bytes changed, or cut. */
static void receive(struct rig *rig, size_t len, size_t bit)
{
  struct tm_buf out = TM_BUF_NONE;
  open_begun(rig);
  tm_frame_add(&out, &(struct tm_msg) { .type = 66, .length = 5, .payload = "he\nlo" });
  tm_buf_add_char(&out, '\n');
  if (bit < out.len * 8)
    out.data[bit / 8] ^= (char)(1 << bit % 8);
  put(rig, out.data, len < out.len ? len : out.len);
  tm_buf_release(&out);
  close(rig->fd);
  rig->fd = -1;
  turn(rig, 3);
  assert_int_equal(rig->supervisor.ends, 1);
}

#define SENT (TM_FRAME_EXTRA + 5 + 1)

static void a_damaged_byte_anywhere_ends_it(void **state)
{
  for (size_t bit = 0; bit < SENT * 8; bit++) {
    struct rig rig;
    bool is_frame = bit < (SENT - 1) * 8;
    receive(&rig, SENT, bit);
    assert_int_equal(rig.supervisor.code, TM_EPROTOCOL);
    assert_int_equal(rig.supervisor.msgs, is_frame ? 0 : 1);
    close_rig(&rig);
  }
}

static void an_end_within_a_frame_is_damage(void **state)
{
  for (size_t len = 0; len <= SENT; len++) {
    struct rig rig;
    bool is_within = len > 0 && len < SENT - 1;
    receive(&rig, len, SIZE_MAX);
    assert_int_equal(rig.supervisor.code, is_within ? TM_EPROTOCOL : 0);
    assert_int_equal(rig.supervisor.msgs, len >= SENT - 1);
    close_rig(&rig);
  }
}

/* The frames that the test has got since the last call: how many of this type, and in all. */
static int count_frames(struct rig *rig, uint32_t type, int *all)
{
  struct tm_buf in = TM_BUF_NONE;
  struct tm_msg f;
  size_t at = 0;
  int count = 0;
  *all = 0;
  get(rig, &in);
  while (tm_frame_next(&in, &at, &f, NULL) == 1) {
    count += f.type == type;
    ++*all;
  }
  assert_int_equal(at, in.len);
  tm_buf_release(&in);
  return count;
}

/* A relay that the test has answered as a supervisor. */
static void open_relay(struct rig *rig)
{
  struct tm_buf bytes = TM_BUF_NONE;
  open_one(rig, false);
  add_preface(&bytes, 0, HELLO);
  put_buf(rig, &bytes);
  assert_int_equal(rig->relay.opens, 1);
  tm_buf_clear(&bytes);
  get(rig, &bytes);
  tm_buf_release(&bytes);
}

static void a_relay_nudges_while_it_has_a_part_of_a_frame(void **state)
{
  struct rig rig;
  struct tm_buf out = TM_BUF_NONE;
  int all;
  open_relay(&rig);
  tm_frame_add(&out, &(struct tm_msg) { .type = 66, .length = 5, .payload = "hello" });
  put(&rig, out.data, out.len);
  put(&rig, "\n", 1);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 0);
  put(&rig, out.data, 3);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 1);
  put(&rig, out.data + 3, 4);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 1);
  put(&rig, out.data + 7, out.len - 7);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 0);
  assert_int_equal(rig.relay.msgs, 2);
  rig.relay.answers = true; /* the answer goes out instead */
  tm_buf_add(&out, "\x03\0", 2);
  put(&rig, out.data, out.len);
  assert_int_equal(count_frames(&rig, 3, &all), 1);
  assert_int_equal(all, 1);
  tm_buf_release(&out);
  close_rig(&rig);
}

/* So two of them do not go on for ever. */
static void a_relay_does_not_answer_a_nudge(void **state)
{
  struct rig rig;
  struct tm_buf out = TM_BUF_NONE;
  int all;
  open_relay(&rig);
  tm_frame_add(&out, &(struct tm_msg) { .type = TM_STREAM_NUDGE });
  put(&rig, out.data, out.len);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 0);
  assert_int_equal(all, 0);
  tm_buf_release(&out);
  close_rig(&rig);
}

static void a_supervisor_answers_all_that_comes(void **state)
{
  struct rig rig;
  struct tm_buf out = TM_BUF_NONE;
  int all;
  open_begun(&rig);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 1);
  tm_frame_add(&out, &(struct tm_msg) { .type = 66, .length = 5, .payload = "hello" });
  put(&rig, out.data, out.len);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 1);
  put(&rig, out.data, 3);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 1); /* not twice */
  put(&rig, out.data + 3, out.len - 3);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 1);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 0);
  rig.supervisor.answers = true; /* the answer goes out instead */
  put(&rig, out.data, out.len);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 0);
  assert_int_equal(all, 1);
  tm_buf_release(&out);
  close_rig(&rig);
}

static void no_nudge_is_sent_while_the_outbox_holds_bytes(void **state)
{
  struct rig rig;
  int all;
  open_begun(&rig);
  (void)count_frames(&rig, TM_STREAM_NUDGE, &all);
  while (tm_node_stream_pending(rig.supervisor.stream) == 0) {
    send_bytes(&rig.supervisor, 66, 1, 15000);
    turn(&rig, 2);
  }
  put(&rig, "\x05\0", 2);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 0);
  assert_true(all > 1);
  put(&rig, "\0", 1);
  assert_int_equal(count_frames(&rig, TM_STREAM_NUDGE, &all), 1);
  close_rig(&rig);
}

static void it_can_be_closed_within_its_calls(void **state)
{
  struct rig rig;
  open_both(&rig, true);
  rig.relay.close_at = 1; /* in on_open */
  send_bytes(&rig.supervisor, 3, 1, 10);
  turn(&rig, 10);
  assert_int_equal(rig.relay.msgs, 0);
  assert_int_equal(rig.supervisor.ends, 1);
  close_rig(&rig);

  open_both(&rig, false);
  turn(&rig, 10);
  rig.relay.close_at = 2; /* in on_msg, of several pieces */
  for (int i = 0; i < 3; i++)
    send_bytes(&rig.supervisor, 3, 1, 50000);
  turn(&rig, 10);
  assert_int_equal(rig.relay.msgs, 2);
  assert_int_equal(rig.relay.ends, 0);
  close_rig(&rig);
}

static void what_waits_is_written_at_the_close(void **state)
{
  struct rig rig;
  open_both(&rig, false);
  turn(&rig, 10);
  send_bytes(&rig.relay, 66, 1, 50000);
  tm_node_stream_close(rig.relay.stream);
  rig.relay.close_at = -1;
  turn(&rig, 10);
  assert_int_equal(rig.supervisor.msgs, 1);
  assert_int_equal(rig.supervisor.code, 0);
  assert_int_equal(rig.supervisor.ends, 1);
  send_bytes(&rig.supervisor, 66, 1, 5);
  assert_int_equal(tm_node_stream_pending(rig.supervisor.stream), 0);
  close_rig(&rig);
}

/* The other side's last message comes although it no longer reads. */
static void writing_to_the_dead_loses_no_last_message(void **state)
{
  struct rig rig;
  int there[2], back[2];
  struct tm_buf out = TM_BUF_NONE;
  init_rig(&rig);
  assert_int_equal(pipe2(there, O_CLOEXEC | O_NONBLOCK), 0);
  assert_int_equal(pipe2(back, O_CLOEXEC | O_NONBLOCK), 0);
  open_side(&rig, &rig.supervisor, back[0], there[1], HELLO);
  rig.fd = there[0];
  answer(&rig, &out);
  close(there[0]);
  rig.fd = back[1];
  put_buf(&rig, &out);
  send_bytes(&rig.supervisor, 66, 1, 5);
  turn(&rig, 3);
  send_bytes(&rig.supervisor, 3, 1, 5);
  assert_int_equal(tm_node_stream_pending(rig.supervisor.stream), 0);
  assert_int_equal(rig.supervisor.ends, 0);
  tm_frame_add(&out, &(struct tm_msg) { .type = 66 });
  put_buf(&rig, &out);
  assert_int_equal(rig.supervisor.msgs, 1);
  close(back[1]);
  rig.fd = -1;
  turn(&rig, 3);
  assert_int_equal(rig.supervisor.ends, 1);
  assert_int_equal(rig.supervisor.code, 0);
  tm_buf_release(&out);
  close_rig(&rig);
}

static void a_file_is_refused(void **state)
{
  struct rig rig;
  int fds[2];
  struct tm_err err = TM_ERR_NONE;
  init_rig(&rig);
  for (int is_out = 0; is_out < 2; is_out++) {
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    struct tm_node_stream_options o = { .loop = &rig.loop,
                                        .hello = HELLO,
                                        .on_open = on_open,
                                        .on_msg = on_msg,
                                        .on_end = on_end,
                                        .on_closed = on_closed,
                                        .data = &rig.relay,
                                        .in = is_out ? fds[0] : file,
                                        .out = is_out ? file : fds[1] };
    assert_null(tm_node_stream_open(&o, &err));
    assert_true(err.text[0] != '\0');
    close(is_out ? fds[1] : fds[0]);
    assert_int_equal(fcntl(file, F_GETFD), -1);
    assert_int_equal(fcntl(is_out ? fds[0] : fds[1], F_GETFD), -1);
  }
  tm_loop_release(&rig.loop);
  assert_int_equal(rig.relay.closed, 0);
}

static int ignore_sigpipe(void **state)
{
  signal(SIGPIPE, SIG_IGN);
  return 0;
}

UNIT_HOOKS(.limit_s = 120, .setup = ignore_sigpipe);
UNIT_TESTS({
    cmocka_unit_test(what_was_sent_before_the_beginning_comes),
    cmocka_unit_test(all_messages_come_in_the_order_of_their_workers),
    cmocka_unit_test(all_messages_come_through_a_program_that_cuts_them),
    cmocka_unit_test(text_before_the_preface_is_skipped),
    cmocka_unit_test(an_echo_of_its_own_preface_is_text),
    cmocka_unit_test(a_preface_that_never_comes_is_quoted),
    cmocka_unit_test(nothing_at_all_is_told_apart),
    cmocka_unit_test(both_sides_tell_that_they_differ),
    cmocka_unit_test(a_damaged_byte_anywhere_ends_it),
    cmocka_unit_test(an_end_within_a_frame_is_damage),
    cmocka_unit_test(a_relay_nudges_while_it_has_a_part_of_a_frame),
    cmocka_unit_test(a_relay_does_not_answer_a_nudge),
    cmocka_unit_test(a_supervisor_answers_all_that_comes),
    cmocka_unit_test(no_nudge_is_sent_while_the_outbox_holds_bytes),
    cmocka_unit_test(it_can_be_closed_within_its_calls),
    cmocka_unit_test(what_waits_is_written_at_the_close),
    cmocka_unit_test(writing_to_the_dead_loses_no_last_message),
    cmocka_unit_test(a_file_is_refused),
});
