/* test_repeats.c - messages of one kind: which are shown, and the text about the others. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/repeats.h"

#define ENDS_EARLY(file, at)                                                                       \
  "'" file "': the file ends too early at byte " at "; it is a failed item"

static void expect_text(struct tm_repeats *r, const char *want)
{
  char *text = tm_repeats_take(r);
  assert_non_null(text);
  assert_string_equal(text, want);
  free(text);
}

static void only_the_first_of_a_kind_is_shown(void **state)
{
  struct tm_repeats r = { .taken = 0 };
  assert_true(tm_repeats_add(&r, "the archive '/data/in/a.zip' cannot be listed: no end"));
  assert_true(tm_repeats_add(&r, "the archive '/data/in/a.zip' cannot be listed: it is empty"));
  assert_false(tm_repeats_add(&r, "the archive '/data/in/it's b.zip' cannot be listed: no end"));
  assert_true(tm_repeats_add(&r, ENDS_EARLY("1.gz", "24 of 30")));
  assert_false(tm_repeats_add(&r, ENDS_EARLY("2.gz", "7 of 999")));
  assert_false(tm_repeats_add(&r, ENDS_EARLY("x/3.gz", "7 of 9")));
  assert_false(tm_repeats_add(&r, ENDS_EARLY("/y/x/4.gz", "7 of 9")));
  assert_false(tm_repeats_add(&r, ENDS_EARLY("5.gz", "7 of 9")));
  assert_false(tm_repeats_add(&r, ENDS_EARLY("6.gz", "7 of 9")));
  expect_text(&r, "1 more warning like the one about 'in/a.zip': 'in/it's b.zip'");
  expect_text(&r, "5 more warnings like the one about '1.gz': '2.gz', 'x/3.gz', 'x/4.gz' and 2 "
                  "others");
  assert_null(tm_repeats_take(&r));
  tm_repeats_release(&r);
}

static void a_message_without_a_name_is_always_shown(void **state)
{
  struct tm_repeats r = { .taken = 0 };
  for (int i = 0; i < 3; i++) {
    assert_true(tm_repeats_add(&r, "the list is empty"));
    assert_true(tm_repeats_add(&r, "an unclosed ' quote"));
    assert_true(tm_repeats_add(&r, ""));
  }
  assert_null(tm_repeats_take(&r));
  tm_repeats_release(&r);
}

static void hostile_names_make_no_more_than_so_many_kinds(void **state)
{
  struct tm_repeats r = { .taken = 0 };
  char message[200];
  for (int i = 0; i < 1000; i++) {
    memset(message, 'x', (size_t)i % 150 + 1);
    snprintf(message + i % 150 + 1, 30, " 'a.zip' is bad");
    (void)tm_repeats_add(&r, message);
  }
  assert_true(r.kinds.len <= 64);
  tm_repeats_release(&r);
}

UNIT_TESTS({
    cmocka_unit_test(only_the_first_of_a_kind_is_shown),
    cmocka_unit_test(a_message_without_a_name_is_always_shown),
    cmocka_unit_test(hostile_names_make_no_more_than_so_many_kinds),
});
