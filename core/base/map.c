/* map.c - bytes to a number, by open addressing with linear probing.
 *
 *  (1) cap is 0 or a power of two; at most three quarters of the slots are used, so a probe ends.
 *  (2) A slot is free while its key is NULL. Nothing is ever removed, so there are no gaps in a
 *      probe.
 *
 * The map has its own copy of each key, with a NUL appended. It keeps the hash beside the key:
 * growing does not read the keys again, and most unequal keys are told apart without touching their
 * memory.
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct tm_map_slot {
  char *key;
  size_t key_len; /* bytes, without the NUL */
  uint64_t hash, value;
};

enum { MAP_FIRST = 16 }; /* slots */

/* The slot of the key, or the free one for it. The map must have slots. */
static struct tm_map_slot *probe(const struct tm_map *m, const void *key, size_t len, uint64_t hash)
{
  size_t mask = m->cap - 1;
  for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
    struct tm_map_slot *s = &m->slots[i];
    if (!s->key)
      return s;
    if (s->hash == hash && s->key_len == len && (len == 0 || memcmp(s->key, key, len) == 0))
      return s;
  }
}

static void grow(struct tm_map *m)
{
  struct tm_map old = *m;
  m->cap = old.cap ? old.cap * 2 : MAP_FIRST;
  m->slots = tm_xcalloc(m->cap, sizeof *m->slots);
  for (size_t i = 0; i < old.cap; i++) {
    const struct tm_map_slot *s = &old.slots[i];
    if (s->key)
      *probe(m, s->key, s->key_len, s->hash) = *s;
  }
  free(old.slots);
}

void tm_map_release(struct tm_map *m)
{
  for (size_t i = 0; i < m->cap; i++)
    free(m->slots[i].key);
  free(m->slots);
  *m = (struct tm_map) { 0 };
}

uint64_t *tm_map_find(const struct tm_map *m, const void *key, size_t key_len)
{
  if (m->cap == 0)
    return NULL;
  struct tm_map_slot *s = probe(m, key, key_len, tm_hash64(key, key_len));
  return s->key ? &s->value : NULL;
}

uint64_t *tm_map_add(struct tm_map *m, const void *key, size_t key_len, bool *is_new)
{
  uint64_t hash = tm_hash64(key, key_len);
  struct tm_map_slot *s = m->cap ? probe(m, key, key_len, hash) : NULL;
  bool added = !s || !s->key;
  if (added) {
    if (m->len + 1 > m->cap / 4 * 3) { /* keeps (1) */
      grow(m);
      s = probe(m, key, key_len, hash);
    }
    *s =
        (struct tm_map_slot) { .key = tm_xstrndup(key, key_len), .key_len = key_len, .hash = hash };
    m->len++;
  }
  if (is_new)
    *is_new = added;
  return &s->value;
}
