/* set_queue.c - see set_queue.h. */
#include "data/images/set_queue.h"

#include "base/check.h"

#define ANNOUNCED_AHEAD 64 /* pictures */

void tm_set_queue_init(struct tm_set_queue *q)
{
  tm_list_init(&q->sets);
}

void tm_set_queue_add(struct tm_set_queue *q, struct tm_picture_set *b, size_t n)
{
  *b = (struct tm_picture_set) { .n = n };
  tm_list_add(&q->sets, &b->item);
}

bool tm_set_queue_begin(struct tm_set_queue *q, struct tm_picture_set **b, size_t *i)
{
  for (struct tm_list_item *at = tm_list_first(&q->sets); at != NULL;
       at = tm_list_next(&q->sets, at)) {
    *b = TM_LIST_OWNER(at, struct tm_picture_set, item);
    if ((*b)->begun < (*b)->n) {
      *i = (*b)->begun++;
      return true;
    }
  }
  return false;
}

bool tm_set_queue_end(struct tm_picture_set *b)
{
  tm_require(b->ended < b->begun);
  b->ended++;
  return tm_picture_set_is_complete(b);
}

bool tm_picture_set_announce(struct tm_picture_set *b, size_t *i)
{
  if (b->announced >= b->n || b->announced >= b->begun + ANNOUNCED_AHEAD)
    return false;
  *i = b->announced++;
  return true;
}

bool tm_picture_set_is_complete(const struct tm_picture_set *b)
{
  return b->ended == b->n;
}

void tm_set_queue_remove(struct tm_set_queue *q, struct tm_picture_set *b)
{
  tm_list_remove(&q->sets, &b->item);
}
