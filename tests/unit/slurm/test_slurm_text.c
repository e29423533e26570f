/* What Slurm's commands print, read. The lines are those of Slurm 22.05.8. */
#include "unit.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "slurm/slurm_text.h"

/* ---- squeue ---- */

/* "id name state host left reason;" for each. */
static void expect_jobs(const char *text, const char *expected)
{
  static const char *const states[] = { "waits", "runs", "ends", "ended", "canceled", "?" };
  struct tm_buf out = TM_BUF_NONE;
  struct tm_slurm_job j;
  size_t at = 0;

  while (tm_slurm_text_next_job(text, strlen(text), &at, &j))
    tm_buf_printf(&out, "%" PRIu32 " %s %s %s %" PRId64 " %s;", j.id, j.name, states[j.state],
                  j.host, j.left_s, j.reason);
  assert_string_equal(tm_buf_str(&out), expected);
  assert_int_equal(at, strlen(text));
  tm_buf_release(&out);
}

static void a_line_of_squeue_is_a_slurm_job(void **state)
{
  expect_jobs("26|tidemill-x|PENDING||UNLIMITED|Resources\n"
              "24|bash|RUNNING|node[1-3]|2:59|None\n",
              "26 tidemill-x waits  -1 Resources;24 bash runs node[1-3] 179 ;");
  expect_jobs("15|t|COMPLETED|node3|UNLIMITED|None", "15 t ended node3 -1 ;");
  expect_jobs("", "");
}

static void a_reason_may_hold_anything(void **state)
{
  expect_jobs("1|t|PENDING||1:00:00|ReqNodeNotAvail, UnavailableNodes:a|b\n",
              "1 t waits  3600 ReqNodeNotAvail, UnavailableNodes:a|b;");
  expect_jobs("1|t|PENDING||0:00|\x1b[1m\xc3\xa9\n", "1 t waits  0 ?[1m??;");
}

static void states_say_whether_a_node_waits_runs_or_has_ended(void **state)
{
  expect_jobs(
      "1|t|CANCELLED|a|0:00|None\n2|t|NODE_FAIL|a|0:00|None\n3|t|CONFIGURING|a|0:00|None\n"
      "4|t|COMPLETING|a|0:00|None\n5|t|PREEMPTED|a|0:00|None\n6|t|NEWWORD|a|0:00|None\n",
      "1 t canceled a 0 ;2 t ended a 0 ;3 t waits a 0 ;4 t ends a 0 ;5 t ended a 0 ;6 t ? a 0 ;");
}

static void expect_end(const char *state, enum tm_slurm_end end)
{
  char *line = tm_xprintf("1|t|%s|a|0:00|None\n", state);
  struct tm_slurm_job j;
  size_t at = 0;

  assert_true(tm_slurm_text_next_job(line, strlen(line), &at, &j));
  if (j.end != end)
    fail_msg("%s: %d", state, (int)j.end);
  free(line);
}

static void states_say_why_a_node_has_ended(void **state)
{
  expect_end("NODE_FAIL", TM_SLURM_END_NODE_FAIL);
  expect_end("PREEMPTED", TM_SLURM_END_PREEMPTED);
  expect_end("TIMEOUT", TM_SLURM_END_TIMEOUT);
  expect_end("CANCELLED", TM_SLURM_END_CANCELED);
  expect_end("OUT_OF_MEMORY", TM_SLURM_END_OUT_OF_MEMORY);
  expect_end("FAILED", TM_SLURM_END_OTHER);
  expect_end("COMPLETED", TM_SLURM_END_OTHER);
  expect_end("RUNNING", TM_SLURM_END_NOT_KNOWN);
  expect_end("COMPLETING", TM_SLURM_END_NOT_KNOWN);
  expect_end("PENDING", TM_SLURM_END_NOT_KNOWN);
  expect_end("NEWWORD", TM_SLURM_END_NOT_KNOWN);
  expect_end("", TM_SLURM_END_NOT_KNOWN);
}

static void expect_left(const char *text, int64_t seconds)
{
  char *line = tm_xprintf("1|t|RUNNING|a|%s|None\n", text);
  struct tm_slurm_job j;
  size_t at = 0;

  assert_true(tm_slurm_text_next_job(line, strlen(line), &at, &j));
  if (j.left_s != seconds)
    fail_msg("%s: %" PRId64, text, j.left_s);
  free(line);
}

static void time_left_is_in_seconds(void **state)
{
  expect_left("0:00", 0);
  expect_left("59:59", 3599);
  expect_left("1:00:00", 3600);
  expect_left("3-04:05:06", 3 * 86400 + 4 * 3600 + 5 * 60 + 6);
  expect_left("UNLIMITED", -1);
  expect_left("NOT_SET", -1);
  expect_left("INVALID", -1);
  expect_left("", -1);
  expect_left("5", -1);
  expect_left("1:2:3:4", -1);
  expect_left("1:", -1);
  expect_left("-1:00", -1);
  expect_left("99999999999:00", -1);
}

static void other_lines_are_skipped(void **state)
{
  expect_jobs("Welcome to the cluster | login 1\n"
              "x|t|RUNNING|a|0:00|None\n"
              "12_3|t|RUNNING|a|0:00|None\n"
              "0|t|RUNNING|a|0:00|None\n"
              "4294967296|t|RUNNING|a|0:00|None\n"
              "5|t|RUNNING|a|0:00\n"
              "\n"
              "4294967295|t|RUNNING|a|0:00|None\n",
              "4294967295 t runs a 0 ;");
}

static void long_fields_are_cut(void **state)
{
  char line[1000];
  struct tm_slurm_job j;
  size_t at = 0;

  memset(line, 'a', sizeof line);
  memcpy(line, "1|", 2);
  memcpy(line + 900, "|RUNNING|h|0:00|None", 20);
  assert_true(tm_slurm_text_next_job(line, 920, &at, &j));
  assert_int_equal(strlen(j.name), TM_SLURM_TEXT_MAX - 1);
  assert_string_equal(j.host, "h");
}

/* ---- srun ---- */

static void expect_line(const char *line, enum tm_slurm_line kind, uint32_t job, const char *text)
{
  struct tm_slurm_said said;

  tm_slurm_text_line(line, strlen(line), &said);
  assert_int_equal(said.kind, kind);
  assert_int_equal(said.job, job);
  assert_string_equal(said.text, text);
}

static void srun_says_that_a_job_waits_or_has_a_machine(void **state)
{
  expect_line("srun: job 26 queued and waiting for resources\n", TM_SLURM_LINE_QUEUED, 26, "");
  expect_line("srun: job 26 has been allocated resources", TM_SLURM_LINE_GRANTED, 26, "");
  expect_line("srun: error: Node failure on node2\r\n", TM_SLURM_LINE_ERROR, 0,
              "Node failure on node2");
  expect_line("srun: fatal: Unable to process configuration file", TM_SLURM_LINE_ERROR, 0,
              "Unable to process configuration file");
  expect_line("srun: cluster configuration lacks support for cpu binding", TM_SLURM_LINE_OTHER, 0,
              "");
  expect_line("srun: job 99999999999 queued and waiting for resources", TM_SLURM_LINE_OTHER, 0, "");
  expect_line("srun: job 1 queued", TM_SLURM_LINE_OTHER, 0, "");
  expect_line("slurmstepd: error: *** STEP 24.0 ***", TM_SLURM_LINE_OTHER, 0, "");
  expect_line("", TM_SLURM_LINE_OTHER, 0, "");
}

static void a_controller_that_does_not_answer_is_recognized(void **state)
{
  assert_true(tm_slurm_text_is_unanswered("srun: error: Unable to allocate resources: Unable to "
                                          "contact slurm controller (connect failure)"));
  assert_true(tm_slurm_text_is_unanswered("srun: error: Unable to allocate resources: Socket timed "
                                          "out on send/recv operation"));
  assert_false(tm_slurm_text_is_unanswered("srun: error: Unable to allocate resources: Invalid "
                                           "partition name specified"));
  assert_true(tm_slurm_text_is_unanswered("Unable to contact slurm controller (connect failure)"));
  assert_false(tm_slurm_text_is_unanswered("Unable to contact"));
  assert_true(tm_slurm_text_is_unreached("Could not establish a configuration source"));
  assert_true(tm_slurm_text_is_unreached("srun: error: Unable to allocate resources: Unable to "
                                         "contact slurm controller (connect failure)"));
  assert_false(tm_slurm_text_is_unreached("srun: error: Unable to allocate resources: Socket timed "
                                          "out on send/recv operation"));
  assert_false(tm_slurm_text_is_unanswered(""));
  assert_true(tm_slurm_text_is_unavailable("Requested node configuration is not available"));
  assert_false(tm_slurm_text_is_unavailable("Invalid partition name specified"));
}

static void expect_error(const char *text, const char *expected)
{
  char out[TM_SLURM_TEXT_MAX];

  tm_slurm_text_error(text, strlen(text), out);
  assert_string_equal(out, expected);
}

static void the_reason_is_what_was_not_allocated(void **state)
{
  expect_error("slurm_load_jobs error: Invalid job id specified\n", "Invalid job id specified");
  expect_error("srun: cluster configuration lacks support for cpu binding\n"
               "srun: error: invalid partition specified: nope\n"
               "allocation failure: Invalid partition name specified\n",
               "Invalid partition name specified");
  expect_error("srun: error: Unable to allocate resources: Job violates accounting/QOS policy\n"
               "srun: error: later\n",
               "Job violates accounting/QOS policy");
  expect_error("srun: error: Invalid --time specification\n", "Invalid --time specification");
  expect_error("srun: unrecognized option '--nosuch'\nTry \"srun --help\" for more information\n",
               "srun: unrecognized option '--nosuch'");
  expect_error("srun: error: s_p_parse_file: cannot stat file /nonexist, retrying\n"
               "srun: fatal: Unable to process configuration file\nbye",
               "Unable to process configuration file");
  expect_error("allocation failure: No error\n", "allocation failure: No error");
  expect_error("\n\n", "");
  expect_error("", "");
}

/* ---- the allocation ---- */

static void cpus_of_a_host_are_counted_by_groups(void **state)
{
  static const int64_t expected[] = { 2, 2, 2, 4, 0 };

  for (size_t i = 0; i < TM_COUNT_OF(expected); i++)
    assert_int_equal(tm_slurm_text_cpus("2(x3),4", i), expected[i]);
  assert_int_equal(tm_slurm_text_cpus("16", 0), 16);
  assert_int_equal(tm_slurm_text_cpus("1(x2147483647)", 2147483646), 1);
}

static void cpus_that_cannot_be_read_are_none(void **state)
{
  static const char *const bad[] = {
    "",    "x",    "(x3)",        "0",  "-1", "2(x",   "2(x3",
    "2x3", "2(3)", "99999999999", " 2", "2 ", "2(x)4", "2(x3)(x4)"
  };

  for (size_t i = 0; i < TM_COUNT_OF(bad); i++)
    assert_int_equal(tm_slurm_text_cpus(bad[i], 0), 0);
  assert_int_equal(tm_slurm_text_cpus("2(x0),3", 0), 3);
  assert_int_equal(tm_slurm_text_cpus("2,x,3", 2), 0);
}

static void hosts_are_lines(void **state)
{
  static const char text[] = "node1\n\nnode 2\ncn[3]\n-x\nnode7";
  size_t at = 0;
  const char *name;

  assert_int_equal(tm_slurm_text_next_host(text, strlen(text), &at, &name), 5);
  assert_memory_equal(name, "node1", 5);
  assert_int_equal(tm_slurm_text_next_host(text, strlen(text), &at, &name), 5);
  assert_memory_equal(name, "node7", 5);
  assert_int_equal(tm_slurm_text_next_host(text, strlen(text), &at, &name), 0);
}

UNIT_TESTS({
    cmocka_unit_test(a_line_of_squeue_is_a_slurm_job),
    cmocka_unit_test(a_reason_may_hold_anything),
    cmocka_unit_test(states_say_whether_a_node_waits_runs_or_has_ended),
    cmocka_unit_test(states_say_why_a_node_has_ended),
    cmocka_unit_test(time_left_is_in_seconds),
    cmocka_unit_test(other_lines_are_skipped),
    cmocka_unit_test(long_fields_are_cut),
    cmocka_unit_test(srun_says_that_a_job_waits_or_has_a_machine),
    cmocka_unit_test(the_reason_is_what_was_not_allocated),
    cmocka_unit_test(cpus_of_a_host_are_counted_by_groups),
    cmocka_unit_test(cpus_that_cannot_be_read_are_none),
    cmocka_unit_test(hosts_are_lines),
    cmocka_unit_test(a_controller_that_does_not_answer_is_recognized),
});
