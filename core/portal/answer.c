/* answer.c - see answer.h. */
#include "portal/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

#define EVERY                                                                                      \
  "X-Content-Type-Options", "nosniff", "Referrer-Policy", "no-referrer",                           \
      "Cross-Origin-Opener-Policy", "same-origin", "Cross-Origin-Resource-Policy", "same-origin",  \
      "X-Frame-Options", "DENY"
#define NEVER_KEPT "Cache-Control", "no-store"
#define ASKED_FOR  "Cache-Control", "no-cache"

/* What a page may load. Nothing may frame it; its script makes HTML of text only by the policy
 * `tidemill`. */
static const char page_policy[] =
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types tidemill";
/* A file of a job: whatever a browser makes of it, it runs nothing and has no origin. */
static const char file_policy[] = "default-src 'none'; sandbox; frame-ancestors 'none'";

const char *const *tm_answer_headers(enum tm_answer_kind kind)
{
  static const char html[] = "text/html; charset=utf-8", csp[] = "Content-Security-Policy",
                    type[] = "Content-Type";
  static const char *const page[] = { EVERY, NEVER_KEPT, type, html, csp, page_policy, NULL };
  static const char *const style[] = { EVERY, ASKED_FOR, type, "text/css; charset=utf-8", NULL };
  static const char *const script[] = { EVERY, ASKED_FOR, type, "text/javascript; charset=utf-8",
                                        NULL };
  static const char *const picture[] = { EVERY, ASKED_FOR,   type, "image/svg+xml",
                                         csp,   file_policy, NULL };
  static const char *const text[] = {
    EVERY,           NEVER_KEPT, type, "text/plain; charset=utf-8", csp, file_policy,
    "Accept-Ranges", "bytes",    NULL
  };
  static const char *const file[] = {
    EVERY,       NEVER_KEPT,      type,    "application/octet-stream", csp,
    file_policy, "Accept-Ranges", "bytes", "Content-Disposition",      "attachment",
    NULL
  };
  static const char *const metrics[] = { EVERY, NEVER_KEPT, type,
                                         "application/openmetrics-text; version=1.0.0; "
                                         "charset=utf-8",
                                         NULL };
  static const char *const output[] = { EVERY, NEVER_KEPT,  type, "text/plain; charset=utf-8",
                                        csp,   file_policy, NULL };
  static const char *const stream[] = { EVERY, NEVER_KEPT, type, "text/event-stream", NULL };
  switch (kind) {
  case TM_ANSWER_PAGE:
  case TM_ANSWER_PIECE: return page;
  case TM_ANSWER_STYLE: return style;
  case TM_ANSWER_SCRIPT: return script;
  case TM_ANSWER_PICTURE: return picture;
  case TM_ANSWER_TEXT: return text;
  case TM_ANSWER_ATTACHMENT: return file;
  case TM_ANSWER_METRICS: return metrics;
  case TM_ANSWER_STREAM: return stream;
  case TM_ANSWER_OUTPUT: return output;
  }
  return file;
}

void tm_answer_init(struct tm_answer *a, int status, enum tm_answer_kind kind)
{
  *a = (struct tm_answer) { .status = status, .kind = kind, .fd = -1 };
}

static bool is_printable(const char *s)
{
  for (; *s; s++)
    if (*s < 0x20 || *s > 0x7e)
      return false;
  return true;
}

void tm_answer_header(struct tm_answer *a, const char *name, const char *fmt, ...)
{
  struct tm_buf value = TM_BUF_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(&value, fmt, ap);
  va_end(ap);
  if (is_printable(tm_buf_str(&value)))
    *TM_ARRAY_ADD(&a->headers) = (struct tm_header) { name, tm_xstrdup(tm_buf_str(&value)) };
  tm_buf_release(&value);
}

void tm_answer_release(struct tm_answer *a)
{
  for (size_t i = 0; i < a->headers.len; i++)
    free(a->headers.at[i].value);
  TM_ARRAY_RELEASE(&a->headers);
  tm_buf_release(&a->body);
  if (a->fd >= 0)
    close(a->fd);
  a->fd = -1;
}

void tm_answer_match(struct tm_answer *a, const char *if_none_match)
{
  char tag[24];
  snprintf(tag, sizeof tag, "\"%016" PRIx64 "\"", tm_hash64(tm_buf_str(&a->body), a->body.len));
  tm_answer_header(a, "ETag", "%s", tag);
  if (if_none_match && strstr(if_none_match, tag)) {
    a->status = 304;
    tm_buf_clear(&a->body);
  }
}
