/* table_state.c - see table_state.h. */
#include "run/table_state.h"

#include <inttypes.h>

#include "data/schemas.h"

/* The lister writes the schema of an input before it records a mini-batch of that input. Only JSON
 * lines may have no column at all. */
static int check_first(const struct tm_step *step, struct tm_manifest *manifest,
                       const struct tm_schemas *schemas, const char *schema_file,
                       struct tm_err *err)
{
  struct tm_manifest_entry entry;
  int rc;

  if (tm_manifest_count(manifest) == 0)
    return 0;
  if ((rc = tm_manifest_read(manifest, 0, &entry, err)) < 0)
    return rc;
  if (entry.dataset >= step->inputs_len || schemas->at[entry.dataset].len > 0 ||
      step->inputs[entry.dataset]->kind == TM_DATASET_JSON_LINES)
    return 0;
  return tm_err_set(err, TM_EDAMAGE,
                    "'%s' is missing, or lacks the columns of input %" PRIu32
                    "; the job wrote it itself: restore the file, or start a new job",
                    schema_file, entry.dataset + 1);
}

int tm_table_state_check(const struct tm_step *step, struct tm_manifest *manifest,
                         const char *schema_file, struct tm_err *err)
{
  struct tm_schemas schemas;
  int rc;

  if (step->inputs_len == 0 || !tm_dataset_is_table(step->inputs[0]))
    return 0;
  tm_schemas_init(&schemas, step->inputs_len);
  rc = tm_schemas_read(&schemas, tm_fs_real(), schema_file, err);
  if (rc == 0)
    rc = check_first(step, manifest, &schemas, schema_file, err);
  tm_schemas_release(&schemas);
  return rc;
}
