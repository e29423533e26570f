/* failed_lines.h - the lines of the failures log, from which failed_items.jsonl is made: one JSON
 * object a line.
 *
 *   {"mini_batch":7,"item":"/data/a.pgm","input":0,"try":3,"status":"RUN_EXCEPTION","error":"...",
 *   "where":"score.lua:12","log":"/job/..."}
 *   {"mini_batch":7,"item":null,"count":2,"returned":8,"items":10,"input":0,"error":"run() returned
 *   fewer elements ..."}
 *
 *   {"mini_batch":7,"item":"/data/a.csv","begin":0,"end":8192,"rows":null,"input":0,"try":3,...}
 *
 * The second line is for `count` items without an element, in a mini-batch whose other items have
 * one: nobody knows which items they are. It has `marked` if the script marked some of `items` as
 * failed. The third line is for rows of a table that nobody could count; they count as one item.
 * Rows that partition keys group have "keys":"store=north, n=3", too: `item` is a file of the job.
 * `names` is the item that the message names, if the mini-batch has several items, which all have
 * this message. `input` is the number of the dataset in the step's inputs, from 0. `item` shows a
 * path that is not UTF-8 with U+FFFD; `item_hex` has its bytes. A table file that could not be read
 * has the `begin` of rows, 0, and no end: it cannot become an input of files. `entry_hex` has an
 * entry of an archive as in data/item.h, so that the entry can become an input again.
 */
#ifndef TM_COMMIT_FAILED_LINES_H
#define TM_COMMIT_FAILED_LINES_H

#include "agent/agent_msg.h"
#include "commit/causes.h"
#include "commit/manifest.h"
#include "data/item.h"

/* The reason of items without an element. It has no numbers: equal reasons are counted together. */
#define TM_SHORT_RETURN                                                                            \
  "run() returned fewer elements than items, and an item without one counts as failed; "           \
  "context:fail(i, why) says which, returns = 'any' allows any number"

/* The end of a line, which is the same for all items with one message, so that it is encoded once.
 * Zero it first. */
struct tm_failed_tail {
  struct tm_buf text;
  const char *message; /* the message that it is for */
  size_t message_len;
};

/* A try, and why it failed. */
struct tm_failed_try {
  uint64_t index;
  uint32_t try, dataset;
  enum tm_status status;
  const char *message; /* any bytes */
  size_t message_len;
  const char *where; /* the line of the script, "score.lua:12"; NULL or "": unknown */
  const char *names; /* the one of several items that the message names; NULL: none */
  const char *log;   /* the file with the full text */
  /* of a table: the first row that failed, from 1 in its mini-batch; 0: all rows */
  uint32_t number;
  bool is_uncounted;           /* of a table whose rows nobody could count */
  bool has_gaps;               /* of a table: rows of a range may be left out (table_ops.h) */
  struct tm_causes *causes;    /* gets the reason of each line that is added; or NULL */
  struct tm_failed_tail *tail; /* NULL: nothing is kept from one line to the next */
};
void tm_failed_lines_item(struct tm_buf *out, const struct tm_failed_try *t,
                          const struct tm_item *item);
struct tm_marks {
  struct tm_mark *at; /* by number; their words are the message's */
  size_t len, cap;
};
/* Reads the marks that a worker sent, of `items` items. False: a correct worker would not send
 * these bytes. Release `out` with TM_ARRAY_RELEASE in both cases. */
bool tm_failed_lines_read_marks(struct tm_marks *out, struct tm_reader r, uint32_t items);
/* A line for each marked item. The items are those of a part that begins with item `first`, or all
 * items of the entry. */
void tm_failed_lines_marks(struct tm_buf *out, const struct tm_failed_try *t,
                           const struct tm_manifest_entry *entry, uint32_t first,
                           const struct tm_marks *marks);
/* A line for each of these items, counted from 0; rows of one range share one line. */
void tm_failed_lines_part(struct tm_buf *out, const struct tm_failed_try *t,
                          const struct tm_manifest_entry *entry, uint32_t first, uint32_t count);
/* A line for each item of the entry. Here and above, an item with a fault (data/item.h) has the
 * fault in place of the message. */
void tm_failed_lines_all(struct tm_buf *out, const struct tm_failed_try *t,
                         const struct tm_manifest_entry *entry);
/* A line for the items without an element: `marked` of `items` have lines of their own, and run()
 * returned `returned` elements. Adds nothing if these are enough. */
void tm_failed_lines_short(struct tm_buf *out, const struct tm_failed_try *t, uint32_t items,
                           uint32_t marked, uint32_t returned);

#endif
