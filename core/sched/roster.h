/* roster.h - the nodes and workers of a step, by number, and who can use what.
 *
 * Lists answer the scheduler's questions without looking at all workers:
 *
 *   in_init  loading the script, or in init()
 *   idle     can take something, and holds nothing
 *   roomy    likewise, holds something, and its window has room
 *   crowded  ready, holds what waits behind its first, and was not asked for it yet
 *
 * Each node has its own lists of the last three kinds: failed assignments avoid a node (queue.h
 * (3)), and lateness depends on its distance. The roster lists the nodes that have such workers.
 *
 * A node is doubtful or sound (node_health.h); each kind has its own lists of nodes.
 *
 * A worker can take something if it is ready, can be reached, and does not leave. A node is calm if
 * a worker there is ready, and none holds a suspect (queue.h).
 *
 * The fields of a worker decide which lists it belongs to. Code that changes a field or the window
 * then calls tm_roster_update(), which moves the worker. The roster numbers the workers, and never
 * uses a number again; the caller numbers the nodes.
 */
#ifndef TM_SCHED_ROSTER_H
#define TM_SCHED_ROSTER_H

#include "base/list.h"
#include "base/mem.h"
#include "sched/node_health.h"
#include "sched/pool.h"
#include "sched/slots.h"
#include "sched/window.h"

struct tm_sched_node {
  uint32_t number;
  bool is_up;   /* workers there can be sent something */
  bool is_lost; /* with all its workers, until it comes back */
  bool drains;  /* it gets nothing more, and no worker starts there */
  bool is_calm; /* counted in the roster */
  bool is_doubtful;
  size_t suspects; /* that its workers hold */
  int losses;      /* in a row, without a result between */
  /* When it was lost: how many assignments of its workers wait again, and how many workers had
   * some. */
  int64_t went_back, had_work;
  /* The round trip to it, at most TM_WINDOW_DISTANCE_MAX_NS; 0: none, or not known yet. */
  int64_t distance_ns;
  int64_t look_ns;   /* when its crowded workers are looked at; INT64_MAX: not planned */
  int64_t looked_ns; /* when they were looked at last */
  struct tm_pool pool;
  struct tm_slots slots;
  struct tm_node_health health;
  int64_t takers; /* workers that can take something */
  size_t holders; /* workers that hold something */
  struct tm_list workers, crowded, idle, roomy;
  struct tm_list_item open, unplanned, has_idle, has_roomy; /* in the roster's lists of nodes */
};

/* There may be 100,000: without padding. */
struct tm_sched_worker {
  struct tm_sched_node *node;
  uint32_t number, slot;
  int64_t started_ns; /* awake (active_clock.h); when its start was decided */
  int64_t refused_ns; /* when a recall brought nothing back; 0: never */
  struct tm_window window;
  enum tm_worker_state state : 8;
  bool is_leaving;    /* it gets no more work, and ends when its window is empty */
  bool is_recalling;  /* the node was asked to take back, and has not answered */
  bool is_deaf;       /* it gets nothing more */
  bool has_worked;    /* it has answered for a mini-batch */
  bool is_counted;    /* in `leaves` */
  bool is_taker;      /* counted as one that can take something */
  bool is_holder;     /* counted as one that holds something */
  struct tm_list *in; /* in_init, idle, roomy, or NULL */
  struct tm_list_item of_node, wants, crowded;
};

/* Nodes of one kind that have workers which can take something. */
struct tm_sched_takers {
  struct tm_list idle, roomy; /* nodes with such workers, in turn */
  int64_t count;              /* workers that can take something */
};

struct tm_roster {
  struct TM_ARRAY(struct tm_sched_node *) nodes;     /* by number; NULL: never was */
  struct TM_ARRAY(struct tm_sched_worker *) workers; /* by number; NULL: gone */
  struct tm_list in_init;
  struct tm_sched_takers sound, doubtful; /* nodes */
  struct tm_list open_nodes; /* that may have one more worker, as far as they are concerned */
  struct tm_list unplanned;  /* nodes with crowded workers, and no look at them is planned */
  size_t calm;               /* nodes */
  int64_t living, ready;
  int64_t leaves; /* of the living: leaving or stopping */
  bool has_loaded, is_closed;
};

void tm_roster_init(struct tm_roster *r);
void tm_roster_release(struct tm_roster *r);
/* The node of that number; makes it if it is new. */
struct tm_sched_node *tm_roster_add_node(struct tm_roster *r, uint32_t number, int64_t slots);
struct tm_sched_node *tm_roster_node(const struct tm_roster *r, uint32_t number); /* NULL */
/* Also brings the lists of its workers up to date. */
void tm_roster_set_up(struct tm_roster *r, struct tm_sched_node *n, bool is_up);
/* Likewise. Takes any distance, and keeps it between 0 and the most that counts. */
void tm_roster_set_distance(struct tm_roster *r, struct tm_sched_node *n, int64_t ns);
/* When the crowded workers of the node are looked at next; INT64_MAX: that has to be planned. */
void tm_roster_set_look(struct tm_roster *r, struct tm_sched_node *n, int64_t at_ns);
struct tm_sched_worker *tm_roster_add(struct tm_roster *r, struct tm_sched_node *n, int64_t slot,
                                      size_t span_max);
struct tm_sched_worker *tm_roster_worker(const struct tm_roster *r, uint32_t number); /* NULL */
/* False: the worker's state does not allow that, and nothing was changed. */
bool tm_roster_step(struct tm_roster *r, struct tm_sched_worker *w, enum tm_worker_event e);
void tm_roster_update(struct tm_roster *r, struct tm_sched_worker *w);
/* It wants nothing until the next update. */
void tm_roster_unlist(struct tm_roster *r, struct tm_sched_worker *w);
/* It ends when it holds nothing more. */
void tm_roster_leave(struct tm_roster *r, struct tm_sched_worker *w);
/* After its end, which tm_roster_step() has heard of. */
void tm_roster_remove(struct tm_roster *r, struct tm_sched_worker *w);
/* No worker starts any more. */
void tm_roster_close(struct tm_roster *r);
void tm_roster_update_node(struct tm_roster *r, struct tm_sched_node *n);
void tm_roster_set_drains(struct tm_roster *r, struct tm_sched_node *n, bool drains);
void tm_roster_set_doubtful(struct tm_roster *r, struct tm_sched_node *n, bool is_doubtful);
/* Something has come to a worker of the node (1), or has left it (-1). */
void tm_roster_count_held(struct tm_roster *r, struct tm_sched_node *n,
                          const struct tm_assignment *what, int change);
bool tm_roster_has_idle(const struct tm_roster *r);
/* Whether workers of another node can take something: then work that failed on this node is for
 * them. */
bool tm_roster_has_other_node(const struct tm_roster *r, const struct tm_sched_node *n);
/* Whether the node gets no failed work at all: it is doubtful, and workers of a sound node can take
 * something. */
bool tm_roster_is_shunned(const struct tm_roster *r, const struct tm_sched_node *n);
/* The next of these workers that can take something; NULL: there is none. It is neither `skip`, nor
 * another worker of its node if another node can take the work that avoids this one. */
struct tm_sched_worker *tm_roster_next_idle(const struct tm_roster *r,
                                            const struct tm_sched_takers *of,
                                            const struct tm_sched_worker *skip);
struct tm_sched_worker *tm_roster_next_roomy(const struct tm_roster *r,
                                             const struct tm_sched_takers *of,
                                             const struct tm_sched_worker *skip);
/* An idle worker of a calm node; NULL: there is none. Looks at all nodes with idle workers. */
struct tm_sched_worker *tm_roster_calm(const struct tm_roster *r);

#endif
