/* export_trace.c - see export_trace.h. Tables are read once; before that, the lines of the tries
 * are counted. */
#include "records/export_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "export/trace.h"
#include "report/sample_rows.h"

struct writing {
  struct tidemill_record *r;
  const char *only; /* the step; or NULL */
  const struct tm_trace_faults *faults;
  struct tm_trace trace;
};

static bool has_step(const struct writing *w, size_t i)
{
  return !w->only || strcmp(w->only, w->r->steps.at[i].step.name) == 0;
}

static int on_event(void *data, const struct tm_life_row *row)
{
  struct writing *w = data;
  tm_trace_add_event(&w->trace, row);
  return w->trace.rc;
}

static int on_try(void *data, const struct tm_try_row *row)
{
  struct writing *w = data;
  tm_trace_add_try(&w->trace, row);
  return w->trace.rc;
}

struct samples {
  struct writing *w;
  const char *node;
};

static int on_sample(void *data, const struct tm_node_sample *row)
{
  const struct samples *s = data;
  tm_trace_add_sample(&s->w->trace, s->node, row);
  return s->w->trace.rc;
}

static void pass_faults(const struct writing *w, const struct tm_record_step *step,
                        const char *file, const struct tm_table_faults *faults)
{
  w->faults->on_fault(w->faults->data, &step->step, file, faults);
}

static int write_samples_of(struct writing *w, const struct tm_record_step *step, const char *node,
                            struct tm_err *err)
{
  int64_t at = 0;
  struct tm_table_faults faults = { 0 };
  if (!tm_sample_rows_is_node(node))
    return 0;
  int rc = tm_sample_rows_node(step->logs_dir, node, &at, on_sample, &(struct samples) { w, node },
                               &faults, err);
  char *file = tm_xprintf("perf/%s/node_resource_usage.csv", node);
  pass_faults(w, step, file, &faults);
  free(file);
  return rc;
}

/* Of each node that had a worker of the step, and of the supervisor, if it has a machine of its
 * own. */
static int write_samples(struct writing *w, const struct tm_record_step *step, struct tm_err *err)
{
  const struct tm_workers *workers = &w->trace.workers;
  struct tm_map seen = { 0 };
  int rc = write_samples_of(w, step, "supervisor", err);
  for (size_t i = 0; rc == 0 && i < workers->slots.len; i++) {
    const char *node = workers->slots.at[i].node;
    bool is_new;
    (void)tm_map_add(&seen, node, strlen(node), &is_new);
    if (is_new)
      rc = write_samples_of(w, step, node, err);
  }
  tm_map_release(&seen);
  return rc;
}

static int write_tables(struct writing *w, const struct tm_record_step *step, struct tm_err *err)
{
  int64_t lives_at = 0, tries_at = 0;
  struct tm_table_faults lives = { 0 }, tries = { 0 };
  int rc = tm_life_rows_next(step->logs_dir, &lives_at, on_event, w, &lives, err);
  if (rc == 0)
    rc = tm_try_rows_next(step->logs_dir, &tries_at, on_try, w, &tries, err);
  pass_faults(w, step, "sys/job_report/processed_mini-batches.csv", &tries);
  pass_faults(w, step, "sys/job_report/workers.csv", &lives);
  return rc == 0 ? write_samples(w, step, err) : rc;
}

static int write_step(struct writing *w, size_t i, struct tm_err *err)
{
  const struct tm_record_step *step = &w->r->steps.at[i];
  const struct tidemill_record_info *job = &w->r->info;
  bool is_running = step->step.state == TIDEMILL_STATE_RUNNING && job->elapsed_ns > 0;
  struct TM_ARRAY(struct tm_trace_session) sessions = { 0 };
  const struct tidemill_session *s;
  for (size_t k = 0; (s = tidemill_record_session(w->r, i, k)); k++)
    *TM_ARRAY_ADD(&sessions) = (struct tm_trace_session) { s->begin_ns, s->mini_batches };
  struct tm_trace_step about = { .name = step->step.name,
                                 .state = tidemill_state_name(step->step.state),
                                 .cause = step->step.cause,
                                 .sessions = sessions.at,
                                 .sessions_len = sessions.len,
                                 .end_ns = is_running ? job->begin_ns + job->elapsed_ns : 0 };
  tm_trace_begin_step(&w->trace, &about);
  int rc = write_tables(w, step, err);
  tm_trace_end_step(&w->trace);
  TM_ARRAY_RELEASE(&sessions);
  return rc;
}

/* How many tries there are; negative: a system error. */
static int64_t count_tries(const struct writing *w, struct tm_err *err)
{
  int64_t tries = 0, of_step;
  for (size_t i = 0; i < w->r->steps.len; i++) {
    if (!has_step(w, i))
      continue;
    of_step = tm_try_rows_count(w->r->steps.at[i].logs_dir, err);
    if (of_step < 0)
      return of_step;
    tries += of_step;
  }
  return tries;
}

int tm_record_write_trace(struct tidemill_record *r, const char *step,
                          const struct tm_text_sink *sink, const struct tm_trace_faults *faults,
                          struct tm_err *err)
{
  struct writing w = { .r = r, .only = step, .faults = faults };
  int64_t tries = count_tries(&w, err);
  int rc = 0;
  if (tries < 0)
    return (int)tries;
  tm_trace_init(&w.trace, &(struct tm_trace_options) { .job = tm_path_base(r->info.dir),
                                                       .version = tidemill_version(),
                                                       .state = tidemill_state_name(r->info.state),
                                                       .origin_ns = r->info.begin_ns,
                                                       .tries = tries,
                                                       .on_text = sink->write,
                                                       .data = sink->data });
  for (size_t i = 0; rc == 0 && i < r->steps.len; i++)
    if (has_step(&w, i))
      rc = write_step(&w, i, err);
  if (rc == 0)
    rc = tm_trace_end(&w.trace);
  tm_trace_release(&w.trace);
  return rc;
}
