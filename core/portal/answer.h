/* answer.h - an answer to a request: what a page makes, and http.c sends. Pure.
 *
 * The kind decides the headers that are there for safety (tm_answer_headers()); nothing can leave
 * them out. No answer has a CORS header.
 */
#ifndef TM_PORTAL_ANSWER_H
#define TM_PORTAL_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"

enum tm_answer_kind {
  TM_ANSWER_PAGE,       /* HTML of ours, with its script */
  TM_ANSWER_PIECE,      /* the same, for the script of a page */
  TM_ANSWER_STYLE,      /* our style sheet */
  TM_ANSWER_SCRIPT,     /* our script */
  TM_ANSWER_PICTURE,    /* our icon */
  TM_ANSWER_TEXT,       /* a file of a job, shown */
  TM_ANSWER_ATTACHMENT, /* a file of a job, downloaded */
  TM_ANSWER_METRICS,    /* OpenMetrics */
  TM_ANSWER_STREAM,     /* events */
  TM_ANSWER_OUTPUT,     /* of a program, as it comes; `fd` is a pipe */
};

struct tm_header {
  const char *name;
  char *value;
};

struct tm_answer {
  int status;
  enum tm_answer_kind kind;
  struct tm_buf body;
  int fd; /* -1: the body is in `body`; a pipe; else `bytes` bytes of it, from `from` on */
  int64_t from, bytes;                       /* of fd */
  struct TM_ARRAY(struct tm_header) headers; /* of this answer: Location, ETag, ... */
};

void tm_answer_init(struct tm_answer *a, int status, enum tm_answer_kind kind);
/* `name`: a literal. The value is printable ASCII without line breaks; anything else leaves the
 * header out. */
void tm_answer_header(struct tm_answer *a, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void tm_answer_release(struct tm_answer *a);

/* Sets ETag to the hash of the body. If the request has it already (`if_none_match`, may be NULL),
 * the answer becomes 304 without a body. */
void tm_answer_match(struct tm_answer *a, const char *if_none_match);

/* The headers of a kind, which go with every answer: pairs of name and value, NULL-ended. */
const char *const *tm_answer_headers(enum tm_answer_kind kind);

#endif
