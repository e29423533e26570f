/* events.h - what happens in a job. A supervisor emits events; listeners (report/, the command
 * line, hosts, tests) only listen, and never call back.
 *
 * A listener is called on the job's thread. Listeners are called in the order in which they were
 * added. What an event points to is valid during the call. A listener must not fail: it reports
 * once what it cannot write, and the job runs on.
 */
#ifndef TM_RECORD_EVENTS_H
#define TM_RECORD_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent_msg.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/level.h"
#include "node/node_msg.h" /* also for report/, which names folders of nodes */
#include "record/counts.h"
#include "record/nodes.h"

struct tm_activities;
struct tm_cancel_request;

const char *tm_verdict_name(enum tm_verdict v); /* "Completed" */

/* Why a step Failed, as a hint which log has the reason. */
enum tm_failing {
  TM_FAILING_SCRIPT, /* items failed, or init() */
  TM_FAILING_STUCK,  /* nothing was created or ended for too long */
  TM_FAILING_INPUT,  /* the request or its input was wrong: the cause tells all */
  TM_FAILING_SYSTEM, /* logs/sys/error has the reason */
};

/* A step, as listeners see it. Pointers are the job's. */
struct tm_step_view {
  uint32_t number; /* in the pipeline, from 0 */
  const char *name;
  const char *dir, *logs_dir, *output_dir; /* absolute */
  const char *output_file; /* the append_row file, now or when Completed; NULL with summary_only */
  int64_t output_bytes;    /* committed and in the file, for those who read the file meanwhile */
  const char *script_name; /* the user's path */
  const struct tm_json *effective; /* {settings: {NAME: {value, origin}}, inputs, ...}; or NULL */
  int64_t workers;                 /* at most, on all of its nodes; 0: each of them decides */
  bool launches_nodes;         /* commands start its nodes; else all workers are on this machine */
  enum tm_level logging_level; /* of the system logs: lower levels are not written */
  struct tm_counts counts;
  const struct tm_activities *activities; /* what its workers are doing (activity.h); or NULL */
  enum tm_verdict verdict;
  bool is_kept;            /* nothing ran: everything had been committed before */
  const char *reused_from; /* the job that the result is from: nothing ran (reuse.h); else NULL */
  /* it does not run in this session, or not yet (it waits for others, say); no logs are written */
  bool is_idle;
  const char *cause;       /* why it Failed or was Skipped; "" else */
  enum tm_failing failing; /* likewise, as a kind */
};

/* An output of the step that has a name, as in the record. */
struct tm_output_view {
  const char *name;
  const char *folder; /* in the job's directory: "predict/output.masks" */
  /* absolute, once it exists: an upload exists when the step is Completed; or NULL */
  const char *destination;
};

/* The i-th output, from 0; false: there are no more. The strings are the view's. */
bool tm_step_view_output(struct tm_output_view *out, const struct tm_step_view *v, size_t i);
/* Adds the absolute path of its folder. */
void tm_step_view_add_folder(struct tm_buf *path, const struct tm_step_view *v,
                             const struct tm_output_view *output);

struct tm_job_view {
  const char *name;          /* of the pipeline */
  const char *dir;           /* absolute */
  const char *pipeline_file; /* NULL: the job was given by options */
  int64_t begin_wall_ns, begin_mono_ns;
  bool is_resumed;
  size_t steps_len;
  const struct tm_step_view *const *steps;
  enum tm_verdict verdict;
  const char *cause;
  const struct tm_nodes_view *nodes;      /* NULL: no command starts nodes of this job */
  const struct tm_cancel_request *cancel; /* of another process; NULL: there was none */
};

/* An event in the life of a node that a command starts. */
enum tm_node_change {
  TM_NODE_IS_REQUESTED = 1, /* its command starts */
  TM_NODE_WAITS,            /* it is in Slurm's queue */
  TM_NODE_IS_READY,         /* it has started, and gets work */
  TM_NODE_LEAVES,           /* it drains, or is given back: it gets no more work */
  TM_NODE_IS_LOST,          /* it is lost, or could not be started */
  TM_NODE_HAS_ENDED,        /* it has ended in another way */
};

enum tm_event_kind {
  TM_EVENT_JOB_STARTED,
  TM_EVENT_STEP_STARTED,
  TM_EVENT_WORKER_STARTED, /* worker */
  TM_EVENT_WORKER_READY,   /* worker; init() is done */
  TM_EVENT_WORKER_ENDED,   /* worker, text: how it ended */
  /* worker, message, stack, script_where; attempt: without items; NULL: refused */
  TM_EVENT_INIT_FAILED,
  TM_EVENT_SHUTDOWN_FAILED, /* worker, message, stack, script_where; fails nothing */
  TM_EVENT_HANDED_OUT,      /* worker, attempt: what it gets; only with logging_level DEBUG */
  TM_EVENT_TRY_ENDED,       /* attempt */
  TM_EVENT_MESSAGE,         /* level, text: for logs and, from WARNING on, the terminal */
  TM_EVENT_NODE,            /* node_change, node_id, node_address, level, text, is_for_logs */
  TM_EVENT_FLUSHED,         /* rows have been committed: output_bytes of the step has grown */
  TM_EVENT_TICK,            /* about ten times a second */
  TM_EVENT_STEP_ENDED,
  TM_EVENT_JOB_ENDED, /* before job_result.json is written */
};

/* Why items failed although run() returned: one reason, with all its items of the try. */
struct tm_item_cause {
  const char *message;
  /* the numbers of this try for the reason: "1 element for 2 items"; "" if there are none */
  const char *detail;
  const char *first_item; /* not NUL-ended; NULL: nobody knows which items failed */
  size_t first_item_len;
  int64_t items;
};

/* A try that has ended. */
struct tm_attempt {
  uint64_t index;
  /* while bad items are isolated: number of the first item in the mini-batch, from 1; 0: all */
  int64_t part_first;
  uint32_t try;
  int64_t picked; /* how often the mini-batch was handed out, this time included */
  enum tm_status status;
  /* no item is tried again: committed (a part: held until all parts are), or failed for good */
  bool is_final;
  int64_t items, succeeded, failed; /* failed: 0 while it will be tried again */
  bool is_uncounted;                /* of rows that nobody has counted: `items` is 1 */
  int64_t begin_wall_ns, total_ns, run_ns, cpu_ns;
  int64_t bytes;  /* of the rows that it returned; 0 of another than RUN_DONE */
  int32_t signal; /* that ended its worker; 0: none */
  /* "" if there is none. Of a RUN_DONE: why items failed nevertheless, in short. */
  const char *message, *stack, *script_where;
  const struct tm_item_cause *causes; /* of a RUN_DONE: the same in full */
  size_t causes_len;
  const char *dataset; /* name of the input */
  const char *first_item;
  size_t first_item_len;  /* path, or keys; not NUL-ended */
  const char *named_item; /* the one of several items that the message names; NULL: none */
  bool has_keys;          /* the rows of a group: first_item is their keys, "store=north, n=3" */
  bool are_rows;          /* the items are rows, and first_item is the file of the first */
  int64_t
      row; /* while bad rows are isolated: of the only row, its number in the file, from 1; or 0 */
  int64_t manifest_at; /* place of its entry, bytes */
};

struct tm_event {
  enum tm_event_kind kind;
  int64_t wall_ns, mono_ns;
  const struct tm_job_view *job;
  const struct tm_step_view *step; /* or NULL: about the job */
  const char *worker;              /* process000, or NULL */
  const char *node_id;             /* with worker: of its node, decimal; or NODE */
  const char *node_address;        /* likewise: the host's name; "": not known yet */
  int64_t pid;                     /* with worker, or 0 */
  int64_t lived_ns;                /* with worker: since it was started; 0: it was not */
  int64_t clock_offset_ns;         /* WORKER_STARTED: the wall clock of its node minus ours */
  int64_t init_ns;                 /* WORKER_READY: how long init() took; 0: there is none */
  const struct tm_ended *ended;    /* WORKER_ENDED; NULL: not started, or lost with its node */
  enum tm_level level;
  const char *text;                           /* "" without */
  const char *message, *stack, *script_where; /* INIT_FAILED, SHUTDOWN_FAILED */
  const char *failed; /* INIT_FAILED: what failed before init(): "loading the script"; or NULL */
  const struct tm_attempt *attempt; /* HANDED_OUT, TRY_ENDED, INIT_FAILED */
  enum tm_node_change node_change;  /* NODE */
  bool is_for_logs;                 /* NODE: the text is not shown on the terminal */
};

struct tm_listener {
  void (*on_event)(void *data, const struct tm_event *e);
  void *data;
  struct tm_listener *next; /* the list's */
};

struct tm_events {
  struct tm_listener *first;
};
/* Adds it at the end. The caller keeps its memory. */
void tm_events_add(struct tm_events *events, struct tm_listener *listener);
void tm_events_emit(const struct tm_events *events, const struct tm_event *e);
/* What failed without a mini-batch: "loading the script", "init()" or "shutdown()". NULL: another
 * event. */
const char *tm_event_failed(const struct tm_event *e);
/* Adds "4 workers at most". */
void tm_step_view_add_workers(struct tm_buf *out, const struct tm_step_view *s);

/* The item that the message of a failed try may name: its only one, or the one of several that it
 * does name. NULL with *len 0: there is none; rows have none. */
const char *tm_attempt_error_item(const struct tm_attempt *a, size_t *len);
/* How many items of a try will be tried again. With `succeeded` and `failed` they add up to
 * `items`. */
int64_t tm_attempt_left(const struct tm_attempt *a);
/* Adds what a try was handed: "5 items of input 'images', first '/data/a.pgm'", or the keys of a
 * group instead of the first. */
void tm_attempt_add_input(struct tm_buf *out, const struct tm_attempt *a);

#endif
