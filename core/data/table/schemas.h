/* schemas.h - the schemas of a step's inputs, found once per job, and their file,
 * state/schema.json:
 *
 *   {"version": 2, "check": "0123456789abcdef", "inputs": [{"columns": [...]}, null]}
 *
 * inputs: rows/schema.h; null: not found yet, or not a table. check: the hash (base/hash.h) of the
 * bytes of `inputs`, from '[' to ']'; 16 hexadecimal digits.
 *
 * The lister writes the file before it records the first mini-batch of an input. Workers read it.
 * The supervisor reads it when it opens a step, so that a damaged file stops the job before
 * anything starts.
 */
#ifndef TM_DATA_TABLE_SCHEMAS_H
#define TM_DATA_TABLE_SCHEMAS_H

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
/* `to` must be empty. */
void tm_schemas_copy(struct tm_schemas *to, const struct tm_schemas *from);
/* Reads the file, of at most 1 GB. A missing file leaves all schemas empty. TM_EDAMAGE,
 * TM_EVERSION. */
int tm_schemas_read(struct tm_schemas *s, const struct tm_fs *fs, const char *path,
                    struct tm_err *err);
int tm_schemas_write(const struct tm_schemas *s, const struct tm_fs *fs, const char *path,
                     struct tm_err *err);

#endif
