/* supervisor.h - one step of a job: its mini-batches, its workers, its commit.
 *
 * Caller, on the loop's thread: open, which reads what an earlier session left, reports it or
 * refuses it, and writes nothing; begin, which puts it on the disk; start; cancel at any time;
 * on_ended comes once, when nothing of the step runs; close, also instead of begin.
 */
#ifndef TM_STEP_SUPERVISOR_H
#define TM_STEP_SUPERVISOR_H

#include "commit/commit.h"
#include "fleet/node.h"
#include "fleet/time_left.h"
#include "plan/pipeline.h"
#include "record/events.h"
#include "record/temp_dirs.h"
#include "sched/share.h"
#include "snapshot/snapshot.h"

struct tm_supervisor;

struct tm_supervisor_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const struct tm_events *events;
  const struct tm_job_view *job;
  const struct tm_step *step; /* must live until close */
  uint32_t number;            /* of the step, from 0 */
  const char *program;        /* runs workers as `program worker` */
  const char *owner_file;
  uint64_t epoch;
  bool keep_failed, verify_input, is_resumed;
  /* with is_resumed: a file that has changed since it was listed is handed out as it is now */
  bool accept_changes;
  bool records_inputs; /* writes <step>/state/inputs: input_record.h */
  void (*on_ended)(void *data, struct tm_supervisor *s);
  /* The steps of a job share its workers. may_start: whether this step may start another one; NULL:
   * it may. on_freed: one of its workers has ended. */
  bool (*may_start)(void *data, const struct tm_supervisor *s);
  void (*on_freed)(void *data);
  /* Mini-batches were listed, or all of them are; NULL: not called. */
  void (*on_listed)(void *data);
  /* Whether the step may get another node soon; NULL: no. */
  bool (*expects_node)(void *data, const struct tm_supervisor *s);
  /* A good result from a worker on the node was added to the commit; NULL: not called. */
  void (*on_committed)(void *data, const struct tm_supervisor *s, uint32_t node);
  /* The node is sick (sched/node_health.h), with the figures: drain it; NULL: not called. */
  void (*on_sick)(void *data, uint32_t node, const char *figures);
  void *data;
};

int tm_supervisor_open(struct tm_supervisor **out, const struct tm_supervisor_options *o,
                       struct tm_err *err);
/* `copy`: of the entry script and its folder: dir, script, and, if the step ships its source, the
 * hash. It must live until close. After an error only close may be called. */
int tm_supervisor_begin(struct tm_supervisor *s, const struct tm_snapshot *copy,
                        struct tm_err *err);
const struct tm_commit_found *tm_supervisor_found(const struct tm_supervisor *s);
const struct tm_step_view *tm_supervisor_view(const struct tm_supervisor *s);
/* Why the step is Failed if there is a reason besides failed items: TM_EUSAGE (the script has no
 * run()), or a system error; else 0. */
int tm_supervisor_code(const struct tm_supervisor *s);
/* True if everything had been committed before: no worker is needed. */
bool tm_supervisor_is_over(const struct tm_supervisor *s);
/* Workers start after tm_supervisor_set_node(). on_ended may come during this call: if everything
 * had been committed, or if nothing can start. */
void tm_supervisor_start(struct tm_supervisor *s);
/* The node is lost: nothing can be sent to its keeper or its workers, whose answers may still come.
 */
void tm_supervisor_silence_node(struct tm_supervisor *s, uint32_t id);
/* After that: its workers are gone. The messages that they had sent are read, and their other
 * mini-batches go back; _set_node() sets the next node of that id. */
void tm_supervisor_lose_node(struct tm_supervisor *s, uint32_t id);
/* `temp`: the temporary folders of the node's keeper; copied. */
void tm_supervisor_set_node(struct tm_supervisor *s, struct tm_node *node,
                            const struct tm_temp_dirs *temp);
/* No new mini-batches start, the running ones may end; `now`: they are killed. */
void tm_supervisor_cancel(struct tm_supervisor *s, bool now);
/* The job cannot continue: everything is killed, and the step is Failed for this reason. */
void tm_supervisor_fail(struct tm_supervisor *s, const struct tm_err *err);
/* Other steps have fewer workers now, so this one may start more. */
void tm_supervisor_fill(struct tm_supervisor *s);
/* Ends one of its workers, once that has finished what it holds. */
void tm_supervisor_give_back(struct tm_supervisor *s);
void tm_supervisor_share(const struct tm_supervisor *s, struct tm_share *out);
/* What it still has to do. */
struct tm_step_work {
  int64_t open;  /* mini-batches, or parts of them, that exist and are not over */
  bool is_final; /* all are listed, and a worker has each of those */
};
void tm_supervisor_work(const struct tm_supervisor *s, struct tm_step_work *out);
/* The nodes that it uses: those that were set, and are not silent. */
size_t tm_supervisor_nodes(const struct tm_supervisor *s);
bool tm_supervisor_has_node(const struct tm_supervisor *s, uint32_t id);
/* Whether no worker there holds anything, and no result from there is awaited. */
bool tm_supervisor_is_idle(const struct tm_supervisor *s, uint32_t id);
/* The node gets nothing more; its workers end when they have finished what they began. */
void tm_supervisor_drain_node(struct tm_supervisor *s, uint32_t id);
bool tm_supervisor_has_workers(const struct tm_supervisor *s, uint32_t id);
/* How long its calls of run() take, for nodes with a time limit. */
void tm_supervisor_run_times(const struct tm_supervisor *s, struct tm_run_times *out);
/* The work that the loss of a node has returned to the queue. */
struct tm_lost_work {
  int64_t went_back;    /* mini-batches, or parts of them */
  int64_t may_have_run; /* of these: one for each worker that had some */
};
void tm_supervisor_add_lost_work(const struct tm_supervisor *s, uint32_t id,
                                 struct tm_lost_work *sum);
/* Adds the time in run() and the lifetimes of ended workers on nodes that commands start. */
void tm_supervisor_add_use(const struct tm_supervisor *s, int64_t *run_ns, int64_t *worker_ns);
/* Call it about ten times a second. Updates the numbers in the view, as every event does. */
void tm_supervisor_tick(struct tm_supervisor *s);
/* May be called before the step has ended; its node must be closed by then. What was committed so
 * far is written, and does not run again when the job is resumed. NULL is a no-op; the memory is
 * freed when the loop has closed its timers. */
void tm_supervisor_close(struct tm_supervisor *s);

#endif
