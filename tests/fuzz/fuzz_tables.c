/* fuzz_tables.c - the tables of a step, and what is made of them. A line of the input is a row; its
 * first character is the number of the table. Whatever is in them:
 *
 *   - a model that is fed piece by piece has the same contents as one that is fed at once, and is
 *     written as JSON;
 *   - a trace is one JSON value, with slices joined or not;
 *   - each row of a joblog has nine columns, and metrics have an end.
 */
#include "fuzz.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/path.h"
#include "base/time.h"
#include "export/joblog.h"
#include "export/metrics.h"
#include "export/trace.h"
#include "../unit/insight/model_text.h"
#include "insight/step_json.h"
#include "insight/step_model.h"
#include "report/life_rows.h"
#include "report/try_rows.h"
#include "sys/fs.h"
#include "../support/tree.h"

#define BEGIN_NS INT64_C(1767225600000000000) /* 2026-01-01 */
#define TABLES   5

/* The first line of each table is not a part of the input. */
static const struct table {
  const char *path, *header;
} tables[TABLES] = {
  { "sys/job_report/workers.csv",
    "Utc Time,Process,Node,Node Address,Pid,Event,Seconds,Max Rss (MB),Detail,Cause\n" },
  { "sys/job_report/processed_mini-batches.csv",
    "Mini-batch Id,Picked Count,Process,Process Start Time,Total,Succeeded,Failed,Elapsed Seconds,"
    "Process Seconds,Run Method Seconds,Status,Error Category,Error Message,Mini-batch Detail,Node,"
    "Result Bytes,Signal,Script Line,Error Item\n" },
  { "perf/0/node_resource_usage.csv",
    "Utc Time,Cpu Percent,Memory Total (MB),Memory Used (MB),Disk Io Read (MB),"
    "Disk Io Write (MB),Network Sent (MB),Network Recv (MB)\n" },
  { "perf/0/processes_resource_usage.csv",
    "Utc Time,Process,Pid,Parent Pid,Name,Cpu Percent,Memory Rss (MB),Disk Io Read (MB),"
    "Disk Io Write (MB)\n" },
  { "perf/0/node_disk_usage.csv",
    "Utc Time,Device,Mount Point,Total (MB),Used (MB),Free (MB),Used Percent\n" },
};

/* ---- the folder with the tables ---- */

static char *dir;

static void remove_dir(void)
{
  folder_remove(dir);
}

static void make_dir(void)
{
  if (dir)
    return;
  dir = folder_make();
  atexit(remove_dir);
  for (size_t i = 0; i < TABLES; i++) {
    char *path = tm_path_join(dir, tables[i].path);
    *strrchr(path, '/') = '\0';
    fuzz_require(tm_fs_make_dirs(tm_fs_real(), path, 0700, NULL) == 0);
    free(path);
  }
}

static void put(const struct table *t, const char *rows, size_t len)
{
  char *path = tm_path_join(dir, t->path);
  FILE *f = fopen(path, "wb");
  fuzz_require(f && fputs(t->header, f) >= 0 && fwrite(rows, 1, len, f) == len && fclose(f) == 0);
  free(path);
}

/* A share of the bytes of some tables. */
static void put_parts(const struct tm_buf *rows, size_t from, size_t to, unsigned share)
{
  for (size_t i = from; i < to; i++)
    put(&tables[i], tm_buf_str(&rows[i]), rows[i].len * share / 8);
}

static void sort_rows(struct tm_buf *rows, const char *data, size_t size)
{
  while (size > 0) {
    const char *end = memchr(data, '\n', size);
    size_t len = end ? (size_t)(end - data) + 1 : size;
    unsigned table = (unsigned)(data[0] - '0');
    if (table < TABLES)
      tm_buf_add(&rows[table], data + 1, len - 1);
    data += len;
    size -= len;
  }
}

/* ---- models ---- */

struct places {
  int64_t lives, tries, machine, processes, disks;
};

static int on_event(void *data, const struct tm_life_row *row)
{
  tm_step_model_add_event(data, row);
  return 0;
}

static int on_try(void *data, const struct tm_try_row *row)
{
  tm_step_model_add_try(data, row);
  return 0;
}

static int on_machine(void *data, const struct tm_node_sample *row)
{
  tm_step_model_add_sample(data, "0", row);
  return 0;
}

static int on_process(void *data, const struct tm_process_sample *row)
{
  tm_step_model_add_process(data, "0", row);
  return 0;
}

static int on_disk(void *data, const struct tm_disk_sample *row)
{
  tm_step_model_add_disk(data, "0", row);
  return 0;
}

static void begin_model(struct tm_step_model *m)
{
  static const struct tm_step_session sessions[] = { { .begin_ns = BEGIN_NS },
                                                     { .begin_ns = BEGIN_NS + 5 * TM_S } };
  tm_step_model_init(m, BEGIN_NS);
  tm_step_model_set_sessions(m, sessions, TM_COUNT_OF(sessions));
}

static void feed(struct tm_step_model *m, struct places *at)
{
  (void)tm_life_rows_next(dir, &at->lives, on_event, m, NULL, NULL);
  (void)tm_try_rows_next(dir, &at->tries, on_try, m, NULL, NULL);
  (void)tm_sample_rows_node(dir, "0", &at->machine, on_machine, m, NULL, NULL);
  (void)tm_sample_rows_processes(dir, "0", &at->processes, on_process, m, NULL, NULL);
  (void)tm_sample_rows_disks(dir, "0", &at->disks, on_disk, m, NULL, NULL);
}

/* A try comes behind the events of its worker, and a sample behind the worker of its node. */
static void feed_pieces(struct tm_step_model *m, const struct tm_buf *rows)
{
  static const size_t groups[][2] = { { 0, 1 }, { 1, 2 }, { 2, TABLES } };
  struct places at = { 0 };
  put_parts(rows, 0, TABLES, 0);
  for (size_t g = 0; g < TM_COUNT_OF(groups); g++)
    for (unsigned share = 3; share <= 8; share += 5) {
      put_parts(rows, groups[g][0], groups[g][1], share);
      feed(m, &at);
    }
}

static void check_json(const struct tm_step_model *m)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *again;
  struct tm_worker_time t;
  tm_step_model_time(m, 0, &t);
  fuzz_require(t.lived_ns >= 0 && t.wait_ns >= 0 && t.run_ok_ns >= 0 && t.around_ns >= 0);
  fuzz_require(m->items >= 0 && m->items_failed >= 0 && m->result_bytes >= 0);
  tm_step_model_add_json(v, m, 0);
  char *text = tm_json_text(v);
  fuzz_require((again = tm_json_parse(text, strlen(text), NULL)));
  tm_json_free(again);
  tm_json_free(v);
  free(text);
}

static void check_models(const struct tm_buf *rows)
{
  struct tm_buf texts[2] = { TM_BUF_NONE, TM_BUF_NONE };
  for (int i = 0; i < 2; i++) {
    struct tm_step_model m;
    begin_model(&m);
    if (i == 0)
      feed_pieces(&m, rows);
    else
      feed(&m, &(struct places) { 0 });
    tm_step_model_settle(&m, 0);
    text_of_model(&texts[i], &m);
    if (i == 1)
      check_json(&m);
    tm_step_model_release(&m);
  }
  fuzz_require(strcmp(tm_buf_str(&texts[0]), tm_buf_str(&texts[1])) == 0);
  tm_buf_release(&texts[0]);
  tm_buf_release(&texts[1]);
}

/* ---- traces, joblogs, metrics ---- */

static int on_text(void *data, const char *text, size_t len)
{
  tm_buf_add(data, text, len);
  return 0;
}

static int trace_event(void *data, const struct tm_life_row *row)
{
  tm_trace_add_event(data, row);
  return 0;
}

static int trace_try(void *data, const struct tm_try_row *row)
{
  tm_trace_add_try(data, row);
  return 0;
}

static int trace_sample(void *data, const struct tm_node_sample *row)
{
  tm_trace_add_sample(data, "0", row);
  return 0;
}

static void check_trace(int64_t slices_max)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_trace t;
  struct places at = { 0 };
  static const struct tm_trace_session session = { BEGIN_NS, 3 };
  tm_trace_init(&t, &(struct tm_trace_options) { .origin_ns = BEGIN_NS,
                                                 .tries = tm_try_rows_count(dir, NULL),
                                                 .slices_max = slices_max,
                                                 .on_text = on_text,
                                                 .data = &text });
  tm_trace_begin_step(
      &t, &(struct tm_trace_step) { .name = "step", .sessions = &session, .sessions_len = 1 });
  (void)tm_life_rows_next(dir, &at.lives, trace_event, &t, NULL, NULL);
  (void)tm_try_rows_next(dir, &at.tries, trace_try, &t, NULL, NULL);
  (void)tm_sample_rows_node(dir, "0", &at.machine, trace_sample, &t, NULL, NULL);
  tm_trace_end_step(&t);
  fuzz_require(tm_trace_end(&t) == 0);
  tm_trace_release(&t);
  struct tm_json *v = tm_json_parse(text.data, text.len, NULL);
  fuzz_require(v != NULL);
  fuzz_require(!strstr(tm_buf_str(&text), "\"dur\":-"));
  tm_json_free(v);
  tm_buf_release(&text);
}

static void check_joblog(void)
{
  struct tm_joblog_command command = tm_joblog_command("/job", NULL);
  struct tm_buf text = TM_BUF_NONE;
  struct tm_joblog_written written;
  int64_t lines = 0, tabs = 0;
  (void)tm_joblog_write(dir, &command, &(struct tm_text_sink) { on_text, &text }, &written, NULL);
  for (size_t i = 0; i < text.len; i++) {
    lines += text.data[i] == '\n';
    tabs += text.data[i] == '\t';
  }
  fuzz_require(lines == written.rows && tabs == 8 * written.rows);
  tm_joblog_command_release(&command);
  tm_buf_release(&text);
}

static void check_metrics(void)
{
  static const char end[] = "# EOF\n";
  struct tm_metrics_step step = { .name = "step" };
  struct tm_buf text = TM_BUF_NONE;
  tm_metrics_read_step(&step, dir, BEGIN_NS);
  fuzz_require(step.rss_bytes >= -1 && step.run_ns >= 0 && step.overhead_ns >= 0 &&
               step.workers >= 0);
  tm_metrics_add(&text, &(struct tm_metrics_job) {
                            .pipeline = "p", .name = "j", .steps = &step, .steps_len = 1 });
  fuzz_require(strcmp(tm_buf_str(&text) + text.len - strlen(end), end) == 0);
  tm_buf_release(&text);
  tm_metrics_release_step(&step);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_buf rows[TABLES] = { TM_BUF_NONE };
  make_dir();
  sort_rows(rows, (const char *)data, size);
  check_models(rows);
  check_trace(0);
  check_trace(2);
  check_joblog();
  check_metrics();
  for (size_t i = 0; i < TABLES; i++)
    tm_buf_release(&rows[i]);
  return 0;
}
