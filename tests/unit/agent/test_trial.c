/* The one way to call a script, with a script in C. */
#include "unit.h"

#include <string.h>

#include "agent/trial.h"

/* Behaves as the test sets it. */
struct stub {
  bool fails, has_no_run;
  uint32_t calls;
};

static int end(struct stub *s, struct tm_script_error *error)
{
  if (!s->fails)
    return 0;
  tm_buf_add_str(&error->message, "no luck");
  tm_buf_add_str(&error->where, "score.lua:3");
  return TM_ESCRIPT;
}

static int load(void *data, const struct tm_setup *setup, bool *has_no_run,
                struct tm_script_error *error)
{
  struct stub *s = data;
  *has_no_run = s->has_no_run;
  return end(s, error);
}

static int init(void *data, struct tm_script_error *error)
{
  return end(data, error);
}

static int run(void *data, const struct tm_run_call *call, struct tm_buf *rows, uint32_t *returned,
               struct tm_script_error *error)
{
  struct stub *s = data;
  s->calls++;
  *returned = call->items;
  tm_buf_add_str(rows, "row\n");
  return end(s, error);
}

static struct tm_trial make(struct stub *s)
{
  return (struct tm_trial) {
    .script = { .data = s, .load = load, .init = init, .run = run, .shutdown = init }
  };
}

static void a_failure_names_the_hook_and_the_place(void **state)
{
  struct stub s = { .fails = true };
  struct tm_trial t = make(&s);
  struct tm_buf words = TM_BUF_NONE;
  assert_int_equal(tm_trial_init(&t), TM_ESCRIPT);
  assert_int_equal(t.error.status, TM_INIT_EXCEPTION);
  tm_trial_words(&words, &t);
  assert_string_equal(tm_buf_str(&words), "init() failed at score.lua:3: no luck");
  tm_buf_clear(&words);
  assert_int_equal(tm_trial_run(&t, &(struct tm_run_call) { .items = 1 }), TM_ESCRIPT);
  assert_int_equal(t.error.status, TM_RUN_EXCEPTION);
  tm_trial_words(&words, &t); /* nothing is left of the failure before */
  assert_string_equal(tm_buf_str(&words), "run() failed at score.lua:3: no luck");
  tm_buf_release(&words);
  tm_trial_release(&t);
}

static void clearing_forgets_the_last_mini_batch(void **state)
{
  struct stub s = { 0 };
  struct tm_trial t = make(&s);
  assert_int_equal(tm_trial_run(&t, &(struct tm_run_call) { .items = 4 }), 0);
  assert_int_equal(t.returned, 4);
  assert_string_equal(tm_buf_str(&t.rows), "row\n");
  tm_trial_clear(&t);
  assert_int_equal(t.returned, 0);
  assert_int_equal(t.rows.len, 0);
  tm_trial_release(&t);
}

static void a_script_without_run_is_reported(void **state)
{
  struct stub s = { .fails = true, .has_no_run = true };
  struct tm_trial t = make(&s);
  assert_true(tm_trial_load(&t) < 0);
  assert_true(t.has_no_run);
  s = (struct stub) { 0 };
  assert_int_equal(tm_trial_load(&t), 0);
  assert_false(t.has_no_run);
  tm_trial_release(&t);
}

static void items_must_be_whole_and_as_many_as_said(void **state)
{
  struct tm_buf bytes = TM_BUF_NONE;
  struct tm_item item = { .path = "/in/a", .path_len = 5, .size = -1 };
  bool has_rows, has_entries;
  tm_item_add(&bytes, &item);
  tm_item_add(&bytes, &item);
  struct tm_run_call call = { .items = 2, .bytes = bytes.data, .bytes_len = bytes.len };
  assert_true(tm_items_check(&call, &has_rows, &has_entries));
  assert_false(has_rows);
  assert_false(has_entries);
  assert_false(tm_items_are_none(&call));
  call.items = 3;
  assert_false(tm_items_check(&call, &has_rows, &has_entries));
  call.items = 2;
  for (call.bytes_len = 1; call.bytes_len < bytes.len; call.bytes_len++)
    assert_false(tm_items_check(&call, &has_rows, &has_entries));
  tm_buf_release(&bytes);
}

static void a_list_of_marks_ends_where_it_is_damaged(void **state)
{
  struct tm_buf marks = TM_BUF_NONE;
  struct tm_reader r;
  struct tm_mark mark;
  tm_buf_add_u32(&marks, 3);
  tm_buf_add_bytes32(&marks, "bad", 3);
  tm_reader_init(&r, marks.data, marks.len);
  assert_true(tm_mark_next(&r, &mark));
  assert_int_equal(mark.number, 3);
  assert_memory_equal(mark.words, "bad", mark.len);
  assert_false(tm_mark_next(&r, &mark));
  assert_false(r.bad);
  for (size_t n = 1; n < marks.len; n++) {
    tm_reader_init(&r, marks.data, n);
    assert_false(tm_mark_next(&r, &mark));
    assert_true(r.bad);
  }
  tm_buf_release(&marks);
}

UNIT_TESTS({
    cmocka_unit_test(a_failure_names_the_hook_and_the_place),
    cmocka_unit_test(clearing_forgets_the_last_mini_batch),
    cmocka_unit_test(a_script_without_run_is_reported),
    cmocka_unit_test(items_must_be_whole_and_as_many_as_said),
    cmocka_unit_test(a_list_of_marks_ends_where_it_is_damaged),
});
