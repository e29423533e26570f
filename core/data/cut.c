/* cut.c - reads one input after the other and collects its items until a mini-batch is full.
 *
 *   inputs[0] -> listing, archives, list of paths or of failed items -> items -> mini-batch, ...
 *                                                                        \-> groups (with keys)
 *   then inputs[1], ...
 *
 *  (1) A mini-batch holds items of one input: where an input ends, the current mini-batch ends too.
 *  (2) Equal definitions over equal files give equal mini-batches: a resumed job relies on it.
 *  (3) Paths without files are reported once: a warning, or "no input" if no path had files.
 *
 * The cut owns its reader and its messages; the datasets belong to the caller until tm_cut_close().
 */
#include "data/cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
#include "data/table/table_cut.h"
#include "data/table/table_groups.h"
#include "data/table/table_load.h"
#include "sys/fs.h"

#define GROUPED_SIZE (1 << 20)         /* bytes of a table that are read at once for grouping */
#define GROUPED_MAX  ((size_t)1 << 30) /* bytes of the rows of a query that are grouped at once */

struct tm_cut {
  const struct tm_fs *fs;
  struct tm_cut_options o;
  uint64_t mini_batch_size;
  size_t at;                         /* the current input; inputs_len at the end */
  struct tm_listing *listing;        /* the open source of the current input: a listing, */
  struct tm_paths *list;             /* or path list_at as a list, */
  struct tm_failed *failed;          /* or failed items */
  struct tm_archive_files *archives; /* of the listing, if the input is archives */
  size_t list_at;
  struct tm_partition *partition; /* of the current input, or NULL */
  struct tm_table_cut *table;     /* of the current input, if it is a table */
  /* of its rows, with partition keys, once all have been read */
  struct tm_table_groups *table_groups;
  struct tm_groups *groups;      /* of the current input, once all of it has been listed */
  bool has_begun;                /* reading the current input */
  uint64_t ranges;               /* of rows, in all inputs */
  uint64_t list_items, items;    /* of the current list; of all inputs */
  int64_t input_items;           /* of the current input */
  struct TM_ARRAY(char *) empty; /* messages, one for each input with paths that matched nothing */
};

struct tm_cut *tm_cut_open(const struct tm_cut_options *options)
{
  struct tm_cut *cut = TM_NEW(struct tm_cut);
  int64_t size = options->mini_batch_size;
  tm_require(options->partition_keys_len == 0 || options->spill_dir);
  cut->fs = tm_fs_real();
  cut->o = *options;
  cut->o.fs = options->fs ? options->fs : tm_fs_real();
  cut->mini_batch_size = size < 1 ? 1 : size > UINT32_MAX ? UINT32_MAX : (uint64_t)size;
  return cut;
}

/* Closes the open sources of the current input. */
static void close_input(struct tm_cut *cut)
{
  tm_listing_close(cut->listing);
  tm_paths_close(cut->list);
  tm_failed_close(cut->failed);
  tm_archive_files_free(cut->archives);
  tm_groups_free(cut->groups);
  tm_table_cut_free(cut->table);
  tm_table_groups_close(cut->table_groups);
  tm_partition_free(cut->partition);
  cut->table = NULL;
  cut->table_groups = NULL;
  cut->listing = NULL;
  cut->list = NULL;
  cut->failed = NULL;
  cut->archives = NULL;
  cut->groups = NULL;
  cut->partition = NULL;
}

void tm_cut_close(struct tm_cut *cut)
{
  if (cut == NULL)
    return;
  close_input(cut);
  for (size_t i = 0; i < cut->empty.len; i++)
    free(cut->empty.at[i]);
  TM_ARRAY_RELEASE(&cut->empty);
  free(cut);
}

/* Messages ------------------------------------------------------------------------------------- */

/* Takes ownership of the message; NULL: there is none. */
static void note_empty(struct tm_cut *cut, char *words)
{
  if (words)
    *TM_ARRAY_ADD(&cut->empty) = words;
}

static bool has_window(const struct tm_cut *cut)
{
  for (size_t i = 0; i < cut->o.inputs_len; i++) {
    const struct tm_table *t = cut->o.inputs[i]->table;
    if (t && (t->ops.take >= 0 || t->ops.skip > 0))
      return true;
  }
  return false;
}

static bool has_headers(const struct tm_cut *cut)
{
  bool has_one = false;
  for (size_t i = 0; i < cut->o.inputs_len; i++)
    has_one = has_one || tm_table_has_header(cut->o.inputs[i]->table);
  return has_one;
}

int tm_cut_no_input(const struct tm_cut *cut, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < cut->empty.len; i++)
    tm_buf_printf(&text, "%s%s", i > 0 ? "; " : "", cut->empty.at[i]);
  if (text.len == 0 && has_window(cut))
    tm_buf_add_str(&text, "there is no row, or take() and skip() leave none");
  if (text.len == 0 && cut->items > 0)
    tm_buf_printf(&text, "there is no row in %llu file%s%s", (unsigned long long)cut->items,
                  cut->items == 1 ? "" : "s", has_headers(cut) ? TM_TABLE_HEADER_ADVICE : "");
  if (text.len == 0)
    tm_buf_add_str(&text, "the inputs name no paths");
  int rc = tm_err_set(err, TM_ENOINPUT, "no input: %s", tm_buf_str(&text));
  tm_buf_release(&text);
  return rc;
}

static void warn_of_empty(const struct tm_cut *cut) /* keeps (3) */
{
  for (size_t i = 0; i < cut->empty.len && cut->items > 0 && cut->o.on_warning != NULL; i++)
    cut->o.on_warning(cut->o.data, cut->empty.at[i]);
}

/* Items ---------------------------------------------------------------------------------------- */

static int place(const struct tm_dataset *d, struct tm_err *err)
{
  return d->where ? tm_err_wrap(err, "%s: %s", d->where, tm_dataset_tag(d)) : err->code;
}

/* Reports a file to on_file; `rc` is the result of its reader. */
static int tell(struct tm_cut *cut, const struct tm_item *file, int rc, struct tm_err *err)
{
  if (rc > 0 && cut->o.on_file && cut->o.on_file(cut->o.data, (uint32_t)cut->at, file, err) < 0)
    return err->code;
  return rc;
}

static int next_of_listing(struct tm_cut *cut, const struct tm_dataset *d, struct tm_item *out,
                           struct tm_err *err)
{
  if (cut->listing == NULL) {
    struct tm_listing_options options = {
      .fs = cut->fs,
      .base_dir = d->base_dir,
      .paths = (const char *const *)d->paths,
      .paths_len = d->paths_len,
      .skip_unreadable = d->skip_unreadable,
      .takes_hidden = d->takes_hidden,
      .on_warning = cut->o.on_warning,
      .data = cut->o.data,
    };
    cut->listing = tm_listing_open(&options);
  }
  return tell(cut, out, tm_listing_next(cut->listing, out, err), err);
}

/* The entries of the archives in the listing. */
static int next_of_archives(struct tm_cut *cut, const struct tm_dataset *d, struct tm_item *out,
                            struct tm_err *err)
{
  struct tm_item file;
  int rc;
  if (cut->archives == NULL)
    cut->archives = tm_archive_files_new(
        cut->fs, d,
        &(struct tm_archive_files_options) { cut->o.index_dir, cut->o.on_warning, cut->o.data });
  while ((rc = tm_archive_files_next(cut->archives, out, err)) == 0 &&
         (rc = next_of_listing(cut, d, &file, err)) > 0)
    tm_archive_files_begin(cut->archives, &file);
  if (rc == 0)
    note_empty(cut, tm_archive_files_empty(cut->archives));
  return rc == TM_EINPUT ? place(d, err) : rc;
}

static void end_list(struct tm_cut *cut, const struct tm_dataset *d)
{
  if (cut->list_items == 0) {
    char *path = tm_dataset_is_stdin(d) ? tm_xstrdup("standard input")
                                        : tm_path_absolute(d->base_dir, d->paths[cut->list_at]);
    *TM_ARRAY_ADD(&cut->empty) = tm_xprintf("'%s' lists no paths", path);
    free(path);
  }
  tm_paths_close(cut->list);
  cut->list = NULL;
  cut->list_items = 0;
  cut->list_at++;
}

/* Opens a list. A missing list is reported like a missing path: returns 0 without a list. */
static int open_list(struct tm_cut *cut, const struct tm_dataset *d, struct tm_err *err)
{
  const char *path = d->paths[cut->list_at];
  struct tm_err why = TM_ERR_NONE;
  cut->list = tm_paths_open(cut->fs, d->base_dir, path, d->null_separated, cut->o.stop, &why);
  if (cut->list != NULL)
    return 1;
  if (why.code != -ENOENT) {
    *err = why;
    return why.code;
  }
  char *absolute = tm_path_absolute(d->base_dir, path);
  *TM_ARRAY_ADD(&cut->empty) = tm_xprintf("the list '%s' does not exist", absolute);
  free(absolute);
  cut->list_at++;
  return 0;
}

static int next_of_lists(struct tm_cut *cut, const struct tm_dataset *d, struct tm_item *out,
                         struct tm_err *err)
{
  while (cut->list_at < d->paths_len) {
    int rc = cut->list == NULL ? open_list(cut, d, err) : 1;
    if (rc < 0)
      return rc;
    if (rc == 0)
      continue;
    rc = tm_paths_next(cut->list, out, err);
    if (rc != 0) {
      cut->list_items += rc > 0;
      return rc;
    }
    end_list(cut, d);
  }
  return 0;
}

/* Reports failed items that are not named; if there are no items at all, adds a message for "no
 * input". */
static void end_failed(struct tm_cut *cut, const char *path, bool is_missing)
{
  int64_t unnamed = cut->failed ? tm_failed_unnamed(cut->failed) : 0;
  char *words = NULL;
  if (unnamed > 0)
    words = tm_xprintf("'%s': of %lld failed items it is not known which ones they are (run() "
                       "returned fewer elements than items); they are not read again",
                       path, (long long)unnamed);
  if (words && cut->o.on_warning && cut->items > 0)
    cut->o.on_warning(cut->o.data, words);
  if (is_missing)
    *TM_ARRAY_ADD(&cut->empty) =
        tm_xprintf("'%s' does not exist: no item has failed, or it was removed", path);
  else if (cut->input_items == 0)
    *TM_ARRAY_ADD(&cut->empty) =
        words ? tm_xstrdup(words) : tm_xprintf("'%s' names no failed items", path);
  free(words);
}

static int next_of_failed(struct tm_cut *cut, const struct tm_dataset *d, struct tm_item *out,
                          struct tm_err *err)
{
  bool is_missing = false;
  char *path = tm_path_absolute(d->base_dir, d->paths[0]);
  int rc = 0;
  if (cut->failed == NULL)
    cut->failed = tm_failed_open(cut->fs, path, d->input, &is_missing, err);
  if (cut->failed != NULL && (rc = tm_failed_next(cut->failed, out, err)) > 0)
    rc = tm_failed_check_archive(cut->failed, out, err) < 0 ? err->code : rc;
  else if (cut->failed == NULL && !is_missing)
    rc = err->code;
  if (rc == 0)
    end_failed(cut, path, is_missing);
  free(path);
  return rc;
}

static int next_of_source(struct tm_cut *cut, const struct tm_dataset *d, struct tm_item *out,
                          struct tm_err *err)
{
  switch (d->kind) {
  case TM_DATASET_DELIMITED:
  case TM_DATASET_JSON_LINES:
  case TM_DATASET_SQL:
  case TM_DATASET_FILES: return next_of_listing(cut, d, out, err);
  case TM_DATASET_MANIFEST: return tell(cut, out, next_of_lists(cut, d, out, err), err);
  case TM_DATASET_FAILED: return tell(cut, out, next_of_failed(cut, d, out, err), err);
  case TM_DATASET_ARCHIVES: return next_of_archives(cut, d, out, err);
  }
  return 0;
}

static bool is_at_limit(const struct tm_cut *cut, const struct tm_dataset *d)
{
  return d->limit > 0 && cut->input_items == d->limit && !tm_dataset_is_table(d);
}

/* After a limit, it is unknown which paths would have matched. */
static void end_input(struct tm_cut *cut, const struct tm_dataset *d)
{
  if (cut->listing != NULL && !is_at_limit(cut, d))
    note_empty(cut, tm_empty_paths(cut->fs, d, cut->listing));
  close_input(cut);
  cut->list_items = 0;
  cut->input_items = 0;
  cut->list_at = 0;
  cut->has_begun = false;
  cut->at++;
  if (cut->at == cut->o.inputs_len)
    warn_of_empty(cut);
}

static int check_stop(const struct tm_cut *cut, struct tm_err *err)
{
  bool is_set = cut->o.stop && tm_stop_is_set(cut->o.stop);
  return is_set ? tm_err_set(err, -ECANCELED, "the listing was stopped") : 0;
}

/* The next item of the current input: 1, or 0 at its end. */
static int next_item(struct tm_cut *cut, const struct tm_dataset *d, struct tm_item *out,
                     struct tm_err *err)
{
  int rc = check_stop(cut, err);
  if (rc < 0)
    return rc;
  rc = is_at_limit(cut, d) ? 0 : next_of_source(cut, d, out, err);
  if (rc > 0) {
    cut->items++;
    cut->input_items++;
  }
  return rc;
}

/* Checks that a path fits the partition format, also if nobody uses the values. An entry with a
 * fault fails by itself. */
static int check_path(struct tm_cut *cut, const struct tm_dataset *d, const struct tm_item *item,
                      struct tm_err *err)
{
  struct tm_key values[TM_PARTITION_KEYS_MAX];
  int rc = cut->partition && item->fault_len == 0
               ? tm_partition_match(cut->partition, item->path, item->path_len, values, err)
               : 0;
  return rc < 0 ? place(d, err) : 0;
}

/* Fills a mini-batch up to the size. 1; 0: the input has no items left. */
static int next_by_size(struct tm_cut *cut, const struct tm_dataset *d, struct tm_mini_batch *out,
                        struct tm_err *err)
{
  struct tm_item item;
  while (out->items < cut->mini_batch_size) {
    int rc = next_item(cut, d, &item, err);
    if (rc == 0) {
      end_input(cut, d);
      return out->items > 0; /* keeps (1) */
    }
    if (rc < 0 || (rc = check_path(cut, d, &item, err)) < 0)
      return rc;
    tm_item_add(&out->bytes, &item);
    out->items++;
  }
  return 1;
}

static int group_all(struct tm_cut *cut, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_item item;
  int rc;
  cut->groups = tm_groups_new(cut->o.fs, cut->o.spill_dir, cut->partition, cut->o.partition_keys,
                              cut->o.partition_keys_len);
  while ((rc = next_item(cut, d, &item, err)) > 0)
    if ((rc = tm_groups_add(cut->groups, &item, err)) < 0)
      return rc == TM_EINPUT ? place(d, err) : rc;
  return rc;
}

/* All items with the next values of the keys. 1; 0: the input has no groups left. */
static int next_by_keys(struct tm_cut *cut, const struct tm_dataset *d, struct tm_mini_batch *out,
                        struct tm_err *err)
{
  int rc = cut->groups ? 0 : group_all(cut, d, err);
  if (rc == 0)
    rc = tm_groups_next(cut->groups, &out->items, &out->bytes, err);
  if (rc == 0)
    end_input(cut, d);
  return rc;
}

static void list_again(struct tm_cut *cut)
{
  tm_listing_close(cut->listing);
  cut->listing = NULL;
  cut->items -= (uint64_t)cut->input_items;
  cut->input_items = 0;
  if (cut->o.on_file)
    cut->o.on_file(cut->o.data, (uint32_t)cut->at, NULL, NULL);
}

/* Reads the columns of all files of the input; then lists it again. */
static int look_at_all(struct tm_cut *cut, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_item file;
  int rc;
  while ((rc = next_item(cut, d, &file, err)) > 0)
    if ((rc = tm_table_cut_look(cut->table, &file, err)) < 0)
      return rc == TM_EINPUT ? place(d, err) : rc;
  list_again(cut);
  return rc < 0 ? rc : tm_table_cut_end_look(cut->table, err);
}

static int keep_schemas(const struct tm_cut *cut, struct tm_err *err)
{
  int rc = check_stop(cut, err);
  return rc < 0 || !cut->o.schema_file
             ? rc
             : tm_schemas_write(cut->o.schemas, cut->o.fs, cut->o.schema_file, err);
}

static int begin_table(struct tm_cut *cut, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_schema *schema = &cut->o.schemas->at[cut->at];
  struct tm_table_cut_options options = { .fs = cut->fs,
                                          .dataset = d,
                                          .partition = cut->partition,
                                          .schema = schema,
                                          .index_dir = cut->o.index_dir,
                                          .size = cut->o.partition_keys_len > 0
                                                      ? GROUPED_SIZE
                                                      : cut->o.mini_batch_size,
                                          .counts_rows = cut->o.counts_rows,
                                          .fails_alone = cut->o.partition_keys_len == 0,
                                          .on_warning = cut->o.on_warning,
                                          .data = cut->o.data };
  cut->table = tm_table_cut_new(&options);
  if (d->table->rows.dialect.header != TM_HEADER_DIFFERENT || schema->len > 0)
    return 0;
  int rc = look_at_all(cut, d, err);
  return rc < 0 ? rc : keep_schemas(cut, err);
}

/* Begins a file of a table; the first one with rows also sets the schema. */
static int begin_file(struct tm_cut *cut, const struct tm_dataset *d, const struct tm_item *file,
                      struct tm_err *err)
{
  const struct tm_schema *schema = &cut->o.schemas->at[cut->at];
  bool had_schema = schema->len > 0;
  int rc = check_path(cut, d, file, err);
  if (rc == 0 && (rc = tm_table_cut_begin(cut->table, file, err)) < 0)
    return rc == TM_EINPUT || rc == TM_EUSAGE ? place(d, err) : rc;
  return rc == 0 && !had_schema && schema->len > 0 ? keep_schemas(cut, err) : rc;
}

/* The next range of rows. 1; 0: the input has no rows left. */
static int next_of_table(struct tm_cut *cut, const struct tm_dataset *d, struct tm_mini_batch *out,
                         struct tm_err *err)
{
  struct tm_item item;
  int rc = check_stop(cut, err);
  if (rc < 0)
    return rc;
  while ((rc = tm_table_cut_next(cut->table, &item, err)) == 0) {
    rc = tm_table_cut_is_done(cut->table) ? 0 : next_item(cut, d, &item, err);
    if (rc == 0 && !cut->table_groups)
      end_input(cut, d);
    if (rc <= 0 || (rc = begin_file(cut, d, &item, err)) < 0)
      return rc;
  }
  if (rc < 0)
    return rc == TM_EINPUT || rc == TM_EUSAGE ? place(d, err) : rc;
  tm_item_add(&out->bytes, &item);
  if (item.is_entry) /* a file that cannot be read */
    out->items = 1;
  else if (item.rows > 0 && item.rows < UINT32_MAX && d->table->ops.len == 0)
    out->items = (uint32_t)item.rows;
  cut->ranges++;
  return 1;
}

/* Loads all ranges of the table as frames and groups their rows. */
static int read_rows(struct tm_cut *cut, const struct tm_dataset *d, struct tm_table_loader *loader,
                     struct tm_err *err)
{
  struct tm_mini_batch mb = { .items = 0 };
  struct tm_data_frame frame;
  struct tm_rows_part all = { 0, 0 };
  size_t at = cut->at, columns = 0;
  int rc;
  while ((rc = next_of_table(cut, d, &mb, err)) > 0) {
    if (columns != cut->o.schemas->at[at].len) { /* found meanwhile */
      columns = cut->o.schemas->at[at].len;
      rc = tm_table_loader_use(loader, cut->o.schemas, err);
    }
    if (rc >= 0)
      rc = tm_table_load(loader, (uint32_t)at, mb.bytes.data, mb.bytes.len, all, &frame, err);
    if (rc == TM_EUSAGE)
      rc = place(d, err);
    if (rc >= 0 && frame.len > 0 && (rc = tm_table_groups_add(cut->table_groups, &frame, err)) < 0)
      rc = rc == TM_EUSAGE || rc == TM_EINPUT ? place(d, err) : rc;
    if (rc < 0)
      break;
    tm_buf_clear(&mb.bytes);
  }
  tm_buf_release(&mb.bytes);
  return rc;
}

static int group_rows(struct tm_cut *cut, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_buf tables = TM_BUF_NONE;
  tm_dataset_tables(&tables, cut->o.inputs, cut->o.inputs_len);
  struct tm_table_loader *loader =
      tm_table_loader_new(cut->fs, tm_buf_str(&tables), NULL, cut->o.index_dir);
  tm_table_loader_bound(loader, GROUPED_MAX, cut->o.stop);
  int rc = read_rows(cut, d, loader, err);
  tm_table_loader_free(loader);
  tm_buf_release(&tables);
  if (rc == 0)
    rc = check_stop(cut, err);
  return rc < 0 ? rc : tm_table_groups_finish(cut->table_groups, err);
}

/* The rows of the table in groups: from the file of an earlier session, or new. */
static int begin_groups(struct tm_cut *cut, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_item file;
  char *path = tm_xprintf("%s/groups-%zu", cut->o.groups_dir ? cut->o.groups_dir : cut->o.spill_dir,
                          cut->at);
  int rc;
  cut->table_groups = tm_table_groups_new(cut->o.fs, path, cut->o.spill_dir, cut->o.partition_keys,
                                          cut->o.partition_keys_len);
  free(path);
  while ((rc = next_item(cut, d, &file, err)) > 0)
    tm_table_groups_note(cut->table_groups, &file);
  if (rc < 0 || (rc = tm_table_groups_open(cut->table_groups, err)) != 0)
    return rc < 0 ? rc : 0;
  list_again(cut);
  return group_rows(cut, d, err);
}

static int next_group_of_table(struct tm_cut *cut, const struct tm_dataset *d,
                               struct tm_mini_batch *out, struct tm_err *err)
{
  int rc = cut->table_groups ? 0 : begin_groups(cut, d, err);
  if (rc == 0)
    rc = tm_table_groups_next(cut->table_groups, &out->items, &out->bytes, err);
  cut->ranges += rc > 0;
  if (rc == 0)
    end_input(cut, d);
  return rc;
}

static int begin_input(struct tm_cut *cut, const struct tm_dataset *d, struct tm_err *err)
{
  int rc = 0;
  if (cut->has_begun)
    return 0;
  cut->has_begun = true;
  if (d->partition_format && !(cut->partition = tm_partition_new(d->partition_format, err)))
    return place(d, err);
  if (tm_dataset_is_table(d) && (rc = begin_table(cut, d, err)) < 0)
    return rc == TM_EINPUT || rc == TM_EUSAGE ? place(d, err) : rc;
  return rc;
}

int tm_cut_next(struct tm_cut *cut, struct tm_mini_batch *out, struct tm_err *err)
{
  int rc = 0;
  tm_buf_clear(&out->bytes);
  out->items = 0;
  while (cut->at < cut->o.inputs_len && rc == 0) {
    const struct tm_dataset *d = cut->o.inputs[cut->at];
    out->dataset = (uint32_t)cut->at;
    if ((rc = begin_input(cut, d, err)) == 0)
      rc = cut->table && cut->o.partition_keys_len > 0 ? next_group_of_table(cut, d, out, err)
           : cut->table                                ? next_of_table(cut, d, out, err)
           : cut->o.partition_keys_len > 0             ? next_by_keys(cut, d, out, err)
                                                       : next_by_size(cut, d, out, err);
  }
  return rc;
}
