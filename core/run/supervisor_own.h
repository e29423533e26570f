/* supervisor_own.h - the inside of a supervisor, shared by its files and nobody else:
 *
 *   supervisor.c  the step: opening, progress of the lister, verdict, flush and sync, the end
 *   crew.c        its workers: starting, hearing of their ends, taking back what waits behind a long one
 *   sharing.c     how many of the job's workers it has
 *   ending.c      from the end of the last worker to the end of the step
 *   interrupt.c   which workers can be interrupted, and those that retire
 *   answer.c      what workers say: results and failures, and what becomes of them
 *   steal.c       what waits in one hand is taken back for another that is empty
 *   vigil.c       what time brings: no progress, workers that do not get through init(), tries that wait for their time
 *   doing.c       what the workers are at, for those who watch a step that is slow
 *   isolate.c     mini-batches that have used up their tries and are run in parts, until their bad items stand alone
 */
#ifndef TM_RUN_SUPERVISOR_OWN_H
#define TM_RUN_SUPERVISOR_OWN_H

#include "plan/bound.h"
#include "run/activity.h"
#include "run/columns.h"
#include "run/hand.h"
#include "run/init_rules.h"
#include "run/intake.h"
#include "run/lister.h"
#include "run/patience.h"
#include "run/place.h"
#include "run/pool.h"
#include "run/slots.h"
#include "run/supervisor.h"
#include "run/syncer.h"
#include "run/tally.h"

struct tm_worker {
  struct tm_supervisor *s;
  uint32_t id;        /* on the node */
  int64_t number;     /* of its name */
  int64_t slot;       /* its place (slots.h) */
  int64_t started_ns; /* awake (awake.h); when it was asked for */
  char name[24];      /* process000 */
  int64_t pid;
  enum tm_worker_state state;
  struct tm_channel channel;
  struct tm_hand hand;
  /* it gets nothing more, and ends when it has nothing in hand: another step needs its place */
  bool is_leaving;
  bool is_asked;   /* a TAKE_BACK is under way */
  bool is_deaf;    /* it has ended, or sent rubbish: nothing more is said to it */
  bool is_rubbish; /* it sent what cannot be read, or closed its socket: nothing more is believed */
  int64_t mute_ns; /* monotonic; when its socket ended; 0: it has not */
  bool has_failed_init; /* it has said why */
  bool has_worked;      /* it has answered for a mini-batch */
  struct {
    enum tm_phase call; /* what it is at, as far as is seen from here; RUN: a mini-batch */
    uint64_t seq;       /* the first in its hand, or 0 */
    int64_t since_ns;   /* awake */
    enum tm_phase told; /* by the keeper, of this seq; IDLE: nothing yet */
    bool is_stopped;    /* likewise */
  } doing;              /* doing.c */
};

struct tm_supervisor {
  struct tm_supervisor_options o;
  struct tm_step_view view;
  struct tm_bound bound;
  char *dir, *logs_dir, *output_dir, *output_file, *state_dir, *spill_dir, *staging_dir;
  char *inputs_file;             /* input_record.h */
  char *schema_file, *index_dir; /* of tables */
  struct tm_place_held held;     /* destinations */
  char host[256];                /* this machine's name: the address of its node */
  struct tm_commit *commit;
  struct tm_commit_found found;
  struct tm_manifest *manifest; /* the commit's */
  struct tm_columns columns;    /* of the output, where run() returns data frames */
  struct tm_lister *lister;     /* NULL: the list is complete */
  struct tm_syncer syncer;
  struct tm_sync sync;
  struct tm_intake
      *intake;           /* while inputs get to their places; nothing is listed and nobody works */
  struct tm_node *later; /* the node that is begun with then, or NULL */
  struct tm_upload *upload; /* while outputs are put to their destinations */
  struct tm_queue queue;
  struct tm_tally tally;
  struct tm_pool pool;
  struct tm_slots slots;
  struct tm_init_rules init_rules;
  struct tm_patience patience;                   /* and its clock of time awake */
  struct TM_ARRAY(struct tm_isolate *) isolates; /* isolate.h */
  struct tm_node *node;                          /* NULL: being replaced */
  uint32_t node_step;
  struct TM_ARRAY(struct tm_worker *) workers; /* all but GONE */
  int64_t next_number;
  struct tm_turn turn;
  struct tm_timer flush_timer, sync_timer, steal_timer, due_timer;
  int64_t flushed_ns; /* monotonic */
  int open;           /* handles and workers that are not closed yet */
  bool is_ending, is_finished, is_ended, is_steal_armed, is_closing;
  bool has_surplus_warning, has_short_warning, has_count_warning;
  uint32_t said_faults; /* bits of kinds (data/fault_list.h) that were warned of */
  bool arms_workers;    /* their calls can be interrupted from here on */
  int64_t running;      /* mini-batches in hands */
  int lost_nodes;       /* in a row, without a result between */
  int code;
  struct tm_err cause; /* why it is Failed */
  struct {            /* workers that do not get through init() are asked where they are: vigil.c */
    int64_t since_ns; /* monotonic; 0: they are not */
    struct tm_err why;
    struct tm_buf places; /* what they answered */
    int answers;
  } stuck;
  struct tm_activities activities; /* as of the last tick; view.activities points to it */
  int64_t asked_doing_ns;          /* awake; when the keeper was asked last; 0: never */
  struct tm_buf scratch;
};

/* supervisor.c */
void tm_supervisor_judge(struct tm_supervisor *s);
/* The verdict is known (or fixed by `verdict`): nothing more is handed out. `kill`: what runs is
 * killed. */
void tm_supervisor_end(struct tm_supervisor *s, enum tm_verdict verdict, bool kill);
/* Why it cannot go on: `err`, or what was removed while the job ran. */
void tm_supervisor_take_cause(struct tm_supervisor *s, const struct tm_err *err);
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
bool tm_crew_wants_worker(const struct tm_supervisor *s); /* and may have it: share.h */
int64_t tm_crew_open(const struct tm_supervisor *s); /* mini-batches, and parts, that wait or run */
void tm_crew_stop_all(struct tm_supervisor *s, bool kill);
void tm_crew_stop_worker(struct tm_worker *w); /* STOP: shutdown(), then it exits */
void tm_crew_kill_worker(struct tm_worker *w);
/* Its init() has failed; `a`: status, times and words. One that timed out arms the workers, as a
 * run() does. A script that is refused for having no run() is none that was tried. */
void tm_crew_emit_init_failure(struct tm_worker *w, struct tm_attempt *a, bool is_refused);
/* A run() has timed out: with "auto" workers can be interrupted from here on, those that live and
 * those to come. */
void tm_crew_arm_workers(struct tm_supervisor *s);
void tm_crew_lose_all(struct tm_supervisor *s);
void tm_crew_drop_all(struct tm_supervisor *s); /* they are gone, and nobody is told */
void tm_crew_add_node(struct tm_supervisor *s, struct tm_node *node);
void tm_crew_event(struct tm_worker *w, enum tm_worker_event event);

/* answer.c */
void tm_answer_on_frame(struct tm_channel *c, const struct tm_frame *f);
/* It begins nothing more, and says why; what it holds comes back when it has ended. */
void tm_answer_retired(struct tm_worker *w, const struct tm_frame *f);
/* It cannot be talked to: it is killed. */
void tm_answer_on_rubbish(struct tm_worker *w);
/* A try that ended without an answer: its worker died or was killed. Counts it. */
void tm_answer_lost_try(struct tm_worker *w, struct tm_held *held, enum tm_status status,
                        const char *words, const struct tm_ended *ended);

/* steal.c */
void tm_steal_arm(
    struct tm_supervisor *s); /* looks in a while, when there is something to take back */
void tm_steal_on_time(struct tm_timer *t);
void tm_steal_ask_back(struct tm_worker *w,
                       int64_t before_ns); /* what waits behind its first, handed out before */

/* doing.c. Ten times a second: looks what each worker is at, asks the keeper for more where that
 * has taken a while, and fills s->activities. Costs a mini-batch nothing. */
void tm_doing_tick(struct tm_supervisor *s);
/* Adds what the workers are at, as the reason why nothing comes to its end. */
void tm_doing_name_stuck(struct tm_supervisor *s, struct tm_err *err);
void tm_doing_on_told(void *data, const struct tm_worker_doing *told); /* for a tm_node_user */

/* vigil.c */
void tm_vigil_tick(struct tm_supervisor *s);
void tm_vigil_on_due(struct tm_timer *t);
/* An init() that was interrupted says where it was. */
void tm_vigil_note_init(struct tm_supervisor *s, const char *worker, const char *where);
void tm_vigil_arm(struct tm_supervisor *s); /* for the next try or place that is due */
/* When the next try may come of one that has failed; monotonic, 0: at once. */
int64_t tm_vigil_retry_due(const struct tm_supervisor *s, const struct tm_entry *e,
                           enum tm_status status);

#endif
