/* pages.h - the pages of the portal.
 *
 * A page is a head and a list of sections. Without a script it is complete; the script asks for its
 * sections one by one when they may be new: ?section=NAME answers with the content of that section
 * alone, with an ETag. Links are relative, so that a page works behind any port and prefix.
 */
#ifndef TM_PORTAL_PAGES_H
#define TM_PORTAL_PAGES_H

#include "page/html.h"
#include "page/states.h"
#include "portal/answer.h"
#include "portal/portal.h"
#include "portal/request/route.h"
#include "portal/request/target.h"

struct tm_visit {
  struct tm_portal *portal;
  const struct tm_request *request;
  const struct tm_target *target;
  struct tm_route route;
  struct tm_answer *answer;
};

struct tm_page_section {
  const char *name;
  void (*add)(struct tm_html *h, const struct tm_visit *v, void *data);
  bool is_live; /* it changes while the topic of the page does */
  size_t at;    /* for a function that writes several sections */
};

struct tm_page_frame {
  const char *title; /* the head adds the job */
  const char *topic; /* of the event stream; NULL: the page does not change */
  const char *job;   /* its key, for the line that leads to it; NULL: the page is about no job */
  const char *file;  /* a file that the script shows further pieces of; NULL: none */
  const struct tm_page_section *sections;
  size_t sections_len;
  bool is_report; /* its sections are those of a report, with its style and script */
  size_t *at;     /* is set to `at` of the section that is written; NULL: nothing is */
  void *data;     /* for the sections */
};

/* Answers with the page, or with the section that was asked for. */
void tm_frame_answer(const struct tm_visit *v, const struct tm_page_frame *f);
/* Sends the browser to the same address with '/' at the end, where relative links begin. */
void tm_frame_to_folder(const struct tm_visit *v);
/* A page that says what is wrong. `words`: a sentence, or a message of the library, which becomes
 * one; what is between backticks is code. */
void tm_frame_fail(const struct tm_visit *v, int status, const char *title, const char *words);
/* The same, for an error of a call: 404 or 500. */
void tm_frame_fail_by(const struct tm_visit *v, const struct tm_err *err);
/* The same, for an error of opening job `key`. */
void tm_frame_fail_job(const struct tm_visit *v, const char *key, const struct tm_err *err);
/* Whether the error of a call means that there is no such thing: 404. */
bool tm_frame_is_missing(const struct tm_err *err);
/* A page without links, for who has no cookie. */
void tm_frame_plain(struct tm_answer *a, int status, const char *title, const char *words,
                    bool tries_again);

/* Attribute href of a page of the portal: "jobs/KEY/logs". */
void tm_frame_href(struct tm_html *h, const struct tm_visit *v, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* One for each page. Each fills in the answer. */
void tm_page_jobs(const struct tm_visit *v);
void tm_page_job(const struct tm_visit *v);
void tm_page_report(const struct tm_visit *v); /* as a file */
void tm_page_to_mini_batch(const struct tm_visit *v);
void tm_page_step(const struct tm_visit *v);
void tm_page_mini_batch(const struct tm_visit *v);
void tm_page_worker(const struct tm_visit *v);
void tm_page_node(const struct tm_visit *v);
void tm_page_files(const struct tm_visit *v);
void tm_page_view(const struct tm_visit *v);
void tm_page_logs(const struct tm_visit *v);
void tm_page_datasets(const struct tm_visit *v);
void tm_page_dataset(const struct tm_visit *v);
void tm_page_action(const struct tm_visit *v);
void tm_page_metrics(const struct tm_visit *v);

/* What several pages write. */
void tm_piece_state(struct tm_html *h, const struct tm_page_state *state);
/* A bar, 100 wide, and its meaning as text. */
void tm_piece_bar(struct tm_html *h, int64_t succeeded, int64_t failed, int64_t created);
void tm_piece_time(struct tm_html *h, int64_t ns);     /* 0: "" */
void tm_piece_duration(struct tm_html *h, int64_t ns); /* negative: "" */
void tm_piece_bytes(struct tm_html *h, int64_t n);
/* A button for each thing that can be done with the job, and its dialog. */
void tm_piece_control(struct tm_html *h, const struct tm_visit *v, const char *key,
                      struct tidemill_record *job);
/* The button that replays a mini-batch, its dialog, and the place for the output. `command` does
 * the same. */
void tm_piece_replay(struct tm_html *h, const struct tm_visit *v, const char *key, const char *step,
                     const char *number, const char *command);
void tm_piece_command(struct tm_html *h, const char *command);
/* Lines of a log, in an element of the class `log`. */
void tm_piece_line(struct tm_html *h, const char *source, const char *text, size_t len,
                   int64_t more);

#endif
