/* listing.h - the files that paths, folders and patterns name, one by one, in a defined order.
 *
 * The order: the paths as given, one after the other; what one of them names comes folder by folder: the names in a
 * folder sorted by their bytes, files and folders interleaved, a folder gone into when its turn has come. So "a/z" comes
 * before "a.txt", although '/' is a greater byte than '.': it is the order of names, not of whole paths.
 *
 *  - A path that is there exactly as it is written is that file or folder, whatever characters it has; any other is a
 *    pattern (glob.h).
 *  - A folder that is named, by a path or by a pattern, stands for all files in it, recursively.
 *  - Names that begin with a dot are taken only where a path or pattern names the dot, or with takes_hidden in a folder
 *    that is named.
 *  - A file that is named by two paths comes twice; by one path, however often its pattern fits, once.
 *  - Symbolic links are followed. A link that leads into a folder that is being listed is skipped with a warning.
 *  - Only regular files are listed; anything else (a device, a FIFO, a socket), a link that leads nowhere, and what has
 *    gone since its folder was read, are skipped with a warning that names them.
 *  - A folder that may not be read is an error, or, with skip_unreadable, skipped with a warning.
 *
 * Memory: the names of one folder per level, those only that may be taken: their bytes, one for the type, four for the
 * place.
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
  const struct tm_fs *fs;   /* for stat; folders are read from the machine */
  const char *base_dir;     /* absolute; for relative paths */
  const char *const *paths; /* the caller's, until close */
  size_t paths_len;
  bool skip_unreadable;
  bool
      takes_hidden; /* of a folder that is named all files, also those whose names begin with a dot */
  void (*on_warning)(void *data, const char *text); /* from within next(); or NULL */
  void *data;
};

struct tm_listing;

/* Looks at nothing yet. */
struct tm_listing *tm_listing_open(const struct tm_listing_options *options);
/* 1: `out` is the next file, with size and mtime; its path is valid until the next call. 0: the end. Negative: an
 * unreadable folder, a pattern that is refused, an error of the disk; nothing comes after it. */
int tm_listing_next(struct tm_listing *l, struct tm_item *out, struct tm_err *err);
/* Files that paths[i] has named so far. */
uint64_t tm_listing_count(const struct tm_listing *l, size_t i);
void tm_listing_close(struct tm_listing *l);

#endif
