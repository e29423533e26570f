/* inspection_errors.c - why items of a step failed, read from its failures log: see inspection.h.
 *
 * Only the end of the log is read, which has the newest reasons: a log of a million items does not
 * make `status` slow.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_msg.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "inspect/inspection.h"
#include "record/error_key.h"
#include "sys/fs.h"

#define LIST_END (1u << 20) /* bytes that are read */

/* The reasons while lines are read: first which item each message names, then the rest. */
struct reading {
  struct tm_step_inspection *s;
  struct tm_map namings;         /* message -> index of `named` + 1 */
  struct TM_ARRAY(char *) named; /* the items that messages name */
  struct tm_map known; /* status, line of the script, pattern -> index + 1; 0: one of errors_more */
  struct tm_buf key;
};

/* All items of a mini-batch have its error, and the message may name one of them. Lines of older
 * versions do not say which. */
static void note_named(struct reading *r, const struct tm_json *line)
{
  const char *message = tm_json_str(line, "error", NULL), *item = tm_json_str(line, "item", NULL);
  bool is_new;
  if (!message || !item || tm_json_get(line, "begin") ||
      tm_path_naming(message, item) == TM_PATH_UNNAMED)
    return;
  uint64_t *place = tm_map_add(&r->namings, message, strlen(message), &is_new);
  if (is_new)
    *TM_ARRAY_ADD(&r->named) = tm_xstrdup(item);
  if (is_new)
    *place = r->named.len;
}

static const char *named_by(const struct reading *r, const char *message)
{
  const uint64_t *place = tm_map_find(&r->namings, message, strlen(message));
  return place ? r->named.at[*place - 1] : "";
}

/* The reason of a line; NULL: it has none, or there are too many. */
static struct tm_inspection_error *find(struct reading *r, const struct tm_json *line)
{
  const char *message = tm_json_str(line, "error", NULL);
  const char *where = tm_json_str(line, "where", NULL);
  struct tm_step_inspection *s = r->s;
  bool is_new;
  if (!message)
    return NULL;
  const char *item = tm_json_str(line, "names", NULL);
  item = item ? item : named_by(r, message);
  size_t pattern_at = tm_error_key(
      &r->key, &(struct tm_error_signature) { .status = tm_json_str(line, "status", ""),
                                              .where = where,
                                              .message = message,
                                              .item = item,
                                              .item_len = strlen(item) });
  uint64_t *place = tm_map_add(&r->known, r->key.data, r->key.len, &is_new);
  if (is_new && s->errors_len == TM_INSPECTION_ERRORS)
    s->errors_more++;
  else if (is_new) {
    s->errors[s->errors_len++] =
        (struct tm_inspection_error) { .message = tm_xstrdup(message),
                                       .where = tm_xstrdup(where),
                                       .pattern = tm_xstrdup(tm_buf_str(&r->key) + pattern_at),
                                       .mini_batch = -1 };
    *place = s->errors_len;
  }
  if (*place == 0)
    return NULL;
  struct tm_inspection_error *e = &s->errors[*place - 1];
  e->is_mixed = e->is_mixed || strcmp(e->message, message) != 0;
  return e;
}

/* One item, or rows of a table, or a number of items that cannot be told apart. */
int64_t tm_inspection_items_of(const struct tm_json *line)
{
  int64_t items = tm_json_int(line, "count", tm_json_int(line, "rows", 1));
  return items > 0 ? items : 1;
}

/* All items of a mini-batch have its error. If the message names one of them, that one failed. */
static enum tm_path_naming naming_of(const struct tm_inspection_error *e, const char *item)
{
  return e->are_rows || !item ? TM_PATH_UNNAMED : tm_path_naming(e->message, item);
}

/* "1 element for 2 items", to free(); NULL: the line is for one item. */
static char *detail_of(const struct tm_json *line)
{
  int64_t returned = tm_json_int(line, "returned", -1), items = tm_json_int(line, "items", -1);
  return returned < 0 || items < 0 ? NULL
                                   : tm_xprintf("%" PRId64 " %s for %" PRId64 " %s", returned,
                                                tm_text_counted(returned, "element", "elements"),
                                                items, tm_text_counted(items, "item", "items"));
}

/* Lines come from the last to the first: each one so far is the first, except that the item of the
 * same mini-batch which the message names best stays. */
static void take_first(struct tm_inspection_error *e, const struct tm_json *line)
{
  int64_t mini_batch = tm_json_int(line, "mini_batch", -1);
  const char *status = tm_json_str(line, "status", NULL), *item = tm_json_str(line, "item", NULL);
  bool is_same = mini_batch == e->mini_batch;
  e->are_rows = tm_json_get(line, "begin") != NULL;
  enum tm_path_naming naming = naming_of(e, item);
  if (is_same && naming_of(e, e->item) > naming)
    return;
  tm_inspection_error_release(e);
  free(e->message);
  e->message = tm_xstrdup(tm_json_str(line, "error", ""));
  e->item = tm_xstrdup(item);
  e->log = tm_xstrdup(tm_json_str(line, "log", NULL));
  e->status =
      status && strcmp(status, tm_status_name(TM_RUN_DONE)) != 0 ? tm_xstrdup(status) : NULL;
  e->detail = detail_of(line);
  e->number = tm_json_int(line, "rows", -1) == 1 ? tm_json_int(line, "number", 0) : 0;
  e->row = e->number > 0 ? tm_json_int(line, "row", -1) + 1 : 0;
  e->mini_batch = mini_batch;
  e->first_items =
      naming != TM_PATH_UNNAMED ? 1 : (is_same ? e->first_items : 0) + tm_inspection_items_of(line);
}

void tm_inspection_error_release(struct tm_inspection_error *e)
{
  free(e->item);
  free(e->log);
  free(e->status);
  free(e->detail);
}

static void add_line(struct reading *r, const struct tm_json *line)
{
  struct tm_inspection_error *e = find(r, line);
  if (e) {
    take_first(e, line);
    e->items += tm_inspection_items_of(line);
  }
}

/* Whole lines; the first may be cut, and is then not JSON. */
static void read_lines(struct reading *r, const char *text, size_t len,
                       void (*on_line)(struct reading *r, const struct tm_json *line))
{
  while (len > 0) {
    size_t end = text[len - 1] == '\n' ? len - 1 : len, begin = end;
    while (begin > 0 && text[begin - 1] != '\n')
      begin--;
    struct tm_json *line = tm_json_parse(text + begin, end - begin, NULL);
    on_line(r, line);
    tm_json_free(line);
    len = begin;
  }
}

void tm_inspection_read_errors(struct tm_step_inspection *s, const char *dir, bool is_over)
{
  tm_require(dir);
  const struct tm_fs *fs = tm_fs_real();
  struct reading r = { .s = s };
  char *path = tm_path_join(dir, is_over ? "failed_items.jsonl" : "state/failures"), *piece;
  struct tm_stat st;
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, NULL);
  if (fd >= 0 && fs->fstat(fs->self, fd, &st) == 0 && st.size > 0) {
    int64_t from = st.size > LIST_END ? st.size - LIST_END : 0;
    piece = tm_xmalloc((size_t)(st.size - from));
    int64_t got = tm_fs_read_at(fs, fd, path, piece, (size_t)(st.size - from), from, NULL);
    if (got > 0) {
      read_lines(&r, piece, (size_t)got, note_named);
      read_lines(&r, piece, (size_t)got, add_line);
    }
    s->errors_cut = from > 0;
    free(piece);
  }
  tm_fs_close(fs, fd);
  for (size_t i = 0; i < r.named.len; i++)
    free(r.named.at[i]);
  TM_ARRAY_RELEASE(&r.named);
  tm_map_release(&r.namings);
  tm_map_release(&r.known);
  tm_buf_release(&r.key);
  free(path);
}
