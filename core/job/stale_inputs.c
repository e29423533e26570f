/* stale_inputs.c - see stale_inputs.h. The thread opens the journal and the manifest for itself,
 * while the job appends to them. What the job has committed since then was read just now, so it
 * cannot be stale. */
#include "job/stale_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "commit/mini_batch_states.h"
#include "commit/manifest_file.h"
#include "data/item_check.h"
#include "job/job_own.h"
#include "sys/clock.h"
#include "sys/errand.h"

#define PATIENCE_NS (10 * TM_S) /* at the end of a job */

struct look {
  const struct tm_fs *fs;
  const atomic_bool *stop;
  struct tm_mini_batch_states mini_batch_states;
  struct tm_manifest *manifest;
  uint64_t behind; /* index after the last committed mini-batch */
  struct tm_buf last;
  int64_t looked, changed; /* files */
  struct tm_err first;     /* names the first file that has changed */
};

/* Finds which mini-batches are committed. */
static int read_states(struct look *l, const char *path)
{
  struct tm_journal journal = { 0 };
  struct tm_journal_walk walk;
  struct tm_record r;
  int rc = tm_journal_open_read(&journal, l->fs, path, NULL);
  if (rc >= 0) {
    tm_journal_walk_init(&walk, &journal, 0);
    while (tm_journal_walk_next(&walk, &r, NULL) > 0)
      if (r.kind == TM_RECORD_COMMITTED) {
        tm_mini_batch_states_put(&l->mini_batch_states, r.index, TM_MINI_BATCH_COMMITTED);
        l->behind = r.index >= l->behind ? r.index + 1 : l->behind;
      }
    tm_journal_walk_release(&walk);
  }
  tm_journal_close(&journal);
  return rc;
}

/* Whether this is the same file as last time: mini-batches of one file's rows follow each other. */
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
    if (tm_item_check(l->fs, &item, false, &err) != TM_ECHANGED)
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
    if (tm_mini_batch_states_get(&l->mini_batch_states, i) == TM_MINI_BATCH_COMMITTED &&
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
  if (read_states(&l, journal) >= 0 && l.behind > 0 &&
      tm_manifest_open_read(&l.manifest, fs, manifest, 0, NULL) >= 0)
    look_at_all(&l);
  add_warning(warning, &l);
  tm_manifest_close(l.manifest);
  tm_mini_batch_states_release(&l.mini_batch_states);
  tm_buf_release(&l.last);
  free(journal);
  free(manifest);
}

/* The thread. A file system may hang, and nobody can end a call that hangs. Such a thread is left
 * behind (errand.h), and touches nothing of the job. */

struct tm_stale_look {
  struct tm_job *job; /* not for the thread */
  size_t step;
  int64_t over_ns; /* monotonic: since when the job waits only for this; 0: it does not yet */
  const struct tm_fs *fs;
  char *state_dir;
  struct tm_buf warning; /* of the thread until it has ended */
  atomic_bool stop;
  struct tm_errand errand;
};

static void run(void *data)
{
  struct tm_stale_look *t = data;

  tm_stale_inputs_look(&t->warning, t->fs, t->state_dir, &t->stop);
}

static void free_look(void *data)
{
  struct tm_stale_look *t = data;

  tm_buf_release(&t->warning);
  free(t->state_dir);
  free(t);
}

/* False: it is still at work, and is left behind. */
static bool end_look(struct tm_stale_look *t)
{
  atomic_store(&t->stop, true);
  t->job->steps[t->step].stale_look = NULL;
  t->job->errands--;
  return tm_errand_end(&t->errand, 0);
}

static void say(struct tm_job *job, size_t step, const char *words)
{
  char *text = tm_xprintf("step '%s': %s", job->steps[step].own.name, words);

  tm_job_emit(job, TM_EVENT_MESSAGE, TM_WARNING, text);
  free(text);
}

static void on_wake(void *data)
{
  struct tm_stale_look *t = data; /* lives until the loop turns */

  if (end_look(t) && t->warning.len > 0)
    say(t->job, t->step, tm_buf_str(&t->warning));
  tm_job_steps_go(t->job);
}

void tm_stale_inputs_start(struct tm_job *job, size_t i)
{
  struct tm_stale_look *t = TM_NEW(struct tm_stale_look);

  t->job = job;
  t->step = i;
  t->fs = job->o.fs;
  t->state_dir = tm_path_join(job->steps[i].own.dir, "state");
  t->errand = (struct tm_errand) {
    .loop = job->o.loop, .run = run, .on_wake = on_wake, .free_data = free_look, .data = t
  };
  if (tm_errand_start(&t->errand, NULL) < 0)
    return;
  job->steps[i].stale_look = t;
  job->errands++;
}

void tm_stale_inputs_tick(struct tm_job *job)
{
  int64_t now = tm_clock_mono_ns();
  bool has_left = false;

  for (size_t i = 0; job->steps_over == job->steps_len && i < job->steps_len; i++) {
    struct tm_stale_look *t = job->steps[i].stale_look;
    if (!t)
      continue;
    t->over_ns = t->over_ns ? t->over_ns : now;
    if (now - t->over_ns < PATIENCE_NS)
      continue;
    say(job, i,
        "whether inputs have changed since their rows were written is not known: their "
        "file system takes too long to answer");
    (void)end_look(t);
    has_left = true;
  }
  if (has_left)
    tm_job_steps_go(job);
}

void tm_stale_inputs_close(struct tm_job *job)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].stale_look)
      (void)end_look(job->steps[i].stale_look);
}
