/* prepared_mark.h - made.json: what a prepared copy of a model must be (prepared.h). */
#ifndef TM_MODEL_PREPARED_MARK_H
#define TM_MODEL_PREPARED_MARK_H

#include <stdbool.h>

#include "base/err.h"
#include "sys/fs.h"

#define TM_PREPARED_MODEL "model.onnx"

struct tm_prepared_mark {
  char *refused;     /* why there is no copy, owned; NULL: there is one */
  bool is_unchecked; /* it could not be compared */
};

/* 0: it is a folder of this user, and no link, that nobody else may write: whoever can write to it
 * decides what models return. Also if it is missing. TM_EUSAGE: it is something else. */
int tm_prepared_mark_trusts(const struct tm_fs *fs, const char *folder, struct tm_err *err);

/* Whether such a folder holds a sound copy, or says why not; links in it are not followed. Release
 * `out` in every case. */
bool tm_prepared_mark_check(struct tm_prepared_mark *out, const struct tm_fs *fs,
                            const char *folder);
void tm_prepared_mark_release(struct tm_prepared_mark *mark);

/* Brings the files of the copy in `folder` to the disk, and writes what they are; the weights may
 * have no file. */
int tm_prepared_mark_write(const struct tm_fs *fs, const char *folder, struct tm_err *err);
int tm_prepared_mark_write_refused(const struct tm_fs *fs, const char *folder,
                                   const struct tm_prepared_mark *refused, struct tm_err *err);

#endif
