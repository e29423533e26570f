/* slurm_environment.c - see slurm_environment.h. */
#include "slurm/slurm_environment.h"

#include <string.h>

#include "base/mem.h"

/* A name that ends in '*' stands for all that begin so. */
static const char *const never[] = {
  "SLURM_CPU_BIND*",  "SLURM_LABELIO",        "SLURM_STDINMODE",
  "SLURM_STDOUTMODE", "SLURM_STDERRMODE",     "SLURM_TEST_EXEC",
  "TMPDIR",           "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
  "ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL",
};
static const char *const of_allocation[] = { "SLURM_*", "SLURMD_*", "PMI*" };
static const char *const of_cluster[] = { "SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS",
                                          "SLURM_JWT" };

static bool is_one_of(const char *const *patterns, size_t n, const char *name, size_t len)
{
  for (size_t i = 0; i < n; i++) {
    size_t whole = strlen(patterns[i]), stem = whole - 1;
    bool has_star = patterns[i][stem] == '*';
    if (has_star ? len >= stem && memcmp(patterns[i], name, stem) == 0
                 : len == whole && memcmp(patterns[i], name, len) == 0)
      return true;
  }
  return false;
}

static size_t name_len(const char *variable)
{
  return strcspn(variable, "=");
}

static const char *value_of(char *const *environment, const char *name)
{
  size_t len = strlen(name);

  for (size_t i = 0; environment[i]; i++)
    if (strncmp(environment[i], name, len) == 0 && environment[i][len] == '=')
      return environment[i] + len + 1;
  return NULL;
}

/* Old versions set SLURM_JOBID alone. */
const char *tm_slurm_environment_job(char *const *environment)
{
  const char *job = value_of(environment, "SLURM_JOB_ID");

  if (!job || !*job)
    job = value_of(environment, "SLURM_JOBID");
  return job && *job ? job : NULL;
}

bool tm_slurm_environment_keeps(const char *name, size_t len, bool is_in_allocation)
{
  if (is_one_of(never, TM_COUNT_OF(never), name, len))
    return false;
  return !is_in_allocation || !is_one_of(of_allocation, TM_COUNT_OF(of_allocation), name, len) ||
         is_one_of(of_cluster, TM_COUNT_OF(of_cluster), name, len);
}

char **tm_slurm_environment_removed(char *const *environment)
{
  bool is_in_allocation = tm_slurm_environment_job(environment) != NULL;
  size_t len = 0, n = 0;
  char **names;

  while (environment[len])
    len++;
  names = tm_xcalloc(len + 1, sizeof(*names));
  for (size_t i = 0; i < len; i++) {
    size_t name = name_len(environment[i]);
    if (!tm_slurm_environment_keeps(environment[i], name, is_in_allocation))
      names[n++] = tm_xstrndup(environment[i], name);
  }
  return names;
}
