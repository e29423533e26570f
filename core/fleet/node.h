/* node.h - a node, from the supervisor's side: its keeper, and the messages between the two.
 *
 * Each node has one child process, started with posix_spawn; only its control channel identifies
 * it. Caller, on the loop's thread: start; add_step for each step; start_worker, ...; close,
 * whether or not on_lost came, and nothing more.
 */
#ifndef TM_FLEET_NODE_H
#define TM_FLEET_NODE_H

#include <sys/types.h>

#include "fleet/worker_link.h"
#include "node/node_msg.h"
#include "sys/channel.h"
#include "sys/loop.h"

struct tm_node;

/* The step's side: hears what happens to its workers. `worker`: the number that the step gave
 * it. */
struct tm_node_user {
  void *data;
  /* link: to the worker; the user owns it now, and opens it */
  void (*on_started)(void *data, uint32_t worker, int64_t pid, struct tm_worker_link *link);
  void (*on_start_failed)(void *data, uint32_t worker, const char *text);
  /* the answer to take_back; n may be 0 */
  void (*on_taken)(void *data, uint32_t worker, const uint64_t *seqs, size_t n);
  void (*on_ended)(void *data, uint32_t worker, const struct tm_ended *ended);
  /* What a living worker does: the answer to tm_node_ask_doing(), once for each worker. */
  void (*on_doing)(void *data, const struct tm_worker_doing *doing);
};

struct tm_node_options {
  struct tm_loop *loop;
  const char *program;               /* runs the keeper as `program node` */
  bool has_stderr;                   /* the keeper gets our stderr, else none */
  struct tm_incarnation incarnation; /* the id of the node, and which of its keepers this is */
  void (*on_note)(void *data, const char *text); /* for the log */
  /* Once: the keeper has ended or speaks another version; every worker is gone. */
  void (*on_lost)(void *data, const char *text);
  void *data;
};
struct tm_node *tm_node_start(const struct tm_node_options *o, struct tm_err *err);
/* Makes the step known to the keeper. Returns its number on this node. */
uint32_t tm_node_add_step(struct tm_node *n, const struct tm_node_step *step,
                          const struct tm_node_user *user);
/* `number`: how the step's callbacks name the worker. Returns a number that is unique on the node,
 * for the calls below. STARTED or START_FAILED comes later. */
uint32_t tm_node_start_worker(struct tm_node *n, uint32_t step, uint32_t number, const char *name);
void tm_node_take_back(struct tm_node *n, uint32_t worker, const uint64_t *seqs, size_t len);
void tm_node_stopping(struct tm_node *n, uint32_t worker);
void tm_node_kill(struct tm_node *n, uint32_t worker);
/* Interrupts the workers of the step that are in init(), and kills them if that does not help. */
void tm_node_end_init(struct tm_node *n, uint32_t step);
/* Asks what the workers of the step do. */
void tm_node_ask_doing(struct tm_node *n, uint32_t step);
/* Call it about ten times a second: it asks the keeper whether it is awake. A keeper is lost if it
 * has been silent for as long as a run() of its steps may take, and at least TM_NODE_PATIENCE_NS:
 * it can no longer enforce timeouts. */
void tm_node_tick(struct tm_node *n, int64_t mono_ns);
#define TM_NODE_PATIENCE_NS (10 * INT64_C(1000000000))
uint32_t tm_node_id(const struct tm_node *n);
const char *tm_node_name(const struct tm_node *n);    /* its id in decimal: names its log folders */
const char *tm_node_address(const struct tm_node *n); /* the machine's name */
/* Begins the end: closes the control channel, whereupon the keeper ends all its processes. A thread
 * waits for the keeper's end and reaps it. If the keeper was killed, the thread kills the processes
 * that it left behind, and calls on_note. From here on on_lost is not called. on_gone is called
 * once, on the loop, when every process of the node has ended; do not use the node after that. NULL
 * is a no-op. */
void tm_node_close(struct tm_node *n, void (*on_gone)(void *data));
/* Waits for that end, and begins it if need be; on_gone is not called. NULL is a no-op. */
void tm_node_close_now(struct tm_node *n);

#endif
