/* errors.h - the distinct errors of a step: which, how often, where first. They are in
 * logs/user/error.txt, and the first ones in the result. A reason why items failed although run()
 * returned is also an error, counted in items.
 *
 * Two errors are the same if their status, their script line and the pattern of their message
 * (base/message_pattern.h) are equal: the same reason for another item, worker or number. An error
 * of run() without a line counts as an earlier one that has a line and the same message. An item
 * that is tried alone, because bad items are isolated, counts with its mini-batch, and is named in
 * place of it. The first TM_ERRORS_MAX are kept; later ones are counted together.
 */
#ifndef TM_REPORT_ERRORS_H
#define TM_REPORT_ERRORS_H

#include "base/map.h"
#include "base/mem.h"
#include "record/events.h"
#include "report/log_file.h"

#define TM_ERRORS_MAX    1000
#define TM_ERROR_WORKERS 8

struct tm_error {
  char *message;      /* of the first: one or more lines; at most some kB */
  char *pattern;      /* of all its messages, one line; NULL: unknown */
  bool is_mixed;      /* not all its messages are equal */
  char *where;        /* "score.lua:12", or "" */
  char *worker, *log; /* of the first: its worker; the file with the full text, absolute */
  /* of the first: the item, or the first of its mini-batch; one line; "" for an init() */
  char *item;
  char *detail;          /* of the first: "1 element for 2 items"; NULL: none */
  int64_t items;         /* of the first: the number of items tried with `item`, including it */
  bool are_rows;         /* `item` is the file of these rows */
  int64_t row, number;   /* of the first row, if it failed alone: in its file, in its mini-batch,
                            from 1; 0: unknown */
  enum tm_status status; /* of the try */
  uint64_t index;        /* of the first mini-batch */
  const char *hook;      /* of tm_event_failed(): it has no mini-batch; NULL: a try */
  char *again;           /* the command to run the first's mini-batch again; NULL: unknown */
  int64_t count;         /* of tries; of items if `is_items` or `counts_items` */
  bool is_items;         /* run() returned; its `log` is the list of failed items */
  bool counts_items;     /* not tries: the records of a job have only these */
  bool is_cut;           /* there may be more */
  int64_t failed;        /* items that finally failed with it */
  int64_t first_ns, last_ns;       /* wall clock; 0: unknown */
  char *workers[TM_ERROR_WORKERS]; /* the first ones that had it */
  size_t workers_len;
  bool has_more_workers;
};

struct tm_errors {
  const struct tm_fs *fs;
  char *path, *logs_dir;
  char *replay;                          /* the command without the mini-batch; NULL: unknown */
  struct TM_ARRAY(struct tm_error) list; /* in the order of their first occurrence */
  struct tm_map known;                   /* index in the list + 1 */
  struct tm_buf key;                     /* scratch; ends in the pattern */
  size_t pattern_at;
  char *earlier;  /* the text of earlier sessions, or NULL */
  int64_t count;  /* of all tries */
  int64_t items;  /* failed although run() returned */
  int64_t others; /* of those beyond the limit */
  struct tm_log_due due;
};

void tm_errors_init(struct tm_errors *s, const struct tm_fs *fs, const char *logs_dir);
/* For the command to run a mini-batch again; `step`: NULL if the job has only one. */
void tm_errors_set_job(struct tm_errors *s, const char *job_dir, const char *step);
void tm_errors_release(struct tm_errors *s); /* zeroed: a no-op */
/* `e`: TRY_ENDED of a failed try, INIT_FAILED or SHUTDOWN_FAILED. Returns true for a new error. */
bool tm_errors_add(struct tm_errors *s, const struct tm_event *e);
/* `e`: TRY_ENDED of a successful try, with one of its causes. Returns true for a new one. */
bool tm_errors_add_cause(struct tm_errors *s, const struct tm_event *e,
                         const struct tm_item_cause *cause);
/* Writes the file if there is something new and a second has passed, or if `now`. Not synced: a
 * power failure may lose it. Fails once; the job continues. */
int tm_errors_write(struct tm_errors *s, int64_t wall_ns, int64_t mono_ns, bool now,
                    struct tm_err *err);
/* One error as in the file: "3 times: <message>" or "3 items: <message>", and some lines about the
 * first occurrence; each line begins with `indent` blanks. `lines_max`: lines of the message, 0:
 * all. */
void tm_error_add_text(struct tm_buf *out, const struct tm_error *e, int indent, int lines_max);
/* The command that runs a mini-batch again, without its number; `step`: NULL if the job has one. */
void tm_error_add_replay(struct tm_buf *out, const char *job_dir, const char *step);
/* "first: mini-batch 0 (RUN_EXCEPTION) at process000, a.txt and 9 more" */
void tm_error_add_first(struct tm_buf *out, const struct tm_error *e);

#endif
