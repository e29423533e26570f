/* entry_set.h - the names of an archive so far, and where their contents are: to find duplicate
 * names, and the targets of links to earlier entries.
 *
 * About 20 bytes per entry, at most 32: a name is stored as a 64-bit hash with an unpredictable
 * seed, a place as the difference to the one before. Names with equal hashes count as the same:
 * with 10 million names this happens once in 400,000 archives. Whoever could force it would only
 * fail an entry of their own archive.
 *
 * Zero-initialised is empty and ready.
 */
#ifndef TM_DATA_ARCHIVE_ENTRY_SET_H
#define TM_DATA_ARCHIVE_ENTRY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"
#include "data/item.h"

#define TM_ENTRY_SET_MOST INT64_C(4000000000)

struct tm_entry_set {
  /* 1 << depth, by the first bits of a hash; neighbours may be the same */
  struct tm_entry_bucket **buckets;
  uint32_t depth;
  uint64_t seed;
  uint32_t len;
  struct TM_ARRAY(char *) groups; /* of places, encoded */
  struct tm_buf group;            /* the last one, which still grows */
  struct tm_entry_place last;
};

/* At most TM_ENTRY_SET_MOST names. False: the name exists already, and nothing was added. Stores
 * `place` and `size` of the place. */
bool tm_entry_set_add(struct tm_entry_set *s, const char *name, size_t len,
                      const struct tm_entry_place *place);
/* Sets place and size of `out`. False: the name is unknown. */
bool tm_entry_set_find(const struct tm_entry_set *s, const char *name, size_t len,
                       struct tm_entry_place *out);
void tm_entry_set_release(struct tm_entry_set *s);

#endif
