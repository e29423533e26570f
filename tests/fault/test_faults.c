/* test_faults.c - makes every file call fail in turn, in every possible way: the call succeeds or
 * reports an error with a message, and never gives wrong data. When the step is opened again, with
 * or without a power cut in between, its result is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>

#include "drive.h"

static const struct way {
  const char *name;
  enum tm_disk_fault fault;
  int code;
} ways[] = {
  { "EIO", TM_DISK_FAIL, -EIO },     { "ENOSPC", TM_DISK_FAIL, -ENOSPC },
  { "EINTR", TM_DISK_FAIL, -EINTR }, { "EACCES", TM_DISK_FAIL, -EACCES },
  { "short", TM_DISK_SHORT, 0 },
};

/* The state of the disk before the tested session. */
enum before { NOTHING, KILLED, FINISHED };

static bool prepare(struct drive *d, enum before before)
{
  struct tm_disk_plan none = { 0 };
  tm_disk_plan(d->disk, &none);
  if (before == NOTHING)
    return true;
  if (before == FINISHED)
    return drive_session(d) == DRIVE_DONE;
  d->kill_at = 30;
  enum drive_end end = drive_session(d);
  tm_disk_kill(d->disk);
  return end != DRIVE_BAD;
}

/* One session with a fault at call n. False: it ended before that call. */
static bool run_with_fault(const struct way *way, enum before before, uint64_t seed, uint64_t n,
                           bool cut)
{
  struct drive d;
  struct tm_disk_plan plan = { .fault_at = n, .fault = way->fault, .code = way->code };
  drive_init(&d, seed);
  if (!prepare(&d, before))
    fail_msg("before: %s", d.words);
  tm_disk_plan(d.disk, &plan);
  if (drive_session(&d) == DRIVE_BAD)
    fail_msg("%s at call %d, seed %d: %s", way->name, (int)n, (int)seed, d.words);
  bool was_met = tm_disk_calls(d.disk) >= n;
  if (cut)
    tm_disk_restart(d.disk);
  else
    tm_disk_kill(d.disk);
  if (!drive_to_end(&d))
    fail_msg("%s at call %d, seed %d%s, then: %s", way->name, (int)n, (int)seed, cut ? ", cut" : "",
             d.words);
  drive_release(&d);
  return was_met;
}

static void survives_a_fault_at_every_call(void **state)
{
  int runs = 0;
  for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
    for (int before = NOTHING; before <= FINISHED; before++)
      for (uint64_t seed = 1; seed <= 3; seed++)
        for (uint64_t n = 1;
             run_with_fault(&ways[w], (enum before)before, seed, n, (n + seed) % 2 == 0); n++)
          runs++;
  printf("%d faults\n", runs);
  assert_true(runs > 3000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(survives_a_fault_at_every_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
