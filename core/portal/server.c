/* server.c - see server.h. One thread, one poll(). */
#include "portal/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/time.h"
#include "portal/browser.h"
#include "portal/confine.h"
#include "portal/moment.h"
#include "portal/portal.h"

#define LOW_PRIORITY 10
#define AT_ONCE      16            /* connections that are accepted before anything else is done */
#define PAUSE_NS     (100 * TM_MS) /* without a descriptor for a connection */

struct server {
  const struct tm_serve_options *o;
  struct tidemill_workspace *ws;
  struct tm_own_files files;
  struct tm_browser_file browser;
  struct tm_portal_address address;
  struct tm_listen listen;
  struct tm_janitor janitor;
  struct tm_portal portal;
  struct tm_http *http;
  struct tm_buf url;
  int signals;     /* signalfd */
  int64_t rest_ns; /* nothing is accepted before */
};

/* ---- hooks of http.c ---- */

static void on_request(const struct tm_request *r, struct tm_answer *a, void *data)
{
  tm_portal_answer(&((struct server *)data)->portal, r, a);
}

static void on_stream(const struct tm_request *r, struct tm_feed_reader *reader, void *data)
{
  tm_portal_stream(&((struct server *)data)->portal, r, reader);
}

static bool on_next(struct tm_feed_reader *reader, int64_t now_ns, struct tm_buf *out, void *data)
{
  return tm_feed_next(&((struct server *)data)->portal.feed, reader, now_ns, out);
}

static void on_stream_end(struct tm_feed_reader *reader, void *data)
{
  tm_portal_stream_end(&((struct server *)data)->portal, reader);
}

/* Reads the list of jobs, and sets its topic. */
static bool on_list(void *data, int64_t now_ns, int64_t *due_ns)
{
  struct tm_portal *p = data;
  struct tm_buf state = TM_BUF_NONE;
  (void)tm_job_list_refresh(&p->jobs, now_ns, NULL);
  *due_ns = p->jobs.due_ns;
  tm_buf_printf(&state, "{\"version\":\"%llx\"}", (unsigned long long)p->jobs.version);
  bool is_new = tm_feed_set(&p->feed, TM_FEED_JOBS, state.data);
  tm_buf_release(&state);
  return is_new;
}

struct news {
  struct tm_feed *feed;
  const char *key;
};

static void on_section(void *data, const char *name)
{
  const struct news *news = data;
  tm_feed_renew(news->feed, news->key, name);
}

/* The page of a job has these sections, and one for control, which depends on more files. */
static void on_news(void *data, const char *key)
{
  struct tm_portal *p = data;
  struct news news = { &p->feed, key };
  if (tm_insight_changes(&p->views, key, tm_watch_version(&p->watch, key), on_section, &news))
    tm_feed_renew(&p->feed, key, "control");
  else
    tm_feed_forget_sections(&p->feed, key);
}

/* ---- the loop ---- */

static int least(int a, int b)
{
  return a < 0 ? b : b < 0 || a < b ? a : b;
}

static void accept_some(struct server *s, int listener)
{
  for (int i = 0; i < AT_ONCE; i++) {
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    int fd = accept4(listener, (struct sockaddr *)&address, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
      s->rest_ns = tm_moment_now_ns() + PAUSE_NS;
    if (fd < 0)
      return;
    tm_http_add(s->http, fd, (struct sockaddr *)&address, len);
  }
}

/* Closes what nobody has used for a while; returns when there will be more. */
static int clean_ms(struct server *s, int64_t now_ns)
{
  int64_t next = 0, at[] = { tm_merged_clean(&s->portal.logs, now_ns, false),
                             tm_job_list_rest(&s->portal.jobs, now_ns),
                             tm_insight_clean(&s->portal.views, now_ns, false) };
  for (size_t i = 0; i < TM_COUNT_OF(at); i++)
    if (at[i] != 0 && (next == 0 || at[i] < next))
      next = at[i];
  return next == 0 ? -1 : (int)((next - now_ns) / TM_MS) + 1;
}

/* Returns false when a signal has come. */
static bool turn(struct server *s)
{
  struct pollfd polls[2 + TM_LISTEN_SOCKETS + TM_WATCH_POLLS];
  size_t n = 0, first;
  int64_t now_ns = tm_moment_now_ns();
  polls[n++] = (struct pollfd) { .fd = s->signals, .events = POLLIN };
  polls[n++] = (struct pollfd) { .fd = tm_http_fd(s->http), .events = POLLIN };
  first = n;
  bool rests = now_ns < s->rest_ns;
  for (size_t i = 0; i < s->listen.len; i++)
    polls[n++] = (struct pollfd) { .fd = rests ? -1 : s->listen.fds[i], .events = POLLIN };
  n += tm_watch_polls(&s->portal.watch, polls + n, TM_WATCH_POLLS, now_ns);
  int timeout =
      least(tm_http_timeout_ms(s->http, now_ns), tm_watch_timeout_ms(&s->portal.watch, now_ns));
  timeout = least(timeout, rests ? (int)((s->rest_ns - now_ns) / TM_MS) + 1 : -1);
  if (poll(polls, n, least(timeout, clean_ms(s, now_ns))) < 0 && errno != EINTR)
    return false;
  for (size_t i = 0; i < s->listen.len; i++)
    if (polls[first + i].revents)
      accept_some(s, s->listen.fds[i]);
  if (tm_watch_turn(&s->portal.watch, &s->portal.feed, tm_moment_now_ns(),
                    &(struct tm_watch_hooks) { on_list, on_news, &s->portal }))
    tm_http_news(s->http);
  tm_http_turn(s->http, tm_moment_now_ns());
  return !polls[0].revents;
}

/* ---- start and end ---- */

static int fail(const struct tm_err *err)
{
  fprintf(stderr, "tidemill: %s\n", err->text);
  return err->code == TM_EINUSE ? 1 : tm_exit_status_of(err->code);
}

static int block_signals(struct server *s, struct tm_err *err)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  signal(SIGPIPE, SIG_IGN);
  sigprocmask(SIG_BLOCK, &set, NULL);
  s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return s->signals < 0 ? tm_err_system(err, -errno, "cannot watch for signals") : 0;
}

/* http://127.0.0.1:PORT/PREFIX/?token=... */
static void add_url(struct server *s)
{
  const struct tm_listen_options *l = &s->o->listen;
  const char *host = s->o->names && l->address ? s->o->names[0] : "127.0.0.1";
  if (s->listen.port > 0)
    tm_buf_printf(&s->url, "http://%s:%d", host, s->listen.port);
  else
    tm_buf_add_str(&s->url, "http://localhost:8080");
  tm_buf_printf(&s->url, "/%s/?token=%s", s->address.prefix, s->portal.access.token);
}

static int take_place(struct server *s, struct tm_err *err)
{
  struct tm_listen_options listen = s->o->listen;
  struct tm_access *a = &s->portal.access;
  int rc = tm_own_files_open(&s->files, s->portal.workspace, &s->url, err);
  if (rc < 0)
    return rc;
  a->names = s->o->names;
  a->allows_control = s->o->allows_control;
  if ((rc = tm_own_files_address(&s->files, &s->address, err)) < 0 ||
      (rc = tm_secret_make(a->token, TM_SECRET_LEN, err)) < 0 ||
      (rc = tm_secret_make(a->session, TM_SECRET_LEN, err)) < 0 ||
      (rc = tm_secret_make(a->page_token, TM_SECRET_LEN, err)) < 0)
    return rc;
  listen.preferred_port = s->address.port;
  memcpy(s->portal.prefix, s->address.prefix, sizeof s->portal.prefix);
  if ((rc = tm_listen_open(&s->listen, &listen, err)) < 0)
    return rc;
  s->address.port = s->listen.port > 0 ? s->listen.port : s->address.port;
  add_url(s);
  return tm_own_files_write(&s->files, &s->address, s->url.data, err);
}

/* Connections and files need descriptors. */
static void raise_limit(void)
{
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
}

/* In the janitor. */
static void remove_files(void *data)
{
  struct server *s = data;
  tm_browser_file_remove(&s->browser);
  tm_listen_close(&s->listen);
  tm_own_files_close(&s->files);
}

static void say(const struct server *s)
{
  const struct tm_listen_options *l = &s->o->listen;
  printf("Portal of %s\n\n    %s\n\n", s->portal.workspace, s->url.data);
  if (l->path)
    printf(
        "It listens on the socket %s: run ssh -L 8080:%s HOST on the machine with the browser.\n",
        l->path, l->path);
  if (l->address)
    printf("It listens on %s: whoever reaches that address and has this URL sees all jobs of the "
           "workspace, and what is sent is not encrypted.\n",
           l->address);
  if (s->o->allows_control)
    printf("Its pages can cancel and resume jobs, run failed items again, and replay mini-batches: "
           "--allow-control.\n");
  printf("Ctrl-C ends it. Jobs continue.\n");
  fflush(stdout);
}

static int start(struct server *s, struct tm_err *err)
{
  struct tm_http_hooks hooks = { on_request, on_stream, on_next, on_stream_end, s };
  int rc = take_place(s, err);
  if (rc < 0)
    return rc;
  if ((rc = block_signals(s, err)) < 0)
    return rc;
  if (s->o->opens)
    tm_browser_open(&s->browser, s->portal.workspace, s->url.data);
  if ((rc = tm_janitor_start(&s->janitor, remove_files, s, err)) < 0)
    return rc;
  if (s->o->allows_control &&
      (rc = tm_control_start(&s->portal.control, s->portal.watch.jobs_dir, err)) < 0)
    return rc;
  raise_limit();
  (void)tm_confine();
  (void)setpriority(PRIO_PROCESS, 0, LOW_PRIORITY);
  return tm_http_start(&s->http, &hooks, err);
}

static void stop(struct server *s)
{
  tm_http_stop(s->http);
  tm_control_end(&s->portal.control);
  tm_portal_close(&s->portal);
  if (s->janitor.pid > 0)
    tm_janitor_end(&s->janitor);
  else
    remove_files(s);
  free(s->browser.path);
  tidemill_workspace_close(s->ws);
  tm_buf_release(&s->url);
}

static int serve(struct server *s)
{
  struct tm_err err = TM_ERR_NONE;
  struct tidemill_workspace_options options = TIDEMILL_WORKSPACE_OPTIONS_INIT;
  options.path = s->o->workspace;
  if (tidemill_workspace_open(&s->ws, &options, &err) < 0 ||
      tm_portal_open(&s->portal, s->ws, &err) < 0)
    return fail(&err);
  if (start(s, &err) < 0) {
    if (s->url.len > 0 && err.code == TM_EINUSE && s->listen.len == 0)
      printf("already running: %s\n", s->url.data);
    return fail(&err);
  }
  say(s);
  while (turn(s))
    ;
  return 0;
}

int tm_serve(const struct tm_serve_options *o)
{
  struct server s = { .o = o, .files = { -1, -1 }, .signals = -1 };
  int status = serve(&s);
  stop(&s);
  return status;
}
