/* launched_node.h - a node that a command starts, and the text that describes its end. Pure. */
#ifndef TM_JOB_LAUNCHED_NODE_H
#define TM_JOB_LAUNCHED_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/node_msg.h"

struct tm_buf;
struct tm_job;

struct tm_launched_node {
  struct tm_job *job;
  uint32_t id, launch; /* its number on the node of this machine */
  size_t group;
  const char *host; /* or NULL */
  bool has_stream;  /* in the fleet */
  bool is_over;     /* nothing of its command is left */
  bool was_ready;
  char *printed; /* on its stdout, in one line, if it never became a node; NULL: nothing */
  char *why;     /* it is being ended, or is lost; NULL: it is not */
  bool is_late, has_ended;
  bool is_orphan; /* the keeper that runs its command is lost */
  struct tm_launch_ended ended;
};

/* "node 1 (cn01)". */
void tm_launched_node_name(struct tm_buf *out, const struct tm_launched_node *n);
/* Why it could not be started, or is lost, in one line: "node 1 (cn01) is lost: ...; see
 * 'nodes/1.txt'". */
void tm_launched_node_describe(struct tm_buf *out, const struct tm_launched_node *n);

#endif
