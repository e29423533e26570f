/* registry.h - registered datasets: a name, and versions from 1 on. A version stores the definition
 * and the identity of the files (identity.h), not the files themselves.
 *
 * A pipeline file that registers a dataset is loaded again by each run and each resume, so
 * registering what the newest version already is returns that version: the same definition and,
 * with create_new_version, unchanged files. With a `source`, the key of the data, a job makes one
 * version of a name however often it registers, and none if the newest version has the same source.
 * If a job registers again with other `contents`, it has added to its data meanwhile: its version
 * gets the current files.
 */
#ifndef TM_STORE_REGISTRY_H
#define TM_STORE_REGISTRY_H

#include "base/json.h"
#include "store/identity.h"

#define TM_REGISTRY_NAME_MAX 255

struct tm_registered {
  char *name;
  int64_t version;
  struct tm_json *definition; /* from tm_dataset_to_json(), with its tag */
  char *description;          /* or NULL */
  struct tm_json *tags;       /* an object of strings, or NULL */
  int64_t registered_ns;      /* since the epoch */
  struct tm_identity identity;
  char *job, *step; /* directory of the job and name of the step that wrote it; or NULL */
};
struct tm_registered_list TM_ARRAY(struct tm_registered);

struct tm_registration {
  const struct tm_fs *fs; /* to look at the files */
  const char *name;
  const struct tm_dataset *dataset;
  const char *description;    /* or NULL: keeps the description of the version before */
  const struct tm_json *tags; /* or NULL: likewise */
  bool create_new_version;    /* if the name exists; false: that is refused */
  const char *source;         /* or NULL; not empty */
  /* The state of the source's data, without '#'; NULL: any. */
  const char *contents;
  const char *job, *step; /* or NULL */
  int64_t wall_ns;
};

/* `workspace`: an existing absolute folder. 1: a version was made; 0: it existed, perhaps with
 * other contents. TM_EUSAGE: the name is not valid, or it is taken and `create_new_version` is not
 * set. Release `out` in every case. */
int tm_registry_add(struct tm_registered *out, const char *workspace,
                    const struct tm_registration *r, struct tm_err *err);
/* A version of a name; 0: the newest. TM_EUSAGE: it does not exist; the message has the nearest
 * name or the existing versions. */
int tm_registry_find(struct tm_registered *out, const char *workspace, const char *name,
                     int64_t version, struct tm_err *err);
/* All versions of `name`, the newest first; NULL: the newest of each name, by name. Without the
 * lists of files. */
int tm_registry_list(struct tm_registered_list *out, const char *workspace, const char *name,
                     struct tm_err *err);
/* Removes a version; 0: all versions of the name. Returns how many; files stay. TM_EUSAGE as in
 * tm_registry_find(). */
int tm_registry_remove(const char *workspace, const char *name, int64_t version,
                       struct tm_err *err);
/* Looks at the files again. 1: they have changed, and the changes are added to `out`; 0:
 * unchanged. */
int tm_registry_compare(struct tm_buf *out, const struct tm_fs *fs, const struct tm_registered *r,
                        struct tm_err *err);
/* All versions of all names, in the order of their registration. Without the lists of files. */
int tm_registry_list_all(struct tm_registered_list *out, const char *workspace, struct tm_err *err);
/* The name of the first dataset in `list` whose files belong to the job in the directory `job`
 * (absolute), or NULL. Points into the list. */
const char *tm_registry_name_of_job(const struct tm_registered_list *list, const char *job);

/* Checks the name of a dataset: 0, or TM_EUSAGE with what is accepted. */
int tm_registry_check_name(const char *name, struct tm_err *err);
/* "latest" or a number from 1 on: 0 for the newest. TM_EUSAGE. */
int tm_registry_read_version(int64_t *out, const char *text, struct tm_err *err);
void tm_registered_release(struct tm_registered *r); /* zeroed: a no-op */
void tm_registered_list_release(struct tm_registered_list *list);

#endif
