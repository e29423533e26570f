/* folder.h - the wanted names of one folder, sorted by bytes, in little memory. The listing has one
 * per level.
 *
 * Zero-initialised is empty. Steps: read() or add() and sort(); then next() until false; release().
 */
#ifndef TM_DATA_FILES_FOLDER_H
#define TM_DATA_FILES_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sys/fs.h"

struct tm_folder {
  struct tm_buf names; /* each: a byte with its type (DT_*), the name, a NUL */
  uint32_t *order;     /* positions of names in `names` */
  size_t len, cap;
  size_t at; /* the next one */
};

/* Selects the names of a folder. */
typedef bool (*tm_folder_wants)(void *data, const char *name);

/* Reads the names of the folder at `path`, sorted. Returns 0 or a negated errno; -EFBIG if the
 * names take over 4 GB. */
int tm_folder_read(struct tm_folder *f, const struct tm_fs *fs, const char *path,
                   tm_folder_wants wants, void *data);
/* Adds one name; false if there is no room (4 GB). */
bool tm_folder_add(struct tm_folder *f, const char *name, int type);
/* Sorts the added names and removes duplicates. */
void tm_folder_sort(struct tm_folder *f);
bool tm_folder_next(struct tm_folder *f, const char **name, int *type);
void tm_folder_release(struct tm_folder *f);

#endif
