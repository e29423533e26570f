/* entry_load.h - the mini-batches of archives, as run() is given them: what a worker does with them before.
 *
 * Each entry becomes a file below `scratch` or `memory`, or stays a name that tm_entry_open() reads. An entry that cannot be read
 * is marked with the reason, and left out; the others are given all the same. Nothing is written outside the two, whatever the
 * names are: their folders are made anew, hold files and folders alone, and nothing that is there is ever written over.
 *
 * The files of a mini-batch are all in `memory` where that suits (entry_memory.h) and is not there yet, and all of it could be
 * written; else below `scratch`.
 *
 * Caller: new; for each mini-batch load, run(), clear; free.
 */
#ifndef TM_DATA_ENTRY_LOAD_H
#define TM_DATA_ENTRY_LOAD_H

#include "data/files/entry.h"
#include "data/item.h"

struct tm_entry_loader;

/* What run() is given. Memory of the loader, until clear. */
struct tm_entry_items {
  const char *bytes; /* items, item.h */
  size_t bytes_len;
  uint32_t items;
  const uint32_t *numbers; /* of each in the mini-batch, from 1 */
};

/* Whether the mini-batch is one of entries. */
bool tm_entry_load_is_for(const char *bytes, size_t len);

/* `scratch`, `memory`: folders that are made when they are needed, and go with clear. The first is in a folder of this user's own,
 * the second may be in one that everybody can write to; NULL: there is none. index_dir: or NULL. */
struct tm_entry_loader *tm_entry_loader_new(const struct tm_fs *fs, const char *scratch,
                                            const char *memory, const char *index_dir);
void tm_entry_loader_free(struct tm_entry_loader *l); /* clears; NULL: a no-op */
/* To `marks`: u32 number from 1, bytes32 message for each that cannot be read. Negative: the mini-batch cannot be loaded at all:
 * TM_ECHANGED, a full disk, ... */
int tm_entry_load(struct tm_entry_loader *l, const char *bytes, size_t len,
                  struct tm_entry_items *out, struct tm_buf *marks, struct tm_err *err);
/* Whether what was extracted to memory is gone before clear: a session manager removes what a user has there who logs out. This
 * mini-batch counts for nothing; the next ones go below `scratch`. */
bool tm_entry_loader_has_lost(struct tm_entry_loader *l);
/* What was extracted is removed. */
void tm_entry_loader_clear(struct tm_entry_loader *l);
/* For reading entries that stayed names, and files. */
struct tm_entries *tm_entry_loader_entries(struct tm_entry_loader *l);

#endif
