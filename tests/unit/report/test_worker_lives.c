/* test_worker_lives.c - workers.csv: which events have a row, and what is in it. */
#include "unit.h"

#include "report_fixture.h"

#include "report/life_rows.h"
#include "report/worker_lives.h"
#include "tree.h"

#define HEADER                                                                                     \
  "Utc Time,Process,Node,Node Address,Pid,Event,Seconds,Max Rss (MB),Detail,Cause,Max Own (MB)\n"
#define FILE_NAME "logs/sys/job_report/workers.csv"
#define FRONT     "2026-01-31T23:59:58.123456Z,process003,0,host7,4711,"

static void write_all(const struct report_fixture *f, const struct tm_event *events, size_t len)
{
  struct tm_worker_lives l;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_worker_lives_open(&l, tm_fs_real(), f->logs, &err), 0);
  for (size_t i = 0; i < len; i++)
    tm_worker_lives_add(&l, &events[i]);
  assert_int_equal(tm_worker_lives_flush(&l, &err), 0);
  assert_int_equal(tm_worker_lives_close(&l, &err), 0);
}

static void a_life_is_a_row_for_each_event(void **state)
{
  struct report_fixture *f = *state;
  struct tm_ended ended = { .max_rss_kb = 12698, .own_kb = 8 << 10 };
  struct tm_event events[] = { fixture_event(f, TM_EVENT_WORKER_STARTED),
                               fixture_event(f, TM_EVENT_WORKER_READY),
                               fixture_event(f, TM_EVENT_TRY_ENDED),
                               fixture_event(f, TM_EVENT_MESSAGE),
                               fixture_event(f, TM_EVENT_WORKER_ENDED) };
  events[0].lived_ns = 5;
  events[1].lived_ns = 250 * TM_MS;
  events[1].init_ns = 50123000;
  events[4].lived_ns = 90 * TM_S + 1000;
  events[4].ended = &ended;
  events[4].text = "stopped";
  write_all(f, events, TM_COUNT_OF(events));
  char *text = fixture_read(f, FILE_NAME);
  assert_string_equal(text, HEADER FRONT "started,,,,,\n" FRONT
                                         "ready,0.250000,,init() took 0.050123 s,,\n" FRONT
                                         "ended,90.000001,12.4,stopped,stopped,8.0\n");
  free(text);
}

static void details_are_one_quoted_line(void **state)
{
  struct report_fixture *f = *state;
  struct tm_event events[] = { fixture_event(f, TM_EVENT_INIT_FAILED),
                               fixture_event(f, TM_EVENT_WORKER_ENDED) };
  events[0].message = "score.lua:3: no \"model\",\nnowhere";
  events[0].lived_ns = TM_S;
  events[1].text = "cannot be started"; /* it has no process, and nobody knows its memory */
  events[1].pid = 0;
  write_all(f, events, TM_COUNT_OF(events));
  char *text = fixture_read(f, FILE_NAME);
  assert_string_equal(text, HEADER FRONT "init_failed,1.000000,,\"score.lua:3: no \"\"model\"\","
                                         "\\nnowhere\",,\n"
                                         "2026-01-31T23:59:58.123456Z,process003,0,host7,,ended,,,"
                                         "cannot be started,not_started,\n");
  free(text);
}

static void a_resumed_job_appends(void **state)
{
  struct report_fixture *f = *state;
  struct tm_event e = fixture_event(f, TM_EVENT_WORKER_STARTED);
  write_all(f, &e, 1);
  write_all(f, &e, 1);
  char *text = fixture_read(f, FILE_NAME);
  assert_string_equal(text, HEADER FRONT "started,,,,,\n" FRONT "started,,,,,\n");
  free(text);
}

static int64_t offset_of(const struct report_fixture *f, const char *worker)
{
  return tm_worker_lives_clock_offset(f->logs, worker);
}

/* A row with more fields than the first line has would be skipped. */
static void a_file_of_an_older_version_keeps_its_columns(void **state)
{
  struct report_fixture *f = *state;
  static const char *const older[] = {
    "Utc Time,Process,Node,Node Address,Pid,Event,Seconds,Max Rss (MB),Detail",
    "Utc Time,Process,Node,Node Address,Pid,Event,Seconds,Max Rss (MB),Detail,Cause"
  };
  static const char *const rows[] = { "started,,,", "started,,,," };
  struct tm_event event = fixture_event(f, TM_EVENT_WORKER_STARTED);
  for (size_t i = 0; i < TM_COUNT_OF(older); i++) {
    char *begin = tm_xprintf("%s\n", older[i]);
    file_put(f->dir, FILE_NAME, begin, 0600);
    write_all(f, &event, 1);
    char *text = fixture_read(f, FILE_NAME);
    char *expected = tm_xprintf("%s" FRONT "%s\n", begin, rows[i]);
    assert_string_equal(text, expected);
    free(begin);
    free(expected);
    free(text);
  }
}

static void the_clock_of_a_worker_is_noted(void **state)
{
  struct report_fixture *f = *state;
  struct tm_event events[] = { fixture_event(f, TM_EVENT_WORKER_STARTED),
                               fixture_event(f, TM_EVENT_WORKER_STARTED),
                               fixture_event(f, TM_EVENT_WORKER_ENDED) };
  assert_int_equal(offset_of(f, "process003"), 0); /* there is no file */
  events[0].clock_offset_ns = -2500 * TM_MS;
  events[1].worker = "process004";
  events[2].text = "clock offset 7.000000 s"; /* a worker may write that as its last line */
  write_all(f, events, TM_COUNT_OF(events));
  char *text = fixture_read(f, FILE_NAME);
  assert_has(text, FRONT "started,,,clock offset -2.500000 s,,\n");
  free(text);
  assert_int_equal(offset_of(f, "process003"), -2500 * TM_MS);
  assert_int_equal(offset_of(f, "process004"), 0);
  assert_int_equal(offset_of(f, "process005"), 0);
}

static int on_row(void *data, const struct tm_life_row *row)
{
  tm_buf_printf(data, "%s %lld %s;", row->event, (long long)row->init_ns, row->detail);
  return 0;
}

static void the_time_of_init_is_read_again(void **state)
{
  struct report_fixture *f = *state;
  struct tm_event events[] = { fixture_event(f, TM_EVENT_WORKER_READY),
                               fixture_event(f, TM_EVENT_WORKER_READY),
                               fixture_event(f, TM_EVENT_WORKER_ENDED) };
  struct tm_buf found = TM_BUF_NONE;
  int64_t at = 0;
  events[1].init_ns = 2500 * TM_MS;
  events[2].text = "init() took 7.000000 s"; /* a worker may write that as its last line */
  write_all(f, events, TM_COUNT_OF(events));
  assert_int_equal(tm_life_rows_next(f->logs, &at, on_row, &found, NULL, NULL), 0);
  assert_string_equal(tm_buf_str(&found), "ready 0 ;ready 2500000000 init() took 2.500000 s;"
                                          "ended 0 init() took 7.000000 s;");
  assert_int_equal(tm_worker_lives_init_ns("ready", "init() took -1.000000 s"), 0);
  assert_int_equal(tm_worker_lives_init_ns("ready", "init() took 1e300 s"), 0);
  tm_buf_release(&found);
}

static int on_cause(void *data, const struct tm_life_row *row)
{
  tm_buf_printf(data, "%s%s ", row->died ? "died" : "-", row->was_killed ? "!" : "");
  return 0;
}

/* By its cause, not by words that a worker may have printed. */
static void who_was_asked_to_end_has_not_died(void **state)
{
  static const struct {
    enum tm_end_cause cause;
    const char *word, *found;
  } cases[] = {
    { TM_END_STOPPED, "stopped", "- " },    { TM_END_EXITED, "exited", "died " },
    { TM_END_SIGNAL, "signal", "died! " },  { TM_END_TIMEOUT, "timeout", "died! " },
    { TM_END_SHUTDOWN, "shutdown", "-! " }, { TM_END_MEMORY, "memory", "died! " },
    { TM_END_FROZEN, "frozen", "died! " },  { TM_END_KILLED, "killed", "- " },
  };
  struct report_fixture *f = *state;
  struct tm_event events[TM_COUNT_OF(cases) + 1];
  struct tm_ended ended[TM_COUNT_OF(cases)];
  struct tm_buf found = TM_BUF_NONE, expected = TM_BUF_NONE;
  int64_t at = 0;
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    ended[i] = (struct tm_ended) { .cause = cases[i].cause };
    events[i] = fixture_event(f, TM_EVENT_WORKER_ENDED);
    events[i].text = "stopped, said it";
    events[i].ended = &ended[i];
    tm_buf_add_str(&expected, cases[i].found);
  }
  events[TM_COUNT_OF(cases)] = fixture_event(f, TM_EVENT_WORKER_ENDED);
  events[TM_COUNT_OF(cases)].lived_ns = TM_S;
  events[TM_COUNT_OF(cases)].text = "lost with its node";
  tm_buf_add_str(&expected, "died ");
  write_all(f, events, TM_COUNT_OF(events));
  char *text = fixture_read(f, FILE_NAME);
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    assert_has(text, cases[i].word);
  assert_has(text, ",lost with its node,lost,\n");
  free(text);
  assert_int_equal(tm_life_rows_next(f->logs, &at, on_cause, &found, NULL, NULL), 0);
  assert_string_equal(tm_buf_str(&found), tm_buf_str(&expected));
  tm_buf_release(&found);
  tm_buf_release(&expected);
}

static int on_memory(void *data, const struct tm_life_row *row)
{
  tm_buf_printf(data, "%lld %lld;", (long long)row->max_rss_bytes, (long long)row->own_bytes);
  return 0;
}

static void the_memory_of_a_worker_is_read_again(void **state)
{
  struct report_fixture *f = *state;
  struct tm_ended ended[] = { { .max_rss_kb = 300 << 10, .own_kb = 200 << 10 },
                              { .max_rss_kb = 300 << 10 } };
  struct tm_event events[] = { fixture_event(f, TM_EVENT_WORKER_ENDED),
                               fixture_event(f, TM_EVENT_WORKER_ENDED) };
  struct tm_buf found = TM_BUF_NONE;
  int64_t at = 0;
  for (size_t i = 0; i < TM_COUNT_OF(events); i++) {
    events[i].text = "stopped";
    events[i].ended = &ended[i];
  }
  write_all(f, events, TM_COUNT_OF(events));
  assert_int_equal(tm_life_rows_next(f->logs, &at, on_memory, &found, NULL, NULL), 0);
  assert_string_equal(tm_buf_str(&found), "314572800 209715200;314572800 0;");
  tm_buf_release(&found);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(the_memory_of_a_worker_is_read_again, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(who_was_asked_to_end_has_not_died, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(the_time_of_init_is_read_again, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(the_clock_of_a_worker_is_noted, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_life_is_a_row_for_each_event, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(details_are_one_quoted_line, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_resumed_job_appends, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_file_of_an_older_version_keeps_its_columns, fixture_open,
                                    fixture_close),
});
