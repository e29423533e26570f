/* errors.h - the distinct errors of a step: which, how often, where first. They are in logs/user/error.txt, and the first
 * of them in the result. Why items failed although run() returned is an error too, counted in items.
 *
 * Two errors are one when status, message and script line are equal; digits inside a message count. At most
 * TM_ERRORS_MAX are kept apart, those that came first; the rest are counted together.
 */
#ifndef TM_REPORT_ERRORS_H
#define TM_REPORT_ERRORS_H

#include "base/map.h"
#include "base/mem.h"
#include "report/log_file.h"
#include "run/events.h"

#define TM_ERRORS_MAX 1000

struct tm_error {
  char *message;      /* one or more lines; at most some kB */
  char *where;        /* "score.lua:12", or "" */
  char *worker, *log; /* of the first: its worker; the file with the whole, absolute */
  char *
      item; /* of the first: the item, or the first of its mini-batch; one line; "" for an init() */
  char *detail;          /* of the first: "1 element for 2 items"; NULL: none */
  int64_t items;         /* of the first: how many were tried with `item`; 1: it alone */
  bool are_rows;         /* `item` is the file that these are rows of */
  enum tm_status status; /* of the try */
  uint64_t index;        /* of the first mini-batch */
  bool is_init;          /* of an init(): there is no mini-batch */
  char *again;           /* the command that runs the first's mini-batch again; NULL: not known */
  int64_t count;         /* tries; of items where `is_items` */
  bool is_items;
  int64_t failed; /* items that failed for good with it */
};

struct tm_errors {
  const struct tm_fs *fs;
  char *path, *logs_dir;
  char *replay;                          /* the command, without the mini-batch; NULL: not known */
  struct TM_ARRAY(struct tm_error) list; /* in the order in which they came */
  struct tm_map known;                   /* place in the list + 1 */
  struct tm_buf key;                     /* scratch */
  char *earlier;                         /* what earlier sessions had written, or NULL */
  int64_t count;                         /* of all tries */
  int64_t items;                         /* failed although run() returned */
  int64_t others;                        /* of those that are not kept apart */
  int64_t written_ns;                    /* monotonic */
  bool is_changed, is_given_up;
};

void tm_errors_init(struct tm_errors *s, const struct tm_fs *fs, const char *logs_dir);
/* For the command that runs a mini-batch again; `step` is NULL where the job has no other. */
void tm_errors_set_job(struct tm_errors *s, const char *job_dir, const char *step);
void tm_errors_release(struct tm_errors *s); /* zeroed: a no-op */
/* `e`: TRY_ENDED, whose try has failed, or INIT_FAILED. True when it is a new one. */
bool tm_errors_add(struct tm_errors *s, const struct tm_event *e);
/* `e`: TRY_ENDED of a try that is done; one of its causes. True when it is a new one. */
bool tm_errors_add_cause(struct tm_errors *s, const struct tm_event *e,
                         const struct tm_item_cause *cause);
/* Writes the file when there is something new and a second has gone by, or `now`. Not synced: a power cut may cost it.
 * Fails once; the job goes on. */
int tm_errors_write(struct tm_errors *s, int64_t wall_ns, int64_t mono_ns, bool now,
                    struct tm_err *err);
/* What the file says of one error: "3 times: <message>" or "3 items: <message>", and some lines about the first; each line begins with `indent`
 * blanks. `lines_max`: so many lines of the message, 0 all. */
void tm_error_add_text(struct tm_buf *out, const struct tm_error *e, int indent, int lines_max);
/* "first: mini-batch 0 (RUN_EXCEPTION) at process000, a.txt and 9 more" */
void tm_error_add_first(struct tm_buf *out, const struct tm_error *e);

#endif
