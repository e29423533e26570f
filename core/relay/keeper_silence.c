/* keeper_silence.c - see keeper_silence.h. */
#include "relay/keeper_silence.h"

#include "base/time.h"

void tm_keeper_silence_init(struct tm_keeper_silence *s, int64_t mono_ns)
{
  *s = (struct tm_keeper_silence) { .is_on = true };
  tm_silence_init(&s->silence, INT64_MAX, mono_ns);
}

void tm_keeper_silence_heard(struct tm_keeper_silence *s)
{
  tm_silence_heard(&s->silence);
}

static int64_t limit_of(int64_t timeout_ns)
{
  return timeout_ns == 0 ? INT64_MAX : timeout_ns > TM_S ? timeout_ns : TM_S;
}

struct tm_keeper_doing tm_keeper_silence_look(struct tm_keeper_silence *s, int64_t limit_ns,
                                              int64_t mono_ns)
{
  struct tm_keeper_doing doing = { .asks = false };
  enum tm_silence_verdict verdict;
  bool is_silent;

  if (!s->is_on)
    return doing;
  s->silence.limit_ns = limit_of(limit_ns);
  verdict = tm_silence_look(&s->silence, mono_ns);
  doing.silent_ns = tm_silence_ns(&s->silence);
  doing.asks = verdict == TM_SILENCE_ASK;
  doing.is_over = verdict == TM_SILENCE_OVER;
  is_silent =
      doing.silent_ns >= TM_KEEPER_SILENCE_NOTE_NS || doing.silent_ns >= s->silence.limit_ns / 2;
  if (is_silent != s->is_reported) {
    doing.reports = true;
    s->is_reported = is_silent;
    doing.silent_ns = is_silent ? doing.silent_ns : 0;
  } else {
    doing.reports = is_silent && doing.asks;
  }
  return doing;
}
