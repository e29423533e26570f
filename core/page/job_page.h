/* job_page.h - what a page of a job shows. Everything is the caller's. */
#ifndef TM_PAGE_JOB_PAGE_H
#define TM_PAGE_JOB_PAGE_H

#include "insight/facts.h"
#include "insight/findings.h"
#include "insight/step_model.h"
#include "report/error_groups.h"

struct tm_page_step {
  const struct tm_step_model *model; /* NULL: nothing is known: it has not begun, or was reused */
  const struct tm_error_groups *groups;
  /* Of the first error of each listed group: its stack, or what its worker printed last; NULL: not
   * known. NULL: none are known. */
  const char *const *stacks;
};

struct tm_page_profile { /* a file of collapsed stacks (agent/profile.h) */
  const char *name;
  const char *text;
  size_t len;
};

/* What is shown. */
struct tm_job_page {
  const struct tm_fact_job *job;
  const struct tm_page_step *steps; /* one for each of job->steps */
  const struct tm_findings *findings;
  const struct tm_page_profile *profiles;
  size_t profiles_len;
  size_t step;            /* the step that the sections about one step show */
  int64_t from_ns, to_ns; /* the span of the timeline; both 0: all of it */
  int width;              /* of the timeline, px; 0: 1048 */
  bool is_further;        /* `step` is shown after another one: its ids end in its number */
  bool is_live;           /* in the portal, where links lead to its pages */
  bool is_elsewhere;      /* the file is not in the job's directory: links to files name it */
  const char *nonce;      /* of the report's CSP */
  int64_t made_ns, made_in_ns;
  /* Seconds that local time is ahead of UTC at a moment, where the page is made; NULL: 0 */
  int64_t (*utc_offset_s)(int64_t wall_ns);
};

#endif
