/* worker_page.h - what a worker shares with its keeper: which of its mini-batches have begun, and
 * what it has been doing since when.
 *
 * The supervisor numbers the mini-batches that it sends to a worker: seq 1, 2, 3, ... The word of
 * seq s is words[s % TM_PAGE_WORDS] and holds (s << 2 | state). If a word holds an earlier seq, s
 * is queued (in the socket or in the worker).
 *
 *   worker:  queued -> begun -> done            by compare-and-swap
 *   keeper:  queued -> taken back               by compare-and-swap; nobody else writes
 *
 * So after any death it is certain what had begun, and a mini-batch that was taken back will not be
 * run. seq starts at 1, so that a zeroed page says "all queued". The supervisor never has more than
 * TM_PAGE_WORDS assignments of a worker open.
 *
 * `doing` is a word (count << 4 | phase). The rest is in records[count & 1]: the worker fills the
 * other record, then publishes it with the next `doing`. A reader reads `doing`, the record, and
 * `doing` again, until both are the same. So a worker that dies at any point leaves a complete
 * record.
 *
 * Interruption: the worker sets `can_interrupt` when it handles the keeper's alarm, and
 * `has_stoppable` once its current call has made a call in C that can be stopped. In either case
 * the keeper names the call to interrupt in `interrupt`, then sends the alarm. If the alarm arrives
 * after that call has ended and another one has begun, it has no effect.
 */
#ifndef TM_NODE_WORKER_PAGE_H
#define TM_NODE_WORKER_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TM_PAGE_WORDS 512

/* Variables in a worker's environment. */
#define TM_ENV_WORKER "TIDEMILL_WORKER" /* its marker (worker_mark.h) */
#define TM_ENV_KEEPER "TIDEMILL_KEEPER" /* the keeper's pid */
#define TM_ENV_GPU    "TIDEMILL_GPU"    /* the GPU that the keeper gave it; not set: none */

enum tm_phase {
  TM_PHASE_START,
  TM_PHASE_INIT,
  TM_PHASE_IDLE,
  TM_PHASE_LOAD,
  TM_PHASE_RUN,
  TM_PHASE_RETURN,
  TM_PHASE_SHUTDOWN,
  TM_PHASE_RECOVER, /* after an interruption */
  TM_PHASE_PREFETCH /* before run(): prefetch() of this assignment, or of the next one */
};
#define TM_PHASE_LAST TM_PHASE_PREFETCH
enum tm_assignment_state {
  TM_ASSIGNMENT_QUEUED,
  TM_ASSIGNMENT_BEGUN,
  TM_ASSIGNMENT_DONE,
  TM_ASSIGNMENT_TAKEN
};

struct tm_page_record {
  _Atomic int64_t since_ns; /* monotonic; when this phase began */
  /* wall clock, as the worker's log lines; when the worker began this assignment */
  _Atomic int64_t begun_wall_ns;
  _Atomic uint64_t seq;   /* the assignment of LOAD, PREFETCH, RUN and RETURN */
  _Atomic uint64_t index; /* its mini-batch */
  _Atomic uint32_t try;
  _Atomic uint32_t item; /* from 1; 0: unknown */
  _Atomic uint32_t rows; /* of the mini-batch of a table; 0: not counted yet */
};

struct tm_page {
  _Atomic uint64_t doing;
  struct tm_page_record records[2];
  _Atomic uint64_t words[TM_PAGE_WORDS];
  _Atomic uint64_t can_interrupt; /* set to 1 by the worker */
  _Atomic uint64_t has_stoppable; /* likewise */
  _Atomic uint64_t waits;         /* 1: its call waits for another worker; by the worker */
  /* set by the keeper: the seq of an assignment, TM_PAGE_PREFETCH(seq), or TM_PAGE_INIT */
  _Atomic uint64_t interrupt;
  _Atomic int64_t begun_wall_ns; /* of the current assignment; only the worker reads it here */
};
#define TM_PAGE_INIT UINT64_MAX /* instead of a seq: init() */
#define TM_PAGE_PREFETCH(seq)                                                                      \
  ((seq) | UINT64_C(1) << 63) /* likewise: prefetch() before its run() */

struct tm_page_view { /* one consistent reading */
  enum tm_phase phase;
  int64_t since_ns;
  int64_t begun_wall_ns; /* of LOAD, PREFETCH, RUN and RETURN; 0: not known */
  uint64_t seq, index;
  uint32_t try, item, rows;
};

const char *tm_phase_name(enum tm_phase phase); /* "init", "run", ... */
/* The worker's side. The keeper sets START before the worker exists. */
bool tm_page_begin(struct tm_page *p, uint64_t seq); /* queued -> begun; false: it was taken back */
void tm_page_done(struct tm_page *p, uint64_t seq);  /* begun -> done */
void tm_page_set(struct tm_page *p, enum tm_phase phase, int64_t now_ns, uint64_t seq,
                 uint64_t index, uint32_t try);
/* The worker begins an assignment at this moment: the next tm_page_set() publishes it. */
void tm_page_set_begun(struct tm_page *p, int64_t wall_ns);
/* The worker has counted the rows of its current assignment. The count stays on the page until its
 * next assignment. */
void tm_page_set_rows(struct tm_page *p, uint32_t rows);
/* The keeper's side. */
bool tm_page_take_back(struct tm_page *p, uint64_t seq); /* queued -> taken; false: it had begun */
void tm_page_read(const struct tm_page *p, struct tm_page_view *out);
enum tm_assignment_state tm_page_state(const struct tm_page *p, uint64_t seq);

/* The states of a page, packed for an ENDED message: two bits for each word. */
struct tm_page_states {
  uint64_t last;                         /* the highest seq of a word; 0: none has changed */
  unsigned char bits[TM_PAGE_WORDS / 4]; /* of the TM_PAGE_WORDS seqs up to `last` */
  bool has_begun;                        /* the worker has begun any assignment, ever */
};
void tm_page_states_read(struct tm_page_states *out, const struct tm_page *p);
/* Like tm_page_state(). */
enum tm_assignment_state tm_page_states_of(const struct tm_page_states *s, uint64_t seq);

#endif
