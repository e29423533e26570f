/* node_own.h - what the files of the keeper share; only they and their tests include it. */
#ifndef TM_NODE_NODE_OWN_H
#define TM_NODE_NODE_OWN_H

#include <sys/types.h>

#include "base/level.h"
#include "base/mem.h"
#include "node/keeper.h"
#include "node/node_msg.h"
#include "node/worker_page.h"
#include "sys/messages/channel.h"
#include "sys/machine/gpus.h"
#include "sys/loop.h"
#include "sys/process.h"

/* A step, as long as the keeper lives. */
struct tm_keeper_step {
  uint64_t index;
  struct tm_node_step s;
  char *main_path; /* sys/node/<node>/_main.txt */
  int main_fd;     /* or -1: it cannot be written */
  struct tm_gpus gpus;
  struct tm_keeper_monitor *monitor; /* or NULL */
  bool is_init_late;                 /* the supervisor has given up on init() */
};

enum tm_keeper_state { TM_KEEPER_LIVES, TM_KEEPER_STOPS, TM_KEEPER_KILLED, TM_KEEPER_STATES };

/* The last interruption of a worker's call. */
struct tm_keeper_interrupt {
  uint64_t call;    /* as on the page; 0: none */
  int64_t begun_ns; /* monotonic */
};

/* A worker, from its start until its end has been reported. */
struct tm_keeper_worker {
  struct tm_keeper_step *step;
  uint32_t number;
  char *name;   /* process000 */
  char *marker; /* value of TM_ENV_WORKER, inherited by all of its descendants */
  char *temp_dir;
  char *memory_dir; /* NULL: none */
  char *gpu;        /* its entry in CUDA_VISIBLE_DEVICES, or NULL: none */
  struct tm_page *page;
  pid_t pid;
  enum tm_keeper_state state;
  enum tm_end_cause kill_cause; /* when KILLED */
  int64_t started_ns;           /* monotonic, like all times here */
  struct tm_page_view view;     /* of its page, when it was last read */
  struct tm_keeper_interrupt interrupt;
  int64_t due_ns;      /* when to read its page; INT64_MAX: never */
  int64_t stop_due_ns; /* when shutdown() is late; INT64_MAX: not told to stop */
  /* it is stopped (SIGSTOP), and is killed at this time; INT64_MAX: it is not stopped */
  int64_t frozen_due_ns;
  struct tm_process_memory memory; /* with a limit: when its own memory was largest */
};

enum tm_launch_state {
  TM_LAUNCH_RUNS,
  TM_LAUNCH_ENDS, /* it was asked to end (SIGTERM), or has to end by itself */
  TM_LAUNCH_KILLED,
  TM_LAUNCH_LEFT, /* the command has ended; what it has left is being killed */
  TM_LAUNCH_STATES
};

/* What an earlier keeper has launched: adopted.c. */
struct tm_keeper_adopted {
  struct tm_keeper *k;
  struct tm_keeper_launch *launch;
  struct tm_poll poll;
  int held;            /* its pidfd; -1: it is not there */
  const char *job_dir; /* the first step's */
  struct tm_incarnation origin;
  uint32_t number; /* there */
};

/* A command that was launched, until its end has been reported. */
struct tm_keeper_launch {
  uint32_t number;
  pid_t pid;    /* and its session and group; 0 from LEFT on: the number may be reused */
  char *marker; /* value of TM_ENV_WORKER, inherited by all of its descendants */
  char *stderr_path;
  int64_t stderr_from; /* where in the file its output begins */
  enum tm_launch_state state;
  int64_t started_ns; /* monotonic, as end_due_ns */
  int64_t end_ns;     /* from SIGTERM to SIGKILL */
  int64_t end_due_ns; /* when ENDS is late; INT64_MAX: never, or it was not asked to end */
  struct tm_launch_ended ended;
  struct tm_keeper_adopted *adopted; /* NULL: it is our child, or has ended */
};

/* A START that waits for memory. */
struct tm_keeper_waiting {
  uint64_t step;
  uint32_t number;
  char *name;
};

/* A folder for temporary folders of workers: temp.c. */
struct tm_keeper_base {
  char *path;
  int fd; /* locked; or -1 */
};

/* The command of AT_END. */
enum tm_at_end_state {
  TM_AT_END_NONE, /* or its time has not come */
  TM_AT_END_DUE,  /* the keeper ends, and launches of it lived */
  TM_AT_END_RUNS,
  TM_AT_END_OVER
};
struct tm_keeper_at_end {
  enum tm_at_end_state state;
  struct tm_launch asked; /* without argv: there is none */
  int64_t after_ns;
};

struct tm_keeper {
  struct tm_loop loop;
  struct tm_channel control;
  struct tm_signal on_child, on_term, on_warning, on_orphaned;
  struct tm_timer timer; /* armed to the earliest due_ns or stop_due_ns */
  struct tm_timer lock_timer;
  struct tm_timer launch_timer; /* armed to the earliest end_due_ns */
  struct tm_timer memory_timer; /* runs while there is a limit to watch, or a worker waits */
  const struct tm_keeper_readings *readings;
  struct TM_ARRAY(struct tm_keeper_waiting) waiting; /* in the order of their START */
  int64_t memory_kills; /* kills by the kernel that are accounted for */
  bool is_short;        /* of memory: no worker is started */
  struct TM_ARRAY(struct tm_keeper_step *) steps;
  struct TM_ARRAY(struct tm_keeper_worker *) workers;
  struct TM_ARRAY(struct tm_keeper_launch *) launches;
  struct tm_keeper_at_end at_end;
  struct TM_ARRAY(struct tm_keeper_base) bases;
  pid_t parent;
  int lock_fd; /* node.lock, or -1 */
  bool has_hello, has_ends /* any worker or launch has ended */, has_noted_log, is_closing;
};

/* keeper.c */
/* Call it when a process beneath us has ended: handles all ends. */
void tm_keeper_look(struct tm_keeper *k);
void tm_keeper_send(struct tm_keeper *k, uint32_t type, uint32_t worker, const void *p, size_t n);
void tm_keeper_note(struct tm_keeper *k, const char *text);

/* Starts a worker, or reports why it cannot. */
void tm_keeper_start(struct tm_keeper *k, uint64_t step, uint32_t number, const char *name);

/* keeper_log.c: the log folder of the node. A failure to write is reported to the supervisor once.
 */
/* reports that a log cannot be written */
void tm_keeper_note_log(struct tm_keeper *k, struct tm_err *err);
/* Makes the folders, opens _main.txt. */
void tm_keeper_log_open(struct tm_keeper *k, struct tm_keeper_step *step);
void tm_keeper_log(struct tm_keeper_step *step, enum tm_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends lines to user/error/<node>/<worker>.txt. */
void tm_keeper_log_error(struct tm_keeper *k, const struct tm_keeper_worker *w, const char *p,
                         size_t n);
/* A worker's "stdout" or "stderr", opened for appending, and linked in sys/node/: a descriptor, or
 * -1. */
int tm_keeper_log_open_output(struct tm_keeper *k, const struct tm_keeper_worker *w,
                              const char *stream);

/* spawn.c. Starts the worker with step, number and name of *w, and fills the rest of *w. *fd is the
 * supervisor's end of its socket, for the caller. After a failure, tm_keeper_worker_free() frees
 * what is left. */
int tm_keeper_spawn(struct tm_keeper *k, struct tm_keeper_worker *w, int *fd, struct tm_err *err);
void tm_keeper_worker_free(struct tm_keeper_worker *w); /* NULL is a no-op */
/* The value of TM_ENV_WORKER for a process beneath this keeper, to free(): `name` and `number` make
 * it different from those of the others. */
char *tm_keeper_marker(const struct tm_node_step *s, const char *name, uint32_t number);
/* That of a launch (worker_mark.h). */
char *tm_keeper_launch_marker(const char *job_dir, const struct tm_incarnation *i, bool is_kept,
                              uint32_t number);
#define TM_MARKER_MAX 4096 /* bytes that are read of a marker */
/* The environment of a worker: `own`, overridden by `more` and then by `last`, the keeper's
 * variables. A name without '=' removes the variable. The array ends with NULL and points to the
 * given strings; free() the array alone. */
char **tm_keeper_environment(char *const *own, char *const *more, size_t more_len,
                             char *const *last, size_t last_len);

/* temp.c. Ensures that the parent of `below` exists and is ours. `s`: of the worker that needs
 * it. */
int tm_keeper_base_hold(struct tm_keeper *k, const struct tm_node_step *s, const char *below,
                        struct tm_err *err);
/* Call it when no process is left that could write to them. */
void tm_keeper_bases_remove(struct tm_keeper *k);

/* cause.c. Finds what the status of an end does not tell: fills memory, was_frozen, own_kb,
 * mapped_kb, memory_limit_kb, last_line of `ended`, whose cause and signal are set. */
void tm_keeper_find_cause(struct tm_keeper *k, const struct tm_keeper_worker *w,
                          struct tm_ended *ended);
/* Writes everything to _main.txt and, unless the worker was asked to end, to user/error/. */
void tm_keeper_log_end(struct tm_keeper *k, const struct tm_keeper_worker *w,
                       const struct tm_ended *ended);
/* Whether the kernel killed it, from known facts. Pure. */
enum tm_memory_kill tm_keeper_memory_kill(enum tm_end_cause cause, int signal, bool is_logged,
                                          int64_t new_kills);
/* The last line of a file from byte `from` on, sanitized; "" if there is none. */
void tm_keeper_last_line(const char *path, int64_t from, char out[TM_LAST_LINE_MAX + 1]);
/* The last `lines` lines of a text. Pure. */
const char *tm_keeper_last_lines(const char *text, size_t len, int lines);

/* worker_memory.c: limits of workers, and whether there is memory for another one. */
void tm_keeper_memory_watch(struct tm_keeper *k, const struct tm_keeper_worker *w);
void tm_keeper_memory_on_time(struct tm_timer *t);
/* True: it must wait; it is started when memory suffices, or when no worker is left. */
bool tm_keeper_memory_hold(struct tm_keeper *k, uint64_t step, uint32_t number, const char *name);
/* Removes a waiting worker: reported as a failed start. False: it is not waiting. */
bool tm_keeper_memory_drop(struct tm_keeper *k, uint32_t number);
void tm_keeper_memory_release(struct tm_keeper *k);
/* Whether memory is short: less than a twentieth of the total (64 MB to 1 GB) is available, until
 * half as much again is. Pure. */
bool tm_keeper_is_short(bool was_short, const struct tm_memory *m);
/* gpu_assignment.c. Finds the devices of the node, for a step. */
void tm_keeper_find_gpus(struct tm_keeper_step *step);
/* Assigns a device, w->gpu, to a worker to be started, and returns the entry for its environment,
 * to free(); NULL: unchanged. */
char *tm_keeper_give_gpu(struct tm_keeper *k, struct tm_keeper_worker *w);
/* "CUDA_VISIBLE_DEVICES=<name>" with the first device that is not in `used` (entries may be NULL),
 * in *gpu. If none is left: "CUDA_VISIBLE_DEVICES" without a value, which removes it, or with
 * `hides` "CUDA_VISIBLE_DEVICES=-1". NULL: there are no devices. Pure. */
char *tm_keeper_gpu_entry(const struct tm_gpus *gpus, char *const *used, size_t used_len,
                          bool hides, const char **gpu);

/* monitor.c: the resource monitor of a step, while it has workers (node/sampler.h). */
void tm_keeper_monitor_open(struct tm_keeper *k, struct tm_keeper_step *step);
/* Between two samples, at least; negative: auto, `age_ns` after the first worker started. Pure. */
int64_t tm_keeper_monitor_interval(int64_t interval_ns, int64_t age_ns);
void tm_keeper_monitor_begin(struct tm_keeper_step *step); /* a worker has started */
/* There is a launch, or a step that measures those that there are. */
void tm_keeper_monitor_launches(struct tm_keeper *k);
void tm_keeper_monitor_end(struct tm_keeper_step *step); /* the step is over: for good */
/* closes its timer; may be called again */
void tm_keeper_monitor_close(struct tm_keeper_step *step);
/* when it is closed, and the loop has ended */
void tm_keeper_monitor_free(struct tm_keeper_step *step);

/* deadlines.c */
enum tm_keeper_event {
  TM_KEEPER_ON_STOPPING,
  TM_KEEPER_ON_KILL,
  TM_KEEPER_ON_RUN_LATE,
  TM_KEEPER_ON_STOP_LATE,
  TM_KEEPER_ON_FROZEN_LATE,
  TM_KEEPER_ON_MEMORY,
  TM_KEEPER_ON_END,
  TM_KEEPER_EVENTS
};
/* A worker has started: its deadlines begin. */
void tm_keeper_watch(struct tm_keeper *k, struct tm_keeper_worker *w);
void tm_keeper_step(struct tm_keeper *k, struct tm_keeper_worker *w, enum tm_keeper_event event);
void tm_keeper_on_time(struct tm_timer *t);
/* Call it when the deadlines of a step have changed. */
void tm_keeper_look_again(struct tm_keeper *k, const struct tm_keeper_step *step);
/* Handles all ends. False if no child is left. */
bool tm_keeper_reap(struct tm_keeper *k);
/* It was stopped, or continued. */
void tm_keeper_on_stop(struct tm_keeper *k, struct tm_keeper_worker *w, bool is_stopped);
/* When to read the page again. At or before `now_ns`: the call in `view` has passed the timeout of
 * the step for it (0: none). Pure. */
int64_t tm_keeper_due(const struct tm_page_view *view, const struct tm_node_step *s,
                      int64_t now_ns);
/* Whether a process with the marker `found` descends from a worker with `marker`, perhaps through
 * another keeper. Pure. */
bool tm_keeper_is_marked(const char *found, const char *marker);
/* The cause of an end. Pure. */
enum tm_end_cause tm_keeper_cause(const struct tm_keeper_worker *w,
                                  const struct tm_process_end *end, enum tm_phase phase);

/* launcher.c: commands that are run for the supervisor. False: LAUNCH cannot be honoured, and the
 * keeper must end. */
bool tm_keeper_on_launch(struct tm_keeper *k, const struct tm_msg *f);
void tm_keeper_on_end_launch(struct tm_keeper *k, const struct tm_msg *f);
void tm_keeper_on_kill_launch(struct tm_keeper *k, const struct tm_msg *f);
void tm_keeper_on_at_end(struct tm_keeper *k, const struct tm_msg *f);
void tm_keeper_on_launch_time(struct tm_timer *t);
/* The keeper ends: asks all of them to end. */
void tm_keeper_end_launches(struct tm_keeper *k);
/* Call it after each reap while the keeper ends. True: it has just started the command of AT_END,
 * because all launches are over. */
bool tm_keeper_run_at_end(struct tm_keeper *k);
struct tm_keeper_launch *tm_keeper_find_launch(const struct tm_keeper *k, pid_t pid);
/* Its command has ended: kills its group, reaps it. */
void tm_keeper_launch_over(struct tm_keeper *k, struct tm_keeper_launch *l,
                           const struct tm_process_end *end);
/* Whether the command of the launch with this marker lives. */
bool tm_keeper_launch_lives(const struct tm_keeper *k, const char *found);
/* Reports the ends of all launches whose command has ended. Call it when nothing that they started
 * is left. */
void tm_keeper_report_launches(struct tm_keeper *k);

struct tm_keeper_launch *tm_keeper_launch_find(const struct tm_keeper *k, uint32_t number);
bool tm_keeper_launches_live(const struct tm_keeper *k);
/* An adopted one has ended. tm_keeper_look() follows. */
void tm_keeper_launch_ended_unseen(struct tm_keeper *k, struct tm_keeper_launch *l);

/* adopted.c. False: ADOPT cannot be honoured, and the keeper must end. */
bool tm_keeper_on_adopt(struct tm_keeper *k, const struct tm_msg *f);
/* It has ended: kills its leftover processes, and forgets the adoption. */
void tm_keeper_adopted_leave(struct tm_keeper_launch *l);

/* call_timeout.c */
enum tm_late_action { TM_LATE_KILL, TM_LATE_INTERRUPT, TM_LATE_AGAIN };
/* What to do with the late call in `view`. Pure. */
enum tm_late_action tm_keeper_late(const struct tm_keeper_interrupt *i,
                                   const struct tm_page_view *view, bool can_interrupt,
                                   int64_t grace_ns, int64_t now_ns);
/* Interrupts a late call, perhaps again, and sets due_ns to the next check. False: kill the
 * worker. */
bool tm_keeper_interrupt(struct tm_keeper_worker *w);

#endif
