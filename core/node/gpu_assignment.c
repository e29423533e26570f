/* gpu_assignment.c - assigns GPUs to workers.
 *
 *  (1) A worker gets the first device that no living worker of the node has, of any step. Only the
 *      workers themselves store their devices: when the end of one has been reported, its device is
 *      free.
 *  (2) If there are no devices, or all are hidden, workers get the variable of the node.
 *
 * A killed worker is reaped, and what it started is killed, before its end is reported and another
 * worker starts: by then its use of the device has ended.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/check.h"
#include "node/node_own.h"

char *tm_keeper_gpu_entry(const struct tm_gpus *gpus, char *const *used, size_t used_len,
                          bool hides, const char **gpu)
{
  *gpu = NULL;
  if (gpus->len == 0) /* (2) */
    return NULL;
  for (size_t i = 0; i < gpus->len; i++) {
    bool is_used = false;
    for (size_t k = 0; k < used_len && !is_used; k++)
      is_used = used[k] && strcmp(used[k], gpus->names[i]) == 0;
    if (!is_used) {
      *gpu = gpus->names[i];
      return tm_xprintf("%s=%s", TM_GPUS_VISIBLE, gpus->names[i]);
    }
  }
  return tm_xprintf("%s%s", TM_GPUS_VISIBLE, hides ? "=-1" : "");
}

/* The value of the variable in a worker of the step. */
static const char *variable(const struct tm_node_step *s, const char *name)
{
  size_t len = strlen(name);
  for (size_t i = s->environment_len; i-- > 0;)
    if (strncmp(s->environment[i], name, len) == 0 && s->environment[i][len] == '=')
      return s->environment[i] + len + 1;
  return getenv(name);
}

void tm_keeper_find_gpus(struct tm_keeper_step *step)
{
  tm_gpus_find(&step->gpus, variable(&step->s, TM_GPUS_VISIBLE), variable(&step->s, TM_GPUS_COUNT));
  if (step->gpus.len > 0)
    tm_keeper_log(step, TM_INFO, "%zu %s, the first is '%s'; each worker gets one of them",
                  step->gpus.len, tm_text_counted((int64_t)step->gpus.len, "GPU", "GPUs"),
                  step->gpus.names[0]);
}

char *tm_keeper_give_gpu(struct tm_keeper *k, struct tm_keeper_worker *w) /* keeps (1) */
{
  struct TM_ARRAY(char *) used = { 0 };
  const char *gpu;
  tm_require(!w->gpu);
  for (size_t i = 0; i < k->workers.len; i++)
    *TM_ARRAY_ADD(&used) = k->workers.at[i]->gpu;
  char *entry = tm_keeper_gpu_entry(&w->step->gpus, used.at, used.len, w->step->s.hides_gpus, &gpu);
  w->gpu = tm_xstrdup(gpu);
  TM_ARRAY_RELEASE(&used);
  return entry;
}
