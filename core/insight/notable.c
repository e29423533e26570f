/* notable.c - see notable.h. The heap has the least slow one first, which the next one replaces. */
#include "insight/notable.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* Whether `a` is shown before `b`. */
static bool is_slower(int64_t run_ns, int64_t mini_batch, int64_t try_number,
                      const struct tm_notable_try *b)
{
  if (run_ns != b->run_ns)
    return run_ns > b->run_ns;
  if (mini_batch != b->mini_batch)
    return mini_batch < b->mini_batch;
  return try_number < b->try_number;
}

static bool is_faster(const void *a, const void *b)
{
  const struct tm_notable_try *t = b;
  return is_slower(t->run_ns, t->mini_batch, t->try_number, a);
}

void tm_notable_init(struct tm_notable *n)
{
  *n = (struct tm_notable) { 0 };
  tm_heap_init(&n->slowest, sizeof(struct tm_notable_try), is_faster);
}

static void release_try(struct tm_notable_try *t)
{
  free(t->worker);
  free(t->node);
  free(t->status);
  free(t->category);
  free(t->message);
  free(t->first_item);
}

void tm_notable_release(struct tm_notable *n)
{
  for (size_t i = 0; i < n->failed.len; i++)
    release_try(&n->failed.at[i]);
  TM_ARRAY_RELEASE(&n->failed);
  for (size_t i = 0; i < n->slowest.len; i++)
    release_try(tm_heap_at(&n->slowest, i));
  tm_heap_release(&n->slowest);
}

const char *tm_notable_first_item(const char *detail)
{
  static const char *const before[] = { " first=", " keys=" };
  for (size_t i = 0; i < TM_COUNT_OF(before); i++) {
    const char *at = strstr(detail, before[i]);
    if (at)
      return at + strlen(before[i]);
  }
  return "";
}

static char *text_of(const char *s)
{
  return tm_xstrndup(s, tm_text_front(s, TM_NOTABLE_TEXT));
}

static struct tm_notable_try kept(const struct tm_try_row *t)
{
  int64_t items = 0;
  (void)tm_text_int(t->total, &items);
  return (struct tm_notable_try) { .mini_batch = t->mini_batch,
                                   .try_number = t->picked,
                                   .begin_ns = t->begin_wall_ns,
                                   .elapsed_ns = t->elapsed_ns,
                                   .run_ns = t->run_ns,
                                   .items = items,
                                   .worker = text_of(t->process),
                                   .node = text_of(t->node),
                                   .status = text_of(t->status),
                                   .category = text_of(t->category),
                                   .message = text_of(t->message),
                                   .first_item = text_of(tm_notable_first_item(t->detail)) };
}

void tm_notable_add_ok(struct tm_notable *n, const struct tm_try_row *t)
{
  struct tm_notable_try out;
  if (n->slowest.len == TM_NOTABLE_SLOWEST) {
    if (!is_slower(t->run_ns, t->mini_batch, t->picked, tm_heap_at(&n->slowest, 0)))
      return;
    tm_heap_remove(&n->slowest, 0, &out);
    release_try(&out);
  }
  out = kept(t);
  tm_heap_add(&n->slowest, &out);
}

void tm_notable_add_failed(struct tm_notable *n, const struct tm_try_row *t)
{
  if (n->failed.len < TM_NOTABLE_FAILED)
    *TM_ARRAY_ADD(&n->failed) = kept(t);
  else
    n->failed_more++;
}

static int compare(const void *a, const void *b)
{
  const struct tm_notable_try *const *x = a, *const *y = b;
  if (is_slower((*x)->run_ns, (*x)->mini_batch, (*x)->try_number, *y))
    return -1;
  return is_slower((*y)->run_ns, (*y)->mini_batch, (*y)->try_number, *x);
}

struct tm_notable_try **tm_notable_slowest(const struct tm_notable *n, size_t *len)
{
  struct tm_notable_try **list = tm_xcalloc(n->slowest.len, sizeof(*list));
  *len = n->slowest.len;
  for (size_t i = 0; i < *len; i++)
    list[i] = tm_heap_at(&n->slowest, i);
  qsort(list, *len, sizeof(*list), compare);
  return list;
}
