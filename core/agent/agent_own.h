/* agent_own.h - what the files of the agent share; nobody else includes it. */
#ifndef TM_AGENT_AGENT_OWN_H
#define TM_AGENT_AGENT_OWN_H

#include "agent/script.h"
#include "data/entry_load.h"
#include "data/table_load.h"
#include "node/page.h"
#include "sys/self.h"

struct tm_agent {
  const struct tm_script *script;
  struct tm_page *page;
  struct tm_link link;
  struct tm_setup setup;
  struct tm_script_error error;
  struct tm_buf rows, payload, scratch;
  struct tm_extras extras;
  struct tm_table_loader *tables;       /* NULL until the first mini-batch of a table */
  struct tm_entry_loader *entries;      /* NULL until the first mini-batch of an archive */
  struct tm_data_frame frame;           /* the rows of the mini-batch in work */
  struct tm_item range;                 /* where they are */
  int64_t begin_ns;                     /* monotonic; of the mini-batch in work */
  int64_t written_ns;                   /* monotonic; the last write of the outbox */
  int64_t wall_offset_ns, wall_read_ns; /* wall clock - monotonic, measured at wall_read_ns */
  int64_t cpu_ns;                       /* of this process, at the last reading */
  bool has_spill_dir;
  volatile uint64_t
      call; /* that is being made, as on the page; 0: none. Read by a signal handler */
  bool is_armed, is_retired; /* interrupt.c */
  uint32_t unrecovered;      /* interruptions in a row without a recover() */
  struct tm_self self;       /* a process that the script forks has all the rest too */
};

void tm_agent_release_buffers(struct tm_agent *a);

/* failure.c. What a->error says goes to the supervisor and into setup.error_file. `in` is the mini-batch's frame, or a
 * zeroed one. */
void tm_script_error_clear(struct tm_script_error *e);
void tm_failure_send(struct tm_agent *a, enum tm_agent_frame type, const struct tm_frame *in,
                     const struct tm_result_head *head);
/* Only into the file; `what` failed. */
void tm_failure_log(struct tm_agent *a, const char *what);

/* interrupt.c. Loading and init() can be, as far as the script can without being armed. */
void tm_agent_listen(struct tm_agent *a);
void tm_agent_end_init(struct tm_agent *a);
/* Calls can be interrupted from here on. */
void tm_agent_arm(struct tm_agent *a);
/* A run() has ended, with a->error when it is negative. Where it was interrupted, and has been answered: recover(). */
void tm_agent_settle_call(struct tm_agent *a, const struct tm_frame *in, uint64_t seq, int code);

/* agent.c */
int tm_agent_flush(struct tm_agent *a, int64_t now_ns, struct tm_err *err);
void tm_agent_end_forked(const struct tm_agent *a); /* behind each hook */

/* extras.c. The files of entry `seq` are there, and on the disk; negative with a->error. */
int tm_extras_settle(struct tm_agent *a, uint64_t seq);
/* They are not wanted. */
void tm_extras_drop_files(struct tm_agent *a, uint64_t seq);

/* spill.c. Writes a->rows to a file of their own, and what names it behind a->payload. Negative with a->error. */
int tm_spill_write(struct tm_agent *a, uint64_t seq);

#endif
