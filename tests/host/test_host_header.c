/* The headers and the library belong together: versions, structs that grow. */
#include "host.h"

#if TIDEMILL_VERSION_NUMBER < TIDEMILL_VERSION_OF(0, 2, 0)
#error "a version cannot be compared in a directive"
#endif

static void test_version(void **state)
{
  char text[64];
  snprintf(text, sizeof text, "%d.%d.%d", TIDEMILL_VERSION_MAJOR, TIDEMILL_VERSION_MINOR,
           TIDEMILL_VERSION_PATCH);
  assert_string_equal(tidemill_version(), text);
  assert_int_equal(tidemill_version_number(), TIDEMILL_VERSION_NUMBER);
  assert_true(TIDEMILL_VERSION_OF(0, 9, 9) < TIDEMILL_VERSION_OF(0, 10, 0));
  assert_true(TIDEMILL_VERSION_OF(0, 999, 999) < TIDEMILL_VERSION_OF(1, 0, 0));
}

static void look_at_counts(struct host *h, const struct tidemill_event *e)
{
  assert_int_equal(e->counts->size, sizeof(struct tidemill_counts));
  bool has_counts = e->kind == TIDEMILL_EVENT_STATE || e->kind == TIDEMILL_EVENT_STEP ||
                    e->kind == TIDEMILL_EVENT_PROGRESS;
  assert_true(has_counts || e->counts->created == 0);
  if (e->kind == TIDEMILL_EVENT_STEP && e->state == TIDEMILL_COMPLETED)
    *(int64_t *)h->data = e->counts->succeeded;
}

/* A pointer of the same size everywhere, and a size of their own. */
static void counts_can_grow(void **state)
{
  struct host h;
  struct tidemill_step step = TIDEMILL_STEP_INIT;
  struct tidemill_record *r;
  int64_t succeeded = 0;
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  h.on_event = look_at_counts;
  h.data = &succeeded;
  host_submit(&h);
  host_wait(&h);
  assert_int_equal(succeeded, 3);
  host_must(&h, tidemill_job_step(h.job, 0, &step, &h.err));
  host_must(&h, tidemill_record_open(&r, NULL, tidemill_job_dir(h.job), &h.err));
  const struct tidemill_counts *all[] = { tidemill_job_counts(h.job), step.counts,
                                          tidemill_record_info(r)->counts,
                                          tidemill_record_step(r, 0)->counts };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    assert_int_equal(all[i]->size, sizeof(struct tidemill_counts));
    assert_int_equal(all[i]->succeeded, 3);
    assert_true(all[i]->all_created);
  }
  tidemill_record_close(r);
  host_end(&h);
}

static void look_at_node(struct host *h, const struct tidemill_event *e)
{
  char name[256] = "";
  assert_int_equal(gethostname(name, sizeof name - 1), 0);
  assert_string_equal(e->node_id, e->worker ? "0" : "");
  assert_string_equal(e->node_address, e->worker ? name : "");
  *(int *)h->data += e->worker != NULL;
}

static void events_of_a_worker_name_its_node(void **state)
{
  struct host h;
  int n = 0;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  h.on_event = look_at_node;
  h.data = &n;
  host_submit(&h);
  host_wait(&h);
  assert_true(n >= 4); /* started, ready, a try, ended */
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_version),
    cmocka_unit_test(counts_can_grow),
    cmocka_unit_test(events_of_a_worker_name_its_node),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
