/* test_nodes.c - the nodes of a job: as text, and as JSON that anybody may have
 * written. */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "record/nodes.h"

static void says(const struct tm_nodes_now *n, const char *expected)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_nodes_now_add(&text, n);
  assert_string_equal(tm_buf_str(&text), expected);
  tm_buf_release(&text);
}

static void only_unready_nodes_are_shown_in_detail(void **state)
{
  says(&(struct tm_nodes_now) { 0 }, "");
  says(&(struct tm_nodes_now) { .ready = 1, .all = 1 }, "1 node");
  says(&(struct tm_nodes_now) { .ready = 8, .all = 8 }, "8 nodes");
  says(&(struct tm_nodes_now) { .ready = 0, .all = 1 }, "0 of 1 node");
  says(&(struct tm_nodes_now) { .ready = 2, .all = 8 }, "2 of 8 nodes");
  says(&(struct tm_nodes_now) { .ready = 2, .all = 8, .waiting = 5 }, "2 of 8 nodes, 5 waiting");
  says(&(struct tm_nodes_now) { .ready = 2, .all = 8, .waiting = 6, .reason = "Resources" },
       "2 of 8 nodes, 6 waiting: Resources");
  says(&(struct tm_nodes_now) { .all = 1, .waiting = 1, .reason = "a\nb\x1b[2J" },
       "0 of 1 node, 1 waiting: a\\nb\\x1B[2J");
}

static void written_numbers_are_read_back(void **state)
{
  const struct tm_nodes_now now = { .ready = 2, .all = 8, .waiting = 6, .reason = "Resources" };
  const struct tm_nodes_sum sum = {
    .asked = 5, .started = 4, .lost = 1, .ns = 61234567890, .busy_percent = 77.1254
  };
  struct tm_nodes_now now_read;
  struct tm_nodes_sum sum_read;
  struct tm_json *v = tm_nodes_now_to_json(&now);
  assert_true(tm_nodes_now_from_json(&now_read, v));
  assert_int_equal(now_read.ready, 2);
  assert_int_equal(now_read.all, 8);
  assert_int_equal(now_read.waiting, 6);
  assert_string_equal(now_read.reason, "Resources");
  tm_json_free(v);
  v = tm_nodes_sum_to_json(&sum);
  char *text = tm_json_text(v);
  assert_string_equal(text, "{\"asked\":5,\"started\":4,\"lost\":1,\"seconds\":61.235,"
                            "\"busy_percent\":77.125}");
  assert_true(tm_nodes_sum_from_json(&sum_read, v));
  assert_int_equal(sum_read.asked, 5);
  assert_int_equal(sum_read.started, 4);
  assert_int_equal(sum_read.lost, 1);
  assert_int_equal(sum_read.ns / TM_MS, 61235);
  free(text);
  tm_json_free(v);
}

static void other_values_are_refused(void **state)
{
  static const char *const texts[] = {
    "{}",
    "[]",
    "7",
    "{\"ready\":-1,\"requested\":2,\"waiting\":0,\"asked\":-1,\"started\":0,\"lost\":0}",
    "{\"ready\":3,\"requested\":2,\"waiting\":0,\"asked\":2,\"started\":3,\"lost\":0,"
    "\"seconds\":1,\"busy_percent\":1}",
    "{\"ready\":0,\"requested\":2,\"waiting\":3,\"asked\":3,\"started\":3,\"lost\":0,"
    "\"seconds\":1e300,\"busy_percent\":1}",
    "{\"ready\":\"1\",\"requested\":2,\"waiting\":0,\"asked\":3,\"started\":3,\"lost\":0,"
    "\"seconds\":1,\"busy_percent\":101}",
  };
  for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
    struct tm_nodes_now now;
    struct tm_nodes_sum sum;
    struct tm_json *v = tm_json_parse(texts[i], strlen(texts[i]), NULL);
    assert_non_null(v);
    assert_false(tm_nodes_now_from_json(&now, v));
    assert_int_equal(now.all, 0);
    assert_false(tm_nodes_sum_from_json(&sum, v));
    tm_json_free(v);
  }
  struct tm_nodes_now now;
  assert_false(tm_nodes_now_from_json(&now, NULL));
}

static void nobody_is_busier_than_all_the_time(void **state)
{
  assert_int_equal((int)tm_busy_percent(0, 0), 0);
  assert_int_equal((int)tm_busy_percent(5, 0), 0);
  assert_int_equal((int)tm_busy_percent(-5, 10), 0);
  assert_int_equal((int)tm_busy_percent(5, 10), 50);
  assert_int_equal((int)tm_busy_percent(INT64_MAX, 10), 100);
}

UNIT_TESTS({
    cmocka_unit_test(only_unready_nodes_are_shown_in_detail),
    cmocka_unit_test(written_numbers_are_read_back),
    cmocka_unit_test(other_values_are_refused),
    cmocka_unit_test(nobody_is_busier_than_all_the_time),
});
