/* stream_credit.h - how many bytes of messages may be on their way (node_stream.h). Pure counting.
 *
 * The sender's side has a limit, and what it sent and was granted. The receiver's side grants what
 * its caller has consumed. That alone would never let a message pass that is longer than the limit,
 * because a caller consumes whole messages. So when half the limit is used up, the receiver counts
 * pieces of incomplete messages as consumed, unless whole ones of more than half the limit wait for
 * the caller.
 *
 *  (1) What was sent and not granted is at most the limit.
 *  (2) If the caller consumes everything, at least three eighths of the limit become free, which is
 *      more than a piece: no message waits forever.
 *  (3) The receiver's memory is at most one message for each worker, and the limit.
 */
#ifndef TM_SYS_MESSAGES_STREAM_CREDIT_H
#define TM_SYS_MESSAGES_STREAM_CREDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tm_credit_out {
  size_t limit, left; /* bytes */
};
void tm_credit_out_init(struct tm_credit_out *c, size_t limit);
bool tm_credit_can_send(const struct tm_credit_out *c, size_t bytes);
void tm_credit_send(struct tm_credit_out *c, size_t bytes);
/* False: the other side grants more than was sent. */
bool tm_credit_granted(struct tm_credit_out *c, uint64_t bytes);

/* Bytes since the beginning, except the first two. */
struct tm_credit_in {
  size_t limit;
  uint64_t incomplete; /* received, of messages of which more follows */
  uint64_t received, consumed, granted;
};
void tm_credit_in_init(struct tm_credit_in *c, size_t limit);
/* A piece has arrived. False: the other side had no credit for it. */
bool tm_credit_receive(struct tm_credit_in *c, size_t bytes);
/* All pieces of a message of so many bytes have arrived, or it was dropped (then it counts as
 * consumed, too). */
void tm_credit_complete(struct tm_credit_in *c, size_t bytes);
void tm_credit_consume(struct tm_credit_in *c, size_t bytes);
/* Bytes that are to be granted now, in large amounts; or 0. They are counted as granted. */
uint64_t tm_credit_grant(struct tm_credit_in *c);

#endif
