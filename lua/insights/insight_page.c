/* insight_page.c - an insight as a page of core/page, or a section of it. */
#include "insights/insight.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "api/own.h"
#include "base/text.h"
#include "page/page.h"
#include "sys/clock.h"
#include "sys/process.h"
#include "sys/whole_file.h"

#define PROFILES_MAX 8         /* files */
#define PROFILE_MAX  (4 << 20) /* bytes of one */

struct page {
  struct tm_job_page page;
  struct TM_ARRAY(struct tm_page_step) steps;
  struct TM_ARRAY(struct tm_page_profile) profiles;
  char nonce[33];
};

/* 128 bits that no text of the page could have guessed. */
static void set_nonce(struct page *p)
{
  snprintf(p->nonce, sizeof(p->nonce), "%016" PRIx64 "%016" PRIx64, tm_process_random(),
           tm_process_random());
  p->page.nonce = p->nonce;
}

/* The step with the most failed items; if nothing failed, the last one that did something here. */
static size_t most_telling(const struct tidemill_insight *in)
{
  size_t found = 0;
  int64_t failed = 0;
  for (size_t i = 0; i < in->steps.len; i++) {
    int64_t here = in->job.steps.at[i].counts.items_failed;
    if (in->steps.at[i].has_model && (here > failed || failed == 0)) {
      found = i;
      failed = here;
    }
  }
  return found;
}

static int find_step(const struct tidemill_insight *in, const char *name, size_t *step,
                     struct tm_err *err)
{
  const struct tm_fact_job *job = &in->job;
  *step = 0;
  for (size_t i = 0; name && i < job->steps.len; i++)
    if (strcmp(job->steps.at[i].name, name) == 0) {
      *step = i;
      return 0;
    }
  if (name && in->record)
    return tm_record_refuse_step(in->record, name, err);
  if (name)
    return tm_err_set(err, TM_EUSAGE, "job '%s' has no step '%s'", job->name, name);
  for (size_t i = 0; i < job->steps.len; i++)
    if (job->steps.at[i].state == TM_FACT_FAILED) {
      *step = i;
      return 0;
    }
  *step = most_telling(in);
  return 0;
}

static bool is_profile(const char *path)
{
  size_t n = strlen(path), end = strlen(".profile");
  return n > end && strcmp(path + n - end, ".profile") == 0;
}

/* Not a link that leads elsewhere, nor a FIFO that nobody writes. */
static bool is_regular(const char *path)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  return fs->stat(fs->self, path, false, &st) == 0 && S_ISREG(st.mode);
}

static void read_profiles(struct page *p, const struct tm_fact_job *job)
{
  for (size_t i = 0; i < job->files.len && p->profiles.len < PROFILES_MAX; i++) {
    struct tm_buf text = TM_BUF_NONE;
    if (!is_profile(job->files.at[i].path))
      continue;
    char *path = tm_xprintf("%s/%s", job->dir, job->files.at[i].path);
    if (is_regular(path) && tm_file_read(path, PROFILE_MAX, &text, NULL) == 0 && text.len > 0)
      *TM_ARRAY_ADD(&p->profiles) =
          (struct tm_page_profile) { job->files.at[i].path, text.data, text.len };
    else
      tm_buf_release(&text);
    free(path);
  }
}

static void fill(struct page *p, struct tidemill_insight *in)
{
  for (size_t i = 0; i < in->job.steps.len; i++) {
    bool has_model = i < in->steps.len && in->steps.at[i].has_model;
    *TM_ARRAY_ADD(&p->steps) =
        (struct tm_page_step) { .model = has_model ? &in->steps.at[i].model : NULL,
                                .groups = tm_insight_groups(in, i),
                                .stacks =
                                    i < in->steps.len ? in->steps.at[i].stacks.shown.at : NULL };
  }
  p->page.findings = tm_insight_findings(in);
  p->page.job = &in->job;
  p->page.steps = p->steps.at;
  set_nonce(p);
}

static void release(struct page *p)
{
  for (size_t i = 0; i < p->profiles.len; i++)
    free((char *)p->profiles.at[i].text);
  TM_ARRAY_RELEASE(&p->profiles);
  TM_ARRAY_RELEASE(&p->steps);
}

static bool needs_files(const char *section)
{
  return !section || strcmp(section, "files") == 0 || strcmp(section, "profile") == 0 ||
         strcmp(section, "settings") == 0;
}

static bool has_failures(const char *section)
{
  return !section || strcmp(section, "failures") == 0;
}

int tm_insight_add_page(struct tidemill_insight *in, struct tm_buf *out,
                        const struct tidemill_html_options *o, struct tm_err *err)
{
  struct page p = { .page = { .from_ns = o->from_ns,
                              .to_ns = o->to_ns,
                              .width = o->width,
                              .is_elsewhere = o->is_elsewhere,
                              .is_live = o->is_live,
                              .made_ns = tm_insight_now_ns(in),
                              .utc_offset_s = tm_clock_utc_offset_s,
                              .made_in_ns = tm_clock_mono_ns() - in->opened_ns } };
  int rc = find_step(in, o->step, &p.page.step, err);
  if (rc < 0)
    return rc;
  if (needs_files(o->section))
    tm_insight_read_files(in);
  for (size_t i = 0; i < in->steps.len && has_failures(o->section); i++)
    tm_insight_read_stacks(in, i);
  fill(&p, in);
  if (!o->section || strcmp(o->section, "profile") == 0)
    read_profiles(&p, &in->job);
  p.page.profiles = p.profiles.at;
  p.page.profiles_len = p.profiles.len;
  if (!o->section)
    tm_page_add(out, &p.page);
  else if (!tm_page_add_section(out, &p.page, o->section))
    rc = tm_err_set(err, TM_EUSAGE, "a page has no section '%s'", o->section);
  release(&p);
  return rc;
}

const char *const *tidemill_html_sections(void)
{
  return tm_page_sections();
}

const char *tidemill_insight_html(struct tidemill_insight *in,
                                  const struct tidemill_html_options *options, size_t *len,
                                  struct tm_err *err)
{
  static const char call[] = "tidemill_insight_html()";
  struct tidemill_html_options o = TIDEMILL_HTML_OPTIONS_INIT;
  err = TM_ERR_OWN(err);
  if (tm_need(err, call, "in", in, NULL) < 0 ||
      tm_take_options(&o, sizeof(o), options, call, "the options", "TIDEMILL_HTML_OPTIONS_INIT",
                      err) < 0)
    return NULL;
  tm_buf_clear(&in->html);
  if (tm_insight_add_page(in, &in->html, &o, err) < 0)
    return NULL;
  if (len)
    *len = in->html.len;
  return tm_buf_str(&in->html);
}
