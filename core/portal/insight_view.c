/* insight_view.c - see insight_view.h. */
#include "portal/insight_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/time.h"
#include "portal/feed.h"
#include "portal/moment.h"

#define IDLE_NS (30 * TM_S)

static void forget_sections(struct tm_insight_view *v)
{
  for (size_t i = 0; i < TM_INSIGHT_SECTIONS; i++) {
    free(v->made[i]);
    v->made[i] = NULL;
  }
}

static void close_view(struct tm_insight_views *views, size_t i)
{
  struct tm_insight_view *v = views->at.at[i];
  forget_sections(v);
  tidemill_insight_close(v->insight);
  free(v->key);
  free(v);
  views->at.at[i] = views->at.at[--views->at.len];
}

static struct tm_insight_view *find(struct tm_insight_views *views, const char *key)
{
  for (size_t i = 0; i < views->at.len; i++)
    if (strcmp(views->at.at[i]->key, key) == 0)
      return views->at.at[i];
  return NULL;
}

static void make_room(struct tm_insight_views *views)
{
  size_t oldest = 0;
  for (size_t i = 1; i < views->at.len; i++)
    if (views->at.at[i]->used_ns < views->at.at[oldest]->used_ns)
      oldest = i;
  if (views->at.len >= TM_INSIGHT_VIEWS)
    close_view(views, oldest);
}

static struct tm_insight_view *open_view(struct tm_insight_views *views, const char *key,
                                         const char *dir, struct tm_err *err)
{
  struct tidemill_insight *insight = NULL;
  if (tidemill_insight_open(&insight, NULL, dir, NULL, err) < 0)
    return NULL;
  make_room(views);
  struct tm_insight_view *v = TM_NEW(struct tm_insight_view);
  v->key = tm_xstrdup(key);
  v->insight = insight;
  for (size_t i = 0; i < TM_INSIGHT_SECTIONS; i++)
    v->is_new[i] = true;
  *TM_ARRAY_ADD(&views->at) = v;
  return v;
}

/* If the job cannot be read any more, the insight keeps what it has, and its page says so. */
static void refresh(struct tm_insight_view *v, int64_t version)
{
  int64_t begin_ns = tm_moment_spent_ns();
  if (tidemill_insight_refresh(v->insight, NULL) != 0)
    forget_sections(v);
  v->version = version;
  v->due_ns = tm_feed_due(tm_moment_now_ns(), tm_moment_spent_ns() - begin_ns);
}

struct tm_insight_view *tm_insight_view(struct tm_insight_views *views, const char *key,
                                        const char *dir, int64_t version, int64_t now_ns,
                                        struct tm_err *err)
{
  struct tm_insight_view *v = find(views, key);
  if (v && (v->version != version || v->due_ns <= now_ns))
    refresh(v, version);
  else if (!v && !(v = open_view(views, key, dir, err)))
    return NULL;
  v->version = version;
  v->used_ns = now_ns;
  return v;
}

const char *tm_insight_section(struct tm_insight_view *v, size_t i)
{
  struct tidemill_html_options o = TIDEMILL_HTML_OPTIONS_INIT;
  o.section = tidemill_html_sections()[i];
  o.is_live = true;
  if (v->made[i])
    return v->made[i];
  size_t len = 0;
  const char *text = tidemill_insight_html(v->insight, &o, &len, NULL);
  v->made[i] = tm_xstrndup(text ? text : "", text ? len : 0);
  uint64_t hash = tm_hash64(v->made[i], len);
  v->is_new[i] |= hash != v->hash[i];
  v->hash[i] = hash;
  return v->made[i];
}

bool tm_insight_changes(struct tm_insight_views *views, const char *key, int64_t version,
                        void (*on_section)(void *data, const char *name), void *data)
{
  const char *const *names = tidemill_html_sections();
  struct tm_insight_view *v = find(views, key);
  if (!v)
    return false;
  if (v->version != version)
    refresh(v, version);
  for (size_t i = 0; names[i] && i < TM_INSIGHT_SECTIONS; i++) {
    (void)tm_insight_section(v, i);
    if (v->is_new[i])
      on_section(data, names[i]);
    v->is_new[i] = false;
  }
  return true;
}

int64_t tm_insight_clean(struct tm_insight_views *views, int64_t now_ns, bool all)
{
  int64_t next = 0;
  for (size_t i = 0; i < views->at.len; i++) {
    int64_t at = views->at.at[i]->used_ns + IDLE_NS;
    if (all || at <= now_ns)
      close_view(views, i--);
    else if (next == 0 || at < next)
      next = at;
  }
  if (views->at.len == 0)
    TM_ARRAY_RELEASE(&views->at);
  return next;
}
