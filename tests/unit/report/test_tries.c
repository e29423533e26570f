/* test_tries.c - processed_mini-batches.csv: its columns, its quotes, one header, few writes. */
#include "unit.h"

#include "report_fixture.h"

#include "report/tries.h"
#include "tree.h"

#define COLUMNS                                                                                    \
  "Mini-batch Id,Picked Count,Process,Process Start Time,Total,Succeeded,Failed,Elapsed Seconds,"  \
  "Process Seconds,Run Method Seconds,Status,Error Category,Error Message,Mini-batch Detail"
#define HEADER    COLUMNS ",Node,Result Bytes,Signal,Script Line,Error Item\n"
#define FILE_NAME "logs/sys/job_report/processed_mini-batches.csv"

static void add(struct tm_tries *t, const struct report_fixture *f)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  assert_int_equal(tm_tries_add(t, &e, &err), 0);
}

static void a_row_for_each_try(void **state)
{
  struct report_fixture *f = *state;
  struct tm_tries t;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_tries_open(&t, tm_fs_real(), f->logs, &err), 0);
  f->attempt.bytes = 4096;
  add(&t, f);
  f->attempt.begin_wall_ns += 2 * TM_S - 123456000; /* a different second, and a different day */
  f->attempt.picked = 2;
  f->attempt.succeeded = 3;
  f->attempt.failed = 2;
  add(&t, f);
  f->attempt.part_first = 996;
  add(&t, f);
  f->attempt.first_item = "store=north";
  f->attempt.first_item_len = 11;
  f->attempt.has_keys = true;
  add(&t, f);
  assert_int_equal(tm_tries_close(&t, &err), 0);
  char *text = fixture_read(f, FILE_NAME);
  assert_string_equal(
      text, HEADER
      "7,1,process003,2026-01-31T23:59:58.123456Z,5,5,0,1.234567,0.000999,1.200000,RUN_DONE,,,"
      "dataset=images count=5 manifest=4096 first=/data/a.pgm,0,4096,,,\n"
      "7,2,process003,2026-02-01T00:00:00.000000Z,5,3,2,1.234567,0.000999,1.200000,RUN_DONE,,,"
      "dataset=images count=5 manifest=4096 first=/data/a.pgm,0,4096,,,\n"
      "7,2,process003,2026-02-01T00:00:00.000000Z,5,3,2,1.234567,0.000999,1.200000,RUN_DONE,,,"
      "dataset=images count=5 part=996-1000 manifest=4096 first=/data/a.pgm,0,4096,,,\n"
      "7,2,process003,2026-02-01T00:00:00.000000Z,5,3,2,1.234567,0.000999,1.200000,RUN_DONE,,,"
      "dataset=images count=5 part=996-1000 manifest=4096 keys=store=north,0,4096,,,\n");
  free(text);
}

static void messages_and_paths_are_quoted(void **state)
{
  struct report_fixture *f = *state;
  struct tm_tries t;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_tries_open(&t, tm_fs_real(), f->logs, &err), 0);
  f->attempt.status = TM_RUN_EXCEPTION;
  f->attempt.message = "score.lua:3: bad \"x\",\nand more";
  f->attempt.first_item = "/a,b\n\"c\"";
  f->attempt.first_item_len = 8;
  f->attempt.begin_wall_ns = 0; /* the worker died without a message */
  f->attempt.script_where = "score.lua:3";
  add(&t, f);
  f->attempt.named_item = "/a/d.pgm";
  add(&t, f);
  f->attempt.items = 1;
  add(&t, f);
  assert_int_equal(tm_tries_close(&t, &err), 0);
  char *text = fixture_read(f, FILE_NAME);
  assert_string_equal(
      text, HEADER
      "7,1,process003,,5,5,0,1.234567,0.000999,1.200000,RUN_EXCEPTION,error,"
      "\"score.lua:3: bad \"\"x\"\",\\nand more\","
      "\"dataset=images count=5 manifest=4096 first=/a,b\\n\"\"c\"\"\",0,0,,score.lua:3,\n"
      "7,1,process003,,5,5,0,1.234567,0.000999,1.200000,RUN_EXCEPTION,error,"
      "\"score.lua:3: bad \"\"x\"\",\\nand more\","
      "\"dataset=images count=5 manifest=4096 first=/a,b\\n\"\"c\"\"\",0,0,,score.lua:3,/a/d.pgm\n"
      "7,1,process003,,1,5,0,1.234567,0.000999,1.200000,RUN_EXCEPTION,error,"
      "\"score.lua:3: bad \"\"x\"\",\\nand more\","
      "\"dataset=images count=1 manifest=4096 "
      "first=/a,b\\n\"\"c\"\"\",0,0,,score.lua:3,\"/a,b\\n\"\"c\"\"\"\n");
  free(text);
}

static void every_status_has_its_category(void **state)
{
  assert_string_equal(tm_tries_category(TM_RUN_DONE), "");
  assert_string_equal(tm_tries_category(TM_RUN_WRONG_RETURN), "error");
  assert_string_equal(tm_tries_category(TM_LOAD_EXCEPTION), "error");
  assert_string_equal(tm_tries_category(TM_RUN_TIMEOUT), "timeout");
  assert_string_equal(tm_tries_category(TM_PROCESS_DIED), "lost");
  assert_string_equal(tm_tries_category(TM_CANCELED), "canceled");
}

static void the_header_is_written_once(void **state)
{
  struct report_fixture *f = *state;
  struct tm_tries t;
  struct tm_err err = TM_ERR_NONE;
  for (int session = 0; session < 3; session++) {
    assert_int_equal(tm_tries_open(&t, tm_fs_real(), f->logs, &err), 0);
    add(&t, f);
    assert_int_equal(tm_tries_close(&t, &err), 0);
  }
  char *text = fixture_read(f, FILE_NAME);
  assert_int_equal(count_of(text, "Mini-batch Id"), 1);
  assert_int_equal(count_of(text, "\n7,1,"), 3);
  free(text);
}

#define ROW                                                                                        \
  "7,1,process003,2026-01-31T23:59:58.123456Z,5,0,0,1.234567,0.000999,1.200000,PROCESS_DIED,lost," \
  ",dataset=images count=5 manifest=4096 first=/data/a.pgm"

static void expect_columns_kept(struct report_fixture *f, const char *file, const char *rest)
{
  struct tm_tries t;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf expected = TM_BUF_NONE;
  file_put(f->dir, FILE_NAME, file, 0600);
  assert_int_equal(tm_tries_open(&t, tm_fs_real(), f->logs, &err), 0);
  add(&t, f);
  assert_int_equal(tm_tries_close(&t, &err), 0);
  char *text = fixture_read(f, FILE_NAME);
  tm_buf_printf(&expected, "%s" ROW "%s", file, rest);
  assert_string_equal(text, expected.data);
  tm_buf_release(&expected);
  free(text);
}

/* A job that an older version began. */
static void a_file_keeps_its_columns(void **state)
{
  struct report_fixture *f = *state;
  f->attempt.status = TM_PROCESS_DIED;
  f->attempt.succeeded = 0;
  f->attempt.signal = 9;
  expect_columns_kept(f, COLUMNS "\n", "\n");
  expect_columns_kept(f, COLUMNS ",Node,Result Bytes\n", ",0,0\n");
  expect_columns_kept(f, HEADER, ",0,0,9,,\n");
  expect_columns_kept(f, "another line\n", ",0,0,9,,\n");
}

static void much_is_written_in_large_pieces(void **state)
{
  struct report_fixture *f = *state;
  struct full_disk disk;
  struct tm_tries t;
  struct tm_err err = TM_ERR_NONE;
  full_disk_init(&disk, 1000);
  assert_int_equal(tm_tries_open(&t, &disk.fs, f->logs, &err), 0);
  for (int i = 0; i < 2000; i++) {
    f->attempt.index = (uint64_t)i;
    add(&t, f);
  }
  assert_int_equal(tm_tries_close(&t, &err), 0);
  char *text = fixture_read(f, FILE_NAME);
  assert_int_equal(count_of(text, "\n"), 2001);
  assert_has(text, "\n1999,1,");
  assert_true(1000 - disk.writes <= (int)(strlen(text) / TM_LOG_FLUSH_BYTES) + 1);
  free(text);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(a_row_for_each_try, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(messages_and_paths_are_quoted, fixture_open, fixture_close),
    cmocka_unit_test(every_status_has_its_category),
    cmocka_unit_test_setup_teardown(the_header_is_written_once, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_file_keeps_its_columns, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(much_is_written_in_large_pieces, fixture_open, fixture_close),
});
