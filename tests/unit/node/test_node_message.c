/* test_node_message.c - frames between supervisor and keeper: decoding returns what was encoded,
 * and refuses cut bytes. */
#include "unit.h"

#include "base/mem.h"
#include "base/time.h"
#include "node/msg_strings.h"
#include "node/node_msg.h"
#include "sys/messages/stream_frames.h"

static void make_step(struct tm_buf *out)
{
  static char *argv[] = { (char *)"/bin/tidemill", (char *)"worker", NULL };
  static char *env[] = { (char *)"A=1", (char *)"B=\xff\xfe", (char *)"C=", NULL };
  struct tm_node_step s = { .node_id = (char *)"0",
                            .job_dir = (char *)"/j\xffob",
                            .logs_dir = (char *)"/l",
                            .cwd = (char *)"/c",
                            .temp_base = (char *)"/t",
                            .memory_base = (char *)"/m",
                            .worker_argv = argv,
                            .worker_argv_len = 2,
                            .environment = env,
                            .environment_len = 3,
                            .run_timeout_ns = 60 * TM_S,
                            .log_level = TM_WARNING,
                            .measures_launches = true,
                            .incarnation = { 0xfedcba9876543210, 7, 9 } };
  tm_node_step_encode(out, &s);
}

static void a_step_is_decoded_unchanged(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_node_step s;
  make_step(&b);
  assert_int_equal(tm_node_step_decode(&s, b.data, b.len, NULL), 0);
  assert_string_equal(s.node_id, "0");
  assert_string_equal(s.job_dir, "/j\xffob"); /* a path need not be UTF-8 */
  assert_string_equal(s.temp_base, "/t");
  assert_string_equal(s.memory_base, "/m");
  assert_int_equal(s.worker_argv_len, 2);
  assert_string_equal(s.worker_argv[1], "worker");
  assert_null(s.worker_argv[2]);
  assert_int_equal(s.environment_len, 3);
  assert_string_equal(s.environment[1], "B=\xff\xfe");
  assert_null(s.environment[3]);
  assert_int_equal(s.run_timeout_ns, 60 * TM_S);
  assert_int_equal(s.log_level, TM_WARNING);
  assert_true(s.measures_launches);
  assert_int_equal(s.incarnation.epoch, 0xfedcba9876543210);
  assert_int_equal(s.incarnation.node, 7);
  assert_int_equal(s.incarnation.number, 9);
  tm_node_step_release(&s);
  tm_buf_release(&b);
}

static void a_cut_step_is_refused(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_node_step s;
  struct tm_err err = TM_ERR_NONE;
  make_step(&b);
  for (size_t n = 0; n < b.len; n++)
    assert_int_equal(tm_node_step_decode(&s, b.data, n, &err), TM_EPROTOCOL);
  tm_buf_add_char(&b, 'x');
  assert_int_equal(tm_node_step_decode(&s, b.data, b.len, &err), TM_EPROTOCOL);
  tm_buf_release(&b);
}

/* Replaces each byte of a good frame in turn: decoding refuses or accepts it, and reads nothing
 * beyond the end. */
static void a_damaged_step_does_no_harm(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_node_step s;
  make_step(&b);
  for (size_t i = 0; i < b.len; i++) {
    char *copy =
        tm_xmalloc(b.len); /* a buffer of exact size, so that a sanitizer sees a read beyond it */
    memcpy(copy, b.data, b.len);
    copy[i] = (char)0xff;
    if (tm_node_step_decode(&s, copy, b.len, NULL) == 0)
      tm_node_step_release(&s);
    free(copy);
  }
  tm_buf_release(&b);
}

static void a_list_longer_than_its_bytes_is_refused(void **state)
{
  struct tm_reader r;
  char bytes[8], **list;
  size_t len;
  tm_put_u32(bytes, 0xffffffff);
  tm_put_u32(bytes + 4, 0);
  tm_reader_init(&r, bytes, sizeof bytes);
  tm_msg_read_list(&r, &list, &len);
  assert_true(r.bad);
  assert_int_equal(len, 0);
  tm_msg_release_list(list, len);
}

static void a_string_with_nul_is_refused(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_reader r;
  tm_buf_add_bytes32(&b, "a\0b", 3);
  tm_reader_init(&r, b.data, b.len);
  char *s = tm_msg_read_str(&r);
  assert_true(r.bad);
  assert_string_equal(s, "");
  free(s);
  tm_buf_release(&b);
}

static void make_ended(struct tm_ended *e)
{
  *e = (struct tm_ended) { .cause = TM_END_SIGNAL,
                           .pid = 77,
                           .exit_status = -1,
                           .signal = 9,
                           .lived_ns = 5 * TM_S,
                           .max_rss_kb = 1 << 20,
                           .memory = TM_KILL_LOGGED,
                           .was_frozen = true,
                           .own_kb = 300 << 10,
                           .mapped_kb = 700 << 10,
                           .memory_limit_kb = 256 << 10,
                           .last_line = "the end",
                           .phase_ns = 1200 * TM_MS,
                           .view = { .phase = TM_PHASE_RUN,
                                     .since_ns = 99,
                                     .begun_wall_ns = 1234567,
                                     .seq = 7,
                                     .index = UINT64_MAX,
                                     .try = 2,
                                     .rows = 9 } };
  e->states = (struct tm_page_states) { .last = UINT64_MAX, .has_begun = true };
  memset(e->states.bits, 0xA5, sizeof e->states.bits);
}

static void an_end_is_decoded_unchanged(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_ended e, d;
  make_ended(&e);
  tm_ended_encode(&b, &e);
  assert_int_equal(tm_ended_decode(&d, b.data, b.len, NULL), 0);
  assert_int_equal(d.cause, e.cause);
  assert_int_equal(d.pid, 77);
  assert_int_equal(d.exit_status, -1);
  assert_int_equal(d.signal, 9);
  assert_int_equal(d.lived_ns, e.lived_ns);
  assert_int_equal(d.max_rss_kb, e.max_rss_kb);
  assert_int_equal(d.memory, TM_KILL_LOGGED);
  assert_true(d.was_frozen);
  assert_int_equal(d.own_kb, 300 << 10);
  assert_int_equal(d.mapped_kb, 700 << 10);
  assert_int_equal(d.memory_limit_kb, 256 << 10);
  assert_string_equal(d.last_line, "the end");
  assert_int_equal(d.view.phase, TM_PHASE_RUN);
  assert_int_equal(d.view.begun_wall_ns, 1234567);
  assert_int_equal(d.view.seq, 7);
  assert_int_equal(d.view.index, UINT64_MAX);
  assert_int_equal(d.view.try, 2);
  assert_int_equal(d.view.rows, 9);
  assert_int_equal(d.phase_ns, e.phase_ns);
  assert_true(d.states.last == UINT64_MAX && d.states.has_begun);
  assert_memory_equal(d.states.bits, e.states.bits, sizeof e.states.bits);
  for (size_t n = 0; n < b.len; n += 3)
    assert_int_equal(tm_ended_decode(&d, b.data, n, NULL), TM_EPROTOCOL);
  tm_put_u32(b.data, TM_END_KILLED + 1);
  assert_int_equal(tm_ended_decode(&d, b.data, b.len, NULL), TM_EPROTOCOL);
  tm_buf_release(&b);
}

/* With the longest text. A longer message would wait for an acknowledgement (node_stream.h). */
static void an_end_fits_into_1024_bytes(void **state)
{
  struct tm_buf b = TM_BUF_NONE, frame = TM_BUF_NONE;
  struct tm_ended e;
  make_ended(&e);
  memset(e.last_line, 'x', TM_LAST_LINE_MAX);
  e.last_line[TM_LAST_LINE_MAX] = '\0';
  tm_ended_encode(&b, &e);
  struct tm_msg f = { .type = TM_MSG_ENDED, .payload = b.data, .length = (uint32_t)b.len };
  tm_frame_add(&frame, &f);
  assert_true(frame.len <= 1024);
  tm_buf_release(&frame);
  tm_buf_release(&b);
}

static void make_launch(struct tm_buf *out)
{
  char *argv[] = { (char *)"ssh", (char *)"", (char *)"a\nb", NULL };
  char *without[] = { (char *)"TMPDIR", (char *)"A", NULL };
  struct tm_launch l = { .argv = argv,
                         .stderr_path = "/logs/ssh.txt",
                         .cwd = "/work",
                         .without = without,
                         .is_kept = true };
  tm_node_launch_encode(out, &l, TM_LAUNCH_END_NS);
}

static void a_launch_is_decoded_unchanged(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_launch l;
  int64_t end_ns;
  make_launch(&b);
  assert_int_equal(tm_node_launch_decode(&l, &end_ns, b.data, b.len, NULL), 0);
  assert_string_equal(l.argv[0], "ssh");
  assert_string_equal(l.argv[1], "");
  assert_string_equal(l.argv[2], "a\nb");
  assert_null(l.argv[3]);
  assert_string_equal(l.stderr_path, "/logs/ssh.txt");
  assert_string_equal(l.cwd, "/work");
  assert_string_equal(l.without[0], "TMPDIR");
  assert_string_equal(l.without[1], "A");
  assert_null(l.without[2]);
  assert_true(l.is_kept);
  assert_int_equal(end_ns, TM_LAUNCH_END_NS);
  tm_node_launch_release(&l);
  tm_buf_release(&b);
}

static void a_damaged_launch_is_refused(void **state)
{
  struct tm_buf b = TM_BUF_NONE, none = TM_BUF_NONE;
  struct tm_launch l;
  int64_t end_ns;
  make_launch(&b);
  for (size_t n = 0; n < b.len; n++)
    assert_int_equal(tm_node_launch_decode(&l, &end_ns, b.data, n, NULL), TM_EPROTOCOL);
  b.data[b.len - 1] = (char)0x80; /* the time is negative */
  assert_int_equal(tm_node_launch_decode(&l, &end_ns, b.data, b.len, NULL), TM_EPROTOCOL);
  b.data[b.len - 1] = 0;
  b.data[b.len - 12] = 2; /* neither kept nor not */
  assert_int_equal(tm_node_launch_decode(&l, &end_ns, b.data, b.len, NULL), TM_EPROTOCOL);
  b.data[b.len - 12] = 1;
  tm_buf_add_char(&b, 'x');
  assert_int_equal(tm_node_launch_decode(&l, &end_ns, b.data, b.len, NULL), TM_EPROTOCOL);
  tm_buf_add_u32(&none, 0); /* no program */
  tm_buf_add_u32(&none, 0);
  tm_buf_add_u32(&none, 0);
  tm_buf_add_u32(&none, 0);
  tm_buf_add_u32(&none, 0);
  tm_buf_add_u64(&none, 0);
  assert_int_equal(tm_node_launch_decode(&l, &end_ns, none.data, none.len, NULL), TM_EPROTOCOL);
  tm_buf_release(&b);
  tm_buf_release(&none);
}

static void the_end_of_a_launch_is_decoded_unchanged(void **state)
{
  struct tm_launch_ended e = {
    .is_unknown = true, .exit_status = 255, .signal = 9, .lived_ns = 1LL << 40
  };
  struct tm_launch_ended d;
  struct tm_buf b = TM_BUF_NONE;
  memset(e.last_line, 'x', TM_LAST_LINE_MAX);
  tm_launch_ended_encode(&b, &e);
  assert_int_equal(tm_launch_ended_decode(&d, b.data, b.len, NULL), 0);
  assert_true(d.is_unknown);
  assert_int_equal(d.exit_status, 255);
  assert_int_equal(d.signal, 9);
  assert_int_equal(d.lived_ns, 1LL << 40);
  assert_string_equal(d.last_line, e.last_line);
  for (size_t n = 0; n < b.len; n++)
    assert_int_equal(tm_launch_ended_decode(&d, b.data, n, NULL), TM_EPROTOCOL);
  tm_put_u32(b.data + 20, TM_LAST_LINE_MAX + 1); /* a line that is too long */
  tm_buf_add_char(&b, 'x');
  assert_int_equal(tm_launch_ended_decode(&d, b.data, b.len, NULL), TM_EPROTOCOL);
  tm_buf_release(&b);
}

static void a_launched_process_is_decoded_unchanged(void **state)
{
  struct tm_launched_process p = {
    .pid = 17, .born = UINT64_MAX, .keeper = 3, .launch = 9, .started_ns = 1LL << 40
  };
  struct tm_launched_process d;
  struct tm_buf b = TM_BUF_NONE;
  char *path;
  int64_t end_ns;
  tm_launched_process_encode(&b, &p, "/logs/1.txt", INT64_MAX);
  assert_int_equal(tm_launched_process_decode(&d, &path, &end_ns, b.data, b.len, NULL), 0);
  assert_int_equal(d.pid, 17);
  assert_true(d.born == UINT64_MAX && d.keeper == 3 && d.launch == 9);
  assert_true(d.started_ns == 1LL << 40 && end_ns == INT64_MAX);
  assert_string_equal(path, "/logs/1.txt");
  free(path);
  for (size_t n = 0; n < b.len; n++)
    assert_int_equal(tm_launched_process_decode(&d, &path, &end_ns, b.data, n, NULL), TM_EPROTOCOL);
  b.data[3] = (char)0x80; /* no number of a process */
  assert_int_equal(tm_launched_process_decode(&d, &path, &end_ns, b.data, b.len, NULL),
                   TM_EPROTOCOL);
  tm_buf_release(&b);
}

static void expect_words(enum tm_end_cause cause, enum tm_phase phase, const char *words)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_ended e;
  make_ended(&e);
  e.cause = cause;
  e.exit_status = 3;
  e.view.phase = phase;
  e.memory = TM_KILL_OTHER;
  e.was_frozen = false;
  e.last_line[0] = '\0';
  tm_ended_describe(&b, &e);
  assert_string_equal(tm_buf_str(&b), words);
  tm_buf_release(&b);
}

static void an_end_is_described_in_one_line(void **state)
{
  expect_words(TM_END_SIGNAL, TM_PHASE_RUN,
               "killed by signal 9 (Killed) in run() after 1.20 s; at most 1024 MB resident");
  expect_words(TM_END_EXITED, TM_PHASE_INIT,
               "exited with status 3 in init() after 1.20 s; at most 1024 MB resident");
  expect_words(TM_END_TIMEOUT, TM_PHASE_RUN,
               "killed because run() took longer than run_invocation_timeout, after 1.20 s; at "
               "most 1024 MB resident");
  expect_words(TM_END_TIMEOUT, TM_PHASE_INIT,
               "killed because init() took longer than init_timeout, after 1.20 s; at most 1024 MB "
               "resident");
  expect_words(TM_END_SHUTDOWN, TM_PHASE_SHUTDOWN,
               "killed for not ending in time when told to stop, in shutdown() after 1.20 s; at "
               "most 1024 MB resident");
  expect_words(TM_END_KILLED, TM_PHASE_IDLE,
               "killed by the supervisor between two mini-batches after 1.20 s");
  expect_words(TM_END_STOPPED, TM_PHASE_SHUTDOWN, "stopped");
}

static void details_of_a_death_follow_its_cause(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_ended e;
  make_ended(&e);
  tm_ended_describe(&b, &e);
  assert_string_equal(
      tm_buf_str(&b),
      "killed by signal 9 (Killed), by the kernel because memory had run out, in run() "
      "after 1.20 s; at most 1024 MB resident; somebody had stopped it (SIGSTOP); last "
      "on stderr: the end");
  tm_buf_clear(&b);
  e.memory = TM_KILL_COUNTED;
  e.was_frozen = false;
  e.last_line[0] = '\0';
  tm_ended_describe(&b, &e);
  assert_string_equal(
      tm_buf_str(&b),
      "killed by signal 9 (Killed), probably by the kernel because memory had run out "
      "(inferred: it counts such a kill), in run() after 1.20 s; at most 1024 MB "
      "resident");
  tm_buf_clear(&b);
  e.cause = TM_END_MEMORY;
  tm_ended_describe(&b, &e);
  assert_string_equal(tm_buf_str(&b),
                      "killed for passing worker_memory_limit in run() after 1.20 s; it had 300 MB "
                      "of its own, which count, and 700 MB of mapped files; worker_memory_limit is "
                      "256 MB");
  tm_buf_release(&b);
}

static void the_activity_of_a_worker_is_decoded_unchanged(void **state)
{
  struct tm_worker_doing in = { .worker = 7,
                                .phase = TM_PHASE_LOAD,
                                .phase_ns = INT64_C(5000000000),
                                .begun_wall_ns = INT64_C(1) << 60,
                                .seq = INT64_C(1) << 40,
                                .is_stopped = true,
                                .is_waiting = true },
                         out;
  struct tm_buf b = TM_BUF_NONE;
  struct tm_reader r;
  tm_worker_doing_encode(&b, &in);
  assert_int_equal(b.len, 40);
  tm_reader_init(&r, b.data, b.len);
  assert_true(tm_worker_doing_read(&r, &out));
  assert_int_equal(out.worker, 7);
  assert_int_equal(out.phase, TM_PHASE_LOAD);
  assert_int_equal(out.phase_ns, in.phase_ns);
  assert_int_equal(out.begun_wall_ns, in.begun_wall_ns);
  assert_int_equal(out.seq, in.seq);
  assert_true(out.is_stopped);
  assert_true(out.is_waiting);
  for (size_t n = 0; n < b.len; n++) {
    tm_reader_init(&r, b.data, n);
    assert_false(tm_worker_doing_read(&r, &out));
  }
  b.data[4] = TM_PHASE_LAST + 1; /* no such phase */
  tm_reader_init(&r, b.data, b.len);
  assert_false(tm_worker_doing_read(&r, &out));
  tm_buf_release(&b);
}

UNIT_TESTS({
    cmocka_unit_test(a_step_is_decoded_unchanged),
    cmocka_unit_test(a_cut_step_is_refused),
    cmocka_unit_test(a_damaged_step_does_no_harm),
    cmocka_unit_test(a_list_longer_than_its_bytes_is_refused),
    cmocka_unit_test(a_string_with_nul_is_refused),
    cmocka_unit_test(an_end_is_decoded_unchanged),
    cmocka_unit_test(an_end_fits_into_1024_bytes),
    cmocka_unit_test(a_launch_is_decoded_unchanged),
    cmocka_unit_test(a_damaged_launch_is_refused),
    cmocka_unit_test(the_end_of_a_launch_is_decoded_unchanged),
    cmocka_unit_test(a_launched_process_is_decoded_unchanged),
    cmocka_unit_test(an_end_is_described_in_one_line),
    cmocka_unit_test(details_of_a_death_follow_its_cause),
    cmocka_unit_test(the_activity_of_a_worker_is_decoded_unchanged),
});
