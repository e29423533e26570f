/* splitter.c - reads one input after the other and collects its items until a mini-batch is full.
 *
 *   inputs[0] -> listing, archives, list of paths or of failed items -> items -> mini-batch, ...
 *                                                                        \-> groups (with keys)
 *   then inputs[1], ...
 *
 *  (1) A mini-batch holds items of one input: where an input ends, the current mini-batch ends too.
 *  (2) Equal definitions over equal files give equal mini-batches: a resumed job relies on it.
 *  (3) Paths without files are reported once: a warning, or "no input" if no path had files.
 *
 * The splitter owns its reader and its messages; the datasets belong to the caller until
 * tm_splitter_close().
 */
#include "data/splitter.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/archive/archive_files.h"
#include "data/files/empty_paths.h"
#include "data/files/failed.h"
#include "data/files/groups.h"
#include "data/files/listing.h"
#include "data/files/paths.h"
#include "data/item.h"
#include "data/table/table.h"
#include "data/table/table_splitter.h"
#include "data/table/table_groups.h"
#include "data/table/table_load.h"
#include "sys/fs.h"

#define GROUPED_SIZE (1 << 20)         /* bytes of a table that are read at once for grouping */
#define GROUPED_MAX  ((size_t)1 << 30) /* bytes of the rows of a query that are grouped at once */

struct tm_splitter {
  const struct tm_fs *fs;
  struct tm_splitter_options o;
  uint64_t mini_batch_size;
  size_t at;                         /* the current input; inputs_len at the end */
  struct tm_listing *listing;        /* the open source of the current input: a listing, */
  struct tm_paths *list;             /* or path list_at as a list, */
  struct tm_failed *failed;          /* or failed items */
  struct tm_archive_files *archives; /* of the listing, if the input is archives */
  size_t list_at;
  struct tm_partition *partition;  /* of the current input, or NULL */
  struct tm_table_splitter *table; /* of the current input, if it is a table */
  /* of its rows, with partition keys, once all have been read */
  struct tm_table_groups *table_groups;
  struct tm_groups *groups;      /* of the current input, once all of it has been listed */
  bool has_begun;                /* reading the current input */
  uint64_t ranges;               /* of rows, in all inputs */
  uint64_t list_items, items;    /* of the current list; of all inputs */
  int64_t input_items;           /* of the current input */
  struct TM_ARRAY(char *) empty; /* messages, one for each input with paths that matched nothing */
};

struct tm_splitter *tm_splitter_open(const struct tm_splitter_options *options)
{
  struct tm_splitter *s = TM_NEW(struct tm_splitter);
  int64_t size = options->mini_batch_size;
  tm_require(options->partition_keys_len == 0 || options->spill_dir);
  s->fs = tm_fs_real();
  s->o = *options;
  s->o.fs = options->fs ? options->fs : tm_fs_real();
  s->mini_batch_size = size < 1 ? 1 : size > UINT32_MAX ? UINT32_MAX : (uint64_t)size;
  return s;
}

/* Closes the open sources of the current input. */
static void close_input(struct tm_splitter *s)
{
  tm_listing_close(s->listing);
  tm_paths_close(s->list);
  tm_failed_close(s->failed);
  tm_archive_files_free(s->archives);
  tm_groups_free(s->groups);
  tm_table_splitter_free(s->table);
  tm_table_groups_close(s->table_groups);
  tm_partition_free(s->partition);
  s->table = NULL;
  s->table_groups = NULL;
  s->listing = NULL;
  s->list = NULL;
  s->failed = NULL;
  s->archives = NULL;
  s->groups = NULL;
  s->partition = NULL;
}

void tm_splitter_close(struct tm_splitter *s)
{
  if (s == NULL)
    return;
  close_input(s);
  TM_ARRAY_RELEASE_EACH(&s->empty);
  free(s);
}

/* Messages ------------------------------------------------------------------------------------- */

/* Takes ownership of the message; NULL: there is none. */
static void note_empty(struct tm_splitter *s, char *words)
{
  if (words)
    *TM_ARRAY_ADD(&s->empty) = words;
}

static bool has_window(const struct tm_splitter *s)
{
  for (size_t i = 0; i < s->o.inputs_len; i++) {
    const struct tm_table *t = s->o.inputs[i]->table;
    if (t && (t->ops.take >= 0 || t->ops.skip > 0))
      return true;
  }
  return false;
}

static bool has_headers(const struct tm_splitter *s)
{
  bool has_one = false;
  for (size_t i = 0; i < s->o.inputs_len; i++)
    has_one = has_one || tm_table_has_header(s->o.inputs[i]->table);
  return has_one;
}

int tm_splitter_no_input(const struct tm_splitter *s, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < s->empty.len; i++)
    tm_buf_printf(&text, "%s%s", i > 0 ? "; " : "", s->empty.at[i]);
  if (text.len == 0 && has_window(s))
    tm_buf_add_str(&text, "there is no row, or take() and skip() leave none");
  if (text.len == 0 && s->items > 0)
    tm_buf_printf(&text, "there is no row in %llu file%s%s", (unsigned long long)s->items,
                  s->items == 1 ? "" : "s", has_headers(s) ? TM_TABLE_HEADER_ADVICE : "");
  if (text.len == 0)
    tm_buf_add_str(&text, "the inputs name no paths");
  int rc = tm_err_set(err, TM_ENOINPUT, "no input: %s", tm_buf_str(&text));
  tm_buf_release(&text);
  return rc;
}

static void warn_of_empty(const struct tm_splitter *s) /* keeps (3) */
{
  for (size_t i = 0; i < s->empty.len && s->items > 0 && s->o.on_warning != NULL; i++)
    s->o.on_warning(s->o.data, s->empty.at[i]);
}

/* Items ---------------------------------------------------------------------------------------- */

static int locate(const struct tm_dataset *d, struct tm_err *err)
{
  return d->where ? tm_err_wrap(err, "%s: %s", d->where, tm_dataset_tag(d)) : err->code;
}

/* Reports a file to on_file; `rc` is the result of its reader. */
static int tell(struct tm_splitter *s, const struct tm_item *file, int rc, struct tm_err *err)
{
  if (rc > 0 && s->o.on_file && s->o.on_file(s->o.data, (uint32_t)s->at, file, err) < 0)
    return err->code;
  return rc;
}

static int next_of_listing(struct tm_splitter *s, const struct tm_dataset *d, struct tm_item *out,
                           struct tm_err *err)
{
  if (s->listing == NULL) {
    struct tm_listing_options options = {
      .fs = s->fs,
      .base_dir = d->base_dir,
      .paths = (const char *const *)d->paths,
      .paths_len = d->paths_len,
      .skip_unreadable = d->skip_unreadable,
      .takes_hidden = d->takes_hidden,
      .on_warning = s->o.on_warning,
      .data = s->o.data,
    };
    s->listing = tm_listing_open(&options);
  }
  return tell(s, out, tm_listing_next(s->listing, out, err), err);
}

/* The entries of the archives in the listing. */
static int next_of_archives(struct tm_splitter *s, const struct tm_dataset *d, struct tm_item *out,
                            struct tm_err *err)
{
  struct tm_item file;
  int rc;
  if (s->archives == NULL)
    s->archives = tm_archive_files_new(
        s->fs, d,
        &(struct tm_archive_files_options) { s->o.index_dir, s->o.on_warning, s->o.data });
  while ((rc = tm_archive_files_next(s->archives, out, err)) == 0 &&
         (rc = next_of_listing(s, d, &file, err)) > 0)
    tm_archive_files_begin(s->archives, &file);
  if (rc == 0)
    note_empty(s, tm_archive_files_empty(s->archives));
  return rc == TM_EINPUT ? locate(d, err) : rc;
}

static void end_list(struct tm_splitter *s, const struct tm_dataset *d)
{
  if (s->list_items == 0) {
    char *path = tm_dataset_is_stdin(d) ? tm_xstrdup("standard input")
                                        : tm_path_absolute(d->base_dir, d->paths[s->list_at]);
    *TM_ARRAY_ADD(&s->empty) = tm_xprintf("'%s' lists no paths", path);
    free(path);
  }
  tm_paths_close(s->list);
  s->list = NULL;
  s->list_items = 0;
  s->list_at++;
}

/* Opens a list. A missing list is reported like a missing path: returns 0 without a list. */
static int open_list(struct tm_splitter *s, const struct tm_dataset *d, struct tm_err *err)
{
  const char *path = d->paths[s->list_at];
  struct tm_err why = TM_ERR_NONE;
  s->list = tm_paths_open(s->fs, d->base_dir, path, d->null_separated, s->o.stop, &why);
  if (s->list != NULL)
    return 1;
  if (why.code != -ENOENT) {
    *err = why;
    return why.code;
  }
  char *absolute = tm_path_absolute(d->base_dir, path);
  *TM_ARRAY_ADD(&s->empty) = tm_xprintf("the list '%s' does not exist", absolute);
  free(absolute);
  s->list_at++;
  return 0;
}

static int next_of_lists(struct tm_splitter *s, const struct tm_dataset *d, struct tm_item *out,
                         struct tm_err *err)
{
  while (s->list_at < d->paths_len) {
    int rc = s->list == NULL ? open_list(s, d, err) : 1;
    if (rc < 0)
      return rc;
    if (rc == 0)
      continue;
    rc = tm_paths_next(s->list, out, err);
    if (rc != 0) {
      s->list_items += rc > 0;
      return rc;
    }
    end_list(s, d);
  }
  return 0;
}

/* Reports failed items that are not named; if there are no items at all, adds a message for "no
 * input". */
static void end_failed(struct tm_splitter *s, const char *path, bool is_missing)
{
  int64_t unnamed = s->failed ? tm_failed_unnamed(s->failed) : 0;
  char *words = NULL;
  if (unnamed > 0)
    words = tm_xprintf("'%s': of %lld failed items it is not known which ones they are (run() "
                       "returned fewer elements than items); they are not read again",
                       path, (long long)unnamed);
  if (words && s->o.on_warning && s->items > 0)
    s->o.on_warning(s->o.data, words);
  if (is_missing)
    *TM_ARRAY_ADD(&s->empty) =
        tm_xprintf("'%s' does not exist: no item has failed, or it was removed", path);
  else if (s->input_items == 0)
    *TM_ARRAY_ADD(&s->empty) =
        words ? tm_xstrdup(words) : tm_xprintf("'%s' names no failed items", path);
  free(words);
}

static int next_of_failed(struct tm_splitter *s, const struct tm_dataset *d, struct tm_item *out,
                          struct tm_err *err)
{
  bool is_missing = false;
  char *path = tm_path_absolute(d->base_dir, d->paths[0]);
  int rc = 0;
  if (s->failed == NULL)
    s->failed = tm_failed_open(s->fs, path, d->input, &is_missing, err);
  if (s->failed != NULL && (rc = tm_failed_next(s->failed, out, err)) > 0)
    rc = tm_failed_check_archive(s->failed, out, err) < 0 ? err->code : rc;
  else if (s->failed == NULL && !is_missing)
    rc = err->code;
  if (rc == 0)
    end_failed(s, path, is_missing);
  free(path);
  return rc;
}

static int next_of_source(struct tm_splitter *s, const struct tm_dataset *d, struct tm_item *out,
                          struct tm_err *err)
{
  switch (d->kind) {
  case TM_DATASET_DELIMITED:
  case TM_DATASET_JSON_LINES:
  case TM_DATASET_SQL:
  case TM_DATASET_FILES: return next_of_listing(s, d, out, err);
  case TM_DATASET_MANIFEST: return tell(s, out, next_of_lists(s, d, out, err), err);
  case TM_DATASET_FAILED: return tell(s, out, next_of_failed(s, d, out, err), err);
  case TM_DATASET_ARCHIVES: return next_of_archives(s, d, out, err);
  }
  return 0;
}

static bool is_at_limit(const struct tm_splitter *s, const struct tm_dataset *d)
{
  return d->limit > 0 && s->input_items == d->limit && !tm_dataset_is_table(d);
}

/* After a limit, it is unknown which paths would have matched. */
static void end_input(struct tm_splitter *s, const struct tm_dataset *d)
{
  if (s->listing != NULL && !is_at_limit(s, d))
    note_empty(s, tm_empty_paths(s->fs, d, s->listing));
  close_input(s);
  s->list_items = 0;
  s->input_items = 0;
  s->list_at = 0;
  s->has_begun = false;
  s->at++;
  if (s->at == s->o.inputs_len)
    warn_of_empty(s);
}

static int check_stop(const struct tm_splitter *s, struct tm_err *err)
{
  bool is_set = s->o.stop && tm_stop_is_set(s->o.stop);
  return is_set ? tm_err_set(err, -ECANCELED, "the listing was stopped") : 0;
}

/* The next item of the current input: 1, or 0 at its end. */
static int next_item(struct tm_splitter *s, const struct tm_dataset *d, struct tm_item *out,
                     struct tm_err *err)
{
  int rc = check_stop(s, err);
  if (rc < 0)
    return rc;
  rc = is_at_limit(s, d) ? 0 : next_of_source(s, d, out, err);
  if (rc > 0) {
    s->items++;
    s->input_items++;
  }
  return rc;
}

/* Checks that a path fits the partition format, also if nobody uses the values. An entry with a
 * fault fails by itself. */
static int check_path(struct tm_splitter *s, const struct tm_dataset *d, const struct tm_item *item,
                      struct tm_err *err)
{
  struct tm_key values[TM_PARTITION_KEYS_MAX];
  int rc = s->partition && item->fault_len == 0
               ? tm_partition_match(s->partition, item->path, item->path_len, values, err)
               : 0;
  return rc < 0 ? locate(d, err) : 0;
}

/* Fills a mini-batch up to the size. 1; 0: the input has no items left. */
static int next_by_size(struct tm_splitter *s, const struct tm_dataset *d,
                        struct tm_mini_batch *out, struct tm_err *err)
{
  struct tm_item item;
  while (out->items < s->mini_batch_size) {
    int rc = next_item(s, d, &item, err);
    if (rc == 0) {
      end_input(s, d);
      return out->items > 0; /* keeps (1) */
    }
    if (rc < 0 || (rc = check_path(s, d, &item, err)) < 0)
      return rc;
    tm_item_add(&out->bytes, &item);
    out->items++;
  }
  return 1;
}

static int group_all(struct tm_splitter *s, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_item item;
  int rc;
  s->groups = tm_groups_new(s->o.fs, s->o.spill_dir, s->partition, s->o.partition_keys,
                            s->o.partition_keys_len);
  while ((rc = next_item(s, d, &item, err)) > 0)
    if ((rc = tm_groups_add(s->groups, &item, err)) < 0)
      return rc == TM_EINPUT ? locate(d, err) : rc;
  return rc;
}

/* All items with the next values of the keys. 1; 0: the input has no groups left. */
static int next_by_keys(struct tm_splitter *s, const struct tm_dataset *d,
                        struct tm_mini_batch *out, struct tm_err *err)
{
  int rc = s->groups ? 0 : group_all(s, d, err);
  if (rc == 0)
    rc = tm_groups_next(s->groups, &out->items, &out->bytes, err);
  if (rc == 0)
    end_input(s, d);
  return rc;
}

static void list_again(struct tm_splitter *s)
{
  tm_listing_close(s->listing);
  s->listing = NULL;
  s->items -= (uint64_t)s->input_items;
  s->input_items = 0;
  if (s->o.on_file)
    s->o.on_file(s->o.data, (uint32_t)s->at, NULL, NULL);
}

/* Reads the columns of all files of the input; then lists it again. */
static int look_at_all(struct tm_splitter *s, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_item file;
  int rc;
  while ((rc = next_item(s, d, &file, err)) > 0)
    if ((rc = tm_table_splitter_look(s->table, &file, err)) < 0)
      return rc == TM_EINPUT ? locate(d, err) : rc;
  list_again(s);
  return rc < 0 ? rc : tm_table_splitter_end_look(s->table, err);
}

static int keep_schemas(const struct tm_splitter *s, struct tm_err *err)
{
  int rc = check_stop(s, err);
  return rc < 0 || !s->o.schema_file
             ? rc
             : tm_schemas_write(s->o.schemas, s->o.fs, s->o.schema_file, err);
}

static int begin_table(struct tm_splitter *s, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_schema *schema = &s->o.schemas->at[s->at];
  struct tm_table_splitter_options options = { .fs = s->fs,
                                               .dataset = d,
                                               .partition = s->partition,
                                               .schema = schema,
                                               .index_dir = s->o.index_dir,
                                               .size = s->o.partition_keys_len > 0
                                                           ? GROUPED_SIZE
                                                           : s->o.mini_batch_size,
                                               .counts_rows = s->o.counts_rows,
                                               .fails_alone = s->o.partition_keys_len == 0,
                                               .on_warning = s->o.on_warning,
                                               .data = s->o.data };
  s->table = tm_table_splitter_new(&options);
  if (d->table->rows.dialect.header != TM_HEADER_DIFFERENT || schema->len > 0)
    return 0;
  int rc = look_at_all(s, d, err);
  return rc < 0 ? rc : keep_schemas(s, err);
}

/* Begins a file of a table; the first one with rows also sets the schema. */
static int begin_file(struct tm_splitter *s, const struct tm_dataset *d, const struct tm_item *file,
                      struct tm_err *err)
{
  const struct tm_schema *schema = &s->o.schemas->at[s->at];
  bool had_schema = schema->len > 0;
  int rc = check_path(s, d, file, err);
  if (rc == 0 && (rc = tm_table_splitter_begin(s->table, file, err)) < 0)
    return rc == TM_EINPUT || rc == TM_EUSAGE ? locate(d, err) : rc;
  return rc == 0 && !had_schema && schema->len > 0 ? keep_schemas(s, err) : rc;
}

/* The next range of rows. 1; 0: the input has no rows left. */
static int next_of_table(struct tm_splitter *s, const struct tm_dataset *d,
                         struct tm_mini_batch *out, struct tm_err *err)
{
  struct tm_item item;
  int rc = check_stop(s, err);
  if (rc < 0)
    return rc;
  while ((rc = tm_table_splitter_next(s->table, &item, err)) == 0) {
    rc = tm_table_splitter_is_done(s->table) ? 0 : next_item(s, d, &item, err);
    if (rc == 0 && !s->table_groups)
      end_input(s, d);
    if (rc <= 0 || (rc = begin_file(s, d, &item, err)) < 0)
      return rc;
  }
  if (rc < 0)
    return rc == TM_EINPUT || rc == TM_EUSAGE ? locate(d, err) : rc;
  tm_item_add(&out->bytes, &item);
  if (item.is_entry) /* a file that cannot be read */
    out->items = 1;
  else if (item.rows > 0 && item.rows < UINT32_MAX && d->table->ops.len == 0)
    out->items = (uint32_t)item.rows;
  s->ranges++;
  return 1;
}

/* Loads all ranges of the table as frames and groups their rows. */
static int read_rows(struct tm_splitter *s, const struct tm_dataset *d,
                     struct tm_table_loader *loader, struct tm_err *err)
{
  struct tm_mini_batch mb = { .items = 0 };
  struct tm_data_frame frame;
  struct tm_rows_part all = { 0, 0 };
  size_t at = s->at, columns = 0;
  int rc;
  while ((rc = next_of_table(s, d, &mb, err)) > 0) {
    if (columns != s->o.schemas->at[at].len) { /* found meanwhile */
      columns = s->o.schemas->at[at].len;
      rc = tm_table_loader_use(loader, s->o.schemas, err);
    }
    if (rc >= 0)
      rc = tm_table_load(loader, (uint32_t)at, mb.bytes.data, mb.bytes.len, all, &frame, err);
    if (rc == TM_EUSAGE)
      rc = locate(d, err);
    if (rc >= 0 && frame.len > 0 && (rc = tm_table_groups_add(s->table_groups, &frame, err)) < 0)
      rc = rc == TM_EUSAGE || rc == TM_EINPUT ? locate(d, err) : rc;
    if (rc < 0)
      break;
    tm_buf_clear(&mb.bytes);
  }
  tm_buf_release(&mb.bytes);
  return rc;
}

static int group_rows(struct tm_splitter *s, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_buf tables = TM_BUF_NONE;
  tm_dataset_tables(&tables, s->o.inputs, s->o.inputs_len);
  struct tm_table_loader *loader =
      tm_table_loader_new(s->fs, tm_buf_str(&tables), NULL, s->o.index_dir);
  tm_table_loader_bound(loader, GROUPED_MAX, s->o.stop);
  int rc = read_rows(s, d, loader, err);
  tm_table_loader_free(loader);
  tm_buf_release(&tables);
  if (rc == 0)
    rc = check_stop(s, err);
  return rc < 0 ? rc : tm_table_groups_finish(s->table_groups, err);
}

/* The rows of the table in groups: from the file of an earlier session, or new. */
static int begin_groups(struct tm_splitter *s, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_item file;
  char *path =
      tm_xprintf("%s/groups-%zu", s->o.groups_dir ? s->o.groups_dir : s->o.spill_dir, s->at);
  int rc;
  s->table_groups = tm_table_groups_new(s->o.fs, path, s->o.spill_dir, s->o.partition_keys,
                                        s->o.partition_keys_len);
  free(path);
  while ((rc = next_item(s, d, &file, err)) > 0)
    tm_table_groups_note(s->table_groups, &file);
  if (rc < 0 || (rc = tm_table_groups_open(s->table_groups, err)) != 0)
    return rc < 0 ? rc : 0;
  list_again(s);
  return group_rows(s, d, err);
}

static int next_group_of_table(struct tm_splitter *s, const struct tm_dataset *d,
                               struct tm_mini_batch *out, struct tm_err *err)
{
  int rc = s->table_groups ? 0 : begin_groups(s, d, err);
  if (rc == 0)
    rc = tm_table_groups_next(s->table_groups, &out->items, &out->bytes, err);
  s->ranges += rc > 0;
  if (rc == 0)
    end_input(s, d);
  return rc;
}

static int begin_input(struct tm_splitter *s, const struct tm_dataset *d, struct tm_err *err)
{
  int rc = 0;
  if (s->has_begun)
    return 0;
  s->has_begun = true;
  if (d->partition_format && !(s->partition = tm_partition_new(d->partition_format, err)))
    return locate(d, err);
  if (tm_dataset_is_table(d) && (rc = begin_table(s, d, err)) < 0)
    return rc == TM_EINPUT || rc == TM_EUSAGE ? locate(d, err) : rc;
  return rc;
}

int tm_splitter_next(struct tm_splitter *s, struct tm_mini_batch *out, struct tm_err *err)
{
  int rc = 0;
  tm_buf_clear(&out->bytes);
  out->items = 0;
  while (s->at < s->o.inputs_len && rc == 0) {
    const struct tm_dataset *d = s->o.inputs[s->at];
    out->dataset = (uint32_t)s->at;
    if ((rc = begin_input(s, d, err)) == 0)
      rc = s->table && s->o.partition_keys_len > 0 ? next_group_of_table(s, d, out, err)
           : s->table                              ? next_of_table(s, d, out, err)
           : s->o.partition_keys_len > 0           ? next_by_keys(s, d, out, err)
                                                   : next_by_size(s, d, out, err);
  }
  return rc;
}
