/* test_power.c - cuts the power at every call of a session and at any call of the recoveries after
 * it, and skips each fsync in turn to check that its absence is noticed. TM_LONG=1: many more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drive.h"

static uint64_t times(uint64_t n)
{
  return getenv("TM_LONG") ? n * 100 : n;
}

/* Runs sessions that a cut or a kill ends early, then one that completes. Returns false and sets
 * the message on failure.
 */
static bool run_interrupted(struct drive *d, uint64_t first_cut, uint64_t *cuts)
{
  struct tm_disk_plan plan = { .cut_at = first_cut };
  for (int session = 0; session < 8; session++) {
    tm_disk_plan(d->disk, &plan);
    enum drive_end end = drive_session(d);
    if (end == DRIVE_BAD)
      return false;
    if (tm_disk_is_cut(d->disk) || tm_disk_random(&d->random, 3) == 0) {
      (*cuts)++;
      tm_disk_restart(d->disk);
    } else {
      tm_disk_kill(d->disk);
    }
    if (d->is_finished && !drive_check_result(d))
      return false;
    if (session > 0 && tm_disk_random(&d->random, 4) == 0)
      break;
    /* Most end during recovery, or soon after it. */
    d->kill_at = tm_disk_random(&d->random, 3) == 0 ? 1 + tm_disk_random(&d->random, 60) : 0;
    plan.cut_at =
        d->kill_at ? 0 : 1 + tm_disk_random(&d->random, tm_disk_random(&d->random, 2) ? 40 : 250);
  }
  return drive_to_end(d);
}

static void finds_nothing_wrong_without_cuts(void **state)
{
  struct drive d;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    drive_init(&d, seed);
    assert_true(drive_to_end(&d));
    assert_true(drive_to_end(&d)); /* once more on the finished step */
    drive_release(&d);
  }
}

static void loses_doubles_and_tears_nothing(void **state)
{
  struct drive d;
  uint64_t cuts = 0;
  for (uint64_t round = 0; round < times(20); round++) {
    bool reached = true;
    for (uint64_t n = 1; reached; n++) {
      drive_init(&d, round * 100003 + n);
      uint64_t before = cuts;
      if (!run_interrupted(&d, n, &cuts))
        fail_msg("round %d, cut at call %d: %s", (int)round, (int)n, d.words);
      reached = cuts > before && n < 400;
      drive_release(&d);
    }
  }
  printf("%d power cuts\n", (int)cuts);
  assert_true(cuts > 2000);
}

static const struct drive_site sites[] = {
  { "group commit: manifest", "/state/manifest", 1, UINT64_MAX, DRIVE_RUN | DRIVE_FINISH },
  { "group commit: failures log", "/state/failures", 1, UINT64_MAX, DRIVE_RUN | DRIVE_FINISH },
  { "group commit: output", "/rows.txt.partial", 1, UINT64_MAX, DRIVE_RUN | DRIVE_FINISH },
  { "group commit: files log", "/state/files", 1, UINT64_MAX, DRIVE_RUN | DRIVE_FINISH },
  { "group commit: folder of files", "/out/scores/deep", 1, UINT64_MAX, DRIVE_RUN | DRIVE_FINISH },
  { "group commit: above that folder", "/out/scores", 1, UINT64_MAX, DRIVE_RUN },
  { "worker: a file of its try", ".bin", 1, UINT64_MAX, DRIVE_RUN },
  { "group commit: folder of files of a further output", "/out/scores.more/deep", 1, UINT64_MAX,
    DRIVE_RUN | DRIVE_FINISH },
  { "group commit: above the folder of a further output", "/out/scores.more", 1, UINT64_MAX,
    DRIVE_RUN | DRIVE_FINISH },
  { "group commit: journal", "/state/journal", 1, UINT64_MAX, DRIVE_RUN | DRIVE_FINISH },
  { "recovery: manifest", "/state/manifest", 1, 1, DRIVE_OPEN },
  { "recovery: failures log", "/state/failures", 1, 1, DRIVE_OPEN },
  { "recovery: files log", "/state/files", 1, 1, DRIVE_OPEN },
  { "recovery: folder of files", "/out/scores/deep", 1, UINT64_MAX, DRIVE_OPEN },
  { "recovery: folder of files of a further output", "/out/scores.more/deep", 1, UINT64_MAX,
    DRIVE_OPEN },
  { "recovery: above the folder of a further output", "/out/scores.more", 1, UINT64_MAX,
    DRIVE_OPEN },
  { "recovery: output", "/rows.txt.partial", 1, 1, DRIVE_OPEN },
  { "recovery: journal", "/state/journal", 1, 1, DRIVE_OPEN },
  { "recovery: first records", "/state/journal", 2, 2, DRIVE_OPEN },
  { "folder: state", "/job/step/state", 1, UINT64_MAX, DRIVE_OPEN },
  { "folder: step", "/job/step", 1, UINT64_MAX, DRIVE_OPEN },
  { "folder: above step", "/job", 1, UINT64_MAX, DRIVE_OPEN },
  { "folder: output", "/out/scores", 1, UINT64_MAX, DRIVE_OPEN },
  { "folder: above output", "/out", 1, UINT64_MAX, DRIVE_OPEN },
  { "end: rename of the output", "/out/scores", 1, UINT64_MAX, DRIVE_FINISH },
  { "end: list of failed items", "/failed_items.jsonl.tmp", 1, UINT64_MAX, DRIVE_FINISH },
  { "end: its rename", "/job/step", 1, UINT64_MAX, DRIVE_FINISH },
};

#define SITES (sizeof(sites) / sizeof(sites[0]))

/* How many fsyncs each site has met in this phase. */
struct watch {
  const struct drive *d;
  uint64_t phases, met[SITES], all;
  char unknown[200]; /* the path of the first fsync that belongs to no site */
};

static void on_fsync(void *data, const char *path)
{
  struct watch *w = data;
  /* The names of a try's folders are fsynced, but nothing depends on that: their files are
   * moved. */
  bool is_known = w->d->phase == DRIVE_RUN && strncmp(path, "/job/step/state", 15) == 0 &&
                  (path[15] == '\0' || strncmp(path + 15, "/try-", 5) == 0);
  if (w->phases != w->d->phases)
    memset(w->met, 0, sizeof(w->met));
  w->phases = w->d->phases;
  w->all++;
  for (size_t i = 0; i < SITES; i++) {
    size_t len = strlen(path), end = strlen(sites[i].path_end);
    if (!(sites[i].phases & w->d->phase) || len < end ||
        strcmp(path + len - end, sites[i].path_end) != 0)
      continue;
    w->met[i]++;
    is_known = is_known || (w->met[i] >= sites[i].from && w->met[i] <= sites[i].to);
  }
  if (!is_known && !w->unknown[0])
    snprintf(w->unknown, sizeof(w->unknown), "%s, in phase %d", path, w->d->phase);
}

static void knows_every_fsync(void **state)
{
  uint64_t cuts = 0, all = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    struct drive d;
    struct watch w = { .d = &d };
    drive_init(&d, seed);
    tm_disk_watch(d.disk, on_fsync, &w);
    bool is_good = run_interrupted(&d, 1 + tm_disk_random(&d.random, 300), &cuts);
    drive_release(&d);
    assert_true(is_good);
    if (w.unknown[0])
      fail_msg("an fsync that is in no list: %s", w.unknown);
    all += w.all;
  }
  assert_true(all > 3000);
}

static void notices_each_fsync_that_is_left_out(void **state)
{
  struct drive d;
  uint64_t cuts = 0;
  for (size_t i = 0; i < SITES; i++) {
    bool is_noticed = false;
    uint64_t run;
    for (run = 1; run <= 20000 && !is_noticed; run++) {
      drive_init(&d, run * 31 + i);
      d.site = &sites[i];
      is_noticed = !run_interrupted(&d, 1 + tm_disk_random(&d.random, 200), &cuts);
      drive_release(&d);
    }
    printf("%-30s run %4d: %s\n", sites[i].name, (int)run - 1,
           is_noticed ? d.words : "not noticed");
    assert_true(is_noticed);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_nothing_wrong_without_cuts),
    cmocka_unit_test(loses_doubles_and_tears_nothing),
    cmocka_unit_test(knows_every_fsync),
    cmocka_unit_test(notices_each_fsync_that_is_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
