/* lanes.h - what each worker slot was doing over time: the lanes of the timeline. Pure.
 *
 * Up to TM_BOXES_MAX tries are kept one by one; bins are kept in any case. With more than
 * TM_LANES_MAX slots, a lane is a node. All lanes share one width of bins; together they have at
 * most TM_LANE_CELLS bins. What a lane has does not depend on the order in which it was added, if
 * the slots come in the same order.
 */
#ifndef TM_INSIGHT_LANES_H
#define TM_INSIGHT_LANES_H

#include <stdbool.h>

#include "base/map.h"
#include "base/mem.h"
#include "insight/bins.h"

#define TM_BOXES_MAX  20000
#define TM_LANES_MAX  256
#define TM_LANE_BINS  8192
#define TM_LANE_CELLS 524288 /* 64 lanes of TM_LANE_BINS */

enum tm_lane_channel {
  TM_LANE_OK,       /* ns in run() of tries that succeeded */
  TM_LANE_FAILED,   /* ns of tries that failed */
  TM_LANE_OPEN,     /* ns of tries that run, or were cut off; by tm_step_model_settle() */
  TM_LANE_AROUND,   /* ns of tries that succeeded, outside of run() */
  TM_LANE_INIT,     /* ns from the start of a worker to the end of its init() */
  TM_LANE_ALIVE,    /* ns in which there was a worker */
  TM_LANE_FAILURES, /* how many tries failed: a short one is seen, too */
  TM_LANE_CHANNELS
};

struct tm_box { /* a try */
  uint32_t lane;
  int64_t begin_ns, elapsed_ns, run_ns;
  int64_t mini_batch;
  uint32_t try_number, items;
  uint8_t category; /* enum tm_category of step_model.h */
};

struct tm_lane {
  char *name;  /* of the slot's node, or of the node */
  size_t slot; /* of a node: the first of its slots */
  struct tm_bins bins;
};

struct tm_lanes {
  int64_t origin_ns, last_ns; /* `last_ns`: of all bins */
  bool are_nodes;
  unsigned shift; /* of all lanes: tm_bins_widen() */
  size_t max;     /* bins of a lane */
  struct TM_ARRAY(struct tm_lane) list;
  struct TM_ARRAY(uint32_t) of_slot;    /* slot -> lane */
  struct tm_map nodes;                  /* name -> lane + 1; of lanes that are nodes */
  struct TM_ARRAY(struct tm_box) boxes; /* empty when there are more */
  int64_t tries;                        /* all of them */
};

void tm_lanes_init(struct tm_lanes *l, int64_t origin_ns);
void tm_lanes_release(struct tm_lanes *l);
/* The lane of a slot; makes it. Slots are made in their order. */
size_t tm_lanes_of(struct tm_lanes *l, size_t slot, const char *node);
/* Counts a try. NULL: it never began, or has no lane. */
void tm_lanes_add_box(struct tm_lanes *l, const struct tm_box *box);
/* Widens the bins of all lanes until one has the moment. */
void tm_lanes_reach(struct tm_lanes *l, int64_t at_ns);
void tm_lanes_add_span(struct tm_lanes *l, size_t lane, enum tm_lane_channel c, int64_t from_ns,
                       int64_t to_ns);
void tm_lanes_add(struct tm_lanes *l, size_t lane, enum tm_lane_channel c, int64_t at_ns,
                  int64_t amount);
/* Sets a channel to 0 in all lanes. */
void tm_lanes_clear(struct tm_lanes *l, enum tm_lane_channel c);
int64_t tm_lanes_width_ns(const struct tm_lanes *l);

#endif
