/* made_model.h - a small builder of models, to try rules on: workers, tries, facts, errors.
 *
 *   begin() or one of the functions have_...() -> add more -> expect(), which releases it
 */
#ifndef TM_TEST_MADE_MODEL_H
#define TM_TEST_MADE_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "insight/findings.h"

#define ORIGIN (1000 * TM_S)
#define GB     (INT64_C(1) << 30)

struct made {
  struct tm_step_model m;
  struct tm_fact_job job;
  struct tm_fact_step step;
  struct tm_fact_setting setting;
  struct tm_error_group group;
  struct tm_error_groups groups;
  struct tm_findings findings;
  int64_t until_ms[8]; /* of workers; 0: it has not ended */
};

static inline void begin(struct made *t)
{
  *t = (struct made) { .job = { .dir = "scans-1", .name = "scans-1", .state = TM_FACT_COMPLETED },
                       .step = { .name = "score",
                                 .state = TM_FACT_COMPLETED,
                                 .counts = { .is_listed = true },
                                 .run_invocation_timeout_s = 60 } };
  tm_step_model_init(&t->m, ORIGIN);
}

static inline void event(struct made *t, int worker, int64_t at_ms, const char *word,
                         const char *detail, int64_t number)
{
  char name[32];
  snprintf(name, sizeof(name), "process%03d", worker);
  tm_step_model_add_event(
      &t->m, &(struct tm_life_row) { .wall_ns = ORIGIN + at_ms * TM_MS,
                                     .process = name,
                                     .node = "0",
                                     .address = "mill",
                                     .event = word,
                                     .init_ns = strcmp(word, "ready") ? 0 : number,
                                     .max_rss_bytes = strcmp(word, "ended") ? 0 : number,
                                     .detail = detail });
}

/* A worker that lives from the start to `until_ms`, with an init() at the beginning; settle() ends
 * it. */
static inline void worker(struct made *t, int number, int64_t init_ms, int64_t until_ms)
{
  event(t, number, 0, "started", "", 0);
  event(t, number, init_ms, "ready", "", init_ms * TM_MS);
  t->until_ms[number] = until_ms;
}

struct row {
  int worker;
  int64_t mini_batch, begin_ms, run_ms, around_ms, items;
  const char *category; /* NULL: "" */
  int64_t cpu_ms, picked;
};

static inline void try(struct made *t, struct row r)
{
  char name[32], items[24];
  snprintf(name, sizeof(name), "process%03d", r.worker);
  snprintf(items, sizeof(items), "%lld", (long long)(r.items ? r.items : 1));
  tm_step_model_add_try(&t->m,
                        &(struct tm_try_row) { .mini_batch = r.mini_batch,
                                               .picked = r.picked ? r.picked : 1,
                                               .process = name,
                                               .total = items,
                                               .succeeded = r.category ? "0" : items,
                                               .failed = "0",
                                               .status = r.category ? "RUN_EXCEPTION" : "RUN_DONE",
                                               .category = r.category ? r.category : "",
                                               .message = "",
                                               .detail = "",
                                               .node = "0",
                                               .begin_wall_ns = ORIGIN + r.begin_ms * TM_MS,
                                               .elapsed_ns = (r.run_ms + r.around_ms) * TM_MS,
                                               .run_ns = r.run_ms * TM_MS,
                                               .cpu_ns = r.cpu_ms * TM_MS });
}

/* Tries of a worker, one after the other, each a new mini-batch of one item. */
static inline void fill(struct made *t, int number, int64_t from_ms, int64_t to_ms, int64_t each_ms)
{
  for (int64_t at = from_ms; at + each_ms <= to_ms; at += each_ms)
    try(t, (struct row) { .worker = number,
                          .mini_batch = 1000 * number + at / each_ms,
                          .begin_ms = at,
                          .run_ms = each_ms,
                          .cpu_ms = each_ms });
}

static inline void have_group(struct made *t, int64_t tries, int64_t first_ms, int64_t last_ms)
{
  t->group = (struct tm_error_group) { .pattern = "cannot read <item>",
                                       .is_mixed = true,
                                       .message = "cannot read '/a'",
                                       .tries = tries,
                                       .first_ns = ORIGIN + first_ms * TM_MS,
                                       .last_ns = ORIGIN + last_ms * TM_MS,
                                       .mini_batch = 17 };
  t->groups.list.at = &t->group;
  t->groups.list.len = 1;
}

static inline struct tm_finding_input settle(struct made *t)
{
  for (int i = 0; i < (int)TM_COUNT_OF(t->until_ms); i++)
    if (t->until_ms[i] > 0)
      event(t, i, t->until_ms[i], "ended", "stopped", 0);
  t->job.steps.at = &t->step;
  t->job.steps.len = 1;
  tm_step_model_settle(&t->m, 0);
  return (struct tm_finding_input) { .job = &t->job, .model = &t->m, .groups = &t->groups };
}

/* What the rule says, and releases the model. NULL: it does not apply. The caller frees it. */
static inline char *said(struct made *t, const char *rule)
{
  char *text = NULL;
  struct tm_finding_input in = settle(t);
  tm_findings_add(&t->findings, &in);
  for (size_t i = 0; i < t->findings.len; i++) {
    const struct tm_finding *f = &t->findings.at[i];
    assert_int_equal(f->letter, 'A' + i);
    assert_non_null(f->section);
    if (strcmp(f->rule, rule) == 0)
      text = tm_xprintf("%s %s", f->head, f->text);
  }
  tm_findings_release(&t->findings);
  tm_step_model_release(&t->m);
  return text;
}

static inline void expect(struct made *t, const char *rule, const char *text)
{
  char *found = said(t, rule);
  if (text && !found)
    fail_msg("rule %s does not apply", rule);
  if (text)
    assert_string_equal(found, text);
  else
    assert_null(found);
  free(found);
}

/* Two workers that wait for `idle_ms` of each second. */
static inline void have_waiting(struct made *t, int64_t idle_ms)
{
  begin(t);
  for (int i = 0; i < 2; i++) {
    worker(t, i, 0, 100000);
    for (int64_t at = 0; at < 100; at++)
      try(t, (struct row) { .worker = i,
                            .mini_batch = 100 * i + at,
                            .begin_ms = 1000 * at,
                            .run_ms = 1000 - idle_ms,
                            .cpu_ms = 1000 - idle_ms });
  }
}

static inline void have_init(struct made *t, int64_t init_ms)
{
  begin(t);
  for (int i = 0; i < 2; i++) {
    worker(t, i, init_ms, 100000);
    fill(t, i, init_ms, 100000, 500);
  }
}

static inline void add_machine(struct made *t, int64_t used, double disk)
{
  tm_step_model_add_sample(&t->m, "0",
                           &(struct tm_node_sample) { .wall_ns = ORIGIN + TM_S,
                                                      .cpu_percent = -1,
                                                      .memory_total = 100 * GB,
                                                      .memory_used = used,
                                                      .disk_read = -1,
                                                      .disk_written = -1,
                                                      .network_sent = -1,
                                                      .network_received = -1 });
  tm_step_model_add_disk(&t->m, "0",
                         &(struct tm_disk_sample) { .wall_ns = ORIGIN + TM_S,
                                                    .device = "/dev/a",
                                                    .mount_point = "/data",
                                                    .used_percent = disk });
}

#endif
