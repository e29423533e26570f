/* test_feed.c - what event streams send, and when. */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "portal/feed.h"

static struct tm_feed feed_of_tests(void)
{
  struct tm_feed f = { .change = 0 };
  memcpy(f.epoch, "0123456789abcdef", TM_FEED_EPOCH_LEN + 1);
  return f;
}

static void expect_next(const struct tm_feed *f, struct tm_feed_reader *r, int64_t now_ns,
                        const char *want)
{
  struct tm_buf out = TM_BUF_NONE;
  assert_int_equal(tm_feed_next(f, r, now_ns, &out), want != NULL);
  assert_string_equal(tm_buf_str(&out), want ? want : "");
  tm_buf_release(&out);
}

#define BEAT "event: beat\ndata: 1\n\n"
#define ID   "id: 0123456789abcdef-"

static void a_slow_reader_gets_only_the_newest_state(void **state)
{
  struct tm_feed f = feed_of_tests();
  struct tm_feed_reader r;
  assert_true(tm_feed_set(&f, "a", "{\"v\":1}"));
  tm_feed_reader_init(&r, &f, "a,b", NULL);
  expect_next(&f, &r, 0, ID "1\ndata: {\"a\":{\"v\":1}}\n\n");
  expect_next(&f, &r, 1, NULL);
  for (int i = 2; i < 100; i++)
    assert_true(tm_feed_set(&f, "a", i % 2 ? "{\"v\":3}" : "{\"v\":2}"));
  assert_false(tm_feed_set(&f, "a", "{\"v\":3}"));
  assert_true(tm_feed_set(&f, "b", "1"));
  assert_true(tm_feed_set(&f, "c", "1")); /* it is not a topic of this stream */
  expect_next(&f, &r, 2, ID "101\ndata: {\"a\":{\"v\":3},\"b\":1}\n\n");
  expect_next(&f, &r, 3, NULL);
  tm_feed_reader_release(&r);
  tm_feed_release(&f);
}

static void a_stream_that_comes_back_goes_on(void **state)
{
  struct tm_feed f = feed_of_tests();
  struct tm_feed_reader r;
  tm_feed_set(&f, "a", "1");
  tm_feed_set(&f, "b", "1");
  tm_feed_reader_init(&r, &f, "a,b", "0123456789abcdef-1");
  expect_next(&f, &r, 0, ID "2\ndata: {\"b\":1}\n\n");
  tm_feed_reader_release(&r);
  static const char *const unknown[] = { "fedcba9876543210-1", "0123456789abcdef-3", "", "x",
                                         "0123456789abcdef-",  "0123456789abcdef--1" };
  for (size_t i = 0; i < TM_COUNT_OF(unknown); i++) { /* of another run: everything is new */
    tm_feed_reader_init(&r, &f, "a,b", unknown[i]);
    expect_next(&f, &r, 0, ID "2\ndata: {\"a\":1,\"b\":1}\n\n");
    tm_feed_reader_release(&r);
  }
  tm_feed_release(&f);
}

static void a_quiet_stream_has_a_heartbeat(void **state)
{
  struct tm_feed f = feed_of_tests();
  struct tm_feed_reader r;
  tm_feed_reader_init(&r, &f, "a", NULL);
  expect_next(&f, &r, 100 * TM_S, BEAT); /* so that a browser sees that it is open */
  expect_next(&f, &r, 101 * TM_S - 1, NULL);
  expect_next(&f, &r, 101 * TM_S, BEAT);
  tm_feed_set(&f, "a", "1");
  expect_next(&f, &r, 101 * TM_S + 500 * TM_MS, ID "1\ndata: {\"a\":1}\n\n");
  expect_next(&f, &r, 102 * TM_S, NULL); /* the news were a beat, too */
  tm_feed_reader_release(&r);
  tm_feed_release(&f);
}

static void a_state_names_the_sections_that_are_new_to_its_reader(void **state)
{
  struct tm_feed f = feed_of_tests();
  struct tm_feed_reader r, late;
  tm_feed_reader_init(&r, &f, "b", NULL);
  tm_feed_renew(&f, "b", "x");
  expect_next(&f, &r, 0, BEAT); /* it has no state yet */
  tm_feed_set(&f, "b", "{\"v\":0}");
  expect_next(&f, &r, 0, ID "1\ndata: {\"b\":{\"v\":0,\"sections\":[\"x\"]}}\n\n");
  tm_feed_reader_release(&r);
  tm_feed_set(&f, "a", "{\"v\":1}");
  tm_feed_reader_init(&r, &f, "a", NULL);
  expect_next(&f, &r, 0, ID "2\ndata: {\"a\":{\"v\":1}}\n\n"); /* all may be new */
  tm_feed_renew(&f, "a", "x");
  tm_feed_renew(&f, "a", "y\"");
  tm_feed_set(&f, "a", "{\"v\":2}");
  expect_next(&f, &r, 1, ID "3\ndata: {\"a\":{\"v\":2,\"sections\":[\"x\",\"y\\\"\"]}}\n\n");
  tm_feed_renew(&f, "a", "x");
  tm_feed_set(&f, "a", "{\"v\":3}");
  tm_feed_reader_init(&late, &f, "a", "0123456789abcdef-2"); /* it has missed a state */
  expect_next(&f, &late, 2, ID "4\ndata: {\"a\":{\"v\":3,\"sections\":[\"x\",\"y\\\"\"]}}\n\n");
  expect_next(&f, &r, 2, ID "4\ndata: {\"a\":{\"v\":3,\"sections\":[\"x\"]}}\n\n");
  tm_feed_set(&f, "a", "{\"v\":4}");
  expect_next(&f, &r, 3, ID "5\ndata: {\"a\":{\"v\":4,\"sections\":[]}}\n\n");
  tm_feed_renew(&f, "a", "x");
  tm_feed_forget_sections(&f, "a");
  tm_feed_set(&f, "a", "{\"v\":5}");
  expect_next(&f, &r, 4, ID "6\ndata: {\"a\":{\"v\":5}}\n\n");
  tm_feed_reader_release(&late);
  tm_feed_reader_release(&r);
  tm_feed_release(&f);
}

static void a_section_waits_for_the_next_state_of_its_own_topic(void **state)
{
  struct tm_feed f = feed_of_tests();
  struct tm_feed_reader r;
  tm_feed_reader_init(&r, &f, "a,b", NULL);
  tm_feed_set(&f, "a", "{\"v\":1}");
  expect_next(&f, &r, 0, ID "1\ndata: {\"a\":{\"v\":1}}\n\n");
  tm_feed_renew(&f, "a", "x");
  assert_false(tm_feed_set(&f, "a", "{\"v\":1}"));
  tm_feed_set(&f, "b", "{\"v\":1}");
  expect_next(&f, &r, 1, ID "2\ndata: {\"b\":{\"v\":1}}\n\n");
  tm_feed_set(&f, "a", "{\"v\":2}");
  expect_next(&f, &r, 2, ID "3\ndata: {\"a\":{\"v\":2,\"sections\":[\"x\"]}}\n\n");
  tm_feed_reader_release(&r);
  tm_feed_release(&f);
}

static void topics_have_a_limit_and_can_go(void **state)
{
  struct tm_feed f = feed_of_tests();
  struct tm_feed_reader r;
  struct tm_buf topics = TM_BUF_NONE;
  for (int i = 0; i < 3 * TM_FEED_TOPICS; i++)
    tm_buf_add_str(&topics, ",,t");
  tm_feed_reader_init(&r, &f, topics.data, NULL);
  assert_int_equal(r.topics_len, TM_FEED_TOPICS);
  tm_feed_reader_drop(&r, TM_FEED_TOPICS - 1);
  tm_feed_reader_drop(&r, 0);
  assert_int_equal(r.topics_len, TM_FEED_TOPICS - 2);
  tm_feed_reader_release(&r);
  tm_buf_release(&topics);
  tm_feed_set(&f, "a", "1");
  tm_feed_remove(&f, "a");
  tm_feed_remove(&f, "a");
  assert_true(tm_feed_set(&f, "a", "1"));
  tm_feed_release(&f);
}

static void reading_takes_a_fiftieth_of_the_time(void **state)
{
  assert_int_equal(tm_feed_due(TM_S, 0), TM_S + 250 * TM_MS);
  assert_int_equal(tm_feed_due(TM_S, TM_MS), TM_S + 250 * TM_MS);
  assert_int_equal(tm_feed_due(TM_S, 10 * TM_MS), TM_S + 500 * TM_MS);
  assert_int_equal(tm_feed_due(TM_S, 100 * TM_MS), TM_S + 750 * TM_MS); /* no later than that */
}

UNIT_TESTS({
    cmocka_unit_test(a_slow_reader_gets_only_the_newest_state),
    cmocka_unit_test(a_stream_that_comes_back_goes_on),
    cmocka_unit_test(a_quiet_stream_has_a_heartbeat),
    cmocka_unit_test(a_state_names_the_sections_that_are_new_to_its_reader),
    cmocka_unit_test(a_section_waits_for_the_next_state_of_its_own_topic),
    cmocka_unit_test(topics_have_a_limit_and_can_go),
    cmocka_unit_test(reading_takes_a_fiftieth_of_the_time),
});
