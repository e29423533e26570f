/* first_look.c - see first_look.h. Caller and thread own the struct together; the last to leave
 * frees it. The thread reads only the struct: it may still wait for a file system when the pipeline
 * no longer exists. */
#include "job/first_look.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/files/input_look.h"
#include "sys/clock.h"
#include "sys/threads.h"

/* Datasets of which at least one must name something. */
struct group {
  struct tm_dataset **inputs;
  size_t len;
  char *step; /* for the message; NULL: the pipeline has only one */
};

struct look {
  const struct tm_fs *fs;
  struct TM_ARRAY(struct group) groups;
  struct tm_thread thread;
  struct tm_mutex mutex; /* guards the rest */
  struct tm_cond ended;
  int owners;
  bool has_ended;
  struct tm_err err;
};

static void add_group(struct look *l, const struct tm_pipeline *p, const struct tm_step *step,
                      struct tm_dataset *const *inputs, size_t len)
{
  struct group *g = TM_ARRAY_ADD(&l->groups);

  g->inputs = tm_xcalloc(len + 1, sizeof(*g->inputs));
  g->len = len;
  g->step = p->steps_len > 1 ? tm_xstrdup(step->name) : NULL;
  for (size_t i = 0; i < len; i++)
    g->inputs[i] = tm_dataset_copy(inputs[i]);
}

static void add_step(struct look *l, const struct tm_pipeline *p, const struct tm_step *step)
{
  if (step->needs_len > 0 || step->config.resume_from)
    return;
  add_group(l, p, step, step->inputs, step->inputs_len);
  for (size_t i = 0; i < step->side_inputs_len; i++)
    if (step->side_inputs[i]->mode != TM_DATASET_DIRECT)
      add_group(l, p, step, &step->side_inputs[i], 1);
}

static void free_look(struct look *l)
{
  for (size_t i = 0; i < l->groups.len; i++) {
    for (size_t k = 0; k < l->groups.at[i].len; k++)
      tm_dataset_free(l->groups.at[i].inputs[k]);
    free(l->groups.at[i].inputs);
    free(l->groups.at[i].step);
  }
  TM_ARRAY_RELEASE(&l->groups);
  tm_cond_release(&l->ended);
  tm_mutex_release(&l->mutex);
  free(l);
}

static void let_go(struct look *l)
{
  bool is_last;

  tm_mutex_lock(&l->mutex);
  is_last = --l->owners == 0;
  tm_mutex_unlock(&l->mutex);
  if (is_last)
    free_look(l);
}

static void run(void *data)
{
  struct look *l = data;
  struct tm_err err = TM_ERR_NONE;

  for (size_t i = 0; i < l->groups.len && err.code == 0; i++) {
    const struct group *g = &l->groups.at[i];
    if (tm_inputs_look(l->fs, g->inputs, g->len, &err) < 0 && g->step)
      tm_err_wrap(&err, "step '%s'", g->step);
  }
  tm_mutex_lock(&l->mutex);
  l->err = err;
  l->has_ended = true;
  tm_cond_signal(&l->ended);
  tm_mutex_unlock(&l->mutex);
  let_go(l);
}

/* False: the look takes too long. */
static bool wait_for(struct look *l, struct tm_err *err)
{
  int64_t end_ns = tm_clock_mono_ns() + TM_FIRST_LOOK_NS, left_ns = TM_FIRST_LOOK_NS;
  bool has_ended;

  tm_mutex_lock(&l->mutex);
  while (!l->has_ended && left_ns > 0) {
    tm_cond_wait_for(&l->ended, &l->mutex, left_ns);
    left_ns = end_ns - tm_clock_mono_ns();
  }
  has_ended = l->has_ended;
  if (has_ended && l->err.code < 0 && err)
    *err = l->err;
  tm_mutex_unlock(&l->mutex);
  return has_ended;
}

int tm_first_look(const struct tm_fs *fs, const struct tm_pipeline *p, struct tm_err *err)
{
  struct look *l = TM_NEW(struct look);
  struct tm_err found = TM_ERR_NONE;

  l->fs = fs;
  l->owners = 2;
  tm_mutex_init(&l->mutex);
  tm_cond_init(&l->ended);
  for (size_t i = 0; i < p->steps_len; i++)
    add_step(l, p, p->steps[i]);
  if (tm_thread_start(&l->thread, run, l, &found) < 0) {
    free_look(l);
    return 0; /* the job will report what is wrong with this machine */
  }
  if (wait_for(l, &found))
    tm_thread_join(&l->thread);
  else
    tm_thread_leave(&l->thread);
  let_go(l);
  if (found.code < 0 && err)
    *err = found;
  return found.code < 0 ? found.code : 0;
}
