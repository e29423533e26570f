/* columns.c - see columns.h.
 *
 * Rows arrive as text with the separator of the step, so that matching rows are only copied. To
 * reorder fields, the text is parsed (data/frame/frame_text.h); a spilled result is read into
 * memory for that.
 */
#include "commit/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "commit/mini_batch_states.h"
#include "data/frame/frame_text.h"

#define FILE_VERSION 1u
#define FILE_MAX     ((size_t)64 << 20) /* bytes */
#define NAMES_SHOWN  600                /* bytes, in messages */

struct name {
  const char *at;
  size_t len;
};
struct names TM_ARRAY(struct name);

void tm_columns_init(struct tm_columns *c, const struct tm_fs *fs, const char *state_dir,
                     char separator, bool has_header)
{
  *c = (struct tm_columns) { .fs = fs, .separator = separator, .has_header = has_header };
  c->path = tm_xprintf("%s/columns", state_dir);
}

void tm_columns_release(struct tm_columns *c)
{
  tm_buf_release(&c->names);
  free(c->path);
  c->path = NULL;
}

/* False: the bytes are not names. Free the list. */
static bool list_names(struct tm_reader r, struct names *out)
{
  while (r.at < r.end && !r.bad) {
    size_t len = 0;
    const char *name = tm_read_bytes32(&r, &len);
    if (!r.bad)
      *TM_ARRAY_ADD(out) = (struct name) { name, len };
  }
  return !r.bad;
}

static struct names own_names(const struct tm_columns *c)
{
  struct names names = { 0 };
  struct tm_reader r;
  tm_reader_init(&r, tm_buf_str(&c->names), c->names.len);
  list_names(r, &names);
  return names;
}

static void show_names(struct tm_buf *out, const struct names *names)
{
  struct tm_buf all = TM_BUF_NONE;
  for (size_t i = 0; i < names->len; i++) {
    tm_buf_add_str(&all, i > 0 ? ", " : "");
    tm_buf_add(&all, names->at[i].len > 0 ? names->at[i].at : "", names->at[i].len);
  }
  tm_text_one_line(out, tm_buf_str(&all), all.len, NAMES_SHOWN);
  tm_buf_release(&all);
}

/* ---- state/columns ---- */

static int save(const struct tm_columns *c, uint64_t index, struct tm_err *err)
{
  struct tm_buf file = TM_BUF_NONE;
  struct names names = own_names(c);
  tm_require(names.len > 0 && !c->is_saved); /* tm_columns_fit() has taken them */
  tm_buf_add_u32(&file, FILE_VERSION);
  tm_buf_add_u64(&file, index);
  tm_buf_add_u32(&file, (uint32_t)names.len);
  tm_buf_add(&file, c->names.data, c->names.len);
  tm_buf_add_u64(&file, tm_hash64(file.data, file.len));
  int rc = tm_fs_write_file(c->fs, c->path, file.data, file.len, 0600, err);
  TM_ARRAY_RELEASE(&names);
  tm_buf_release(&file);
  return rc;
}

static int read_saved(struct tm_columns *c, const struct tm_buf *file,
                      const struct tm_commit *commit, struct tm_err *err)
{
  struct tm_reader r;
  struct names names = { 0 };
  size_t body = file->len < 8 ? 0 : file->len - 8;
  tm_reader_init(&r, tm_buf_str(file), body);
  uint32_t version = tm_read_u32(&r);
  uint64_t index = tm_read_u64(&r);
  uint32_t n = tm_read_u32(&r);
  bool is_good = !r.bad && tm_get_u64(file->data + body) == tm_hash64(file->data, body) &&
                 list_names(r, &names) && names.len == n && n > 0;
  TM_ARRAY_RELEASE(&names);
  if (is_good && version != FILE_VERSION)
    return tm_err_set(err, TM_EVERSION, "'%s' has version %u; this program knows %u", c->path,
                      version, FILE_VERSION);
  if (!is_good)
    return tm_err_set(err, TM_EDAMAGE,
                      "'%s' is damaged: it does not list the output's columns; the job wrote it "
                      "itself: restore the file, or start a new job",
                      c->path);
  c->is_saved = tm_commit_state(commit, index) == TM_MINI_BATCH_COMMITTED; /* keeps (2) */
  if (c->is_saved)
    tm_buf_add(&c->names, r.at, (size_t)(r.end - r.at));
  return 0;
}

int tm_columns_open(struct tm_columns *c, const struct tm_commit *commit, struct tm_err *err)
{
  struct tm_buf file = TM_BUF_NONE;
  bool is_there = tm_fs_exists(c->fs, c->path);
  int rc = is_there ? tm_fs_read_file(c->fs, c->path, FILE_MAX, &file, err) : 0;
  if (rc >= 0 && is_there)
    rc = read_saved(c, &file, commit, err);
  tm_buf_release(&file);
  c->has_arrays = !c->is_saved && tm_commit_output_len(commit) > 0;
  return rc;
}

/* ---- incoming rows ---- */

/* from[i]: the index in `given` of the file's column i. False: the columns differ. */
static bool find_order(const struct names *file, const struct names *given, size_t *from,
                       bool *is_same)
{
  *is_same = true;
  if (file->len != given->len)
    return false;
  for (size_t i = 0; i < file->len; i++) {
    size_t at = 0;
    const struct name *want = &file->at[i];
    while (at < given->len &&
           (given->at[at].len != want->len || memcmp(given->at[at].at, want->at, want->len) != 0))
      at++;
    if (at == given->len)
      return false;
    from[i] = at;
    *is_same = *is_same && at == i;
  }
  return true;
}

static int refuse_columns(const struct names *file, const struct names *given, struct tm_err *err)
{
  struct tm_buf ours = TM_BUF_NONE, theirs = TM_BUF_NONE;
  show_names(&ours, file);
  show_names(&theirs, given);
  tm_err_set(err, TM_ESCRIPT,
             "run() returned a data frame with the columns %s; the output has the columns %s, of "
             "the first frame: return these in every mini-batch",
             tm_buf_str(&theirs), tm_buf_str(&ours));
  tm_buf_release(&ours);
  tm_buf_release(&theirs);
  return TM_ESCRIPT;
}

static int refuse_array(const struct names *file, struct tm_err *err)
{
  struct tm_buf ours = TM_BUF_NONE;
  show_names(&ours, file);
  tm_err_set(err, TM_ESCRIPT,
             "run() returned an array; the output has a header and the columns %s, of a data frame "
             "before: return a data frame in every mini-batch, or set append_row_header = false",
             tm_buf_str(&ours));
  tm_buf_release(&ours);
  return TM_ESCRIPT;
}

/* Gets the rows into memory, as received or from the spilled file. */
static int get_rows(const struct tm_columns *c, const struct tm_columns_rows *r,
                    struct tm_buf *file, struct tm_err *err)
{
  if (r->spilled == NULL) {
    tm_buf_add(file, r->rows_len > 0 ? r->rows : "", r->rows_len);
    return 0;
  }
  int rc = r->length > SIZE_MAX / 4
               ? TM_EDAMAGE
               : tm_fs_read_file(c->fs, r->spilled, (size_t)r->length, file, err);
  if (rc >= 0 && file->len == r->length && tm_hash64(tm_buf_str(file), file->len) == r->hash) {
    c->fs->unlink(c->fs->self, r->spilled);
    return 0;
  }
  return tm_err_set(err, TM_EDAMAGE, "the result in '%s' is not what its worker wrote", r->spilled);
}

static int reorder(const struct tm_columns *c, const struct tm_columns_rows *r, const size_t *from,
                   size_t n, struct tm_buf *out, struct tm_err *err)
{
  struct tm_buf rows = TM_BUF_NONE;
  int rc = get_rows(c, r, &rows, err);
  if (rc == 0)
    tm_frame_reorder_rows(out, tm_buf_str(&rows), rows.len, c->separator, from, n);
  tm_buf_release(&rows);
  return rc < 0 ? rc : 1;
}

static int fit_frame(struct tm_columns *c, const struct tm_columns_rows *r,
                     const struct names *given, struct tm_buf *out, struct tm_err *err)
{
  bool is_same = true;
  int rc = 0;
  if (c->has_header && c->has_arrays)
    return tm_err_set(err, TM_ESCRIPT,
                      "run() returned a data frame; the output began with the rows of an array and "
                      "has no header: return data frames in every mini-batch, or set "
                      "append_row_header = false");
  if (c->names.len == 0) {
    tm_buf_add(&c->names, r->names.at, (size_t)(r->names.end - r->names.at));
    return 0;
  }
  struct names file = own_names(c);
  size_t *from = tm_xcalloc(file.len + 1, sizeof *from);
  if (!find_order(&file, given, from, &is_same))
    rc = refuse_columns(&file, given, err);
  else if (!is_same)
    rc = reorder(c, r, from, file.len, out, err);
  free(from);
  TM_ARRAY_RELEASE(&file);
  return rc;
}

static int fit_array(const struct tm_columns *c, const struct tm_columns_rows *r,
                     struct tm_err *err)
{
  if (!c->has_header || c->names.len == 0 || (r->spilled == NULL && r->rows_len == 0))
    return 0;
  struct names file = own_names(c);
  int rc = refuse_array(&file, err);
  TM_ARRAY_RELEASE(&file);
  return rc;
}

int tm_columns_fit(struct tm_columns *c, const struct tm_columns_rows *r, struct tm_buf *out,
                   struct tm_err *err)
{
  struct names given = { 0 };
  int rc = 0;
  if (!list_names(r->names, &given))
    rc = tm_err_set(err, TM_EPROTOCOL, "the names of columns cannot be read");
  else if (given.len == 0)
    rc = fit_array(c, r, err);
  else
    rc = fit_frame(c, r, &given, out, err);
  TM_ARRAY_RELEASE(&given);
  return rc;
}

/* ---- adding ---- */

void tm_columns_add_header(const struct tm_columns *c, const struct tm_commit *commit,
                           bool is_frame, struct tm_buf *out)
{
  if (is_frame && c->has_header && tm_commit_output_len(commit) == 0)
    tm_frame_add_header(out, c->names.data, c->names.len, c->separator);
}

static void note_header(const struct tm_columns *c, struct tm_commit *commit)
{
  struct tm_buf line = TM_BUF_NONE;
  tm_columns_add_header(c, commit, true, &line);
  tm_commit_note_header(commit, line.data, line.len);
  tm_buf_release(&line);
}

int tm_columns_begin_add(struct tm_columns *c, struct tm_commit *commit, uint64_t index,
                         bool is_frame, struct tm_err *err)
{
  tm_require(c->path);
  if (!is_frame)
    return 0;
  int rc = c->is_saved ? 0 : save(c, index, err); /* keeps (2) */
  if (rc == 0 && c->has_header && tm_commit_output_len(commit) == 0)
    note_header(c, commit); /* keeps (1) */
  return rc;
}

void tm_columns_end_add(struct tm_columns *c, const struct tm_commit *commit, bool is_frame)
{
  tm_require(!is_frame || c->names.len > 0);
  c->is_saved = c->is_saved || is_frame;
  c->has_arrays = c->has_arrays || (!c->is_saved && tm_commit_output_len(commit) > 0);
}
