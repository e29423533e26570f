/* try_rows.h - the tries of a step, or of one mini-batch, from processed_mini-batches.csv
 * (tries.h). */
#ifndef TM_REPORT_TRY_ROWS_H
#define TM_REPORT_TRY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table_faults.h"

struct tm_try_row {   /* strings are valid during the call */
  int64_t mini_batch; /* -1: an init() that failed */
  int64_t picked;
  const char *process, *began, *total, *succeeded, *failed; /* as in the file */
  const char *elapsed, *run;                                /* seconds */
  const char *status, *category, *message, *detail;
  const char *node;         /* "": an older version wrote the file */
  int64_t bytes;            /* of its rows; likewise 0 */
  int64_t signal;           /* that ended its worker; 0: none, or likewise */
  const char *where, *item; /* the line of the script, the item of the error; likewise "" */
  int64_t begin_wall_ns;    /* 0: it never began */
  int64_t elapsed_ns, run_ns;
  int64_t cpu_ns; /* processor time of the worker's process */
};

/* All tries from *at on; 0: from the beginning. As tm_table_rows_read(), which see.
 * `faults` may be NULL. */
int tm_try_rows_next(const char *logs_dir, int64_t *at,
                     int (*on_row)(void *data, const struct tm_try_row *row), void *data,
                     struct tm_table_faults *faults, struct tm_err *err);

/* About how many there are; negative: a system error. */
int64_t tm_try_rows_count(const char *logs_dir, struct tm_err *err);

/* *at: where the tries begin that ended at `wall_ns` or later. */
int tm_try_rows_find(const char *logs_dir, int64_t wall_ns, int64_t *at, struct tm_err *err);

/* Calls on_row for the rows in the order in which they were written. Returns their number; invalid
 * rows are skipped. A missing file has none. */
int64_t tm_try_rows_read(const char *logs_dir, int64_t mini_batch,
                         void (*on_row)(void *data, const struct tm_try_row *row), void *data,
                         struct tm_err *err);

/* plain_try.c, for try_rows.c: reads a row of the form that nearly all have, in one pass: of a try
 * that succeeded, without quotes, in a table with today's columns. Whoever watches a fast job reads
 * a hundred thousand of them a second. Pure. */
#define TM_PLAIN_MINUTE 17 /* bytes of "2026-01-31T23:59:" */
struct tm_plain_tries {    /* what successive rows have in common; zero it */
  char minute[TM_PLAIN_MINUTE];
  int64_t minute_ns; /* when it began */
};
/* `line`: `len` bytes without the line break, which comes behind them. False: `line` is unchanged,
 * and must be read by columns. Otherwise the strings of the row are in it. */
bool tm_plain_try_read(struct tm_plain_tries *p, char *line, size_t len, struct tm_try_row *out);

#endif
