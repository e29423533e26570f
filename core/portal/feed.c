/* feed.c - see feed.h. */
#include "portal/feed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/time.h"

#define PACE_NS    (250 * TM_MS)
#define COST_SHARE 50
#define LATE_NS    (750 * TM_MS)

static struct tm_feed_topic *topic_of(const struct tm_feed *f, const char *name)
{
  for (size_t i = 0; i < f->topics.len; i++)
    if (strcmp(f->topics.at[i].name, name) == 0)
      return &f->topics.at[i];
  return NULL;
}

/* A topic without a state is never sent: no change has made one. */
static struct tm_feed_topic *need_topic(struct tm_feed *f, const char *name)
{
  struct tm_feed_topic *t = topic_of(f, name);
  if (!t) {
    t = TM_ARRAY_ADD(&f->topics);
    *t = (struct tm_feed_topic) { .name = tm_xstrdup(name), .state = tm_xstrdup("") };
  }
  return t;
}

bool tm_feed_set(struct tm_feed *f, const char *name, const char *state)
{
  struct tm_feed_topic *t = need_topic(f, name);
  if (strcmp(t->state, state) == 0)
    return false;
  free(t->state);
  t->state = tm_xstrdup(state);
  t->change = ++f->change;
  for (size_t i = 0; i < t->sections.len; i++)
    if (t->sections.at[i].is_waiting)
      t->sections.at[i] = (struct tm_feed_section) { t->sections.at[i].name, t->change, false };
  return true;
}

void tm_feed_renew(struct tm_feed *f, const char *name, const char *section)
{
  struct tm_feed_topic *t = need_topic(f, name);
  size_t i = 0;
  while (i < t->sections.len && strcmp(t->sections.at[i].name, section) != 0)
    i++;
  if (i == t->sections.len)
    *TM_ARRAY_ADD(&t->sections) = (struct tm_feed_section) { .name = tm_xstrdup(section) };
  t->sections.at[i].is_waiting = true;
}

static void release_sections(struct tm_feed_topic *t)
{
  for (size_t i = 0; i < t->sections.len; i++)
    free(t->sections.at[i].name);
  TM_ARRAY_RELEASE(&t->sections);
}

void tm_feed_forget_sections(struct tm_feed *f, const char *name)
{
  struct tm_feed_topic *t = topic_of(f, name);
  if (t)
    release_sections(t);
}

void tm_feed_remove(struct tm_feed *f, const char *name)
{
  struct tm_feed_topic *t = topic_of(f, name);
  if (!t)
    return;
  release_sections(t);
  free(t->name);
  free(t->state);
  *t = f->topics.at[--f->topics.len];
}

void tm_feed_release(struct tm_feed *f)
{
  while (f->topics.len > 0)
    tm_feed_remove(f, f->topics.at[0].name);
  TM_ARRAY_RELEASE(&f->topics);
}

/* The change in "EPOCH-CHANGE"; 0: it is not of this run. */
static int64_t change_of(const struct tm_feed *f, const char *id)
{
  int64_t n;
  if (!id || strncmp(id, f->epoch, TM_FEED_EPOCH_LEN) != 0 || id[TM_FEED_EPOCH_LEN] != '-' ||
      !tm_text_int(id + TM_FEED_EPOCH_LEN + 1, &n) || n < 0 || n > f->change)
    return 0;
  return n;
}

void tm_feed_reader_init(struct tm_feed_reader *r, const struct tm_feed *f, const char *topics,
                         const char *last_id)
{
  *r = (struct tm_feed_reader) { .change = change_of(f, last_id) };
  while (*topics && r->topics_len < TM_FEED_TOPICS) {
    size_t n = strcspn(topics, ",");
    if (n > 0)
      r->topics[r->topics_len++] = tm_xstrndup(topics, n);
    topics += n + (topics[n] == ',');
  }
}

void tm_feed_reader_drop(struct tm_feed_reader *r, size_t i)
{
  free(r->topics[i]);
  r->topics_len--;
  memmove(&r->topics[i], &r->topics[i + 1], (r->topics_len - i) * sizeof *r->topics);
}

void tm_feed_reader_release(struct tm_feed_reader *r)
{
  for (size_t i = 0; i < r->topics_len; i++)
    free(r->topics[i]);
  r->topics_len = 0;
}

/* The state, with the names of the sections that are new since a change. */
static void add_state(const struct tm_feed_topic *t, int64_t since, struct tm_buf *out)
{
  const char *between = "";
  size_t len = strlen(t->state);
  tm_buf_add(out, t->state, t->sections.len > 0 ? len - 1 : len);
  if (t->sections.len == 0)
    return;
  tm_buf_add_str(out, ",\"sections\":[");
  for (size_t i = 0; i < t->sections.len; i++) {
    if (t->sections.at[i].change <= since)
      continue;
    tm_buf_add_str(out, between);
    tm_json_write_string(out, t->sections.at[i].name, strlen(t->sections.at[i].name));
    between = ",";
  }
  tm_buf_add_str(out, "]}");
}

/* Adds {"NAME":STATE,...}, the topics that have changed; returns whether there are any. */
static bool add_states(const struct tm_feed *f, const struct tm_feed_reader *r, struct tm_buf *out)
{
  bool is_any = false;
  for (size_t i = 0; i < r->topics_len; i++) {
    const struct tm_feed_topic *t = topic_of(f, r->topics[i]);
    if (!t || t->change <= r->change)
      continue;
    tm_buf_add_char(out, is_any ? ',' : '{');
    tm_json_write_string(out, t->name, strlen(t->name));
    tm_buf_add_char(out, ':');
    add_state(t, r->change, out);
    is_any = true;
  }
  if (is_any)
    tm_buf_add_char(out, '}');
  return is_any;
}

bool tm_feed_next(const struct tm_feed *f, struct tm_feed_reader *r, int64_t now_ns,
                  struct tm_buf *out)
{
  struct tm_buf states = TM_BUF_NONE;
  bool is_new = add_states(f, r, &states), is_due = now_ns - r->sent_ns >= TM_FEED_HEART_NS;
  if (is_new)
    tm_buf_printf(out, "id: %s-%" PRId64 "\ndata: %s\n\n", f->epoch, f->change, states.data);
  else if (is_due || !r->has_begun)
    tm_buf_add_str(out, "event: beat\ndata: 1\n\n");
  tm_buf_release(&states);
  if (!is_new && !is_due && r->has_begun)
    return false;
  r->has_begun = true;
  r->change = f->change;
  r->sent_ns = now_ns;
  return true;
}

int64_t tm_feed_due(int64_t now_ns, int64_t cost_ns)
{
  int64_t pause = cost_ns > LATE_NS / COST_SHARE ? LATE_NS : cost_ns * COST_SHARE;
  return now_ns + (pause > PACE_NS ? pause : PACE_NS);
}
