/* set_queue.h - which picture is decoded next, when several threads ask. Pure: the caller locks.
 *
 * Sets are worked on in the order in which they were added, and pictures of a set in theirs.
 * Pictures of the next set begin when all of the one before have begun.
 */
#ifndef TM_DATA_IMAGES_SET_QUEUE_H
#define TM_DATA_IMAGES_SET_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

struct tm_picture_set {
  struct tm_list_item item;
  size_t n, begun, ended; /* pictures */
  size_t announced;       /* the first of these */
};

struct tm_set_queue {
  struct tm_list sets; /* in their order, until they are taken */
};

void tm_set_queue_init(struct tm_set_queue *q);
/* A set of n pictures; the struct stays where it is until it is removed. */
void tm_set_queue_add(struct tm_set_queue *q, struct tm_picture_set *b, size_t n);
/* The next picture to begin; false: all have begun. */
bool tm_set_queue_begin(struct tm_set_queue *q, struct tm_picture_set **b, size_t *i);
/* One that had begun has ended. True: it was the last of its set. */
bool tm_set_queue_end(struct tm_picture_set *b);
/* The next picture whose file is to be announced to the system: those that begin soon, so that
 * adding a large set takes no time. False: none now. */
bool tm_picture_set_announce(struct tm_picture_set *b, size_t *i);
bool tm_picture_set_is_complete(
    const struct tm_picture_set *b); /* nothing of it runs or is to come */
void tm_set_queue_remove(struct tm_set_queue *q, struct tm_picture_set *b);

#endif
