/* test_notable.c - the failed and the slowest tries. */
#include "unit.h"

#include "base/buf.h"
#include "insight/notable.h"

static struct tm_try_row a_try(int64_t mini_batch, int64_t run_ns)
{
  return (struct tm_try_row) { .mini_batch = mini_batch,
                               .picked = 1,
                               .process = "p0",
                               .total = "3",
                               .status = "RUN_DONE",
                               .category = "",
                               .message = "",
                               .detail = "dataset=in count=3 manifest=16 first=/a b",
                               .node = "0",
                               .run_ns = run_ns };
}

static void the_slowest_are_kept_in_any_order(void **state)
{
  for (int step = 1; step < 100; step += 2) { /* prime to 100 */
    struct tm_notable n;
    size_t len;
    if (step % 5 == 0)
      continue;
    tm_notable_init(&n);
    for (int i = 0; i < 100; i++) {
      struct tm_try_row t = a_try(i * step % 100, i * step % 100 / 2 * 10);
      tm_notable_add_ok(&n, &t);
    }
    struct tm_notable_try **slowest = tm_notable_slowest(&n, &len);
    assert_int_equal(len, TM_NOTABLE_SLOWEST);
    for (size_t i = 0; i < len; i++) /* two of each duration, the smaller mini-batch first */
      assert_int_equal(slowest[i]->mini_batch, 98 - (int64_t)(i / 2 * 2) + (int64_t)(i % 2));
    assert_string_equal(slowest[0]->first_item, "/a b");
    assert_int_equal(slowest[0]->items, 3);
    free(slowest);
    tm_notable_release(&n);
  }
}

static void the_first_failures_are_kept(void **state)
{
  struct tm_notable n;
  tm_notable_init(&n);
  for (int i = 0; i < TM_NOTABLE_FAILED + 3; i++) {
    struct tm_try_row t = a_try(i, 1);
    tm_notable_add_failed(&n, &t);
  }
  assert_int_equal(n.failed.len, TM_NOTABLE_FAILED);
  assert_int_equal(n.failed.at[n.failed.len - 1].mini_batch, TM_NOTABLE_FAILED - 1);
  assert_int_equal(n.failed_more, 3);
  tm_notable_release(&n);
}

static void long_texts_are_cut_between_characters(void **state)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_notable n;
  tm_notable_init(&n);
  tm_buf_add_char(&text, 'x');
  for (int i = 0; i < 1000; i++)
    tm_buf_add_str(&text, "\xc3\xa9"); /* the limit is within a character */
  struct tm_try_row t = a_try(1, 1);
  t.message = text.data;
  tm_notable_add_failed(&n, &t);
  assert_int_equal(strlen(n.failed.at[0].message), TM_NOTABLE_TEXT - 1);
  tm_notable_release(&n);
  tm_buf_release(&text);
}

static void the_first_item_of_a_detail(void **state)
{
  assert_string_equal(tm_notable_first_item("dataset= count=1 manifest=2 keys=store=n"), "store=n");
  assert_string_equal(tm_notable_first_item("dataset= count=1"), "");
  assert_string_equal(tm_notable_first_item(""), "");
}

UNIT_TESTS({
    cmocka_unit_test(the_slowest_are_kept_in_any_order),
    cmocka_unit_test(the_first_failures_are_kept),
    cmocka_unit_test(long_texts_are_cut_between_characters),
    cmocka_unit_test(the_first_item_of_a_detail),
});
