/* handoff.c - see handoff.h. One thread waits at a time: the one that is not the loop's. */
#include "sys/handoff.h"

#include <string.h>

#include "base/check.h"

void tm_handoff_init(struct tm_handoff *h, size_t limit)
{
  tm_require(limit > 0);
  *h = (struct tm_handoff) { .limit = limit };
  tm_mutex_init(&h->gate);
  tm_cond_init(&h->changed);
}

void tm_handoff_release(struct tm_handoff *h)
{
  tm_cond_release(&h->changed);
  tm_mutex_release(&h->gate);
  tm_buf_release(&h->bytes);
}

static size_t len_of(const struct tm_handoff *h)
{
  return h->bytes.len - h->at;
}

static void add(struct tm_handoff *h, const char *p, size_t n)
{
  if (h->at == h->bytes.len)
    h->at = h->bytes.len = 0;
  if (h->at > h->limit) { /* more was taken than may be kept */
    memmove(h->bytes.data, h->bytes.data + h->at, len_of(h));
    h->bytes.len = len_of(h);
    h->at = 0;
  }
  tm_buf_add(&h->bytes, p, n);
}

bool tm_handoff_put(struct tm_handoff *h, const char *p, size_t n)
{
  bool is_open;

  tm_mutex_lock(&h->gate);
  while (n > 0 && !h->is_closed) {
    size_t room = h->limit - len_of(h), some = n < room ? n : room;
    if (some == 0) {
      tm_cond_wait(&h->changed, &h->gate);
      continue;
    }
    add(h, p, some);
    p += some;
    n -= some;
  }
  is_open = !h->is_closed;
  tm_mutex_unlock(&h->gate);
  return is_open;
}

bool tm_handoff_get(struct tm_handoff *h, char *p, size_t n)
{
  bool is_open;

  tm_mutex_lock(&h->gate);
  while (n > 0 && !h->is_closed) {
    size_t there = len_of(h), some = n < there ? n : there;
    if (some == 0) {
      tm_cond_wait(&h->changed, &h->gate);
      continue;
    }
    memcpy(p, h->bytes.data + h->at, some);
    h->at += some;
    p += some;
    n -= some;
  }
  is_open = !h->is_closed;
  tm_mutex_unlock(&h->gate);
  return is_open;
}

size_t tm_handoff_take(struct tm_handoff *h, struct tm_buf *out, size_t max)
{
  size_t n;

  tm_mutex_lock(&h->gate);
  n = len_of(h) < max ? len_of(h) : max;
  if (n > 0)
    tm_buf_add(out, h->bytes.data + h->at, n);
  h->at += n;
  tm_cond_signal(&h->changed);
  tm_mutex_unlock(&h->gate);
  return n;
}

bool tm_handoff_give(struct tm_handoff *h, const char *p, size_t n)
{
  bool has_room;

  tm_mutex_lock(&h->gate);
  has_room = n <= h->limit - len_of(h);
  if (has_room && n > 0)
    add(h, p, n);
  tm_cond_signal(&h->changed);
  tm_mutex_unlock(&h->gate);
  return has_room;
}

size_t tm_handoff_len(struct tm_handoff *h)
{
  size_t n;

  tm_mutex_lock(&h->gate);
  n = len_of(h);
  tm_mutex_unlock(&h->gate);
  return n;
}

void tm_handoff_close(struct tm_handoff *h)
{
  tm_mutex_lock(&h->gate);
  h->is_closed = true;
  tm_cond_signal(&h->changed);
  tm_mutex_unlock(&h->gate);
}
