/* merged_log.h - the end of the merged view of a job's logs, as `tidemill logs` shows it.
 *
 * The lines of a view are kept while somebody reads it: the last TM_MERGED_LINES of them. A view is
 * read piece by piece, so that long logs keep nobody waiting: tm_merged_read() ends after
 * TM_MERGED_NS, and the next call goes on.
 */
#ifndef TM_PORTAL_MERGED_LOG_H
#define TM_PORTAL_MERGED_LOG_H

#include <tidemill.h>

#include "base/err.h"
#include "base/mem.h"

#define TM_MERGED_LINES 2000
#define TM_MERGED_BYTES 4096 /* kept of a line */
#define TM_MERGED_VIEWS 4    /* kept at the same time */
#define TM_MERGED_NS    INT64_C(150000000)

struct tm_merged_line {
  char *source, *text;
  size_t len;
  int64_t more; /* bytes that are left out */
};

struct tm_merged_log {
  char *key; /* job and filter */
  struct tidemill_logs *logs;
  struct tm_merged_line lines[TM_MERGED_LINES]; /* a ring: line n is at n % TM_MERGED_LINES */
  int64_t total;                                /* lines so far */
  bool is_behind; /* there is more to read now; the last call ended before the end */
  int64_t used_ns;
};

struct tm_merged_logs {
  struct TM_ARRAY(struct tm_merged_log *) views;
};

/* The view, read on. `dir`: of the job. NULL and an error. It is valid until the next call. */
struct tm_merged_log *tm_merged_read(struct tm_merged_logs *m, const char *dir,
                                     const struct tidemill_logs_options *options, int64_t now_ns,
                                     struct tm_err *err);
/* The number of the first line that is kept, and line `n`. */
int64_t tm_merged_first(const struct tm_merged_log *l);
const struct tm_merged_line *tm_merged_at(const struct tm_merged_log *l, int64_t n);
/* Closes what was not used for half a minute; `all`: everything. Returns when to call it again; 0:
 * nothing is left. */
int64_t tm_merged_clean(struct tm_merged_logs *m, int64_t now_ns, bool all);

#endif
