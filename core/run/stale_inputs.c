/* stale_inputs.c - see stale_inputs.h. The thread opens journal and manifest for itself. The job appends to them meanwhile; what
 * it has committed since has just been read, and has not changed.
 */
#include "run/stale_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/item_check.h"
#include "run/fates.h"
#include "run/job_own.h"
#include "run/manifest_file.h"
#include "sys/threads.h"

struct look {
  const struct tm_fs *fs;
  const atomic_bool *stop;
  struct tm_fates fates;
  struct tm_manifest *manifest;
  uint64_t behind; /* the last committed mini-batch */
  struct tm_buf last;
  int64_t looked, changed; /* files */
  struct tm_err first;     /* of those that have changed */
};

/* Which mini-batches are committed. */
static int read_fates(struct look *l, const char *path)
{
  struct tm_journal journal = { 0 };
  struct tm_journal_walk walk;
  struct tm_record r;
  int rc = tm_journal_open_read(&journal, l->fs, path, NULL);
  if (rc >= 0) {
    tm_journal_walk_init(&walk, &journal, 0);
    while (tm_journal_walk_next(&walk, &r, NULL) > 0)
      if (r.kind == TM_RECORD_COMMITTED) {
        tm_fates_put(&l->fates, r.index, TM_FATE_COMMITTED);
        l->behind = r.index >= l->behind ? r.index + 1 : l->behind;
      }
    tm_journal_walk_release(&walk);
  }
  tm_journal_close(&journal);
  return rc;
}

/* Rows of one file stand in mini-batches that follow each other. */
static bool is_last(struct look *l, const struct tm_item *item)
{
  size_t n = tm_item_file_len(item);
  if (l->last.len == n && memcmp(tm_buf_str(&l->last), item->path, n) == 0)
    return true;
  tm_buf_clear(&l->last);
  tm_buf_add(&l->last, item->path, n);
  return false;
}

static void look_at_items(struct look *l, const struct tm_manifest_entry *e)
{
  struct tm_reader r;
  struct tm_item item;
  struct tm_err err = TM_ERR_NONE;
  tm_reader_init(&r, e->bytes, e->len);
  while (l->looked < TM_STALE_INPUTS_MAX && !atomic_load(l->stop) && tm_item_next(&r, &item)) {
    if (item.is_group || is_last(l, &item))
      continue;
    l->looked++;
    if (tm_item_check(l->fs, &item, &err) != TM_ECHANGED)
      continue;
    if (l->changed++ == 0)
      l->first = err;
  }
}

static void look_at_all(struct look *l)
{
  struct tm_manifest_entry e;
  uint64_t end = tm_manifest_count(l->manifest);
  end = l->behind < end ? l->behind : end;
  for (uint64_t i = 0; i < end && l->looked < TM_STALE_INPUTS_MAX && !atomic_load(l->stop); i++)
    if (tm_fates_get(&l->fates, i) == TM_FATE_COMMITTED &&
        tm_manifest_read(l->manifest, i, &e, NULL) >= 0)
      look_at_items(l, &e);
}

static void add_warning(struct tm_buf *out, const struct look *l)
{
  if (l->changed == 0)
    return;
  tm_buf_printf(out, "%s", l->first.text);
  if (l->changed > 1)
    tm_buf_printf(out, ", and %lld more", (long long)l->changed - 1);
  tm_buf_add_str(out, "; their rows are committed already, and are of the files as they were; a "
                      "new job reads all of them as they are now");
}

void tm_stale_inputs_look(struct tm_buf *warning, const struct tm_fs *fs, const char *state_dir,
                          const atomic_bool *stop)
{
  struct look l = { .fs = fs, .stop = stop };
  char *journal = tm_path_join(state_dir, "journal");
  char *manifest = tm_path_join(state_dir, "manifest");
  if (read_fates(&l, journal) >= 0 && l.behind > 0 &&
      tm_manifest_open_read(&l.manifest, fs, manifest, 0, NULL) >= 0)
    look_at_all(&l);
  add_warning(warning, &l);
  tm_manifest_close(l.manifest);
  tm_fates_release(&l.fates);
  tm_buf_release(&l.last);
  free(journal);
  free(manifest);
}

/* The thread. */

struct tm_stale_look {
  struct tm_job *job;
  size_t step;
  char *state_dir;
  struct tm_buf warning; /* written before the wake is sent */
  struct tm_thread thread;
  struct tm_wake wake;
  atomic_bool stop;
};

static void run(void *data)
{
  struct tm_stale_look *t = data;

  tm_stale_inputs_look(&t->warning, t->job->o.fs, t->state_dir, &t->stop);
  tm_wake_send(&t->wake);
}

static void on_closed(struct tm_wake *w)
{
  struct tm_stale_look *t = w->data;

  tm_buf_release(&t->warning);
  free(t->state_dir);
  free(t);
}

static void end_look(struct tm_stale_look *t)
{
  tm_thread_join(&t->thread);
  t->job->steps[t->step].stale_look = NULL;
  t->job->errands--;
  tm_wake_close(&t->wake);
}

static void on_wake(struct tm_wake *w)
{
  struct tm_stale_look *t = w->data;
  struct tm_job *job = t->job;
  char *text;

  end_look(t); /* its memory lives until the wake is closed */
  if (t->warning.len > 0) {
    text = tm_xprintf("step '%s': %s", job->steps[t->step].own.name, tm_buf_str(&t->warning));
    tm_job_emit(job, TM_EVENT_MESSAGE, TM_WARNING, text);
    free(text);
  }
  tm_job_steps_go(job);
}

void tm_stale_inputs_start(struct tm_job *job, size_t i)
{
  struct tm_stale_look *t = TM_NEW(struct tm_stale_look);
  struct tm_err err = TM_ERR_NONE;

  t->job = job;
  t->step = i;
  t->state_dir = tm_path_join(job->steps[i].own.dir, "state");
  tm_wake_open(&t->wake, job->o.loop, on_wake, t);
  t->wake.on_closed = on_closed;
  if (tm_thread_start(&t->thread, run, t, &err) < 0) {
    tm_wake_close(&t->wake);
    return;
  }
  job->steps[i].stale_look = t;
  job->errands++;
}

void tm_stale_inputs_cancel(struct tm_job *job)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].stale_look)
      atomic_store(&job->steps[i].stale_look->stop, true);
}

void tm_stale_inputs_close(struct tm_job *job)
{
  tm_stale_inputs_cancel(job);
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].stale_look)
      end_look(job->steps[i].stale_look);
}
