/* survey_errors.c - why items of a step failed, read from its failures log: see survey.h.
 *
 * Only the end of the log is read, which has the newest reasons: a log of a million items does not
 * make `status` slow.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "run/survey.h"
#include "sys/fs.h"

#define LIST_END (1u << 20) /* bytes that are read */

static struct tm_survey_error *find(struct tm_step_survey *s, const char *message)
{
  for (size_t i = 0; i < s->errors_len; i++)
    if (strcmp(s->errors[i].message, message) == 0)
      return &s->errors[i];
  return NULL;
}

/* One item, or rows of a table, or a number of items that cannot be told apart. */
int64_t tm_survey_items_of(const struct tm_json *line)
{
  int64_t items = tm_json_int(line, "count", tm_json_int(line, "rows", 1));
  return items > 0 ? items : 1;
}

static bool is_of_name(char c)
{
  return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/* All items of a mini-batch have its error. If the message names one of them, that one failed. */
static bool is_named(const struct tm_survey_error *e)
{
  const char *name = e->item ? tm_path_base(e->item) : "";
  size_t n = strlen(name);
  for (const char *at = e->message; n > 0 && (at = strstr(at, name)) != NULL; at++)
    if ((at == e->message || !is_of_name(at[-1])) && !is_of_name(at[n]))
      return true;
  return false;
}

/* Lines come from the last to the first: each one so far is the first, except that a named item of
 * the same mini-batch stays. */
static void take_first(struct tm_survey_error *e, const struct tm_json *line)
{
  int64_t mini_batch = tm_json_int(line, "mini_batch", -1);
  if (is_named(e) && mini_batch == e->mini_batch)
    return;
  free(e->item);
  free(e->log);
  e->item = tm_xstrdup(tm_json_str(line, "item", NULL));
  e->log = tm_xstrdup(tm_json_str(line, "log", NULL));
  e->mini_batch = mini_batch;
}

static void add_line(struct tm_step_survey *s, const char *line, size_t len)
{
  struct tm_json *v = tm_json_parse(line, len, NULL);
  const char *message = tm_json_str(v, "error", NULL);
  struct tm_survey_error *e = message ? find(s, message) : NULL;
  if (message && !e && s->errors_len < TM_SURVEY_ERRORS) {
    e = &s->errors[s->errors_len++];
    *e = (struct tm_survey_error) { .message = tm_xstrdup(message) };
  }
  if (e) {
    take_first(e, v);
    e->items += tm_survey_items_of(v);
  }
  tm_json_free(v);
}

/* Whole lines; the first may be cut, and is then not JSON. */
static void add_lines(struct tm_step_survey *s, const char *text, size_t len)
{
  while (len > 0) {
    size_t end = text[len - 1] == '\n' ? len - 1 : len, begin = end;
    while (begin > 0 && text[begin - 1] != '\n')
      begin--;
    add_line(s, text + begin, end - begin);
    len = begin;
  }
}

void tm_survey_read_errors(struct tm_step_survey *s, const char *dir, bool is_over)
{
  const struct tm_fs *fs = tm_fs_real();
  char *path = tm_path_join(dir, is_over ? "failed_items.jsonl" : "state/failures"), *piece;
  struct tm_stat st;
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, NULL);
  if (fd >= 0 && fs->fstat(fs->self, fd, &st) == 0 && st.size > 0) {
    int64_t from = st.size > LIST_END ? st.size - LIST_END : 0;
    piece = tm_xmalloc((size_t)(st.size - from));
    int64_t got = tm_fs_read_at(fs, fd, path, piece, (size_t)(st.size - from), from, NULL);
    if (got > 0)
      add_lines(s, piece, (size_t)got);
    s->errors_cut = from > 0;
    free(piece);
  }
  tm_fs_close(fs, fd);
  free(path);
}
