/* test_step_model.c - the model of a step: what it counts, and that it does not matter in which
 * pieces its rows come. */
#include "unit.h"

#include "insight/step_model.h"
#include "model_text.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static struct tm_try_row a_try(int64_t mini_batch, const char *worker, int64_t begin_ns,
                               int64_t elapsed_ns, const char *category)
{
  return (struct tm_try_row) { .mini_batch = mini_batch,
                               .picked = 1,
                               .process = worker,
                               .total = "3",
                               .succeeded = *category ? "0" : "2",
                               .failed = *category ? "3" : "1",
                               .status = *category ? "RUN_EXCEPTION" : "RUN_DONE",
                               .category = category,
                               .message = "",
                               .detail = "",
                               .node = "0",
                               .bytes = *category ? 0 : 10,
                               .begin_wall_ns = begin_ns,
                               .elapsed_ns = elapsed_ns,
                               .run_ns = elapsed_ns / 2 };
}

static struct tm_life_row an_event(int64_t wall_ns, const char *worker, const char *what)
{
  return (struct tm_life_row) { .wall_ns = wall_ns,
                                .process = worker,
                                .node = "0",
                                .address = "mill",
                                .event = what,
                                .detail = "" };
}

static void categories_have_names(void **state)
{
  static const struct {
    const char *text;
    enum tm_category category;
  } cases[] = { { "", TM_CATEGORY_OK },
                { "error", TM_CATEGORY_ERROR },
                { "timeout", TM_CATEGORY_TIMEOUT },
                { "lost", TM_CATEGORY_LOST },
                { "canceled", TM_CATEGORY_CANCELED },
                { "of a newer version", TM_CATEGORY_ERROR } };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    assert_int_equal(tm_category_of(cases[i].text), cases[i].category);
  assert_string_equal(tm_category_name(TM_CATEGORY_LOST), "lost");
}

/* A worker with a try that succeeds, one that fails, and one that never began. */
static void feed_three(struct tm_step_model *m)
{
  struct tm_life_row started = an_event(10 * S, "p0", "started");
  struct tm_try_row t = a_try(0, "p0", 11 * S, 2 * S, "");
  tm_step_model_add_event(m, &started);
  t.picked = 2; /* it was taken back from another worker */
  tm_step_model_add_try(m, &t);
  t = a_try(1, "p0", 13 * S, 1 * S, "error");
  tm_step_model_add_try(m, &t);
  t = a_try(2, "", 0, 0, "canceled");
  tm_step_model_add_try(m, &t);
  t = a_try(-1, "p0", 10 * S, S, "error"); /* an init() */
  tm_step_model_add_try(m, &t);
}

/* The table has microseconds. */
static void a_run_that_was_too_short_to_measure_counts(void **state)
{
  static struct tm_step_model m;
  tm_step_model_init(&m, 10 * S);
  struct tm_try_row ok = a_try(0, "p0", 11 * S, 0, ""), lost = a_try(1, "p0", 11 * S, 0, "lost");
  tm_step_model_add_try(&m, &ok);
  tm_step_model_add_try(&m, &lost); /* run() may never have been called */
  assert_int_equal(m.run.count, 1);
  tm_step_model_release(&m);
}

static void tries_are_summed(void **state)
{
  static struct tm_step_model m;
  struct tm_worker_time time;
  tm_step_model_init(&m, 10 * S);
  feed_three(&m);
  assert_int_equal(m.tries[TM_CATEGORY_OK], 1);
  assert_int_equal(m.tries[TM_CATEGORY_ERROR], 1);
  assert_int_equal(m.tries[TM_CATEGORY_CANCELED], 1);
  assert_int_equal(m.tries_failed, 1);
  assert_int_equal(m.items, 2);
  assert_int_equal(m.items_failed, 1);
  assert_int_equal(m.result_bytes, 10);
  assert_int_equal(m.run.count, 2);
  assert_int_equal(m.around.sum, 1 * S);
  assert_int_equal(m.last_ns, 14 * S);
  assert_int_equal(m.notable.failed.len, 1);
  assert_int_equal(m.lanes.boxes.len, 2);
  assert_int_equal(m.lanes.tries, 3);
  assert_int_equal(m.nodes.at[0].tries, 2);
  assert_string_equal(m.nodes.at[0].address, "mill");
  tm_step_model_time(&m, 0, &time);
  assert_int_equal(time.lived_ns, 4 * S);
  assert_int_equal(time.run_ok_ns, 1 * S);
  assert_int_equal(time.run_failed_ns, S / 2);
  assert_int_equal(time.wait_ns, 1 * S);
  tm_step_model_release(&m);
}

static void a_mini_batch_that_succeeds_after_a_failure_is_retried(void **state)
{
  static struct tm_step_model m;
  struct tm_try_row ok = a_try(1, "p0", 15 * S, S, "");
  tm_step_model_init(&m, 10 * S);
  feed_three(&m);
  assert_int_equal(m.retried, 0);
  tm_step_model_add_try(&m, &ok);
  assert_int_equal(m.retried, 1);
  assert_int_equal(m.retried_items, 2);
  tm_step_model_release(&m);
}

static int64_t sum_of(const struct tm_bins *b, size_t channel)
{
  int64_t sum = 0;
  for (size_t i = 0; i < b->len; i++)
    sum += tm_bins_at(b, channel, i);
  return sum;
}

static void what_depends_on_the_time_is_replaced_by_the_next_time(void **state)
{
  static struct tm_step_model m;
  tm_step_model_init(&m, 10 * S);
  feed_three(&m);
  tm_workers_set_running(
      &m.workers, &(struct tm_running_try) { m.workers.list.at[0].name, 9, 1, 15 * S }, 1, 20 * S);
  tm_step_model_settle(&m, 20 * S);
  assert_int_equal(sum_of(&m.series, TM_SERIES_ALIVE), 10 * S);
  assert_int_equal(sum_of(&m.series, TM_SERIES_RUNS), 5 * S);
  assert_int_equal(sum_of(&m.lanes.list.at[0].bins, TM_LANE_OPEN), 5 * S);
  assert_int_equal(m.known_ns, 20 * S);
  tm_workers_set_running(&m.workers, NULL, 0, 0);
  tm_step_model_settle(&m, 20 * S);
  assert_int_equal(sum_of(&m.series, TM_SERIES_ALIVE), 10 * S - TM_UNSEEN_NS);
  assert_int_equal(sum_of(&m.series, TM_SERIES_RUNS), 0);
  assert_int_equal(sum_of(&m.lanes.list.at[0].bins, TM_LANE_OPEN), 0);
  assert_int_equal(m.known_ns, 20 * S - TM_UNSEEN_NS);
  assert_false(tm_step_model_is_exact(&m));
  tm_step_model_settle(&m, 0);
  assert_int_equal(sum_of(&m.series, TM_SERIES_ALIVE), 4 * S);
  assert_int_equal(sum_of(&m.lanes.list.at[0].bins, TM_LANE_ALIVE), 4 * S);
  assert_int_equal(sum_of(&m.series, TM_SERIES_BUSY), 3 * S);
  assert_int_equal(sum_of(&m.lanes.list.at[0].bins, TM_LANE_FAILED), 1 * S);
  assert_int_equal(sum_of(&m.lanes.list.at[0].bins, TM_LANE_FAILURES), 1);
  assert_int_equal(m.known_ns, INT64_MAX);
  tm_step_model_release(&m);
}

/* What workers did between the tries that are known. */
static void without_all_tries_nobody_knows_who_waited(void **state)
{
  static struct tm_step_model m;
  struct tm_worker_time all, some;
  tm_step_model_init(&m, 10 * S);
  feed_three(&m);
  tm_step_model_settle(&m, 0);
  tm_step_model_time(&m, 0, &all);
  m.lacks_tries = true;
  tm_step_model_settle(&m, 0);
  tm_step_model_time(&m, 0, &some);
  assert_true(all.wait_ns > 0);
  assert_int_equal(all.unmeasured_ns, 0);
  assert_int_equal(some.unmeasured_ns, all.wait_ns);
  assert_int_equal(some.wait_ns, 0);
  assert_int_equal(some.lived_ns, all.lived_ns);
  assert_int_equal(sum_of(&m.lanes.list.at[0].bins, TM_LANE_ALIVE), 0);
  tm_step_model_release(&m);
}

static void hostile_rows_do_no_harm(void **state)
{
  static struct tm_step_model m;
  tm_step_model_init(&m, 10 * S);
  for (int i = 0; i < 3; i++) {
    struct tm_try_row t = a_try(INT64_MAX, "p0", INT64_MAX - i, S * 1000000000, "");
    struct tm_life_row e = an_event(i == 0 ? 0 : INT64_MAX, "p1", i < 2 ? "ready" : "ended");
    t.run_ns = i * t.elapsed_ns;
    t.succeeded = "99999999999999999999";
    t.failed = "-7";
    t.bytes = INT64_MAX;
    tm_step_model_add_event(&m, &e);
    tm_step_model_add_try(&m, &t);
    tm_step_model_settle(&m, 0);
  }
  assert_int_equal(m.tries[TM_CATEGORY_OK], 3);
  assert_true(m.result_bytes == INT64_MAX && m.items == 0 && m.items_failed == 0);
  assert_true(m.clock_jumps > 0);
  tm_step_model_release(&m);
}

/* ---- pieces ---- */

struct rows {
  struct TM_ARRAY(struct tm_life_row) events;
  struct TM_ARRAY(struct tm_try_row) tries;
  struct TM_ARRAY(size_t) after; /* events that must be known before the try of that index */
  struct TM_ARRAY(char *) names;
  struct tm_step_session sessions[2];
  uint32_t seed;
};

static int64_t draw(struct rows *r, int64_t below)
{
  r->seed = r->seed * 1664525u + 1013904223u;
  return (int64_t)(r->seed >> 8) % below;
}

static const char *new_worker(struct rows *r, int64_t now_ns, int64_t node)
{
  char *name = tm_xprintf("process%03zu", r->names.len);
  *TM_ARRAY_ADD(&r->names) = name;
  struct tm_life_row e = an_event(now_ns, name, "started");
  e.node = node ? "1" : "0";
  *TM_ARRAY_ADD(&r->events) = e;
  e.event = "ready";
  e.wall_ns += draw(r, 3 * MS);
  *TM_ARRAY_ADD(&r->events) = e;
  return name;
}

static void end_worker(struct rows *r, int64_t now_ns, const char *name, int64_t node)
{
  struct tm_life_row e = an_event(now_ns, name, "ended");
  e.node = node ? "1" : "0";
  e.died = draw(r, 2);
  e.detail = e.died ? "exited with status 1" : "stopped";
  *TM_ARRAY_ADD(&r->events) = e;
}

#define SLOTS 5

/* A session in which workers try, fail, die and are replaced; the first one is killed. */
static int64_t draw_session(struct rows *r, int64_t begin_ns, bool is_killed)
{
  static const char *const categories[] = {
    "", "", "", "", "error", "lost", "timeout", "canceled"
  };
  const char *workers[SLOTS];
  int64_t now_ns = begin_ns, busy_until[SLOTS] = { 0 };
  for (int i = 0; i < SLOTS; i++)
    workers[i] = new_worker(r, now_ns, i % 2);
  for (int64_t n = 50 + draw(r, 200); n > 0; n--) {
    int slot = (int)draw(r, SLOTS);
    now_ns += draw(r, 2 * MS) + (draw(r, 50) == 0 ? draw(r, 3 * S) : 0);
    struct tm_try_row t = a_try(draw(r, 1000), workers[slot], now_ns, 0,
                                categories[draw(r, (int64_t)TM_COUNT_OF(categories))]);
    t.begin_wall_ns = busy_until[slot] > now_ns ? busy_until[slot] : now_ns;
    t.elapsed_ns = draw(r, 20 * MS);
    t.run_ns = draw(r, t.elapsed_ns + 1);
    t.picked = 1 + draw(r, 3);
    t.node = slot % 2 ? "1" : "0";
    *TM_ARRAY_ADD(&r->tries) = t;
    *TM_ARRAY_ADD(&r->after) = r->events.len;
    busy_until[slot] = t.begin_wall_ns + t.elapsed_ns;
    if (draw(r, 15) > 0)
      continue;
    end_worker(r, busy_until[slot], workers[slot], slot % 2);
    workers[slot] = new_worker(r, busy_until[slot] + draw(r, MS), slot % 2);
  }
  for (int i = 0; i < SLOTS; i++)
    now_ns = busy_until[i] > now_ns ? busy_until[i] : now_ns;
  for (int i = 0; i < SLOTS && !is_killed; i++)
    end_worker(r, now_ns + 3 * MS, workers[i], i % 2);
  return now_ns;
}

static void draw_rows(struct rows *r, uint32_t seed)
{
  *r = (struct rows) { .seed = seed };
  r->sessions[0].begin_ns = 1000 * S;
  r->sessions[1].begin_ns = draw_session(r, 1000 * S, true) + 1 + draw(r, 10 * S);
  r->sessions[1].mini_batches = 5;
  draw_session(r, r->sessions[1].begin_ns, false);
}

static void release_rows(struct rows *r)
{
  TM_ARRAY_RELEASE(&r->events);
  TM_ARRAY_RELEASE(&r->tries);
  TM_ARRAY_RELEASE(&r->after);
  TM_ARRAY_RELEASE_EACH(&r->names);
}

static char *fed_at_once(struct rows *r)
{
  static struct tm_step_model m;
  struct tm_buf text = TM_BUF_NONE;
  tm_step_model_init(&m, r->sessions[0].begin_ns);
  tm_step_model_set_sessions(&m, r->sessions, 2);
  for (size_t i = 0; i < r->events.len; i++)
    tm_step_model_add_event(&m, &r->events.at[i]);
  for (size_t i = 0; i < r->tries.len; i++)
    tm_step_model_add_try(&m, &r->tries.at[i]);
  tm_step_model_settle(&m, 0);
  text_of_model(&text, &m);
  tm_step_model_release(&m);
  return tm_buf_take(&text);
}

/* Any worker may be at any mini-batch. */
static void set_running(struct rows *r, struct tm_step_model *m)
{
  struct tm_running_try list[3];
  for (size_t i = 0; i < TM_COUNT_OF(list); i++)
    list[i] = (struct tm_running_try) { r->names.at[draw(r, (int64_t)r->names.len)], draw(r, 1000),
                                        1, m->last_ns - draw(r, 2 * S) };
  tm_workers_set_running(&m->workers, list, TM_COUNT_OF(list), m->last_ns);
}

static char *fed_in_pieces(struct rows *r)
{
  static struct tm_step_model m;
  struct tm_buf text = TM_BUF_NONE;
  size_t events = 0, tries = 0;
  tm_step_model_init(&m, r->sessions[0].begin_ns);
  while (events < r->events.len || tries < r->tries.len) {
    r->sessions[1].mini_batches = events < r->events.len || tries < r->tries.len ? 0 : 5;
    tm_step_model_set_sessions(&m, r->sessions, 2);
    for (int64_t n = draw(r, 30); n > 0 && events < r->events.len; n--)
      tm_step_model_add_event(&m, &r->events.at[events++]);
    for (int64_t n = draw(r, 60); n > 0 && tries < r->tries.len && r->after.at[tries] <= events;
         n--)
      tm_step_model_add_try(&m, &r->tries.at[tries++]);
    if (draw(r, 2)) {
      set_running(r, &m);
      tm_step_model_settle(&m, m.last_ns);
    }
  }
  r->sessions[1].mini_batches = 5;
  tm_step_model_set_sessions(&m, r->sessions, 2);
  tm_workers_set_running(&m.workers, NULL, 0, 0);
  tm_step_model_settle(&m, 0);
  assert_true(tm_step_model_is_exact(&m));
  text_of_model(&text, &m);
  tm_step_model_release(&m);
  return tm_buf_take(&text);
}

static void pieces_end_in_the_same_model(void **state)
{
  for (uint32_t seed = 1; seed <= 40; seed++) {
    struct rows r;
    draw_rows(&r, seed);
    char *at_once = fed_at_once(&r), *in_pieces = fed_in_pieces(&r);
    assert_string_equal(at_once, in_pieces);
    assert_non_null(strstr(at_once, "session 1000000000000 ")); /* it is not empty */
    free(at_once);
    free(in_pieces);
    release_rows(&r);
  }
}

static void slots_are_no_more_than_there_were_workers_at_once(void **state)
{
  static struct tm_step_model m;
  struct rows r;
  draw_rows(&r, 3);
  tm_step_model_init(&m, r.sessions[0].begin_ns);
  tm_step_model_set_sessions(&m, r.sessions, 2);
  for (size_t i = 0; i < r.events.len; i++)
    tm_step_model_add_event(&m, &r.events.at[i]);
  assert_int_equal(m.workers.slots.len, SLOTS);
  assert_true(m.workers.list.len > 2 * SLOTS);
  tm_step_model_release(&m);
  release_rows(&r);
}

UNIT_TESTS({
    cmocka_unit_test(categories_have_names),
    cmocka_unit_test(a_run_that_was_too_short_to_measure_counts),
    cmocka_unit_test(tries_are_summed),
    cmocka_unit_test(a_mini_batch_that_succeeds_after_a_failure_is_retried),
    cmocka_unit_test(what_depends_on_the_time_is_replaced_by_the_next_time),
    cmocka_unit_test(without_all_tries_nobody_knows_who_waited),
    cmocka_unit_test(hostile_rows_do_no_harm),
    cmocka_unit_test(pieces_end_in_the_same_model),
    cmocka_unit_test(slots_are_no_more_than_there_were_workers_at_once),
});
