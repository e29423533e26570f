/* job_list.h - the jobs of the workspace: the running ones first, then the newest; filtered.
 *
 * A look at the folder of jobs costs two system calls for each job. A job is read when it is new or
 * has changed, and a page or a filter needs it; one that runs, each time.
 */
#ifndef TM_PORTAL_JOB_LIST_H
#define TM_PORTAL_JOB_LIST_H

#include <tidemill.h>

#include "base/err.h"
#include "base/mem.h"
#include "page/states.h"

#define TM_JOB_LIST_PAGE 50

struct tm_job_row {
  char *key;            /* the name of its folder in the workspace; it names it in URLs */
  int64_t order_ns;     /* when it began, as its name says; else when its record was made */
  int64_t changed_ns;   /* of its folder: it changes when a session of the job begins or ends */
  bool has_result;      /* it has ended */
  bool is_read, is_new; /* the fields below are set; the last look found it */
  struct tidemill_record *record; /* of a job that runs; NULL otherwise */

  char *pipeline; /* "": not known */
  char *note;     /* what to know, in one line; may be "" */
  enum tidemill_state state;
  bool is_damaged, is_stopped; /* the record has a fault; its process was stopped */
  int64_t begin_ns, elapsed_ns;
  int64_t created, succeeded, failed; /* mini-batches */
  int64_t items_failed;
  bool all_created, is_reused; /* is_reused: all its steps have the results of others */
};

struct tm_job_list {
  char *dir; /* of the jobs */
  struct TM_ARRAY(struct tm_job_row) rows;
  size_t running;
  int64_t due_ns;   /* before it, tm_job_list_refresh() does nothing */
  int64_t used_ns;  /* when it was last refreshed */
  uint64_t version; /* a hash of the rows */
};

void tm_job_list_init(struct tm_job_list *l, const char *workspace);
void tm_job_list_release(struct tm_job_list *l);

/* Looks at the folder of jobs, and reads the jobs that run; not more often than that costs
 * (tm_feed_due()). A negative code: it cannot be read, and the list is as before. */
int tm_job_list_refresh(struct tm_job_list *l, int64_t now_ns, struct tm_err *err);
/* Closes the records of jobs that run, if nobody has used the list for half a minute. Returns when
 * to call it again; 0: no record is open. */
int64_t tm_job_list_rest(struct tm_job_list *l, int64_t now_ns);
/* Reads the job. What is wrong becomes its note. */
void tm_job_row_read(struct tm_job_row *row, const char *dir);

/* Takes over the row's strings. Then tm_job_list_sort(). */
void tm_job_list_add(struct tm_job_list *l, const struct tm_job_row *row);
void tm_job_list_sort(struct tm_job_list *l);
/* How its state is shown. */
struct tm_page_state tm_job_row_state(const struct tm_job_row *row);
/* Whether each word of `filter` is part of the name, the pipeline or the state, as it is shown or
 * called; case does not count. */
bool tm_job_list_matches(const struct tm_job_row *row, const char *filter);
/* Calls on_row() for page `page` (from 1) of the rows that match; returns how many match. Reads the
 * jobs that this needs. */
size_t tm_job_list_page(struct tm_job_list *l, const char *filter, int64_t page,
                        void (*on_row)(const struct tm_job_row *row, void *data), void *data);
/* The moment in a name such as "scans-20261122-021904-vbxd"; 0: it has none. */
int64_t tm_job_name_time(const char *name);

#endif
