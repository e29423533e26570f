/* test_try_rows.c - the rows of one mini-batch, from a table of many. */
#include "unit.h"

#include "report/try_rows.h"
#include "tree.h"

static void on_row(void *data, const struct tm_try_row *row)
{
  tm_buf_printf(data, "%lld %s %s <%s> <%s> %lld %lld;", (long long)row->picked, row->process,
                row->status, row->message, row->detail, (long long)row->begin_wall_ns,
                (long long)row->elapsed_ns);
}

static void on_place(void *data, const struct tm_try_row *row)
{
  tm_buf_printf(data, "node %s, %lld bytes, signal %lld, <%s>;", row->node, (long long)row->bytes,
                (long long)row->signal, row->detail);
}

static void expect(const char *text, int64_t mini_batch, int64_t rows, const char *expected)
{
  char *dir = folder_make();
  struct tm_buf found = TM_BUF_NONE;
  if (text)
    file_put(dir, "sys/job_report/processed_mini-batches.csv", text, 0600);
  assert_int_equal(tm_try_rows_read(dir, mini_batch, on_row, &found, NULL), rows);
  assert_string_equal(tm_buf_str(&found), expected);
  tm_buf_release(&found);
  folder_remove(dir);
}

#define COLUMNS                                                                                    \
  "Mini-batch Id,Picked Count,Process,Process Start Time,Total,Succeeded,Failed,Elapsed Seconds,"  \
  "Process Seconds,Run Method Seconds,Status,Error Category,Error Message,Mini-batch Detail"
#define HEADER COLUMNS "\n"
#define FIRST                                                                                      \
  "17,1,process000,1970-01-01T00:00:01.500000Z,2,0,0,0.250000,0.1,0.2,RUN_EXCEPTION,error,\"a, "   \
  "\"\"b\"\"\",first=/x\n"
#define SECOND "17,2,,,2,2,0,0.000000,0.000000,0.000000,CANCELED,canceled,,first=/x\n"

static void rows_of_one_mini_batch_are_found(void **state)
{
  expect(HEADER "1,1,x,,1,1,0,0,0,0,RUN_DONE,,,\n" FIRST
                "170,1,x,,1,1,0,0,0,0,RUN_DONE,,,\n" SECOND,
         17, 2,
         "1 process000 RUN_EXCEPTION <a, \"b\"> <first=/x> 1500000000 250000000;"
         "2  CANCELED <> <first=/x> 0 0;");
  expect(HEADER FIRST, 1, 0, "");
}

static int on_words(void *data, const struct tm_try_row *row)
{
  tm_buf_printf(data, "%zu %zu %zu %zu", strlen(row->process), strlen(row->node),
                strlen(row->status), strlen(row->category));
  return 0;
}

/* Of a damaged table: memory is kept for each of them. */
static void names_and_words_that_are_too_long_are_cut(void **state)
{
  char *dir = folder_make(), word[400] = "";
  struct tm_buf text = TM_BUF_NONE, found = TM_BUF_NONE;
  int64_t at = 0;
  memset(word, 'w', sizeof(word) - 1);
  tm_buf_printf(&text, COLUMNS ",Node\n1,1,%s,,1,1,0,0,0,0,%s,%s,,,%s\n", word, word, word, word);
  file_put(dir, "sys/job_report/processed_mini-batches.csv", tm_buf_str(&text), 0600);
  assert_int_equal(tm_try_rows_next(dir, &at, on_words, &found, NULL, NULL), 0);
  assert_string_equal(tm_buf_str(&found), "255 255 255 255");
  tm_buf_release(&text);
  tm_buf_release(&found);
  folder_remove(dir);
}

static void on_times(void *data, const struct tm_try_row *row)
{
  tm_buf_printf(data, "%lld %lld %lld", (long long)row->elapsed_ns, (long long)row->run_ns,
                (long long)row->cpu_ns);
}

static void times_are_those_of_the_try_of_run_and_of_the_processor(void **state)
{
  char *dir = folder_make();
  struct tm_buf found = TM_BUF_NONE;
  file_put(dir, "sys/job_report/processed_mini-batches.csv", HEADER FIRST, 0600);
  assert_int_equal(tm_try_rows_read(dir, 17, on_times, &found, NULL), 1);
  assert_string_equal(tm_buf_str(&found), "250000000 200000000 100000000");
  tm_buf_clear(&found);
  file_put(dir, "sys/job_report/processed_mini-batches.csv",
           "Mini-batch Id,Mini-batch Detail,Run Method Seconds\n17,first=/x,0.2\n", 0600);
  assert_int_equal(tm_try_rows_read(dir, 17, on_times, &found, NULL), 1);
  assert_string_equal(tm_buf_str(&found), "200000000 200000000 0");
  tm_buf_release(&found);
  folder_remove(dir);
}

static void torn_or_missing_rows_are_skipped(void **state)
{
  expect(NULL, 17, 0, "");
  expect("", 17, 0, "");
  expect(HEADER "17,1,cut\n" SECOND "17,3,process000,1970", 17, 1,
         "2  CANCELED <> <first=/x> 0 0;");
}

static void columns_are_found_by_name(void **state)
{
  char *dir = folder_make();
  struct tm_buf found = TM_BUF_NONE;
  file_put(dir, "sys/job_report/processed_mini-batches.csv",
           COLUMNS ",Node,Result Bytes,Signal\n17,1,process000,,2,2,0,0.5,0.1,0.2,RUN_DONE,,,"
                   "first=/x,12,4096,9\n17,2,process000,,2,2,0,0.5,0.1,0.2,RUN_DONE,,,first=/x\n",
           0600);
  assert_int_equal(tm_try_rows_read(dir, 17, on_place, &found, NULL), 1);
  assert_string_equal(tm_buf_str(&found), "node 12, 4096 bytes, signal 9, <first=/x>;");
  tm_buf_clear(&found);
  file_put(dir, "sys/job_report/processed_mini-batches.csv",
           "Mini-batch Id,Mini-batch Detail,Result Bytes\n17,first=/x,5\n", 0600);
  assert_int_equal(tm_try_rows_read(dir, 17, on_place, &found, NULL), 1);
  assert_string_equal(tm_buf_str(&found), "node , 5 bytes, signal 0, <first=/x>;");
  tm_buf_release(&found);
  folder_remove(dir);
}

static void on_time(void *data, const struct tm_try_row *row)
{
  *(int64_t *)data = row->elapsed_ns;
}

static void times_are_exact_to_the_microsecond(void **state)
{
  char *dir = folder_make();
  int64_t elapsed_ns = 0;
  file_put(dir, "sys/job_report/processed_mini-batches.csv",
           HEADER "17,1,x,,1,1,0,1.001000,0,0,RUN_DONE,,,\n", 0600);
  assert_int_equal(tm_try_rows_read(dir, 17, on_time, &elapsed_ns, NULL), 1);
  assert_int_equal(elapsed_ns, 1001000000);
  folder_remove(dir);
}

static void a_large_table_is_read_in_pieces(void **state)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_str(&text, HEADER);
  for (int i = 0; i < 20000; i++)
    tm_buf_printf(&text, "%d,1,process000,,1,1,0,0.1,0.1,0.1,RUN_DONE,,,first=/a/long/path/%d\n", i,
                  i);
  expect(text.data, 19998, 1, "1 process000 RUN_DONE <> <first=/a/long/path/19998> 0 100000000;");
  tm_buf_release(&text);
}

UNIT_TESTS({
    cmocka_unit_test(names_and_words_that_are_too_long_are_cut),
    cmocka_unit_test(times_are_those_of_the_try_of_run_and_of_the_processor),
    cmocka_unit_test(rows_of_one_mini_batch_are_found),
    cmocka_unit_test(torn_or_missing_rows_are_skipped),
    cmocka_unit_test(columns_are_found_by_name),
    cmocka_unit_test(times_are_exact_to_the_microsecond),
    cmocka_unit_test(a_large_table_is_read_in_pieces),
});
