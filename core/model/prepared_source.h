/* prepared_source.h - the files that a prepared copy is made of (prepared.h): whether one of them
 * was replaced, or written to, while the copy was made.
 *
 * Steps: zero it, _add the files, perhaps _has_changed, then _release.
 */
#ifndef TM_MODEL_PREPARED_SOURCE_H
#define TM_MODEL_PREPARED_SOURCE_H

#include <stdbool.h>

#include "base/mem.h"
#include "model/onnx_file.h"
#include "sys/fs.h"

struct tm_prepared_file {
  char *path;
  int rc; /* negative: it could not be looked at */
  struct tm_stat st;
};

struct tm_prepared_source {
  struct TM_ARRAY(struct tm_prepared_file) files;
};

/* As they are now; links are followed. */
void tm_prepared_source_add(struct tm_prepared_source *s, const struct tm_fs *fs, const char *path);
void tm_prepared_source_add_data(struct tm_prepared_source *s, const struct tm_fs *fs,
                                 const char *model_path, const struct tm_onnx_file *f);
/* Whether one of them is another file since, has other times, or is gone. */
bool tm_prepared_source_has_changed(const struct tm_prepared_source *s, const struct tm_fs *fs);
void tm_prepared_source_release(struct tm_prepared_source *s);

#endif
