/* ort_log.c - see ort_log.h. */
#include "model/ort_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "model/ort_api.h"
#include "model/ort_words.h"

void tm_ort_log_init(struct tm_ort_log *l)
{
  *l = (struct tm_ort_log) { .lines = tm_xcalloc(TM_ORT_LOG_LINES, sizeof(struct tm_ort_line)) };
  tm_mutex_init(&l->gate);
}

void tm_ort_log_release(struct tm_ort_log *l)
{
  if (!l->lines)
    return;
  tm_mutex_release(&l->gate);
  free(l->lines);
  *l = (struct tm_ort_log) { 0 };
}

static enum tm_level level_of(int level)
{
  switch (level) {
  case TM_ORT_VERBOSE: return TM_DEBUG;
  case TM_ORT_INFO: return TM_INFO;
  case TM_ORT_WARNING: return TM_WARNING;
  default: return TM_ERROR;
  }
}

/* The length of an escape sequence of colours at `s`, or 0. */
static size_t colour_len(const char *s)
{
  if (s[0] != '\033' || s[1] != '[')
    return 0;
  size_t len = 2 + strspn(s + 2, "0123456789;:?");
  return s[len] ? len + 1 : len;
}

/* The length without a character that is cut at the end. */
static size_t whole_len(const char *s, size_t n)
{
  size_t begin = n;

  while (begin > 0 && n - begin < 4 && ((unsigned char)s[begin - 1] & 0xc0) == 0x80)
    begin--;
  begin -= begin > 0 && (unsigned char)s[begin - 1] >= 0xc0;
  return begin < n && tm_text_utf8_len(s + begin, n - begin) == 0 ? begin : n;
}

/* Drops colours; other control characters become blanks. */
static void add_plain(struct tm_ort_line *line, const char *s)
{
  size_t n = 0;

  while (*s && n < sizeof(line->text) - 1) {
    size_t skipped = colour_len(s);
    if (skipped == 0)
      line->text[n++] = (unsigned char)*s < ' ' || *s == 0x7f ? ' ' : *s;
    s += skipped ? skipped : 1;
  }
  n = *s ? whole_len(line->text, n) : n;
  while (n > 0 && line->text[n - 1] == ' ')
    n--;
  line->text[n] = '\0';
}

/* "... placed on [NAME]. Number of nodes: 12" */
static void note_placed(struct tm_ort_log *l, const char *message)
{
  const char *name = strstr(message, "placed on ["), *end = name ? strchr(name, ']') : NULL;
  const char *count = end ? strstr(end, "Number of nodes: ") : NULL;

  if (!count || l->placed_len == TM_ORT_PLACED_MAX)
    return;
  name += strlen("placed on [");
  struct tm_ort_placed *p = &l->placed[l->placed_len++];
  size_t len =
      (size_t)(end - name) < sizeof(p->provider) ? (size_t)(end - name) : sizeof(p->provider) - 1;
  memcpy(p->provider, name, len);
  p->provider[len] = '\0';
  p->nodes = strtoll(count + strlen("Number of nodes: "), NULL, 10);
}

void tm_ort_log_add(void *data, int level, const char *category, const char *id, const char *place,
                    const char *message)
{
  struct tm_ort_log *l = data;
  struct tm_buf words = TM_BUF_NONE;

  tm_mutex_lock(&l->gate);
  if (level < TM_ORT_WARNING) {
    note_placed(l, tm_text_or_empty(message));
  } else if (l->len == TM_ORT_LOG_LINES) {
    l->lost++;
  } else {
    struct tm_ort_line *line = &l->lines[l->len++];
    line->level = level_of(level);
    tm_ort_words_add(&words, tm_text_or_empty(message));
    add_plain(line, tm_buf_str(&words));
  }
  tm_mutex_unlock(&l->gate);
  tm_buf_release(&words);
}

int64_t tm_ort_log_take(struct tm_ort_log *l, struct tm_buf *out)
{
  tm_mutex_lock(&l->gate);
  int64_t lost = l->lost;
  for (size_t i = 0; i < l->len; i++)
    tm_buf_printf(out, "%d%s\n", (int)l->lines[i].level, l->lines[i].text);
  l->len = 0;
  l->lost = 0;
  tm_mutex_unlock(&l->gate);
  return lost;
}

bool tm_ort_log_is_empty(struct tm_ort_log *l)
{
  tm_mutex_lock(&l->gate);
  bool is_empty = l->len == 0;
  tm_mutex_unlock(&l->gate);
  return is_empty;
}

void tm_ort_log_begin_session(struct tm_ort_log *l)
{
  tm_mutex_lock(&l->gate);
  l->placed_len = 0;
  tm_mutex_unlock(&l->gate);
}

size_t tm_ort_log_placed(struct tm_ort_log *l, struct tm_ort_placed *out)
{
  tm_mutex_lock(&l->gate);
  size_t n = l->placed_len;
  memcpy(out, l->placed, n * sizeof(*out));
  tm_mutex_unlock(&l->gate);
  return n;
}
