/* test_agent.c - a worker's answers under a real keeper: results, failures, spilled results,
 * refused loads. */
#include "unit.h"

#include "base/hash.h"
#include "rig.h"
#include "sys/messages/channel.h"

static void expect_failure(struct rig *r, uint32_t type, enum tm_status status, const char *words,
                           struct tm_failure *out)
{
  const struct tm_msg *f = rig_wait(r, type, 0);
  assert_int_equal(tm_failure_decode(out, f->payload, f->length, NULL), 0);
  assert_int_equal(out->status, status);
  if (!strstr(out->message, words))
    fail_msg("'%s' is not in '%s'", words, out->message);
}

static void expect_failed_try(struct rig *r, enum tm_status status, const char *words)
{
  struct tm_failure f;
  expect_failure(r, TM_MSG_FAILED, status, words, &f);
  assert_int_equal(f.head.seq, r->workers[0].seq);
  assert_true(f.head.total_ns > 0 && f.head.begin_wall_ns > 0);
  tm_failure_release(&f);
}

static void start_ready(struct rig *r)
{
  rig_start(r, 60 * TM_S);
  rig_start_worker(r, 0);
  rig_wait_ready(r, 0);
}

static void a_failed_try_is_reported_and_the_worker_survives(void **state)
{
  struct rig r;
  struct tm_failure f;
  start_ready(&r);
  rig_hand(&r, 0, "/fail");
  expect_failure(&r, TM_MSG_FAILED, TM_RUN_EXCEPTION, "it failed\nfor a reason", &f);
  assert_string_equal(f.stack, "stack traceback:\n\tline 7");
  assert_string_equal(f.where, "score.c:7");
  tm_failure_release(&f);
  rig_hand(&r, 0, "/nul");
  expect_failed_try(&r, TM_RUN_EXCEPTION, "a?b");
  free(rig_wait_rows(&r, 0, rig_hand(&r, 0, "/good")));
  char *text = rig_read(&r, "logs/user/error/0/process0.txt");
  assert_non_null(strstr(
      text, "|process0|mini-batch 1, try 1: RUN_EXCEPTION: score.c:7: it failed\nfor a reason\n"
            "stack traceback:\n\tline 7\n"));
  assert_non_null(strstr(text, "|process0|mini-batch 2, try 1: RUN_EXCEPTION: a?b\n"));
  free(text);
  rig_close(&r);
}

static void times_are_of_the_try(void **state)
{
  struct rig r;
  struct tm_reader reader;
  struct tm_result_head h;
  start_ready(&r);
  rig_hand(&r, 0, "/a");
  const struct tm_msg *f = rig_wait(&r, TM_MSG_RESULT, 0);
  tm_reader_init(&reader, f->payload, f->length);
  assert_true(tm_result_head_read(&reader, &h));
  assert_int_equal(h.returned, 1);
  assert_true(h.run_ns >= 0 && h.run_ns <= h.total_ns && h.cpu_ns >= 0);
  assert_true(h.begin_wall_ns > 1500000000 * TM_S);
  rig_close(&r);
}

static void a_large_result_goes_through_a_file(void **state)
{
  struct rig r;
  struct tm_reader reader;
  struct tm_result_head h;
  size_t len;
  start_ready(&r);
  rig_hand(&r, 0, "/big");
  const struct tm_msg *f = rig_wait(&r, TM_MSG_RESULT, 0);
  tm_reader_init(&reader, f->payload, f->length);
  assert_true(tm_result_head_read(&reader, &h));
  assert_int_equal(h.is_spilled, 1);
  const char *p = tm_read_bytes32(&reader, &len);
  char *name = tm_xprintf("spill/%.*s", (int)len, p);
  char *rows = rig_read(&r, name);
  assert_int_equal(tm_read_u64(&reader), 2 << 20);
  assert_int_equal(strlen(rows), 2 << 20);
  assert_true(tm_read_u64(&reader) == tm_hash64(rows, 2 << 20));
  assert_true(!reader.bad && reader.at == reader.end);
  free(name);
  free(rows);
  rig_close(&r);
}

static void a_result_that_is_too_large_fails(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  rig_add_step(&r, 0, NULL, NULL, 0);
  r.max_result_size = 100000;
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  rig_hand(&r, 0, "/big");
  expect_failed_try(&r, TM_RUN_WRONG_RETURN, "more than max_result_size (100000)");
  free(rig_wait_rows(&r, 0, rig_hand(&r, 0, "/small")));
  assert_false(rig_exists(&r, "spill"));
  rig_close(&r);
}

static void rows_that_nobody_wants_are_not_sent(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  rig_add_step(&r, 0, NULL, NULL, 0);
  r.no_rows = true;
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  char *rows = rig_wait_rows(&r, 0, rig_hand(&r, 0, "/big"));
  assert_string_equal(rows, "");
  free(rows);
  rig_close(&r);
}

static struct tm_item item_of(const char *path)
{
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  return (struct tm_item) { .path = path,
                            .path_len = strlen(path),
                            .size = st.st_size,
                            .mtime_ns = st.st_mtim.tv_sec * TM_S + st.st_mtim.tv_nsec };
}

static void an_input_that_changed_fails_its_try(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  rig_add_step(&r, 0, NULL, NULL, 0);
  r.verify_items = true;
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  char *path = tm_xprintf("%s/input", r.dir);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  assert_int_equal(write(fd, "0123456789", 10), 10);
  struct tm_item item = item_of(path);
  free(rig_wait_rows(&r, 0, rig_hand_items(&r, 0, &item, 1)));
  item.mtime_ns--;
  rig_hand_items(&r, 0, &item, 1);
  expect_failed_try(&r, TM_LOAD_EXCEPTION, "changed since it was listed: modified 2");
  item = item_of(path);
  assert_int_equal(write(fd, "ab", 2), 2);
  rig_hand_items(&r, 0, &item, 1);
  char *words = tm_xprintf("input '%s' changed since it was listed: size 10 -> 12", path);
  expect_failed_try(&r, TM_LOAD_EXCEPTION, words);
  unlink(path);
  rig_hand_items(&r, 0, &item, 1);
  expect_failed_try(&r, TM_LOAD_EXCEPTION, "no such file");
  free(rig_wait_rows(&r, 0, rig_hand(&r, 0, "/was never looked at")));
  close(fd);
  free(words);
  free(path);
  rig_close(&r);
}

static void damaged_items_fail_their_try(void **state)
{
  struct rig r;
  struct tm_buf b = TM_BUF_NONE;
  start_ready(&r);
  for (uint32_t items = 0; items < 4;
       items++) { /* a wrong header, and an item that ends too early */
    struct tm_item item = { .path = "/x", .path_len = 2, .size = -1 };
    tm_buf_clear(&b);
    tm_mini_batch_head_encode(
        tm_buf_extend(&b, 16),
        &(struct tm_mini_batch_head) { .seq = ++r.workers[0].seq, .items = items });
    tm_item_add(&b, &item);
    rig_say(&r, 0, TM_MSG_MINI_BATCH, 0, b.data, b.len - (items == 1));
    expect_failed_try(&r, TM_LOAD_EXCEPTION, "cannot be read");
  }
  tm_buf_release(&b);
  rig_close(&r);
}

static void expect_init_failure(const char *mode, const char *words, uint32_t flags)
{
  struct rig r;
  struct tm_failure f;
  struct tm_ended e;
  rig_start(&r, 0);
  r.argument = (char *)mode;
  rig_start_worker(&r, 0);
  expect_failure(&r, TM_MSG_INIT_FAILED, TM_INIT_EXCEPTION, words, &f);
  assert_int_equal(f.head.flags, flags);
  tm_failure_release(&f);
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.cause, TM_END_EXITED);
  assert_int_equal(e.exit_status, 3);
  assert_int_equal(e.view.phase, TM_PHASE_INIT);
  assert_int_equal(rig_has(&r, TM_MSG_LOADED), strcmp(mode, "bad-init") == 0);
  assert_false(rig_has(&r, TM_MSG_READY));
  char *text = rig_read(&r, "logs/user/error/0/process0.txt");
  assert_non_null(strstr(text, flags & TM_FAILURE_LOADING
                                   ? "|process0|loading the script failed: score.c:7: "
                                   : "|process0|init() failed: score.c:7: "));
  free(text);
  rig_close(&r);
}

static void a_worker_that_cannot_start_says_why(void **state)
{
  expect_init_failure("bad-load", "it does not load", TM_FAILURE_LOADING);
  expect_init_failure("bad-init", "no model", 0);
  expect_init_failure("no-run", "it defines no run", TM_FAILURE_LOADING | TM_FAILURE_NO_RUN);
}

static void a_bad_shutdown_fails_nothing(void **state)
{
  struct rig r;
  struct tm_ended e;
  rig_start(&r, 0);
  r.argument = (char *)"bad-shutdown";
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  rig_hand(&r, 0, "/last");
  rig_say(&r, 0, TM_MSG_STOP, 0, NULL, 0); /* the keeper gets no message: it reads the page */
  free(rig_wait_rows(&r, 0, 1));
  rig_wait(&r, TM_MSG_BYE, 0);
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.cause, TM_END_STOPPED);
  char *text = rig_read(&r, "logs/user/error/0/process0.txt");
  assert_non_null(strstr(text, "|process0|shutdown() failed: score.c:7: not closed\n"));
  free(text);
  rig_close(&r);
}

static void expect_protocol_end(struct rig *r, const char *words)
{
  struct tm_ended e;
  rig_wait_ended(r, 0, &e);
  assert_int_equal(e.cause, TM_END_EXITED);
  assert_int_equal(e.exit_status, 3);
  char *text = rig_read(r, "logs/user/stderr/0/process0.stderr.txt");
  if (!strstr(text, words))
    fail_msg("'%s' is not in '%s'", words, text);
  free(text);
  rig_close(r);
}

static void a_worker_ends_with_its_channel(void **state)
{
  struct rig r;
  start_ready(&r);
  tm_channel_close(&r.workers[0].channel);
  expect_protocol_end(&r, "tidemill: the channel ended before the worker was told to stop\n");
}

static void a_worker_ends_after_an_invalid_frame(void **state)
{
  struct rig r;
  start_ready(&r);
  rig_say(&r, 0, TM_MSG_MINI_BATCH, 0, "short", 5);
  expect_protocol_end(&r, "a mini-batch cannot be read");
  start_ready(&r);
  rig_say(&r, 0, TM_MSG_SETUP, 0, "again", 5);
  expect_protocol_end(&r, "a frame of type 1 came");
}

UNIT_HOOKS(.serve = rig_serve);
UNIT_TESTS({
    cmocka_unit_test(a_failed_try_is_reported_and_the_worker_survives),
    cmocka_unit_test(times_are_of_the_try),
    cmocka_unit_test(a_large_result_goes_through_a_file),
    cmocka_unit_test(a_result_that_is_too_large_fails),
    cmocka_unit_test(rows_that_nobody_wants_are_not_sent),
    cmocka_unit_test(an_input_that_changed_fails_its_try),
    cmocka_unit_test(damaged_items_fail_their_try),
    cmocka_unit_test(a_worker_that_cannot_start_says_why),
    cmocka_unit_test(a_bad_shutdown_fails_nothing),
    cmocka_unit_test(a_worker_ends_with_its_channel),
    cmocka_unit_test(a_worker_ends_after_an_invalid_frame),
});
