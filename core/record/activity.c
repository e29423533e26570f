/* activity.c - see activity.h. */
#include "record/activity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "base/time.h"

#define TYPICAL_TIMES 3   /* a mini-batch is slow if it takes this many times as long as others */
#define STUCK_MAX     3   /* activities that are named when a step is given up */
#define ITEM_MAX      120 /* bytes of a path in a line */

static int compare(const void *a, const void *b)
{
  const struct tm_activity *x = a, *y = b;

  if (x->ns != y->ns)
    return x->ns > y->ns ? -1 : 1;
  return strcmp(x->worker, y->worker);
}

void tm_activities_sort(struct tm_activities *a)
{
  if (a->list.len > 1)
    qsort(a->list.at, a->list.len, sizeof(*a->list.at), compare);
}

void tm_activities_clear(struct tm_activities *a)
{
  for (size_t i = 0; i < a->list.len; i++)
    free(a->list.at[i].first_item);
  a->list.len = 0;
}

void tm_activities_release(struct tm_activities *a)
{
  tm_activities_clear(a);
  TM_ARRAY_RELEASE(&a->list);
}

/* ---- the decision ---- */

static bool is_slow(const struct tm_activity *a, int64_t typical_ns) /* keeps (2) */
{
  if (a->ns < TM_ACTIVITY_SLOW_NS)
    return false;
  return a->seq == 0 || typical_ns <= a->ns / TYPICAL_TIMES;
}

struct tm_slow tm_activities_slow(const struct tm_activities *a)
{
  struct tm_slow slow = { .first = NULL };

  for (size_t i = 0; i < a->list.len; i++) {
    const struct tm_activity *one = &a->list.at[i];
    tm_require(i == 0 || one->ns <= a->list.at[i - 1].ns);
    if (!is_slow(one, a->typical_ns))
      continue;
    slow.others += slow.first != NULL;
    if (!slow.first)
      slow.first = one;
  }
  slow.is_init = slow.first && slow.first->phase == TM_PHASE_INIT && a->workers > 0 &&
                 a->in_init == a->workers; /* keeps (3) */
  return slow;
}

/* ---- the words ---- */

/* A duration without fractions, for display next to a clock that ticks. */
static void add_duration(struct tm_buf *out, int64_t ns)
{
  if (ns < 60 * TM_S)
    tm_buf_printf(out, "%d s", (int)(ns / TM_S));
  else
    tm_time_duration(out, ns);
}

static const char *phase_words(enum tm_phase phase)
{
  switch (phase) {
  case TM_PHASE_LOAD: return " loading it";
  case TM_PHASE_PREFETCH: return " in prefetch()";
  case TM_PHASE_RUN: return " in run()";
  case TM_PHASE_RETURN: return " returning its result";
  default: return "";
  }
}

static const char *call_words(enum tm_phase phase)
{
  switch (phase) {
  case TM_PHASE_START: return "being started";
  case TM_PHASE_INIT: return "in init()";
  case TM_PHASE_SHUTDOWN: return "in shutdown()";
  case TM_PHASE_RECOVER: return "in recover()";
  default: return "at work";
  }
}

/* `item_max`: bytes of the item's path, 0 for all of it; either makes it one line. -1: the path
 * stays as it is. */
static void add_one(struct tm_buf *out, const struct tm_activity *a, bool is_short, int item_max)
{
  bool has_mini_batch = a->seq != 0;

  tm_buf_printf(out, "%s: ", a->worker);
  if (has_mini_batch)
    tm_buf_printf(out, "mini-batch %" PRIu64, a->index);
  else
    tm_buf_add_str(out, call_words(a->phase));
  if (has_mini_batch && a->part_first > 0 && !is_short)
    tm_buf_printf(out, ", items %" PRIu32 " to %" PRIu32, a->part_first, a->part_last);
  if (has_mini_batch && !is_short)
    tm_buf_printf(out, ", try %" PRIu32 ",", a->try);
  tm_buf_add_str(out, " for ");
  add_duration(out, a->ns);
  if (has_mini_batch && !is_short)
    tm_buf_add_str(out, phase_words(a->phase));
  if (a->is_stopped)
    tm_buf_add_str(out, ", stopped by SIGSTOP");
  if (a->is_waiting)
    tm_buf_add_str(out, ", waiting for another worker");
  if (!has_mini_batch || is_short || !a->first_item)
    return;
  tm_buf_add_str(out, ", first item '");
  if (item_max < 0)
    tm_buf_add_str(out, a->first_item);
  else
    tm_text_one_line(out, a->first_item, strlen(a->first_item), (size_t)item_max);
  tm_buf_add_char(out, '\'');
}

void tm_activity_add(struct tm_buf *out, const struct tm_activity *a)
{
  add_one(out, a, false, -1);
}

void tm_activity_add_begun(struct tm_buf *out, const struct tm_activity *a, int64_t wall_ns)
{
  if (a->seq == 0) {
    tm_buf_printf(out, "%s since ", call_words(a->phase));
    tm_time_log(out, wall_ns - a->ns);
    return;
  }
  tm_buf_printf(out, "mini-batch %" PRIu64 ", try %" PRIu32 ": begun ", a->index, a->try);
  tm_time_log(out, wall_ns - a->ns);
  if (*phase_words(a->phase))
    tm_buf_printf(out, ",%s", phase_words(a->phase));
  if (a->part_first > 0)
    tm_buf_printf(out, ", items %" PRIu32 " to %" PRIu32, a->part_first, a->part_last);
  if (a->first_item)
    tm_buf_printf(out, ", first item '%s'", a->first_item);
}

static void add_init(struct tm_buf *out, const struct tm_activity *a)
{
  tm_buf_add_str(out, "no worker has come out of init() for ");
  add_duration(out, a->ns);
}

void tm_slow_add_short(struct tm_buf *out, const struct tm_slow *slow)
{
  if (!slow->first)
    return;
  if (slow->is_init) {
    add_init(out, slow->first);
    return;
  }
  add_one(out, slow->first, true, 0);
  if (slow->others > 0)
    tm_buf_printf(out, " (%zu more)", slow->others);
}

void tm_slow_add(struct tm_buf *out, const struct tm_slow *slow, const struct tm_activities *a)
{
  if (!slow->first)
    return;
  if (!slow->is_init) {
    add_one(out, slow->first, false, ITEM_MAX);
    if (slow->others > 0)
      tm_buf_printf(out, " (%zu more %s slow)", slow->others,
                    tm_text_counted((int64_t)slow->others, "worker is", "workers are"));
    return;
  }
  add_init(out, slow->first);
  if (a->init_timeout_ns > 0)
    tm_buf_printf(out, " (init_timeout is %g s", (double)a->init_timeout_ns / 1e9);
  else
    tm_buf_add_str(out, " (init_timeout is not set");
  if (a->script) {
    tm_buf_add_str(out, "; ");
    tm_text_one_line(out, a->script, strlen(a->script), ITEM_MAX);
  }
  tm_buf_add_char(out, ')');
}

void tm_activities_add_stuck(struct tm_buf *out, const struct tm_activities *a)
{
  size_t named = a->list.len < STUCK_MAX ? a->list.len : STUCK_MAX;

  for (size_t i = 0; i < named; i++) {
    tm_buf_add_str(out, i > 0 ? "; " : "");
    add_one(out, &a->list.at[i], false, ITEM_MAX);
  }
  if (a->list.len > named)
    tm_buf_printf(out, "; and %zu more", a->list.len - named);
}

/* ---- JSON ---- */

struct tm_json *tm_activity_to_json(const struct tm_activity *a)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  const char *phase = a->seq != 0 && a->phase == TM_PHASE_IDLE ? NULL : tm_phase_name(a->phase);

  tm_json_set(v, "worker", tm_json_new_string(a->worker));
  tm_json_set(v, "pid", tm_json_new_int(a->pid));
  tm_json_set(v, "phase", tm_json_new_string(phase));
  /* whole milliseconds; NOLINTNEXTLINE(bugprone-integer-division) */
  tm_json_set(v, "seconds", tm_json_new_number((double)(a->ns / TM_MS) / 1e3));
  tm_json_set(v, "stopped", tm_json_new_bool(a->is_stopped));
  tm_json_set(v, "waiting", tm_json_new_bool(a->is_waiting));
  if (a->seq == 0)
    return v;
  tm_json_set(v, "mini_batch", tm_json_new_int((int64_t)a->index));
  tm_json_set(v, "try", tm_json_new_int(a->try));
  if (a->begun_wall_ns > 0)
    tm_json_set(v, "begun_ms", tm_json_new_int(a->begun_wall_ns / TM_MS));
  if (a->part_first > 0) {
    struct tm_json *items = tm_json_set(v, "items", tm_json_new(TM_JSON_ARRAY));
    tm_json_add(items, tm_json_new_int(a->part_first));
    tm_json_add(items, tm_json_new_int(a->part_last));
  }
  tm_json_set(v, "first_item", tm_json_new_string(a->first_item));
  return v;
}

static enum tm_phase phase_of(const char *name)
{
  for (int i = TM_PHASE_START; i <= TM_PHASE_LAST; i++)
    if (strcmp(name, tm_phase_name((enum tm_phase)i)) == 0)
      return (enum tm_phase)i;
  return TM_PHASE_IDLE;
}

/* 1 to UINT32_MAX, or 0. */
static uint32_t number_of(const struct tm_json *v, size_t i)
{
  const struct tm_json *n = tm_json_items(v) > i ? v->list.at[i] : NULL;

  return n && n->type == TM_JSON_INT && n->integer > 0 && n->integer <= UINT32_MAX
             ? (uint32_t)n->integer
             : 0;
}

bool tm_activity_from_json(struct tm_activity *out, const struct tm_json *v)
{
  const char *worker = tm_json_str(v, "worker", ""), *item = tm_json_str(v, "first_item", NULL);
  int64_t index = tm_json_int(v, "mini_batch", -1), number = tm_json_int(v, "try", 0);
  int64_t begun_ms = tm_json_int(v, "begun_ms", 0);
  double seconds = tm_json_num(v, "seconds", -1);

  *out = (struct tm_activity) { .phase = phase_of(tm_json_str(v, "phase", "")) };
  if (!*worker || strlen(worker) >= sizeof(out->worker) || !(seconds >= 0 && seconds < 1e9))
    return false;
  strcpy(out->worker, worker);
  out->pid = tm_json_int(v, "pid", 0);
  out->ns = (int64_t)(seconds * 1e9);
  out->is_stopped = tm_json_bool(v, "stopped", false);
  out->is_waiting = tm_json_bool(v, "waiting", false);
  if (index < 0 || number < 1 || number > UINT32_MAX)
    return index == -1;
  out->seq = 1;
  out->index = (uint64_t)index;
  out->try = (uint32_t)number;
  if (begun_ms > 0 && begun_ms < INT64_MAX / TM_MS / 2)
    out->begun_wall_ns = begun_ms * TM_MS;
  out->part_first = number_of(tm_json_get(v, "items"), 0);
  out->part_last = number_of(tm_json_get(v, "items"), 1);
  out->first_item = tm_xstrdup(item);
  return true;
}
