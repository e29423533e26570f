/* worker_slots.c - see worker_slots.h. */
#include "insight/worker_slots.h"

#include <string.h>

#include "base/text.h"
#include "insight/sums.h"

#define SHOWN_NS INT64_C(500000000) /* a try that runs has lasted longer, so none began since */

static void release_life(struct tm_worker_life *l)
{
  free(l->name);
  free(l->node);
  free(l->address);
  free(l->end);
}

void tm_workers_release(struct tm_workers *w)
{
  for (size_t i = 0; i < w->list.len; i++)
    release_life(&w->list.at[i]);
  TM_ARRAY_RELEASE(&w->list);
  for (size_t i = 0; i < w->slots.len; i++)
    free(w->slots.at[i].node);
  TM_ARRAY_RELEASE(&w->slots);
  tm_map_release(&w->known);
  tm_map_release(&w->of_node);
  release_life(&w->others);
  *w = (struct tm_workers) { 0 };
}

/* ---- workers and slots ---- */

static bool is_free(const struct tm_workers *w, const struct tm_worker_slot *s, size_t session)
{
  const struct tm_worker_life *last = &w->list.at[s->worker];
  return last->ended_ns > 0 || last->session < session; /* cut off with its session */
}

/* The first free one of the node; makes it. */
static size_t slot_for(struct tm_workers *w, const char *node, size_t session)
{
  bool is_new;
  uint64_t *first = tm_map_add(&w->of_node, node, strlen(node), &is_new);
  size_t last = 0;
  for (size_t i = *first; i > 0; i = w->slots.at[i - 1].next) {
    if (is_free(w, &w->slots.at[i - 1], session))
      return i - 1;
    last = i;
  }
  *TM_ARRAY_ADD(&w->slots) = (struct tm_worker_slot) { .node = tm_xstrdup(node) };
  if (last > 0)
    w->slots.at[last - 1].next = w->slots.len;
  else
    *first = w->slots.len;
  return w->slots.len - 1;
}

/* Of nearly all tries, without the map: the last digits of names differ. */
static struct tm_worker_life *find(struct tm_workers *w, const char *name)
{
  size_t len = strlen(name);
  unsigned end = len > 1 ? (unsigned char)name[len - 2] * 10u + (unsigned char)name[len - 1] : 0;
  size_t *recent = &w->recent[end % TM_WORKERS_RECENT];
  if (*recent > 0 && strcmp(w->list.at[*recent - 1].name, name) == 0)
    return &w->list.at[*recent - 1];
  uint64_t *known = tm_map_find(&w->known, name, len);
  if (!known)
    return NULL;
  *recent = (size_t)*known;
  return &w->list.at[*recent - 1];
}

bool tm_workers_knows(struct tm_workers *w, const char *name)
{
  return w->list.len >= TM_WORKERS_NAMED || find(w, name) != NULL;
}

/* NULL: there are too many. */
static struct tm_worker_life *add(struct tm_workers *w, const char *name, const char *node,
                                  int64_t started_ns, size_t session)
{
  if (w->list.len >= TM_WORKERS_NAMED)
    return NULL;
  size_t slot = slot_for(w, node, session);
  *TM_ARRAY_ADD(&w->list) = (struct tm_worker_life) { .name = tm_xstrdup(name),
                                                      .node = tm_xstrdup(node),
                                                      .address = tm_xstrdup(""),
                                                      .slot = slot,
                                                      .session = session,
                                                      .started_ns = started_ns,
                                                      .last_ns = started_ns };
  *tm_map_add(&w->known, name, strlen(name), NULL) = w->list.len;
  w->slots.at[slot].workers++;
  w->slots.at[slot].worker = w->list.len - 1;
  return &w->list.at[w->list.len - 1];
}

/* ---- events ---- */

static bool is_word(const struct tm_life_row *e, const char *word)
{
  return strcmp(e->event, word) == 0;
}

/* How long the worker had lived; at least 1 ns. */
static int64_t lived_until(struct tm_workers *w, const struct tm_worker_life *l,
                           const struct tm_life_row *e)
{
  int64_t by_wall = e->wall_ns - l->started_ns;
  if (e->wall_ns > 0 && by_wall < 0)
    w->clock_jumps++;
  return tm_larger(e->lived_ns > 0 ? e->lived_ns : by_wall, 1);
}

static void set_text(char **text, const char *to)
{
  free(*text);
  *text = tm_xstrdup(to);
}

static void end(struct tm_workers *w, struct tm_worker_life *l, const struct tm_life_row *e)
{
  l->was_killed = e->was_killed;
  l->has_died = e->died;
  w->deaths += l->has_died;
  l->lived_ns = lived_until(w, l, e);
  l->ended_ns = tm_larger(e->wall_ns, 1);
  l->max_rss_bytes = e->max_rss_bytes;
  l->limited_bytes = e->own_bytes > 0 ? e->own_bytes : e->max_rss_bytes;
  set_text(&l->end, e->detail);
}

static void init_over(struct tm_workers *w, struct tm_worker_life *l, const struct tm_life_row *e)
{
  int64_t lived_ns = lived_until(w, l, e);
  if (is_word(e, "ready")) {
    l->ready_ns = tm_larger(e->wall_ns, 1);
    l->init_ns = tm_smaller(e->init_ns, lived_ns);
  } else {
    w->inits_failed++;
    l->init_failed = true;
    l->init_ns = lived_ns;
  }
  l->start_ns = lived_ns - l->init_ns;
}

/* A worker that is not known by its name: its times, as far as single rows have them. */
static void add_other(struct tm_workers *w, const struct tm_life_row *e)
{
  struct tm_worker_life l = { .started_ns = e->wall_ns - e->lived_ns };
  struct tm_worker_life *o = &w->others;
  if (is_word(e, "started")) {
    w->unnamed++;
  } else if (is_word(e, "ended")) {
    end(w, &l, e);
    tm_sum_add(&o->lived_ns, e->lived_ns);
    o->max_rss_bytes = tm_larger(o->max_rss_bytes, e->max_rss_bytes);
    o->ended_ns = tm_larger(o->ended_ns, e->wall_ns);
    free(l.end);
  } else if (is_word(e, "ready") || is_word(e, "init_failed")) {
    init_over(w, &l, e);
    tm_sum_add(&o->init_ns, l.init_ns);
    tm_sum_add(&o->start_ns, l.start_ns);
  }
}

static void apply(struct tm_workers *w, struct tm_worker_life *l, const struct tm_life_row *e)
{
  l->last_ns = tm_larger(l->last_ns, e->wall_ns);
  l->pid = e->pid > 0 ? e->pid : l->pid;
  if (*e->address)
    set_text(&l->address, e->address);
  if (l->ended_ns > 0)
    return; /* a second end, or what a damaged file has behind it */
  if (is_word(e, "ready") || is_word(e, "init_failed")) {
    init_over(w, l, e);
  } else if (is_word(e, "ended")) {
    end(w, l, e);
  }
}

struct tm_worker_life *tm_workers_add_event(struct tm_workers *w, const struct tm_life_row *e,
                                            size_t session)
{
  struct tm_worker_life *l = find(w, e->process);
  if (!l && *e->process)
    l = add(w, e->process, e->node, tm_larger(e->wall_ns - e->lived_ns, 0), session);
  if (l)
    apply(w, l, e);
  else
    add_other(w, e);
  return l;
}

/* ---- tries ---- */

struct tm_worker_life *tm_workers_add_try(struct tm_workers *w, const struct tm_try_row *t,
                                          const struct tm_try_sums *sums, size_t session)
{
  struct tm_worker_life *found = find(w, t->process), *l;
  if (!found && *t->process && t->begin_wall_ns > 0)
    found = add(w, t->process, t->node, t->begin_wall_ns, session);
  l = found ? found : &w->others;
  l->tries++;
  l->failed_tries += sums->is_failed;
  tm_sum_add(&l->items, sums->items);
  tm_sum_add(&l->items_failed, sums->items_failed);
  tm_sum_add(sums->is_ok       ? &l->run_ok_ns
             : sums->is_failed ? &l->run_failed_ns
                               : &l->run_open_ns,
             sums->run_ns);
  tm_sum_add(&l->around_ns, sums->around_ns);
  if (t->begin_wall_ns >= l->begun_ns) {
    l->begun_ns = t->begin_wall_ns;
    l->begun = t->mini_batch;
  }
  if (!sums->is_ok && !sums->is_failed && t->begin_wall_ns > 0)
    l->open =
        (struct tm_open_try) { t->mini_batch, t->picked, t->begin_wall_ns, t->elapsed_ns, false };
  l->last_ns = tm_larger(l->last_ns, tm_sum(t->begin_wall_ns, t->elapsed_ns));
  return found;
}

/* ---- what runs ---- */

/* A worker has begun the try, by a clock that shows milliseconds, and has not ended it. */
static bool is_at(const struct tm_worker_life *l, const struct tm_running_try *t)
{
  bool has_ended = l->begun == t->mini_batch && l->begun_ns >= t->begun_ns;
  return l->ended_ns == 0 && l->open.elapsed_ns == 0 && !has_ended &&
         l->begun_ns < t->begun_ns + SHOWN_NS;
}

void tm_workers_set_running(struct tm_workers *w, const struct tm_running_try *list, size_t len,
                            int64_t now_ns)
{
  for (size_t i = 0; i < w->list.len; i++)
    if (w->list.at[i].open.runs)
      w->list.at[i].open = (struct tm_open_try) { .runs = false };
  for (size_t i = 0; i < len; i++) {
    struct tm_worker_life *l = find(w, list[i].worker);
    if (l && list[i].begun_ns > 0 && list[i].begun_ns < now_ns && is_at(l, &list[i]))
      l->open = (struct tm_open_try) { list[i].mini_batch, list[i].try_number, list[i].begun_ns,
                                       now_ns - list[i].begun_ns, true };
  }
}

/* ---- time ---- */

int64_t tm_worker_until_ns(const struct tm_worker_life *w, int64_t now_ns)
{
  int64_t known_ns = w->open.runs ? now_ns : now_ns - TM_UNSEEN_NS;
  int64_t until = tm_larger(w->ended_ns > 0 ? w->ended_ns : known_ns, w->last_ns);
  return tm_larger(until, w->started_ns);
}

int64_t tm_worker_lived_ns(const struct tm_worker_life *w, int64_t now_ns)
{
  if (!w->name) /* others: of those that have not ended, only tries are known */
    return tm_larger(w->lived_ns,
                     tm_sum(tm_sum(tm_sum(w->run_ok_ns, w->run_failed_ns), w->run_open_ns),
                            tm_sum(tm_sum(w->start_ns, w->init_ns), w->around_ns)));
  return w->lived_ns > 0 ? w->lived_ns : tm_worker_until_ns(w, now_ns) - w->started_ns;
}

/* Takes at most what is left, so that the parts add up. */
static void take(int64_t *part, int64_t *left, int64_t ns)
{
  ns = tm_smaller(ns, *left);
  *part = tm_sum(*part, ns);
  *left -= ns;
}

void tm_worker_time_add(struct tm_worker_time *sum, const struct tm_worker_life *w, int64_t now_ns)
{
  int64_t left = tm_worker_lived_ns(w, now_ns);
  bool has_begun = w->ready_ns > 0 || w->init_failed || w->tries > 0 || !w->name;
  tm_sum_add(&sum->lived_ns, left);
  if (!has_begun)
    take(&sum->start_ns, &left, left);
  take(&sum->run_ok_ns, &left, w->run_ok_ns);
  take(&sum->run_failed_ns, &left, w->run_failed_ns);
  take(&sum->run_open_ns, &left, tm_sum(w->run_open_ns, w->open.runs ? w->open.elapsed_ns : 0));
  take(&sum->init_ns, &left, w->init_ns);
  take(&sum->start_ns, &left, w->start_ns);
  take(&sum->around_ns, &left, w->around_ns);
  if (w->init_failed) /* it never waited for work, but was about to end */
    take(&sum->start_ns, &left, left);
  take(&sum->wait_ns, &left, left);
}
