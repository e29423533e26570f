/* test_power.c - cuts the power while the program runs: at any moment of a new job, or of a job
 * that is resumed after a kill, a failure or another power cut. Restores what the disk may hold.
 * After `tidemill run --resume`, the result must equal that of an undisturbed run, without losing
 * anything that had been synced. Then skips each kind of fsync, to check that its absence is
 * noticed.
 *
 * In the environment: TIDEMILL, TIDEMILL_FAULTS: the programs. TM_LONG: every moment. TM_SEED:
 * another draw.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "power_case.h"

struct fixture {
  struct power_case c;
  uint64_t random, cuts, anew; /* the last: cuts that left no job.json */
  bool is_long;
};

static uint64_t any(struct fixture *f, uint64_t below)
{
  return tm_disk_random(&f->random, below);
}

static int set_up(void **state)
{
  struct fixture *f = calloc(1, sizeof(*f));
  const char *program = getenv("TIDEMILL"), *traced = getenv("TIDEMILL_FAULTS");
  const char *seed = getenv("TM_SEED");
  if (!f || !program || !traced)
    return -1;
  f->random = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
  f->is_long = getenv("TM_LONG") != NULL;
  printf("TM_SEED=%llu\n", (unsigned long long)f->random);
  power_case_init(&f->c, program, traced);
  *state = f;
  power_case_clear(&f->c);
  return power_case_trace(&f->c, POWER_RESUME, 0) == 0 && power_case_learn(&f->c) ? 0 : -1;
}

static int tear_down(void **state)
{
  struct fixture *f = *state;
  if (!f)
    return 0;
  printf("%llu power cuts; %llu left no job.json\n", (unsigned long long)f->cuts,
         (unsigned long long)f->anew);
  power_case_release(&f->c);
  free(f);
  return 0;
}

/* A trace of sessions in a fresh directory; the last one runs to its end. */
static void record_new(struct fixture *f, struct power_trace *t)
{
  power_case_clear(&f->c);
  assert_int_equal(power_case_trace(&f->c, POWER_RESUME | POWER_SLOW, 0), 0);
  assert_true(power_trace_read(t, f->c.trace_file, f->c.root));
}

static void record_killed(struct fixture *f, struct power_trace *t, uint64_t kill_at)
{
  power_case_clear(&f->c);
  assert_int_equal(power_case_trace(&f->c, POWER_RESUME | POWER_SLOW, kill_at), 137);
  assert_int_equal(power_case_trace(&f->c, POWER_RESUME | POWER_SLOW, 0), 0);
  assert_true(power_trace_read(t, f->c.trace_file, f->c.root));
}

static void record_failed(struct fixture *f, struct power_trace *t)
{
  power_case_clear(&f->c);
  assert_int_equal(power_case_trace(&f->c, POWER_RESUME | POWER_SLOW | POWER_STRICT, 0), 1);
  assert_int_equal(power_case_trace(&f->c, POWER_RESUME | POWER_SLOW, 0), 0);
  assert_true(power_trace_read(t, f->c.trace_file, f->c.root));
}

/* Whether the result is right if the power is cut before op `at`. */
static bool survives(struct fixture *f, const struct power_trace *t, size_t at,
                     const char *const *left_out)
{
  struct power_replay r;
  power_replay_init(&r, any(f, 0));
  r.left_out = left_out;
  power_replay_run(&r, t, 0, at);
  bool ok = power_case_cut(&f->c, &r, at == t->ops.len) && power_case_resume(&f->c);
  power_replay_release(&r);
  f->cuts++;
  f->anew += !f->c.has_definition;
  return ok;
}

/* Cuts at about `count` moments from the op on, spread over them; the last one always. */
static void cut_some(struct fixture *f, const struct power_trace *t, size_t from, size_t count,
                     const char *what)
{
  size_t n = t->ops.len - from;
  double step = count >= n ? 1 : (double)n / (double)count;
  for (double x = 0; x <= (double)n; x += step) {
    size_t at = x + step > (double)n ? t->ops.len : from + (size_t)x + any(f, (uint64_t)step);
    if (!survives(f, t, at, NULL))
      fail_msg("%s, cut before op %zu of %zu: %s", what, at, t->ops.len, f->c.words);
  }
}

static size_t last_session(const struct power_trace *t)
{
  size_t at = t->ops.len;
  while (t->ops.at[--at].kind != POWER_SESSION)
    ;
  return at;
}

static void a_new_job_survives_a_power_cut(void **state)
{
  struct fixture *f = *state;
  struct power_trace t;
  for (int round = 0; round < (f->is_long ? 3 : 1); round++) {
    record_new(f, &t);
    cut_some(f, &t, 0, f->is_long ? SIZE_MAX : 80, "new job");
    power_trace_release(&t);
  }
  assert_true(f->anew > 0 && f->anew < f->cuts);
}

static void a_resumed_job_survives_a_power_cut(void **state)
{
  struct fixture *f = *state;
  struct power_trace t;
  char what[60];
  /* The first calls make files and folders; a kill there leaves names that were never synced. */
  for (uint64_t kill_at = 1 + any(f, f->is_long ? 1 : 3); kill_at <= 200;
       kill_at += f->is_long ? 1 : 1 + any(f, kill_at < 70 ? 10 : 60)) {
    record_killed(f, &t, kill_at);
    snprintf(what, sizeof(what), "killed at change %d, resumed", (int)kill_at);
    cut_some(f, &t, last_session(&t), f->is_long ? 12 : 3, what);
    power_trace_release(&t);
  }
}

static void a_failed_job_survives_a_power_cut_when_it_is_resumed(void **state)
{
  struct fixture *f = *state;
  struct power_trace t;
  record_failed(f, &t);
  cut_some(f, &t, last_session(&t), f->is_long ? SIZE_MAX : 20, "failed, resumed");
  power_trace_release(&t);
}

static void survives_power_cuts_one_after_another(void **state)
{
  struct fixture *f = *state;
  struct power_trace first, t;
  record_new(f, &first);
  for (int round = 0; round < (f->is_long ? 500 : 12); round++) {
    struct power_replay r;
    power_replay_init(&r, any(f, 0));
    power_replay_run(&r, &first, 0, any(f, first.ops.len));
    for (int again = 0; again < 2; again++) {
      f->cuts++;
      assert_true(power_case_cut(&f->c, &r, false));
      assert_int_equal(power_case_trace(&f->c, POWER_RESUME, 0), 0);
      assert_true(power_trace_read(&t, f->c.trace_file, f->c.root));
      power_replay_run(&r, &t, 0, any(f, t.ops.len));
      power_trace_release(&t);
    }
    f->cuts++;
    if (!power_case_cut(&f->c, &r, false) || !power_case_resume(&f->c))
      fail_msg("cut again, round %d: %s", round, f->c.words);
    power_replay_release(&r);
  }
  power_trace_release(&first);
}

/* Which fsync there is for what. */
struct site {
  const char *name;
  const char *patterns[4]; /* of classes, see power_trace.h */
  const char *why;         /* by design, its absence is not noticed; NULL: it must be */
};

static const struct site sites[] = {
  { "folder above the job", { "above *" }, NULL },
  { "job.json", { "job.json.tmp" }, NULL },
  { "job folder: job.json", { "job after job.json" }, NULL },
  { "job folder: step folders", { "job after STEP", "job again" }, NULL },
  { "job folder: old result removed", { "job after removing job_result.json" }, NULL },
  { "step folder: state, output", { "STEP after [!f]*", "STEP again" }, NULL },
  { "state folder", { "STEP/state *" }, NULL },
  { "output folder: the output", { "STEP/output again" }, NULL },
  { "manifest", { "STEP/state/manifest" }, NULL },
  { "failures log", { "STEP/state/failures" }, NULL },
  { "files log",
    { "STEP/state/files" },
    "these jobs have no output files; tests/fault leaves it out of one that has" },
  { "columns of frames", { "STEP/state/columns.tmp" }, NULL },
  { "output", { "STEP/output/*.partial" }, NULL },
  { "journal", { "STEP/state/journal" }, NULL },
  { "failed_items.jsonl", { "STEP/failed_items.jsonl.tmp" }, NULL },
  { "step_result.json",
    { "STEP/step_result.json.tmp" },
    "a step whose result cannot be read is opened, and is Completed still" },
  { "step folder: failed_items.jsonl", /* the one for step_result.json is for both */
    { "STEP after failed_items.jsonl", "STEP after step_result.json" },
    NULL },
  { "output folder: final name", { "STEP/output after parallel_run_step.txt" }, NULL },
  { "job_result.json", { "job_result.json.tmp" }, NULL },
  { "job folder: job_result.json", { "job after job_result.json" }, NULL },
  { "owner", { "owner.tmp", "job after owner" }, "each session writes its own before it reads it" },
  { "script",
    { "script *", "job after script" },
    "the copy is hashed when the job is resumed, and made again where it is not whole" },
  { "upload: what is copied", { POWER_UPLOAD ".*" }, NULL },
  { "upload: its mark", { "STEP/state/upload.*" }, NULL },
  { "logs", { "STEP/logs*" }, "what is lost of them is lost, and the job goes on" },
};

static bool is_met(const struct power_trace *t, const char *const *patterns)
{
  for (size_t i = 0; i < t->ops.len; i++)
    if (t->ops.at[i].sync_class && power_is_left_out(patterns, t->ops.at[i].sync_class))
      return true;
  return false;
}

/* A moment after a skipped fsync: soon after it, or any. */
static size_t moment_behind(struct fixture *f, const struct power_trace *t,
                            const char *const *patterns)
{
  size_t at;
  do
    at = (size_t)any(f, t->ops.len);
  while (!t->ops.at[at].sync_class || !power_is_left_out(patterns, t->ops.at[at].sync_class));
  at += 1 + (size_t)(any(f, 2) ? any(f, UINT64_C(2) << any(f, 5)) : any(f, t->ops.len));
  return at < t->ops.len ? at : t->ops.len;
}

static void notices_each_fsync_that_is_left_out(void **state)
{
  struct fixture *f = *state;
  struct power_trace new, failed;
  record_new(f, &new);
  record_failed(f, &failed);
  for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++) {
    const struct site *s = &sites[i];
    const struct power_trace *t = is_met(&new, s->patterns) ? &new : &failed;
    int runs = 0, limit = s->why ? (f->is_long ? 200 : 15) : 1000;
    bool is_noticed = false;
    assert_true(is_met(t, s->patterns));
    for (; runs < limit && !is_noticed; runs++)
      is_noticed = !survives(f, t, moment_behind(f, t, s->patterns), s->patterns);
    if (is_noticed && f->c.has_crashed)
      fail_msg("%s left out, and the program crashes: %s", s->name, f->c.words);
    printf("%-32s cut %3d: %.150s\n", s->name, runs,
           is_noticed ? f->c.words
           : s->why   ? s->why
                      : "NOT NOTICED");
    assert_int_equal(is_noticed, !s->why);
  }
  power_trace_release(&new);
  power_trace_release(&failed);
}

/* Every fsync is in the list of sites. */
static void knows_every_fsync(void **state)
{
  struct fixture *f = *state;
  struct power_trace t[3];
  record_new(f, &t[0]);
  record_failed(f, &t[1]);
  record_killed(f, &t[2], 60 + any(f, 60));
  for (size_t k = 0; k < 3; k++) {
    for (size_t i = 0; i < t[k].ops.len; i++) {
      const char *found = t[k].ops.at[i].sync_class;
      bool is_known = !found;
      for (size_t n = 0; n < sizeof(sites) / sizeof(sites[0]) && !is_known; n++)
        is_known = power_is_left_out(sites[n].patterns, found);
      if (!is_known)
        fail_msg("an fsync that is in no list: %s", found);
    }
    power_trace_release(&t[k]);
  }
}

static int run_part(const char *which)
{
  const struct CMUnitTest cuts[] = {
    cmocka_unit_test(a_new_job_survives_a_power_cut),
    cmocka_unit_test(a_resumed_job_survives_a_power_cut),
    cmocka_unit_test(a_failed_job_survives_a_power_cut_when_it_is_resumed),
    cmocka_unit_test(survives_power_cuts_one_after_another),
  };
  const struct CMUnitTest syncs[] = {
    cmocka_unit_test(knows_every_fsync),
    cmocka_unit_test(notices_each_fsync_that_is_left_out),
  };
  return strcmp(which, "syncs") == 0 ? cmocka_run_group_tests(syncs, set_up, tear_down)
                                     : cmocka_run_group_tests(cuts, set_up, tear_down);
}

int main(int argc, char **argv)
{
  return run_part(argc > 1 ? argv[1] : "cuts");
}
