/* life.h - tests of a table of lives (step/step_life.h, job/job_life.h) that are the same for each.
 *
 *   #define LIFE(name)    tm_job_life##name
 *   #define LIFE_OF(name) TM_JOB_##name
 *   #include "life.h"
 *
 * The file defines note(), which counts the actions of one random life and checks them, and lists
 * the tests of this header among its own.
 */
#ifndef TM_TESTS_LIFE_H
#define TM_TESTS_LIFE_H

#include <stdlib.h>

#define ALL_STATES(s) for (enum LIFE(_state) s = 0; s < LIFE_OF(STATES); s++)
#define ALL_EVENTS(e) for (enum LIFE(_event) e = 0; e < LIFE_OF(EVENTS); e++)

static enum LIFE(_action) act(enum LIFE(_state) * state, enum LIFE(_event) event)
{
  struct LIFE() l = { *state };
  enum LIFE(_action) action = LIFE(_event)(&l, event);
  *state = l.state;
  return action;
}

static bool may(enum LIFE(_state) state, enum LIFE(_may) what)
{
  return LIFE(_may)(&(struct LIFE()) { state }, what);
}

static void every_state_and_every_action_is_reached(void **state)
{
  bool reached[LIFE_OF(STATES)] = { [LIFE_OF(IS_OPENED)] = true };
  bool done[LIFE_OF(ACTIONS)] = { false };

  for (int round = 0; round < LIFE_OF(STATES); round++)
    ALL_STATES(from)
  ALL_EVENTS(event)
  {
    enum LIFE(_state) s = from;
    if (!reached[from] || !LIFE(_is_possible)(from, event))
      continue;
    done[act(&s, event)] = true;
    assert_in_range(s, 0, LIFE_OF(STATES) - 1);
    reached[s] = true;
  }
  ALL_STATES(s)
  assert_true(reached[s]);
  for (int a = 0; a < LIFE_OF(ACTIONS); a++)
    assert_true(done[a]);
}

static void nothing_is_possible_after_the_end_of_its_memory(void **state)
{
  ALL_EVENTS(event)
  assert_false(LIFE(_is_possible)(LIFE_OF(IS_FREED), event));
  assert_false(LIFE(_is_possible)(LIFE_OF(STATES), LIFE_OF(ON_CLOSE)));
  assert_false(LIFE(_is_possible)(LIFE_OF(IS_OPENED), LIFE_OF(EVENTS)));
}

/* ---- whole lives ---- */

struct moment {
  enum LIFE(_event) event;
  enum LIFE(_action) action;
  enum LIFE(_state) state; /* afterwards */
};

#define AT(event, action, state)                                                                   \
  {                                                                                                \
    LIFE_OF(ON_##event), LIFE_OF(DO_##action), LIFE_OF(IS_##state)                                 \
  }

static void live(const struct moment *m, size_t n)
{
  struct LIFE() l = { LIFE_OF(IS_OPENED) };

  for (size_t i = 0; i < n; i++) {
    assert_int_equal(LIFE(_event)(&l, m[i].event), m[i].action);
    assert_int_equal(l.state, m[i].state);
  }
}

#define LIVE(...)                                                                                  \
  do {                                                                                             \
    static const struct moment life[] = { __VA_ARGS__ };                                           \
    live(life, sizeof life / sizeof *life);                                                        \
  } while (0)

/* ---- random lives ---- */

struct story {
  int verdicts, fails, commits, ends, closes, frees;
};

static void note(struct story *t, enum LIFE(_action) a);

static void random_lives_keep_the_invariants(void **state)
{
  unsigned seed = 1, ended = 0;

  for (int round = 0; round < 20000; round++) {
    struct LIFE() l = { LIFE_OF(IS_OPENED) };
    struct story t = { 0 };
    for (int n = 0; n < 200 && l.state != LIFE_OF(IS_FREED); n++) {
      enum LIFE(_event) event = (enum LIFE(_event))(rand_r(&seed) % LIFE_OF(EVENTS));
      bool is_rare = event == LIFE_OF(ON_CLOSE) && rand_r(&seed) % 8 != 0;
      if (!is_rare && LIFE(_is_possible)(l.state, event))
        note(&t, LIFE(_event)(&l, event));
    }
    ended += (unsigned)t.ends;
    assert_int_equal(t.frees, l.state == LIFE_OF(IS_FREED));
  }
  assert_in_range(ended, 1000, 20000);
}

#endif
