/* page_fixture.h - a job for tests of pages: its facts, and a model that is fed with rows. */
#ifndef TM_TESTS_PAGE_FIXTURE_H
#define TM_TESTS_PAGE_FIXTURE_H

#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "page/page.h"

#define FIXTURE_STEPS 4
#define FIXTURE_BEGIN (INT64_C(1795300000) * TM_S)

struct fixture {
  struct tm_fact_job job;
  struct tm_step_model models[FIXTURE_STEPS];
  struct tm_page_step steps[FIXTURE_STEPS];
  struct tm_findings findings;
  struct tm_job_page page;
  struct tm_buf out;
};

/* A Completed job of one step, with nothing in it. */
static inline void fixture_start(struct fixture *f)
{
  memset(f, 0, sizeof(*f));
  f->job = (struct tm_fact_job) { .dir = "/data/jobs/digits-20261122-021337-lvbu",
                                  .name = "digits-20261122-021337-lvbu",
                                  .pipeline = "digits",
                                  .host = "vm",
                                  .version = "0.1.0",
                                  .state = TM_FACT_COMPLETED,
                                  .begin_ns = FIXTURE_BEGIN,
                                  .end_ns = FIXTURE_BEGIN + 6 * TM_S,
                                  .now_ns = FIXTURE_BEGIN + 60 * TM_S,
                                  .elapsed_ns = 6 * TM_S };
  f->page = (struct tm_job_page) { .job = &f->job,
                                   .steps = f->steps,
                                   .findings = &f->findings,
                                   .nonce = "bm9uY2U",
                                   .made_ns = FIXTURE_BEGIN + 60 * TM_S };
}

static inline struct tm_fact_step *fixture_add_step(struct fixture *f, const char *name,
                                                    enum tm_fact_state state)
{
  size_t i = f->job.steps.len;
  struct tm_fact_step *s = TM_ARRAY_ADD(&f->job.steps);
  *s = (struct tm_fact_step) { .name = name,
                               .state = state,
                               .damage_at_byte = -1,
                               .error_threshold = -1,
                               .counts = { .items_total = -1 } };
  tm_step_model_init(&f->models[i], FIXTURE_BEGIN);
  f->steps[i].model = &f->models[i];
  return s;
}

/* A worker that lives from begin to end, in seconds; its init() takes half a second. */
static inline void fixture_add_worker(struct fixture *f, size_t step, const char *name,
                                      double from_s, double to_s, const char *end)
{
  int64_t from = FIXTURE_BEGIN + (int64_t)(from_s * 1e9),
          to = FIXTURE_BEGIN + (int64_t)(to_s * 1e9);
  struct tm_life_row row = { .wall_ns = from,
                             .process = name,
                             .node = "node0",
                             .address = "vm",
                             .pid = 4711,
                             .event = "started",
                             .detail = "" };
  tm_step_model_add_event(&f->models[step], &row);
  row.wall_ns = from + TM_S / 2;
  row.event = "ready";
  row.lived_ns = row.init_ns = TM_S / 2;
  tm_step_model_add_event(&f->models[step], &row);
  row.wall_ns = to;
  row.event = "ended";
  row.lived_ns = to - from;
  row.max_rss_bytes = 8598323;
  row.detail = end;
  tm_step_model_add_event(&f->models[step], &row);
}

/* A try of five items, `from_s` after the begin of the job; `category`: "" or "error", ... */
static inline void fixture_add_try(struct fixture *f, size_t step, int64_t mini_batch,
                                   const char *process, double from_s, double run_s,
                                   const char *category, const char *message)
{
  char began[32], *elapsed = tm_xprintf("%.6f", run_s + 0.01), *run = tm_xprintf("%.6f", run_s);
  struct tm_buf iso = TM_BUF_NONE;
  int64_t at = FIXTURE_BEGIN + (int64_t)(from_s * 1e9);
  tm_time_iso(&iso, at);
  snprintf(began, sizeof(began), "%s", iso.data);
  bool is_ok = *category == '\0';
  struct tm_try_row row = { .mini_batch = mini_batch,
                            .picked = 1,
                            .process = process,
                            .began = began,
                            .total = "5",
                            .succeeded = is_ok ? "5" : "0",
                            .failed = is_ok ? "0" : "5",
                            .elapsed = elapsed,
                            .run = run,
                            .status = is_ok ? "SUCCEEDED" : "RUN_EXCEPTION",
                            .category = category,
                            .message = message,
                            .detail = "in/0017.txt",
                            .node = "node0",
                            .begin_wall_ns = at,
                            .elapsed_ns = (int64_t)((run_s + 0.01) * 1e9),
                            .run_ns = (int64_t)(run_s * 1e9) };
  tm_step_model_add_try(&f->models[step], &row);
  tm_buf_release(&iso);
  free(elapsed);
  free(run);
}

static inline const char *fixture_section(struct fixture *f, const char *name)
{
  tm_buf_clear(&f->out);
  if (!tm_page_add_section(&f->out, &f->page, name))
    return NULL;
  return tm_buf_str(&f->out);
}

static inline const char *fixture_page(struct fixture *f)
{
  tm_buf_clear(&f->out);
  tm_page_add(&f->out, &f->page);
  return tm_buf_str(&f->out);
}

static inline void fixture_stop(struct fixture *f)
{
  for (size_t i = 0; i < f->job.steps.len; i++) {
    struct tm_fact_step *s = &f->job.steps.at[i];
    TM_ARRAY_RELEASE(&s->outputs);
    TM_ARRAY_RELEASE(&s->inputs);
    TM_ARRAY_RELEASE(&s->settings);
    TM_ARRAY_RELEASE(&s->running);
    TM_ARRAY_RELEASE(&s->failed_items);
    TM_ARRAY_RELEASE(&s->after);
    tm_step_model_release(&f->models[i]);
  }
  TM_ARRAY_RELEASE(&f->job.steps);
  TM_ARRAY_RELEASE(&f->job.parameters);
  TM_ARRAY_RELEASE(&f->job.files);
  tm_buf_release(&f->out);
}

#endif
