/* announced.h - results with files that workers of other nodes have announced: large results, whose
 * rows are in files, and those of context:output_file(). A file system that machines share may show
 * a file late. So the files of each are looked at first, aside
 * (spill_look.h), as often and as long as looks.h says. Then it is handled like any other result,
 * by its message, which is kept; nothing of it has taken effect before.
 *
 *  (1) A look holds up nothing else: the worker goes on, and may end. What it announced needs it no
 *      more (sched/sched.h).
 *  (2) If the file is not seen in time, the mini-batch runs again, uncounted. The third time, the
 *      try has failed.
 *  (3) If the node is lost, its announced results are dropped, whatever the files hold, and their
 *      mini-batches go back, uncounted. So are all results when a step kills its workers.
 *  (4) What is not committed is removed. A step does not end while it waits for a look.
 *
 * The results of workers of this machine are handled at once: what they wrote can be read.
 */
#ifndef TM_STEP_ANNOUNCED_H
#define TM_STEP_ANNOUNCED_H

#include "agent/agent_msg.h"
#include "step/supervisor_own.h"

/* A file with rows, as a message announces it. */
struct tm_spilled {
  char *path; /* to free */
  uint64_t length, hash;
};
/* False: it cannot be read. */
bool tm_spilled_read(struct tm_spilled *out, const char *spill_dir, struct tm_reader *r);

struct tm_announced {
  struct tm_worker *w; /* it may have ended */
  struct tm_in_flight held;
  struct tm_assignment what; /* which the scheduler keeps no more */
  struct tm_msg f;           /* which announced it; its payload: */
  struct tm_buf payload;
  struct tm_result_head head;
  struct tm_spilled file;        /* path NULL: the rows are in the message, or nobody needs them */
  struct TM_ARRAY(char *) files; /* paths of output files */
  struct tm_look look;
  struct tm_spill_look *under_way; /* or NULL */
  struct tm_look_finding found;    /* by the last look */
  bool is_seen;
  bool is_handled; /* it is being handled, or its rows are being copied */
  struct tm_list_item item, decided;
};

/* True: `w` is a worker of another node, and the result has files. The worker holds it no more.
 * `r`: the rows in the message `f`; `files`: the names of its output files, as in struct
 * tm_said. */
bool tm_announced_begin(struct tm_worker *w, const struct tm_msg *f, struct tm_in_flight *held,
                        const struct tm_result_head *head, struct tm_reader r,
                        struct tm_reader files);
/* The announced result of which this is the assignment; NULL: a worker holds it. */
struct tm_announced *tm_announced_of(struct tm_in_flight *held);
/* Its rows have been copied: handles the result again. */
void tm_announced_handle(struct tm_announced *x);

#endif
