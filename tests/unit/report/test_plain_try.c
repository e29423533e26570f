/* test_plain_try.c - rows of the usual form are read as by columns, and others are left to that. */
#include "unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/try_rows.h"
#include "tree.h"

#define HEADER                                                                                     \
  "Mini-batch Id,Picked Count,Process,Process Start Time,Total,Succeeded,Failed,Elapsed Seconds,"  \
  "Process Seconds,Run Method Seconds,Status,Error Category,Error Message,Mini-batch Detail,Node," \
  "Result Bytes,Signal,Script Line,Error Item"
#define MOMENT "2026-11-28T14:50:16.261625Z"
#define TIMES  "0.001089,12.001107,0.000914"
#define BEHIND ",RUN_DONE,,,dataset= count=1 first=/in/1.txt,0,7,,,"
#define USUAL  "12,1,process000," MOMENT ",3,2,1," TIMES BEHIND

static bool is_plain(const char *row, size_t len)
{
  struct tm_plain_tries p = { .minute_ns = 0 };
  struct tm_try_row out;
  char *line = tm_xmalloc(len + 1); /* no more, so that a sanitizer sees what reads behind it */
  memcpy(line, row, len);
  line[len] = '\n';
  bool yes = tm_plain_try_read(&p, line, len, &out);
  assert_true(yes || (memcmp(line, row, len) == 0 && line[len] == '\n'));
  free(line);
  return yes;
}

static void a_row_of_a_try_that_succeeded_is_plain(void **state)
{
  static const char *const plain[] = {
    USUAL,
    "0,1,p,1970-01-01T00:00:60.000000Z,0,0,0,0.000000,0.000000,999999999.999999,RUN_DONE,,,,n,0,,,",
    "999999999999999999,2,process000," MOMENT ",3,2,1," TIMES
    ",RUN_DONE,,,a \"b\" c,node-7,12345,,,",
  };
  static const char *const others[] = {
    "",
    ",1,process000," MOMENT ",1,0,1," TIMES BEHIND, /* an init() */
    "-1,1,process000," MOMENT ",1,0,1," TIMES BEHIND,
    "9999999999999999999,1,process000," MOMENT ",1,0,1," TIMES BEHIND,
    "12,1,process000,,3,2,1," TIMES BEHIND, /* it never began */
    "12,1,process000,2026-11-28 14:50:16.261625Z,3,2,1," TIMES BEHIND,
    "12,1,process000,2026-13-28T14:50:16.261625Z,3,2,1," TIMES BEHIND,
    "12,1,process000,2026-11-28T14:50:61.261625Z,3,2,1," TIMES BEHIND,
    "12,1,process000," MOMENT ",,2,1," TIMES BEHIND, /* uncounted */
    "12,1,process000," MOMENT ",3,2,1,0.1,0.2,0.3" BEHIND,
    "12,1,process000," MOMENT ",3,2,1,0.00108x,0.001107,0.000914" BEHIND,
    "12,1,process000," MOMENT ",3,2,1,9999999999.001089,0.001107,0.000914" BEHIND,
    "12,1,\"process000\"," MOMENT ",3,2,1," TIMES BEHIND,
    "12,1,process000," MOMENT ",3,2,1," TIMES ",CANCELED,canceled,,first=/in/1.txt,0,7,,,",
    "12,1,process000," MOMENT ",3,2,1," TIMES ",RUN_DONE,,a message,first=/in/1.txt,0,7,,,",
    "12,1,process000," MOMENT ",3,2,1," TIMES ",RUN_DONE,,,\"first=/in/1,2.txt\",0,7,,,",
    "12,1,process000," MOMENT ",3,2,1," TIMES ",RUN_DONE,,,first=/in/1,2.txt,0,7,,,",
    "12,1,process000," MOMENT ",3,2,1," TIMES ",RUN_DONE,,,first=/in/1.txt,0,7,9,,",
    "12,1,process000," MOMENT ",3,2,1," TIMES ",RUN_DONE,,,first=/in/1.txt,0,,,,",
    "12,1,process000," MOMENT ",3,2,1," TIMES ",RUN_DONE,,,first=/in/1.txt,0,7",
    USUAL ",",
  };
  for (size_t i = 0; i < TM_COUNT_OF(plain); i++)
    assert_true(is_plain(plain[i], strlen(plain[i])));
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    if (is_plain(others[i], strlen(others[i])))
      fail_msg("it is plain: %s", others[i]);
  for (size_t len = 0; len < strlen(USUAL); len++)
    assert_false(is_plain(USUAL, len));
}

static void a_row_with_nul_is_not_plain(void **state)
{
  char row[] = USUAL;
  for (size_t i = 0; i < strlen(USUAL); i++) {
    row[i] = '\0';
    assert_false(is_plain(row, strlen(USUAL)));
    row[i] = USUAL[i];
  }
}

/* By columns. */

static int on_row(void *data, const struct tm_try_row *r)
{
  tm_buf_printf(data, "%lld %lld <%s %s %s %s %s %s %s> <%s %s %s %s> <%s %s %s> ",
                (long long)r->mini_batch, (long long)r->picked, r->process, r->began, r->total,
                r->succeeded, r->failed, r->elapsed, r->run, r->status, r->category, r->message,
                r->detail, r->node, r->where, r->item);
  tm_buf_printf(data, "%lld %lld %lld %lld %lld %lld\n", (long long)r->bytes, (long long)r->signal,
                (long long)r->begin_wall_ns, (long long)r->elapsed_ns, (long long)r->run_ns,
                (long long)r->cpu_ns);
  return 0;
}

static void read_table(struct tm_buf *out, const struct tm_buf *table)
{
  char *dir = folder_make();
  int64_t at = 0;
  file_put(dir, "sys/job_report/processed_mini-batches.csv", table->data, 0600);
  assert_int_equal(tm_try_rows_next(dir, &at, on_row, out, NULL, NULL), 0);
  folder_remove(dir);
}

static uint64_t draw(uint64_t *state, uint64_t below)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 33) % below;
}

/* A row with some bytes that are others; never a line break or NUL. */
static void add_random(struct tm_buf *row, uint64_t *r)
{
  static const char bytes[] = ",,,\"0123456789.-+:TZ \x7f\xc3\xa4";
  tm_buf_clear(row);
  tm_buf_printf(row,
                "%llu,%llu,process%03llu,2026-11-28T14:%02llu:%02llu.%06lluZ,1,1,0,%llu.%06llu,"
                "0.%06llu,0.000001,RUN_DONE,,,dataset= first=/in/%llu.txt,%llu,%llu,,,",
                (unsigned long long)draw(r, 1000000), (unsigned long long)draw(r, 4),
                (unsigned long long)draw(r, 200), (unsigned long long)draw(r, 60),
                (unsigned long long)draw(r, 60), (unsigned long long)draw(r, 1000000),
                (unsigned long long)draw(r, 1000), (unsigned long long)draw(r, 1000000),
                (unsigned long long)draw(r, 1000000), (unsigned long long)draw(r, 1000),
                (unsigned long long)draw(r, 3), (unsigned long long)draw(r, 100000));
  for (uint64_t n = draw(r, 3); n > 0; n--)
    row->data[draw(r, row->len)] = bytes[draw(r, sizeof(bytes) - 1)];
}

/* With one more column, a table is read by columns. */
static void any_row_is_read_as_by_columns(void **state)
{
  struct tm_buf usual = TM_BUF_NONE, other = TM_BUF_NONE, row = TM_BUF_NONE;
  struct tm_buf found[2] = { TM_BUF_NONE, TM_BUF_NONE };
  uint64_t r = 16;
  int plain = 0;
  tm_buf_add_str(&usual, HEADER "\n");
  tm_buf_add_str(&other, HEADER ",Of A Newer Version\n");
  for (int i = 0; i < 4000; i++) {
    add_random(&row, &r);
    plain += is_plain(row.data, row.len);
    tm_buf_printf(&usual, "%s\n", row.data);
    tm_buf_printf(&other, "%s,\n", row.data);
  }
  assert_in_range(plain, 1500, 3500);
  read_table(&found[0], &usual);
  read_table(&found[1], &other);
  assert_true(found[0].len > 100000);
  assert_string_equal(found[0].data, found[1].data);
  tm_buf_release(&found[0]);
  tm_buf_release(&found[1]);
  tm_buf_release(&usual);
  tm_buf_release(&other);
  tm_buf_release(&row);
}

UNIT_TESTS({
    cmocka_unit_test(a_row_of_a_try_that_succeeded_is_plain),
    cmocka_unit_test(a_row_with_nul_is_not_plain),
    cmocka_unit_test(any_row_is_read_as_by_columns),
});
