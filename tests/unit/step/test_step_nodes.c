/* A step with two nodes: two keepers on this machine, or one behind a stream. */
#include "unit.h"

#include <sys/socket.h>

#include "step_rig.h"
#include "sys/messages/channel.h"
#include "sys/messages/node_stream.h"

/* As if the keeper had been silent for longer than a run() may take. */
static void lose(struct step_rig *r, uint32_t id)
{
  int64_t now_ns = tm_clock_mono_ns();
  for (int64_t ns = 0; ns < 100 * TM_S && tm_fleet_node(&r->fleet, id); ns += TM_S / 2)
    tm_node_tick(tm_fleet_node(&r->fleet, id), now_ns + ns);
  assert_null(tm_fleet_node(&r->fleet, id));
  while (r->gone == 0)
    tm_loop_turn(&r->loop);
}

static void two_hold(struct job *j)
{
  if (++j->count == 2)
    tm_loop_stop(j->loop);
}

/* One worker on each node; both are in run() when this returns. */
static void run_until_both_hold(struct step_rig *r)
{
  step_setup(r);
  r->is_real = true;
  r->j.workers = 1;
  r->j.on_begun = two_hold;
  r->j.loop = &r->loop;
  job_add(&r->j, "hold", 2);
  job_add(&r->j, "ok", 20);
  step_open(r);
  step_start(r);
  step_set_node(r, 0);
  step_set_node(r, 1);
  step_run(r);
  assert_int_equal(r->j.count, 2);
}

/* From now on each try that holds is released when it has begun. */
static void let_go(struct job *j)
{
  job_let_go(j);
}

static void expect_done(struct step_rig *r)
{
  assert_int_equal(tm_supervisor_view(r->s)->verdict, TM_COMPLETED);
  assert_int_equal(tm_supervisor_view(r->s)->counts.succeeded, 22);
  job_expect_rows(&r->j, 0, true, tm_buf_str(&r->j.items[0]));
  step_close(r);
}

static const char *node_of(const struct step_rig *r, enum tm_event_kind kind, const char *worker)
{
  for (size_t i = 0; i < r->j.seen.len; i++)
    if (r->j.seen.at[i].kind == kind && strcmp(r->j.seen.at[i].worker, worker) == 0)
      return r->j.seen.at[i].node;
  return "none";
}

static void a_step_uses_two_nodes(void **state)
{
  struct step_rig r;
  run_until_both_hold(&r);
  r.j.on_begun = NULL;
  job_let_go(&r.j);
  job_let_go(&r.j);
  step_run(&r);
  assert_int_equal(job_count(&r.j, TM_EVENT_WORKER_STARTED), 2);
  assert_string_equal(node_of(&r, TM_EVENT_WORKER_STARTED, "process000"), "0");
  assert_string_equal(node_of(&r, TM_EVENT_TRY_ENDED, "process000"), "0");
  assert_string_equal(node_of(&r, TM_EVENT_WORKER_STARTED, "process001"), "1");
  assert_string_equal(node_of(&r, TM_EVENT_TRY_ENDED, "process001"), "1");
  for (int id = 0; id < 2; id++) {
    char *dir = tm_xprintf("%s/score/logs/user/stdout/%d", r.j.job_dir, id);
    assert_int_equal(job_count_names(dir), 1);
    free(dir);
  }
  expect_done(&r);
}

/* However many workers the step has: this is asked for each node, ten times a second. */
static void a_node_is_idle_if_no_worker_there_holds_anything(void **state)
{
  struct step_rig r;
  run_until_both_hold(&r);
  size_t workers = r.s->workers.len;
  r.s->workers.len = 0; /* none is looked at */
  assert_false(tm_supervisor_is_idle(r.s, 0));
  assert_false(tm_supervisor_is_idle(r.s, 1));
  assert_true(tm_supervisor_is_idle(r.s, 2)); /* it is not there */
  r.s->workers.len = workers;
  lose(&r, 1);
  assert_true(tm_supervisor_is_idle(r.s, 1));
  assert_false(tm_supervisor_is_idle(r.s, 0));
  r.j.on_begun = let_go;
  job_let_go(&r.j);
  step_run(&r);
  assert_true(tm_supervisor_is_idle(r.s, 0));
  expect_done(&r);
}

static void a_lost_node_leaves_the_other_at_work(void **state)
{
  struct step_rig r;
  run_until_both_hold(&r);
  assert_int_equal(r.s->sched.time.init.workers, 2); /* the rule of two minutes: of all nodes */
  lose(&r, 1);
  assert_int_equal(r.s->sched.time.init.workers, 1);
  assert_non_null(tm_fleet_node(&r.fleet, 0));
  assert_string_equal(node_of(&r, TM_EVENT_WORKER_ENDED, "process001"), "1");
  assert_string_equal(node_of(&r, TM_EVENT_WORKER_ENDED, "process000"), "none");
  r.j.on_begun = let_go; /* the try that comes back */
  job_let_go(&r.j);
  step_run(&r);
  assert_int_equal(job_count(&r.j, TM_EVENT_WORKER_STARTED), 2);
  assert_string_equal(node_of(&r, TM_EVENT_TRY_ENDED, "process000"), "0");
  assert_string_equal(node_of(&r, TM_EVENT_TRY_ENDED, "process001"), "none");
  expect_done(&r);
}

static void a_lost_node_comes_back(void **state)
{
  struct step_rig r;
  run_until_both_hold(&r);
  lose(&r, 1);
  r.j.count = 1; /* the first one still holds */
  step_set_node(&r, 1);
  step_run(&r);
  assert_int_equal(r.j.count, 2);
  assert_string_equal(node_of(&r, TM_EVENT_WORKER_STARTED, "process002"), "1");
  r.j.on_begun = NULL;
  job_let_go(&r.j);
  job_let_go(&r.j);
  step_run(&r);
  expect_done(&r);
}

/* Files of the job may appear there later than here. */
static void workers_of_other_machines_wait_for_files_that_are_late(void **state)
{
  for (uint32_t id = 0; id < 2; id++) {
    struct step_rig r;
    step_setup(&r);
    job_add(&r.j, "ok", 2);
    step_open(&r);
    step_start(&r);
    step_set_node(&r, id);
    step_run(&r);
    assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_COMPLETED);
    assert_int_equal(r.patience_ns > 0, id > 0);
    step_close(&r);
  }
}

/* A relay that answers heartbeats and nothing else. */
struct relay {
  struct tm_node_stream *stream;
  bool is_closed;
};

static void on_relay_open(void *data, const char *skipped, size_t len)
{
}

static void on_relay_msg(void *data, const struct tm_msg *f)
{
  assert_true(f->type >= TM_STREAM_CONTROL);
}

static void on_relay_end(void *data, int code, const char *text)
{
}

static void on_relay_closed(void *data)
{
  ((struct relay *)data)->is_closed = true;
}

static void connect_node(struct step_rig *r, uint32_t id, struct relay *relay)
{
  int fds[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  assert_int_equal(tm_fleet_connect(&r->fleet, id, fds[0], fds[0], "far", 10 * TM_S, NULL), 0);
  struct tm_node_stream_options o = { .loop = &r->loop,
                                      .in = fds[1],
                                      .out = fds[1],
                                      .hello = tm_hello(),
                                      .on_open = on_relay_open,
                                      .on_msg = on_relay_msg,
                                      .on_end = on_relay_end,
                                      .on_closed = on_relay_closed,
                                      .data = relay };
  relay->stream = tm_node_stream_open(&o, NULL);
  assert_non_null(relay->stream);
  tm_supervisor_set_node(r->s, tm_fleet_node(&r->fleet, id),
                         &(struct tm_temp_dirs) { (char *)"/tmp", (char *)"" });
}

static int64_t distance_of(const struct step_rig *r, uint32_t id)
{
  return tm_roster_node(&r->s->sched.roster, id)->distance_ns;
}

static void expect_distance(const struct step_rig *r, uint32_t id)
{
  int64_t ns = tm_node_round_trip_ns(tm_fleet_node(&r->fleet, id));
  assert_int_equal(distance_of(r, id),
                   ns < TM_WINDOW_DISTANCE_MAX_NS ? ns : TM_WINDOW_DISTANCE_MAX_NS);
}

static void the_scheduler_learns_how_far_a_node_is(void **state)
{
  struct relay relay = { .is_closed = false };
  struct step_rig r;
  step_setup(&r);
  r.is_real = true; /* no worker starts: no keeper is behind the stream */
  r.j.workers = 1;
  job_add(&r.j, "ok", 3);
  step_open(&r);
  step_start(&r);
  connect_node(&r, 1, &relay);
  while (!tm_roster_node(&r.s->sched.roster, 1))
    tm_loop_turn(&r.loop);
  tm_supervisor_tick(r.s);
  expect_distance(&r, 1);
  while (tm_node_round_trip_ns(tm_fleet_node(&r.fleet, 1)) == 0)
    tm_loop_turn(&r.loop);
  tm_supervisor_tick(r.s);
  assert_true(distance_of(&r, 1) > 0);
  expect_distance(&r, 1);
  r.is_real = false; /* from here on workers start */
  tm_timer_start(&r.again, 0, 0);
  step_run(&r);
  assert_int_equal(tm_supervisor_view(r.s)->verdict, TM_COMPLETED);
  tm_node_stream_close(relay.stream);
  while (!relay.is_closed)
    tm_loop_turn(&r.loop);
  step_close(&r);
}

UNIT_HOOKS(.serve = job_serve);
UNIT_TESTS({
    cmocka_unit_test(a_step_uses_two_nodes),
    cmocka_unit_test(a_node_is_idle_if_no_worker_there_holds_anything),
    cmocka_unit_test(a_lost_node_leaves_the_other_at_work),
    cmocka_unit_test(a_lost_node_comes_back),
    cmocka_unit_test(workers_of_other_machines_wait_for_files_that_are_late),
    cmocka_unit_test(the_scheduler_learns_how_far_a_node_is),
});
