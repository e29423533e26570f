/* merged_log.c - see merged_log.h. */
#include "portal/merged_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "portal/log_window.h"
#include "portal/moment.h"

#define IDLE_NS    (30 * TM_S)
#define LOOK_EVERY 64 /* lines between two looks at the clock */

struct reading {
  struct tm_merged_log *log;
  int64_t until_ns;
};

static void drop_first(struct tm_merged_log *l)
{
  struct tm_merged_line *line = &l->lines[l->first++ % TM_MERGED_LINES];
  l->bytes -= (int64_t)line->len;
  free(line->source);
  free(line->text);
}

static void keep(struct tm_merged_log *l, const struct tidemill_log_line *line, int64_t number)
{
  struct tm_window_line shown = { .len = 0 };
  size_t next = 0;
  (void)tm_window_line(line->text, line->text_bytes, &next, &shown);
  if (l->total - l->first == TM_MERGED_LINES)
    drop_first(l);
  l->lines[l->total++ % TM_MERGED_LINES] =
      (struct tm_merged_line) { .number = number,
                                .source = tm_xstrdup(line->source),
                                .text = tm_xstrndup(shown.text ? shown.text : "", shown.len),
                                .len = shown.len,
                                .more = shown.more };
  l->bytes += (int64_t)shown.len;
  bool is_much =
      l->total - l->first == TM_MERGED_LINES || l->bytes > TM_MERGED_BYTES - TM_WINDOW_LINE;
  l->is_full = l->at >= 0 && is_much;
  while (l->at < 0 && l->bytes > TM_MERGED_BYTES)
    drop_first(l);
}

static bool has(const struct tidemill_log_line *line, const char *text)
{
  return memmem(line->text, line->text_bytes, text, strlen(text));
}

static int on_line(const struct tidemill_log_line *line, void *data)
{
  struct reading *r = data;
  struct tm_merged_log *l = r->log;
  if (!line)
    return 0;
  int64_t number = l->read++;
  if (number >= l->at && (!*l->find || has(line, l->find)))
    keep(l, line, number);
  l->is_full = l->is_full || l->read == l->before;
  if (l->is_full)
    return 1;
  return l->read % LOOK_EVERY == 0 && tm_moment_now_ns() > r->until_ns ? 1 : 0;
}

static void release(struct tm_merged_log *l)
{
  while (l->first < l->total)
    drop_first(l);
  tidemill_logs_close(l->logs);
  free(l->key);
  free(l->find);
  free(l);
}

static char *key_of(const char *dir, const struct tm_merged_choice *c)
{
  const struct tidemill_logs_options *o = c->options;
  return tm_xprintf("%s\n%s\n%s\n%s\n%d\n%" PRId64 "\n%" PRId64 "\n%s", dir,
                    tm_text_or_empty(o->step), tm_text_or_empty(o->worker),
                    tm_text_or_empty(o->node), o->errors, c->at, c->before,
                    tm_text_or_empty(c->find));
}

static void make_room(struct tm_merged_logs *m)
{
  size_t oldest = 0;
  if (m->views.len < TM_MERGED_VIEWS)
    return;
  for (size_t i = 1; i < m->views.len; i++)
    if (m->views.at[i]->used_ns < m->views.at[oldest]->used_ns)
      oldest = i;
  release(m->views.at[oldest]);
  m->views.at[oldest] = m->views.at[--m->views.len];
}

static struct tm_merged_log *view_of(struct tm_merged_logs *m, const char *dir,
                                     const struct tm_merged_choice *c, struct tm_err *err)
{
  char *key = key_of(dir, c);
  struct tidemill_logs *logs = NULL;
  for (size_t i = 0; i < m->views.len; i++)
    if (strcmp(m->views.at[i]->key, key) == 0) {
      free(key);
      return m->views.at[i];
    }
  if (tidemill_logs_open(&logs, NULL, dir, c->options, err) < 0) {
    free(key);
    return NULL;
  }
  make_room(m);
  struct tm_merged_log *l = TM_NEW(struct tm_merged_log);
  l->key = key;
  l->logs = logs;
  l->find = tm_xstrdup(tm_text_or_empty(c->find));
  l->at = c->at;
  l->before = c->before;
  l->is_full = c->before == 0;
  *TM_ARRAY_ADD(&m->views) = l;
  return l;
}

struct tm_merged_log *tm_merged_read(struct tm_merged_logs *m, const char *dir,
                                     const struct tm_merged_choice *choice, int64_t now_ns,
                                     struct tm_err *err)
{
  struct tm_merged_log *l = view_of(m, dir, choice, err);
  if (!l)
    return NULL;
  struct reading reading = { l, tm_moment_now_ns() + TM_MERGED_NS };
  l->used_ns = now_ns;
  int rc = l->is_full ? 0 : tidemill_logs_read(l->logs, on_line, &reading, err);
  l->is_behind = rc > 0 && !l->is_full;
  if (l->is_full) {
    tidemill_logs_close(l->logs);
    l->logs = NULL;
  }
  return rc < 0 ? NULL : l;
}

const struct tm_merged_line *tm_merged_at(const struct tm_merged_log *l, int64_t n)
{
  return &l->lines[n % TM_MERGED_LINES];
}

int64_t tm_merged_clean(struct tm_merged_logs *m, int64_t now_ns, bool all)
{
  int64_t next = 0;
  for (size_t i = 0; i < m->views.len; i++) {
    int64_t at = m->views.at[i]->used_ns + IDLE_NS;
    if (all || at <= now_ns) {
      release(m->views.at[i]);
      m->views.at[i--] = m->views.at[--m->views.len];
    } else if (next == 0 || at < next) {
      next = at;
    }
  }
  if (m->views.len == 0)
    TM_ARRAY_RELEASE(&m->views);
  return next;
}
