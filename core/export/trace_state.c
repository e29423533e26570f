/* trace_state.c - see trace_state.h. */
#include "export/trace_state.h"

#define PIECE (256u << 10) /* bytes */

int64_t tm_trace_us(const struct tm_trace *t, int64_t wall_ns)
{
  return wall_ns > t->o.origin_ns ? (wall_ns - t->o.origin_ns) / 1000 : 0;
}

void tm_trace_pass_on(struct tm_trace *t)
{
  if (t->rc == 0 && t->text.len > 0)
    t->rc = t->o.on_text(t->o.data, t->text.data, t->text.len);
  tm_buf_clear(&t->text);
}

struct tm_buf *tm_trace_next(struct tm_trace *t)
{
  if (t->text.len >= PIECE)
    tm_trace_pass_on(t);
  tm_buf_add_str(&t->text, t->has_event ? ",\n" : "\n");
  t->has_event = true;
  return &t->text;
}

size_t tm_trace_note(struct tm_trace *t, int64_t wall_ns)
{
  size_t i = t->session_ends.len - 1;
  int64_t at = tm_trace_us(t, wall_ns);
  while (i > 0 && t->step->sessions[i].begin_ns > wall_ns)
    i--;
  if (t->session_ends.at[i] < at)
    t->session_ends.at[i] = at;
  return i;
}
