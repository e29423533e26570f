/* What is silence, and what was only not heard. */
#include "unit.h"

#include "base/time.h"
#include "sched/silence.h"

#define AT(n) ((n)*100 * TM_MS)

static void it_asks_each_second_and_gives_up_at_the_limit(void **state)
{
  struct tm_silence s;
  tm_silence_init(&s, 3 * TM_S, AT(0));
  for (int i = 1; i < 30; i++)
    assert_int_equal(tm_silence_look(&s, AT(i)), i % 10 ? TM_SILENCE_NONE : TM_SILENCE_ASK);
  assert_int_equal(tm_silence_look(&s, AT(30)), TM_SILENCE_OVER);
}

static void whatever_comes_ends_a_silence(void **state)
{
  struct tm_silence s;
  tm_silence_init(&s, 3 * TM_S, AT(0));
  for (int i = 1; i < 200; i++) {
    assert_int_not_equal(tm_silence_look(&s, AT(i)), TM_SILENCE_OVER);
    if (i % 29 == 0)
      tm_silence_heard(&s);
  }
}

static void a_late_look_does_not_judge(void **state)
{
  struct tm_silence s;
  tm_silence_init(&s, TM_S, AT(0));
  assert_int_equal(tm_silence_look(&s, AT(1)), TM_SILENCE_NONE);
  assert_int_equal(tm_silence_look(&s, AT(36000)), TM_SILENCE_ASK);
  tm_silence_heard(&s);
  assert_int_equal(tm_silence_look(&s, AT(36001)), TM_SILENCE_NONE);
  assert_int_equal(tm_silence_look(&s, AT(72000)), TM_SILENCE_ASK);
  assert_int_equal(tm_silence_look(&s, AT(72001)), TM_SILENCE_OVER);
}

UNIT_TESTS({
    cmocka_unit_test(it_asks_each_second_and_gives_up_at_the_limit),
    cmocka_unit_test(whatever_comes_ends_a_silence),
    cmocka_unit_test(a_late_look_does_not_judge),
});
