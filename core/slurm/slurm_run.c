/* slurm_run.c - see slurm_run.h. */
#include "slurm/slurm_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "slurm/slurm_environment.h"
#include "sys/program.h"

#define OUTPUT_MAX ((size_t)16 << 20) /* bytes; the names of all machines fit in */

/* What srun gets of our environment; the entries are not copied. */
static char **environment(void)
{
  bool is_in_allocation = tm_slurm_environment_job(environ) != NULL;
  size_t len = 0, n = 0;
  char **kept;

  while (environ[len])
    len++;
  kept = tm_xcalloc(len + 1, sizeof(*kept));
  for (size_t i = 0; i < len; i++)
    if (tm_slurm_environment_keeps(environ[i], strcspn(environ[i], "="), is_in_allocation))
      kept[n++] = environ[i];
  return kept;
}

int tm_slurm_run(struct tm_slurm_ran *ran, char *const *argv, int64_t limit_ns, struct tm_err *err)
{
  char **env = environment();
  struct tm_program p = { .argv = argv, .env = env, .input = "" };
  struct tm_program_capture c = { .out = &ran->out, .err = &ran->said, .max = OUTPUT_MAX };
  struct tm_process_end end = { 0 };
  int rc;

  *ran = (struct tm_slurm_ran) { .out = TM_BUF_NONE, .said = TM_BUF_NONE };
  rc = tm_program_run(&p, &c, limit_ns, &end, &ran->is_late, err);
  ran->has_failed = rc == 0 && !ran->is_late && (end.signal != 0 || end.exit_status != 0);
  ran->signal = ran->has_failed ? end.signal : 0;
  free(env);
  return rc;
}

void tm_slurm_ran_release(struct tm_slurm_ran *ran)
{
  tm_buf_release(&ran->out);
  tm_buf_release(&ran->said);
}
