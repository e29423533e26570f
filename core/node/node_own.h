/* node_own.h - what the files of the keeper share; nobody else includes it but their tests. */
#ifndef TM_NODE_NODE_OWN_H
#define TM_NODE_NODE_OWN_H

#include <sys/types.h>

#include "base/level.h"
#include "base/mem.h"
#include "node/keeper.h"
#include "node/message.h"
#include "node/page.h"
#include "sys/channel.h"
#include "sys/gpus.h"
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
  bool is_init_late;                 /* the supervisor has given up on it */
};

enum tm_keeper_state { TM_KEEPER_LIVES, TM_KEEPER_STOPS, TM_KEEPER_KILLED, TM_KEEPER_STATES };

/* The last interruption of one of its calls. */
struct tm_keeper_interrupt {
  uint64_t call;    /* as on the page; 0: none */
  int64_t begun_ns; /* monotonic */
};

/* A worker, from its start until its end has been told. */
struct tm_keeper_worker {
  struct tm_keeper_step *step;
  uint32_t number;
  char *name;   /* process000 */
  char *marker; /* value of TM_ENV_WORKER, in all that descends from it */
  char *temp_dir;
  char *memory_dir; /* NULL: none */
  char *gpu;        /* its entry in CUDA_VISIBLE_DEVICES, or NULL: none */
  struct tm_page *page;
  pid_t pid;
  enum tm_keeper_state state;
  enum tm_end_cause kill_cause; /* when KILLED */
  int64_t started_ns;           /* monotonic, as all here */
  struct tm_page_view view;     /* of its page, when it was looked at last */
  struct tm_keeper_interrupt interrupt;
  int64_t due_ns;        /* when to look at its page; INT64_MAX: never */
  int64_t stop_due_ns;   /* when shutdown() is late; INT64_MAX: it was not told to stop */
  int64_t frozen_due_ns; /* it is stopped (SIGSTOP), and is killed then; INT64_MAX: it is not */
  int64_t rss_kb;        /* when it passed its memory limit */
};

/* A START that waits for memory. */
struct tm_keeper_waiting {
  uint64_t step;
  uint32_t number;
  char *name;
};

/* A folder in which temporary folders of workers are: temp.c. */
struct tm_keeper_base {
  char *path;
  int fd; /* locked; or -1 */
};

struct tm_keeper {
  struct tm_loop loop;
  struct tm_channel control;
  struct tm_signal on_child, on_term, on_orphaned;
  struct tm_timer timer; /* armed to the earliest due_ns or stop_due_ns */
  struct tm_timer lock_timer;
  struct tm_timer memory_timer; /* runs while there is a limit to watch, or somebody waits */
  const struct tm_keeper_readings *readings;
  struct TM_ARRAY(struct tm_keeper_waiting) waiting; /* in the order of their START */
  int64_t memory_kills;                              /* of the kernel's, that are accounted for */
  bool is_short;                                     /* of memory: nobody is started */
  struct TM_ARRAY(struct tm_keeper_step *) steps;
  struct TM_ARRAY(struct tm_keeper_worker *) workers;
  struct TM_ARRAY(struct tm_keeper_base) bases;
  pid_t parent;
  int lock_fd; /* node.lock, or -1 */
  bool has_hello, has_ends /* of workers, ever */, has_noted_log, is_closing;
};

/* keeper.c */
void tm_keeper_send(struct tm_keeper *k, uint32_t type, uint32_t worker, const void *p, size_t n);
void tm_keeper_note(struct tm_keeper *k, const char *text);

/* Starts a worker, or tells why not. */
void tm_keeper_start(struct tm_keeper *k, uint64_t step, uint32_t number, const char *name);

/* log.c: the log folder of the node. What cannot be written is noted to the supervisor once, and passed over. */
void tm_keeper_note_log(struct tm_keeper *k, struct tm_err *err); /* that one cannot be written */
void tm_keeper_log_open(struct tm_keeper *k,
                        struct tm_keeper_step *step); /* makes the folders, opens _main.txt */
void tm_keeper_log(struct tm_keeper_step *step, enum tm_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Lines to the end of user/error/<node>/<worker>.txt. */
void tm_keeper_log_error(struct tm_keeper *k, const struct tm_keeper_worker *w, const char *p,
                         size_t n);
/* A worker's "stdout" or "stderr", opened for appending, and linked into sys/node/: a descriptor, or -1. */
int tm_keeper_log_open_output(struct tm_keeper *k, const struct tm_keeper_worker *w,
                              const char *stream);

/* spawn.c. Starts the worker of step, number and name; the rest of *w is filled. *fd is the supervisor's end of its socket,
 * the caller's. After a failure nothing is left of it but what tm_keeper_worker_free() frees. */
int tm_keeper_spawn(struct tm_keeper *k, struct tm_keeper_worker *w, int *fd, struct tm_err *err);
void tm_keeper_worker_free(struct tm_keeper_worker *w); /* NULL is a no-op */
/* The environment of a worker: `own` with `more` and the keeper's variables over it; NULL-ended, to free() as one. A name
 * without '=' takes the variable out. */
char **tm_keeper_environment(char *const *own, char *const *more, size_t more_len,
                             char *const *last, size_t last_len);

/* temp.c. The parent of `below` is there, and is ours. */
int tm_keeper_base_hold(struct tm_keeper *k, const char *below, struct tm_err *err);
/* Nothing that could write to them lives any more. */
void tm_keeper_bases_remove(struct tm_keeper *k);

/* cause.c. What can be learned of an end beside its status: fills memory, was_frozen, rss_kb, memory_limit_kb, last_line of
 * `ended`, whose cause and signal are set. */
void tm_keeper_find_cause(struct tm_keeper *k, const struct tm_keeper_worker *w,
                          struct tm_ended *ended);
/* The whole of it into _main.txt, and into user/error/ unless it was asked to end. */
void tm_keeper_log_end(struct tm_keeper *k, const struct tm_keeper_worker *w,
                       const struct tm_ended *ended);
/* Whether the kernel killed it, of what is known. Pure. */
enum tm_memory_kill tm_keeper_memory_kill(enum tm_end_cause cause, int signal, bool is_logged,
                                          int64_t new_kills);
/* The last `lines` lines of a text. Pure. */
const char *tm_keeper_last_lines(const char *text, size_t len, int lines);

/* memory.c: limits of workers, and whether there is memory for another one. */
void tm_keeper_memory_watch(struct tm_keeper *k, const struct tm_keeper_worker *w);
void tm_keeper_memory_on_time(struct tm_timer *t);
/* True: it must wait; it is started when there is memory, or when no worker is left. */
bool tm_keeper_memory_hold(struct tm_keeper *k, uint64_t step, uint32_t number, const char *name);
/* One that waits is not wanted any more: told as a start that failed. False: it does not wait. */
bool tm_keeper_memory_drop(struct tm_keeper *k, uint32_t number);
void tm_keeper_memory_release(struct tm_keeper *k);
/* Whether memory is short: it is below a twentieth of the whole (64 MB to 1 GB), until there is half as much again. Pure. */
bool tm_keeper_is_short(bool was_short, const struct tm_memory *m);
/* gpus.c. The devices of the node, for a step. */
void tm_keeper_find_gpus(struct tm_keeper_step *step);
/* The device of a worker that is to be started, w->gpu, and the entry for its environment, to free(); NULL: as it is. */
char *tm_keeper_give_gpu(struct tm_keeper *k, struct tm_keeper_worker *w);
/* "CUDA_VISIBLE_DEVICES=<name>" with the first device that is not in `used` (entries may be NULL), which is *gpu; where there
 * is none left "CUDA_VISIBLE_DEVICES" alone, which takes it out, or with `hides` "CUDA_VISIBLE_DEVICES=-1". NULL: there are
 * no devices. Pure. */
char *tm_keeper_gpu_entry(const struct tm_gpus *gpus, char *const *used, size_t used_len,
                          bool hides, const char **gpu);

/* monitor.c: the resource monitor of a step, while it has workers (node/sampler.h). */
void tm_keeper_monitor_open(struct tm_keeper *k, struct tm_keeper_step *step);
void tm_keeper_monitor_begin(struct tm_keeper_step *step); /* a worker has been started */
void tm_keeper_monitor_close(struct tm_keeper_step *step); /* its timer; may be called again */
void tm_keeper_monitor_free(struct tm_keeper_step *step);  /* closed, and the loop has ended */

/* watch.c */
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
void tm_keeper_watch(struct tm_keeper *k,
                     struct tm_keeper_worker *w); /* it has been started: its deadlines begin */
void tm_keeper_step(struct tm_keeper *k, struct tm_keeper_worker *w, enum tm_keeper_event event);
void tm_keeper_on_time(struct tm_timer *t);
/* What a step's deadlines are has changed. */
void tm_keeper_look_again(struct tm_keeper *k, const struct tm_keeper_step *step);
/* Handles all ends that there are. False when no child is left. */
bool tm_keeper_reap(struct tm_keeper *k);
/* It was stopped, or woken. */
void tm_keeper_on_stop(struct tm_keeper *k, struct tm_keeper_worker *w, bool is_stopped);
/* When to look at the page again: at or before `now_ns`, the call that `view` shows has passed the timeout that the step has
 * for it (0: none). Pure. */
int64_t tm_keeper_due(const struct tm_page_view *view, const struct tm_node_step *s,
                      int64_t now_ns);
/* Whether a process with the marker `found` descends from a worker with `marker`, perhaps through a keeper of its own. Pure. */
bool tm_keeper_is_marked(const char *found, const char *marker);
/* The cause of an end. Pure. */
enum tm_end_cause tm_keeper_cause(const struct tm_keeper_worker *w,
                                  const struct tm_process_end *end, enum tm_phase phase);

/* interrupt.c */
enum tm_late_action { TM_LATE_KILL, TM_LATE_INTERRUPT, TM_LATE_AGAIN };
/* What is to be done with the call that `view` shows, which is late. Pure. */
enum tm_late_action tm_keeper_late(const struct tm_keeper_interrupt *i,
                                   const struct tm_page_view *view, bool can_interrupt,
                                   int64_t grace_ns, int64_t now_ns);
/* Its call is late: it is interrupted, or interrupted again, and due_ns says when to look. False: it is to be killed. */
bool tm_keeper_interrupt(struct tm_keeper_worker *w);

#endif
