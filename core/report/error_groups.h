/* error_groups.h - all errors of a step in groups: which, how often, when, at which workers, and
 * the first one. From the tables of a job, piece by piece, while it runs or later. Pure: it reads
 * no file and no clock.
 *
 *   zero it -> add tries and failed items, each in the order of their file
 *   -> tm_error_groups_list() -> ... -> tm_error_groups_release()
 *
 * Errors of one group have the same record/error_key.h. What is listed does not depend on how the
 * calls for tries and for items mix. Tries are counted in tries; a try that failed, and whose
 * mini-batch succeeded later, has no items. Items that failed although run() returned are groups
 * without tries. An error of run() without a line counts as the first one with a line and the same
 * message, as in errors.h.
 *
 * The order is that of the first tries; then come groups without tries, in the order of their first
 * items. At most TM_ERROR_GROUPS_MAX groups are kept; the tries and items of others are counted.
 */
#ifndef TM_REPORT_ERROR_GROUPS_H
#define TM_REPORT_ERROR_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "report/errors.h"
#include "report/try_rows.h"

#define TM_ERROR_GROUPS_MAX 1000

struct tm_error_group {
  char *key, *pattern; /* `pattern`: of all messages, one line; within `key` */
  bool is_mixed;       /* not all messages are equal */
  char *status, *where;
  char *message;             /* of the first, as far as its table has it */
  int64_t tries, items;      /* that failed */
  int64_t first_ns, last_ns; /* when the first and the last try ended; 0: unknown */
  int64_t mini_batch;        /* of the first; -1: an init() */
  int64_t try_number;        /* of the first; 0: unknown */
  char *item;                /* of the first; "": unknown */
  char *worker, *node;       /* of the first; "": unknown */
  char *log; /* of the first failed item, or NULL; tm_error_group_log() is that of the first */
  char *workers[TM_ERROR_WORKERS]; /* the first ones that had it */
  size_t workers_len;
  bool has_more_workers;
};

/* Groups of tries, or of failed items. */
struct tm_error_half {
  struct TM_ARRAY(struct tm_error_group) list;
  struct tm_map known; /* key: index + 1 */
  int64_t others;      /* tries or items of groups that are not kept */
};

struct tm_error_groups {
  struct tm_error_half tries, items;
  struct tm_buf key; /* scratch */
  /* of the last tm_error_groups_list() */
  struct TM_ARRAY(struct tm_error_group) list; /* its strings belong to the halves */
  int64_t other_tries, other_items;
};

/* A line of failed_items.jsonl, or of the failures log of a running step. */
struct tm_error_item {
  const char *status;                               /* NULL: RUN_DONE */
  const char *where, *message, *item, *names, *log; /* or NULL */
  int64_t mini_batch, try_number, items;
  bool are_rows;
};

/* Ignores a try that did not fail. */
void tm_error_groups_add_try(struct tm_error_groups *g, const struct tm_try_row *row);
void tm_error_groups_add_item(struct tm_error_groups *g, const struct tm_error_item *item);
/* Forgets all tries, or all items: their file has been replaced. */
void tm_error_groups_forget(struct tm_error_half *half);
/* Makes g->list, which is valid until the next call of any of these functions. */
void tm_error_groups_list(struct tm_error_groups *g);
void tm_error_groups_release(struct tm_error_groups *g);
/* Sets `order`, of g->list.len elements, to the places of the listed groups, the largest first: the
 * one with the most tries, or items if it has no tries. */
void tm_error_groups_order(const struct tm_error_groups *g, size_t *order);
/* The file with the full text of the first error, to free(); "": unknown. */
char *tm_error_group_log(const struct tm_error_group *n, const char *logs_dir);

#endif
