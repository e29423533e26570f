/* node_silence.c - a node that is not heard, or whose keeper is silent: see node.h. */
#include "fleet/node_state.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

static void note_keeper(const struct tm_node *n)
{
  char *text = n->keeper_silent_ns > 0
                   ? tm_xprintf("the keeper of node %s has not answered for %.1f s; its relay does",
                                n->name, (double)n->keeper_silent_ns / 1e9)
                   : tm_xprintf("the keeper of node %s answers again", n->name);

  n->o.on_note(n->o.data, text);
  free(text);
}

/* By then it may have died with its machine; what is known is that it was silent before. */
static void lose_with_keeper(struct tm_node *n)
{
  char *text =
      tm_xprintf("its keeper has not answered for %g s: it may have been stopped (SIGSTOP)",
                 (double)n->silence.limit_ns / 1e9);

  tm_node_lose(n, text);
  free(text);
}

void tm_node_on_keeper_silent(struct tm_node *n, const struct tm_msg *f)
{
  bool was_silent = n->keeper_silent_ns > 0;
  uint64_t ns;

  if (f->length != 8) {
    tm_node_lose_impossible(n);
    return;
  }
  ns = tm_get_u32(f->payload) | (uint64_t)tm_get_u32(f->payload + 4) << 32;
  n->keeper_silent_ns = ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
  if (n->keeper_silent_ns >= n->silence.limit_ns)
    lose_with_keeper(n);
  else if (was_silent != (n->keeper_silent_ns > 0))
    note_keeper(n);
}

static void lose_silent(struct tm_node *n)
{
  double seconds = (double)n->silence.limit_ns / 1e9;
  char *text;

  if (n->keeper_silent_ns > 0) {
    lose_with_keeper(n);
    return;
  }
  text =
      n->is_stream
          ? tm_xprintf("nothing heard for %g s: the machine, the network or the keeper there may "
                       "have stopped",
                       seconds)
          : tm_xprintf("the keeper of the workers has not answered for %g s: it may have been "
                       "stopped (SIGSTOP); it is replaced",
                       seconds);

  tm_node_lose(n, text);
  free(text);
}

void tm_node_tick(struct tm_node *n, int64_t mono_ns)
{
  enum tm_silence_verdict verdict;

  if (!n || n->is_lost)
    return;
  verdict = tm_silence_look(&n->silence, mono_ns);
  if (!n->is_reached)
    tm_silence_heard(&n->silence); /* its silence has not begun */
  else if (verdict == TM_SILENCE_OVER)
    lose_silent(n);
  else if (verdict == TM_SILENCE_ASK)
    tm_node_send(n, &(struct tm_msg) { .type = TM_MSG_PING, .fd = -1 });
}
