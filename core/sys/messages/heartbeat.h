/* heartbeat.h - the heartbeats of a stream (node_stream.h): when one is due, what it says, and what
 * one that comes means. Pure: times are passed in, in nanoseconds.
 *
 * A heartbeat has 40 bytes, numbers of 64 bits: the sender's monotonic and wall clock; the
 * monotonic clock of the other side's last heartbeat (0: none came), and how long that was held;
 * the timeout, which only the supervisor knows: the relay learns it.
 *
 * The supervisor sends one every fifth of the timeout. The relay answers each at once; if none
 * comes, it sends one after one and a half times as long.
 *
 * The round trip is the shortest of the last 8: waiting behind data only lengthens it. The time for
 * which a heartbeat was held counts with an error of 100 millionths, because the clocks of two
 * machines differ. The offset of the wall clocks is that of the same heartbeat.
 */
#ifndef TM_SYS_MESSAGES_HEARTBEAT_H
#define TM_SYS_MESSAGES_HEARTBEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

#define TM_HEARTBEAT_LEN     40 /* bytes */
#define TM_HEARTBEAT_SAMPLES 8

/* What a timeout may be. */
#define TM_HEARTBEAT_TIMEOUT_MIN_NS TM_MS
#define TM_HEARTBEAT_TIMEOUT_MAX_NS (24 * 3600 * TM_S)

struct tm_heartbeat {
  bool is_supervisor;
  int64_t timeout_ns; /* 0: none; a relay has not learnt it yet */
  int64_t sent_ns;    /* when the last one was sent; 0: none */
  bool is_answer_due;
  int64_t other_ns, came_ns; /* the other side's last one: its clock, and when it came */
  struct {
    int64_t round_trip_ns, offset_ns;
  } samples[TM_HEARTBEAT_SAMPLES];
  size_t taken; /* samples, ever */
};

/* timeout_ns: 0 for a relay, and for a supervisor that sends none; else within the limits above. */
void tm_heartbeat_init(struct tm_heartbeat *h, bool is_supervisor, int64_t timeout_ns);
/* How long until one is due; 0: now; INT64_MAX: none is. */
int64_t tm_heartbeat_wait_ns(const struct tm_heartbeat *h, int64_t mono_ns);
/* The bytes of one that is sent now. */
void tm_heartbeat_make(struct tm_heartbeat *h, int64_t mono_ns, int64_t wall_ns,
                       char out[TM_HEARTBEAT_LEN]);
/* One has come. False: it cannot be one; nothing has changed then. The bytes may be hostile. */
bool tm_heartbeat_take(struct tm_heartbeat *h, const char *bytes, size_t n, int64_t mono_ns,
                       int64_t wall_ns);
int64_t tm_heartbeat_round_trip_ns(const struct tm_heartbeat *h); /* 0: not known yet */
/* The other side's wall clock minus ours; 0 if the round trip is not known yet. */
int64_t tm_heartbeat_clock_offset_ns(const struct tm_heartbeat *h);

#endif
