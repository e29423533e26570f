/* part_read.h - the items of a part of a mini-batch (record/part.h), from the manifest. */
#ifndef TM_COMMIT_PART_READ_H
#define TM_COMMIT_PART_READ_H

#include <stdint.h>

#include "commit/manifest.h"

/* Reads the items of a mini-batch, or of a part of it, like tm_manifest_read(). TM_EDAMAGE: the
 * entry does not have these items. */
int tm_part_read(struct tm_manifest *m, uint64_t index, uint64_t part,
                 struct tm_manifest_entry *out, struct tm_err *err);

#endif
