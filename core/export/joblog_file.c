/* joblog_file.c - see joblog_file.h. */
#include "export/joblog_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/deciding.h"
#include "export/joblog.h"
#include "report/log_file.h"
#include "report/tries.h"

struct step {
  struct tm_joblog_command command; /* of a step whose mini-batches end */
  struct tm_deciding deciding;
};

struct tm_joblog_file {
  struct tm_joblog_file_options o;
  struct tm_listener listener;
  struct tm_log_file file;
  struct TM_ARRAY(struct step) steps; /* by number */
};

static void note(const struct tm_joblog_file *f, int rc, const struct tm_err *err)
{
  if (rc < 0)
    f->o.on_failure(f->o.data, err);
}

static struct step *step_of(struct tm_joblog_file *f, const struct tm_event *e)
{
  while (f->steps.len <= e->step->number)
    *TM_ARRAY_ADD(&f->steps) = (struct step) { .deciding = { .slots = NULL } };
  struct step *s = &f->steps.at[e->step->number];
  if (!s->command.before)
    s->command = tm_joblog_command(e->job->dir, e->job->steps_len > 1 ? e->step->name : NULL);
  return s;
}

static void add_try(struct tm_joblog_file *f, const struct tm_event *e)
{
  const struct tm_attempt *a = e->attempt;
  struct step *s = step_of(f, e);
  struct tm_decision decision;
  struct tm_deciding_try t = { .mini_batch = (int64_t)a->index,
                               .is_part = a->part_first > 0,
                               .is_done = a->status == TM_RUN_DONE,
                               .items = a->is_uncounted ? 0 : a->items,
                               .failed = a->failed,
                               .bytes = a->bytes };
  if (tm_deciding_add(&s->deciding, &t, &decision))
    tm_joblog_add(&f->file.text,
                  &(struct tm_joblog_row) {
                      .mini_batch = (int64_t)a->index,
                      .host = e->node_address,
                      .begin_wall_ns = a->begin_wall_ns,
                      .elapsed_ns = a->total_ns,
                      .bytes = decision.bytes,
                      .has_succeeded = decision.has_succeeded,
                      .is_timeout = strcmp(tm_tries_category(a->status), "timeout") == 0,
                      .signal = a->signal },
                  &s->command);
}

static void on_event(void *data, const struct tm_event *e)
{
  struct tm_joblog_file *f = data;
  struct tm_err err = TM_ERR_NONE;
  if (e->kind == TM_EVENT_TRY_ENDED && !f->file.is_given_up) {
    add_try(f, e);
    note(f, tm_log_file_flush_large(&f->file, &err), &err);
  } else if (e->kind == TM_EVENT_TICK || e->kind == TM_EVENT_JOB_ENDED) {
    note(f, tm_log_file_flush(&f->file, &err), &err);
  }
}

/* Rows in a file of something else would damage it. */
static int check_front(const struct tm_log_file *f, struct tm_err *err)
{
  char front[sizeof(TM_JOBLOG_HEADER)];
  size_t n = strlen(TM_JOBLOG_HEADER);
  int64_t got = tm_fs_read_at(f->fs, f->fd, f->path, front, n, 0, err);
  if (got < 0)
    return (int)got;
  return got == (int64_t)n && memcmp(front, TM_JOBLOG_HEADER, n) == 0
             ? 0
             : tm_err_set(err, TM_EUSAGE,
                          "'%s' is there already, and is not a joblog; name another file", f->path);
}

struct tm_joblog_file *tm_joblog_file_new(const struct tm_joblog_file_options *o,
                                          struct tm_err *err)
{
  struct tm_joblog_file *f = TM_NEW(struct tm_joblog_file);
  *f = (struct tm_joblog_file) { .o = *o, .listener = { .on_event = on_event, .data = f } };
  int rc = tm_log_file_open_named(&f->file, o->fs, o->path, err);
  if (rc == 0 && tm_log_file_is_empty(&f->file))
    tm_buf_add_str(&f->file.text, TM_JOBLOG_HEADER);
  else if (rc == 0)
    rc = check_front(&f->file, err);
  if (rc == 0) {
    tm_events_add(o->events, &f->listener);
    return f;
  }
  tm_buf_clear(&f->file.text);
  tm_joblog_file_free(f);
  return NULL;
}

void tm_joblog_file_free(struct tm_joblog_file *f)
{
  struct tm_err err = TM_ERR_NONE;
  if (!f)
    return;
  note(f, tm_log_file_close(&f->file, &err), &err);
  for (size_t i = 0; i < f->steps.len; i++) {
    tm_joblog_command_release(&f->steps.at[i].command);
    tm_deciding_release(&f->steps.at[i].deciding);
  }
  TM_ARRAY_RELEASE(&f->steps);
  free(f);
}
