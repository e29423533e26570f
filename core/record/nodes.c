/* nodes.c - see nodes.h. */
#include "record/nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"

void tm_nodes_now_add(struct tm_buf *out, const struct tm_nodes_now *n)
{
  const char *noun = tm_text_counted(n->all, "node", "nodes");

  if (n->all <= 0)
    return;
  if (n->ready < n->all)
    tm_buf_printf(out, "%" PRId64 " of ", n->ready);
  tm_buf_printf(out, "%" PRId64 " %s", n->all, noun);
  if (n->waiting <= 0)
    return;
  tm_buf_printf(out, ", %" PRId64 " waiting", n->waiting);
  if (!n->reason[0])
    return;
  tm_buf_add_str(out, ": ");
  tm_text_one_line(out, n->reason, strlen(n->reason), 0);
}

struct tm_json *tm_nodes_now_to_json(const struct tm_nodes_now *n)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);

  tm_json_set(v, "ready", tm_json_new_int(n->ready));
  tm_json_set(v, "requested", tm_json_new_int(n->all));
  tm_json_set(v, "waiting", tm_json_new_int(n->waiting));
  if (n->waiting > 0 && n->reason[0])
    tm_json_set(v, "reason", tm_json_new_string(n->reason));
  return v;
}

bool tm_nodes_now_from_json(struct tm_nodes_now *out, const struct tm_json *v)
{
  struct tm_nodes_now n = { .ready = tm_json_int(v, "ready", -1),
                            .all = tm_json_int(v, "requested", -1),
                            .waiting = tm_json_int(v, "waiting", -1) };

  *out = (struct tm_nodes_now) { 0 };
  if (n.ready < 0 || n.waiting < 0 || n.all < n.ready || n.all < n.waiting)
    return false;
  snprintf(n.reason, sizeof(n.reason), "%s", tm_json_str(v, "reason", ""));
  *out = n;
  return true;
}

double tm_busy_percent(int64_t run_ns, int64_t worker_ns)
{
  double percent = worker_ns > 0 && run_ns > 0 ? 100.0 * (double)run_ns / (double)worker_ns : 0;

  return percent < 100 ? percent : 100; /* two clocks have measured them */
}

/* For readers, not for sums. */
static double rounded(double v)
{
  return (double)(int64_t)(v * 1000 + 0.5) / 1000;
}

struct tm_json *tm_nodes_sum_to_json(const struct tm_nodes_sum *n)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);

  tm_json_set(v, "asked", tm_json_new_int(n->asked));
  tm_json_set(v, "started", tm_json_new_int(n->started));
  tm_json_set(v, "lost", tm_json_new_int(n->lost));
  tm_json_set(v, "seconds", tm_json_new_number(rounded((double)n->ns / (double)TM_S)));
  tm_json_set(v, "busy_percent", tm_json_new_number(rounded(n->busy_percent)));
  return v;
}

bool tm_nodes_sum_from_json(struct tm_nodes_sum *out, const struct tm_json *v)
{
  double seconds = tm_json_num(v, "seconds", -1), busy = tm_json_num(v, "busy_percent", -1);
  struct tm_nodes_sum n = { .asked = tm_json_int(v, "asked", -1),
                            .started = tm_json_int(v, "started", -1),
                            .lost = tm_json_int(v, "lost", -1) };

  if (n.started < 0 || n.lost < 0 || n.asked < n.started || !(seconds >= 0 && seconds < 9e9) ||
      !(busy >= 0 && busy <= 100))
    return false;
  n.ns = (int64_t)(seconds * (double)TM_S);
  n.busy_percent = busy;
  *out = n;
  return true;
}

void tm_nodes_sum_add(struct tm_buf *out, const struct tm_nodes_sum *n)
{
  tm_text_count(out, n->asked, " requested, ");
  tm_text_count(out, n->started, " started, ");
  tm_text_count(out, n->lost, " lost; ready for ");
  tm_time_duration(out, n->ns);
  tm_buf_printf(out, " in all, workers %d %% busy", (int)(n->busy_percent + 0.5));
}
