/* step_rows.c - feeds the models of an insight with the rows of their tables.
 *
 *  (1) A try comes behind the event of its worker: events are read first, and again when a try
 *      names a worker that is not known. The supervisor writes that event before its tries.
 *  (2) A model is made again if a session is new, if a table is shorter than before, or if its bins
 *      are wider than its rows need.
 */

#include "insights/insight.h"

#include "report/life_rows.h"
#include "report/sample_rows.h"
#include "report/try_rows.h"

struct feed {
  struct tm_insight_step *step;
  const char *logs_dir;
  const char *node;               /* of samples */
  struct tm_error_groups *groups; /* of the record, which get the same tries; or NULL */
};

void tm_insight_release_step(struct tm_insight_step *s)
{
  if (s->has_model)
    tm_step_model_release(&s->model);
  TM_ARRAY_RELEASE(&s->samples);
  tm_insight_release_stacks(&s->stacks);
  *s = (struct tm_insight_step) { 0 };
}

/* ---- sessions ---- */

struct sessions TM_ARRAY(struct tm_step_session);

static void read_sessions(struct tidemill_insight *in, size_t step, struct sessions *out)
{
  const struct tidemill_session *s;
  for (size_t i = 0; (s = tidemill_record_session(in->record, step, i)) != NULL; i++)
    *TM_ARRAY_ADD(out) =
        (struct tm_step_session) { .begin_ns = s->begin_ns, .mini_batches = s->mini_batches };
}

static bool are_other(const struct tm_step_model *m, const struct sessions *now)
{
  bool yes = m->sessions.len != now->len;
  for (size_t i = 0; !yes && i < now->len; i++)
    yes = m->sessions.at[i].begin_ns != now->at[i].begin_ns;
  return yes;
}

/* ---- rows ---- */

static int on_event(void *data, const struct tm_life_row *row)
{
  struct feed *f = data;
  tm_step_model_add_event(&f->step->model, row);
  return 0;
}

static void read_events(struct feed *f)
{
  (void)tm_life_rows_next(f->logs_dir, &f->step->events_at, on_event, f, &f->step->events_faults,
                          NULL);
}

static int on_try(void *data, const struct tm_try_row *row)
{
  struct feed *f = data;
  if (*row->process && !tm_workers_knows(&f->step->model.workers, row->process))
    read_events(f); /* keeps (1) */
  tm_step_model_add_try(&f->step->model, row);
  if (f->groups)
    tm_error_groups_add_try(f->groups, row);
  return 0;
}

static int on_machine(void *data, const struct tm_node_sample *row)
{
  struct feed *f = data;
  tm_step_model_add_sample(&f->step->model, f->node, row);
  return 0;
}

static int on_process(void *data, const struct tm_process_sample *row)
{
  struct feed *f = data;
  tm_step_model_add_process(&f->step->model, f->node, row);
  return 0;
}

static int on_disk(void *data, const struct tm_disk_sample *row)
{
  struct feed *f = data;
  tm_step_model_add_disk(&f->step->model, f->node, row);
  return 0;
}

static void read_samples(struct feed *f)
{
  struct tm_insight_step *s = f->step;
  for (size_t i = 0; i < s->model.nodes.len && i < TM_NODES_NAMED; i++) {
    if (i == s->samples.len)
      *TM_ARRAY_ADD(&s->samples) = (struct tm_sample_places) { 0 };
    f->node = s->model.nodes.at[i].id;
    if (!tm_sample_rows_is_node(f->node))
      continue;
    struct tm_sample_places *at = &s->samples.at[i];
    (void)tm_sample_rows_node(f->logs_dir, f->node, &at->machine, on_machine, f,
                              &at->machine_faults, NULL);
    (void)tm_sample_rows_processes(f->logs_dir, f->node, &at->processes, on_process, f,
                                   &at->processes_faults, NULL);
    (void)tm_sample_rows_disks(f->logs_dir, f->node, &at->disks, on_disk, f, &at->disks_faults,
                               NULL);
  }
}

/* The record groups errors, too; a table is read once for both. */
static void read_tries(struct tidemill_insight *in, size_t step, struct feed *f)
{
  struct tm_record_errors *e =
      step < in->record->steps.len ? tm_record_errors_of(in->record, step) : NULL;
  bool is_same_place = e && e->tries_at == f->step->tries_at;
  f->groups = is_same_place ? &e->groups : NULL;
  (void)tm_try_rows_next(f->logs_dir, &f->step->tries_at, on_try, f, &f->step->tries_faults, NULL);
  if (is_same_place)
    e->tries_at = f->step->tries_at;
}

static int no_group(const struct tidemill_error_group *g, void *data)
{
  return 1;
}

/* Those of failed items. */
static void read_errors(struct tidemill_insight *in, size_t step)
{
  (void)tidemill_record_error_groups(in->record, step, no_group, NULL, NULL);
}

/* False: a table is not the one that was read before. */
static bool read_new(struct tidemill_insight *in, size_t step, struct feed *f)
{
  int64_t events_at = f->step->events_at, tries_at = f->step->tries_at;
  read_events(f);
  read_tries(in, step, f);
  read_samples(f);
  return f->step->events_at >= events_at && f->step->tries_at >= tries_at;
}

/* ---- faults ---- */

static void add_fault(struct tm_fact_step *s, const char *node, const char *name,
                      const struct tm_table_faults *faults)
{
  if (!tm_table_faults_any(faults, s->state == TM_FACT_RUNNING))
    return;
  if (s->faulty_tables.len < TM_FAULTY_TABLES)
    *TM_ARRAY_ADD(&s->faulty_tables) = (struct tm_fact_table) { node, name, *faults };
  else
    s->faulty_tables_more++;
}

static void set_faults(struct tm_fact_step *s, const struct tm_insight_step *from)
{
  s->faulty_tables.len = 0;
  s->faulty_tables_more = 0;
  add_fault(s, NULL, "sys/job_report/processed_mini-batches.csv", &from->tries_faults);
  add_fault(s, NULL, "sys/job_report/workers.csv", &from->events_faults);
  for (size_t i = 0; i < from->samples.len; i++) {
    const char *node = from->model.nodes.at[i].id;
    const struct tm_sample_places *at = &from->samples.at[i];
    add_fault(s, node, "node_resource_usage.csv", &at->machine_faults);
    add_fault(s, node, "processes_resource_usage.csv", &at->processes_faults);
    add_fault(s, node, "node_disk_usage.csv", &at->disks_faults);
  }
}

/* ---- models ---- */

static void begin(struct tidemill_insight *in, struct tm_insight_step *s,
                  const struct sessions *sessions)
{
  int64_t origin_ns = sessions->len > 0 ? sessions->at[0].begin_ns : 0;
  tm_insight_release_step(s);
  tm_step_model_init(&s->model, origin_ns > 0 ? origin_ns : in->job.begin_ns);
  s->has_model = true;
}

static void read_all(struct tidemill_insight *in, size_t step, struct feed *f,
                     const struct sessions *sessions)
{
  begin(in, f->step, sessions);
  tm_step_model_set_sessions(&f->step->model, sessions->at, sessions->len);
  (void)read_new(in, step, f);
}

static void settle(struct tidemill_insight *in, size_t step)
{
  const struct tm_fact_step *facts = &in->job.steps.at[step];
  struct tm_insight_step *s = &in->steps.at[step];
  bool runs = facts->state == TM_FACT_RUNNING;
  int64_t now_ns = runs ? tm_insight_now_ns(in) : 0;
  struct TM_ARRAY(struct tm_running_try) tries = { 0 };
  for (size_t i = 0; runs && i < facts->running.len; i++) {
    const struct tm_fact_activity *a = &facts->running.at[i];
    if (a->worker && a->mini_batch >= 0)
      *TM_ARRAY_ADD(&tries) = (struct tm_running_try) { .worker = a->worker,
                                                        .mini_batch = a->mini_batch,
                                                        .try_number = a->try_number,
                                                        .begun_ns = a->begun_ns };
  }
  tm_workers_set_running(&s->model.workers, tries.at, tries.len, now_ns);
  TM_ARRAY_RELEASE(&tries);
  s->model.lacks_tries = s->tries_at == 0 || tm_table_faults_any(&s->tries_faults, runs);
  tm_step_model_settle(&s->model, now_ns);
}

bool tm_insight_read_rows(struct tidemill_insight *in, size_t step)
{
  const struct tm_fact_step *facts = &in->job.steps.at[step];
  struct tm_insight_step *s = &in->steps.at[step];
  struct feed f = { .step = s, .logs_dir = facts->logs_dir };
  bool runs = facts->state == TM_FACT_RUNNING;
  struct sessions sessions = { 0 };
  int64_t events_at = s->events_at, tries_at = s->tries_at;

  if (facts->reused_from || facts->state == TM_FACT_WAITING || facts->state == TM_FACT_SKIPPED)
    return false;
  read_sessions(in, step, &sessions);
  in->job.steps.at[step].damage_at_byte = tidemill_record_step(in->record, step)->damage_at_byte;
  if (!s->has_model || are_other(&s->model, &sessions)) {
    read_all(in, step, &f, &sessions);
  } else {
    tm_step_model_set_sessions(&s->model, sessions.at, sessions.len);
    if (!read_new(in, step, &f) || (!runs && !tm_step_model_is_exact(&s->model)))
      read_all(in, step, &f, &sessions); /* keeps (2) */
  }
  read_errors(in, step);
  set_faults(&in->job.steps.at[step], s);
  settle(in, step);
  TM_ARRAY_RELEASE(&sessions);
  return s->events_at != events_at || s->tries_at != tries_at;
}
