/* node.h - a node, from the supervisor's side: its keeper, and the messages between the two.
 *
 * The keeper of a local node is a child process; that of another machine is reached over a stream,
 * which a relay there carries on to it. Caller, on the loop's thread: start, or connect; add_step
 * for each step; start_worker, ...; close, whether or not on_lost came, and nothing more.
 */
#ifndef TM_FLEET_NODE_H
#define TM_FLEET_NODE_H

#include <sys/types.h>

#include "fleet/worker_link.h"
#include "node/node_msg.h"
#include "node/node_report.h"
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
  const char *program; /* runs the keeper as `program keeper` */
  bool has_stderr;     /* the keeper gets our stderr, else none */
  /* the machine's name, copied; NULL: this machine's, or over a stream what the node reports */
  const char *address;
  int64_t node_timeout_ns;           /* see tm_node_tick(); over a stream, 0: no heartbeats */
  struct tm_incarnation incarnation; /* the id of the node, and which of its keepers this is */
  void (*on_note)(void *data, const char *text); /* for the log */
  /* Over a stream, both needed: tm_node_reported() has something; ask the node by tm_node_ask(). */
  void (*on_report)(void *data);
  /* Then once: its answer; call tm_node_admit() or tm_node_give_up(), now or later. */
  void (*on_probed)(void *data, const struct tm_node_probed *probed);
  /* The answer to tm_node_send_source(): "", or what was wrong. NULL: no script is sent. */
  void (*on_source_taken)(void *data, const char *problem);
  /* Once: the keeper runs, is of our version, and a node over a stream was admitted. NULL: not
   * called. */
  void (*on_ready)(void *data);
  /* Over a stream, once, after on_ready: the node will end soon (relay/relay.h). It should get no
   * more work; close it when it has none left. NULL: not called. */
  void (*on_drains)(void *data);
  /* Once: the keeper has ended or speaks another version; every worker is gone. */
  void (*on_lost)(void *data, const char *text);
  void *data;
};
/* Starts `program keeper` on this machine. */
struct tm_node *tm_node_start(const struct tm_node_options *o, struct tm_err *err);
/* A node that is reached over descriptors, which are taken over, also on failure: a relay at their
 * other end carries the messages (sys/messages/node_stream.h). `in` and `out` may be one
 * descriptor. Give it sockets: a process that writes to a pipe must ignore SIGPIPE.
 * `program` and `has_stderr` are not used. */
struct tm_node *tm_node_connect(const struct tm_node_options *o, int in, int out,
                                struct tm_err *err);

/* ---- before a node over a stream can be used ---- */

/* Its report about its machine; NULL: it has not come yet, or it is a node of this machine. */
const struct tm_node_report *tm_node_reported(const struct tm_node *n);
/* Within on_report, or later. Its strings are copied. */
void tm_node_ask(struct tm_node *n, const struct tm_node_probe *probe);
/* Call it after the answer, for one script after another; `s`: only its strings count. Then call
 * tm_node_send_source_data() until the tree has ended, or on_source_taken has come. */
void tm_node_send_source(struct tm_node *n, const struct tm_node_source *s);
void tm_node_send_source_data(struct tm_node *n, const char *p, size_t len);
/* How many bytes of the script still wait here, after an attempt to write them. */
size_t tm_node_source_pending(const struct tm_node *n);
/* The answer is good. on_ready may come during the call. `sizes_alone`: this machine and the node
 * see different times of the same files, so that only sizes can be compared. */
void tm_node_admit(struct tm_node *n, bool sizes_alone);
/* Whether its workers compare only the sizes of inputs with the manifest. */
bool tm_node_has_sizes_alone(const struct tm_node *n);
/* How many workers it has if process_count_per_node is not given; 0: it has not reported that. */
int64_t tm_node_workers(const struct tm_node *n);

/* ---- its steps and workers ---- */

/* Makes the step known to the keeper. Returns its number on this node. */
uint32_t tm_node_add_step(struct tm_node *n, const struct tm_node_step *step,
                          const struct tm_node_user *user);
/* The step has no more workers, and is not measured any more. */
void tm_node_step_is_over(struct tm_node *n, uint32_t step);
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
/* Call it about ten times a second: it asks the keeper whether it is awake. A keeper of this
 * machine is lost if it has been silent for as long as a run() of its steps may take, and at least
 * TM_NODE_PATIENCE_NS: it can no longer enforce timeouts. A node over a stream is lost if nothing
 * has come from it for node_timeout_ns (0: TM_NODE_PATIENCE_NS), counted from its preface on. How
 * long the preface may take is the caller's to decide, by tm_node_is_reached(). Only silence counts
 * that could have been heard (sched/silence.h): a supervisor that was stopped reads first.
 * Heartbeats of the stream do not count: the relay sends them, also while its keeper is stopped.
 * What counts is the keeper's own answer. */
void tm_node_tick(struct tm_node *n, int64_t mono_ns);
#define TM_NODE_PATIENCE_NS (10 * INT64_C(1000000000))
/* Whether the other side has said that it is there: the preface of a stream has come. */
bool tm_node_is_reached(const struct tm_node *n);
/* What the command that carries a stream printed so far, if that is all that came: `*len` bytes,
 * valid until the loop turns. NULL: nothing, or it is reached, or of this machine. */
const char *tm_node_foreign(const struct tm_node *n, size_t *len);
/* Within on_lost: whether the node was lost because it runs another build of tidemill. */
bool tm_node_is_other_build(const struct tm_node *n);
/* The caller gives it up: on_lost comes within the call, with this text, unless it came before. */
void tm_node_give_up(struct tm_node *n, const char *text);
/* The shortest time that one of the last heartbeats took to the relay and back, without the
 * keeper's part; 0: a node of this machine, or not known yet. */
int64_t tm_node_round_trip_ns(const struct tm_node *n);
/* The wall clock of the node's machine minus ours; 0 while the round trip is 0. */
int64_t tm_node_clock_offset_ns(const struct tm_node *n);
uint32_t tm_node_id(const struct tm_node *n);
const char *tm_node_name(const struct tm_node *n); /* its id in decimal: names its log folders */
/* The machine's name; "": not known yet. */
const char *tm_node_address(const struct tm_node *n);
/* Within on_lost or after it: sends nothing more to a node over a stream, so that the node ends.
 * Its late messages are dropped and counted. on_quiet is called once, when its stream ends; close
 * the node then, or before. False: no message can come any more, and on_quiet is not called. */
bool tm_node_leave(struct tm_node *n, void (*on_quiet)(void *data));
/* Begins the end: closes the connection, whereupon the keeper ends all its processes. From here on
 * on_lost is not called. on_gone is called once, on the loop; do not use the node after that. NULL
 * is a no-op.
 *
 * A keeper of this machine: a thread waits for its end and reaps it. If it was killed, the thread
 * kills the processes that it left behind, and calls on_note. on_gone means that every process of
 * the node has ended.
 *
 * Over a stream: on_gone means that the stream is closed. The caller ends the command that carried
 * it; the processes of the node may live a little longer. What the node sent after its loss was
 * dropped; a note says how many messages that were. */
void tm_node_close(struct tm_node *n, void (*on_gone)(void *data));
/* Waits for that end, and begins it if need be; on_gone is not called. NULL is a no-op. */
void tm_node_close_now(struct tm_node *n);

#endif
