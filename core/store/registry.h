/* registry.h - registered datasets: a name, and versions from 1 on. A version remembers the definition, and the files and
 * what they were (identity.h); it does not keep the files themselves.
 *
 * Registering what the newest version is already gives that version, for a pipeline file that registers is loaded again by
 * each run and each resume: the same definition, and with create_new_version files that are as they were. With a `source`, the
 * word of the data, a job makes one version of a name however often it asks, and none where the newest version is of the same source.
 * A job that asks again with other `contents` has added to its data meanwhile: its version gets
 * the files as they are now.
 */
#ifndef TM_STORE_REGISTRY_H
#define TM_STORE_REGISTRY_H

#include "base/json.h"
#include "store/identity.h"

#define TM_REGISTRY_NAME_MAX 255

struct tm_registered {
  char *name;
  int64_t version;
  struct tm_json *definition; /* as of tm_dataset_to_json(), with its tag */
  char *description;          /* or NULL */
  struct tm_json *tags;       /* an object of strings, or NULL */
  int64_t registered_ns;      /* since the epoch */
  struct tm_identity identity;
  char *job, *step; /* whose output it is, the directory and the name; or NULL */
};
struct tm_registered_list TM_ARRAY(struct tm_registered);

struct tm_registration {
  const struct tm_fs *fs; /* for looking at the files */
  const char *name;
  const struct tm_dataset *dataset;
  const char *description;    /* or NULL: that of the version before stays */
  const struct tm_json *tags; /* or NULL: likewise */
  bool create_new_version;    /* where the name is there; else that is refused */
  const char *source;         /* or NULL; not empty */
  /* Which state of the source's data this is, without '#'; or NULL: that does not count. */
  const char *contents;
  const char *job, *step; /* or NULL */
  int64_t wall_ns;
};

/* `workspace`: an absolute folder that is there. 1: a version has been made; 0: it was there,
 * with other contents perhaps. TM_EUSAGE: the name is none, or is taken by something else and
 * `create_new_version` is not set. Release `out` in every case. */
int tm_registry_add(struct tm_registered *out, const char *workspace,
                    const struct tm_registration *r, struct tm_err *err);
/* A version of a name; 0: the newest. TM_EUSAGE: there is none, with the nearest name, or the versions that there are. */
int tm_registry_find(struct tm_registered *out, const char *workspace, const char *name,
                     int64_t version, struct tm_err *err);
/* All versions of `name`, the newest first; NULL: the newest of each name, by name. Without the lists of files. */
int tm_registry_list(struct tm_registered_list *out, const char *workspace, const char *name,
                     struct tm_err *err);
/* Forgets a version; 0: all of the name. Returns how many; files stay as they are. TM_EUSAGE as find. */
int tm_registry_remove(const char *workspace, const char *name, int64_t version,
                       struct tm_err *err);
/* Looks at the files again. 1: they are others, and what has changed is added to `out`; 0: they are as they were. */
int tm_registry_compare(struct tm_buf *out, const struct tm_fs *fs, const struct tm_registered *r,
                        struct tm_err *err);
/* All versions of all names, in the order of their registration. Without the lists of files. */
int tm_registry_list_all(struct tm_registered_list *out, const char *workspace, struct tm_err *err);
/* The name of the first dataset in `list` whose files belong to the job in the directory `job` (absolute); the list's memory. NULL when
 * none does. */
const char *tm_registry_name_of_job(const struct tm_registered_list *list, const char *job);

/* Whether a dataset may have this name: 0, or TM_EUSAGE with what is accepted. */
int tm_registry_check_name(const char *name, struct tm_err *err);
/* "latest" or a number from 1 on: 0 for the newest. TM_EUSAGE. */
int tm_registry_read_version(int64_t *out, const char *text, struct tm_err *err);
void tm_registered_release(struct tm_registered *r); /* zeroed: a no-op */
void tm_registered_list_release(struct tm_registered_list *list);

#endif
