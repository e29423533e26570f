/* job_list.h - the jobs of the workspace: the running ones first, then the newest; filtered.
 *
 * tm_job_list_refresh() reads all of them, but not more often than the reading costs
 * (tm_feed_due()). The rest is pure.
 */
#ifndef TM_PORTAL_JOB_LIST_H
#define TM_PORTAL_JOB_LIST_H

#include <tidemill.h>

#include "base/err.h"
#include "base/mem.h"

#define TM_JOB_LIST_PAGE 50

struct tm_job_row {
  char *key;      /* the name of its folder in the workspace; it names it in URLs */
  char *pipeline; /* "": not known */
  char *note;     /* what to know, in one line; may be "" */
  enum tidemill_state state;
  bool is_damaged, is_stopped; /* the record has a fault; its process was stopped */
  int64_t begin_ns, elapsed_ns;
  int64_t created, succeeded, failed; /* mini-batches */
  bool all_created;
};

struct tm_job_list {
  struct TM_ARRAY(struct tm_job_row) rows;
  size_t running;
  int64_t due_ns;   /* before it, tm_job_list_refresh() does nothing */
  uint64_t version; /* a hash of the rows */
  bool is_read;
};

/* Reads the jobs of `ws`. A negative code: they cannot be read, and the list is as before. */
int tm_job_list_refresh(struct tm_job_list *l, struct tidemill_workspace *ws, int64_t now_ns,
                        struct tm_err *err);
void tm_job_list_release(struct tm_job_list *l);

/* Takes over the row's strings. Then tm_job_list_sort(). */
void tm_job_list_add(struct tm_job_list *l, const struct tm_job_row *row);
void tm_job_list_sort(struct tm_job_list *l);
/* Whether each word of `filter` is part of the name, the pipeline or the state; case does not
 * count. */
bool tm_job_list_matches(const struct tm_job_row *row, const char *filter);
/* Calls on_row() for page `page` (from 1) of the rows that match; returns how many match. */
size_t tm_job_list_page(const struct tm_job_list *l, const char *filter, int64_t page,
                        void (*on_row)(const struct tm_job_row *row, void *data), void *data);

/* The state in a symbol, such as "✓". */
const char *tm_state_symbol(enum tidemill_state state, bool has_failures);
/* What colours it: "run", "good", "warn", "bad" or "stop". */
const char *tm_state_class(enum tidemill_state state, bool has_failures);

#endif
