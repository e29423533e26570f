/* first_look.c - see first_look.h. The thread reads only the struct: it may still wait for a file
 * system when the pipeline no longer exists. */
#include "job/first_look.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/files/input_look.h"
#include "data/table_schema.h"
#include "plan/model_script.h"
#include "sys/errand.h"

/* Datasets of which at least one must name something. */
struct group {
  struct tm_dataset **inputs;
  size_t len;
  char *step; /* for the message; NULL: the pipeline has only one */
};

/* The tables of a step with a model. */
struct model {
  struct tm_model_wish *wish;
  size_t group; /* has its inputs */
};

struct look {
  const struct tm_fs *fs;
  struct TM_ARRAY(struct model) models;
  struct TM_ARRAY(struct group) groups;
  struct tm_errand errand;
  struct tm_err err; /* of the thread until it has ended */
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
  struct tm_model_wish *wish = tm_model_wish_of(step);
  if (wish)
    *TM_ARRAY_ADD(&l->models) = (struct model) { .wish = wish, .group = l->groups.len };
  add_group(l, p, step, step->inputs, step->inputs_len);
  for (size_t i = 0; i < step->side_inputs_len; i++)
    if (step->side_inputs[i]->mode != TM_DATASET_DIRECT)
      add_group(l, p, step, &step->side_inputs[i], 1);
}

static void free_look(void *data)
{
  struct look *l = data;

  for (size_t i = 0; i < l->groups.len; i++) {
    for (size_t k = 0; k < l->groups.at[i].len; k++)
      tm_dataset_free(l->groups.at[i].inputs[k]);
    free(l->groups.at[i].inputs);
    free(l->groups.at[i].step);
  }
  TM_ARRAY_RELEASE(&l->groups);
  for (size_t i = 0; i < l->models.len; i++)
    tm_model_wish_free(l->models.at[i].wish);
  TM_ARRAY_RELEASE(&l->models);
  free(l);
}

/* Whether the tables have the columns that the model wants, as far as a look tells. */
static int look_at_model(struct look *l, const struct model *m)
{
  const struct group *g = &l->groups.at[m->group];
  int rc = 0;

  for (size_t i = 0; i < g->len && rc == 0; i++) {
    struct tm_schema columns;
    if (tm_table_schema_find(&columns, l->fs, g->inputs[i]) > 0)
      rc = tm_model_wish_check_schema(m->wish, g->inputs[i], &columns, &l->err);
    tm_schema_release(&columns);
  }
  return rc;
}

static void add_step_name(struct look *l, const struct group *g)
{
  if (g->step)
    tm_err_wrap(&l->err, "step '%s'", g->step);
}

static void run(void *data)
{
  struct look *l = data;

  for (size_t i = 0; i < l->groups.len && l->err.code == 0; i++)
    if (tm_inputs_look(l->fs, l->groups.at[i].inputs, l->groups.at[i].len, &l->err) < 0)
      add_step_name(l, &l->groups.at[i]);
  for (size_t i = 0; i < l->models.len && l->err.code == 0; i++)
    if (look_at_model(l, &l->models.at[i]) < 0)
      add_step_name(l, &l->groups.at[l->models.at[i].group]);
}

int tm_first_look(const struct tm_fs *fs, const struct tm_pipeline *p, struct tm_err *err)
{
  struct look *l = TM_NEW(struct look);
  struct tm_err found = TM_ERR_NONE;

  l->fs = fs;
  l->errand = (struct tm_errand) { .run = run, .free_data = free_look, .data = l };
  for (size_t i = 0; i < p->steps_len; i++)
    add_step(l, p, p->steps[i]);
  if (tm_errand_start(&l->errand, NULL) < 0)
    return 0; /* the job will report what is wrong with this machine */
  if (tm_errand_wait(&l->errand, TM_FIRST_LOOK_NS))
    found = l->err;
  (void)tm_errand_end(&l->errand, 0);
  if (found.code < 0 && err)
    *err = found;
  return found.code < 0 ? found.code : 0;
}
