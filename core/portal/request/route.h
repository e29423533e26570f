/* route.h - which page a path means. Pure: a table. */
#ifndef TM_PORTAL_REQUEST_ROUTE_H
#define TM_PORTAL_REQUEST_ROUTE_H

#include "portal/request/target.h"

enum tm_page_kind {
  TM_PAGE_NONE, /* there is no such page */
  TM_PAGE_JOBS,
  TM_PAGE_DATASETS,
  TM_PAGE_DATASET,
  TM_PAGE_TO_JOB,  /* leads to the page of the job */
  TM_PAGE_TO_FILE, /* a link of the report to a file: leads to its page */
  TM_PAGE_JOB,
  TM_PAGE_REPORT, /* as a file */
  TM_PAGE_STEP,
  TM_PAGE_MINI_BATCH,
  TM_PAGE_TO_MINI_BATCH, /* a form leads to one */
  TM_PAGE_WORKER,
  TM_PAGE_NODE,
  TM_PAGE_FILES, /* a file as it is, or a folder */
  TM_PAGE_VIEW,  /* a piece of a text file */
  TM_PAGE_LOGS,
  TM_PAGE_METRICS,
  TM_PAGE_ACTION, /* does something with a job, or a mini-batch (control_rules.h) */
  TM_PAGE_EVENTS, /* the event stream */
};

#define TM_ROUTE_WORDS 4

struct tm_route {
  enum tm_page_kind kind;
  const char *words[TM_ROUTE_WORDS]; /* what the path names, such as job, step, worker */
  size_t rest; /* where the segments of a further path begin; the target's length: there are none */
};

/* `from`: how many segments are the portal's prefix. */
struct tm_route tm_route_of(const struct tm_target *t, size_t from);

#endif
