/* step_model.c - see step_model.h.
 *
 * A try costs a look-up of its worker, and an addition for each bin that it touches. Nothing is
 * allocated for it unless it is kept (notable.h, lanes.h).
 */
#include "insight/step_model.h"

#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "insight/sums.h"

#define JUMP_NS TM_MS /* run() took so much longer than the whole try */

static const char *const categories[TM_CATEGORIES] = { [TM_CATEGORY_OK] = "ok",
                                                       [TM_CATEGORY_ERROR] = "error",
                                                       [TM_CATEGORY_TIMEOUT] = "timeout",
                                                       [TM_CATEGORY_LOST] = "lost",
                                                       [TM_CATEGORY_CANCELED] = "canceled" };

const char *tm_category_name(enum tm_category c)
{
  return categories[c];
}

enum tm_category tm_category_of(const char *text)
{
  if (!*text)
    return TM_CATEGORY_OK;
  for (enum tm_category c = TM_CATEGORY_TIMEOUT; c < TM_CATEGORIES; c++)
    if (strcmp(text, categories[c]) == 0)
      return c;
  return TM_CATEGORY_ERROR;
}

void tm_step_model_init(struct tm_step_model *m, int64_t origin_ns)
{
  *m = (struct tm_step_model) { .origin_ns = origin_ns, .last_ns = origin_ns };
  tm_bins_init(&m->series, origin_ns, TM_SERIES_CHANNELS, TM_SERIES_BINS);
  tm_lanes_init(&m->lanes, origin_ns);
  tm_notable_init(&m->notable);
}

void tm_step_model_release(struct tm_step_model *m)
{
  tm_bins_release(&m->series);
  tm_lanes_release(&m->lanes);
  tm_workers_release(&m->workers);
  tm_map_release(&m->failed_before);
  tm_notable_release(&m->notable);
  for (size_t i = 0; i < m->nodes.len; i++) {
    struct tm_node_model *n = &m->nodes.at[i];
    for (size_t g = 0; g < TM_GAUGES; g++)
      tm_gauge_release(&n->gauges[g]);
    free(n->id);
    free(n->address);
    free(n->disk_fullest);
  }
  TM_ARRAY_RELEASE(&m->nodes);
  TM_ARRAY_RELEASE(&m->sessions);
}

/* ---- sessions, nodes ---- */

void tm_step_model_set_sessions(struct tm_step_model *m, const struct tm_step_session *sessions,
                                size_t len)
{
  for (size_t i = 0; i < len; i++) {
    if (i == m->sessions.len)
      *TM_ARRAY_ADD(&m->sessions) = (struct tm_step_session) { .begin_ns = sessions[i].begin_ns,
                                                               .end_ns = sessions[i].begin_ns };
    m->sessions.at[i].mini_batches = sessions[i].mini_batches;
  }
}

/* The session of a moment, from 0. */
static size_t session_of(const struct tm_step_model *m, int64_t at_ns)
{
  size_t i = m->sessions.len;
  while (i > 1 && m->sessions.at[i - 1].begin_ns > at_ns)
    i--;
  return i > 0 ? i - 1 : 0;
}

static void reach(struct tm_step_model *m, size_t session, int64_t at_ns)
{
  if (at_ns > m->last_ns) {
    m->last_ns = at_ns;
    tm_bins_reach(&m->series, at_ns);
    tm_lanes_reach(&m->lanes, at_ns);
  }
  if (session < m->sessions.len)
    m->sessions.at[session].end_ns = tm_larger(m->sessions.at[session].end_ns, at_ns);
}

/* More nodes have fewer bins each. */
static void share_gauges(struct tm_step_model *m)
{
  size_t max = tm_step_model_gauge_bins(m);
  for (size_t i = 0; i < m->nodes.len; i++)
    for (size_t g = 0; g < TM_GAUGES; g++)
      if (m->nodes.at[i].gauges[g].bins.max > max)
        tm_bins_merge(&m->nodes.at[i].gauges[g].bins, max);
}

static size_t node_at(struct tm_step_model *m, const char *id)
{
  for (size_t i = 0; i < m->nodes.len; i++)
    if (strcmp(m->nodes.at[i].id, id) == 0)
      return i;
  if (m->nodes.len > TM_NODES_NAMED)
    return TM_NODES_NAMED;
  if (m->nodes.len == TM_NODES_NAMED)
    id = "other nodes";
  *TM_ARRAY_ADD(&m->nodes) = (struct tm_node_model) { .id = tm_xstrdup(id),
                                                      .address = tm_xstrdup(""),
                                                      .disk_used_percent = -1 };
  share_gauges(m);
  return m->nodes.len - 1;
}

struct tm_node_model *tm_step_model_node(const struct tm_step_model *m, const char *id)
{
  for (size_t i = 0; i < m->nodes.len && i < TM_NODES_NAMED; i++)
    if (strcmp(m->nodes.at[i].id, id) == 0)
      return &m->nodes.at[i];
  return NULL;
}

/* ---- events ---- */

/* Makes the node of a worker that was just added, and its lane. */
static void place_worker(struct tm_step_model *m, struct tm_worker_life *w)
{
  if (w->is_placed)
    return;
  w->is_placed = true;
  w->node_at = node_at(m, w->node);
  (void)tm_lanes_of(&m->lanes, w->slot, w->node);
}

void tm_step_model_add_event(struct tm_step_model *m, const struct tm_life_row *e)
{
  size_t session = session_of(m, e->wall_ns);
  struct tm_worker_life *w = tm_workers_add_event(&m->workers, e, session);
  reach(m, session, e->wall_ns);
  m->clock_jumps += e->wall_ns > 0 && e->wall_ns < m->origin_ns;
  if (!w)
    return;
  place_worker(m, w);
  struct tm_node_model *n = &m->nodes.at[w->node_at];
  if (*e->address && strcmp(n->address, e->address) != 0) {
    free(n->address);
    n->address = tm_xstrdup(e->address);
  }
}

/* ---- tries ---- */

static int64_t number(const char *text)
{
  int64_t n = 0;
  return tm_text_int(text, &n) && n > 0 ? n : 0;
}

static void count_ok(struct tm_step_model *m, const struct tm_try_row *t,
                     const struct tm_try_sums *sums)
{
  tm_sum_add(&m->items, sums->items);
  tm_sum_add(&m->items_failed, sums->items_failed);
  tm_sum_add(&m->result_bytes, t->bytes);
  tm_sum_add(&m->tries_ns, t->elapsed_ns);
  tm_sum_add(&m->cpu_ns, t->cpu_ns);
  tm_quantiles_add(&m->around, sums->around_ns);
  if (m->failed_before.len > 0 &&
      tm_map_find(&m->failed_before, &t->mini_batch, sizeof(t->mini_batch))) {
    m->retried++;
    tm_sum_add(&m->retried_items, sums->items);
  }
  tm_notable_add_ok(&m->notable, t);
}

static void note_failed(struct tm_step_model *m, const struct tm_try_row *t)
{
  tm_notable_add_failed(&m->notable, t);
  if (m->failed_before.len < TM_FAILED_BEFORE)
    (void)tm_map_add(&m->failed_before, &t->mini_batch, sizeof(t->mini_batch), NULL);
}

static void add_to_series(struct tm_step_model *m, const struct tm_try_row *t,
                          const struct tm_try_sums *sums, int64_t end_ns)
{
  if (sums->is_ok) {
    tm_bins_add(&m->series, TM_SERIES_OK, end_ns, 1);
    tm_bins_add(&m->series, TM_SERIES_ITEMS, end_ns, sums->items);
  } else if (sums->is_failed) {
    tm_bins_add(&m->series, TM_SERIES_FAILED, end_ns, 1);
  }
  tm_bins_add_span(&m->series, TM_SERIES_BUSY, t->begin_wall_ns, end_ns);
}

static void add_box(struct tm_step_model *m, size_t lane, const struct tm_try_row *t,
                    const struct tm_try_sums *sums, enum tm_category category)
{
  int64_t items = number(t->total);
  struct tm_box box = { .lane = (uint32_t)lane,
                        .begin_ns = t->begin_wall_ns,
                        .elapsed_ns = t->elapsed_ns,
                        .run_ns = sums->run_ns,
                        .mini_batch = t->mini_batch,
                        .try_number = (uint32_t)tm_smaller(t->picked, UINT32_MAX),
                        .items = (uint32_t)tm_smaller(items, UINT32_MAX),
                        .category = (uint8_t)category };
  tm_lanes_add_box(&m->lanes, &box);
}

static void add_to_lane(struct tm_step_model *m, const struct tm_worker_life *w,
                        const struct tm_try_row *t, const struct tm_try_sums *sums,
                        enum tm_category category)
{
  struct tm_lanes *l = &m->lanes;
  size_t lane = tm_lanes_of(l, w->slot, w->node);
  int64_t end_ns = tm_sum(t->begin_wall_ns, t->elapsed_ns), run_from_ns = end_ns - sums->run_ns;
  add_box(m, lane, t, sums, category);
  if (sums->is_ok) {
    tm_lanes_add_span(l, lane, TM_LANE_AROUND, t->begin_wall_ns, run_from_ns);
    tm_lanes_add_span(l, lane, TM_LANE_OK, run_from_ns, end_ns);
  } else if (sums->is_failed) {
    tm_lanes_add_span(l, lane, TM_LANE_FAILED, t->begin_wall_ns, end_ns);
    tm_lanes_add(l, lane, TM_LANE_FAILURES, end_ns, 1);
  }
}

static void count_node(struct tm_step_model *m, const struct tm_worker_life *w,
                       const struct tm_try_sums *sums)
{
  struct tm_node_model *n = &m->nodes.at[w->node_at];
  n->tries++;
  n->failed_tries += sums->is_failed;
  tm_sum_add(&n->items, sums->items);
  tm_sum_add(&n->run_ns, sums->run_ns);
  if (sums->is_ok)
    tm_sum_add(&n->run_ok_ns, sums->run_ns);
}

static struct tm_try_sums sums_of(struct tm_step_model *m, const struct tm_try_row *t,
                                  enum tm_category category)
{
  struct tm_try_sums sums = { .run_ns = tm_smaller(t->run_ns, t->elapsed_ns),
                              .around_ns = tm_larger(t->elapsed_ns - t->run_ns, 0),
                              .is_ok = category == TM_CATEGORY_OK,
                              .is_failed =
                                  category != TM_CATEGORY_OK && category != TM_CATEGORY_CANCELED };
  m->clock_jumps += (t->begin_wall_ns > 0 && t->begin_wall_ns < m->origin_ns) ||
                    t->run_ns > t->elapsed_ns + JUMP_NS;
  if (sums.is_ok) {
    sums.items = number(t->succeeded);
    sums.items_failed = number(t->failed);
  }
  return sums;
}

void tm_step_model_add_try(struct tm_step_model *m, const struct tm_try_row *t)
{
  enum tm_category category = tm_category_of(t->category);
  if (t->mini_batch < 0) /* an init() that failed: the worker has an event */
    return;
  struct tm_try_sums sums = sums_of(m, t, category);
  bool has_begun = t->begin_wall_ns > 0;
  int64_t end_ns = has_begun ? tm_sum(t->begin_wall_ns, t->elapsed_ns) : 0;
  size_t session = session_of(m, has_begun ? t->begin_wall_ns : INT64_MAX);

  m->tries[category]++;
  m->tries_failed += sums.is_failed;
  if (t->run_ns > 0 || sums.is_ok) /* one that succeeded may have taken less than the table shows */
    tm_quantiles_add(&m->run, sums.run_ns);
  if (sums.is_ok)
    count_ok(m, t, &sums);
  else if (sums.is_failed)
    note_failed(m, t);
  struct tm_worker_life *w = tm_workers_add_try(&m->workers, t, &sums, session);
  if (has_begun) {
    reach(m, session, end_ns);
    if (t->picked <= 1)
      m->last_new_ns = tm_larger(m->last_new_ns, t->begin_wall_ns);
    add_to_series(m, t, &sums, end_ns);
  }
  if (w) {
    place_worker(m, w);
    count_node(m, w, &sums);
  }
  if (w && has_begun)
    add_to_lane(m, w, t, &sums, category);
  else
    tm_lanes_add_box(&m->lanes, NULL);
}

/* ---- what depends on the time ---- */

/* A try that has no end, or was cut off: the only one of its worker. */
static void settle_open(struct tm_step_model *m, size_t lane, const struct tm_open_try *t)
{
  int64_t end_ns = tm_sum(t->begin_ns, t->elapsed_ns);
  tm_lanes_add_span(&m->lanes, lane, TM_LANE_OPEN, t->begin_ns, end_ns);
  if (t->runs)
    tm_bins_add_span(&m->series, TM_SERIES_RUNS, t->begin_ns, end_ns);
}

static void settle_worker(struct tm_step_model *m, const struct tm_worker_life *w, int64_t now_ns)
{
  size_t lane = tm_lanes_of(&m->lanes, w->slot, w->node);
  bool runs = w->session + 1 >= m->sessions.len;
  int64_t until_ns = tm_worker_until_ns(w, runs ? now_ns : 0);
  if (runs && now_ns > 0 && w->ended_ns == 0)
    m->known_ns = tm_smaller(m->known_ns, until_ns);
  tm_bins_add_span(&m->series, TM_SERIES_ALIVE, w->started_ns, until_ns);
  if (!m->lacks_tries)
    tm_lanes_add_span(&m->lanes, lane, TM_LANE_ALIVE, w->started_ns, until_ns);
  settle_open(m, lane, &w->open);
  int64_t begun_ns = tm_sum(w->started_ns, tm_sum(w->start_ns, w->init_ns));
  tm_lanes_add_span(&m->lanes, lane, TM_LANE_INIT, w->started_ns,
                    w->init_failed ? until_ns : tm_smaller(begun_ns, until_ns));
}

void tm_step_model_settle(struct tm_step_model *m, int64_t now_ns)
{
  m->known_ns = INT64_MAX;
  tm_bins_clear(&m->series, TM_SERIES_RUNS);
  tm_bins_clear(&m->series, TM_SERIES_ALIVE);
  tm_lanes_clear(&m->lanes, TM_LANE_OPEN);
  tm_lanes_clear(&m->lanes, TM_LANE_ALIVE);
  tm_lanes_clear(&m->lanes, TM_LANE_INIT);
  for (size_t i = 0; i < m->workers.list.len; i++)
    settle_worker(m, &m->workers.list.at[i], now_ns);
}

bool tm_step_model_is_exact(const struct tm_step_model *m)
{
  const struct tm_lanes *l = &m->lanes;
  return tm_bins_shift(m->origin_ns, m->last_ns, m->series.max, 0) == m->series.shift &&
         tm_bins_shift(m->origin_ns, m->last_ns, l->max, 0) == l->shift;
}

void tm_step_model_time(const struct tm_step_model *m, int64_t now_ns, struct tm_worker_time *sum)
{
  *sum = (struct tm_worker_time) { 0 };
  for (size_t i = 0; i < m->workers.list.len; i++) {
    const struct tm_worker_life *w = &m->workers.list.at[i];
    bool runs = w->session + 1 >= m->sessions.len;
    tm_worker_time_add(sum, w, runs ? now_ns : 0);
  }
  tm_worker_time_add(sum, &m->workers.others, 0);
  if (m->lacks_tries) {
    sum->unmeasured_ns = sum->wait_ns;
    sum->wait_ns = 0;
  }
}
