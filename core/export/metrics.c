/* metrics.c - see metrics.h.
 *
 * A family of samples is one piece of text, as the format requires: so the table of names is the
 * outer loop, and the steps are the inner one.
 */
#include "export/metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "insight/sums.h"
#include "report/life_rows.h"
#include "report/sample_rows.h"
#include "report/try_rows.h"

/* ---- sums ---- */

static void note_time(struct tm_metrics_step *s, int64_t wall_ns)
{
  if (wall_ns > s->last_ns)
    s->last_ns = wall_ns;
}

static int on_try(void *data, const struct tm_try_row *row)
{
  struct tm_metrics_step *s = data;
  if (row->mini_batch < 0)
    return 0;
  s->tries++;
  s->try_errors += strcmp(row->category, "error") == 0;
  s->try_timeouts += strcmp(row->category, "timeout") == 0;
  s->try_lost += strcmp(row->category, "lost") == 0;
  tm_sum_add(&s->run_ns, row->run_ns);
  tm_sum_add(&s->overhead_ns, row->elapsed_ns - row->run_ns);
  tm_sum_add(&s->result_bytes, row->bytes);
  if (row->begin_wall_ns > 0)
    note_time(s, tm_sum(row->begin_wall_ns, row->elapsed_ns));
  return 0;
}

/* NULL: it has no samples, or there are too many. */
static struct tm_metrics_node *node_of(struct tm_metrics_step *s, const char *id)
{
  for (size_t i = 0; i < s->nodes.len; i++)
    if (strcmp(s->nodes.at[i].id, id) == 0)
      return &s->nodes.at[i];
  if (!tm_sample_rows_is_node(id) || s->nodes.len >= TM_METRICS_NODES)
    return NULL;
  *TM_ARRAY_ADD(&s->nodes) = (struct tm_metrics_node) { .id = tm_xstrdup(id) };
  return &s->nodes.at[s->nodes.len - 1];
}

static void count_workers(struct tm_metrics_step *s, const struct tm_life_row *row, bool is_end)
{
  struct tm_metrics_node *n = node_of(s, row->node);
  int by = is_end ? -1 : strcmp(row->event, "started") == 0 ? 1 : 0;
  if (row->wall_ns < s->session_ns)
    return;
  if (s->workers + by >= 0)
    s->workers += by;
  if (n && n->workers + by >= 0)
    n->workers += by;
}

static int on_life(void *data, const struct tm_life_row *row)
{
  struct tm_metrics_step *s = data;
  bool is_end = strcmp(row->event, "ended") == 0;
  note_time(s, row->wall_ns);
  count_workers(s, row, is_end);
  s->deaths += is_end && row->died;
  tm_sum_add(&s->init_ns, row->init_ns);
  if (row->max_rss_bytes > s->max_rss_bytes)
    s->max_rss_bytes = row->max_rss_bytes;
  return 0;
}

/* The rows of one moment follow one another. */
static int on_process(void *data, const struct tm_process_sample *row)
{
  struct tm_metrics_node *n = data;
  if (row->wall_ns <= 0 || row->rss < 0 || strncmp(row->process, "process", strlen("process")) != 0)
    return 0;
  n->rss_bytes = tm_sum(row->wall_ns == n->moment_ns ? n->rss_bytes : 0, row->rss);
  n->moment_ns = row->wall_ns;
  return 0;
}

/* A node without workers has samples of those that have ended. */
static void read_memory(struct tm_metrics_step *s, const char *logs_dir)
{
  bool is_known = s->workers == 0;
  s->rss_bytes = 0;
  for (size_t i = 0; i < s->nodes.len; i++) {
    struct tm_metrics_node *n = &s->nodes.at[i];
    if (n->workers == 0)
      continue;
    (void)tm_sample_rows_processes(logs_dir, n->id, &n->samples_at, on_process, n, NULL, NULL);
    if (n->moment_ns < s->session_ns || n->moment_ns == 0)
      continue;
    tm_sum_add(&s->rss_bytes, n->rss_bytes);
    is_known = true;
  }
  if (!is_known)
    s->rss_bytes = -1;
}

void tm_metrics_release_step(struct tm_metrics_step *s)
{
  for (size_t i = 0; i < s->nodes.len; i++)
    free(s->nodes.at[i].id);
  TM_ARRAY_RELEASE(&s->nodes);
}

void tm_metrics_read_step(struct tm_metrics_step *s, const char *logs_dir, int64_t session_ns)
{
  if (session_ns != s->session_ns) { /* the lives are few: they are read again */
    s->workers = s->deaths = s->init_ns = s->max_rss_bytes = s->lives_at = 0;
    s->session_ns = session_ns;
    for (size_t i = 0; i < s->nodes.len; i++)
      s->nodes.at[i].workers = 0;
  }
  (void)tm_try_rows_next(logs_dir, &s->tries_at, on_try, s, NULL, NULL);
  (void)tm_life_rows_next(logs_dir, &s->lives_at, on_life, s, NULL, NULL);
  read_memory(s, logs_dir);
}

/* ---- text ---- */

enum unit { COUNT, NANOSECONDS };

struct metric {
  const char *name;
  bool is_counter;
  enum unit unit;
  size_t place; /* of an int64_t in the struct */
  const char *help;
};

#define JOB(field)  offsetof(struct tm_metrics_job, field)
#define STEP(field) offsetof(struct tm_metrics_step, field)

/* clang-format off */
static const struct metric of_job[] = {
  { "job_running", false, COUNT, JOB(is_running), "1 while a process runs the job, else 0." },
  { "job_completed", false, COUNT, JOB(is_completed), "1 if the job is Completed, else 0." },
  { "job_start_time_seconds", false, NANOSECONDS, JOB(begin_ns), "When its first session began, since the epoch." },
  { "job_end_time_seconds", false, NANOSECONDS, JOB(end_ns), "When its last session ended, since the epoch." },
  { "job_elapsed_seconds", false, NANOSECONDS, JOB(elapsed_ns), "From its begin to its end, or until now." },
};
static const struct metric of_step[] = {
  { "mini_batches_created", false, COUNT, STEP(created), "Mini-batches created so far." },
  { "mini_batches_remaining", false, COUNT, STEP(remaining), "Mini-batches that have not ended, once all are created." },
  { "mini_batches_running", false, COUNT, STEP(running), "Mini-batches that a worker has had for a second or longer." },
  { "mini_batches_succeeded", false, COUNT, STEP(succeeded), "Mini-batches that have succeeded." },
  { "mini_batches_failed", false, COUNT, STEP(failed), "Mini-batches that have used up their tries." },
  { "items_remaining", false, COUNT, STEP(items_remaining), "Items of mini-batches that have not ended, once all are created." },
  { "items_succeeded", false, COUNT, STEP(items_succeeded), "Items that have succeeded." },
  { "items_failed", false, COUNT, STEP(items_failed), "Items that have failed." },
  { "tries", true, COUNT, STEP(tries), "Tries of mini-batches that have ended." },
  { "tries_failed", true, COUNT, STEP(try_errors), "Tries that ended with an error." },
  { "tries_timed_out", true, COUNT, STEP(try_timeouts), "Tries that took too long." },
  { "tries_lost", true, COUNT, STEP(try_lost), "Tries whose worker died." },
  { "workers", false, COUNT, STEP(workers), "Workers that are alive." },
  { "worker_deaths", true, COUNT, STEP(deaths), "Workers that ended without being asked to." },
  { "run_seconds", true, NANOSECONDS, STEP(run_ns), "Time of workers in run()." },
  { "overhead_seconds", true, NANOSECONDS, STEP(overhead_ns), "Time of tries outside of run(): loading items, returning results." },
  { "init_seconds", true, NANOSECONDS, STEP(init_ns), "Time of workers in init()." },
  { "result_bytes", true, COUNT, STEP(result_bytes), "Size of the rows that tries have returned." },
  { "worker_memory_bytes", false, COUNT, STEP(rss_bytes), "Memory that all workers had resident when they were measured last." },
  { "worker_memory_max_bytes", false, COUNT, STEP(max_rss_bytes), "The most memory that a worker had resident, of those that have ended." },
  { "last_event_time_seconds", false, NANOSECONDS, STEP(last_ns), "When a try ended, or a worker was started, was ready or ended, since the epoch." },
};
/* clang-format on */

/* In quotes. Whatever is not text becomes U+FFFD. */
static void add_label(struct tm_buf *out, const char *name, const char *value)
{
  size_t left = strlen(value);
  tm_buf_printf(out, "%s=\"", name);
  for (const char *at = value; left > 0;) {
    size_t n = tm_text_utf8_len(at, left);
    unsigned char c = (unsigned char)*at;
    if (c == '\n')
      tm_buf_add_str(out, "\\n");
    else if (n == 0 || c < 0x20 || c == 0x7f)
      tm_buf_add_str(out, "\xef\xbf\xbd");
    else {
      if (c == '"' || c == '\\')
        tm_buf_add_char(out, '\\');
      tm_buf_add(out, at, n);
    }
    n = n > 0 ? n : 1;
    at += n;
    left -= n;
  }
  tm_buf_add_char(out, '"');
}

static void add_sample(struct tm_buf *out, const struct metric *m, const struct tm_metrics_job *job,
                       const struct tm_metrics_step *step, int64_t value)
{
  tm_buf_printf(out, "tidemill_%s%s{", m->name, m->is_counter ? "_total" : "");
  add_label(out, "pipeline", job->pipeline);
  tm_buf_add_char(out, ',');
  add_label(out, "job", job->name);
  if (step) {
    tm_buf_add_char(out, ',');
    add_label(out, "step", step->name);
  }
  if (m->unit == NANOSECONDS)
    tm_buf_printf(out, "} %" PRId64 ".%06d\n", value / TM_S, (int)(value % TM_S / 1000));
  else
    tm_buf_printf(out, "} %" PRId64 "\n", value);
}

static int64_t value_of(const void *of, const struct metric *m)
{
  int64_t value;
  memcpy(&value, (const char *)of + m->place, sizeof(value));
  return value;
}

/* A moment of 0 is not known, either. */
static bool is_known(const struct metric *m, int64_t value)
{
  return value > 0 || (value == 0 && !strstr(m->name, "_time_"));
}

static void add_head(struct tm_buf *out, const struct metric *m)
{
  tm_buf_printf(out, "# TYPE tidemill_%s %s\n# HELP tidemill_%s %s\n", m->name,
                m->is_counter ? "counter" : "gauge", m->name, m->help);
}

static void add_of_job(struct tm_buf *out, const struct metric *m, const struct tm_metrics_job *job)
{
  int64_t value = value_of(job, m);
  if (!is_known(m, value))
    return;
  add_head(out, m);
  add_sample(out, m, job, NULL, value);
}

static void add_of_steps(struct tm_buf *out, const struct metric *m,
                         const struct tm_metrics_job *job)
{
  bool has_head = false;
  for (size_t i = 0; i < job->steps_len; i++) {
    int64_t value = value_of(&job->steps[i], m);
    if (!is_known(m, value))
      continue;
    if (!has_head)
      add_head(out, m);
    has_head = true;
    add_sample(out, m, job, &job->steps[i], value);
  }
}

void tm_metrics_add(struct tm_buf *out, const struct tm_metrics_job *job)
{
  for (size_t i = 0; i < TM_COUNT_OF(of_job); i++)
    add_of_job(out, &of_job[i], job);
  for (size_t i = 0; i < TM_COUNT_OF(of_step); i++)
    add_of_steps(out, &of_step[i], job);
  tm_buf_add_str(out, "# EOF\n");
}
