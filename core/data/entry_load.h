/* entry_load.h - the mini-batches of archives, as run() is given them: what a worker does with them before.
 *
 * Each entry becomes a file below `scratch`, or stays a name that tm_entry_open() reads. An entry that cannot be read is marked
 * with the reason, and left out; the others are given all the same. Nothing is written outside `scratch`, whatever the names are:
 * its folders are made anew, hold files and folders alone, and nothing that is there is ever written over.
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

/* `scratch`: a folder that is made when it is needed, and goes with clear. index_dir: or NULL. */
struct tm_entry_loader *tm_entry_loader_new(const struct tm_fs *fs, const char *scratch,
                                            const char *index_dir);
void tm_entry_loader_free(struct tm_entry_loader *l); /* clears; NULL: a no-op */
/* To `marks`: u32 number from 1, bytes32 message for each that cannot be read. Negative: the mini-batch cannot be loaded at all:
 * TM_ECHANGED, a full disk, ... */
int tm_entry_load(struct tm_entry_loader *l, const char *bytes, size_t len,
                  struct tm_entry_items *out, struct tm_buf *marks, struct tm_err *err);
/* What was extracted is removed. */
void tm_entry_loader_clear(struct tm_entry_loader *l);
/* For reading entries that stayed names, and files. */
struct tm_entries *tm_entry_loader_entries(struct tm_entry_loader *l);

#endif
