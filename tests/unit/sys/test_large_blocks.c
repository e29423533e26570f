/* test_large_blocks.c - blocks that go back to the system when they are freed. */
#include "unit.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sys/large_blocks.h"

enum { BLOCK = 8 << 20 };

/* Whether the C library gets a block from the system, and not from memory that it keeps. */
static bool is_mapped(size_t size)
{
  size_t before = mallinfo2().hblks;
  void *volatile block = malloc(size);
  bool is = mallinfo2().hblks > before;
  free(block);
  return is;
}

/* A sanitizer has an allocator of its own. */
static void skip_without_glibc(void)
{
  void *volatile block = malloc(1);
  size_t in_use = mallinfo2().uordblks;
  free(block);
  if (in_use == 0)
    skip();
}

static void large_blocks_are_given_back_until_the_end(void **state)
{
  skip_without_glibc();
  tm_large_blocks_begin();
  assert_true(is_mapped(2 * BLOCK));
  assert_true(is_mapped(2 * BLOCK)); /* again */
  tm_large_blocks_end();
  assert_false(is_mapped(2 * BLOCK));
}

UNIT_TESTS({
    cmocka_unit_test(large_blocks_are_given_back_until_the_end),
});
