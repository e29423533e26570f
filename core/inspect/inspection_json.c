/* inspection_json.c - what `status --json` and `jobs --json` write about a job (inspection.h).
 * Members that job_result.json also has have the same names; what is not known is null.
 */
#include "inspect/inspection.h"

#include "base/mem.h"

static struct tm_json *numbers(int64_t total, int64_t succeeded, int64_t failed)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "total", total < 0 ? tm_json_new(TM_JSON_NULL) : tm_json_new_int(total));
  tm_json_set(v, "succeeded", tm_json_new_int(succeeded));
  tm_json_set(v, "failed", tm_json_new_int(failed));
  return v;
}

static struct tm_json *errors(const struct tm_step_inspection *s)
{
  struct tm_json *list = tm_json_new(TM_JSON_ARRAY);
  for (size_t i = 0; i < s->errors_len; i++) {
    struct tm_json *v = tm_json_add(list, tm_json_new(TM_JSON_OBJECT));
    tm_json_set(v, "error", tm_json_new_string(s->errors[i].message));
    tm_json_set_text(v, "where", s->errors[i].where);
    tm_json_set(v, "items", tm_json_new_int(s->errors[i].items));
    tm_json_set(v, "mini_batch", tm_json_new_int(s->errors[i].mini_batch));
    tm_json_set(v, "item", tm_json_new_string(s->errors[i].item));
    tm_json_set(v, "log", tm_json_new_string(s->errors[i].log));
  }
  return list;
}

static struct tm_json *running(const struct tm_step_inspection *s)
{
  struct tm_json *list = tm_json_new(TM_JSON_ARRAY);
  for (size_t i = 0; i < s->activities.list.len; i++)
    tm_json_add(list, tm_activity_to_json(&s->activities.list.at[i]));
  return list;
}

/* The status of a step; without a result, what the job is doing with it. */
static const char *status_of(const struct tm_inspection *s, const struct tm_step_inspection *step)
{
  if (step->status)
    return step->status;
  return step->sessions > 0 ? tm_job_status_name(s->status) : "Waiting";
}

static struct tm_json *step_to_json(const struct tm_inspection *s,
                                    const struct tm_step_inspection *step)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *mini_batches;
  double rate = tm_inspection_rate(s, step);
  tm_json_set(v, "name", tm_json_new_string(step->name));
  tm_json_set(v, "status", tm_json_new_string(status_of(s, step)));
  mini_batches =
      tm_json_set(v, "mini_batches", numbers(step->total, step->succeeded, step->failed));
  if (step->uncounted > 0)
    tm_json_set(mini_batches, "uncounted", tm_json_new_int(step->uncounted));
  tm_json_set(v, "items", numbers(step->items_total, step->items_succeeded, step->items_failed));
  tm_json_set(v, "is_listed", tm_json_new_bool(step->is_listed));
  tm_json_set(v, "output", tm_json_new_string(step->output));
  tm_json_set_copy(v, "outputs", step->outputs);
  tm_json_set(v, "mini_batches_per_second",
              rate > 0 ? tm_json_new_number(rate) : tm_json_new(TM_JSON_NULL));
  tm_json_set(v, "running", running(step));
  if (step->nodes.all > 0)
    tm_json_set(v, "nodes", tm_nodes_now_to_json(&step->nodes));
  tm_json_set(v, "errors", errors(step));
  tm_json_set(v, "errors_more", tm_json_new_int(step->errors_more));
  tm_json_set(v, "errors_cut", tm_json_new_bool(step->errors_cut));
  if (step->status && step->items_failed > 0) {
    char *list = tm_xprintf("%s/%s/failed_items.jsonl", s->dir, step->name);
    tm_json_set(v, "failed_items", tm_json_new_string(list));
    free(list);
  }
  tm_json_set_text(v, "reused_from", step->reused_from);
  tm_json_set_text(v, "waits_for", step->waits_for);
  tm_json_set_text(v, "cause", step->cause);
  if (step->damage_at >= 0)
    tm_json_set(v, "damage_at", tm_json_new_int(step->damage_at));
  return v;
}

static struct tm_json *cancel_to_json(const struct tm_inspection *s)
{
  struct tm_json *v = tm_cancel_request_to_json(&s->cancel);
  tm_json_set(v, "taken", tm_json_new_bool(s->is_cancel_taken));
  return v;
}

struct tm_json *tm_inspection_to_json(const struct tm_inspection *s)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *steps = tm_json_new(TM_JSON_ARRAY);
  tm_json_set(v, "status", tm_json_new_string(tm_job_status_name(s->status)));
  tm_json_set(v, "job_dir", tm_json_new_string(s->dir));
  tm_json_set(v, "name", tm_json_new_string(s->name));
  tm_json_set(v, "pipeline", tm_json_new_string(s->pipeline_file));
  tm_json_set_copy(v, "command", s->command);
  tm_json_set(v, "pid", s->pid ? tm_json_new_int(s->pid) : tm_json_new(TM_JSON_NULL));
  tm_json_set(v, "host", tm_json_new_string(s->host && *s->host ? s->host : NULL));
  if (s->status == TM_JOB_RUNNING)
    tm_json_set(v, "stopped", tm_json_new_bool(s->is_stopped));
  if (s->is_cancel_asked)
    tm_json_set(v, "cancel", cancel_to_json(s));
  tm_json_set(v, "started", tm_json_new_time(s->begin_wall_ns));
  tm_json_set(v, "ended", tm_json_new_time(s->end_wall_ns));
  tm_json_set_text(v, "cause", s->cause);
  if (s->has_nodes)
    tm_json_set(v, "nodes", tm_nodes_sum_to_json(&s->nodes));
  for (size_t i = 0; i < s->steps_len; i++)
    tm_json_add(steps, step_to_json(s, &s->steps[i]));
  tm_json_set(v, "steps", steps);
  return v;
}
