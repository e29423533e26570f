/* merged_log.c - see merged_log.h. */
#include "portal/merged_log.h"

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

static int on_line(const struct tidemill_log_line *line, void *data)
{
  struct reading *r = data;
  if (!line)
    return 0;
  struct tm_merged_line *at = &r->log->lines[r->log->total++ % TM_MERGED_LINES];
  struct tm_window_line shown = { .len = 0 };
  size_t next = 0;
  (void)tm_window_line(line->text, line->text_bytes, &next, &shown);
  free(at->source);
  free(at->text);
  *at = (struct tm_merged_line) { .source = tm_xstrdup(line->source),
                                  .text = tm_xstrndup(shown.text ? shown.text : "", shown.len),
                                  .len = shown.len,
                                  .more = shown.more };
  return r->log->total % LOOK_EVERY == 0 && tm_moment_now_ns() > r->until_ns ? 1 : 0;
}

static void release(struct tm_merged_log *l)
{
  for (size_t i = 0; i < TM_MERGED_LINES; i++) {
    free(l->lines[i].source);
    free(l->lines[i].text);
  }
  tidemill_logs_close(l->logs);
  free(l->key);
  free(l);
}

static char *key_of(const char *dir, const struct tidemill_logs_options *o)
{
  return tm_xprintf("%s\n%s\n%s\n%s\n%d", dir, tm_text_or_empty(o->step),
                    tm_text_or_empty(o->worker), tm_text_or_empty(o->node), o->errors);
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
                                     const struct tidemill_logs_options *o, struct tm_err *err)
{
  char *key = key_of(dir, o);
  struct tidemill_logs *logs = NULL;
  for (size_t i = 0; i < m->views.len; i++)
    if (strcmp(m->views.at[i]->key, key) == 0) {
      free(key);
      return m->views.at[i];
    }
  if (tidemill_logs_open(&logs, NULL, dir, o, err) < 0) {
    free(key);
    return NULL;
  }
  make_room(m);
  struct tm_merged_log *l = TM_NEW(struct tm_merged_log);
  l->key = key;
  l->logs = logs;
  *TM_ARRAY_ADD(&m->views) = l;
  return l;
}

struct tm_merged_log *tm_merged_read(struct tm_merged_logs *m, const char *dir,
                                     const struct tidemill_logs_options *options, int64_t now_ns,
                                     struct tm_err *err)
{
  struct tm_merged_log *l = view_of(m, dir, options, err);
  if (!l)
    return NULL;
  struct reading reading = { l, tm_moment_now_ns() + TM_MERGED_NS };
  l->used_ns = now_ns;
  int rc = tidemill_logs_read(l->logs, on_line, &reading, err);
  l->is_behind = rc > 0;
  return rc < 0 ? NULL : l;
}

int64_t tm_merged_first(const struct tm_merged_log *l)
{
  return l->total > TM_MERGED_LINES ? l->total - TM_MERGED_LINES : 0;
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
