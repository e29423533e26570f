/* node_use.c - see node_use.h. */
#include "report/node_use.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "report/log_line.h"
#include "report/pen.h"

#define COLUMNS_MAX 64

char *tm_node_use_word(const char *text)
{
  char *kept = tm_xstrdup(text ? text : "");
  for (char *c = kept; *c; c++)
    if (*c == ',' || *c == '"' || (unsigned char)*c <= ' ')
      *c = '_';
  return kept;
}

static struct tm_node_use *use_of(struct tm_node_uses *u, const char *node)
{
  bool is_new;
  uint64_t *place = tm_map_add(&u->places, node, strlen(node), &is_new);
  if (is_new) {
    *TM_ARRAY_ADD(&u->list) = (struct tm_node_use) { .node = tm_xstrdup(node), .busy = -1 };
    *place = u->list.len;
  }
  return &u->list.at[*place - 1];
}

void tm_node_uses_release(struct tm_node_uses *u)
{
  for (size_t i = 0; i < u->list.len; i++) {
    free(u->list.at[i].node);
    free(u->list.at[i].address);
  }
  TM_ARRAY_RELEASE(&u->list);
  tm_map_release(&u->places);
}

/* ---- earlier sessions ---- */

enum column { NODE, ADDRESS, RUN, STARTED, SECONDS, BUSY, ENDED, COLUMNS };
static const char *const names[COLUMNS] = {
  [NODE] = "Node",       [ADDRESS] = "Node Address", [RUN] = "Run Method Seconds",
  [STARTED] = "Started", [SECONDS] = "Seconds",      [BUSY] = "Busy Percent",
  [ENDED] = "Ended"
};

/* False: the file has no such columns. */
static bool find_columns(size_t places[COLUMNS], char *const *fields, size_t len)
{
  size_t found = 0;
  for (size_t c = 0; c < COLUMNS; c++)
    for (size_t i = 0; i < len; i++)
      if (strcmp(fields[i], names[c]) == 0) {
        places[c] = i;
        found++;
        break;
      }
  return found == COLUMNS;
}

/* In ns, of a number with microseconds; 0: it is not such a number. */
static int64_t seconds(const char *text)
{
  double v;
  return tm_text_number(text, &v) && v > 0 && v < 9e8 ? (int64_t)(v * 1e6 + 0.5) * 1000 : 0;
}

static int64_t moment(const char *text)
{
  int64_t ns = 0;
  return tm_log_moment(text, strlen(text), &ns) > 0 && ns > 0 ? ns : 0;
}

static void take(struct tm_node_uses *u, const size_t places[COLUMNS], char *const *fields)
{
  int64_t started_ns = moment(fields[places[STARTED]]);
  struct tm_node_use *n = started_ns > 0 ? use_of(u, fields[places[NODE]]) : NULL;
  double busy = 0;
  if (!n || n->address) /* nothing is known of it; or it comes twice */
    return;
  n->address = tm_xstrdup(fields[places[ADDRESS]]);
  n->started_ns = started_ns;
  n->ended_ns = moment(fields[places[ENDED]]);
  n->ns = seconds(fields[places[SECONDS]]);
  if (!tm_text_number(fields[places[BUSY]], &busy) || !(busy >= 0.01 && busy <= 100))
    busy = 0;
  n->busy = (int)(100 * busy + 0.5);
  if (busy > 0)
    n->worker_ns = (int64_t)((double)seconds(fields[places[RUN]]) * 100 / busy);
  if (n->worker_ns < n->ns)
    n->worker_ns = n->ns; /* one worker, at least */
}

void tm_node_uses_read(struct tm_node_uses *u, const char *text, size_t len)
{
  char *copy = tm_xstrndup(text, len), *end, *at = copy, *fields[COLUMNS_MAX];
  size_t places[COLUMNS], columns = 0;
  for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
    size_t n = tm_csv_split(at, (size_t)(end - at), fields, COLUMNS_MAX);
    if (columns == 0 && !find_columns(places, fields, n))
      break;
    if (columns > 0 && n == columns)
      take(u, places, fields);
    columns = columns == 0 ? n : columns;
  }
  free(copy);
}

/* ---- this session ---- */

static void pass(struct tm_node_use *n, int64_t mono_ns)
{
  int64_t ns = mono_ns > n->since_ns ? mono_ns - n->since_ns : 0;
  if (n->workers > 0) {
    n->ns += ns;
    n->worker_ns += ns * n->workers;
  }
  n->since_ns = mono_ns;
}

bool tm_node_uses_add(struct tm_node_uses *u, const struct tm_event *e)
{
  bool is_start = e->kind == TM_EVENT_WORKER_STARTED;
  struct tm_node_use *n;
  if ((!is_start && (e->kind != TM_EVENT_WORKER_ENDED || e->lived_ns <= 0)) || !e->node_id)
    return false;
  n = use_of(u, e->node_id);
  pass(n, e->mono_ns);
  n->busy = -1;
  if (!n->address)
    n->address = tm_node_use_word(e->node_address);
  if (is_start && n->started_ns == 0)
    n->started_ns = e->wall_ns;
  n->workers += is_start ? 1 : n->workers > 0 ? -1 : 0;
  n->ended_ns = n->workers > 0 ? 0 : e->wall_ns;
  return true;
}

static void add_moment(struct tm_buf *out, int64_t wall_ns)
{
  tm_buf_add_char(out, ',');
  if (wall_ns > 0)
    tm_time_iso(out, wall_ns);
}

void tm_node_uses_add_columns(struct tm_buf *out, const struct tm_node_uses *u, const char *node,
                              int64_t run_ns, int64_t mono_ns)
{
  const uint64_t *place = tm_map_find(&u->places, node, strlen(node));
  struct tm_node_use n;
  struct tm_pen p;
  int busy;
  if (!place) {
    tm_buf_add_str(out, ",,,,");
    return;
  }
  n = u->list.at[*place - 1];
  pass(&n, mono_ns);
  add_moment(out, n.started_ns);
  tm_pen_start(&p, out, 2 * TM_PEN_INT);
  tm_pen_add_char(&p, ',');
  tm_pen_add_seconds(&p, n.ns);
  tm_pen_stop(&p);
  busy = n.busy >= 0 ? n.busy : (int)(100 * tm_busy_percent(run_ns, n.worker_ns) + 0.5);
  tm_buf_printf(out, ",%d.%02d", busy / 100, busy % 100);
  add_moment(out, n.ended_ns);
}
