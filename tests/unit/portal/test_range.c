/* test_range.c - the header Range. */
#include "unit.h"

#include "base/mem.h"
#include "portal/request/range.h"

static const struct {
  const char *header;
  enum tm_range_kind kind;
  int64_t from, bytes;
} cases[] = {
  { "bytes=0-0", TM_RANGE_PART, 0, 1 },
  { "bytes=2-4", TM_RANGE_PART, 2, 3 },
  { "bytes=5-", TM_RANGE_PART, 5, 5 },
  { "bytes=5-99", TM_RANGE_PART, 5, 5 },
  { "bytes=-3", TM_RANGE_PART, 7, 3 },
  { "bytes=-99", TM_RANGE_PART, 0, 10 },
  { "bytes=9-", TM_RANGE_PART, 9, 1 },
  { "bytes=10-", TM_RANGE_OUTSIDE, 0, 0 },
  { "bytes=-0", TM_RANGE_OUTSIDE, 0, 0 },
  { "bytes=99-100", TM_RANGE_OUTSIDE, 0, 0 },
  /* what may be ignored */
  { NULL, TM_RANGE_WHOLE, 0, 10 },
  { "", TM_RANGE_WHOLE, 0, 10 },
  { "bytes=4-2", TM_RANGE_WHOLE, 0, 10 },
  { "bytes=-", TM_RANGE_WHOLE, 0, 10 },
  { "bytes=", TM_RANGE_WHOLE, 0, 10 },
  { "bytes=0-1,3-4", TM_RANGE_WHOLE, 0, 10 },
  { "lines=0-1", TM_RANGE_WHOLE, 0, 10 },
  { "bytes=0-99999999999999999999", TM_RANGE_WHOLE, 0, 10 },
  { "bytes=99999999999999999999-", TM_RANGE_WHOLE, 0, 10 },
  { "bytes=1-2x", TM_RANGE_WHOLE, 0, 10 },
};

static void a_range_is_within_the_file(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_range r = tm_range_of(cases[i].header, 10);
    assert_int_equal(r.kind, cases[i].kind);
    assert_int_equal(r.from, cases[i].from);
    assert_int_equal(r.bytes, cases[i].bytes);
  }
}

static void an_empty_file_has_no_ranges(void **state)
{
  assert_int_equal(tm_range_of("bytes=0-", 0).kind, TM_RANGE_OUTSIDE);
  assert_int_equal(tm_range_of("bytes=-5", 0).kind, TM_RANGE_OUTSIDE);
  assert_int_equal(tm_range_of(NULL, 0).bytes, 0);
}

UNIT_TESTS({
    cmocka_unit_test(a_range_is_within_the_file),
    cmocka_unit_test(an_empty_file_has_no_ranges),
});
