/* sched_fixture.h - tests the scheduler by tables: events, and the actions that must follow.
 *
 * An event is written as "[at MS] NAME NUMBER...": the worker (or node, or search), then the rest.
 * Actions are written "NAME WORKER/SEQ mINDEX"; a part is mINDEX:FIRST+COUNT. "refused" comes
 * before them if the event was. "kept" behind an event: its assignment was announced, and left its
 * worker.
 */
#ifndef TM_TESTS_SCHED_FIXTURE_H
#define TM_TESTS_SCHED_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/time.h"
#include "record/part.h"
#include "sched/sched.h"

struct line {
  const char *event, *actions;
};

struct fixture {
  struct tm_sched s;
  int64_t now_ns;
  struct tm_counts counts;
  const char *states; /* of the event: "2=begun 3=done" */
  struct tm_sched_action handed[64];
  size_t handed_len;
};

static inline bool is_over(void *data, uint64_t index)
{
  return data && index == *(uint64_t *)data;
}

static const struct tm_sched_options usual = {
  .run_max_try = 2, .retry_delay_ns = 0, .window_max = 16, .is_over = is_over
};

/* ---- actions as text ---- */

static inline void add_part(struct tm_buf *out, uint64_t part)
{
  tm_buf_printf(out, "%u+%u", tm_part_first(part), tm_part_count(part));
}

static inline void add_what(struct tm_buf *out, const struct tm_sched_action *a)
{
  tm_buf_printf(out, " %u/%d m%d", a->worker, (int)a->seq, (int)a->what.index);
  if (a->what.part == 0)
    return;
  tm_buf_printf(out, ":");
  add_part(out, a->what.part);
}

static inline void add_search(struct tm_buf *out, const struct tm_sched_action *a)
{
  add_what(out, a);
  tm_buf_printf(out, " s%u%s", a->search, a->is_new ? " new" : "");
  if (a->bad) {
    tm_buf_printf(out, " bad ");
    add_part(out, a->bad);
  }
  if (a->untested) {
    tm_buf_printf(out, " untested ");
    add_part(out, a->untested);
  }
  tm_buf_printf(out, "%s", a->is_over ? " over" : "");
}

static inline void add_recall(struct tm_buf *out, const struct tm_sched *s, uint32_t worker)
{
  uint64_t seqs[16];
  size_t n = tm_sched_recalled(s, worker, seqs);

  tm_buf_printf(out, " %u:", worker);
  for (size_t i = 0; i < n; i++)
    tm_buf_printf(out, " %d", (int)seqs[i]);
}

static inline void add_sick(struct tm_buf *out, const struct tm_sched_action *a)
{
  tm_buf_printf(out, " %u: ", a->node);
  tm_sickness_describe(out, &a->sickness);
}

static inline void add_action(struct tm_buf *out, const struct tm_sched *s,
                              const struct tm_sched_action *a)
{
  static const char *const names[] = { "start", "setup",       "hand",       "recall",
                                       "stop",  "kill",        "retry",      "again",
                                       "fail",  "search",      "over",       "node failed",
                                       "sick",  "no progress", "init fails", "init stuck" };

  tm_buf_printf(out, "%s%s", out->len > 0 ? ", " : "", names[a->kind]);
  switch (a->kind) {
  case TM_SCHED_START: tm_buf_printf(out, " %u on %u", a->worker, a->node); break;
  case TM_SCHED_SETUP:
  case TM_SCHED_STOP:
  case TM_SCHED_KILL: tm_buf_printf(out, " %u", a->worker); break;
  case TM_SCHED_RECALL: add_recall(out, s, a->worker); break;
  case TM_SCHED_SEARCH: add_search(out, a); break;
  case TM_SCHED_SEARCH_OVER: tm_buf_printf(out, " s%u", a->search); break;
  case TM_SCHED_NODE_FAILED: tm_buf_printf(out, " %u", a->node); break;
  case TM_SCHED_NODE_SICK: add_sick(out, a); break;
  case TM_SCHED_NO_PROGRESS:
  case TM_SCHED_INIT_FAILS:
  case TM_SCHED_INIT_STUCK: break;
  default: add_what(out, a); break;
  }
}

/* ---- events from text ---- */

static const char *const names[] = { "turn",      "begin",   "time",     "node",      "silent",
                                     "lost",      "drains",  "distance", "created",   "started",
                                     "loaded",    "ready",   "result",   "failed",    "unusable",
                                     "announced", "dropped", "taken",    "deaf",      "retired",
                                     "ended",     "spoiled", "settled",  "give_back", "no_starts",
                                     "end" };

static inline enum tm_sched_event_kind kind_of(const char *name)
{
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strcmp(names[i], name) == 0)
      return (enum tm_sched_event_kind)i;
  fail_msg("no event '%s'", name);
  return TM_SCHED_ON_TURN;
}

static inline void look(void *data, uint64_t seq, struct tm_lost_try *out)
{
  const struct fixture *f = data;
  char key[32];
  const char *at;

  snprintf(key, sizeof(key), "%d=", (int)seq);
  at = strstr(f->states, key);
  if (at && strncmp(at + strlen(key), "begun", 5) == 0)
    out->state = TM_TRY_BEGUN;
  else if (at)
    out->state = TM_TRY_DONE;
}

/* What the worker was handed last under that seq. */
static inline const struct tm_assignment *find_handed(const struct fixture *f, int worker, int seq)
{
  for (size_t i = f->handed_len; i-- > 0;)
    if ((int)f->handed[i].worker == worker && (int)f->handed[i].seq == seq)
      return &f->handed[i].what;
  fail_msg("%d/%d was not handed out", worker, seq);
  return NULL;
}

static inline void note_handed(struct fixture *f, const struct tm_sched_action *a)
{
  if (a->kind != TM_SCHED_HAND)
    return;
  assert_true(f->handed_len < TM_COUNT_OF(f->handed));
  f->handed[f->handed_len++] = *a;
}

static inline void read_numbers(struct tm_sched_event *e, const int *n, const uint64_t *seqs,
                                int count)
{
  e->worker = e->node = e->search = (uint32_t)n[0];
  e->count = (uint64_t)n[0];
  e->slots = n[1];
  e->seq = (uint64_t)n[1];
  e->ns = n[e->kind == TM_SCHED_ON_DISTANCE ? 1 : 2] * TM_MS;
  e->items = (uint32_t)n[2];
  e->part = tm_part((uint32_t)n[1], (uint32_t)n[2]);
  e->kill = n[0] == 1;
  e->seqs = seqs;
  e->seqs_len = e->kind == TM_SCHED_ON_TAKEN && count > 1 ? (size_t)count - 1 : 0;
}

static inline bool run_event(struct fixture *f, const char *text)
{
  struct tm_sched_event e = { .look = look, .data = f, .counts = &f->counts };
  char name[16];
  int n[8] = { 0 }, count = 0, used, ms;
  uint64_t seqs[8];

  if (sscanf(text, "at %d %n", &ms, &used) == 1) {
    f->now_ns = ms * TM_MS;
    text += used;
  }
  assert_int_equal(sscanf(text, "%15s%n", name, &used), 1);
  e.kind = kind_of(name);
  f->states = text;
  e.no_halves = strstr(text, "no_halves") != NULL;
  e.is_timeout = strstr(text, "timeout") != NULL;
  e.has_prefetch = strstr(text, "prefetch") != NULL;
  e.has_begun = strstr(text, "begun") != NULL || strstr(text, "done") != NULL;
  for (text += used; count < 8 && sscanf(text, "%d%n", &n[count], &used) == 1; text += used)
    count++;
  for (int i = 1; i < count; i++)
    seqs[i - 1] = (uint64_t)n[i];
  read_numbers(&e, n, seqs, count);
  if (strstr(text, "kept"))
    e.what = find_handed(f, n[0], n[1]);
  if (e.what)
    e.node = 0;
  return tm_sched_event(&f->s, &e, f->now_ns);
}

static inline void run_lines(struct fixture *f, const struct line *lines, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    struct tm_buf text = TM_BUF_NONE;
    struct tm_sched_action a;
    if (!run_event(f, lines[i].event))
      tm_buf_printf(&text, "refused");
    while (tm_sched_next(&f->s, &a)) {
      note_handed(f, &a);
      add_action(&text, &f->s, &a);
    }
    if (strcmp(tm_buf_str(&text), lines[i].actions) != 0)
      fail_msg("after '%s': '%s', expected '%s'", lines[i].event, tm_buf_str(&text),
               lines[i].actions);
    tm_buf_release(&text);
  }
}
#define RUN(f, ...)                                                                                \
  run_lines(f, (const struct line[]) { __VA_ARGS__ },                                              \
            sizeof((const struct line[]) { __VA_ARGS__ }) / sizeof(struct line))

/* Two workers that are ready on one node, and `created` mini-batches. */
static inline void begin_two(struct fixture *f, const struct tm_sched_options *o,
                             const char *created, const char *handed)
{
  tm_sched_init(&f->s, o, 0);
  RUN(f, { "node 0 2", "" }, { created, "" }, { "turn", "start 0 on 0" },
      { "started 0", "setup 0" }, { "loaded 0", "" }, { "turn", "start 1 on 0" }, { "ready 0", "" },
      { "started 1", "setup 1" }, { "loaded 1", "" }, { "ready 1", "" }, { "turn", handed });
}

#endif
