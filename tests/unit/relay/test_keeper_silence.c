/* When a relay asks its keeper, what it reports, and when it ends the node. */
#include "unit.h"

#include "base/time.h"
#include "relay/keeper_silence.h"

#define LOOK_NS (TM_S / 5)

/* Looks until `until_ns`; the keeper answers each question if `answers`. The last report; -1: none
 * was due. */
static int64_t watch(struct tm_keeper_silence *w, int64_t *now_ns, int64_t until_ns, bool answers,
                     int *asked, bool *is_over)
{
  int64_t report_ns = -1;

  *asked = 0;
  *is_over = false;
  while (*now_ns < until_ns && !*is_over) {
    *now_ns += LOOK_NS;
    struct tm_keeper_doing doing = tm_keeper_silence_look(w, 10 * TM_S, *now_ns);
    *asked += doing.asks;
    if (doing.asks && answers)
      tm_keeper_silence_heard(w);
    if (doing.reports)
      report_ns = doing.silent_ns;
    *is_over = doing.is_over;
  }
  return report_ns;
}

static void a_keeper_that_answers_is_asked_each_second(void **state)
{
  struct tm_keeper_silence w;
  int64_t now_ns = TM_S;
  bool is_over;
  int asked;

  tm_keeper_silence_init(&w, now_ns);
  assert_int_equal(watch(&w, &now_ns, 101 * TM_S, true, &asked, &is_over), -1);
  assert_in_range(asked, 99, 100);
  assert_false(is_over);
}

static void silence_is_reported_until_it_is_over(void **state)
{
  struct tm_keeper_silence w;
  int64_t now_ns = TM_S;
  bool is_over;
  int asked;

  tm_keeper_silence_init(&w, now_ns);
  assert_int_equal(watch(&w, &now_ns, now_ns + 2 * TM_S - LOOK_NS, false, &asked, &is_over), -1);
  assert_int_equal(watch(&w, &now_ns, 3 * TM_S, false, &asked, &is_over), 2 * TM_S);
  assert_in_range(watch(&w, &now_ns, 8 * TM_S, false, &asked, &is_over), 6 * TM_S, 7 * TM_S);
  assert_false(is_over);
  assert_int_equal(watch(&w, &now_ns, 10 * TM_S, true, &asked, &is_over), 0);
  assert_int_equal(watch(&w, &now_ns, 12 * TM_S - LOOK_NS, true, &asked, &is_over), -1);
}

static void the_timeout_ends_the_node(void **state)
{
  struct tm_keeper_silence w;
  int64_t now_ns = TM_S;
  bool is_over;
  int asked;

  tm_keeper_silence_init(&w, now_ns);
  (void)watch(&w, &now_ns, 100 * TM_S, false, &asked, &is_over);
  assert_true(is_over);
  assert_int_equal(now_ns, 11 * TM_S);
}

/* The relay itself was stopped: what the keeper has sent meanwhile is read first. */
static void a_late_look_ends_nothing(void **state)
{
  struct tm_keeper_silence w;
  struct tm_keeper_doing doing;

  tm_keeper_silence_init(&w, TM_S);
  (void)tm_keeper_silence_look(&w, 10 * TM_S, 2 * TM_S);
  doing = tm_keeper_silence_look(&w, 10 * TM_S, 100 * TM_S);
  assert_false(doing.is_over);
}

static void without_a_timeout_nothing_is_over(void **state)
{
  struct tm_keeper_silence w;

  tm_keeper_silence_init(&w, TM_S);
  for (int64_t now_ns = TM_S; now_ns < 1000 * TM_S; now_ns += LOOK_NS)
    assert_false(tm_keeper_silence_look(&w, 0, now_ns).is_over);
}

UNIT_TESTS({
    cmocka_unit_test(a_keeper_that_answers_is_asked_each_second),
    cmocka_unit_test(silence_is_reported_until_it_is_over),
    cmocka_unit_test(the_timeout_ends_the_node),
    cmocka_unit_test(a_late_look_ends_nothing),
    cmocka_unit_test(without_a_timeout_nothing_is_over),
});
