/* watched_jobs.c - see watched_jobs.h. */
#include "portal/watched_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "page/states.h"
#include "portal/moment.h"

#define IDLE_NS (30 * TM_S)
#define LIST_NS (2 * TM_S)

/* ---- states ---- */

/* Without the record, the folder has the only name. */
static const char *name_of(const struct tidemill_record_info *job)
{
  return *tm_text_or_empty(job->pipeline) ? job->pipeline
                                          : tm_path_base(tm_text_or_empty(job->dir));
}

static struct tm_page_state state_of(const struct tidemill_record_info *job)
{
  const char *name = job->is_removed                 ? "Removed"
                     : *tm_text_or_empty(job->fault) ? "Unreadable"
                                                     : tidemill_state_name(job->state);
  return tm_state_shown(name, job->counts && job->counts->items_failed > 0,
                        job->steps_len > 0 && job->steps_reused == job->steps_len);
}

void tm_watch_title(struct tm_buf *out, const struct tidemill_record_info *job)
{
  const struct tidemill_counts *c = job->counts;
  struct tm_page_state state = state_of(job);
  if (strcmp(state.tone, "run") != 0)
    tm_buf_printf(out, "%s ", state.symbol);
  else if (c && c->created > 0)
    tm_buf_printf(out, "%d%% ", (int)(100 * (c->succeeded + c->failed) / c->created));
  tm_buf_add_str(out, name_of(job));
}

void tm_watch_state(struct tm_buf *out, const struct tidemill_record_info *job, int64_t version)
{
  const struct tidemill_counts *c = job->counts;
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_buf title = TM_BUF_NONE;
  tm_watch_title(&title, job);
  tm_json_set(v, "version", tm_json_new_int(version));
  tm_json_set(v, "state", tm_json_new_string(state_of(job).word));
  tm_json_set(v, "title", tm_json_new_string(tm_buf_str(&title)));
  if (c) {
    tm_json_set(v, "done", tm_json_new_int(c->succeeded + c->failed));
    tm_json_set(v, "failed", tm_json_new_int(c->failed));
    tm_json_set(v, "created", tm_json_new_int(c->created));
  }
  tm_json_write(out, v, (struct tm_json_style) { .indent = 0 });
  tm_json_free(v);
  tm_buf_release(&title);
}

/* ---- records ---- */

void tm_watch_open(struct tm_watch *w, const char *workspace)
{
  *w = (struct tm_watch) { .jobs_dir = tm_path_join(workspace, "jobs") };
}

static void close_watched(struct tm_watch *w, size_t i)
{
  struct tm_watched *job = w->jobs.at[i];
  tidemill_record_close(job->record);
  free(job->key);
  free(job);
  w->jobs.at[i] = w->jobs.at[--w->jobs.len];
}

void tm_watch_close(struct tm_watch *w)
{
  while (w->jobs.len > 0)
    close_watched(w, 0);
  TM_ARRAY_RELEASE(&w->jobs);
  free(w->jobs_dir);
  *w = (struct tm_watch) { .jobs_dir = NULL };
}

char *tm_watch_dir(const struct tm_watch *w, const char *key)
{
  bool is_name = *key && *key != '.' && !strchr(key, '/');
  return is_name ? tm_path_join(w->jobs_dir, key) : NULL;
}

static struct tm_watched *find(const struct tm_watch *w, const char *key)
{
  for (size_t i = 0; i < w->jobs.len; i++)
    if (strcmp(w->jobs.at[i]->key, key) == 0)
      return w->jobs.at[i];
  return NULL;
}

/* Closes the record that was not used for the longest time, if many are open that no stream has. */
static void make_room(struct tm_watch *w)
{
  size_t oldest = w->jobs.len, kept = 0;
  for (size_t i = 0; i < w->jobs.len; i++) {
    if (w->jobs.at[i]->streams > 0)
      continue;
    kept++;
    if (oldest == w->jobs.len || w->jobs.at[i]->used_ns < w->jobs.at[oldest]->used_ns)
      oldest = i;
  }
  if (kept >= TM_WATCH_KEPT)
    close_watched(w, oldest);
}

static struct tm_watched *open_watched(struct tm_watch *w, const char *key, struct tm_err *err)
{
  struct tidemill_record *record = NULL;
  char *dir = tm_watch_dir(w, key);
  int rc = dir ? tidemill_record_open(&record, NULL, dir, err)
               : tm_err_set(err, TM_EUSAGE, "'%s' is not the name of a job", key);
  free(dir);
  if (rc < 0)
    return NULL;
  make_room(w);
  struct tm_watched *job = TM_NEW(struct tm_watched);
  *job = (struct tm_watched) { .key = tm_xstrdup(key), .record = record, .fd = -1, .version = 1 };
  *TM_ARRAY_ADD(&w->jobs) = job;
  return job;
}

/* Reads the record again if it is due. */
static void refresh(struct tm_watched *job, int64_t now_ns)
{
  struct tm_err err = TM_ERR_NONE;
  if (now_ns < job->due_ns)
    return;
  int64_t begin_ns = tm_moment_spent_ns();
  int rc = tidemill_record_refresh(job->record, &err);
  bool is_news = rc > 0 || (rc < 0 && job->fault.code == 0); /* a fault is news once */
  job->fault = err;
  job->version += is_news;
  job->must_look |= is_news; /* a stream that has it as a topic does not hear of it otherwise */
  job->due_ns = tm_feed_due(tm_moment_now_ns(), tm_moment_spent_ns() - begin_ns);
}

struct tidemill_record *tm_watch_record(struct tm_watch *w, const char *key, int64_t now_ns,
                                        struct tm_err *err)
{
  struct tm_watched *job = find(w, key);
  if (!job && !(job = open_watched(w, key, err)))
    return NULL;
  job->used_ns = now_ns;
  refresh(job, now_ns);
  if (job->fault.code == 0)
    return job->record;
  *err = job->fault;
  return NULL;
}

int64_t tm_watch_version(const struct tm_watch *w, const char *key)
{
  const struct tm_watched *job = find(w, key);
  return job ? job->version : 0;
}

bool tm_watch_hold(struct tm_watch *w, const char *topic)
{
  struct tm_err err = TM_ERR_NONE;
  if (strcmp(topic, TM_FEED_JOBS) == 0) {
    w->list_streams++;
    return true;
  }
  struct tm_watched *job = find(w, topic);
  if (!job && !(job = open_watched(w, topic, &err)))
    return false;
  if (job->streams++ == 0) { /* the first news come at once */
    job->looked_ns = job->due_ns = 0;
    job->spent_ns = tm_moment_spent_ns();
  }
  job->must_look = true;
  if (job->fd < 0)
    job->fd = tidemill_record_fd(job->record, NULL);
  return true;
}

void tm_watch_let_go(struct tm_watch *w, const char *topic)
{
  struct tm_watched *job = find(w, topic);
  if (strcmp(topic, TM_FEED_JOBS) == 0)
    w->list_streams--;
  else if (job && job->streams > 0)
    job->streams--;
}

/* ---- the loop ---- */

size_t tm_watch_polls(struct tm_watch *w, struct pollfd *polls, size_t max, int64_t now_ns)
{
  size_t n = 0;
  for (size_t i = 0; i < w->jobs.len && n < max; i++)
    if (w->jobs.at[i]->streams > 0 && w->jobs.at[i]->fd >= 0 && w->jobs.at[i]->due_ns <= now_ns)
      polls[n++] = (struct pollfd) { .fd = w->jobs.at[i]->fd, .events = POLLIN };
  return n;
}

/* Until it is due, a record is not polled: a fast job changes all the time. */
int tm_watch_timeout_ms(const struct tm_watch *w, int64_t now_ns)
{
  int64_t next = INT64_MAX;
  if (w->list_streams > 0)
    next = w->list_due_ns;
  for (size_t i = 0; i < w->jobs.len; i++) {
    const struct tm_watched *job = w->jobs.at[i];
    int64_t at = job->fault.code != 0 && job->streams == 0 ? now_ns
                 : job->streams == 0                       ? job->used_ns + IDLE_NS
                 : job->due_ns > now_ns                    ? job->due_ns
                 : job->must_look                          ? now_ns
                                                           : INT64_MAX;
    next = at < next ? at : next;
  }
  return next == INT64_MAX ? -1 : next <= now_ns ? 0 : (int)((next - now_ns) / TM_MS) + 1;
}

static bool is_readable(int fd)
{
  struct pollfd p = { .fd = fd, .events = POLLIN };
  return fd >= 0 && poll(&p, 1, 0) > 0;
}

/* The job may be gone: its record then has a fault, which the page shows. */
static bool look(struct tm_watched *job, struct tm_feed *feed, int64_t now_ns,
                 const struct tm_watch_hooks *hooks)
{
  struct tm_buf state = TM_BUF_NONE;
  job->looked_ns = now_ns;
  job->spent_ns = tm_moment_spent_ns();
  refresh(job, now_ns);
  job->must_look = false;
  tm_watch_state(&state, tidemill_record_info(job->record), job->version);
  hooks->on_news(hooks->data, job->key);
  bool is_new = tm_feed_set(feed, job->key, state.data);
  tm_buf_release(&state);
  return is_new;
}

/* Puts the next look off until the last one was cheap enough, with all that followed from it. */
static bool may_look(struct tm_watched *job, int64_t now_ns)
{
  int64_t due_ns = tm_feed_due(job->looked_ns, tm_moment_spent_ns() - job->spent_ns);
  if (due_ns > job->due_ns)
    job->due_ns = due_ns;
  return job->due_ns <= now_ns;
}

bool tm_watch_turn(struct tm_watch *w, struct tm_feed *feed, int64_t now_ns,
                   const struct tm_watch_hooks *hooks)
{
  bool is_new = false;
  for (size_t i = 0; i < w->jobs.len; i++) {
    struct tm_watched *job = w->jobs.at[i];
    if (job->streams > 0 && may_look(job, now_ns) && (job->must_look || is_readable(job->fd)))
      is_new |= look(job, feed, now_ns, hooks);
    if (job->streams == 0 && (now_ns - job->used_ns >= IDLE_NS || job->fault.code != 0)) {
      tm_feed_remove(feed, job->key);
      close_watched(w, i--);
    }
  }
  if (w->list_streams > 0 && now_ns >= w->list_due_ns) {
    int64_t due_ns = now_ns;
    is_new |= hooks->on_list(hooks->data, now_ns, &due_ns);
    w->list_due_ns = due_ns > now_ns + LIST_NS ? due_ns : now_ns + LIST_NS;
  }
  return is_new;
}
