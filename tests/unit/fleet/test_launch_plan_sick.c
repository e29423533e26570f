/* The hosts of sick nodes, in the plan of launches. */
#include "unit.h"

#include "plan_rig.h"

static void init(struct tm_launch_plan *p, size_t places, size_t hosts)
{
  plan_init(p, places, hosts, TM_S);
}

static void be_ready(struct tm_launch_plan *p, uint32_t id)
{
  tm_launch_plan_running(p, id, 0);
  tm_launch_plan_ready(p, id);
}

/* A node that works there again would fail again: it rests, unless nothing else is left. */
static void the_host_of_a_sick_node_rests_while_another_one_works(void **state)
{
  struct tm_launch_plan p;
  init(&p, 3, 3);
  launch_all(&p, 0, 1);
  for (uint32_t id = 1; id <= 3; id++)
    be_ready(&p, id);
  assert_false(tm_launch_plan_expects(&p));
  tm_launch_plan_sick(&p, 2);
  assert_int_equal(tm_launch_plan_next(&p, 0), NONE); /* it drains */
  lose(&p, 2, TM_S);
  assert_true(tm_launch_plan_expects(&p));
  assert_int_equal(tm_launch_plan_next(&p, 60 * TM_S), NONE);
  lose(&p, 1, 60 * TM_S); /* this host may be used again */
  assert_int_equal(launch_all(&p, 60 * TM_S, 4), 1);
  assert_int_equal(tm_launch_plan_find(&p, 4)->host, 0);
  assert_int_equal(tm_launch_plan_next(&p, TM_S + TM_LAUNCH_EXCLUDE_NS - 1), NONE);
  assert_int_equal(launch_all(&p, TM_S + TM_LAUNCH_EXCLUDE_NS, 5), 1);
  assert_int_equal(tm_launch_plan_find(&p, 5)->host, 1);
  tm_launch_plan_release(&p);
}

static void the_host_of_a_sick_node_is_used_if_no_other_node_is_left(void **state)
{
  struct tm_launch_plan p;
  init(&p, 2, 2);
  launch_all(&p, 0, 1);
  be_ready(&p, 1);
  tm_launch_plan_sick(&p, 1);
  lose(&p, 1, 0);
  assert_int_equal(tm_launch_plan_next(&p, 0), NONE);    /* the other one starts */
  tm_launch_plan_failed(&p, 2, TM_SLURM_END_TIMEOUT, 0); /* not because of its host */
  assert_int_equal(launch_all(&p, 2 * TM_S, 3), 1);
  assert_int_equal(tm_launch_plan_find(&p, 3)->host, 1);
  lose(&p, 3, 2 * TM_S); /* now it is excluded, too, but was not sick */
  assert_int_equal(launch_all(&p, 4 * TM_S, 4), 1);
  assert_int_equal(tm_launch_plan_find(&p, 4)->host, 1);
  be_ready(&p, 4);
  tm_launch_plan_sick(&p, 4);
  lose(&p, 4, 5 * TM_S);
  assert_int_equal(launch_all(&p, 600 * TM_S - 1, 5), 1); /* the one that was sick first */
  assert_int_equal(tm_launch_plan_find(&p, 5)->host, 0);
  tm_launch_plan_release(&p);
}

/* Also if Slurm has ended it since: that does not make the machine any better. */
static void a_sick_node_is_replaced_and_its_host_excluded_however_it_ends(void **state)
{
  struct tm_launch_plan p;
  init(&p, 1, 2);
  launch_all(&p, 0, 1);
  be_ready(&p, 1);
  tm_launch_plan_sick(&p, 1);
  tm_launch_plan_failed(&p, 1, TM_SLURM_END_TIMEOUT, 0);
  assert_int_equal(launch_all(&p, 0, 2), 1); /* the first replacement starts at once */
  assert_int_equal(tm_launch_plan_find(&p, 2)->host, 1);
  tm_launch_plan_failed(&p, 2, TM_SLURM_END_TIMEOUT, 0);
  assert_int_equal(launch_all(&p, 2 * TM_S, 3), 1);
  assert_int_equal(tm_launch_plan_find(&p, 3)->host, 1);
  tm_launch_plan_release(&p);
}

UNIT_TESTS({
    cmocka_unit_test(the_host_of_a_sick_node_rests_while_another_one_works),
    cmocka_unit_test(the_host_of_a_sick_node_is_used_if_no_other_node_is_left),
    cmocka_unit_test(a_sick_node_is_replaced_and_its_host_excluded_however_it_ends),
});
