/* test_node_report.c - the report of a node, and its probe, survive their way as bytes. */
#include "unit.h"

#include "base/mem.h"
#include "node/node_report.h"

static const struct tm_node_report report = { .host = "cn01",
                                              .boot_id = "b",
                                              .cpus_why = "the affinity",
                                              .slurm_job = "12",
                                              .temp_dir = "/scratch/\xff",
                                              .memory_dir = "",
                                              .uid = 1000,
                                              .pid = 7,
                                              .cpus = 64,
                                              .gpus = 4,
                                              .memory = UINT64_C(1) << 40 };

static void a_report_arrives(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_node_report got;
  tm_node_report_encode(&b, &report);
  assert_int_equal(tm_node_report_decode(&got, b.data, b.len, NULL), 0);
  assert_string_equal(got.host, "cn01");
  assert_string_equal(got.boot_id, "b");
  assert_string_equal(got.cpus_why, "the affinity");
  assert_string_equal(got.slurm_job, "12");
  assert_string_equal(got.temp_dir, "/scratch/\xff");
  assert_string_equal(got.memory_dir, "");
  assert_int_equal(got.uid, 1000);
  assert_int_equal(got.pid, 7);
  assert_int_equal(got.cpus, 64);
  assert_int_equal(got.gpus, 4);
  assert_true(got.memory == UINT64_C(1) << 40);
  tm_node_report_release(&got);
  tm_buf_release(&b);
}

/* Every prefix, and one byte too many. */
static void a_message_with_other_bytes_is_refused(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf b = TM_BUF_NONE;
  struct tm_node_report got;
  tm_node_report_encode(&b, &report);
  for (size_t n = 0; n < b.len; n++)
    assert_int_equal(tm_node_report_decode(&got, b.data, n, &err), TM_EPROTOCOL);
  tm_buf_add(&b, "", 1);
  assert_int_equal(tm_node_report_decode(&got, b.data, b.len, &err), TM_EPROTOCOL);
  assert_string_equal(err.text, "the report of a node cannot be read");
  tm_buf_release(&b);
}

static void a_report_is_about_a_machine_that_can_be(void **state)
{
  struct tm_node_report got;
  for (int i = 0; i < 2; i++) {
    struct tm_buf b = TM_BUF_NONE;
    tm_node_report_encode(&b, &report);
    tm_put_u32(b.data + b.len - 16, i == 0 ? 0 : TM_NODE_CPUS_MAX + 1);
    assert_int_equal(tm_node_report_decode(&got, b.data, b.len, NULL), TM_EPROTOCOL);
    tm_buf_release(&b);
  }
}

static void a_probe_and_its_answer_arrive(void **state)
{
  char *reads[] = { "/d", "/e f", NULL }, *writes[] = { "/w", NULL };
  struct tm_node_probe p = { .job_dir = "/j",
                             .asked = "/j/a",
                             .answered = "/j/b",
                             .nonce = "42",
                             .reads = reads,
                             .reads_len = 2,
                             .writes = writes,
                             .writes_len = 1 },
                       got;
  struct tm_node_probed said = { .problem = "", .asked = { 2, 3 }, .answered = { 4, 5 } }, heard;
  struct tm_buf b = TM_BUF_NONE;
  tm_node_probe_encode(&b, &p);
  assert_int_equal(tm_node_probe_decode(&got, b.data, b.len, NULL), 0);
  assert_string_equal(got.job_dir, "/j");
  assert_string_equal(got.asked, "/j/a");
  assert_string_equal(got.answered, "/j/b");
  assert_string_equal(got.nonce, "42");
  assert_int_equal(got.reads_len, 2);
  assert_string_equal(got.reads[1], "/e f");
  assert_null(got.reads[2]);
  assert_string_equal(got.writes[0], "/w");
  tm_node_probe_release(&got);
  b.len = 0;
  tm_node_probed_encode(&b, &said);
  assert_int_equal(tm_node_probed_decode(&heard, b.data, b.len, NULL), 0);
  assert_string_equal(heard.problem, "");
  assert_true(heard.asked.size == 2 && heard.asked.time_ns == 3);
  assert_true(heard.answered.size == 4 && heard.answered.time_ns == 5);
  tm_node_probed_release(&heard);
  tm_buf_release(&b);
}

static void a_source_arrives(void **state)
{
  const struct tm_node_source s = { .job_dir = "/j",
                                    .dir = "/tmp/t/source-0",
                                    .hash = "0123456789abcdef",
                                    .incarnation = { UINT64_MAX, 3, 1 } };
  struct tm_node_source got;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf b = TM_BUF_NONE;
  tm_node_source_encode(&b, &s);
  assert_int_equal(tm_node_source_decode(&got, b.data, b.len, NULL), 0);
  assert_string_equal(got.job_dir, "/j");
  assert_string_equal(got.dir, "/tmp/t/source-0");
  assert_string_equal(got.hash, "0123456789abcdef");
  assert_true(got.incarnation.epoch == UINT64_MAX && got.incarnation.node == 3 &&
              got.incarnation.number == 1);
  tm_node_source_release(&got);
  for (size_t n = 0; n < b.len; n++)
    assert_int_equal(tm_node_source_decode(&got, b.data, n, &err), TM_EPROTOCOL);
  tm_buf_release(&b);
}

static void a_source_has_absolute_paths_and_a_hash(void **state)
{
  static const struct tm_node_source cases[] = {
    { .job_dir = "j", .dir = "/t", .hash = "0123456789abcdef" },
    { .job_dir = "/j", .dir = "t", .hash = "0123456789abcdef" },
    { .job_dir = "/j", .dir = "/t", .hash = "0123456789abcde" }
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_node_source got;
    struct tm_buf b = TM_BUF_NONE;
    tm_node_source_encode(&b, &cases[i]);
    assert_int_equal(tm_node_source_decode(&got, b.data, b.len, NULL), TM_EPROTOCOL);
    tm_buf_release(&b);
  }
}

UNIT_TESTS({
    cmocka_unit_test(a_report_arrives),
    cmocka_unit_test(a_message_with_other_bytes_is_refused),
    cmocka_unit_test(a_report_is_about_a_machine_that_can_be),
    cmocka_unit_test(a_probe_and_its_answer_arrive),
    cmocka_unit_test(a_source_arrives),
    cmocka_unit_test(a_source_has_absolute_paths_and_a_hash),
});
