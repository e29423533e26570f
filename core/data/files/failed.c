/* failed.c - see failed.h. It reads pieces of the file until they hold a line, and parses each line
 * as JSON. */
#include "data/files/failed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/item_check.h"

#define PIECE      (256u << 10)   /* bytes */
#define PATH_LIMIT (4 * PATH_MAX) /* bytes */

struct tm_failed {
  const struct tm_fs *fs;
  int fd;
  char *path;
  int64_t wanted, input; /* requested by the caller; of the current line */
  int64_t at;            /* offset of the next piece */
  int64_t unnamed;
  uint64_t number;    /* of the current line, from 1 */
  struct tm_buf text; /* bytes read and not used up */
  size_t used;
  struct tm_buf item;   /* the returned path, */
  struct tm_item entry; /* or, if is_entry, the whole item, whose bytes are: */
  struct tm_buf bytes;
  bool has_ended;
};

static int check_regular(const struct tm_failed *f, struct tm_err *err)
{
  struct tm_stat st;
  int rc = f->fs->fstat(f->fs->self, f->fd, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", f->path);
  if ((st.mode & S_IFMT) != S_IFREG)
    return tm_err_set(err, TM_EUSAGE, "'%s' is not a regular file; accepted: a failed_items.jsonl",
                      f->path);
  return 0;
}

struct tm_failed *tm_failed_open(const struct tm_fs *fs, const char *path, int64_t input,
                                 bool *is_missing, struct tm_err *err)
{
  struct tm_failed *f = TM_NEW(struct tm_failed);
  f->fs = fs;
  f->path = tm_xstrdup(path);
  f->wanted = input;
  f->fd = tm_fs_open(fs, path, O_RDONLY | O_NONBLOCK, 0, err);
  *is_missing = f->fd == -ENOENT;
  if (f->fd >= 0 && check_regular(f, err) == 0)
    return f;
  tm_failed_close(f);
  return NULL;
}

void tm_failed_close(struct tm_failed *f)
{
  if (f == NULL)
    return;
  if (f->fd >= 0)
    tm_fs_close(f->fs, f->fd);
  tm_buf_release(&f->text);
  tm_buf_release(&f->item);
  tm_buf_release(&f->bytes);
  free(f->path);
  free(f);
}

int64_t tm_failed_input(const struct tm_failed *f)
{
  return f->input;
}

int64_t tm_failed_unnamed(const struct tm_failed *f)
{
  return f->unnamed;
}

static int refuse(const struct tm_failed *f, struct tm_err *err, const char *what)
{
  return tm_err_set(err, TM_EUSAGE, "'%s', line %llu: %s; accepted: a failed_items.jsonl of a job",
                    f->path, (unsigned long long)f->number, what);
}

/* ---- lines ---- */

static int read_piece(struct tm_failed *f, struct tm_err *err)
{
  int64_t got;
  tm_buf_remove_front(&f->text, f->used);
  f->used = 0;
  if (f->text.len > TM_FAILED_LINE_MAX) {
    f->number++;
    return refuse(f, err, "a line without an end");
  }
  size_t before = f->text.len;
  got = tm_fs_read_at(f->fs, f->fd, f->path, tm_buf_extend(&f->text, PIECE), PIECE, f->at, err);
  f->text.len = before + (got > 0 ? (size_t)got : 0);
  if (got < 0)
    return (int)got;
  f->at += got;
  f->has_ended = got < (int64_t)PIECE;
  return 0;
}

/* 1: a line, without its end; 0: no more lines. The line is valid until the next call. */
static int next_line(struct tm_failed *f, const char **line, size_t *len, struct tm_err *err)
{
  size_t looked = 0;
  for (;;) {
    const char *from = tm_buf_str(&f->text) + f->used;
    size_t rest = f->text.len - f->used;
    const char *stop = rest > looked ? memchr(from + looked, '\n', rest - looked) : NULL;
    if (stop == NULL && !f->has_ended) {
      int rc = read_piece(f, err);
      if (rc < 0)
        return rc;
      looked = rest;
      continue;
    }
    if (stop == NULL && rest == 0)
      return 0;
    *line = from;
    *len = stop == NULL ? rest : (size_t)(stop - from);
    f->used += *len + (stop != NULL);
    f->number++;
    return 1;
  }
}

/* ---- parsing a line ---- */

static int hex_digit(char c)
{
  if (c >= '0' && c <= '9')
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool add_hex(struct tm_buf *out, const char *hex, size_t len)
{
  for (size_t i = 0; i + 1 < len; i += 2) {
    int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0)
      return false;
    tm_buf_add_char(out, (char)(high << 4 | low));
  }
  return len % 2 == 0;
}

/* An entry of an archive: the original item, with its place. */
static int read_entry(struct tm_failed *f, const struct tm_json *hex, struct tm_err *err)
{
  struct tm_reader r;
  tm_buf_clear(&f->bytes);
  bool is_good = hex->type == TM_JSON_STRING && add_hex(&f->bytes, hex->string.at, hex->string.len);
  tm_reader_init(&r, tm_buf_str(&f->bytes), is_good ? f->bytes.len : 0);
  if (tm_item_next(&r, &f->entry) && f->entry.is_entry && r.at == r.end && *f->entry.path == '/' &&
      f->entry.path_len <= PATH_LIMIT)
    return 1;
  f->entry.is_entry = false;
  return refuse(f, err, "'entry_hex' is not an entry of an archive");
}

/* 1: its path is in f->item, or all of it in f->entry; 0: items without names. */
static int read_item(struct tm_failed *f, const struct tm_json *v, struct tm_err *err)
{
  const struct tm_json *item = tm_json_get(v, "item"), *hex = tm_json_get(v, "item_hex");
  tm_buf_clear(&f->item);
  f->entry.is_entry = false;
  if (item && item->type == TM_JSON_NULL && !hex) {
    int64_t count = tm_json_int(v, "count", 0);
    if (count < 1 || count > INT64_MAX - f->unnamed)
      return refuse(f, err, "'item' is null, and 'count' does not say how many there are");
    f->unnamed += count;
    return 0;
  }
  if (!item || item->type != TM_JSON_STRING)
    return refuse(f, err, "'item' is missing or not a string");
  if (tm_json_get(v, "begin"))
    return refuse(f, err,
                  "these are rows of a table, which cannot be an input of files: resume the "
                  "job, which gives failed mini-batches new tries");
  if (!hex)
    tm_buf_add(&f->item, item->string.at, item->string.len);
  else if (hex->type != TM_JSON_STRING || !add_hex(&f->item, hex->string.at, hex->string.len))
    return refuse(f, err, "'item_hex' is not a string of hexadecimal digits, two for each byte");
  if (tm_json_get(v, "entry_hex"))
    return read_entry(f, tm_json_get(v, "entry_hex"), err);
  if (f->item.len == 0 || *f->item.data != '/' || memchr(f->item.data, 0, f->item.len))
    return refuse(f, err, "the item is not an absolute path");
  if (f->item.len > PATH_LIMIT)
    return refuse(f, err, "the item is a path that is too long");
  return 1;
}

/* 1: a wanted item. */
static int read_line(struct tm_failed *f, const char *line, size_t len, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  struct tm_json *v = tm_json_parse(line, len, &why);
  int rc;
  if (!v)
    return refuse(f, err, why.text);
  const struct tm_json *input = tm_json_get(v, "input");
  f->input = tm_json_int(v, "input", 0);
  if (v->type != TM_JSON_OBJECT)
    rc = refuse(f, err, "no JSON object");
  else if (input && (input->type != TM_JSON_INT || input->integer < 0))
    rc = refuse(f, err, "'input' is not a number of an input");
  else if (f->wanted != TM_FAILED_ANY && f->wanted != f->input)
    rc = 0;
  else
    rc = read_item(f, v, err);
  tm_json_free(v);
  return rc;
}

int tm_failed_next(struct tm_failed *f, struct tm_item *out, struct tm_err *err)
{
  const char *line;
  size_t len;
  int rc;
  while ((rc = next_line(f, &line, &len, err)) > 0) {
    if (len > 0 && line[len - 1] == '\r')
      len--;
    if (len == 0)
      continue;
    rc = read_line(f, line, len, err);
    if (rc > 0 && f->entry.is_entry)
      *out = f->entry;
    else if (rc > 0)
      *out = (struct tm_item) { .path = f->item.data, .path_len = f->item.len, .size = -1 };
    if (rc != 0)
      return rc;
  }
  return rc;
}

int tm_failed_check_archive(const struct tm_failed *f, const struct tm_item *item,
                            struct tm_err *err)
{
  size_t n = item->archive_len;
  if (!item->is_entry || n >= item->path_len ||
      tm_item_check(f->fs, item, false, NULL) != TM_ECHANGED)
    return 0;
  char *step = tm_path_dir(f->path), *job = tm_path_dir(step), *word = tm_text_shell_word(job);
  tm_err_set(err, TM_EINPUT,
             "archive '%.*s' has changed since its entry '%.*s' failed; to find failed entries by "
             "their names, run the command of that job with --only-failed %s",
             (int)n, item->path, (int)(item->path_len - n - 1), item->path + n + 1, word);
  free(word);
  free(step);
  free(job);
  return TM_EINPUT;
}
