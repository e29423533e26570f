/* test_joblog.c - rows as GNU parallel writes them, and which rows a table of tries has. */
#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "export/joblog.h"
#include "tree.h"

static const struct tm_joblog_row good = { .mini_batch = 41,
                                           .host = "mill",
                                           .begin_wall_ns = INT64_C(1769903998123456789),
                                           .elapsed_ns = 3445999999,
                                           .bytes = 1222,
                                           .has_succeeded = true };

static void expect_row(const struct tm_joblog_row *row, const char *dir, const char *step,
                       const char *expected)
{
  struct tm_joblog_command command = tm_joblog_command(dir, step);
  struct tm_buf out = TM_BUF_NONE;
  tm_joblog_add(&out, row, &command);
  assert_string_equal(tm_buf_str(&out), expected);
  tm_buf_release(&out);
  tm_joblog_command_release(&command);
}

#define REPLAY "tidemill replay /j --mini-batch 41\n"

static void a_row_has_the_formats_of_gnu_parallel(void **state)
{
  struct tm_joblog_row row = good;
  expect_row(&row, "/j", NULL, "42\tmill\t1769903998.123\t     3.445\t0\t1222\t0\t0\t" REPLAY);
  row.begin_wall_ns = INT64_C(1769903998123500000); /* rounded */
  row.elapsed_ns = INT64_C(1234567891000000000);    /* longer than its column */
  expect_row(&row, "/j", NULL, "42\tmill\t1769903998.124\t1234567891.000\t0\t1222\t0\t0\t" REPLAY);
}

static void a_row_says_how_it_ended(void **state)
{
  struct tm_joblog_row row = good;
  row.signal = 9; /* of its last part, perhaps */
  expect_row(&row, "/j", NULL, "42\tmill\t1769903998.123\t     3.445\t0\t1222\t0\t0\t" REPLAY);
  row.has_succeeded = false;
  expect_row(&row, "/j", NULL, "42\tmill\t1769903998.123\t     3.445\t0\t1222\t1\t9\t" REPLAY);
  row.is_timeout = true;
  expect_row(&row, "/j", NULL, "42\tmill\t1769903998.123\t     3.445\t0\t1222\t-1\t9\t" REPLAY);
}

static void a_row_of_a_try_that_nobody_saw(void **state)
{
  struct tm_joblog_row row = { .mini_batch = 0, .elapsed_ns = -1 };
  expect_row(&row, "/j", NULL,
             "1\t:\t0.000\t     0.000\t0\t0\t1\t0\ttidemill replay /j --mini-batch 0\n");
}

static void commands_are_quoted_and_rows_have_one_line(void **state)
{
  struct tm_joblog_row row = good;
  row.host = "a b\tc\nd";
  expect_row(&row, "/my jobs/it's", "score it",
             "42\ta_b\\tc\\nd\t1769903998.123\t     3.445\t0\t1222\t0\t0\ttidemill replay "
             "'/my jobs/it'\\''s' --mini-batch 41 --step 'score it'\n");
  row.host = NULL;
  expect_row(&row, "/j\n\tx", NULL,
             "42\t:\t1769903998.123\t     3.445\t0\t1222\t0\t0\ttidemill replay "
             "$'/j\\012\\011x' --mini-batch 41\n");
}

/* ---- tables ---- */

static int on_text(void *data, const char *text, size_t len)
{
  tm_buf_add(data, text, len);
  return 0;
}

#define TRIES "sys/job_report/processed_mini-batches.csv"
#define LIVES "sys/job_report/workers.csv"
#define COLUMNS                                                                                    \
  "Mini-batch Id,Picked Count,Process,Process Start Time,Total,Succeeded,Failed,Elapsed Seconds,"  \
  "Process Seconds,Run Method Seconds,Status,Error Category,Error Message,Mini-batch Detail"
#define HEADER COLUMNS ",Node,Result Bytes\n"
#define MOMENT "1970-01-01T00:00:01.500000Z"

/* Only the columns Seq, Host, Receive, Exitval and Signal. */
static void add_short(struct tm_buf *out, char *line)
{
  char *field[9] = { line };
  for (size_t i = 1; i < 9; i++) {
    field[i] = strchr(field[i - 1], '\t');
    assert_non_null(field[i]);
    *field[i]++ = '\0';
  }
  tm_buf_printf(out, "%s %s %s %s/%s;", field[0], field[1], field[5], field[6], field[7]);
}

static char *rows_of(const char *tries, const char *lives)
{
  char *dir = folder_make();
  struct tm_buf text = TM_BUF_NONE, out = TM_BUF_NONE;
  struct tm_joblog_command command = tm_joblog_command("/j", NULL);
  struct tm_text_sink sink = { .write = on_text, .data = &text };
  struct tm_joblog_written written;
  int64_t found = 0;
  if (tries)
    file_put(dir, TRIES, tries, 0600);
  if (lives)
    file_put(dir, LIVES, lives, 0600);
  assert_int_equal(tm_joblog_write(dir, &command, &sink, &written, NULL), 0);
  for (char *at = text.data, *end; at && (end = strchr(at, '\n')); at = end + 1, found++) {
    *end = '\0';
    add_short(&out, at);
  }
  assert_int_equal(written.rows, found);
  tm_joblog_command_release(&command);
  tm_buf_release(&text);
  folder_remove(dir);
  return tm_buf_take(&out);
}

struct table_case {
  const char *what, *tries, *lives, *expected;
};

#define DONE(id, bytes)                                                                            \
#id ",1,process000," MOMENT ",2,2,0,0.25,0,0.2,RUN_DONE,,,dataset= count=2 manifest=16 "         \
      "first=/x,0," #bytes "\n"
#define TRIED(id, failed)                                                                          \
#id ",1,process000," MOMENT ",2,0," #failed ",0.25,0,0.2,RUN_EXCEPTION,error,no,dataset= "       \
      "count=2 manifest=16 first=/x part=1-1,0,0\n"
#define ENDED(id) TRIED(id, 2)
#define PART(id, part, status, failed, bytes)                                                      \
#id ",1,process000," MOMENT ",1,0," #failed ",0.25,0,0.2," status                                \
      ",,,dataset= count=1 part=" part " manifest=16 first=/x,0," #bytes "\n"

static const struct table_case tables[] = {
  { "no table", NULL, NULL, "" },
  { "an empty one", "", NULL, "" },
  { "no rows", HEADER, NULL, "" },
  { "in the order in which they ended", HEADER DONE(7, 5) DONE(0, 6), NULL,
    "8 : 5 0/0;1 : 6 0/0;" },
  { "not while it is tried again", HEADER TRIED(0, 0) DONE(1, 5), NULL, "2 : 5 0/0;" },
  { "failed", HEADER TRIED(0, 0) ENDED(0), NULL, "1 : 0 1/0;" },
  { "by a timeout",
    HEADER "0,1,p,,2,0,2,1,0,1,RUN_TIMEOUT,timeout,late,dataset= count=2 manifest=1 first=/,0,0\n",
    NULL, "1 : 0 -1/0;" },
  { "an unknown status counts as failed",
    HEADER "0,1,p,,2,0,2,1,0,1,RUN_NEW,new,?,dataset= count=2 manifest=1 first=/,0,0\n", NULL,
    "1 : 0 1/0;" },
  { "resumed: the last decision counts", HEADER ENDED(0) DONE(1, 5) DONE(0, 6), NULL,
    "2 : 5 0/0;1 : 6 0/0;" },
  { "done twice: a kill lost the first", HEADER DONE(0, 6) DONE(1, 5) DONE(0, 6), NULL,
    "2 : 5 0/0;1 : 6 0/0;" },
  { "parts",
    HEADER TRIED(0, 0) PART(0, "1-1", "RUN_DONE", 0, 3) DONE(1, 5)
        PART(0, "2-2", "RUN_EXCEPTION", 1, 0),
    NULL, "2 : 5 0/0;1 : 3 0/0;" },
  { "parts that are not over", HEADER TRIED(0, 0) PART(0, "1-1", "RUN_DONE", 0, 3), NULL, "" },
  { "an init() that failed", HEADER ",0,p,,,0,0,1,0,0,INIT_EXCEPTION,error,no,,0,0\n", NULL, "" },
  { "the addresses of nodes", HEADER DONE(0, 6),
    "Utc Time,Process,Node,Node Address,Pid,Event,Seconds,Max Rss (MB),Detail\n"
    ","
    "process000,1,other,1,started,,,\n,process000,0,mill,1,started,,,\n",
    "1 mill 6 0/0;" },
  { "an older table", COLUMNS "\n0,1,p,,2,2,0,1,0,1,RUN_DONE,,,dataset= count=2 first=/\n", NULL,
    "1 : 0 0/0;" },
  { "without a column that matters", "Mini-batch Id,Total,Failed\n0,2,0\n", NULL, "" },
  { "the signal that killed its worker",
    COLUMNS ",Node,Result Bytes,Signal\n0,1,p,,2,0,2,1,0,1,PROCESS_DIED,lost,killed,dataset= "
            "count=2 manifest=1 first=/,0,0,9\n",
    NULL, "1 : 0 1/9;" },
  { "rows cut in the middle", HEADER "0,1,process000,19" DONE(3, 4) DONE(2, 6) "5,1,proc", NULL,
    "3 : 6 0/0;" },
  { "numbers far apart",
    HEADER DONE(9223372036854775807, 1) DONE(4611686018427387904, 2) DONE(0, 3), NULL,
    "9223372036854775807 : 1 0/0;4611686018427387905 : 2 0/0;1 : 3 0/0;" },
};

static void a_table_has_a_row_for_each_outcome(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(tables); i++) {
    char *found = rows_of(tables[i].tries, tables[i].lives);
    if (strcmp(found, tables[i].expected) != 0)
      fail_msg("%s: '%s' instead of '%s'", tables[i].what, found, tables[i].expected);
    free(found);
  }
}

static int stop(void *data, const char *text, size_t len)
{
  ++*(int *)data;
  return 141;
}

static void a_reader_that_is_gone_ends_it(void **state)
{
  char *dir = folder_make();
  struct tm_buf text = TM_BUF_NONE;
  struct tm_joblog_command command = tm_joblog_command("/j", NULL);
  int calls = 0;
  struct tm_joblog_written written;
  tm_buf_add_str(&text, HEADER);
  for (int i = 0; i < 3000; i++) /* more than two pieces */
    tm_buf_printf(&text, "%d,1,p," MOMENT ",1,1,0,0,0,0,RUN_DONE,,,,0,1\n", i);
  file_put(dir, TRIES, text.data, 0600);
  assert_int_equal(
      tm_joblog_write(dir, &command, &(struct tm_text_sink) { stop, &calls }, &written, NULL), 141);
  assert_int_equal(calls, 1);
  tm_joblog_command_release(&command);
  tm_buf_release(&text);
  folder_remove(dir);
}

UNIT_TESTS({
    cmocka_unit_test(a_row_has_the_formats_of_gnu_parallel),
    cmocka_unit_test(a_row_says_how_it_ended),
    cmocka_unit_test(a_row_of_a_try_that_nobody_saw),
    cmocka_unit_test(commands_are_quoted_and_rows_have_one_line),
    cmocka_unit_test(a_table_has_a_row_for_each_outcome),
    cmocka_unit_test(a_reader_that_is_gone_ends_it),
});
