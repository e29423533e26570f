/* ahead.h - decodes sets of pictures, ahead of their use, in threads of its own and in the
 * thread that waits for them.
 *
 *   a = tm_ahead_open(&options, threads)
 *   tm_ahead_add(a, &set, pictures, n)     any number of sets
 *   tm_ahead_take(a, &set)                 in the order of adding; waits, and decodes meanwhile
 *   tm_ahead_close(a)                        ends the work at once
 *
 * One thread uses it; tm_ahead_stop() may be called anywhere. Without threads, all work is done by
 * tm_ahead_take(), and announces the files that come next.
 */
#ifndef TM_DATA_IMAGES_AHEAD_H
#define TM_DATA_IMAGES_AHEAD_H

#include "data/images/set_queue.h"
#include "data/images/picture.h"

struct tm_ahead_options {
  struct tm_picture_options picture;
  int64_t max_bytes; /* of a file */
};

/* A picture, and what became of it. */
struct tm_ahead_picture {
  const char *name;    /* for messages, and the path of the file unless there is `data` */
  const uint8_t *data; /* the file's bytes, or NULL */
  size_t len;
  void *to; /* for the elements, as many as the size of the output says */

  int code;                  /* 0, or a negative code: `to` holds anything; -ECANCELED */
  char *message;             /* free() it; NULL if code is 0 */
  struct tm_mapping mapping; /* if code is 0 */
};

/* Strings, bytes and memory of the pictures stay where they are until the set was taken, or all
 * is closed. */
struct tm_ahead_set {
  struct tm_picture_set queued;
  struct tm_ahead_picture *pictures;
};

struct tm_ahead;

/* The options are copied. The size of the output must be fixed (tm_sizing_is_fixed). If the system
 * refuses threads, there are fewer. */
struct tm_ahead *tm_ahead_open(const struct tm_ahead_options *options, int32_t threads);
void tm_ahead_add(struct tm_ahead *a, struct tm_ahead_set *set, struct tm_ahead_picture *pictures,
                  size_t n);
/* Returns when each picture of the set, which is the first that was not taken, has a code.
 * -ECANCELED: it was stopped. */
int tm_ahead_take(struct tm_ahead *a, struct tm_ahead_set *set);
/* Ends the work: what is decoded fails with -ECANCELED at its next row. Async-signal-safe. */
void tm_ahead_stop(struct tm_ahead *a);
/* Also while sets are decoded. NULL is a no-op. */
void tm_ahead_close(struct tm_ahead *a);

#endif
