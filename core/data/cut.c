/* cut.c - one input after the other, its items gathered until a mini-batch is full.
 *
 *   inputs[0] -> listing, list of paths or of failed items -> items -> mini-batch, mini-batch, ...   then inputs[1], ...
 *
 *  (1) A mini-batch holds items of one input: where an input ends, so does the mini-batch at hand.
 *  (2) The same definitions over the same files give the same mini-batches, byte for byte: a resumed job relies on it.
 *  (3) What matched nothing is said once: as a warning when other inputs or paths had files, else as "no input".
 *
 * The cut owns its reader and its words; the datasets are the caller's until tm_cut_close().
 */
#include "data/cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/files/failed.h"
#include "data/files/glob.h"
#include "data/files/listing.h"
#include "data/files/paths.h"
#include "data/item.h"
#include "sys/fs.h"

#define NAMED_MAX 5 /* paths that a message names one by one */

struct tm_cut {
  const struct tm_fs *fs;
  const struct tm_dataset *const *inputs;
  size_t inputs_len;
  uint64_t mini_batch_size;
  const struct tm_stop *stop; /* or NULL */
  void (*on_warning)(void *data, const char *text);
  void *data;
  size_t at;                  /* the input at hand; inputs_len at the end */
  struct tm_listing *listing; /* of the input at hand, when it is open; */
  struct tm_paths *list;      /* or this, of its path list_at */
  struct tm_failed *failed;   /* or this */
  size_t list_at;
  uint64_t list_items, items;    /* of the list at hand; of all inputs */
  int64_t input_items;           /* of the input at hand */
  struct TM_ARRAY(char *) empty; /* words, one for each input with paths that matched nothing */
};

struct tm_cut *tm_cut_open(const struct tm_dataset *const *inputs, size_t inputs_len,
                           int64_t mini_batch_size, const struct tm_stop *stop,
                           void (*on_warning)(void *data, const char *text), void *data)
{
  struct tm_cut *cut = TM_NEW(struct tm_cut);
  cut->fs = tm_fs_real();
  cut->inputs = inputs;
  cut->inputs_len = inputs_len;
  cut->mini_batch_size = mini_batch_size < 1            ? 1
                         : mini_batch_size > UINT32_MAX ? UINT32_MAX
                                                        : (uint64_t)mini_batch_size;
  cut->on_warning = on_warning;
  cut->stop = stop;
  cut->data = data;
  return cut;
}

void tm_cut_close(struct tm_cut *cut)
{
  if (cut == NULL)
    return;
  tm_listing_close(cut->listing);
  tm_paths_close(cut->list);
  tm_failed_close(cut->failed);
  for (size_t i = 0; i < cut->empty.len; i++)
    free(cut->empty.at[i]);
  TM_ARRAY_RELEASE(&cut->empty);
  free(cut);
}

/* Words --------------------------------------------------------------------------------------------------------- */

struct words {
  struct tm_buf text;
  size_t named, more; /* patterns named, and left out */
  bool has_relative;
};

/* A path of `d` that named no file. Those that are no patterns have their own words. */
static void add_empty_path(struct tm_cut *cut, const struct tm_dataset *d, const char *path,
                           struct words *patterns, struct words *others)
{
  struct words *w = tm_glob_is_pattern(path) ? patterns : others;
  if (w->named == NAMED_MAX) {
    w->more++;
    return;
  }
  if (w->named++ > 0)
    tm_buf_add_str(&w->text, ", ");
  if (w == patterns) {
    w->has_relative |= !tm_path_is_absolute(path);
    tm_buf_printf(&w->text, "'%s'", path);
    return;
  }
  char *absolute = tm_path_absolute(d->base_dir, path);
  struct tm_stat st;
  int rc = cut->fs->stat(cut->fs->self, absolute, true, &st);
  tm_buf_printf(&w->text,
                rc < 0             ? "'%s' does not exist"
                : S_ISDIR(st.mode) ? "'%s' holds no files"
                                   : "'%s' is no regular file",
                absolute);
  free(absolute);
}

static void end_words(struct words *w)
{
  if (w->more > 0)
    tm_buf_printf(&w->text, " and %zu more", w->more);
}

/* The words for the paths of a listing that has ended and that named nothing; none when all named something. */
static void note_empty_paths(struct tm_cut *cut, const struct tm_dataset *d)
{
  struct words patterns = { .named = 0 }, others = { .named = 0 };
  for (size_t i = 0; i < d->paths_len; i++)
    if (tm_listing_count(cut->listing, i) == 0)
      add_empty_path(cut, d, d->paths[i], &patterns, &others);
  end_words(&patterns);
  end_words(&others);
  if (patterns.named > 0)
    *TM_ARRAY_ADD(&cut->empty) = tm_xprintf(
        "nothing matches %s%s%s%s%s%s", tm_buf_str(&patterns.text),
        patterns.has_relative ? " in '" : "", patterns.has_relative ? d->base_dir : "",
        patterns.has_relative ? "'" : "", others.named > 0 ? "; " : "", tm_buf_str(&others.text));
  else if (others.named > 0)
    *TM_ARRAY_ADD(&cut->empty) = tm_buf_take(&others.text);
  tm_buf_release(&patterns.text);
  tm_buf_release(&others.text);
}

int tm_cut_no_input(const struct tm_cut *cut, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < cut->empty.len; i++)
    tm_buf_printf(&text, "%s%s", i > 0 ? "; " : "", cut->empty.at[i]);
  if (text.len == 0)
    tm_buf_add_str(&text, "the inputs name no paths");
  int rc = tm_err_set(err, TM_ENOINPUT, "no input: %s", tm_buf_str(&text));
  tm_buf_release(&text);
  return rc;
}

static void warn_of_empty(const struct tm_cut *cut) /* keeps (3) */
{
  for (size_t i = 0; i < cut->empty.len && cut->items > 0 && cut->on_warning != NULL; i++)
    cut->on_warning(cut->data, cut->empty.at[i]);
}

/* Items --------------------------------------------------------------------------------------------------------- */

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
      .on_warning = cut->on_warning,
      .data = cut->data,
    };
    cut->listing = tm_listing_open(&options);
  }
  return tm_listing_next(cut->listing, out, err);
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

/* A list that is not there is said as a path that is not there: 0 then, without a list. */
static int open_list(struct tm_cut *cut, const struct tm_dataset *d, struct tm_err *err)
{
  const char *path = d->paths[cut->list_at];
  struct tm_err why = TM_ERR_NONE;
  cut->list = tm_paths_open(cut->fs, d->base_dir, path, d->null_separated, cut->stop, &why);
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

/* What is not named is said; that nothing is there is a word for when there is no input. */
static void end_failed(struct tm_cut *cut, const char *path, bool is_missing)
{
  int64_t unnamed = cut->failed ? tm_failed_unnamed(cut->failed) : 0;
  char *words = NULL;
  if (unnamed > 0)
    words = tm_xprintf("'%s': of %lld failed items it is not known which ones they are (run() "
                       "returned fewer elements than items); they are not read again",
                       path, (long long)unnamed);
  if (words && cut->on_warning && cut->items > 0)
    cut->on_warning(cut->data, words);
  if (is_missing)
    *TM_ARRAY_ADD(&cut->empty) =
        tm_xprintf("'%s' is not there: no item has failed, or it was removed", path);
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
  if (cut->failed != NULL)
    rc = tm_failed_next(cut->failed, out, err);
  else if (!is_missing)
    rc = err->code;
  if (rc == 0)
    end_failed(cut, path, is_missing);
  free(path);
  return rc;
}

static int next_item(struct tm_cut *cut, const struct tm_dataset *d, struct tm_item *out,
                     struct tm_err *err)
{
  switch (d->kind) {
  case TM_DATASET_FILES: return next_of_listing(cut, d, out, err);
  case TM_DATASET_MANIFEST: return next_of_lists(cut, d, out, err);
  case TM_DATASET_FAILED: return next_of_failed(cut, d, out, err);
  }
  return 0;
}

static bool is_at_limit(const struct tm_cut *cut, const struct tm_dataset *d)
{
  return d->limit > 0 && cut->input_items == d->limit;
}

/* Behind a limit nobody knows which paths would have named something. */
static void end_input(struct tm_cut *cut, const struct tm_dataset *d)
{
  if (cut->listing != NULL && !is_at_limit(cut, d))
    note_empty_paths(cut, d);
  tm_listing_close(cut->listing);
  tm_paths_close(cut->list);
  tm_failed_close(cut->failed);
  cut->listing = NULL;
  cut->list = NULL;
  cut->failed = NULL;
  cut->list_items = 0;
  cut->input_items = 0;
  cut->list_at = 0;
  cut->at++;
  if (cut->at == cut->inputs_len)
    warn_of_empty(cut);
}

int tm_cut_next(struct tm_cut *cut, struct tm_mini_batch *out, struct tm_err *err)
{
  tm_buf_clear(&out->bytes);
  out->items = 0;
  while (cut->at < cut->inputs_len) {
    const struct tm_dataset *d = cut->inputs[cut->at];
    struct tm_item item;
    if (cut->stop && tm_stop_is_set(cut->stop))
      return tm_err_set(err, -ECANCELED, "the listing was stopped");
    int rc = is_at_limit(cut, d) ? 0 : next_item(cut, d, &item, err);
    if (rc < 0)
      return rc;
    if (rc > 0) {
      out->dataset = (uint32_t)cut->at;
      tm_item_add(&out->bytes, &item);
      cut->items++;
      cut->input_items++;
      if (++out->items == cut->mini_batch_size)
        return 1;
      continue;
    }
    end_input(cut, d);
    if (out->items > 0) /* keeps (1) */
      return 1;
  }
  return 0;
}
