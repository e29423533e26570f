/* page.c - a page: the table of its sections, and what is around them.
 *
 * The sections are written first, each to a buffer of its own: so the links at the top lead to
 * those that have something to show.
 */
#include "page/page.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "page/assets.h"
#include "page/section.h"
#include "page/svg.h"

/* The sections, in the order of the page: name, link at the top (NULL: none), scope. */
#define SECTION_MAP(X)                                                                             \
  X(result, "Result", TM_SECTION_OF_JOB)                                                           \
  X(figures, NULL, TM_SECTION_OF_JOB)                                                              \
  X(findings, NULL, TM_SECTION_OF_JOB)                                                             \
  X(now, "Right now", TM_SECTION_OF_JOB)                                                           \
  X(failures, "Failures", TM_SECTION_OF_STEP)                                                      \
  X(steps, "Steps", TM_SECTION_OF_JOB)                                                             \
  X(time, "Time", TM_SECTION_OF_STEP)                                                              \
  X(timeline, "Timeline", TM_SECTION_OF_STEP)                                                      \
  X(durations, NULL, TM_SECTION_OF_STEP)                                                           \
  X(workers, "Workers", TM_SECTION_OF_STEP)                                                        \
  X(profile, "Profile", TM_SECTION_OF_JOB)                                                         \
  X(settings, "Settings", TM_SECTION_OF_STEP)                                                      \
  X(files, "Files", TM_SECTION_OF_JOB)

#define SECTION_ROW(name, link, scope)  { #name, link, scope, tm_section_##name },
#define SECTION_NAME(name, link, scope) #name,

static const struct {
  const char *name, *link;
  enum tm_section_scope scope;
  void (*write)(struct tm_html *h, const struct tm_job_page *page);
} sections[] = { SECTION_MAP(SECTION_ROW) };

#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

const char *const *tm_page_sections(void)
{
  static const char *const names[] = { SECTION_MAP(SECTION_NAME) NULL };
  return names;
}

bool tm_page_add_section(struct tm_buf *out, const struct tm_job_page *page, const char *name)
{
  for (size_t i = 0; i < SECTIONS; i++)
    if (strcmp(sections[i].name, name) == 0) {
      struct tm_html h;
      tm_html_init(&h, out);
      sections[i].write(&h, page);
      tm_html_finish(&h);
      return true;
    }
  return false;
}

/* The head. */

static void add_head(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_job *job = page->job;
  tm_html_open(h, "head");
  tm_html_void(h, "meta charset='utf-8'");
  tm_html_void(h, "meta name='generator'");
  tm_html_attr(h, "content", "tidemill report " TM_VERSION);
  tm_html_void(h, "meta http-equiv='Content-Security-Policy'");
  tm_html_attrf(h, "content",
                "default-src 'none'; style-src 'nonce-%s'; script-src 'nonce-%s'; img-src data:; "
                "base-uri 'none'; form-action 'none'",
                tm_text_or_empty(page->nonce), tm_text_or_empty(page->nonce));
  tm_html_void(h, "meta name='viewport' content='width=device-width, initial-scale=1'");
  tm_html_void(h, "meta name='color-scheme' content='light dark'");
  tm_html_void(h, "meta name='referrer' content='no-referrer'");
  tm_html_open(h, "title");
  tm_html_textf(h, "%s · %s · tidemill report", tm_text_or_empty(job->pipeline),
                tm_page_state_of_job(job).word);
  tm_html_close(h, "title");
  tm_html_style(h, page->nonce, tm_text_report_css, tm_text_report_css_len);
  tm_html_print_margin(h, page->nonce, job->name);
  tm_html_close(h, "head");
}

/* The sections of a step that is shown after another one; nothing if it has none. */
static void add_further_step(struct tm_html *h, const struct tm_job_page *page, size_t step)
{
  struct tm_job_page further = *page;
  struct tm_buf part = TM_BUF_NONE;
  further.step = step;
  further.is_further = true;
  for (size_t i = 0; i < SECTIONS; i++)
    if (sections[i].scope == TM_SECTION_OF_STEP)
      tm_page_add_section(&part, &further, sections[i].name);
  if (part.len == 0)
    return;
  const struct tm_fact_step *fact = tm_page_fact(&further);
  tm_html_open(h, "details class='step'");
  tm_html_attrf(h, "id", "step-%zu", step + 1);
  tm_html_open(h, "summary");
  tm_html_text(h, "Step ");
  tm_html_name(h, fact->name);
  tm_html_text(h, " ");
  tm_html_put(h, "small", tm_page_state_of_step(fact).word);
  tm_html_close(h, "summary");
  tm_html_part(h, &part);
  tm_html_close(h, "details");
  tm_buf_release(&part);
}

static void add_other_steps(struct tm_html *h, const struct tm_job_page *page)
{
  for (size_t i = 0; i < page->job->steps.len; i++)
    if (i != page->step)
      add_further_step(h, page, i);
}

/* `parts`: the sections. */
static void add_top(struct tm_html *h, const struct tm_buf *parts)
{
  tm_html_put(h, "a class='skip' href='#main'", "Skip to the report");
  tm_html_open(h, "header class='top'");
  tm_html_open(h, "div class='wrap'");
  tm_html_put(h, "span class='brand'", "tidemill");
  tm_html_open(h, "nav aria-label='Sections'");
  for (size_t i = 0; i < SECTIONS; i++)
    if (sections[i].link && parts[i].len > 0) {
      tm_html_open(h, "a");
      tm_html_href_id(h, sections[i].name);
      tm_html_text(h, sections[i].link);
      tm_html_close(h, "a");
      tm_html_text(h, " ");
    }
  tm_html_close(h, "nav");
  tm_html_put(h, "button type='button' class='theme' aria-label='Light or dark' hidden", "◐");
  tm_html_close(h, "div");
  tm_html_close(h, "header");
}

static int64_t tries_of(const struct tm_step_model *m)
{
  int64_t sum = 0;
  for (int c = 0; c < TM_CATEGORIES; c++)
    sum += m->tries[c];
  return sum;
}

/* What is complete and what is a selection. */
static void add_scope(struct tm_html *h, const struct tm_job_page *page)
{
  int64_t tries = 0, jumps = 0;
  bool has_more_items = false;
  for (size_t i = 0; i < page->job->steps.len; i++)
    has_more_items = has_more_items || page->job->steps.at[i].failed_items_more > 0;
  for (size_t i = 0; page->steps && i < page->job->steps.len; i++)
    if (page->steps[i].model) {
      tries += tries_of(page->steps[i].model);
      jumps += page->steps[i].model->clock_jumps;
    }
  if (tries == 1)
    tm_html_text(h, "Every sum and picture counts the only try. ");
  if (tries > 1) {
    tm_html_text(h, "Every sum and picture counts all ");
    tm_html_int(h, tries);
    tm_html_text(h, " tries. ");
  }
  if (tries > TM_NOTABLE_SLOWEST || has_more_items) {
    tm_html_textf(h, "Of each step, the page lists the %d slowest tries", TM_NOTABLE_SLOWEST);
    tm_html_text(h, has_more_items ? " and the first 5,000 failed items. " : ". ");
  }
  if (jumps > 0) {
    tm_page_count(h, jumps, "duration", "durations");
    tm_html_text(h, " would have been negative, because a clock was set back; they count as 0. ");
  }
}

static void add_foot(struct tm_html *h, const struct tm_job_page *page)
{
  tm_html_open(h, "footer class='wrap'");
  tm_html_open(h, "p");
  add_scope(h, page);
  tm_html_text(h, "Made by tidemill " TM_VERSION);
  if (page->made_ns > 0) {
    tm_html_text(h, " on ");
    tm_page_moment(h, page, page->made_ns);
  }
  if (page->made_in_ns > 0) {
    tm_html_text(h, " in ");
    tm_page_duration(h, page->made_in_ns);
  }
  tm_html_text(h, page->job->is_removed ? " from the history of the workspace."
                                        : " from the job's own files.");
  tm_html_text(h, " The page loads nothing from anywhere.");
  tm_html_close(h, "p");
  tm_html_close(h, "footer");
}

static void add_body(struct tm_html *h, const struct tm_job_page *page, const struct tm_buf *parts)
{
  tm_html_open(h, "body");
  add_top(h, parts);
  tm_svg_defs(h);
  tm_html_open(h, "main id='main' class='wrap'");
  for (size_t i = 0; i < SECTIONS; i++) {
    if (strcmp(sections[i].name, "files") == 0)
      add_other_steps(h, page);
    tm_html_part(h, &parts[i]);
  }
  tm_html_close(h, "main");
  add_foot(h, page);
  tm_html_script(h, page->nonce, tm_text_report_js, tm_text_report_js_len);
  tm_html_close(h, "body");
}

void tm_page_add(struct tm_buf *out, const struct tm_job_page *page)
{
  struct tm_buf parts[SECTIONS] = { TM_BUF_NONE };
  struct tm_html h;
  for (size_t i = 0; i < SECTIONS; i++)
    tm_page_add_section(&parts[i], page, sections[i].name);
  tm_html_init(&h, out);
  tm_html_doctype(&h);
  tm_html_open(&h, "html lang='en'");
  add_head(&h, page);
  add_body(&h, page, parts);
  tm_html_close(&h, "html");
  tm_html_finish(&h);
  for (size_t i = 0; i < SECTIONS; i++)
    tm_buf_release(&parts[i]);
}
