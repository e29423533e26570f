/* datastores.h - names for the directories where datasets live.
 *
 * One is always there, TM_DATASTORE_FIRST, a folder of the workspace; it is the default until another is set. Names and
 * places are stored, nothing else: no secret is.
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

/* `name` NULL: the default. The folder of the first one is made. TM_EUSAGE: there is none, with the nearest name. Release
 * `out` in every case. */
int tm_datastore_find(struct tm_datastore *out, const struct tm_fs *fs, const char *workspace,
                      const char *name, struct tm_err *err);
/* A directory that is there. Registering the same again is fine; TM_EUSAGE: another one has the name, and `overwrite` is not
 * set; it is no directory; the name is none. */
int tm_datastore_add(const struct tm_fs *fs, const char *workspace, const char *name,
                     const char *path, bool overwrite, int64_t wall_ns, struct tm_err *err);
/* TM_EUSAGE: there is none; the first one stays. The files stay too. */
int tm_datastore_remove(const char *workspace, const char *name, struct tm_err *err);
int tm_datastore_set_default(const struct tm_fs *fs, const char *workspace, const char *name,
                             struct tm_err *err);
/* All, by name. */
int tm_datastore_list(struct tm_datastore_list *out, const char *workspace, struct tm_err *err);

void tm_datastore_release(struct tm_datastore *d); /* zeroed: a no-op */
void tm_datastore_list_release(struct tm_datastore_list *list);

#endif
