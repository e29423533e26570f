/* verify_state.c - see verify_state.h. */
#include "inspect/verify_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/item.h"
#include "data/table/schemas.h"
#include "data/table/table_groups.h"
#include "sys/fs.h"

/* -1: there is no such file. */
int64_t tm_verify_size_of(const char *path)
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
    if (tm_verify_size_of(path) < (i < 2 ? 1 : 0))
      tm_fault(faults, path, -1, "%s", TM_VERIFY_GONE);
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

/* An input of the step, and what the list of mini-batches says about it. */
struct input {
  bool has_columns; /* if it has rows: JSON lines may have no column at all */
  bool has_rows;
  int64_t groups_end; /* where the last of its groups of rows ends, in groups-N; 0: it has none */
};

/* Damaged files of a table are mini-batches without rows. */
static int read_list(struct tm_manifest *manifest, struct input *inputs, size_t n,
                     struct tm_err *err)
{
  int rc = 0;
  for (uint64_t i = 0; i < tm_manifest_count(manifest) && rc >= 0; i++) {
    struct tm_manifest_entry entry = { 0 };
    struct tm_item item = { 0 };
    struct tm_reader r;
    rc = tm_manifest_read(manifest, i, &entry, err);
    tm_reader_init(&r, entry.bytes, entry.len);
    while (rc >= 0 && entry.dataset < n && tm_item_next(&r, &item)) {
      struct input *in = &inputs[entry.dataset];
      in->has_rows = in->has_rows || item.is_rows;
      if (item.is_rows && item.is_group && item.end > in->groups_end)
        in->groups_end = item.end;
    }
  }
  return rc < 0 ? rc : 0;
}

/* The lister writes the columns of an input before it lists rows of that input. */
static void check_columns(struct tm_faults *faults, const char *path,
                          const struct tm_schemas *schemas, const struct input *inputs)
{
  for (size_t i = 0; i < schemas->len; i++) {
    if (!inputs[i].has_columns || !inputs[i].has_rows || schemas->at[i].len > 0)
      continue;
    if (tm_verify_size_of(path) < 0)
      tm_fault(faults, path, -1, "%s", TM_VERIFY_GONE);
    else
      tm_fault(faults, path, -1, "it lacks the columns of input %zu", i + 1);
    return;
  }
}

static int check_schema(struct tm_faults *faults, const char *step_dir, const struct input *inputs,
                        size_t n, struct tm_err *err)
{
  char *path = tm_xprintf("%s/state/schema.json", step_dir);
  struct tm_err found = TM_ERR_NONE;
  struct tm_schemas schemas;
  tm_schemas_init(&schemas, n);
  int rc = tm_schemas_read(&schemas, tm_fs_real(), path, &found);
  if (rc == 0)
    check_columns(faults, path, &schemas, inputs);
  rc =
      take(faults, rc, path, -1, "the columns in it are not those that the job wrote", &found, err);
  tm_schemas_release(&schemas);
  free(path);
  return rc;
}

static int check_groups(struct tm_faults *faults, const char *path, const struct input *in,
                        bool is_listed, struct tm_err *err)
{
  struct tm_err found = TM_ERR_NONE;
  int64_t at = -1, size = tm_verify_size_of(path);
  if (size <= 0) {
    if (is_listed || in->groups_end > 0)
      tm_fault(faults, path, -1, "%s", TM_VERIFY_GONE);
    return 0;
  }
  int rc = tm_table_groups_check(tm_fs_real(), path, &at, &found);
  if (rc == 0 && size < in->groups_end)
    tm_fault(faults, path, size, "it has become shorter, groups of rows are missing");
  return take(faults, rc, path, at, "rows that are not those that the job wrote", &found, err);
}

static struct input *new_inputs(const struct tm_json *inputs, bool is_grouped)
{
  size_t n = tm_json_items(inputs);
  struct input *all = tm_xcalloc(n, sizeof(*all));
  for (size_t i = 0; i < n; i++) {
    const char *kind = tm_json_str(inputs->list.at[i], "kind", "files");
    all[i].has_columns = strcmp(kind, "delimited") == 0 || strcmp(kind, "sql") == 0 ||
                         (strcmp(kind, "json_lines") == 0 && is_grouped); /* by a column */
  }
  return all;
}

int tm_verify_state_tables(struct tm_faults *faults, const char *step_dir,
                           const struct tm_json *step, struct tm_manifest *manifest,
                           struct tm_err *err)
{
  const struct tm_json *definition = tm_json_get(step, "definition");
  const struct tm_json *inputs = tm_json_get(definition, "inputs");
  const struct tm_json *keys = tm_json_get(tm_json_get(definition, "settings"), "partition_keys");
  size_t n = tm_json_items(inputs);
  bool is_grouped = tm_json_items(tm_json_get(keys, "value")) > 0;
  if (n == 0 || strcmp(tm_json_str(inputs->list.at[0], "kind", "files"), "files") == 0)
    return 0;
  struct input *all = new_inputs(inputs, is_grouped);
  int rc = read_list(manifest, all, n, err);
  if (rc == 0)
    rc = check_schema(faults, step_dir, all, n, err);
  for (size_t i = 0; i < n && rc == 0 && is_grouped; i++) {
    char *path = tm_xprintf("%s/state/groups-%zu", step_dir, i);
    rc = check_groups(faults, path, &all[i], tm_manifest_has_end(manifest), err);
    free(path);
  }
  free(all);
  return rc;
}
