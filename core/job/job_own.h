/* job_own.h - the inside of a job, for its own files only:
 *
 *   job.c           the job: opening; does what its life (job_life.h) decides
 *   job_nodes.c     its nodes: starts them, and hears that they are lost
 *   job_launches.c  nodes that commands start: which steps they serve, how many there should be
 *   job_launched.c  one such node, from its launch until it is settled
 *   job_launched_end.c what follows from the end of such a node
 *   job_keeper.c    the keeper of this machine, which runs their commands, is lost and replaced
 *   job_launching.c begins a launch
 *   job_node_record.c  writes <job>/nodes/<id>.json
 *   job_node_news.c tells listeners about such nodes
 *   job_probe.c     asks a node whether it can be used
 *   job_exclude.c   hosts that nodes of Slurm must not use for a while
 *   job_slurm.c     the command of a node that is a Slurm job or a step
 *   job_slurm_cancel.c  ends Slurm jobs and steps that may outlive their srun
 *   job_slurm_queue.c asks Slurm what such nodes wait for, and why they have ended
 *   job_time_left.c drains nodes whose time limit is near
 *   job_result.c    the verdict, the result, the exit status
 *   kept.c          a job that was Completed before
 *   job_cancel.c    ends the job early, if its owner or another process asks for it
 *   job_steps.c     its steps: which may begin, what the end of one means for others, which workers
 *                   each gets
 *   job_sharing.c   how the running steps share workers and nodes
 *   reusing.c       results of earlier jobs: looks for them before a step begins, and keeps the
 *                   result of a Completed step
 *   job_beside.c    what a step reads beside its inputs: recorded when it begins, compared when it
 *                   is resumed
 *   stale_inputs.c  warns of inputs that have changed since a resumed step committed their rows
 */
#ifndef TM_JOB_JOB_OWN_H
#define TM_JOB_JOB_OWN_H

#include "base/mem.h"
#include "base/time.h"
#include "slurm/exclusions.h"
#include "fleet/fleet.h"
#include "fleet/launch_plan.h"
#include "fleet/launches.h"
#include "fleet/node_need.h"
#include "inspect/recheck.h"
#include "slurm/allocation.h"
#include "job/job.h"
#include "job/job_life.h"
#include "job/launched_node.h"
#include "job/reuse.h"
#include "job/rounds.h"
#include "node/node_report.h"
#include "record/cancel_request.h"
#include "record/job_dir.h"
#include "record/step_view.h"
#include "record/temp_dirs.h"
#include "sched/active_clock.h"
#include "step/supervisor.h"

#define TM_JOB_TICK_NS (100 * TM_MS)

enum tm_step_state {
  TM_STEP_WAITING, /* for other steps, or for a worker */
  TM_STEP_LOOKS,   /* looks for a result of another job */
  TM_STEP_OPEN,    /* recovers what an earlier session left */
  TM_STEP_RUNS,
  TM_STEP_OVER,
};

struct tm_job_step {
  enum tm_step_state state;
  /* open while WAITING: only its state has been read; NULL: the step does not run */
  struct tm_supervisor *s;
  struct tm_step_view own; /* the view of a step without a supervisor */
  struct tm_step_places places;
  struct tm_reuse *reuse; /* NULL: it shares no results with other jobs */
  bool may_reuse;         /* still to be decided, once the steps that it waits for have ended */
  /* its destinations are not checked yet: they may hold the result that it will reuse */
  bool is_unchecked;
  struct tm_reuse_errand *errand;   /* at work; or NULL */
  struct tm_stale_look *stale_look; /* likewise: stale_inputs.h */
  struct tm_json *kept;             /* its result from an earlier session, if it was Completed */
  struct tm_err cause;              /* why it cannot run, or cannot be recorded; code 0: no error */
  char *why;                        /* why it does not run; the view points to it */
  size_t *needs;                    /* numbers of the steps it waits for */
  size_t needs_len;
};

/* What closing leaves of the directory. If opening the job was refused, what it made is removed. */
enum tm_job_rest {
  TM_JOB_REST_ALL,
  TM_JOB_REST_FOLDER, /* which had been there, empty */
  TM_JOB_REST_NOTHING
};

/* job_exclude.c */
struct tm_job_exclude {
  struct tm_job *job; /* once it is asked */
  struct tm_exclusions hosts;
  bool is_asking, is_late;
  uint32_t question;        /* while asking: the number of the launch */
  int64_t asked_ns, due_ns; /* it is not asked before due_ns */
};

/* Steps whose settings of nodes are equal. */
struct tm_launch_group {
  const struct tm_config *config; /* of the first step */
  size_t nodes_max;               /* the largest node_count of its steps, or fewer hosts */
  /* Its nodes are steps of this allocation; without a job: they are not steps. */
  struct tm_allocation allocation;
  char *const *hosts; /* on which its nodes are launched, one each; NULL: not known before */
  size_t hosts_len;
  struct tm_launch_plan plan;
  struct tm_job_exclude exclude;
  struct tm_err cause; /* why the group cannot have a node; code 0: no error */
  struct tm_err last;  /* why its last node has failed */
  bool lacked_time;    /* `last`: because of its time limit */
  bool is_unanswered;  /* the scheduler has not answered its last request */
  struct tm_active_clock clock;
  int64_t had_node_ns; /* on that clock: when it had a node, or needed none, for the last time */
};

/* job_slurm.c, job_slurm_queue.c */
struct tm_job_slurm {
  struct TM_ARRAY(struct tm_slurm_cancel *) cancels; /* Slurm jobs that must end */
  struct tm_slurm_cancel *uncertain;                 /* those that may not have; NULL: none */
  bool has_looked;                                   /* for those that earlier sessions have left */
  struct tm_slurm_asking asking;
  bool has_fd, is_late;
  bool has_failed;   /* the last squeue */
  bool has_listed;   /* squeue has once listed a node of this session */
  uint32_t question; /* while asking: the number of the launch */
  int fd;            /* has_fd: its output */
  char *reported;    /* "2 of 8 nodes, 6 waiting: Resources"; NULL: none is known to wait */
};

struct tm_job_note {
  enum tm_level level;
  char *text;
};

/* Whether the keeper of this machine measures its launches for a step, and as which. */
struct tm_measured {
  bool is_on;
  uint32_t step;
};

struct tm_job_launches {
  struct TM_ARRAY(struct tm_launch_group) groups;
  size_t *group_of;                                 /* by step; SIZE_MAX: it runs on this machine */
  struct TM_ARRAY(struct tm_launched_node *) nodes; /* from their launch until they are settled */
  /* How many workers the nodes may have together; -1: to be counted, because a node has changed.
   * Kept because steps that share nodes ask for it with each mini-batch. */
  int64_t workers;
  uint32_t next_id;               /* 0: not known yet */
  struct tm_node_need *needs;     /* room for one for each step */
  struct tm_run_times *run_times; /* likewise */
  bool knows_step;                /* the keeper of this machine: job_launching.c */
  int keepers_lost;               /* in a row: job_keeper.c */
  int64_t keeper_began_ns;        /* when the last one was started */
  struct tm_err keeper_end;       /* why the last of them was lost */
  struct tm_measured *measured;   /* by step */
  int64_t give_up_ns;             /* of an ending job: when its commands are ended by force */
  bool has_noted_times;           /* the user knows that nodes see other times: job_probe.c */
  struct tm_job_slurm slurm;
  struct tm_nodes_view view; /* what listeners see */
  struct tm_nodes_now *now_of_steps;
};

struct tm_job {
  struct tm_job_options o;
  struct tm_job_life life;
  struct tm_job_dir dir;
  struct tm_job_view view;
  struct tm_snapshot *snapshots;          /* by step */
  struct tm_job_step *steps;              /* likewise */
  const struct tm_step_view **step_views; /* likewise: the supervisor's, else the step's own */
  size_t steps_len, steps_over;
  size_t errands;          /* threads at work: of reuse, and of stale_inputs.h */
  int64_t node_workers;    /* the limit on this machine, if o.max_workers is 0 */
  struct tm_share *shares; /* room for one for each step */
  struct tm_rounds rounds; /* job_steps.c (2) */
  struct tm_fleet fleet;
  struct tm_job_launches *launches;
  struct TM_ARRAY(struct tm_temp_dirs) temps; /* by the id of the node whose keeper has them */
  struct tm_timer tick;
  struct tm_json *command;                   /* of the earlier record of a resumed job, or NULL */
  struct tm_json *earlier;                   /* the result of a job that was Completed before */
  struct tm_recheck *recheck;                /* while the inputs of that job are compared */
  struct TM_ARRAY(struct tm_job_note) notes; /* for the start of the job */
  int64_t canceled_ns;                       /* monotonic; when for the first time; 0: never */
  struct tm_cancel_watch cancel_watch;
  struct tm_cancel_request cancel_request; /* the last one; view.cancel */
  enum tm_job_rest rest;
  int code;
  struct tm_err cause;
};

/* job.c */
/* Both are reported at the start of the job; a warning also as such. */
void tm_job_note(struct tm_job *job, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tm_job_warn(struct tm_job *job, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tm_job_emit(struct tm_job *job, enum tm_event_kind kind, enum tm_level level,
                 const char *text);
/* Reports an event of its life, and does what follows. */
void tm_job_happen(struct tm_job *job, enum tm_job_life_event event);

/* job_result.c */
/* Adds it to the history of its workspace. If that cannot be written, the job still succeeds. */
void tm_job_tell_history(struct tm_job *job);
/* Every step is over: decides the verdict, writes the result, and informs listeners. */
void tm_job_conclude(struct tm_job *job);

/* job_nodes.c */
void tm_job_nodes_init(struct tm_job *job);
/* Starts the local node, or fails the steps. */
void tm_job_nodes_start(struct tm_job *job);
/* Removes the temporary folders of the node; call it when no process of that is left. A folder that
 * cannot be removed is reported; the next start of the job, or its removal, tries again. */
void tm_job_nodes_remove_temp(struct tm_job *job);
void tm_job_nodes_release_temp(struct tm_job *job); /* forgets their names */
/* Names and records the folders of a node; `node` NULL: of this machine, before its keeper starts.
 * Later removes them. */
int tm_job_nodes_record_temp(struct tm_job *job, uint32_t id, const struct tm_temp_node *node,
                             struct tm_err *err);
void tm_job_nodes_remove_temp_of(struct tm_job *job, uint32_t id);
/* How many workers all steps together may have. */
int64_t tm_job_nodes_max_workers(const struct tm_job *job);

/* job_launches.c. Nodes that commands start have ids from 1 on. */
void tm_job_launches_init(struct tm_job *job);
/* Before a job that runs something starts: finds the hosts of its nodes, in an allocation by
 * scontrol, for 20 s at most. */
void tm_job_launches_prepare(struct tm_job *job);
void tm_job_launches_release(struct tm_job *job);
/* Whether workers of the step may run on the node, which can be used now. */
bool tm_job_launches_serves(const struct tm_job *job, uint32_t id, size_t step);
/* How many workers the nodes that can have workers now may have together, for all steps: on each
 * as many as it has CPUs, or process_count_per_node if that is more. 0: there is no such node. */
int64_t tm_job_launches_workers(const struct tm_job *job);
/* Launches nodes that are missing, gives up those that are late. Call it also at each tick. */
void tm_job_launches_go(struct tm_job *job);
/* A step has started: it fails if it cannot have nodes. */
void tm_job_launches_check(struct tm_job *job, size_t step);
/* The group cannot have a node: its steps fail, now or when they begin. */
void tm_job_launches_fail(struct tm_job *job, size_t group, const struct tm_err *err);
/* Whether nodes of the step's group may still become ready. */
bool tm_job_launches_expects(const struct tm_job *job, size_t step);
/* A mini-batch of the step was committed that ran on the node. */
void tm_job_launches_committed(struct tm_job *job, size_t step, uint32_t id);
/* Ends all nodes of an ending job: the launched ones, then the local one; reports GONE. _end: call
 * it at each tick after that. */
void tm_job_launches_close(struct tm_job *job);
void tm_job_launches_end(struct tm_job *job);

/* job_launched.c */
void tm_job_launched_begin(struct tm_job *job, size_t group, size_t place);
void tm_job_launched_free(struct tm_launched_node *n);
struct tm_launched_node *tm_job_launched_find(const struct tm_job *job, uint32_t id); /* NULL */
struct tm_launch_group *tm_job_launched_group(const struct tm_launched_node *n);
bool tm_job_launched_is_usable(const struct tm_launched_node *n); /* false if `n` is NULL */
/* It is lost, or cannot be used; its command ends. */
void tm_job_launched_give_up(struct tm_launched_node *n, const char *why);
/* Ends its command; then it is settled. */
void tm_job_launched_end_command(struct tm_launched_node *n);
/* Gives it back, unless it has work: its workers end, then it does. */
void tm_job_launched_give_back(struct tm_launched_node *n);
void tm_job_launched_tick(struct tm_launched_node *n);
/* Nodes that are ready, and wait for nothing more, get work. Call it at each tick, and never from a
 * step. */
void tm_job_launched_use_known(struct tm_job *job);
/* Settles those that wait for nothing more. Call it also at each tick. */
void tm_job_launched_settle_known(struct tm_job *job);
/* job_launched_end.c. _report_end: only reports it; *err: the text. _conclude: once. */
void tm_job_launched_report_end(struct tm_launched_node *n, struct tm_err *err);
void tm_job_launched_conclude(struct tm_launched_node *n);
/* Events of the fleet about a node; also about the local one. */
void tm_job_launched_reported(struct tm_job *job, uint32_t id);
void tm_job_launched_probed(struct tm_job *job, uint32_t id, const struct tm_node_probed *probed);
void tm_job_launched_source_taken(struct tm_job *job, uint32_t id, const char *problem);
void tm_job_launched_ready(struct tm_job *job, uint32_t id);
void tm_job_launched_drains(struct tm_job *job, uint32_t id);
/* A step has found that the node is sick. `figures`: text. */
void tm_job_launched_sick(struct tm_job *job, uint32_t id, const char *figures);
/* A usable node gets no more work, for the reason in `text`. When its running mini-batches have
 * ended, it ends, and another node takes its place. */
void tm_job_launched_drain(struct tm_launched_node *n, enum tm_level level, const char *text);
void tm_job_launched_lost(struct tm_job *job, uint32_t id, const char *why);
void tm_job_launched_gone(struct tm_job *job, uint32_t id);
/* The keeper of this machine, which lives, adopts its command. */
void tm_job_launched_adopt(struct tm_launched_node *n);
/* Its command has ended with that keeper. It is settled when its stream has ended, too. */
void tm_job_launched_orphan(struct tm_launched_node *n);
/* Looks whether it is over, and what follows. It may be freed. */
void tm_job_launched_settle(struct tm_launched_node *n);

/* job_keeper.c: what happens to the commands of nodes when the keeper of this machine is lost. */
void tm_job_keeper_lost(struct tm_job *job, const char *why);
void tm_job_keeper_gone(struct tm_job *job);
void tm_job_keeper_starts(struct tm_job *job); /* another one will be started */
void tm_job_keeper_started(struct tm_job *job);
void tm_job_keeper_abandon(struct tm_job *job); /* there will be no other one */
/* The job was closed while it ran, and no keeper lives. */
void tm_job_keeper_close(struct tm_job *job);
/* Whether there are commands for another one. */
bool tm_job_keeper_is_awaited(const struct tm_job *job);

/* job_node_news.c: events and numbers for listeners. */
void tm_job_node_news_init(struct tm_job *job);
void tm_job_node_news_release(struct tm_job_launches *l);
/* Emits TM_EVENT_NODE with a text for users. */
void tm_job_node_news(struct tm_launched_node *n, enum tm_node_change change, enum tm_level level,
                      const char *text);
/* With a text for the logs: */
void tm_job_node_news_requested(const struct tm_launched_node *n);
/* It waits in the queue, for the reason that Slurm gives. Call it also if the reason is not new. */
void tm_job_node_news_waits(struct tm_launched_node *n, const char *reason);
/* Nothing is left of it. */
void tm_job_node_news_over(const struct tm_launched_node *n);
/* Call it ten times a second: counts the nodes, and reports once if a node waits, or if its clock
 * is wrong. */
void tm_job_node_news_tick(struct tm_job *job);
void tm_job_node_news_sum(struct tm_job *job); /* view.sum, when the steps are over */

/* job_launching.c */
uint32_t tm_job_launching_next_id(struct tm_job *job);
/* Launches the node; the keeper of this machine must live. */
int tm_job_launching_begin(struct tm_launched_node *n, const struct tm_config *c,
                           const struct tm_launch_user *user, struct tm_err *err);

/* Call it ten times a second: has the keeper measure the processes of this machine for each running
 * step whose workers run on launched nodes. _lost: the keeper of this machine is lost. */
void tm_job_launching_measure(struct tm_job *job);
void tm_job_launching_lost(struct tm_job *job);

/* Has the keeper of this machine, which must live, adopt the command of a node. */
void tm_job_launching_adopt(struct tm_launched_node *n, const struct tm_launch_user *user);
/* Runs a command on this machine, whose keeper must live. */
uint32_t tm_job_launching_run(struct tm_job *job, const struct tm_launch *l,
                              const struct tm_launch_user *user);

/* job_node_record.c: record/node_record.h. Only the first fails; the others warn. */
int tm_job_node_record_begin(const struct tm_launched_node *n, const struct tm_config *c,
                             char *const *argv, struct tm_err *err);
void tm_job_node_record_started(const struct tm_launched_node *n,
                                const struct tm_node_report *report);
void tm_job_node_record_ended(const struct tm_launched_node *n);
/* Frees `changes`. */
void tm_job_node_record(struct tm_job *job, uint32_t id, struct tm_json *changes);

/* job_exclude.c */
/* The node is lost, or sick. True: its host is excluded now. Only for nodes of Slurm. */
bool tm_job_exclude_add(const struct tm_launched_node *n);
/* Whether a node of the group may be requested. Else Slurm is being asked, and
 * tm_job_launches_go() follows; call it also at each tick. */
bool tm_job_exclude_is_settled(struct tm_job *job, size_t group);
/* Slurm's controller did not answer; `line`: what srun printed. Requests wait until it answers. The
 * user hears that once. */
void tm_job_exclude_unanswered(struct tm_job *job, size_t group, const char *line);
void tm_job_exclude_lost(struct tm_job *job); /* the keeper of this machine is lost */
/* The job ends: ends the questions that run. Whether none runs any more. */
void tm_job_exclude_close(struct tm_job *job);
bool tm_job_exclude_is_done(const struct tm_job *job);

/* job_slurm.c. Those with a node do nothing if that is not a Slurm job. */
/* The command of the node, for tm_command_words_free(). Names its Slurm job. */
char **tm_job_slurm_command(struct tm_launched_node *n, const struct tm_config *c);
/* The node is late: whether it has waited for Slurm, so that it has its whole time once more.
 * The user is informed once. */
bool tm_job_slurm_has_waited(struct tm_launched_node *n);
/* The keeper of this machine has begun: if we die before the nodes of Slurm have ended, it cancels
 * them. */
void tm_job_slurm_guard(struct tm_job *job, struct tm_node *local);
/* job_slurm_cancel.c */
/* Its srun is over: its Slurm job is canceled unless it has ended, too. */
void tm_job_slurm_ended(struct tm_launched_node *n);
void tm_job_slurm_lost(struct tm_job *job);             /* the keeper of this machine is lost */
void tm_job_slurm_orphaned(struct tm_launched_node *n); /* its srun was killed */
/* Cancels the Slurm jobs that must end. Call it also at each tick. */
void tm_job_slurm_go(struct tm_job *job);
bool tm_job_slurm_is_done(const struct tm_job *job);
/* The job ends: cancels at once what was to be tried again later. */
void tm_job_slurm_close(struct tm_job *job);
/* The job ends: call it at each tick. When no node is left, cancels those whose end is not
 * certain. */
void tm_job_slurm_end(struct tm_job *job);
/* The job ends, and its keeper runs no scancel any more: does it here, for 5 s at most. */
void tm_job_slurm_finish(struct tm_job *job);
/* A Completed job is resumed, which runs nothing: the same for what it has left. */
void tm_job_slurm_cancel_left(struct tm_job *job);
void tm_job_slurm_release(struct tm_job_slurm *s);

/* job_slurm_queue.c. Call it at each tick while the job runs: asks about the nodes. */
void tm_job_slurm_queue_go(struct tm_job *job);
/* The node has started: asks how long it may run. It gets no work until that is settled. */
void tm_job_slurm_queue_started(struct tm_launched_node *n);
/* It is lost, or its command has ended; call it for both. True: Slurm is asked why, unless that is
 * settled; its command must not be ended before it is. */
bool tm_job_slurm_queue_ended(struct tm_launched_node *n);
/* Whether Slurm has forgotten its Slurm job, for which its srun waits: the controller was restarted
 * from an older state. */
bool tm_job_slurm_queue_has_forgotten(const struct tm_launched_node *n);
/* Whether no answer about it is awaited. */
bool tm_job_slurm_queue_is_settled(const struct tm_launched_node *n);
void tm_job_slurm_queue_lost(struct tm_job_slurm *s); /* no answer will come */
/* The job ends: ends the question that runs. Whether none runs any more. */
void tm_job_slurm_queue_close(struct tm_job *job);
bool tm_job_slurm_queue_is_done(const struct tm_job *job);

/* job_time_left.c. Drains the node if it lacks time for another mini-batch. Call it before
 * the node gets work, and at each tick. */
void tm_job_time_left_check(struct tm_launched_node *n);
/* Whether a node has ended because of its time limit. */
bool tm_job_time_left_was_short(const struct tm_launched_node *n);

/* kept.c */
void tm_kept_recheck(struct tm_job *job);                         /* if the user asks for it */
void tm_kept_refuse(struct tm_job *job, enum tm_verdict verdict); /* it is left as it was */
void tm_kept_end(struct tm_job *job);

/* job_cancel.c */
/* At each tick: cancels the job if another process has asked for it. */
void tm_job_hear_request(struct tm_job *job);

/* job_steps.c */
void tm_job_steps_init(struct tm_job *job);
/* Finds what is kept of each step, and reads the state of the others. Writes nothing. */
int tm_job_steps_open(struct tm_job *job, struct tm_err *err);
/* Begins a session of the steps that need not wait. Runs nothing yet. */
int tm_job_steps_begin(struct tm_job *job, struct tm_err *err);
/* Begins every step that can begin, and ends the job when all steps are over. */
void tm_job_steps_go(struct tm_job *job);
void tm_job_steps_tick(struct tm_job *job);
void tm_job_steps_cancel(struct tm_job *job, bool now);
void tm_job_steps_set_node(struct tm_job *job, struct tm_node *node);
/* In this order: supervisor.h. */
void tm_job_steps_silence_node(struct tm_job *job, uint32_t id);
void tm_job_steps_lose_node(struct tm_job *job, uint32_t id);
void tm_job_steps_fail(struct tm_job *job, const struct tm_err *err);
/* Whether a step that is not over runs. */
bool tm_job_steps_need_node(const struct tm_job *job);
void tm_job_steps_close(struct tm_job *job);
void tm_job_steps_release(struct tm_job *job);

/* job_sharing.c. The first three are for the options of a step. */
bool tm_job_sharing_may_start(void *data, const struct tm_supervisor *s);
void tm_job_sharing_fill(void *data);
/* Whether a node starts, or will be launched, that the step may use. */
bool tm_job_sharing_expects_node(void *data, const struct tm_supervisor *s);
/* Takes a worker from another step for a step that has none. */
void tm_job_sharing_give_first(struct tm_job *job);
/* A running step uses the node, if that serves it and it may have one more. */
void tm_job_sharing_give_node(struct tm_job *job, size_t step, struct tm_node *node);
void tm_job_sharing_give_nodes(struct tm_job *job, size_t step); /* all that there are */
/* Of a node that is to be given back: no step has work there; its workers end; none is left. */
bool tm_job_sharing_is_idle(const struct tm_job *job, uint32_t id);
void tm_job_sharing_drain(struct tm_job *job, uint32_t id);
bool tm_job_sharing_has_workers(const struct tm_job *job, uint32_t id);
/* The work that its loss has returned to the queues of all running steps. */
struct tm_lost_work tm_job_sharing_lost_work(const struct tm_job *job, uint32_t id);

/* reusing.c */
/* Finds which steps may be reused, as far as their definitions tell. Notes an error of the
 * database; the job then runs without it. */
void tm_reusing_open(struct tm_job *job);
/* Looks for a result on a thread: the step is then OVER, or WAITING again without may_reuse. False:
 * no thread can be started. */
bool tm_reusing_begin(struct tm_job *job, size_t i);
/* Keeps the result of a Completed step for other jobs. */
void tm_reusing_keep(struct tm_job *job, size_t i);
void tm_reusing_cancel(struct tm_job *job);
void tm_reusing_close(struct tm_job *job); /* all of its threads have ended */
void tm_reusing_release(struct tm_job *job);

/* job_beside.c */
/* Of a step whose state was read. TM_ECHANGED: it goes on, and reads something else than before. */
int tm_job_beside_check(struct tm_job *job, size_t i, struct tm_err *err);
/* Of a step that has begun, before its workers start. */
void tm_job_beside_record(struct tm_job *job, size_t i);

/* job_steps.c, for reusing.c: the step is over, with the result of an earlier job. */
void tm_job_steps_take(struct tm_job *job, size_t i, const struct tm_step_view *view);

#endif
