/* make_pages.c - writes pages for browser.py into a folder: small.html, failed.html, running.html,
 * hostile.html, short.html. Their facts and rows are made up here. */
#include <stdio.h>

#include "page_fixture.h"

static char names[8][16];

static void name_workers(void)
{
  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    snprintf(names[i], sizeof(names[i]), "process%03zu", i);
}

/* A job that went well. */
static void make_small(struct fixture *f)
{
  struct tm_fact_step *s = fixture_add_step(f, "predict-digits", TM_FACT_COMPLETED);
  s->counts = f->job.counts = (struct tm_fact_counts) { 40, 40, 0, true, 200, 200, 0 };
  *TM_ARRAY_ADD(&s->outputs) = (struct tm_fact_output) {
    "predictions", "predict-digits/output/predictions.txt", NULL, "digits:3", 4711, 200
  };
  *TM_ARRAY_ADD(&s->inputs) =
      (struct tm_fact_input) { "images", "files", "/data/mnist/*.pgm", "2", 200, 156800 };
  *TM_ARRAY_ADD(&s->settings) =
      (struct tm_fact_setting) { "mini_batch_size", "5", "file pipeline.lua:6", false, "4", false };
  *TM_ARRAY_ADD(&s->settings) =
      (struct tm_fact_setting) { "run_max_try", "3", "default", true, NULL, false };
  *TM_ARRAY_ADD(&f->job.files) =
      (struct tm_fact_file) { "predict-digits/output/predictions.txt", "output", 4711 };
  *TM_ARRAY_ADD(&f->job.files) =
      (struct tm_fact_file) { "predict-digits/logs/readme.txt", "log", 1200 };
  s->script = "score.lua";
  s->script_hash = "a81f3c77d0";
  f->job.before = "digits-20261121-101010-abcd";
  f->job.before_elapsed_ns = 5800 * TM_MS;
  f->job.before_items = 200;
  for (int w = 0; w < 2; w++)
    fixture_add_worker(f, 0, names[w], 0, 6, "stopped");
  for (int i = 0; i < 40; i++)
    fixture_add_try(f, 0, i, names[i % 2], 0.5 + i / 2 * 0.26, 0.24, "", "");
}

static void add_group(struct tm_error_groups *groups, const char *status, const char *where,
                      const char *message, const char *pattern, int64_t tries)
{
  *TM_ARRAY_ADD(&groups->list) =
      (struct tm_error_group) { .pattern = (char *)(pattern ? pattern : message),
                                .is_mixed = pattern != NULL,
                                .status = (char *)status,
                                .where = (char *)where,
                                .message = (char *)message,
                                .tries = tries,
                                .items = tries / 4,
                                .first_ns = FIXTURE_BEGIN + 3480 * TM_S,
                                .last_ns = FIXTURE_BEGIN + 3905 * TM_S,
                                .mini_batch = 418,
                                .try_number = 1,
                                .item = (char *)"/data/scans/batch-117/0003.png",
                                .worker = names[3],
                                .workers = { names[3], names[1] },
                                .workers_len = 2,
                                .has_more_workers = tries > 100 };
}

static void add_findings(struct tm_findings *found, size_t step)
{
  found->len = 2;
  found->at[0] = (struct tm_finding) {
    .letter = 'A',
    .weight = TM_WEIGHT_HIGH,
    .head = (char *)"A burst of one error:",
    .text = (char *)"8,214 of 8,286 failed tries are one message, between 0:58 and 1:05.",
    .lost_ns = 31680 * TM_S,
    .section = "failures",
    .step = step,
    .from_ns = FIXTURE_BEGIN + 3480 * TM_S,
    .to_ns = FIXTURE_BEGIN + 3900 * TM_S
  };
  found->at[1] = (struct tm_finding) { .letter = 'B',
                                       .weight = TM_WEIGHT_LOW,
                                       .head = (char *)"init() takes 85 s",
                                       .text = (char *)"and was run 118 times for 32 worker slots.",
                                       .lost_ns = -1,
                                       .section = "steps",
                                       .step = step };
}

static void add_failed_step(struct fixture *f, struct tm_error_groups *groups)
{
  struct tm_fact_step *s = fixture_add_step(f, "score", TM_FACT_FAILED);
  s->counts = f->job.counts;
  s->cause = f->job.cause;
  s->worker_memory_limit = INT64_C(1) << 30;
  *TM_ARRAY_ADD(&s->after) = 0;
  *TM_ARRAY_ADD(&s->after) = 1;
  for (int64_t i = 0; i < 60; i++)
    *TM_ARRAY_ADD(&s->failed_items) =
        (struct tm_fact_item) { "/data/scans/batch-117/größe-Ελλάδα.png", "Input/output error",
                                "RUN_EXCEPTION", 418 + i / 4 };
  s->failed_items_more = 2009;
  add_group(groups, "RUN_EXCEPTION", "score.lua:41",
            "score.lua:41: cannot read /data/scans/batch-117/0003.png: Input/output error\n"
            "stack traceback:\n\t[C]: in function 'error'\n\tscore.lua:41: in function <x>",
            "cannot read <item>: Input/output error", 8214);
  add_group(groups, "RUN_TIMEOUT", "network.lua:118",
            "run() took longer than run_invocation_timeout (60 s) and was interrupted", NULL, 61);
  add_group(groups, "PROCESS_DIED", "", "killed for passing worker_memory_limit (1 GB)", NULL, 9);
  f->steps[2].groups = groups;
  for (size_t w = 0; w < TM_COUNT_OF(names); w++)
    fixture_add_worker(f, 2, names[w], 100, 11280, w == 3 ? "killed: memory" : "stopped");
  for (int i = 0; i < 2400; i++)
    fixture_add_try(f, 2, i, names[i % 8], 101 + i / 8 * 37, 30 + i % 7, i % 97 ? "" : "error", "");
}

/* Four steps: one was reused, one failed, one was skipped. */
static void make_failed(struct fixture *f, struct tm_error_groups *groups)
{
  f->job.name = "scans-20261121-230512-kqtz";
  f->job.dir = "/data/jobs/scans-20261121-230512-kqtz";
  f->job.pipeline = "scans";
  f->job.state = TM_FACT_FAILED;
  f->job.end_ns = FIXTURE_BEGIN + 11280 * TM_S;
  f->job.elapsed_ns = 11280 * TM_S;
  f->job.cause = "2069 items have failed, and error_threshold tolerates 2000";
  f->job.next = "tidemill resume scans-20261121-230512-kqtz";
  f->job.next_why = "runs the mini-batches that were not done";
  f->job.counts = (struct tm_fact_counts) { 1000000, 803440, 2069, true, 1000000, 801371, 2069 };
  fixture_add_step(f, "clean", TM_FACT_COMPLETED)->reused_from = "/data/jobs/daily-1120";
  f->steps[0].model = NULL;
  fixture_add_step(f, "list-scans", TM_FACT_COMPLETED)->counts =
      (struct tm_fact_counts) { 12, 12, 0, true, 12, 12, 0 };
  fixture_add_worker(f, 1, names[0], 0, 90, "stopped");
  for (int i = 0; i < 12; i++)
    fixture_add_try(f, 1, i, names[0], 1 + i * 7, 6, "", "");
  add_failed_step(f, groups);
  struct tm_fact_step *s = fixture_add_step(f, "report", TM_FACT_SKIPPED);
  s->waits_for = "score";
  *TM_ARRAY_ADD(&s->after) = 2;
  add_findings(&f->findings, 2);
  f->page.step = 2;
}

static void make_running(struct fixture *f)
{
  struct tm_fact_step *s = fixture_add_step(f, "score", TM_FACT_RUNNING);
  f->job.state = TM_FACT_RUNNING;
  f->job.end_ns = 0;
  s->counts = f->job.counts = (struct tm_fact_counts) { 100, 41, 0, true, 500, 205, 0 };
  fixture_add_worker(f, 0, names[0], 0, 50, "stopped");
  for (int i = 0; i < 41; i++)
    fixture_add_try(f, 0, i, names[0], 0.5 + i, 0.9, "", "");
}

#define HOSTILE                                                                                    \
  "<script>window.canary=1</script><img src=x onerror=\"window.canary=2\"></script></style>"       \
  "'\"]]>javascript:window.canary=3 \xE2\x80\xA8\xE2\x80\xAE\x1B[31m\x01\xFFmark"

static void add_hostile_step(struct fixture *f, struct tm_error_groups *groups)
{
  struct tm_fact_step *s = fixture_add_step(f, HOSTILE, TM_FACT_FAILED);
  size_t i = f->job.steps.len - 1;
  s->cause = s->error_file = s->script = s->script_hash = s->waits_for = HOSTILE;
  *TM_ARRAY_ADD(&s->outputs) = (struct tm_fact_output) { HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1, 1 };
  *TM_ARRAY_ADD(&s->inputs) = (struct tm_fact_input) { HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1, 1 };
  *TM_ARRAY_ADD(&s->settings) =
      (struct tm_fact_setting) { HOSTILE, HOSTILE, HOSTILE, false, HOSTILE, false };
  *TM_ARRAY_ADD(&s->failed_items) = (struct tm_fact_item) { HOSTILE, HOSTILE, HOSTILE, 1 };
  fixture_add_worker(f, i, HOSTILE, 0, 2, HOSTILE);
  fixture_add_try(f, i, 0, HOSTILE, 0.5, 1, "error", HOSTILE);
  f->steps[i].groups = groups;
}

static void make_hostile(struct fixture *f, struct tm_error_groups *groups)
{
  struct tm_fact_job *j = &f->job;
  j->name = j->pipeline = j->host = j->version = j->cause = j->fault = j->before =
      j->cancel_asked_by = j->next = j->next_why = HOSTILE;
  j->state = TM_FACT_FAILED;
  add_group(groups, HOSTILE, HOSTILE, HOSTILE, HOSTILE, 3);
  groups->list.at[0].item = groups->list.at[0].log = (char *)HOSTILE;
  add_hostile_step(f, groups);
  add_hostile_step(f, groups);
  *TM_ARRAY_ADD(&j->files) = (struct tm_fact_file) { HOSTILE, "log", 1 };
  *TM_ARRAY_ADD(&j->parameters) =
      (struct tm_fact_setting) { HOSTILE, HOSTILE, HOSTILE, false, NULL, false };
  add_findings(&f->findings, 0);
  f->findings.at[0].head = f->findings.at[0].text = (char *)HOSTILE;
}

static int write_page(struct fixture *f, const char *dir, const char *name)
{
  char *path = tm_xprintf("%s/%s.html", dir, name);
  FILE *file = fopen(path, "wb");
  for (size_t i = 0; i < f->job.steps.len; i++)
    tm_step_model_settle(&f->models[i], 0);
  fixture_page(f);
  int rc = file && fwrite(f->out.data, 1, f->out.len, file) == f->out.len ? 0 : 1;
  if (file && fclose(file) != 0)
    rc = 1;
  free(path);
  return rc;
}

/* A job of 60 ms. */
static void make_short(struct fixture *f)
{
  struct tm_fact_step *s = fixture_add_step(f, "sizes", TM_FACT_COMPLETED);
  s->counts = f->job.counts = (struct tm_fact_counts) { 30, 30, 0, true, 150, 150, 0 };
  for (int i = 0; i < 30; i++)
    fixture_add_try(f, 0, i, names[0], 0.001 + i * 0.002, 0.001, "", "");
}

int main(int argc, char **argv)
{
  static const char *const kinds[] = { "small", "failed", "running", "hostile", "short" };
  int rc = argc == 2 ? 0 : 2;
  name_workers();
  for (size_t k = 0; rc == 0 && k < TM_COUNT_OF(kinds); k++) {
    static struct fixture f;
    struct tm_error_groups groups = { 0 };
    fixture_start(&f);
    switch (k) {
    case 0: make_small(&f); break;
    case 1: make_failed(&f, &groups); break;
    case 2: make_running(&f); break;
    case 3: make_hostile(&f, &groups); break;
    default: make_short(&f); break;
    }
    rc = write_page(&f, argv[1], kinds[k]);
    fixture_stop(&f);
    TM_ARRAY_RELEASE(&groups.list);
  }
  return rc;
}
