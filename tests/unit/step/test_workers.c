/* Workers of a step, as structs of this process: the step does not depend on what carries their
 * messages. */
#include "unit.h"

#include "record/part.h"
#include "step/row_items.h"
#include "step_rig.h"

static void a_step_needs_no_sockets(void **state)
{
  struct step_rig r;
  step_setup(&r);
  r.j.size = 2;
  job_add(&r.j, "ok", 101);
  step_open(&r);
  step_start(&r);
  step_set_node(&r, TM_LOCAL_NODE);
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_COMPLETED);
  assert_int_equal(r.handed, 51);
  assert_int_equal(job_count(&r.j, TM_EVENT_WORKER_STARTED), 2);
  assert_int_equal(job_count(&r.j, TM_EVENT_WORKER_ENDED), 2);
  job_expect_rows(&r.j, 0, true, tm_buf_str(&r.j.items[0]));
  step_close(&r);
}

/* The step is closed while its workers are alive. */
static void links_are_closed_with_the_step(void **state)
{
  struct step_rig r;
  step_setup(&r);
  job_add(&r.j, "ok", 3);
  step_open(&r);
  step_start(&r);
  step_set_node(&r, TM_LOCAL_NODE);
  while (r.workers.len == 0)
    tm_loop_turn(&r.loop);
  step_close(&r);
}

/* Otherwise the whole mini-batch would have more good rows than it has rows. */
static void a_part_cannot_have_more_rows_than_it_has(void **state)
{
  struct tm_dataset table = { .kind = TM_DATASET_JSON_LINES };
  struct tm_dataset *inputs[] = { &table };
  struct tm_step step = { .inputs = inputs, .inputs_len = 1 };
  struct tm_supervisor *s = TM_NEW(struct tm_supervisor);
  struct tm_in_flight held = { .part = tm_part(4, 2), .items = 2 };
  s->o.step = &step;
  assert_false(tm_rows_learn(s, &held, &(struct tm_result_head) { .items = 3 }));
  assert_int_equal(held.items, 2);
  assert_true(tm_rows_learn(s, &held, &(struct tm_result_head) { .items = 1 }));
  assert_int_equal(held.items, 1);
  held = (struct tm_in_flight) { .part = 0, .items = 2 };
  assert_true(tm_rows_learn(s, &held, &(struct tm_result_head) { .items = 3 }));
  assert_int_equal(held.items, 3);
  free(s);
}

UNIT_HOOKS(.serve = job_serve);
UNIT_TESTS({
    cmocka_unit_test(a_step_needs_no_sockets),
    cmocka_unit_test(links_are_closed_with_the_step),
    cmocka_unit_test(a_part_cannot_have_more_rows_than_it_has),
});
