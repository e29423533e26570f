/* event.c - converts events of core (record/events.h) to those of tidemill.h, and calls the host.
 */
#include "api/own.h"

#include "base/check.h"
#include "base/text.h"
#include "report/progress.h"
#include "sys/clock.h"

enum tidemill_state tm_event_state(enum tm_verdict verdict)
{
  switch (verdict) {
  case TM_COMPLETED: return TIDEMILL_STATE_COMPLETED;
  case TM_FAILED: return TIDEMILL_STATE_FAILED;
  case TM_CANCELED_JOB: return TIDEMILL_STATE_CANCELED;
  case TM_SKIPPED: return TIDEMILL_STATE_SKIPPED;
  case TM_RUNNING: break;
  }
  return TIDEMILL_STATE_RUNNING;
}

const char *tidemill_state_name(enum tidemill_state state)
{
  switch (state) {
  case TIDEMILL_STATE_RUNNING: return "Running";
  case TIDEMILL_STATE_COMPLETED: return "Completed";
  case TIDEMILL_STATE_FAILED: return "Failed";
  case TIDEMILL_STATE_CANCELED: return "Canceled";
  case TIDEMILL_STATE_SKIPPED: return "Skipped";
  case TIDEMILL_STATE_INTERRUPTED: return "Interrupted";
  case TIDEMILL_STATE_WAITING: return "Waiting";
  }
  return "Unknown";
}

void tm_event_counts(struct tidemill_counts *out, const struct tm_counts *c)
{
  *out = (struct tidemill_counts) { .size = sizeof(*out),
                                    .created = c->created,
                                    .all_created = c->all_created,
                                    .succeeded = c->succeeded,
                                    .failed = c->failed,
                                    .running = c->running,
                                    .items = c->items,
                                    .items_succeeded = c->items_succeeded,
                                    .items_failed = c->items_failed,
                                    .uncounted = c->uncounted };
}

static const struct tidemill_counts no_counts = { .size = sizeof(no_counts) };

/* The fields of every kind of event. */
static struct tidemill_event event_of(struct tidemill_job *job, const struct tm_event *e,
                                      enum tidemill_event_kind kind)
{
  return (struct tidemill_event) { .size = sizeof(struct tidemill_event),
                                   .kind = kind,
                                   .job = job,
                                   .wall_ns = e->wall_ns,
                                   .step = e->step ? e->step->name : NULL,
                                   .worker = e->worker,
                                   .pid = e->pid,
                                   .text = tm_text_or_empty(e->text),
                                   .stack = "",
                                   .where = "",
                                   .status = "",
                                   .first_item = "",
                                   .node_id = tm_text_or_empty(e->node_id),
                                   .node_address = tm_text_or_empty(e->node_address),
                                   .counts = &no_counts };
}

static void tell(struct tidemill_job *job, const struct tidemill_event *e)
{
  if (!job->o.on_event || job->wants_close)
    return;
  job->calls++;
  job->o.on_event(e, job->o.data);
  tm_require(job->calls > 0);
  job->calls--;
}

static void tell_state(struct tidemill_job *job, const struct tm_event *e,
                       enum tidemill_state state, const char *cause)
{
  struct tidemill_event out = event_of(job, e, TIDEMILL_EVENT_STATE);
  out.state = state;
  out.text = tm_text_or_empty(cause);
  out.counts = tidemill_job_counts(job);
  tell(job, &out);
}

static bool is_same(const struct tm_counts *a, const struct tm_counts *b)
{
  return a->created == b->created && a->all_created == b->all_created && a->running == b->running &&
         a->succeeded == b->succeeded && a->failed == b->failed && a->items == b->items;
}

static void tell_progress(struct tidemill_job *job, const struct tm_event *e)
{
  struct tidemill_event out = event_of(job, e, TIDEMILL_EVENT_PROGRESS);
  struct tm_counts counts;
  tm_progress_sum(&counts, e->job);
  if (is_same(&counts, &job->seen))
    return;
  job->seen = counts;
  tm_event_counts(&job->counts, &counts);
  out.counts = &job->counts;
  tell(job, &out);
}

static void tell_step(struct tidemill_job *job, const struct tm_event *e)
{
  tm_require(e->step);
  struct tidemill_event out = event_of(job, e, TIDEMILL_EVENT_STEP);
  struct tidemill_counts counts;
  out.state = tm_event_state(e->step->verdict);
  out.text = tm_text_or_empty(e->step->cause);
  tm_event_counts(&counts, &e->step->counts);
  out.counts = &counts;
  tell(job, &out);
}

static void tell_try(struct tidemill_job *job, const struct tm_event *e)
{
  const struct tm_attempt *a = e->attempt;
  tm_require(a && e->step);
  if (a->status == TM_CANCELED) /* that of its worker says it */
    return;
  struct tidemill_event out = event_of(job, e, TIDEMILL_EVENT_MINI_BATCH);
  char *item = tm_xstrndup(a->first_item ? a->first_item : "", a->first_item_len);
  out.outcome = a->status == TM_RUN_DONE ? TIDEMILL_OUTCOME_DONE
                : a->is_final            ? TIDEMILL_OUTCOME_GIVEN_UP
                                         : TIDEMILL_OUTCOME_RETRIED;
  out.mini_batch = a->index;
  out.part_first = a->part_first;
  out.try_number = a->try;
  out.status = tm_status_name(a->status);
  out.text = tm_text_or_empty(a->message);
  out.stack = tm_text_or_empty(a->stack);
  out.where = tm_text_or_empty(a->script_where);
  out.first_item = item;
  out.items = a->items;
  out.items_succeeded = a->succeeded;
  out.items_failed = a->failed;
  out.run_ns = a->run_ns;
  tell(job, &out);
  free(item);
}

static void tell_worker(struct tidemill_job *job, const struct tm_event *e,
                        enum tidemill_worker_state state)
{
  struct tidemill_event out = event_of(job, e, TIDEMILL_EVENT_WORKER);
  out.worker_state = state;
  if (state == TIDEMILL_WORKER_FAILED) {
    out.text = tm_text_or_empty(e->message);
    out.stack = tm_text_or_empty(e->stack);
    out.where = tm_text_or_empty(e->script_where);
  }
  tell(job, &out);
}

static void tell_log(struct tidemill_job *job, const struct tm_event *e)
{
  struct tidemill_event out = event_of(job, e, TIDEMILL_EVENT_LOG);
  out.level = (enum tidemill_level)e->level; /* both enums have the same order */
  tell(job, &out);
}

/* The text is a line of the job's log, too. */
static void tell_node(struct tidemill_job *job, const struct tm_event *e)
{
  struct tidemill_event out = event_of(job, e, TIDEMILL_EVENT_NODE);
  out.level = (enum tidemill_level)e->level;
  out.node_state = (enum tidemill_node_state)e->node_change; /* likewise */
  tell_log(job, e);
  tell(job, &out);
}

/* Reports new rows after any event, because every event can come with rows. */
static void tell_rows(struct tidemill_job *job, const struct tm_event *e)
{
  struct tidemill_event out = event_of(job, e, TIDEMILL_EVENT_ROWS);
  while (job->rows.len <= e->step->number)
    *TM_ARRAY_ADD(&job->rows) = 0;
  if (e->step->output_bytes <= job->rows.at[e->step->number])
    return;
  job->rows.at[e->step->number] = out.output_bytes = e->step->output_bytes;
  tell(job, &out);
}

void tm_event_tell(struct tidemill_job *job, const struct tm_event *e)
{
  switch (e->kind) {
  case TM_EVENT_JOB_STARTED: tell_state(job, e, TIDEMILL_STATE_RUNNING, ""); break;
  case TM_EVENT_STEP_STARTED:
  case TM_EVENT_STEP_ENDED: tell_step(job, e); break;
  case TM_EVENT_WORKER_STARTED: tell_worker(job, e, TIDEMILL_WORKER_STARTED); break;
  case TM_EVENT_WORKER_READY: tell_worker(job, e, TIDEMILL_WORKER_READY); break;
  case TM_EVENT_WORKER_ENDED: tell_worker(job, e, TIDEMILL_WORKER_ENDED); break;
  case TM_EVENT_INIT_FAILED: tell_worker(job, e, TIDEMILL_WORKER_FAILED); break;
  case TM_EVENT_TRY_ENDED: tell_try(job, e); break;
  case TM_EVENT_MESSAGE: tell_log(job, e); break;
  case TM_EVENT_NODE: tell_node(job, e); break;
  case TM_EVENT_TICK: tell_progress(job, e); break;
  case TM_EVENT_SHUTDOWN_FAILED: /* for logs, with a warning */
  case TM_EVENT_HANDED_OUT:
  case TM_EVENT_FLUSHED:
  case TM_EVENT_JOB_ENDED: break; /* the host gets it when all files are on the disk */
  }
  if (e->step)
    tell_rows(job, e);
}

void tm_event_tell_end(struct tidemill_job *job)
{
  tm_require(job->has_ended);
  const struct tm_job_view *view = tm_job_view(job->job);
  struct tm_event e = { .wall_ns = tm_clock_wall_ns(), .job = view };
  tell_progress(job, &e);
  tell_state(job, &e, tm_event_state(view->verdict), view->cause);
}
