/* supervisor_own.h - what the files of a step share: its state, and the functions that they call of
 * each other. The scheduler (sched/sched.h) decides; these report to it and do what it says.
 *
 *   supervisor.c       the step: opening, progress of the lister, verdict; does what its life
 *                      (step_life.h) decides
 *   ending.c           from the end of the last worker to the end of the step
 *   sharing.c          how many of the job's workers it has
 *   workers.c          its workers: carries out what the scheduler decides, hears of their ends
 *   step_nodes.c       the nodes that it has
 *   worker_setup.c     what a worker needs before it loads the script
 *   worker_results.c   messages from workers, and good results; failed_tries.c has the others
 *   model_rows.c       whether its tables have the columns that its model wants
 *   copying.c          many rows, which are copied in pieces
 *   announced.c        large results of other nodes, whose files may come late
 *   retirement.c       which workers can be interrupted, and workers that retire
 *   watchdog.c         timeouts: no progress, workers that do not get through init()
 *   doing.c            what the workers are doing, for users who watch a slow step
 *   isolate.c          mini-batches that are run in parts until each bad item is alone
 */
#ifndef TM_STEP_SUPERVISOR_OWN_H
#define TM_STEP_SUPERVISOR_OWN_H

#include "commit/columns.h"
#include "commit/lister.h"
#include "outputs/input_staging.h"
#include "outputs/destinations.h"
#include "outputs/uploads.h"
#include "plan/bound.h"
#include "record/activity.h"
#include "record/temp_dirs.h"
#include "sched/sched.h"
#include "sched/tally.h"
#include "step/announced_state.h"
#include "step/copy_state.h"
#include "step/flusher.h"
#include "step/step_life.h"
#include "step/step_worker.h"
#include "step/stuck.h"
#include "step/supervisor.h"
#include "step/warnings.h"

struct tm_supervisor {
  struct tm_supervisor_options o;
  struct tm_step_life life;
  struct tm_step_view view;
  struct tm_bound bound;
  char *dir, *logs_dir, *output_dir, *output_file, *state_dir, *spill_dir, *staging_dir;
  char *inputs_file;                /* input_record.h */
  char *schema_file, *index_dir;    /* of tables */
  bool has_model_rows;              /* they were compared with its model */
  char *models_dir;                 /* prepared models */
  struct tm_destinations_held held; /* destinations */
  const struct tm_snapshot *copy;   /* NULL: it has not begun */
  struct tm_commit *commit;
  struct tm_commit_found found;
  struct tm_manifest *manifest; /* the commit's */
  struct tm_columns columns;    /* of the output, if run() returns data frames */
  struct tm_lister *lister;     /* NULL: the list is complete */
  struct tm_flusher flusher;
  /* while inputs are put in their places; nothing is listed, no worker runs */
  struct tm_input_staging *input_staging;
  struct tm_uploads *upload; /* while outputs are put in their destinations */
  struct tm_sched sched;
  bool is_carrying_out; /* what it has decided */
  int64_t due_ns;       /* when due_timer fires; INT64_MAX: it does not */
  struct tm_tally tally;
  struct TM_ARRAY(struct tm_isolate *) isolates;  /* isolate.h; by search, NULL: none */
  void (*drop_isolates)(struct tm_supervisor *s); /* NULL until there is one */
  struct TM_ARRAY(struct tm_step_node *) nodes;   /* by id; NULL: it never had that node */
  struct TM_ARRAY(struct tm_worker *) workers;    /* all but GONE */
  struct TM_ARRAY(struct tm_worker *) by_number;  /* NULL: gone */
  int64_t next_number;                            /* of a name */
  struct tm_timer due_timer;
  int open; /* handles and workers that are not closed yet */
  struct tm_warnings warnings;
  bool arms_workers;      /* from now on their calls can be interrupted */
  int64_t longest_run_ns; /* of a run() that has ended */
  int code;
  struct tm_err cause; /* why it is Failed */
  struct tm_stuck stuck;
  struct tm_copy copying; /* copying.h */
  struct tm_announcements announced;
  struct tm_activities activities; /* of the last tick; view.activities points to it */
  struct tm_buf scratch;
};

/* supervisor.c */
void tm_supervisor_judge(struct tm_supervisor *s);
/* Reports an event of its life, and does what follows. For an error: tm_supervisor_fail(). */
void tm_supervisor_happen(struct tm_supervisor *s, enum tm_step_life_event event);
/* Sets why the step cannot run on: `err`, or what was removed while the job ran. */
void tm_supervisor_take_cause(struct tm_supervisor *s, const struct tm_err *err);
/* Reports if nothing of it runs any more. */
void tm_supervisor_check_end(struct tm_supervisor *s);
void tm_supervisor_say(struct tm_supervisor *s, enum tm_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void tm_supervisor_emit(struct tm_supervisor *s, struct tm_event *e, const struct tm_worker *w);
void tm_supervisor_closed_one(struct tm_supervisor *s);

/* ending.c */
void tm_ending_commit(struct tm_supervisor *s); /* then outputs are uploaded */
void tm_ending_tell(struct tm_supervisor *s);   /* its owner, and listeners */

/* workers.c */
/* Why tries of a worker have failed: an answer, the worker's end, or the loss of its node. */
struct tm_answer;
struct tm_try_end {
  struct tm_answer *answer;
  struct tm_worker *w; /* of the answer, and what it is about */
  struct tm_in_flight *held;
  const struct tm_ended *ended; /* NULL: there is an answer, or is_lost */
  const char *words;            /* how the worker ended */
  bool is_lost;                 /* with its node */
};
/* Makes the scheduler, when the commit has been opened. */
void tm_workers_init(struct tm_supervisor *s);
/* So many mini-batches exist as the manifest has. */
void tm_workers_tell_created(struct tm_supervisor *s);
/* Reports an event to the scheduler. */
bool tm_workers_tell(struct tm_supervisor *s, const struct tm_sched_event *e);
/* Does what the scheduler has decided. `end`: about failed tries, if the last event was about them.
 * A call from within does nothing: the outer one does it. */
void tm_workers_carry_out(struct tm_supervisor *s, const struct tm_try_end *end);
/* The end of a turn: hands out what waits, starts workers, recalls. */
void tm_workers_fill(struct tm_supervisor *s);
enum tm_worker_state tm_workers_state(const struct tm_worker *w);
struct tm_in_flight *tm_workers_held(const struct tm_worker *w,
                                     uint64_t seq); /* NULL: it does not hold it */
/* What the worker held is over. */
void tm_workers_forget(struct tm_worker *w, const struct tm_in_flight *held);
/* A worker that was kept stays in memory when it has ended, until the last call of _let_go(). */
void tm_workers_keep(struct tm_worker *w);
void tm_workers_let_go(struct tm_worker *w);
void tm_workers_send_setup(struct tm_worker *w); /* send_setup.c */
/* It is sent nothing more. */
void tm_workers_deafen(struct tm_worker *w);
/* A worker in `state` has failed before it was ready; `a`: status, times and text. After a timeout
 * the workers can be interrupted, as after a run(). `flags`: TM_FAILURE_LOADING; TM_FAILURE_NO_RUN
 * is not a try. */
void tm_workers_emit_init_failure(struct tm_worker *w, enum tm_worker_state state,
                                  struct tm_attempt *a, uint32_t flags);
/* A run() has timed out: with "auto", workers can be interrupted from now on, present and future
 * ones. */
void tm_workers_arm_workers(struct tm_supervisor *s);
/* Nothing is sent to the node's workers any more. */
void tm_workers_silence(struct tm_supervisor *s, const struct tm_step_node *n);
/* The node's keeper is gone, and the workers' pages with it: all that they held goes back,
 * uncounted, unless it has lost too many nodes (sched/sched.h (5)). False: not yet, a large result
 * of theirs is copied first. */
bool tm_workers_lose(struct tm_supervisor *s, const struct tm_step_node *n);
void tm_workers_drop_all(struct tm_supervisor *s); /* they are gone; no worker gets a message */
void tm_workers_on_due(struct tm_timer *t);

/* step_nodes.c */
/* A node that can be used, once the life of the step permits. */
void tm_step_nodes_set(struct tm_supervisor *s, struct tm_node *node,
                       const struct tm_temp_dirs *temp);
bool tm_step_nodes_are_new(const struct tm_supervisor *s); /* not all are added yet */
/* Makes its keepers know the step, and the scheduler its nodes. */
void tm_step_nodes_add_all(struct tm_supervisor *s);
/* The node cannot be used any more. */
void tm_step_nodes_silence(struct tm_supervisor *s, uint32_t id);
/* After that: it is gone, with its workers. False: not yet, a large result of theirs is copied
 * first. */
bool tm_step_nodes_lose(struct tm_supervisor *s, uint32_t id);
/* Ten times a second: tells the scheduler how far the nodes are, where that has changed. */
void tm_step_nodes_tick(struct tm_supervisor *s);
/* How many workers it may have on all nodes that it has now, at least on one. */
int64_t tm_step_nodes_workers(const struct tm_supervisor *s);
/* The number of the next worker's name: names continue from those of earlier sessions, on any
 * node, as the log files tell. */
int64_t tm_step_nodes_next_number(const struct tm_supervisor *s);
void tm_step_nodes_release(struct tm_supervisor *s);

/* What a keeper says of a worker (fleet/node.h), unless it has to wait: copying.h. _on_ended false:
 * not yet, a large result of the worker is copied first. */
void tm_workers_on_started(struct tm_supervisor *s, uint32_t number, int64_t pid,
                           struct tm_worker_link *link);
void tm_workers_on_start_failed(struct tm_supervisor *s, uint32_t number, const char *text);
void tm_workers_on_taken(struct tm_supervisor *s, uint32_t number, const uint64_t *seqs, size_t n);
bool tm_workers_on_ended(struct tm_supervisor *s, uint32_t number, const struct tm_ended *ended);

/* model_rows.c */
/* When mini-batches can be read, and again when the list is complete. TM_EUSAGE: rows do not fit
 * the model. */
int tm_model_rows_check(struct tm_supervisor *s, bool is_complete, struct tm_err *err);

/* copying.c */
/* What the step hears of its workers on a node. */
struct tm_node_user tm_copying_node_user(struct tm_supervisor *s);
/* A node is gone: now, or when a copy is complete. */
void tm_copying_lose_node(struct tm_supervisor *s, uint32_t id);
/* A search is over. True: its rows are being joined and copied, or wait for that, and
 * tm_isolate_finish() is called again. */
bool tm_copying_join(struct tm_supervisor *s, uint32_t search);
void tm_copying_open(struct tm_supervisor *s);
void tm_copying_close(struct tm_supervisor *s); /* what waits is dropped */

/* announced.c */
void tm_announced_init(struct tm_supervisor *s);
void tm_announced_open(struct tm_supervisor *s);
/* Handles what was decided while a copy was under way. */
void tm_announced_go_on(struct tm_supervisor *s);
/* Drops the results of workers of that node, or (NULL) all, except one that is being copied. */
void tm_announced_drop(struct tm_supervisor *s, const struct tm_step_node *n);
void tm_announced_close(struct tm_supervisor *s);
/* For an event of the scheduler about what is held: it does not have the assignment of an announced
 * result any more. NULL: it has it. */
const struct tm_assignment *tm_announced_what(const struct tm_in_flight *held);

/* worker_results.c */
void tm_worker_results_on_msg(void *worker, const struct tm_msg *f);
/* The file of an announced result is here. False: its rows are copied first (copying.h). */
bool tm_worker_results_on_seen(struct tm_worker *w, struct tm_in_flight *held,
                               const struct tm_msg *f);
/* The worker begins nothing more, and reports why; what it holds comes back when it has ended. */
void tm_worker_results_retired(struct tm_worker *w, const struct tm_msg *f);
/* The worker exits, which the keeper reports. Emits the error of its shutdown() if it failed. */
void tm_worker_results_bye(struct tm_worker *w, const struct tm_msg *f);
/* Kills a worker that cannot be talked to. */
void tm_worker_results_on_rubbish(struct tm_worker *w);

/* doing.c. Ten times a second: looks what each worker is doing, asks the keeper for more if that
 * takes long, and fills s->activities. Does no work per mini-batch. */
void tm_doing_tick(struct tm_supervisor *s);
/* Adds what the workers are doing, as the reason why nothing ends. */
void tm_doing_name_stuck(struct tm_supervisor *s, struct tm_err *err);
void tm_doing_on_told(void *data, const struct tm_worker_doing *told); /* for a tm_node_user */

/* watchdog.c */
void tm_watchdog_tick(struct tm_supervisor *s);
/* A rule of time is broken. */
void tm_watchdog_give_up(struct tm_supervisor *s, enum tm_sched_action_kind rule);
/* Notes where an interrupted init() was. */
void tm_watchdog_note_init(struct tm_supervisor *s, const char *worker, const char *where);
#endif
