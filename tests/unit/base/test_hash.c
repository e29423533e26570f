/* test_hash.c - the hashes are those of XXH3, because files contain them. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void sums_are_fixed(void **state)
{
  assert_true(tm_hash64("", 0) == UINT64_C(0x2D06800538D394C2)); /* published for XXH3, seed 0 */
  assert_true(tm_hash64(NULL, 0) == tm_hash64("", 0));
  assert_true(tm_hash64_seed("tidemill", 8, 0) == tm_hash64("tidemill", 8));
  assert_true(tm_hash64_seed("tidemill", 8, 1) != tm_hash64("tidemill", 8));
}

static void pieces_give_the_sum_of_the_whole(void **state)
{
  static char bytes[5000];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (char)(i * 7);
  struct tm_hash *h = tm_hash_new();
  for (size_t piece = 1; piece < 700; piece += 37) {
    tm_hash_reset(h);
    for (size_t at = 0; at < sizeof bytes; at += piece)
      tm_hash_add(h, bytes + at, at + piece < sizeof bytes ? piece : sizeof bytes - at);
    assert_true(tm_hash_end(h) == tm_hash64(bytes, sizeof bytes));
  }
  tm_hash_free(h);
}

static void end_does_not_end(void **state)
{
  struct tm_hash *h = tm_hash_new();
  assert_true(tm_hash_end(h) == tm_hash64("", 0));
  tm_hash_add(h, "ab", 2);
  tm_hash_add(h, NULL, 0);
  assert_true(tm_hash_end(h) == tm_hash64("ab", 2));
  assert_true(tm_hash_end(h) == tm_hash64("ab", 2));
  tm_hash_add(h, "c", 1);
  assert_true(tm_hash_end(h) == tm_hash64("abc", 3));
  tm_hash_free(h);
  tm_hash_free(NULL);
}

UNIT_TESTS({
    cmocka_unit_test(sums_are_fixed),
    cmocka_unit_test(pieces_give_the_sum_of_the_whole),
    cmocka_unit_test(end_does_not_end),
});
