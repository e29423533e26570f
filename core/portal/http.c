/* http.c - see http.h. */
#include "portal/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/time.h"
#include "portal/moment.h"

#define FIRST_HEADER_NS (10 * TM_S)
#define IDLE_S          60
#define MEMORY          (64 << 10) /* of a connection: header, and what is about to be sent */
#define STREAM_PIECE    4096
#define EVENTS          16 /* that are taken at once */

struct tm_http {
  struct MHD_Daemon *daemon;
  struct tm_http_hooks hooks;
  struct tm_list fresh, idle; /* connections that owe their first header, or the next one */
  struct tm_list streams, outputs;
  int epoll; /* libmicrohttpd's, and what outputs wait for */
  bool is_stopping;
};

struct connection {
  struct tm_list_item in_list; /* fresh or idle; both are in the order of their deadlines */
  struct tm_list *list;
  struct MHD_Connection *mhd;
  int64_t deadline_ns;
};

struct stream {
  struct tm_list_item in_streams;
  struct tm_http *http;
  struct MHD_Connection *mhd;
  struct tm_feed_reader reader;
  struct tm_buf message;
  size_t sent; /* bytes of it */
  bool is_suspended;
};

/* Its pipe is read when the connection takes more, so what nobody reads waits in the program. */
struct output {
  struct tm_list_item in_outputs;
  struct tm_http *http;
  struct MHD_Connection *mhd;
  int pipe, socket;
  bool is_suspended;
  bool is_gone; /* its reader */
};

/* ---- connections and their deadlines ---- */

static void owe_header(struct tm_http *h, struct connection *c, bool is_first)
{
  tm_list_remove(c->list, &c->in_list);
  c->list = is_first ? &h->fresh : &h->idle;
  c->deadline_ns = tm_moment_now_ns() + (is_first ? FIRST_HEADER_NS : IDLE_S * TM_S);
  tm_list_add(c->list, &c->in_list);
}

static void on_connection(void *data, struct MHD_Connection *mhd, void **of_connection,
                          enum MHD_ConnectionNotificationCode code)
{
  struct tm_http *h = data;
  struct connection *c = *of_connection;
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    c = TM_NEW(struct connection);
    c->mhd = mhd;
    c->list = &h->fresh;
    *of_connection = c;
    owe_header(h, c, true);
  } else if (c) {
    tm_list_remove(c->list, &c->in_list);
    free(c);
    *of_connection = NULL;
  }
}

static struct connection *connection_of(struct MHD_Connection *mhd)
{
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/* Cuts off connections that send a header so slowly; libmicrohttpd sees the end, and closes. */
static void end_late(struct tm_list *list, int64_t now)
{
  for (struct tm_list_item *i; (i = tm_list_first(list));) {
    struct connection *c = TM_LIST_OWNER(i, struct connection, in_list);
    if (c->deadline_ns > now)
      break;
    tm_list_remove(list, i);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info)
      (void)shutdown(info->connect_fd, SHUT_RDWR);
  }
}

/* ---- requests ---- */

static enum MHD_Result add_header(void *data, enum MHD_ValueKind kind, const char *key,
                                  const char *value)
{
  struct tm_request *r = data;
  const struct {
    const char *name;
    const char **place;
  } known[] = {
    { "Host", &r->head.host },
    { "Origin", &r->head.origin },
    { "Sec-Fetch-Site", &r->head.site },
    { "Sec-Fetch-Mode", &r->head.mode },
    { "Sec-Fetch-Dest", &r->head.dest },
    { "Cookie", &r->head.cookie },
    { "Authorization", &r->head.authorization },
    { "X-Tidemill-Token", &r->head.page_token },
    { "Range", &r->range },
    { "If-None-Match", &r->if_none_match },
    { "Last-Event-ID", &r->last_event_id },
  };
  for (size_t i = 0; i < TM_COUNT_OF(known); i++)
    if (strcasecmp(key, known[i].name) == 0)
      *known[i].place = value ? value : "";
  r->head.hosts += strcasecmp(key, "Host") == 0;
  return MHD_YES;
}

#define ADDRESS_SIZE (INET6_ADDRSTRLEN + 10)

static void write_address(char *out, struct MHD_Connection *mhd)
{
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  const struct sockaddr *address = info ? info->client_addr : NULL;
  char host[INET6_ADDRSTRLEN] = "";
  snprintf(out, ADDRESS_SIZE, "the unix socket");
  if (address && address->sa_family == AF_INET) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)address;
    (void)inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
    snprintf(out, ADDRESS_SIZE, "%s:%d", host, ntohs(in->sin_port));
  } else if (address && address->sa_family == AF_INET6) {
    const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)address;
    (void)inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof host);
    snprintf(out, ADDRESS_SIZE, "[%s]:%d", host, ntohs(in->sin6_port));
  }
}

/* A request while it is read. */
struct reading {
  char *target;
  bool is_read; /* its header is, and it has no body */
};

/* Called with the request line as it was sent, before anything is decoded. */
static void *on_target(void *data, const char *target, struct MHD_Connection *mhd)
{
  struct reading *reading = TM_NEW(struct reading);
  reading->target = tm_xstrdup(target);
  return reading;
}

/* An answer before the end of the request closes the connection: right for a body that nobody
 * wants. */
static bool has_body(struct MHD_Connection *mhd)
{
  const char *len = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Content-Length");
  return (len && strcmp(len, "0") != 0) ||
         MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Transfer-Encoding");
}

/* Paths are decoded by target.c. */
static size_t leave_escaped(void *data, struct MHD_Connection *mhd, char *s)
{
  return strlen(s);
}

/* ---- streams ---- */

static ssize_t on_read(void *data, uint64_t position, char *out, size_t max)
{
  struct stream *s = data;
  struct tm_http *h = s->http;
  if (h->is_stopping)
    return MHD_CONTENT_READER_END_OF_STREAM;
  if (s->sent == s->message.len) {
    tm_buf_clear(&s->message);
    s->sent = 0;
    if (!h->hooks.on_next(&s->reader, tm_moment_now_ns(), &s->message, h->hooks.data)) {
      s->is_suspended = true;
      MHD_suspend_connection(s->mhd);
      return 0;
    }
  }
  size_t n = s->message.len - s->sent;
  n = n < max ? n : max;
  memcpy(out, s->message.data + s->sent, n);
  s->sent += n;
  return (ssize_t)n;
}

static void on_stream_free(void *data)
{
  struct stream *s = data;
  tm_list_remove(&s->http->streams, &s->in_streams);
  s->http->hooks.on_stream_end(&s->reader, s->http->hooks.data);
  tm_feed_reader_release(&s->reader);
  tm_buf_release(&s->message);
  free(s);
}

static struct MHD_Response *new_stream(struct tm_http *h, struct MHD_Connection *mhd,
                                       const struct tm_request *r)
{
  struct stream *s = TM_NEW(struct stream);
  s->http = h;
  s->mhd = mhd;
  h->hooks.on_stream(r, &s->reader, h->hooks.data);
  tm_list_add(&h->streams, &s->in_streams);
  return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_PIECE, on_read, s,
                                           on_stream_free);
}

static void resume(struct tm_http *h, int64_t older_than_ns)
{
  for (struct tm_list_item *i = tm_list_first(&h->streams); i; i = tm_list_next(&h->streams, i)) {
    struct stream *s = TM_LIST_OWNER(i, struct stream, in_streams);
    if (s->is_suspended && s->reader.sent_ns <= older_than_ns) {
      s->is_suspended = false;
      MHD_resume_connection(s->mhd);
    }
  }
}

void tm_http_news(struct tm_http *h)
{
  resume(h, INT64_MAX);
}

/* ---- output of programs ---- */

/* For one event. A reader that goes is noticed also while the connection is suspended. */
static bool watch(struct output *o, int op, int fd, uint32_t events)
{
  struct epoll_event e = { .events = events | EPOLLONESHOT, .data.ptr = o };
  return epoll_ctl(o->http->epoll, op, fd, &e) == 0;
}

static ssize_t on_output_read(void *data, uint64_t position, char *out, size_t max)
{
  struct output *o = data;
  ssize_t n;
  if (o->is_gone) /* nothing can be sent: libmicrohttpd tries, and closes at once */
    return MHD_CONTENT_READER_END_OF_STREAM;
  if (o->http->is_stopping)
    return MHD_CONTENT_READER_END_WITH_ERROR;
  do
    n = read(o->pipe, out, max);
  while (n < 0 && errno == EINTR);
  if (n > 0)
    return n;
  if (n == 0)
    return MHD_CONTENT_READER_END_OF_STREAM;
  if (errno != EAGAIN || !watch(o, EPOLL_CTL_MOD, o->pipe, EPOLLIN))
    return MHD_CONTENT_READER_END_WITH_ERROR;
  o->is_suspended = true;
  MHD_suspend_connection(o->mhd);
  return 0;
}

static void on_output_free(void *data)
{
  struct output *o = data;
  tm_list_remove(&o->http->outputs, &o->in_outputs);
  (void)epoll_ctl(o->http->epoll, EPOLL_CTL_DEL, o->socket, NULL);
  close(o->pipe);
  free(o);
}

static void cut_off(struct output *o)
{
  o->is_gone = true;
  (void)shutdown(o->socket, SHUT_RDWR);
}

/* The pipe is the response's, which closes it. NULL: it is still the caller's. */
static struct MHD_Response *new_output(struct tm_http *h, struct MHD_Connection *mhd, int pipe)
{
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
  struct output *o = TM_NEW(struct output);
  *o = (struct output) { .http = h, .mhd = mhd, .pipe = pipe };
  o->socket = info ? info->connect_fd : -1;
  struct MHD_Response *response = MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, STREAM_PIECE, on_output_read, o, on_output_free);
  if (!response) {
    free(o);
    return NULL;
  }
  tm_list_add(&h->outputs, &o->in_outputs);
  if (!watch(o, EPOLL_CTL_ADD, pipe, 0) || !watch(o, EPOLL_CTL_ADD, o->socket, EPOLLRDHUP))
    cut_off(o);
  return response;
}

static void resume_output(struct output *o)
{
  if (o->is_suspended)
    MHD_resume_connection(o->mhd);
  o->is_suspended = false;
}

/* A pipe has something, or a reader has gone: only sockets have EPOLLRDHUP. */
static void take_events(struct tm_http *h)
{
  struct epoll_event events[EVENTS];
  int n = tm_list_first(&h->outputs) ? epoll_wait(h->epoll, events, EVENTS, 0) : 0;
  for (int i = 0; i < n; i++) {
    struct output *o = events[i].data.ptr;
    if (!o)
      continue; /* libmicrohttpd's */
    if (events[i].events & EPOLLRDHUP)
      cut_off(o);
    resume_output(o);
  }
}

static void end_outputs(struct tm_http *h)
{
  for (struct tm_list_item *i = tm_list_first(&h->outputs); i; i = tm_list_next(&h->outputs, i))
    resume_output(TM_LIST_OWNER(i, struct output, in_outputs));
}

/* ---- answers ---- */

static struct MHD_Response *new_response(struct tm_http *h, struct MHD_Connection *mhd,
                                         const struct tm_request *r, struct tm_answer *a)
{
  struct MHD_Response *response;
  if (a->kind == TM_ANSWER_STREAM && a->status == 200)
    return new_stream(h, mhd, r);
  if (a->kind == TM_ANSWER_OUTPUT && a->fd >= 0) {
    response = new_output(h, mhd, a->fd);
    if (response)
      a->fd = -1;
    return response;
  }
  if (a->fd >= 0) {
    response =
        MHD_create_response_from_fd_at_offset64((uint64_t)a->bytes, a->fd, (uint64_t)a->from);
    if (response)
      a->fd = -1; /* the response closes it */
    return response;
  }
  size_t len = a->body.len;
  return MHD_create_response_from_buffer(len, tm_buf_take(&a->body), MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result send_answer(struct tm_http *h, struct MHD_Connection *mhd,
                                   const struct tm_request *r, struct tm_answer *a)
{
  struct MHD_Response *response = new_response(h, mhd, r, a);
  if (!response)
    return MHD_NO;
  const char *const *fixed = tm_answer_headers(a->kind);
  for (size_t i = 0; fixed[i]; i += 2)
    (void)MHD_add_response_header(response, fixed[i], fixed[i + 1]);
  for (size_t i = 0; i < a->headers.len; i++)
    (void)MHD_add_response_header(response, a->headers.at[i].name, a->headers.at[i].value);
  enum MHD_Result result = MHD_queue_response(mhd, (unsigned)a->status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_len, void **of_request)
{
  struct tm_http *h = data;
  struct reading *reading = *of_request;
  struct tm_request r = { .head = { .method = method },
                          .target = reading ? reading->target : "",
                          .now_ns = tm_moment_now_ns() };
  struct tm_answer a;
  char address[ADDRESS_SIZE];
  struct connection *c = connection_of(mhd);
  if (reading && !reading->is_read && !has_body(mhd)) {
    reading->is_read = true;
    return MHD_YES;
  }
  if (c)
    tm_list_remove(c->list, &c->in_list);
  (void)MHD_get_connection_values(mhd, MHD_HEADER_KIND, add_header, &r);
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  r.head.bytes = info ? info->header_size : 0;
  r.head.has_body = has_body(mhd);
  write_address(address, mhd);
  r.address = address;
  h->hooks.on_request(&r, &a, h->hooks.data);
  enum MHD_Result result = send_answer(h, mhd, &r, &a);
  tm_answer_release(&a);
  return result;
}

static void on_completed(void *data, struct MHD_Connection *mhd, void **of_request,
                         enum MHD_RequestTerminationCode code)
{
  struct connection *c = connection_of(mhd);
  struct reading *reading = *of_request;
  if (reading)
    free(reading->target);
  free(reading);
  *of_request = NULL;
  if (c)
    owe_header(data, c, false);
}

/* ---- start, turn, stop ---- */

/* One descriptor for everything that a turn may wait for. */
static bool open_epoll(struct tm_http *h)
{
  struct epoll_event e = { .events = EPOLLIN };
  int daemon = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  h->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (h->epoll >= 0 && epoll_ctl(h->epoll, EPOLL_CTL_ADD, daemon, &e) == 0)
    return true;
  if (h->epoll >= 0)
    close(h->epoll);
  return false;
}

int tm_http_start(struct tm_http **out, const struct tm_http_hooks *hooks, struct tm_err *err)
{
  struct tm_http *h = TM_NEW(struct tm_http);
  h->hooks = *hooks;
  tm_list_init(&h->fresh);
  tm_list_init(&h->idle);
  tm_list_init(&h->streams);
  tm_list_init(&h->outputs);
  h->daemon = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
      on_request, h, MHD_OPTION_CONNECTION_LIMIT, (unsigned)TM_HTTP_CONNECTIONS,
      MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      (size_t)MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL,
      MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_NOTIFY_CONNECTION,
      on_connection, h, MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_END);
  if (!h->daemon || !open_epoll(h)) {
    MHD_stop_daemon(h->daemon); /* NULL: a no-op */
    free(h);
    *out = NULL;
    return tm_err_set(err, TM_ELIMIT, "cannot start the HTTP server: no descriptor, or no memory");
  }
  *out = h;
  return 0;
}

void tm_http_stop(struct tm_http *h)
{
  if (!h)
    return;
  h->is_stopping = true;
  tm_http_news(h);
  end_outputs(h);
  if (MHD_run(h->daemon) == MHD_YES)
    (void)MHD_run(h->daemon);
  MHD_stop_daemon(h->daemon);
  close(h->epoll);
  free(h);
}

void tm_http_add(struct tm_http *h, int fd, const struct sockaddr *address, socklen_t len)
{
  (void)MHD_add_connection(h->daemon, fd, address, len); /* closes it if it fails */
}

int tm_http_fd(const struct tm_http *h)
{
  return h->epoll;
}

static int64_t first_deadline(const struct tm_list *list)
{
  struct tm_list_item *i = tm_list_first(list);
  return i ? TM_LIST_OWNER(i, struct connection, in_list)->deadline_ns : INT64_MAX;
}

static int64_t next_ns(const struct tm_http *h)
{
  int64_t next = first_deadline(&h->fresh), idle = first_deadline(&h->idle);
  next = idle < next ? idle : next;
  for (struct tm_list_item *i = tm_list_first(&h->streams); i; i = tm_list_next(&h->streams, i)) {
    struct stream *s = TM_LIST_OWNER(i, struct stream, in_streams);
    if (s->is_suspended && s->reader.sent_ns + TM_FEED_HEART_NS < next)
      next = s->reader.sent_ns + TM_FEED_HEART_NS;
  }
  return next;
}

int tm_http_timeout_ms(const struct tm_http *h, int64_t now)
{
  MHD_UNSIGNED_LONG_LONG ms;
  int64_t next = next_ns(h);
  int64_t own = next == INT64_MAX ? -1 : next <= now ? 0 : (next - now) / TM_MS + 1;
  if (MHD_get_timeout(h->daemon, &ms) == MHD_YES && (own < 0 || (int64_t)ms < own))
    own = (int64_t)ms;
  return own > INT32_MAX ? INT32_MAX : (int)own;
}

void tm_http_turn(struct tm_http *h, int64_t now)
{
  end_late(&h->fresh, now);
  end_late(&h->idle, now);
  resume(h, now - TM_FEED_HEART_NS);
  take_events(h);
  (void)MHD_run(h->daemon);
}
