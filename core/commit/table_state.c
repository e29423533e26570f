/* table_state.c - see table_state.h. */
#include "commit/table_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "commit/gone.h"
#include "data/item.h"
#include "data/key.h"
#include "data/table/schemas.h"

/* Finds the first mini-batch with rows; the others are of damaged files. 1: found; 0: none. */
static int find_rows(struct tm_manifest *manifest, struct tm_manifest_entry *out,
                     struct tm_err *err)
{
  for (uint64_t i = 0; i < tm_manifest_count(manifest); i++) {
    struct tm_item item = { 0 };
    struct tm_reader r;
    int rc = tm_manifest_read(manifest, i, out, err);
    if (rc < 0)
      return rc;
    tm_reader_init(&r, out->bytes, out->len);
    if (!tm_item_next(&r, &item) || !tm_item_is_archive(&item))
      return 1;
  }
  return 0;
}

static int report_moved(const char *path, const char *state_dir, struct tm_err *err)
{
  char *here = tm_path_dir(state_dir);
  tm_err_set(err, TM_EDAMAGE,
             "the step '%s' has been moved: its list of mini-batches names '%s'; move the job back "
             "to its old place, or start a new job",
             here, path);
  free(here);
  return TM_EDAMAGE;
}

/* `path`: of the file for one of the inputs; the others are beside it. */
static int check_groups(const char *path, size_t input, const char *state_dir, struct tm_err *err)
{
  char *dir = tm_path_dir(path);
  char *file = tm_xprintf("%s/groups-%zu", dir, input);
  struct tm_stat st;
  int rc = 0;

  if (tm_fs_real()->stat(NULL, file, true, &st) < 0 || st.size == 0)
    rc = strcmp(dir, state_dir) == 0 ? tm_gone_report(file, err)
                                     : report_moved(file, state_dir, err);
  free(file);
  free(dir);
  return rc;
}

int tm_table_state_check_groups(size_t n, struct tm_manifest *manifest, const char *state_dir,
                                struct tm_err *err)
{
  struct tm_manifest_entry entry;
  struct tm_reader r;
  struct tm_item item = { 0 };
  int rc = tm_manifest_has_end(manifest) ? find_rows(manifest, &entry, err) : 0;

  if (rc <= 0)
    return rc;
  tm_reader_init(&r, entry.bytes, entry.len);
  if (!tm_item_next(&r, &item) || !item.is_rows || !tm_keys_find(entry.bytes, entry.len, &r))
    return 0;
  char *path = tm_xstrndup(item.path, item.path_len);
  rc = 0;
  for (size_t i = 0; i < n && rc == 0; i++)
    rc = check_groups(path, i, state_dir, err);
  free(path);
  return rc;
}

/* The lister writes the schema of an input before it records rows of that input. Only JSON lines
 * may have no column at all. */
static int check_first(const struct tm_dataset *const *inputs, size_t n,
                       struct tm_manifest *manifest, const struct tm_schemas *schemas,
                       const char *schema_file, struct tm_err *err)
{
  struct tm_manifest_entry entry;
  int rc = find_rows(manifest, &entry, err);

  if (rc == 0 && tm_manifest_count(manifest) > 0 && tm_manifest_has_end(manifest))
    return tm_err_set(err, TM_EINPUT,
                      "the list of inputs has damaged files only, as they were; a new job reads "
                      "them as they are now");
  if (rc <= 0 || entry.dataset >= n || schemas->at[entry.dataset].len > 0 ||
      inputs[entry.dataset]->kind == TM_DATASET_JSON_LINES)
    return rc;
  return tm_err_set(err, TM_EDAMAGE,
                    "'%s' is missing, or lacks the columns of input %" PRIu32
                    "; the job wrote it itself: restore the file, or start a new job",
                    schema_file, entry.dataset + 1);
}

int tm_table_state_check(const struct tm_dataset *const *inputs, size_t n,
                         struct tm_manifest *manifest, const char *schema_file, struct tm_err *err)
{
  struct tm_schemas schemas;
  int rc;

  if (n == 0 || !tm_dataset_is_table(inputs[0]))
    return 0;
  tm_schemas_init(&schemas, n);
  rc = tm_schemas_read(&schemas, tm_fs_real(), schema_file, err);
  if (rc == 0)
    rc = check_first(inputs, n, manifest, &schemas, schema_file, err);
  tm_schemas_release(&schemas);
  return rc;
}
