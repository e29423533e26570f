/* job_facts.c - the facts of a job and its steps, from its record. */
#include "insights/insight.h"

#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "sys/clock.h"

#define ITEMS_MAX 5000 /* failed items of a step */
#define FILES_MAX 1000

const char *tm_insight_own(struct tidemill_insight *in, char *text)
{
  if (!text || !*text) {
    free(text);
    return NULL;
  }
  *TM_ARRAY_ADD(&in->strings) = text;
  return text;
}

const char *tm_insight_keep(struct tidemill_insight *in, const char *text)
{
  return text && *text ? tm_insight_own(in, tm_xstrdup(text)) : NULL;
}

int64_t tm_insight_now_ns(const struct tidemill_insight *in)
{
  return in->o.now_ns > 0 ? in->o.now_ns : tm_clock_wall_ns();
}

static enum tm_fact_state state_of(enum tidemill_state s)
{
  switch (s) {
  case TIDEMILL_STATE_RUNNING: return TM_FACT_RUNNING;
  case TIDEMILL_STATE_COMPLETED: return TM_FACT_COMPLETED;
  case TIDEMILL_STATE_FAILED: return TM_FACT_FAILED;
  case TIDEMILL_STATE_CANCELED: return TM_FACT_CANCELED;
  case TIDEMILL_STATE_SKIPPED: return TM_FACT_SKIPPED;
  case TIDEMILL_STATE_WAITING: return TM_FACT_WAITING;
  default: return TM_FACT_INTERRUPTED;
  }
}

static struct tm_fact_counts counts_of(const struct tidemill_counts *c, int64_t items_total)
{
  return (struct tm_fact_counts) { .created = c->created,
                                   .succeeded = c->succeeded,
                                   .failed = c->failed,
                                   .is_listed = c->all_created,
                                   .items_total = items_total,
                                   .items_succeeded = c->items_succeeded,
                                   .items_failed = c->items_failed };
}

/* ---- steps ---- */

static void add_outputs(struct tidemill_insight *in, size_t i)
{
  const struct tidemill_record_output *o;
  struct tm_fact_step *s = &in->job.steps.at[i];
  for (size_t k = 0; (o = tidemill_record_output(in->record, i, k)) != NULL; k++)
    *TM_ARRAY_ADD(&s->outputs) =
        (struct tm_fact_output) { .name = tm_insight_keep(in, o->name),
                                  .path = tm_insight_keep(in, o->path),
                                  .destination = tm_insight_keep(in, o->destination),
                                  .bytes = -1,
                                  .rows = -1 };
}

static void add_running(struct tidemill_insight *in, size_t i)
{
  const struct tidemill_activity *a;
  struct tm_fact_step *s = &in->job.steps.at[i];
  for (size_t k = 0; (a = tidemill_record_running(in->record, i, k)) != NULL; k++)
    *TM_ARRAY_ADD(&s->running) =
        (struct tm_fact_activity) { .worker = tm_insight_keep(in, a->worker),
                                    .phase = tm_insight_keep(in, a->phase),
                                    .first_item = tm_insight_keep(in, a->first_item),
                                    .text = tm_insight_keep(in, a->text),
                                    .elapsed_ns = a->elapsed_ns,
                                    .begun_ns = a->begun_ns,
                                    .mini_batch = a->mini_batch,
                                    .try_number = a->try_number,
                                    .pid = a->pid,
                                    .is_stopped = a->is_stopped };
}

struct failures {
  struct tidemill_insight *in;
  struct tm_fact_step *step;
};

static int on_failure(const struct tidemill_failure *f, void *data)
{
  struct failures *all = data;
  if (all->step->failed_items.len == ITEMS_MAX)
    return 1;
  *TM_ARRAY_ADD(&all->step->failed_items) =
      (struct tm_fact_item) { .item = tm_insight_keep(all->in, f->item),
                              .error = tm_insight_keep(all->in, f->error),
                              .status = tm_insight_keep(all->in, f->status),
                              .mini_batch = f->mini_batch };
  return 0;
}

static void add_failed_items(struct tidemill_insight *in, struct tm_fact_step *s)
{
  struct failures all = { in, s };
  (void)tidemill_record_failures(in->record, s->name, on_failure, &all, NULL);
  int64_t more = s->counts.items_failed - (int64_t)s->failed_items.len;
  s->failed_items_more = more > 0 ? more : 0;
}

static void add_step(struct tidemill_insight *in, size_t i)
{
  const struct tidemill_record_step *r = tidemill_record_step(in->record, i);
  struct tm_fact_step *s = TM_ARRAY_ADD(&in->job.steps);
  *s = (struct tm_fact_step) { .name = tm_insight_own(in, tm_xstrdup(r->name)),
                               .cause = tm_insight_keep(in, r->cause),
                               .waits_for = tm_insight_keep(in, r->waits_for),
                               .reused_from = tm_insight_keep(in, r->reused_from),
                               .logs_dir = tm_insight_keep(in, r->logs_dir),
                               .error_file = tm_insight_keep(in, r->error_file),
                               .state = state_of(r->state),
                               .counts = counts_of(r->counts, r->items_total),
                               .rate = r->mini_batches_per_second,
                               .input_files = -1,
                               .input_bytes = -1,
                               .damage_at_byte = r->damage_at_byte };
  s->name = s->name ? s->name : "";
  add_outputs(in, i);
  add_running(in, i);
  add_failed_items(in, s);
}

/* ---- files ---- */

static const char *kind_name(enum tidemill_file_kind kind)
{
  switch (kind) {
  case TIDEMILL_FILE_OUTPUT: return "output";
  case TIDEMILL_FILE_LOG: return "log";
  default: return "record";
  }
}

/* Adds the bytes to the output that the file belongs to, which is the file itself or its folder. */
static void count_output(struct tidemill_insight *in, const struct tidemill_job_file *f)
{
  size_t dir = strlen(in->job.dir);
  for (size_t i = 0; i < in->job.steps.len; i++)
    for (size_t k = 0; k < in->job.steps.at[i].outputs.len; k++) {
      struct tm_fact_output *o = &in->job.steps.at[i].outputs.at[k];
      const char *path = tm_text_or_empty(o->path);
      if (strncmp(path, in->job.dir, dir) != 0 || path[dir] != '/')
        continue;
      size_t n = strlen(path + dir + 1);
      if (strncmp(f->path, path + dir + 1, n) == 0 && (f->path[n] == '\0' || f->path[n] == '/'))
        o->bytes = (o->bytes < 0 ? 0 : o->bytes) + f->bytes;
    }
}

static int on_file(const struct tidemill_job_file *f, void *data)
{
  struct tidemill_insight *in = data;
  if (f->kind == TIDEMILL_FILE_OUTPUT)
    count_output(in, f);
  if (in->job.files.len == FILES_MAX) {
    in->job.files_more++;
    return 0;
  }
  char *path = *TM_ARRAY_ADD(&in->paths) = tm_xstrdup(f->path);
  *TM_ARRAY_ADD(&in->job.files) =
      (struct tm_fact_file) { .path = path, .kind = kind_name(f->kind), .bytes = f->bytes };
  return 0;
}

static void clear_output(struct tm_fact_output *o)
{
  o->bytes = o->rows = -1;
  o->registered = NULL;
}

void tm_insight_read_files(struct tidemill_insight *in)
{
  if (!in->record || in->job.is_removed)
    return;
  TM_ARRAY_RELEASE_EACH(&in->paths);
  in->job.files.len = 0;
  in->job.files_more = 0;
  for (size_t i = 0; i < in->job.steps.len; i++)
    for (size_t k = 0; k < in->job.steps.at[i].outputs.len; k++)
      clear_output(&in->job.steps.at[i].outputs.at[k]);
  (void)tidemill_record_files(in->record, on_file, in, NULL);
  tm_insight_read_data(in);
}

/* ---- the job ---- */

static void read_job(struct tidemill_insight *in, const struct tidemill_record_info *info)
{
  in->job = (struct tm_fact_job) { .dir = tm_insight_keep(in, info->dir),
                                   .name = tm_insight_keep(in, tm_path_base(info->dir)),
                                   .pipeline = tm_insight_keep(in, info->pipeline),
                                   .file = tm_insight_keep(in, info->file),
                                   .host = tm_insight_keep(in, info->host),
                                   .cause = tm_insight_keep(in, info->cause),
                                   .cancel_asked_by = tm_insight_keep(in, info->cancel_asked_by),
                                   .state = state_of(info->state),
                                   .pid = info->pid,
                                   .begin_ns = info->begin_ns,
                                   .end_ns = info->end_ns,
                                   .elapsed_ns = info->elapsed_ns,
                                   .now_ns = tm_insight_now_ns(in),
                                   .counts = counts_of(info->counts, -1),
                                   .before = in->before_name,
                                   .before_elapsed_ns = in->before_elapsed_ns,
                                   .before_items = in->before_items,
                                   .before_items_failed = in->before_items_failed };
}

static void sum_items(struct tm_fact_job *job)
{
  int64_t sum = 0;
  for (size_t i = 0; i < job->steps.len && sum >= 0; i++) {
    int64_t n = job->steps.at[i].counts.items_total;
    sum = n < 0 ? -1 : sum + n;
  }
  job->counts.items_total = job->steps.len > 0 ? sum : -1;
}

void tm_insight_read_facts(struct tidemill_insight *in)
{
  const struct tidemill_record_info *info = tidemill_record_info(in->record);
  tm_insight_look_before(in);
  tm_insight_release_facts(in);
  read_job(in, info);
  for (size_t i = 0; i < info->steps_len; i++)
    add_step(in, i);
  sum_items(&in->job);
  tm_insight_read_definition(in);
  tm_insight_read_efforts(in);
  if (in->job.state != TM_FACT_RUNNING)
    tm_insight_read_next(in);
}

static enum tm_fact_state state_named(const char *name)
{
  for (int i = TIDEMILL_STATE_RUNNING; i <= TIDEMILL_STATE_WAITING; i++)
    if (strcmp(tm_text_or_empty(name), tidemill_state_name((enum tidemill_state)i)) == 0)
      return state_of((enum tidemill_state)i);
  return TM_FACT_INTERRUPTED;
}

/* Without an end, the history has the counts of the beginning: none are known. */
static struct tm_fact_counts counts_of_history(const struct tm_history_job *job)
{
  if (job->end_ns == 0)
    return (struct tm_fact_counts) { .items_total = -1, .items_succeeded = -1 };
  return (struct tm_fact_counts) { .created = job->total,
                                   .succeeded = job->succeeded,
                                   .failed = job->failed,
                                   .is_listed = true,
                                   .items_total = job->items_total,
                                   .items_succeeded = job->items_succeeded,
                                   .items_failed = job->items_failed };
}

void tm_insight_read_history(struct tidemill_insight *in, const struct tm_history_job *job)
{
  enum tm_fact_state state = state_named(job->status);
  in->job = (struct tm_fact_job) {
    .dir = tm_insight_keep(in, job->dir),
    .name = tm_insight_keep(in, tm_path_base(job->dir)),
    .pipeline = tm_insight_keep(in, job->pipeline),
    .file = tm_insight_keep(in, job->file),
    .state = state == TM_FACT_RUNNING ? TM_FACT_INTERRUPTED : state,
    .is_removed = true,
    .begin_ns = job->begin_ns,
    .end_ns = job->end_ns,
    .elapsed_ns = job->end_ns > job->begin_ns ? job->end_ns - job->begin_ns : -1,
    .now_ns = tm_insight_now_ns(in),
    .counts = counts_of_history(job),
  };
}

void tm_insight_release_facts(struct tidemill_insight *in)
{
  for (size_t i = 0; i < in->job.steps.len; i++) {
    struct tm_fact_step *s = &in->job.steps.at[i];
    TM_ARRAY_RELEASE(&s->outputs);
    TM_ARRAY_RELEASE(&s->inputs);
    TM_ARRAY_RELEASE(&s->settings);
    TM_ARRAY_RELEASE(&s->running);
    TM_ARRAY_RELEASE(&s->failed_items);
    TM_ARRAY_RELEASE(&s->faulty_tables);
    TM_ARRAY_RELEASE(&s->after);
  }
  TM_ARRAY_RELEASE(&in->job.steps);
  TM_ARRAY_RELEASE(&in->job.parameters);
  TM_ARRAY_RELEASE(&in->job.files);
  TM_ARRAY_RELEASE_EACH(&in->strings);
  TM_ARRAY_RELEASE_EACH(&in->paths);
  in->job = (struct tm_fact_job) { 0 };
}
