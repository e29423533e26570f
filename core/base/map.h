/* map.h - bytes to a number (an index, a count, or a pointer cast): open addressing, grows, never
 * shrinks. Keys are copied. Zero-initialised is empty and ready. */
#ifndef TM_BASE_MAP_H
#define TM_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tm_map {
  struct tm_map_slot *slots;
  size_t len, cap;
};

void tm_map_release(struct tm_map *m);
/* A pointer to the key's value, or NULL. Valid until the next add. */
uint64_t *tm_map_find(const struct tm_map *m, const void *key, size_t key_len);
/* Like tm_map_find(), but adds a missing key with value 0; `is_new` may be NULL. */
uint64_t *tm_map_add(struct tm_map *m, const void *key, size_t key_len, bool *is_new);

#endif
