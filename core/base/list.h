/* list.h - a list through its elements: each holds a `struct tm_list_item` for each list that it
 * can be in. Adding, removing and asking whether an element is in the list take constant time.
 *
 * A zeroed item is in no list. A list is a `struct tm_list`, which tm_list_init() makes empty; it
 * must not move. TM_LIST_OWNER gives the element of an item.
 */
#ifndef TM_BASE_LIST_H
#define TM_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct tm_list_item {
  struct tm_list_item *prev, *next;
};

struct tm_list {
  struct tm_list_item head; /* before the first, after the last */
  size_t len;
};

#define TM_LIST_OWNER(item, type, member) ((type *)(void *)((char *)(item)-offsetof(type, member)))

static inline void tm_list_init(struct tm_list *l)
{
  l->head.prev = l->head.next = &l->head;
  l->len = 0;
}

static inline bool tm_list_has(const struct tm_list_item *item)
{
  return item->next != NULL;
}

/* At the end. It must not be in a list. */
static inline void tm_list_add(struct tm_list *l, struct tm_list_item *item)
{
  item->prev = l->head.prev;
  item->next = &l->head;
  item->prev->next = item->next->prev = item;
  l->len++;
}

/* A no-op if it is in no list. */
static inline void tm_list_remove(struct tm_list *l, struct tm_list_item *item)
{
  if (!tm_list_has(item))
    return;
  item->prev->next = item->next;
  item->next->prev = item->prev;
  item->prev = item->next = NULL;
  l->len--;
}

/* Adds it, or removes it. */
static inline void tm_list_set(struct tm_list *l, struct tm_list_item *item, bool is_in)
{
  if (is_in && !tm_list_has(item))
    tm_list_add(l, item);
  else if (!is_in)
    tm_list_remove(l, item);
}

/* NULL: the list is empty; after the last. */
static inline struct tm_list_item *tm_list_first(const struct tm_list *l)
{
  return l->len > 0 ? l->head.next : NULL;
}

static inline struct tm_list_item *tm_list_next(const struct tm_list *l,
                                                const struct tm_list_item *item)
{
  return item->next == &l->head ? NULL : item->next;
}

#endif
