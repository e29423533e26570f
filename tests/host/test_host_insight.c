/* test_host_insight.c - a host follows a job through an insight: refreshed at random moments, it
 * ends with the same bytes as one that is opened afterwards. */
#include "host.h"

#define MOMENTS_MAX 100000

static uint32_t draw(uint32_t *seed, uint32_t below)
{
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 8) % below;
}

static bool says(struct tidemill_insight *in, const char *words)
{
  return strstr(tidemill_insight_json(in), words) != NULL;
}

/* Refreshes now and then while the job runs in this process, until it is over and closed. */
static void follow(struct host *h, struct tidemill_insight *in, uint32_t seed)
{
  int refreshed = 0;
  for (int i = 0; !says(in, "\"succeeded\":21"); i++) {
    assert_true(i < MOMENTS_MAX);
    (void)tidemill_job_wait(h->job, draw(&seed, 4), &h->err);
    if (draw(&seed, 3) == 0)
      refreshed += tidemill_insight_refresh(in, &h->err) == 1;
    if (i == 5)
      host_go(h, 1);
  }
  assert_true(refreshed > 0);
  host_wait(h);
  tidemill_job_close(h->job);
  h->job = NULL;
  for (int i = 0; says(in, "\"state\":\"Running\""); i++) {
    assert_true(i < MOMENTS_MAX);
    host_must(h, tidemill_insight_refresh(in, &h->err));
  }
  host_must(h, tidemill_insight_refresh(in, &h->err)); /* rows that were written last */
}

static void a_job_that_was_followed_ends_like_one_that_is_read_at_once(void **state)
{
  struct host h;
  struct tidemill_insight *in = NULL, *now = NULL;
  host_setup(&h, "good", 20, "wait", 1, "bad", 2, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_must(&h, tidemill_insight_open(&in, NULL, tidemill_job_dir(h.job), NULL, &h.err));
  assert_true(tidemill_insight_fd(in, &h.err) > 2);
  char *dir = strdup(tidemill_job_dir(h.job));
  follow(&h, in, 7);
  host_must(&h, tidemill_insight_open(&now, NULL, dir, NULL, &h.err));
  assert_string_equal(tidemill_insight_json(in), tidemill_insight_json(now));
  assert_true(says(in, "\"version\":1") && says(in, "no good: bad.000"));
  assert_int_equal(tidemill_insight_refresh(now, &h.err), 1); /* there may be something new */
  assert_int_equal(tidemill_insight_refresh(now, &h.err), 0);
  tidemill_insight_close(now);
  tidemill_insight_close(in);
  free(dir);
  host_end(&h);
}

static void a_page_and_its_sections(void **state)
{
  struct host h;
  struct tidemill_insight *in = NULL;
  struct tidemill_html_options o = TIDEMILL_HTML_OPTIONS_INIT;
  size_t len = 0;
  host_setup(&h, "good", 2, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  host_must(&h, tidemill_insight_open(&in, NULL, tidemill_job_dir(h.job), NULL, &h.err));
  const char *page = tidemill_insight_html(in, NULL, &len, &h.err);
  assert_int_equal(strlen(page), len);
  assert_non_null(strstr(page, "</html>"));
  for (const char *const *name = tidemill_html_sections(); *name; name++) {
    o.section = *name;
    assert_non_null(tidemill_insight_html(in, &o, &len, &h.err));
  }
  o.section = "result";
  assert_null(strstr(tidemill_insight_html(in, &o, NULL, &h.err), "<html"));
  o.step = "other";
  assert_null(tidemill_insight_html(in, &o, NULL, &h.err));
  assert_int_equal(h.err.code, TIDEMILL_EUSAGE);
  o.step = NULL;
  o.section = "other";
  assert_null(tidemill_insight_html(in, &o, NULL, &h.err));
  assert_int_equal(h.err.code, TIDEMILL_EUSAGE);
  tidemill_insight_close(in);
  host_end(&h);
}

/* The directory goes away while it is read. */
static void a_job_that_is_removed_keeps_what_was_read(void **state)
{
  struct host h;
  struct tidemill_insight *in = NULL;
  char command[600];
  host_setup(&h, "good", 2, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  host_must(&h, tidemill_insight_open(&in, NULL, tidemill_job_dir(h.job), NULL, &h.err));
  snprintf(command, sizeof(command), "rm -r '%s'", tidemill_job_dir(h.job));
  tidemill_job_close(h.job);
  h.job = NULL;
  assert_int_equal(system(command), 0);
  assert_int_equal(tidemill_insight_refresh(in, &h.err), 1);
  assert_true(says(in, "\"is_removed\":true") && says(in, "\"fault\":\""));
  assert_true(says(in, "\"ok\":2"));
  assert_non_null(strstr(tidemill_insight_html(in, NULL, NULL, &h.err),
                         "The files of this job have been removed."));
  assert_int_equal(tidemill_insight_refresh(in, &h.err), 0);
  tidemill_insight_close(in);
  host_end(&h);
}

static void wrong_calls_are_refused(void **state)
{
  struct host h;
  struct tidemill_insight *in = NULL;
  struct tidemill_insight_options o = TIDEMILL_INSIGHT_OPTIONS_INIT;
  host_setup(&h, "good", 1, NULL);
  assert_int_equal(tidemill_insight_open(NULL, NULL, "x", NULL, &h.err), TIDEMILL_EUSAGE);
  assert_int_equal(tidemill_insight_open(&in, NULL, NULL, NULL, &h.err), TIDEMILL_EUSAGE);
  assert_int_equal(tidemill_insight_open(&in, NULL, "/no/such/job", NULL, &h.err), TIDEMILL_EUSAGE);
  o.size = 0;
  assert_int_equal(tidemill_insight_open(&in, NULL, h.dir, &o, &h.err), TIDEMILL_EUSAGE);
  assert_null(in);
  assert_int_equal(tidemill_insight_refresh(NULL, &h.err), TIDEMILL_EUSAGE);
  assert_int_equal(tidemill_insight_fd(NULL, &h.err), TIDEMILL_EUSAGE);
  assert_null(tidemill_insight_json(NULL));
  assert_null(tidemill_insight_html(NULL, NULL, NULL, &h.err));
  assert_int_equal(tidemill_report_write(NULL, NULL, NULL, &h.err), TIDEMILL_EUSAGE);
  assert_int_equal(tidemill_report_check(NULL, false, &h.err), TIDEMILL_EUSAGE);
  tidemill_insight_close(NULL);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_job_that_was_followed_ends_like_one_that_is_read_at_once),
    cmocka_unit_test(a_page_and_its_sections),
    cmocka_unit_test(a_job_that_is_removed_keeps_what_was_read),
    cmocka_unit_test(wrong_calls_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
