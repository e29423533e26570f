/* test_agent_message.c - frames between supervisor and worker: decoding returns what was encoded,
 * and refuses bad bytes. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent_msg.h"
#include "base/mem.h"

static void make_setup(struct tm_buf *out)
{
  static char *arguments[] = { (char *)"--x", (char *)"", (char *)"\xc3\x28" };
  static char *datasets[] = { (char *)"images" };
  struct tm_setup s = { .worker_name = (char *)"process000",
                        .node_id = (char *)"0",
                        .script = (char *)"/s.lua",
                        .script_name = (char *)"s.lua",
                        .script_dir = (char *)"/",
                        .arguments = arguments,
                        .arguments_len = 3,
                        .datasets = datasets,
                        .datasets_len = 1,
                        .session = (char *)"00ff",
                        .output_dir = (char *)"/o",
                        .outputs = datasets,
                        .outputs_len = 1,
                        .log_dir = (char *)"/l",
                        .temp_dir = (char *)"/t",
                        .memory_dir = (char *)"/m",
                        .logger_file = (char *)"/lf",
                        .error_file = (char *)"/ef",
                        .spill_dir = NULL,
                        .logging_level = TM_WARNING,
                        .append_row = true,
                        .profile_file = (char *)"/p",
                        .is_interruptible = true,
                        .cores = 12,
                        .is_only_worker = true,
                        .owns_process = true,
                        .run_timeout_ns = 60,
                        .init_timeout_ns = 70,
                        .max_result_size = 1 << 20 };
  tm_setup_encode(out, &s);
}

static void settings_are_decoded_unchanged(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_setup s;
  make_setup(&b);
  assert_int_equal(tm_setup_decode(&s, b.data, b.len, NULL), 0);
  assert_string_equal(s.worker_name, "process000");
  assert_int_equal(s.arguments_len, 3);
  assert_string_equal(s.arguments[1], "");
  assert_string_equal(s.arguments[2], "\xc3\x28");
  assert_string_equal(s.datasets[0], "images");
  assert_string_equal(s.session, "00ff");
  assert_string_equal(s.temp_dir, "/t");
  assert_string_equal(s.memory_dir, "/m");
  assert_string_equal(s.error_file, "/ef");
  assert_string_equal(s.spill_dir, "");
  assert_int_equal(s.logging_level, TM_WARNING);
  assert_true(s.append_row);
  assert_false(s.verify_items);
  assert_true(s.is_interruptible);
  assert_string_equal(s.profile_file, "/p");
  assert_int_equal(s.cores, 12);
  assert_true(s.is_only_worker);
  assert_true(s.owns_process);
  assert_int_equal(s.run_timeout_ns, 60);
  assert_int_equal(s.init_timeout_ns, 70);
  assert_int_equal(s.max_result_size, 1 << 20);
  tm_setup_release(&s);
  for (size_t n = 0; n < b.len; n++)
    assert_int_equal(tm_setup_decode(&s, b.data, n, NULL), TM_EPROTOCOL);
  b.data[0] = 9; /* version */
  assert_int_equal(tm_setup_decode(&s, b.data, b.len, NULL), TM_EPROTOCOL);
  tm_buf_release(&b);
}

static void damaged_settings_do_no_harm(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_setup s;
  make_setup(&b);
  for (size_t i = 0; i < b.len; i++) {
    char *copy = tm_xmalloc(b.len);
    memcpy(copy, b.data, b.len);
    copy[i] ^= (char)0x80;
    if (tm_setup_decode(&s, copy, b.len, NULL) == 0)
      tm_setup_release(&s);
    free(copy);
  }
  tm_buf_release(&b);
}

static void heads_are_decoded_unchanged(void **state)
{
  char bytes[TM_RESULT_HEAD], small[16];
  struct tm_reader r;
  struct tm_result_head h = { .seq = 1ull << 40,
                              .begin_wall_ns = -5,
                              .total_ns = 9,
                              .run_ns = 8,
                              .cpu_ns = 7,
                              .returned = 6,
                              .is_spilled = 1,
                              .flags = TM_FAILURE_NO_RUN },
                        d;
  struct tm_mini_batch_head m = { .seq = 3, .dataset = 2, .items = 1 }, n;
  tm_result_head_encode(bytes, &h);
  tm_reader_init(&r, bytes, sizeof bytes);
  assert_true(tm_result_head_read(&r, &d));
  assert_int_equal(d.seq, h.seq);
  assert_int_equal(d.begin_wall_ns, -5);
  assert_int_equal(d.total_ns + d.run_ns + d.cpu_ns + d.returned, 30);
  assert_int_equal(d.is_spilled, 1);
  assert_int_equal(d.flags, TM_FAILURE_NO_RUN);
  tm_put_u32(bytes + 44, 2); /* is_spilled is 0 or 1 */
  tm_reader_init(&r, bytes, sizeof bytes);
  assert_false(tm_result_head_read(&r, &d));
  tm_reader_init(&r, bytes, sizeof bytes - 1);
  assert_false(tm_result_head_read(&r, &d));
  tm_mini_batch_head_encode(small, &m);
  tm_reader_init(&r, small, sizeof small);
  assert_true(tm_mini_batch_head_read(&r, &n));
  assert_int_equal(n.seq, 3);
  assert_int_equal(n.dataset, 2);
  assert_int_equal(n.items, 1);
  tm_reader_init(&r, small, 15);
  assert_false(tm_mini_batch_head_read(&r, &n));
}

static void a_failure_is_decoded_unchanged(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_failure f = { .head = { .seq = 4 },
                          .status = TM_LOAD_EXCEPTION,
                          .message = (char *)"two\nlines",
                          .stack = (char *)"at x",
                          .where = (char *)"s.lua:3" },
                    d;
  tm_failure_encode(&b, &f);
  assert_int_equal(tm_failure_decode(&d, b.data, b.len, NULL), 0);
  assert_int_equal(d.head.seq, 4);
  assert_int_equal(d.status, TM_LOAD_EXCEPTION);
  assert_string_equal(d.message, "two\nlines");
  assert_string_equal(d.stack, "at x");
  assert_string_equal(d.where, "s.lua:3");
  tm_failure_release(&d);
  for (size_t n = 0; n < b.len; n++)
    assert_int_equal(tm_failure_decode(&d, b.data, n, NULL), TM_EPROTOCOL);
  const uint32_t bad[] = { TM_RUN_DONE, TM_CANCELED + 1, UINT32_MAX };
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++) {
    tm_put_u32(b.data + TM_RESULT_HEAD, bad[i]);
    assert_int_equal(tm_failure_decode(&d, b.data, b.len, NULL), TM_EPROTOCOL);
  }
  tm_buf_release(&b);
}

static void each_status_has_its_name(void **state)
{
  assert_string_equal(tm_status_name(TM_RUN_DONE), "RUN_DONE");
  assert_string_equal(tm_status_name(TM_CANCELED), "CANCELED");
  assert_string_equal(tm_status_name((enum tm_status)77), "UNKNOWN");
}

/* The worker that writes a file, the supervisor that moves it and a reader of the log use the same
 * name. */
static void check_file(const char *output, const char *path, const char *place, const char *staged,
                       const char *call)
{
  char *name = tm_output_file_name(output, path), *is;
  assert_true(tm_output_file_is_good(name, strlen(name)));
  assert_string_equal(is = tm_output_file_place("/job/step/output", name), place);
  free(is);
  assert_string_equal(is = tm_output_file_below("/s", name), staged);
  free(is);
  assert_string_equal(is = tm_output_file_call(name), call);
  free(is);
  free(name);
}

static void files_of_outputs_have_names_of_their_own(void **state)
{
  static const char *const bad[] = { "",           "/",        "/more",      "/more/", "//x",
                                     "/more/../x", "/../x",    "/more//x",   "/.",     "a//b",
                                     "a/",         "/more/a/", "/more/a\nb", "..",     "a\nb" };
  check_file(NULL, "a/b.txt", "/job/step/output/a/b.txt", "/s/a/b.txt",
             "context:output_file(\"a/b.txt\")");
  check_file("more", "a/b.txt", "/job/step/output.more/a/b.txt", "/s/\nmore/a/b.txt",
             "context:output_file(\"a/b.txt\", \"more\")");
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++)
    assert_false(tm_output_file_is_good(bad[i], strlen(bad[i])));
  char longest[TM_OUTPUT_NAME_MAX + 2];
  memset(longest, 'x', sizeof(longest));
  memcpy(longest, "/o/", 3);
  assert_true(tm_output_file_is_good(longest, TM_OUTPUT_NAME_MAX));
  assert_false(tm_output_file_is_good(longest, TM_OUTPUT_NAME_MAX + 1));
}

UNIT_TESTS({
    cmocka_unit_test(settings_are_decoded_unchanged),
    cmocka_unit_test(damaged_settings_do_no_harm),
    cmocka_unit_test(heads_are_decoded_unchanged),
    cmocka_unit_test(a_failure_is_decoded_unchanged),
    cmocka_unit_test(each_status_has_its_name),
    cmocka_unit_test(files_of_outputs_have_names_of_their_own),
});
