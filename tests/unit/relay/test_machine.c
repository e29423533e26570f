/* test_machine.c - what a node reports of its machine: which limit of its CPUs counts, which names
 * are believed, and where temporary files go. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "folder.h"
#include "node/temp_left.h"
#include "relay/machine.h"
#include "sys/process.h"

#define AFFINITY "the affinity"
#define QUOTA    "the quota of the control group"
#define SLURM    "what Slurm granted"

static void the_least_limit_of_cpus_counts(void **state)
{
  static const struct {
    int affinity, quota;
    const char *slurm;
    int count;
    const char *why;
  } cases[] = {
    { 8, 0, NULL, 8, AFFINITY },
    { 8, 2, NULL, 2, QUOTA },
    { 8, 12, NULL, 8, AFFINITY },
    { 0, 3, NULL, 3, QUOTA },
    { 8, 0, "4", 4, SLURM },
    { 8, 2, "4", 2, QUOTA },
    { 2, 0, "4", 2, AFFINITY },
    { 4, 4, "4", 4, AFFINITY },
    { 0, 0, "16", 16, SLURM },
    { 0, 0, NULL, 1, "a guess: no limit is known" },
    { 1 << 21, 0, NULL, TM_NODE_CPUS_MAX, AFFINITY },
    /* several nodes: the first number */
    { 64, 0, "2(x3)", 2, SLURM },
    { 64, 0, "2,4", 2, SLURM },
    { 64, 0, "12(x2),4,3(x10)", 12, SLURM },
    /* garbage is ignored */
    { 64, 0, "", 64, AFFINITY },
    { 64, 0, "0", 64, AFFINITY },
    { 64, 0, "-4", 64, AFFINITY },
    { 64, 0, " 4", 64, AFFINITY },
    { 64, 0, "4 ", 64, AFFINITY },
    { 64, 0, "4x", 64, AFFINITY },
    { 64, 0, "4(x", 64, AFFINITY },
    { 64, 0, "4(x)", 64, AFFINITY },
    { 64, 0, "4(x2", 64, AFFINITY },
    { 64, 0, "4(x0)", 64, AFFINITY },
    { 64, 0, "4,", 64, AFFINITY },
    { 64, 0, ",4", 64, AFFINITY },
    { 64, 0, "4,two", 64, AFFINITY },
    { 64, 0, "4,0", 64, AFFINITY },
    { 64, 0, "99999999999999999999", 64, AFFINITY },
    { 64, 0, "1048577", 64, AFFINITY },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_machine_cpus c = tm_machine_cpus(cases[i].affinity, cases[i].quota, cases[i].slurm);
    if (c.count != cases[i].count || strcmp(c.why, cases[i].why) != 0)
      fail_msg("case %zu: %d, %s", i, c.count, c.why);
  }
}

static void only_digits_are_the_id_of_a_job(void **state)
{
  assert_string_equal(tm_machine_slurm_job("1234"), "1234");
  assert_string_equal(tm_machine_slurm_job(NULL), "");
  assert_string_equal(tm_machine_slurm_job(""), "");
  assert_string_equal(tm_machine_slurm_job("12_3"), "");
  assert_string_equal(tm_machine_slurm_job("12\n"), "");
  assert_string_equal(tm_machine_slurm_job("$(id)"), "");
}

static void a_name_with_other_letters_is_not_a_host(void **state)
{
  char name[300];
  assert_string_equal(tm_machine_host("cn-01.example"), "cn-01.example");
  assert_null(tm_machine_host(NULL));
  assert_null(tm_machine_host(""));
  assert_null(tm_machine_host("cn 01"));
  assert_null(tm_machine_host("cn01\n"));
  assert_null(tm_machine_host("\xff"));
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  assert_null(tm_machine_host(name));
}

static void a_folder_is_told_from_what_is_not_one(void **state)
{
  struct folder f;
  folder_init(&f);
  folder_put(&f, "file", 0, "text", 4);
  assert_true(tm_machine_has_folder(f.path, 60 * TM_S));
  assert_false(tm_machine_has_folder(folder_file(&f, "file"), 60 * TM_S));
  assert_false(tm_machine_has_folder(folder_file(&f, "missing"), 60 * TM_S));
  folder_release(&f);
}

/* What the test's own environment must not have. */
static int clear_environment(void **state)
{
  static const char *const names[] = { "SLURMD_NODENAME",
                                       "SLURM_JOB_ID",
                                       "SLURM_JOB_CPUS_PER_NODE",
                                       "CUDA_VISIBLE_DEVICES",
                                       "AZ_BATCHAI_GPU_COUNT_FOUND",
                                       "TMPDIR",
                                       TM_ENV_MEMORY_DIR };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    unsetenv(names[i]);
  return 0;
}

static void the_report_describes_this_machine(void **state)
{
  struct tm_node_report r;
  const char *bad_tmpdir;
  char host[256] = "";
  char *boot_id = tm_process_boot_id();
  assert_int_equal(gethostname(host, sizeof host - 1), 0);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  tm_machine_describe(&r, &bad_tmpdir);
  assert_null(bad_tmpdir);
  assert_string_equal(r.host, host);
  assert_int_equal(strlen(boot_id), 36);
  assert_string_equal(r.boot_id, boot_id);
  assert_int_equal(r.uid, geteuid());
  assert_int_equal(r.pid, getpid());
  assert_int_equal(r.cpus, tm_process_cores());
  assert_int_equal(r.gpus, 0);
  assert_true(r.memory >= 1 << 20);
  assert_string_equal(r.slurm_job, "");
  assert_string_equal(r.temp_dir, "/tmp");
  assert_string_equal(r.memory_dir, "/dev/shm");
  tm_node_report_release(&r);
  free(boot_id);
}

static void the_report_says_what_slurm_granted(void **state)
{
  struct tm_node_report r;
  const char *bad_tmpdir;
  setenv("SLURMD_NODENAME", "cn07", 1);
  setenv("SLURM_JOB_ID", "4711", 1);
  setenv("SLURM_JOB_CPUS_PER_NODE", "1", 1);
  setenv("CUDA_VISIBLE_DEVICES", "2,GPU-a,5", 1);
  tm_machine_describe(&r, &bad_tmpdir);
  assert_string_equal(r.host, "cn07");
  assert_string_equal(r.slurm_job, "4711");
  assert_int_equal(r.cpus, 1);
  assert_int_equal(r.gpus, 3);
  tm_node_report_release(&r);
}

static void expect_places(const char *tmpdir, const char *memory_dir, const char *temp,
                          const char *memory, bool is_bad)
{
  struct tm_node_report r;
  const char *bad_tmpdir;
  clear_environment(NULL);
  if (tmpdir)
    setenv("TMPDIR", tmpdir, 1);
  if (memory_dir)
    setenv(TM_ENV_MEMORY_DIR, memory_dir, 1);
  tm_machine_describe(&r, &bad_tmpdir);
  assert_string_equal(r.temp_dir, temp);
  assert_string_equal(r.memory_dir, memory);
  assert_int_equal(bad_tmpdir != NULL, is_bad);
  tm_node_report_release(&r);
}

static void temporary_files_go_to_a_folder_that_exists(void **state)
{
  struct folder f;
  folder_init(&f);
  folder_put(&f, "file", 0, "text", 4);
  expect_places(f.path, NULL, f.path, "", false);
  expect_places(f.path, "/m", f.path, "/m", false);
  expect_places(folder_file(&f, "missing"), NULL, "/tmp", "", true);
  expect_places(folder_file(&f, "file"), NULL, "/tmp", "", true);
  expect_places("relative", NULL, "/tmp", "/dev/shm", false);
  expect_places("", NULL, "/tmp", "/dev/shm", false);
  expect_places(NULL, "relative", "/tmp", "", false);
  expect_places(NULL, "", "/tmp", "", false);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(the_least_limit_of_cpus_counts),
    cmocka_unit_test(only_digits_are_the_id_of_a_job),
    cmocka_unit_test(a_name_with_other_letters_is_not_a_host),
    cmocka_unit_test(a_folder_is_told_from_what_is_not_one),
    cmocka_unit_test_setup(the_report_describes_this_machine, clear_environment),
    cmocka_unit_test_setup(the_report_says_what_slurm_granted, clear_environment),
    cmocka_unit_test_setup(temporary_files_go_to_a_folder_that_exists, clear_environment),
});
