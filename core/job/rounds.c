/* rounds.c - see rounds.h. */
#include "job/rounds.h"

#include "base/check.h"

bool tm_rounds_ask(struct tm_rounds *r)
{
  bool is_first = r->state == TM_ROUNDS_IDLE;

  r->state = TM_ROUNDS_ASKED;
  return is_first;
}

bool tm_rounds_next(struct tm_rounds *r)
{
  bool is_asked = r->state == TM_ROUNDS_ASKED;

  tm_require(r->state != TM_ROUNDS_IDLE); /* only the first one asks */
  r->state = is_asked ? TM_ROUNDS_BUSY : TM_ROUNDS_IDLE;
  return is_asked;
}
