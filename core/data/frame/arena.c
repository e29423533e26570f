/* arena.c - blocks of memory, used from the front.
 *
 * The buffers of frames are few and large, so a piece goes into the first block that has room:
 * after a clear, the next frame reuses the same blocks. A block has at least BLOCK_MIN, and at
 * least as much as all blocks before it together, so that there are few of them however a frame has
 * grown.
 */
#include "data/frame/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define BLOCK_MIN ((size_t)1 << 20)
#define ALIGN     64

static size_t rounded(size_t size)
{
  tm_require(size <= SIZE_MAX / 4);
  size_t to = size >= ALIGN ? ALIGN : 16;
  return (size + to - 1) / to * to;
}

static char *take_from(struct tm_arena_block *b, size_t size)
{
  size_t at = size >= ALIGN ? (b->used + ALIGN - 1) / ALIGN * ALIGN : b->used;
  if (at > b->size || b->size - at < size)
    return NULL;
  b->used = at + size;
  return b->at + at;
}

static struct tm_arena_block *add_block(struct tm_arena *a, size_t size)
{
  size_t all = tm_arena_size(a);
  if (size < BLOCK_MIN)
    size = BLOCK_MIN;
  if (size < all)
    size = all;
  size = rounded(size);
  char *at = aligned_alloc(ALIGN, size);
  tm_require(at != NULL);
  tm_array_reserve((void **)&a->blocks, a->len + 1, &a->cap, sizeof *a->blocks);
  a->blocks[a->len] = (struct tm_arena_block) { .at = at, .size = size };
  return &a->blocks[a->len++];
}

void *tm_arena_take(struct tm_arena *a, size_t size)
{
  size = rounded(size > 0 ? size : 1);
  for (size_t i = 0; i < a->len; i++) {
    char *p = take_from(&a->blocks[i], size);
    if (p != NULL)
      return p;
  }
  return take_from(add_block(a, size), size);
}

void *tm_arena_grow(struct tm_arena *a, void *p, size_t old_size, size_t size)
{
  size_t before = rounded(old_size > 0 ? old_size : 1), wanted = rounded(size > 0 ? size : 1);
  if (p == NULL)
    return tm_arena_take(a, size);
  if (wanted <= before)
    return p;
  for (size_t i = 0; i < a->len; i++) {
    struct tm_arena_block *b = &a->blocks[i];
    if (b->at + b->used == (char *)p + before && b->size - b->used >= wanted - before) {
      b->used += wanted - before;
      return p;
    }
  }
  return memcpy(tm_arena_take(a, size), p, old_size);
}

void tm_arena_clear(struct tm_arena *a)
{
  for (size_t i = 0; i < a->len; i++)
    a->blocks[i].used = 0;
}

void tm_arena_release(struct tm_arena *a)
{
  for (size_t i = 0; i < a->len; i++)
    free(a->blocks[i].at);
  free(a->blocks);
  *a = (struct tm_arena) { 0 };
}

size_t tm_arena_size(const struct tm_arena *a)
{
  size_t n = 0;
  for (size_t i = 0; i < a->len; i++)
    n += a->blocks[i].size;
  return n;
}
