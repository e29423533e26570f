/* bound.c - see bound.h. */
#include "plan/bound.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "plan/inputs.h"
#include "plan/script_arguments.h"

void tm_bound_init(struct tm_bound *b, const struct tm_step *s, const char *job_dir)
{
  b->inputs_len = s->inputs_len;
  b->arguments_len = s->arguments_len;
  b->inputs = tm_xcalloc(s->inputs_len + 1, sizeof(*b->inputs));
  b->arguments = tm_xcalloc(s->arguments_len + 1, sizeof(*b->arguments));
  for (size_t i = 0; i < s->inputs_len; i++)
    b->inputs[i] = tm_dataset_bind(s->inputs[i], job_dir);
  for (size_t i = 0; i < s->stagings_len; i++) {
    const struct tm_step_staging *input_staging = &s->stagings[i];
    bool is_input =
        input_staging->input >= 0 && s->inputs[input_staging->input]->mode != TM_DATASET_DIRECT;
    char *folder = tm_path_join(job_dir, input_staging->folder);
    if (is_input) { /* otherwise, other inputs have replaced those of the definition */
      tm_dataset_free(b->inputs[input_staging->input]);
      b->inputs[input_staging->input] = tm_dataset_within(input_staging->dataset, folder);
    }
    free(folder);
  }
  for (size_t i = 0; i < s->arguments_len; i++)
    b->arguments[i] = tm_xstrdup(s->arguments[i]);
  for (size_t i = 0; i < s->paths_len; i++) {
    char **argument = &b->arguments[s->paths[i].at];
    free(*argument);
    *argument = tm_path_join(job_dir, s->arguments[s->paths[i].at]);
  }
}

void tm_bound_release(struct tm_bound *b)
{
  for (size_t i = 0; i < b->inputs_len; i++)
    tm_dataset_free(b->inputs[i]);
  for (size_t i = 0; i < b->arguments_len; i++)
    free(b->arguments[i]);
  free(b->inputs);
  free(b->arguments);
  *b = (struct tm_bound) { 0 };
}

static void drop_need(struct tm_step *s, const struct tm_step *need)
{
  size_t kept = 0;
  for (size_t i = 0; i < s->needs_len; i++)
    if (s->needs[i] != need)
      s->needs[kept++] = s->needs[i];
  s->needs_len = kept;
}

void tm_pipeline_drop_step(struct tm_pipeline *p, size_t at, const char *job_dir)
{
  for (size_t i = 0; i < p->steps_len; i++) {
    drop_need(p->steps[i], p->steps[at]);
    tm_inputs_settle(p->steps[i], p->steps[at]->name, job_dir);
    tm_script_arguments_settle(p->steps[i], p->steps[at]->name, job_dir);
  }
  tm_step_free(p->steps[at]);
  p->steps_len--;
  memmove(&p->steps[at], &p->steps[at + 1], (p->steps_len - at) * sizeof(struct tm_step *));
  for (size_t i = at; i < p->steps_len; i++)
    p->steps[i]->number = i;
}
