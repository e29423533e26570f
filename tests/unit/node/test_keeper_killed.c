/* test_keeper_killed.c - keepers that are killed, and the next ones: whose processes they end, and
 * whose they spare. */
#include "unit.h"

#include "rig.h"

static void kill_keeper(struct rig *r)
{
  kill(r->keeper, SIGKILL);
  assert_int_equal(waitpid(r->keeper, NULL, 0), r->keeper);
  r->keeper = 0;
}

static void a_killed_keeper_takes_its_workers_along(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  int held = rig_hold(rig_start_worker(&r, 0));
  rig_wait_ready(&r, 0);
  kill_keeper(&r);
  rig_wait_gone(held);
  rig_close(&r);
}

/* A keeper of the job that `r` runs. */
static void start_beside(struct rig *beside, const struct rig *r, struct tm_incarnation incarnation)
{
  rig_open(beside, tm_hello());
  tm_tree_remove(beside->dir, NULL);
  strcpy(beside->dir, r->dir);
  beside->incarnation = incarnation;
  rig_add_step(beside, 0, NULL, NULL, 60 * TM_S);
}

static void close_beside(struct rig *beside)
{
  if (beside->keeper > 0)
    assert_int_equal(rig_end_keeper(beside), 0);
  strcpy(beside->dir, "/tmp/tidemill-rig-gone");
  rig_close(beside);
}

/* A process that a killed keeper's worker had started survives. The next keeper of the node ends it
 * before it starts a worker, and spares those of other jobs. */
static void end_leftovers(struct tm_incarnation incarnation)
{
  struct rig r, other, next;
  rig_start(&r, 60 * TM_S);
  rig_start(&other, 60 * TM_S);
  rig_start_worker(&r, 0);
  rig_start_worker(&other, 0);
  rig_wait_ready(&r, 0);
  rig_wait_ready(&other, 0);
  int gone = rig_start_daemon(&r, 0, "/daemon"), stays = rig_start_daemon(&other, 0, "/daemon");
  struct pollfd p[] = { { .fd = gone, .events = POLLIN }, { .fd = stays, .events = POLLIN } };
  kill_keeper(&r);
  assert_int_equal(poll(p, 2, 0), 0);
  start_beside(&next, &r, incarnation);
  rig_start_worker(&next, 0);
  assert_int_equal(poll(p, 2, 0), 1);
  assert_true(p[0].revents & POLLIN); /* with POLLHUP once it has been reaped */
  rig_expect_text(
      &next, "logs/sys/node/0/_main.txt",
      "that an earlier keeper of this job had left behind"); /* perhaps its worker, too */
  close(gone);
  close_beside(&next);
  rig_close(&r);
  rig_close(&other);
  rig_wait_gone(stays);
}

static void leftovers_of_a_killed_keeper_are_ended_by_the_next(void **state)
{
  end_leftovers((struct tm_incarnation) { 0, 0, 1 });
}

static void leftovers_of_a_killed_session_are_ended_by_the_next(void **state)
{
  end_leftovers((struct tm_incarnation) { 1, 0, 0 });
}

/* Two keepers of one job: each starts when the other has workers, and one is killed. */
static void keepers_of_two_nodes_spare_the_workers_of_each_other(void **state)
{
  struct rig r, second, again;
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  int first_daemon = rig_start_daemon(&r, 0, "/daemon");
  start_beside(&second, &r, (struct tm_incarnation) { 0, 1, 0 });
  rig_start_worker(&second, 1);
  rig_wait_ready(&second, 1);
  int second_daemon = rig_start_daemon(&second, 1, "/daemon");
  kill_keeper(&second);
  start_beside(&again, &r, (struct tm_incarnation) { 0, 1, 1 });
  rig_start_worker(&again, 2);
  rig_wait_ready(&again, 2);
  rig_wait_gone(second_daemon);
  struct pollfd p = { .fd = first_daemon, .events = POLLIN };
  assert_int_equal(poll(&p, 1, 0), 0);
  free(rig_wait_rows(&r, 0, rig_hand(&r, 0, "/a")));
  assert_int_equal(rig_end_keeper(&r), 0);
  rig_wait_gone(first_daemon);
  free(rig_wait_rows(&again, 2, rig_hand(&again, 2, "/a")));
  close_beside(&again);
  close_beside(&second);
  rig_close(&r);
}

UNIT_HOOKS(.serve = rig_serve);
UNIT_TESTS({
    cmocka_unit_test(a_killed_keeper_takes_its_workers_along),
    cmocka_unit_test(leftovers_of_a_killed_keeper_are_ended_by_the_next),
    cmocka_unit_test(leftovers_of_a_killed_session_are_ended_by_the_next),
    cmocka_unit_test(keepers_of_two_nodes_spare_the_workers_of_each_other),
});
