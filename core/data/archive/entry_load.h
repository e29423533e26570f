/* entry_load.h - prepares mini-batches of archives in a worker, before run() gets them.
 *
 * Each entry becomes a file below `scratch` or `memory`, or stays a name that tm_entry_open()
 * reads. An entry that cannot be read is marked with the reason and left out; run() gets the
 * others. Nothing is written outside the two folders, whatever the names are: the folders are new,
 * hold only files and folders, and nothing in them is ever overwritten.
 *
 * All files of a mini-batch are in `memory` if it suits (entry_memory.h), did not exist, and
 * everything could be written; else below `scratch`.
 *
 * Caller: new; for each mini-batch load, run(), clear; free.
 */
#ifndef TM_DATA_ARCHIVE_ENTRY_LOAD_H
#define TM_DATA_ARCHIVE_ENTRY_LOAD_H

#include "data/archive/entry.h"
#include "data/item.h"

struct tm_entry_loader;

/* What run() gets. Memory of the loader, until clear. */
struct tm_entry_items {
  const char *bytes; /* items, item.h */
  size_t bytes_len;
  uint32_t items;
  const uint32_t *numbers; /* of each item in the mini-batch, from 1 */
};

/* Whether the mini-batch holds entries. */
bool tm_entry_load_is_for(const char *bytes, size_t len);

/* `scratch`, `memory`: folders that are made when needed and removed by clear. The first is in a
 * folder of this user; the second may be in a folder that everybody can write to, or NULL.
 * index_dir: or NULL. */
struct tm_entry_loader *tm_entry_loader_new(const struct tm_fs *fs, const char *scratch,
                                            const char *memory, const char *index_dir);
/* Times of archives are not compared: tm_item_check(). */
void tm_entry_loader_compare_sizes(struct tm_entry_loader *l);
void tm_entry_loader_free(struct tm_entry_loader *l); /* clears; NULL: a no-op */
/* Adds to `marks`, for each item that cannot be read: u32 number from 1, bytes32 message. Negative:
 * the whole mini-batch cannot be loaded: TM_ECHANGED, a full disk, ... */
int tm_entry_load(struct tm_entry_loader *l, const char *bytes, size_t len,
                  struct tm_entry_items *out, struct tm_buf *marks, struct tm_err *err);
/* Replaces in `text` the paths of the files that were extracted last, and of their folders, by the
 * paths of the items: "/data/scans.zip/a/b.png". For messages about them: when a user reads these,
 * the files are gone. */
void tm_entry_loader_name(const struct tm_entry_loader *l, struct tm_buf *text);
/* Whether files in memory vanished before clear: a session manager removes a user's files there at
 * logout. The result of this mini-batch must be dropped; the next ones go below `scratch`. */
bool tm_entry_loader_has_lost(struct tm_entry_loader *l);
/* Removes the extracted files. */
void tm_entry_loader_clear(struct tm_entry_loader *l);
/* For reading files, and entries that stayed names. */
struct tm_entries *tm_entry_loader_entries(struct tm_entry_loader *l);

#endif
