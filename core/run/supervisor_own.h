/* supervisor_own.h - the inside of a supervisor, shared by its four files and nobody else:
 *
 *   supervisor.c  the step: opening, progress of the lister, verdict, flush and sync, the end
 *   crew.c        its workers: starting, hearing of their ends, taking back what waits behind a long one
 *   answer.c      what workers say: results and failures, and what becomes of them
 *   isolate.c     mini-batches that have used up their tries and are run in parts, until their bad items stand alone
 */
#ifndef TM_RUN_SUPERVISOR_OWN_H
#define TM_RUN_SUPERVISOR_OWN_H

#include "run/columns.h"
#include "run/hand.h"
#include "run/lister.h"
#include "run/patience.h"
#include "run/pool.h"
#include "run/supervisor.h"
#include "run/syncer.h"
#include "run/tally.h"

struct tm_worker {
  struct tm_supervisor *s;
  uint32_t id;    /* on the node */
  int64_t number; /* of its name */
  char name[24];  /* process000 */
  int64_t pid;
  enum tm_worker_state state;
  struct tm_channel channel;
  struct tm_hand hand;
  bool is_asked;   /* a TAKE_BACK is under way */
  bool is_deaf;    /* it has ended, or sent rubbish: nothing more is said to it */
  bool is_rubbish; /* it sent what cannot be read, or closed its socket: nothing more is believed */
  int64_t mute_ns; /* monotonic; when its socket ended; 0: it has not */
  bool has_failed_init; /* it has said why */
};

struct tm_supervisor {
  struct tm_supervisor_options o;
  struct tm_step_view view;
  char *dir, *logs_dir, *output_dir, *output_file, *state_dir, *spill_dir, *staging_dir;
  char host[256]; /* this machine's name: the address of its node */
  struct tm_commit *commit;
  struct tm_commit_found found;
  struct tm_manifest *manifest; /* the commit's */
  struct tm_columns columns;    /* of the output, where run() returns data frames */
  struct tm_lister *lister;     /* NULL: the list is complete */
  struct tm_syncer syncer;
  struct tm_sync sync;
  struct tm_queue queue;
  struct tm_tally tally;
  struct tm_pool pool;
  struct tm_patience patience;
  struct TM_ARRAY(struct tm_isolate *) isolates; /* isolate.h */
  struct tm_node *node;                          /* NULL: being replaced */
  uint32_t node_step;
  struct TM_ARRAY(struct tm_worker *) workers; /* all but GONE */
  int64_t next_number;
  struct tm_turn turn;
  struct tm_timer flush_timer, sync_timer, steal_timer;
  int64_t flushed_ns; /* monotonic */
  int open;           /* handles and workers that are not closed yet */
  bool is_ending, is_ended, is_steal_armed, is_closing;
  bool has_surplus_warning;
  int64_t running; /* mini-batches in hands */
  int lost_nodes;  /* in a row, without a result between */
  int code;
  struct tm_err cause; /* why it is Failed */
  struct tm_buf scratch;
};

/* supervisor.c */
void tm_supervisor_judge(struct tm_supervisor *s);
/* The verdict is known (or fixed by `verdict`): nothing more is handed out. `kill`: what runs is killed. */
void tm_supervisor_end(struct tm_supervisor *s, enum tm_verdict verdict, bool kill);
void tm_supervisor_check_end(
    struct tm_supervisor *s); /* nobody lives any more: the end is carried out */
void tm_supervisor_say(struct tm_supervisor *s, enum tm_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void tm_supervisor_emit(struct tm_supervisor *s, struct tm_event *e, const struct tm_worker *w);
void tm_supervisor_closed_one(struct tm_supervisor *s);

/* crew.c */
void tm_crew_fill(
    struct tm_supervisor *s); /* starts workers that are wanted, hands out what waits */
void tm_crew_hand_out(struct tm_supervisor *s, struct tm_worker *w);
void tm_crew_stop_all(struct tm_supervisor *s, bool kill);
void tm_crew_stop_worker(struct tm_worker *w); /* STOP: shutdown(), then it exits */
void tm_crew_kill_worker(struct tm_worker *w);
void tm_crew_lose_all(struct tm_supervisor *s);
void tm_crew_drop_all(struct tm_supervisor *s); /* they are gone, and nobody is told */
void tm_crew_add_node(struct tm_supervisor *s, struct tm_node *node);
void tm_crew_tick(struct tm_supervisor *s);
void tm_crew_on_steal(struct tm_timer *t);
void tm_crew_event(struct tm_worker *w, enum tm_worker_event event);

/* answer.c */
void tm_answer_on_frame(struct tm_channel *c, const struct tm_frame *f);
/* It cannot be talked to: it is killed. */
void tm_answer_on_rubbish(struct tm_worker *w);
/* A try that ended without an answer: its worker died or was killed. Counts it. */
void tm_answer_lost_try(struct tm_worker *w, struct tm_held *held, enum tm_status status,
                        const char *words, int64_t ns);

#endif
