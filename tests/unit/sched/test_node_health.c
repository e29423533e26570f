/* test_node_health.c - when a node is sick: by tables of the tries that end there and elsewhere. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sched/node_health.h"

struct fixture {
  struct tm_step_health step;
  struct tm_node_health node, other;
  struct tm_pool pool; /* of the node */
};

static void init(struct fixture *f, int64_t workers)
{
  *f = (struct fixture) { .pool = { .living = 0 } };
  tm_pool_init(&f->pool, workers);
  tm_health_init(&f->node, workers);
  tm_health_init(&f->other, workers);
}

/* Tries that end, in order, with a number before each: "F" is a first try that failed on the node,
 * "f" a later one, "p" of a part, "g" a good one; "X", "x" and "o" are those of the other node. */
static void run(struct fixture *f, const char *text)
{
  while (*text) {
    long n = strtol(text, (char **)&text, 10);
    for (n = n > 0 ? n : 1; n > 0 && *text != ' '; n--)
      tm_health_note_try(&f->step, strchr("Ffpg", *text) ? &f->node : &f->other,
                         strchr("FX", *text)  ? TM_HEALTH_FIRST
                         : strchr("p", *text) ? TM_HEALTH_PART
                                              : TM_HEALTH_AGAIN,
                         strchr("go", *text) != NULL);
    text++;
  }
}

static enum tm_sickness_kind look(const struct fixture *f)
{
  return tm_health_look(&f->step, &f->node, &f->pool).kind;
}

static void test_all_tries_fail_there_and_most_succeed_elsewhere(void **state)
{
  static const struct {
    int64_t workers;
    const char *ended;
    bool is_sick;
  } cases[] = {
    /* as many as 8, and as three times the workers */
    { 1, "7F 9o", false },
    { 1, "8F 9o", true },
    { 1, "9o 8F", false }, /* nothing ended elsewhere in that time */
    { 1, "F 9o 7F", true },
    { 2, "F 9o 6F", false },
    { 3, "F 9o 7F", false },
    { 3, "F 9o 8F", true },
    { 100, "F 9o 298F", false },
    { 100, "F 9o 299F", true },
    /* one that succeeded in between */
    { 1, "F 9o 4F g 7F 9o", false },
    { 1, "F 9o 4F g 8F 9o", true },
    /* more than half, of at least three */
    { 1, "8F 2o", false },
    { 1, "8F 3o", true },
    { 1, "8F 2o 2x", false },
    { 1, "8F 3o 3x", false },
    { 1, "8F 4o 3X", true },
    { 1, "F 3X 3o 7X 4o 7F", false },
    { 1, "F 3X 3o 2X 3o 7F", true },
    /* what was before that time counts for nothing: the script fails from now on */
    { 1, "500o 500g 8F 8X", false },
    { 1, "500o 500g F 2o 7F 8X", false },
    { 1, "500X 500x 9F 3o", true },
    /* mini-batches that have failed elsewhere before */
    { 1, "X 3o 20f", false },
    { 1, "7F 3o 20f", true },
    { 1, "f 8o 7f", false },
    { 1, "f 9o 7f", true },
    { 1, "7F 30o 20f F", true },
    /* another sick node, which fails faster, does not excuse it */
    { 1, "8F 900X 8o", false },
    { 1, "8F 900X 9o", true },
    { 1, "f 900X 15o 90f", false },
    { 1, "f 900X 17o 90f", true },
    /* parts, some of which must fail */
    { 1, "9p 3o 9p", false },
    { 1, "F 3o 90p 7F", true },
    { 1, "F 2o x 90p 7F", true },
    { 1, "F 2o 2x 90p 7F", false },
    /* there is no other node */
    { 1, "5000F", false },
    { 1, "5g 5000F 500f", false },
  };

  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct fixture f;
    init(&f, cases[i].workers);
    run(&f, cases[i].ended);
    if ((look(&f) == TM_SICK_TRIES) != cases[i].is_sick || (!cases[i].is_sick && look(&f)))
      fail_msg("%d workers, %s", (int)cases[i].workers, cases[i].ended);
  }
}

/* Then both are sick or none is: at most one of two nodes succeeds in more than half. */
static void test_nodes_that_fail_alike_are_not_to_blame(void **state)
{
  struct fixture f;

  init(&f, 1);
  for (int i = 0; i < 1000; i++) {
    run(&f, i % 3 == 0 ? "F X x" : "X F f");
    assert_int_equal(look(&f), TM_SICK_NOT);
    assert_int_equal(tm_health_look(&f.step, &f.other, &f.pool).kind, TM_SICK_NOT);
  }
}

static void note_inits(struct fixture *f, int on_node, int bad, int good)
{
  for (int i = 0; i < on_node; i++) {
    enum tm_worker_state s = tm_pool_step(&f->pool, TM_WORKER_GONE, TM_WORKER_ON_START);
    tm_pool_step(&f->pool, s, TM_WORKER_ON_ENDED);
    tm_health_note_init(&f->step, &f->node, false);
  }
  for (int i = 0; i < bad + good; i++)
    tm_health_note_init(&f->step, &f->other, i >= bad);
}

static void test_init_fails_only_there(void **state)
{
  static const struct {
    int on_node, bad, good; /* elsewhere */
    bool is_sick;
  } cases[] = {
    { 5, 0, 9, false }, /* of 2 workers: 6 in a row */
    { 6, 0, 9, true },  { 6, 0, 1, true }, { 6, 0, 0, false },
    { 6, 1, 1, false }, { 6, 4, 5, true }, { 6, 5, 0, false },
  };

  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct fixture f;
    init(&f, 2);
    note_inits(&f, cases[i].on_node, cases[i].bad, cases[i].good);
    if (look(&f) != (cases[i].is_sick ? TM_SICK_INIT : TM_SICK_NOT))
      fail_msg("%d, %d bad and %d good elsewhere", cases[i].on_node, cases[i].bad, cases[i].good);
  }
}

/* Sick nodes that came before do not excuse the next one, nor do good ones accuse it. */
static void test_lost_nodes_do_not_count_for_init(void **state)
{
  struct fixture f;

  init(&f, 2);
  note_inits(&f, 6, 9, 1);
  assert_int_equal(look(&f), TM_SICK_NOT);
  tm_health_forget(&f.step, &f.other);
  note_inits(&f, 0, 0, 1);
  assert_int_equal(look(&f), TM_SICK_INIT);
  tm_health_forget(&f.step, &f.other);
  assert_int_equal(look(&f), TM_SICK_NOT);
  assert_int_equal(f.step.init.all, 6);
}

static void test_workers_that_end_before_they_begin_anything(void **state)
{
  struct fixture f;

  init(&f, 2);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(look(&f), TM_SICK_NOT);
    tm_pool_note_end(&f.pool, false);
    tm_health_note_start(&f.step, &f.node, false);
  }
  assert_int_equal(look(&f), TM_SICK_NOT);
  tm_health_note_start(&f.step, &f.other, true);
  assert_int_equal(look(&f), TM_SICK_STARTS);
  tm_health_note_start(&f.step, &f.other, false);
  assert_int_equal(look(&f), TM_SICK_NOT);
}

static void test_the_figures_are_shown(void **state)
{
  static const struct {
    struct tm_sickness x;
    const char *text;
  } cases[] = {
    { { TM_SICK_TRIES, 12, 400, 380 },
      "its last 12 tries all failed, while 95 % of 400 tries elsewhere succeeded" },
    { { TM_SICK_TRIES, 8, 1000, 999 },
      "its last 8 tries all failed, while 99 % of 1000 tries elsewhere succeeded" },
    { { TM_SICK_INIT, 6, 1, 1 },
      "init() has failed 6 times in a row there, while it succeeded in 100 % of 1 worker "
      "elsewhere" },
    { { TM_SICK_STARTS, 6, 4, 3 },
      "its last 6 workers ended before they had begun anything, unlike 75 % of 4 workers "
      "elsewhere" },
  };

  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_buf out = TM_BUF_NONE;
    tm_sickness_describe(&out, &cases[i].x);
    assert_string_equal(tm_buf_str(&out), cases[i].text);
    tm_buf_release(&out);
  }
}

UNIT_TESTS({
    cmocka_unit_test(test_all_tries_fail_there_and_most_succeed_elsewhere),
    cmocka_unit_test(test_nodes_that_fail_alike_are_not_to_blame),
    cmocka_unit_test(test_init_fails_only_there),
    cmocka_unit_test(test_lost_nodes_do_not_count_for_init),
    cmocka_unit_test(test_workers_that_end_before_they_begin_anything),
    cmocka_unit_test(test_the_figures_are_shown),
});
