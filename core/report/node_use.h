/* node_use.h - when the nodes of a step had workers, and how busy the workers were: the last
 * columns of node_summary.csv (summary.h), from the starts and ends of workers.
 *
 *   Started       when the first worker of the step was started there, by this machine's clock
 *   Seconds       how long the node had workers; for this machine's node, over all sessions
 *   Busy Percent  the share of their lives that the node's workers spent in run()
 *   Ended         when the last worker ended; empty while one lives, and if the session was killed
 *
 * Caller: zero it; read an earlier file, if there is one; add events; release.
 */
#ifndef TM_REPORT_NODE_USE_H
#define TM_REPORT_NODE_USE_H

#include "base/map.h"
#include "base/mem.h"
#include "record/events.h"

#define TM_NODE_USE_COLUMNS ",Started,Seconds,Busy Percent,Ended"

struct tm_node_use {
  char *node, *address;
  int64_t started_ns, ended_ns; /* wall clock; 0: not known, not yet */
  int64_t ns, worker_ns;        /* up to since_ns */
  int64_t since_ns;             /* monotonic: when the number of workers changed */
  int64_t workers;              /* that live */
  int busy;                     /* of earlier sessions, in hundredths; -1: there is more since */
};

struct tm_node_uses {
  struct TM_ARRAY(struct tm_node_use) list; /* in the order of their first workers */
  struct tm_map places;                     /* node -> index + 1 */
};

/* A name for a field without quotes, to free(). NULL: "". */
char *tm_node_use_word(const char *text);
void tm_node_uses_release(struct tm_node_uses *u);
/* Reads the file of earlier sessions; skips what it cannot read. Columns are found by name. */
void tm_node_uses_read(struct tm_node_uses *u, const char *text, size_t len);
/* WORKER_STARTED and WORKER_ENDED; others are ignored. True: something has changed. */
bool tm_node_uses_add(struct tm_node_uses *u, const struct tm_event *e);
/* The columns of a node, each with a comma before it; empty for a node that is not known. `run_ns`:
 * of its workers. */
void tm_node_uses_add_columns(struct tm_buf *out, const struct tm_node_uses *u, const char *node,
                              int64_t run_ns, int64_t mono_ns);

#endif
