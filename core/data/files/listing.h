/* listing.h - the files that paths, folders and patterns name, one by one, in a defined order.
 *
 * The order: the paths as given, one after the other. Each is listed folder by folder: the names in
 * a folder are sorted by their bytes, files and folders interleaved; a folder is entered when its
 * turn comes. So "a/z" comes before "a.txt", although '/' is a greater byte than '.': names are
 * sorted, not whole paths.
 *
 *  - A path that exists exactly as written is that file or folder, whatever characters it has; any
 *    other is a pattern (glob.h).
 *  - A folder named by a path or a pattern stands for all files in it, recursively.
 *  - Names that begin with a dot are taken only if a path or pattern has the dot, or with
 *    takes_hidden in a named folder.
 *  - A file named by two paths appears twice; by one path once, however often its pattern matches.
 *  - Symbolic links are followed. A link into a folder that is being listed is skipped with a
 *    warning.
 *  - Only regular files are listed. Anything else (a device, a FIFO, a socket), a link that leads
 *    nowhere, and entries that vanished meanwhile are skipped with a warning that names them.
 *  - An unreadable folder is an error or, with skip_unreadable, skipped with a warning.
 *
 * Memory: the wanted names of one folder per level: their bytes, one byte for the type, four for
 * the position.
 */
#ifndef TM_DATA_FILES_LISTING_H
#define TM_DATA_FILES_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/item.h"
#include "sys/fs.h"

struct tm_listing_options {
  const struct tm_fs *fs;   /* for stat and folders */
  const char *base_dir;     /* absolute; for relative paths */
  const char *const *paths; /* the caller's, until close */
  size_t paths_len;
  bool skip_unreadable;
  /* takes all files of a named folder, also those whose names begin with a dot */
  bool takes_hidden;
  void (*on_warning)(void *data, const char *text); /* called within next(); or NULL */
  void *data;
};

struct tm_listing;

/* Reads nothing yet. */
struct tm_listing *tm_listing_open(const struct tm_listing_options *options);
/* 1: `out` is the next file, with size and mtime; its path is valid until the next call. 0: the
 * end. Negative: an unreadable folder, a refused pattern, an error of the disk; the listing ends.
 */
int tm_listing_next(struct tm_listing *l, struct tm_item *out, struct tm_err *err);
/* Files that paths[i] has matched so far. */
uint64_t tm_listing_count(const struct tm_listing *l, size_t i);
void tm_listing_close(struct tm_listing *l);

#endif
