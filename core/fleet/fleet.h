/* fleet.h - the nodes of a job, by id: for each the connection to its keeper (node.h).
 *
 * Caller, on the loop's thread: init; start, again for a node that is lost; tick; close.
 */
#ifndef TM_FLEET_FLEET_H
#define TM_FLEET_FLEET_H

#include "base/mem.h"
#include "fleet/node.h"

struct tm_fleet_options {
  struct tm_loop *loop;
  const char *program; /* runs the keeper as `program node` */
  bool has_stderr;     /* keepers get our stderr, else none */
  void (*on_note)(void *data, uint32_t id, const char *text); /* for the log */
  /* Once for each start that succeeded, if the node is not closed before: its keeper has ended, or
   * cannot be believed. The fleet no longer has the node; its workers may still live. */
  void (*on_lost)(void *data, uint32_t id, const char *text);
  /* After that: no process of the node is left. It may be started again. */
  void (*on_gone)(void *data, uint32_t id);
  void *data;
};

struct tm_fleet_place {
  struct tm_fleet *fleet;
  uint32_t id;
  struct tm_node *node; /* NULL: lost, or not started */
};

struct tm_fleet {
  struct tm_fleet_options o;
  struct TM_ARRAY(struct tm_fleet_place *) places; /* by id; NULL: never started */
};

void tm_fleet_init(struct tm_fleet *f, const struct tm_fleet_options *o);
/* Starts the keeper of a node that the fleet does not have. */
int tm_fleet_start(struct tm_fleet *f, uint32_t id, struct tm_err *err);
struct tm_node *tm_fleet_node(const struct tm_fleet *f, uint32_t id); /* NULL: it has none */
size_t tm_fleet_ids(const struct tm_fleet *f);                        /* every id is below */
bool tm_fleet_has_node(const struct tm_fleet *f);                     /* any */
/* Call it about ten times a second: tm_node_tick(). */
void tm_fleet_tick(struct tm_fleet *f, int64_t mono_ns);
/* Closes all nodes: tm_node_close(). A fleet that was not initialized: a no-op. */
void tm_fleet_close(struct tm_fleet *f);
void tm_fleet_release(struct tm_fleet *f); /* after that */

#endif
