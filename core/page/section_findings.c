/* section_findings.c - what stands out: the sentences of the rules, each with its letter. */
#include "page/section.h"

static void add_lost(struct tm_html *h, int64_t lost_ns)
{
  double hours = (double)lost_ns / 3.6e12;
  if (lost_ns <= 0)
    return;
  tm_html_open(h, "em");
  if (hours >= 1)
    tm_html_textf(h, "%.1f worker hours", hours);
  else if (hours >= 1.0 / 60)
    tm_html_textf(h, "%.0f min of worker time", hours * 60);
  else {
    tm_page_duration(h, lost_ns);
    tm_html_text(h, " of worker time");
  }
  tm_html_close(h, "em");
}

static void add_finding(struct tm_html *h, const struct tm_job_page *page,
                        const struct tm_finding *f)
{
  static const char *const classes[] = { "low", "mid", "high" };
  tm_html_open(h, "li");
  tm_html_attr(h, "class", classes[f->weight]);
  tm_html_attrf(h, "id", "finding-%c", f->letter - 'A' + 'a');
  tm_html_open(h, "b class='letter'");
  tm_html_textf(h, "%c", f->letter);
  tm_html_close(h, "b");
  tm_html_text(h, " ");
  tm_html_open(h, "a");
  if (f->step == page->step)
    tm_html_href_id(h, f->section);
  else
    tm_html_href_idf(h, "%s-%zu", f->section, f->step + 1);
  tm_html_put(h, "b", f->head);
  tm_html_text(h, " ");
  tm_page_pattern(h, f->text);
  if (page->job->steps.len > 1) {
    tm_html_text(h, " (step ");
    tm_html_name(h, page->job->steps.at[f->step].name);
    tm_html_text(h, ")");
  }
  tm_html_close(h, "a");
  tm_html_text(h, " ");
  add_lost(h, f->lost_ns);
  tm_html_close(h, "li");
}

/* Without a worker and a try, no rule had anything to look at. */
static bool has_begun(const struct tm_step_model *m)
{
  int64_t tries = 0;
  for (int i = 0; i < TM_CATEGORIES; i++)
    tries += m->tries[i];
  return tries > 0 || m->workers.list.len > 0 || m->workers.deaths > 0 ||
         m->workers.inits_failed > 0;
}

void tm_section_findings(struct tm_html *h, const struct tm_job_page *page)
{
  bool is_known = false, has_failed = false;
  for (size_t i = 0; page->steps && i < page->job->steps.len; i++)
    if (page->steps[i].model && has_begun(page->steps[i].model)) {
      is_known = true;
      has_failed = has_failed || page->steps[i].model->tries_failed > 0 ||
                   page->steps[i].model->workers.inits_failed > 0 ||
                   page->steps[i].model->workers.deaths > 0 ||
                   page->job->steps.at[i].counts.failed > 0;
    }
  if (!is_known || !page->findings)
    return;
  tm_section_begin(h, page, "findings", "What stands out", TM_SECTION_OF_JOB, NULL);
  if (page->findings->len == 0)
    tm_html_put(h, "p class='dim'",
                has_failed
                    ? "Nothing besides the failures: no other rule found anything unusual."
                    : "Nothing: no try and no worker failed, and no rule found anything unusual.");
  else
    tm_html_open(h, "ul class='findings'");
  for (size_t i = 0; i < page->findings->len; i++)
    add_finding(h, page, &page->findings->at[i]);
  if (page->findings->len > 0)
    tm_html_close(h, "ul");
  tm_section_end(h);
}
