/* test_message_pattern.c - what is left of a message, by a table of cases. */
#include "unit.h"

#include "base/mem.h"
#include "base/message_pattern.h"

static const struct {
  const char *message, *item, *pattern;
} cases[] = {
  /* the item, by its path or by an end of it */
  { "cannot read '/data/a.pgm': bad magic", "/data/a.pgm", "cannot read <item>: bad magic" },
  { "/data/a.pgm: bad magic", "/data/a.pgm", "<item>: bad magic" },
  { "a.pgm is empty, not a.pgm2", "/data/a.pgm", "<item> is empty, not a.pgm<n>" },
  { "in/a.txt and b/a.txt", "/data/in/a.txt", "<item> and b/a.txt" },
  { "bad entry m.csv", "/data/b.zip!m.csv", "bad entry <item>" },
  { "ba.pgm, ./a.pgm, a.pgm", "/data/a.pgm", "ba.pgm, ./a.pgm, <item>" },
  { "element 1 of in/1 is nil", "in/1", "element <n> of <item> is nil" },
  { "bad \xc3\xa4.txt", "/d/\xc3\xa4.txt", "bad <item>" },
  { "bad x\xc3\xa4.txt", "/d/\xc3\xa4.txt", "bad x\xc3\xa4.txt" },
  /* text in quotes */
  { "no field 'x' in \"y z\"", "", "no field '...' in '...'" },
  { "can't open 'it's', doesn't exist", "", "can't open '...', doesn't exist" },
  { "an open 'quote\nnext 'line'", "", "an open 'quote\nnext '...'" },
  { "''", "", "'...'" },
  { "'a.pgm b'", "a.pgm", "'...'" },
  /* numbers */
  { "row 17 of 2000: -1.50 is below 0", "", "row <n> of <n>: -<n> is below <n>" },
  { "table: 0x7f12ab, 1.2.3, 5.", "", "table: <n>, <n>.<n>, <n>." },
  { "process003/12/x9y", "", "process<n>/<n>/x<n>y" },
  { "0x", "", "<n>x" },
  /* nothing */
  { "", "/data/a.pgm", "" },
  { "no more", "", "no more" },
};

static void a_pattern_leaves_out_what_differs(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_buf b = TM_BUF_NONE;
    tm_message_pattern(&b, cases[i].message, cases[i].item, strlen(cases[i].item));
    assert_string_equal(tm_buf_str(&b), cases[i].pattern);
    tm_buf_release(&b);
  }
}

static void a_long_message_is_cut(void **state)
{
  struct tm_buf b = TM_BUF_NONE, message = TM_BUF_NONE;
  for (int i = 0; i < 1000000; i++)
    tm_buf_add_char(&message, i % 2 ? '\'' : ' ');
  tm_message_pattern(&b, message.data, message.data, message.len);
  assert_true(b.len <= 5 * TM_MESSAGE_PATTERN_MAX);
  tm_buf_release(&b);
  tm_buf_release(&message);
}

UNIT_TESTS({
    cmocka_unit_test(a_pattern_leaves_out_what_differs),
    cmocka_unit_test(a_long_message_is_cut),
});
