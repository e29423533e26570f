/* section_files.c - the files of the job, by kind. */
#include <string.h>

#include "page/section.h"

static const struct {
  const char *kind, *title;
} kinds[] = { { "output", "Outputs" }, { "log", "Logs" }, { "record", "Record" } };

static void add_file(struct tm_html *h, const struct tm_job_page *page,
                     const struct tm_fact_file *f)
{
  tm_html_open(h, "li");
  tm_page_file(h, page, f->path);
  if (f->bytes >= 0) {
    tm_html_text(h, " ");
    tm_html_open(h, "small");
    tm_page_bytes(h, f->bytes);
    tm_html_close(h, "small");
  }
  tm_html_close(h, "li");
}

static void add_kind(struct tm_html *h, const struct tm_job_page *page, size_t kind)
{
  const struct tm_fact_job *job = page->job;
  int64_t count = 0, bytes = 0;
  for (size_t i = 0; i < job->files.len; i++)
    if (strcmp(job->files.at[i].kind, kinds[kind].kind) == 0) {
      count++;
      bytes += job->files.at[i].bytes > 0 ? job->files.at[i].bytes : 0;
    }
  if (count == 0)
    return;
  tm_html_open(h, "details class='files'");
  if (kind == 0 || job->files.len <= 12)
    tm_html_attr(h, "open", "");
  tm_html_open(h, "summary");
  tm_html_text(h, kinds[kind].title);
  tm_html_text(h, " ");
  tm_html_open(h, "small");
  tm_page_count(h, count, "file, ", "files, ");
  tm_page_bytes(h, bytes);
  tm_html_close(h, "small");
  tm_html_close(h, "summary");
  tm_html_open(h, "ul");
  for (size_t i = 0; i < job->files.len; i++)
    if (strcmp(job->files.at[i].kind, kinds[kind].kind) == 0)
      add_file(h, page, &job->files.at[i]);
  tm_html_close(h, "ul");
  tm_html_close(h, "details");
}

void tm_section_files(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_job *job = page->job;
  if (job->files.len == 0)
    return;
  tm_section_begin(h, page, "files", "Files", TM_SECTION_OF_JOB, NULL);
  tm_html_open(h, "p class='more'");
  tm_html_text(h, "In ");
  tm_html_put(h, "code", job->dir);
  tm_html_close(h, "p");
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
    add_kind(h, page, i);
  if (job->files_more > 0) {
    tm_html_open(h, "p class='more'");
    tm_page_count(h, job->files_more, "further file is", "further files are");
    tm_html_text(h, " not listed.");
    tm_html_close(h, "p");
  }
  tm_section_end(h);
}
