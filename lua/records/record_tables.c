/* record_tables.c - reads for hosts what happened in a step: its sessions; from any place on, its
 * tries, the lives of its workers, and samples of resources. */
#include "records/disk.h"

#include <inttypes.h>
#include <string.h>

#include "api/own.h"
#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "report/life_rows.h"
#include "report/sample_rows.h"
#include "report/try_rows.h"

struct question {
  const char *call, *callback; /* names */
  size_t step;
  const int64_t *position;
  bool has_callback;
};

static int check(const struct tidemill_record *r, const struct question *q, struct tm_err *err)
{
  const void *given = q->has_callback ? q : NULL;
  if (tm_need(err, q->call, "r", r, "position", q->position, q->callback, given, NULL) < 0)
    return TM_EUSAGE;
  if (*q->position < 0)
    return tm_err_set(err, TM_EUSAGE, "%s: position %" PRId64 " is negative; 0 is the beginning",
                      q->call, *q->position);
  if (q->step >= r->steps.len)
    return tm_err_set(err, TM_EUSAGE, "%s: there is no step %zu; there are %zu", q->call, q->step,
                      r->steps.len);
  return 0;
}

/* ---- sessions ---- */

static void read_sessions(struct tidemill_record *r, size_t i)
{
  struct tm_record_step *step = &r->steps.at[i];
  const struct tm_journal_count *c = &r->inspection.steps[i].count;
  step->has_sessions = true;
  (void)tm_inspection_read_sessions(&r->inspection, i, NULL); /* what cannot be read is not there */
  if (r->info.state != TIDEMILL_STATE_RUNNING && c->damage_at >= 0)
    step->step.damage_at_byte = c->damage_at; /* the journal of a step with a result is read now */
  for (size_t k = 0; k < c->each.len; k++)
    *TM_ARRAY_ADD(&step->sessions) =
        (struct tidemill_session) { .size = sizeof(struct tidemill_session),
                                    .number = c->each.at[k].number,
                                    .begin_ns = c->each.at[k].begin_wall_ns,
                                    .mini_batches = c->each.at[k].ended };
}

const struct tidemill_session *tidemill_record_session(struct tidemill_record *r, size_t step,
                                                       size_t i)
{
  if (!r || step >= r->steps.len)
    return NULL;
  if (!r->steps.at[step].has_sessions)
    read_sessions(r, step);
  return i < r->steps.at[step].sessions.len ? &r->steps.at[step].sessions.at[i] : NULL;
}

/* ---- tries ---- */

struct tries {
  int (*on_try)(const struct tidemill_try *t, void *data);
  void *data;
};

static int64_t number_of(const char *text)
{
  int64_t n = 0;
  return tm_text_int(text, &n) ? n : 0;
}

/* "dataset=NAME count=N ... first=PATH": the path, to the end. */
static const char *first_item(const char *detail)
{
  const char *at = strstr(detail, " first=");
  return at ? at + strlen(" first=") : "";
}

static int on_try_row(void *data, const struct tm_try_row *row)
{
  const struct tries *all = data;
  struct tidemill_try t = { .size = sizeof t,
                            .mini_batch = row->mini_batch,
                            .try_number = row->picked,
                            .worker = row->process,
                            .node_id = row->node,
                            .begun_ns = row->begin_wall_ns,
                            .elapsed_ns = row->elapsed_ns,
                            .run_ns = row->run_ns,
                            .items = number_of(row->total),
                            .items_succeeded = number_of(row->succeeded),
                            .items_failed = number_of(row->failed),
                            .status = row->status,
                            .category = row->category,
                            .error = row->message,
                            .first_item = first_item(row->detail),
                            .result_bytes = row->bytes,
                            .signal = row->signal };
  return all->on_try(&t, all->data);
}

int tidemill_record_tries(struct tidemill_record *r, size_t step, int64_t *position,
                          int (*on_try)(const struct tidemill_try *t, void *data), void *data,
                          struct tm_err *err)
{
  struct tries all = { on_try, data };
  err = TM_ERR_OWN(err);
  struct question q = { "tidemill_record_tries()", "on_try", step, position, on_try != NULL };
  int rc = check(r, &q, err);
  return rc < 0
             ? rc
             : tm_try_rows_next(r->steps.at[step].logs_dir, position, on_try_row, &all, NULL, err);
}

int tidemill_record_tries_since(struct tidemill_record *r, size_t step, int64_t time_ns,
                                int64_t *position, struct tm_err *err)
{
  static const int64_t beginning = 0;
  err = TM_ERR_OWN(err);
  struct question q = { "tidemill_record_tries_since()", "position", step, &beginning,
                        position != NULL };
  int rc = check(r, &q, err);
  return rc < 0 ? rc : tm_try_rows_find(r->steps.at[step].logs_dir, time_ns, position, err);
}

/* ---- workers ---- */

struct lives {
  int (*on_event)(const struct tidemill_life_event *e, void *data);
  void *data;
};

static int on_life_row(void *data, const struct tm_life_row *row)
{
  const struct lives *all = data;
  struct tidemill_life_event e = { .size = sizeof e,
                                   .time_ns = row->wall_ns,
                                   .worker = row->process,
                                   .node_id = row->node,
                                   .node_address = row->address,
                                   .pid = row->pid,
                                   .event = row->event,
                                   .lived_ns = row->lived_ns,
                                   .max_rss_bytes = row->max_rss_bytes,
                                   .detail = row->detail,
                                   .init_ns = row->init_ns };
  return all->on_event(&e, all->data);
}

int tidemill_record_workers(struct tidemill_record *r, size_t step, int64_t *position,
                            int (*on_event)(const struct tidemill_life_event *e, void *data),
                            void *data, struct tm_err *err)
{
  struct lives all = { on_event, data };
  err = TM_ERR_OWN(err);
  struct question q = { "tidemill_record_workers()", "on_event", step, position, on_event != NULL };
  int rc = check(r, &q, err);
  return rc < 0 ? rc
                : tm_life_rows_next(r->steps.at[step].logs_dir, position, on_life_row, &all, NULL,
                                    err);
}

/* ---- resources ---- */

static int check_node(const struct tidemill_record *r, const struct question *q,
                      const char *node_id, struct tm_err *err)
{
  if (tm_need(err, q->call, "node_id", node_id, NULL) < 0)
    return TM_EUSAGE;
  if (!tm_sample_rows_is_node(node_id))
    return tm_err_set(err, TM_EUSAGE,
                      "%s: '%s' is not the id of a node; an id is a number, or \"supervisor\"",
                      q->call, node_id);
  return check(r, q, err);
}

struct samples {
  int (*on_sample)(const struct tidemill_sample *s, void *data);
  void *data;
};

static int on_node_row(void *data, const struct tm_node_sample *row)
{
  const struct samples *all = data;
  struct tidemill_sample s = { .size = sizeof s,
                               .time_ns = row->wall_ns,
                               .cpu_percent = row->cpu_percent,
                               .memory_total_bytes = row->memory_total,
                               .memory_used_bytes = row->memory_used,
                               .disk_read_bytes = row->disk_read,
                               .disk_written_bytes = row->disk_written,
                               .network_sent_bytes = row->network_sent,
                               .network_received_bytes = row->network_received };
  return all->on_sample(&s, all->data);
}

int tidemill_record_samples(struct tidemill_record *r, size_t step, const char *node_id,
                            int64_t *position,
                            int (*on_sample)(const struct tidemill_sample *s, void *data),
                            void *data, struct tm_err *err)
{
  struct samples all = { on_sample, data };
  err = TM_ERR_OWN(err);
  struct question q = { "tidemill_record_samples()", "on_sample", step, position,
                        on_sample != NULL };
  int rc = check_node(r, &q, node_id, err);
  return rc < 0 ? rc
                : tm_sample_rows_node(r->steps.at[step].logs_dir, node_id, position, on_node_row,
                                      &all, NULL, err);
}

struct process_samples {
  int (*on_sample)(const struct tidemill_process_sample *s, void *data);
  void *data;
};

static int on_process_row(void *data, const struct tm_process_sample *row)
{
  const struct process_samples *all = data;
  struct tidemill_process_sample s = { .size = sizeof s,
                                       .time_ns = row->wall_ns,
                                       .process = row->process,
                                       .pid = row->pid,
                                       .parent_pid = row->parent,
                                       .program = row->name,
                                       .cpu_percent = row->cpu_percent,
                                       .rss_bytes = row->rss,
                                       .disk_read_bytes = row->disk_read,
                                       .disk_written_bytes = row->disk_written };
  return all->on_sample(&s, all->data);
}

int tidemill_record_process_samples(struct tidemill_record *r, size_t step, const char *node_id,
                                    int64_t *position,
                                    int (*on_sample)(const struct tidemill_process_sample *s,
                                                     void *data),
                                    void *data, struct tm_err *err)
{
  struct process_samples all = { on_sample, data };
  err = TM_ERR_OWN(err);
  struct question q = { "tidemill_record_process_samples()", "on_sample", step, position,
                        on_sample != NULL };
  int rc = check_node(r, &q, node_id, err);
  return rc < 0 ? rc
                : tm_sample_rows_processes(r->steps.at[step].logs_dir, node_id, position,
                                           on_process_row, &all, NULL, err);
}

struct disk_samples {
  int (*on_sample)(const struct tidemill_disk_sample *s, void *data);
  void *data;
};

static int on_disk_row(void *data, const struct tm_disk_sample *row)
{
  const struct disk_samples *all = data;
  struct tidemill_disk_sample s = { .size = sizeof s,
                                    .time_ns = row->wall_ns,
                                    .device = row->device,
                                    .mount_point = row->mount_point,
                                    .total_bytes = row->total,
                                    .used_bytes = row->used,
                                    .free_bytes = row->free,
                                    .used_percent = row->used_percent };
  return all->on_sample(&s, all->data);
}

int tidemill_record_disk_samples(struct tidemill_record *r, size_t step, const char *node_id,
                                 int64_t *position,
                                 int (*on_sample)(const struct tidemill_disk_sample *s, void *data),
                                 void *data, struct tm_err *err)
{
  struct disk_samples all = { on_sample, data };
  err = TM_ERR_OWN(err);
  struct question q = { "tidemill_record_disk_samples()", "on_sample", step, position,
                        on_sample != NULL };
  int rc = check_node(r, &q, node_id, err);
  return rc < 0 ? rc
                : tm_sample_rows_disks(r->steps.at[step].logs_dir, node_id, position, on_disk_row,
                                       &all, NULL, err);
}
