/* large_blocks.c - see large_blocks.h. */
#include "sys/large_blocks.h"

#include <malloc.h>

enum { SMALL = 1 << 20, LARGE = 32 << 20 }; /* bytes; LARGE: the most that glibc reaches */

static void set(int blocks, int kept)
{
  mallopt(M_MMAP_THRESHOLD, blocks);
  mallopt(M_TRIM_THRESHOLD, kept);
}

void tm_large_blocks_begin(void)
{
  set(SMALL, SMALL);
}

void tm_large_blocks_end(void)
{
  set(LARGE, 2 * LARGE);
  malloc_trim(0); /* small ones */
}
