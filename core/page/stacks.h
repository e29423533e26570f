/* stacks.h - a tree of stacks with their samples, from files of collapsed stacks (a line each,
 * "outer;inner 17"). Pure. Lines of other forms are counted and left out; so are frames deeper than
 * TM_STACK_DEPTH, whose samples count in the frame above them.
 */
#ifndef TM_PAGE_STACKS_H
#define TM_PAGE_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"

#define TM_STACK_DEPTH 64
#define TM_STACK_NODES 200000 /* later ones count in the frame above them */
#define TM_STACK_NAME  300    /* bytes of a frame's name */

struct tm_stack_node {
  char *name;
  size_t parent, child, next; /* indexes; 0: none (the root is 0) */
  int64_t samples, self;      /* with all below it; without them */
  int depth;                  /* of the root: 0 */
};

struct tm_stacks {
  struct TM_ARRAY(struct tm_stack_node) nodes; /* the root first; a parent before its children */
  struct tm_map known;
  int64_t bad_lines;
};

void tm_stacks_init(struct tm_stacks *s);
void tm_stacks_release(struct tm_stacks *s);
void tm_stacks_add(struct tm_stacks *s, const char *text, size_t len);
/* Puts the children of each node in the order of their samples, most first, and sums them up. */
void tm_stacks_settle(struct tm_stacks *s);

struct tm_stack_line { /* a place of the source, in whatever stacks it is */
  const char *name;
  int64_t self, samples; /* `samples`: of stacks that have it, each counted once */
};
/* The `max` with the largest `self`; to free(), but not their names. */
struct tm_stack_line *tm_stacks_hot(const struct tm_stacks *s, size_t max, size_t *len);

#endif
