/* test_trace.c - rows of workers and tries as Trace Event JSON. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "export/trace.h"
#include "random.h"

#define ORIGIN (1000 * TM_S)

struct made {
  struct tm_trace t;
  struct tm_buf text;
  struct tm_json *json;
  int calls, refused_from; /* the call that fails; 0: none */
};

static int on_text(void *data, const char *text, size_t len)
{
  struct made *m = data;
  tm_buf_add(&m->text, text, len);
  return ++m->calls == m->refused_from ? -28 : 0;
}

static const struct tm_trace_session one_session[] = { { ORIGIN, 2 } };
static const struct tm_trace_step score = {
  .name = "score", .state = "Completed", .sessions = one_session, .sessions_len = 1
};

static void begin(struct made *m, int64_t tries, int64_t slices_max)
{
  *m = (struct made) { .calls = 0 };
  tm_trace_init(&m->t, &(struct tm_trace_options) { .job = "scans-1",
                                                    .version = "1.2",
                                                    .state = "Completed",
                                                    .origin_ns = ORIGIN,
                                                    .tries = tries,
                                                    .slices_max = slices_max,
                                                    .on_text = on_text,
                                                    .data = m });
}

static void end(struct made *m)
{
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_trace_end(&m->t), 0);
  assert_memory_equal(m->text.data, TM_TRACE_MARK, strlen(TM_TRACE_MARK));
  m->json = tm_json_parse(m->text.data, m->text.len, &err);
  if (!m->json)
    fail_msg("%s", err.text);
}

static void finish(struct made *m)
{
  tm_trace_release(&m->t);
  tm_buf_release(&m->text);
  tm_json_free(m->json);
}

static void event(struct made *m, const char *worker, int64_t at_ms, const char *word,
                  const char *detail)
{
  tm_trace_add_event(
      &m->t,
      &(struct tm_life_row) { .wall_ns = ORIGIN + at_ms * TM_MS,
                              .process = worker,
                              .node = "0",
                              .address = "mill",
                              .pid = 7,
                              .event = word,
                              .died = strcmp(word, "ended") == 0 && strcmp(detail, "stopped") != 0,
                              .init_ns = strcmp(word, "ready") ? 0 : 5 * TM_MS,
                              .detail = detail });
}

/* A try of a mini-batch that took its time, with a row in words. */
struct row {
  const char *worker;
  int64_t mini_batch, picked, begin_ms, elapsed_ms;
  const char *category, *message;
};

static void try(struct made *m, const struct row *r)
{
  bool is_done = !*r->category;
  tm_trace_add_try(
      &m->t, &(struct tm_try_row) { .mini_batch = r->mini_batch,
                                    .picked = r->picked,
                                    .process = r->worker,
                                    .began = "",
                                    .total = "3",
                                    .succeeded = is_done ? "2" : "0",
                                    .failed = is_done ? "1" : "0",
                                    .elapsed = "",
                                    .run = "",
                                    .status = is_done ? "RUN_DONE" : "RUN_EXCEPTION",
                                    .category = r->category,
                                    .message = r->message ? r->message : "",
                                    .detail = "dataset=a count=3 manifest=0 first=/data/x y",
                                    .node = "0",
                                    .begin_wall_ns = r->begin_ms ? ORIGIN + r->begin_ms * TM_MS : 0,
                                    .elapsed_ns = r->elapsed_ms * TM_MS,
                                    .run_ns = r->elapsed_ms * TM_MS });
}

/* The i-th event of a phase, with this name if it is not NULL; NULL: there is none. */
static const struct tm_json *found(const struct made *m, const char *phase, const char *name,
                                   size_t i)
{
  const struct tm_json *events = tm_json_get(m->json, "traceEvents");
  for (size_t k = 0; k < tm_json_items(events); k++) {
    const struct tm_json *e = events->list.at[k];
    if (strcmp(tm_json_str(e, "ph", ""), phase) == 0 &&
        (!name || strcmp(tm_json_str(e, "name", ""), name) == 0) && i-- == 0)
      return e;
  }
  return NULL;
}

static int64_t count(const struct made *m, const char *phase, const char *name)
{
  int64_t n = 0;
  while (found(m, phase, name, (size_t)n))
    n++;
  return n;
}

static int64_t about(const struct made *m, const char *name)
{
  return tm_json_int(tm_json_get(m->json, "metadata"), name, -1);
}

/* ---- what is written ---- */

static const char small[] =
    "{\"about\":\"tidemill trace\",\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"ts\":0,\"args\":{\"name\":"
    "\"steps\"}},\n"
    "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,\"tid\":0,\"ts\":0,\"args\":{\"sort_"
    "index\":0}},\n"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1,\"ts\":0,\"args\":{\"name\":"
    "\"score\"}},\n"
    "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":1,\"ts\":0,\"args\":{\"sort_"
    "index\":1}},\n"
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"tid\":0,\"ts\":0,\"args\":{\"name\":"
    "\"node 0 (mill)\"}},\n"
    "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":2,\"tid\":0,\"ts\":0,\"args\":{\"sort_"
    "index\":1}},\n"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":2,\"tid\":2,\"ts\":0,\"args\":{\"name\":"
    "\"score: worker slot 0\"}},\n"
    "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":2,\"tid\":2,\"ts\":0,\"args\":{\"sort_"
    "index\":2}},\n"
    "{\"ph\":\"X\",\"name\":\"start\",\"pid\":2,\"tid\":2,\"ts\":10000,\"dur\":15000,"
    "\"args\":{\"worker\":\"process000\",\"pid\":7,\"end\":\"killed by signal 9\"}},\n"
    "{\"ph\":\"X\",\"name\":\"init()\",\"pid\":2,\"tid\":2,\"ts\":25000,\"dur\":5000,\"args\":{}},"
    "\n"
    "{\"ph\":\"i\",\"name\":\"worker died\",\"pid\":2,\"tid\":2,\"ts\":200000,\"s\":\"t\",\"args\":"
    "{\"worker\":\"process000\",\"end\":\"killed by signal 9\"}},\n"
    "{\"ph\":\"X\",\"name\":\"done\",\"pid\":2,\"tid\":2,\"ts\":30000,\"dur\":5000,\"args\":{"
    "\"mini_batch\":0,\"try\":1,\"items\":3,\"items_failed\":1,\"run_us\":5000,\"status\":\"RUN_"
    "DONE\",\"item\":\"/data/x y\"}},\n"
    "{\"ph\":\"C\",\"name\":\"processor\",\"pid\":2,\"tid\":0,\"ts\":50000,\"args\":{\"percent\":"
    "12.5}},\n"
    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":2,\"tid\":0,\"ts\":50000,\"args\":{\"bytes\":4096}},"
    "\n"
    "{\"ph\":\"C\",\"name\":\"score: items/s\",\"pid\":1,\"tid\":0,\"ts\":35000,\"args\":{\"items/"
    "s\":2000}},\n"
    "{\"ph\":\"C\",\"name\":\"score: items/s\",\"pid\":1,\"tid\":0,\"ts\":36000,\"args\":{\"items/"
    "s\":0}},\n"
    "{\"ph\":\"X\",\"name\":\"score\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":200000,\"args\":{"
    "\"session\":1,\"mini_batches\":2,\"state\":\"Completed\"}}\n"
    "],\"metadata\":{\"job\":\"scans-1\",\"state\":\"Completed\",\"tidemill\":\"1.2\",\"origin\":"
    "\"1970-01-01T00:16:40.000000Z\",\"origin_unix_ns\":1000000000000,\"is_exact\":true,\"tries\":"
    "1,"
    "\"slices\":1,\"tries_joined_to_others\":0,\"joined_up_to_us\":0,\"tries_that_never_began\":0,"
    "\"tries_without_a_slot\":0,\"slices_moved\":0,\"arrows\":0,\"arrows_left_out\":0}}\n";

static void a_small_job_is_written_whole(void **state)
{
  struct made m;
  begin(&m, 1, 0);
  tm_trace_begin_step(&m.t, &score);
  event(&m, "process000", 10, "started", "");
  event(&m, "process000", 30, "ready", "");
  event(&m, "process000", 200, "ended", "killed by signal 9");
  try(&m, &(struct row) { "process000", 0, 1, 30, 5, "", NULL });
  tm_trace_add_sample(&m.t, "0",
                      &(struct tm_node_sample) { .wall_ns = ORIGIN + 50 * TM_MS,
                                                 .cpu_percent = 12.5,
                                                 .memory_used = 4096 });
  tm_trace_add_sample(&m.t, "0",
                      &(struct tm_node_sample) {
                          .wall_ns = ORIGIN + 60 * TM_MS, .cpu_percent = -1, .memory_used = -1 });
  tm_trace_end_step(&m.t);
  end(&m);
  assert_string_equal(m.text.data, small);
  finish(&m);
}

static void a_failed_try_has_an_arrow_to_the_next(void **state)
{
  static const struct row rows[] = {
    { "process000", 4, 1, 10, 10, "error", "bad" },    { "process001", 5, 1, 10, 10, "", NULL },
    { "process001", 4, 2, 20, 10, "timeout", "slow" }, { "process000", 4, 3, 40, 0, "", NULL },
    { "process000", 6, 1, 40, 1, "canceled", NULL },   { "process000", 6, 2, 41, 1, "", NULL },
    { "process000", 7, 1, 50, 1, "lost", NULL },
  };
  static const int64_t at[][2] = { { 19999, 20000 }, { 29999, 40000 } };
  struct made m;
  begin(&m, 7, 0);
  tm_trace_begin_step(&m.t, &score);
  event(&m, "process000", 1, "started", "");
  event(&m, "process001", 1, "started", "");
  for (size_t i = 0; i < TM_COUNT_OF(rows); i++)
    try(&m, &rows[i]);
  tm_trace_end_step(&m.t);
  end(&m);
  for (size_t i = 0; i < TM_COUNT_OF(at); i++) {
    const struct tm_json *s = found(&m, "s", NULL, i), *f = found(&m, "f", NULL, i);
    assert_int_equal(tm_json_int(s, "ts", -1), at[i][0]);
    assert_int_equal(tm_json_int(f, "ts", -1), at[i][1]);
    assert_int_equal(tm_json_int(s, "id", -1), i + 1);
    assert_int_equal(tm_json_int(f, "id", -1), i + 1);
    assert_int_not_equal(tm_json_int(s, "tid", -1), tm_json_int(f, "tid", -1));
    assert_string_equal(tm_json_str(f, "bp", ""), "e");
  }
  assert_int_equal(about(&m, "arrows"), 2);
  assert_null(found(&m, "s", NULL, 2));
  finish(&m);
}

static void an_init_that_failed_is_a_slice_of_its_own(void **state)
{
  struct made m;
  begin(&m, 0, 0);
  tm_trace_begin_step(&m.t, &score);
  event(&m, "process000", 10, "started", "");
  event(&m, "process000", 40, "init_failed", "no model");
  event(&m, "process000", 50, "ended", "stopped");
  event(&m, "process001", 60, "started", "");
  event(&m, "process001", 80, "init_failed", "no model");
  event(&m, "process001", 90, "ended", "killed by signal 9");
  try(&m, &(struct row) { "process000", -1, 0, 15, 25, "error", "no model" });
  tm_trace_end_step(&m.t);
  end(&m);
  const struct tm_json *first = found(&m, "X", "init() failed", 0);
  const struct tm_json *second = found(&m, "X", "init() failed", 1);
  assert_int_equal(tm_json_int(found(&m, "X", "start", 0), "dur", -1), 5000);
  assert_int_equal(tm_json_int(first, "ts", -1), 15000);
  assert_int_equal(tm_json_int(first, "dur", -1), 25000);
  assert_string_equal(tm_json_str(tm_json_get(first, "args"), "error", ""), "no model");
  assert_int_equal(tm_json_int(second, "ts", -1), 60000);
  assert_int_equal(tm_json_int(second, "dur", -1), 30000);
  assert_int_equal(count(&m, "i", "worker died"), 1);
  assert_int_equal(about(&m, "tries"), 0);
  finish(&m);
}

static void a_resumed_step_has_a_slice_for_each_session(void **state)
{
  static const struct tm_trace_session two[] = { { ORIGIN, 1 }, { ORIGIN + TM_S, 3 } };
  struct made m;
  begin(&m, 2, 0);
  tm_trace_begin_step(
      &m.t,
      &(struct tm_trace_step) {
          .name = "a", .state = "Failed", .cause = "1 item", .sessions = two, .sessions_len = 2 });
  event(&m, "process000", 1, "started", "");
  event(&m, "process001", 1001, "started", "");
  try(&m, &(struct row) { "process000", 0, 1, 10, 10, "", NULL });
  try(&m, &(struct row) { "process001", 1, 1, 1500, 10, "", NULL });
  tm_trace_end_step(&m.t);
  end(&m);
  const struct tm_json *first = found(&m, "X", "a", 0), *second = found(&m, "X", "a", 1);
  assert_int_equal(tm_json_int(first, "dur", -1), 20000);
  assert_null(tm_json_get(tm_json_get(first, "args"), "state"));
  assert_int_equal(tm_json_int(second, "ts", -1), 1000000);
  assert_int_equal(tm_json_int(second, "dur", -1), 510000);
  assert_string_equal(tm_json_str(tm_json_get(second, "args"), "cause", ""), "1 item");
  /* one slot, although the first worker was cut off */
  assert_int_equal(count(&m, "M", "thread_name"), 2);
  finish(&m);
}

static void a_step_of_which_nothing_is_known_has_no_slice(void **state)
{
  struct made m;
  begin(&m, 1, 0);
  tm_trace_begin_step(&m.t, &(struct tm_trace_step) { .name = "later", .state = "Waiting" });
  tm_trace_end_step(&m.t);
  tm_trace_begin_step(&m.t, &(struct tm_trace_step) { .name = "old", .state = "Completed" });
  try(&m, &(struct row) { "process000", 0, 1, 10, 10, "", NULL });
  try(&m, &(struct row) { "process000", 1, 1, 0, 0, "canceled", NULL });
  tm_trace_end_step(&m.t);
  end(&m);
  assert_int_equal(count(&m, "X", NULL), 2);
  assert_int_equal(tm_json_int(found(&m, "X", "old", 0), "dur", -1), 20000);
  assert_int_equal(about(&m, "tries_that_never_began"), 1);
  finish(&m);
}

/* ---- invariants ---- */

/* Adds up the member of the arguments of all slices with a status. */
static int64_t sum(const struct made *m, const char *member, int64_t otherwise)
{
  const struct tm_json *e;
  int64_t n = 0;
  for (size_t i = 0; (e = found(m, "X", NULL, i)); i++)
    if (tm_json_get(tm_json_get(e, "args"), "status"))
      n += tm_json_int(tm_json_get(e, "args"), member, otherwise);
  return n;
}

struct span {
  int64_t tid, from, to;
};

static int by_thread_and_time(const void *a, const void *b)
{
  const struct span *x = a, *y = b;
  if (x->tid != y->tid)
    return x->tid < y->tid ? -1 : 1;
  return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

static void no_overlap(const struct made *m)
{
  const struct tm_json *events = tm_json_get(m->json, "traceEvents");
  struct TM_ARRAY(struct span) spans = { 0 };
  for (size_t i = 0; i < tm_json_items(events); i++) {
    const struct tm_json *e = events->list.at[i];
    int64_t from = tm_json_int(e, "ts", -1), dur = tm_json_int(e, "dur", -1);
    if (strcmp(tm_json_str(e, "ph", ""), "X") != 0)
      continue;
    assert_true(from >= 0 && dur >= 0);
    *TM_ARRAY_ADD(&spans) = (struct span) { tm_json_int(e, "tid", -1), from, from + dur };
  }
  qsort(spans.at, spans.len, sizeof(*spans.at), by_thread_and_time);
  for (size_t i = 1; i < spans.len; i++)
    assert_true(spans.at[i].tid != spans.at[i - 1].tid || spans.at[i].from >= spans.at[i - 1].to);
  TM_ARRAY_RELEASE(&spans);
}

static void slices_do_not_overlap_whatever_the_clock_did(void **state)
{
  struct random r = { 11 };
  struct made m;
  char name[32];
  begin(&m, 600, 0);
  tm_trace_begin_step(&m.t, &score);
  for (int i = 0; i < 4; i++) {
    snprintf(name, sizeof(name), "process%03d", i);
    event(&m, name, (int64_t)random_below(&r, 20) - 5, "started", "");
    event(&m, name, (int64_t)random_below(&r, 20) - 5, "ready", "");
    if (i % 2)
      event(&m, name, (int64_t)random_below(&r, 300), "ended", "exited with status 1");
  }
  for (int i = 0; i < 300; i++) {
    int64_t begin_ms = i - 10 + (int64_t)random_below(&r, 20);
    snprintf(name, sizeof(name), "process%03d", (int)random_below(&r, 5));
    try(&m, &(struct row) { name, i, 1, begin_ms ? begin_ms : 1, (int64_t)random_below(&r, 30),
                            random_below(&r, 4) ? "" : "error", NULL });
  }
  tm_trace_end_step(&m.t);
  end(&m);
  no_overlap(&m);
  assert_int_equal(about(&m, "slices"), 300);
  assert_true(about(&m, "slices_moved") > 10);
  finish(&m);
}

static void too_many_short_tries_are_joined(void **state)
{
  enum { TRIES = 3000, MAX = 100 };
  struct made m;
  begin(&m, TRIES, MAX);
  tm_trace_begin_step(&m.t, &score);
  event(&m, "process000", 0, "started", "");
  for (int i = 0; i < TRIES; i++)
    try(&m, &(struct row) { "process000", i, 1, 10 + 2 * i, 1, i % 500 == 7 ? "error" : "", "e" });
  try(&m, &(struct row) { "process000", TRIES, 1, 10 + 2 * TRIES, 100000, "", NULL });
  tm_trace_end_step(&m.t);
  end(&m);
  no_overlap(&m);
  assert_in_range(about(&m, "slices"), MAX / 4, MAX + MAX / 10);
  assert_int_equal(sum(&m, "tries", 1), TRIES + 1);
  assert_int_equal(sum(&m, "items", 0), 3 * (TRIES + 1));
  assert_int_equal(about(&m, "slices") + about(&m, "tries_joined_to_others"), TRIES + 1);
  assert_int_equal(count(&m, "X", "failed"), TRIES / 500);
  assert_false(tm_json_bool(tm_json_get(m.json, "metadata"), "is_exact", true));
  assert_true(about(&m, "joined_up_to_us") > 0);
  /* the long one stays alone */
  const struct tm_json *last = found(&m, "X", "done", (size_t)count(&m, "X", "done") - 1);
  assert_int_equal(tm_json_int(last, "dur", -1), 100000000);
  assert_null(tm_json_get(tm_json_get(last, "args"), "tries"));
  finish(&m);
}

static void hostile_text_is_written_as_valid_json(void **state)
{
  static const char words[] = "</script>\"\\\x1b[31m\xff\xe2\x80\xae\n";
  struct tm_buf longer = TM_BUF_NONE;
  struct made m;
  begin(&m, 1, 0);
  while (longer.len < 3 * TM_TRACE_TEXT_MAX)
    tm_buf_add_str(&longer, "\xc3\xa9");
  tm_trace_begin_step(&m.t, &(struct tm_trace_step) { .name = words, .state = words });
  event(&m, words, 1, "started", words);
  event(&m, words, 90, "ended", words);
  try(&m, &(struct row) { words, 0, 1, 10, 10, words, longer.data });
  tm_trace_end_step(&m.t);
  end(&m);
  const struct tm_json *args = tm_json_get(found(&m, "X", "failed", 0), "args");
  const char *error = tm_json_str(args, "error", "");
  assert_in_range(strlen(error), TM_TRACE_TEXT_MAX - 1, TM_TRACE_TEXT_MAX);
  assert_true(tm_text_is_utf8(m.text.data, m.text.len));
  assert_string_equal(error + strlen(error) - 5, "\xc3\xa9...");
  assert_string_equal(tm_json_str(tm_json_get(found(&m, "i", NULL, 0), "args"), "worker", ""),
                      "</script>\"\\\x1b[31m\xef\xbf\xbd\xe2\x80\xae\n");
  tm_buf_release(&longer);
  finish(&m);
}

static void nothing_follows_a_piece_that_was_refused(void **state)
{
  struct made m;
  begin(&m, 1, 0);
  m.refused_from = 1;
  tm_trace_begin_step(&m.t, &score);
  for (int i = 1; i < 5000; i++)
    try(&m, &(struct row) { "process000", i, 1, i, 1, "", NULL });
  tm_trace_end_step(&m.t);
  assert_int_equal(tm_trace_end(&m.t), -28);
  assert_int_equal(m.calls, 1);
  finish(&m);
}

UNIT_TESTS({
    cmocka_unit_test(a_small_job_is_written_whole),
    cmocka_unit_test(a_failed_try_has_an_arrow_to_the_next),
    cmocka_unit_test(an_init_that_failed_is_a_slice_of_its_own),
    cmocka_unit_test(a_resumed_step_has_a_slice_for_each_session),
    cmocka_unit_test(a_step_of_which_nothing_is_known_has_no_slice),
    cmocka_unit_test(slices_do_not_overlap_whatever_the_clock_did),
    cmocka_unit_test(too_many_short_tries_are_joined),
    cmocka_unit_test(hostile_text_is_written_as_valid_json),
    cmocka_unit_test(nothing_follows_a_piece_that_was_refused),
});
