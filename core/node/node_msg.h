/* node_msg.h - the protocol of supervisor and keeper, over the control channel.
 *
 *   supervisor                        keeper
 *     HELLO           <------->         HELLO             versions; refused unless equal
 *     STEP             ------->                           data for a step's workers; numbered by
 *                                                         `index`
 *     STEP_IS_OVER     ------->                           index: step. It is not measured any more
 *     START            ------->         starts a worker   index: step, worker: its number in
 *                                                         the job; bytes: its name
 *                      <-------         STARTED (+ fd)    the supervisor's end of the worker's
 *                                                         socket | START_FAILED
 *     TAKE_BACK        ------->         u64 seq ...
 *                      <-------         TAKEN             u64 seq ... that had not begun
 *     STOPPING         ------->         the worker was sent STOP: it has TM_STOP_NS to end
 *     KILL             ------->         ends the worker and what it started
 *     INIT_IS_LATE     ------->         index: step. From here on each of its init()s is late,
 *                                       whatever init_timeout says
 *     ASK_DOING        ------->         index: step. Asks what its workers are doing
 *                      <-------         DOING             index: step; struct tm_worker_doing for
 *                                                         each living worker
 *     PING             ------->
 *                      <-------         PONG              it is awake
 *                      <-------         ENDED             struct tm_ended, once for each STARTED
 *                      <-------         NOTE              text for the log
 *                      <-------         CLOSED            of a relay: the worker sends no more
 *     LAUNCH           ------->         runs a command    worker: its number; struct tm_launch
 *                      <-------         LAUNCHED (+ fd) | LAUNCH_FAILED   our end of its streams
 *     END_LAUNCH       ------->         ends the command, and what it started; KILL_LAUNCH: at once
 *     ADOPT            ------->         takes over        struct tm_launched_process
 *                      <-------         ADOPTED | LAUNCH_ENDED: it is not there
 *     AT_END           ------->         what to run if the channel closes while a launch lives
 *                      <-------         LAUNCH_ENDED      once for each LAUNCHED or ADOPT
 *   (the control channel closes)        everything beneath it is killed, launches after the time
 *                                       for their end, then AT_END is run, and it ends
 *
 * Messages about a worker or a launch that has ended are ignored: its end is on the way. Launches
 * are for the keeper of the supervisor's own machine: a relay refuses them. A LAUNCH or ADOPT that
 * cannot be read, that comes before the first STEP, or whose number is in use, ends the keeper.
 * Each message's header has `worker`. Messages: sys/messages/channel.h.
 */
#ifndef TM_NODE_NODE_MSG_H
#define TM_NODE_NODE_MSG_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/level.h"
#include "node/worker_mark.h"
#include "node/worker_page.h"
#include "sys/messages/channel.h"

enum tm_node_msg {
  TM_MSG_HELLO = 65, /* bytes: TM_VERSION and build, see tm_hello() */
  TM_MSG_STEP,
  TM_MSG_START,
  TM_MSG_TAKE_BACK,
  TM_MSG_STOPPING,
  TM_MSG_KILL,
  TM_MSG_PING,
  TM_MSG_INIT_IS_LATE,
  TM_MSG_ASK_DOING,
  TM_MSG_LAUNCH,
  TM_MSG_END_LAUNCH,
  TM_MSG_PROBE, /* node_report.h */
  TM_MSG_KILL_LAUNCH,
  TM_MSG_AT_END,
  TM_MSG_STEP_IS_OVER,
  TM_MSG_SOURCE, /* node_report.h */
  TM_MSG_ADOPT,
  TM_MSG_STARTED = 97, /* payload: u32 pid; with a descriptor */
  TM_MSG_START_FAILED, /* payload: a message */
  TM_MSG_TAKEN,        /* one for each TAKE_BACK to a living worker; may be empty */
  TM_MSG_ENDED,
  TM_MSG_NOTE,
  TM_MSG_PONG,
  TM_MSG_DOING, /* once for each ASK_DOING about a step that is known */
  /* payload: i32, 0 if the worker closed its socket or ended, else the code of the error. At most
   * once for each STARTED, before ENDED, after all that the worker sent */
  TM_MSG_CLOSED,
  TM_MSG_LAUNCHED,      /* payload: u32 pid, u64 born; with a descriptor */
  TM_MSG_LAUNCH_FAILED, /* payload: a message */
  TM_MSG_LAUNCH_ENDED,
  TM_MSG_REPORT, /* node_report.h */
  TM_MSG_PROBED,
  TM_MSG_DRAINS,       /* from a relay: the node will end soon, and should get no more work */
  TM_MSG_SOURCE_TAKEN, /* node_report.h */
  TM_MSG_ADOPTED,
  /* from a relay: its keeper has not answered for so long, ns in a u64; 0: it answers again */
  TM_MSG_KEEPER_SILENT,
};
#define TM_STOP_NS (30 * INT64_C(1000000000)) /* for shutdown(), and for recover() */

/* The id of the node on the supervisor's machine, and its name. */
#define TM_LOCAL_NODE      0
#define TM_LOCAL_NODE_NAME "0"

/* The text that both sides exchange first, and which must be equal: "tidemill 0.2.0 protocol 11
 * build 1f2a3b4c5d6e". The build is a hash over the sources (build_id.cmake). */
const char *tm_hello(void);
const char *tm_build_id(void);

/* A step, for the keeper. In the message: the strings and lists in this order (node/msg_strings.h:
 * any bytes except NUL, paths need not be UTF-8), u64 run_timeout_ns, u64 load_timeout_ns, u64
 * memory_limit, u64 init_timeout_ns, u64 interrupt_grace_ns, u64 monitor_ns, u32 hides_gpus, u32
 * log_level, u32 measures_launches, u64 epoch, u32 node, u32 number. After decoding, the struct
 * owns its strings. */
struct tm_node_step {
  char *node_id;  /* decimal */
  char *job_dir;  /* has node.lock, which only the keeper of the supervisor's machine takes */
  char *logs_dir; /* <step>/logs; "": none, for a step without workers */
  char *cwd;      /* working directory of workers */
  /* temp_dir of a worker is <temp_base>-<worker name>; the keeper makes and removes it, mode 0700.
   * Its parent is a folder of this keeper alone, which the keeper makes, and removes when it ends.
   */
  char *temp_base;
  char *memory_base; /* likewise; but a worker makes its own. "": none */
  /* the program and its arguments, NULL-ended; the program is "" for the keeper's own */
  char **worker_argv;
  size_t worker_argv_len;
  /* "NAME=value", overriding the keeper's own; NULL-ended. The keeper adds the TM_ENV_ ones */
  char **environment;
  size_t environment_len;
  int64_t run_timeout_ns;     /* for one run(); 0: none */
  int64_t load_timeout_ns;    /* for loading before it, and for writing its result; 0: none */
  int64_t memory_limit;       /* for the own memory of one worker, bytes; 0: none */
  int64_t init_timeout_ns;    /* for loading the script and init(); 0: none */
  int64_t interrupt_grace_ns; /* from the interruption of a call to the kill; 0: kill at once */
  int64_t monitor_ns;         /* between two samples of the node's resources; 0: none; -1: auto */
  bool hides_gpus;            /* from workers without a GPU of their own */
  enum tm_level log_level;    /* the least that _main.txt keeps */
  /* It has no workers and no logs of the keeper: the monitor measures the supervisor, the keeper
   * and its launches, in perf/supervisor. */
  bool measures_launches;
  struct tm_incarnation incarnation; /* of this keeper; tm_node_add_step() sets it */
};
void tm_node_step_encode(struct tm_buf *out, const struct tm_node_step *s);
/* Release `out` with tm_node_step_release(). */
int tm_node_step_decode(struct tm_node_step *out, const char *p, size_t n, struct tm_err *err);
void tm_node_step_release(struct tm_node_step *s);

/* What a worker does now, by its page. 40 bytes on the wire: u32 worker, u32 phase, u64 phase_ns,
 * u64 begun_wall_ns, u64 seq, u32 is_stopped, u32 is_waiting. */
struct tm_worker_doing {
  uint32_t worker; /* its number */
  enum tm_phase phase;
  int64_t phase_ns;      /* how long it has been in that phase */
  int64_t begun_wall_ns; /* when it began the assignment, by the wall clock; 0: not known */
  uint64_t seq;          /* of LOAD, RUN and RETURN: the assignment */
  bool is_stopped;       /* by SIGSTOP */
  bool is_waiting;       /* for another worker */
};
void tm_worker_doing_encode(struct tm_buf *out, const struct tm_worker_doing *d);
/* False: the bytes end, or cannot be that. */
bool tm_worker_doing_read(struct tm_reader *r, struct tm_worker_doing *out);

enum tm_end_cause {
  TM_END_STOPPED,  /* it was told to stop, and exited with 0 */
  TM_END_EXITED,   /* on its own: os.exit, an error of ours */
  TM_END_SIGNAL,   /* killed, crashed */
  TM_END_TIMEOUT,  /* killed by the keeper: run(), init() or another phase passed its timeout */
  TM_END_SHUTDOWN, /* killed by the keeper: shutdown() took too long */
  TM_END_MEMORY,   /* killed by the keeper: it used more memory than its limit */
  TM_END_FROZEN,   /* killed by the keeper: it was stopped (SIGSTOP) and not continued in time */
  TM_END_KILLED,   /* killed by the keeper: KILL */
};

/* Whether the kernel killed it for lack of memory. */
enum tm_memory_kill {
  TM_KILL_OTHER, /* no sign of that */
  /* inferred: the kernel has counted such a kill since, but does not say of which process */
  TM_KILL_COUNTED,
  TM_KILL_LOGGED, /* the kernel's log names it */
};
#define TM_LAST_LINE_MAX 200 /* bytes */

struct tm_ended {
  enum tm_end_cause cause;
  uint32_t pid;
  int32_t exit_status; /* when signal is 0 */
  int32_t signal;
  int64_t lived_ns;
  int64_t max_rss_kb;
  enum tm_memory_kill memory;
  bool was_frozen;           /* it was stopped (SIGSTOP) when it was killed */
  int64_t own_kb, mapped_kb; /* with a limit: when its own memory was largest; 0: unknown */
  int64_t memory_limit_kb;   /* and its limit */
  char last_line[TM_LAST_LINE_MAX + 1]; /* the last line of its stderr, sanitized; or "" */
  struct tm_page_view view;             /* the last state of its page */
  int64_t phase_ns;                     /* time in that phase */
  struct tm_page_states states;
};
void tm_ended_encode(struct tm_buf *out, const struct tm_ended *e);
int tm_ended_decode(struct tm_ended *out, const char *p, size_t n, struct tm_err *err);
/* "killed by signal 9 (Killed) in run() after 1.2 s; at most 12 MB resident; last on stderr: ...";
 * one line. The parts that differ between deaths of the same kind come after " after ". */
void tm_ended_describe(struct tm_buf *out, const struct tm_ended *e);

/* A command that the keeper runs, for LAUNCH and AT_END. It gets the keeper's environment without
 * the variables in `without`, and with a mark (worker_mark.h), a session of its own, and
 * descriptors 0, 1 and 2. In the message: the list, the strings, the other list in this order
 * (node/msg_strings.h), u32 is_kept, and u64 end_ns, the time from SIGTERM to SIGKILL; in AT_END
 * that from SIGTERM to the launches until the command runs beside those that still live. */
struct tm_launch {
  char *const *argv;       /* NULL-ended; argv[0] is looked up in PATH */
  const char *stderr_path; /* appended to, made with mode 0600; its folder exists */
  const char *cwd;
  char *const *without; /* names of variables, NULL-ended; NULL: none */
  bool is_kept;         /* if the keeper is killed, the next one adopts it */
  bool is_never_late;   /* not in the message: end_ns is INT64_MAX */
};
#define TM_LAUNCH_END_NS (5 * INT64_C(1000000000))
#define TM_AT_END_NS     (20 * INT64_C(1000000000)) /* the command of AT_END is killed then */
void tm_node_launch_encode(struct tm_buf *out, const struct tm_launch *l, int64_t end_ns);
/* Release `out` with tm_node_launch_release(). */
int tm_node_launch_decode(struct tm_launch *out, int64_t *end_ns, const char *p, size_t n,
                          struct tm_err *err);
void tm_node_launch_release(struct tm_launch *l);

/* A launch that is kept, as the next keeper finds it. In the message: its members in this order,
 * the string, u64 end_ns. */
struct tm_launched_process {
  uint32_t pid;       /* 0: not known, because the keeper was lost before it said so */
  uint64_t born;      /* tm_process_born() */
  uint32_t keeper;    /* the number of the incarnation that launched it */
  uint32_t launch;    /* its number there */
  int64_t started_ns; /* monotonic */
};
void tm_launched_process_encode(struct tm_buf *out, const struct tm_launched_process *p,
                                const char *stderr_path, int64_t end_ns);
/* *stderr_path: to free. */
int tm_launched_process_decode(struct tm_launched_process *out, char **stderr_path, int64_t *end_ns,
                               const char *p, size_t n, struct tm_err *err);

/* How the command of a launch ended. In the message: u32 is_unknown, u32 exit_status, u32 signal,
 * u64 lived_ns, the string. */
struct tm_launch_ended {
  bool is_unknown;     /* how: only the keeper that launched it could know */
  int32_t exit_status; /* when signal is 0 */
  int32_t signal;
  int64_t lived_ns;
  char last_line[TM_LAST_LINE_MAX + 1]; /* of its stderr, sanitized; or "" */
};
void tm_launch_ended_encode(struct tm_buf *out, const struct tm_launch_ended *e);
int tm_launch_ended_decode(struct tm_launch_ended *out, const char *p, size_t n,
                           struct tm_err *err);

#endif
