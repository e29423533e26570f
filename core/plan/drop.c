/* drop.c - see drop.h. */
#include "plan/drop.h"

#include <string.h>

#include "plan/inputs.h"
#include "plan/script_arguments.h"

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
