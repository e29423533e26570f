/* tidemill/timeline.h - what happened in a job, as its files describe it: sessions, tries, workers,
 * resources, errors. */
#ifndef TIDEMILL_TIMELINE_H
#define TIDEMILL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tidemill/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* These functions read tables of any size, also while they grow. A *position is a place in one
 * table: keep one for each call, step and node, and begin with 0.
 */

/* ---- Sessions ---- */

/* A session of a step: it was begun, or resumed. */
struct tidemill_session {
  size_t size;
  int64_t number; /* from 1 */
  int64_t begin_ns;
  int64_t mini_batches; /* that have ended in it */
};

/* Session `i` of a step, the first one first. NULL: there is none, or it cannot be read. Of a step
 * that has ended, the first call reads the whole journal. */
TIDEMILL_API const struct tidemill_session *tidemill_record_session(struct tidemill_record *r,
                                                                    size_t step, size_t i);

/* ---- Tries ---- */

/* A try of a mini-batch, or an init() that failed. */
struct tidemill_try {
  size_t size;
  int64_t mini_batch;  /* -1: an init() that failed */
  int64_t try_number;  /* from 1; 0: an init() */
  const char *worker;  /* "process003" */
  const char *node_id; /* "0": this machine; "": a job of an older version */
  int64_t begun_ns;    /* when the worker began it, since the epoch; 0: it never did */
  int64_t elapsed_ns;  /* until its result was there */
  int64_t run_ns;      /* of that, in run() */
  int64_t items, items_succeeded, items_failed;
  const char *status;     /* "RUN_DONE", "RUN_EXCEPTION", ... */
  const char *category;   /* "", "error", "timeout", "lost" (its worker died) or "canceled" */
  const char *error;      /* one line; "": none */
  const char *first_item; /* "": it has none, or is a group of rows */
  int64_t result_bytes;   /* of the rows that it returned */
  int64_t signal;         /* that ended its worker; 0: none, or a job of an older version */
};

/* Reads the tries of a step from *position on, in the order in which they ended; 0: all of them.
 * Afterwards *position is where the next call goes on: with what has ended meanwhile. The strings
 * of a try are valid until on_try() returns; if that returns a number other than 0, the call ends
 * after this try and returns the number. While a job runs, a try may appear a tenth of a second
 * late. TIDEMILL_EUSAGE, or a system error. */
TIDEMILL_API int tidemill_record_tries(struct tidemill_record *r, size_t step, int64_t *position,
                                       int (*on_try)(const struct tidemill_try *t, void *data),
                                       void *data, struct tidemill_error *err);

/* Finds where the tries begin that ended at `time_ns` or later, in a time that hardly depends on
 * their number: *position, for tidemill_record_tries(). For a span of time, end that call at the
 * first try that ended after it; one that began in the span may have ended later. */
TIDEMILL_API int tidemill_record_tries_since(struct tidemill_record *r, size_t step,
                                             int64_t time_ns, int64_t *position,
                                             struct tidemill_error *err);

/* ---- Workers ---- */

/* An event in the life of a worker. */
struct tidemill_life_event {
  size_t size;
  int64_t time_ns;    /* since the epoch */
  const char *worker; /* "process003" */
  const char *node_id, *node_address;
  int64_t pid;       /* 0: it could not be started */
  const char *event; /* "started"; "ready": init() has returned; "init_failed"; "ended" */
  int64_t lived_ns;  /* since it was started */
  /* Of "ended": the most memory that it had resident; 0: not known. */
  int64_t max_rss_bytes;
  const char *detail; /* "init_failed": the error; "ended": how; one line */
  /* Of "ready": in init(); 0: the script has none, or a job of an older version. That of an init()
   * that failed is the `elapsed_ns` of its try. */
  int64_t init_ns;
};

/* Reads the events of a step's workers from *position on, as tidemill_record_tries() does. */
TIDEMILL_API int tidemill_record_workers(struct tidemill_record *r, size_t step, int64_t *position,
                                         int (*on_event)(const struct tidemill_life_event *e,
                                                         void *data),
                                         void *data, struct tidemill_error *err);

/* ---- Resources ----
 *
 * The machine of each node is measured every second at first and less often later, as the parameter
 * resource_monitor_interval says. `node_id` is that of a worker's events, or "supervisor": the
 * machine of the process that runs the job, if commands start its nodes. A figure is -1 if it is
 * not known. A node of which nothing was measured has no samples.
 */

/* A machine. Bytes of disks and networks are totals since its start. */
struct tidemill_sample {
  size_t size;
  int64_t time_ns;    /* since the epoch */
  double cpu_percent; /* of all cores, since the last sample */
  int64_t memory_total_bytes, memory_used_bytes;
  int64_t disk_read_bytes, disk_written_bytes;
  int64_t network_sent_bytes, network_received_bytes;
};

/* A process of the job. */
struct tidemill_process_sample {
  size_t size;
  int64_t time_ns;
  /* The worker, "process003", or "keeper", "supervisor", "relay"; also of its descendants. */
  const char *process;
  int64_t pid, parent_pid; /* 0: not known */
  const char *program;     /* its name */
  double cpu_percent;      /* of one core, since the last sample */
  int64_t rss_bytes;
  int64_t disk_read_bytes, disk_written_bytes; /* since it was started */
};

/* A local file system. */
struct tidemill_disk_sample {
  size_t size;
  int64_t time_ns;
  const char *device, *mount_point;
  int64_t total_bytes, used_bytes;
  int64_t free_bytes;  /* for users other than root */
  double used_percent; /* as df counts */
};

/* Each reads the samples of a node in a step from *position on, as tidemill_record_tries() does. */
TIDEMILL_API int tidemill_record_samples(struct tidemill_record *r, size_t step,
                                         const char *node_id, int64_t *position,
                                         int (*on_sample)(const struct tidemill_sample *s,
                                                          void *data),
                                         void *data, struct tidemill_error *err);
TIDEMILL_API int tidemill_record_process_samples(
    struct tidemill_record *r, size_t step, const char *node_id, int64_t *position,
    int (*on_sample)(const struct tidemill_process_sample *s, void *data), void *data,
    struct tidemill_error *err);
TIDEMILL_API int tidemill_record_disk_samples(struct tidemill_record *r, size_t step,
                                              const char *node_id, int64_t *position,
                                              int (*on_sample)(const struct tidemill_disk_sample *s,
                                                               void *data),
                                              void *data, struct tidemill_error *err);

/* ---- Errors ---- */

/* All errors of a step that have the same status, script line and pattern of their message: the
 * same reason for other items, workers and numbers. "the first" is the first try that failed with
 * it, or the first failed item if no try did: run() returned. A text is "" if it is not known. */
struct tidemill_error_group {
  size_t size;
  /* Not a group, and comes last: the tries and items of all others, if there are more than 1,000
   * groups. Only these two numbers mean something. */
  bool is_rest;
  const char *status;  /* "RUN_EXCEPTION", ... */
  const char *where;   /* the line of the script, "score.lua:12" */
  const char *pattern; /* of all messages: "<item>: <n> bytes too few"; one line */
  bool is_mixed;       /* not all messages are equal */
  /* Of the first, with several lines if the list of failed items has them; at most some kB. */
  const char *message;
  int64_t tries; /* that failed with it, also those of mini-batches that succeeded later */
  int64_t items; /* that failed with it for good; while the step runs, so far in all sessions */
  int64_t first_ns,
      last_ns; /* when the first and the last try ended, since the epoch; 0: unknown */
  const char *const *workers; /* the first ones that had it; there are more: */
  size_t workers_len;
  bool has_more_workers;
  int64_t mini_batch, try_number; /* of the first; -1 and 0: an init() */
  const char *item; /* of the first: that the message names, or the first of the mini-batch */
  const char *worker, *node_id; /* of the first */
  const char *log;              /* the file with the first in full */
  const char *again;            /* the command that runs the mini-batch of the first again */
};

/* Calls on_group() for each group of errors of a step, in the order of their first tries; groups
 * without tries come last. The first call reads the tables of tries and failed items; later ones,
 * also after tidemill_record_refresh(), read what is new. The group is valid until on_group()
 * returns; if that returns a number other than 0, the call ends and returns it. TIDEMILL_EUSAGE, or
 * a system error. */
TIDEMILL_API int tidemill_record_error_groups(struct tidemill_record *r, size_t step,
                                              int (*on_group)(const struct tidemill_error_group *g,
                                                              void *data),
                                              void *data, struct tidemill_error *err);

#ifdef __cplusplus
}
#endif
#endif
