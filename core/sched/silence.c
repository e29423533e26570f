/* silence.c - see silence.h. */
#include "sched/silence.h"

#include <stdbool.h>

#include "base/time.h"

#define ASK_NS  TM_S
#define LATE_NS TM_S

void tm_silence_init(struct tm_silence *s, int64_t limit_ns, int64_t mono_ns)
{
  *s = (struct tm_silence) { .limit_ns = limit_ns };
  tm_active_clock_init(&s->clock, mono_ns);
}

void tm_silence_heard(struct tm_silence *s)
{
  s->heard_ns = s->clock.now_ns;
}

enum tm_silence_verdict tm_silence_look(struct tm_silence *s, int64_t mono_ns)
{
  int64_t third_ns = s->limit_ns / 3, ask_ns = third_ns < ASK_NS ? third_ns : ASK_NS;
  bool is_late = mono_ns - s->clock.looked_ns > LATE_NS;
  int64_t now_ns = tm_active_clock_look(&s->clock, mono_ns);

  if (!is_late && now_ns - s->heard_ns >= s->limit_ns)
    return TM_SILENCE_OVER;
  if (now_ns - s->asked_ns < ask_ns)
    return TM_SILENCE_NONE;
  s->asked_ns = now_ns;
  return TM_SILENCE_ASK;
}

int64_t tm_silence_ns(const struct tm_silence *s)
{
  return s->clock.now_ns - s->heard_ns;
}
