/* The commands of Slurm, word by word. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/command_template.h"
#include "base/mem.h"
#include "slurm/slurm_command.h"

#define ALWAYS                                                                                     \
  " --unbuffered --nodes=1 --ntasks=1 --kill-on-bad-exit=0 --wait=0 --no-kill --mpi=none "         \
  "--propagate=NONE --chdir=/"
#define WORDS(...) ((char *[]) { __VA_ARGS__, NULL })

static void expect(char **argv, const char *expected)
{
  struct tm_buf out = TM_BUF_NONE;

  for (size_t i = 0; argv[i]; i++)
    tm_buf_printf(&out, "%s%s", i > 0 ? " " : "", argv[i]);
  assert_string_equal(tm_buf_str(&out), expected);
  tm_buf_release(&out);
  tm_command_words_free(argv);
}

static void a_node_is_a_new_slurm_job(void **state)
{
  struct tm_slurm_request r = { .name = "n", .processes = 4, .program = WORDS("/bin/t", "node") };

  expect(tm_slurm_command_start(&r),
         "srun" ALWAYS " --signal=USR1@90 --job-name=n --cpus-per-task=4 /bin/t node");
}

static void without_a_number_of_processes_it_gets_a_whole_machine(void **state)
{
  struct tm_slurm_request r = { .name = "n",
                                .options = WORDS("-p", "debug", "--mem=4G"),
                                .exclude = "a,b[1-2]",
                                .program = WORDS("t", "node") };

  expect(tm_slurm_command_start(&r),
         "srun" ALWAYS " --signal=USR1@90 --job-name=n --exclusive --cpu-bind=none -p debug "
         "--mem=4G --exclude=a,b[1-2] t node");
}

static void a_test_asks_for_the_same(void **state)
{
  struct tm_slurm_request r = { .name = "n", .processes = 1, .program = WORDS("t", "node") };

  expect(tm_slurm_command_test(&r),
         "srun --test-only" ALWAYS " --signal=USR1@90 --job-name=n --cpus-per-task=1 t node");
}

static void a_step_uses_a_machine_of_the_allocation(void **state)
{
  struct tm_slurm_request r = { .name = "n",
                                .processes = 2,
                                .options = WORDS("--gres=gpu:1"),
                                .exclude = "a",
                                .program = WORDS("t", "node"),
                                .allocation = "27",
                                .host = "cn3" };

  expect(tm_slurm_command_start(&r),
         "srun" ALWAYS " --overlap --jobid=27 --job-name=n --cpus-per-task=2 --gres=gpu:1 "
         "--nodelist=cn3 t node");
  r.processes = 0;
  r.options = NULL;
  expect(tm_slurm_command_start(&r),
         "srun" ALWAYS " --overlap --jobid=27 --job-name=n --nodelist=cn3 t node");
}

static void expect_name(const char *job, uint64_t epoch, uint32_t id, const char *expected)
{
  char *name = tm_slurm_command_name(job, epoch, id);
  assert_string_equal(name, expected);
  assert_true(strlen(name) <= 100);
  assert_true(tm_slurm_command_is_name(name, id));
  assert_false(tm_slurm_command_is_name(name, id - 1));
  free(name);
}

static void a_name_is_short_and_safe(void **state)
{
  expect_name("score-1", 0xab, 3, "tidemill-score-1-00000000000000ab-3");
  expect_name("a,b c/\xc3\xa9'", UINT64_MAX, UINT32_MAX,
              "tidemill-a_b_c____-ffffffffffffffff-4294967295");
  expect_name("", 1, 0, "tidemill--0000000000000001-0");
  expect_name("123456789012345678901234567890-left-out-123456789012345678901234567890", 1, 1,
              "tidemill-123456789012345678901234567890123456789012345678901234567890-"
              "0000000000000001-1");
}

static void all_names_of_a_supervisor_have_one_beginning(void **state)
{
  char *begin = tm_slurm_command_names("score-1", 0xab);

  assert_string_equal(begin, "tidemill-score-1-00000000000000ab");
  free(begin);
}

/* Runs the command with a squeue and a scancel that are shell functions. Returns what the latter is
 * called with. */
static void expect_canceled(char **argv, const char *jobs, const char *steps, const char *expected)
{
  char line[200] = "";
  char *script =
      tm_xprintf("scancel() { echo \"$@\"; }; xargs() { cat | tr '\\n' ' '; }; squeue() { "
                 "case \"$*\" in *--steps*) printf '%s' ;; *) printf '%s' ;; esac; }; %s",
                 steps, jobs, argv[2]);
  char *command = tm_xprintf("exec sh -c \"$SCRIPT\" sh '%s' %s%s%s", argv[4], argv[5] ? "'" : "",
                             argv[5] ? argv[5] : "", argv[5] ? "'" : "");
  FILE *out;

  assert_string_equal(argv[0], "sh");
  setenv("SCRIPT", script, 1);
  out = popen(command, "r");
  assert_non_null(out);
  if (!fgets(line, sizeof line, out))
    line[0] = '\0';
  assert_int_equal(pclose(out), 0);
  unsetenv("SCRIPT");
  assert_string_equal(line, expected);
  free(command);
  free(script);
  tm_command_words_free(argv);
}

static void all_jobs_and_steps_of_a_supervisor_are_canceled(void **state)
{
  expect_canceled(tm_slurm_command_cancel_all("tidemill-j-0a", true),
                  "7 tidemill-j-0a-1\\n8 tidemill-j-0b-1\\n9 other\\n10 tidemill-j-0a-1 x\\n",
                  "27.3 tidemill-j-0a-2\\n27.4 x\\n", "7 27.3 ");
  expect_canceled(tm_slurm_command_cancel_all("tidemill-j-0a", true), "", "", "");
  expect_canceled(tm_slurm_command_cancel_all("tidemill-j-0a", false), "7 tidemill-j-0a-1\\n",
                  "27.3 tidemill-j-0a-2\\n", "7 ");
}

static char **as_script(char *line)
{
  char **argv = tm_xcalloc(6, sizeof(*argv));

  argv[0] = tm_xstrdup("sh");
  argv[1] = tm_xstrdup("-c");
  argv[2] = line;
  argv[3] = tm_xstrdup("sh");
  argv[4] = tm_xstrdup("");
  return argv;
}

static void the_command_for_the_user_cancels_what_is_of_the_session(void **state)
{
  static const char *const jobs =
      "7 tidemill-j-0a-1\\n8 tidemill-j-0a-12\\n9 tidemill-j-0ab-1\\n10 x tidemill-j-0a-1\\n11\\n";

  expect_canceled(as_script(tm_slurm_command_cancel_by_hand("tidemill-j-0a", false)), jobs,
                  "27.3 tidemill-j-0a-2\\n", "7 8 ");
  expect_canceled(as_script(tm_slurm_command_cancel_by_hand("tidemill-j-0a-1", false)), jobs, "",
                  "7 ");
  expect_canceled(as_script(tm_slurm_command_cancel_by_hand("tidemill-j-0a", true)), jobs,
                  "27.3 tidemill-j-0a-2\\n27.4 x\\n", "27.3 ");
}

static void jobs_and_steps_are_canceled_by_their_names(void **state)
{
  static const char *const names[] = { "tidemill-j-0a-1", "tidemill-j-0a-2" };

  expect_canceled(
      tm_slurm_command_cancel_names(names, 2),
      "7 tidemill-j-0a-1\\n8 tidemill-j-0a-11\\n9 tidemill-j-0a-1 tidemill-j-0a-2\\n5 \\n",
      "27.3 tidemill-j-0a-2\\n27.4 *\\n", "7 27.3 ");
}

static void a_name_from_a_file_may_be_anything(void **state)
{
  static const char *const names[] = {
    "",
    "tidemill-",
    "other",
    "tidemill-a,b",
    "tidemill-a\n",
    "tidemill-mine-1",
    "tidemill-0000000000000001-1",
    "tidemill-j-000000000000001-1",
    "tidemill-j-000000000000000A-1",
    "tidemill-j-0000000000000001-11",
    "tidemill-j,x-0000000000000001-1",
    "tidemill-j-0000000000000001-1,x",
    "tidemill-j-0000000000000001-1\n",
    "tidemill_j-0000000000000001-1",
  };

  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    if (tm_slurm_command_is_name(names[i], 1))
      fail_msg("%s", names[i]);
  assert_true(tm_slurm_command_is_name("tidemill-j-0000000000000001-1", 1));
}

static void hosts_to_exclude_are_those_of_both(void **state)
{
  static const char *const hosts[] = { "a", "b" };
  char *all = tm_slurm_command_exclude("x[1-2]", hosts, 2);

  assert_string_equal(all, "x[1-2],a,b");
  free(all);
  all = tm_slurm_command_exclude(NULL, hosts, 1);
  assert_string_equal(all, "a");
  free(all);
  assert_null(tm_slurm_command_exclude(NULL, NULL, 0));
}

static void questions_and_ends_name_several_at_once(void **state)
{
  static const char *const names[] = { "a", "b" };
  static const uint32_t ids[] = { 7, 4294967295 };

  expect(tm_slurm_command_queue_of_names(names, 2, 1000),
         "squeue --states=all --noheader --format=%i|%j|%T|%N|%L|%r --user=1000 --name=a,b");
  expect(tm_slurm_command_queue_of_ids(ids, 2),
         "squeue --states=all --noheader --format=%i|%j|%T|%N|%L|%r --jobs=7,4294967295");
  expect(tm_slurm_command_cancel(ids, 2), "scancel --quiet 7 4294967295");
  expect(tm_slurm_command_cancel_name("a"), "scancel --quiet --name=a");
  expect(tm_slurm_command_hosts("cn[1-3]"), "scontrol show hostnames cn[1-3]");
}

UNIT_TESTS({
    cmocka_unit_test(a_node_is_a_new_slurm_job),
    cmocka_unit_test(without_a_number_of_processes_it_gets_a_whole_machine),
    cmocka_unit_test(a_test_asks_for_the_same),
    cmocka_unit_test(a_step_uses_a_machine_of_the_allocation),
    cmocka_unit_test(a_name_is_short_and_safe),
    cmocka_unit_test(all_names_of_a_supervisor_have_one_beginning),
    cmocka_unit_test(all_jobs_and_steps_of_a_supervisor_are_canceled),
    cmocka_unit_test(the_command_for_the_user_cancels_what_is_of_the_session),
    cmocka_unit_test(jobs_and_steps_are_canceled_by_their_names),
    cmocka_unit_test(a_name_from_a_file_may_be_anything),
    cmocka_unit_test(hosts_to_exclude_are_those_of_both),
    cmocka_unit_test(questions_and_ends_name_several_at_once),
});
