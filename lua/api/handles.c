/* handles.c - see handles.h. */
#include "api/handles.h"

#include <string.h>

#include "base/check.h"

/* The index of a step; the number of steps: there is none of that name. */
static size_t find(const struct tm_json *steps, const char *name)
{
  size_t at = 0;
  while (at < tm_json_items(steps) &&
         strcmp(tm_json_str(steps->list.at[at], "name", ""), name) != 0)
    at++;
  return at;
}

bool tm_draft_has_step(const struct tidemill_pipeline *p, const char *name)
{
  const struct tm_json *steps = tm_json_get(p->tree, "steps");
  return find(steps, name) < tm_json_items(steps);
}

struct tidemill_pipeline_step *tm_draft_step(struct tidemill_pipeline *p, size_t at)
{
  tm_require(at < tm_json_items(tm_json_get(p->tree, "steps")));
  for (size_t i = 0; i < p->steps.len; i++)
    if (p->steps.at[i]->at == at)
      return p->steps.at[i];
  struct tidemill_pipeline_step *step = TM_NEW(struct tidemill_pipeline_step);
  step->pipeline = p;
  step->at = at;
  return *TM_ARRAY_ADD(&p->steps) = step;
}

struct tidemill_pipeline_input *tm_draft_input(struct tidemill_pipeline_step *step, size_t at)
{
  for (size_t i = 0; i < step->inputs.len; i++)
    if (step->inputs.at[i]->at == at)
      return step->inputs.at[i];
  struct tidemill_pipeline_input *input = TM_NEW(struct tidemill_pipeline_input);
  input->step = step;
  input->at = at;
  return *TM_ARRAY_ADD(&step->inputs) = input;
}

struct tm_json *tm_draft_step_tree(const struct tidemill_pipeline_step *step)
{
  tm_require(step->at < tm_json_items(tm_json_get(step->pipeline->tree, "steps")));
  tm_draft_changed(step->pipeline);
  return tm_json_get(step->pipeline->tree, "steps")->list.at[step->at];
}

void tm_draft_release_handles(struct tidemill_pipeline *p)
{
  for (size_t i = 0; i < p->steps.len; i++) {
    for (size_t k = 0; k < p->steps.at[i]->inputs.len; k++)
      free(p->steps.at[i]->inputs.at[k]);
    TM_ARRAY_RELEASE(&p->steps.at[i]->inputs);
    free(p->steps.at[i]);
  }
  TM_ARRAY_RELEASE(&p->steps);
}

int tidemill_pipeline_find_step(struct tidemill_pipeline_step **out, struct tidemill_pipeline *p,
                                const char *name, struct tm_err *err)
{
  static const char call[] = "tidemill_pipeline_find_step()";
  if (out)
    *out = NULL;
  if (tm_need(err, call, "out", out, "p", p, "name", name, NULL) < 0)
    return TM_EUSAGE;
  const struct tm_json *steps = tm_json_get(p->tree, "steps");
  size_t at = find(steps, name);
  if (at == tm_json_items(steps))
    return tm_err_set(err, TM_EUSAGE, "%s: there is no step '%s'", call, name);
  *out = tm_draft_step(p, at);
  return 0;
}
