/* copying.c - see copying.h. */
#include "step/copying.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "step/announced.h"

/* What a keeper says, what becomes of a node, or a search that is over. */
struct tm_news {
  enum { NEWS_STARTED, NEWS_START_FAILED, NEWS_TAKEN, NEWS_ENDED, NEWS_LOST, NEWS_SEARCHED } kind;
  uint32_t number; /* of the worker, of the node, or of the search */
  int64_t pid;
  struct tm_worker_link *link;
  struct tm_buf bytes; /* text, seqs, or a struct tm_ended */
};

/* ---- news that wait ---- */

static struct tm_news *add_news(struct tm_supervisor *s, int kind, uint32_t number,
                                const void *bytes, size_t len)
{
  struct tm_news *n = TM_ARRAY_ADD(&s->copying.news);

  *n = (struct tm_news) { .kind = kind, .number = number, .bytes = TM_BUF_NONE };
  tm_buf_add(&n->bytes, bytes, len);
  return n;
}

static void on_started(void *data, uint32_t worker, int64_t pid, struct tm_worker_link *link)
{
  struct tm_supervisor *s = data;
  struct tm_news *n;

  if (!s->copying.is_on) {
    tm_workers_on_started(s, worker, pid, link);
    return;
  }
  n = add_news(s, NEWS_STARTED, worker, "", 0);
  n->pid = pid;
  n->link = link;
}

static void on_start_failed(void *data, uint32_t worker, const char *text)
{
  struct tm_supervisor *s = data;

  if (s->copying.is_on)
    add_news(s, NEWS_START_FAILED, worker, text, strlen(text) + 1);
  else
    tm_workers_on_start_failed(s, worker, text);
}

static void on_taken(void *data, uint32_t worker, const uint64_t *seqs, size_t n)
{
  struct tm_supervisor *s = data;

  if (s->copying.is_on)
    add_news(s, NEWS_TAKEN, worker, n > 0 ? (const void *)seqs : "", n * sizeof(*seqs));
  else
    tm_workers_on_taken(s, worker, seqs, n);
}

static void on_ended(void *data, uint32_t worker, const struct tm_ended *ended)
{
  struct tm_supervisor *s = data;

  if (s->copying.is_on || !tm_workers_on_ended(s, worker, ended))
    add_news(s, NEWS_ENDED, worker, ended, sizeof(*ended));
}

struct tm_node_user tm_copying_node_user(struct tm_supervisor *s)
{
  return (struct tm_node_user) { .data = s,
                                 .on_started = on_started,
                                 .on_start_failed = on_start_failed,
                                 .on_taken = on_taken,
                                 .on_ended = on_ended,
                                 .on_doing = tm_doing_on_told };
}

void tm_copying_lose_node(struct tm_supervisor *s, uint32_t id)
{
  if (s->copying.is_on || !tm_step_nodes_lose(s, id))
    add_news(s, NEWS_LOST, id, "", 0);
}

/* Nothing is committed any more if the step has failed. */
static void finish_search(struct tm_supervisor *s, uint32_t search)
{
  if (s->code == 0)
    tm_isolate_finish(s, search);
  tm_workers_carry_out(s, NULL);
  tm_supervisor_judge(s);
}

/* False: it has to wait for another copy. */
static bool tell(struct tm_supervisor *s, const struct tm_news *n)
{
  switch (n->kind) {
  case NEWS_STARTED: tm_workers_on_started(s, n->number, n->pid, n->link); return true;
  case NEWS_START_FAILED: tm_workers_on_start_failed(s, n->number, n->bytes.data); return true;
  case NEWS_TAKEN:
    tm_workers_on_taken(s, n->number, (const uint64_t *)(const void *)tm_buf_str(&n->bytes),
                        n->bytes.len / sizeof(uint64_t));
    return true;
  case NEWS_ENDED:
    return tm_workers_on_ended(s, n->number, (const struct tm_ended *)(const void *)n->bytes.data);
  case NEWS_LOST: return tm_step_nodes_lose(s, n->number);
  case NEWS_SEARCHED: finish_search(s, n->number); return true;
  }
  return true;
}

static struct tm_news take_first(struct tm_supervisor *s)
{
  struct tm_news n = s->copying.news.at[0];

  s->copying.news.len--;
  memmove(s->copying.news.at, s->copying.news.at + 1, s->copying.news.len * sizeof(n));
  return n;
}

static void put_back(struct tm_supervisor *s, const struct tm_news *n)
{
  TM_ARRAY_ADD(&s->copying.news);
  memmove(s->copying.news.at + 1, s->copying.news.at, (s->copying.news.len - 1) * sizeof(*n));
  s->copying.news.at[0] = *n;
}

/* Each leaves the list first: who hears it may close the step, which frees the list. */
static void tell_news(struct tm_supervisor *s)
{
  while (s->copying.news.len > 0 && !s->copying.is_on) {
    struct tm_news n = take_first(s);
    if (!tell(s, &n)) {
      put_back(s, &n);
      return;
    }
    tm_buf_release(&n.bytes);
  }
}

/* ---- the copy ---- */

static void hold_links(struct tm_supervisor *s)
{
  for (size_t i = 0; i < s->workers.len; i++)
    tm_worker_link_hold(s->workers.at[i]->link, true);
}

/* A link that is released may deliver the next large result. */
static void release_links(struct tm_supervisor *s)
{
  for (size_t i = 0; i < s->workers.len && !s->copying.is_on; i++)
    tm_worker_link_hold(s->workers.at[i]->link, false);
}

static bool copy_ahead(struct tm_supervisor *s, const struct tm_good_try *g)
{
  struct tm_buf header = TM_BUF_NONE;
  bool begins;

  tm_columns_add_header(&s->columns, s->commit, g->is_frame, &header);
  begins = tm_commit_copy_ahead(s->commit, g->spilled, g->length, g->hash, &header);
  tm_buf_release(&header);
  return begins;
}

static void begin(struct tm_supervisor *s, int what, uint32_t search)
{
  s->copying.what = what;
  s->copying.search = search;
  s->copying.is_on = true;
  hold_links(s);
  tm_wake_send(&s->copying.next);
}

bool tm_copying_begin(struct tm_worker *w, const struct tm_msg *f, struct tm_in_flight *held,
                      const struct tm_good_try *g)
{
  struct tm_supervisor *s = w->s;
  bool is_part = held->part != 0;

  tm_require(!s->copying.is_on); /* the links are held meanwhile */
  if (!g->spilled || s->copying.is_again ||
      !(is_part ? tm_isolate_copy_ahead(s, held->search, g) : copy_ahead(s, g)))
    return false;
  s->copying.announced = tm_announced_of(held);
  if (!s->copying.announced) {
    s->copying.worker = w->number;
    s->copying.f = *f;
    tm_buf_clear(&s->copying.payload);
    tm_buf_add(&s->copying.payload, f->payload, f->length);
  }
  begin(s, is_part ? TM_COPY_PART : TM_COPY_RESULT, held->search);
  return true;
}

static bool is_joined(const struct tm_supervisor *s, uint32_t search)
{
  return s->copying.is_again && s->copying.what == TM_COPY_JOINED && s->copying.search == search;
}

bool tm_copying_join(struct tm_supervisor *s, uint32_t search)
{
  if (s->copying.is_on)
    add_news(s, NEWS_SEARCHED, search, "", 0);
  else if (is_joined(s, search) || !tm_isolate_join_ahead(s, search))
    return false;
  else
    begin(s, TM_COPY_JOINED, search);
  return true;
}

static bool copy_more(struct tm_supervisor *s)
{
  switch (s->copying.what) {
  case TM_COPY_RESULT: return tm_commit_copy_more(s->commit);
  case TM_COPY_PART: return tm_isolate_copy_more(s, s->copying.search);
  case TM_COPY_JOINED: return tm_isolate_join_more(s, s->copying.search);
  }
  return false;
}

static void handle_again(struct tm_supervisor *s)
{
  struct tm_worker *w;

  if (s->copying.what == TM_COPY_JOINED) {
    finish_search(s, s->copying.search);
    return;
  }
  if (s->copying.announced) {
    tm_announced_handle(s->copying.announced);
    return;
  }
  w = s->by_number.at[s->copying.worker];
  tm_require(w); /* it lives: keeps (1) */
  s->copying.f.payload = s->copying.payload.data;
  tm_worker_results_on_msg(w, &s->copying.f);
}

static void end_copy(struct tm_supervisor *s)
{
  tm_require(s->copying.is_on && !s->copying.is_again);
  s->copying.is_on = false;
  s->copying.is_again = true;
  handle_again(s);
  s->copying.is_again = false;
  tm_buf_release(&s->copying.payload);
  if (s->life.state == TM_STEP_IS_CLOSED)
    return;
  tm_announced_go_on(s);
  if (s->life.state == TM_STEP_IS_CLOSED)
    return;
  release_links(s);
  tell_news(s);
  if (s->copying.is_on)
    return;
  if (tm_step_life_may(&s->life, TM_STEP_MAY_RUN)) {
    tm_step_nodes_add_all(s);
    tm_workers_fill(s);
  }
  tm_supervisor_check_end(s); /* a node that was lost may have had the last worker */
}

static void on_next(struct tm_wake *w)
{
  struct tm_supervisor *s = w->data;

  if (!s->copying.is_on)
    return;
  if (s->code == 0 && copy_more(s))
    tm_wake_send(w);
  else
    end_copy(s);
}

static void on_next_closed(struct tm_wake *w)
{
  tm_supervisor_closed_one(w->data);
}

void tm_copying_open(struct tm_supervisor *s)
{
  tm_wake_open(&s->copying.next, s->o.loop, on_next, s);
  s->copying.next.on_closed = on_next_closed;
  s->open++;
}

void tm_copying_close(struct tm_supervisor *s)
{
  for (size_t i = 0; i < s->copying.news.len; i++) {
    tm_worker_link_close(s->copying.news.at[i].link);
    tm_buf_release(&s->copying.news.at[i].bytes);
  }
  TM_ARRAY_RELEASE(&s->copying.news);
  tm_buf_release(&s->copying.payload);
  s->copying.is_on = false;
  tm_wake_close(&s->copying.next);
}
