/* test_metrics.c - OpenMetrics text, read back by a reader that accepts nothing else. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "export/metrics.h"
#include "tree.h"

/* ---- a strict reader ---- */

struct reader {
  const char *at;
  char family[80]; /* of the last TYPE line */
  bool is_counter;
  struct tm_buf families; /* " name name " */
  int samples;
};

static void expect_next(struct reader *r, const char *word)
{
  if (strncmp(r->at, word, strlen(word)) != 0)
    fail_msg("'%s' expected at '%.60s'", word, r->at);
  r->at += strlen(word);
}

static void read_name(struct reader *r, char *out, size_t size)
{
  size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyz_");
  assert_in_range(n, 1, size - 1);
  memcpy(out, r->at, n);
  out[n] = '\0';
  r->at += n;
}

static void read_head(struct reader *r)
{
  char name[80], spaced[90];
  expect_next(r, "# TYPE ");
  read_name(r, r->family, sizeof(r->family));
  snprintf(spaced, sizeof(spaced), " %s ", r->family);
  assert_null(strstr(tm_buf_str(&r->families), spaced)); /* a family comes once */
  tm_buf_add_str(&r->families, spaced);
  r->is_counter = strncmp(r->at, " counter\n", 9) == 0;
  expect_next(r, r->is_counter ? " counter\n# HELP " : " gauge\n# HELP ");
  read_name(r, name, sizeof(name));
  assert_string_equal(name, r->family);
  expect_next(r, " ");
  assert_null(memchr(r->at, '\\', strcspn(r->at, "\n")));
  r->at += strcspn(r->at, "\n") + 1;
}

/* Adds the value of a label, without its escapes. */
static void read_label(struct reader *r, const char *name, struct tm_buf *out)
{
  expect_next(r, name);
  expect_next(r, "=\"");
  size_t begin = out->len;
  for (; *r->at != '"'; r->at++) {
    assert_false(*r->at == '\n' || *r->at == '\0');
    if (*r->at == '\\') {
      r->at++;
      assert_non_null(memchr("\\\"n", *r->at, 3));
      tm_buf_add_char(out, *r->at == 'n' ? '\n' : *r->at);
    } else {
      tm_buf_add_char(out, *r->at);
    }
  }
  assert_true(tm_text_is_utf8(out->data + begin, out->len - begin));
  r->at++;
}

/* "pipeline|job|step value;" */
static void read_sample(struct reader *r, struct tm_buf *out)
{
  expect_next(r, r->family);
  expect_next(r, r->is_counter ? "_total{" : "{");
  read_label(r, "pipeline", out);
  expect_next(r, ",");
  tm_buf_add_char(out, '|');
  read_label(r, "job", out);
  if (*r->at == ',') {
    r->at++;
    tm_buf_add_char(out, '|');
    read_label(r, "step", out);
  }
  expect_next(r, "} ");
  size_t n = strcspn(r->at, "\n");
  assert_int_equal(n, strspn(r->at, "0123456789."));
  tm_buf_printf(out, " %.*s;", (int)n, r->at);
  r->at += n + 1;
  r->samples++;
}

/* Returns the samples of a family, to free; NULL: it is not there. */
static char *read_all(const struct tm_metrics_job *job, const char *family, int *samples)
{
  struct tm_buf text = TM_BUF_NONE, found = TM_BUF_NONE, other = TM_BUF_NONE;
  tm_metrics_add(&text, job);
  struct reader r = { .at = text.data };
  while (strcmp(r.at, "# EOF\n") != 0) {
    if (*r.at == '#')
      read_head(&r);
    else
      read_sample(&r, strcmp(r.family, family) == 0 ? &found : &other);
  }
  if (samples)
    *samples = r.samples;
  tm_buf_release(&text);
  tm_buf_release(&other);
  tm_buf_release(&r.families);
  return found.len > 0 ? tm_buf_take(&found) : NULL;
}

static void expect(const struct tm_metrics_job *job, const char *family, const char *expected)
{
  char *found = read_all(job, family, NULL);
  assert_string_equal(tm_text_or_empty(found), expected);
  free(found);
}

/* ---- the text ---- */

static const struct tm_metrics_step two_steps[] = {
  { .name = "resize",
    .created = 20,
    .remaining = -1,
    .succeeded = 12,
    .run_ns = 90 * TM_S + 1500000,
    .max_rss_bytes = INT64_C(1) << 40,
    .items_remaining = -1 },
  { .name = "score", .failed = 3, .try_lost = 7, .remaining = 5 },
};
static const struct tm_metrics_job job = { .pipeline = "digits",
                                           .name = "digits-1",
                                           .is_running = 1,
                                           .begin_ns = INT64_C(1769903998123456789),
                                           .elapsed_ns = -1,
                                           .steps = two_steps,
                                           .steps_len = 2 };

static void numbers_have_their_names(void **state)
{
  expect(&job, "tidemill_job_running", "digits|digits-1 1;");
  expect(&job, "tidemill_job_completed", "digits|digits-1 0;");
  expect(&job, "tidemill_job_start_time_seconds", "digits|digits-1 1769903998.123456;");
  expect(&job, "tidemill_mini_batches_succeeded",
         "digits|digits-1|resize 12;digits|digits-1|score 0;");
  expect(&job, "tidemill_mini_batches_failed", "digits|digits-1|resize 0;digits|digits-1|score 3;");
  expect(&job, "tidemill_tries_lost", "digits|digits-1|resize 0;digits|digits-1|score 7;");
  expect(&job, "tidemill_run_seconds",
         "digits|digits-1|resize 90.001500;digits|digits-1|score 0.000000;");
  expect(&job, "tidemill_worker_memory_max_bytes",
         "digits|digits-1|resize 1099511627776;digits|digits-1|score 0;");
}

static void what_is_not_known_is_left_out(void **state)
{
  struct tm_metrics_job bare = { .pipeline = "p", .name = "j", .elapsed_ns = -1 };
  int samples = 0;
  expect(&job, "tidemill_mini_batches_remaining", "digits|digits-1|score 5;");
  expect(&job, "tidemill_job_elapsed_seconds", "");
  expect(&job, "tidemill_job_end_time_seconds", "");
  expect(&job, "tidemill_last_event_time_seconds", "");
  free(read_all(&job, "", &samples));
  assert_int_equal(samples, 3 + 2 * 20 - 2);
  free(read_all(&bare, "", &samples));
  assert_int_equal(samples, 2);
}

static void names_cannot_end_a_label_or_a_line(void **state)
{
  static const char *const names[][2] = {
    { "a\"} 1\n# EOF\n", "a\"} 1\n# EOF\n" },
    { "C:\\new\\", "C:\\new\\" },
    { "\xff\xfe z\xc3\xa4 \xc3", "\xef\xbf\xbd\xef\xbf\xbd z\xc3\xa4 \xef\xbf\xbd" },
    { "\r\x1b[31m\x7f\t", "\xef\xbf\xbd\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbd" },
    { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* half of a surrogate */
    { "{,=}'<script>", "{,=}'<script>" },
    { "", "" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    struct tm_metrics_step step = { .name = names[i][0], .tries = 4 };
    struct tm_metrics_job hostile = {
      .pipeline = names[i][0], .name = names[i][0], .steps = &step, .steps_len = 1
    };
    char *expected = tm_xprintf("%s|%s|%s 4;", names[i][1], names[i][1], names[i][1]);
    expect(&hostile, "tidemill_tries", expected);
    free(expected);
  }
}

/* ---- the sums ---- */

#define TRIES "sys/job_report/processed_mini-batches.csv"
#define LIVES "sys/job_report/workers.csv"
#define TRY_HEADER                                                                                 \
  "Mini-batch Id,Process Start Time,Elapsed Seconds,Run Method Seconds,Status,Error Category,"     \
  "Result Bytes\n"
#define LIFE_HEADER                                                                                \
  "Utc Time,Process,Node,Node Address,Pid,Event,Seconds,Max Rss (MB),Detail,Cause\n"
#define AT(second)                  "1970-01-01T00:00:0" #second ".000000Z"
#define BORN(second, process)       AT(second) "," process ",0,mill,1,started,,,,\n"
#define ENDED(second, process, how) AT(second) "," process ",0,mill,1,ended,1.0,2.0,," how "\n"

static void put_tables(const char *dir, const char *tries, const char *lives)
{
  file_put(dir, TRIES, tries, 0600);
  file_put(dir, LIVES, lives, 0600);
}

static void tables_are_summed_up(void **state)
{
  char *dir = folder_make();
  struct tm_metrics_step s = { .name = "s" };
  put_tables(dir,
             TRY_HEADER
             "0," AT(2) ",1.5,1.0,RUN_DONE,,10\n"
                        "1," AT(3) ",1.0,1.0,RUN_EXCEPTION,error,0\n"
                                   "1," AT(4) ",0.5,0.5,RUN_TIMEOUT,timeout,0\n"
                                              "1,,0,0,PROCESS_DIED,lost,0\n"
                                              ",,1,0,INIT_EXCEPTION,error,0\n" /* it is not a try */
                                              "2,cut",
             LIFE_HEADER BORN(1, "a")
                 AT(2) ",a,0,mill,1,ready,0.5,,init() took 0.250000 s,\n" BORN(1, "b")
                     ENDED(5, "b", "signal") ENDED(6, "c", "stopped"));
  tm_metrics_read_step(&s, dir, 0);
  assert_int_equal(s.tries, 4);
  assert_int_equal(s.try_errors, 1);
  assert_int_equal(s.try_timeouts, 1);
  assert_int_equal(s.try_lost, 1);
  assert_int_equal(s.run_ns, 2500000000);
  assert_int_equal(s.overhead_ns, 500000000);
  assert_int_equal(s.init_ns, 250000000);
  assert_int_equal(s.result_bytes, 10);
  assert_int_equal(s.deaths, 1);
  assert_int_equal(s.max_rss_bytes, 2 << 20);
  assert_int_equal(s.last_ns, 6 * TM_S);
  tm_metrics_release_step(&s);
  folder_remove(dir);
}

static void only_what_is_new_is_read(void **state)
{
  char *dir = folder_make();
  struct tm_metrics_step s = { .name = "s" };
  put_tables(dir, TRY_HEADER "0," AT(2) ",1.5,1.0,RUN_DONE,,10\n", LIFE_HEADER BORN(1, "a"));
  for (int i = 0; i < 2; i++) {
    tm_metrics_read_step(&s, dir, TM_S);
    assert_int_equal(s.tries, 1);
    assert_int_equal(s.workers, 1);
  }
  put_tables(dir, TRY_HEADER "0," AT(2) ",1.5,1.0,RUN_DONE,,10\n1," AT(2) ",1,1,RUN_DONE,,5\n",
             LIFE_HEADER BORN(1, "a") BORN(2, "b") ENDED(3, "a", "stopped") BORN(4, "c"));
  tm_metrics_read_step(&s, dir, TM_S);
  assert_int_equal(s.tries, 2);
  assert_int_equal(s.result_bytes, 15);
  assert_int_equal(s.workers, 2);
  /* b and c were killed with the program, and the job was resumed */
  tm_metrics_read_step(&s, dir, 4 * TM_S);
  assert_int_equal(s.workers, 1);
  assert_int_equal(s.tries, 2);
  tm_metrics_release_step(&s);
  folder_remove(dir);
}

#define SAMPLES "/processes_resource_usage.csv"
#define SAMPLE_HEADER                                                                              \
  "Utc Time,Process,Pid,Parent Pid,Name,Cpu Percent,Memory Rss (MB),Disk Io Read (MB),"            \
  "Disk Io Write (MB)\n"
#define SAMPLE(second, process, mb) AT(second) "," process ",1,1,tidemill,0," mb ",0,0\n"

static void memory_is_that_of_the_workers_that_live(void **state)
{
  char *dir = folder_make();
  struct tm_metrics_step s = { .name = "s" };
  put_tables(dir, TRY_HEADER, LIFE_HEADER BORN(1, "a") AT(1) ",b,1,mine,2,started,,,,\n");
  tm_metrics_read_step(&s, dir, TM_S);
  assert_int_equal(s.rss_bytes, -1); /* nothing was measured */
  file_put(dir, "perf/0" SAMPLES,
           SAMPLE_HEADER SAMPLE(2, "process000", "5.0") SAMPLE(3, "process000", "6.0")
               SAMPLE(3, "process000", "1.0") SAMPLE(3, "keeper", "9.0"),
           0600);
  file_put(dir, "perf/1" SAMPLES, SAMPLE_HEADER SAMPLE(2, "process001", "3.0"), 0600);
  for (int i = 0; i < 2; i++) {
    tm_metrics_read_step(&s, dir, TM_S);
    assert_int_equal(s.rss_bytes, 10 << 20);
  }
  put_tables(dir, TRY_HEADER,
             LIFE_HEADER BORN(1, "a")
                 AT(1) ",b,1,mine,2,started,,,,\n" AT(4) ",b,1,mine,2,ended,3.0,3.0,,stopped\n");
  tm_metrics_read_step(&s, dir, TM_S);
  assert_int_equal(s.rss_bytes, 7 << 20);
  tm_metrics_release_step(&s);
  folder_remove(dir);
}

static void a_job_without_tables_has_none(void **state)
{
  char *dir = folder_make();
  struct tm_metrics_step s = { .name = "s" };
  tm_metrics_read_step(&s, dir, 0);
  assert_int_equal(s.tries + s.workers + s.deaths + s.last_ns, 0);
  folder_remove(dir);
}

UNIT_TESTS({
    cmocka_unit_test(numbers_have_their_names),
    cmocka_unit_test(what_is_not_known_is_left_out),
    cmocka_unit_test(names_cannot_end_a_label_or_a_line),
    cmocka_unit_test(tables_are_summed_up),
    cmocka_unit_test(only_what_is_new_is_read),
    cmocka_unit_test(memory_is_that_of_the_workers_that_live),
    cmocka_unit_test(a_job_without_tables_has_none),
});
