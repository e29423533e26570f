/* test_errors.c - distinct errors: which errors count as one, how many are kept, and what the file
 * says and when. */
#include "unit.h"

#include "report_fixture.h"

#include "report/errors.h"

#define FILE_NAME "logs/user/error.txt"

static bool add(struct tm_errors *s, struct report_fixture *f, enum tm_status status,
                const char *message, const char *where)
{
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  f->attempt.status = status;
  f->attempt.message = message;
  f->attempt.script_where = where;
  return tm_errors_add(s, &e);
}

static void equal_ones_are_counted(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  tm_errors_init(&s, tm_fs_real(), f->logs);
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "bad 7", "s.lua:3"));
  f->attempt.index = 9;
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "bad 7", "s.lua:3"));
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "bad 8", "s.lua:3"));
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "bad 7", "s.lua:4"));
  assert_true(add(&s, f, TM_RUN_TIMEOUT, "bad 7", "s.lua:3"));
  assert_int_equal(s.list.len, 3);
  assert_int_equal(s.list.at[0].count, 3);
  assert_string_equal(s.list.at[0].pattern, "bad <n>");
  assert_true(s.list.at[0].is_mixed);
  assert_false(s.list.at[1].is_mixed);
  assert_int_equal(s.list.at[0].index, 7);
  assert_int_equal(s.count, 5);
  tm_errors_release(&s);
}

static void deaths_that_differ_in_time_are_one(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  tm_errors_init(&s, tm_fs_real(), f->logs);
  assert_true(add(&s, f, TM_PROCESS_DIED, "exited with status 7 in run() after 0.00 s", ""));
  assert_false(add(&s, f, TM_PROCESS_DIED, "exited with status 7 in run() after 2 min 3 s", ""));
  assert_true(add(&s, f, TM_PROCESS_DIED, "exited with status 8 in run() after 0.00 s", ""));
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "gave up after 3 tries", "s.lua:3"));
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "gave up after 4 tries", "s.lua:3"));
  tm_errors_release(&s);
}

static void workers_and_numbers_do_not_make_a_difference(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  tm_errors_init(&s, tm_fs_real(), f->logs);
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "no image: /tmp/t-process003/1/b.png", "s.lua:3"));
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "no image: /tmp/t-process004/27/b.png", "s.lua:3"));
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "no image: /tmp/t-process004/27/c.png", "s.lua:3"));
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "no image: /tmp/t-process004/27/c.png", "s.lua:3"));
  tm_errors_release(&s);
}

static struct tm_event moved(struct report_fixture *f, int64_t wall_ns, const char *worker)
{
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  e.wall_ns = wall_ns;
  e.worker = worker;
  return e;
}

static void a_group_has_a_pattern_a_time_span_and_workers(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  struct tm_buf text = TM_BUF_NONE;
  char worker[16];
  f->attempt.status = TM_RUN_EXCEPTION;
  f->attempt.script_where = "";
  tm_errors_init(&s, tm_fs_real(), f->logs);
  for (int i = 0; i < 3; i++) {
    char message[32];
    snprintf(message, sizeof message, "no 'key%d' in row %d", i, i);
    snprintf(worker, sizeof worker, "process%03d", i % 2);
    struct tm_event e = moved(f, FIXTURE_WALL + i * TM_S, worker);
    f->attempt.message = message;
    assert_int_equal(tm_errors_add(&s, &e), i == 0);
  }
  tm_error_add_text(&text, &s.list.at[0], 0, 0);
  assert_has(text.data, "3 times: no 'key0' in row 0\n"
                        "  pattern: no '...' in row <n>\n"
                        "  2026-01-31 23:59:58,123 to 2026-02-01 00:00:00,123, at process000 and "
                        "process001\n"
                        "  first: mini-batch 7 (RUN_EXCEPTION) at process000, ");
  tm_buf_clear(&text);
  tm_error_add_text(&text, &s.list.at[0], 0, 5); /* on the screen */
  assert_has(text.data, "  pattern: no '...' in row <n>\n  first: ");
  for (int i = 0; i < 20; i++) {
    snprintf(worker, sizeof worker, "process%03d", i);
    struct tm_event e = moved(f, FIXTURE_WALL - TM_S, worker); /* the clock was set back */
    f->attempt.message = "no 'key' in row 7";
    assert_false(tm_errors_add(&s, &e));
  }
  tm_buf_clear(&text);
  tm_error_add_text(&text, &s.list.at[0], 0, 0);
  assert_has(text.data, ", process006, process007 and others\n");
  assert_true(s.list.at[0].last_ns >= s.list.at[0].first_ns);
  tm_buf_release(&text);
  tm_errors_release(&s);
}

static void an_item_that_is_not_known_is_one_of_several(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  tm_errors_init(&s, tm_fs_real(), f->logs);
  f->attempt.items = 4;
  add(&s, f, TM_RUN_EXCEPTION, "cannot parse /data/c.pgm", "s.lua:3");
  assert_string_equal(s.list.at[0].item, "/data/a.pgm");
  assert_int_equal(s.list.at[0].items, 4);
  f->attempt.named_item = "/data/d.pgm";
  add(&s, f, TM_RUN_EXCEPTION, "cannot parse /data/d.pgm", "s.lua:3");
  assert_string_equal(s.list.at[1].item, "/data/d.pgm");
  assert_int_equal(s.list.at[1].items, 1);
  f->attempt.named_item = NULL;
  f->attempt.items = 1;
  add(&s, f, TM_RUN_EXCEPTION, "cannot parse", "s.lua:3");
  assert_int_equal(s.list.at[2].items, 1);
  tm_errors_release(&s);
}

static void a_found_item_is_named_in_place_of_its_mini_batch(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  tm_errors_init(&s, tm_fs_real(), f->logs);
  f->attempt.items = 100;
  add(&s, f, TM_RUN_EXCEPTION, "bad file /data/c.pgm", "s.lua:3");
  f->attempt.items = 1;
  f->attempt.part_first = 42;
  f->attempt.first_item = "/data/c.pgm";
  f->attempt.first_item_len = strlen("/data/c.pgm");
  f->attempt.failed = 1;
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "bad file /data/c.pgm", "s.lua:3"));
  assert_string_equal(s.list.at[0].item, "/data/c.pgm");
  assert_int_equal(s.list.at[0].items, 1);
  assert_int_equal(s.list.at[0].count, 2);
  assert_int_equal(s.list.at[0].failed, 1);
  f->attempt.index++; /* an item of another mini-batch is not the first */
  f->attempt.first_item = "/data/d.pgm";
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "bad file /data/d.pgm", "s.lua:3"));
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "bad file /data/c.pgm", "s.lua:3"));
  assert_string_equal(s.list.at[0].item, "/data/c.pgm");
  tm_errors_release(&s);
}

static void a_long_line_is_cut_where_lines_are(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  struct tm_buf text = TM_BUF_NONE;
  char message[3000];
  memset(message, 'x', sizeof(message));
  message[sizeof(message) - 1] = 0;
  tm_errors_init(&s, tm_fs_real(), f->logs);
  add(&s, f, TM_RUN_EXCEPTION, message, "s.lua:3");
  tm_error_add_text(&text, &s.list.at[0], 0, 0);
  assert_has(text.data, message);
  tm_buf_clear(&text);
  tm_error_add_text(&text, &s.list.at[0], 0, 4);
  assert_has(text.data, "xxx...\n");
  assert_true(text.len < 1000);
  tm_buf_release(&text);
  tm_errors_release(&s);
}

static void an_error_names_the_command_that_runs_it_again(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  struct tm_buf text = TM_BUF_NONE;
  tm_errors_init(&s, tm_fs_real(), f->logs);
  add(&s, f, TM_RUN_EXCEPTION, "without a job", "s.lua:3");
  tm_errors_set_job(&s, "/a job", NULL);
  add(&s, f, TM_RUN_EXCEPTION, "of one step", "s.lua:3");
  tm_errors_set_job(&s, "/job", "score");
  add(&s, f, TM_RUN_EXCEPTION, "of several", "s.lua:3");
  tm_error_add_text(&text, &s.list.at[0], 0, 0);
  assert_null(strstr(text.data, "again:"));
  tm_error_add_text(&text, &s.list.at[1], 0, 0);
  assert_has(text.data, "again: tidemill replay '/a job' --mini-batch ");
  tm_error_add_text(&text, &s.list.at[2], 0, 0);
  assert_has(text.data, "again: tidemill replay /job --step score --mini-batch ");
  tm_buf_release(&text);
  tm_errors_release(&s);
}

static void an_error_without_a_line_counts_as_one_that_has_a_line(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  tm_errors_init(&s, tm_fs_real(), f->logs);
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "stack overflow", "s.lua:1"));
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "stack overflow", ""));
  assert_int_equal(s.list.at[0].count, 2);
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "no memory", ""));
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "stack overflow", "s.lua:2"));
  assert_true(add(&s, f, TM_PROCESS_DIED, "stack overflow", ""));
  assert_int_equal(s.list.len, 4);
  tm_errors_release(&s);
}

static void an_error_without_a_line_may_come_first(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  tm_errors_init(&s, tm_fs_real(), f->logs);
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "stack overflow", ""));
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "stack overflow", ""));
  for (int i = 0; i < 2; i++)
    assert_false(add(&s, f, TM_RUN_EXCEPTION, "stack overflow", "s.lua:1"));
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "stack overflow", ""));
  assert_int_equal(s.list.len, 1);
  assert_int_equal(s.list.at[0].count, 5);
  assert_string_equal(s.list.at[0].where, "s.lua:1");
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "stack overflow", "s.lua:2"));
  assert_int_equal(s.list.len, 2);
  tm_errors_release(&s);
}

static void an_error_of_shutdown_has_no_mini_batch(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_event e = fixture_event(f, TM_EVENT_SHUTDOWN_FAILED);
  tm_errors_init(&s, tm_fs_real(), f->logs);
  tm_errors_set_job(&s, "/job", NULL);
  e.message = "no model";
  assert_true(tm_errors_add(&s, &e));
  assert_false(tm_errors_add(&s, &e));
  e.kind = TM_EVENT_INIT_FAILED;
  assert_true(tm_errors_add(&s, &e)); /* another error */
  tm_error_add_text(&text, &s.list.at[0], 0, 0);
  assert_has(text.data, "2 times: no model\n  first: shutdown() at process003\n");
  assert_null(strstr(text.data, "again:"));
  tm_buf_release(&text);
  tm_errors_release(&s);
}

static void the_file_tells_the_first_of_each(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  struct tm_err err = TM_ERR_NONE;
  struct tm_event e = fixture_event(f, TM_EVENT_INIT_FAILED);
  tm_errors_init(&s, tm_fs_real(), f->logs);
  add(&s, f, TM_RUN_EXCEPTION, "s.lua:3: bad\nsecond line", "s.lua:3");
  add(&s, f, TM_RUN_TIMEOUT, "too long", "s.lua:9");
  e.message = "no model";
  assert_true(tm_errors_add(&s, &e));
  assert_int_equal(tm_errors_write(&s, FIXTURE_WALL, f->now_ns, true, &err), 0);
  char *text = fixture_read(f, FILE_NAME);
  assert_has(text, "3 errors, 3 distinct; until 2026-01-31 23:59:58,123\n");
  assert_has(
      text, "1 time: s.lua:3: bad\n  second line\n"
            "  first: mini-batch 7 (RUN_EXCEPTION) at process003, /data/a.pgm and 4 more\n  log: ");
  assert_has(text, "logs/user/error/0/process003.txt\n");
  assert_has(text, "1 time: s.lua:9: too long\n");
  assert_has(text, "1 time: no model\n  first: init() at process003\n");
  free(text);
  tm_errors_release(&s);
}

static void a_reason_that_names_its_item_is_one_for_all_items(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  char item[32], message[64];
  tm_errors_init(&s, tm_fs_real(), f->logs);
  for (int i = 0; i < 5; i++) {
    snprintf(item, sizeof(item), "/data/%d.csv.gz", i);
    snprintf(message, sizeof(message), "'%s': %s", item, i < 4 ? "it ends early" : "no such file");
    struct tm_item_cause cause = { .message = message,
                                   .detail = "",
                                   .first_item = item,
                                   .first_item_len = strlen(item),
                                   .items = 1 };
    assert_int_equal(tm_errors_add_cause(&s, &e, &cause), i == 0 || i == 4);
  }
  assert_int_equal(s.list.len, 2);
  assert_int_equal(s.list.at[0].count, 4);
  assert_string_equal(s.list.at[0].message, "'/data/0.csv.gz': it ends early");
  tm_errors_release(&s);
}

static void an_item_may_be_named_by_the_end_of_its_path(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  char item[64], message[96];
  tm_errors_init(&s, tm_fs_real(), f->logs);
  for (int i = 0; i < 3; i++) {
    snprintf(item, sizeof(item), "/data/a.zip/in/f%d.txt", i);
    snprintf(message, sizeof(message), "cannot read 'in/f%d.txt' of '/data/a.zip': encrypted", i);
    struct tm_item_cause cause = { message, "", item, strlen(item), 1 };
    assert_int_equal(tm_errors_add_cause(&s, &e, &cause), i == 0);
  }
  const struct tm_item_cause longer = { "bad af1.txt", "", "/data/f1.txt", 12, 1 };
  const struct tm_item_cause other = { "bad bf1.txt", "", "/data/f1.txt", 12, 1 };
  assert_true(tm_errors_add_cause(&s, &e, &longer)); /* another name, which ends alike */
  assert_true(tm_errors_add_cause(&s, &e, &other));
  tm_errors_release(&s);
  tm_errors_init(&s, tm_fs_real(), f->logs);
  f->attempt.items = 1;
  for (int i = 0; i < 3; i++) {
    snprintf(item, sizeof(item), "/data/in/f%d.txt", i);
    snprintf(message, sizeof(message), "bad file in/f%d.txt", i);
    f->attempt.first_item = item;
    f->attempt.first_item_len = strlen(item);
    assert_int_equal(add(&s, f, TM_RUN_EXCEPTION, message, "s.lua:3"), i == 0);
  }
  assert_int_equal(s.list.at[0].count, 3);
  for (int i = 0; i < 3; i++) { /* a number is about anything */
    snprintf(item, sizeof(item), "/data/in/%d", i);
    f->attempt.first_item = item;
    f->attempt.first_item_len = strlen(item);
    assert_int_equal(add(&s, f, TM_RUN_EXCEPTION, "element 1 is a function", "s.lua:3"), i == 0);
  }
  tm_errors_release(&s);
}

/* A search for each end of the path would take minutes for each of them. */
static void long_names_in_long_messages_are_found(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  enum { PATH = 4000, LONG = 1000000 };
  char *item = tm_xmalloc(PATH + 1), *message = tm_xmalloc(LONG + 1);
  for (int i = 0; i < LONG; i++)
    message[i] = i % 2 ? ':' : 'a';
  for (int i = 0; i < PATH; i++)
    item[i] = i % 2 ? 'a' : ':';
  message[LONG] = item[PATH] = '\0';
  tm_errors_init(&s, tm_fs_real(), f->logs);
  f->attempt.items = 1;
  f->attempt.first_item = item;
  f->attempt.first_item_len = PATH;
  for (int i = 0; i < 20; i++)
    assert_int_equal(add(&s, f, TM_RUN_EXCEPTION, message, "s.lua:3"), i == 0);
  tm_errors_release(&s);
  free(message);
  free(item);
}

static void why_items_failed_is_counted_in_items(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  struct tm_err err = TM_ERR_NONE;
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  const struct tm_item_cause dark = { "too dark", "", "/data/b.pgm", 11, 2 };
  const struct tm_item_cause few = { "too few", "1 element for 5 items", NULL, 0, 4 };
  tm_errors_init(&s, tm_fs_real(), f->logs);
  tm_errors_set_job(&s, "/job", NULL);
  assert_true(tm_errors_add_cause(&s, &e, &dark));
  assert_false(tm_errors_add_cause(&s, &e, &dark));
  assert_true(tm_errors_add_cause(&s, &e, &few));
  assert_true(add(&s, f, TM_RUN_EXCEPTION, "too dark", "")); /* a different error: the try failed */
  f->attempt.failed = 5;
  assert_false(add(&s, f, TM_RUN_EXCEPTION, "too dark", ""));
  assert_int_equal(s.list.at[2].failed, 5);
  assert_int_equal(tm_errors_write(&s, FIXTURE_WALL, f->now_ns, true, &err), 0);
  char *text = fixture_read(f, FILE_NAME);
  assert_has(text, "2 errors of tries, 8 items that failed although run() returned, 3 distinct; ");
  assert_has(text, "4 items: too dark\n  first: mini-batch 7 at process003, /data/b.pgm\n  list: ");
  assert_has(text, "/failed_items.jsonl\n  again: tidemill replay /job --mini-batch 7\n");
  assert_has(text, "4 items: too few\n  first: mini-batch 7 (1 element for 5 items) at "
                   "process003, /data/a.pgm and 4 more\n");
  assert_has(text, "2 times: too dark\n  first: mini-batch 7 (RUN_EXCEPTION) at process003, "
                   "/data/a.pgm and 4 more\n");
  free(text);
  tm_errors_release(&s);
}

static void rows_are_named_by_their_file_and_number(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  struct tm_buf text = TM_BUF_NONE;
  tm_errors_init(&s, tm_fs_real(), f->logs);
  f->attempt.are_rows = true;
  add(&s, f, TM_RUN_EXCEPTION, "bad", "s.lua:3");
  tm_error_add_first(&text, &s.list.at[0]);
  assert_string_equal(text.data,
                      "first: mini-batch 7 (RUN_EXCEPTION) at process003, /data/a.pgm, 5 rows");
  tm_buf_release(&text);
  tm_errors_release(&s);
}

static void only_so_many_are_kept_apart(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  struct tm_err err = TM_ERR_NONE;
  char message[32];
  tm_errors_init(&s, tm_fs_real(), f->logs);
  for (int i = 0; i < TM_ERRORS_MAX + 5; i++) {
    snprintf(message, sizeof(message), "s.lua:%d", i);
    add(&s, f, TM_RUN_EXCEPTION, "bad", message);
  }
  assert_false(
      add(&s, f, TM_RUN_EXCEPTION, "bad", "s.lua:3")); /* the count of kept errors continues */
  assert_int_equal(s.list.len, TM_ERRORS_MAX);
  assert_int_equal(s.list.at[3].count, 2);
  assert_int_equal(s.others, 5);
  assert_int_equal(tm_errors_write(&s, FIXTURE_WALL, f->now_ns, true, &err), 0);
  char *text = fixture_read(f, FILE_NAME);
  assert_has(text, "1,006 errors, 1,000 or more distinct");
  assert_has(text, "5 times: others, which came after the first 1000\n");
  free(text);
  tm_errors_release(&s);
}

static void a_long_message_is_cut_between_characters(void **state)
{
  struct report_fixture *f = *state;
  struct tm_errors s;
  char *message = tm_xmalloc(9001);
  for (int i = 0; i < 9000; i += 3)
    memcpy(message + i, "\xE2\x82\xAC", 3);
  message[9000] = '\0';
  tm_errors_init(&s, tm_fs_real(), f->logs);
  add(&s, f, TM_RUN_EXCEPTION, message, "");
  assert_int_equal(strlen(s.list.at[0].message), 3999 + 3);
  assert_string_equal(s.list.at[0].message + 3996, "\xE2\x82\xAC...");
  tm_errors_release(&s);
  free(message);
}

static void written_at_most_once_a_second(void **state)
{
  struct report_fixture *f = *state;
  struct full_disk disk;
  struct tm_errors s;
  struct tm_err err = TM_ERR_NONE;
  full_disk_init(&disk, 100);
  tm_errors_init(&s, &disk.fs, f->logs);
  assert_int_equal(tm_errors_write(&s, 0, f->now_ns, true, &err), 0);
  assert_null(fixture_read(f, FILE_NAME)); /* nothing to report */
  for (int i = 0; i < 100; i++) {          /* ten seconds */
    add(&s, f, TM_RUN_EXCEPTION, "bad", "");
    f->now_ns += TM_S / 10;
    assert_int_equal(tm_errors_write(&s, 0, f->now_ns, false, &err), 0);
  }
  assert_in_range(100 - disk.writes, 9, 11);
  tm_errors_release(&s);
}

static void a_full_disk_is_reported_once(void **state)
{
  struct report_fixture *f = *state;
  struct full_disk disk;
  struct tm_errors s;
  struct tm_err err = TM_ERR_NONE;
  full_disk_init(&disk, 0);
  tm_errors_init(&s, &disk.fs, f->logs);
  add(&s, f, TM_RUN_EXCEPTION, "bad", "");
  assert_int_equal(tm_errors_write(&s, 0, f->now_ns, true, &err), -ENOSPC);
  add(&s, f, TM_RUN_EXCEPTION, "bad", "");
  assert_int_equal(tm_errors_write(&s, 0, f->now_ns, true, &err), 0);
  tm_errors_release(&s);
}

static void lines_of_earlier_sessions_stay(void **state)
{
  struct report_fixture *f = *state;
  struct tm_err err = TM_ERR_NONE;
  for (int session = 0; session < 2; session++) {
    struct tm_errors s;
    tm_errors_init(&s, tm_fs_real(), f->logs);
    add(&s, f, TM_RUN_EXCEPTION, session == 0 ? "of yesterday" : "of today", "");
    assert_int_equal(tm_errors_write(&s, 0, f->now_ns, true, &err), 0);
    tm_errors_release(&s);
  }
  char *text = fixture_read(f, FILE_NAME);
  assert_has(text, "of today");
  assert_has(strstr(text, "earlier sessions"), "of yesterday");
  free(text);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(equal_ones_are_counted, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(deaths_that_differ_in_time_are_one, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(a_long_line_is_cut_where_lines_are, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(an_error_names_the_command_that_runs_it_again, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(an_error_without_a_line_may_come_first, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(an_error_without_a_line_counts_as_one_that_has_a_line,
                                    fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(an_error_of_shutdown_has_no_mini_batch, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(the_file_tells_the_first_of_each, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(an_item_may_be_named_by_the_end_of_its_path, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(long_names_in_long_messages_are_found, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(a_reason_that_names_its_item_is_one_for_all_items, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(why_items_failed_is_counted_in_items, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(rows_are_named_by_their_file_and_number, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(only_so_many_are_kept_apart, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_long_message_is_cut_between_characters, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(workers_and_numbers_do_not_make_a_difference, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(a_group_has_a_pattern_a_time_span_and_workers, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(an_item_that_is_not_known_is_one_of_several, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(a_found_item_is_named_in_place_of_its_mini_batch, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(written_at_most_once_a_second, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_full_disk_is_reported_once, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(lines_of_earlier_sessions_stay, fixture_open, fixture_close),
});
