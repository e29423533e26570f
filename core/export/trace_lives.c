/* trace_lives.c - see trace_lives.h. */
#include "export/trace_lives.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static int64_t in_span(int64_t at, int64_t low, int64_t high)
{
  return at < low ? low : at > high ? high : at;
}

/* "7": node 7; other ids, such as "supervisor", are words. */
static char *node_name(const char *node, const char *address)
{
  int64_t number;
  const char *before = tm_text_int(node, &number) ? "node " : "";
  const char *name = *node ? node : "workers";
  return address && *address ? tm_xprintf("%s%s (%s)", before, name, address)
                             : tm_xprintf("%s%s", before, name);
}

int64_t tm_trace_node(struct tm_trace *t, const char *node, const char *address)
{
  bool is_new;
  uint64_t *pid = tm_map_add(&t->nodes, node, strlen(node), &is_new);
  if (is_new) {
    char *name = node_name(node, address);
    *pid = (uint64_t)(TM_TRACE_STEPS_PID + ++t->nodes_len);
    tm_trace_event_name(tm_trace_next(t), "process", name, t->nodes_len,
                        (struct tm_trace_thread) { (int64_t)*pid, 0 });
    free(name);
  }
  return (int64_t)*pid;
}

struct tm_buf *tm_trace_begin_slice(struct tm_trace *t, const char *name,
                                    struct tm_trace_thread thread, int64_t from_us, int64_t to_us)
{
  struct tm_buf *out = tm_trace_next(t);
  tm_trace_event_begin(out, "X", name, thread, from_us);
  tm_trace_event_int(out, "dur", to_us - from_us);
  tm_trace_event_args(out);
  return out;
}

/* Makes the threads of slots up to that of the worker. */
static struct tm_trace_slot *slot_of(struct tm_trace *t, const struct tm_worker_life *w)
{
  while (t->slots.len <= w->slot) {
    size_t i = t->slots.len;
    const char *node = i < t->workers.slots.len ? t->workers.slots.at[i].node : w->node;
    int64_t pid = tm_trace_node(t, tm_text_or_empty(node), i == w->slot ? w->address : NULL);
    struct tm_trace_slot *s = TM_ARRAY_ADD(&t->slots);
    char *name = tm_xprintf("%s: worker slot %zu", t->step->name, i);
    *s = (struct tm_trace_slot) { .thread = { pid, ++t->threads } };
    tm_trace_event_name(tm_trace_next(t), "thread", name, s->thread.tid, s->thread);
    free(name);
  }
  return &t->slots.at[w->slot];
}

static struct tm_buf *begin_worker_slice(struct tm_trace *t, const char *name,
                                         const struct tm_worker_life *w,
                                         struct tm_trace_thread thread, int64_t from, int64_t to)
{
  struct tm_buf *out = tm_trace_begin_slice(t, name, thread, from, to);
  tm_trace_event_text(out, "worker", tm_text_or_empty(w->name));
  if (w->pid > 0)
    tm_trace_event_int(out, "pid", w->pid);
  if (w->max_rss_bytes > 0)
    tm_trace_event_int(out, "max_rss_bytes", w->max_rss_bytes);
  if (w->end)
    tm_trace_event_text(out, "end", w->end);
  return out;
}

/* From its start to the end of init(). The slice of an init() that failed comes with its row. */
static void write_start(struct tm_trace *t, const struct tm_worker_life *w,
                        struct tm_trace_life *life, struct tm_trace_thread thread)
{
  int64_t from = life->begin_us, to, init;
  if (w->ready_ns == 0)
    return;
  to = in_span(tm_trace_us(t, w->ready_ns), from, life->until_us);
  init = in_span(to - life->init_us, from, to);
  tm_trace_event_end(begin_worker_slice(t, "start", w, thread, from, init));
  if (life->init_us > 0)
    tm_trace_event_end(tm_trace_begin_slice(t, "init()", thread, init, to));
  life->free_us = to;
}

static void write_death(struct tm_trace *t, const struct tm_worker_life *w,
                        struct tm_trace_thread thread, int64_t at_us)
{
  struct tm_buf *out = tm_trace_next(t);
  tm_trace_event_begin(out, "i", "worker died", thread, at_us);
  tm_trace_event_raw(out, "s", "\"t\"");
  tm_trace_event_args(out);
  tm_trace_event_text(out, "worker", tm_text_or_empty(w->name));
  tm_trace_event_text(out, "end", tm_text_or_empty(w->end));
  tm_trace_event_end(out);
}

/* A life that follows another one in its slot ends that at the latest. */
static void open_life(struct tm_trace *t, size_t i)
{
  const struct tm_worker_life *w = &t->workers.list.at[i];
  struct tm_trace_slot *slot = slot_of(t, w);
  struct tm_trace_life *before = slot->life ? &t->lives.at[slot->life - 1] : NULL;
  int64_t begin = tm_trace_us(t, w->started_ns);
  if (before && begin < before->free_us)
    begin = before->free_us;
  if (before && before->until_us > begin)
    before->until_us = begin;
  int64_t until = w->ended_ns > 0 ? tm_trace_us(t, w->ended_ns) : INT64_MAX;
  t->lives.at[i].begin_us = t->lives.at[i].free_us = begin;
  t->lives.at[i].until_us = until < begin ? begin : until;
  slot->life = i + 1;
}

static void write_life(struct tm_trace *t, size_t i)
{
  const struct tm_worker_life *w = &t->workers.list.at[i];
  struct tm_trace_life *life;
  open_life(t, i);
  life = &t->lives.at[i];
  write_start(t, w, life, t->slots.at[w->slot].thread);
  if (w->has_died)
    write_death(t, w, t->slots.at[w->slot].thread, life->until_us);
}

static void add_lives(struct tm_trace *t, size_t len)
{
  while (t->lives.len < len)
    *TM_ARRAY_ADD(&t->lives) = (struct tm_trace_life) { .init_us = 0 };
}

void tm_trace_note_init(struct tm_trace *t, const struct tm_worker_life *w, int64_t init_ns)
{
  size_t i = (size_t)(w - t->workers.list.at);
  add_lives(t, i + 1);
  t->lives.at[i].init_us = init_ns / 1000;
}

void tm_trace_write_lives(struct tm_trace *t)
{
  add_lives(t, t->workers.list.len);
  while (t->lives_written < t->lives.len)
    write_life(t, t->lives_written++);
}

struct tm_trace_life *tm_trace_life_of(struct tm_trace *t, const struct tm_worker_life *w,
                                       struct tm_trace_thread *thread)
{
  size_t i = (size_t)(w - t->workers.list.at);
  tm_trace_write_lives(t);
  *thread = t->slots.at[w->slot].thread;
  return &t->lives.at[i];
}
