/* The sections that are pictures: with nothing, one, some and many tries, and their size. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "made_model.h"
#include "page/figures.h"
#include "page/page.h"

static const char *const names[] = { "time", "timeline", "durations", "workers", "profile", NULL };

static char *section(struct made *m, const char *name)
{
  struct tm_buf b = TM_BUF_NONE;
  assert_true(tm_page_add_section(&b, &m->page, name));
  tm_buf_add(&b, "", 0);
  return tm_buf_take(&b);
}

static size_t count(const char *text, const char *word)
{
  size_t n = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
    n++;
  return n;
}

static void has(const char *text, const char *word)
{
  if (!strstr(text, word))
    fail_msg("'%s' is missing", word);
}

static void without_data_there_is_no_section(void **state)
{
  (void)state;
  struct made m;
  made_init(&m, &(struct made_plan) { .slots = 0, .nodes = 1, .sessions = 1, .seconds = 1 });
  for (int i = 0; names[i]; i++) {
    char *text = section(&m, names[i]);
    assert_string_equal(text, "");
    free(text);
  }
  m.page_step.model = NULL;
  for (int i = 0; names[i]; i++) {
    char *text = section(&m, names[i]);
    assert_string_equal(text, "");
    free(text);
  }
  made_release(&m);
}

/* The numbers behind `data-value` of the first number of each row. */
static double sum_of_rows(const char *from, const char *to)
{
  double sum = 0;
  for (const char *row = strstr(from, "<tr>"); row && row < to; row = strstr(row + 1, "<tr>"))
    sum += strtod(strstr(row, "data-value=\"") + strlen("data-value=\""), NULL);
  return sum;
}

static void the_time_adds_up_to_the_lives_of_workers(void **state)
{
  (void)state;
  struct made m;
  made_init(&m, &(struct made_plan) { .tries = 4000,
                                      .slots = 8,
                                      .nodes = 2,
                                      .sessions = 2,
                                      .seconds = 400,
                                      .fail_in = 30,
                                      .die_in = 100 });
  char *text = section(&m, "time");
  const char *body = strstr(text, "<tbody>"), *foot = strstr(text, "<tfoot>");
  double parts = sum_of_rows(body, strstr(text, "</tbody>")), whole = sum_of_rows(foot, foot + 99);
  double lives = 0;
  for (size_t i = 0; i < m.model.workers.list.len; i++)
    lives += (double)tm_worker_lived_ns(&m.model.workers.list.at[i], 0);
  assert_true(whole > 0);
  assert_true(fabs(parts - whole) < 0.001 * whole);
  assert_true(fabs(lives - whole) < 0.001 * whole);
  has(text, "url(#hatch)");
  has(text, "aria-label=\"Of the time of all workers: ");
  free(text);
  made_release(&m);
}

static void add_finding(struct made *m)
{
  m->findings.len = 1;
  m->findings.at[0] = (struct tm_finding) { .letter = 'A',
                                            .head = (char *)"A tail:",
                                            .text = (char *)"",
                                            .from_ns = m->model.origin_ns,
                                            .to_ns = m->model.last_ns,
                                            .section = "timeline" };
}

static void expect_open(struct made *m, const char *title)
{
  char *time = section(m, "time"), *timeline = section(m, "timeline");
  has(time, "run() of tries that still run, or were cut off");
  has(timeline, title);
  has(timeline, "run() that has not ended, or was cut off");
  has(timeline, "aria-label=\"A: A tail, from ");
  free(timeline);
  free(time);
}

static void a_try_without_an_end_is_drawn_and_counted(void **state)
{
  static const int64_t tries[] = { 100, 30000 }; /* one by one, and as bins */
  for (size_t i = 0; i < 2; i++) {
    struct made m;
    struct made_plan plan = {
      .tries = tries[i], .slots = 4, .nodes = 1, .sessions = 1, .seconds = 60
    };
    made_init(&m, &plan);
    made_running(&m);
    add_finding(&m);
    expect_open(&m, "<title>mini-batch 4711, try 1: has run for 20.0 s</title>");
    made_release(&m);
    made_init(&m, &plan);
    made_cut(&m);
    add_finding(&m);
    expect_open(&m, "<title>mini-batch 4712, try 1: cut off after 20.0 s</title>");
    made_release(&m);
  }
}

static void without_all_tries_nothing_is_said_to_wait(void **state)
{
  struct made m;
  made_init(&m, &(struct made_plan) {
                    .tries = 100, .slots = 4, .nodes = 1, .sessions = 1, .seconds = 60 });
  char *time = section(&m, "time");
  has(time, "waiting for work");
  free(time);
  m.model.lacks_tries = true;
  tm_step_model_settle(&m.model, 0);
  time = section(&m, "time");
  assert_null(strstr(time, "waiting for work"));
  has(time, "not measured: the table of tries is not whole");
  m.job.state = TM_FACT_COMPLETED;
  char *figures = section(&m, "figures");
  has(figures, "<dd class='v'>≥ ");
  free(figures);
  free(time);
  made_release(&m);
}

static void no_failure_is_hatched_when_none_failed(void **state)
{
  (void)state;
  struct made m;
  made_init(&m, &(struct made_plan) {
                    .tries = 300, .slots = 4, .nodes = 1, .sessions = 1, .seconds = 30 });
  for (int i = 0; names[i]; i++) {
    char *text = section(&m, names[i]);
    assert_null(strstr(text, "hatch"));
    free(text);
  }
  made_release(&m);
}

static void durations_have_the_form_that_fits_their_number(void **state)
{
  (void)state;
  static const struct {
    int64_t tries;
    size_t dots;
    const char *words;
  } cases[] = { { 1, 0, "run() was called once and took " },
                { 7, 7, "How long run() took in 7 tries" },
                { 19, 19, "How long run() took in 19 tries" },
                { 20, 0, "How long run() took in 20 tries" },
                { 100, 0, "How long run() took in 100 tries" } };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct made m;
    made_init(&m,
              &(struct made_plan) {
                  .tries = cases[i].tries, .slots = 1, .nodes = 1, .sessions = 1, .seconds = 30 });
    char *text = section(&m, "durations");
    has(text, cases[i].words);
    assert_int_equal(count(text, "<circle"), cases[i].dots);
    assert_int_equal(count(text, "class='halo'"), cases[i].tries < 20 ? 0 : 4);
    assert_int_equal(count(text, "<svg") == 0, cases[i].tries == 1);
    free(text);
    made_release(&m);
  }
}

/* Words in rows of their own cannot overlap. */
static void each_mark_of_the_histogram_has_its_row(void **state)
{
  (void)state;
  struct made m;
  made_init(&m, &(struct made_plan) {
                    .tries = 2000, .slots = 3, .nodes = 1, .sessions = 1, .seconds = 100 });
  char *text = section(&m, "durations");
  double rows[4];
  int n = 0;
  for (const char *at = strstr(text, "class='halo'"); at; at = strstr(at + 1, "class='halo'")) {
    rows[n] = strtod(strstr(at, " y=\"") + 4, NULL);
    for (int k = 0; k < n; k++)
      assert_true(fabs(rows[k] - rows[n]) >= 15);
    n++;
  }
  assert_int_equal(n, 4);
  free(text);
  made_release(&m);
}

static void each_try_has_a_box(void **state)
{
  (void)state;
  struct made m;
  made_init(
      &m, &(struct made_plan) {
              .tries = 100, .slots = 4, .nodes = 1, .sessions = 1, .seconds = 60, .fail_in = 10 });
  char *text = section(&m, "timeline");
  assert_int_equal(count(text, "<title>mini-batch "), 100);
  assert_int_equal(count(text, "failed (error)"), m.model.tries_failed);
  has(text, "slot 3");
  /* A hatched box has no line around it. */
  const char *lanes = strstr(text, "data-row=\"lanes\""), *hatched = "<rect class=\"failed\"";
  assert_true(count(lanes, hatched) > 1); /* one of them is in the key */
  assert_int_equal(count(lanes, "<g stroke='none'><rect class=\"failed\""),
                   count(lanes, hatched) - 1);
  free(text);
  made_release(&m);
}

/* One failure among so many tries that each is narrower than a pixel. */
static void successes_never_hide_a_failure(void **state)
{
  (void)state;
  struct made m;
  made_init(&m, &(struct made_plan) {
                    .tries = 30000, .slots = 2, .nodes = 1, .sessions = 1, .seconds = 600 });
  struct made_worker w = { .name = "process001" };
  made_try(&m, &w, 0, 30000, m.model.origin_ns + 300 * TM_S, TM_MS, true);
  assert_int_equal(m.model.lanes.boxes.len, 0);
  char *text = section(&m, "timeline");
  const char *lanes = strstr(text, "data-row=\"lanes\"");
  size_t marks = 0;
  for (const char *at = strstr(lanes, "failed-line"); at; at = strstr(at + 1, "failed-line"))
    marks += strncmp(strstr(at, "d=\""), "d=\"M", 4) == 0;
  assert_int_equal(marks, 1);
  free(text);
  made_release(&m);
}

static void with_very_many_slots_a_lane_is_a_node(void **state)
{
  (void)state;
  struct made m;
  made_init(
      &m,
      &(struct made_plan) {
          .tries = 3000, .slots = 300, .nodes = 3, .sessions = 1, .seconds = 60, .fail_in = 100 });
  char *text = section(&m, "timeline");
  has(text, "3 nodes");
  assert_null(strstr(text, "<title>mini-batch "));
  free(text);
  made_release(&m);
}

static void unusual_workers_come_first(void **state)
{
  (void)state;
  struct made m;
  made_init(&m, &(struct made_plan) {
                    .tries = 600, .slots = 60, .nodes = 2, .sessions = 1, .seconds = 60 });
  m.model.workers.list.at[33].has_died = true;
  char *text = section(&m, "workers");
  const char *first = strstr(text, "id=\"worker-");
  assert_memory_equal(first, "id=\"worker-process033\"", 22);
  assert_int_equal(count(text, "id=\"worker-"), 60);
  const char *rest = strstr(text, "<details class='rest'");
  assert_non_null(rest);
  assert_int_equal(count(rest, "id=\"worker-"), 10);
  has(rest, "10 more workers");
  has(text, "Workers and nodes");
  free(text);
  made_release(&m);
}

static void at_most_a_thousand_workers_are_listed(void **state)
{
  (void)state;
  struct made m;
  made_init(
      &m, &(struct made_plan) {
              .tries = 12000, .slots = 60, .nodes = 1, .sessions = 1, .seconds = 60, .die_in = 8 });
  size_t all = m.model.workers.list.len;
  assert_true(all > 1000);
  char *text = section(&m, "workers");
  assert_int_equal(count(text, "id=\"worker-"), 1000);
  has(text, " others are in workers.csv only.");
  free(text);
  made_release(&m);
}

static void names_are_text(void **state)
{
  (void)state;
  struct made m;
  static const char name[] = "</script><img src=x onerror=alert(1)>";
  static const char stack[] = "<b>a</b>:1;</title><script>:2 5\n";
  struct tm_page_profile profile = { "p", stack, sizeof(stack) - 1 };
  made_init(
      &m, &(struct made_plan) { .tries = 30, .slots = 2, .nodes = 1, .sessions = 1, .seconds = 6 });
  for (size_t i = 0; i < 2; i++) {
    free(m.model.workers.list.at[i].name);
    m.model.workers.list.at[i].name = tm_xstrdup(name);
    m.model.workers.list.at[i].has_died = true;
  }
  m.page.profiles = &profile;
  m.page.profiles_len = 1;
  for (int i = 0; names[i]; i++) {
    char *text = section(&m, names[i]);
    assert_null(strstr(text, "<img"));
    assert_null(strstr(text, "<b>a"));
    assert_int_equal(count(text, "</script>"), strcmp(names[i], "timeline") == 0 ? 1 : 0);
    assert_null(strstr(text, " style="));
    free(text);
  }
  made_release(&m);
}

static void frames_have_the_names_of_files_and_titles_all_of_them(void **state)
{
  (void)state;
  struct made m;
  static const char stack[] = "score.lua:3;/usr/share/lua/5.1/json.lua:12 96\n"
                              "score.lua:3;/opt/a.lua:1 2\nscore.lua:3;/opt/b.lua:1 2\n";
  struct tm_page_profile profile = { "p", stack, sizeof(stack) - 1 };
  made_init(
      &m, &(struct made_plan) { .tries = 30, .slots = 2, .nodes = 1, .sessions = 1, .seconds = 6 });
  m.page.profiles = &profile;
  m.page.profiles_len = 1;
  char *text = section(&m, "profile");
  assert_non_null(strstr(text, "<title>/usr/share/lua/5.1/json.lua:12: 96 %</title>"));
  assert_non_null(strstr(text, ">json.lua:12</text>"));
  assert_null(strstr(text, ">b.lua:1</text>")); /* there is no room for it */
  free(text);
  made_release(&m);
}

static void a_profile_of_another_program_is_said_to_be_one(void **state)
{
  (void)state;
  struct made m;
  struct tm_page_profile profile = { "p", "not a profile\n", 14 };
  made_init(
      &m, &(struct made_plan) { .tries = 30, .slots = 2, .nodes = 1, .sessions = 1, .seconds = 6 });
  m.page.profiles = &profile;
  m.page.profiles_len = 1;
  char *text = section(&m, "profile");
  has(text, "1 line is not a stack with its samples");
  assert_null(strstr(text, "<svg"));
  free(text);
  made_release(&m);
}

static void has_size(const struct made_plan *plan, size_t max)
{
  struct made m;
  struct tm_buf b = TM_BUF_NONE;
  made_init(&m, plan);
  tm_page_add(&b, &m.page);
  if (b.len > max)
    fail_msg("a page of %lld tries has %zu bytes; at most %zu", (long long)plan->tries, b.len, max);
  tm_buf_release(&b);
  made_release(&m);
}

static void the_size_of_a_page_is_limited(void **state)
{
  (void)state;
  struct made_plan plan = { .tries = 100,
                            .slots = 4,
                            .nodes = 1,
                            .sessions = 1,
                            .seconds = 60,
                            .fail_in = 20,
                            .has_gauges = true };
  has_size(&plan, 150000);
  plan = (struct made_plan) { .tries = TM_BOXES_MAX,
                              .slots = 64,
                              .nodes = 1,
                              .sessions = 2,
                              .seconds = 3600,
                              .fail_in = 3,
                              .die_in = 20,
                              .has_gauges = true };
  has_size(&plan, 3000000);
  plan = (struct made_plan) { .tries = 1000000,
                              .slots = 64,
                              .nodes = 2,
                              .sessions = 1,
                              .seconds = 8000,
                              .fail_in = 20,
                              .die_in = 900,
                              .has_gauges = true };
  has_size(&plan, 3000000);
  plan = (struct made_plan) { .tries = 100000,
                              .slots = 256,
                              .nodes = 4,
                              .sessions = 3,
                              .seconds = 3000,
                              .fail_in = 2,
                              .die_in = 9,
                              .has_gauges = true };
  has_size(&plan, 5000000);
}

static void numbers_have_three_digits(void **state)
{
  (void)state;
  static const struct {
    double n;
    const char *text;
  } cases[] = { { 0, "0" },        { 0.004, "0" },   { 0.26, "0.26" },  { 9.996, "10.0" },
                { 42.14, "42.1" }, { 420.4, "420" }, { 1234, "1,234" }, { NAN, "0" } };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_buf b = TM_BUF_NONE;
    tm_figure_number(&b, cases[i].n);
    assert_string_equal(tm_buf_str(&b), cases[i].text);
    tm_buf_release(&b);
  }
}

UNIT_TESTS({
    cmocka_unit_test(without_data_there_is_no_section),
    cmocka_unit_test(the_time_adds_up_to_the_lives_of_workers),
    cmocka_unit_test(a_try_without_an_end_is_drawn_and_counted),
    cmocka_unit_test(without_all_tries_nothing_is_said_to_wait),
    cmocka_unit_test(no_failure_is_hatched_when_none_failed),
    cmocka_unit_test(durations_have_the_form_that_fits_their_number),
    cmocka_unit_test(each_mark_of_the_histogram_has_its_row),
    cmocka_unit_test(each_try_has_a_box),
    cmocka_unit_test(successes_never_hide_a_failure),
    cmocka_unit_test(with_very_many_slots_a_lane_is_a_node),
    cmocka_unit_test(unusual_workers_come_first),
    cmocka_unit_test(at_most_a_thousand_workers_are_listed),
    cmocka_unit_test(names_are_text),
    cmocka_unit_test(frames_have_the_names_of_files_and_titles_all_of_them),
    cmocka_unit_test(a_profile_of_another_program_is_said_to_be_one),
    cmocka_unit_test(the_size_of_a_page_is_limited),
    cmocka_unit_test(numbers_have_three_digits),
});
