/* Which steps can use the same nodes. */
#include "unit.h"

#include "job/same_nodes.h"
#include "plan/config.h"

static char *a_command[] = { (char *)"ssh", (char *)"{host}", NULL };
static char *equal_command[] = { (char *)"ssh", (char *)"{host}", NULL };
static char *longer_command[] = { (char *)"ssh", (char *)"{host}", (char *)"x", NULL };
static char *options[] = { (char *)"--partition=p", NULL };
static char *other_options[] = { (char *)"--partition=q", NULL };

static struct tm_config of_command(void)
{
  return (struct tm_config) { .launches_nodes = true, .node_count = 2, .node_command = a_command };
}

static struct tm_config of_slurm(void)
{
  return (struct tm_config) {
    .launches_nodes = true, .uses_slurm = true, .node_count = 2, .slurm_options = options
  };
}

static void equal_commands_start_the_same_nodes(void **state)
{
  struct tm_config a = of_command(), b = of_command();
  b.node_command = equal_command;
  assert_true(tm_same_nodes(&a, &b));
  b.node_command = longer_command;
  assert_false(tm_same_nodes(&a, &b));
  assert_false(tm_same_nodes(&b, &a));
  b = of_command();
  b.node_hosts = options;
  assert_false(tm_same_nodes(&a, &b));
}

static void every_number_of_a_node_counts(void **state)
{
  struct tm_config a = of_command(), b[4];
  for (int i = 0; i < 4; i++)
    b[i] = of_command();
  b[0].node_timeout_ns = 1;
  b[1].node_start_timeout_ns = 1;
  b[2].process_count_per_node = 1;
  b[3].node_wait_ns = 1;
  for (int i = 0; i < 4; i++)
    assert_false(tm_same_nodes(&a, &b[i]));
}

static void how_many_there_are_does_not_count(void **state)
{
  struct tm_config a = of_command(), b = of_command();
  b.node_count = 3;
  assert_true(tm_same_nodes(&a, &b));
}

static void slurm_is_asked_for_the_same(void **state)
{
  struct tm_config a = of_slurm(), b = of_slurm();
  assert_true(tm_same_nodes(&a, &b));
  b.wants_slurm_jobs = true;
  assert_false(tm_same_nodes(&a, &b));
  b.wants_slurm_jobs = false;
  b.slurm_options = other_options;
  assert_false(tm_same_nodes(&a, &b));
  b = of_slurm();
  b.slurm_exclude = (char *)"";
  assert_true(tm_same_nodes(&a, &b));
  b.slurm_exclude = (char *)"cn01";
  assert_false(tm_same_nodes(&a, &b));
  b = of_slurm();
  b.uses_slurm = false;
  assert_false(tm_same_nodes(&a, &b));
}

UNIT_TESTS({
    cmocka_unit_test(equal_commands_start_the_same_nodes),
    cmocka_unit_test(every_number_of_a_node_counts),
    cmocka_unit_test(how_many_there_are_does_not_count),
    cmocka_unit_test(slurm_is_asked_for_the_same),
});
