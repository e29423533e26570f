/* test_deciding.c - which try decides, as lists of tries. */
#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "export/deciding.h"

enum kind { WHOLE, PART };
#define DONE   true
#define FAILED false

static struct tm_deciding_try a_try(int64_t mini_batch, enum kind kind, bool is_done, int64_t items,
                                    int64_t failed)
{
  return (struct tm_deciding_try) { .mini_batch = mini_batch,
                                    .is_part = kind == PART,
                                    .is_done = is_done,
                                    .items = items,
                                    .failed = failed,
                                    .bytes = is_done ? 10 * items : 0 };
}

/* "-": nothing is decided; "+20": it has succeeded, with 20 bytes; "x0": it has failed. */
static void add(struct tm_deciding *d, struct tm_buf *out, const struct tm_deciding_try *t)
{
  struct tm_decision decision;
  if (!tm_deciding_add(d, t, &decision))
    tm_buf_add_str(out, "- ");
  else
    tm_buf_printf(out, "%s%lld ", decision.has_succeeded ? "+" : "x", (long long)decision.bytes);
}

static void expect(const struct tm_deciding_try *tries, size_t n, size_t left, const char *expected)
{
  struct tm_deciding d = { .slots = NULL };
  struct tm_buf out = TM_BUF_NONE;
  for (size_t i = 0; i < n; i++)
    add(&d, &out, &tries[i]);
  assert_string_equal(tm_buf_str(&out), expected);
  assert_int_equal(d.len, left);
  tm_buf_release(&out);
  tm_deciding_release(&d);
}

#define EXPECT(left, expected, ...)                                                                \
  expect((struct tm_deciding_try[]) { __VA_ARGS__ },                                               \
         TM_COUNT_OF(((struct tm_deciding_try[]) { __VA_ARGS__ })), left, expected)

static void a_try_of_the_whole_decides(void **state)
{
  EXPECT(0, "+20 ", a_try(0, WHOLE, DONE, 2, 0));
  EXPECT(0, "+20 ", a_try(0, WHOLE, DONE, 2, 1)); /* one item failed although run() returned */
  EXPECT(0, "- - x0 ", a_try(0, WHOLE, FAILED, 2, 0), a_try(0, WHOLE, FAILED, 2, 0),
         a_try(0, WHOLE, FAILED, 2, 2));
  EXPECT(0, "- +20 ", a_try(0, WHOLE, FAILED, 2, 0), a_try(0, WHOLE, DONE, 2, 0));
  EXPECT(1, "- ", a_try(0, WHOLE, FAILED, 2, 0)); /* it runs again, or its job ended */
}

static void rows_that_nobody_could_count_decide(void **state)
{
  EXPECT(0, "- x0 ", a_try(0, WHOLE, FAILED, 0, 0), a_try(0, WHOLE, FAILED, 0, 1));
}

static void the_last_part_decides(void **state)
{
  EXPECT(0, "- - - +10 ", a_try(0, WHOLE, FAILED, 2, 0), a_try(0, WHOLE, FAILED, 2, 0),
         a_try(0, PART, FAILED, 1, 1), a_try(0, PART, DONE, 1, 0));
  EXPECT(0, "- - x0 ", a_try(0, WHOLE, FAILED, 2, 0), a_try(0, PART, FAILED, 1, 1),
         a_try(0, PART, FAILED, 1, 1));
  /* a part is divided: its items are not settled */
  EXPECT(0, "- - - - +30 ", a_try(0, WHOLE, FAILED, 4, 0), a_try(0, PART, DONE, 2, 0),
         a_try(0, PART, FAILED, 2, 0), a_try(0, PART, FAILED, 1, 1), a_try(0, PART, DONE, 1, 0));
  EXPECT(1, "- - ", a_try(0, WHOLE, FAILED, 4, 0), a_try(0, PART, DONE, 2, 0));
}

static void a_new_round_begins_with_the_whole(void **state)
{
  EXPECT(0, "- - - - +10 ", a_try(0, WHOLE, FAILED, 2, 0), a_try(0, PART, DONE, 1, 0),
         /* the job was killed and resumed */
         a_try(0, WHOLE, FAILED, 2, 0), a_try(0, PART, DONE, 1, 0), a_try(0, PART, FAILED, 1, 1));
}

static void it_decides_again_after_a_resume(void **state)
{
  EXPECT(0, "x0 +20 ", a_try(0, WHOLE, FAILED, 2, 2), a_try(0, WHOLE, DONE, 2, 0));
}

static void an_init_decides_nothing(void **state)
{
  EXPECT(0, "- ", a_try(-1, WHOLE, FAILED, 0, 0));
}

static void numbers_of_a_damaged_file_do_no_harm(void **state)
{
  EXPECT(1, "- - ", a_try(INT64_MAX, WHOLE, FAILED, INT64_MAX, INT64_MAX - 1),
         a_try(INT64_MAX, PART, FAILED, INT64_MIN, INT64_MIN));
  EXPECT(0, "- x0 ", a_try(0, WHOLE, FAILED, INT64_MAX, 0),
         a_try(0, PART, FAILED, INT64_MAX, INT64_MAX));
  EXPECT(0, "- +9223372036854775807 ", a_try(0, WHOLE, FAILED, 1, 0),
         { .mini_batch = 0, .is_part = true, .is_done = true, .items = 1, .bytes = INT64_MAX });
}

static void many_are_remembered_and_forgotten(void **state)
{
  enum { MANY = 3000, AT_ONCE = 200 };
  struct tm_deciding d = { .slots = NULL };
  struct tm_decision decision;
  for (int64_t i = 0; i < MANY + AT_ONCE; i++) {
    int64_t first = i * 7919, last = (i - AT_ONCE) * 7919;
    struct tm_deciding_try t = a_try(first, WHOLE, FAILED, 2 + i % 3, 0);
    if (i < MANY)
      assert_false(tm_deciding_add(&d, &t, &decision));
    for (int64_t item = 0; i >= AT_ONCE && item < 2 + (i - AT_ONCE) % 3; item++) {
      t = a_try(last, PART, FAILED, 1, 1);
      assert_int_equal(tm_deciding_add(&d, &t, &decision), item == 1 + (i - AT_ONCE) % 3);
    }
  }
  assert_int_equal(d.len, 0);
  assert_true(d.cap <= 512);
  tm_deciding_release(&d);
}

UNIT_TESTS({
    cmocka_unit_test(a_try_of_the_whole_decides),
    cmocka_unit_test(rows_that_nobody_could_count_decide),
    cmocka_unit_test(the_last_part_decides),
    cmocka_unit_test(a_new_round_begins_with_the_whole),
    cmocka_unit_test(it_decides_again_after_a_resume),
    cmocka_unit_test(an_init_decides_nothing),
    cmocka_unit_test(numbers_of_a_damaged_file_do_no_harm),
    cmocka_unit_test(many_are_remembered_and_forgotten),
});
