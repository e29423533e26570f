/* test_worker_page.c - the shared page: who has an assignment, and what a reader sees during a
 * write. */
#include "unit.h"

#include "base/mem.h"
#include "node/worker_page.h"
#include "sys/threads.h"

static void an_entry_is_queued_begun_done(void **state)
{
  struct tm_page p = { 0 };
  assert_int_equal(tm_page_state(&p, 1), TM_ASSIGNMENT_QUEUED);
  assert_true(tm_page_begin(&p, 1));
  assert_int_equal(tm_page_state(&p, 1), TM_ASSIGNMENT_BEGUN);
  assert_false(tm_page_begin(&p, 1));
  assert_false(tm_page_take_back(&p, 1));
  tm_page_done(&p, 1);
  assert_int_equal(tm_page_state(&p, 1), TM_ASSIGNMENT_DONE);
  assert_false(tm_page_take_back(&p, 1));
}

static void an_entry_that_was_taken_back_does_not_begin(void **state)
{
  struct tm_page p = { 0 };
  assert_true(tm_page_take_back(&p, 3));
  assert_false(tm_page_take_back(&p, 3));
  assert_false(tm_page_begin(&p, 3));
  tm_page_done(&p, 3);
  assert_int_equal(tm_page_state(&p, 3), TM_ASSIGNMENT_TAKEN);
}

static void a_place_is_used_again(void **state)
{
  struct tm_page p = { 0 };
  for (uint64_t seq = 1; seq <= 5 * TM_PAGE_WORDS; seq++) {
    assert_int_equal(tm_page_state(&p, seq), TM_ASSIGNMENT_QUEUED);
    if (seq % 7 == 0) {
      assert_true(tm_page_take_back(&p, seq));
    } else {
      assert_true(tm_page_begin(&p, seq));
      tm_page_done(&p, seq);
    }
  }
  assert_false(tm_page_begin(&p, 1)); /* long closed */
  assert_int_equal(tm_page_state(&p, 1), TM_ASSIGNMENT_DONE);
}

static void expect_states(const struct tm_page *p, uint64_t last)
{
  struct tm_page_states s;
  tm_page_states_read(&s, p);
  for (uint64_t seq = 1; seq <= last + 1; seq++)
    assert_int_equal(tm_page_states_of(&s, seq), tm_page_state(p, seq));
}

static void the_packed_states_match_the_page(void **state)
{
  struct tm_page p = { 0 };
  struct tm_page_states s;
  expect_states(&p, 1);
  tm_page_take_back(&p, 4);
  tm_page_states_read(&s, &p);
  assert_false(s.has_begun);
  expect_states(&p, 4);
  tm_page_begin(&p, 1);
  tm_page_done(&p, 1);
  tm_page_begin(&p, 2);
  tm_page_states_read(&s, &p);
  assert_true(s.has_begun);
  assert_int_equal(s.last, 4);
  expect_states(&p, 4);
}

/* The window moves on over the page several times; some of it has not begun. */
static void the_packed_states_follow_the_window(void **state)
{
  struct tm_page p = { 0 };
  for (uint64_t seq = 1; seq <= 3 * TM_PAGE_WORDS; seq++) {
    if (seq % 5 == 0)
      assert_true(tm_page_take_back(&p, seq));
    else if (seq % 7 != 0 || seq < 2 * TM_PAGE_WORDS)
      assert_true(tm_page_begin(&p, seq));
    if (seq % 3 == 0)
      tm_page_done(&p, seq);
    if (seq % 100 != 0)
      continue;
    struct tm_page_states s;
    tm_page_states_read(&s, &p);
    for (uint64_t n = seq > TM_PAGE_WORDS ? seq - TM_PAGE_WORDS + 1 : 1; n <= seq + 1; n++)
      assert_int_equal(tm_page_states_of(&s, n), tm_page_state(&p, n));
  }
}

/* A word that cannot be at its place says nothing. */
static void a_damaged_page_can_be_read(void **state)
{
  struct tm_page p = { 0 };
  struct tm_page_states s;
  tm_page_begin(&p, 1);
  atomic_store(&p.words[9], UINT64_MAX);
  tm_page_states_read(&s, &p);
  assert_int_equal(s.last, 1);
  assert_int_equal(tm_page_states_of(&s, 1), TM_ASSIGNMENT_BEGUN);
  assert_int_equal(tm_page_states_of(&s, 9), TM_ASSIGNMENT_QUEUED);
}

#define RACES 200000

struct race {
  struct tm_page page;
  _Atomic uint64_t at; /* both sides continue once both are here */
  uint64_t begun, taken;
};

static void meet(struct race *r, uint64_t round)
{
  r->at++;
  while (atomic_load(&r->at) < 2 * round)
    ;
}

static void take_all(void *data)
{
  struct race *r = data;
  for (uint64_t seq = 1; seq <= RACES; seq++) {
    meet(r, seq);
    r->taken += tm_page_take_back(&r->page, seq);
  }
}

static void one_of_two_has_an_entry(void **state)
{
  struct race r = { 0 };
  struct tm_thread t = { 0 };
  assert_int_equal(tm_thread_start(&t, take_all, &r, NULL), 0);
  for (uint64_t seq = 1; seq <= RACES; seq++) {
    meet(&r, seq);
    if (tm_page_begin(&r.page, seq)) {
      r.begun++;
      tm_page_done(&r.page, seq);
    }
  }
  tm_thread_join(&t);
  assert_int_equal(r.begun + r.taken, RACES);
}

struct writer {
  struct tm_page page;
  atomic_bool is_over;
};

static void write_all(void *data)
{
  struct writer *w = data;
  for (uint64_t i = 1; i <= 500000; i++) {
    tm_page_set_begun(&w->page, (int64_t)i);
    tm_page_set(&w->page, (enum tm_phase)(i % 7), (int64_t)i, i, i * 3, (uint32_t)i);
  }
  atomic_store(&w->is_over, true);
}

static void a_reading_is_of_one_moment(void **state)
{
  struct writer w = { 0 };
  struct tm_thread t = { 0 };
  struct tm_page_view v;
  bool was_torn = false;
  tm_page_set(&w.page, TM_PHASE_START, 0, 0, 0, 0);
  assert_int_equal(tm_thread_start(&t, write_all, &w, NULL), 0);
  do {
    tm_page_read(&w.page, &v);
    was_torn |= (uint64_t)v.since_ns != v.seq || v.begun_wall_ns != v.since_ns ||
                v.index != v.seq * 3 || v.try != (uint32_t)v.seq ||
                v.phase != (enum tm_phase)(v.seq % 7);
  } while (!atomic_load(&w.is_over));
  tm_thread_join(&t);
  assert_false(was_torn);
  tm_page_read(&w.page, &v);
  assert_int_equal(v.seq, 500000);
}

static void an_unknown_phase_is_idle(void **state)
{
  struct tm_page p = { 0 };
  struct tm_page_view v;
  atomic_store(&p.doing, 15);
  tm_page_read(&p, &v);
  assert_int_equal(v.phase, TM_PHASE_IDLE);
  assert_string_equal(tm_phase_name(TM_PHASE_RUN), "run");
  assert_string_equal(tm_phase_name((enum tm_phase)99), "idle");
}

static void a_moment_that_no_time_can_be_added_to_is_unknown(void **state)
{
  static const int64_t moments[][2] = { { 5, 5 }, { 0, 0 }, { -1, 0 }, { INT64_MAX, 0 } };
  struct tm_page p = { 0 };
  struct tm_page_view v;
  for (size_t i = 0; i < TM_COUNT_OF(moments); i++) {
    tm_page_set_begun(&p, moments[i][0]);
    tm_page_set(&p, TM_PHASE_RUN, 1, i + 1, 1, 1);
    tm_page_read(&p, &v);
    assert_int_equal(v.begun_wall_ns, moments[i][1]);
  }
}

static void a_count_of_rows_stays_until_the_next_entry(void **state)
{
  struct tm_page p = { 0 };
  struct tm_page_view v;
  tm_page_set(&p, TM_PHASE_LOAD, 1, 7, 3, 1);
  tm_page_read(&p, &v);
  assert_int_equal(v.rows, 0);
  tm_page_set_rows(&p, 500);
  tm_page_read(&p, &v);
  assert_int_equal(v.rows, 500);
  tm_page_set(&p, TM_PHASE_RUN, 2, 7, 3, 1);
  tm_page_set(&p, TM_PHASE_RETURN, 3, 7, 3, 1);
  tm_page_read(&p, &v);
  assert_int_equal(v.phase, TM_PHASE_RETURN);
  assert_int_equal(v.rows, 500);
  tm_page_set(&p, TM_PHASE_LOAD, 4, 8, 4, 1);
  tm_page_read(&p, &v);
  assert_int_equal(v.rows, 0);
}

UNIT_TESTS({
    cmocka_unit_test(an_entry_is_queued_begun_done),
    cmocka_unit_test(an_entry_that_was_taken_back_does_not_begin),
    cmocka_unit_test(a_place_is_used_again),
    cmocka_unit_test(the_packed_states_match_the_page),
    cmocka_unit_test(the_packed_states_follow_the_window),
    cmocka_unit_test(a_damaged_page_can_be_read),
    cmocka_unit_test(one_of_two_has_an_entry),
    cmocka_unit_test(a_reading_is_of_one_moment),
    cmocka_unit_test(a_moment_that_no_time_can_be_added_to_is_unknown),
    cmocka_unit_test(an_unknown_phase_is_idle),
    cmocka_unit_test(a_count_of_rows_stays_until_the_next_entry),
});
