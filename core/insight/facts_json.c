/* facts_json.c - see facts_json.h. */
#include "insight/facts_json.h"

#include "base/text.h"

const char *tm_fact_state_name(enum tm_fact_state s)
{
  static const char *const names[] = {
    [TM_FACT_RUNNING] = "Running",     [TM_FACT_INTERRUPTED] = "Interrupted",
    [TM_FACT_CANCELED] = "Canceled",   [TM_FACT_FAILED] = "Failed",
    [TM_FACT_COMPLETED] = "Completed", [TM_FACT_SKIPPED] = "Skipped",
    [TM_FACT_WAITING] = "Waiting",
  };
  return names[s];
}

void tm_fact_table_add_path(struct tm_buf *out, const struct tm_fact_step *s,
                            const struct tm_fact_table *t)
{
  tm_buf_printf(out, "%s/logs/", s->name);
  if (t->node)
    tm_buf_printf(out, "perf/%s/", t->node);
  tm_buf_add_str(out, t->name);
}

/* Below 0: null. */
static void set_known(struct tm_json *v, const char *key, int64_t n)
{
  tm_json_set(v, key, n < 0 ? tm_json_new(TM_JSON_NULL) : tm_json_new_int(n));
}

static struct tm_json *counts(const struct tm_fact_counts *c)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_int(v, "created", c->created);
  tm_json_set_int(v, "succeeded", c->succeeded);
  tm_json_set_int(v, "failed", c->failed);
  tm_json_set(v, "is_listed", tm_json_new_bool(c->is_listed));
  set_known(v, "items_total", c->items_total);
  set_known(v, "items_succeeded", c->items_succeeded);
  tm_json_set_int(v, "items_failed", c->items_failed);
  return v;
}

static struct tm_json *setting(const struct tm_fact_setting *s)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "name", s->name);
  tm_json_set(v, "value", tm_json_new_string(tm_text_or_empty(s->value)));
  tm_json_set_known_text(v, "origin", s->origin);
  tm_json_set(v, "is_default", tm_json_new_bool(s->is_default));
  tm_json_set_known_text(v, "before", s->before);
  return v;
}

static struct tm_json *output(const struct tm_fact_output *o)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "name", o->name);
  tm_json_set_known_text(v, "path", o->path);
  tm_json_set_known_text(v, "destination", o->destination);
  tm_json_set_known_text(v, "registered", o->registered);
  set_known(v, "bytes", o->bytes);
  set_known(v, "rows", o->rows);
  return v;
}

static struct tm_json *input(const struct tm_fact_input *i)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "name", i->name);
  tm_json_set_known_text(v, "kind", i->kind);
  tm_json_set_known_text(v, "where", i->where);
  tm_json_set_known_text(v, "version", i->version);
  set_known(v, "files", i->files);
  set_known(v, "bytes", i->bytes);
  return v;
}

static struct tm_json *activity(const struct tm_fact_activity *a)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "worker", a->worker);
  tm_json_set_int(v, "pid", a->pid);
  tm_json_set_known_text(v, "phase", a->phase);
  tm_json_set_int(v, "elapsed_ns", a->elapsed_ns);
  set_known(v, "begun_ns", a->begun_ns > 0 ? a->begun_ns : -1);
  set_known(v, "mini_batch", a->mini_batch);
  tm_json_set_int(v, "try", a->try_number);
  tm_json_set_known_text(v, "first_item", a->first_item);
  tm_json_set(v, "is_stopped", tm_json_new_bool(a->is_stopped));
  return v;
}

static struct tm_json *failed_item(const struct tm_fact_item *i)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "item", i->item);
  tm_json_set_known_text(v, "error", i->error);
  tm_json_set_known_text(v, "status", i->status);
  set_known(v, "mini_batch", i->mini_batch);
  return v;
}

static struct tm_json *file(const struct tm_fact_file *f)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "path", f->path);
  tm_json_set_known_text(v, "kind", f->kind);
  tm_json_set_int(v, "bytes", f->bytes);
  return v;
}

#define SET_LIST(v, key, list, make)                                                               \
  do {                                                                                             \
    struct tm_json *all = tm_json_set(v, key, tm_json_new(TM_JSON_ARRAY));                         \
    for (size_t i = 0; i < (list).len; i++)                                                        \
      tm_json_add(all, make(&(list).at[i]));                                                       \
  } while (0)

static struct tm_json *before(const struct tm_fact_job *job)
{
  struct tm_json *v;
  if (!job->before)
    return tm_json_new(TM_JSON_NULL);
  v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "name", job->before);
  set_known(v, "elapsed_ns", job->before_elapsed_ns);
  set_known(v, "items", job->before_items);
  set_known(v, "items_failed", job->before_items_failed);
  return v;
}

struct tm_json *tm_fact_job_to_json(const struct tm_fact_job *job)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "dir", job->dir);
  tm_json_set_known_text(v, "name", job->name);
  tm_json_set_known_text(v, "pipeline", job->pipeline);
  tm_json_set_known_text(v, "file", job->file);
  tm_json_set(v, "state", tm_json_new_string(tm_fact_state_name(job->state)));
  tm_json_set(v, "is_removed", tm_json_new_bool(job->is_removed));
  tm_json_set_known_text(v, "cause", job->cause);
  tm_json_set_known_text(v, "fault", job->fault);
  tm_json_set_known_text(v, "cancel_asked_by", job->cancel_asked_by);
  tm_json_set_known_text(v, "host", job->host);
  tm_json_set_known_text(v, "tidemill", job->version);
  tm_json_set_int(v, "pid", job->pid);
  tm_json_set_int(v, "begin_ns", job->begin_ns);
  tm_json_set_int(v, "end_ns", job->end_ns);
  set_known(v, "elapsed_ns", job->elapsed_ns);
  tm_json_set(v, "counts", counts(&job->counts));
  tm_json_set_known_text(v, "next", job->next);
  tm_json_set_known_text(v, "next_why", job->next_why);
  tm_json_set_known_text(v, "next_other", job->next_other);
  tm_json_set_known_text(v, "next_other_why", job->next_other_why);
  tm_json_set(v, "before", before(job));
  SET_LIST(v, "parameters", job->parameters, setting);
  SET_LIST(v, "files", job->files, file);
  tm_json_set_int(v, "files_more", job->files_more);
  return v;
}

static void set_faulty_tables(struct tm_json *v, const struct tm_fact_step *s)
{
  struct tm_json *list = tm_json_set(v, "faulty_tables", tm_json_new(TM_JSON_ARRAY));
  bool grows = s->state == TM_FACT_RUNNING;
  for (size_t i = 0; i < s->faulty_tables.len; i++) {
    const struct tm_fact_table *t = &s->faulty_tables.at[i];
    struct tm_json *one = tm_json_add(list, tm_json_new(TM_JSON_OBJECT));
    struct tm_buf text = TM_BUF_NONE;
    tm_fact_table_add_path(&text, s, t);
    tm_json_set_known_text(one, "file", tm_buf_str(&text));
    tm_buf_clear(&text);
    tm_table_faults_text(&text, &t->faults, grows);
    tm_json_set_known_text(one, "fault", tm_buf_str(&text));
    set_known(one, "at_byte", tm_table_faults_at(&t->faults, grows));
    tm_buf_release(&text);
  }
  tm_json_set_int(v, "faulty_tables_more", s->faulty_tables_more);
}

static void set_lists(struct tm_json *v, const struct tm_fact_job *job,
                      const struct tm_fact_step *s)
{
  struct tm_json *after = tm_json_set(v, "after", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < s->after.len; i++)
    tm_json_add(after, tm_json_new_string(job->steps.at[s->after.at[i]].name));
  SET_LIST(v, "outputs", s->outputs, output);
  SET_LIST(v, "inputs", s->inputs, input);
  SET_LIST(v, "settings", s->settings, setting);
  SET_LIST(v, "running", s->running, activity);
  SET_LIST(v, "failed_items", s->failed_items, failed_item);
  tm_json_set_int(v, "failed_items_more", s->failed_items_more);
  set_faulty_tables(v, s);
}

struct tm_json *tm_fact_step_to_json(const struct tm_fact_job *job, size_t step)
{
  const struct tm_fact_step *s = &job->steps.at[step];
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_known_text(v, "name", s->name);
  tm_json_set(v, "state", tm_json_new_string(tm_fact_state_name(s->state)));
  tm_json_set_known_text(v, "cause", s->cause);
  tm_json_set_known_text(v, "waits_for", s->waits_for);
  tm_json_set_known_text(v, "reused_from", s->reused_from);
  tm_json_set_known_text(v, "logs_dir", s->logs_dir);
  tm_json_set_known_text(v, "error_file", s->error_file);
  tm_json_set(v, "counts", counts(&s->counts));
  tm_json_set(v, "mini_batches_per_second",
              s->rate > 0 ? tm_json_new_number(s->rate) : tm_json_new(TM_JSON_NULL));
  set_known(v, "damage_at_byte", s->damage_at_byte);
  tm_json_set_int(v, "error_threshold", s->error_threshold);
  tm_json_set_int(v, "mini_batch_size", s->mini_batch_size);
  tm_json_set(v, "run_invocation_timeout", tm_json_new_number(s->run_invocation_timeout_s));
  tm_json_set_int(v, "workers_wanted", s->workers_wanted);
  tm_json_set_int(v, "worker_memory_limit", s->worker_memory_limit);
  tm_json_set_known_text(v, "script", s->script);
  tm_json_set_known_text(v, "script_hash", s->script_hash);
  set_lists(v, job, s);
  return v;
}
