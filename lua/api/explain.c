/* explain.c - see explain.h. The same questions as a job asks (run/reuse.h), in the order in which steps feed each other. */
#include "api/explain.h"

#include <string.h>

#include "plan/snapshot.h"
#include "run/reuse.h"
#include "store/db.h"

struct explaining {
  const struct tm_pipeline *p;
  const struct tm_fs *fs;
  const char *workspace;
  struct tm_db *db;       /* or NULL */
  struct tm_json **steps; /* what is said of each; NULL: not yet */
  struct tm_err *err;
};

static size_t number_of(const struct explaining *x, const char *name)
{
  size_t i = 0;
  while (strcmp(x->p->steps[i]->name, name) != 0)
    i++;
  return i;
}

/* Where the outputs of a step are that would be reused. */
static const char *dir_of(void *data, const char *name)
{
  const struct explaining *x = data;
  return tm_json_str(x->steps[number_of(x, name)], "from", "");
}

static struct tm_json *said(const struct tm_step *step, const char *from, const char *why)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "name", tm_json_new_string(step->name));
  tm_json_set(v, "reused", tm_json_new_bool(from != NULL));
  tm_json_set(v, "why", tm_json_new_string(why));
  if (from)
    tm_json_set(v, "from", tm_json_new_string(from));
  return v;
}

static struct tm_json *ask(struct explaining *x, const struct tm_step *step)
{
  struct tm_reuse r = { .fs = x->fs,
                        .workspace = x->workspace,
                        .pipeline = x->p->name,
                        .step = step,
                        .dir_of = dir_of,
                        .data = x };
  struct tm_json *v = NULL;
  char hash[17];
  int rc = tm_snapshot_hash(x->fs, &step->config, NULL, hash, x->err);
  if (rc < 0)
    return NULL;
  tm_reuse_init(&r, hash);
  rc = tm_reuse_hope(&r, x->db, x->err);
  if (rc > 0)
    rc = tm_reuse_look(&r, x->err);
  if (rc >= 0)
    v = said(step, rc > 0 ? r.rows.at[r.chosen].job : NULL, r.words);
  tm_reuse_release(&r);
  return v;
}

/* A step that it reads, and that is run. */
static const struct tm_step *run_before(const struct explaining *x, const struct tm_step *step)
{
  for (size_t i = 0; i < step->needs_len; i++) {
    const struct tm_json *v = x->steps[number_of(x, step->needs[i]->name)];
    if (v && !tm_json_bool(v, "reused", false))
      return step->needs[i];
  }
  return NULL;
}

static bool is_due(const struct explaining *x, const struct tm_step *step)
{
  for (size_t i = 0; i < step->needs_len; i++)
    if (!x->steps[number_of(x, step->needs[i]->name)])
      return false;
  return true;
}

static struct tm_json *explain(struct explaining *x, const struct tm_step *step)
{
  const char *obstacle = tm_reuse_obstacle(x->p, step);
  const struct tm_step *before = run_before(x, step);
  struct tm_json *v;
  char *why;
  if (obstacle || !x->workspace)
    return said(step, NULL, obstacle ? obstacle : "there is no workspace yet");
  if (!before)
    return ask(x, step);
  why = tm_xprintf("step '%s', whose output it reads, is run", before->name);
  v = said(step, NULL, why);
  free(why);
  return v;
}

/* One round over those that wait for nothing any more; false: something could not be had. */
static bool explain_due(struct explaining *x, size_t *left)
{
  for (size_t i = 0; i < x->p->steps_len; i++) {
    if (x->steps[i] || !is_due(x, x->p->steps[i]))
      continue;
    x->steps[i] = explain(x, x->p->steps[i]);
    if (!x->steps[i]) {
      tm_err_wrap(x->err, "step '%s'", x->p->steps[i]->name);
      return false;
    }
    --*left;
  }
  return true;
}

struct tm_json *tm_explain(const struct tm_pipeline *p, const struct tm_fs *fs,
                           const char *workspace, struct tm_err *err)
{
  struct explaining x = { .p = p, .fs = fs, .workspace = workspace, .err = err };
  struct tm_json *all = tm_json_new(TM_JSON_ARRAY);
  size_t left = p->steps_len;
  bool is_good = !workspace || tm_db_open(&x.db, workspace, TM_DB_READ, err) >= 0;
  x.steps = tm_xcalloc(p->steps_len, sizeof(struct tm_json *));
  while (is_good && left > 0)
    is_good = explain_due(&x, &left);
  for (size_t i = 0; i < p->steps_len; i++)
    if (is_good)
      tm_json_add(all, x.steps[i]);
    else
      tm_json_free(x.steps[i]);
  free(x.steps);
  tm_db_close(x.db);
  if (!is_good) {
    tm_json_free(all);
    return NULL;
  }
  return all;
}
