/* bound.c - see bound.h. */
#include "plan/bound.h"

#include "base/mem.h"
#include "base/path.h"

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
