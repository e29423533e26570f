/* made_model.h - models of steps as large as a test wants them, made of random rows, for tests of
 * the page. The same numbers make the same model. */
#ifndef TM_TESTS_MADE_MODEL_H
#define TM_TESTS_MADE_MODEL_H

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/time.h"
#include "insight/step_model.h"
#include "page/job_page.h"

#define MADE_ORIGIN_NS (INT64_C(1764284712) * TM_S)

struct made_plan {
  int64_t tries;
  size_t slots, nodes, sessions;
  double seconds;  /* of a session; 600 between two of them */
  int64_t fail_in; /* one try in so many fails, and in a burst one in two; 0: none */
  int64_t die_in;  /* a worker dies after so many tries; 0: never */
  bool has_gauges;
};

struct made {
  struct tm_step_model model;
  struct tm_fact_job job;
  struct tm_fact_step step;
  struct tm_page_step page_step;
  struct tm_findings findings;
  struct tm_job_page page;
  uint64_t seed;
};

static inline uint64_t made_random(struct made *m, uint64_t below)
{
  m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (m->seed >> 33) % below;
}

struct made_worker { /* of a slot */
  char name[32];
  int64_t started_ns, free_ns, tries;
};

static inline void made_event(struct made *m, const struct made_worker *w, size_t node,
                              const char *event, int64_t at_ns, const char *detail)
{
  char name[16];
  snprintf(name, sizeof(name), "%zu", node);
  struct tm_life_row e = { .wall_ns = at_ns,
                           .process = w->name,
                           .node = name,
                           .address = "node-7",
                           .pid = 4000,
                           .event = event,
                           .lived_ns = at_ns - w->started_ns,
                           .max_rss_bytes = 800000000 + (int64_t)made_random(m, 90000000),
                           .died = strncmp(detail, "killed", strlen("killed")) == 0,
                           .was_killed = strncmp(detail, "killed", strlen("killed")) == 0,
                           .detail = detail };
  if (strcmp(event, "ended") != 0)
    e.max_rss_bytes = 0;
  if (strcmp(event, "ready") == 0)
    e.init_ns = e.lived_ns * 3 / 4;
  tm_step_model_add_event(&m->model, &e);
}

static inline void made_try(struct made *m, const struct made_worker *w, size_t node, int64_t index,
                            int64_t begin_ns, int64_t run_ns, bool fails)
{
  char node_name[16], detail[64];
  snprintf(node_name, sizeof(node_name), "%zu", node);
  snprintf(detail, sizeof(detail), "items=10 first=/data/scans/scan-%lld.png", (long long)index);
  struct tm_try_row t = { .mini_batch = index,
                          .picked = 1,
                          .process = w->name,
                          .began = "",
                          .total = "10",
                          .succeeded = fails ? "0" : "10",
                          .failed = fails ? "10" : "0",
                          .elapsed = "",
                          .run = "",
                          .status = fails ? "RUN_EXCEPTION" : "RUN_DONE",
                          .category = fails ? "error" : "",
                          .message = fails ? "score.lua:41: cannot read <img>" : "",
                          .detail = detail,
                          .node = node_name,
                          .bytes = 100,
                          .begin_wall_ns = begin_ns,
                          .elapsed_ns = run_ns + run_ns / 20 + 1000,
                          .run_ns = run_ns };
  tm_step_model_add_try(&m->model, &t);
}

static inline void made_session(struct made *m, const struct made_plan *p, size_t session,
                                int64_t *index, int64_t *workers)
{
  int64_t begin = MADE_ORIGIN_NS + (int64_t)((double)session * (p->seconds + 600) * 1e9);
  int64_t tries = p->tries / (int64_t)p->sessions;
  double each = p->seconds * 0.9 * 1e9 / ((double)tries / (double)p->slots + 1);
  struct made_worker *list = tm_xcalloc(p->slots, sizeof(*list));
  for (size_t s = 0; s < p->slots; s++) {
    snprintf(list[s].name, sizeof(list[s].name), "process%03lld", (long long)(*workers)++);
    list[s].started_ns = begin;
    made_event(m, &list[s], s % p->nodes, "started", begin, "");
    made_event(m, &list[s], s % p->nodes, "ready", begin + 2 * TM_S, "");
    list[s].free_ns =
        begin + 2 * TM_S + (int64_t)(p->seconds * 1e7) + (int64_t)made_random(m, TM_S);
  }
  for (int64_t i = 0; i < tries; i++) {
    size_t s = 0; /* of two, the one that is free first */
    size_t a = made_random(m, p->slots), b = made_random(m, p->slots);
    s = i < (int64_t)p->slots ? (size_t)i : list[a].free_ns <= list[b].free_ns ? a : b;
    struct made_worker *w = &list[s];
    double share = (double)i / (double)tries;
    int64_t run = (int64_t)(each * (0.5 + (double)made_random(m, 1000) / 1000));
    run = made_random(m, 500) == 0 ? run * 8 : run;
    bool fails = p->fail_in > 0 && ((share > 0.3 && share < 0.34 && made_random(m, 2) == 0) ||
                                    made_random(m, (uint64_t)p->fail_in) == 0);
    made_try(m, w, s % p->nodes, (*index)++, w->free_ns, run, fails);
    w->free_ns += run + run / 10 + 2000;
    if (p->die_in > 0 && ++w->tries % p->die_in == 0) {
      made_event(m, w, s % p->nodes, "ended", w->free_ns, "killed by signal 9 (Killed)");
      snprintf(w->name, sizeof(w->name), "process%03lld", (long long)(*workers)++);
      w->started_ns = w->free_ns + TM_MS;
      made_event(m, w, s % p->nodes, "started", w->started_ns, "");
      made_event(m, w, s % p->nodes, "ready", w->free_ns + 2 * TM_S, "");
      w->free_ns += 3 * TM_S;
    }
  }
  for (size_t s = 0; s < p->slots; s++)
    made_event(m, &list[s], s % p->nodes, "ended", list[s].free_ns + TM_S, "stopped");
  free(list);
}

static inline void made_gauges(struct made *m, const struct made_plan *p)
{
  for (size_t n = 0; n < m->model.nodes.len; n++) {
    struct tm_node_model *node = &m->model.nodes.at[n];
    for (size_t g = 0; g < TM_GAUGES; g++)
      tm_gauge_init(&node->gauges[g], MADE_ORIGIN_NS, TM_SERIES_BINS);
    node->memory_total = INT64_C(64) << 30;
    for (size_t s = 0; s < p->sessions; s++)
      for (int i = 0; i < 500; i++) {
        int64_t at =
            MADE_ORIGIN_NS +
            (int64_t)(((double)s * (p->seconds + 600) + p->seconds * (double)i / 500) * 1e9);
        tm_gauge_add(&node->gauges[TM_GAUGE_CPU], at, 9000 + (int64_t)made_random(m, 800));
        tm_gauge_add(&node->gauges[TM_GAUGE_WORKERS], at,
                     INT64_C(9000000000) + i * INT64_C(20000000) +
                         (int64_t)made_random(m, 90000000));
        tm_gauge_add(&node->gauges[TM_GAUGE_DISK_READ], at,
                     5000000 + (int64_t)made_random(m, 9000000));
        tm_gauge_add(&node->gauges[TM_GAUGE_DISK_WRITE], at, (int64_t)made_random(m, 2000000));
      }
  }
}

/* `m` must not move. */
static inline void made_init(struct made *m, const struct made_plan *p)
{
  *m = (struct made) { .seed = 7 };
  int64_t index = 0, workers = 0;
  struct tm_step_session *sessions = tm_xcalloc(p->sessions, sizeof(*sessions));
  tm_step_model_init(&m->model, MADE_ORIGIN_NS);
  for (size_t s = 0; s < p->sessions; s++)
    sessions[s] =
        (struct tm_step_session) { .begin_ns = MADE_ORIGIN_NS +
                                               (int64_t)((double)s * (p->seconds + 600) * 1e9),
                                   .mini_batches = p->tries / (int64_t)p->sessions };
  tm_step_model_set_sessions(&m->model, sessions, p->sessions);
  for (size_t s = 0; s < p->sessions; s++)
    made_session(m, p, s, &index, &workers);
  free(sessions);
  if (p->has_gauges)
    made_gauges(m, p);
  tm_step_model_settle(&m->model, 0);
  m->step = (struct tm_fact_step) { .name = "score",
                                    .state = TM_FACT_COMPLETED,
                                    .workers_wanted = (int64_t)p->slots };
  m->job.name = "scans-20261121-230512-kqtz";
  m->job.pipeline = "scans";
  m->job.dir = "/data/scans-20261121-230512-kqtz";
  m->job.begin_ns = MADE_ORIGIN_NS;
  m->job.end_ns = m->model.last_ns;
  m->job.steps.at = &m->step;
  m->job.steps.len = 1;
  m->page_step.model = &m->model;
  m->page = (struct tm_job_page) {
    .job = &m->job, .steps = &m->page_step, .findings = &m->findings, .nonce = "made"
  };
}

/* The step runs, and one more worker is at mini-batch 4711 for 20 s. Returns the time. */
static inline int64_t made_running(struct made *m)
{
  struct made_worker w = { .name = "process900", .started_ns = m->model.last_ns };
  int64_t now_ns = m->model.last_ns + 60 * TM_S;
  made_event(m, &w, 0, "started", w.started_ns, "");
  made_event(m, &w, 0, "ready", w.started_ns + TM_S, "");
  m->job.state = m->step.state = TM_FACT_RUNNING;
  m->job.now_ns = now_ns;
  tm_workers_set_running(&m->model.workers,
                         &(struct tm_running_try) { w.name, 4711, 1, now_ns - 20 * TM_S }, 1,
                         now_ns);
  tm_step_model_settle(&m->model, now_ns);
  return now_ns;
}

/* One more worker is cut off after 20 s at mini-batch 4712. */
static inline void made_cut(struct made *m)
{
  struct made_worker w = { .name = "process901", .started_ns = m->model.last_ns };
  made_event(m, &w, 0, "started", w.started_ns, "");
  made_event(m, &w, 0, "ready", w.started_ns, "");
  tm_step_model_add_try(&m->model, &(struct tm_try_row) { .mini_batch = 4712,
                                                          .picked = 1,
                                                          .process = w.name,
                                                          .total = "10",
                                                          .succeeded = "0",
                                                          .failed = "0",
                                                          .status = "CANCELED",
                                                          .category = "canceled",
                                                          .message = "",
                                                          .detail = "",
                                                          .node = "0",
                                                          .begin_wall_ns = w.started_ns,
                                                          .elapsed_ns = 20 * TM_S,
                                                          .run_ns = 20 * TM_S });
  made_event(m, &w, 0, "ended", w.started_ns + 20 * TM_S, "killed by the supervisor");
  tm_step_model_settle(&m->model, 0);
}

static inline void made_release(struct made *m)
{
  tm_step_model_release(&m->model);
}

#endif
