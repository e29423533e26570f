/* dataset.c - the definition of a dataset, from the tree that a constructor made and back.
 *
 * Only the definition is checked here: which keys it has and what they hold. The lister finds out
 * whether a path exists: a definition may be written on one machine and run on another.
 *
 * A manifest has one path; files have one or more. Relative paths are relative to `base_dir`; a
 * definition without it has absolute paths only.
 */
#include "data/dataset.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/archive/archives.h"
#include "data/files/partition.h"
#include "data/table/table.h"
#include "params/params.h"

static const struct {
  const char *name, *constructor;
} kinds[] = {
  [TM_DATASET_FILES] = { "files", "Dataset.File.from_files" },
  [TM_DATASET_MANIFEST] = { "manifest", "Dataset.File.from_manifest" },
  [TM_DATASET_FAILED] = { "failed", "Dataset.File.from_failed_items" },
  [TM_DATASET_DELIMITED] = { "delimited", "Dataset.Tabular.from_delimited_files" },
  [TM_DATASET_JSON_LINES] = { "json_lines", "Dataset.Tabular.from_json_lines_files" },
  [TM_DATASET_SQL] = { "sql", "Dataset.Tabular.from_sql_query" },
  [TM_DATASET_ARCHIVES] = { "archives", "Dataset.File.from_archives" },
};

const char *tm_dataset_constructor(const struct tm_json *v)
{
  const char *kind = tm_json_str(v, "kind", "");
  for (size_t i = 0; i < TM_COUNT_OF(kinds); i++)
    if (strcmp(kind, kinds[i].name) == 0)
      return kinds[i].constructor;
  return kinds[TM_DATASET_FILES].constructor;
}

/* Puts "pipeline.lua:4: FileDataset: " before the message. */
static int locate(const struct tm_json *v, struct tm_err *err)
{
  bool is_table = strncmp(tm_dataset_constructor(v), "Dataset.Tabular.", 16) == 0;
  const char *tag = v->tag ? v->tag : is_table ? "TabularDataset" : "FileDataset";
  if (v->where)
    return tm_err_wrap(err, "%s: %s", v->where, tag);
  return tm_err_wrap(err, "%s", tag);
}

static bool is_plain_string(const struct tm_json *v)
{
  return v->type == TM_JSON_STRING && v->string.len > 0 && strlen(v->string.at) == v->string.len;
}

/* Checks whether the kind has the option. */
static int check_option(const struct tm_dataset *d, const struct tm_json *v, const char *option,
                        struct tm_err *err)
{
  const char *constructor = kinds[d->kind].constructor;
  if (!tm_json_get(v, option) || tm_params_find(constructor, option))
    return 0;
  return tm_err_set(err, TM_EUSAGE, "'%s' is not an option of %s", option, constructor);
}

static struct tm_json *settle(const struct tm_json *v, struct tm_err *err)
{
  if (v->type == TM_JSON_OBJECT)
    return tm_params_settle("dataset", v, true, err);
  tm_err_set(err, TM_EUSAGE,
             "is not a dataset; accepted: what Dataset.File.from_files, from_archives, "
             "from_manifest or from_failed_items returns");
  return NULL;
}

static int read_kind(struct tm_dataset *d, const struct tm_json *v, struct tm_err *err)
{
  const char *kind = tm_json_str(v, "kind", "");
  while (strcmp(kind, kinds[d->kind].name) != 0)
    d->kind++;
  if (check_option(d, v, "on_unreadable", err) < 0 ||
      check_option(d, v, "null_separated", err) < 0 ||
      check_option(d, v, "partition_format", err) < 0)
    return TM_EUSAGE;
  return 0;
}

/* "https://...", "azureml:name:1": whether the path names something elsewhere. */
static bool is_url(const char *path)
{
  size_t scheme = strspn(path, "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
  return scheme > 1 && (strncmp(path + scheme, "://", 3) == 0 || strncmp(path, "azureml:", 8) == 0);
}

static int refuse_url(const char *path, struct tm_err *err)
{
  if (strncmp(path, "azureml:", 8) == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is not a path of this machine; write from_files(datastore, path), or "
                      "Dataset.get_by_name(workspace, name, version)",
                      path);
  return tm_err_set(err, TM_EUSAGE,
                    "'%s' is a URL, and URLs are not read; accepted: a path or pattern, or a list "
                    "of them, of files that are here or mounted here",
                    path);
}

static int read_paths(struct tm_dataset *d, const struct tm_json *v, struct tm_err *err)
{
  const struct tm_json *paths = tm_json_get(v, "paths");
  if (!paths || paths->type == TM_JSON_NULL)
    return tm_err_set(err, TM_EUSAGE,
                      "the path is missing; accepted: a path or pattern, or a list of them");
  size_t n = paths->type == TM_JSON_ARRAY ? paths->list.len : 1;
  if (n == 0)
    return tm_err_set(err, TM_EUSAGE, "the list of paths is empty; accepted: one path or more");
  if (d->kind == TM_DATASET_MANIFEST && n != 1)
    return tm_err_set(err, TM_EUSAGE, "a manifest is one file; accepted: its path");
  if (d->kind == TM_DATASET_FAILED && n != 1)
    return tm_err_set(err, TM_EUSAGE, "failed items are listed in one file; accepted: its path");
  d->paths = tm_xcalloc(n, sizeof(*d->paths));
  for (size_t i = 0; i < n; i++) {
    const struct tm_json *path = paths->type == TM_JSON_ARRAY ? paths->list.at[i] : paths;
    if (path->tag)
      return tm_err_set(
          err, TM_EUSAGE,
          "path %zu is %s %s, whose value is known only in a job; accepted here: a path "
          "or pattern, or a list of them",
          i + 1, tm_text_article(path->tag), path->tag);
    if (!is_plain_string(path))
      return tm_err_set(
          err, TM_EUSAGE,
          "path %zu is not text, or is empty; accepted: a path or pattern, or a list of them",
          i + 1);
    if (is_url(path->string.at))
      return refuse_url(path->string.at, err);
    d->paths[d->paths_len++] = tm_xstrdup(path->string.at);
  }
  return 0;
}

static int read_base_dir(struct tm_dataset *d, const struct tm_json *o, struct tm_err *err)
{
  const char *dir = tm_json_str(o, "base_dir", NULL);
  d->step = tm_xstrdup(tm_json_str(o, "step", NULL));
  if (d->step)
    return 0;
  if (dir && !tm_path_is_absolute(dir))
    return tm_err_set(err, TM_EUSAGE, "'base_dir' is \"%s\"; accepted: an absolute path", dir);
  for (size_t i = 0; i < d->paths_len && !dir; i++)
    if (!tm_path_is_absolute(d->paths[i]))
      return tm_err_set(err, TM_EUSAGE,
                        "path '%s' is relative, and there is no 'base_dir' that it is relative to",
                        d->paths[i]);
  d->base_dir = tm_xstrdup(dir ? dir : "/");
  return 0;
}

static int read_options(struct tm_dataset *d, const struct tm_json *o, struct tm_err *err)
{
  d->name = tm_xstrdup(tm_json_str(o, "name", NULL));
  d->null_separated = tm_json_bool(o, "null_separated", false);
  d->skip_unreadable = strcmp(tm_json_str(o, "on_unreadable", ""), "skip") == 0;
  d->input = tm_json_int(o, "input", -1);
  d->limit = tm_json_int(o, "limit", 0);
  d->registered = tm_xstrdup(tm_json_str(o, "registered", NULL));
  d->version = tm_json_int(o, "version", 0);
  d->workspace = tm_xstrdup(tm_json_str(o, "workspace", NULL));
  if (d->input >= 0 && d->kind != TM_DATASET_FAILED)
    return tm_err_set(err, TM_EUSAGE, "'input' is only for failed items");
  return 0;
}

static enum tm_rows_format format_of(const struct tm_dataset *d)
{
  return d->kind == TM_DATASET_DELIMITED    ? TM_ROWS_DELIMITED
         : d->kind == TM_DATASET_JSON_LINES ? TM_ROWS_JSON_LINES
                                            : TM_ROWS_SQL;
}

/* From the options of `d`, which have been read before if there is no `err`. */
static int parse_options(struct tm_dataset *d, struct tm_err *err)
{
  struct tm_json *all = tm_params_settle(kinds[d->kind].constructor, d->options, true, err);
  if (all && d->kind == TM_DATASET_ARCHIVES)
    d->archives = tm_archives_from_json(all, err);
  else if (all)
    d->table = tm_table_from_json(format_of(d), all, d->ops, err);
  tm_json_free(all);
  return d->table || d->archives ? 0 : TM_EUSAGE;
}

static int read_kind_options(struct tm_dataset *d, const struct tm_json *v, struct tm_err *err)
{
  const struct tm_json *options = tm_json_get(v, "options"), *ops = tm_json_get(v, "ops");
  bool has_options = tm_dataset_is_table(d) || (d->kind == TM_DATASET_ARCHIVES && !ops);
  if (!has_options)
    return options || ops ? tm_err_set(err, TM_EUSAGE, "'options' and 'ops' are only for a table")
                          : 0;
  d->ops = ops ? tm_json_copy(ops) : NULL;
  d->options = options ? tm_json_copy(options) : tm_json_new(TM_JSON_OBJECT);
  return parse_options(d, err);
}

/* as_mount(place), as_download(place) */
static int read_mode(struct tm_dataset *d, const struct tm_json *o, struct tm_err *err)
{
  const char *word = tm_json_str(o, "mode", "");
  d->mode = strcmp(word, "mount") == 0      ? TM_DATASET_MOUNT
            : strcmp(word, "download") == 0 ? TM_DATASET_DOWNLOAD
                                            : TM_DATASET_DIRECT;
  d->place = tm_xstrdup(tm_json_str(o, "place", NULL));
  if (d->mode != TM_DATASET_DIRECT &&
      (tm_dataset_is_table(d) || tm_dataset_is_stdin(d) || d->kind == TM_DATASET_ARCHIVES))
    return tm_err_set(err, TM_EUSAGE, "as_%s() is for datasets of files that have paths", word);
  if (d->place && d->mode == TM_DATASET_DIRECT)
    return tm_err_set(err, TM_EUSAGE, "as_direct() has no path; accepted: nothing");
  return 0;
}

static int read_partition_format(struct tm_dataset *d, const struct tm_json *o, struct tm_err *err)
{
  const char *format = tm_json_str(o, "partition_format", NULL);
  struct tm_partition *p = format ? tm_partition_new(format, err) : NULL;
  if (format && !p)
    return tm_err_wrap(err, "'partition_format' is \"%s\"", format);
  tm_partition_free(p);
  d->partition_format = tm_xstrdup(format);
  return 0;
}

struct tm_dataset *tm_dataset_from_json(const struct tm_json *v, struct tm_err *err)
{
  struct tm_dataset *d = TM_NEW(struct tm_dataset);
  struct tm_json *o = settle(v, err);
  bool is_read = o && read_kind(d, v, err) == 0 && read_paths(d, v, err) == 0 &&
                 read_base_dir(d, o, err) == 0 && read_options(d, o, err) == 0 &&
                 read_mode(d, o, err) == 0 && read_partition_format(d, o, err) == 0 &&
                 read_kind_options(d, v, err) == 0;
  tm_json_free(o);
  d->where = tm_xstrdup(v->where);
  if (is_read)
    return d;
  locate(v, err);
  tm_dataset_free(d);
  return NULL;
}

struct tm_json *tm_dataset_to_json(const struct tm_dataset *d)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "kind", tm_json_new_string(kinds[d->kind].name));
  struct tm_json *paths = tm_json_set(v, "paths", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < d->paths_len; i++)
    tm_json_add(paths, tm_json_new_string(d->paths[i]));
  tm_json_set_text(v, "step", d->step);
  tm_json_set_text(v, "base_dir", d->step ? NULL : d->base_dir);
  tm_json_set_text(v, "name", d->name);
  if (d->kind == TM_DATASET_MANIFEST)
    tm_json_set(v, "null_separated", tm_json_new_bool(d->null_separated));
  else if (d->kind == TM_DATASET_FILES || d->kind == TM_DATASET_ARCHIVES)
    tm_json_set(v, "on_unreadable", tm_json_new_string(d->skip_unreadable ? "skip" : "error"));
  tm_json_set_text(v, "partition_format", d->partition_format);
  if (d->input >= 0)
    tm_json_set(v, "input", tm_json_new_int(d->input));
  if (d->limit > 0)
    tm_json_set(v, "limit", tm_json_new_int(d->limit));
  if (d->mode != TM_DATASET_DIRECT)
    tm_json_set(v, "mode", tm_json_new_string(d->mode == TM_DATASET_MOUNT ? "mount" : "download"));
  tm_json_set_text(v, "place", d->place);
  if (d->registered) { /* the workspace is only where it came from, not part of the definition */
    tm_json_set(v, "registered", tm_json_new_string(d->registered));
    tm_json_set(v, "version", tm_json_new_int(d->version));
  }
  tm_json_set_copy(v, "options", d->options);
  tm_json_set_copy(v, "ops", d->ops);
  v->tag = tm_xstrdup(tm_dataset_tag(d));
  v->where = tm_xstrdup(d->where);
  return v;
}

/* These definitions were read before, so reading them again succeeds. */
static void copy_kind_options(struct tm_dataset *new, const struct tm_dataset *d)
{
  new->options = d->options ? tm_json_copy(d->options) : NULL;
  new->ops = d->ops ? tm_json_copy(d->ops) : NULL;
  if (d->options)
    parse_options(new, NULL);
  tm_require(!new->table == !d->table && !new->archives == !d->archives);
}

struct tm_dataset *tm_dataset_copy(const struct tm_dataset *d)
{
  struct tm_dataset *new = TM_NEW(struct tm_dataset);
  *new = *d;
  new->place = tm_xstrdup(d->place);
  new->name = tm_xstrdup(d->name);
  new->paths = tm_xcalloc(d->paths_len + 1, sizeof(*new->paths));
  for (size_t i = 0; i < d->paths_len; i++)
    new->paths[i] = tm_xstrdup(d->paths[i]);
  new->base_dir = tm_xstrdup(d->base_dir);
  new->step = tm_xstrdup(d->step);
  new->partition_format = tm_xstrdup(d->partition_format);
  new->registered = tm_xstrdup(d->registered);
  new->workspace = tm_xstrdup(d->workspace);
  new->where = tm_xstrdup(d->where);
  copy_kind_options(new, d);
  return new;
}

struct tm_dataset *tm_dataset_bind(const struct tm_dataset *d, const char *job_dir)
{
  struct tm_dataset *bound = tm_dataset_copy(d);
  if (!bound->base_dir)
    bound->base_dir = tm_xstrdup(job_dir);
  return bound;
}

struct tm_dataset *tm_dataset_within(const struct tm_dataset *d, const char *folder)
{
  struct tm_dataset *new = TM_NEW(struct tm_dataset);
  new->kind = TM_DATASET_FILES;
  new->name = tm_xstrdup(d->name);
  new->paths = tm_xcalloc(1, sizeof(*new->paths));
  new->paths[new->paths_len++] = tm_xstrdup(folder);
  new->base_dir = tm_xstrdup("/");
  new->input = -1;
  new->skip_unreadable = d->skip_unreadable;
  new->partition_format = tm_xstrdup(d->partition_format);
  new->limit = d->limit;
  new->where = tm_xstrdup(d->where);
  new->is_placed = true;
  return new;
}

bool tm_dataset_is_table(const struct tm_dataset *d)
{
  return d->kind == TM_DATASET_DELIMITED || d->kind == TM_DATASET_JSON_LINES ||
         d->kind == TM_DATASET_SQL;
}

const char *tm_dataset_tag(const struct tm_dataset *d)
{
  return tm_dataset_is_table(d) ? "TabularDataset" : "FileDataset";
}

bool tm_dataset_is_stdin(const struct tm_dataset *d)
{
  return d->kind == TM_DATASET_MANIFEST && strcmp(d->paths[0], "-") == 0;
}

void tm_dataset_free(struct tm_dataset *d)
{
  if (!d)
    return;
  tm_strings_free(d->paths, d->paths_len);
  free(d->base_dir);
  free(d->step);
  free(d->place);
  free(d->partition_format);
  tm_json_free(d->options);
  tm_json_free(d->ops);
  tm_table_free(d->table);
  tm_archives_free(d->archives);
  free(d->name);
  free(d->registered);
  free(d->workspace);
  free(d->where);
  free(d);
}

void tm_dataset_tables(struct tm_buf *out, const struct tm_dataset *const *inputs, size_t n)
{
  struct tm_json *list = tm_json_new(TM_JSON_ARRAY);
  bool has_table = false;
  for (size_t i = 0; i < n; i++) {
    bool is_table = tm_dataset_is_table(inputs[i]);
    tm_json_add(list, is_table ? tm_dataset_to_json(inputs[i]) : tm_json_new(TM_JSON_NULL));
    has_table = has_table || is_table;
  }
  if (has_table)
    tm_json_write(out, list, (struct tm_json_style) { 0 });
  tm_json_free(list);
}

bool tm_dataset_is_extracted(const struct tm_dataset *d)
{
  return d->archives && d->archives->is_extracted;
}
