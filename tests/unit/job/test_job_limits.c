/* How many descriptors a job needs. */
#include "unit.h"

#include <string.h>

#include "job/limits.h"

static struct tm_limits_needs needs(const struct tm_config *configs, size_t len, int64_t given)
{
  struct tm_step steps[4], *list[4];
  struct tm_pipeline p = { .steps = list, .steps_len = len };
  memset(steps, 0, sizeof(steps));
  for (size_t i = 0; i < len; i++) {
    list[i] = &steps[i];
    steps[i].config = configs[i];
  }
  return tm_limits_needs(&p, given, 8);
}

static void workers_of_this_machine_are_limited_together(void **state)
{
  struct tm_config c[] = { { .process_count_per_node = 2 }, { .process_count_per_node = 100 } };
  assert_int_equal(needs(c, 1, 0).here, 2);
  assert_int_equal(needs(c, 2, 0).here, 8);
  assert_int_equal(needs(c, 2, 50).here, 50);
  assert_int_equal(needs(c, 2, 0).far, 0);
  assert_int_equal(needs(c, 1, 0).fds, 24 + 16 + 3 * 2);
}

static void workers_of_nodes_count_on_each_node(void **state)
{
  struct tm_config c[] = {
    { .process_count_per_node = 100, .node_count = 30, .launches_nodes = true },
    { .process_count_per_node = 0, .node_count = 5, .launches_nodes = true },
    { .process_count_per_node = 2, .node_count = 1 },
  };
  struct tm_limits_needs n = needs(c, 3, 0);
  assert_int_equal(n.here, 2);
  assert_int_equal(n.far, 3005);
  assert_int_equal(n.nodes, 30);
  assert_int_equal(n.fds, 24 + 3 * 16 + 3 * 2 + 3005 + 30);
  assert_int_equal(needs(c, 3, 10).far, 10);
}

static void the_largest_counts_do_not_overflow(void **state)
{
  struct tm_config most = { .process_count_per_node = INT32_MAX,
                            .node_count = INT32_MAX,
                            .launches_nodes = true };
  struct tm_config c[] = { most, most, most, most };
  struct tm_limits_needs n = needs(c, 4, 0);
  assert_true(n.far > INT32_MAX && n.fds > n.far);
}

UNIT_TESTS({
    cmocka_unit_test(workers_of_this_machine_are_limited_together),
    cmocka_unit_test(workers_of_nodes_count_on_each_node),
    cmocka_unit_test(the_largest_counts_do_not_overflow),
});
