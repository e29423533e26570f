/* fleet.h - the nodes of a job, by id: for each the connection to its keeper (node.h).
 *
 * Caller, on the loop's thread: init; start, again for a node that is gone, or connect, once for
 * each id; tick; close_streams, and wait until has_streams is false; close, and wait until
 * it is empty, or close_now.
 */
#ifndef TM_FLEET_FLEET_H
#define TM_FLEET_FLEET_H

#include "base/mem.h"
#include "fleet/node.h"

struct tm_fleet_options {
  struct tm_loop *loop;
  const char *program; /* runs the keeper as `program keeper` */
  bool has_stderr;     /* keepers get our stderr, else none */
  uint64_t epoch;      /* of the session (node/worker_mark.h) */
  void (*on_note)(void *data, uint32_t id, const char *text); /* for the log */
  /* Of a node that was connected, both needed then: it has said what its machine is; it has
   * answered its probe. See node.h for what to do. */
  void (*on_report)(void *data, uint32_t id);
  void (*on_probed)(void *data, uint32_t id, const struct tm_node_probed *probed);
  /* The answer to tm_node_send_source(); NULL: no script is sent. */
  void (*on_source_taken)(void *data, uint32_t id, const char *problem);
  /* A node that was connected can be used: its keeper is of our version, and it was admitted. NULL:
   * not called. */
  void (*on_ready)(void *data, uint32_t id);
  /* A node that was connected and is ready will end soon: it should get no more work. NULL:
   * not called. */
  void (*on_drains)(void *data, uint32_t id);
  /* The keeper of a node has ended, or cannot be believed. The fleet no longer has the node; its
   * workers may still live. What a connected node that was ready still sends is read for 10 s,
   * dropped and counted. */
  void (*on_lost)(void *data, uint32_t id, const char *text);
  /* After that, or after tm_fleet_close(): no process of the node is left. It may be started
   * again. */
  void (*on_gone)(void *data, uint32_t id);
  void *data;
};

struct tm_fleet_place {
  struct tm_fleet *fleet;
  uint32_t id;
  struct tm_node *node;    /* NULL: it cannot be used */
  struct tm_node *closing; /* NULL: no process is left */
  uint32_t started;        /* keepers */
  struct tm_node *left;    /* lost and gone, but still read; or NULL */
  int64_t left_ns;         /* since when; 0: it is being closed */
  struct tm_late gone;     /* tells the user */
  bool is_stream, is_ready;
};

struct tm_fleet {
  struct tm_fleet_options o;
  struct TM_ARRAY(struct tm_fleet_place *) places; /* by id; NULL: never started */
};

void tm_fleet_init(struct tm_fleet *f, const struct tm_fleet_options *o);
/* Starts the keeper of a node that has none. */
int tm_fleet_start(struct tm_fleet *f, uint32_t id, struct tm_err *err);
/* A node on another machine, over descriptors that are taken over, also on failure: see
 * tm_node_connect(). Its id was never used before. `address`: the machine's name; NULL: as it
 * reports. */
int tm_fleet_connect(struct tm_fleet *f, uint32_t id, int in, int out, const char *address,
                     int64_t node_timeout_ns, struct tm_err *err);
struct tm_node *tm_fleet_node(const struct tm_fleet *f, uint32_t id); /* NULL: lost, or none */
/* Whether it has it, and its keeper has said its version, and it was admitted; on_ready follows for
 * the others. */
bool tm_fleet_is_ready(const struct tm_fleet *f, uint32_t id);
/* Gives a node up that was connected: on_lost follows within the call. It has the node. */
void tm_fleet_give_up(struct tm_fleet *f, uint32_t id, const char *text);
/* What the command of a connected node printed instead of a node's messages: tm_node_foreign().
 * Also within on_lost. */
const char *tm_fleet_foreign(const struct tm_fleet *f, uint32_t id, size_t *len);
/* Within on_lost: whether the node was lost because it runs another build. */
bool tm_fleet_is_other_build(const struct tm_fleet *f, uint32_t id);
/* Whether it has it, or processes of it may be left. */
bool tm_fleet_lives(const struct tm_fleet *f, uint32_t id);
size_t tm_fleet_ids(const struct tm_fleet *f);    /* every id is below */
bool tm_fleet_is_empty(const struct tm_fleet *f); /* no process of any node is left */
/* Call it about ten times a second: tm_node_tick(). */
void tm_fleet_tick(struct tm_fleet *f, int64_t mono_ns);
/* Begins the end of a node that was connected; it has the node. on_gone follows. */
void tm_fleet_close_stream(struct tm_fleet *f, uint32_t id);
/* Begins the end of the nodes that were connected: on_gone follows for each. */
void tm_fleet_close_streams(struct tm_fleet *f);
bool tm_fleet_has_streams(const struct tm_fleet *f); /* not all of them are gone */
/* Begins the end of all nodes: on_gone follows for each, perhaps at once. */
void tm_fleet_close(struct tm_fleet *f);
/* Kills the launches that are kept (launches.h), if this machine will not have another keeper.
 * Waits for their ends, at most 5 s. */
void tm_fleet_end_kept(const struct tm_fleet *f, const char *job_dir);
/* Waits until no process of any node is left; on_gone is not called. A zeroed fleet: a no-op. */
void tm_fleet_close_now(struct tm_fleet *f);
void tm_fleet_release(struct tm_fleet *f); /* when it is empty */

#endif
