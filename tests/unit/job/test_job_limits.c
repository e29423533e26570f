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
  assert_int_equal(n.nodes, 35);
  assert_int_equal(n.slurm_nodes, 0);
  assert_int_equal(n.fds, 24 + 3 * 16 + 3 * 2 + 2 * 64 + 35); /* logs of two steps */
  assert_int_equal(needs(c, 3, 10).far, 10);
  assert_int_equal(needs(c, 3, 10).fds, 24 + 3 * 16 + 3 * 2 + 10 + 35);
}

static void steps_share_nodes(void **state)
{
  struct tm_config slurm = { .node_count = 50, .launches_nodes = true, .uses_slurm = true };
  struct tm_config c[] = { slurm, slurm, { .process_count_per_node = 1 } };
  struct tm_limits_needs n = needs(c, 3, 0);
  assert_int_equal(n.nodes, 50);
  assert_int_equal(n.slurm_nodes, 50);
  assert_int_equal(n.fds, 24 + 3 * 16 + 3 + 2 * 50 + 50);
  c[1].node_count = 80; /* the first 50 are shared */
  assert_int_equal(needs(c, 3, 0).slurm_nodes, 80);
}

/* 1,000 nodes with 100 workers each are within the usual limit of 4096 descriptors. */
static void workers_of_many_nodes_need_no_descriptor_each(void **state)
{
  struct tm_config c = { .process_count_per_node = 100,
                         .node_count = 1000,
                         .launches_nodes = true };
  assert_int_equal(needs(&c, 1, 0).far, 100000);
  assert_int_equal(needs(&c, 1, 0).fds, 24 + 16 + 64 + 1000);
}

static void scripts_are_sent_to_nodes_that_start(void **state)
{
  struct tm_config c = {
    .process_count_per_node = 1, .node_count = 10, .launches_nodes = true, .ships_source = true
  };
  assert_int_equal(needs(&c, 1, 0).fds, 24 + 16 + 10 + 10 + 10);
  c.node_count = 1000;
  assert_int_equal(needs(&c, 1, 0).fds, 24 + 16 + 64 + 1000 + 64);
  c.launches_nodes = false;
  assert_int_equal(needs(&c, 1, 0).fds, 24 + 16 + 3);
}

static void many_nodes_of_slurm_belong_in_an_allocation(void **state)
{
  struct tm_config config = { .node_count = 64, .launches_nodes = true, .uses_slurm = true };
  struct tm_step step = { .config = config }, *list[] = { &step };
  struct tm_pipeline p = { .steps = list, .steps_len = 1 };
  struct tm_buf text = TM_BUF_NONE;
  assert_false(tm_limits_advise(&text, &p, false));
  step.config.node_count = 65;
  assert_false(tm_limits_advise(&text, &p, true));
  assert_true(tm_limits_advise(&text, &p, false));
  assert_non_null(strstr(tm_buf_str(&text), "65 nodes of Slurm need 130 processes (srun)"));
  step.config.uses_slurm = false;
  assert_false(tm_limits_advise(&text, &p, false));
  tm_buf_release(&text);
}

static void the_largest_counts_do_not_overflow(void **state)
{
  struct tm_config most = { .process_count_per_node = INT32_MAX,
                            .node_count = INT32_MAX,
                            .launches_nodes = true };
  struct tm_config c[] = { most, most, most, most };
  struct tm_limits_needs n = needs(c, 4, 0);
  assert_true(n.far > INT32_MAX && n.fds > n.nodes && n.nodes >= INT32_MAX);
}

UNIT_TESTS({
    cmocka_unit_test(workers_of_this_machine_are_limited_together),
    cmocka_unit_test(workers_of_nodes_count_on_each_node),
    cmocka_unit_test(steps_share_nodes),
    cmocka_unit_test(workers_of_many_nodes_need_no_descriptor_each),
    cmocka_unit_test(scripts_are_sent_to_nodes_that_start),
    cmocka_unit_test(many_nodes_of_slurm_belong_in_an_allocation),
    cmocka_unit_test(the_largest_counts_do_not_overflow),
});
