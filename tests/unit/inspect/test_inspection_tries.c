/* test_inspection_tries.c - the number of failed tries, from a summary. */
#include "unit.h"

#include <string.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "inspect/inspection.h"
#include "sys/fs.h"

static char dir[64];

static int setup(void **state)
{
  strcpy(dir, "/tmp/tm_survey_tries_XXXXXX");
  return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
  return tm_tree_remove(dir, NULL);
}

static struct tm_step_inspection read_text(const char *text)
{
  struct tm_step_inspection s = { 0 };
  char *folder = tm_xprintf("%s/logs/sys/job_report", dir);
  char *path = tm_xprintf("%s/process_summary.csv", folder);
  if (text) {
    assert_int_equal(tm_fs_make_dirs(tm_fs_real(), folder, 0700, NULL), 0);
    assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, strlen(text), 0600, NULL), 0);
  }
  tm_inspection_read_tries(&s, dir);
  free(folder);
  free(path);
  return s;
}

static void expect(const struct tm_step_inspection *s, int64_t errors, int64_t timeouts,
                   int64_t lost)
{
  assert_int_equal(s->try_errors, errors);
  assert_int_equal(s->try_timeouts, timeouts);
  assert_int_equal(s->try_lost, lost);
}

static void without_a_summary_nothing_is_known(void **state)
{
  struct tm_step_inspection s = read_text(NULL);
  expect(&s, -1, -1, -1);
}

static void columns_are_known_by_their_names_and_added_up(void **state)
{
  struct tm_step_inspection s =
      read_text("Process,Tries,RUN_DONE,RUN_EXCEPTION,NEW,RUN_TIMEOUT,LOAD_TIMEOUT,PROCESS_DIED,"
                "RUN_WRONG_RETURN,CANCELED\n"
                "process000,99,50,1,1000,2,3,4,5,7\n"
                "process001,99,50,10,1000,20,30,40,50,7\n");
  expect(&s, 66, 55, 44);
}

static void a_wrong_summary_does_no_harm(void **state)
{
  static const char *const texts[] = {
    "PROCESS_DIED",
    "PROCESS_DIED\n",
    "PROCESS_DIED\nabc\n-5\n",
    "PROCESS_DIED\n\n,,,\n",
    "Process,PROCESS_DIED\nprocess000\n",
    "PROCESS_DIED\n99999999999999999999999999999999\n",
  };
  for (size_t i = 0; i < TM_COUNT_OF(texts); i++) {
    struct tm_step_inspection s = read_text(texts[i]);
    expect(&s, 0, 0, 0);
  }
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(without_a_summary_nothing_is_known, setup, teardown),
    cmocka_unit_test_setup_teardown(columns_are_known_by_their_names_and_added_up, setup, teardown),
    cmocka_unit_test_setup_teardown(a_wrong_summary_does_no_harm, setup, teardown),
});
