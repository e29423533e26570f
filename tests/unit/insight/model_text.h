/* model_text.h - all contents of a model as text, to compare models. */
#ifndef TM_TEST_MODEL_TEXT_H
#define TM_TEST_MODEL_TEXT_H

#include <inttypes.h>

#include "base/buf.h"
#include "insight/step_model.h"

static inline void text_of_bins(struct tm_buf *out, const struct tm_bins *b)
{
  tm_buf_printf(out, "width %" PRId64 " len %zu max %zu:", b->width_ns, b->len, b->max);
  for (size_t c = 0; c < b->channels; c++)
    for (size_t i = 0; i < b->len; i++)
      if (tm_bins_at(b, c, i) != 0)
        tm_buf_printf(out, " %zu/%zu=%" PRId64, c, i, tm_bins_at(b, c, i));
  tm_buf_add_char(out, '\n');
}

static inline void text_of_quantiles(struct tm_buf *out, const struct tm_quantiles *q)
{
  tm_buf_printf(out, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 ":", q->count, q->sum, q->min,
                q->max);
  for (size_t i = 0; i < TM_QUANTILE_BINS; i++)
    if (q->bins[i] != 0)
      tm_buf_printf(out, " %zu=%" PRId64, i, q->bins[i]);
  tm_buf_add_char(out, '\n');
}

static inline void text_of_lanes(struct tm_buf *out, const struct tm_lanes *l)
{
  tm_buf_printf(out, "lanes %zu nodes %d tries %" PRId64 " last %" PRId64 "\n", l->list.len,
                l->are_nodes, l->tries, l->last_ns);
  for (size_t i = 0; i < l->list.len; i++) {
    tm_buf_printf(out, "lane %s %zu ", l->list.at[i].name, l->list.at[i].slot);
    text_of_bins(out, &l->list.at[i].bins);
  }
  for (size_t i = 0; i < l->boxes.len; i++) {
    const struct tm_box *b = &l->boxes.at[i];
    tm_buf_printf(out, "box %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %u %u %u\n", b->lane,
                  b->begin_ns, b->elapsed_ns, b->run_ns, b->mini_batch, b->try_number, b->items,
                  b->category);
  }
}

static inline void text_of_life(struct tm_buf *out, const struct tm_worker_life *w)
{
  tm_buf_printf(out, "worker %s %s %s <%s> slot %zu session %zu node %zu pid %" PRId64,
                w->name ? w->name : "-", w->node ? w->node : "-", w->address ? w->address : "-",
                w->end ? w->end : "-", w->slot, w->session, w->node_at, w->pid);
  const int64_t numbers[] = {
    w->started_ns,    w->ready_ns,        w->ended_ns,        w->lived_ns,      w->start_ns,
    w->init_ns,       w->init_failed,     w->has_died,        w->was_killed,    w->last_ns,
    w->max_rss_bytes, w->tries,           w->failed_tries,    w->items,         w->items_failed,
    w->run_ok_ns,     w->run_failed_ns,   w->around_ns,       w->run_open_ns,   w->begun_ns,
    w->begun,         w->open.mini_batch, w->open.try_number, w->open.begin_ns, w->open.elapsed_ns,
    w->open.runs
  };
  for (size_t i = 0; i < TM_COUNT_OF(numbers); i++)
    tm_buf_printf(out, " %" PRId64, numbers[i]);
  tm_buf_add_char(out, '\n');
}

static inline void text_of_workers(struct tm_buf *out, const struct tm_workers *w)
{
  for (size_t i = 0; i < w->list.len; i++)
    text_of_life(out, &w->list.at[i]);
  text_of_life(out, &w->others);
  for (size_t i = 0; i < w->slots.len; i++)
    tm_buf_printf(out, "slot %s %zu %zu %zu\n", w->slots.at[i].node, w->slots.at[i].workers,
                  w->slots.at[i].worker, w->slots.at[i].next);
  tm_buf_printf(out, "unnamed %" PRId64 " deaths %" PRId64 " inits %" PRId64 " jumps %" PRId64 "\n",
                w->unnamed, w->deaths, w->inits_failed, w->clock_jumps);
}

static inline void text_of_try(struct tm_buf *out, const struct tm_notable_try *t)
{
  tm_buf_printf(out,
                "try %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                " %s %s %s <%s> <%s> <%s>\n",
                t->mini_batch, t->try_number, t->begin_ns, t->elapsed_ns, t->run_ns, t->items,
                t->worker, t->node, t->status, t->category, t->message, t->first_item);
}

static inline void text_of_notable(struct tm_buf *out, const struct tm_notable *n)
{
  size_t len;
  struct tm_notable_try **slowest = tm_notable_slowest(n, &len);
  for (size_t i = 0; i < n->failed.len; i++)
    text_of_try(out, &n->failed.at[i]);
  tm_buf_printf(out, "%" PRId64 " more; slowest:\n", n->failed_more);
  for (size_t i = 0; i < len; i++)
    text_of_try(out, slowest[i]);
  free(slowest);
}

static inline void text_of_nodes(struct tm_buf *out, const struct tm_step_model *m)
{
  for (size_t i = 0; i < m->nodes.len; i++) {
    const struct tm_node_model *n = &m->nodes.at[i];
    tm_buf_printf(out, "node %s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                  n->id, n->address, n->tries, n->failed_tries, n->items, n->run_ok_ns, n->run_ns);
    for (size_t g = 0; g < TM_GAUGES; g++)
      text_of_bins(out, &n->gauges[g].bins);
  }
}

static inline void text_of_model(struct tm_buf *out, const struct tm_step_model *m)
{
  const int64_t numbers[] = { m->origin_ns,
                              m->last_ns,
                              m->tries[TM_CATEGORY_OK],
                              m->tries[TM_CATEGORY_ERROR],
                              m->tries[TM_CATEGORY_TIMEOUT],
                              m->tries[TM_CATEGORY_LOST],
                              m->tries[TM_CATEGORY_CANCELED],
                              m->tries_failed,
                              m->items,
                              m->items_failed,
                              m->retried,
                              m->retried_items,
                              m->result_bytes,
                              m->tries_ns,
                              m->cpu_ns,
                              m->last_new_ns,
                              m->known_ns,
                              m->lacks_tries,
                              m->clock_jumps };
  for (size_t i = 0; i < TM_COUNT_OF(numbers); i++)
    tm_buf_printf(out, " %" PRId64, numbers[i]);
  tm_buf_add_char(out, '\n');
  text_of_quantiles(out, &m->run);
  text_of_quantiles(out, &m->around);
  text_of_bins(out, &m->series);
  text_of_lanes(out, &m->lanes);
  text_of_workers(out, &m->workers);
  text_of_notable(out, &m->notable);
  text_of_nodes(out, m);
  for (size_t i = 0; i < m->sessions.len; i++)
    tm_buf_printf(out, "session %" PRId64 " %" PRId64 " %" PRId64 "\n", m->sessions.at[i].begin_ns,
                  m->sessions.at[i].end_ns, m->sessions.at[i].mini_batches);
}

#endif
