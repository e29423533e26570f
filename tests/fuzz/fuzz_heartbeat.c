/* fuzz_heartbeat.c - heartbeats of a stream, one after another, 40 bytes each; the first byte says
 * whose. What is refused changes nothing; a round trip is never negative, and what is sent next can
 * be taken by the other side. */
#include "fuzz.h"

#include "base/time.h"
#include "sys/messages/heartbeat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_heartbeat h, before;
  int64_t now_ns = 1000 * TM_S;
  char own[TM_HEARTBEAT_LEN];
  if (size == 0)
    return 0;
  tm_heartbeat_init(&h, data[0] & 1, data[0] & 1 ? 15 * TM_S : 0);
  for (size_t at = 1; at < size; at += TM_HEARTBEAT_LEN) {
    size_t n = size - at < TM_HEARTBEAT_LEN ? size - at : TM_HEARTBEAT_LEN;
    before = h;
    if (!tm_heartbeat_take(&h, (const char *)data + at, n, now_ns, now_ns))
      fuzz_require(memcmp(&before, &h, sizeof h) == 0);
    fuzz_require(tm_heartbeat_round_trip_ns(&h) >= 0 && tm_heartbeat_wait_ns(&h, now_ns) >= 0);
    (void)tm_heartbeat_clock_offset_ns(&h);
    tm_heartbeat_make(&h, now_ns, now_ns, own);
    now_ns += TM_S;
  }
  return 0;
}
