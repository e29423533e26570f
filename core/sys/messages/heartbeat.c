/* heartbeat.c - see heartbeat.h.
 *
 *  (1) No number that came is used before it was found to be within TIME_MAX.
 */
#include "sys/messages/heartbeat.h"

#include "base/buf.h"
#include "base/check.h"

#define TIME_MAX (INT64_MAX / 4)
#define BEATS    5     /* in a timeout */
#define DRIFT    10000 /* a clock's error: one part of so many */

static bool can_be_timeout(int64_t ns)
{
  return ns >= TM_HEARTBEAT_TIMEOUT_MIN_NS && ns <= TM_HEARTBEAT_TIMEOUT_MAX_NS;
}

void tm_heartbeat_init(struct tm_heartbeat *h, bool is_supervisor, int64_t timeout_ns)
{
  tm_require(timeout_ns == 0 || (is_supervisor && can_be_timeout(timeout_ns)));
  *h = (struct tm_heartbeat) { .is_supervisor = is_supervisor, .timeout_ns = timeout_ns };
}

int64_t tm_heartbeat_wait_ns(const struct tm_heartbeat *h, int64_t mono_ns)
{
  int64_t interval_ns = h->timeout_ns / BEATS, left_ns;
  if (h->timeout_ns == 0)
    return INT64_MAX;
  if (h->is_answer_due || h->sent_ns == 0)
    return 0;
  if (!h->is_supervisor)
    interval_ns += interval_ns / 2;
  left_ns = h->sent_ns + interval_ns - mono_ns;
  return left_ns > 0 ? left_ns : 0;
}

static void put_u64(char *p, int64_t value)
{
  tm_put_u32(p, (uint32_t)(uint64_t)value);
  tm_put_u32(p + 4, (uint32_t)((uint64_t)value >> 32));
}

void tm_heartbeat_make(struct tm_heartbeat *h, int64_t mono_ns, int64_t wall_ns,
                       char out[TM_HEARTBEAT_LEN])
{
  tm_require(mono_ns > 0 && wall_ns > 0);
  put_u64(out, mono_ns);
  put_u64(out + 8, wall_ns);
  put_u64(out + 16, h->other_ns);
  put_u64(out + 24, h->other_ns > 0 ? mono_ns - h->came_ns : 0);
  put_u64(out + 32, h->is_supervisor ? h->timeout_ns : 0);
  h->sent_ns = mono_ns;
  h->is_answer_due = false;
}

static void add_sample(struct tm_heartbeat *h, int64_t away_ns, int64_t held_ns, int64_t ahead_ns)
{
  int64_t error_ns = held_ns / DRIFT, trip_ns = away_ns - held_ns;
  size_t at = h->taken % TM_HEARTBEAT_SAMPLES;
  if (trip_ns < -error_ns) /* this machine slept meanwhile */
    return;
  trip_ns += error_ns;
  h->samples[at].round_trip_ns = trip_ns > 0 ? trip_ns : 1;
  h->samples[at].offset_ns = ahead_ns + trip_ns / 2;
  h->taken++;
}

bool tm_heartbeat_take(struct tm_heartbeat *h, const char *bytes, size_t n, int64_t mono_ns,
                       int64_t wall_ns)
{
  int64_t t[5];
  struct tm_reader r;
  if (n != TM_HEARTBEAT_LEN)
    return false;
  tm_reader_init(&r, bytes, n);
  for (int i = 0; i < 5; i++) {
    uint64_t value = tm_read_u64(&r);
    if (value > TIME_MAX) /* keeps (1) */
      return false;
    t[i] = (int64_t)value;
  }
  if (t[0] == 0 || t[1] == 0 || t[2] > h->sent_ns)
    return false;
  if (h->is_supervisor ? t[4] != 0 : !can_be_timeout(t[4]))
    return false;
  if (t[2] > 0)
    add_sample(h, mono_ns - t[2], t[3], t[1] - wall_ns);
  h->other_ns = t[0];
  h->came_ns = mono_ns;
  if (!h->is_supervisor) {
    h->timeout_ns = t[4];
    h->is_answer_due = true;
  }
  return true;
}

/* The shortest; -1: none. */
static int best_of(const struct tm_heartbeat *h)
{
  int best = -1;
  for (int i = 0; i < TM_HEARTBEAT_SAMPLES && (size_t)i < h->taken; i++)
    if (best < 0 || h->samples[i].round_trip_ns < h->samples[best].round_trip_ns)
      best = i;
  return best;
}

int64_t tm_heartbeat_round_trip_ns(const struct tm_heartbeat *h)
{
  int best = best_of(h);
  return best < 0 ? 0 : h->samples[best].round_trip_ns;
}

int64_t tm_heartbeat_clock_offset_ns(const struct tm_heartbeat *h)
{
  int best = best_of(h);
  return best < 0 ? 0 : h->samples[best].offset_ns;
}
