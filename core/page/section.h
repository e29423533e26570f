/* section.h - the sections of a page, and what they have in common.
 *
 * A new section: its function here, its row in page.c, and its line in README.md. A section about
 * one step shows page->step.
 */
#ifndef TM_PAGE_SECTION_H
#define TM_PAGE_SECTION_H

#include "page/html.h"
#include "page/job_page.h"
#include "page/states.h"

/* Each writes its section, or nothing if the page has no data for it. */
void tm_section_result(struct tm_html *h, const struct tm_job_page *page);
void tm_section_figures(struct tm_html *h, const struct tm_job_page *page);
void tm_section_findings(struct tm_html *h, const struct tm_job_page *page);
void tm_section_now(struct tm_html *h, const struct tm_job_page *page);
void tm_section_failures(struct tm_html *h, const struct tm_job_page *page);
void tm_section_steps(struct tm_html *h, const struct tm_job_page *page);
void tm_section_time(struct tm_html *h, const struct tm_job_page *page);
void tm_section_timeline(struct tm_html *h, const struct tm_job_page *page);
void tm_section_durations(struct tm_html *h, const struct tm_job_page *page);
void tm_section_workers(struct tm_html *h, const struct tm_job_page *page);
void tm_section_profile(struct tm_html *h, const struct tm_job_page *page);
void tm_section_settings(struct tm_html *h, const struct tm_job_page *page);
void tm_section_files(struct tm_html *h, const struct tm_job_page *page);

/* The beginning of a section, with its heading. `id`, `title`: literals. `note`: small, beside the
 * title; NULL: none. In a page with several steps, the note also names the step of a section about
 * one step, and the ids of the steps after the first end in the step's number: "timeline-2". */
enum tm_section_scope { TM_SECTION_OF_JOB, TM_SECTION_OF_STEP };
void tm_section_begin(struct tm_html *h, const struct tm_job_page *page, const char *id,
                      const char *title, enum tm_section_scope scope, const char *note);
void tm_section_end(struct tm_html *h);
/* The id of a place in a section of a step: "error-2", or "error-2-of-3" in the third step. */
void tm_section_id(struct tm_html *h, const struct tm_job_page *page, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What page->step is, or NULL. */
const struct tm_fact_step *tm_page_fact(const struct tm_job_page *page);
const struct tm_step_model *tm_page_model(const struct tm_job_page *page);

/* Numbers and moments, as the program writes them elsewhere. */
void tm_page_duration(struct tm_html *h, int64_t ns);
void tm_page_bytes(struct tm_html *h, int64_t bytes);
void tm_page_percent(struct tm_html *h, double share); /* 0.0026: "0.26 %" */
/* A <time>, with the local time of the machine that makes the page, where it is not UTC. The script
 * adds that of the reader if it differs. */
void tm_page_moment(struct tm_html *h, const struct tm_job_page *page, int64_t wall_ns);
void tm_page_count(struct tm_html *h, int64_t n, const char *one, const char *more);
void tm_text_percent(struct tm_buf *text, double share);

/* A pattern of messages, with the parts that differ marked: "page <n>" as "page number". */
void tm_page_pattern(struct tm_html *h, const char *pattern);

/* A command to copy, and what it does (or NULL). */
void tm_page_command(struct tm_html *h, const char *command, const char *why);
/* A link to a file of the job; `path`: relative to the job, or absolute. */
void tm_page_file(struct tm_html *h, const struct tm_job_page *page, const char *path);
/* In the portal, opens a link to one of its pages about page->step, such as "workers" of worker
 * `name`, and returns true: close "a". In a report, or if a path cannot have the name: false. */
bool tm_page_lead(struct tm_html *h, const struct tm_job_page *page, const char *kind,
                  const char *name);
/* A cell with the name of a worker, or the number of a mini-batch (negative: empty), which leads to
 * its page in the portal. */
void tm_page_cell_worker(struct tm_html *h, const struct tm_job_page *page, const char *name);
void tm_page_cell_mini_batch(struct tm_html *h, const struct tm_job_page *page, int64_t n);
/* The cells of a table. */
void tm_page_cell(struct tm_html *h, const char *text);    /* NULL: empty */
void tm_page_cell_int(struct tm_html *h, int64_t n);       /* negative: empty */
void tm_page_cell_bytes(struct tm_html *h, int64_t bytes); /* negative: empty */
/* The head of a table: its caption, and its columns, which end in NULL; a column that begins with
 * '#' has numbers. Opens <table> and <tbody>. */
void tm_page_table_begin(struct tm_html *h, const char *caption, const char *const *columns);
void tm_page_table_end(struct tm_html *h);

/* How a state is shown. */
struct tm_page_state tm_page_state_of_job(const struct tm_fact_job *job);
/* The first step whose counts end where its journal is damaged: it has no result. NULL: none. */
const struct tm_fact_step *tm_page_uncounted(const struct tm_fact_job *job);
struct tm_page_state tm_page_state_of_step(const struct tm_fact_step *step);

#endif
