/* test_queue.c - which mini-batches are handed out, in which order, and what counts as a try. */
#include "unit.h"

#include "record/part.h"
#include "sched/queue.h"

static bool is_over(void *data, uint64_t index)
{
  const uint64_t *bits = data;

  return index < 64 && (*bits >> index & 1);
}

struct fixture {
  uint64_t over;
  struct tm_queue q;
};

static struct fixture with(uint64_t created, int64_t tries)
{
  struct fixture f = { 0 };

  tm_queue_init(&f.q, tries, is_over, NULL);
  tm_queue_set_created(&f.q, created);
  return f;
}

static struct tm_assignment take(struct fixture *f, uint32_t worker, bool others)
{
  struct tm_assignment e;

  f->q.data = &f->over;
  assert_true(
      tm_queue_take(&f->q, &(struct tm_queue_taker) { .worker = worker, .others = others }, &e));
  return e;
}

static bool has_none(struct fixture *f, uint32_t worker, bool others)
{
  struct tm_assignment e;

  f->q.data = &f->over;
  return !tm_queue_take(&f->q, &(struct tm_queue_taker) { .worker = worker, .others = others }, &e);
}

static void test_hands_out_in_order_and_no_more_than_exist(void **state)
{
  struct fixture f = with(3, 3);

  for (uint64_t i = 0; i < 3; i++) {
    struct tm_assignment e = take(&f, 0, false);
    assert_int_equal(e.index, i);
    assert_int_equal(e.try, 1);
    assert_int_equal(e.picked, 1);
  }
  assert_true(has_none(&f, 0, false));
  tm_queue_set_created(&f.q, 4);
  assert_int_equal(take(&f, 0, false).index, 3);
  tm_queue_release(&f.q);
}

static void test_skips_finished_ones(void **state)
{
  struct fixture f = with(6, 3);

  f.over = 0x0b | 1u << 5; /* 0, 1, 3, 5 */
  assert_int_equal(take(&f, 0, false).index, 2);
  assert_int_equal(take(&f, 0, false).index, 4);
  f.q.data = &f.over;
  assert_false(tm_queue_has_waiting(&f.q));
  tm_queue_release(&f.q);
}

static void test_one_that_is_put_back_does_not_count_and_comes_first(void **state)
{
  struct fixture f = with(5, 1);
  struct tm_assignment a = take(&f, 0, true), b = take(&f, 0, true), again;

  tm_queue_put_back(&f.q, &b);
  tm_queue_put_back(&f.q, &a);
  again = take(&f, 0, true);
  assert_int_equal(again.index, 0);
  assert_int_equal(again.try, 1);
  assert_int_equal(again.picked, 2);
  assert_int_equal(take(&f, 0, true).index, 1);
  assert_int_equal(take(&f, 0, true).index, 2);
  tm_queue_release(&f.q);
}

static void test_a_failed_one_comes_back_until_its_last_try(void **state)
{
  struct fixture f = with(1, 3);
  struct tm_assignment e = take(&f, 0, false);

  assert_true(tm_queue_fail(&f.q, &e, 0, 0));
  e = take(&f, 0, false);
  assert_int_equal(e.try, 2);
  assert_true(tm_queue_fail(&f.q, &e, 0, 0));
  e = take(&f, 0, false);
  assert_int_equal(e.try, 3);
  assert_false(tm_queue_fail(&f.q, &e, 0, 0));
  assert_true(has_none(&f, 0, false));
  tm_queue_release(&f.q);
}

static void test_a_failed_one_goes_to_another_worker_if_possible(void **state)
{
  struct fixture f = with(1, 3);
  struct tm_assignment e = take(&f, 7, true);

  assert_true(tm_queue_fail(&f.q, &e, 7, 0));
  assert_true(has_none(&f, 7, true));
  e = take(&f, 8, true);
  assert_int_equal(e.try, 2);
  assert_true(tm_queue_fail(&f.q, &e, 8, 0));
  assert_int_equal(take(&f, 8, false).try, 3); /* no other worker is alive */
  tm_queue_release(&f.q);
}

static bool take_at(struct fixture *f, uint32_t node, bool other_nodes, struct tm_assignment *out)
{
  f->q.data = &f->over;
  return tm_queue_take(
      &f->q,
      &(struct tm_queue_taker) {
          .worker = 100 + node, .node = node, .others = true, .other_nodes = other_nodes },
      out);
}

static void test_a_failed_assignment_goes_to_another_node_if_possible(void **state)
{
  struct fixture f = with(4, 3);
  struct tm_assignment e[4], got;

  for (int i = 0; i < 4; i++)
    e[i] = take(&f, 0, false);
  assert_true(tm_queue_fail(&f.q, &e[3], 101, 1));
  assert_true(tm_queue_fail(&f.q, &e[0], 9, 1)); /* another worker of the same node */
  assert_true(tm_queue_fail(&f.q, &e[1], 102, 2));
  tm_queue_put_back(&f.q, &e[2]);
  assert_true(take_at(&f, 1, true, &got)); /* 0 and 3 avoid it */
  assert_int_equal(got.index, 1);
  assert_true(take_at(&f, 1, true, &got));
  assert_int_equal(got.index, 2);
  assert_false(take_at(&f, 1, true, &got));
  assert_true(take_at(&f, 1, false, &got)); /* no other node can take it, but another worker */
  assert_int_equal(got.index, 0);
  assert_false(take_at(&f, 1, false, &got));
  assert_true(take_at(&f, 2, true, &got));
  assert_int_equal(got.index, 3);
  assert_int_equal(f.q.back.len, 0);
  tm_queue_release(&f.q);
}

/* They are taken in their order, whatever nodes they avoid: compared with a look at all of them. */
static void test_many_assignments_avoid_many_nodes(void **state)
{
  enum { COUNT = 500, NODES = 7 };
  struct fixture f = with(COUNT, 3);
  uint32_t avoids[COUNT];
  bool waits[COUNT] = { false };
  struct tm_assignment all[COUNT], e;

  for (uint32_t i = 0; i < COUNT; i++)
    all[i] = take(&f, 0, false);
  for (uint32_t i = 0; i < COUNT; i++) {
    avoids[i] = i * 2654435761u >> 16 & (NODES | 8);
    if (avoids[i] >= NODES)
      avoids[i] = TM_NO_NODE;
    if (avoids[i] != TM_NO_NODE)
      assert_true(tm_queue_fail(&f.q, &all[i], 100 + avoids[i], avoids[i]));
    else
      tm_queue_put_back(&f.q, &all[i]);
    waits[i] = true;
  }
  for (uint32_t round = 0; f.q.back.len > 0; round++) {
    uint32_t node = round * 40503u >> 4 & 7, first = 0;
    while (first < COUNT && (!waits[first] || avoids[first] == node))
      first++;
    assert_true(round < 100 * COUNT);
    assert_int_equal(take_at(&f, node, true, &e), first < COUNT);
    if (first == COUNT)
      continue;
    assert_int_equal(e.index, first);
    waits[first] = false;
  }
  tm_queue_release(&f.q);
}

static void test_parts_come_largest_first_and_have_one_try(void **state)
{
  struct fixture f = with(3, 2);
  struct tm_assignment first = take(&f, 0, false), second = take(&f, 0, false), e;

  assert_true(tm_queue_fail(&f.q, &second, 0, 0));
  tm_queue_add_part(&f.q, first.index, tm_part(0, 2), 3, 0);
  tm_queue_add_part(&f.q, first.index, tm_part(8, 4), 4, 0);
  tm_queue_add_part(&f.q, first.index, tm_part(4, 4), 5, 0);
  e = take(&f, 0, true);
  assert_int_equal(e.part, tm_part(4, 4));
  assert_int_equal(e.try, 5);
  assert_int_equal(e.picked, 1);
  tm_queue_put_back(&f.q, &e);
  e = take(&f, 0, true);
  assert_int_equal(e.part, tm_part(4, 4));
  assert_int_equal(e.picked, 2);
  assert_false(tm_queue_fail(&f.q, &e, 0, 0));
  assert_int_equal(take(&f, 0, true).part, tm_part(8, 4));
  assert_int_equal(take(&f, 0, true).part, tm_part(0, 2));
  e = take(&f, 1, true);
  assert_int_equal(e.index, second.index);
  assert_int_equal(e.part, 0);
  assert_int_equal(take(&f, 1, true).index, 2);
  tm_queue_release(&f.q);
}

static void test_what_must_be_alone_is_for_a_worker_that_holds_nothing(void **state)
{
  struct fixture f = with(4, 3);
  struct tm_queue_taker busy = { .worker = 0, .holds_some = true };
  struct tm_assignment a = take(&f, 0, false), b = take(&f, 0, false), e;

  a.lost_answers = 1;
  b.lost_nodes = 1;
  tm_queue_put_back(&f.q, &b);
  tm_queue_put_back(&f.q, &a);
  assert_true(tm_queue_take(&f.q, &busy, &e));
  assert_int_equal(e.index, 2);
  assert_int_equal(take(&f, 0, false).index, 0);
  b = take(&f, 0, false);
  assert_int_equal(b.index, 1);
  assert_true(tm_queue_fail(&f.q, &b, 5, 0)); /* what has lost a node stays so */
  assert_int_equal(take(&f, 5, true).index, 3);
  assert_int_equal(take(&f, 6, true).index, 1);
  tm_queue_release(&f.q);
}

static void test_suspects_are_apart(void **state)
{
  struct fixture f = with(1, 3);
  struct tm_assignment a = take(&f, 0, false), e;

  assert_false(tm_queue_take_suspect(&f.q, &e));
  a.lost_nodes = TM_LOST_NODES_MAX - 1;
  tm_queue_put_back(&f.q, &a);
  assert_false(tm_queue_has_waiting(&f.q));
  assert_true(has_none(&f, 0, false));
  assert_true(tm_queue_take_suspect(&f.q, &e));
  assert_int_equal(e.index, 0);
  assert_int_equal(e.picked, 2);
  tm_queue_put_back(&f.q, &a);
  tm_queue_close(&f.q);
  assert_false(tm_queue_take_suspect(&f.q, &e));
  tm_queue_release(&f.q);
}

static void test_closed_hands_out_nothing(void **state)
{
  struct fixture f = with(2, 3);

  tm_queue_close(&f.q);
  assert_true(has_none(&f, 0, false));
  tm_queue_release(&f.q);
}

static void test_a_failed_one_waits_for_its_time_and_delays_no_other(void **state)
{
  struct fixture f = with(2, 3);
  struct tm_assignment e = take(&f, 0, false);

  assert_true(tm_queue_due(&f.q) == INT64_MAX);
  tm_queue_set_now(&f.q, 100);
  e.due_ns = 150;
  assert_true(tm_queue_fail(&f.q, &e, 0, 0));
  assert_int_equal(tm_queue_due(&f.q), 150);
  assert_int_equal(take(&f, 0, false).index, 1); /* those after it come first */
  assert_false(tm_queue_has_waiting(&f.q));
  tm_queue_set_now(&f.q, 149);
  assert_true(has_none(&f, 0, false));
  tm_queue_set_now(&f.q, 150);
  assert_true(tm_queue_due(&f.q) == INT64_MAX);
  assert_true(tm_queue_has_waiting(&f.q));
  e = take(&f, 0, false);
  assert_int_equal(e.index, 0);
  assert_int_equal(e.try, 2);
  tm_queue_release(&f.q);
}

static void test_the_first_that_is_due_is_known(void **state)
{
  struct fixture f = with(3, 3);
  static const int64_t due[] = { 30, 10, 20 };

  for (int i = 0; i < 3; i++) {
    struct tm_assignment e = take(&f, 0, false);
    e.due_ns = due[i];
    assert_true(tm_queue_fail(&f.q, &e, 0, 0));
  }
  assert_int_equal(tm_queue_due(&f.q), 10);
  tm_queue_set_now(&f.q, 10);
  assert_int_equal(tm_queue_due(&f.q), 20);
  assert_int_equal(take(&f, 1, true).index, 1);
  tm_queue_set_now(&f.q, 1000);
  assert_int_equal(take(&f, 1, true).index, 0); /* the lowest number first */
  assert_int_equal(take(&f, 1, true).index, 2);
  tm_queue_release(&f.q);
}

UNIT_TESTS({
    cmocka_unit_test(test_hands_out_in_order_and_no_more_than_exist),
    cmocka_unit_test(test_skips_finished_ones),
    cmocka_unit_test(test_one_that_is_put_back_does_not_count_and_comes_first),
    cmocka_unit_test(test_a_failed_one_comes_back_until_its_last_try),
    cmocka_unit_test(test_a_failed_one_goes_to_another_worker_if_possible),
    cmocka_unit_test(test_a_failed_assignment_goes_to_another_node_if_possible),
    cmocka_unit_test(test_many_assignments_avoid_many_nodes),
    cmocka_unit_test(test_parts_come_largest_first_and_have_one_try),
    cmocka_unit_test(test_what_must_be_alone_is_for_a_worker_that_holds_nothing),
    cmocka_unit_test(test_suspects_are_apart),
    cmocka_unit_test(test_closed_hands_out_nothing),
    cmocka_unit_test(test_a_failed_one_waits_for_its_time_and_delays_no_other),
    cmocka_unit_test(test_the_first_that_is_due_is_known),
});
