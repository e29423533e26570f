/* agent_own.h - what the files of the agent share; only they include it. */
#ifndef TM_AGENT_AGENT_OWN_H
#define TM_AGENT_AGENT_OWN_H

#include "agent/trial.h"
#include "node/worker_page.h"
#include "sys/messages/link.h"
#include "sys/self.h"

/* The mini-batch for which prefetch() was called early. */
struct tm_agent_ahead {
  uint64_t seq; /* 0: none */
  int code;     /* what the call has returned */
  struct tm_script_error error;
};

struct tm_agent {
  struct tm_trial trial; /* the script, and what its last mini-batch returned */
  struct tm_page *page;
  struct tm_link link;
  struct tm_buf payload, scratch;
  int64_t begin_ns;                     /* monotonic; start of the current mini-batch */
  int64_t written_ns;                   /* monotonic; the last write of the outbox */
  int64_t wall_offset_ns, wall_read_ns; /* wall clock - monotonic, measured at wall_read_ns */
  int64_t cpu_ns;                       /* of this process, at the last reading */
  struct tm_buf row; /* of a mini-batch's failed try: the isolated row, for the log; or empty */
  bool has_spill_dir;
  volatile uint64_t call; /* the current call, as on the page; 0: none. Read by a signal handler */
  bool is_armed, is_retired;   /* interruption.c */
  struct tm_agent_ahead ahead; /* prefetch.c */
  uint32_t unrecovered;        /* consecutive interruptions without a recover() */
  struct tm_self self;         /* distinguishes a process that the script forks */
};

/* failure.c. Sends the error of the trial to the supervisor and writes it to setup.error_file.
 * `in` is the mini-batch's frame, or a zeroed one. */
void tm_failure_send(struct tm_agent *a, enum tm_agent_msg type, const struct tm_msg *in,
                     const struct tm_result_head *head);
/* Only to the file; `what` failed. */
void tm_failure_log(struct tm_agent *a, const char *what);

/* interruption.c. Lets the keeper interrupt loading and init(), as far as an unarmed script can be.
 */
void tm_agent_listen(struct tm_agent *a);
/* Names the call that begins, for the alarm: a seq, TM_PAGE_PREFETCH() of one, or TM_PAGE_INIT. */
void tm_agent_begin_call(struct tm_agent *a, uint64_t call);
void tm_agent_end_init(struct tm_agent *a);
/* From here on, calls can be interrupted. */
void tm_agent_arm(struct tm_agent *a);
/* Call it after a run(); `code` is what the trial returned. If it was interrupted and has been
 * answered, this calls recover(). */
void tm_agent_settle_call(struct tm_agent *a, const struct tm_msg *in, uint64_t seq, int code);

/* prefetch.c. Calls prefetch() for the mini-batch that has begun, unless that was done early.
 * Negative: its try fails, with an error of the trial. */
int tm_agent_prefetch(struct tm_agent *a, const struct tm_msg *in, struct tm_run_call *call);
/* Calls it early, for `next`, before the run() of the mini-batch that has begun: if it may be. */
void tm_agent_prefetch_next(struct tm_agent *a, const struct tm_msg *in,
                            const struct tm_run_call *call, const struct tm_msg *next);
/* Mini-batch `seq` has ended, or will not run: drops what was started for it. */
void tm_agent_drop_prefetched(struct tm_agent *a, uint64_t seq);
/* Drops what was started early, whatever it is for. */
void tm_agent_drop_ahead(struct tm_agent *a);

/* agent.c. False: the message cannot be read. The call's bytes are those of the message. */
bool tm_agent_read_call(const struct tm_agent *a, const struct tm_msg *in, struct tm_run_call *out);
int tm_agent_flush(struct tm_agent *a, int64_t now_ns, struct tm_err *err);
void tm_agent_end_forked(const struct tm_agent *a); /* call it after each hook */

/* extras.c. Ensures that the files of assignment `seq` exist and are on the disk; negative with
 * an error of the trial. */
int tm_extras_settle(struct tm_agent *a, uint64_t seq);
/* Removes them. */
void tm_extras_drop_files(struct tm_agent *a, uint64_t seq);

/* spill.c. Writes the rows to a file, and appends its name to a->payload. Negative with an error of
 * the trial. */
int tm_spill_write(struct tm_agent *a, uint64_t seq);

#endif
