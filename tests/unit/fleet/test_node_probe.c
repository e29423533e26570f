/* What a node over a stream says before it can be used. */
#include "unit.h"

#include "fleet/node_probe.h"
#include "fleet/node_rig.h"

/* ---- pure ---- */

static struct tm_buf encoded(const struct tm_node_report *report)
{
  struct tm_buf bytes = TM_BUF_NONE;
  tm_node_report_encode(&bytes, report);
  return bytes;
}

static void a_report_comes_once_and_is_one_line(void **state)
{
  struct tm_node_admission a = { .phase = TM_NODE_REPORT_AWAITED };
  struct tm_node_report report = usual_report();
  report.host = (char *)"cn\n17";
  struct tm_buf bytes = encoded(&report);
  assert_false(tm_node_admission_report(&a, bytes.data, bytes.len - 1));
  assert_int_equal(a.phase, TM_NODE_REPORT_AWAITED);
  assert_true(tm_node_admission_report(&a, bytes.data, bytes.len));
  assert_string_equal(a.report.host, "cn\\n17");
  assert_false(tm_node_admission_report(&a, bytes.data, bytes.len));
  tm_buf_release(&bytes);
  tm_node_admission_release(&a);
}

static void an_answer_comes_once_after_a_probe(void **state)
{
  struct tm_node_probed probed = { .problem = (char *)"a\nb" };
  struct tm_buf bytes = TM_BUF_NONE;
  tm_node_probed_encode(&bytes, &probed);
  for (int phase = TM_NODE_REPORT_AWAITED; phase <= TM_NODE_ADMITTED; phase++) {
    struct tm_node_admission a = { .phase = (enum tm_node_probe_phase)phase };
    struct tm_node_probed out = { 0 };
    assert_false(tm_node_admission_answer(&a, &out, bytes.data, bytes.len - 1));
    assert_int_equal(tm_node_admission_answer(&a, &out, bytes.data, bytes.len),
                     phase == TM_NODE_ASKED);
    if (phase == TM_NODE_ASKED)
      assert_string_equal(out.problem, "a\\nb");
    tm_node_probed_release(&out);
  }
  tm_buf_release(&bytes);
}

static void a_script_is_sent_after_the_answer_and_has_one_answer(void **state)
{
  struct tm_node_admission a = { .phase = TM_NODE_ANSWERED };
  assert_null(tm_node_admission_taken(&a, "", 0));
  tm_node_admission_source(&a);
  char *problem = tm_node_admission_taken(&a, "a\nb", 3);
  assert_string_equal(problem, "a\\nb");
  free(problem);
  assert_null(tm_node_admission_taken(&a, "", 0));
  tm_node_admission_source(&a);
  problem = tm_node_admission_taken(&a, NULL, 0);
  assert_string_equal(problem, "");
  free(problem);
}

static void sizes_and_times_are_compared(void **state)
{
  struct tm_node_probed there = { NULL, { 16, 5 }, { 16, 6 } };
  struct tm_node_file asked = { 16, 5 }, answered = { 16, 6 }, later = { 16, 7 },
                      shorter = { 15, 5 }, missing = { -1, 0 };
  assert_int_equal(tm_node_probe_compare(&there, &asked, &answered), TM_NODE_SEES_SAME);
  assert_int_equal(tm_node_probe_compare(&there, &later, &answered), TM_NODE_SEES_TIMES);
  assert_int_equal(tm_node_probe_compare(&there, &asked, &later), TM_NODE_SEES_TIMES);
  assert_int_equal(tm_node_probe_compare(&there, &shorter, &answered), TM_NODE_SEES_OTHER);
  assert_int_equal(tm_node_probe_compare(&there, &asked, &shorter), TM_NODE_SEES_OTHER);
  assert_int_equal(tm_node_probe_compare(&there, &asked, &missing), TM_NODE_SEES_OTHER);
  assert_int_equal(tm_node_probe_compare(&there, &missing, &answered), TM_NODE_SEES_OTHER);
}

static void a_node_with_gpus_has_one_worker(void **state)
{
  struct tm_node_report report = usual_report();
  assert_int_equal(tm_node_report_workers(&report), 3);
  report.gpus = 2;
  assert_int_equal(tm_node_report_workers(&report), 1);
}

static void a_report_is_described(void **state)
{
  struct tm_node_report report = usual_report();
  struct tm_buf text = TM_BUF_NONE;
  tm_node_report_describe(&text, &report);
  assert_string_equal(tm_buf_str(&text),
                      "pid 77, 3 CPUs (the affinity), no GPU, 16.0 GB of memory");
  tm_buf_clear(&text);
  report.cpus = 1;
  report.cpus_why = (char *)"";
  report.gpus = 2;
  report.slurm_job = (char *)"4711";
  tm_node_report_describe(&text, &report);
  assert_string_equal(tm_buf_str(&text),
                      "pid 77, 1 CPU, 2 GPUs, 16.0 GB of memory, Slurm job 4711");
  tm_buf_release(&text);
}

/* ---- over a stream ---- */

static void await_probed(struct rig *r, const char *text)
{
  while (!strstr(tm_buf_str(&r->probed), text))
    turn(r);
}

static void a_node_is_ready_after_its_keeper_and_its_answer(void **state)
{
  struct rig r;
  setup(&r);
  assert_null(tm_node_reported(r.node));
  assert_int_equal(tm_node_workers(r.node), 0);
  await_probed(&r, "ready;");
  assert_string_equal(tm_buf_str(&r.probed), "probed '';ready;");
  assert_string_equal(tm_node_reported(r.node)->host, RELAY_HOST);
  assert_string_equal(tm_node_address(r.node), "far");
  assert_int_equal(tm_node_workers(r.node), 3);
  assert_false(tm_node_has_sizes_alone(r.node));
  release(&r);
}

/* The keeper has said its version, and a worker has started, but nobody has asked. */
static void a_node_without_an_answer_is_not_ready(void **state)
{
  struct rig r;
  connect_only(&r);
  r.asks_nothing = true;
  open_relay(&r, tm_hello());
  start_worker(&r, 0);
  await_order(&r, "started 10;");
  assert_non_null(tm_node_reported(r.node));
  assert_int_equal(r.probed.len, 0);
  release(&r);
}

static void a_node_with_a_problem_is_refused(void **state)
{
  struct rig r;
  connect_only(&r);
  r.problem = "cannot read '/data'";
  open_relay(&r, tm_hello());
  await_lost(&r, "cannot read '/data';");
  assert_string_equal(tm_buf_str(&r.probed), "probed 'cannot read '/data'';");
  release(&r);
}

static void a_node_that_does_not_report_first_is_lost(void **state)
{
  struct rig r;
  connect_only(&r);
  r.is_silent_about_itself = true;
  open_relay(&r, tm_hello());
  await_lost(&r, "the relay of the node did not report its machine first;");
  release(&r);
}

static void a_node_that_reports_twice_is_lost(void **state)
{
  struct tm_node_report report = usual_report();
  struct rig r;
  setup(&r);
  await_probed(&r, "ready;");
  tell_report(r.relay, &report);
  await_lost(&r, "the relay of the node sent an impossible message;");
  release(&r);
}

static void a_report_that_cannot_be_read_loses_the_node(void **state)
{
  struct rig r;
  connect_only(&r);
  r.is_silent_about_itself = true;
  open_relay(&r, tm_hello());
  tell_text(&r, TM_MSG_REPORT, 0, "cn17");
  await_lost(&r, "the relay of the node sent an impossible message;");
  release(&r);
}

static void an_answer_that_nobody_asked_for_loses_the_node(void **state)
{
  struct rig r;
  setup(&r);
  await_probed(&r, "ready;");
  tell_probed(r.relay, "");
  await_lost(&r, "the relay of the node sent an impossible message;");
  release(&r);
}

static void an_answer_that_cannot_be_read_loses_the_node(void **state)
{
  struct rig r;
  connect_only(&r);
  r.is_mute = true;
  open_relay(&r, tm_hello());
  while (!tm_node_reported(r.node))
    turn(&r);
  tell_text(&r, TM_MSG_PROBED, 0, "fine");
  await_lost(&r, "the relay of the node sent an impossible message;");
  assert_int_equal(r.probed.len, 0);
  release(&r);
}

UNIT_TESTS({
    cmocka_unit_test(a_report_comes_once_and_is_one_line),
    cmocka_unit_test(an_answer_comes_once_after_a_probe),
    cmocka_unit_test(a_script_is_sent_after_the_answer_and_has_one_answer),
    cmocka_unit_test(sizes_and_times_are_compared),
    cmocka_unit_test(a_node_with_gpus_has_one_worker),
    cmocka_unit_test(a_report_is_described),
    cmocka_unit_test(a_node_is_ready_after_its_keeper_and_its_answer),
    cmocka_unit_test(a_node_without_an_answer_is_not_ready),
    cmocka_unit_test(a_node_with_a_problem_is_refused),
    cmocka_unit_test(a_node_that_does_not_report_first_is_lost),
    cmocka_unit_test(a_node_that_reports_twice_is_lost),
    cmocka_unit_test(a_report_that_cannot_be_read_loses_the_node),
    cmocka_unit_test(an_answer_that_nobody_asked_for_loses_the_node),
    cmocka_unit_test(an_answer_that_cannot_be_read_loses_the_node),
});
