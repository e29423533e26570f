/* rounds.h - work that is done in rounds until nobody has asked for another one. What is done in a
 * round may ask again; then it is done once more after this round, not within it.
 *
 *   if (tm_rounds_ask(&r))          false: a caller further up the stack does the rounds
 *     while (tm_rounds_next(&r))
 *       do the work
 *
 * Between these two calls the work can be held back: whoever asks in between gets it afterwards.
 */
#ifndef TM_JOB_ROUNDS_H
#define TM_JOB_ROUNDS_H

#include <stdbool.h>

struct tm_rounds {
  enum { TM_ROUNDS_IDLE, TM_ROUNDS_ASKED, TM_ROUNDS_BUSY } state;
};

/* True: the caller does the rounds. */
bool tm_rounds_ask(struct tm_rounds *r);
/* Whether there is another round. */
bool tm_rounds_next(struct tm_rounds *r);

#endif
