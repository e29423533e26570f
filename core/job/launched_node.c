/* launched_node.c - see launched_node.h. */
#include "job/launched_node.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/buf.h"

void tm_launched_node_name(struct tm_buf *out, const struct tm_launched_node *n)
{
  tm_buf_printf(out, "node %" PRIu32, n->id);
  if (n->host)
    tm_buf_printf(out, " (%s)", n->host);
}

static void add_end(struct tm_buf *out, const struct tm_launch_ended *e)
{
  if (e->signal)
    tm_buf_printf(out, "its command was killed by signal %d (%s)", e->signal, strsignal(e->signal));
  else
    tm_buf_printf(out, "its command exited with status %d", e->exit_status);
}

/* Our own SIGTERM explains nothing. */
static bool explains(const struct tm_launched_node *n)
{
  return n->has_ended && !n->is_late && !(n->why && n->ended.signal == SIGTERM);
}

void tm_launched_node_describe(struct tm_buf *out, const struct tm_launched_node *n)
{
  tm_buf_add_str(out, n->was_ready ? "" : "cannot start ");
  tm_launched_node_name(out, n);
  tm_buf_add_str(out, n->was_ready ? " is lost: " : ": ");
  if (!n->was_ready && explains(n)) {
    add_end(out, &n->ended);
    tm_buf_add_str(out, " before the node was ready");
  } else {
    tm_buf_add_str(out, n->why ? n->why : "its command has ended");
    if (explains(n)) {
      tm_buf_add_str(out, "; ");
      add_end(out, &n->ended);
    }
  }
  if (n->has_ended && n->ended.last_line[0])
    tm_buf_printf(out, "; its last line was '%s'", n->ended.last_line);
  if (!n->was_ready && n->printed && (n->is_late || explains(n)))
    tm_buf_printf(out, "; it printed '%s'", n->printed);
  tm_buf_printf(out, "; see 'nodes/%" PRIu32 ".txt'", n->id);
}
