/* What the timeline shows, and its numbers for the script. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "made_model.h"
#include "page/timeline_data.h"

static const struct tm_timeline_row *row_of(const struct tm_timeline *t, const char *id)
{
  for (size_t i = 0; i < t->len; i++)
    if (strcmp(t->rows[i].id, id) == 0)
      return &t->rows[i];
  return NULL;
}

static void rows_that_say_nothing_are_left_out(void **state)
{
  (void)state;
  struct made m;
  struct tm_timeline t;
  made_init(&m, &(struct made_plan) {
                    .tries = 10, .slots = 2, .nodes = 1, .sessions = 1, .seconds = 10 });
  assert_true(tm_timeline_init(&t, &m.page));
  assert_int_equal(t.len, 1);
  assert_string_equal(t.rows[0].id, "busy");
  tm_timeline_release(&t);
  made_release(&m);
}

static void what_is_not_known_yet_is_a_gap(void **state)
{
  struct made m;
  struct tm_timeline t;
  made_init(&m, &(struct made_plan) {
                    .tries = 10, .slots = 2, .nodes = 1, .sessions = 1, .seconds = 10 });
  int64_t now_ns = made_running(&m);
  assert_true(tm_timeline_init(&t, &m.page));
  const struct tm_series *s = &row_of(&t, "busy")->series;
  assert_true(fabs(s->at[s->len - 1] - 1) < 0.01); /* the worker is at its try */
  tm_timeline_release(&t);
  tm_workers_set_running(&m.model.workers, NULL, 0, now_ns);
  tm_step_model_settle(&m.model, now_ns);
  assert_true(tm_timeline_init(&t, &m.page));
  s = &row_of(&t, "busy")->series;
  assert_true(isnan(s->at[s->len - 1]));
  assert_false(isnan(s->at[0]));
  tm_timeline_release(&t);
  made_release(&m);
}

static void without_a_table_of_tries_nobody_knows_who_was_busy(void **state)
{
  struct made m;
  struct tm_timeline t;
  made_init(&m, &(struct made_plan) { .slots = 2, .nodes = 1, .sessions = 1, .seconds = 10 });
  assert_true(tm_timeline_init(&t, &m.page));
  assert_non_null(row_of(&t, "busy"));
  tm_timeline_release(&t);
  m.model.lacks_tries = true;
  assert_true(tm_timeline_init(&t, &m.page));
  assert_null(row_of(&t, "busy"));
  tm_timeline_release(&t);
  made_release(&m);
}

static void open_tries_are_data_of_the_script(void **state)
{
  struct made m;
  struct tm_timeline t;
  struct tm_buf json = TM_BUF_NONE;
  made_init(&m, &(struct made_plan) {
                    .tries = 30000, .slots = 2, .nodes = 1, .sessions = 1, .seconds = 10 });
  made_cut(&m);
  assert_true(tm_timeline_init(&t, &m.page));
  tm_timeline_data(&json, &t, &m.model, tm_timeline_detail(&m.page));
  struct tm_json *tree = tm_json_parse(tm_buf_str(&json), json.len, NULL);
  struct tm_json *lanes = tm_json_get(tree, "lanes");
  assert_null(tm_json_get(lanes, "boxes"));
  assert_int_equal(tm_json_int(tm_json_get(lanes, "open"), "count", 0), 1);
  tm_json_free(tree);
  tm_buf_release(&json);
  tm_timeline_release(&t);
  made_release(&m);
}

static void quiet_disks_are_left_out(void **state)
{
  (void)state;
  struct made m;
  struct tm_timeline t;
  made_init(
      &m,
      &(struct made_plan) {
          .tries = 200, .slots = 2, .nodes = 1, .sessions = 1, .seconds = 60, .has_gauges = true });
  assert_true(tm_timeline_init(&t, &m.page));
  assert_non_null(row_of(&t, "items"));
  assert_null(row_of(&t, "failed"));
  assert_non_null(row_of(&t, "disk"));
  assert_null(row_of(&t, "network"));
  tm_timeline_release(&t);
  made_release(&m);
}

static void one_failure_of_a_short_job_is_no_rate_of_hundreds(void **state)
{
  (void)state;
  struct made m;
  struct tm_timeline t;
  made_init(&m,
            &(struct made_plan) {
                .tries = 100, .slots = 4, .nodes = 1, .sessions = 1, .seconds = 1, .fail_in = 25 });
  assert_true(m.model.tries_failed > 0 && m.model.tries_failed < 10);
  assert_true(tm_timeline_init(&t, &m.page));
  const struct tm_timeline_row *r = row_of(&t, "failed");
  assert_memory_equal(r->unit_text, "in ", 3); /* so many in some ms, not per second */
  assert_true(tm_series_look(&r->series).max <= (double)m.model.tries_failed);
  tm_timeline_release(&t);
  made_release(&m);
}

static void sentences_have_the_numbers(void **state)
{
  (void)state;
  struct made m;
  struct tm_timeline t;
  made_init(&m, &(struct made_plan) { .tries = 2000,
                                      .slots = 4,
                                      .nodes = 1,
                                      .sessions = 2,
                                      .seconds = 3600,
                                      .fail_in = 50,
                                      .has_gauges = true });
  assert_true(tm_timeline_init(&t, &m.page));
  assert_int_equal(t.axis.pieces.len, 3);
  struct tm_buf failed = TM_BUF_NONE;
  tm_buf_printf(&failed, "%lld failed tries, at most ", (long long)m.model.tries_failed);
  assert_non_null(strstr(row_of(&t, "failed")->sentence, tm_buf_str(&failed)));
  assert_non_null(strstr(row_of(&t, "memory")->sentence, "Memory of the workers: 8."));
  assert_non_null(strstr(row_of(&t, "busy")->sentence, "of 4 that are allowed"));
  tm_buf_release(&failed);
  tm_timeline_release(&t);
  made_release(&m);
}

/* Rates times widths are what there was. */
static void no_item_is_lost(void **state)
{
  (void)state;
  struct made m;
  struct tm_timeline t;
  made_init(
      &m,
      &(struct made_plan) {
          .tries = 3000, .slots = 8, .nodes = 1, .sessions = 1, .seconds = 300, .fail_in = 20 });
  assert_true(tm_timeline_init(&t, &m.page));
  const struct tm_series *s = &row_of(&t, "items")->series;
  double sum = 0;
  for (size_t i = 0; i < s->len; i++) {
    int64_t from = s->from_ns + (int64_t)i * s->width_ns, to = from + s->width_ns;
    sum += s->at[i] * (double)((to > t.end_ns ? t.end_ns : to) - from) / 1e9;
  }
  assert_true(fabs(sum - (double)m.model.items) < 0.5);
  tm_timeline_release(&t);
  made_release(&m);
}

static void a_span_is_shown_in_more_detail(void **state)
{
  (void)state;
  struct made m;
  struct tm_timeline all, part;
  made_init(&m, &(struct made_plan) {
                    .tries = 30000, .slots = 8, .nodes = 1, .sessions = 1, .seconds = 3600 });
  assert_true(tm_timeline_init(&all, &m.page));
  m.page.from_ns = m.model.origin_ns + 600 * TM_S;
  m.page.to_ns = m.model.origin_ns + 900 * TM_S;
  assert_true(tm_timeline_init(&part, &m.page));
  assert_int_equal(part.axis.from_ns, m.page.from_ns);
  assert_true(row_of(&part, "busy")->series.width_ns < row_of(&all, "busy")->series.width_ns);
  tm_timeline_release(&all);
  tm_timeline_release(&part);
  made_release(&m);
}

static void nothing_is_no_timeline(void **state)
{
  (void)state;
  struct made m;
  struct tm_timeline t;
  made_init(&m, &(struct made_plan) { .slots = 0, .nodes = 1, .sessions = 1, .seconds = 1 });
  assert_false(tm_timeline_init(&t, &m.page));
  m.page_step.model = NULL;
  assert_false(tm_timeline_init(&t, &m.page));
  made_release(&m);
}

static void bytes_become_base64(void **state)
{
  (void)state;
  struct tm_buf b = TM_BUF_NONE;
  tm_base64(&b, "", 0);
  tm_base64(&b, "f", 1);
  tm_base64(&b, "fo", 2);
  tm_base64(&b, "foo\xff", 4);
  assert_string_equal(tm_buf_str(&b), "Zg==Zm8=Zm9v/w==");
  tm_buf_release(&b);
}

static void data_are_json(void **state)
{
  (void)state;
  struct made m;
  struct tm_timeline t;
  struct tm_buf json = TM_BUF_NONE;
  made_init(&m, &(struct made_plan) { .tries = 500,
                                      .slots = 4,
                                      .nodes = 1,
                                      .sessions = 2,
                                      .seconds = 100,
                                      .fail_in = 9,
                                      .has_gauges = true });
  assert_true(tm_timeline_init(&t, &m.page));
  tm_timeline_data(&json, &t, &m.model, tm_timeline_detail(&m.page));
  struct tm_json *tree = tm_json_parse(tm_buf_str(&json), json.len, NULL);
  assert_non_null(tree);
  assert_int_equal(tm_json_items(tm_json_get(tree, "rows")), t.len);
  struct tm_json *lanes = tm_json_get(tree, "lanes");
  assert_int_equal(tm_json_int(lanes, "count", 0), 4);
  assert_int_equal(tm_json_int(tm_json_get(lanes, "boxes"), "count", 0), 500);
  assert_int_equal(tm_json_items(tm_json_get(lanes, "lives")), 8);
  tm_json_free(tree);
  tm_buf_release(&json);
  tm_timeline_release(&t);
  made_release(&m);
}

static void names_in_data_cannot_reorder_text(void **state)
{
  (void)state;
  struct made m;
  struct tm_timeline t;
  struct tm_buf json = TM_BUF_NONE;
  static const char name[] = "a\xE2\x80\xAE"
                             "b\xE2\x81\xA6"
                             "c\xFF\x1B";
  made_init(&m, &(struct made_plan) {
                    .tries = 20, .slots = 1, .nodes = 1, .sessions = 1, .seconds = 10 });
  free(m.model.workers.list.at[0].name);
  m.model.workers.list.at[0].name = tm_xstrdup(name);
  assert_true(tm_timeline_init(&t, &m.page));
  tm_timeline_data(&json, &t, &m.model, tm_timeline_detail(&m.page));
  assert_non_null(strstr(tm_buf_str(&json), "\"a\\u202eb\\u2066c\xEF\xBF\xBD\\u001b\""));
  tm_buf_release(&json);
  tm_timeline_release(&t);
  made_release(&m);
}

UNIT_TESTS({
    cmocka_unit_test(rows_that_say_nothing_are_left_out),
    cmocka_unit_test(what_is_not_known_yet_is_a_gap),
    cmocka_unit_test(without_a_table_of_tries_nobody_knows_who_was_busy),
    cmocka_unit_test(open_tries_are_data_of_the_script),
    cmocka_unit_test(quiet_disks_are_left_out),
    cmocka_unit_test(one_failure_of_a_short_job_is_no_rate_of_hundreds),
    cmocka_unit_test(sentences_have_the_numbers),
    cmocka_unit_test(no_item_is_lost),
    cmocka_unit_test(a_span_is_shown_in_more_detail),
    cmocka_unit_test(nothing_is_no_timeline),
    cmocka_unit_test(bytes_become_base64),
    cmocka_unit_test(data_are_json),
    cmocka_unit_test(names_in_data_cannot_reorder_text),
});
