/* test_job_page.c - a page as a whole: its states, its sections, and that no text becomes
 * markup. */
#include "unit.h"

#include "page_case.h"

/* States. */

static const struct {
  enum tm_fact_state state;
  const char *cause;
  int64_t failed;
  const char *word, *tone, *sentence;
} states[] = {
  { TM_FACT_COMPLETED, NULL, 0, "Completed", "good", "All 10 items were done." },
  { TM_FACT_COMPLETED, NULL, 2, "Completed with failures", "warn",
    "10 items were done, 2 failed." },
  { TM_FACT_FAILED, "2 items have failed", 2, "Failed", "bad",
    "<b>2 items have failed.</b> What was done is kept: 10 items are in the output." },
  { TM_FACT_FAILED, "no input: nothing is there", 0, "Failed", "bad",
    "<b>No input: nothing is there.</b>" },
  { TM_FACT_FAILED, "init() failed", 0, "Failed", "bad", "<b>init() failed.</b>" },
  { TM_FACT_CANCELED, NULL, 0, "Canceled", "warn", "The job was canceled." },
  { TM_FACT_INTERRUPTED, NULL, 0, "Interrupted", "warn", "ended before the job did" },
  { TM_FACT_RUNNING, NULL, 0, "Running", "run", "50 % of the mini-batches are done." },
  { TM_FACT_SKIPPED, NULL, 0, "Skipped", "quiet", "Skipped." },
  { TM_FACT_WAITING, NULL, 0, "Waiting", "quiet", "Waiting." },
};

static void each_state_has_its_word_and_sentence(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(states); i++) {
    f.job.state = states[i].state;
    f.job.cause = states[i].cause;
    f.job.counts = (struct tm_fact_counts) { 4, 2, 0, true, 20, 10, states[i].failed };
    const char *text = fixture_section(&f, "result");
    char *tone = tm_xprintf("class=\"%s\"", states[i].tone);
    char *word = tm_xprintf("</i> %s</span>", states[i].word);
    expect(text, tone);
    expect(text, word);
    expect(text, states[i].sentence);
    free(tone);
    free(word);
  }
  (void)state;
}

static void a_running_job_says_as_of_when(void **state)
{
  f.job.state = TM_FACT_RUNNING;
  f.job.counts = (struct tm_fact_counts) { 100, 7, 0, false, -1, 35, 0 };
  const char *text = fixture_section(&f, "result");
  expect(text, "7 mini-batches are done; the inputs are still being listed.");
  expect(text,
         "as of <time datetime=\"2026-11-21T22:27:40.000000Z\">2026-11-21 22:27:40 UTC</time>");
  (void)state;
}

static int64_t in_calcutta(int64_t wall_ns)
{
  return 19800;
}

static int64_t in_caracas(int64_t wall_ns)
{
  return -14400;
}

static void local_time_is_beside_utc(void **state)
{
  f.job.state = TM_FACT_RUNNING;
  f.page.utc_offset_s = in_caracas;
  expect(fixture_section(&f, "result"),
         "data-offset=\"-14400\">2026-11-21 22:27:40 UTC<span class='local'> (18:27:40 -04:00)"
         "</span></time>");
  f.page.utc_offset_s = in_calcutta;
  expect(fixture_section(&f, "result"), " (2026-11-22 03:57:40 +05:30)");
  (void)state;
}

static void a_reused_job_links_to_the_other_one(void **state)
{
  fixture_add_step(&f, "load", TM_FACT_COMPLETED)->reused_from = "/data/jobs/daily-1120";
  fixture_add_step(&f, "score", TM_FACT_COMPLETED)->reused_from = "/data/jobs/daily-1120";
  f.job.before = "daily-1120";
  const char *text = fixture_section(&f, "result");
  expect(text, "Reused");
  assert_null(strstr(text, "last completed job")); /* nothing ran that could be compared */
  expect(text, "<a href=\"file:///data/jobs/daily-1120\">");
  assert_int_equal(count(text, "<a href="), 1);
  (void)state;
}

static void what_could_not_be_read_is_said(void **state)
{
  f.job.is_removed = true;
  f.job.fault = "no such file";
  fixture_add_step(&f, "score", TM_FACT_FAILED)->damage_at_byte = 4096;
  const char *text = fixture_section(&f, "result");
  expect(text, "The files of this job have been removed.");
  expect(text, "Not everything could be read: no such file.");
  expect(text, "is damaged at byte 4,096.");
  assert_null(strstr(text, "processed_mini-batches.csv"));
  f.job.steps.at[0].counts.succeeded = 90;
  fixture_add_try(&f, 0, 0, "process000", 0.5, 1, "", "");
  expect(fixture_section(&f, "result"),
         "The table score/logs/sys/job_report/processed_mini-batches.csv has 1 of the 90 "
         "mini-batches that succeeded.");
  (void)state;
}

/* The history of a workspace may know less than the files did. */
static void a_removed_job_has_what_its_history_knows(void **state)
{
  f.job.is_removed = true;
  f.job.state = TM_FACT_CANCELED;
  f.job.counts = (struct tm_fact_counts) { 1000, 218, 10, true, 2000, 436, 20 };
  const char *text = fixture_section(&f, "result");
  expect(text, "436 items were done.");
  assert_null(strstr(text, "kept"));
  expect(fixture_section(&f, "figures"), "<dd>20 of 456</dd>");
  f.job.counts.items_succeeded = -1;
  expect(fixture_section(&f, "result"), "How many items were done is not known.");
  assert_null(strstr(fixture_section(&f, "figures"), "of items failed"));
  f.job.counts = (struct tm_fact_counts) { .items_total = -1, .items_succeeded = -1 };
  assert_null(strstr(fixture_section(&f, "figures"), "mini-batch"));
  (void)state;
}

/* Only a result or a whole journal knows what was not done. */
static void counts_end_where_a_journal_is_damaged(void **state)
{
  f.job.state = TM_FACT_INTERRUPTED;
  f.job.counts = (struct tm_fact_counts) { 40, 0, 0, true, 200, 0, 0 };
  struct tm_fact_step *step = fixture_add_step(&f, "score", TM_FACT_INTERRUPTED);
  step->damage_at_byte = 64;
  fixture_add_try(&f, 0, 0, "process000", 0.5, 1, "", "");
  const char *text = fixture_section(&f, "result");
  expect(text, "How many items were done is not known: the journal of step <bdi>score</bdi> is "
               "damaged.");
  expect(text, "<code>score/state/journal</code>, is damaged at byte 64. What is counted comes");
  assert_null(strstr(text, "No item was done"));
  text = fixture_section(&f, "figures");
  expect(text, "–</dd> <dd>not known: a journal is damaged</dd>");
  assert_null(strstr(text, "not done"));
  assert_null(strstr(text, "none failed"));

  f.job.counts.succeeded = 3;
  f.job.counts.items_succeeded = 15;
  expect(fixture_section(&f, "result"), "At least 15 items are in the output. How many more were "
                                        "done is not known");
  expect(fixture_section(&f, "figures"), "≥ 15</dd>");

  step->state = TM_FACT_FAILED; /* its result has the counts */
  f.job.state = TM_FACT_FAILED;
  expect(fixture_section(&f, "result"), "What was done is kept: 15 items are in the output.");
  expect(fixture_section(&f, "figures"), "37 not done");
  (void)state;
}

static void the_next_command_can_be_copied(void **state)
{
  f.job.next = "tidemill resume 'a b'";
  f.job.next_why = "goes on";
  expect(fixture_section(&f, "result"), "<code>tidemill resume &#39;a b&#39;</code>"
                                        "<button type='button' class='copy' hidden");
  (void)state;
}

/* Sections without data, with one, with many. */

static void a_job_with_nothing_has_result_and_figures_alone(void **state)
{
  fixture_page(&f);
  assert_int_equal(count(f.out.data, "<section"), 2);
  for (const char *const *name = tm_page_sections(); *name; name++) {
    bool is_expected = strcmp(*name, "result") == 0 || strcmp(*name, "figures") == 0;
    assert_int_equal(*fixture_section(&f, *name) != '\0', is_expected);
  }
  assert_null(fixture_section(&f, "other"));
  (void)state;
}

static void add_group(struct tm_error_groups *groups, size_t i)
{
  *TM_ARRAY_ADD(&groups->list) =
      (struct tm_error_group) { .pattern = (char *)"cannot read <item>: error <n>",
                                .is_mixed = true,
                                .status = (char *)"RUN_EXCEPTION",
                                .where = (char *)"score.lua:41",
                                .message = (char *)"cannot read a.png: error 5\nstack",
                                .tries = 9,
                                .items = 3,
                                .first_ns = FIXTURE_BEGIN + 2 * TM_S,
                                .last_ns = FIXTURE_BEGIN + 70 * TM_S,
                                .mini_batch = (int64_t)i,
                                .try_number = 1,
                                .item = (char *)"a.png",
                                .worker = (char *)"process003" };
}

static void failures_are_groups_and_items(void **state)
{
  struct tm_error_groups groups = { 0 };
  struct tm_fact_step *s = fixture_add_step(&f, "score", TM_FACT_FAILED);
  f.steps[0].groups = &groups;
  assert_string_equal(fixture_section(&f, "failures"), "");
  add_group(&groups, 7);
  *TM_ARRAY_ADD(&s->failed_items) = (struct tm_fact_item) { "a\nb.png", "bad", "RUN_TIMEOUT", 7 };
  s->failed_items_more = 4;
  const char *text = fixture_section(&f, "failures");
  expect(text, "1 distinct error");
  expect(text, "<details class='err' id=\"error-1\" open=\"\">");
  expect(text, "cannot read <var>item</var>: error <var>number</var></b>");
  expect(text, "from 2.00 s to 1 min 10 s");
  expect(text, "cannot read a.png: error 5\nstack</pre>");
  groups.list.at[0].log = (char *)"score/logs/user/error/0/process000.txt";
  groups.list.at[0].node = (char *)"0";
  s->logs_dir = "/data/jobs/digits-20261122-021337-lvbu/score/logs";
  f.steps[0].stacks = (const char *const[]) { "stack traceback:\n\tin <run>" };
  text = fixture_section(&f, "failures");
  expect(text, "error 5\nstack\nstack traceback:\n\tin &lt;run&gt;</pre>");
  expect(text, "Log: <a href=\"score/logs/user/error/0/process003.txt\">");
  expect(text, "<code>tidemill replay /data/jobs/digits-20261122-021337-lvbu "
               "--mini-batch 7</code>");
  expect(text, "<summary>5 failed items</summary>");
  expect(text, "<bdi>a\\nb.png</bdi>");
  expect(text, "The table has the first 1 of them.");
  expect(text, "<tr id=\"mini-batch-7\">");
  expect(text, "<td>timeout</td>");
  expect(text, "<a href=\"score/failed_items.jsonl\">");
  TM_ARRAY_RELEASE(&groups.list);
  (void)state;
}

/* The first is open: it should be the one that matters most. */
static void the_largest_error_comes_first(void **state)
{
  struct tm_error_groups groups = { 0 };
  fixture_add_step(&f, "score", TM_FACT_FAILED);
  f.steps[0].groups = &groups;
  add_group(&groups, 7);
  add_group(&groups, 8);
  groups.list.at[1].tries = 10;
  f.steps[0].stacks = (const char *const[]) { "the stack of 7", "the stack of 8" };
  const char *text = fixture_section(&f, "failures");
  const char *open = strstr(text, "id=\"error-1\" open"), *second = strstr(text, "id=\"error-2\"");
  assert_true(open && second);
  const char *largest = strstr(open, "the stack of 8");
  assert_true(largest && largest < second && strstr(second, "the stack of 7"));
  TM_ARRAY_RELEASE(&groups.list);
  (void)state;
}

static void the_size_of_failures_is_limited(void **state)
{
  struct tm_error_groups groups = { .other_tries = 12, .other_items = 1 };
  struct tm_fact_step *s = fixture_add_step(&f, "score", TM_FACT_FAILED);
  static char text[1000], message[20000];
  f.steps[0].groups = &groups;
  memset(text, '<', sizeof(text) - 1);
  memset(message, 'x', sizeof(message) - 1);
  for (size_t i = 0; i < TM_ERROR_GROUPS_MAX; i++) {
    add_group(&groups, i);
    groups.list.at[i].pattern = groups.list.at[i].message = text;
  }
  groups.list.at[0].message = message;
  s->error_file = "score/logs/user/error.txt";
  for (int64_t i = 0; i < 5000; i++)
    *TM_ARRAY_ADD(&s->failed_items) = (struct tm_fact_item) { text, text, "RUN_EXCEPTION", i / 5 };
  const char *html = fixture_section(&f, "failures");
  expect(html, "900 further errors");
  expect(html, "Other errors, not listed: 12 tries and 1 item.");
  expect(html, "The whole message is in <a href=\"score/logs/user/error.txt\">");
  assert_int_equal(count(html, "<details class='err'"), 100);
  assert_in_range(count(html, "<tr id=\"mini-batch-"), 200, 1000);
  expect(html, "The table has the first ");
  assert_in_range(f.out.len, 1, 3500000); /* "<" is four bytes */
  TM_ARRAY_RELEASE(&groups.list);
  (void)state;
}

static void files_are_links_from_where_the_page_is(void **state)
{
  *TM_ARRAY_ADD(&f.job.files) = (struct tm_fact_file) { "score/a b.csv", "output", 2048 };
  f.job.files_more = 3;
  expect(fixture_section(&f, "files"), "<a href=\"score/a%20b.csv\"><bdi>score/a b.csv</bdi></a>");
  expect(f.out.data, "2.0 KB");
  expect(f.out.data, "3 further files are not listed.");
  f.page.is_elsewhere = true;
  expect(fixture_section(&f, "files"),
         "<a href=\"file:///data/jobs/digits-20261122-021337-lvbu/score/a%20b.csv\">");
  (void)state;
}

static void in_the_portal_workers_and_mini_batches_are_links(void **state)
{
  struct tm_fact_step *s = fixture_add_step(&f, "sc ore", TM_FACT_FAILED);
  *TM_ARRAY_ADD(&s->failed_items) = (struct tm_fact_item) { "a.png", "bad", "RUN_TIMEOUT", 1234 };
  fixture_add_worker(&f, 0, "process003", 0, 60, "it ended");
  fixture_add_worker(&f, 0, "../up", 0, 60, "it ended");
  for (int i = 0; i < 30; i++)
    fixture_add_try(&f, 0, i, "process003", i, 0.5 + i * 0.01, "", "");
  static const struct {
    const char *section, *link;
  } links[] = {
    { "failures", "<a href=\"../mini-batches/sc%20ore/1234\">" },
    { "workers", "<a href=\"../workers/sc%20ore/process003\"><bdi>process003</bdi></a>" },
    { "durations", "<a href=\"../mini-batches/sc%20ore/29\">29</a>" },
    { "durations", "<a href=\"../workers/sc%20ore/process003\">" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(links); i++) {
    f.page.is_live = false;
    assert_int_equal(count(fixture_section(&f, links[i].section), "href=\"../"), 0);
    f.page.is_live = true;
    expect(fixture_section(&f, links[i].section), links[i].link);
  }
  assert_int_equal(count(fixture_section(&f, "workers"), "href=\"../"), 1); /* not of "../up" */
  (void)state;
}

/* The whole. */

/* Each link within the page leads somewhere, and no two places have one id. */
static void expect_links(const char *html)
{
  for (const char *at = html; (at = strstr(at, "href=\"#")); at++) {
    const char *from = at + strlen("href=\"#");
    char *id = tm_xprintf(" id=\"%.*s\"", (int)strcspn(from, "\""), from);
    char *literal = tm_xprintf(" id='%.*s'", (int)strcspn(from, "\""), from);
    assert_int_equal(count(html, id) + count(html, literal), 1);
    free(id);
    free(literal);
  }
}

static void add_two_steps(void)
{
  for (int i = 0; i < 2; i++) {
    struct tm_fact_step *s = fixture_add_step(&f, i == 0 ? "first" : "second", TM_FACT_COMPLETED);
    *TM_ARRAY_ADD(&s->settings) =
        (struct tm_fact_setting) { "mini_batch_size", "5", "option", false, NULL, false };
    fixture_add_worker(&f, (size_t)i, "process000", 0, 2, "stopped");
    fixture_add_try(&f, (size_t)i, 0, "process000", 0.5, 1, "", "");
    tm_step_model_settle(&f.models[i], 0);
  }
}

static void a_page_of_two_steps_has_both(void **state)
{
  add_two_steps();
  f.page.step = 1;
  f.page.made_in_ns = 52 * TM_MS;
  for (size_t i = 0; i < 2; i++)
    *TM_ARRAY_ADD(&f.job.steps.at[i].outputs) =
        (struct tm_fact_output) { "", i == 0 ? "/x/first" : "/x/last", NULL, NULL, -1, 7 };
  f.job.counts.items_succeeded = 2;
  f.page.step = 0; /* whichever step the page shows first, the output is that of the last one */
  expect(fixture_section(&f, "result"), "</bdi> is <a href=\"file:///x/last\">");
  f.page.step = 1;
  const char *html = fixture_page(&f);
  expect(html, "<section id=\"settings\"");
  expect(html, "<details class='step' id=\"step-1\">");
  expect(html, "<section id=\"settings-1\"");
  expect(html, "counts all 2 tries.");
  expect(html, " in 52 ms from the job");
  expect_links(html);
  assert_memory_equal(html, TM_PAGE_BEGIN, strlen(TM_PAGE_BEGIN));
  (void)state;
}

static void the_footer_says_only_what_is_left_out(void **state)
{
  struct tm_fact_step *s = fixture_add_step(&f, "score", TM_FACT_COMPLETED);
  fixture_add_try(&f, 0, 0, "process000", 0.5, 1, "", "");
  const char *text = fixture_page(&f);
  expect(text, "Every sum and picture counts the only try. Made by");
  for (int i = 1; i < 30; i++)
    fixture_add_try(&f, 0, i, "process000", 0.5 + i, 0.5, "", "");
  expect(fixture_page(&f),
         "counts all 30 tries. Of each step, the page lists the 20 slowest tries. "
         "Made by");
  s->failed_items_more = 1;
  expect(fixture_page(&f), "the 20 slowest tries and the first 5,000 failed items. Made by");
  (void)state;
}

static void a_page_loads_nothing_and_allows_only_its_own(void **state)
{
  const char *html = fixture_page(&f);
  expect(html,
         "content=\"default-src &#39;none&#39;; style-src &#39;nonce-bm9uY2U&#39;; script-src "
         "&#39;nonce-bm9uY2U&#39;; img-src data:; base-uri &#39;none&#39;; form-action "
         "&#39;none&#39;\"");
  assert_int_equal(count(html, "<script"), count(html, "<script nonce=\"bm9uY2U\">"));
  assert_int_equal(count(html, "<style"), count(html, "<style nonce=\"bm9uY2U\">"));
  assert_int_equal(count(html, " style="), 0);
  assert_int_equal(count(html, " src="), 0);
  (void)state;
}

#define HOSTILE "<canary> \"'&]]></script></title></style>\x1B[31m\xE2\x80\xAE\xFF\x01"

static void hostile_text_is_never_markup(void **state)
{
  struct tm_error_groups groups = { 0 };
  struct tm_fact_job *j = &f.job;
  j->dir = j->name = j->pipeline = j->host = j->version = j->cause = j->fault = j->before =
      j->cancel_asked_by = j->next = j->next_why = HOSTILE;
  j->state = TM_FACT_FAILED;
  for (int i = 0; i < 2; i++) {
    struct tm_fact_step *s = fixture_add_step(&f, HOSTILE, TM_FACT_FAILED);
    s->cause = s->error_file = s->script = s->script_hash = HOSTILE;
    *TM_ARRAY_ADD(&s->outputs) =
        (struct tm_fact_output) { HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1, 1 };
    *TM_ARRAY_ADD(&s->inputs) = (struct tm_fact_input) { HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1, 1 };
    *TM_ARRAY_ADD(&s->settings) =
        (struct tm_fact_setting) { HOSTILE, HOSTILE, HOSTILE, false, HOSTILE, false };
    *TM_ARRAY_ADD(&s->failed_items) = (struct tm_fact_item) { HOSTILE, HOSTILE, HOSTILE, 1 };
    fixture_add_worker(&f, (size_t)i, HOSTILE, 0, 2, HOSTILE);
    fixture_add_try(&f, (size_t)i, 0, HOSTILE, 0.5, 1, "error", HOSTILE);
    tm_step_model_settle(&f.models[i], 0);
    f.steps[i].groups = &groups;
  }
  *TM_ARRAY_ADD(&j->files) = (struct tm_fact_file) { HOSTILE, "log", 1 };
  *TM_ARRAY_ADD(&j->parameters) =
      (struct tm_fact_setting) { HOSTILE, HOSTILE, HOSTILE, false, NULL, false };
  add_group(&groups, 0);
  struct tm_error_group *g = &groups.list.at[0];
  g->pattern = g->status = g->where = g->message = g->item = g->worker = (char *)HOSTILE;
  f.findings.len = 1;
  f.findings.at[0] = (struct tm_finding) {
    .letter = 'A', .head = (char *)HOSTILE, .text = (char *)HOSTILE, .section = "failures"
  };
  const char *html = fixture_page(&f);
  assert_int_equal(count(html, "<canary"), 0);
  assert_true(count(html, "&lt;canary&gt;") > 50);
  assert_int_equal(count(html, "</script>"), count(html, "<script"));
  assert_int_equal(count(html, "</style>"), 1);
  assert_int_equal(count(html, "</title>"), count(html, "<title>"));
  for (const char *c = html; *c; c++)
    assert_true((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t');
  assert_int_equal(count(html, "\xE2\x80\xAE"), 0);
  assert_int_equal(count(html, "\xFF"), 0);
  TM_ARRAY_RELEASE(&groups.list);
  (void)state;
}

UNIT_TESTS({
    CASE(each_state_has_its_word_and_sentence),
    CASE(a_running_job_says_as_of_when),
    CASE(local_time_is_beside_utc),
    CASE(a_reused_job_links_to_the_other_one),
    CASE(what_could_not_be_read_is_said),
    CASE(a_removed_job_has_what_its_history_knows),
    CASE(counts_end_where_a_journal_is_damaged),
    CASE(the_next_command_can_be_copied),
    CASE(a_job_with_nothing_has_result_and_figures_alone),
    CASE(failures_are_groups_and_items),
    CASE(the_largest_error_comes_first),
    CASE(the_size_of_failures_is_limited),
    CASE(files_are_links_from_where_the_page_is),
    CASE(in_the_portal_workers_and_mini_batches_are_links),
    CASE(a_page_of_two_steps_has_both),
    CASE(the_footer_says_only_what_is_left_out),
    CASE(a_page_loads_nothing_and_allows_only_its_own),
    CASE(hostile_text_is_never_markup),
});
