/* insight_json.c - an insight as one JSON object. */
#include "insights/insight.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "insight/facts_json.h"
#include "insight/step_json.h"
#include "report/errors.h"

#define VERSION 1

/* ---- groups of errors ---- */

/* The command that runs the first one again. */
static void set_again(struct tm_json *v, const struct tidemill_insight *in, const char *step,
                      const struct tm_error_group *g)
{
  struct tm_buf again = TM_BUF_NONE;
  if (g->mini_batch < 0)
    return;
  tm_error_add_replay(&again, in->job.dir, in->job.steps.len > 1 ? step : NULL);
  tm_buf_printf(&again, " --mini-batch %" PRId64, g->mini_batch);
  tm_json_set_known_text(v, "again", tm_buf_str(&again));
  tm_buf_release(&again);
}

static struct tm_json *group(const struct tidemill_insight *in, const struct tm_fact_step *step,
                             const struct tm_error_group *g)
{
  char *log = tm_error_group_log(g, tm_text_or_empty(step->logs_dir));
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "pattern", g->pattern);
  tm_json_set_known_text(v, "status", g->status);
  tm_json_set_known_text(v, "where", g->where);
  tm_json_set_known_text(v, "message", g->message);
  tm_json_set_int(v, "tries", g->tries);
  tm_json_set_int(v, "items", g->items);
  tm_json_set_int(v, "first_ns", g->first_ns);
  tm_json_set_int(v, "last_ns", g->last_ns);
  struct tm_json *workers = tm_json_set(v, "workers", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < g->workers_len; i++)
    tm_json_add(workers, tm_json_new_string(g->workers[i]));
  tm_json_set(v, "has_more_workers", tm_json_new_bool(g->has_more_workers));
  tm_json_set_int(v, "mini_batch", g->mini_batch);
  tm_json_set_int(v, "try", g->try_number);
  tm_json_set_known_text(v, "item", g->item);
  tm_json_set_known_text(v, "worker", g->worker);
  tm_json_set_known_text(v, "node", g->node);
  tm_json_set_known_text(v, "log", log);
  set_again(v, in, step->name, g);
  free(log);
  return v;
}

static void set_groups(struct tm_json *out, const struct tidemill_insight *in, size_t step)
{
  const struct tm_error_groups *g = tm_insight_groups(in, step);
  struct tm_json *list = tm_json_set(out, "groups", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; g && i < g->list.len; i++)
    tm_json_add(list, group(in, &in->job.steps.at[step], &g->list.at[i]));
  tm_json_set_int(out, "groups_other_tries", g ? g->other_tries : 0);
  tm_json_set_int(out, "groups_other_items", g ? g->other_items : 0);
}

/* ---- findings ---- */

static struct tm_json *finding(const struct tidemill_insight *in, const struct tm_finding *f)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  char letter[] = { f->letter, '\0' };
  tm_json_set_known_text(v, "rule", f->rule);
  tm_json_set_known_text(v, "letter", letter);
  tm_json_set_known_text(v, "step", in->job.steps.at[f->step].name);
  tm_json_set_known_text(v, "head", f->head);
  tm_json_set_known_text(v, "text", f->text);
  tm_json_set_known_text(v, "section", f->section);
  tm_json_set(v, "lost_ns",
              f->lost_ns < 0 ? tm_json_new(TM_JSON_NULL) : tm_json_new_int(f->lost_ns));
  tm_json_set_int(v, "from_ns", f->from_ns);
  tm_json_set_int(v, "to_ns", f->to_ns);
  return v;
}

static void set_findings(struct tm_json *out, struct tidemill_insight *in)
{
  const struct tm_findings *f = tm_insight_findings(in);
  struct tm_json *list = tm_json_set(out, "findings", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < f->len; i++)
    tm_json_add(list, finding(in, &f->at[i]));
}

/* ---- the object ---- */

static struct tm_json *step_json(const struct tidemill_insight *in, size_t i)
{
  struct tm_json *v = tm_fact_step_to_json(&in->job, i);
  bool runs = in->job.steps.at[i].state == TM_FACT_RUNNING;
  if (i < in->steps.len && in->steps.at[i].has_model)
    tm_step_model_add_json(v, &in->steps.at[i].model, runs ? in->job.now_ns : 0);
  set_groups(v, in, i);
  return v;
}

const char *tidemill_insight_json(struct tidemill_insight *in)
{
  if (!in)
    return NULL;
  tm_insight_read_files(in);
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *steps;
  tm_json_set(v, "version", tm_json_new_int(VERSION));
  tm_json_set(v, "job", tm_fact_job_to_json(&in->job));
  steps = tm_json_set(v, "steps", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < in->job.steps.len; i++)
    tm_json_add(steps, step_json(in, i));
  set_findings(v, in);
  free(in->json);
  in->json = tm_json_text(v);
  tm_json_free(v);
  return in->json;
}
