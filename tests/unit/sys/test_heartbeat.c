/* Heartbeats of two machines, whose clocks the test moves. */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "sys/messages/heartbeat.h"

#define TIMEOUT (15 * TM_S)
#define START   (1000 * TM_S)

struct pair {
  struct tm_heartbeat up, down; /* of the supervisor, of the relay */
  int64_t now_ns;
};

/* The relay's monotonic clock is an hour ahead, its wall clock 5 s ahead. */
static int64_t relay_ns(const struct pair *p)
{
  return p->now_ns + 3600 * TM_S;
}

static void setup_pair(struct pair *p)
{
  tm_heartbeat_init(&p->up, true, TIMEOUT);
  tm_heartbeat_init(&p->down, false, 0);
  p->now_ns = START;
}

/* There in `there_ns`, held, and back. */
static void beat(struct pair *p, int64_t there_ns, int64_t held_ns, int64_t back_ns)
{
  char bytes[TM_HEARTBEAT_LEN];
  tm_heartbeat_make(&p->up, p->now_ns, p->now_ns, bytes);
  p->now_ns += there_ns;
  assert_true(tm_heartbeat_take(&p->down, bytes, sizeof bytes, relay_ns(p), p->now_ns + 5 * TM_S));
  assert_int_equal(tm_heartbeat_wait_ns(&p->down, relay_ns(p)), 0);
  p->now_ns += held_ns;
  tm_heartbeat_make(&p->down, relay_ns(p), p->now_ns + 5 * TM_S, bytes);
  p->now_ns += back_ns;
  assert_true(tm_heartbeat_take(&p->up, bytes, sizeof bytes, p->now_ns, p->now_ns));
}

static void each_is_due_in_its_time(void **state)
{
  struct pair p;
  setup_pair(&p);
  assert_true(tm_heartbeat_wait_ns(&p.down, relay_ns(&p)) == INT64_MAX);
  assert_int_equal(tm_heartbeat_wait_ns(&p.up, p.now_ns), 0);
  beat(&p, 0, 0, 0);
  assert_int_equal(tm_heartbeat_wait_ns(&p.up, p.now_ns), 3 * TM_S);
  assert_int_equal(tm_heartbeat_wait_ns(&p.up, p.now_ns + TM_S), 2 * TM_S);
  assert_int_equal(tm_heartbeat_wait_ns(&p.up, p.now_ns + 9 * TM_S), 0);
  assert_int_equal(tm_heartbeat_wait_ns(&p.down, relay_ns(&p)), 4500 * TM_MS);
}

static void the_round_trip_is_the_shortest_of_the_last_eight(void **state)
{
  struct pair p;
  setup_pair(&p);
  assert_int_equal(tm_heartbeat_round_trip_ns(&p.up), 0);
  beat(&p, 30 * TM_MS, 0, 50 * TM_MS);
  assert_int_equal(tm_heartbeat_round_trip_ns(&p.up), 80 * TM_MS);
  assert_int_equal(tm_heartbeat_round_trip_ns(&p.down), 0);
  beat(&p, TM_MS, 0, TM_MS);
  assert_int_equal(tm_heartbeat_round_trip_ns(&p.down), 80 * TM_MS - 29 * TM_MS);
  for (int i = 0; i < TM_HEARTBEAT_SAMPLES - 1; i++) {
    beat(&p, 20 * TM_MS, 0, 20 * TM_MS);
    assert_int_equal(tm_heartbeat_round_trip_ns(&p.up), 2 * TM_MS);
    assert_int_equal(tm_heartbeat_clock_offset_ns(&p.up), 5 * TM_S);
  }
  beat(&p, 20 * TM_MS, 0, 20 * TM_MS);
  assert_int_equal(tm_heartbeat_round_trip_ns(&p.up), 40 * TM_MS);
}

static void time_for_which_one_is_held_does_not_count(void **state)
{
  struct pair p;
  setup_pair(&p);
  beat(&p, TM_MS, 2 * TM_S, TM_MS);
  assert_int_equal(tm_heartbeat_round_trip_ns(&p.up), 2 * TM_MS + 2 * TM_S / 10000);
}

static void what_cannot_be_one_is_refused(void **state)
{
  struct pair p;
  char good[TM_HEARTBEAT_LEN], bad[TM_HEARTBEAT_LEN];
  setup_pair(&p);
  tm_heartbeat_make(&p.up, START, START, good);
  assert_false(tm_heartbeat_take(&p.down, good, sizeof good - 1, START, START));
  for (size_t i = 0; i < 5; i++) { /* a number beyond all times */
    memcpy(bad, good, sizeof good);
    bad[8 * i + 7] = 0x7f;
    assert_false(tm_heartbeat_take(&p.down, bad, sizeof bad, START, START));
  }
  memcpy(bad, good, sizeof good);
  memset(bad + 32, 0, 8); /* no timeout */
  assert_false(tm_heartbeat_take(&p.down, bad, sizeof bad, START, START));
  memcpy(bad, good, sizeof good);
  bad[16] = 1; /* the echo of one that was never sent */
  assert_false(tm_heartbeat_take(&p.down, bad, sizeof bad, START, START));
  assert_false(tm_heartbeat_take(&p.up, good, sizeof good, START, START)); /* its own */
  assert_int_equal(p.down.timeout_ns, 0);
  assert_true(tm_heartbeat_take(&p.down, good, sizeof good, START, START));
  assert_int_equal(p.down.timeout_ns, TIMEOUT);
}

UNIT_TESTS({
    cmocka_unit_test(each_is_due_in_its_time),
    cmocka_unit_test(the_round_trip_is_the_shortest_of_the_last_eight),
    cmocka_unit_test(time_for_which_one_is_held_does_not_count),
    cmocka_unit_test(what_cannot_be_one_is_refused),
});
