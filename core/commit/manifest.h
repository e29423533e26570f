/* manifest.h - the list of mini-batches, on disk (core/README.md: invariant 11).
 *
 * One thread (the lister) writes it, another (the job's) reads it: an entry may be read once
 * tm_manifest_count() has passed it. Entries have check sums and are chained by a running hash; an
 * end record closes the list. Memory holds one offset per 1,024 entries.
 */
#ifndef TM_COMMIT_MANIFEST_H
#define TM_COMMIT_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct tm_manifest; /* commit.c opens and closes it */

/* Writer. Adds an entry to a buffer; tm_manifest_flush() makes it visible to the reader. On a
 * resumed list without an end record, the first entries are compared with the existing ones:
 * TM_ECHANGED names the first difference. */
int tm_manifest_add(struct tm_manifest *m, uint32_t dataset, uint32_t items, const void *bytes,
                    size_t len, struct tm_err *err);
int tm_manifest_flush(struct tm_manifest *m, struct tm_err *err);
int tm_manifest_end(struct tm_manifest *m,
                    struct tm_err *err);                 /* flushes, and writes the end record */
size_t tm_manifest_pending(const struct tm_manifest *m); /* bytes in the writer's buffer */

/* Call it before the first add of a session: all existing entries are compared with the new ones
 * (--verify-input), even if the list has its end record; tm_manifest_end() then compares the
 * number. */
void tm_manifest_relist(struct tm_manifest *m);
/* Likewise before the first add: a file with another size or time than in the entry counts as
 * equal. The entry stays. */
void tm_manifest_accept(struct tm_manifest *m);

/* Reader. */
uint64_t tm_manifest_count(const struct tm_manifest *m); /* entries that can be read; any thread */
uint64_t tm_manifest_items(const struct tm_manifest *m); /* items in them; any thread */
bool tm_manifest_has_end(const struct tm_manifest *m);   /* the list is complete; any thread */
/* running hash of the whole list; only after its end */
uint64_t tm_manifest_chain(const struct tm_manifest *m);

struct tm_manifest_entry {
  uint64_t index;
  uint32_t dataset, items;
  int64_t at;        /* offset in the file */
  const char *bytes; /* the items (data/item.h); valid until the next read */
  size_t len;
};
/* Fast for index, index + 1, ...; a retry far back costs a read of up to 1,023 entries. */
int tm_manifest_read(struct tm_manifest *m, uint64_t index, struct tm_manifest_entry *out,
                     struct tm_err *err);

#endif
