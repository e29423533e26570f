/* launched_node.h - a node that a command starts, and the text that describes its end. Pure. */
#ifndef TM_JOB_LAUNCHED_NODE_H
#define TM_JOB_LAUNCHED_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slurm/slurm_question.h"
#include "slurm/slurm_text.h"
#include "fleet/time_left.h"
#include "node/node_msg.h"

struct tm_buf;
struct tm_job;
struct tm_job_probe;
struct tm_job_source;

struct tm_launched_node {
  struct tm_job *job;
  uint32_t id, launch; /* its number on the node of this machine */
  size_t group;
  const char *host;             /* from node_hosts, or of the allocation; or NULL */
  size_t host_at;               /* its index in the group */
  bool holds_host;              /* launch_plan.h: while its command is not over */
  char *reported_host;          /* NULL: it has not reported yet */
  char *slurm_name;             /* of its Slurm job, or of its step; NULL: it has none */
  bool is_step;                 /* it is a step of the Slurm job in which we run */
  struct tm_job_probe *probe;   /* from its report until it is ready or ends; else NULL */
  struct tm_job_source *source; /* from its answer until it is ready or ends; else NULL */
  bool has_stream;              /* in the fleet */
  bool is_over;                 /* nothing of its command is left */
  bool was_ready, is_held;    /* is_held: it gets no work yet, because its time left is not known */
  int64_t ready_ns, lived_ns; /* when; from then until its loss */
  int64_t went_back, may_have_run; /* by its loss: supervisor.h, struct tm_lost_work */
  bool is_excluded;                /* its host gets no node for a while */
  char *printed; /* on its stdout, in one line, if it never became a node; NULL: nothing */
  char *why;     /* it is being ended, or is lost; NULL: it is not */
  bool is_late, is_refused, has_ended, is_ended_by_us;
  bool is_other_build;                 /* so it is refused */
  bool is_leaving;                     /* it is given back, or drains */
  bool drains;                         /* it was asked to end */
  bool is_sick;                        /* sched/node_health.h: it drains, too */
  int64_t closed_ns;                   /* when its stream was closed then; 0: it was not */
  enum tm_slurm_end slurm_end;         /* why its Slurm job has ended, if that is known */
  char slurm_state[TM_SLURM_TEXT_MAX]; /* Slurm's word for it, if slurm_end is known */
  struct tm_slurm_question question;
  struct tm_time_left time_left;
  bool is_out_of_time; /* it drains, because too little time is left for another mini-batch */
  bool is_queued;      /* as Slurm said last */
  bool is_concluded;   /* its end was reported, and its place is free */
  bool is_orphan;      /* its command has ended with the keeper of this machine */
  bool awaits_keeper;  /* its keeper is lost, and no other one has adopted its command yet */
  struct tm_launched_process process;
  /* What is known of its Slurm job: squeue has said that it waits, or the user was informed of it;
   * and it runs, as the last tm_launched_node_has_waited() has found. */
  bool is_known_to_wait, is_known_to_run;
  bool is_asked_about; /* by the squeue that runs */
  int unlisted;        /* answers of squeue in a row without it, while it is known to wait */
  char waits_for[TM_SLURM_TEXT_MAX]; /* is_queued: the reason that Slurm gave last; or "" */
  bool is_wait_told, is_clock_told, is_over_told; /* to listeners */
  struct tm_launch_ended ended;
};

/* Its node_start_timeout is over: whether it begins again, because the node has waited. That is so
 * as long as Slurm says that it waits, and once more when Slurm does not say so any more: when the
 * node has begun to run is not known, and may be a moment ago. `said`: QUEUED, GRANTED or OTHER,
 * whichever srun has said last; OTHER if it did not have to wait. srun also says GRANTED of a
 * machine that still boots, so what squeue has said counts as well, until the node reports. */
bool tm_launched_node_has_waited(struct tm_launched_node *n, enum tm_slurm_line said);
/* "node 1 (cn01)"; a name from node_hosts comes before the reported one. */
void tm_launched_node_name(struct tm_buf *out, const struct tm_launched_node *n);
/* Why it could not be started, or is lost, in one line: "lost node 1 (cn01) after 00:12:40: ...; 24
 * mini-batches go back to the queue, ...; see 'nodes/1.txt'". */
void tm_launched_node_describe(struct tm_buf *out, const struct tm_launched_node *n);
/* The end of a node that drained: "node 1 (cn01) has ended: all of its work is over". */
void tm_launched_node_describe_drained(struct tm_buf *out, const struct tm_launched_node *n);
/* "node 1 (cn01) is requested", "node 1 waits in the queue of Slurm: Resources", "node 1 (cn01) has
 * ended: it was ready for 12 min 40 s". */
void tm_launched_node_add_requested(struct tm_buf *out, const struct tm_launched_node *n);
void tm_launched_node_add_waits(struct tm_buf *out, const struct tm_launched_node *n);
void tm_launched_node_add_ended(struct tm_buf *out, const struct tm_launched_node *n, int64_t ns);
/* "the clock of node 1 (cn01) is 2.5 s ahead of that of this machine: ..."; `offset_ns`: its time
 * minus ours. */
void tm_launched_node_add_clock(struct tm_buf *out, const struct tm_launched_node *n,
                                int64_t offset_ns);
/* Why the node is refused: the problem, and what to do. `uid`: of the node, `ours`: of this
 * process. */
void tm_launched_node_refusal(struct tm_buf *out, const char *problem, const char *job_dir,
                              uint32_t uid, uint32_t ours);

#endif
