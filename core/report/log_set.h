/* log_set.h - the log files of a step, merged: lines in the order of their moments.
 *
 * A line without a moment belongs to the line before it. Printed output has no moments: it is
 * returned as one piece, at the time of the last write to its file (of the kernel's clock for
 * files, which may be a tick late: plus TM_LOG_TICK_NS). sys/error/ is left out: the supervisor's
 * log has the same lines. Files are opened for each read, because there may be thousands.
 *
 * Caller: tm_log_set_new(); tm_log_set_look(); tm_log_set_next() until it returns false. While the
 * job runs, repeat after tm_log_set_touch() for changed files: only whole lines are returned. What
 * has become shorter is read from its begin. Call tm_log_set_finish() before the last round.
 */
#ifndef TM_REPORT_LOG_SET_H
#define TM_REPORT_LOG_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "report/log_line.h"

#define TM_LOG_TICK_NS INT64_C(4000000)

/* In the order of lines with the same moment. */
enum tm_log_kind {
  TM_LOG_MASTER, /* sys/master_role.txt: the supervisor */
  /* sys/node/<node>/_main.txt: the keeper. About ends, it says the same as MASTER, and more */
  TM_LOG_NODE,
  TM_LOG_LOGGER, /* user/entry_script_log/<node>/<worker>.log.txt */
  TM_LOG_ERRORS, /* user/error/<node>/<worker>.txt */
  TM_LOG_TRIES,  /* sys/node/<node>/<worker>.txt: a line per try */
  TM_LOG_STDOUT, /* user/stdout/<node>/<worker>.stdout.txt; no moments */
  TM_LOG_STDERR,
  TM_LOG_LAUNCHER, /* sys/node/<node>/launcher.txt: what started the node; no moments */
  /* other .txt and .log files in user/entry_script_log/<node>/, of the script; no moments */
  TM_LOG_OWN,
};

/* The selection. Zeroed, with mini_batch -1: the supervisor, errors, the logger, printed output,
 * the script's own files, and the output of commands that started nodes. */
struct tm_log_choice {
  const char *worker; /* only this one, with all of its lines; or NULL */
  const char
      *node;   /* only this one, "3": its files, and the supervisor's lines that name it; or NULL */
  bool errors; /* only errors and causes */
  /* with a worker: its lines between the two moments that are not about other mini-batches; -1:
   * all */
  int64_t mini_batch;
  int64_t from_ns, until_ns;
};
/* Whether files of this kind on a chosen node are wanted. `worker` is NULL for files of the
 * supervisor and the keeper, and for the script's own without a worker in the name. Pure. */
bool tm_log_choice_opens(const struct tm_log_choice *c, enum tm_log_kind kind, const char *worker);
/* Whether a line with a moment is wanted. Pure. */
bool tm_log_choice_takes(const struct tm_log_choice *c, enum tm_log_kind kind,
                         const struct tm_log_line *line);

/* The kind of a file in a log folder, by its relative path. False: none of these. `worker` (at
 * least 64 bytes) is "" for those without one. Pure. */
bool tm_log_kind_of(const char *path, enum tm_log_kind *kind, char *worker, size_t worker_len);

struct tm_log_piece { /* a line */
  const char *text;   /* without its line break; valid until the next call */
  size_t len;
  /* "process000.stdout" or "launcher of node 1" for printed output, the name of a file that the
   * script wrote, else NULL: the line names its process */
  const char *source;
};

struct tm_log_set;
/* Copies `choice`, but not its `worker` and `node`. `on_folder`, or NULL, is called for each folder
 * in which such files may appear. */
struct tm_log_set *tm_log_set_new(const char *logs_dir, const struct tm_log_choice *choice,
                                  void (*on_folder)(void *data, const char *path), void *data);
void tm_log_set_free(struct tm_log_set *s); /* NULL is a no-op */
void tm_log_set_look(struct tm_log_set *s); /* finds new files, and new text in the others */
/* The file or folder `path` is new or has changed. Other paths are ignored. */
void tm_log_set_touch(struct tm_log_set *s, const char *path);
/* nothing more is written: a last line may lack its line break */
void tm_log_set_finish(struct tm_log_set *s);
bool tm_log_set_next(struct tm_log_set *s, struct tm_log_piece *out);
/* Whether there is another line, and its moment. */
bool tm_log_set_peek(struct tm_log_set *s, int64_t *wall_ns);
size_t tm_log_set_count(const struct tm_log_set *s); /* files found so far */
/* The workers in the names of the files found, whatever was selected, without duplicates. Memory of
 * the set. */
size_t tm_log_set_workers(const struct tm_log_set *s, const char *const **names);
/* Likewise the nodes that have files. */
size_t tm_log_set_nodes(const struct tm_log_set *s, const char *const **names);

#endif
