/* test_result.c - the result of a step, in the order of a reader's questions. */
#include "unit.h"

#include "report_fixture.h"

#include "report/result.h"

static const struct tm_counts counts = { .created = 1200,
                                         .all_created = true,
                                         .succeeded = 1198,
                                         .failed = 2,
                                         .items = 6000,
                                         .items_succeeded = 5988,
                                         .items_failed = 12 };

static void a_completed_step(void **state)
{
  struct report_fixture *f = *state;
  struct tm_buf b = TM_BUF_NONE;
  f->step.counts = counts;
  f->step.counts.items_failed = 0;
  f->step.verdict = f->job.verdict = TM_COMPLETED;
  f->step.dir = f->step.logs_dir = "/job/score";
  tm_result_add_job(&b, &f->job, 12300 * TM_MS);
  tm_result_add_step(&b, &f->step, NULL, 2);
  assert_string_equal(b.data, "Completed: digits, 12.3 s\n"
                              "  score: Completed\n"
                              "    mini-batches: 1,200, 1,198 succeeded, 2 failed\n"
                              "    items:        6,000, 5,988 succeeded, 0 failed\n"
                              "    output:       /out/rows.txt\n"
                              "    logs:         /job/score\n");
  tm_buf_release(&b);
}

static void items_that_were_not_done_are_counted(void **state)
{
  struct report_fixture *f = *state;
  struct tm_buf b = TM_BUF_NONE;
  f->step.counts = (struct tm_counts) { .created = 12,
                                        .failed = 1,
                                        .all_created = true,
                                        .items = 5,
                                        .items_created = 60,
                                        .items_failed = 5 };
  f->step.verdict = f->job.verdict = TM_FAILED;
  tm_result_add_step(&b, &f->step, NULL, 2);
  assert_non_null(strstr(b.data, "mini-batches: 12, 0 succeeded, 1 failed, 11 not done\n"));
  assert_non_null(strstr(b.data, "items:        60, 0 succeeded, 5 failed, 55 not done\n"));
  tm_buf_release(&b);
}

static void a_failed_step_says_why_and_where(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors errors;
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  struct tm_buf b = TM_BUF_NONE;
  char message[32];
  tm_errors_init(&errors, tm_fs_real(), f->logs);
  f->attempt.status = TM_RUN_EXCEPTION;
  for (int i = 0; i < 8; i++) {
    snprintf(message, sizeof(message), "bad %c", 'a' + i);
    f->attempt.message = message;
    f->attempt.failed = i == 7 ? 5 : 0;
    tm_errors_add(&errors, &e);
  }
  f->step.counts = counts;
  f->step.counts.succeeded = 1000;
  f->step.counts.errors = 8;
  f->step.counts.lost = 1;
  f->step.verdict = TM_FAILED;
  f->step.cause = "12 items have failed,\nand error_threshold tolerates 10";
  f->step.dir = "/job/score";
  tm_result_add_step(&b, &f->step, &errors, 0);
  assert_has(
      b.data,
      "score: Failed\n  cause:        12 items have failed,\\nand error_threshold tolerates 10\n");
  assert_has(b.data, "  mini-batches: 1,200, 1,000 succeeded, 2 failed, 198 not done\n");
  assert_has(b.data, "  items:        6,000, 5,988 succeeded, 12 failed\n");
  assert_has(b.data, "  failed tries: 8 by an error, 0 by a timeout, 1 with their worker\n");
  assert_has(b.data, "  output:       /out/rows.txt.partial\n");
  assert_has(b.data, "  failed items: /job/score/failed_items.jsonl\n");
  assert_has(b.data, "    1 time: bad a\n      first: mini-batch 7 "
                     "(RUN_EXCEPTION) at process003, /data/a.pgm and 4 more\n");
  assert_has(b.data, "user/error.txt\n    1 time: bad h\n"); /* no later try has repaired it */
  assert_has(b.data, "1 time: bad d\n");
  assert_has_not(b.data, "bad e");
  assert_has(b.data, "    and 3 other distinct errors\n");
  tm_buf_release(&b);
  tm_errors_release(&errors);
}

static void the_output_is_a_folder_without_rows(void **state)
{
  struct report_fixture *f = *state;
  struct tm_buf b = TM_BUF_NONE;
  f->step.output_file = NULL;
  f->step.verdict = TM_CANCELED_JOB;
  f->step.counts = (struct tm_counts) { .created = 5 };
  tm_result_add_step(&b, &f->step, NULL, 0);
  assert_has(b.data, "  output:       /out\n");
  assert_has(b.data, "  mini-batches: 5 or more, 0 succeeded, 0 failed, 5 not done\n");
  tm_buf_release(&b);
}

static void each_output_and_destination_is_named(void **state)
{
  struct report_fixture *f = *state;
  struct tm_buf b = TM_BUF_NONE;
  static const char record[] =
      "{\"outputs\": [{\"name\": \"rows\", \"folder\": \"score/output\", \"destination\": "
      "\"/there\","
      " \"mode\": \"upload\"}, {\"name\": \"masks\", \"folder\": \"score/output.masks\","
      " \"destination\": \"/masks\"}, {\"name\": \"more\", \"folder\": \"score/output.more\"}]}";
  struct tm_json *effective = tm_json_parse(record, sizeof(record) - 1, NULL);
  f->step.effective = effective;
  f->step.verdict = TM_COMPLETED;
  f->step.dir = "/job/score";
  tm_result_add_step(&b, &f->step, NULL, 0);
  assert_has(b.data, "  output:       /out/rows.txt\n"
                     "  destination:  /there\n"
                     "  output:       /job/score/output.masks\n"
                     "  destination:  /masks\n"
                     "  output:       /job/score/output.more\n"
                     "  logs:");
  assert_has_not(b.data, "tidemill help");
  tm_buf_clear(&b);
  f->step.verdict = TM_FAILED; /* an upload has not appeared; its contents have been written */
  tm_result_add_step(&b, &f->step, NULL, 0);
  assert_has(b.data, "\n  help:         tidemill help troubleshooting\n");
  assert_has_not(b.data, "/there");
  assert_has(b.data, "  destination:  /masks\n");
  f->step.effective = NULL;
  tm_json_free(effective);
  tm_buf_release(&b);
}

static void a_long_message_is_shown_in_part(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors errors;
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  struct tm_buf b = TM_BUF_NONE;
  tm_errors_init(&errors, tm_fs_real(), f->logs);
  f->attempt.status = TM_RUN_EXCEPTION;
  f->attempt.message = "1\n2\n3\n4\n5\n6\n";
  tm_errors_add(&errors, &e);
  tm_result_add_step(&b, &f->step, &errors, 0);
  assert_has(b.data, "      5\n      ...\n      first: ");
  tm_buf_release(&b);
  tm_errors_release(&errors);
}

static void the_files_say_where_to_start(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors errors;
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  struct tm_buf b = TM_BUF_NONE;
  tm_errors_init(&errors, tm_fs_real(), f->logs);
  f->step.logs_dir = "/l";
  f->step.verdict = TM_COMPLETED;
  tm_result_add_start(&b, &f->step, &errors);
  assert_string_equal(b.data, "what is where: /l/readme.txt\n");
  tm_buf_clear(&b);
  f->step.verdict = TM_FAILED;
  tm_result_add_start(&b, &f->step, &errors);
  assert_string_equal(b.data, "start with /l/sys/master_role.txt: the cause, and what led to it\n");
  tm_buf_clear(&b);
  f->step.counts.items_failed = 3; /* in an earlier session */
  f->step.dir = "/job/score";
  tm_result_add_start(&b, &f->step, &errors);
  assert_has(b.data, "start with /job/score/failed_items.jsonl: ");
  tm_buf_clear(&b);
  f->attempt.status = TM_PROCESS_DIED;
  f->step.counts.lost = 1;
  tm_errors_add(&errors, &e);
  tm_result_add_start(&b, &f->step, &errors);
  assert_has(b.data, "start with /l/user/error.txt: ");
  assert_has(b.data, "; how workers ended: /l/sys/node/0/_main.txt\n");
  tm_buf_clear(&b);
  f->step.launches_nodes = true; /* their numbers begin at 1 */
  tm_result_add_start(&b, &f->step, &errors);
  assert_has(b.data, "; how workers ended: /l/sys/node/*/_main.txt\n");
  tm_buf_clear(&b);
  f->step.failing = TM_FAILING_STUCK;
  f->step.counts.created = 1;
  tm_result_add_start(&b, &f->step, &errors);
  assert_has(b.data, "start with /l/sys/node/*/_main.txt: what each worker was doing");
  tm_buf_clear(&b);
  f->step.launches_nodes = false;
  tm_result_add_start(&b, &f->step, &errors);
  assert_has(b.data, "start with /l/sys/node/0/_main.txt: what each worker was doing");
  tm_buf_release(&b);
  tm_errors_release(&errors);
}

static void the_file_that_holds_the_reason_depends_on_the_failure(void **state)
{
  static const struct {
    enum tm_verdict verdict;
    enum tm_failing failing;
    int64_t created, items_failed;
    size_t errors;
    enum tm_start start;
  } cases[] = {
    { TM_COMPLETED, TM_FAILING_SCRIPT, 4, 0, 0, TM_START_README },
    { TM_COMPLETED, TM_FAILING_SCRIPT, 4, 2, 1, TM_START_ERRORS },
    { TM_CANCELED_JOB, TM_FAILING_SCRIPT, 4, 0, 1, TM_START_ERRORS },
    { TM_FAILED, TM_FAILING_SCRIPT, 4, 2, 1, TM_START_ERRORS },
    { TM_FAILED, TM_FAILING_SCRIPT, 4, 2, 0, TM_START_ITEMS },
    { TM_FAILED, TM_FAILING_SCRIPT, 4, 0, 0, TM_START_MASTER },
    { TM_FAILED, TM_FAILING_STUCK, 4, 0, 0, TM_START_WORKERS },
    { TM_FAILED, TM_FAILING_STUCK, 4, 2, 1, TM_START_WORKERS },
    { TM_FAILED, TM_FAILING_STUCK, 0, 0, 0, TM_START_MASTER },
    { TM_FAILED, TM_FAILING_INPUT, 0, 0, 0, TM_START_MASTER },
    { TM_FAILED, TM_FAILING_INPUT, 4, 2, 1, TM_START_MASTER },
    { TM_FAILED, TM_FAILING_SYSTEM, 4, 2, 1, TM_START_SYSTEM },
  };
  struct report_fixture *f = *state;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    f->step.verdict = cases[i].verdict;
    f->step.failing = cases[i].failing;
    f->step.counts.created = cases[i].created;
    f->step.counts.items_failed = cases[i].items_failed;
    if (tm_result_start(&f->step, cases[i].errors) != cases[i].start)
      fail_msg("case %zu", i);
  }
  f->step.failing = TM_FAILING_STUCK;
  f->step.logging_level = TM_WARNING;
  assert_int_equal(tm_result_start(&f->step, 0), TM_START_MASTER);
}

static void a_step_of_another_process_has_the_same_lines(void **state)
{
  struct report_fixture *f = *state;
  struct tm_buf here = TM_BUF_NONE, there = TM_BUF_NONE;
  const struct tm_result_output output = { .path = "/out/rows.txt" };
  f->step.counts = counts;
  f->step.verdict = TM_COMPLETED;
  f->step.dir = "/job/score";
  f->step.logs_dir = "/job/score/logs";
  f->step.reused_from = "/earlier";
  tm_result_add_step(&here, &f->step, NULL, 0);
  struct tm_result r = { .name = "score",
                         .state = "Completed",
                         .dir = "/job/score",
                         .logs_dir = "/job/score/logs",
                         .reused_from = "/earlier",
                         .counts = &counts,
                         .items_total = 6000,
                         .outputs = &output,
                         .outputs_len = 1,
                         .damage_at = -1 };
  tm_result_add(&there, &r, 0);
  assert_string_equal(here.data, there.data);
  assert_has(here.data, "score: Completed, reused\n  reused from:  /earlier\n");
  assert_has(here.data, "  errors:       /earlier/score/logs/user/error.txt\n"
                        "  logs:         /earlier/score/logs\n");
  tm_buf_release(&here);
  tm_buf_release(&there);
}

static void a_running_step_has_work_to_do(void **state)
{
  (void)state;
  struct tm_buf b = TM_BUF_NONE;
  const struct tm_counts some = {
    .created = 10, .succeeded = 4, .items = 40, .items_succeeded = 40, .all_created = true
  };
  struct tm_result r = { .name = "score",
                         .state = "Running",
                         .is_running = true,
                         .dir = "/job/score",
                         .logs_dir = "/job/score/logs",
                         .counts = &some,
                         .items_total = 100,
                         .rate = 2,
                         .errors = "    1 item: bad\n",
                         .errors_more = 2,
                         .errors_cut = true,
                         .damage_at = -1 };
  tm_result_add(&b, &r, 0);
  assert_string_equal(b.data, "score: Running\n"
                              "  mini-batches: 10, 4 succeeded, 0 failed, 6 to do\n"
                              "  items:        100, 40 succeeded, 0 failed, 60 to do\n"
                              "  rate:         2.00 mini-batches/s, about 3.00 s left\n"
                              "    1 item: bad\n"
                              "    and 2 or more other distinct errors\n"
                              "  logs:         /job/score/logs\n");
  const struct tm_nodes_now nodes = { .ready = 1, .all = 3 };
  r.nodes = &nodes;
  tm_buf_clear(&b);
  tm_result_add(&b, &r, 0);
  assert_has(b.data, " left\n  nodes:        1 of 3 nodes\n");
  r.nodes = NULL;
  tm_buf_clear(&b);
  r.is_running = false;
  r.damage_at = 128;
  r.items_total = -1;
  tm_result_add(&b, &r, 0);
  assert_has(b.data, "  items:        40 succeeded, 0 failed\n");
  assert_has(b.data, "  journal:      a bad record at byte 128; nothing after it is counted; ");
  tm_buf_release(&b);
}

static char *log_of(void *data, uint32_t id)
{
  return tm_xprintf("%s/%u/launcher.txt", (const char *)data, id);
}

static void lost_nodes_are_named_at_the_end(void **state)
{
  struct report_fixture *f = *state;
  struct tm_lost_node lost[] = { { 1, (char *)"node 1 (cn01) is lost: it is\nsilent" },
                                 { 3, (char *)"node 3 is lost: so is this" } };
  struct tm_nodes_view nodes = {
    .sum = { .asked = 12, .started = 11, .lost = 4, .ns = 61200 * TM_MS, .busy_percent = 77.6 }
  };
  struct tm_buf b = TM_BUF_NONE;
  tm_result_add_nodes(&b, &f->job, 2, log_of, (void *)(uintptr_t) "/logs");
  assert_int_equal(b.len, 0); /* no command starts nodes */
  f->job.nodes = &nodes;
  nodes.lost.at = lost;
  nodes.lost.len = 2;
  tm_result_add_nodes(&b, &f->job, 2, log_of, (void *)(uintptr_t) "/logs");
  assert_string_equal(b.data, "  nodes:        12 requested, 11 started, 4 lost; ready for 1 min "
                              "01 s in all, workers 78 % busy\n"
                              "    node 1 (cn01) is lost: it is\\nsilent\n"
                              "      /logs/1/launcher.txt\n"
                              "    node 3 is lost: so is this\n"
                              "      /logs/3/launcher.txt\n"
                              "    and 2 more\n");
  tm_buf_release(&b);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(lost_nodes_are_named_at_the_end, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_completed_step, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(items_that_were_not_done_are_counted, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(a_failed_step_says_why_and_where, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(the_output_is_a_folder_without_rows, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(each_output_and_destination_is_named, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(a_long_message_is_shown_in_part, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(the_files_say_where_to_start, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_step_of_another_process_has_the_same_lines, fixture_open,
                                    fixture_close),
    cmocka_unit_test(a_running_step_has_work_to_do),
    cmocka_unit_test_setup_teardown(the_file_that_holds_the_reason_depends_on_the_failure,
                                    fixture_open, fixture_close),
});
