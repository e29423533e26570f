/* sched.h - the scheduler of a step: which worker gets which mini-batch, which are taken back and
 * tried again, how many workers there are, and when they end.
 *
 * Pure: it reads no clock, opens nothing, sends nothing. It knows nodes, workers and mini-batches
 * by number. Its caller reports what happens, and carries out what it decides:
 *
 *   tm_sched_event(s, &event, now);      each event, at once; ON_TURN after its consequences
 *   while (tm_sched_next(s, &action))    each action, first in, first out; it may cause events
 *     carry out
 *
 * An event only settles what follows from it. New work is handed out, workers start, and
 * assignments are recalled with ON_TURN, when everything before has been carried out. If nothing
 * happens until tm_sched_due(), ON_TURN comes then.
 *
 *  (1) At most one worker has a mini-batch at a time, and each mini-batch ends once: it is
 *      committed, or has failed.
 *  (2) A try counts if it failed, or if its worker died after beginning it. A try that was taken
 *      back, or whose worker died earlier, does not count. A try whose answer was lost with its
 *      worker does not count the first TM_SCHED_LOST_MAX times. Neither does one whose announced
 *      result was not seen, the first TM_SCHED_UNSEEN_MAX times.
 *  (3) After ON_TURN, no worker is idle while an assignment waits that it may take: one that failed
 *      on its node waits for another node, also if that is busy (queue.h (3)). An assignment
 *      that has waited behind another one at a worker for tm_window_late_ns(), while some worker
 *      was idle all the time, is recalled at most TM_SCHED_LOOK_NS later. A recall that brought
 *      nothing back is repeated after that time at the earliest.
 *  (4) No work for a single mini-batch loops over workers, nodes, or other mini-batches, unless two
 *      of its nodes were lost (dispatch.c).
 *  (5) What ran on a node that is lost does not count as a try. But any that a worker there had
 *      may have been what took the node down, because the answers before it may not have been
 *      sent: each has lost a node, and is alone at its next worker. With TM_LOST_NODES_MAX it has
 *      failed, whatever its tries are (queue.h). After NODE_DRAINS it has lost none, and a try that
 *      fails there does not count either, unless it took too long: whoever ends the node may have
 *      ended what the script waits for.
 *  (6) A node that is sick (node_health.h) is reported once, by a look at ON_TIME. The caller
 *      drains it in all steps. Until then its failed tries count; what failed there goes elsewhere.
 */
#ifndef TM_SCHED_SCHED_H
#define TM_SCHED_SCHED_H

#include "sched/actions.h"
#include "sched/roster.h"
#include "sched/searches.h"
#include "sched/time_rules.h"

#define TM_SCHED_LOST_MAX   3 /* answers of a mini-batch, or of a part, that were lost uncounted */
#define TM_SCHED_UNSEEN_MAX 2 /* the same, if its announced result was not seen */
#define TM_SCHED_LOSSES_MAX 5 /* of a node in a row, and no mini-batch has ended between */
/* Between two looks at what waits at the workers of a node. */
#define TM_SCHED_LOOK_NS INT64_C(1000000)

struct tm_sched_options {
  int64_t run_max_try;
  int64_t retry_delay_ns;    /* negative: only a try that was lost with its worker waits */
  bool isolates;             /* mini-batches without further tries are run in parts */
  int64_t isolation_max_try; /* parts of one mini-batch */
  size_t window_max;         /* assignments on a worker's page */
  uint64_t seed;             /* of jitter */
  struct tm_time_limits time;
  bool (*is_over)(void *data, uint64_t index); /* in an earlier session */
  /* Whether the step may have one more worker, besides what its nodes allow; NULL: yes. */
  bool (*may_start)(void *data);
  void *data;
};

enum tm_sched_event_kind {
  TM_SCHED_ON_TURN,
  TM_SCHED_ON_BEGIN,       /* mini-batches begin to be listed: the rules of time count from here */
  TM_SCHED_ON_TIME,        /* counts: about ten times a second; the rules of time are applied, and
                     * nodes are looked at (6) */
  TM_SCHED_ON_NODE,        /* node, slots: it can be used, for the first time or again */
  TM_SCHED_ON_NODE_SILENT, /* node: nothing can be sent there; answers may still come */
  TM_SCHED_ON_NODE_LOST,   /* node: its workers are gone */
  TM_SCHED_ON_NODE_DRAINS, /* node: it will end soon. What runs may end, the rest comes back */
  TM_SCHED_ON_DISTANCE, /* node, ns: the round trip to it, as measured; at any time, any number */
  TM_SCHED_ON_CREATED,  /* count: so many mini-batches exist */
  TM_SCHED_ON_STARTED,  /* worker: it runs */
  TM_SCHED_ON_LOADED,   /* worker: it has loaded the script */
  TM_SCHED_ON_READY,    /* worker, has_prefetch: init() is done */
  TM_SCHED_ON_RESULT,   /* worker, seq, ns: committed; of a part: kept */
  TM_SCHED_ON_FAILED,   /* worker, seq, rows, items, no_halves */
  TM_SCHED_ON_UNUSABLE, /* worker, seq: the result of a part cannot be read; false: it has failed */
  /* worker, seq, ns: the result is announced, but its rows were not seen. The assignment leaves
   * the worker. The caller keeps it until one of four events with `what`: RESULT, FAILED, UNUSABLE
   * (false: it has to count) or DROPPED. The worker may be gone by then. */
  TM_SCHED_ON_ANNOUNCED,
  TM_SCHED_ON_DROPPED,   /* what: its node was lost */
  TM_SCHED_ON_TAKEN,     /* worker, seqs: the answer to a RECALL */
  TM_SCHED_ON_DEAF,      /* worker: it cannot be talked to any more */
  TM_SCHED_ON_RETIRED,   /* worker: it will begin nothing more, and waits for its end */
  TM_SCHED_ON_ENDED,     /* worker, is_timeout, has_begun, look: it is gone, or did not start */
  TM_SCHED_ON_SPOILED,   /* search, part: its result is gone. False: it is not run again */
  TM_SCHED_ON_SETTLED,   /* search: its mini-batch is over */
  TM_SCHED_ON_GIVE_BACK, /* another step needs a worker */
  TM_SCHED_ON_NO_STARTS, /* no worker starts any more */
  TM_SCHED_ON_END,       /* kill: the step ends. Else what has begun may end */
};

/* A try of a worker that is gone. */
struct tm_lost_try {
  enum { TM_TRY_QUEUED, TM_TRY_BEGUN, TM_TRY_DONE } state; /* DONE: it was answered */
  uint32_t rows, items;                                    /* as in the event */
};

struct tm_sched_event {
  enum tm_sched_event_kind kind;
  uint32_t node, worker;
  uint64_t seq;
  const struct tm_assignment *what; /* of an announced result; node, worker and seq: whose it was */
  int64_t ns;                       /* how long the mini-batch took in the worker; a round trip */
  uint32_t rows, items;             /* rows: as counted by a worker, or 0; items: 0: not known */
  bool no_halves;                   /* halves of the part would fail for the same reason */
  const uint64_t *seqs;
  size_t seqs_len;
  bool is_timeout;   /* a call took too long: the try has failed, or the worker was killed */
  bool has_begun;    /* it ever began a mini-batch */
  bool has_prefetch; /* so has its script: it gets the next mini-batches ahead (window.h) */
  void (*look)(void *data, uint64_t seq, struct tm_lost_try *out); /* NULL: it holds nothing */
  void *data;
  uint32_t search;
  uint64_t part, count;
  const struct tm_counts *counts;
  int64_t slots;
  bool kill;
};

struct tm_sched {
  struct tm_sched_options o;
  struct tm_queue queue;
  struct tm_roster roster;
  struct tm_searches searches;
  struct tm_actions actions;
  struct tm_time_rules time;
  struct tm_step_health health;
  int64_t over;         /* mini-batches */
  int64_t parts_open;   /* of all searches */
  int64_t running;      /* assignments that workers hold, or whose results are announced */
  int64_t announced;    /* the latter */
  int64_t idle_ns;      /* since when some worker has been idle at each turn; INT64_MAX: none was */
  int64_t starts_ns;    /* no open node has a slot before */
  struct tm_heap looks; /* at crowded workers, by time; a node knows which one counts (roster.h) */
  bool is_ending;
};

/* `over`: mini-batches that earlier sessions have ended. */
void tm_sched_init(struct tm_sched *s, const struct tm_sched_options *o, int64_t over);
void tm_sched_release(struct tm_sched *s);
/* False: it cannot be now (a worker that is gone, an assignment that it does not hold), and has no
 * effect. */
bool tm_sched_event(struct tm_sched *s, const struct tm_sched_event *e, int64_t now_ns);
bool tm_sched_next(struct tm_sched *s, struct tm_sched_action *out); /* false: none is left */
int64_t tm_sched_due(const struct tm_sched *s); /* INT64_MAX: nothing depends on time */

/* Questions, without an effect. GONE for a worker that is not there. */
enum tm_worker_state tm_sched_state(const struct tm_sched *s, uint32_t worker);
/* The oldest assignment that it holds; 0: none. */
uint64_t tm_sched_first(const struct tm_sched *s, uint32_t worker);
/* Valid until the next event; NULL: the worker does not hold it. */
const struct tm_assignment *tm_sched_assignment(const struct tm_sched *s, uint32_t worker,
                                                uint64_t seq);
int64_t tm_sched_mean_ns(const struct tm_sched *s,
                         uint32_t worker); /* of a mini-batch; 0: unknown */
/* What the worker holds and was recalled; returns the number, at most window_max. */
size_t tm_sched_recalled(const struct tm_sched *s, uint32_t worker, uint64_t *seqs);
const struct tm_search *tm_sched_search(struct tm_sched *s, uint32_t search); /* NULL: none */
bool tm_sched_has_waiting(struct tm_sched *s);
int64_t tm_sched_open(const struct tm_sched *s); /* mini-batches and parts that wait or run */
/* A look at its clock of time awake. */
int64_t tm_sched_awake_ns(struct tm_sched *s, int64_t now_ns);
/* Workers that are loading the script, or in init(). */
int64_t tm_sched_in_init(const struct tm_sched *s);
/* A node whose workers fail again and again, if the same is true of all other nodes that are not
 * lost, and no worker lives: the step has failed, unless another node comes. NULL: it has not. */
const struct tm_sched_node *tm_sched_given_up(const struct tm_sched *s);

#endif
