/* life_rows.h - the events in the lives of a step's workers, from workers.csv (worker_lives.h). */
#ifndef TM_REPORT_LIFE_ROWS_H
#define TM_REPORT_LIFE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table_faults.h"

struct tm_life_row { /* strings are valid during the call */
  int64_t wall_ns;   /* 0: the row has no time */
  const char *process, *node, *address;
  int64_t pid;           /* 0: none */
  const char *event;     /* "started", "ready", "init_failed", "ended" */
  int64_t lived_ns;      /* since it was started; 0: just now, or it never was */
  int64_t max_rss_bytes; /* of "ended"; 0: not known */
  int64_t own_bytes;     /* likewise, of its own; 0 also without worker_memory_limit */
  int64_t init_ns;       /* of "ready": in init(); 0: the script has none, or it is not known */
  bool died;             /* "ended", and nobody had asked it to */
  bool was_killed;       /* "ended", by a signal or for a limit */
  const char *detail;
};

/* All events from *at on; 0: from the beginning. As tm_table_rows_read(), which see.
 * `faults` may be NULL. */
int tm_life_rows_next(const char *logs_dir, int64_t *at,
                      int (*on_row)(void *data, const struct tm_life_row *row), void *data,
                      struct tm_table_faults *faults, struct tm_err *err);

#endif
