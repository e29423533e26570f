/* datastores.h - names for the directories where datasets live.
 *
 * TM_DATASTORE_FIRST, a folder of the workspace, always exists; it is the default until another is
 * set. Only names and paths are stored, no secrets.
 */
#ifndef TM_STORE_DATASTORES_H
#define TM_STORE_DATASTORES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "sys/fs.h"

#define TM_DATASTORE_FIRST "workspaceblobstore"

struct tm_datastore {
  char *name;
  char *path; /* absolute */
  bool is_default;
};
struct tm_datastore_list TM_ARRAY(struct tm_datastore);

/* `name` NULL: the default. Makes the folder of the first datastore. TM_EUSAGE: there is no such
 * datastore; the message has the nearest name. Release `out` in every case. */
int tm_datastore_find(struct tm_datastore *out, const struct tm_fs *fs, const char *workspace,
                      const char *name, struct tm_err *err);
/* Registers an existing directory. Repeating the same registration is fine. TM_EUSAGE: another
 * directory has the name and `overwrite` is not set; the path is not a directory; the name is not
 * valid. */
int tm_datastore_add(const struct tm_fs *fs, const char *workspace, const char *name,
                     const char *path, bool overwrite, int64_t wall_ns, struct tm_err *err);
/* TM_EUSAGE: there is no such datastore, or it is the first one, which cannot be removed. The files
 * stay. */
int tm_datastore_remove(const char *workspace, const char *name, struct tm_err *err);
int tm_datastore_set_default(const struct tm_fs *fs, const char *workspace, const char *name,
                             struct tm_err *err);
/* All, sorted by name. */
int tm_datastore_list(struct tm_datastore_list *out, const char *workspace, struct tm_err *err);

void tm_datastore_release(struct tm_datastore *d); /* zeroed: a no-op */
void tm_datastore_list_release(struct tm_datastore_list *list);

#endif
