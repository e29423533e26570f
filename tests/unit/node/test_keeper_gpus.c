/* test_keeper_gpus.c - which worker gets which device. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "node/node_own.h"

struct node {
  struct tm_gpus gpus;
  char *used[8]; /* by worker; NULL: it has no device, or the worker does not exist */
  bool hides;
};

/* Starts worker `i`; returns the device that it finds. */
static const char *start(struct node *n, size_t i)
{
  static char found[64];
  const char *gpu;
  char *entry = tm_keeper_gpu_entry(&n->gpus, n->used, TM_COUNT_OF(n->used), n->hides, &gpu);
  n->used[i] = (char *)gpu;
  strcpy(found, entry ? entry : "(as it is)");
  free(entry);
  return found;
}

static void the_lowest_free_one_is_given(void **state)
{
  struct node n = { 0 };
  tm_gpus_read(&n.gpus, NULL, "2", 0);
  assert_string_equal(start(&n, 0), "CUDA_VISIBLE_DEVICES=0");
  assert_string_equal(start(&n, 1), "CUDA_VISIBLE_DEVICES=1");
  assert_string_equal(start(&n, 2), "CUDA_VISIBLE_DEVICES"); /* its slot is freed */
  assert_string_equal(start(&n, 3), "CUDA_VISIBLE_DEVICES");
  n.used[0] = NULL; /* it ends */
  assert_string_equal(start(&n, 4), "CUDA_VISIBLE_DEVICES=0");
  n.used[1] = n.used[4] = NULL;
  assert_string_equal(start(&n, 5), "CUDA_VISIBLE_DEVICES=0");
  n.used[2] = NULL; /* it had no device: none has become free */
  assert_string_equal(start(&n, 6), "CUDA_VISIBLE_DEVICES=1");
  assert_string_equal(start(&n, 7), "CUDA_VISIBLE_DEVICES");
  tm_gpus_release(&n.gpus);
}

static void entries_of_the_node_are_given_in_order(void **state)
{
  struct node n = { .hides = true };
  tm_gpus_read(&n.gpus, "5,GPU-abc,2", NULL, 0);
  assert_string_equal(start(&n, 0), "CUDA_VISIBLE_DEVICES=5");
  assert_string_equal(start(&n, 1), "CUDA_VISIBLE_DEVICES=GPU-abc");
  assert_string_equal(start(&n, 2), "CUDA_VISIBLE_DEVICES=2");
  assert_string_equal(start(&n, 3), "CUDA_VISIBLE_DEVICES=-1");
  n.used[1] = NULL;
  assert_string_equal(start(&n, 4), "CUDA_VISIBLE_DEVICES=GPU-abc");
  tm_gpus_release(&n.gpus);
}

static void without_devices_nothing_is_touched(void **state)
{
  struct node n = { .hides = true };
  tm_gpus_read(&n.gpus, "-1", NULL, 4);
  assert_string_equal(start(&n, 0), "(as it is)");
  assert_null(n.used[0]);
  tm_gpus_release(&n.gpus);
}

UNIT_TESTS({
    cmocka_unit_test(the_lowest_free_one_is_given),
    cmocka_unit_test(entries_of_the_node_are_given_in_order),
    cmocka_unit_test(without_devices_nothing_is_touched),
});
