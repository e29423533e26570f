/* test_allocation.c - the allocation of Slurm that a job runs in, with scripts for its commands. */
#include "unit.h"

#include "store_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/command_template.h"
#include "slurm/allocation.h"

static char *a_path; /* PATH before the case */

static int open_case(void **state)
{
  static const char *const names[] = {
    "SLURM_JOB_ID",   "SLURM_JOBID",    "SLURM_JOB_NODELIST",      "SLURM_NODELIST",
    "SALLOC_NO_KILL", "SBATCH_NO_KILL", "SLURM_JOB_CPUS_PER_NODE", "ENVIRONMENT"
  };
  int rc = store_open(state);

  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    unsetenv(names[i]);
  a_path = tm_xstrdup(getenv("PATH"));
  setenv("SLURM_JOB_ID", "27", 1);
  setenv("SLURM_JOB_NODELIST", "cn[1-3]", 1);
  setenv("SLURM_JOB_CPUS_PER_NODE", "2(x2),4", 1);
  return rc;
}

static int close_case(void **state)
{
  setenv("PATH", a_path, 1);
  free(a_path);
  return store_close(state);
}

/* A command of Slurm that is this script; without one there is no such command. */
static void put_command(const char *dir, const char *name, const char *script)
{
  char *file = tm_path_join(dir, name), *text = tm_xprintf("#!/bin/sh\n%s\n", script);

  assert_int_equal(tm_fs_write_file(tm_fs_real(), file, text, strlen(text), 0700, NULL), 0);
  setenv("PATH", dir, 1);
  free(text);
  free(file);
}

#define SHOWS                                                                                      \
  "[ \"$1 $2\" = 'show hostnames' ] || exit 1\n"                                                   \
  "case $3 in 'cn[1-3]') echo cn1; echo cn2; echo cn3 ;; *) echo \"$3\" ;; esac"

static struct tm_config of_slurm(const char *exclude, bool wants_jobs)
{
  return (struct tm_config) { .uses_slurm = true,
                              .wants_slurm_jobs = wants_jobs,
                              .slurm_exclude = (char *)exclude };
}

static void expect_found(const char *exclude, const char *expected)
{
  struct tm_config c = of_slurm(exclude, false);
  struct tm_allocation a;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf out = TM_BUF_NONE;
  int rc = tm_allocation_find(&a, &c, &err);

  assert_int_equal(rc, err.code);
  if (rc < 0)
    tm_buf_add_str(&out, err.text);
  for (size_t i = 0; rc == 0 && i < a.hosts_len; i++)
    tm_buf_printf(&out, "%s:%d ", a.hosts[i], (int)a.cpus[i]);
  if (!strstr(tm_buf_str(&out), expected))
    fail_msg("'%s' is missing in: %s", expected, tm_buf_str(&out));
  tm_buf_release(&out);
  tm_allocation_release(&a);
}

static void hosts_have_the_cpus_of_the_allocation(void **state)
{
  put_command(*state, "scontrol", SHOWS);
  expect_found(NULL, "cn1:2 cn2:2 cn3:4 ");
  expect_found("cn1", "cn2:2 cn3:4 ");
  expect_found("other", "cn1:2 cn2:2 cn3:4 ");
  unsetenv("SLURM_JOB_CPUS_PER_NODE");
  expect_found("cn2", "cn1:0 cn3:0 ");
}

static void hosts_that_cannot_be_found_are_an_error(void **state)
{
  put_command(*state, "scontrol", SHOWS);
  expect_found("cn[1-3]", "the allocation 27 has no host, or slurm_options exclude all of them; to "
                          "start a Slurm job for each node instead: slurm_allocation = \"new\"");
  put_command(*state, "scontrol", "echo 'scontrol: error: broken' >&2; exit 1");
  expect_found(NULL, "cannot list the hosts of the allocation 27 (scontrol show hostnames): "
                     "scontrol: error: broken; ");
  put_command(*state, "scontrol", "true");
  expect_found(NULL, "the allocation 27 has no host");
  put_command(*state, "scontrol", "printf -- '-x\\ncn 1\\n\\001\\n[a\\n'");
  expect_found(NULL, "the allocation 27 has no host");
  setenv("PATH", "/nonexistent", 1);
  expect_found(NULL, "cannot list the hosts of the allocation 27 (scontrol show hostnames): ");
}

static void an_environment_may_name_no_allocation(void **state)
{
  struct tm_config c = of_slurm(NULL, false);
  static const char *const bad[] = { "", "x", "12_3", "-1", "99999999999" };

  assert_true(tm_allocation_is_for(&c));
  c.wants_slurm_jobs = true;
  assert_false(tm_allocation_is_for(&c));
  c = (struct tm_config) { .uses_slurm = false };
  assert_false(tm_allocation_is_for(&c));
  c = of_slurm(NULL, false);
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++) {
    setenv("SLURM_JOB_ID", bad[i], 1);
    assert_false(tm_allocation_is_for(&c));
  }
  setenv("SLURM_JOB_ID", "27", 1);
  unsetenv("SLURM_JOB_NODELIST");
  assert_false(tm_allocation_is_for(&c));
  setenv("SLURM_NODELIST", "cn1", 1);
  assert_true(tm_allocation_is_for(&c));
}

static void a_variable_shows_that_an_allocation_survives(void **state)
{
  struct tm_allocation a = { .job = (char *)"27" };

  assert_false(tm_allocation_is_known_to_survive(&a));
  setenv("SBATCH_NO_KILL", "1", 1);
  assert_true(tm_allocation_is_known_to_survive(&a));
}

static void a_script_shows_that_an_allocation_survives(void **state)
{
  struct tm_allocation a = { .job = (char *)"27" };

  put_command(*state, "scontrol",
              "[ \"$*\" = 'write batch_script 27 -' ] && echo '#SBATCH --no-kill'");
  assert_false(tm_allocation_is_known_to_survive(&a));
  setenv("ENVIRONMENT", "BATCH", 1);
  assert_true(tm_allocation_is_known_to_survive(&a));
  a.job = (char *)"28";
  assert_false(tm_allocation_is_known_to_survive(&a));
}

#define WORDS(text) tm_allocation_words_survive(text, sizeof(text) - 1)

static void words_of_a_command_are_whole(void **state)
{
  assert_true(WORDS("salloc\0-N3\0--no-kill\0"));
  assert_true(WORDS("salloc\0-k\0bash\0"));
  assert_true(WORDS("salloc\0-k")); /* without its last NUL */
  assert_false(WORDS("salloc\0-N3\0bash\0"));
  assert_false(WORDS("salloc\0--no-killer\0-kill\0"));
  assert_false(WORDS(""));
}

static void lines_of_a_script_are_those_of_sbatch(void **state)
{
  static const char *const yes[] = { "#!/bin/sh\n#SBATCH --requeue --no-kill --time=1\n",
                                     "#SBATCH -k", "#SBATCH\t--nodes=2\t-k \r\nx" };
  static const char *const no[] = { "",
                                    "#!/bin/sh\nsrun --no-kill\n",
                                    "##SBATCH --no-kill",
                                    "#SBATCH --nodes=2 # --no-kill",
                                    "# SBATCH -k",
                                    "#SBATCH",
                                    "#SBATCH --nodes=2\n --no-kill",
                                    "#SBATCH    " };

  for (size_t i = 0; i < TM_COUNT_OF(yes); i++)
    assert_true(tm_allocation_script_survives(yes[i]));
  for (size_t i = 0; i < TM_COUNT_OF(no); i++)
    if (tm_allocation_script_survives(no[i]))
      fail_msg("%s", no[i]);
}

static void expect_checked(const char *dir, const char *script, const char *expected)
{
  struct tm_allocation a = { .job = (char *)"27" };
  struct tm_err err = TM_ERR_NONE;
  int rc;

  put_command(dir, "squeue", script);
  rc = tm_allocation_check(&a, &err);
  assert_int_equal(rc, expected ? TM_EUSAGE : 0);
  if (expected && !strstr(err.text, expected))
    fail_msg("'%s' is missing in: %s", expected, err.text);
}

static void an_allocation_that_has_ended_is_refused(void **state)
{
  expect_checked(*state, "echo '27|x|RUNNING|cn[1-3]|1:00|None'", NULL);
  expect_checked(*state, "echo '27|x|PENDING||1:00|None'", NULL);
  expect_checked(*state, "echo nonsense", NULL);
  expect_checked(*state, "echo '27|x|TIMEOUT|cn1|0:00|TimeLimit'",
                 "the allocation 27 (SLURM_JOB_ID) does not run: TIMEOUT; start");
  expect_checked(*state, "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1",
                 "does not run: Invalid job id specified; start");
  expect_checked(
      *state,
      "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' "
      ">&2; exit 1",
      "cannot ask Slurm about the allocation 27: Unable to contact slurm controller");
}

static void expect_command(const struct tm_allocation *a, const char *host, const char *expected)
{
  char *options[] = { (char *)"--exclusive", (char *)"--gres=gpu:1", NULL };
  struct tm_config c = { .uses_slurm = true,
                         .process_count_per_node = 8,
                         .slurm_options = options };
  char **argv = tm_allocation_node_command(a, host, &c, "n", "x", "/bin/t");
  struct tm_buf out = TM_BUF_NONE;

  for (size_t i = 0; argv[i]; i++)
    tm_buf_printf(&out, "%s ", argv[i]);
  if (!strstr(tm_buf_str(&out), expected))
    fail_msg("'%s' is missing in: %s", expected, tm_buf_str(&out));
  tm_buf_release(&out);
  tm_command_words_free(argv);
}

static void a_node_has_all_cpus_of_its_host(void **state)
{
  char *hosts[] = { (char *)"cn1", (char *)"cn2" };
  int64_t cpus[] = { 2, 4 };
  struct tm_allocation a = { .job = (char *)"27", .hosts = hosts, .cpus = cpus, .hosts_len = 2 };

  expect_command(&a, "cn2",
                 " --overlap --jobid=27 --job-name=n --cpus-per-task=4 --gres=gpu:1 --nodelist=cn2 "
                 "/bin/t node ");
  expect_command(&(struct tm_allocation) { 0 }, NULL,
                 " --signal=USR1@90 --job-name=n --cpus-per-task=8 --exclusive --gres=gpu:1 "
                 "--exclude=x /bin/t node ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_case, close_case)

UNIT_TESTS({
    TEST(hosts_have_the_cpus_of_the_allocation),
    TEST(hosts_that_cannot_be_found_are_an_error),
    TEST(an_environment_may_name_no_allocation),
    TEST(a_variable_shows_that_an_allocation_survives),
    TEST(a_script_shows_that_an_allocation_survives),
    TEST(words_of_a_command_are_whole),
    TEST(lines_of_a_script_are_those_of_sbatch),
    TEST(an_allocation_that_has_ended_is_refused),
    TEST(a_node_has_all_cpus_of_its_host),
});
