/* arena.h - memory that is released as a whole and reused.
 *
 * One arena holds the buffers of one frame at a time: the frame of a mini-batch is built in it,
 * tm_arena_clear() ends that frame, and the next one reuses the memory, already mapped and warm. No
 * memory returns to the system before tm_arena_release().
 *
 * Zero-initialised is empty and ready. Single pieces cannot be freed. Memory is aligned for any
 * type; pieces of 64 bytes or more are aligned to 64 bytes (Arrow's advice, for vector loads).
 */
#ifndef TM_DATA_FRAME_ARENA_H
#define TM_DATA_FRAME_ARENA_H

#include <stddef.h>

struct tm_arena_block {
  char *at;
  size_t used, size; /* bytes */
};

struct tm_arena {
  struct tm_arena_block *blocks;
  size_t len, cap; /* blocks */
};

/* Uninitialised bytes; never NULL. */
void *tm_arena_take(struct tm_arena *a, size_t size);
/* Resizes `p` (of `old_size` bytes, from this arena, or NULL) to `size`: in place if it is the last
 * of its block and fits, else by a copy; then the old place is lost until the arena is cleared. */
void *tm_arena_grow(struct tm_arena *a, void *p, size_t old_size, size_t size);
/* Drops every piece; keeps the memory. */
void tm_arena_clear(struct tm_arena *a);
void tm_arena_release(struct tm_arena *a);      /* frees; empty and usable again */
size_t tm_arena_size(const struct tm_arena *a); /* bytes allocated from the system */

#endif
