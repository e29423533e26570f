/* stuck.c - see stuck.h. */
#include "step/stuck.h"

#include "base/time.h"

#define ANSWERS_NS  (2 * TM_S) /* beyond the grace, for workers that were killed after it */
#define ANSWERS_MAX 4          /* of these the cause tells; user/error/ has all */

void tm_stuck_begin(struct tm_stuck *s, const struct tm_err *why, int64_t now_ns)
{
  s->since_ns = now_ns;
  s->why = *why;
}

void tm_stuck_note(struct tm_stuck *s, const char *worker, const char *where)
{
  if (!*where || s->answers++ >= ANSWERS_MAX)
    return;
  tm_buf_printf(&s->places, "%s%s was at %s", s->places.len > 0 ? ", " : "", worker, where);
}

bool tm_stuck_is_over(const struct tm_stuck *s, int64_t in_init, int64_t grace_ns, int64_t now_ns)
{
  return in_init == 0 || now_ns - s->since_ns >= grace_ns + ANSWERS_NS;
}

void tm_stuck_cause(const struct tm_stuck *s, const char *logs_dir, struct tm_err *out)
{
  if (s->places.len > 0)
    tm_err_set(out, s->why.code, "%s; %s%s; the stacks are in '%s/user/error/'", s->why.text,
               s->places.data, s->answers > ANSWERS_MAX ? ", ..." : "", logs_dir);
  else
    *out = s->why;
}

void tm_stuck_release(struct tm_stuck *s)
{
  tm_buf_release(&s->places);
}
