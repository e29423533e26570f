/* entry_set.h - which names an archive has given, and where the contents of each are: for names that are there twice, and for
 * links to earlier entries.
 *
 * About 20 bytes an entry, at most 32: of a name its hash is kept, 64 bits with a seed that nobody can guess, of a place
 * the difference to the one before. Two names of one hash count as the same: of 10 million names some two have the same hash once in
 * 400,000 archives. Whoever could force it would fail an entry of their own archive.
 *
 * Zero-initialised is empty and ready.
 */
#ifndef TM_DATA_FILES_ENTRY_SET_H
#define TM_DATA_FILES_ENTRY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"
#include "data/item.h"

#define TM_ENTRY_SET_MOST INT64_C(4000000000)

struct tm_entry_set {
  struct tm_entry_bucket *
      *buckets; /* 1 << depth, by the first bits of a hash; neighbours may be the same */
  uint32_t depth;
  uint64_t seed;
  uint32_t len;
  struct TM_ARRAY(char *) groups; /* of places, encoded */
  struct tm_buf group;            /* the last one, still growing */
  struct tm_entry_place last;
};

/* Not for more than TM_ENTRY_SET_MOST. False: the name is there, and nothing was added. Of the place, `place` and `size`
 * are kept. */
bool tm_entry_set_add(struct tm_entry_set *s, const char *name, size_t len,
                      const struct tm_entry_place *place);
/* Sets place and size of `out`. False: there is no such name. */
bool tm_entry_set_find(const struct tm_entry_set *s, const char *name, size_t len,
                       struct tm_entry_place *out);
void tm_entry_set_release(struct tm_entry_set *s);

#endif
