/* record_metrics.c - a job as OpenMetrics text (core/export/metrics.h).
 *
 * The sums of a step's tables stay with the record, also when it is refreshed: each call reads only
 * what is new.
 */
#include "records/disk.h"

#include <stdlib.h>

#include "base/path.h"
#include "export/metrics.h"

static int64_t count_running(const struct tm_step_inspection *s)
{
  int64_t n = 0;
  for (size_t i = 0; i < s->activities.list.len; i++)
    n += s->activities.list.at[i].seq > 0;
  return n;
}

static void read_step(struct tidemill_record *r, size_t i)
{
  const struct tm_step_inspection *s = &r->inspection.steps[i];
  struct tm_metrics_step *m = &r->metrics.at[i];
  bool is_running = r->info.state == TIDEMILL_STATE_RUNNING;
  tm_metrics_read_step(m, r->steps.at[i].logs_dir, s->session_wall_ns);
  m->name = s->name;
  m->created = s->total;
  m->remaining = s->is_listed ? s->total - s->succeeded - s->failed : -1;
  m->running = is_running ? count_running(s) : 0;
  m->succeeded = s->succeeded;
  m->failed = s->failed;
  m->items_remaining =
      s->items_total < 0 ? -1 : s->items_total - s->items_succeeded - s->items_failed;
  m->items_succeeded = s->items_succeeded;
  m->items_failed = s->items_failed;
  if (!is_running)
    m->workers = m->rss_bytes = 0;
}

const char *tidemill_record_metrics(struct tidemill_record *r)
{
  struct tm_buf text = TM_BUF_NONE;
  if (!r || *r->info.fault)
    return NULL;
  tm_record_read_details(r);
  for (size_t i = 0; i < r->steps.len; i++) {
    if (i >= r->metrics.len)
      *TM_ARRAY_ADD(&r->metrics) = (struct tm_metrics_step) { .name = NULL };
    read_step(r, i);
  }
  tm_metrics_add(
      &text, &(struct tm_metrics_job) { .pipeline = r->info.pipeline,
                                        .name = tm_path_base(r->info.dir),
                                        .is_running = r->info.state == TIDEMILL_STATE_RUNNING,
                                        .is_completed = r->info.state == TIDEMILL_STATE_COMPLETED,
                                        .begin_ns = r->info.begin_ns,
                                        .end_ns = r->info.end_ns,
                                        .elapsed_ns = r->info.elapsed_ns,
                                        .steps = r->metrics.at,
                                        .steps_len = r->steps.len });
  free(r->metrics_text);
  return r->metrics_text = tm_buf_take(&text);
}
