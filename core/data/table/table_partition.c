/* table_partition.c - see table_partition.h.
 *
 *   files listed -> their hash; is the target made from them?  yes: return its definition
 *   ranges -> frames -> row sorter -> .tidemill-partial-TARGET/... and .tidemill-partition
 *          -> disk -> TARGET
 *
 *  (1) The folder being written is locked: of two writers one is refused. The lock ends with its
 *      owner.
 *  (2) A folder without our note, or with the note of a newer program, is foreign: it is never
 *      touched.
 *  (3) The note is in the folder before the folder gets its name, and all of it is on the disk
 *      before that.
 */
#include "data/table/table_partition.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/splitter.h"
#include "data/files/listing.h"
#include "data/files/partition.h"
#include "data/table/table_folders.h"
#include "data/table/table_load.h"

#define NOTE     ".tidemill-partition"
#define PARTIAL  ".tidemill-partial-"
#define OLD      ".old"
#define NOTE_MAX ((size_t)16 << 20)
#define VERSION  1
#define RANGE    ((int64_t)1 << 20) /* bytes of a file that are read at once */

/* What the target is made from ----------------------------------------------------------------- */

static bool is_below(const char *path, size_t n, const char *dir)
{
  size_t len = strlen(dir);
  return n > len && memcmp(path, dir, len) == 0 && path[len] == '/';
}

/* Hashes the definition without its names, and the keys. */
static void hash_definition(const struct tm_table_partition *p, struct tm_hash *h)
{
  static const char *const parts[] = { "kind",  "paths",   "base_dir", "partition_format",
                                       "limit", "options", "ops" };
  struct tm_json *v = tm_dataset_to_json(p->dataset);
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_u32(&text, VERSION);
  for (size_t i = 0; i < TM_COUNT_OF(parts); i++) {
    const struct tm_json *part = tm_json_get(v, parts[i]);
    tm_buf_add_char(&text, '\n');
    if (part)
      tm_json_write(&text, part, (struct tm_json_style) { .sorted = true });
  }
  for (size_t i = 0; i < p->keys_len; i++)
    tm_buf_add_bytes32(&text, p->keys[i], strlen(p->keys[i]));
  tm_hash_add(h, text.data, text.len);
  tm_buf_release(&text);
  tm_json_free(v);
}

static int hash_source(const struct tm_table_partition *p, char out[17], struct tm_err *err)
{
  const struct tm_dataset *d = p->dataset;
  struct tm_listing_options options = { .fs = p->fs,
                                        .base_dir = d->base_dir,
                                        .paths = (const char *const *)d->paths,
                                        .paths_len = d->paths_len,
                                        .skip_unreadable = d->skip_unreadable };
  struct tm_listing *listing = tm_listing_open(&options);
  struct tm_hash *h = tm_hash_new();
  struct tm_buf record = TM_BUF_NONE;
  struct tm_item file;
  int rc;
  hash_definition(p, h);
  while ((rc = tm_listing_next(listing, &file, err)) > 0) {
    if (is_below(file.path, file.path_len, p->target)) {
      rc = tm_err_set(err, TM_EUSAGE,
                      "the target '%s' is within what the dataset reads: its files would be rows "
                      "of the table the next time; name a folder elsewhere",
                      p->target);
      break;
    }
    tm_buf_clear(&record);
    tm_item_add(&record, &file);
    tm_hash_add(h, record.data, record.len);
  }
  snprintf(out, 17, "%016" PRIx64, tm_hash_end(h));
  tm_buf_release(&record);
  tm_hash_free(h);
  tm_listing_close(listing);
  return rc;
}

/* The existing target -------------------------------------------------------------------------- */

static int on_any_name(void *data, const char *name, int type)
{
  (void)data;
  (void)name;
  (void)type;
  return -EEXIST;
}

/* 1: the name exists; 0: it does not, or is an empty folder. */
static int is_taken(const char *path, struct tm_err *err)
{
  int rc = tm_dir_read(path, on_any_name, NULL);
  if (rc == 0 || rc == -ENOENT)
    return 0;
  if (rc == -ENOTDIR)
    return tm_err_set(err, TM_EUSAGE, "the target '%s' is not a folder", path);
  return rc == -EEXIST ? 1 : tm_err_system(err, rc, "cannot read the target '%s'", path);
}

/* NULL: there is no readable note; with a message if the disk is at fault. */
static struct tm_json *read_note(const struct tm_table_partition *p, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *v = NULL;
  char *path = tm_path_join(p->target, NOTE);
  if (tm_fs_exists(p->fs, path) && tm_fs_read_file(p->fs, path, NOTE_MAX, &text, err) == 0)
    v = tm_json_parse(tm_buf_str(&text), text.len, NULL);
  if (v && (v->type != TM_JSON_OBJECT || tm_json_int(v, "version", 0) != VERSION ||
            !tm_json_get(v, "definition"))) {
    tm_json_free(v);
    v = NULL;
  }
  tm_buf_release(&text);
  free(path);
  return v;
}

/* Whether its files are those that were written. */
static int is_whole(const struct tm_table_partition *p, const struct tm_json *note,
                    struct tm_err *err)
{
  const char *const paths[] = { p->target };
  struct tm_listing_options options = {
    .fs = p->fs, .base_dir = "/", .paths = paths, .paths_len = 1
  };
  struct tm_listing *listing = tm_listing_open(&options);
  struct tm_table_folders found = { 0 };
  struct tm_item file;
  char names[17];
  size_t above = strlen(p->target) + 1;
  int rc;
  while ((rc = tm_listing_next(listing, &file, err)) > 0)
    tm_table_folders_note(&found, file.path + above, file.path_len - above, file.size);
  tm_listing_close(listing);
  snprintf(names, sizeof(names), "%016" PRIx64, found.names);
  return rc < 0 ? rc
                : found.files == tm_json_int(note, "files", -1) &&
                      strcmp(names, tm_json_str(note, "names", "")) == 0;
}

static void set_path(struct tm_json *definition, const char *target)
{
  struct tm_json *paths = tm_json_set(definition, "paths", tm_json_new(TM_JSON_ARRAY));
  tm_json_add(paths, tm_json_new_string(target));
}

/* 1: the target is up to date: *out. 0: it must be made. Keeps (2). */
static int look_at_target(const struct tm_table_partition *p, const char *source,
                          struct tm_json **out, struct tm_err *err)
{
  int rc = is_taken(p->target, err);
  if (rc <= 0)
    return rc;
  struct tm_json *note = read_note(p, err);
  if (!note)
    return err->code < 0
               ? err->code
               : tm_err_set(err, TM_EUSAGE,
                            "the target '%s' is not empty, and partition_by has not made it; it is "
                            "left as it is: name a folder that is empty or does not exist",
                            p->target);
  bool is_same = strcmp(tm_json_str(note, "source", ""), source) == 0;
  rc = is_same ? is_whole(p, note, err) : 0;
  if (rc > 0) {
    *out = tm_json_copy(tm_json_get(note, "definition"));
    set_path(*out, p->target); /* it may have been moved */
  } else if (rc == 0 && !p->overwrite)
    rc = tm_err_set(
        err, TM_EUSAGE, "the target '%s' %s; { overwrite = true } replaces it", p->target,
        is_same ? "has changed since partition_by made it: files were added, removed or changed"
                : "was made of other rows, or by other keys: the dataset or its files have "
                  "changed since");
  tm_json_free(note);
  return rc;
}

/* Its definition ------------------------------------------------------------------------------- */

static struct tm_json *define(const struct tm_table_partition *p, const struct tm_schema *columns,
                              const struct tm_table_folders *made)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *options, *types;
  struct tm_buf format = TM_BUF_NONE;
  for (size_t i = 0; i < p->keys_len; i++)
    tm_buf_printf(&format, "{%s:%%}/", p->keys[i]);
  tm_buf_add_str(&format, TM_TABLE_FOLDERS_FILE);
  tm_json_set(v, "kind", tm_json_new_string("delimited"));
  set_path(v, p->target);
  tm_json_set(v, "partition_format", tm_json_new_string(tm_buf_str(&format)));
  options = tm_json_set(v, "options", tm_json_new(TM_JSON_OBJECT));
  tm_json_set(options, "infer_column_types", tm_json_new_bool(false));
  tm_json_set(options, "support_multi_line", tm_json_new_bool(made->has_line_breaks));
  types = tm_json_set(options, "set_column_types", tm_json_new(TM_JSON_OBJECT));
  for (size_t i = 0; i < columns->len; i++)
    tm_json_set(types, columns->columns[i].name,
                tm_json_new_string(tm_column_type_name((int)columns->columns[i].type)));
  tm_buf_release(&format);
  return v;
}

static int write_note(const struct tm_table_partition *p, const char *dir, const char *source,
                      const struct tm_table_folders *made, const struct tm_json *definition,
                      struct tm_err *err)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_buf text = TM_BUF_NONE;
  char names[17], *path = tm_path_join(dir, NOTE);
  snprintf(names, sizeof(names), "%016" PRIx64, made->names);
  tm_json_set(v, "version", tm_json_new_int(VERSION));
  tm_json_set(v, "source", tm_json_new_string(source));
  tm_json_set(v, "files", tm_json_new_int(made->files));
  tm_json_set(v, "rows", tm_json_new_int(made->rows));
  tm_json_set(v, "names", tm_json_new_string(names));
  tm_json_set(v, "definition", tm_json_copy(definition));
  tm_json_write(&text, v, (struct tm_json_style) { .indent = 2 });
  int rc = tm_fs_write_file(p->fs, path, text.data, text.len, 0666, err);
  free(path);
  tm_buf_release(&text);
  tm_json_free(v);
  return rc;
}

/* Reading the rows ----------------------------------------------------------------------------- */

struct source {
  const struct tm_table_partition *p;
  struct tm_splitter *splitter;
  struct tm_table_loader *loader;
  struct tm_schemas schemas;
  size_t columns; /* known to the loader */
  int64_t noted;  /* ranges with warnings */
};

static void note_faults(struct source *s, struct tm_buf *notes)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_table_load_words(s->loader, &words);
  if (words.len > 0 && s->noted++ == 0)
    tm_buf_add(notes, words.data, words.len);
  tm_buf_release(&words);
}

static int add_range(struct source *s, const struct tm_mini_batch *mb, struct tm_row_sorter *sorter,
                     struct tm_buf *notes, struct tm_err *err)
{
  struct tm_data_frame frame;
  struct tm_rows_part all = { 0, 0 };
  int rc = 0;
  if (s->columns != s->schemas.at[0].len) { /* found meanwhile */
    s->columns = s->schemas.at[0].len;
    rc = tm_table_loader_use(s->loader, &s->schemas, err);
  }
  if (rc >= 0)
    rc = tm_table_load(s->loader, 0, mb->bytes.data, mb->bytes.len, all, &frame, err);
  if (rc < 0)
    return rc;
  note_faults(s, notes);
  return frame.len > 0 ? tm_row_sorter_add(sorter, &frame, err) : 0;
}

static int read_rows(const struct tm_table_partition *p, struct tm_row_sorter *sorter,
                     struct tm_buf *notes, struct tm_err *err)
{
  struct source s = { .p = p };
  struct tm_mini_batch mb = { .items = 0 };
  struct tm_buf tables = TM_BUF_NONE;
  struct tm_splitter_options options = { .fs = p->fs,
                                         .inputs = &p->dataset,
                                         .inputs_len = 1,
                                         .mini_batch_size = RANGE,
                                         .schemas = &s.schemas };
  int rc;
  tm_schemas_init(&s.schemas, 1);
  tm_dataset_tables(&tables, &p->dataset, 1);
  s.loader = tm_table_loader_new(p->fs, tm_buf_str(&tables), NULL, NULL);
  s.splitter = tm_splitter_open(&options);
  while ((rc = tm_splitter_next(s.splitter, &mb, err)) > 0)
    if ((rc = add_range(&s, &mb, sorter, notes, err)) < 0)
      break;
  if (rc == 0 && tm_row_sorter_columns(sorter)->len == 0)
    rc = tm_splitter_no_input(s.splitter, err);
  if (s.noted > 1)
    tm_buf_printf(notes, "; and more in %" PRId64 " other places", s.noted - 1);
  tm_splitter_close(s.splitter);
  tm_table_loader_free(s.loader);
  tm_schemas_release(&s.schemas);
  tm_buf_release(&tables);
  tm_buf_release(&mb.bytes);
  return rc;
}

/* Writing -------------------------------------------------------------------------------------- */

struct partial {
  char *path;
  int fd; /* locked */
};

static int on_old_name(void *data, const char *name, int type)
{
  struct partial *partial = data;
  struct tm_err err = TM_ERR_NONE;
  char *path = tm_path_join(partial->path, name);
  (void)type;
  int rc = tm_tree_remove(path, &err);
  free(path);
  return rc;
}

/* Makes an empty folder beside the target. Keeps (1): if it was renamed meanwhile, the caller
 * starts over. */
static int open_partial(const struct tm_table_partition *p, struct partial *out, struct tm_err *err)
{
  struct tm_stat opened, named;
  char *above = tm_path_dir(p->target);
  out->path = tm_xprintf("%s/" PARTIAL "%s", strcmp(above, "/") == 0 ? "" : above,
                         p->target + strlen(above) + (strcmp(above, "/") != 0));
  free(above);
  int rc = tm_fs_make_dirs(p->fs, out->path, 0777, err);
  if (rc < 0)
    return rc;
  out->fd = tm_fs_open(p->fs, out->path, O_RDONLY | O_DIRECTORY, 0, err);
  if (out->fd < 0)
    return out->fd;
  rc = tm_lock_take(out->fd, false);
  if (rc == 0 && (rc = p->fs->fstat(p->fs->self, out->fd, &opened)) == 0)
    rc = p->fs->stat(p->fs->self, out->path, false, &named);
  if (rc == -EWOULDBLOCK || (rc == 0 && opened.ino != named.ino))
    return tm_err_set(err, TM_EUSAGE, "another process is writing '%s'; wait until it has ended",
                      p->target);
  if (rc == 0)
    rc = tm_dir_read(out->path, on_old_name, out);
  return rc < 0 ? tm_err_system(err, rc, "cannot begin '%s'", out->path) : 0;
}

static int put_in_place(const struct tm_table_partition *p, const char *partial, struct tm_err *err)
{
  char *old = tm_path_join(partial, OLD), *left = tm_path_join(p->target, OLD);
  int rc = tm_fs_sync_all(partial, err); /* keeps (3) */
  if (rc == 0 && is_taken(p->target, err) > 0 &&
      (rc = p->fs->rename(p->fs->self, p->target, old)) < 0)
    tm_err_system(err, rc, "cannot rename '%s'", p->target);
  if (rc == 0 && (rc = p->fs->rename(p->fs->self, partial, p->target)) < 0)
    tm_err_system(err, rc, "cannot rename '%s' to '%s'", partial, p->target);
  if (rc == 0)
    rc = tm_fs_sync_name(p->fs, p->target, err);
  /* the old target; the listing ignores names with a dot */
  if (rc == 0)
    rc = tm_tree_remove(left, err);
  free(old);
  free(left);
  return rc;
}

static int write_all(const struct tm_table_partition *p, const char *dir, const char *source,
                     struct tm_json **out, struct tm_buf *notes, struct tm_err *err)
{
  struct tm_table_folders made;
  struct tm_json *definition = NULL;
  struct tm_row_sorter *sorter =
      tm_row_sorter_new(p->fs, dir, "partition_by", p->keys, p->keys_len);
  int rc = read_rows(p, sorter, notes, err);
  if (rc >= 0)
    rc = tm_table_folders_write(p->fs, dir, sorter, p->keys, p->keys_len, &made, err);
  if (rc >= 0) {
    definition = define(p, tm_row_sorter_columns(sorter), &made);
    rc = write_note(p, dir, source, &made, definition, err);
  }
  tm_row_sorter_free(sorter);
  if (rc >= 0)
    rc = put_in_place(p, dir, err);
  if (rc >= 0)
    *out = definition;
  else
    tm_json_free(definition);
  return rc;
}

static int make(const struct tm_table_partition *p, const char *source, struct tm_json **out,
                struct tm_buf *notes, struct tm_err *err)
{
  struct partial partial = { .fd = -1 };
  int rc = open_partial(p, &partial, err);
  if (rc == 0) {
    rc = write_all(p, partial.path, source, out, notes, err);
    if (rc < 0)
      tm_tree_remove(partial.path, NULL);
  }
  tm_fs_close(p->fs, partial.fd);
  free(partial.path);
  return rc;
}

static int check_keys(const struct tm_table_partition *p, struct tm_err *err)
{
  if (p->keys_len == 0 || p->keys_len > TM_PARTITION_KEYS_MAX)
    return tm_err_set(err, TM_EUSAGE, "accepted: the names of 1 to %d columns",
                      TM_PARTITION_KEYS_MAX);
  for (size_t i = 0; i < p->keys_len; i++) {
    const char *key = p->keys[i];
    if (*key == 0 || strpbrk(key, "{}:/*?"))
      return tm_err_set(err, TM_EUSAGE,
                        "the column '%s' cannot be a key: a partition_format takes no name that is "
                        "empty or has one of { } : / * ? in it",
                        key);
    for (size_t j = 0; j < i; j++)
      if (strcmp(key, p->keys[j]) == 0)
        return tm_err_set(err, TM_EUSAGE, "the key '%s' is named twice", key);
  }
  return 0;
}

struct tm_json *tm_table_partition(const struct tm_table_partition *p, struct tm_buf *notes,
                                   struct tm_err *err)
{
  struct tm_json *out = NULL;
  char source[17];
  int rc = check_keys(p, err);
  if (rc == 0)
    rc = hash_source(p, source, err);
  if (rc >= 0)
    rc = look_at_target(p, source, &out, err);
  if (rc == 0)
    make(p, source, &out, notes, err);
  return out;
}
