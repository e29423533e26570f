/* stream_in.c - what a stream receives.
 *
 *  (1) A worker takes memory only if it has a credit of its own or a message that is not complete.
 *      It stays until the release: its credit must not begin again.
 */
#include "sys/messages/stream_in.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

struct receiver {
  struct tm_list_item in_all;
  struct tm_join join;
  struct tm_credit_in credit;
};

static struct receiver *find(const struct tm_stream_in *in, uint32_t worker)
{
  const uint64_t *at = tm_map_find(&in->numbers, &worker, sizeof worker);
  return at ? (struct receiver *)(uintptr_t)*at : NULL;
}

/* Keeps (1). */
static struct receiver *get(struct tm_stream_in *in, uint32_t worker, bool has_more)
{
  struct receiver *w = find(in, worker);
  if (w != NULL || (!in->is_by_worker && !has_more))
    return w;
  w = TM_NEW(struct receiver);
  tm_credit_in_init(&w->credit, in->limit);
  *tm_map_add(&in->numbers, &worker, sizeof worker, NULL) = (uintptr_t)w;
  tm_list_add(&in->all, &w->in_all);
  return w;
}

static struct tm_credit_in *credit_of(struct tm_stream_in *in, struct receiver *w)
{
  return in->is_by_worker ? &w->credit : &in->credit;
}

void tm_stream_in_init(struct tm_stream_in *in, bool is_by_worker, size_t limit)
{
  *in = (struct tm_stream_in) { .is_by_worker = is_by_worker, .limit = limit };
  tm_credit_in_init(&in->credit, limit);
  tm_list_init(&in->all);
}

void tm_stream_in_release(struct tm_stream_in *in)
{
  struct tm_list_item *item;
  while ((item = tm_list_first(&in->all)) != NULL) {
    struct receiver *w = TM_LIST_OWNER(item, struct receiver, in_all);
    tm_list_remove(&in->all, item);
    tm_join_drop(&w->join);
    free(w);
  }
  tm_join_drop(&in->control);
  tm_map_release(&in->numbers);
  in->done = NULL;
}

static int add_of_worker(struct tm_stream_in *in, const struct tm_msg *f, struct tm_msg *whole,
                         struct tm_err *err)
{
  struct receiver *w = get(in, f->worker, f->type & TM_STREAM_MORE);
  struct tm_join alone = { 0 }, *join = w != NULL ? &w->join : &alone;
  struct tm_credit_in *credit = credit_of(in, w);
  if (!tm_credit_receive(credit, f->length + (join->has_begun ? 0 : (size_t)TM_MSG_HEADER)))
    return tm_err_set(err, TM_EPROTOCOL, "more bytes came than the other side has credit for");
  int rc = tm_join_add(join, f, whole, err);
  if (rc > 0)
    tm_credit_complete(credit, TM_MSG_HEADER + (size_t)whole->length);
  if (rc > 0 && w != NULL)
    in->done = join;
  return rc;
}

int tm_stream_in_add(struct tm_stream_in *in, const struct tm_msg *f, struct tm_msg *whole,
                     struct tm_err *err)
{
  if (in->done != NULL)
    tm_join_drop(in->done); /* large, if anything */
  in->done = NULL;
  if (f->type & TM_MSG_FD)
    return tm_err_set(err, TM_EPROTOCOL, "a message with a descriptor came");
  if ((f->type & ~TM_STREAM_MORE) < TM_STREAM_CONTROL)
    return add_of_worker(in, f, whole, err);
  int rc = tm_join_add(&in->control, f, whole, err);
  if (rc > 0)
    in->done = &in->control;
  return rc;
}

bool tm_stream_in_cut(struct tm_stream_in *in, uint32_t worker)
{
  struct receiver *w = find(in, worker);
  if (w == NULL || !w->join.has_begun)
    return false;
  size_t bytes = TM_MSG_HEADER + w->join.bytes.len;
  tm_join_drop(&w->join);
  tm_credit_complete(credit_of(in, w), bytes);
  tm_credit_consume(credit_of(in, w), bytes);
  return true;
}

void tm_stream_in_consume(struct tm_stream_in *in, uint32_t worker, size_t bytes)
{
  struct receiver *w = in->is_by_worker ? find(in, worker) : NULL;
  tm_require(w != NULL || !in->is_by_worker);
  tm_credit_consume(credit_of(in, w), bytes);
}

uint64_t tm_stream_in_grant(struct tm_stream_in *in, uint32_t worker)
{
  struct receiver *w = in->is_by_worker ? find(in, worker) : NULL;
  if (w == NULL && in->is_by_worker)
    return 0;
  return tm_credit_grant(credit_of(in, w));
}
