/* http.h - HTTP by libmicrohttpd: connections, their limits, answers, event streams.
 *
 * Everything runs on one thread, within tm_http_turn(). Call it when the descriptor is readable and
 * when the time of tm_http_timeout_ms() is over. Only this file includes microhttpd.h.
 *
 * Limits: TM_HTTP_CONNECTIONS connections, further ones are closed at once; 10 s for the first
 * header of a connection; 60 s without a request, or in which nothing could be sent.
 *
 * The output of a program (TM_ANSWER_OUTPUT) is sent as it comes, without limits; its pipe is
 * closed at once when the reader of the answer has gone.
 */
#ifndef TM_PORTAL_HTTP_H
#define TM_PORTAL_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "portal/request/access.h"
#include "portal/answer.h"
#include "portal/feed.h"

#define TM_HTTP_CONNECTIONS 256

struct tm_request {
  struct tm_request_head head;
  const char *target;  /* as it was sent */
  const char *address; /* that it came from: "127.0.0.1:40318", "the unix socket" */
  const char *range, *if_none_match, *last_event_id;
  int64_t now_ns; /* of a clock that never jumps */
};

struct tm_http;

/* What the portal does; `data` comes back. */
struct tm_http_hooks {
  void (*on_request)(const struct tm_request *r, struct tm_answer *a, void *data);
  /* An answer of kind TM_ANSWER_STREAM: fills in what it reads. */
  void (*on_stream)(const struct tm_request *r, struct tm_feed_reader *reader, void *data);
  bool (*on_next)(struct tm_feed_reader *reader, int64_t now_ns, struct tm_buf *out, void *data);
  void (*on_stream_end)(struct tm_feed_reader *reader, void *data);
  void *data;
};

int tm_http_start(struct tm_http **out, const struct tm_http_hooks *hooks, struct tm_err *err);
/* Closes all connections. NULL: a no-op. */
void tm_http_stop(struct tm_http *h);
/* A connection that was accepted; it owns the descriptor. */
void tm_http_add(struct tm_http *h, int fd, const struct sockaddr *address, socklen_t len);
int tm_http_fd(const struct tm_http *h);
int tm_http_timeout_ms(const struct tm_http *h, int64_t now_ns); /* -1: none */
void tm_http_turn(struct tm_http *h, int64_t now_ns);
/* The streams that wait look whether there is something for them. */
void tm_http_news(struct tm_http *h);

#endif
