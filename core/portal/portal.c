/* portal.c - see portal.h. */
#include "portal/portal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "portal/portal_assets.h"
#include "portal/pages/pages.h"

#define NEXT_MAX 2000 /* bytes of an address that a cookie keeps */

int tm_portal_open(struct tm_portal *p, struct tidemill_workspace *ws, struct tm_err *err)
{
  p->ws = ws;
  p->workspace = tidemill_workspace_path(ws);
  tm_watch_open(&p->watch, p->workspace);
  tm_job_list_init(&p->jobs, p->workspace);
  return tm_secret_make(p->feed.epoch, TM_FEED_EPOCH_LEN, err);
}

void tm_portal_close(struct tm_portal *p)
{
  tm_merged_clean(&p->logs, 0, true);
  tm_insight_clean(&p->views, 0, true);
  tm_job_list_release(&p->jobs);
  tm_watch_close(&p->watch);
  tm_feed_release(&p->feed);
}

/* ---- the way in ---- */

static const char where_words[] =
    "The address that the portal printed when it started has a token; open that one. "
    "`tidemill portal` in the same directory prints it again.";

/* A cookie keeps an address of plain characters: others, such as ';', have a meaning in it. */
static bool can_keep(const struct tm_visit *v)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "/._~%?=&+-";
  const char *target = v->request->target;
  return tm_access_is_navigation(&v->request->head) && strlen(target) <= NEXT_MAX &&
         target[strspn(target, plain)] == '\0';
}

static void answer_stranger(const struct tm_visit *v)
{
  const struct tm_request_head *head = &v->request->head;
  /* A browser sends the cookie only from our own pages: this page asks once more. */
  bool tries_again = head->site && strcmp(head->site, "cross-site") == 0;
  tm_frame_plain(v->answer, 401, "The portal does not know this browser", where_words, tries_again);
  if (can_keep(v))
    tm_answer_header(v->answer, "Set-Cookie",
                     TM_ACCESS_NEXT "=%s; Path=/%s/; HttpOnly; "
                                    "SameSite=Strict; Max-Age=600",
                     v->request->target, v->portal->prefix);
}

static void answer_too_many(const struct tm_visit *v)
{
  tm_frame_plain(v->answer, 429, "Too many wrong tokens",
                 "Ten wrong tokens came within a second. Try again in a moment.", false);
  tm_answer_header(v->answer, "Retry-After", "1");
}

/* The page that was asked for first, if it is one of ours; else the one of the request, without its
 * query. To free(). */
static char *next_page(const struct tm_visit *v)
{
  const char *at = v->request->head.cookie, *value;
  size_t len;
  bool is_first = v->target->len == 1; /* no page in particular */
  while (is_first && (value = tm_access_cookie_value(&at, TM_ACCESS_NEXT, &len))) {
    char *next = tm_xstrndup(value, len);
    struct tm_target t;
    bool is_ours = tm_target_parse(&t, next, NULL) == 0 && t.len > 1 &&
                   strcmp(t.segments[0], v->portal->prefix) == 0 && !strstr(t.query, "token=");
    tm_target_release(&t);
    if (is_ours)
      return next;
    free(next);
  }
  return tm_xstrndup(v->request->target, strcspn(v->request->target, "?"));
}

/* The token becomes a cookie, and leaves the address. */
static void answer_token(const struct tm_visit *v, const char *token)
{
  struct tm_portal *p = v->portal;
  enum tm_access_key key = tm_access_token(&p->access, token, v->request->now_ns);
  if (key == TM_ACCESS_TOO_MANY) {
    answer_too_many(v);
  } else if (key == TM_ACCESS_WRONG_KEY) {
    tm_frame_plain(
        v->answer, 401, "The token is wrong",
        "It is another one with each start of the portal. "
        "`tidemill portal` in the same directory prints the address of the one that runs.",
        false);
  } else {
    char *next = next_page(v);
    tm_frame_plain(v->answer, 303, "This way", "", false);
    tm_answer_header(v->answer, "Location", "%s", next);
    tm_answer_header(v->answer, "Set-Cookie",
                     TM_ACCESS_COOKIE "=%s; Path=/%s/; HttpOnly; SameSite=Strict",
                     p->access.session, p->prefix);
    tm_answer_header(v->answer, "Set-Cookie",
                     TM_ACCESS_NEXT "=; Path=/%s/; HttpOnly; SameSite=Strict; Max-Age=0",
                     p->prefix);
    free(next);
  }
}

/* ---- pages ---- */

static void answer_events(const struct tm_visit *v)
{
  tm_answer_init(v->answer, 200, TM_ANSWER_STREAM);
}

static void answer_nothing(const struct tm_visit *v)
{
  tm_frame_fail(v, 404, "Not found", "The portal has no page at this address.");
}

/* The report links to files relative to the job's directory, so its page is in a folder of its own,
 * jobs/KEY/job/. */
static void to_job(const struct tm_visit *v)
{
  int len = (int)strcspn(v->request->target, "?");
  tm_answer_init(v->answer, 303, TM_ANSWER_PAGE);
  tm_answer_header(v->answer, "Location", "%.*s%sjob/", len, v->request->target,
                   v->target->is_folder ? "" : "/");
}

/* From /PREFIX/jobs/KEY/job/PATH to /PREFIX/jobs/KEY/view/0/PATH. */
static void to_file(const struct tm_visit *v)
{
  const char *target = v->request->target, *job = target, *path;
  for (int i = 0; i < 3; i++)
    job = strchr(job + 1, '/');
  path = strchr(job + 1, '/') + 1;
  tm_answer_init(v->answer, 303, TM_ANSWER_PAGE);
  tm_answer_header(v->answer, "Location", "%.*s/view/0/%s", (int)(job - target), target, path);
}

static void (*page_of(enum tm_page_kind kind))(const struct tm_visit *v)
{
  switch (kind) {
  case TM_PAGE_NONE: return answer_nothing;
  case TM_PAGE_JOBS: return tm_page_jobs;
  case TM_PAGE_DATASETS: return tm_page_datasets;
  case TM_PAGE_DATASET: return tm_page_dataset;
  case TM_PAGE_TO_JOB: return to_job;
  case TM_PAGE_TO_FILE: return to_file;
  case TM_PAGE_JOB: return tm_page_job;
  case TM_PAGE_REPORT: return tm_page_report;
  case TM_PAGE_STEP: return tm_page_step;
  case TM_PAGE_MINI_BATCH: return tm_page_mini_batch;
  case TM_PAGE_TO_MINI_BATCH: return tm_page_to_mini_batch;
  case TM_PAGE_WORKER: return tm_page_worker;
  case TM_PAGE_NODE: return tm_page_node;
  case TM_PAGE_FILES: return tm_page_files;
  case TM_PAGE_VIEW: return tm_page_view;
  case TM_PAGE_LOGS: return tm_page_logs;
  case TM_PAGE_METRICS: return tm_page_metrics;
  case TM_PAGE_ACTION: return tm_page_action;
  case TM_PAGE_EVENTS: return answer_events;
  }
  return answer_nothing;
}

static bool answer_asset(const struct tm_visit *v)
{
  const struct tm_target *t = v->target;
  for (const struct tm_asset *a = tm_assets; a->name; a++)
    if (t->len == 1 && !t->is_folder && strcmp(t->segments[0], a->name) == 0) {
      tm_answer_init(v->answer, 200, a->kind);
      tm_buf_add(&v->answer->body, a->text, *a->len);
      tm_answer_match(v->answer, v->request->if_none_match);
      return true;
    }
  return false;
}

/* A program that collects metrics has the token as a bearer, and no cookie. */
static bool answer_bearer(struct tm_visit *v)
{
  const struct tm_target *t = v->target;
  const char *bearer = v->request->head.authorization;
  bool is_metrics =
      t->len > 0 && strcmp(t->segments[t->len - 1], "metrics") == 0 &&
      (t->len == 1 || (t->len == 2 && strcmp(t->segments[0], v->portal->prefix) == 0));
  if (!is_metrics || !bearer)
    return false;
  switch (tm_access_bearer(&v->portal->access, bearer, v->request->now_ns)) {
  case TM_ACCESS_RIGHT: tm_page_metrics(v); break;
  case TM_ACCESS_WRONG_KEY:
    tm_frame_plain(v->answer, 401, "The token is wrong", where_words, false);
    tm_answer_header(v->answer, "WWW-Authenticate", "Bearer");
    break;
  case TM_ACCESS_TOO_MANY: answer_too_many(v); break;
  }
  return true;
}

/* Behind the prefix. */
static void answer_known(struct tm_visit *v)
{
  struct tm_buf token = TM_BUF_NONE;
  enum tm_access_key key = TM_ACCESS_WRONG_KEY;
  bool has_token = tm_target_text(v->target->query, "token", &token);
  if (has_token)
    answer_token(v, tm_buf_str(&token));
  else
    key = tm_access_cookie(&v->portal->access, v->request->head.cookie, v->request->now_ns);
  tm_buf_release(&token);
  if (has_token)
    return;
  if (key == TM_ACCESS_TOO_MANY) {
    answer_too_many(v);
  } else if (key == TM_ACCESS_WRONG_KEY) {
    answer_stranger(v);
  } else if (v->target->len == 1 && !v->target->is_folder) {
    tm_frame_plain(v->answer, 303, "This way", "", false);
    tm_answer_header(v->answer, "Location", "/%s/", v->portal->prefix);
  } else {
    v->route = tm_route_of(v->target, 1);
    page_of(v->route.kind)(v);
  }
}

static bool is_action(const struct tm_portal *p, const struct tm_target *t)
{
  return t->len > 0 && strcmp(t->segments[0], p->prefix) == 0 &&
         tm_route_of(t, 1).kind == TM_PAGE_ACTION;
}

/* Each action, whatever has become of it. A target that was parsed is printable. */
static void log_action(const struct tm_visit *v)
{
  time_t now = time(NULL);
  struct tm local;
  char when[32] = "";
  if (localtime_r(&now, &local))
    (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
  fprintf(stderr, "tidemill: %s %s %.*s from %s: %d\n", when, v->request->head.method,
          (int)strcspn(v->request->target, "?"), v->request->target, v->request->address,
          v->answer->status);
}

static void answer_parsed(struct tm_visit *v)
{
  const struct tm_target *t = v->target;
  if (answer_asset(v) || answer_bearer(v))
    return;
  if (t->len > 0 && strcmp(t->segments[0], v->portal->prefix) == 0)
    answer_known(v);
  else
    tm_frame_plain(v->answer, 404, "This is a tidemill portal", where_words, false);
}

void tm_portal_answer(struct tm_portal *p, const struct tm_request *r, struct tm_answer *a)
{
  struct tm_target target;
  struct tm_err err = TM_ERR_NONE;
  struct tm_request_head head = r->head;
  struct tm_visit v = { .portal = p, .request = r, .target = &target, .answer = a };
  const char *words;
  bool is_parsed = tm_target_parse(&target, r->target, &err) == 0;
  head.is_action = is_parsed && is_action(p, &target);
  int status = tm_access_check(&p->access, &head, &words);
  if (status) {
    tm_frame_plain(a, status, "Refused", words, false);
    if (status == 405)
      tm_answer_header(a, "Allow", head.is_action ? "POST" : "GET, HEAD");
  } else if (!is_parsed) {
    tm_frame_plain(a, 400, "Refused", err.text, false);
  } else {
    answer_parsed(&v);
  }
  if (head.is_action)
    log_action(&v);
  tm_target_release(&target);
}

/* ---- streams ---- */

void tm_portal_stream(struct tm_portal *p, const struct tm_request *r,
                      struct tm_feed_reader *reader)
{
  struct tm_buf topics = TM_BUF_NONE;
  const char *query = strchr(r->target, '?');
  tm_target_text(query ? query + 1 : "", "topics", &topics);
  tm_feed_reader_init(reader, &p->feed, tm_buf_str(&topics), r->last_event_id);
  for (size_t i = 0; i < reader->topics_len;)
    if (tm_watch_hold(&p->watch, reader->topics[i]))
      i++;
    else
      tm_feed_reader_drop(reader, i);
  tm_buf_release(&topics);
}

void tm_portal_stream_end(struct tm_portal *p, struct tm_feed_reader *reader)
{
  for (size_t i = 0; i < reader->topics_len; i++)
    tm_watch_let_go(&p->watch, reader->topics[i]);
}
