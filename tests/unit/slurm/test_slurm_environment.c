/* Which variables srun gets. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "slurm/slurm_environment.h"

static void expect_removed(char *const *environment, const char *expected)
{
  struct tm_buf out = TM_BUF_NONE;
  char **names = tm_slurm_environment_removed(environment);

  for (size_t i = 0; names[i]; i++) {
    tm_buf_printf(&out, "%s ", names[i]);
    free(names[i]);
  }
  free(names);
  assert_string_equal(tm_buf_str(&out), expected);
  tm_buf_release(&out);
}

#define WORDS(...) ((char *[]) { __VA_ARGS__, NULL })

static void outside_an_allocation_the_users_own_remain(void **state)
{
  expect_removed(WORDS("HOME=/h", "SLURM_CONF=/c", "SLURM_PARTITION=p", "SLURM_ACCOUNT=a",
                       "PMIX_MCA_x=1", "SLURM_CLUSTERS=x"),
                 "");
  expect_removed(WORDS("SLURM_JOB_ID=", "SLURM_QOS=q"), "");
}

static void what_would_disturb_a_node_is_always_removed(void **state)
{
  expect_removed(WORDS("TMPDIR=/t", "CUDA_VISIBLE_DEVICES=0", "SLURM_CPU_BIND=none",
                       "SLURM_CPU_BIND_TYPE=x", "SLURM_LABELIO=1", "SLURM_STDOUTMODE=f",
                       "SLURM_STDINMODE=f", "SLURM_STDERRMODE=f", "ROCR_VISIBLE_DEVICES=1",
                       "TMPDIRS=1", "A"),
                 "TMPDIR CUDA_VISIBLE_DEVICES SLURM_CPU_BIND SLURM_CPU_BIND_TYPE SLURM_LABELIO "
                 "SLURM_STDOUTMODE SLURM_STDINMODE SLURM_STDERRMODE ROCR_VISIBLE_DEVICES ");
}

static void inside_an_allocation_what_it_sets_is_removed(void **state)
{
  expect_removed(
      WORDS("SLURM_JOB_ID=7", "SLURM_NTASKS=4", "SLURM_MEM_PER_NODE=10", "SLURM_CONF=/c",
            "SLURM_CLUSTERS=x", "SLURM_CONF_SERVER=s", "SLURM_JWT=j", "SLURMD_NODENAME=n",
            "PMI_RANK=0", "PMIX_RANK=0", "SLURM=1", "SRUN_DEBUG=3", "PATH=/bin"),
      "SLURM_JOB_ID SLURM_NTASKS SLURM_MEM_PER_NODE SLURMD_NODENAME PMI_RANK PMIX_RANK ");
}

static void the_allocation_has_an_id(void **state)
{
  assert_string_equal(tm_slurm_environment_job(WORDS("A=1", "SLURM_JOB_ID=27")), "27");
  assert_string_equal(tm_slurm_environment_job(WORDS("SLURM_JOBID=28")), "28");
  assert_null(tm_slurm_environment_job(WORDS("SLURM_JOB_ID=", "SLURM_JOB_IDS=4", "SLURM_JOB=3")));
}

UNIT_TESTS({
    cmocka_unit_test(outside_an_allocation_the_users_own_remain),
    cmocka_unit_test(what_would_disturb_a_node_is_always_removed),
    cmocka_unit_test(inside_an_allocation_what_it_sets_is_removed),
    cmocka_unit_test(the_allocation_has_an_id),
});
