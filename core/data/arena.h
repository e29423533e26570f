/* arena.h - memory that is released as a whole, and used again.
 *
 * One arena holds the buffers of one frame at a time: the frame of a mini-batch is built in it, tm_arena_clear() ends
 * that frame, and the next one finds the memory there already, mapped and warm. Nothing goes back to the system before
 * tm_arena_release().
 *
 * Zero-initialised is empty and ready. Single pieces are not freed. Memory is aligned for any type, and to 64 bytes
 * where 64 bytes or more are taken at once (Arrow's advice, for vector loads).
 */
#ifndef TM_DATA_ARENA_H
#define TM_DATA_ARENA_H

#include <stddef.h>

struct tm_arena_block {
  char *at;
  size_t used, size; /* bytes */
};

struct tm_arena {
  struct tm_arena_block *blocks;
  size_t len, cap; /* blocks */
};

/* Bytes that hold anything; never NULL. */
void *tm_arena_take(struct tm_arena *a, size_t size);
/* `p` (of `old_size` bytes, from this arena, or NULL) with room for `size`: in place where it was the last of its block
 * and fits, else a copy; then the old place is lost until the arena is cleared. */
void *tm_arena_grow(struct tm_arena *a, void *p, size_t old_size, size_t size);
/* Every piece is gone; the memory stays for the next. */
void tm_arena_clear(struct tm_arena *a);
void tm_arena_release(struct tm_arena *a);      /* frees; empty and usable again */
size_t tm_arena_size(const struct tm_arena *a); /* bytes held from the system */

#endif
