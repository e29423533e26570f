/* log_set.h - the log files of a step, read as one: lines in the order of their moments.
 *
 * A line without a moment belongs to the line before it. What scripts print has none: it is read as one piece, at the moment
 * at which its file was last written to (of the kernel's clock for files, which may be a tick behind: TM_LOG_TICK_NS later).
 * sys/error/ is left out: the supervisor says the same in its own log. Files are opened for each piece that is read: there
 * may be thousands.
 *
 * Caller: tm_log_set_new(); tm_log_set_look(); tm_log_set_next() until it answers false. While the job runs, again after
 * tm_log_set_touch() of what has changed: a line is told when it is whole. tm_log_set_finish() before the last time.
 */
#ifndef TM_REPORT_LOG_SET_H
#define TM_REPORT_LOG_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "report/log_line.h"

#define TM_LOG_TICK_NS INT64_C(4000000)

/* In the order in which lines of one moment are told. */
enum tm_log_kind {
  TM_LOG_MASTER, /* sys/master_role.txt: the supervisor */
  TM_LOG_NODE, /* sys/node/<node>/_main.txt: the keeper. Says of ends what MASTER says, and more */
  TM_LOG_LOGGER, /* user/entry_script_log/<node>/<worker>.log.txt */
  TM_LOG_ERRORS, /* user/error/<node>/<worker>.txt */
  TM_LOG_TRIES,  /* sys/node/<node>/<worker>.txt: a line for each try */
  TM_LOG_STDOUT, /* user/stdout/<node>/<worker>.stdout.txt; no moments */
  TM_LOG_STDERR,
};

/* What is wanted. Zeroed, with mini_batch -1: the supervisor, errors, the logger, and what was printed. */
struct tm_log_choice {
  const char *worker; /* of this one alone, and then all there is of it; or NULL */
  bool errors;        /* errors and causes alone */
  int64_t
      mini_batch; /* with a worker: what it logged between the two moments, and was about no other; -1: all */
  int64_t from_ns, until_ns;
};
/* Whether a file of this kind is wanted at all. `worker` is NULL for those of the supervisor and of the keeper. Pure. */
bool tm_log_choice_opens(const struct tm_log_choice *c, enum tm_log_kind kind, const char *worker);
/* Whether a line with a moment is. Pure. */
bool tm_log_choice_takes(const struct tm_log_choice *c, enum tm_log_kind kind,
                         const struct tm_log_line *line);

/* What file of a log folder it is, by its path below the folder. False: none of these. `worker` (at least 64 bytes) is "" for
 * those of the supervisor and of the keeper. Pure. */
bool tm_log_kind_of(const char *path, enum tm_log_kind *kind, char *worker, size_t worker_len);

struct tm_log_piece { /* a line */
  const char *text;   /* without its line break; until the next call */
  size_t len;
  const char
      *source; /* "process000.stdout" for what was printed, else NULL: the line says it itself */
};

struct tm_log_set;
/* `choice` is copied, its `worker` not. `on_folder`, or NULL, is told of each folder in which such files may come. */
struct tm_log_set *tm_log_set_new(const char *logs_dir, const struct tm_log_choice *choice,
                                  void (*on_folder)(void *data, const char *path), void *data);
void tm_log_set_free(struct tm_log_set *s); /* NULL is a no-op */
void tm_log_set_look(
    struct tm_log_set *s); /* for files that were not there, and what has come to the others */
/* The file or folder `path` has come, or changed. Others are passed over. */
void tm_log_set_touch(struct tm_log_set *s, const char *path);
void tm_log_set_finish(
    struct tm_log_set *s); /* nothing more is written: last lines may lack their break */
bool tm_log_set_next(struct tm_log_set *s, struct tm_log_piece *out);
/* Whether there is a next one, and its moment. */
bool tm_log_set_peek(struct tm_log_set *s, int64_t *wall_ns);
size_t tm_log_set_count(const struct tm_log_set *s); /* files found so far */
/* Distinct workers of the files found, whatever was chosen: names, the set's own. */
size_t tm_log_set_workers(const struct tm_log_set *s, const char *const **names);

#endif
