/* test_entry_set.c - names and places of an archive's entries, by the hundred thousand. */
#include "unit.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "data/archive/entry_set.h"

static size_t name_of(char *out, uint32_t i)
{
  return (size_t)sprintf(out, "folder%u/%u.txt", i / 1000, i);
}

static struct tm_entry_place place_of(uint32_t i)
{
  static const int64_t odd[] = { INT64_MAX, 0, 1, INT64_MAX - 1, 512 };
  bool is_odd = i % 1000 == 7;
  return (struct tm_entry_place) { .place = is_odd ? odd[i / 1000 % 5] : 1024 * (int64_t)i,
                                   .size = is_odd ? odd[(i / 1000 + 2) % 5] : i % 9000 };
}

static void every_name_is_found_with_its_place(void **state)
{
  struct tm_entry_set s = { 0 };
  struct tm_entry_place got = { .how = TM_ENTRY_IN_TAR, .crc = 7 };
  char name[64];
  assert_false(tm_entry_set_find(&s, "a", 1, &got));
  for (uint32_t i = 0; i < 200000; i++) {
    struct tm_entry_place p = place_of(i);
    assert_true(tm_entry_set_add(&s, name, name_of(name, i), &p));
    assert_false(tm_entry_set_add(&s, name, name_of(name, i / 2), &p));
  }
  for (uint32_t i = 0; i < 200000; i += 7) {
    struct tm_entry_place p = place_of(i);
    assert_true(tm_entry_set_find(&s, name, name_of(name, i), &got));
    assert_true(got.place == p.place && got.size == p.size && got.crc == 7);
    assert_false(tm_entry_set_find(&s, name, name_of(name, i + 200000), &got));
  }
  tm_entry_set_release(&s);
  assert_false(tm_entry_set_find(&s, "a", 1, &got));
}

/* At every size: a bucket that has just been split is the worst. */
static void an_entry_takes_at_most_32_bytes(void **state)
{
  struct tm_entry_set s = { 0 };
  char name[64];
  size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  for (uint32_t i = 0; i < 300000; i++) {
    struct tm_entry_place p = { .place = 1536 * (int64_t)i, .size = 1000 + i % 500 };
    assert_true(tm_entry_set_add(&s, name, name_of(name, i), &p));
    if (i >= 20000 && i % 500 == 0) {
      size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;
      assert_true(now == 0 || now - before <= 32 * (size_t)i);
    }
  }
  tm_entry_set_release(&s);
}

UNIT_TESTS({
    cmocka_unit_test(every_name_is_found_with_its_place),
    cmocka_unit_test(an_entry_takes_at_most_32_bytes),
});
