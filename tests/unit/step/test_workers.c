/* Workers of a step, as structs of this process: the step does not depend on what carries their
 * messages. */
#include "unit.h"

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

UNIT_HOOKS(.serve = job_serve);
UNIT_TESTS({
    cmocka_unit_test(a_step_needs_no_sockets),
    cmocka_unit_test(links_are_closed_with_the_step),
});
