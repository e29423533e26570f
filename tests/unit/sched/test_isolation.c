/* test_isolation.c - finds exactly the bad items, within the bound on tries. */
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/part.h"
#include "sched/isolation.h"

enum outcome { NOTHING, GOOD, BAD, UNTESTED };

/* A mini-batch with known bad items, and the result of the search. */
struct world {
  uint32_t items, bad_len;
  bool *is_bad;
  uint8_t *outcome; /* enum outcome of each item */
  struct tm_isolation x;
  struct TM_ARRAY(uint64_t) open; /* parts that workers hold */
};

static uint64_t seed;

static uint32_t any(uint32_t below)
{
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(seed >> 33) % below;
}

static void settle(struct world *w, uint64_t part, enum outcome outcome)
{
  for (uint32_t i = 0; part != 0 && i < tm_part_count(part); i++) {
    assert_int_equal(w->outcome[tm_part_first(part) + i], NOTHING); /* each item is settled once */
    w->outcome[tm_part_first(part) + i] = (uint8_t)outcome;
  }
}

static void take(struct world *w, const struct tm_isolation_next *next)
{
  for (size_t i = 0; i < next->tries_len; i++)
    *TM_ARRAY_ADD(&w->open) = next->tries[i];
  settle(w, next->bad, BAD);
  settle(w, next->untested, UNTESTED);
}

static bool fails(const struct world *w, uint64_t part)
{
  for (uint32_t i = 0; i < tm_part_count(part); i++)
    if (w->is_bad[tm_part_first(part) + i])
      return true;
  return false;
}

static struct world *world_new(uint32_t items)
{
  struct world *w = TM_NEW(struct world);

  w->items = items;
  w->is_bad = tm_xcalloc(items, sizeof(*w->is_bad));
  w->outcome = tm_xcalloc(items, sizeof(*w->outcome));
  return w;
}

static void world_free(struct world *w)
{
  TM_ARRAY_RELEASE(&w->open);
  free(w->is_bad);
  free(w->outcome);
  free(w);
}

/* Runs the search to its end; parts end in random order. */
static void run(struct world *w, int64_t max_try)
{
  struct tm_isolation_next next;

  tm_isolation_begin(&w->x, w->items, max_try, &next);
  take(w, &next);
  while (w->open.len > 0) {
    uint32_t at = any((uint32_t)w->open.len);
    uint64_t part = w->open.at[at];

    assert_int_equal(w->x.open, w->open.len);
    w->open.at[at] = w->open.at[--w->open.len];
    if (!fails(w, part)) {
      tm_isolation_settle(&w->x);
      settle(w, part, GOOD);
      continue;
    }
    tm_isolation_fail(&w->x, part, &next);
    take(w, &next);
  }
  assert_int_equal(w->x.open, 0);
  assert_true(w->x.tries <= max_try);
}

static int64_t log2_up(uint32_t n)
{
  int64_t levels = 0;

  while ((UINT64_C(1) << levels) < n)
    levels++;
  return levels;
}

static void add_bad(struct world *w, uint32_t wanted)
{
  while (w->bad_len < wanted) {
    uint32_t i = any(w->items);
    w->bad_len += !w->is_bad[i];
    w->is_bad[i] = true;
  }
}

static void test_finds_exactly_the_bad_items_within_the_bound(void **state)
{
  for (seed = 1; seed < 4000; seed++) {
    uint64_t before = seed;
    struct world *w = world_new(1 + any(any(4) == 0 ? 2000 : 40));

    add_bad(w, any(w->items < 12 ? w->items + 1 : 12));
    run(w, INT32_MAX);
    for (uint32_t i = 0; i < w->items && w->items > 1; i++)
      assert_int_equal(w->outcome[i], w->is_bad[i] ? BAD : GOOD);
    assert_true(w->x.tries <= 2 * w->bad_len * log2_up(w->items) + 2);
    world_free(w);
    seed = before;
  }
}

static void test_every_item_bad_costs_two_tries_an_item_less_two(void **state)
{
  struct world *w = world_new(64);

  add_bad(w, 64);
  run(w, INT32_MAX);
  assert_int_equal(w->x.tries, 126);
  for (uint32_t i = 0; i < 64; i++)
    assert_int_equal(w->outcome[i], BAD);
  world_free(w);
}

static void test_one_item_is_bad_without_a_try(void **state)
{
  struct world *w = world_new(1);

  add_bad(w, 1);
  run(w, 100);
  assert_int_equal(w->x.tries, 0);
  assert_int_equal(w->outcome[0], BAD);
  world_free(w);
}

static void test_max_try_leaves_items_untested_and_never_calls_them_bad_or_good(void **state)
{
  for (seed = 1; seed < 2000; seed++) {
    uint64_t before = seed;
    struct world *w = world_new(2 + any(500));
    uint32_t untested = 0;
    int64_t max_try = 1 + any(30);

    add_bad(w, 1 + any(w->items < 8 ? w->items : 8));
    run(w, max_try);
    for (uint32_t i = 0; i < w->items; i++) {
      untested += w->outcome[i] == UNTESTED;
      assert_int_not_equal(w->outcome[i], NOTHING);
      assert_true(w->outcome[i] != GOOD || !w->is_bad[i]);
      assert_true(w->outcome[i] != BAD || w->is_bad[i]);
    }
    assert_true(untested == 0 || w->x.tries == max_try);
    world_free(w);
    seed = before;
  }
}

/* It failed three times, and then both halves succeeded. */
static void test_a_mini_batch_that_fails_by_chance_costs_two_tries(void **state)
{
  struct world *w = world_new(1000);

  run(w, 100);
  assert_int_equal(w->x.tries, 2);
  assert_int_equal(w->outcome[999], GOOD);
  world_free(w);
}

UNIT_TESTS({
    cmocka_unit_test(test_finds_exactly_the_bad_items_within_the_bound),
    cmocka_unit_test(test_every_item_bad_costs_two_tries_an_item_less_two),
    cmocka_unit_test(test_one_item_is_bad_without_a_try),
    cmocka_unit_test(test_max_try_leaves_items_untested_and_never_calls_them_bad_or_good),
    cmocka_unit_test(test_a_mini_batch_that_fails_by_chance_costs_two_tries),
});
