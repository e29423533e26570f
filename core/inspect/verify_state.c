/* verify_state.c - see verify_state.h. */
#include "inspect/verify_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/table/schemas.h"
#include "data/table/table_groups.h"
#include "sys/fs.h"

#define GONE "it has been removed or emptied"

/* -1: there is no such file. */
static int64_t size_of(const char *path)
{
  struct tm_stat st;
  return tm_fs_real()->stat(NULL, path, true, &st) < 0 ? -1 : st.size;
}

bool tm_verify_state_files(struct tm_faults *faults, const char *step_dir)
{
  static const char *const names[] = { "journal", "manifest", "failures", "files" };
  int64_t found = faults->found;
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    char *path = tm_xprintf("%s/state/%s", step_dir, names[i]);
    if (size_of(path) < (i < 2 ? 1 : 0))
      tm_fault(faults, path, -1, "%s", GONE);
    free(path);
  }
  return faults->found == found;
}

/* Damage is a fault; another error, such as one of the disk, is returned. */
static int take(struct tm_faults *faults, int rc, const char *path, int64_t at, const char *what,
                const struct tm_err *found, struct tm_err *err)
{
  if (rc == TM_EDAMAGE || rc == TM_EVERSION)
    tm_fault(faults, path, at, "%s", what);
  else if (rc < 0)
    *err = *found;
  return rc < 0 && rc != TM_EDAMAGE && rc != TM_EVERSION ? rc : 0;
}

static int check_schema(struct tm_faults *faults, const char *step_dir, size_t inputs,
                        struct tm_err *err)
{
  char *path = tm_xprintf("%s/state/schema.json", step_dir);
  struct tm_err found = TM_ERR_NONE;
  struct tm_schemas schemas;
  tm_schemas_init(&schemas, inputs);
  int rc = tm_schemas_read(&schemas, tm_fs_real(), path, &found);
  rc =
      take(faults, rc, path, -1, "the columns in it are not those that the job wrote", &found, err);
  tm_schemas_release(&schemas);
  free(path);
  return rc;
}

static int check_groups(struct tm_faults *faults, const char *path, bool must_be,
                        struct tm_err *err)
{
  struct tm_err found = TM_ERR_NONE;
  int64_t at = -1;
  if (size_of(path) <= 0) {
    if (must_be)
      tm_fault(faults, path, -1, "%s", GONE);
    return 0;
  }
  int rc = tm_table_groups_check(tm_fs_real(), path, &at, &found);
  return take(faults, rc, path, at, "rows that are not those that the job wrote", &found, err);
}

int tm_verify_state_tables(struct tm_faults *faults, const char *step_dir,
                           const struct tm_json *step, bool is_listed, struct tm_err *err)
{
  const struct tm_json *definition = tm_json_get(step, "definition");
  const struct tm_json *inputs = tm_json_get(definition, "inputs");
  const struct tm_json *keys = tm_json_get(tm_json_get(definition, "settings"), "partition_keys");
  size_t n = tm_json_items(inputs);
  bool has_groups = tm_json_items(tm_json_get(keys, "value")) > 0;
  if (n == 0 || strcmp(tm_json_str(inputs->list.at[0], "kind", "files"), "files") == 0)
    return 0;
  int rc = check_schema(faults, step_dir, n, err);
  for (size_t i = 0; i < n && rc == 0 && has_groups; i++) {
    char *path = tm_xprintf("%s/state/groups-%zu", step_dir, i);
    rc = check_groups(faults, path, is_listed, err);
    free(path);
  }
  return rc;
}
