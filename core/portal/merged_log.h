/* merged_log.h - pieces of the merged view of a job's logs, as `tidemill logs` shows it: the end,
 * the lines from or before a position, the lines with a text.
 *
 * The lines of a view are kept while somebody reads it, at most TM_MERGED_LINES and
 * TM_MERGED_BYTES: the first ones from a position on, else the last ones. A position is the number
 * of a line. A view is read piece by piece, so that long logs keep nobody waiting: tm_merged_read()
 * ends after TM_MERGED_NS, and the next call goes on.
 */
#ifndef TM_PORTAL_MERGED_LOG_H
#define TM_PORTAL_MERGED_LOG_H

#include <tidemill.h>

#include "base/err.h"
#include "base/mem.h"

#define TM_MERGED_LINES 2000
#define TM_MERGED_BYTES (1 << 20)
#define TM_MERGED_VIEWS 4 /* kept at the same time */
#define TM_MERGED_NS    INT64_C(150000000)

/* What a view shows. */
struct tm_merged_choice {
  const struct tidemill_logs_options *options;
  const char *find; /* only lines with this text; NULL or "": all */
  int64_t at;       /* the first lines from this one on; -1: the last ones ... */
  int64_t before;   /* ... before this one; -1: of all */
};

struct tm_merged_line {
  int64_t number; /* in the view without `find` */
  char *source, *text;
  size_t len;
  int64_t more; /* bytes that are left out */
};

struct tm_merged_log {
  char *key; /* job and choice */
  char *find;
  int64_t at, before;
  struct tidemill_logs *logs;                   /* NULL: is_full */
  struct tm_merged_line lines[TM_MERGED_LINES]; /* a ring: line n is at n % TM_MERGED_LINES */
  int64_t first, total; /* lines that are kept, and one behind the last of them */
  int64_t read;         /* lines that were read */
  int64_t bytes;        /* of the lines that are kept */
  bool is_full;         /* nothing that comes later belongs to it */
  bool is_behind;       /* there is more to read now; the last call ended before the end */
  int64_t used_ns;
};

struct tm_merged_logs {
  struct TM_ARRAY(struct tm_merged_log *) views;
};

/* The view, read on. `dir`: of the job. NULL and an error. It is valid until the next call. */
struct tm_merged_log *tm_merged_read(struct tm_merged_logs *m, const char *dir,
                                     const struct tm_merged_choice *choice, int64_t now_ns,
                                     struct tm_err *err);
/* Line `n`, from `first` on. */
const struct tm_merged_line *tm_merged_at(const struct tm_merged_log *l, int64_t n);
/* Closes what was not used for half a minute; `all`: everything. Returns when to call it again; 0:
 * nothing is left. */
int64_t tm_merged_clean(struct tm_merged_logs *m, int64_t now_ns, bool all);

#endif
