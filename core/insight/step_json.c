/* step_json.c - see step_json.h. */
#include "insight/step_json.h"

#include "insight/sums.h"

static struct tm_json *set_new(struct tm_json *v, const char *key, enum tm_json_type type)
{
  return tm_json_set(v, key, tm_json_new(type));
}

static void set_sums(struct tm_json *out, const struct tm_step_model *m)
{
  struct tm_json *tries = set_new(out, "tries", TM_JSON_OBJECT);
  for (enum tm_category c = 0; c < TM_CATEGORIES; c++)
    tm_json_set_int(tries, tm_category_name(c), m->tries[c]);
  tm_json_set_int(out, "tries_failed", m->tries_failed);
  tm_json_set_int(out, "items", m->items);
  tm_json_set_int(out, "items_failed", m->items_failed);
  tm_json_set_int(out, "retried", m->retried);
  tm_json_set_int(out, "retried_items", m->retried_items);
  tm_json_set_int(out, "result_bytes", m->result_bytes);
  tm_json_set_int(out, "clock_jumps", m->clock_jumps + m->workers.clock_jumps);
}

static void set_quantiles(struct tm_json *out, const char *key, const struct tm_quantiles *q)
{
  struct tm_json *v = set_new(out, key, TM_JSON_OBJECT);
  tm_json_set_int(v, "count", q->count);
  tm_json_set_int(v, "sum_ns", q->sum);
  tm_json_set_int(v, "min_ns", q->min);
  tm_json_set_int(v, "p50_ns", tm_quantiles_at(q, 0.5));
  tm_json_set_int(v, "p90_ns", tm_quantiles_at(q, 0.9));
  tm_json_set_int(v, "p99_ns", tm_quantiles_at(q, 0.99));
  tm_json_set_int(v, "max_ns", q->max);
}

static void set_time(struct tm_json *out, const struct tm_step_model *m, int64_t now_ns)
{
  struct tm_json *v = set_new(out, "time", TM_JSON_OBJECT);
  struct tm_worker_time t;
  tm_step_model_time(m, now_ns, &t);
  tm_json_set_int(v, "lived_ns", t.lived_ns);
  tm_json_set_int(v, "run_ok_ns", t.run_ok_ns);
  tm_json_set_int(v, "run_failed_ns", t.run_failed_ns);
  tm_json_set_int(v, "run_open_ns", t.run_open_ns);
  tm_json_set_int(v, "around_ns", t.around_ns);
  tm_json_set_int(v, "init_ns", t.init_ns);
  tm_json_set_int(v, "start_ns", t.start_ns);
  tm_json_set_int(v, "wait_ns", t.wait_ns);
  tm_json_set_int(v, "unmeasured_ns", t.unmeasured_ns);
}

static struct tm_json *worker(const struct tm_worker_life *w, int64_t now_ns)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "name", w->name);
  tm_json_set_known_text(v, "node", w->node);
  tm_json_set_int(v, "slot", (int64_t)w->slot);
  tm_json_set_int(v, "session", (int64_t)w->session + 1);
  tm_json_set_int(v, "pid", w->pid);
  tm_json_set_int(v, "started_ns", w->started_ns);
  tm_json_set_int(v, "ready_ns", w->ready_ns);
  tm_json_set_int(v, "ended_ns", w->ended_ns);
  tm_json_set_int(v, "lived_ns", tm_worker_lived_ns(w, now_ns));
  tm_json_set_int(v, "init_ns", w->init_ns);
  tm_json_set_int(v, "max_rss_bytes", w->max_rss_bytes);
  tm_json_set_known_text(v, "end", w->end);
  tm_json_set(v, "has_died", tm_json_new_bool(w->has_died));
  tm_json_set_int(v, "tries", w->tries);
  tm_json_set_int(v, "failed_tries", w->failed_tries);
  tm_json_set_int(v, "items", w->items);
  tm_json_set_int(v, "items_failed", w->items_failed);
  tm_json_set_int(v, "run_ok_ns", w->run_ok_ns);
  tm_json_set_int(v, "run_failed_ns", w->run_failed_ns);
  tm_json_set_int(v, "run_open_ns", w->run_open_ns);
  tm_json_set_int(v, "around_ns", w->around_ns);
  return v;
}

static void set_workers(struct tm_json *out, const struct tm_step_model *m, int64_t now_ns)
{
  const struct tm_workers *w = &m->workers;
  struct tm_json *list = set_new(out, "workers", TM_JSON_ARRAY);
  for (size_t i = 0; i < w->list.len && i < TM_STEP_JSON_WORKERS; i++)
    tm_json_add(list,
                worker(&w->list.at[i], w->list.at[i].session + 1 >= m->sessions.len ? now_ns : 0));
  tm_json_set_int(out, "workers_more",
                  tm_larger((int64_t)w->list.len - TM_STEP_JSON_WORKERS, 0) + w->unnamed);
  tm_json_set_int(out, "deaths", w->deaths);
  tm_json_set_int(out, "inits_failed", w->inits_failed);
  list = set_new(out, "slots", TM_JSON_ARRAY);
  for (size_t i = 0; i < w->slots.len && i < TM_STEP_JSON_WORKERS; i++) {
    struct tm_json *v = tm_json_add(list, tm_json_new(TM_JSON_OBJECT));
    tm_json_set_known_text(v, "node", w->slots.at[i].node);
    tm_json_set_int(v, "workers", (int64_t)w->slots.at[i].workers);
  }
  tm_json_set_int(out, "slots_more", tm_larger((int64_t)w->slots.len - TM_STEP_JSON_WORKERS, 0));
}

static void set_nodes(struct tm_json *out, const struct tm_step_model *m)
{
  struct tm_json *list = set_new(out, "nodes", TM_JSON_ARRAY);
  for (size_t i = 0; i < m->nodes.len; i++) {
    const struct tm_node_model *n = &m->nodes.at[i];
    struct tm_json *v = tm_json_add(list, tm_json_new(TM_JSON_OBJECT));
    tm_json_set_known_text(v, "id", n->id);
    tm_json_set_known_text(v, "address", n->address);
    tm_json_set_int(v, "tries", n->tries);
    tm_json_set_int(v, "failed_tries", n->failed_tries);
    tm_json_set_int(v, "items", n->items);
    tm_json_set_int(v, "run_ok_ns", n->run_ok_ns);
    tm_json_set_int(v, "run_ns", n->run_ns);
    tm_json_set_int(v, "memory_total", n->memory_total);
    tm_json_set(v, "disk_used_percent",
                n->disk_used_percent < 0 ? tm_json_new(TM_JSON_NULL)
                                         : tm_json_new_number(n->disk_used_percent));
    tm_json_set_known_text(v, "disk_fullest", n->disk_fullest);
  }
}

static void set_sessions(struct tm_json *out, const struct tm_step_model *m)
{
  struct tm_json *list = set_new(out, "sessions", TM_JSON_ARRAY);
  for (size_t i = 0; i < m->sessions.len; i++) {
    struct tm_json *v = tm_json_add(list, tm_json_new(TM_JSON_OBJECT));
    tm_json_set_int(v, "begin_ns", m->sessions.at[i].begin_ns);
    tm_json_set_int(v, "end_ns", m->sessions.at[i].end_ns);
    tm_json_set_int(v, "mini_batches", m->sessions.at[i].mini_batches);
  }
}

static void set_series(struct tm_json *out, const struct tm_step_model *m)
{
  static const char *const names[TM_SERIES_CHANNELS] = {
    [TM_SERIES_ITEMS] = "items",  [TM_SERIES_OK] = "ok",           [TM_SERIES_FAILED] = "failed",
    [TM_SERIES_BUSY] = "busy_ns", [TM_SERIES_RUNS] = "running_ns", [TM_SERIES_ALIVE] = "alive_ns"
  };
  struct tm_json *v = set_new(out, "series", TM_JSON_OBJECT);
  tm_json_set_int(v, "origin_ns", m->origin_ns);
  tm_json_set_int(v, "width_ns", m->series.width_ns);
  for (size_t c = 0; c < TM_SERIES_CHANNELS; c++) {
    struct tm_json *list = set_new(v, names[c], TM_JSON_ARRAY);
    for (size_t i = 0; i < m->series.len; i++)
      tm_json_add(list, tm_json_new_int(tm_bins_at(&m->series, c, i)));
  }
}

static struct tm_json *notable_try(const struct tm_notable_try *t)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_int(v, "mini_batch", t->mini_batch);
  tm_json_set_int(v, "try", t->try_number);
  tm_json_set_known_text(v, "worker", t->worker);
  tm_json_set_known_text(v, "node", t->node);
  tm_json_set_int(v, "begin_ns", t->begin_ns);
  tm_json_set_int(v, "elapsed_ns", t->elapsed_ns);
  tm_json_set_int(v, "run_ns", t->run_ns);
  tm_json_set_int(v, "items", t->items);
  tm_json_set_known_text(v, "status", t->status);
  tm_json_set_known_text(v, "message", t->message);
  tm_json_set_known_text(v, "first_item", t->first_item);
  return v;
}

static void set_notable(struct tm_json *out, const struct tm_notable *n)
{
  struct tm_json *list = set_new(out, "failed_tries", TM_JSON_ARRAY);
  size_t len;
  struct tm_notable_try **slowest = tm_notable_slowest(n, &len);
  for (size_t i = 0; i < n->failed.len; i++)
    tm_json_add(list, notable_try(&n->failed.at[i]));
  tm_json_set_int(out, "failed_tries_more", n->failed_more);
  list = set_new(out, "slowest", TM_JSON_ARRAY);
  for (size_t i = 0; i < len; i++)
    tm_json_add(list, notable_try(slowest[i]));
  free(slowest);
}

void tm_step_model_add_json(struct tm_json *out, const struct tm_step_model *m, int64_t now_ns)
{
  set_sums(out, m);
  set_quantiles(out, "run", &m->run);
  set_quantiles(out, "around", &m->around);
  set_time(out, m, now_ns);
  set_workers(out, m, now_ns);
  set_nodes(out, m);
  set_sessions(out, m);
  set_series(out, m);
  set_notable(out, &m->notable);
}
