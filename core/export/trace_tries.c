/* trace_tries.c - see trace_tries.h.
 *
 * If there are more tries than slices, a try is not written at once. It waits at its worker, and
 * the next ones join it: as long as they have the same status and all of them together take at most
 * `join_us`. This width is 0 at first, and is doubled whenever more slices have been written than
 * the share of the tries that have been read allows. So the number of slices is about `slices_max`,
 * whatever the tries are like, and long ones stay alone.
 */
#include "export/trace_tries.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "export/trace_lives.h"
#include "insight/notable.h"
#include "insight/sums.h"

/* ---- one slice ---- */

static const char *name_of(const char *category)
{
  static const char *const names[][2] = { { "", "done" },
                                          { "error", "failed" },
                                          { "timeout", "timed out" },
                                          { "lost", "worker died" },
                                          { "canceled", "canceled" } };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    if (strcmp(category, names[i][0]) == 0)
      return names[i][1];
  return "failed";
}

static bool has_failed(const char *category)
{
  return *category && strcmp(category, "canceled") != 0;
}

static void write_slice(struct tm_trace *t, const struct tm_trace_slice *s,
                        struct tm_trace_thread thread)
{
  struct tm_buf *out = tm_trace_begin_slice(t, name_of(s->category), thread, s->from_us, s->to_us);
  tm_trace_event_int(out, "mini_batch", s->mini_batch);
  tm_trace_event_int(out, "try", s->try_number);
  if (s->tries > 1) {
    tm_trace_event_int(out, "tries", s->tries);
    tm_trace_event_int(out, "last_mini_batch", s->last_mini_batch);
  }
  if (s->items >= 0)
    tm_trace_event_int(out, "items", s->items);
  if (s->items_failed > 0)
    tm_trace_event_int(out, "items_failed", s->items_failed);
  tm_trace_event_int(out, "run_us", s->run_us);
  tm_trace_event_text(out, "status", s->status);
  if (*s->error)
    tm_trace_event_text(out, "error", s->error);
  if (*s->item)
    tm_trace_event_text(out, "item", s->item);
  tm_trace_event_end(out);
  t->slices++;
}

/* ---- joining ---- */

void tm_trace_release_life(struct tm_trace_life *life)
{
  const struct tm_trace_slice *s = &life->joined;
  if (!life->is_joined)
    return;
  free((char *)s->category);
  free((char *)s->status);
  free((char *)s->error);
  free((char *)s->item);
  life->is_joined = false;
}

static void write_joined(struct tm_trace *t, struct tm_trace_life *life,
                         struct tm_trace_thread thread)
{
  if (life->is_joined)
    write_slice(t, &life->joined, thread);
  tm_trace_release_life(life);
}

static bool may_join(const struct tm_trace *t, const struct tm_trace_life *life,
                     const struct tm_trace_slice *s)
{
  const struct tm_trace_slice *before = &life->joined;
  return life->is_joined && s->to_us - before->from_us <= t->join_us &&
         strcmp(s->status, before->status) == 0 && (s->items < 0) == (before->items < 0);
}

static void join(struct tm_trace_slice *before, const struct tm_trace_slice *s)
{
  before->to_us = s->to_us;
  before->tries++;
  tm_sum_add(&before->run_us, s->run_us);
  tm_sum_add(&before->items, before->items < 0 ? 0 : s->items);
  tm_sum_add(&before->items_failed, s->items_failed);
  before->last_mini_batch = s->mini_batch;
}

static void widen(struct tm_trace *t)
{
  int64_t step = t->o.slices_max / 1024 + 1;
  double share = (double)t->tries / (double)t->o.tries;
  if (t->slices - t->slices_checked < step)
    return;
  t->slices_checked = t->slices;
  if ((double)t->slices > (double)t->o.slices_max * share && t->join_us < INT64_MAX / 4)
    t->join_us = t->join_us > 0 ? 2 * t->join_us : 1;
}

static void add_slice(struct tm_trace *t, struct tm_trace_life *life,
                      const struct tm_trace_slice *s, struct tm_trace_thread thread)
{
  if (t->o.tries <= t->o.slices_max) {
    write_slice(t, s, thread);
    return;
  }
  widen(t);
  if (may_join(t, life, s)) {
    join(&life->joined, s);
    t->joined_tries++;
    return;
  }
  write_joined(t, life, thread);
  life->joined = *s;
  life->joined.category = tm_xstrdup(s->category);
  life->joined.status = tm_xstrdup(s->status);
  life->joined.error = tm_xstrdup(s->error);
  life->joined.item = tm_xstrdup(s->item);
  life->is_joined = true;
}

/* ---- arrows ---- */

static void write_arrow_end(struct tm_trace *t, bool is_begin, struct tm_trace_thread thread,
                            int64_t at_us)
{
  struct tm_buf *out = tm_trace_next(t);
  tm_trace_event_begin(out, is_begin ? "s" : "f", "next try", thread, at_us);
  tm_trace_event_raw(out, "cat", "\"retry\"");
  tm_trace_event_int(out, "id", t->arrows);
  if (!is_begin)
    tm_trace_event_raw(out, "bp", "\"e\"");
  tm_buf_add_char(out, '}');
}

/* From the failed try before this one. Its end must lie within its slice, and not after the other
 * end. */
static void write_arrow(struct tm_trace *t, const struct tm_trace_slice *s,
                        struct tm_trace_thread thread)
{
  struct tm_retry from;
  int64_t at;
  if (!tm_trace_retries_take(&t->retries, s->mini_batch, &from) || s->from_us < from.begin_us)
    return;
  at = from.end_us > from.begin_us ? from.end_us - 1 : from.begin_us;
  t->arrows++;
  write_arrow_end(t, true, (struct tm_trace_thread) { from.pid, from.tid },
                  at < s->from_us ? at : s->from_us);
  write_arrow_end(t, false, thread, s->from_us);
}

static void note_failed(struct tm_trace *t, const struct tm_trace_slice *s,
                        struct tm_trace_thread thread)
{
  tm_trace_retries_add(&t->retries, &(struct tm_retry) { .mini_batch = s->mini_batch,
                                                         .begin_us = s->from_us,
                                                         .end_us = s->to_us,
                                                         .pid = thread.pid,
                                                         .tid = thread.tid });
}

/* ---- a row ---- */

/* Puts the slice between the one before it and the end of its worker: (2) of trace.h. */
static void place(struct tm_trace *t, struct tm_trace_life *life, struct tm_trace_slice *s)
{
  struct tm_trace_slice wanted = *s;
  if (s->from_us < life->free_us)
    s->from_us = life->free_us;
  if (s->from_us > life->until_us)
    s->from_us = life->until_us;
  if (s->to_us > life->until_us)
    s->to_us = life->until_us;
  if (s->to_us < s->from_us)
    s->to_us = s->from_us;
  t->moved += s->from_us != wanted.from_us || s->to_us != wanted.to_us;
  life->free_us = s->to_us;
}

static void write_failed_init(struct tm_trace *t, struct tm_trace_life *life,
                              struct tm_trace_thread thread, const struct tm_trace_slice *s)
{
  if (s->from_us > life->begin_us && !life->has_init_row)
    tm_trace_event_end(tm_trace_begin_slice(t, "start", thread, life->begin_us, s->from_us));
  life->has_init_row = true;
  struct tm_buf *out = tm_trace_begin_slice(t, "init() failed", thread, s->from_us, s->to_us);
  tm_trace_event_text(out, "status", s->status);
  if (*s->error)
    tm_trace_event_text(out, "error", s->error);
  tm_trace_event_end(out);
}

static struct tm_trace_slice slice_of(const struct tm_trace *t, const struct tm_try_row *row)
{
  struct tm_trace_slice s = { .from_us = tm_trace_us(t, row->begin_wall_ns),
                              .tries = 1,
                              .run_us = row->run_ns / 1000,
                              .items = -1,
                              .mini_batch = row->mini_batch,
                              .last_mini_batch = row->mini_batch,
                              .try_number = row->picked,
                              .category = row->category,
                              .status = row->status,
                              .error = row->message,
                              .item = tm_notable_first_item(row->detail) };
  s.to_us = tm_sum(s.from_us, row->elapsed_ns / 1000);
  if (!tm_text_int(row->total, &s.items) || s.items < 0)
    s.items = -1;
  if (!tm_text_int(row->failed, &s.items_failed))
    s.items_failed = 0;
  return s;
}

static void write_placed(struct tm_trace *t, struct tm_trace_life *life, struct tm_trace_slice *s,
                         struct tm_trace_thread thread)
{
  place(t, life, s);
  if (s->mini_batch < 0) {
    write_failed_init(t, life, thread, s);
    return;
  }
  write_arrow(t, s, thread);
  add_slice(t, life, s, thread);
  if (has_failed(s->category))
    note_failed(t, s, thread);
}

void tm_trace_write_try(struct tm_trace *t, const struct tm_try_row *row)
{
  struct tm_trace_slice s = slice_of(t, row);
  struct tm_trace_thread thread;
  int64_t items;
  t->tries += row->mini_batch >= 0;
  if (row->begin_wall_ns <= 0) {
    t->never_begun++;
    return;
  }
  int64_t end_ns = tm_sum(row->begin_wall_ns, row->elapsed_ns);
  size_t session = tm_trace_note(t, end_ns);
  const struct tm_worker_life *w = tm_workers_add_try(
      &t->workers, row, &(struct tm_try_sums) { .is_ok = !*row->category }, session);
  if (w)
    write_placed(t, tm_trace_life_of(t, w, &thread), &s, thread);
  t->unplaced += w == NULL;
  if (tm_text_int(row->succeeded, &items))
    tm_bins_add(&t->items, 0, end_ns, items);
}

/* ---- the end of a step ---- */

static void write_init_without_row(struct tm_trace *t, const struct tm_worker_life *w,
                                   struct tm_trace_life *life, struct tm_trace_thread thread)
{
  struct tm_trace_slice s = { .from_us = life->begin_us,
                              .to_us = life->until_us,
                              .status = "",
                              .error = tm_text_or_empty(w->end) };
  if (w->init_failed && !life->has_init_row && w->ended_ns > 0)
    write_failed_init(t, life, thread, &s);
}

void tm_trace_write_rest(struct tm_trace *t)
{
  for (size_t i = 0; i < t->lives.len; i++) {
    struct tm_trace_thread thread;
    const struct tm_worker_life *w = &t->workers.list.at[i];
    struct tm_trace_life *life = tm_trace_life_of(t, w, &thread);
    write_joined(t, life, thread);
    write_init_without_row(t, w, life, thread);
  }
}
