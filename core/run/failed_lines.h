/* failed_lines.h - the lines of the failures log, which failed_items.jsonl is made of: one JSON
 * object a line.
 *
 *   {"mini_batch":7,"item":"/data/a.pgm","input":0,"try":3,"status":"RUN_EXCEPTION","error":"...","log":"/job/..."}
 *   {"mini_batch":7,"item":null,"count":2,"returned":8,"items":10,"input":0,"error":"run() returned
 *   fewer elements ..."}
 *
 *   {"mini_batch":7,"item":"/data/a.csv","begin":0,"end":8192,"rows":null,"input":0,"try":3,...}
 *
 * The second line stands for `count` items without an element, where other items of the mini-batch
 * have one: nobody knows which they are. `marked` is in it when some of `items` were marked as
 * failed. The third line stands for rows of a table that nobody could count; they count as one
 * item. `input` is the number of the dataset in the step's inputs, from 0. A path that is not UTF-8
 * is shown in `item` with U+FFFD, and stands in `item_hex` byte by byte. A file of a table that
 * could not be read has the `begin` of rows, 0, and no end: it cannot be an input of files either.
 * An entry of an archive is all in `entry_hex`, the bytes of data/item.h: with it, it can be an
 * input again.
 */
#ifndef TM_RUN_FAILED_LINES_H
#define TM_RUN_FAILED_LINES_H

#include "agent/message.h"
#include "data/item.h"
#include "run/causes.h"
#include "run/manifest.h"

/* The reason of items without an element. It has no numbers: equal reasons are counted together. */
#define TM_SHORT_RETURN                                                                            \
  "run() returned fewer elements than items: an item without an element counts as failed; "        \
  "context:fail(i, why) says which one and why, returns = 'any' lets run() return any number"

/* The end of a line, which is the same for all items with one message: encoded once. Zeroed at
 * first. */
struct tm_failed_tail {
  struct tm_buf text;
  const char *message; /* that it is of */
  size_t message_len;
};

/* Of which try, and why. */
struct tm_failed_try {
  uint64_t index;
  uint32_t try, dataset;
  enum tm_status status;
  const char *message; /* any bytes */
  size_t message_len;
  const char *log; /* the file with the whole */
  /* of a table: of the first row that is meant, in its mini-batch, from 1; 0: all of it */
  uint32_t number;
  bool is_uncounted;           /* of a table: nobody could count the rows */
  struct tm_causes *causes;    /* gets the reason of each line that is added; or NULL */
  struct tm_failed_tail *tail; /* NULL: nothing is kept from one line to the next */
};
void tm_failed_lines_item(struct tm_buf *out, const struct tm_failed_try *t,
                          const struct tm_item *item);
/* The message of each of `items` items, from the bytes that a worker sent as its marks; .at is NULL
 * for items without a mark. NULL: a worker of ours would not send these bytes. To free(). */
struct tm_reader *tm_failed_lines_read_marks(struct tm_reader r, uint32_t items, uint32_t *marked);
/* A line for each item with a message: messages[i] is of item i of the `items` that the entry's
 * bytes hold, which are those of a part that begins with item `first`, or of all. */
void tm_failed_lines_marks(struct tm_buf *out, const struct tm_failed_try *t,
                           const struct tm_manifest_entry *entry, uint32_t first,
                           const struct tm_reader *messages, uint32_t items);
/* A line for each of these items, counted from 0; for rows of one range a line for all of them. */
void tm_failed_lines_part(struct tm_buf *out, const struct tm_failed_try *t,
                          const struct tm_manifest_entry *entry, uint32_t first, uint32_t count);
/* One for each item of the entry. Here and above one that has a fault (data/item.h) has that in
 * place of the message. */
void tm_failed_lines_all(struct tm_buf *out, const struct tm_failed_try *t,
                         const struct tm_manifest_entry *entry);
/* `items` of which `marked` have lines of their own, and `returned` elements. Nothing is added when
 * these are enough. */
void tm_failed_lines_short(struct tm_buf *out, const struct tm_failed_try *t, uint32_t items,
                           uint32_t marked, uint32_t returned);

#endif
