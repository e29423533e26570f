/* page_metrics.c - /metrics: the jobs that run, and those that ended in the last ten minutes, so
 * that whoever looks every minute sees their last figures. */
#include <time.h>

#include "base/time.h"
#include "portal/metric_families.h"
#include "portal/pages/pages.h"

#define RECENT_NS (600 * TM_S)

struct recent {
  const struct tm_visit *v;
  struct tm_families metrics;
  int64_t since_ns;
};

static void on_row(const struct tm_job_row *row, void *data)
{
  struct recent *r = data;
  bool is_recent = row->begin_ns + row->elapsed_ns >= r->since_ns;
  if (row->is_damaged || (row->state != TIDEMILL_STATE_RUNNING && !is_recent))
    return;
  struct tidemill_record *record =
      tm_watch_record(&r->v->portal->watch, row->key, r->v->request->now_ns, NULL);
  const char *text = record ? tidemill_record_metrics(record) : NULL;
  if (text)
    tm_families_add(&r->metrics, text);
}

void tm_page_metrics(const struct tm_visit *v)
{
  struct timespec t;
  struct tm_err err = TM_ERR_NONE;
  clock_gettime(CLOCK_REALTIME, &t);
  struct recent r = { .v = v, .since_ns = (int64_t)t.tv_sec * TM_S - RECENT_NS };
  if (tm_job_list_refresh(&v->portal->jobs, v->request->now_ns, &err) < 0) {
    tm_frame_fail_by(v, &err);
    return;
  }
  tm_answer_init(v->answer, 200, TM_ANSWER_METRICS);
  tm_job_list_page(&v->portal->jobs, "", 1, on_row, &r);
  tm_families_take(&r.metrics, &v->answer->body);
}
