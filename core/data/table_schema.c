/* table_schema.c - see table_schema.h. */
#include "data/table_schema.h"

#include "data/splitter.h"

#define RANGE 1000 /* bytes of rows; rows are not read, only their ends */

int tm_table_schema_find(struct tm_schema *out, const struct tm_fs *fs, const struct tm_dataset *d)
{
  *out = (struct tm_schema) { .len = 0 };
  if (!tm_dataset_is_table(d) || d->kind == TM_DATASET_SQL || d->step || !d->base_dir)
    return 0;
  struct tm_schemas schemas;
  struct tm_mini_batch first = { 0 };
  tm_schemas_init(&schemas, 1);
  const struct tm_splitter_options o = {
    .fs = fs, .inputs = &d, .inputs_len = 1, .mini_batch_size = RANGE, .schemas = &schemas
  };
  struct tm_splitter *splitter = tm_splitter_open(&o);
  int rc = tm_splitter_next(splitter, &first, NULL);
  if (rc >= 0)
    tm_schema_copy(out, &schemas.at[0]);
  tm_splitter_close(splitter);
  tm_buf_release(&first.bytes);
  tm_schemas_release(&schemas);
  return rc < 0 ? rc : out->len > 0;
}
