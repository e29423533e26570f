/* trace.c - see trace.h. */
#include "export/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "export/trace_lives.h"
#include "export/trace_tries.h"

#define ITEM_BINS 2048 /* at most; of a step */

/* ---- the frame ---- */

void tm_trace_init(struct tm_trace *t, const struct tm_trace_options *o)
{
  *t = (struct tm_trace) { .o = *o };
  if (t->o.slices_max == 0)
    t->o.slices_max = TM_TRACE_SLICES_MAX;
  tm_buf_add_str(&t->text, TM_TRACE_MARK ",\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
  tm_trace_event_name(tm_trace_next(t), "process", "steps", 0,
                      (struct tm_trace_thread) { TM_TRACE_STEPS_PID, 0 });
}

static void add_numbers(const struct tm_trace *t, struct tm_buf *out)
{
  const struct {
    const char *name;
    int64_t value;
  } numbers[] = {
    { "tries", t->tries },
    { "slices", t->slices },
    { "tries_joined_to_others", t->joined_tries },
    { "joined_up_to_us", t->joined_tries > 0 ? t->join_us : 0 },
    { "tries_that_never_began", t->never_begun },
    { "tries_without_a_slot", t->unplaced },
    { "slices_moved", t->moved },
    { "arrows", t->arrows },
    { "arrows_left_out", t->retries.forgotten },
  };
  for (size_t i = 0; i < TM_COUNT_OF(numbers); i++)
    tm_trace_event_int(out, numbers[i].name, numbers[i].value);
}

static void add_metadata(struct tm_trace *t)
{
  struct tm_buf *out = &t->text, origin = TM_BUF_NONE;
  tm_time_iso(&origin, t->o.origin_ns);
  tm_buf_add_str(out, "\n],\"metadata\":{");
  tm_trace_event_text(out, "job", tm_text_or_empty(t->o.job));
  tm_trace_event_text(out, "state", tm_text_or_empty(t->o.state));
  tm_trace_event_text(out, "tidemill", tm_text_or_empty(t->o.version));
  tm_trace_event_text(out, "origin", origin.data);
  tm_trace_event_int(out, "origin_unix_ns", t->o.origin_ns);
  tm_trace_event_raw(out, "is_exact", t->joined_tries == 0 ? "true" : "false");
  add_numbers(t, out);
  tm_buf_add_str(out, "}}\n");
  tm_buf_release(&origin);
}

int tm_trace_end(struct tm_trace *t)
{
  tm_require(!t->step);
  add_metadata(t);
  tm_trace_pass_on(t);
  return t->rc;
}

/* ---- steps ---- */

void tm_trace_begin_step(struct tm_trace *t, const struct tm_trace_step *step)
{
  tm_require(!t->step);
  t->step = step;
  t->step_thread = (struct tm_trace_thread) { TM_TRACE_STEPS_PID, ++t->threads };
  tm_trace_event_name(tm_trace_next(t), "thread", step->name, t->step_thread.tid, t->step_thread);
  tm_bins_init(&t->items, t->o.origin_ns, 1, ITEM_BINS);
  do
    *TM_ARRAY_ADD(&t->session_ends) = 0;
  while (t->session_ends.len < step->sessions_len);
}

void tm_trace_add_event(struct tm_trace *t, const struct tm_life_row *e)
{
  tm_require(t->step && t->lives_written == 0);
  const struct tm_worker_life *w =
      tm_workers_add_event(&t->workers, e, tm_trace_note(t, e->wall_ns));
  if (w && e->init_ns > 0)
    tm_trace_note_init(t, w, e->init_ns);
}

void tm_trace_add_try(struct tm_trace *t, const struct tm_try_row *row)
{
  tm_require(t->step != NULL);
  tm_trace_write_lives(t);
  tm_trace_write_try(t, row);
}

static void add_counter(struct tm_trace *t, struct tm_trace_thread thread, const char *name,
                        const char *key, double value, int64_t at_us)
{
  struct tm_buf *out = tm_trace_next(t);
  tm_trace_event_begin(out, "C", name, thread, at_us);
  tm_trace_event_args(out);
  tm_trace_event_number(out, key, value);
  tm_trace_event_end(out);
}

void tm_trace_add_sample(struct tm_trace *t, const char *node, const struct tm_node_sample *s)
{
  struct tm_trace_thread thread = { tm_trace_node(t, node, NULL), 0 };
  int64_t at = tm_trace_us(t, s->wall_ns);
  if (s->wall_ns <= 0)
    return;
  if (s->cpu_percent >= 0)
    add_counter(t, thread, "processor", "percent", s->cpu_percent, at);
  if (s->memory_used >= 0)
    add_counter(t, thread, "memory", "bytes", (double)s->memory_used, at);
}

/* Bins without items between others with none are left out. */
static void write_items(struct tm_trace *t)
{
  char *name = tm_xprintf("%s: items/s", t->step->name);
  struct tm_trace_thread thread = { TM_TRACE_STEPS_PID, 0 };
  double seconds = (double)t->items.width_ns / (double)TM_S;
  int64_t before = 0;
  for (size_t i = 0; i <= t->items.len; i++) {
    int64_t items = i < t->items.len ? tm_bins_at(&t->items, 0, i) : 0;
    if (items != before)
      add_counter(t, thread, name, "items/s", (double)items / seconds,
                  (int64_t)i * t->items.width_ns / 1000);
    before = items;
  }
  free(name);
}

static void write_session(struct tm_trace *t, size_t i, int64_t from, int64_t to)
{
  const struct tm_trace_step *step = t->step;
  struct tm_buf *out = tm_trace_begin_slice(t, step->name, t->step_thread, from, to);
  tm_trace_event_int(out, "session", (int64_t)i + 1);
  if (i < step->sessions_len)
    tm_trace_event_int(out, "mini_batches", step->sessions[i].mini_batches);
  if (i + 1 >= step->sessions_len) {
    tm_trace_event_text(out, "state", tm_text_or_empty(step->state));
    if (step->cause && *step->cause)
      tm_trace_event_text(out, "cause", step->cause);
  }
  tm_trace_event_end(out);
}

/* A session ends with the last thing that is known of it, before the next one begins. A step of
 * which nothing is known has no slice. */
static void write_sessions(struct tm_trace *t)
{
  const struct tm_trace_step *step = t->step;
  if (step->end_ns > 0)
    (void)tm_trace_note(t, step->end_ns);
  for (size_t i = 0; i < t->session_ends.len; i++) {
    bool is_last = i + 1 >= step->sessions_len;
    int64_t from = i < step->sessions_len ? tm_trace_us(t, step->sessions[i].begin_ns) : 0;
    int64_t next = is_last ? INT64_MAX : tm_trace_us(t, step->sessions[i + 1].begin_ns);
    int64_t to = t->session_ends.at[i] < next ? t->session_ends.at[i] : next;
    if (step->sessions_len > 0 || to > 0)
      write_session(t, i, from, to > from ? to : from);
  }
}

static void release_step(struct tm_trace *t)
{
  for (size_t i = 0; i < t->lives.len; i++)
    tm_trace_release_life(&t->lives.at[i]);
  TM_ARRAY_RELEASE(&t->lives);
  TM_ARRAY_RELEASE(&t->slots);
  TM_ARRAY_RELEASE(&t->session_ends);
  tm_workers_release(&t->workers);
  tm_bins_release(&t->items);
  t->workers = (struct tm_workers) { .unnamed = 0 };
  t->lives_written = 0;
  t->step = NULL;
}

void tm_trace_end_step(struct tm_trace *t)
{
  tm_require(t->step != NULL);
  tm_trace_write_lives(t);
  tm_trace_write_rest(t);
  write_items(t);
  write_sessions(t);
  tm_trace_retries_clear(&t->retries);
  release_step(t);
}

void tm_trace_release(struct tm_trace *t)
{
  release_step(t);
  tm_trace_retries_release(&t->retries);
  tm_map_release(&t->nodes);
  tm_buf_release(&t->text);
}
