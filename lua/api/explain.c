/* explain.c - see explain.h. */
#include "api/explain.h"

#include "job/reuse_plan.h"

static struct tm_json *said(const struct tm_step *step, const struct tm_planned_reuse *s)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "name", tm_json_new_string(step->name));
  tm_json_set(v, "reused", tm_json_new_bool(s->from != NULL));
  tm_json_set(v, "why", tm_json_new_string(s->why));
  tm_json_set_text(v, "from", s->from);
  return v;
}

struct tm_json *tm_explain(const struct tm_pipeline *p, const struct tm_fs *fs,
                           const char *workspace, bool no_reuse, struct tm_err *err)
{
  struct tm_reuse_plan f = {
    .fs = fs, .pipeline = p, .workspace = workspace, .no_reuse = no_reuse
  };
  struct tm_json *all = tm_json_new(TM_JSON_ARRAY);
  for (size_t i = 0; i < p->steps_len && all; i++) {
    const struct tm_planned_reuse *s = tm_reuse_plan_step(&f, p->steps[i]);
    if (s->code == 0) {
      tm_json_add(all, said(p->steps[i], s));
      continue;
    }
    tm_err_set(err, s->code, "step '%s': %s", p->steps[i]->name, s->why);
    tm_json_free(all);
    all = NULL;
  }
  tm_reuse_plan_release(&f);
  return all;
}
