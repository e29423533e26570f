/* before_facts.c - the last Completed job of the pipeline, and what its tries took.
 *
 * Jobs may have run other steps, or reused some. So a step is compared with the step of the same
 * name, by what its tries took: the sums that each job keeps by node.
 */
#include "insights/insight.h"

#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "report/table_rows.h"
#include "store/history.h"

/* ---- effort ---- */

enum column { ITEMS, SECONDS, COLUMNS };
static const char *const columns[COLUMNS] = {
  [ITEMS] = "Succeeded", [SECONDS] = "Elapsed Seconds"
};

static int on_node(void *data, char *const *fields)
{
  struct tm_fact_effort *e = data;
  int64_t items, ns;
  if (tm_text_int(fields[ITEMS], &items) && tm_text_ns(fields[SECONDS], &ns) && items >= 0 &&
      ns >= 0 && items < INT64_MAX - e->items && ns < INT64_MAX - e->ns) {
    e->items += items;
    e->ns += ns;
  }
  return 0;
}

static struct tm_fact_effort effort_of(const char *logs_dir)
{
  struct tm_fact_effort e = { 0 };
  char *path = tm_path_join(logs_dir, "sys/job_report/node_summary.csv");
  int64_t at = 0;
  (void)tm_table_rows_read(
      &(struct tm_table_rows) {
          .path = path, .names = columns, .names_len = COLUMNS, .on_row = on_node, .data = &e },
      &at, NULL);
  free(path);
  return e;
}

/* Zeros for a step that was reused: nothing ran. */
static struct tm_fact_effort effort_of_step(const struct tidemill_record_step *s)
{
  bool has_run = s->state == TIDEMILL_STATE_COMPLETED && !*s->reused_from;
  return has_run ? effort_of(s->logs_dir) : (struct tm_fact_effort) { 0 };
}

static void take_steps(struct tidemill_insight *in, struct tidemill_record *r)
{
  const struct tidemill_record_step *s;
  in->before = tm_json_of(tidemill_record_definition(r));
  for (size_t i = 0; (s = tidemill_record_step(r, i)); i++)
    *TM_ARRAY_ADD(&in->before_steps) =
        (struct tm_insight_before) { tm_xstrdup(s->name), effort_of_step(s) };
}

void tm_insight_read_efforts(struct tidemill_insight *in)
{
  for (size_t i = 0; in->before_steps.len > 0 && i < in->job.steps.len; i++) {
    struct tm_fact_step *s = &in->job.steps.at[i];
    s->effort = effort_of_step(tidemill_record_step(in->record, i));
    for (size_t k = 0; k < in->before_steps.len; k++)
      if (strcmp(in->before_steps.at[k].name, s->name) == 0)
        s->before = in->before_steps.at[k].effort;
  }
}

void tm_insight_release_before(struct tidemill_insight *in)
{
  for (size_t i = 0; i < in->before_steps.len; i++)
    free(in->before_steps.at[i].name);
  TM_ARRAY_RELEASE(&in->before_steps);
  tm_json_free(in->before);
  free(in->before_name);
}

/* ---- the job ---- */

/* What the history says, or the job itself: its directory may have had another job before. */
static bool take_before(struct tidemill_insight *in, const struct tm_history_job *job,
                        const struct tidemill_record_info *own)
{
  struct tidemill_record *r = NULL;
  int64_t elapsed_ns = job->end_ns > job->begin_ns ? job->end_ns - job->begin_ns : -1;
  bool is_before = true;
  if (tidemill_record_open(&r, NULL, job->dir, NULL) >= 0) {
    const struct tidemill_record_info *info = tidemill_record_info(r);
    is_before = info->state == TIDEMILL_STATE_COMPLETED && info->begin_ns < own->begin_ns;
    elapsed_ns = info->elapsed_ns;
    if (is_before)
      take_steps(in, r);
  }
  tidemill_record_close(r);
  if (!is_before)
    return false;
  in->before_name = tm_xstrdup(tm_path_base(job->dir));
  in->before_elapsed_ns = elapsed_ns;
  in->before_items = job->items_total;
  in->before_items_failed = job->items_failed;
  return true;
}

void tm_insight_look_before(struct tidemill_insight *in)
{
  const struct tidemill_record_info *info = tidemill_record_info(in->record);
  struct tm_history h = { 0 };
  if (in->has_looked_before)
    return;
  in->has_looked_before = true;
  if (!in->workspace || tm_history_list(&h, in->workspace, NULL) < 0)
    h.len = 0;
  for (size_t i = 0; i < h.len && !in->before_name; i++) {
    const struct tm_history_job *job = &h.at[i];
    if (strcmp(job->dir, info->dir) != 0 && job->begin_ns < info->begin_ns &&
        strcmp(tm_text_or_empty(job->status), "Completed") == 0 &&
        strcmp(tm_text_or_empty(job->pipeline), info->pipeline) == 0 &&
        strcmp(tm_text_or_empty(job->file), info->file) == 0)
      (void)take_before(in, job, info);
  }
  tm_history_release(&h);
}
