/* lanes.c - see lanes.h. */
#include "insight/lanes.h"

#include <string.h>

#include "base/check.h"
#include "insight/sums.h"

#define BINS_MIN 16 /* of a lane, however many there are */

void tm_lanes_init(struct tm_lanes *l, int64_t origin_ns)
{
  *l = (struct tm_lanes) { .origin_ns = origin_ns, .last_ns = origin_ns, .max = TM_LANE_BINS };
}

static void release_list(struct tm_lanes *l)
{
  for (size_t i = 0; i < l->list.len; i++) {
    free(l->list.at[i].name);
    tm_bins_release(&l->list.at[i].bins);
  }
  TM_ARRAY_RELEASE(&l->list);
}

void tm_lanes_release(struct tm_lanes *l)
{
  release_list(l);
  TM_ARRAY_RELEASE(&l->of_slot);
  TM_ARRAY_RELEASE(&l->boxes);
  tm_map_release(&l->nodes);
  *l = (struct tm_lanes) { 0 };
}

static void widen_lane(const struct tm_lanes *l, struct tm_lane *lane)
{
  tm_bins_widen(&lane->bins, l->shift);
  tm_bins_merge(&lane->bins, l->max);
}

/* Gives all lanes the width that the last moment and their number require. */
static void widen(struct tm_lanes *l)
{
  l->shift = tm_bins_shift(l->origin_ns, l->last_ns, l->max, l->shift);
  for (size_t i = 0; i < l->list.len; i++)
    widen_lane(l, &l->list.at[i]);
}

static size_t add_lane(struct tm_lanes *l, size_t slot, const char *node)
{
  struct tm_lane *lane = TM_ARRAY_ADD(&l->list);
  *lane = (struct tm_lane) { .name = tm_xstrdup(node), .slot = slot };
  tm_bins_init(&lane->bins, l->origin_ns, TM_LANE_CHANNELS, l->max);
  while (l->max > BINS_MIN && l->list.len * l->max > TM_LANE_CELLS)
    l->max /= 2;
  if (l->max != lane->bins.max)
    widen(l);
  else
    widen_lane(l, lane);
  return l->list.len - 1;
}

static size_t lane_of_node(struct tm_lanes *l, size_t slot, const char *node)
{
  bool is_new;
  uint64_t *known = tm_map_add(&l->nodes, node, strlen(node), &is_new);
  if (is_new)
    *known = (uint64_t)add_lane(l, slot, node) + 1;
  return (size_t)*known - 1;
}

/* From now on, a lane is a node. */
static void join_nodes(struct tm_lanes *l)
{
  struct tm_lanes old = *l;
  l->are_nodes = true;
  l->list.at = NULL;
  l->list.len = l->list.cap = 0;
  for (size_t i = 0; i < l->of_slot.len; i++) {
    const struct tm_lane *from = &old.list.at[l->of_slot.at[i]];
    size_t to = lane_of_node(l, i, from->name);
    tm_bins_add_all(&l->list.at[to].bins, &from->bins);
  }
  for (size_t i = 0; i < l->boxes.len; i++)
    l->boxes.at[i].lane = (uint32_t)lane_of_node(l, 0, old.list.at[l->boxes.at[i].lane].name);
  for (size_t i = 0; i < l->of_slot.len; i++)
    l->of_slot.at[i] = (uint32_t)lane_of_node(l, i, old.list.at[i].name);
  release_list(&old);
}

size_t tm_lanes_of(struct tm_lanes *l, size_t slot, const char *node)
{
  if (slot < l->of_slot.len)
    return l->of_slot.at[slot];
  tm_require(slot == l->of_slot.len);
  if (!l->are_nodes && slot == TM_LANES_MAX)
    join_nodes(l);
  size_t lane = l->are_nodes ? lane_of_node(l, slot, node) : add_lane(l, slot, node);
  *TM_ARRAY_ADD(&l->of_slot) = (uint32_t)lane;
  return lane;
}

void tm_lanes_add_box(struct tm_lanes *l, const struct tm_box *box)
{
  l->tries++;
  if (l->tries > TM_BOXES_MAX)
    TM_ARRAY_RELEASE(&l->boxes);
  else if (box)
    *TM_ARRAY_ADD(&l->boxes) = *box;
}

void tm_lanes_reach(struct tm_lanes *l, int64_t at_ns)
{
  if (at_ns <= l->last_ns)
    return;
  l->last_ns = at_ns;
  if (tm_bins_shift(l->origin_ns, at_ns, l->max, l->shift) > l->shift)
    widen(l);
}

void tm_lanes_add_span(struct tm_lanes *l, size_t lane, enum tm_lane_channel c, int64_t from_ns,
                       int64_t to_ns)
{
  if (to_ns <= from_ns)
    return;
  tm_lanes_reach(l, to_ns - 1);
  tm_bins_add_span(&l->list.at[lane].bins, c, from_ns, to_ns);
}

void tm_lanes_add(struct tm_lanes *l, size_t lane, enum tm_lane_channel c, int64_t at_ns,
                  int64_t amount)
{
  if (amount <= 0)
    return;
  tm_lanes_reach(l, at_ns);
  tm_bins_add(&l->list.at[lane].bins, c, at_ns, amount);
}

void tm_lanes_clear(struct tm_lanes *l, enum tm_lane_channel c)
{
  for (size_t i = 0; i < l->list.len; i++)
    tm_bins_clear(&l->list.at[i].bins, c);
}

int64_t tm_lanes_width_ns(const struct tm_lanes *l)
{
  return (int64_t)((uint64_t)TM_BIN_NS << l->shift);
}
