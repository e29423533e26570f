/* announced_state.h - the announced results of a step. announced.c owns them (announced.h). */
#ifndef TM_STEP_ANNOUNCED_STATE_H
#define TM_STEP_ANNOUNCED_STATE_H

#include "base/list.h"
#include "base/mem.h"
#include "step/looks.h"
#include "sys/loop.h"

struct tm_spill_look;

struct tm_announcements {
  struct tm_list list;    /* of struct tm_announced: all */
  struct tm_list decided; /* those of them that can be handled, in order */
  struct tm_looks looks;
  struct TM_ARRAY(struct tm_spill_look *) under_way; /* also for results that were dropped */
  struct tm_timer due;                               /* for the next look */
};

#endif
