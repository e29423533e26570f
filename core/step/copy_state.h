/* copy_state.h - a copy of many rows, and what waits for its end. copying.c owns it (copying.h). */
#ifndef TM_STEP_COPY_STATE_H
#define TM_STEP_COPY_STATE_H

#include "base/buf.h"
#include "base/mem.h"
#include "sys/messages/channel.h"
#include "sys/loop.h"

struct tm_announced;
struct tm_news;

struct tm_copy {
  enum {
    TM_COPY_RESULT, /* of a worker, to the output */
    TM_COPY_PART,   /* of a worker, to the held rows */
    TM_COPY_JOINED  /* of all good parts of a mini-batch: joined, then copied to the output */
  } what;
  bool is_on;
  bool is_again;                  /* it is complete: what began it is handled again */
  uint32_t search;                /* of a part, or that is over */
  struct tm_announced *announced; /* the result is this one; NULL: it came from `worker` */
  uint32_t worker;                /* of a result or a part: the number of its worker */
  struct tm_msg f;                /* which announced it; its payload: */
  struct tm_buf payload;
  struct tm_wake next;                  /* one piece in each turn of the loop */
  struct TM_ARRAY(struct tm_news) news; /* that wait */
};

#endif
