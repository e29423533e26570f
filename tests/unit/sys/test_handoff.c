/* test_handoff.c - bytes on their way between two threads: in order, limited, and nobody waits
 * after the close. */
#include "unit.h"

#include <string.h>

#include "sys/handoff.h"

#define LIMIT 100
#define ALL   10000
#define PART  37

struct other {
  struct tm_handoff h;
  struct tm_thread thread;
  char bytes[ALL]; /* that the thread has got */
  size_t count;    /* of full parts */
  bool was_closed;
};

static void pattern(char *p, size_t n, size_t from)
{
  for (size_t i = 0; i < n; i++)
    p[i] = (char)((from + i) * 7);
}

static void put_all(void *data)
{
  struct other *o = data;
  pattern(o->bytes, ALL, 0);
  o->was_closed = !tm_handoff_put(&o->h, o->bytes, ALL);
}

static void get_all(void *data)
{
  struct other *o = data;
  while (o->count + PART <= ALL && tm_handoff_get(&o->h, o->bytes + o->count, PART))
    o->count += PART;
  o->was_closed = o->count + PART <= ALL;
}

static void begin(struct other *o, void (*run)(void *))
{
  memset(o, 0, sizeof *o);
  tm_handoff_init(&o->h, LIMIT);
  assert_int_equal(tm_thread_start(&o->thread, run, o, NULL), 0);
}

static void end(struct other *o)
{
  tm_thread_join(&o->thread);
  tm_handoff_release(&o->h);
}

static void bytes_from_the_thread_arrive_in_order(void **state)
{
  struct other o;
  struct tm_buf got = TM_BUF_NONE;
  begin(&o, put_all);
  while (got.len < ALL) {
    assert_true(tm_handoff_len(&o.h) <= LIMIT);
    assert_true(tm_handoff_take(&o.h, &got, PART) <= PART);
  }
  end(&o);
  assert_false(o.was_closed);
  assert_memory_equal(got.data, o.bytes, ALL);
  tm_buf_release(&got);
}

static void bytes_from_the_loop_arrive_in_order(void **state)
{
  struct other o;
  char expected[ALL], piece[23];
  begin(&o, get_all);
  for (size_t at = 0; at < ALL;) {
    size_t n = ALL - at < sizeof piece ? ALL - at : sizeof piece;
    pattern(piece, n, at);
    at += tm_handoff_give(&o.h, piece, n) ? n : 0;
  }
  end(&o);
  pattern(expected, ALL, 0);
  assert_int_equal(o.count, ALL / PART * PART);
  assert_memory_equal(o.bytes, expected, o.count);
}

static void more_bytes_than_the_limit_are_refused(void **state)
{
  struct tm_handoff h;
  char bytes[LIMIT + 1] = { 0 };
  struct tm_buf got = TM_BUF_NONE;
  tm_handoff_init(&h, LIMIT);
  assert_false(tm_handoff_give(&h, bytes, LIMIT + 1));
  assert_true(tm_handoff_give(&h, bytes, LIMIT));
  assert_false(tm_handoff_give(&h, bytes, 1));
  assert_int_equal(tm_handoff_take(&h, &got, 1), 1);
  assert_true(tm_handoff_give(&h, bytes, 1));
  assert_int_equal(tm_handoff_len(&h), LIMIT);
  tm_buf_release(&got);
  tm_handoff_release(&h);
}

static void a_close_ends_the_waiting(void **state)
{
  static void (*const runs[])(void *) = { put_all, get_all };
  for (int i = 0; i < 2; i++) {
    struct other o;
    begin(&o, runs[i]);
    tm_handoff_close(&o.h);
    end(&o);
    assert_true(o.was_closed);
  }
}

UNIT_TESTS({
    cmocka_unit_test(bytes_from_the_thread_arrive_in_order),
    cmocka_unit_test(bytes_from_the_loop_arrive_in_order),
    cmocka_unit_test(more_bytes_than_the_limit_are_refused),
    cmocka_unit_test(a_close_ends_the_waiting),
});
