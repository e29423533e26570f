/* node_stream.c - messages over a stream that another program carries.
 *
 *   send -> stream_out -> outbox -> write
 *   read -> inbox -> preface, frames -> stream_in -> on_msg
 *   heartbeat -> outbox; frames -> heartbeat
 *
 *  (1) Whoever is called may close the stream: its memory is valid until the polls and the timer
 *      are closed.
 *  (2) A failed write does not end the stream: what the other side sent can still be read, and its
 *      end is seen there. Only what waits to be written is dropped.
 *  (3) The relay answers a preface that it cannot accept, too: then both sides can tell why.
 *  (4) One turn reads at most READ_TURN bytes, so that others have theirs.
 *  (5) A heartbeat is made when the outbox is empty, right before it is written: what it says is as
 *      new as can be. If one is due while the outbox is not empty, it is the next frame.
 */
#include "sys/messages/node_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "sys/clock.h"
#include "sys/messages/heartbeat.h"
#include "sys/messages/msg_bytes.h"
#include "sys/process.h"
#include "sys/messages/stream_frames.h"
#include "sys/messages/stream_in.h"
#include "sys/messages/stream_out.h"

#define READ_TURN (1u << 20) /* bytes */
#define QUOTE_MAX 200        /* bytes of foreign text */
#define OUT_KEPT  4096       /* bytes of memory for an empty outbox; a job may have 1,000 nodes */

struct tm_node_stream {
  struct tm_node_stream_options o;
  char *hello;
  uint64_t nonce;
  struct tm_poll poll_in, poll_out; /* poll_out: if there are two descriptors */
  struct tm_timer beat_timer;
  int handles; /* of these three, that are not closed yet */
  bool is_socket_in, is_socket_out;
  bool is_open, is_ended;
  bool has_begun;   /* the preface has come */
  bool is_out_dead; /* a write has failed */
  bool owes;        /* bytes have come since the last write */
  struct tm_buf in, out;
  size_t in_at, out_at, preface_at; /* it does not begin before, in the inbox */
  struct tm_stream_out sending;
  struct tm_stream_in receiving;
  struct tm_heartbeat beat;
  int64_t heard_ns;    /* tm_clock_boot_ns(); at first, when it was opened */
  struct tm_late late; /* flushes at the turn's end */
};

static bool is_alive(const struct tm_node_stream *s)
{
  return s->is_open && !s->is_ended;
}

/* --- out --- */

static bool has_outbox(const struct tm_node_stream *s)
{
  return s->out_at < s->out.len;
}

static void drop_out(struct tm_node_stream *s)
{
  tm_stream_out_drop(&s->sending);
  tm_buf_release(&s->out);
  s->out_at = 0;
  tm_late_remove(&s->late);
}

static void want(struct tm_node_stream *s)
{
  int out = has_outbox(s) ? TM_WRITABLE : 0;
  bool is_one = s->o.in == s->o.out;
  tm_poll_want(&s->poll_in, TM_READABLE | (is_one ? out : 0));
  if (!is_one)
    tm_poll_want(&s->poll_out, out);
}

/* Keeps (2). */
static void fail_out(struct tm_node_stream *s)
{
  drop_out(s);
  s->is_out_dead = true;
  if (s->is_socket_out) /* then an end is certain to arrive */
    shutdown(s->o.out, SHUT_RDWR);
}

static void await_heartbeat(struct tm_node_stream *s)
{
  int64_t wait_ns = tm_heartbeat_wait_ns(&s->beat, tm_clock_mono_ns());
  if (wait_ns > 0 && wait_ns < INT64_MAX) /* if 0, the outbox is full: (5) */
    tm_timer_start(&s->beat_timer, wait_ns, 0);
}

/* Keeps (5). */
static void add_heartbeat(struct tm_node_stream *s)
{
  char bytes[TM_HEARTBEAT_LEN];
  int64_t mono_ns = tm_clock_mono_ns();
  if (tm_heartbeat_wait_ns(&s->beat, mono_ns) > 0)
    return;
  tm_heartbeat_make(&s->beat, mono_ns, tm_clock_wall_ns(), bytes);
  tm_stream_out_lead(
      &s->sending,
      &(struct tm_msg) { .type = TM_STREAM_HEARTBEAT, .length = sizeof bytes, .payload = bytes },
      &s->out);
  await_heartbeat(s);
}

static void tidy_outbox(struct tm_node_stream *s)
{
  if (has_outbox(s) || s->out.cap <= OUT_KEPT)
    return;
  tm_buf_release(&s->out);
  s->out_at = 0;
}

static void fill_outbox(struct tm_node_stream *s)
{
  tm_buf_clear(&s->out);
  s->out_at = 0;
  if (!s->has_begun)
    return;
  add_heartbeat(s);
  tm_stream_out_fill(&s->sending, &s->out);
}

void tm_node_stream_flush(struct tm_node_stream *s)
{
  if (!is_alive(s) || s->is_out_dead)
    return;
  tm_late_remove(&s->late);
  for (;;) {
    if (!has_outbox(s))
      fill_outbox(s);
    if (!has_outbox(s))
      break;
    ssize_t put = tm_wire_write(s->o.out, s->is_socket_out, s->out.data + s->out_at,
                                s->out.len - s->out_at, false, -1);
    if (put == -EAGAIN)
      break;
    if (put < 0) {
      fail_out(s);
      break;
    }
    s->out_at += (size_t)put;
    s->owes = false;
  }
  tidy_outbox(s);
  want(s);
}

void tm_node_stream_end_out(struct tm_node_stream *s)
{
  tm_node_stream_flush(s);
  if (!is_alive(s) || s->is_out_dead)
    return;
  drop_out(s);
  s->is_out_dead = true;
  if (s->is_socket_out)
    shutdown(s->o.out, SHUT_WR);
  want(s);
}

static void on_beat_time(struct tm_timer *t)
{
  struct tm_node_stream *s = t->data;
  if (!is_alive(s) || s->is_out_dead)
    return;
  tm_node_stream_flush(s);
  if (is_alive(s) && !s->is_out_dead)
    await_heartbeat(s); /* it came early */
}

static void queue(struct tm_node_stream *s, const struct tm_msg *f)
{
  if (!is_alive(s) || s->is_out_dead)
    return;
  tm_stream_out_add(&s->sending, f);
  tm_late_add(s->o.loop, &s->late);
}

void tm_node_stream_send(struct tm_node_stream *s, const struct tm_msg *f)
{
  tm_require((f->type & ~TM_MSG_FD) < TM_STREAM_NUDGE);
  queue(s, f);
}

void tm_node_stream_forget(struct tm_node_stream *s, uint32_t worker)
{
  if (!is_alive(s))
    return;
  tm_stream_out_forget(&s->sending, worker);
  tm_late_add(s->o.loop, &s->late);
}

size_t tm_node_stream_pending_of(const struct tm_node_stream *s, uint32_t worker)
{
  return tm_stream_out_pending_of(&s->sending, worker, has_outbox(s));
}

size_t tm_node_stream_pending(const struct tm_node_stream *s)
{
  return s->sending.waiting + s->out.len - s->out_at;
}

/* --- in --- */

static void end(struct tm_node_stream *s, int code, const char *text)
{
  tm_require(is_alive(s));
  s->is_ended = true;
  drop_out(s);
  tm_poll_want(&s->poll_in, 0);
  tm_poll_want(&s->poll_out, 0);
  tm_timer_stop(&s->beat_timer);
  s->o.on_end(s->o.data, code, text);
}

static void refuse(struct tm_node_stream *s, const char *text)
{
  end(s, TM_EPROTOCOL, text);
}

/* "<text>: '<the first bytes>'" */
static void refuse_quoting(struct tm_node_stream *s, const char *text, const char *p, size_t n)
{
  struct tm_buf all = TM_BUF_NONE;
  tm_buf_printf(&all, "%s: '", text);
  tm_text_one_line(&all, p, n, QUOTE_MAX);
  tm_buf_add_char(&all, '\'');
  refuse(s, all.data);
  tm_buf_release(&all);
}

static void grant(struct tm_node_stream *s, uint32_t worker)
{
  uint64_t bytes = tm_stream_in_grant(&s->receiving, worker);
  if (bytes > 0)
    queue(s, &(struct tm_msg) { .type = TM_STREAM_CREDIT,
                                .index = bytes,
                                .worker = s->o.is_supervisor ? 0 : worker });
}

void tm_node_stream_consumed(struct tm_node_stream *s, uint32_t worker, size_t bytes)
{
  if (!is_alive(s) || bytes == 0)
    return;
  tm_stream_in_consume(&s->receiving, worker, bytes);
  grant(s, worker);
}

static bool take_heartbeat(struct tm_node_stream *s, const struct tm_msg *f)
{
  if (!tm_heartbeat_take(&s->beat, f->payload, f->length, tm_clock_mono_ns(), tm_clock_wall_ns()))
    return false;
  tm_late_add(s->o.loop, &s->late); /* the answer */
  return true;
}

/* The stream's own frames. False: it is wrong. */
static bool take_own(struct tm_node_stream *s, const struct tm_msg *f)
{
  if (f->type == TM_STREAM_HEARTBEAT)
    return take_heartbeat(s, f);
  if (f->length > 0 || f->type == TM_STREAM_NUDGE)
    return f->length == 0;
  if (f->type == TM_STREAM_CREDIT) {
    tm_late_add(s->o.loop, &s->late);
    return tm_stream_out_granted(&s->sending, f->worker, f->index);
  }
  if (f->type != TM_STREAM_CUT || !tm_stream_in_cut(&s->receiving, f->worker))
    return false;
  grant(s, f->worker);
  return true;
}

static void take_frame(struct tm_node_stream *s, const struct tm_msg *f)
{
  struct tm_msg whole;
  struct tm_err err;
  if ((f->type & ~TM_STREAM_MORE & ~TM_MSG_FD) >= TM_STREAM_NUDGE) {
    if (!take_own(s, f))
      refuse(s, "a message of the stream itself is wrong");
    return;
  }
  int rc = tm_stream_in_add(&s->receiving, f, &whole, &err);
  if (rc < 0) {
    refuse(s, err.text);
    return;
  }
  grant(s, f->worker);
  if (rc > 0)
    s->o.on_msg(s->o.data, &whole);
}

/* What is wrong with the other side's preface, as a new string; or NULL. */
static char *fault_of(const struct tm_node_stream *s, const struct tm_preface *p)
{
  const char *who = s->o.is_supervisor ? "it" : "the job";
  struct tm_buf text = TM_BUF_NONE;
  size_t len = strlen(s->hello);
  if (p->version != TM_PREFACE_VERSION) {
    tm_buf_printf(&text, "%s speaks version %u of the stream, but this is version %u", who,
                  (unsigned)p->version, (unsigned)TM_PREFACE_VERSION);
  } else if (p->hello_len != len || memcmp(p->hello, s->hello, len) != 0) {
    tm_buf_printf(&text, "%s runs '", who);
    tm_text_one_line(&text, p->hello, p->hello_len, 0);
    tm_buf_printf(&text, "', but this is '%s'", s->hello);
  }
  return text.len > 0 ? tm_buf_take(&text) : NULL;
}

static void send_preface(struct tm_node_stream *s, uint64_t echo)
{
  struct tm_preface mine = { TM_PREFACE_VERSION, s->nonce, echo, s->hello, strlen(s->hello) };
  tm_preface_add(&s->out, &mine);
}

static void begin(struct tm_node_stream *s, const struct tm_preface *p, size_t skipped)
{
  char first[QUOTE_MAX + 1] = { 0 }, *fault = fault_of(s, p);
  memcpy(first, s->in.data, skipped < QUOTE_MAX ? skipped : QUOTE_MAX);
  if (!s->o.is_supervisor) { /* keeps (3) */
    send_preface(s, p->nonce);
    tm_node_stream_flush(s);
  }
  if (fault != NULL) {
    end(s, TM_EUSAGE, fault);
  } else {
    s->has_begun = true;
    tm_late_add(s->o.loop, &s->late); /* what waits */
    s->o.on_open(s->o.data, first, skipped);
  }
  free(fault);
}

static void take_preface(struct tm_node_stream *s)
{
  struct tm_preface p;
  size_t len;
  uint64_t echo = s->o.is_supervisor ? s->nonce : 0;
  int rc = tm_preface_find(s->in.data, s->in.len, echo, &s->preface_at, &len, &p);
  if (rc < 0) {
    refuse_quoting(s, "64 KiB of other text came instead of a first message", s->in.data,
                   s->in.len);
  } else if (rc > 0) {
    s->in_at = s->preface_at + len;
    begin(s, &p, s->preface_at);
  }
}

static void take(struct tm_node_stream *s)
{
  struct tm_msg f;
  struct tm_err err;
  int rc = 0;
  if (!s->has_begun)
    take_preface(s);
  while (is_alive(s) && s->has_begun && (rc = tm_frame_next(&s->in, &s->in_at, &f, &err)) > 0)
    take_frame(s, &f);
  if (is_alive(s) && rc < 0)
    refuse(s, err.text);
}

/* The bytes have ended, or cannot be read. */
static void take_end(struct tm_node_stream *s, int code)
{
  struct tm_err err;
  size_t n = s->in.len - s->in_at;
  if (code < 0) {
    tm_err_system(&err, code, "cannot read what the other side sends");
    end(s, code, err.text);
  } else if (!s->has_begun && n == 0) {
    refuse(s, "the stream ended before anything came");
  } else if (!s->has_begun) {
    refuse_quoting(s, "the stream ended before its first message, after", s->in.data, n);
  } else if (n > 0) {
    refuse(s, "the stream ended within a message");
  } else {
    end(s, 0, "the other side closed the stream");
  }
}

/* Writes something now. */
static void nudge(struct tm_node_stream *s)
{
  if (has_outbox(s))
    return;
  if (!tm_stream_out_can_fill(&s->sending)) /* else a message is sent now */
    queue(s, &(struct tm_msg) { .type = TM_STREAM_NUDGE });
  tm_node_stream_flush(s);
}

/* A supervisor answers whatever came with a nudge, if it has nothing else to say. */
static void on_late(struct tm_late *l)
{
  struct tm_node_stream *s = l->data;
  tm_node_stream_flush(s);
  if (s->o.is_supervisor && s->has_begun && s->owes)
    nudge(s);
}

static void read_some(struct tm_node_stream *s)
{
  bool is_all = false;
  for (size_t total = 0; is_alive(s) && !is_all && total < READ_TURN;) {
    size_t room;
    char *p = tm_wire_room(&s->in, &s->in_at, &room);
    ssize_t got = tm_wire_read(s->o.in, s->is_socket_in, p, room, false, NULL);
    is_all = got == -EAGAIN || (got > 0 && (size_t)got < room);
    if (got == -EAGAIN)
      break;
    if (got <= 0) {
      take_end(s, (int)got);
      break;
    }
    s->in.len += (size_t)got;
    s->heard_ns = tm_clock_boot_ns();
    s->owes = true;
    total += (size_t)got;
    take(s);
  }
  if (is_alive(s) && s->has_begun && is_all && s->in_at < s->in.len)
    nudge(s);
  if (is_alive(s) && s->o.is_supervisor && s->owes)
    tm_late_add(s->o.loop, &s->late);
}

static void on_ready_in(struct tm_poll *p, int events)
{
  if (events & TM_READABLE)
    read_some(p->data);
  if (events & TM_WRITABLE)
    tm_node_stream_flush(p->data);
}

static void on_ready_out(struct tm_poll *p, int events)
{
  tm_node_stream_flush(p->data); /* an error is seen there */
}

/* --- life --- */

static void free_stream(struct tm_node_stream *s)
{
  tm_stream_out_release(&s->sending);
  tm_stream_in_release(&s->receiving);
  tm_buf_release(&s->in);
  tm_buf_release(&s->out);
  free(s->hello);
  free(s);
}

static void drop_handle(struct tm_node_stream *s)
{
  tm_require(!s->is_open && s->handles > 0);
  if (--s->handles > 0)
    return;
  void (*on_closed)(void *) = s->o.on_closed;
  void *data = s->o.data;
  free_stream(s); /* keeps (1) */
  if (on_closed != NULL)
    on_closed(data);
}

static void on_poll_closed(struct tm_poll *p)
{
  drop_handle(p->data);
}

static void on_timer_closed(struct tm_timer *t)
{
  drop_handle(t->data);
}

static int open_poll(struct tm_node_stream *s, struct tm_poll *p, int fd,
                     void (*on_ready)(struct tm_poll *, int), struct tm_err *err)
{
  int rc = tm_poll_open(p, s->o.loop, fd, on_ready, s, err); /* makes it non-blocking */
  if (rc < 0)
    return rc;
  p->on_closed = on_poll_closed;
  s->handles++;
  return 0;
}

static void open_timer(struct tm_node_stream *s)
{
  tm_timer_open(&s->beat_timer, s->o.loop, on_beat_time, s);
  s->beat_timer.on_closed = on_timer_closed;
  s->handles++;
}

/* Closes handles and descriptors; the last handle frees the stream, unless none was open. */
static void close_all(struct tm_node_stream *s)
{
  s->is_open = false;
  tm_late_remove(&s->late);
  tm_poll_close(&s->poll_in);
  tm_poll_close(&s->poll_out);
  tm_timer_close(&s->beat_timer);
  close(s->o.in);
  if (s->o.out != s->o.in)
    close(s->o.out);
  if (s->handles == 0)
    free_stream(s);
}

static struct tm_node_stream *new_stream(const struct tm_node_stream_options *o)
{
  struct tm_node_stream *s = TM_NEW(struct tm_node_stream);
  s->o = *o;
  s->o.hello = NULL;
  s->hello = tm_xstrdup(o->hello);
  do
    s->nonce = tm_process_random();
  while (s->nonce == 0);
  s->is_socket_in = tm_wire_is_socket(o->in);
  s->is_socket_out = tm_wire_is_socket(o->out);
  size_t of_worker = TM_STREAM_WORKER_CREDIT, of_node = TM_STREAM_NODE_CREDIT;
  bool is_supervisor = o->is_supervisor;
  tm_stream_out_init(&s->sending, is_supervisor, is_supervisor ? of_worker : of_node);
  tm_stream_in_init(&s->receiving, !is_supervisor, is_supervisor ? of_node : of_worker);
  tm_heartbeat_init(&s->beat, is_supervisor, o->timeout_ns);
  s->late.on_late = on_late;
  s->late.data = s;
  return s;
}

struct tm_node_stream *tm_node_stream_open(const struct tm_node_stream_options *o,
                                           struct tm_err *err)
{
  tm_require(o->loop && o->in >= 0 && o->out >= 0 && o->on_open && o->on_msg && o->on_end);
  tm_require(o->hello && strlen(o->hello) <= TM_PREFACE_HELLO_MAX && !strchr(o->hello, '\n'));
  struct tm_node_stream *s = new_stream(o);
  int rc = open_poll(s, &s->poll_in, o->in, on_ready_in, err);
  if (rc == 0 && o->in != o->out)
    rc = open_poll(s, &s->poll_out, o->out, on_ready_out, err);
  if (rc < 0) {
    s->o.on_closed = NULL;
    close_all(s);
    return NULL;
  }
  s->is_open = true;
  s->heard_ns = tm_clock_boot_ns();
  open_timer(s);
  if (o->is_supervisor) {
    send_preface(s, 0);
    tm_late_add(o->loop, &s->late);
  }
  want(s);
  return s;
}

const char *tm_node_stream_foreign(const struct tm_node_stream *s, size_t *len)
{
  *len = s->has_begun || s->in_at > 0 ? 0 : s->in.len; /* a preface advances it */
  return *len > 0 ? s->in.data : NULL;
}

int64_t tm_node_stream_timeout_ns(const struct tm_node_stream *s)
{
  return s->beat.timeout_ns;
}

int64_t tm_node_stream_heard_ns(const struct tm_node_stream *s)
{
  return s->heard_ns;
}

int64_t tm_node_stream_round_trip_ns(const struct tm_node_stream *s)
{
  return tm_heartbeat_round_trip_ns(&s->beat);
}

int64_t tm_node_stream_clock_offset_ns(const struct tm_node_stream *s)
{
  return tm_heartbeat_clock_offset_ns(&s->beat);
}

void tm_node_stream_close(struct tm_node_stream *s)
{
  if (s == NULL)
    return;
  tm_require(s->is_open);
  tm_node_stream_flush(s);
  drop_out(s);
  close_all(s);
}
