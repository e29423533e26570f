/* schemas.h - the schemas of a step's inputs, found once per job, and their file, state/schema.json:
 *
 *   {"version": 1, "inputs": [{"columns": [...]}, null]}      rows/schema.h; null: not found yet, or no table
 *
 * Written by the lister before the first mini-batch of an input is on record; read by workers and by who resumes the job.
 */
#ifndef TM_DATA_SCHEMAS_H
#define TM_DATA_SCHEMAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "data/rows/schema.h"
#include "sys/fs.h"

struct tm_schemas {
  struct tm_schema *at; /* one for each input; without columns: not found */
  size_t len;
};

void tm_schemas_init(struct tm_schemas *s, size_t inputs);
void tm_schemas_release(struct tm_schemas *s);
/* `to` is empty. */
void tm_schemas_copy(struct tm_schemas *to, const struct tm_schemas *from);
/* Takes those that the file has; a file that is missing has none. TM_EDAMAGE, TM_EVERSION. */
int tm_schemas_read(struct tm_schemas *s, const struct tm_fs *fs, const char *path,
                    struct tm_err *err);
int tm_schemas_write(const struct tm_schemas *s, const struct tm_fs *fs, const char *path,
                     struct tm_err *err);

#endif
