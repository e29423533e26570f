/* portal.h - what all requests share, and the answer to one.
 *
 * A page is made by a function of pages/; which one, route.c says. It reads records, and writes
 * nothing. tm_portal_answer() is called for each request, after which nothing of it is kept.
 */
#ifndef TM_PORTAL_PORTAL_H
#define TM_PORTAL_PORTAL_H

#include <tidemill.h>

#include "portal/control.h"
#include "portal/http.h"
#include "portal/insight_view.h"
#include "portal/job_list.h"
#include "portal/merged_log.h"
#include "portal/own_files.h"
#include "portal/watched_jobs.h"

struct tm_portal {
  struct tidemill_workspace *ws;
  const char *workspace; /* its path */
  char prefix[TM_PORTAL_PREFIX_LEN + 1];
  struct tm_access access;
  struct tm_control control;
  struct tm_feed feed;
  struct tm_watch watch;
  struct tm_job_list jobs;
  struct tm_merged_logs logs;
  struct tm_insight_views views;
};

/* `access` and `prefix` are set before. */
int tm_portal_open(struct tm_portal *p, struct tidemill_workspace *ws, struct tm_err *err);
void tm_portal_close(struct tm_portal *p);

void tm_portal_answer(struct tm_portal *p, const struct tm_request *r, struct tm_answer *a);
/* The topics of an event stream: /PREFIX/events?topics=A,B */
void tm_portal_stream(struct tm_portal *p, const struct tm_request *r,
                      struct tm_feed_reader *reader);
void tm_portal_stream_end(struct tm_portal *p, struct tm_feed_reader *reader);

#endif
